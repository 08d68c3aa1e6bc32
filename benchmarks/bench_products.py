"""All products of 100 features up to degree 3 at once, against listing them; and what the oracle costs."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Products
from manykernels.oracles import build_oracle

from .harness import Contender, Facts, Report, compare, ratio_rows
from .problems import Array
from .rivals_products import alternating_features, product_features

OURS, RIVAL = "MKLRegressor(Products)", "alternating over the list"


def run(report: Report) -> None:
    """Whole fits against 60 rounds over explicit features; one oracle call against one GEMM; draws."""
    n, r, rounds = report.pick((500, 100, 60), (100, 12, 5))
    X, y = synthetic(n, r)
    F = product_features(X, 3)  # not counted: kind to the rival
    for C in report.pick((1.0, 10.0, 100.0), (1.0,)):
        _fits(report, X, y, F, C, rounds)
    del F
    for scale in ("rms", None):
        _losses(report, scale)
    report.table("one call of the oracle, degree 3", _oracle(report, n), "near one GEMM of as many flops")
    report.table("draws of the sampler, degree 3", _draws(report, n))


def synthetic(n: int, r: int, seed: int = 0) -> tuple[Array, Array]:
    """Afkanpour 2013, §6.1.3: ten products of degree ≤ 3 of the first five of r variables."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1.0, 1.0, (n, r))
    every = [z for d in range(4) for z in itertools.combinations_with_replacement(range(5), d)]
    terms = [every[i] for i in rng.permutation(len(every))[:10]]
    y = np.mean([X[:, list(z)].prod(axis=1) for z in terms], axis=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def fit(X: Array, y: Array, C: float) -> MKLRegressor:
    """norm = 1 over all products, each of unit size."""
    return MKLRegressor(Products(degree=3, atom_scale="rms"), norm=1, solver="corrective", C=C).fit(X, y)


def _fits(report: Report, X: Array, y: Array, F: Array, C: float, rounds: int) -> None:
    contenders = {
        OURS: Contender(partial(fit, X, y, C)),
        RIVAL: Contender(
            partial(alternating_features, F, y, C, rounds), partial(alternating_features, F, y, C, 1)
        ),
    }
    timings = compare(contenders, report.pick(5, 1), budget=5.0)
    least = timings[OURS].result.objective_ * (1.0 - timings[OURS].result.dual_gap_)
    rows = ratio_rows(timings, RIVAL, partial(_told, least))
    title = f"{len(F):,} products of {X.shape[1]} features, {len(X)} points, 1/C = {1 / C:g}, {rounds} rounds"
    report.table(title, rows, "at least 200 × faster, certified, gap ≤ 1e-3")


def _losses(report: Report, scale: str | None) -> None:
    """Other losses beside the squared one, on the same signs."""
    n, r = report.pick((500, 30), (100, 8))
    X, y = synthetic(n, r)
    signs = np.where(y > np.median(y), 1.0, -1.0)
    kinds: dict[str, Any] = {"squared": MKLRegressor, "logistic": MKLClassifier, "hinge": MKLClassifier}
    models = {
        loss: kind(Products(degree=3, atom_scale=scale), norm=1, solver="corrective", loss=loss)
        for loss, kind in kinds.items()
    }
    timings = compare(
        {loss: partial(model.fit, X, signs) for loss, model in models.items()}, report.pick(5, 1)
    )

    def told(name: str, model: Any) -> Facts:
        facts: Facts = {"CPU s": float(np.median(timings[name].cpu)), "gap": model.dual_gap_}
        return {**facts, "certified": model.certified_, "products": len(model.weights_)}

    rows = ratio_rows(timings, "squared", told, cost="in fits of the squared loss")
    report.table(
        f"losses, {r} features, {n} points, degree 3, atom_scale={scale}", rows, "at most 5, gap ≤ 1e-3"
    )


def _told(least: float, name: str, result: Any) -> Facts:
    """The rival's P falls long before its bound is of use: so also after how many rounds P is good enough."""
    if name == RIVAL:
        excess = np.array(result.objective) / least - 1.0
        enough = [f"{int(np.argmax(excess <= e)) + 1}" if excess.min() <= e else "more" for e in (1e-2, 1e-3)]
        facts: Facts = {"gap": result.gap, "P above the optimum": float(excess[-1])}
        return {**facts, "rounds to 1e-2, 1e-3": ", ".join(enough)}
    facts = {"gap": result.dual_gap_, "P above the optimum": result.objective_ / least - 1.0}
    return {**facts, "certified": result.certified_, "products": len(result.selected_products_["product"])}


def _oracle(report: Report, n: int) -> list[Facts]:
    """The 50 best products, beside a matrix product that takes n multiplications for each product too."""
    rows: list[Facts] = []
    rng = np.random.RandomState(0)
    for r in report.pick((100, 200), (12,)):
        X, A = rng.randn(n, r), rng.randn(n, 1)
        oracle = build_oracle(Products(degree=3, atom_scale="rms"), X, normalize=None)
        side = round(oracle.size**0.5)
        left, right = rng.randn(side, n), rng.randn(n, side)
        timings = compare(
            {"oracle": partial(oracle.best, A, 50), "GEMM": partial(np.matmul, left, right)}, 15
        )
        for row in ratio_rows(timings, "GEMM", cost="in GEMMs"):
            gflops = 2e-9 * n * oracle.size / row["seconds"].median
            rows.append({"r": r, "products": oracle.size, **row, "GFLOP/s": gflops})
    return rows


def _draws(report: Report, n: int) -> list[Facts]:
    """By the gradient and uniformly, in batches."""
    rows: list[Facts] = []
    rng = np.random.RandomState(0)
    for r in report.pick((100, 200), (12,)):
        X, A = rng.randn(n, r), rng.randn(n, 1)
        oracle = build_oracle(Products(degree=3), X, normalize="trace", norm=2.0)
        for batch in (1, 32, 1000):
            calls = {
                "by the gradient": partial(oracle.sample, A, batch, rng),
                "uniformly": partial(oracle.sample_uniform, batch, rng),
            }
            for how, timing in compare(calls, report.pick(9, 1)).items():
                row: Facts = {"r": r, "drawn": how, "batch": batch, "seconds": timing}
                rows.append({**row, "draws per second": batch / timing.median})
    return rows
