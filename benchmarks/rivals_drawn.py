"""Steps on drawn rows and drawn products at norm 1, for comparison with passes over all rows.

Regularised dual averaging (Xiao 2010) of P = ½‖w‖₁² + R(Φw): with ḡ the mean of unbiased estimates of
−∇R at the points met, the next w is the minimum of ½‖w‖₁² − ⟨ḡ, w⟩ + ½β/√t ‖w‖². An estimate comes from rows
B drawn with equal probability, n/|B| Φ_Bᵀα_B, of which products with weight are known exactly; the others are
scored one by one, or drawn in proportion to their part of the gradient on B and weighted by importance
(Afkanpour 2013, Algs 1 to 3, on the coefficients in place of the weights).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from manykernels.losses import Loss
from manykernels.oracles import Oracle
from manykernels.oracles._parts import factors_of
from manykernels.oracles._row_parts import ProductMap
from manykernels.oracles.all_products import AllProducts

Array = NDArray[np.float64]
Product = tuple[int, ...]
Weights = dict[Product, float]


def features(X: Array, products: Collection[Product]) -> Array:
    """(products, rows)."""
    return ProductMap(factors_of(list(products), X.shape[1]))(X)


def drawn_scores(
    oracle: Oracle, X: Array, a: Array, size: int, rng: np.random.RandomState, known: Collection[Product]
) -> Weights:
    """An unbiased estimate of Φᵀa over all products: exact for the `known`, by importance for the others."""
    found = dict(zip(known, features(X, known) @ a, strict=True)) if known else {}
    draws = oracle.sample(a[:, None], size, rng)
    others: list[tuple[Any, float]] = [
        (z, p) for z, p in zip(draws.atoms, draws.probabilities, strict=True) if z not in found
    ]
    if others:
        scores = features(X, [z for z, _ in others]) @ a
        for (z, p), score in zip(others, scores, strict=True):
            found[z] = found.get(z, 0.0) + float(score) / (p * size)
    return found


def least(u: Array, beta: float) -> Array:
    """The w of the least ½‖w‖₁² − ⟨u, w⟩ + ½β‖w‖²: |w| = (|u| − ‖w‖₁)₊/β."""
    sizes = np.sort(np.abs(u))[::-1]
    norms = np.cumsum(sizes) / (beta + np.arange(1, u.size + 1))
    inside = np.flatnonzero(sizes > norms)
    norm = norms[inside[-1]] if inside.size else np.inf
    return np.asarray(np.sign(u) * np.maximum(np.abs(u) - norm, 0.0) / beta)


class DualAveraging:
    """One run: `steps` yields seconds of the processor and the coefficients after every step."""

    def __init__(self, X: Any, y: Array, C: float, loss: Loss, beta: float, rows: int, seed: int) -> None:
        self.X, self.y, self.C, self.loss, self.beta, self.rows = X, y, C, loss, beta, rows
        self.rng, self.w, self.spent, self.t = np.random.RandomState(seed), Weights(), 0.0, 0

    def _batch(self) -> tuple[Array, Array]:
        """Rows, and n/|B| α_B at the w of now."""
        self.t += 1
        B = np.sort(self.rng.randint(0, len(self.y), self.rows))
        X = np.ascontiguousarray(self.X[B], dtype=np.float64)
        coefficients = np.fromiter(self.w.values(), float, len(self.w))
        f = coefficients @ features(X, self.w) if self.w else np.zeros(len(B))
        return X, -len(self.y) / len(B) * self.C * self.loss.gradient(self.y[B], f)

    def all_scored(self, whole: AllProducts) -> Iterator[tuple[float, Weights]]:
        """Rows are drawn, and all products are scored on them."""
        total, products = np.zeros(whole.size), whole.products()
        while True:
            started = time.process_time()
            X, a = self._batch()
            total += whole.on(X).scores(a[:, None])[:, 0]
            w = least(total / self.t, self.beta / np.sqrt(self.t))
            self.w = {products[i]: float(w[i]) for i in np.flatnonzero(w)}
            self.spent += time.process_time() - started
            yield self.spent, self.w

    def some_drawn(self, bind: Any, size: int) -> Iterator[tuple[float, Weights]]:
        """Rows are drawn, and products by `bind(X)`, the oracle of the family on them."""
        total = Weights()
        while True:
            started = time.process_time()
            X, a = self._batch()
            for z, score in drawn_scores(bind(X), X, a, size, self.rng, list(self.w)).items():
                total[z] = total.get(z, 0.0) + score
            w = least(np.fromiter(total.values(), float, len(total)) / self.t, self.beta / np.sqrt(self.t))
            self.w = {z: float(value) for z, value in zip(total, w, strict=True) if value}
            self.spent += time.process_time() - started
            yield self.spent, self.w
