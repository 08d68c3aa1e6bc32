"""Lei et al. 2016: weights of kernels by region on sets with views, beside global ones and learned gates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np

from manykernels import LocalizedMKLClassifier, MKLClassifier
from manykernels.kernels import Gaussian, Kernel, OnColumns

from .continuous_digits import draw
from .continuous_ranks import standardised
from .data import Array, stand_in, stored
from .localized_regions import (
    CLUSTERS,
    GATES,
    GLOBAL,
    HARD,
    SOFT,
    STEPS,
    TEMPERATURES,
    Candidate,
    _ratio,
    less_global,
    trial,
)
from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread

SETS = {  # samples to train on, to choose on, to test on
    "protein_fold": (300, 150, 244),
    "prokaryotic": (200, 100, 251),
    "mfeat": (200, 200, 1000),
    "yeast_localisation": (300, 200, 984),
}
DRAWS, COSTS, NORMS = 10, (1.0, 10.0, 100.0), (1.0, 2.0)
OTHERS = (SOFT, HARD, *GATES)
ALL = "all methods"


def run(report: Report) -> None:
    """Errors, differences from global learning, and what was chosen."""
    quick, there = report.quick, []
    for name in list(SETS)[: 1 if quick else None]:
        with report.leaving_out(name):
            views(name, quick)
            there.append(name)
    runs = Runs() if quick else kept("localized_views")
    every = [key for key in keys(quick) if key[0] in there]
    left = go_on(runs, every, quick_trial if quick else view_trial)
    if left:
        report.left_out["draws"] = f"{left} of {len(every)} are not done"
    found = {name: [runs.known[name, seed, ALL]["found"] for seed in runs.seeds(name, ALL)] for name in there}
    found = {name: trials for name, trials in found.items() if trials}
    if not found:
        return
    rows = [
        {"set": name, "kernels": len(views(name, quick)[1]), "classes": int(views(name, quick)[2].max()) + 1}
        | {m: Spread([t[m]["error"] for t in trials], 1) for m in (GLOBAL, *OTHERS)}
        | {f"{SOFT}, largest gap": f"{max(t[SOFT]['gap'] for t in trials):.1e}", "draws": len(trials)}
        for name, trials in found.items()
    ]
    report.table("Per cent wrong", rows, NOTE)
    report.table("Less the errors of global learning in the same draw", paired_rows(found), PAIRED)
    report.table("What was chosen", chosen_rows(found), CHOSEN)


NOTE = (
    f"At most {DRAWS} draws of 200 to 300 samples to train on, 100 to 200 to choose on, the others (mfeat: "
    "1,000) to test on. One Gaussian kernel of width √(2d) for every view of d features, standardised by the "
    "training part; yeast has no views, and a kernel for each of its features. Hinge, one-vs-rest machines "
    "that share weights. C (1, 10, 100) and norm (1, 2) of all methods, clusters (2, 3) and temperature "
    "(0.1, 0.5, 2) of CLMKL, clusters of HLMKL (hard ones), are the best on the validation part. LMKL: "
    "gates that are softmax or sigmoid functions of the features, learned with the machine (Gönen and "
    "Alpaydın 2008), not convex."
)
PAIRED = "Mean ± standard error of the paired differences, and in brackets the one over the other."
CHOSEN = "How often, over all sets and draws."


def keys(quick: bool = False) -> list[Key]:
    """(set, draw, all methods), draw by draw."""
    return [(name, seed, ALL) for seed in range(2 if quick else DRAWS) for name in SETS]


@cache
def views(name: str, quick: bool) -> tuple[Array, list[Kernel], Array]:
    """All views side by side, a kernel for each of them, and classes 0, 1, …."""
    if stand_in(quick):
        rng, y = np.random.RandomState(0), np.arange(120) % 3
        parts = [rng.standard_normal((120, 2)) + 2.0 * np.eye(3, 2)[(y + v) % 3] for v in range(3)]
    else:
        data = stored(name, float)
        y = np.unique(data.y, return_inverse=True)[1]
        parts = [data.view(view) for view in data.views] or list(data.X.T[:, :, None])
    ends = np.cumsum([0, *(part.shape[1] for part in parts)])
    kernels: list[Kernel] = [
        OnColumns(Gaussian(float(np.sqrt(2.0 * (hi - lo)))), list(range(lo, hi))) for lo, hi in pairwise(ends)
    ]
    return np.hstack(parts), kernels, y


def quick_trial(name: str, seed: int, method: str) -> Facts:
    return view_trial(name, seed, method, quick=True)


def view_trial(name: str, seed: int, _: str, quick: bool = False) -> Facts:
    """Of every method, the candidate that is best on the validation part."""
    X, kernels, y = views(name, quick)
    sizes = (60, 30, 30) if quick else SETS[name]
    found = trial(standardised(draw(X, y, sizes, seed)), candidates(kernels, quick), "classification")
    return {"found": {name: {key: float(facts[key]) for key in facts} for name, facts in found.items()}}


def candidates(kernels: list[Kernel], quick: bool) -> Iterator[Candidate]:
    """(method, its parameters, a function that makes it), from much regularisation to little."""
    costs, norms, clusters, temperatures = (
        (COSTS[:1], NORMS[:1], CLUSTERS[:1], TEMPERATURES[:1])
        if quick
        else (COSTS, NORMS, CLUSTERS, TEMPERATURES)
    )

    def local(max_iter: int = 100, **options: Any) -> LocalizedMKLClassifier:
        return LocalizedMKLClassifier(kernels, max_iter=max_iter, random_state=0, **options)

    for C, norm in product(costs, norms):
        common: Facts = {"C": C, "norm": norm}
        yield GLOBAL, common, lambda c=common: MKLClassifier(kernels, max_iter=100, **c)
        for l in clusters:
            fixed: Facts = {**common, "n_clusters": l}
            yield HARD, fixed, lambda f=fixed: local(gating="hard", **f)
            for t in temperatures:
                soft: Facts = {**fixed, "temperature": t}
                yield SOFT, soft, lambda f=soft: local(**f)
    for C, (name, gating) in product(costs, GATES.items()):
        yield name, {"C": C}, lambda C=C, g=gating: local(STEPS, C=C, gating=g)


# -- tables -----------------------------------------------------------------------------------------
def paired_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    """By set, and of the mean over the sets, whose draws are independent."""
    pairs = {name: {m: less_global(trials, m) for m in OTHERS} for name, trials in found.items()}
    rows: list[Facts] = [{"set": name} | {m: _ratio(*row[m]) for m in OTHERS} for name, row in pairs.items()]
    values = {m: np.array([row[m] for row in pairs.values()]) for m in OTHERS}
    mean = {
        m: (float(v[:, 0].mean()), float(np.sqrt(np.sum(v[:, 1] ** 2)) / len(v))) for m, v in values.items()
    }
    return [*rows, {"set": "mean"} | {m: _ratio(*pair) for m, pair in mean.items()}]


def chosen_rows(found: dict[str, list[dict[str, Facts]]]) -> list[Facts]:
    """How often each value was chosen, by method and parameter."""
    every = [t for trials in found.values() for t in trials]
    rows = []
    for name in (GLOBAL, *OTHERS):
        row: Facts = {"method": name}
        for key in ("C", "norm", "n_clusters", "temperature"):
            values = [t[name][key] for t in every if key in t[name]]
            counts = [f"{value:g}: {values.count(value)}" for value in sorted(set(values))]
            row[key] = ", ".join(counts) or None
        rows.append(row)
    return rows
