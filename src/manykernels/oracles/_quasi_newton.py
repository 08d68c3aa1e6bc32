"""A search for the largest ⟨S, K_σ⟩ over several parameters: quasi-Newton steps from several starts.

Nothing bounds what such a search has not seen, so `upper` is always inf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from ._lines import LinePoint, Peaks
from .base import Array

_FIRST = 10  # steps from every start, after which the best go on
_STEPS = 100
_FINALISTS = 2
_CHANGE = 1e-9  # relative, of the objective: no smaller step is worth an evaluation
_APART = 1e-3  # of the range: closer local maxima are one
_DIFFERENCE = 1e-6  # of the range of a parameter, for differences

End = tuple[float, float, Array]  # objective, h, u
Form = Callable[[Array, LinePoint], tuple[float, Array | None]]


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

    def best(self, S: LinePoint, k: int, starts: list[Array], shrinkage: float = 0.0) -> Peaks:
        """The largest local maxima of h(σ) − λ‖σ − σ̄‖² met from `starts`, σ̄ the mean of σ (Afkanpour 2013,
        Eq. 6.2).

        `values` are those of h, in the order of the objective. A few steps from each start tell which of them
        are worth more.
        """
        inwards = self.coordinates.inwards
        ends = self._distinct([self._climb(S, inwards(start), shrinkage, _FIRST) for start in starts])
        refined = [self._climb(S, u, shrinkage, _STEPS) for _, _, u in ends[:_FINALISTS]]
        ends = self._distinct([*refined, *ends[_FINALISTS:]])[:k]
        parameters = np.array([self.coordinates.outwards(u) for _, _, u in ends])
        return Peaks(parameters, np.array([value for _, value, _ in ends]), np.inf)

    def _distinct(self, ends: list[End]) -> list[End]:
        """The ends in falling order, without those close to a better one."""
        kept: list[End] = []
        for end in sorted(ends, key=lambda end: -end[0]):
            distances = [np.max(np.abs(end[2] - other[2]) / self.coordinates.range) for other in kept]
            if min(distances, default=1.0) > _APART:
                kept.append(end)
        return kept

    def _climb(self, S: LinePoint, u0: Array, shrinkage: float, steps: int) -> End:
        """Take so many quasi-Newton steps from u0."""
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
            options={"maxiter": steps, "ftol": _CHANGE, "gtol": 1e-8},
        )
        objective, _, value = self._objective(S, end.x, shrinkage, slopes=False)
        return objective, value, np.asarray(end.x)

    def _objective(
        self, S: LinePoint, u: Array, shrinkage: float, slopes: bool = True
    ) -> tuple[float, Array, float]:
        """h − λ‖σ − σ̄‖², its gradient in u, and h; the mean drops out of the gradient, −2λ(σ − σ̄)."""
        sigma = self.coordinates.outwards(u)
        value, slope = self.form(sigma, S)
        if slope is None and slopes:
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
