"""Times to an event as plain arrays: survival curves, hazards, scores and tests.

These functions take whether the event was observed, and when, as two arrays, and know nothing of estimators.
"""

from .baseline import Baseline, breslow
from .curves import KaplanMeier, censoring_curve, kaplan_meier, nelson_aalen
from .log_rank import LogRank, log_rank
from .scores import brier_score, concordance_index, integrated_brier_score, uno_c
from .steps import StepFunctions, median_time, restricted_mean

__all__ = [
    "Baseline",
    "KaplanMeier",
    "LogRank",
    "StepFunctions",
    "breslow",
    "brier_score",
    "censoring_curve",
    "concordance_index",
    "integrated_brier_score",
    "kaplan_meier",
    "log_rank",
    "median_time",
    "nelson_aalen",
    "restricted_mean",
    "uno_c",
]
