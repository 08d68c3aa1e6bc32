"""Families: which kernels there are to choose from."""

from ._resolve import require_known, resolve_kernels
from .auto import Auto
from .base import Family
from .columns import Columns
from .continuous import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from .dags import DAG, AnovaDAG, PolynomialDAG
from .features import PerFeature, RankOne, per_feature, rank_one
from .gene_sets import gene_sets
from .grids import FromDistances, from_distances, gaussian_grid
from .products import Products
from .relevance import Relevance
from .remarks import TableWarning
from .subset import Subset
from .views import Views, views

__all__ = [
    "Family",
    "ARDGaussians",
    "AnovaDAG",
    "Auto",
    "Columns",
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
    "TableWarning",
    "Views",
    "from_distances",
    "gaussian_grid",
    "gene_sets",
    "per_feature",
    "rank_one",
    "require_known",
    "resolve_kernels",
    "views",
]
