"""Datasets: those of the papers and of the experiments, loaded by name or made by their formulas."""

from ._load import BUNDLED, Dataset, MissingDataset, load, names
from ._survival import load_survival, survival_names
from .breiman import make_ringnorm, make_waveform
from .papers import make_polynomials, make_relevance, make_sines, make_three_views
from .regions import make_regions_views, make_regions_widths
from .voxels import make_voxels

__all__ = [
    "load",
    "names",
    "load_survival",
    "survival_names",
    "Dataset",
    "MissingDataset",
    "BUNDLED",
    "make_polynomials",
    "make_regions_views",
    "make_regions_widths",
    "make_relevance",
    "make_ringnorm",
    "make_sines",
    "make_three_views",
    "make_voxels",
    "make_waveform",
]
