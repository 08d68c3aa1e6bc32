"""Rostamizadeh 2010, Table 3.1: Gaussian kernels combined uniformly, in one stage, by align and by alignf."""

from __future__ import annotations

from manykernels.penalties import L2Ball

from .alignment_correlation import PAPER as SETS
from .common import Split, comparison, gaussians, in_parallel, one_stage, splits, two_stage
from .data import Dataset
from .tables import Facts, Report

# Error and alignment of Rostamizadeh 2010; its m row swaps those of kinematics and ionosphere.
PAPER = {
    "kinematics": {
        "unif": (".138", ".158"),
        "l2-krr": (".137", ".155"),
        "align": (".125", ".173"),
        "alignf": (".115", ".176"),
    },
    "ionosphere": {
        "unif": (".467", ".242"),
        "l2-krr": (".457", ".248"),
        "align": (".445", ".257"),
        "alignf": (".442", ".273"),
    },
    "german": {
        "unif": ("25.9", ".089"),
        "l1-svm": ("26.0", ".082"),
        "align": ("25.5", ".089"),
        "alignf": ("24.2", ".093"),
    },
    "spambase": {
        "unif": ("18.7", ".138"),
        "l1-svm": ("20.9", ".099"),
        "align": ("18.6", ".140"),
        "alignf": ("18.0", ".146"),
    },
    "splice": {
        "unif": ("15.2", ".122"),
        "l1-svm": ("15.3", ".105"),
        "align": ("15.1", ".123"),
        "alignf": ("13.9", ".124"),
    },
}


def run(report: Report) -> None:
    """One table a set: five trials of every method on the same folds, for three draws of the folds."""
    for name, (source, (low, high), _) in SETS.items():
        with report.leaving_out(name):
            data = source.load(quick=report.quick)
            exponents = range(low, high + 1)
            trials = splits(data)[:2] if report.quick else splits(data, rounds=3)
            found = in_parallel(trial, [(data, split, exponents) for split in trials], report.quick)
            what = "per cent wrong" if data.task == "classification" else "RMSE"
            title = f"{name}: {what}; {len(data.y)} samples, features {source.scale}, γ = 2^{low} … 2^{high}"
            report.table(title, comparison(data.task, found, PAPER[name]))


def trial(data: Dataset, split: Split, exponents: range) -> dict[str, Facts]:
    """Every method on one division of the samples.

    For l2-krr with μ₀ = 0 the radius of the ball and C act through their product, so the radius is 1.
    """
    kernels = gaussians(exponents)
    found = {"unif": two_stage(data, split, kernels, "uniform")}
    if data.task == "regression":
        found["l2-krr"] = one_stage(data, split, kernels, norm=L2Ball(radius=1.0))
    else:
        found["l1-svm"] = one_stage(data, split, kernels, norm=1)
    for weighting in ("align", "alignf"):
        found[weighting] = two_stage(data, split, kernels, weighting)
    return found
