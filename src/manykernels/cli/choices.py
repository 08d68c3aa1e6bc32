"""The choices of options, for --help; nothing is imported here, so that help comes at once."""

from __future__ import annotations

TASKS = ("auto", "classification", "regression", "survival")
METHODS = (
    "auto",
    "sparse",
    "lp",
    "uniform",
    "alignf",
    "align",
    "easymkl",
    "localized",
    "nonlinear",
    "ufo",
    "hierarchical",
    "single",
)
KERNELS = "auto, linear, gaussians:LOW,HIGH,N, per-feature, columns, products:DEGREE or widths"
APPROX = "auto, none, features, nystroem:N or random:N"
ROWS = ("inner", "outer")  # what becomes of rows that some file lacks
PERMUTATIONS = 19  # the fewest with which p can be 0.05
