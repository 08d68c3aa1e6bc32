"""Rostamizadeh 2010, Figs 2.1–2.4, 3.1: bounds, alignment of unbalanced classes, and many kernels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from manykernels import MKLRegressor
from manykernels.bounds import rademacher_bound_uniform
from manykernels.families import rank_one
from manykernels.kernels import Linear
from manykernels.measures import centered_alignment, uncentered_alignment
from manykernels.penalties import L2Ball

from .common import Split, in_parallel, tuned
from .data import Array, Dataset, documents, stand_in, stored
from .plots import Lines
from .tables import Facts, Report, Spread

MARGIN, DELTA = 0.2, 0.01  # ρ/R and δ of all figures
KERNELS: dict[str, Callable[[float], float]] = {
    "10": lambda m: 10.0,
    "20": lambda m: 20.0,
    "m^(1/3)": lambda m: m ** (1.0 / 3.0),
    "m^(4/5)": lambda m: m**0.8,
    "m": lambda m: m,
}
SIZES = [10**k for k in range(3, 8)] + [15_000_000]
PIXELS, DRAWS, RIDGES = (200, 300, 400, 600, 784), 5, [10.0**k for k in range(-2, 7)]
BIGRAMS, SPLITS, RADII = (250, 500, 1000, 2000), 5, (0.5, 2.0)
COSTS = {  # half decades; kernels are on one scale
    "unif": [10.0 ** (k / 2.0) for k in range(-2, 3)],
    "l1": [10.0 ** (k / 2.0) for k in range(-4, 1)],
    "l2": [10.0 ** (k / 2.0) for k in range(-3, 2)],
}
PLOTS = [
    Lines("alignment_bounds_samples.png", "Fig. 2.1", "samples m", "bound", x="m", log="xy"),
    Lines("alignment_bounds_samples.png", "Fig. 2.3", "samples m", "bound", x="m", log="xy"),
    Lines("alignment_bounds_alignment.png", "Fig. 2.4", "α, share of one class", "alignment", x="α"),
    Lines(
        "alignment_bounds_digits.png",
        "Fig. 2.2",
        "pixels p",
        "bound, margin loss (mean ± sd)",
        x="p",
        y=["norm 1: bound", "norm 2: bound", "norm 1: margin loss", "norm 2: margin loss"],
    ),
    Lines(
        "alignment_bounds_digits.png",
        "Fig. 2.2",
        "pixels p",
        "test error, per cent (mean ± sd)",
        x="p",
        y=[f"norm {q}: {what}, %" for q in (1, 2) for what in ("test error", "by errors")],
    ),
    Lines(
        "alignment_bounds_bigrams.png",
        "Fig. 3.1",
        "bigrams",
        "RMSE, mean ± sd of the halves",
        x="bigrams",
        y=["unif", "l1", "l2"],
    ),
]


def run(report: Report) -> None:
    """One table a figure."""
    report.table(
        "Fig. 2.1: bound on R(h) − R̂_ρ(h), Rostamizadeh's and Srebro and Ben-David's", fig_1(), FIG_1
    )
    report.table("Samples from which on a bound is below 1", informative(), BELOW)
    report.table("Fig. 2.3: weights of norm 1 and of norm 2", fig_3(), FIG_3)
    report.table("Fig. 2.4: alignment of separable classes", fig_4(40 if report.quick else 1000), FIG_4)
    with report.leaving_out("mnist"):
        report.table("Fig. 2.2: even and odd digits by p of their pixels", fig_2(report.quick), FIG_2)
    with report.leaving_out("stars_kitchen"):
        rows = fig_bigrams("stars_kitchen", report.quick)
        report.table("Fig. 3.1: kitchen, RMSE by the number of bigrams", rows, FIG_5)


# -- bounds of formulas -----------------------------------------------------------------------------
def ours(m: float, p: float, norm: float = 1.0) -> float:
    """(2/ρ) R̂(H_p^q) + 3 √(log(2/δ)/2m) for K_k(x, x) ≤ R² (Rostamizadeh 2010, Cors 2.1, 2.2)."""
    m, p = math.ceil(m), max(2, math.ceil(p))
    complexity = 2.0 / MARGIN * rademacher_bound_uniform(1.0, p, m, norm=norm)
    return complexity + 3.0 * math.sqrt(math.log(2.0 / DELTA) / (2.0 * m))


def pseudodimension(m: float, p: float) -> float:
    """Srebro and Ben-David's bound as in Rostamizadeh 2010, §2.2 (without its δ, which is not printed)."""
    ratio = MARGIN**-2  # R²/ρ²
    capacity = p * math.log(128.0 * math.e * m**3 * ratio / p)
    capacity += 256.0 * ratio * math.log(MARGIN * math.e * m / 8.0) * math.log(128.0 * m * ratio)
    return math.sqrt(8.0 * (2.0 + capacity) / m)


def fig_1() -> list[Facts]:
    rows = []
    for m in SIZES:
        row: Facts = {"m": f"{m:,}"}
        for name in ("10", "m^(1/3)", "m^(4/5)", "m"):
            row[f"p = {name}"] = f"{ours(m, KERNELS[name](m)):.3f}"
        for name in ("10", "m^(1/3)", "m^(4/5)", "m"):
            row[f"S. and B.-D., p = {name}"] = f"{pseudodimension(m, KERNELS[name](m)):.2f}"
        rows.append(row)
    return rows


FIG_1 = (
    "ρ/R = 0.2, δ = 0.01. Rostamizadeh 2010 says: theirs is above 1 for all m ≤ 15·10⁶, ours varies mildly "
    "with p up to m."
)


def informative() -> list[Facts]:
    """The least m, to one per cent, from which on the bound is below 1."""
    bounds: dict[str, Callable[[float, float], float]] = {
        "norm 1": ours,
        "norm 2": lambda m, p: ours(m, p, 2.0),
        "Srebro and Ben-David": pseudodimension,
    }
    rows = []
    for name, p in KERNELS.items():
        row: Facts = {"p": name}
        for bound, value in bounds.items():
            m = crossing(lambda m, value=value, p=p: value(m, p(m)))
            row[bound] = f"{m:,.3g}" if m < 1e6 else (f"{m:.1e}" if m < math.inf else "never (10³⁰)")
        rows.append(row)
    return rows


BELOW = "The largest m tried is 10³⁰."


def crossing(value: Callable[[float], float], low: float = 100.0, high: float = 1e30) -> float:
    """Where a function that falls in the end comes below 1, by bisection of log m; inf if not by `high`."""
    if value(high) >= 1.0:
        return math.inf
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if value(middle) < 1.0 else (middle, high)
    return high


def fig_3() -> list[Facts]:
    rows = []
    for m in SIZES[:-1]:
        row: Facts = {"m": f"{m:,}"}
        for name in ("20", "m^(1/3)", "m"):
            p = KERNELS[name](m)
            row |= {f"norm {q}, p = {name}": f"{ours(m, p, q):.3f}" for q in (1, 2)}
        rows.append(row)
    falls = [math.log10(ours(10**6, 10**6, q) / ours(10**7, 10**7, q)) for q in (1, 2)]
    last: Facts = {"m": "falls as m^−"}
    rows.append(last | {f"norm {q}, p = m": f"{fall:.2f}" for q, fall in zip((1, 2), falls, strict=True)})
    return rows


FIG_3 = (
    "The last row is the exponent between the two last m. Rostamizadeh 2010 says: 1/4 for norm 2 and p = m."
)


# -- alignment --------------------------------------------------------------------------------------
def fig_4(n: int) -> list[Facts]:
    """K(x, x') = x·x' + 1, a fraction α at (−1, 0) with label −1 and the rest at (1, 0) with label 1."""
    rows = []
    for alpha in (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9, 1.0):
        y = np.where(np.arange(n) < round(alpha * n), -1.0, 1.0)
        K = np.asarray(Linear()(np.column_stack([y, np.zeros(n)]))) + 1.0
        row: Facts = {"α": f"{alpha:g}", "A by formula": math.sqrt((1.0 + (1.0 - 2.0 * alpha) ** 2) / 2.0)}
        row["A measured"] = uncentered_alignment(K, y, kind="regression") if 0 < alpha < 1 else "refused"
        row["ρ measured"] = centered_alignment(K, y, kind="regression") if 0 < alpha < 1 else "refused"
        rows.append(row)
    return rows


FIG_4 = (
    "Any classifier separates the classes at x₁ = 0. Rostamizadeh 2010 says ρ = 1 for all α in [0, 1]; at 0 "
    "and 1 there is "
    "one class only, K and K_Y are constant, and ρ is 0/0. The package refuses to measure either there."
)


# -- pixels -----------------------------------------------------------------------------------------
def fig_2(quick: bool) -> list[Facts]:
    """Test error and bound by p, for weights of norm 1 and 2; means over draws of samples and pixels."""
    X, y, Z, z, sizes = digits(quick)
    found: dict[tuple[int, int], list[dict[str, float]]] = {}
    for seed in range(2 if quick else DRAWS):
        rng = np.random.RandomState(seed)
        rows, order = rng.permutation(len(y))[: sizes[0]], rng.permutation(X.shape[1])
        A, b = X[rows], y[rows]
        G, c = (A.T @ A).astype(float), (A.T @ b).astype(float)
        deviation = np.maximum(A.std(axis=0), 1e-9)
        relevance = np.abs(c / len(b) - A.mean(axis=0) * b.mean()) / (deviation * b.std())
        for p in sizes[1:]:
            S = order[:p]
            for q in (1, 2):
                mu = relevance[S] / np.linalg.norm(relevance[S], q)
                fit = machine((A[:, S], b), (Z[:, S], z), G[np.ix_(S, S)], c[S], mu)
                found.setdefault((p, q), []).append(fit | {"bound": fit["loss"] + ours(len(b), p, q)})
    return [{"p": p} | pixel_row(p, sizes[0], {q: found[p, q] for q in (1, 2)}) for p in sizes[1:]]


def machine(
    train: tuple[Array, Array], test: tuple[Array, Array], G: Array, c: Array, mu: Array
) -> dict[str, float]:
    """h in the unit ball of K_μ = Σ μ_k x_k x'_k by ridge regression, at the λ of the least margin loss."""
    s, best, least = np.sqrt(mu), (np.inf, np.nan), (np.inf, np.nan)
    for ridge in RIDGES:
        w = np.linalg.solve(G * np.outer(s, s) + ridge * np.eye(s.size), s * c)
        f = (s * w / np.linalg.norm(w)).astype(train[0].dtype)
        margins, wrong = train[1] * (train[0] @ f), 100.0 * float(np.mean(test[1] * (test[0] @ f) <= 0))
        best = min(best, (float(np.mean(np.clip(1.0 - margins / MARGIN, 0.0, 1.0))), wrong))
        least = min(least, (float(np.mean(margins <= 0)), wrong))
    return {"loss": best[0], "error": best[1], "by errors": least[1]}


def pixel_row(p: int, m: int, found: dict[int, list[dict[str, float]]]) -> Facts:
    row: Facts = {}
    for q, fits in found.items():
        row[f"norm {q}: test error, %"] = Spread([fit["error"] for fit in fits], 1)
        row[f"norm {q}: by errors, %"] = Spread([fit["by errors"] for fit in fits], 1)
        row[f"norm {q}: margin loss"] = Spread([fit["loss"] for fit in fits], 3)
        row[f"norm {q}: rest of the bound"] = f"{ours(m, p, q):.3f}"
        row[f"norm {q}: bound"] = Spread([fit["bound"] for fit in fits], 3)
    return row


FIG_2 = (
    f"{DRAWS} draws of 36,000 of the 60,000 training digits and of p of the 784 pixels, in [0, 1]; weights "
    "proportional to the correlation of a pixel with the label, as in Rostamizadeh 2010; ridge regression "
    "without "
    "intercept, its λ (10⁻² … 10⁶) that of the least margin loss in training, and in the columns 'by errors' "
    "that of the fewest errors in training; 10,000 test digits. Rostamizadeh 2010 names neither the classes "
    "nor the "
    "learner nor which features, and its p goes to 800. Margin loss: the mean of min(1, max(0, 1 − "
    "y h(x)/ρ)) for ‖h‖ = 1 and ρ = 0.2 R, R = 1. Mean ± standard deviation."
)


def digits(quick: bool) -> tuple[Array, Array, Array, Array, tuple[int, ...]]:
    """Samples and labels to train on, to test on, and (m, p, p, …)."""
    if stand_in(quick):
        rng = np.random.RandomState(0)
        X, y = rng.uniform(size=(300, 20)), np.where(rng.uniform(size=300) < 0.5, 1.0, -1.0)
        X[:, :10] = 0.5 * (X[:, :10] + (y[:, None] > 0))
        return X[:200], y[:200], X[200:], y[200:], (150, 5, 20)
    given = stored("mnist")
    rows = np.r_[:1000, 60_000:61_000] if quick else slice(None)
    X, y = given.X[rows].astype(np.float32) / 255.0, np.where(given.y[rows] % 2 == 0, 1.0, -1.0)
    if quick:
        return X[:1000], y[:1000], X[1000:], y[1000:], (600, *PIXELS[::4])
    return X[:60_000], y[:60_000], X[60_000:], y[60_000:], (36_000, *PIXELS)


# -- bigrams ----------------------------------------------------------------------------------------
def fig_bigrams(name: str, quick: bool) -> list[Facts]:
    """A row for every number of kernels."""
    rows = []
    for N in (20, 40) if quick else BIGRAMS:
        data = documents(name, "regression", N, quick=quick)
        trials = [(data, halves(data.y.size, seed)) for seed in range(2 if quick else SPLITS)]
        rows.append({"bigrams": N} | bigram_row(in_parallel(trial, trials, quick)))
    return rows


def halves(n: int, seed: int) -> Split:
    """Half to test on, as in Rostamizadeh 2010; a quarter of the rest chooses the cost (there: ten folds)."""
    rows = np.random.RandomState(seed).permutation(n)
    return Split(rows[n // 2 + n // 8 :], rows[n // 2 : n // 2 + n // 8], rows[: n // 2])


def trial(data: Dataset, split: Split) -> dict[str, dict[str, float]]:
    """The test RMSE of every method, the kernels it keeps, its gap, and whether its C is at an end."""
    seen = np.flatnonzero(data.X[split.train].getnnz(axis=0))
    given, M = Dataset(data.X[:, seen], data.y, data.task), seen.size
    # μ₀ uniform, as in Rostamizadeh 2010
    balls = [L2Ball(mu0=1.0 / M, radius=longer * M**-0.5) for longer in RADII]
    coarse = {"tol": 1e-2, "max_iter": 60}
    models = {
        "unif": [(C, model(math.inf, C / M)) for C in COSTS["unif"]],  # K is their sum there, not their mean
        "l1": [(C, model(1, C, **coarse)) for C in COSTS["l1"]],
        "l2": [(C, model(ball, C)) for C in COSTS["l2"] for ball in balls],
    }
    return {method: chosen(given, split, fits, COSTS[method]) for method, fits in models.items()}


def model(norm: Any, C: float, **options: Any) -> MKLRegressor:
    return MKLRegressor(rank_one(), norm=norm, C=C, center=False, **options)


def chosen(
    data: Dataset, split: Split, fits: list[tuple[float, MKLRegressor]], costs: list[float]
) -> dict[str, float]:
    """Of the model that is best in the validation part."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a gap above tol: the table says the gap
        for _, one in fits:
            one.fit(data.X[split.train], data.y[split.train])
    k, error = tuned(data, split, (one.predict(data.X) for _, one in fits))
    C, best = fits[k]
    facts = {"error": error, "kernels": float(best.active_.size), "gap": float(best.dual_gap_)}
    return facts | {"end": float(C in (costs[0], costs[-1]))}


def bigram_row(found: list[dict[str, dict[str, float]]]) -> Facts:
    row: Facts = {"unif": Spread([one["unif"]["error"] for one in found])}
    for method in ("l1", "l2"):
        row[method] = Spread([one[method]["error"] for one in found])
        row[f"{method} / unif"] = Spread([one[method]["error"] / one["unif"]["error"] for one in found])
    row["kernels of l1"] = Spread([one["l1"]["kernels"] for one in found], 0)
    row["largest gap"] = f"{max(facts['gap'] for one in found for facts in one.values()):.0e}"
    return row | {"C at an end": int(sum(facts["end"] for one in found for facts in one.values()))}


FIG_5 = (
    f"2,000 reviews with stars, {SPLITS} random halves to test on; 750 to train on, 250 to choose C on. One "
    "kernel of rank one and trace 1 for each of the most frequent bigrams, squared loss. unif: uniform "
    "weights; l1: weights of norm 1; l2: Rostamizadeh's problem, around uniform weights μ₀, Λ of half and "
    "of twice "
    "their length. C in half decades. Mean ± standard deviation over the halves."
)
