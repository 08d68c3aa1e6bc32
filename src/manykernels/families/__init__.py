"""Families: which kernels there are to choose from."""

from manykernels.families._base import Family
from manykernels.families._resolve import resolve_kernels
from manykernels.families.auto import Auto
from manykernels.families.continuous import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.families.features import PerFeature, RankOne, per_feature, rank_one
from manykernels.families.grids import FromDistances, from_distances, gaussian_grid
from manykernels.families.products import Products
from manykernels.families.views import Views, views

__all__ = [
    "Family",
    "ARDGaussians",
    "Auto",
    "Dirichlets",
    "FromDistances",
    "Gaussians",
    "Laplacians",
    "Parametric",
    "PerFeature",
    "Products",
    "RankOne",
    "Views",
    "from_distances",
    "gaussian_grid",
    "per_feature",
    "rank_one",
    "resolve_kernels",
    "views",
]
