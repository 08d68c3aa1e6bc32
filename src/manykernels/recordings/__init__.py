"""Samples that were recorded one after another: lagged copies of features, and folds that keep a distance.

Rows are in the order of time. A run is a part that was recorded without a break: what came before its first
row is not known, and the last row of one run is no neighbour of the first row of the next.
"""

from .blocks import BlockFold
from .delays import Delayer
from .runs import run_labels

__all__ = ["BlockFold", "Delayer", "run_labels"]
