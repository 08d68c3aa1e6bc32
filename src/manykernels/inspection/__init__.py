"""Checks of fitted models: distance from the optimum, behaviour on other samples, and importance."""

from .._checks import Check
from ..comparison.results import Permuted
from ._inputs import require_groups as require_groups
from .certificates import Certificate, certificate
from .checking import check
from .effects import Effect
from .importances import Importance, importance
from .parts import explained_parts
from .permutations import permutation_test
from .scores import NoiseCeiling, correlations, noise_ceiling, r2_scores
from .selected import Selection, stability_selection
from .significance import Significance, significance
from .stability import Stability, weight_stability

__all__ = [
    "Certificate",
    "Check",
    "Effect",
    "Importance",
    "NoiseCeiling",
    "Permuted",
    "Selection",
    "Significance",
    "Stability",
    "certificate",
    "check",
    "correlations",
    "explained_parts",
    "importance",
    "noise_ceiling",
    "permutation_test",
    "r2_scores",
    "significance",
    "stability_selection",
    "weight_stability",
]
