"""Families: which kernels there are to choose from."""

from manykernels.families._base import Family
from manykernels.families._resolve import resolve_kernels
from manykernels.families.auto import Auto
from manykernels.families.continuous import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.families.dags import DAG, AnovaDAG, PolynomialDAG
from manykernels.families.features import PerFeature, RankOne, per_feature, rank_one
from manykernels.families.grids import FromDistances, from_distances, gaussian_grid
from manykernels.families.products import Products
from manykernels.families.relevance import Relevance
from manykernels.families.subset import Subset
from manykernels.families.views import Views, views

__all__ = [
    "Family",
    "ARDGaussians",
    "AnovaDAG",
    "Auto",
    "DAG",
    "Dirichlets",
    "FromDistances",
    "Gaussians",
    "Laplacians",
    "Parametric",
    "PerFeature",
    "PolynomialDAG",
    "Products",
    "RankOne",
    "Relevance",
    "Subset",
    "Views",
    "from_distances",
    "gaussian_grid",
    "per_feature",
    "rank_one",
    "resolve_kernels",
    "views",
]
