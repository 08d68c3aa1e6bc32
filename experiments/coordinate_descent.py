"""Afkanpour 2013, Fig. 6.1: coordinates drawn by their gradient, beside Nesterov's RCDM and RACDM."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .data import Array
from .plots import Lines
from .tables import Facts, Report

DIMENSION, ITERATIONS, SEEDS = 10_000, 20_000, 20
ROUNDING = 1e-14  # f is summed up from its changes
TARGETS: dict[str, Callable[[int], Array]] = {
    "0.9^i": lambda d: 0.9 ** np.arange(1.0, d + 1.0),  # Afkanpour 2013, Eq. 6.1
    "1/i": lambda d: 1.0 / np.arange(1.0, d + 1.0),
    "1": np.ones,
}
PLOTS = [
    Lines(
        "coordinate_descent_curves.png",
        f"f(x) = ½ Σ (x_i − a_i)² with a_i = {name},",
        "iterations",
        "f/f(0), mean of the seeds",
        across="method",
        log="xy",
        title=f"{figure}a_i = {name}",
        shown=(1e-6, 100.0),
    )
    for name, figure in (("0.9^i", "Afkanpour 2013, Fig. 6.1: "), ("1/i", ""), ("1", ""))
]
Method = Callable[[Array, int, np.random.RandomState], Array]


# -- methods, all on f(x) = ½ Σ (x_i − a_i)², from x = 0; they return f after 0, 1, …, T iterations --------
def rcdm(a: Array, T: int, rng: np.random.RandomState) -> Array:
    """Nesterov 2012, (2.6) (Afkanpour 2013, Alg. 9): i drawn by L_i^α, x_i ← x_i − ∇_i f/L_i.

    Here L_i = 1 for all i, so that i is uniform for every α, and one step takes x_i to a_i.
    """
    gained, values = 0.5 * a**2, np.full(T + 1, 0.5 * np.sum(a**2))
    seen = np.zeros(a.size, dtype=bool)
    for k, i in enumerate(rng.randint(0, a.size, T), start=1):
        values[k] = values[k - 1] - (0.0 if seen[i] else gained[i])
        seen[i] = True
    return np.maximum(values, 0.0)


def racdm(a: Array, T: int, rng: np.random.RandomState, alpha: float = 1.0) -> Array:
    """Nesterov 2012, (6.1): RCDM with estimates L̂_i, which are doubled while a step overshoots, then halved.

    x_i ← x_i − ∇_i f/L̂_i;  while ∇_i f changed its sign: L̂_i ← 2L̂_i and the step anew;  L̂_i ← L̂_i/2.
    i is drawn by L̂_i^α. Afkanpour 2013 does not say where L̂ starts: here at L_i = 1. An overshooting trial
    is part of its iteration and not counted.
    """
    g, L = -a.copy(), np.ones(a.size)  # g = x − a, the gradient
    tree, values = Sums(L**alpha), np.empty(T + 1)
    values[0] = f = 0.5 * float(g @ g)
    for k, u in enumerate(rng.uniform(size=T), start=1):
        i = tree.find(u)
        new = g[i] - g[i] / L[i]
        while g[i] * new < 0.0:
            L[i] *= 2.0
            new = g[i] - g[i] / L[i]
        L[i] *= 0.5
        tree.set(i, L[i] ** alpha)
        f += 0.5 * (new * new - g[i] * g[i])
        g[i] = new
        values[k] = f
    return np.maximum(values, 0.0)


def racdm_uniform(a: Array, T: int, rng: np.random.RandomState) -> Array:
    """The same with α = 0."""
    return racdm(a, T, rng, alpha=0.0)


def by_gradient(step: str) -> Method:
    """i drawn with p_i = |∇_i f|/‖∇f‖₁, and then one of three steps.

    "unbiased": x_i ← x_i − η ∇_i f/p_i with η = 1/√T, as Afkanpour 2013 estimates gradients (§4.1, Eq. 4.14).
    "plain": x_i ← x_i − η ∇_i f, as the words of §6.1.1 can be read too. "1/L": x_i ← x_i − ∇_i f, RCDM's.
    """

    def method(a: Array, T: int, rng: np.random.RandomState) -> Array:
        g, eta = -a.copy(), 1.0 / math.sqrt(T)
        tree, values = Sums(np.abs(g)), np.empty(T + 1)
        values[0] = f = 0.5 * float(g @ g)
        for k, u in enumerate(rng.uniform(size=T), start=1):
            i = tree.find(u)
            if step == "unbiased":
                new = g[i] - eta * math.copysign(tree.total, g[i])
            else:
                new = g[i] * (1.0 - (1.0 if step == "1/L" else eta))
            f += 0.5 * (new * new - g[i] * g[i])
            g[i] = new
            tree.set(i, abs(new))
            values[k] = f
        return np.maximum(values, 0.0)

    return method


METHODS: dict[str, Method] = {
    "RCDM": rcdm,
    "RACDM, α = 0": racdm_uniform,
    "RACDM, α = 1": racdm,
    "by gradient, step η/p (Afkanpour 2013, §4.1)": by_gradient("unbiased"),
    "by gradient, step η": by_gradient("plain"),
    "by gradient, step 1/L": by_gradient("1/L"),
}


class Sums:
    """Weights w ≥ 0 in a tree of sums: change one, or draw i with probability w_i/Σw, in log d steps."""

    def __init__(self, weights: Array) -> None:
        self.leaves = 1 << max(0, weights.size - 1).bit_length()
        padded = np.zeros(self.leaves)
        padded[: weights.size] = weights
        levels = [padded]
        while levels[-1].size > 1:
            levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
        self.nodes: list[float] = [0.0, *np.concatenate(levels[::-1]).tolist()]

    @property
    def total(self) -> float:
        return self.nodes[1]

    def set(self, i: int, weight: float) -> None:
        """Sums are made anew on the way up, so that errors do not add up."""
        nodes, k = self.nodes, self.leaves + i
        nodes[k] = weight
        while k > 1:
            k //= 2
            nodes[k] = nodes[2 * k] + nodes[2 * k + 1]

    def find(self, u: float) -> int:
        """The i in which u Σw falls, for u in [0, 1); a weight of 0 is not drawn unless all are."""
        nodes, k, rest = self.nodes, 1, u * self.nodes[1]
        while k < self.leaves:
            k *= 2
            if rest >= nodes[k] and nodes[k + 1] > 0.0:
                rest -= nodes[k]
                k += 1
        return k - self.leaves


# -- tables ---------------------------------------------------------------------------------------
def moments(T: int) -> NDArray[np.intp]:
    """Iterations at which f is told: powers of two, and the last."""
    return np.array([*(2**k for k in range(int(math.log2(T)) + 1) if 2**k < T), T])


def run(report: Report) -> None:
    """f/f(0) against iterations, for Afkanpour's function and two whose coordinates matter more equally."""
    d, T, seeds = (200, 400, 3) if report.quick else (DIMENSION, ITERATIONS, SEEDS)
    for name, target in TARGETS.items():
        a = target(d)
        found = {
            method: np.array([descend(a, T, np.random.RandomState(seed)) for seed in range(seeds)])
            for method, descend in METHODS.items()
        }
        title = f"f(x) = ½ Σ (x_i − a_i)² with a_i = {name}, {d:,} coordinates: f/f(0), {seeds} seeds"
        report.table(title, [told(method, values, T) for method, values in found.items()], NOTE)


NOTE = (
    "Mean over the seeds, and at the end mean ± standard deviation. η = 1/√T. 'to 1 %': iterations until "
    "f ≤ 0.01 f(0), the median of the seeds."
)


def shown(value: float) -> str:
    """Two digits; below rounding, that."""
    return f"{value:.2g}" if value > ROUNDING else f"< {ROUNDING:g}"


def told(method: str, values: Array, T: int) -> Facts:
    """One row: the mean at every moment, the end, and when one per cent was reached."""
    relative = values / values[:, :1]
    row: Facts = {"method": method}
    row |= {f"{k:,}": shown(relative[:, k].mean()) for k in moments(T)[:-1] if k >= 16}
    end = relative[:, T]
    spread = f" ± {end.std(ddof=1):.1g}" if end.mean() > ROUNDING else ""
    row |= {f"{T:,}": shown(end.mean()) + spread}
    below = [int(np.argmax(one <= 0.01)) if np.any(one <= 0.01) else math.inf for one in relative]
    first = float(np.median(below))
    return row | {"to 1 %": f"{first:,.0f}" if first < math.inf else "not reached"}
