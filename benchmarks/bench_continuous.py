"""Continua of kernels at n = 500: one-stage, two-stage, and a grid of 20 kernels, in units of GCD-2s."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from manykernels import AlignMKLClassifier, MKLClassifier, MKLRegressor
from manykernels.families import Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.oracles import build_oracle

from .harness import Facts, Report, Skip, compare, ratio_rows
from .problems import Array

GCD = "GCD-2s"
GREEDY = 1e-2  # its tolerance: to 1e-3 Frank–Wolfe needs hundreds of steps
WAVES = np.sqrt([2.0, 12.0, 60.0])  # frequencies of Afkanpour 2013, §3.1


def run(report: Report) -> None:
    """For each family and loss: corrective, greedy, GCD-2s, and alternating and uniform over the grid."""
    n = report.pick(500, 60)
    X, y = digits(4, 9, n)
    line, signs = waves(n)
    for family, data, labels in [
        (Gaussians(), X, y),
        (Laplacians(), X, y),
        (Dirichlets(0.1, 10.0), line, signs),
    ]:
        for loss in report.pick(("hinge", "logistic", "squared"), ("hinge",)):
            timings = compare(methods(data, labels, family, loss), report.pick(5, 1), budget=20.0)
            title = f"{type(family).__name__}, {loss} loss, {n} points, C = 10"
            goal = "corrective within 5 × of GCD-2s, certified, gap ≤ 1e-3"
            report.table(title, ratio_rows(timings, GCD, told, cost="in GCD-2s"), goal)


def digits(first: int, second: int, n: int) -> tuple[Array, Array]:
    """n images of two digits, as Afkanpour 2013, Table 6.4, has them."""
    file = Path(os.environ.get("MANYKERNELS_DATA", "")) / "mnist.npz"
    if "MANYKERNELS_DATA" not in os.environ or not file.exists():
        raise Skip("set MANYKERNELS_DATA to a folder with mnist.npz (X, y).")
    with np.load(file) as data:
        rows = np.flatnonzero(np.isin(data["y"], (first, second)))
        rows = np.random.RandomState(0).permutation(rows)[:n]
        return data["X"][rows] / 255.0, np.where(data["y"][rows] == first, 1.0, -1.0)


def waves(n: int) -> tuple[Array, Array]:
    """Afkanpour 2013, §3.1: the sign of three sines whose frequencies no grid of ten has."""
    X = np.random.RandomState(0).uniform(-10.0, 10.0, (n, 1))
    return X, np.where(np.sin(X * WAVES).sum(axis=1) > 0.0, 1.0, -1.0)


def grid(family: Parametric, X: Array, size: int = 20) -> list[Any]:
    """Kernels evenly spread over the range that the family has on these data."""
    c = build_oracle(family, X, normalize="trace").coordinates  # type: ignore[attr-defined]
    low, high = c.bounds[0]
    return [family.kernel(*c.outwards(np.array([u])).tolist()) for u in np.linspace(low, high, size)]


def methods(X: Array, y: Array, family: Parametric, loss: str) -> dict[str, Any]:
    """Whole fits at the default tolerance, but for greedy."""
    kind: Any = partial(MKLRegressor if loss == "squared" else MKLClassifier, loss=loss, C=10.0)
    several = grid(family, X)
    models = {
        GCD: AlignMKLClassifier(family, weighting="greedy"),
        "corrective": kind(family, solver="corrective"),
        "greedy": kind(family, solver="greedy", tol=GREEDY, max_iter=100),
        "alternating over 20": kind(several, solver="alternating", norm=2.0),
        "uniform over 20": kind(several, norm=np.inf),
    }
    return {name: partial(model.fit, X, y) for name, model in models.items()}


def told(name: str, model: Any) -> Facts:
    """The gap, which GCD-2s does not have, whether it covers the family, and the kernels with weight."""
    kernels = int(np.count_nonzero(model.weights_))
    return {
        "gap": getattr(model, "dual_gap_", None) if name != GCD else None,
        "certified": getattr(model, "certified_", None),
        "kernels": kernels,
    }
