"""Kernels: what similarity between samples means."""

from .algebra import Power, Product, Scaled, Sum
from .ard import ARDGaussian
from .base import Kernel
from .columns import OnColumns
from .feature_map import FeatureMap
from .fitted import Fitted
from .given import Callable, FromDistance, Precomputed
from .inner import Constant, Cosine, Linear, Polynomial
from .matern import Matern
from .mixture import Mixture
from .monomial import Monomial
from .preparation import Preparation
from .prepared import Prepared
from .shared import combine, evaluate
from .stationary import Dirichlet, Gaussian, Laplacian
from .strings import Spectrum
from .tanimoto import Tanimoto

__all__ = [
    "Kernel",
    "Linear",
    "Polynomial",
    "Gaussian",
    "ARDGaussian",
    "Laplacian",
    "Matern",
    "Dirichlet",
    "Cosine",
    "Tanimoto",
    "Constant",
    "Monomial",
    "Spectrum",
    "FromDistance",
    "Precomputed",
    "Callable",
    "FeatureMap",
    "OnColumns",
    "Preparation",
    "Prepared",
    "Sum",
    "Product",
    "Scaled",
    "Power",
    "Mixture",
    "Fitted",
    "combine",
    "evaluate",
]
