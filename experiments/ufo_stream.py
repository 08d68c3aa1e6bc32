"""Orabona & Jie 2011 on a million rows: ringnorm and waveform, streamed through random features."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels import MKLClassifier, UFOMKLClassifier
from manykernels.approx import RandomFeatures
from manykernels.datasets import make_ringnorm, make_waveform
from manykernels.datasets.breiman import PAIRS as PAIRS
from manykernels.datasets.breiman import WAVES as WAVES
from manykernels.datasets.breiman import best_ringnorm, best_waveform
from manykernels.families import gaussian_grid

from .common import in_parallel
from .data import Array
from .products_synthetic import in_a_process
from .tables import Facts, Report, Spread

Labels = NDArray[np.int64]
Part = tuple[Array, Labels]
KERNELS, FEATURES, BATCH = 20, 256, 10_000
PARTS = ("features", "products", "all")  # of the time that a row takes
SEEDS = 3  # streams and samples for the exact method; validation and test rows are the same for all
LAMBDAS, ALPHAS, COSTS = [10.0**-k for k in range(2, 6)], [0.0, 1e-3, 3e-3], [10.0**k for k in range(-2, 3)]


# -- the generators -------------------------------------------------------------------------------
def ringnorm(n: int, rng: np.random.RandomState) -> Part:
    """Two classes in 20 dimensions; the next n rows of a stream."""
    return make_ringnorm(n, random_state=rng)


def waveform(n: int, rng: np.random.RandomState) -> Part:
    """Three classes in 21 dimensions; the next n rows of a stream."""
    return make_waveform(n, random_state=rng)


SETS: dict[str, tuple[Callable[..., Part], Callable[[Array], Labels]]] = {
    "ringnorm": (ringnorm, best_ringnorm),
    "waveform": (waveform, best_waveform),
}


def batches(name: str, n: int, seed: int, scale: tuple[Array, Array]) -> Iterator[Part]:
    """n rows, standardised, a batch at a time; the same ones for the same seed."""
    rng = np.random.RandomState(seed)
    for lo in range(0, n, BATCH):
        X, y = SETS[name][0](min(BATCH, n - lo), rng)
        yield (X - scale[0]) / scale[1], y


def scale_of(name: str) -> tuple[Array, Array]:
    """Mean and deviation of the features, from a first batch that nothing else sees."""
    X, _ = SETS[name][0](BATCH, np.random.RandomState(0))
    return X.mean(axis=0), X.std(axis=0)


def kernels(d: int) -> Any:
    """Widths from a quarter of √(2d), the distance of two standardised samples, to four times that."""
    return gaussian_grid(0.25 * np.sqrt(2.0 * d), 4.0 * np.sqrt(2.0 * d), KERNELS)


# -- learning -------------------------------------------------------------------------------------
def stream(name: str, n: int, seed: int, lam: float, alpha: float) -> UFOMKLClassifier:
    """One pass over n rows."""
    scale = scale_of(name)
    options: dict[str, Any] = {"approx": RandomFeatures(FEATURES, shared=False), "random_state": 0}
    model = UFOMKLClassifier(kernels(scale[0].size), lam=lam, alpha=alpha, **options)
    classes = range(len(np.unique(SETS[name][0](100, np.random.RandomState(0))[1])))
    for X, y in batches(name, n, seed, scale):
        model.partial_fit(X, y, classes=list(classes))
    return model


def wrong(model: Any, name: str, n: int, seed: int) -> float:
    """Per cent, on n rows."""
    parts = batches(name, n, seed, scale_of(name))
    return 100.0 * float(np.sum([np.sum(model.predict(X) != y) for X, y in parts])) / n


def child(task: Facts) -> Facts:
    """The long stream and its test, alone in a process whose memory is looked at."""
    started, cpu = time.perf_counter(), time.process_time()
    model = stream(task["name"], task["n"], task["seed"], task["lam"], task["alpha"])
    spent = {"seconds": time.perf_counter() - started, "of one processor": time.process_time() - cpu}
    found = {"wrong": wrong(model, task["name"], task["test"], 4), "active": int(model.active_.size)}
    return {**spent, **found, "microseconds a row": parts_of(model, task)}


def parts_of(model: UFOMKLClassifier, task: Facts) -> dict[str, float]:
    """What a row costs, in microseconds of one processor: features, products within blocks, all."""
    X, y = next(batches(task["name"], min(BATCH, task["n"]), 5, scale_of(task["name"])))
    ptr, clock = model.features_.ptr, [0.0, 0.0, 0.0]
    for lo in range(0, len(X), 64):  # as the estimator cuts them
        moments = [time.process_time()]
        Phi = model.features_.transform(X[lo : lo + 64])
        moments.append(time.process_time())
        for j in range(KERNELS):
            own = Phi[:, ptr[j] : ptr[j + 1]]
            own @ own.T
        moments.append(time.process_time())
        clock[0] += moments[1] - moments[0]
        clock[1] += moments[2] - moments[1]
    started = time.process_time()
    model.partial_fit(X, y)
    clock[2] = time.process_time() - started
    return {part: 1e6 * t / len(X) for part, t in zip(PARTS, clock, strict=True)}


def tried(name: str, n: int, validation: int, lam: float, alpha: float) -> float:
    """Per cent wrong on the validation rows after a short stream."""
    return wrong(stream(name, n, 2, lam, alpha), name, validation, 3)


def exact(name: str, n: int, seed: int, validation: int, test: int, costs: list[float]) -> Facts:
    """Kernels as they are on a sample, the cost chosen on the validation rows."""
    scale = scale_of(name)
    X, y = (np.concatenate(part) for part in zip(*batches(name, n, seed, scale), strict=True))
    best: tuple[float, float, Any] = (np.inf, 0.0, None)
    started = time.process_time()
    for C in costs:
        model = MKLClassifier(kernels(X.shape[1]), C=C).fit(X, y)
        found = wrong(model, name, validation, 3)
        best = min(best, (found, C, model), key=lambda one: one[0])
    spent = time.process_time() - started
    found = {"wrong": wrong(best[2], name, test, 4), "active": int(best[2].active_.size)}
    return {"C": best[1], **found, "of one processor": spent}


def run(report: Report) -> None:
    """Both generators: the stream, the exact method on a sample, and the best there is."""
    long, short, validation, sample, test = 1_000_000, 50_000, 10_000, 5000, 100_000
    lambdas, alphas, costs = LAMBDAS, ALPHAS, COSTS
    if report.quick:
        long, short, validation, sample, test = 1000, 500, 300, 150, 500
        lambdas, alphas, costs = [1e-3], [0.0], [1.0]
    seeds = [1] if report.quick else [1, *range(6, 5 + SEEDS)]  # 2 … 5 are taken
    for name, (draw, best) in SETS.items():
        grid = [(lam, alpha) for lam in lambdas for alpha in alphas]
        errors = in_parallel(tried, [(name, short, validation, *pair) for pair in grid], report.quick)
        lam, alpha = grid[int(np.argmin(errors))]
        task = {"name": name, "n": long, "test": test, "lam": lam, "alpha": alpha}
        facts = [in_a_process(__name__, task | {"seed": seed}) for seed in seeds]
        rivals = [(name, sample, seed, validation, test, costs) for seed in seeds]
        rival = in_parallel(exact, rivals, report.quick)
        X, y = draw(test, np.random.RandomState(4))
        floor = 100.0 * float(np.mean(best(X) != y))
        report.table(*told(name, (long, sample), (lam, alpha), facts, rival, floor))
        if not report.quick:
            rows = [
                {"λ": f"{a:g}", "α": f"{b:g}", "wrong": e} for (a, b), e in zip(grid, errors, strict=True)
            ]
            report.table(f"{name}: per cent wrong on {validation:,} rows after {short:,}", rows)


def told(
    name: str,
    sizes: tuple[int, int],
    chosen: tuple[float, float],
    facts: list[Facts],
    rival: list[Facts],
    floor: float,
) -> tuple[str, list[Facts], str]:
    cost = {part: np.median([f["microseconds a row"][part] for f in facts]) for part in PARTS}
    rows: list[Facts] = [
        {
            "method": f"stream, λ = {chosen[0]:g}, α = {chosen[1]:g}",
            "rows": f"{sizes[0]:,}",
            "per cent wrong": column(facts, "wrong", 2),
            "kernels": column(facts, "active", 0),
            "seconds": column(facts, "seconds", 0),
            "of one processor": column(facts, "of one processor", 0),
            "MB at most": column(facts, "peak", 0),
        },
        {
            "method": f"exact, C = {', '.join(f'{c:g}' for c in sorted({r['C'] for r in rival}))}",
            "rows": f"{sizes[1]:,}",
            "per cent wrong": column(rival, "wrong", 2),
            "kernels": column(rival, "active", 0),
            "of one processor": column(rival, "of one processor", 0),
        },
        {"method": "densities known", "per cent wrong": f"{floor:.2f}"},
    ]
    rest = cost["all"] - cost["features"] - cost["products"]
    note = (
        f"{len(facts)} streams, and as many samples for the exact method. A row costs {cost['all']:.0f} µs "
        f"of one processor: {cost['features']:.0f} for features, {cost['products']:.0f} for products within "
        f"blocks, {rest:.0f} for the steps and the rest. The time of the exact method is of all costs that "
        "were tried."
    )
    return f"{name}: {KERNELS} kernels of {FEATURES} random features, one pass", rows, note


def column(trials: list[Facts], key: str, digits: int) -> Spread:
    return Spread([float(one[key]) for one in trials], digits)
