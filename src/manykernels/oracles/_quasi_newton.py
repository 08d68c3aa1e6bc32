"""Searching several parameters for the largest ⟨S, K_σ⟩ by quasi-Newton steps from several points.

Nothing bounds what such a search has not seen, so `upper` is always inf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from ._base import Array
from ._lines import Peaks, Point

_STEPS = 200
_CHANGE = 1e-11  # relative, of the objective: no smaller step is worth an evaluation
_APART = 1e-3  # of the range: closer local maxima are one
_DIFFERENCE = 1e-6  # of the range of a parameter, for differences

Form = Callable[[Array, Point], tuple[float, Array | None]]


class Coordinates:
    """u = log σ where low > 0, else σ itself: what moves over a range evenly."""

    def __init__(self, low: Array, high: Array) -> None:
        self.log = low > 0.0
        self.low, self.high = low, high
        self.bounds = np.column_stack([self.inwards(low), self.inwards(high)])
        self.range = np.where(high > low, self.bounds[:, 1] - self.bounds[:, 0], 1.0)

    def inwards(self, sigma: Array) -> Array:
        """u of σ."""
        return np.where(self.log, np.log(np.where(self.log, sigma, 1.0)), sigma)

    def outwards(self, u: Array) -> Array:
        """σ of u, inside the box to the last digit."""
        sigma = np.where(self.log, np.exp(np.where(self.log, u, 0.0)), u)
        return np.asarray(np.clip(sigma, self.low, self.high))

    def slope(self, sigma: Array) -> Array:
        """∂σ/∂u."""
        return np.where(self.log, sigma, 1.0)

    def middle(self) -> Array:
        """The centre of the box."""
        return self.outwards(self.bounds.mean(axis=1))


class BoxSearch:
    """h(σ) = ⟨S, K_σ⟩ on a box; `form(σ, S)` is h and its gradient, or None where there is none."""

    def __init__(self, form: Form, coordinates: Coordinates) -> None:
        self.form, self.coordinates = form, coordinates

    def best(self, S: Point, k: int, starts: list[Array], shrinkage: float = 0.0) -> Peaks:
        """The largest local maxima of h(σ) − λ‖σ − σ̄‖² met from `starts`, σ̄ the mean of σ (000 Eq. 6.2).

        `values` are those of h, in the order of the objective.
        """
        ends = [self._climb(S, start, shrinkage) for start in starts]
        ends.sort(key=lambda end: -end[0])
        kept: list[tuple[float, float, Array]] = []
        for objective, value, u in ends:
            distances = [np.max(np.abs(u - other) / self.coordinates.range) for _, _, other in kept]
            if len(kept) < k and min(distances, default=1.0) > _APART:
                kept.append((objective, value, u))
        parameters = np.array([self.coordinates.outwards(u) for _, _, u in kept])
        return Peaks(parameters, np.array([value for _, value, _ in kept]), np.inf)

    def _climb(self, S: Point, start: Array, shrinkage: float) -> tuple[float, float, Array]:
        """(objective, h, u) where quasi-Newton steps from σ = `start` end."""
        u0 = self.coordinates.inwards(start)
        scale = abs(self._objective(S, u0, shrinkage)[0]) or S.absolute()

        def minus(u: Array) -> tuple[float, Array]:
            objective, gradient, _ = self._objective(S, u, shrinkage)
            return -objective / scale, -gradient / scale

        end = minimize(
            minus,
            u0,
            jac=True,
            method="L-BFGS-B",
            bounds=self.coordinates.bounds,
            options={"maxiter": _STEPS, "ftol": _CHANGE, "gtol": 1e-8},
        )
        objective, _, value = self._objective(S, end.x, shrinkage, gradient=False)
        return objective, value, np.asarray(end.x)

    def _objective(
        self, S: Point, u: Array, shrinkage: float, gradient: bool = True
    ) -> tuple[float, Array, float]:
        """h − λ‖σ − σ̄‖², its gradient in u, and h; the mean drops out of the gradient, −2λ(σ − σ̄)."""
        sigma = self.coordinates.outwards(u)
        value, slope = self.form(sigma, S)
        if slope is None and gradient:
            slope = differences(lambda s: self.form(s, S)[0], sigma, self.coordinates)
        away = sigma - sigma.mean()
        objective = value - shrinkage * float(away @ away)
        if slope is None:
            return objective, np.zeros_like(sigma), value
        return objective, (slope - 2.0 * shrinkage * away) * self.coordinates.slope(sigma), value


def differences(function: Callable[[Array], float], sigma: Array, coordinates: Coordinates) -> Array:
    """∂/∂σ_i by central differences, by one-sided ones at the ends of the box."""
    gradient = np.zeros_like(sigma)
    for i in range(sigma.size):
        step = _DIFFERENCE * coordinates.range[i] * coordinates.slope(sigma)[i]
        up, down = sigma.copy(), sigma.copy()
        up[i] = min(sigma[i] + step, coordinates.high[i])
        down[i] = max(sigma[i] - step, coordinates.low[i])
        if up[i] > down[i]:
            gradient[i] = (function(up) - function(down)) / (up[i] - down[i])
    return gradient
