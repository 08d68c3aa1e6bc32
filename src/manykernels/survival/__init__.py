"""Times to an event: survival curves, hazards, scores and tests, on plain arrays.

These functions take whether the event was observed, and when, as two arrays, and know nothing of estimators.
The scorers for ``scoring=``, which do, stand in `manykernels.selection`, and are imported when asked for.
"""

from typing import Any

from .baseline import Baseline, breslow, martingale_residuals
from .curves import KaplanMeier, censoring_curve, kaplan_meier, nelson_aalen
from .groups import GroupCurves, curves_by_risk, group_curves, risk_groups
from .log_rank import LogRank, log_rank
from .scores import brier_score, concordance_index, integrated_brier_score, uno_c
from .steps import StepFunctions, median_time, restricted_mean

_SCORERS = ("BrierScorer", "ConcordanceScorer", "UnoScorer")

__all__ = [
    "Baseline",
    "BrierScorer",
    "ConcordanceScorer",
    "GroupCurves",
    "KaplanMeier",
    "LogRank",
    "StepFunctions",
    "UnoScorer",
    "breslow",
    "brier_score",
    "censoring_curve",
    "concordance_index",
    "curves_by_risk",
    "group_curves",
    "integrated_brier_score",
    "kaplan_meier",
    "log_rank",
    "martingale_residuals",
    "median_time",
    "nelson_aalen",
    "restricted_mean",
    "risk_groups",
    "uno_c",
]


def __getattr__(name: str) -> Any:
    if name in _SCORERS:
        from importlib import import_module

        return getattr(import_module("manykernels.selection.survival"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
