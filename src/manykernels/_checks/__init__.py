"""Coded checks: rules that read what is known of a fitted model, each with a code and a page.

Nothing here takes an estimator. `estimators/_checked.py` gathers what a fitted model knows of itself, and
`inspection.check` what data, resamples and comparisons add to it.
"""

from .base import PAGE as PAGE
from .base import Check as Check
from .base import Compared as Compared
from .base import Facts as Facts
from .base import Rule as Rule
from .columns import outside as outside
from .columns import ranges as ranges
from .quality import predicted_outside as predicted_outside
from .registry import RULES as RULES
from .registry import judge as judge
