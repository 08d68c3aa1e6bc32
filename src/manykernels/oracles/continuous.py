"""A continuum of kernels κ_σ on the training samples, searched for its best ones (Afkanpour 2013, §4.2.2, ch.
5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._fast import exponentials
from ..families import ARDGaussians, Parametric
from ..grams import BlockGram, FactorGram, Gram, StackGram
from ..grams.base import LazyNames
from ..kernels import Fitted, Kernel
from ..kernels.data import Data, n_samples
from ..kernels.stationary import squared_distances
from ._lines import LinePoint, Peaks
from ._proposals import draw_by_feature, draw_normal
from ._quasi_newton import BoxSearch, Coordinates, differences
from ._scales import Scale
from ._searches import ParameterSearch, line_search, width_search
from .base import Array, Atom, Best, Draws, Oracle

Parameters = tuple[float, ...]
_DIGITS = 12  # of parameters: equal kernels have equal atoms
_SAME = 1e-6  # relative: parameters that are closer belong to one kernel
_SPREAD = 0.5  # of random starts around the best single width, in the logarithm
_RANDOM = 2  # such starts
_BEST = 2  # kernels in use that are starts of the next search
_KEPT = 1000  # kernels whose features are kept
_RECENT = 50  # kernels in use among which these are: with 10 of them fits over ARD widths end higher


class ContinuousOracle(Oracle):
    """K_σ = s(σ) κ_σ(X, X) for all σ in a box; atoms are the tuples σ, of 12 significant digits.

    s(σ) is the normalisation over the prior ρ(σ)². One parameter is searched globally, several from several
    starting points, which bounds nothing: `upper` is inf. `limit` is how much memory there is, in bytes, and
    `matrices` how many of n × n are needed beside the kernels.
    """

    def __init__(
        self, family: Parametric, X: Data, low: Array, high: Array, scale: Scale, limit: int, matrices: int
    ) -> None:
        self.family, self.X, self.scale, self.limit, self.matrices = family, X, scale, limit, matrices
        self.n, self.size, self.dimensions = n_samples(X), np.inf, low.size
        self.coordinates = Coordinates(low, high)
        self._known: dict[Parameters, None] = {}  # kernels in use: what is found next to them is them
        self._search: ParameterSearch | None = None
        self._factors: dict[Parameters, Array | None] = {}  # features of kernels that were asked for
        self._D: Array | None = None  # of families exp(c(σ) D)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_search": None, "_factors": {}}  # it is made anew when asked for

    # -- single kernels -------------------------------------------------------------------------
    def name(self, atom: Atom) -> str:
        return self._raw(atom).label

    def kernel(self, atom: Atom) -> Fitted:
        fitted = Fitted.from_constants(self._raw(atom), self.scale(parameters_of(atom)))
        fitted.name = self.name(atom)
        return fitted

    def gram(self, atoms: Sequence[Atom]) -> Gram:
        kernels = [self._raw(atom) for atom in atoms]
        scales = np.array([self.scale(parameters_of(atom)) for atom in atoms])
        self._known.update(dict.fromkeys(parameters_of(atom) for atom in atoms))
        gram = self._factored(atoms, scales)
        if gram is None:
            gram = self._matrices(kernels, scales)
        gram.names = LazyNames(kernels, lambda kernel: kernel.label)
        return gram

    def _matrices(self, kernels: list[Kernel], scales: Array) -> Gram:
        """The kernels as matrices, or recomputed from the data where those do not fit in memory."""
        matrix = 8 * self.n**2
        if (len(kernels) + self.matrices) * matrix <= self.limit:
            stack = np.empty((len(kernels), self.n, self.n))
            for kernel, K in zip(kernels, stack, strict=True):
                if self.family.rate is not None:
                    kernel.fill(self.distances, K)
                else:
                    kernel(self.X, out=K)
            return StackGram(stack, scales)
        slots = max(self.limit // matrix - self.matrices - 1, 0)
        return BlockGram(kernels, self.X, self.n, min(slots, len(kernels)), scales, room=matrix)

    def _factored(self, atoms: Sequence[Atom], scales: Array) -> Gram | None:
        """The kernels by their features, where those are few; nothing of n × n is then made."""
        if len(self._factors) > _KEPT:
            self._factors = {}
        for parameters in map(parameters_of, atoms):
            if parameters not in self._factors:
                self._factors[parameters] = self.family.factor(np.array(parameters), self.X)
        factors = [self._factors[parameters_of(atom)] for atom in atoms]
        known = [Phi for Phi in factors if Phi is not None]
        if not known or len(known) < len(factors):
            return None
        ptr = np.concatenate([[0], np.cumsum([Phi.shape[1] for Phi in known])]).astype(np.intp)
        return FactorGram(np.hstack(known), ptr, scales)

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        """q_σ; for exponentials of shared distances without forming any kernel."""
        if self.family.rate is None or not atoms:
            return super().quad(A, atoms)
        rates = np.array([self._raw(atom).rate for atom in atoms], dtype=float)
        q = np.zeros((len(atoms), A.shape[1]))
        exponentials.forms(self.distances, rates, np.ascontiguousarray(A.T), 0, q)
        scales = np.array([self.scale(parameters_of(atom)) for atom in atoms])
        return np.asarray(np.maximum(q.sum(axis=1), 0.0) * scales)

    def _raw(self, atom: Atom) -> Kernel:
        return self.family.kernel(*parameters_of(atom))

    @property
    def distances(self) -> Array:
        """D (n, n) where κ_σ = exp(c(σ) D)."""
        if self._D is None:
            self._D = self.family.kernel(*self.coordinates.middle()).compute_statistic(self.X)
        return self._D

    def diagonal(self, r: float = np.inf) -> Array | None:
        """The same for all σ where `scale` is."""
        if r != np.inf or not self.scale.constant:
            return super().diagonal(r)
        middle = self.coordinates.middle()
        return np.asarray(self.scale(middle) * self._raw(rounded(middle)).diag(self.X), dtype=float)

    # -- the best kernels -----------------------------------------------------------------------
    def best(self, A: Array, k: int, shrinkage: float = 0.0) -> Best:
        """The k best local maxima of q_σ = Σ_j α_jᵀK_σα_j, for the columns α_j of A; see `best_against`."""
        return self._best(LinePoint(factor=A), k, shrinkage)

    def best_against(self, S: Array, k: int, shrinkage: float = 0.0) -> Best:
        """The same of ⟨S, K_σ⟩ for a symmetric matrix S, which may have negative values.

        `shrinkage` is λ of Afkanpour 2013, Eq. 6.2 for kernels of several parameters: λ‖σ − σ̄‖² is taken off
        before comparing kernels, and `values` are without it.
        """
        return self._best(LinePoint(matrix=np.asarray(S, dtype=float)), k, shrinkage)

    def _best(self, S: LinePoint, k: int, shrinkage: float) -> Best:
        if S.zero:
            return Best([rounded(self.coordinates.middle())], np.zeros(1), 0.0)
        peaks = self._peaks(S, k, shrinkage)
        atoms: dict[Parameters, float] = {}
        for parameters, value in zip(peaks.parameters, peaks.values, strict=True):
            atoms.setdefault(merged(self._known, rounded(parameters)), float(value))
        return Best(list(atoms), np.array(list(atoms.values())), peaks.upper)

    def _peaks(self, S: LinePoint, k: int, shrinkage: float) -> Peaks:
        if self.coordinates.low.size == 1:
            return self._line().best(S, k)
        search = BoxSearch(self._form, self.coordinates)
        return search.best(S, k, self._starts(S), shrinkage)

    def between(self, atoms: Sequence[Atom], weights: Array) -> Parameters:
        """The mean of these atoms, on the scale on which parameters are searched."""
        u = [self.coordinates.inwards(np.array(parameters_of(atom))) for atom in atoms]
        return rounded(self.coordinates.outwards(np.average(u, axis=0, weights=weights)))

    def _line(self) -> ParameterSearch:
        """The search over the only parameter."""
        if self._search is None:
            self._search = line_search(
                self.family, self.X, self.coordinates, self.scale, lambda: self.distances
            )
        return self._search

    def _form(self, sigma: Array, S: LinePoint) -> tuple[float, Array | None]:
        """h = s⟨S, κ_σ⟩ and its gradient s∇⟨S, κ_σ⟩ + ⟨S, κ_σ⟩∇s."""
        value, gradient = self.family.form(sigma, self.X, S.matrix)
        s = self.scale(sigma)
        if gradient is not None:
            gradient = s * gradient
            if not self.scale.constant:
                gradient += value * differences(self.scale, sigma, self.coordinates)
        return s * value, gradient

    def _starts(self, S: LinePoint) -> list[Array]:
        """Return the points at which searches over several parameters start.

        A width for each feature: from the best common one, from there half the way to widths that ignore
        all features, and near it. Others: from the centre, and from anywhere. Both: from the best two of the
        last fifty kernels in use, so that these are no better than what is found. Ten steps are taken from
        each, then up to a hundred from the best two ends. A step is one kernel, and one GEMM for the
        derivatives by all widths (`ARDGaussians.form`).
        """
        rng, c = np.random.RandomState(0), self.coordinates
        known = list(self._known)[-_RECENT:]
        order = np.argsort([-S.inner(self._raw(atom)(self.X)) * self.scale(atom) for atom in known])
        last = [np.array(known[i]) for i in order[:_BEST]]
        if not isinstance(self.family, ARDGaussians):
            anywhere = c.bounds[:, 0] + rng.uniform(size=(2 * _RANDOM, c.low.size)) * np.diff(c.bounds).T
            return [c.middle(), *last, *map(c.outwards, anywhere)]
        u = c.inwards(np.clip(self._common(S), c.low, c.high))
        near = [u + _SPREAD * rng.normal(size=u.size) for _ in range(_RANDOM)]
        starts = [u, 0.5 * (u + c.bounds[:, 1]), *near]
        return [*map(c.outwards, starts), *last]

    def _common(self, S: LinePoint) -> float:
        """The best width that is the same for all features."""
        if self._search is None:
            varying = self.coordinates.high > self.coordinates.low
            low, high = self.coordinates.low[varying].min(), self.coordinates.high.max()
            self._D = squared_distances(self.X)
            self._search = width_search(self._D, float(low), float(high), "inverse-square")
        return float(self._search.best(S, 1).parameters[0, 0])

    # -- draws ----------------------------------------------------------------------------------
    def sample(self, A: Array, size: int, rng: np.random.RandomState, spread: float = 1.0) -> Draws:
        """σ around the best one: from N(σ*, (spread·σ*)²), cut to the box (Afkanpour 2013, §4.2.2).

        `probabilities` are densities in σ. A solver that divides by them, as ĝ = g_σ/s_σ, estimates the
        gradient of θ as a density over σ (Afkanpour 2013, Eq. 4.21), whose norm is an integral, without bias;
        its weights θ are those of point masses, and depend on the unit of σ only through the length of steps.
        A width for each feature is drawn feature by feature (Afkanpour 2013, Alg. 4); other kernels of
        several parameters, around the best one, each parameter by itself.
        """
        S = LinePoint(factor=A)
        c = self.coordinates
        if isinstance(self.family, ARDGaussians) and not S.zero:
            room = max(1, self.limit // (8 * self.n**2) - self.matrices)  # draws that fit in memory together
            parts = [
                draw_by_feature(self.X, S, c.low, c.high, min(room, size - lo), rng, spread)
                for lo in range(0, size, room)
            ]
            sigma, density = (np.concatenate(part) for part in zip(*parts, strict=True))
        else:
            mean = np.array(self.best(A, 1).atoms[0])
            sigma, density = draw_normal(np.tile(mean, (size, 1)), c.low, c.high, rng, spread)
        return Draws([rounded(row) for row in sigma], density)

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        """σ from the uniform distribution on the box; `probabilities` are its density, as in `sample`."""
        low, high = self.coordinates.low, self.coordinates.high
        varying = high > low
        sigma = low + rng.uniform(size=(size, low.size)) * (high - low)
        density = float(np.prod(1.0 / (high - low)[varying]))
        return Draws([rounded(row) for row in sigma], np.full(size, density))


def merged(known: dict[Parameters, None], parameters: Parameters) -> Parameters:
    """The kernel in use that these parameters hardly differ from, or themselves."""
    if not known or parameters in known:
        return parameters
    others = np.array(list(known))
    size = np.maximum(np.abs(others), np.abs(parameters))
    distance = np.max(np.abs(others - np.array(parameters)) / np.where(size > 0.0, size, 1.0), axis=1)
    nearest = int(np.argmin(distance))
    return list(known)[nearest] if distance[nearest] < _SAME else parameters


def rounded(parameters: Array | Sequence[float]) -> Parameters:
    """Parameters of 12 digits, which are an atom."""
    return tuple(float(f"{value:.{_DIGITS - 1}e}") for value in parameters)


def parameters_of(atom: Atom) -> Parameters:
    assert isinstance(atom, tuple)
    return atom
