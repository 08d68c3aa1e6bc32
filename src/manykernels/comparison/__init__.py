"""Comparisons of methods in the same folds."""

from .comparing import compare
from .datasets import Comparisons
from .methods import METHODS
from .results import Comparison
from .scores import Scores
from .statistics import Difference, Ranking, corrected_ttest, holm, ranking

__all__ = [
    "METHODS",
    "Comparison",
    "Comparisons",
    "Difference",
    "Ranking",
    "Scores",
    "compare",
    "corrected_ttest",
    "holm",
    "ranking",
]
