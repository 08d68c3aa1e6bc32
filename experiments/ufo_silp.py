"""Orabona and Jie 2011, Table 1: seconds of UFO-MKL beside SILP, on the same splits and kernels."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from manykernels import MKLClassifier
from manykernels.families import per_feature

from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread
from .ufo_table import PAPER, RIVAL, SETS, learner

SPLITS, COST, TOL, LIMIT = 5, 100.0, 1e-2, 1000
BATCH: dict[str, Facts] = {"active set": {}, "SILP": {"solver": "silp", "max_iter": LIMIT}}  # at norm 1
ALPHAS = {f"UFO-MKL, α = {alpha:g}": alpha for alpha in (1e-3, 2.5e-3, 5e-3)}
METHODS = (*ALPHAS, *BATCH)


def run(report: Report) -> None:
    """A table for each set."""
    runs = Runs() if report.quick else kept("ufo_silp")
    for name in list(SETS)[: 1 if report.quick else None]:
        with report.leaving_out(name):
            left = go_on(runs, keys(name, report.quick), quick_trial if report.quick else trial)
            if left:
                report.left_out[name] = f"{left} runs of a method are not done"
            rows = [told(runs, name, method) for method in METHODS if runs.seeds(name, method)]
            report.table(f"{name}: seconds to the end of a fit", rows, NOTE)


NOTE = (
    "Random 70/30 splits and kernels of every feature and of all, as in ufo_table. UFO-MKL: hinge, λ = "
    "1/(100 N), 10 passes (Sonar: 20). The others solve the problem of norm 1 at C = 100, with an "
    f"intercept, to a relative gap of {TOL:g} or {LIMIT:,} machines. Seconds of one processor of a whole "
    "fit, Gram matrices included, on a machine that others used. Mean ± standard deviation over the splits."
)


def keys(name: str = "", quick: bool = False) -> list[Key]:
    """(set, split, method) of all runs, of one set where it is named."""
    sets = [name] if name else list(SETS)
    splits = range(2 if quick else SPLITS)
    return [(one, seed, method) for one in sets for seed in splits for method in METHODS]


def quick_trial(name: str, seed: int, method: str) -> Facts:
    return trial(name, seed, method, quick=True)


def trial(name: str, seed: int, method: str, quick: bool = False) -> Facts:
    """Accuracy, seconds, gap, kernels and machines of one method on one split."""
    source, epochs, _ = SETS[name]
    data = source.load(m=100_000, quick=quick)
    n, order = int(0.7 * data.y.size), np.random.RandomState(seed).permutation(data.y.size)
    train, test = order[:n], order[n:]
    spread = data.X[train].std(axis=0)
    X = (data.X - data.X[train].mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    model = made(method, 1.0 / (100 * n), epochs, seed)
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a gap above tol: the table says the gap
        model.fit(X[train], data.y[train])
    facts: Facts = {"seconds": time.process_time() - started, "gap": float(model.dual_gap_)}
    facts |= {"right": 100.0 * float(np.mean(model.predict(X[test]) == data.y[test]))}
    return facts | {"kernels": int(model.active_.size), "machines": int(model.n_iter_)}


def made(method: str, lam: float, epochs: int, seed: int) -> Any:
    """UFO-MKL as in ufo_table, or a batch solver."""
    if method in ALPHAS:
        return learner("hinge", ALPHAS[method], lam, epochs, seed)
    return MKLClassifier(per_feature(), norm=1, C=COST, normalize="max", tol=TOL, **BATCH[method])


def told(runs: Runs, name: str, method: str) -> Facts:
    """A row beside the paper's."""
    seeds = runs.seeds(name, method)
    column = {key: runs.values(name, method, seeds, key) for key in ("seconds", "right", "kernels", "gap")}
    row: Facts = {"method": method, "seconds": Spread(column["seconds"], 2)}
    row |= {"accuracy": Spread(column["right"], 1), "kernels": Spread(column["kernels"], 1)}
    if method in BATCH:
        row["machines"] = Spread(runs.values(name, method, seeds, "machines"), 0)
    row |= {"largest gap": f"{max(column['gap']):.2g}", "splits": len(seeds)}
    key = (name, "hinge", ALPHAS[method]) if method in ALPHAS else (name, RIVAL, 0.0)
    row["Orabona & Jie 2011: seconds"] = (
        PAPER.get(key, (None,) * 3)[2] if method in ALPHAS or method == "SILP" else None
    )
    return row
