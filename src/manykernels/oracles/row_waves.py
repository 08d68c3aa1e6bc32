"""A continuum of kernels of differences in random features, on samples that are read in blocks of rows.

κ_σ(x, x') = Σ_j g_j cos(u(σ)∘ω_j)ᵀ(x − x'): one draw of frequencies ω serves all parameters σ, so that the
features are functions of σ. This is the family that is learned, and that a bound is one of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._fast.fourier import fourier
from ..approx import Features
from ..approx.random_features import QUARTERS, Waves
from ..families import Parametric
from ..grams.row_blocks import HeldBlocks, RowBlocks
from ..kernels import Fitted, Kernel
from ._chebyshev import UNIT
from ._lines import LinePoint
from ._quasi_newton import BoxSearch, Coordinates
from ._waves import WaveSearch
from .base import Array, Atom, Best
from .continuous import Parameters, merged, parameters_of, rounded
from .rows import Map, RowOracle

_DRAWN = 1 << 13  # rows on which several parameters are searched
_STARTS = 5
_JOIN = 3  # kernels that may join at a time: each has as many features as there are


@dataclass(frozen=True)
class Frequencies:
    """ω (d, D), in radians and for width 1, with the factors `heights` of the waves and their common `root`.

    u(σ) = σ, or 1/σ where `inverse`.
    """

    omega: Array
    root: float
    heights: Array | None
    inverse: bool

    @property
    def power(self) -> Array:
        """(D,): g."""
        heights = np.ones(self.omega.shape[1]) if self.heights is None else self.heights
        return np.asarray(np.square(self.root * heights))

    def rates(self, parameters: Parameters) -> Array:
        """u(σ): one number, or one for each feature."""
        sigma = np.array(parameters)
        return 1.0 / sigma if self.inverse else sigma

    def parts(self, atoms: Sequence[Atom], factor: float = 1.0) -> list[Waves]:
        """The features of some kernels; those of one parameter share the products of samples and ω."""
        rates = [self.rates(parameters_of(atom)) for atom in atoms]
        root, omega = np.sqrt(factor) * self.root, QUARTERS * self.omega
        if all(u.size == 1 for u in rates):
            scale = np.array([u[0] for u in rates])
            return [Waves(list(range(len(rates))), omega, scale, np.full(len(rates), root), self.heights)]
        return [
            Waves([m], omega * u[:, None], np.ones(1), np.full(1, root), self.heights)
            for m, u in enumerate(rates)
        ]


@dataclass(frozen=True)
class WaveMap:
    """Features of a block (features, rows)."""

    parts: list[Waves]
    width: int

    def __call__(self, X: Array) -> Array:
        out = np.empty((len(X), self.width * sum(len(part.members) for part in self.parts)))
        for part in self.parts:
            part.fill(X, out, self.width * np.array(part.members, dtype=np.intp))
        return out.T


class RowWaves(RowOracle):
    """κ_σ, scaled by `scale`, for all σ of a box, in features of the same frequencies; atoms are tuples σ.

    One parameter is searched in one pass, with a bound on all of the range (`_waves.py`), unless the range of
    the samples is too wide for that. Several are searched on some rows from several points, all rows score
    what is found, and nothing bounds the others. `ends` are those of ω_jᵀx, `largest` (d,) of |x|.
    """

    swift = True

    def __init__(
        self,
        family: Parametric,
        source: RowBlocks,
        waves: Frequencies,
        box: tuple[Array, Array],
        scale: float,
        ends: tuple[Array, Array],
        largest: Array,
        most: float,
    ) -> None:
        self.family, self.source, self.waves, self.scale, self.most = family, source, waves, scale, most
        self._given = waves, box, scale, ends, largest, most
        self.n, self.size, self.dimensions = source.n, np.inf, box[0].size
        self.width = 2 * waves.omega.shape[1]
        self.coordinates = Coordinates(*box)
        self._known: dict[Parameters, None] = {}
        digits = (len(largest) + 4.0) * UNIT * float((np.abs(waves.omega).T @ largest).max(initial=0.0))
        rates = np.sort([float(waves.rates((end,))[0]) for end in (box[0].min(), box[1].max())])
        self.noise = float(rates[1]) * digits
        self.search: WaveSearch | None = None
        if self.dimensions == 1:
            search = WaveSearch(waves.omega, scale * waves.power, ends, rates[0], rates[1], self.n, digits)
            self.search = search if search.bounded else None
        self._few: tuple[NDArray[np.intp], HeldBlocks] | None = None

    @property
    def work(self) -> float:
        return 20.0 * self.n * float(self.waves.omega.shape[1])

    @property
    def neutral(self) -> Atom:
        return rounded(self.coordinates.middle())

    def part(self, rows: NDArray[np.intp]) -> RowWaves:
        return RowWaves(self.family, self.source.some(rows), *self._given)

    def name(self, atom: Atom) -> str:
        return self._raw(atom).label

    def kernel(self, atom: Atom) -> Fitted:
        fitted = Fitted.from_constants(self._raw(atom), self.scale)
        fitted.name = self.name(atom)
        return fitted

    def _raw(self, atom: Atom) -> Kernel:
        return self.family.kernel(*parameters_of(atom))

    def map(self, atoms: Sequence[Atom]) -> Map:
        self._known.update(dict.fromkeys(parameters_of(atom) for atom in atoms))
        return WaveMap(self.waves.parts(atoms, self.scale), self.width)

    def explicit(self, atoms: Sequence[Atom], kernels: Sequence[Kernel], one: Any) -> Features:
        return Features(self.waves.parts(atoms), len(atoms))

    def largest(self, atoms: Sequence[Atom]) -> float:
        return float(self.scale * self.waves.power.sum())

    # -- the best kernels -----------------------------------------------------------------------
    def best(self, A: Array, k: int) -> Best:
        """The best local maxima of q_σ over σ, a few of them."""
        k = min(k, _JOIN)
        if not A.any():
            return Best([self.neutral], np.zeros(1), 0.0)
        if self.search is None:
            return self._climbed(A, k)
        (M,) = self.source.sums(self.search.gather, A)
        size = float(np.linalg.norm(np.abs(A).sum(axis=0)))
        found = self.search.best(M, size, k)
        sigma = 1.0 / found.parameters if self.waves.inverse else found.parameters
        sigma = np.clip(sigma, self.coordinates.low, self.coordinates.high)
        atoms: dict[Atom, float] = {}
        for at, value in zip(sigma, found.values, strict=True):
            atoms.setdefault(merged(self._known, rounded([at])), float(value))
        return Best(list(atoms), np.array(list(atoms.values())), found.upper)

    def _climbed(self, A: Array, k: int) -> Best:
        """Take quasi-Newton steps on some rows, and score their ends on all rows."""
        rows, held = self._drawn()
        point = LinePoint(factor=A[rows])
        X = held.read(held.X)
        search = BoxSearch(lambda sigma, S: self._form(sigma, S, X), self.coordinates)
        peaks = search.best(point, k, self._starts())
        found = dict.fromkeys(merged(self._known, rounded(sigma)) for sigma in peaks.parameters)
        atoms = list(dict.fromkeys([*found, *self._known]))[: len(found) + _JOIN]
        values = self.quad(A, atoms)
        order = np.argsort(-values, kind="stable")[:k]
        return Best([atoms[i] for i in order], values[order], np.inf)

    def _drawn(self) -> tuple[NDArray[np.intp], HeldBlocks]:
        if self._few is None:
            rows = np.unique(np.linspace(0, self.n - 1, min(self.n, _DRAWN)).astype(np.intp))
            self._few = rows, self.source.some(rows)
        return self._few

    def _starts(self) -> list[Array]:
        """Common values of all parameters, and the last kernels in use."""
        low, high = self.coordinates.bounds.T
        shares = (np.arange(_STARTS) + 0.5) / _STARTS
        common = [self.coordinates.outwards(low + share * (high - low)) for share in shares]
        return [*common, *(np.array(known) for known in list(self._known)[-2:])]

    def _form(self, sigma: Array, S: LinePoint, X: Array) -> tuple[float, Array]:
        """q and ∂q/∂σ_i: ∂q/∂u_i = −2 Σ_j g_j ω_ij Σ_c Im(F*_jc G_ijc), G_ijc = Σ_t α_tc x_ti exp(iφ_tj)."""
        A, u = S.factor, self.waves.rates(tuple(sigma))
        assert A is not None
        omega = self.waves.omega
        D, d, k = omega.shape[1], omega.shape[0], A.shape[1]
        P = np.ascontiguousarray(X @ (QUARTERS * omega * np.broadcast_to(u, d)[:, None]))
        E = np.empty((len(X), 2 * D))
        fourier(P, np.ones(1), np.ones(1), np.zeros(1, dtype=np.intp), E)
        with_X = np.concatenate([np.ones((len(X), 1)), X], axis=1)
        sums = (A[:, :, None] * with_X[:, None]).reshape(len(X), -1).T @ E
        sums = sums.reshape(k, d + 1, 2, D)
        F, G = sums[:, 0], sums[:, 1:]  # (k, 2, D), (k, d, 2, D)
        power = self.scale * self.waves.power
        q = float(np.square(F).sum(axis=(0, 1)) @ power)
        cross = (F[:, None, 0] * G[:, :, 1] - F[:, None, 1] * G[:, :, 0]).sum(axis=0)  # (d, D)
        by_u = -2.0 * np.einsum("ij,ij,j->i", omega, cross, power)
        by_u = by_u if u.size == d else by_u.sum(keepdims=True)
        return q, by_u * (-np.square(u) if self.waves.inverse else np.ones_like(u))
