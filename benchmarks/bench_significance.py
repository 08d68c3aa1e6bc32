"""Tests of kernels: their level on targets that no kernel knows of, their power, their time and their tails.

Targets are drawn from the model without kernels: Gaussian noise, labels, and times to an event of which about
40 % are censored, each with and without covariates that matter and that the kernels see a part of. A test
keeps its level if 5 % of the p-values are below 0.05. Power is that of the score test beside 999 draws. The
bound of stability selection is held against how many kernels without effect it selects.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import gaussian_grid, rank_one
from manykernels.inspection import significance, stability_selection
from manykernels.inspection.quadratic_forms import upper_tail
from manykernels.kernels import Gaussian, Kernel, Linear

from .harness import MISSING, Facts, Report, compare, pinned
from .problems import Array

LEVEL = 0.05
KINDS = ("continuous", "binary", "survival")
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "Gaussian, width 3": Gaussian(3.0),
    "width 1": Gaussian(1.0),
}
COLUMNS = 5
DIGITS, SMALL = 25, 14  # of Imhof's integral: digits, and those of what is left of it at its end


def run(report: Report) -> None:
    """Level, power, time, tails and the bound of stability selection, all on one thread."""
    draws, n = report.pick((5000, 100), (20, 40))
    with pinned(1):
        rows = [level(kind, known, n, draws) for kind in KINDS for known in (False, True)]
        goal = "4 to 6 % for continuous targets, 3 to 6 % for binary ones and survival"
        report.table(f"p-values below 0.05 in {draws:,} draws without effect, {n} samples, %", rows, goal)
        times = report.pick(100, 3)
        rows = [power(kind, n, times) for kind in KINDS]
        report.table(f"p-values below 0.05 in {times} draws with an effect of one column, %", rows)
        size, count = report.pick((500, 20), (60, 4))
        rows = [seconds(kind, size, count, report.pick(3, 1)) for kind in KINDS]
        goal = "999 permutations in at most the time of 50 fits"
        report.table(f"999 draws for each of {count} Gaussian kernels, {size} samples", rows, goal)
        goal = "1e-8 from Imhof's integral, within two standard errors of the simulation in 95 %"
        report.table("Tails of mixtures of χ²", tails(report.pick(20, 2), report.pick(10**6, 1000)), goal)
        rows = [selected(effects, report.pick(40, 2)) for effects in (0, 3)]
        goal = "false ones at most the bound"
        report.table("Stability selection of 30 linear kernels of one column each, 100 samples", rows, goal)


# -- targets ----------------------------------------------------------------------------------------
def samples(n: int) -> tuple[Array, Array]:
    """X, and covariates of which the first is near a column of X."""
    draw = np.random.RandomState(0)
    X = draw.standard_normal((n, COLUMNS))
    return X, np.column_stack([X[:, 0] + draw.standard_normal(n), draw.uniform(size=n) < 0.4])


def targets(kind: str, f: Array, times: int) -> Iterator[Any]:
    """Targets with decisions f."""
    draw = np.random.RandomState(1)
    for _ in range(times):
        if kind == "continuous":
            yield f + draw.standard_normal(f.size)
        elif kind == "binary":
            yield np.where(draw.uniform(size=f.size) < 1.0 / (1.0 + np.exp(-f)), "yes", "no")
        else:
            t, c = draw.exponential(size=f.size) * np.exp(-f), 1.5 * draw.exponential(size=f.size)
            pairs = list(zip(t <= c, np.minimum(t, c), strict=True))
            yield np.array(pairs, dtype=[("event", bool), ("time", float)])


# -- tables -----------------------------------------------------------------------------------------
def level(kind: str, known: bool, n: int, draws: int) -> Facts:
    """The share of p-values below 0.05, by kernel."""
    X, Z = samples(n)
    f, given = (Z @ [0.7, -0.5], Z) if known else (np.zeros(n), None)
    p = np.array([significance(KERNELS, X, y, covariates=given).p_value for y in targets(kind, f, draws)])
    shares = 100.0 * (p < LEVEL).mean(axis=0)
    return {
        "target": kind,
        "covariates": "two" if known else "none",
        **dict(zip(KERNELS, shares, strict=True)),
    }


def power(kind: str, n: int, times: int) -> Facts:
    """How often each method sees an effect of one column."""
    X, Z = samples(n)
    f = 0.4 * X[:, 1] + 0.3 * Z[:, 1]
    row: Facts = {"target": kind}
    for method in ("score", "permutation"):
        found = [
            significance(KERNELS, X, y, covariates=Z, method=method, random_state=i).p_value
            for i, y in enumerate(targets(kind, f, times))
        ]
        shares = 100.0 * (np.array(found) < LEVEL).mean(axis=0)
        row |= {f"{name}: {method}": share for name, share in zip(KERNELS, shares, strict=True)}
    return row


def seconds(kind: str, n: int, count: int, repeats: int) -> Facts:
    """The time of 999 draws for all kernels, in fits of a model with these kernels.

    For survival it is a fit to the times as numbers, since no estimator learns from times to an event.
    """
    X, _ = samples(n)
    kernels = gaussian_grid(0.5, 50.0, count)
    y = next(iter(targets(kind, X[:, 0], 1)))
    model: Any = MKLClassifier(kernels) if kind == "binary" else MKLRegressor(kernels)
    numbers = y["time"] if kind == "survival" else y
    contenders = {
        "999 draws": partial(significance, kernels, X, y, method="permutation", random_state=0),
        "score test": partial(significance, kernels, X, y),
        "fit": partial(model.fit, X, numbers),
    }
    timings = compare(contenders, repeats)
    cpu = {name: float(np.median(timing.cpu)) for name, timing in timings.items()}
    row: Facts = {"target": kind, **{f"{name}, CPU s": value for name, value in cpu.items()}}
    return row | {"999 draws in fits": cpu["999 draws"] / cpu["fit"]}


def tails(problems: int, draws: int) -> list[Facts]:
    """Differences from Imhof's integral in high precision, and from simulation in standard errors."""
    draw = np.random.RandomState(0)
    exact, simulated = [], []
    for _ in range(problems):
        a = draw.standard_normal(draw.randint(12, 30)) * draw.uniform(size=1) ** -0.5
        x = float(a.sum() + 1.5 * draw.standard_normal() * np.sqrt(2.0 * np.sum(a * a)))
        found = upper_tail(a, x)
        if find_spec("mpmath") is not None:
            exact.append(abs(found - imhof(a, x)))
        share = float(np.mean([np.sum(a * draw.standard_normal(a.size) ** 2) > x for _ in range(2000)]))
        simulated.append((share - found) / np.sqrt(max(found * (1.0 - found), 1e-12) / 2000))
    many = spectrum(draws, draw)
    return [
        {
            "compared with": f"Imhof's integral with {DIGITS} digits",
            "problems": len(exact),
            "largest difference": max(exact) if exact else MISSING,
        },
        {
            "compared with": "2,000 draws each",
            "problems": problems,
            "beyond two standard errors, %": 100.0 * float(np.mean(np.abs(simulated) > 2.0)),
        },
        {"compared with": f"{draws:,} draws of one spectrum", "problems": 1, "standard errors apart": many},
    ]


def spectrum(draws: int, draw: np.random.RandomState) -> float:
    """One mixture with the eigenvalues of a kernel, drawn often."""
    a = 1.0 / np.arange(1, 31) ** 1.5
    x = float(a.sum() + 2.0 * np.sqrt(2.0 * np.sum(a * a)))
    low = sum(int(np.sum(draw.standard_normal((10**3, a.size)) ** 2 @ a > x)) for _ in range(draws // 10**3))
    p, count = upper_tail(a, x), draws // 10**3 * 10**3
    return float((low / count - p) / np.sqrt(p * (1.0 - p) / count))


def imhof(a: Array, x: float) -> float:
    """½ + (1/π) ∫ sin θ(u) / (u ρ(u)) du over u > 0 (Imhof 1961), θ(u) = ½ Σ arctan(a_j u) − ½ x u.

    ρ(u) = Π (1 + a_j² u²)^¼. The integral ends where 1/ρ is below rounding, and its pieces are no longer than
    a period of sin.
    """
    mp = import_module("mpmath")
    with mp.workdps(DIGITS):
        weights, shift = [mp.mpf(float(value)) for value in a], mp.mpf(float(x))

        def size(u: Any) -> Any:
            return mp.sqrt(mp.sqrt(mp.fprod(1 + (w * u) ** 2 for w in weights)))

        def integrand(u: Any) -> Any:
            return mp.sin((mp.fsum(mp.atan(w * u) for w in weights) - shift * u) / 2) / (u * size(u))

        step = 1 / (abs(shift) / 4 + max(abs(w) for w in weights))
        points = [mp.mpf(0)]
        while size(points[-1]) < 10**SMALL:
            points.append(points[-1] + max(step, min(points[-1] / 2, 8 / (abs(shift) + 1))))
        total = mp.fsum(mp.quad(integrand, pair, maxdegree=6) for pair in pairwise(points))
        return float(mp.mpf(1) / 2 + total / mp.pi)


def selected(effects: int, times: int) -> Facts:
    """How many kernels without effect are selected, and the bound."""
    false, right = [], []
    bound = 0.0
    for i in range(times):
        draw = np.random.RandomState(i)
        X = draw.standard_normal((100, 30))
        y = X[:, :effects].sum(axis=1) + draw.standard_normal(100)
        found = stability_selection(MKLRegressor(rank_one()), X, y, n_pairs=20, random_state=i)
        false.append(int(found.selected[effects:].sum()))
        right.append(int(found.selected[:effects].sum()))
        bound = found.expected_false
    return {
        "kernels with an effect": effects,
        "of these selected": float(np.mean(right)),
        "others selected": float(np.mean(false)),
        "bound": bound,
        "times": times,
    }
