"""What the default gains or loses by candidates: other kernels, stacked finalists, bagged folds."""

from __future__ import annotations

import time
import warnings

import numpy as np

from .selection.candidates import errors
from .selection.resume import Key, Runs, completed
from .selection_tables import QUICK, TASKS, difference, drawn, warm_up
from .tables import Facts, Report

SEEDS = 10
CANDIDATES = ["bagged", "bagged and all", "stacked"] + [
    f"{name}, {how}"
    for name in ("ranks", "trees", "interactions", "gradients")
    for how in ("or default", "stacked")
]


def run(report: Report) -> None:
    """What is missing, then the tables."""
    runs = completed(report, "selection_candidates", keys(report.quick), trial, warm_up)
    report.table("All sets", summary(runs), OF_ALL)
    report.table("Single sets", rows(runs), OF_SETS)


OF_ALL = (
    "Change: the geometric mean over sets of the error with the candidate over the error of the default, "
    "less one, in per cent. Better and worse: sets by two paired standard errors over splits. Or default: "
    "what has the smaller squared error on held-out samples. Stacked: non-negative weights by held-out "
    "samples."
)
OF_SETS = "The error of the default in per cent, and what each candidate adds to it: means over splits."


def keys(quick: bool = False) -> list[Key]:
    """(set, seed, "all"): all candidates share one search and its folds."""
    return [(name, s, "all") for s in range(2 if quick else SEEDS) for name in (QUICK if quick else TASKS)]


def trial(name: str, seed: int, method: str, quick: bool = False) -> Facts:
    """The errors of the default and of all candidates."""
    p = drawn(name, seed, quick)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clock = time.process_time()
        found = errors(p.X, p.y, p.Z, p.t, p.task)
    return {**found, "seconds": time.process_time() - clock, "n": len(p.y), "test": len(p.t)}


# -- tables -----------------------------------------------------------------------------------------
def _known(runs: Runs) -> dict[str, list[int]]:
    found = {name: runs.seeds(name, "all") for name in sorted({name for name, _, _ in runs.known})}
    return {name: seeds for name, seeds in found.items() if seeds}


def rows(runs: Runs) -> list[Facts]:
    """A row for each set."""
    found = []
    for name, seeds in _known(runs).items():
        default = np.array(runs.values(name, "all", seeds, "default"))
        row: Facts = {"set": name, "seeds": len(seeds), "default": float(default.mean())}
        for candidate in CANDIDATES:
            row[candidate] = float(np.mean(runs.values(name, "all", seeds, candidate) - default))
        found.append(row)
    return found


def summary(runs: Runs) -> list[Facts]:
    """A row for each candidate."""
    found = []
    for candidate in CANDIDATES:
        ratios, ahead, behind = [], 0, 0
        for name, seeds in _known(runs).items():
            own, other = (np.array(runs.values(name, "all", seeds, one)) for one in ("default", candidate))
            ratios.append(np.log((other.mean() + _LEAST) / (own.mean() + _LEAST)))
            if len(seeds) > 1:
                mean, error = difference(other, own)
                ahead += mean < -2.0 * error
                behind += mean > 2.0 * error
        change = 100.0 * (float(np.exp(np.mean(ratios))) - 1.0) if ratios else np.nan
        found.append(
            {"candidate": candidate, "sets": len(ratios), "change": change, "better": ahead, "worse": behind}
        )
    return found


_LEAST = 0.1  # per cent: sets that are learned without error have a ratio too
