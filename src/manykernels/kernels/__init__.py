"""Kernels: what similarity between samples means."""

from manykernels.kernels._algebra import Power, Product, Scaled, Sum
from manykernels.kernels._ard import ARDGaussian
from manykernels.kernels._base import Kernel
from manykernels.kernels._columns import OnColumns
from manykernels.kernels._feature_map import FeatureMap
from manykernels.kernels._fitted import Fitted
from manykernels.kernels._given import Callable, FromDistance, Precomputed
from manykernels.kernels._inner import Constant, Cosine, Linear, Polynomial
from manykernels.kernels._mixture import Mixture
from manykernels.kernels._monomial import Monomial
from manykernels.kernels._prepared import Preparation, Prepared
from manykernels.kernels._shared import combine, evaluate
from manykernels.kernels._stationary import Dirichlet, Gaussian, Laplacian
from manykernels.kernels._strings import Spectrum

__all__ = [
    "Kernel",
    "Linear",
    "Polynomial",
    "Gaussian",
    "ARDGaussian",
    "Laplacian",
    "Dirichlet",
    "Cosine",
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
