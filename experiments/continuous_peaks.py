"""Afkanpour 2013, Fig. 6.13: the function of a width that GCD-2s searches, on pairs of digits and letters."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from manykernels import KernelAligner
from manykernels.families import Gaussians

from .common import in_parallel
from .continuous_digits import PAIRS, draw
from .continuous_ranks import LETTERS
from .data import Array, Source, stand_in
from .plots import Lines
from .tables import Facts, Report

RUNS, WIDTHS, POINTS = 5, 400, 40  # draws, widths among which peaks are counted, and of these in a figure
DRAWN = ["0 v 6", "4 v 9", "B v E", "O v Q"]  # an easy and a hard pair of each
PLOTS = [
    Lines("continuous_peaks.png", f"{pair}: h", "width", "h / largest |h|", x="width", log="x")
    for pair in DRAWN
]


def run(report: Report) -> None:
    """How many peaks there are at every iteration, and some of the curves."""
    for file, pairs, n, low, high in (
        ("mnist", {f"{a} v {b}": (a, b) for a, b in PAIRS}, 500, 500.0, 50000.0),
        ("letter", {f"{a} v {b}": (ord(a) - 65, ord(b) - 65) for a, b in LETTERS}, 300, 1.0, 200.0),
    ):
        with report.leaving_out(file):
            few = {"0 v 6": (0, 1)} if file == "mnist" else {"B v E": (0, 1)}
            chosen = few if report.quick else pairs
            n, low, high = (30, 0.5, 50.0) if stand_in(report.quick) else (n, low, high)
            jobs = [
                (file, pair, seed, n, (low, high), report.quick)
                for pair in chosen.values()
                for seed in range(2 if report.quick else RUNS)
            ]
            found = iter(in_parallel(trial, jobs, report.quick))
            per_pair = {name: [next(found) for _ in range(len(jobs) // len(chosen))] for name in chosen}
            report.table(f"{file}: peaks of what GCD-2s searches", peak_rows(per_pair), PEAKS)
            for name in (name for name in DRAWN if name in chosen):
                report.table(f"{name}: h by the width, first draw", curve_rows(*per_pair[name][0]), CURVES)


PEAKS = (
    f"Local maxima of h(σ) = ⟨K_σ, F'⟩ among {WIDTHS} widths, evenly spaced in the logarithm, before each "
    "kernel is added and after the last, over all draws of a pair."
)
CURVES = (
    f"{POINTS} of the {WIDTHS} widths, divided by the largest |h|; columns: kernels that are there already."
)


def trial(
    file: str, pair: tuple[int, int], seed: int, n: int, widths: tuple[float, float], quick: bool
) -> tuple[Array, Array]:
    """Widths, and the curve of every iteration on one draw."""
    data = Source(file, "classification", "raw", classes=((pair[0],), (pair[1],))).load(100_000, quick)
    (X, y), _, _ = draw(data.X, data.y, (min(n, data.y.size), 0, 0), seed)
    return curves(X, y, Gaussians(*widths), WIDTHS)


def curves(X: Array, y: Array, family: Gaussians, count: int) -> tuple[Array, Array]:
    """h on so many widths at each iteration of Alg. 7, which never changes the weight of a kernel again.

    F' ∝ T − K⟨K, T⟩/⟨K, K⟩ (Afkanpour 2013, Prop. 5.2) with T and K centred; K is the identity, then what
    was found.
    """
    model = KernelAligner(family, weighting="greedy", normalize=None).fit(X, y)
    i, j = np.triu_indices(len(y), 1)
    D = pdist(X, "sqeuclidean")
    widths = np.geomspace(family.low, family.high, count)
    centred = y - y.mean()
    T, K, found = np.outer(centred, centred), np.eye(y.size) - 1.0 / y.size, np.zeros((y.size, y.size))
    h = []
    for m in range(model.weights_.size + 1):
        S = T - K * (np.vdot(K, T) / np.vdot(K, K))
        h.append([2.0 * S[i, j] @ np.exp(-D / width**2) for width in widths])
        if m < model.weights_.size:
            found += model.weights_[m] * model.kernels_[m](X)
            K = found
    return widths, np.array(h)


def peaks(h: Array) -> int:
    """Local maxima, the ends among them."""
    padded = np.concatenate([[-np.inf], h, [-np.inf]])
    return int(np.sum((h > padded[:-2]) & (h > padded[2:])))


def peak_rows(found: dict[str, list[tuple[Array, Array]]]) -> list[Facts]:
    rows = []
    for name, trials in found.items():
        counts = [peaks(h) for _, several in trials for h in several]
        row: Facts = {"pair": name, "iterations": len(counts)}
        row |= {f"{k} peak{'s' if k > 1 else ''}": counts.count(k) for k in (1, 2, 3)}
        rows.append(row | {"most": max(counts)})
    return rows


def curve_rows(widths: Array, h: Array) -> list[Facts]:
    scale = np.abs(h).max(axis=1)
    return [
        {"width": float(widths[k])} | {str(m): float(h[m, k] / scale[m]) for m in range(len(h))}
        for k in np.linspace(0, widths.size - 1, POINTS).astype(int)
    ]
