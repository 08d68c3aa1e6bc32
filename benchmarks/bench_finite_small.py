"""200 given Gaussian kernels on breast cancer (569 × 30), hinge, C = 1: against the usual libsvm wrapper."""

from __future__ import annotations

from functools import partial
from typing import Any

from manykernels import MKLClassifier
from manykernels.grams import StackGram

from .harness import Contender, Report, compare, ratio_rows
from .problems import Array, breast_cancer, gaussians, risk_of, solve, stack_of, told
from .rivals import libsvm_wrapper

C, TOL = 1.0, 1e-3
GOALS = {1: "fit 40 × faster than the wrapper's rounds, the solver alone 80 ×", 2: "faster than the wrapper"}


def run(report: Report) -> None:
    """norm = 1, where the wrapper must make do with p = 1.0001, and norm = 2."""
    X, y = breast_cancer()
    if report.quick:
        X, y = X[:300], y[:300]
    stack = stack_of(gaussians(report.pick(200, 50)), X)
    rounds, repeats = report.pick(200, 10), report.pick(7, 3)
    for norm, p in ((1, 1.0001), (2, 2.0)):
        contenders = ours(stack, y, norm)
        wrapper = partial(libsvm_wrapper, stack, y, C, p)
        rival = f"wrapper, {rounds} rounds"
        contenders[rival] = Contender(partial(wrapper, rounds), warm=partial(wrapper, 2))
        if norm == 2:
            to_gap = Contender(partial(wrapper, 500, tol=TOL), warm=partial(wrapper, 2))
            contenders[f"wrapper to gap {TOL:g}"] = to_gap
        timings = compare(contenders, repeats, budget=report.pick(60, 5))
        pass_ = stack.nbytes / 1e9 / report.limits.read_gb_s

        def facts(name: str, result: Any, timings: Any = timings, pass_: float = pass_) -> dict[str, Any]:
            return {**told(result), "stack reads": timings[name].median / pass_}

        report.table(f"norm={norm}", ratio_rows(timings, rival, facts), GOALS[norm])


def ours(stack: Array, y: Array, norm: float) -> dict[str, Any]:
    """The whole fit, validation included, and the solver alone."""
    X = stack.transpose(1, 2, 0)
    model = MKLClassifier("precomputed", norm=norm, C=C, normalize=None, tol=TOL)
    return {
        "MKLClassifier.fit": lambda: model.fit(X, y),
        "solver alone": lambda: solve(StackGram(stack), risk_of(y, C), norm, TOL),
    }
