"""How far a model can be trusted: how near to optimal it is, what becomes of it on other samples, and what
its kernels explain there."""

from ..comparison.results import Permuted
from ._inputs import require_groups as require_groups
from .certificates import Certificate, certificate
from .importances import Importance, importance
from .parts import explained_parts
from .permutations import permutation_test
from .scores import NoiseCeiling, correlations, noise_ceiling, r2_scores
from .selected import Selection, stability_selection
from .significance import Significance, significance
from .stability import Stability, weight_stability

__all__ = [
    "Certificate",
    "Importance",
    "NoiseCeiling",
    "Permuted",
    "Selection",
    "Significance",
    "Stability",
    "certificate",
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
