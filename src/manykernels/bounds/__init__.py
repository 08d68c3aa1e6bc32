"""Bounds: what can be said of new data, with the assumptions under which it can."""

from .alignment import AlignmentPredictor, alignment_deviation, alignment_predictor, frobenius_deviation
from .compared import (
    lanckriet_bound,
    lanckriet_spectral_bound,
    srebro_ben_david_bound,
    ying_campbell_bound,
)
from .convergence import (
    MirrorDescent,
    greedy_bound,
    mirror_descent,
    stochastic_gradient,
)
from .margin import MarginBound, margin_bound
from .rademacher import (
    RademacherEstimate,
    empirical_rademacher,
    linear_rademacher_bound,
    rademacher_bound,
    rademacher_bound_uniform,
)
from .regression import RegressionBound, regression_bound
from .stability import RidgeStability, lkrr_range, lkrr_stability, lkrr_stability_of, stability_bound

__all__ = [
    "AlignmentPredictor",
    "MarginBound",
    "MirrorDescent",
    "RademacherEstimate",
    "RegressionBound",
    "RidgeStability",
    "alignment_deviation",
    "alignment_predictor",
    "empirical_rademacher",
    "frobenius_deviation",
    "greedy_bound",
    "lanckriet_bound",
    "lanckriet_spectral_bound",
    "linear_rademacher_bound",
    "lkrr_range",
    "lkrr_stability",
    "lkrr_stability_of",
    "margin_bound",
    "mirror_descent",
    "rademacher_bound",
    "rademacher_bound_uniform",
    "regression_bound",
    "srebro_ben_david_bound",
    "stability_bound",
    "stochastic_gradient",
    "ying_campbell_bound",
]
