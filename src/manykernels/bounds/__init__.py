"""Bounds: what can be said of new data, with the assumptions under which it can."""

from .alignment import AlignmentPredictor, alignment_deviation, alignment_predictor, frobenius_deviation
from .margin import MarginBound, margin_bound
from .rademacher import (
    RademacherEstimate,
    empirical_rademacher,
    linear_rademacher_bound,
    rademacher_bound,
    rademacher_bound_uniform,
)
from .stability import RidgeStability, lkrr_range, lkrr_stability, lkrr_stability_of, stability_bound

__all__ = [
    "AlignmentPredictor",
    "MarginBound",
    "RademacherEstimate",
    "RidgeStability",
    "alignment_deviation",
    "alignment_predictor",
    "empirical_rademacher",
    "frobenius_deviation",
    "linear_rademacher_bound",
    "lkrr_range",
    "lkrr_stability",
    "lkrr_stability_of",
    "margin_bound",
    "rademacher_bound",
    "rademacher_bound_uniform",
    "stability_bound",
]
