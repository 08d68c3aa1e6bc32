"""Sonar with SimpleMKL's dictionary (793 kernels): 20 passes of UFO-MKL against the usual libsvm wrapper."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from manykernels import UFOMKLClassifier
from manykernels.families import per_feature

from .harness import Contender, Report, compare, ratio_rows
from .problems import Array, load, stack_of
from .rivals import libsvm_wrapper

C, NORM = 100.0, 1.0001  # what Orabona & Jie 2011 fixes; p = 1 is not for the wrapper
TRAIN, ALPHAS = 145, (1e-3, 5e-3)


def run(report: Report) -> None:
    """Orabona & Jie 2011, Table 1: the wrapper gets Gram matrices, UFO-MKL makes its own or gets them."""
    X, y = load("sonar")
    order = np.random.RandomState(0).permutation(y.size)
    train, test = order[:TRAIN], order[TRAIN:]
    X = X[:, : report.pick(60, 5)]
    stack = stack_of(list(per_feature().resolve(X[train]).values()), X[train])
    stack /= np.max(np.diagonal(stack, axis1=1, axis2=2), axis=1)[:, None, None]
    contenders: dict[str, Any] = {
        f"UFO-MKL, {loss}, α = {alpha:g}": partial(learn, X[train], y[train], loss, alpha)
        for loss in ("hinge", "logistic")
        for alpha in ALPHAS
    }
    given = np.moveaxis(stack, 0, 2)  # a view
    for alpha in ALPHAS:
        name = f"UFO-MKL, hinge, α = {alpha:g}, matrices given"
        contenders[name] = partial(learn, given, y[train], "hinge", alpha, "precomputed")
    rounds = report.pick(200, 5)
    rival, wrapper = f"wrapper, {rounds} rounds", partial(libsvm_wrapper, stack, y[train], C, NORM)
    contenders[rival] = Contender(partial(wrapper, rounds), warm=partial(wrapper, 2))
    timings = compare(contenders, repeats=report.pick(5, 1))
    base = timings[rival].as_dict()["cpu"]

    def facts(name: str, result: Any) -> dict[str, Any]:
        row: dict[str, Any] = {"× in processor time": base / timings[name].as_dict()["cpu"]}
        if isinstance(result, UFOMKLClassifier) and "given" in name:
            return row | {"kernels": result.active_.size, "gap": result.dual_gap_}
        if isinstance(result, UFOMKLClassifier):
            right = 100.0 * float(np.mean(result.predict(X[test]) == y[test]))
            return row | {"kernels": result.active_.size, "per cent right": right, "gap": result.dual_gap_}
        return row | {"kernels": int(np.count_nonzero(result.weights)), "gap": result.gap}

    title = f"{len(stack)} kernels, {TRAIN} samples"
    report.table(title, ratio_rows(timings, rival, facts), "at most a tenth of the wrapper's time")


def learn(X: Array, y: Array, loss: str, alpha: float, kernels: Any = None) -> UFOMKLClassifier:
    """The whole fit, from the samples or from matrices."""
    options: dict[str, Any] = {"fit_intercept": False, "random_state": 0, "loss": loss, "alpha": alpha}
    lam = 1.0 / (C * len(y))
    return UFOMKLClassifier(kernels or per_feature(), lam=lam, epochs=20, **options).fit(X, y)
