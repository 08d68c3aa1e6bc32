"""Random Fourier features for stationary kernels (Rahimi & Recht 2007), with orthogonal frequencies."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainc

from .._fast.fourier import fourier
from ..kernels import Fitted, Kernel
from ..kernels.columns import Seen
from ..kernels.data import Array, Data, numeric, take_rows
from ..kernels.spectral import Independent, Radial, Spectral
from .base import Approximation, Features, Part, ours
from .own import has_own_map, own_parts

_BELOW_ONE = np.nextafter(1.0, 0.0)
QUARTERS = 2.0 / np.pi  # of a turn, in a radian
_LARGEST = 1e150  # of 1/width: narrower kernels are 0 between any two different points anyway


class RandomFeatures(Approximation):
    """Random Fourier features, pairs of cosine and sine of random frequencies.

    φ(x) = √(1/D) (cos ω_1ᵀx, …, cos ω_Dᵀx, sin ω_1ᵀx, …, sin ω_Dᵀx) with D = n_components / 2. By Bochner's
    theorem E⟨φ(x), φ(x')⟩ = E cos ωᵀ(x − x') = k(x, x'), if ω is drawn from the Fourier transform of k.
    Kernels that have one define it themselves (``Kernel.spectral``):

        Gaussian   exp(−‖x − x'‖²/s²)    ω ~ N(0, 2/s²)
        Laplacian  exp(−‖x − x'‖₁/s)     ω_j ~ Cauchy(1/s), independent (the distance is ℓ₁)
        Matern     of width s and ν      ω ~ t with 2ν degrees of freedom, over s

    Pairs of cos and sin have ‖φ(x)‖² = k(x, x) exactly, and no phase to draw. The error falls as 1/√D.

    Kernels with a finite map of their own of at most `n_components` features (Linear on few columns) use it,
    so that dictionaries may be mixed. Others have no features here, and ``kernels="auto"`` leaves them out;
    `Nystroem` serves every kernel.

    Parameters
    ----------
    n_components : int, default=100
        Number of features of each kernel, even. More features are closer to the exact kernel.
    orthogonal : bool, default=True
        Whether to lower the variance and leave the mean as it is. Where no direction is favoured, as by
        Gaussians, the directions of each d frequencies are orthogonal, and their lengths are one in each of D
        strata of equal probability. The frequencies of the Laplacian have no rotation invariance to use, so
        that each of their coordinates is stratified and the strata are shuffled (a Latin hypercube). On one
        column both are a stratified sample.
    shared : bool, default=True
        Whether kernels of one kind on the same columns share one draw, divided by each width: a grid of
        widths then costs one product XΩ. Their errors are then not independent of each other, and do not
        average out in a combination of them. With False each kernel draws its own.

    See Also
    --------
    Nystroem : Features from landmarks, for every kernel.

    References
    ----------
    Rahimi & Recht (2007), "Random features for large-scale kernel machines", NeurIPS.

    Yu, Suresh, Choromanski, Holtmann-Rice & Kumar (2016), "Orthogonal random features", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.approx import RandomFeatures
    >>> from manykernels.families import gaussian_grid
    >>> X = np.random.RandomState(0).randn(200, 2)
    >>> model = MKLRegressor(gaussian_grid(1.0, 4.0, 3), C=10.0, approx=RandomFeatures(64), random_state=0)
    >>> bool(model.fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.95)
    True
    """

    def __init__(self, n_components: int = 100, orthogonal: bool = True, shared: bool = True) -> None:
        self.n_components = n_components
        self.orthogonal = orthogonal
        self.shared = shared

    def fit_sample(
        self, kernels: Sequence[Kernel], X: Data, weight: Array, rng: np.random.RandomState
    ) -> Features:
        n_components = 2 * self.pairs()
        groups: dict[Hashable, list[tuple[int, _Stationary]]] = defaultdict(list)
        own: list[tuple[int, Kernel]] = []
        for m, kernel in enumerate(kernels):
            stationary = _stationary(kernel)
            if stationary is not None:
                key = stationary.key if self.shared else None
                groups[m if key is None else ("shared", key)].append((m, stationary))
            elif has_own_map(kernel):
                own.append((m, kernel))
            else:
                raise ValueError(_no_features(kernel))
        parts = own_parts(own, X)
        for part in parts:
            for m, size in zip(part.members, part.sizes, strict=True):
                if size > n_components:
                    raise ValueError(
                        f"{kernels[m].label} has a map of its own with {size} features, more than "
                        f"n_components={n_components}. Give n_components={size + size % 2}, or use Nystroem."
                    )
        one = take_rows(X, 0, 1)
        for members in groups.values():
            parts.append(_Fourier(members, one, n_components // 2, bool(self.orthogonal), rng))
        return Features(parts, len(kernels))

    def pairs(self) -> int:
        """Return the number D of frequencies.

        Returns
        -------
        int
            Half of `n_components`.

        Examples
        --------
        >>> from manykernels.approx import RandomFeatures
        >>> RandomFeatures(64).pairs()
        32
        >>> RandomFeatures(65).pairs()
        Traceback (most recent call last):
        ...
        ValueError: n_components=65 was given to RandomFeatures; expected an even number, ...
        """
        n_components = self._components()
        if n_components % 2:
            raise ValueError(
                f"n_components={n_components} was given to RandomFeatures; expected an even number, since "
                f"features are pairs of cos and sin: take {n_components + 1}."
            )
        return n_components // 2

    def serves(self, kernel: Kernel, X: Data) -> bool:
        if _stationary(kernel) is not None:
            return True
        return has_own_map(kernel) and own_parts([(0, kernel)], X)[0].sizes[0] <= self._components()


class _Stationary:
    """factor · k(x_J), with k of a known density: ``path`` chooses or prepares columns, step by step."""

    def __init__(self, factor: float, path: tuple[Seen, ...], spectral: Spectral) -> None:
        self.factor = factor
        self.path = path
        self.spectral = spectral
        self.scale = min(spectral.scale, _LARGEST)  # 1 / s

    @property
    def key(self) -> Hashable | None:
        """Kernels with equal keys share frequencies."""
        steps = tuple(step._key() for step in self.path)
        return None if None in steps else (self.spectral.law, self.spectral.widths, steps)

    def select(self, X: Data) -> Any:
        """The columns, as numbers."""
        for step in self.path:
            X = step._select(X)
        return numeric(X)


class Waves(Part):
    """(cos, sin) of XΩ, scaled for each width: Ω (d, D) holds frequencies of width 1, in quarter turns.

    `heights` (D,) are factors of the waves, where these are not all alike.
    """

    threads = True
    heights: Array | None = None

    def __init__(
        self, members: list[int], omega: Array, scale: Array, root: Array, heights: Array | None = None
    ) -> None:
        self.members, self.sizes = members, [2 * omega.shape[1]] * len(members)
        self.omega, self.scale, self.root, self.heights = omega, scale, root, heights

    def select(self, X: Data) -> Any:
        """The columns that are multiplied by Ω, as numbers."""
        return numeric(X)

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        A = self.select(X)
        if A.shape[1] != self.omega.shape[0]:
            raise ValueError(
                f"X has {A.shape[1]} columns here; the features were drawn for {self.omega.shape[0]}."
            )
        P = np.ascontiguousarray(A @ self.omega, dtype=np.float64)
        fourier(P, self.scale, self.root, start, out)
        if self.heights is not None:
            both = np.tile(self.heights, 2)
            for first in start:
                out[:, first : first + both.size] *= both


class _Fourier(Waves):
    """Kernels of one law on the same columns, whose frequencies are drawn here."""

    def __init__(
        self,
        members: list[tuple[int, _Stationary]],
        X: Data,
        D: int,
        orthogonal: bool,
        rng: np.random.RandomState,
    ) -> None:
        self.first = members[0][1]
        self.threads = all(map(ours, self.first.path))
        d = self.first.select(X).shape[1]
        omega = frequencies(self.first.spectral.law, d, D, orthogonal, rng)
        if self.first.spectral.widths is not None:
            omega /= np.array(self.first.spectral.widths)[:, None]
        scale = np.array([kernel.scale for _, kernel in members])
        root = np.sqrt([kernel.factor / D for _, kernel in members])
        super().__init__([m for m, _ in members], omega * QUARTERS, scale, root)

    def select(self, X: Data) -> Any:
        return self.first.select(X)


def frequencies(
    law: Radial | Independent, d: int, D: int, orthogonal: bool, rng: np.random.RandomState
) -> Array:
    """(d, D): D frequencies ω of this law."""
    if isinstance(law, Radial):
        directions, u = _directions(d, D, orthogonal, rng)
        return directions * law.lengths(u, d) if d else directions
    u = np.array([_strata(D, rng) if orthogonal else rng.uniform(size=D) for _ in range(d)]).reshape(d, D)
    return law.coordinates(u)


def _directions(d: int, D: int, orthogonal: bool, rng: np.random.RandomState) -> tuple[Array, Array]:
    """(d, D): unit vectors, and D uniform numbers for their lengths."""
    if not orthogonal or d == 0:
        z = rng.standard_normal((d, D))
        length = np.sqrt(np.einsum("ij,ij->j", z, z))
        # The quantile of a standard normal vector's own length, so that a normal law gives that vector back.
        return z / length, np.minimum(gammainc(0.5 * max(d, 1), 0.5 * length**2), _BELOW_ONE)
    directions = np.empty((d, D))
    for lo in range(0, D, d):
        # The signs that QR chooses do not matter: cos is even.
        Q, _ = np.linalg.qr(rng.standard_normal((d, min(d, D - lo))))
        directions[:, lo : lo + d] = Q
    return directions, _strata(D, rng)


def _strata(D: int, rng: np.random.RandomState) -> Array:
    """D numbers in shuffled order, one uniform in each of the D equal parts of (0, 1)."""
    return np.asarray((rng.permutation(D) + rng.uniform(size=D)) / D)


def _stationary(kernel: Kernel) -> _Stationary | None:
    """The kernel as a multiple of a stationary one on columns, or None if it is none."""
    if isinstance(kernel, Fitted) and kernel.normalize == "cosine" and not kernel.center:
        inner = _stationary(kernel.kernel)
        if inner is not None:
            inner.factor = 1.0  # k(x, x) is the same for all x
        return inner
    terms = kernel.terms()
    if len(terms) != 1:
        return None
    factor, base = terms[0]
    path: list[Seen] = []
    while isinstance(base, Seen):
        path.append(base)
        base = base.kernel
    spectral = base.spectral()
    return None if spectral is None else _Stationary(factor, tuple(path), spectral)


def _no_features(kernel: Kernel) -> str:
    centred = " once it is centred: set center=False" if isinstance(kernel, Fitted) and kernel.center else ""
    return (
        f"{kernel.label} has no random features{centred}. RandomFeatures serves kernels that know their "
        "spectral density, such as Gaussian, Laplacian and Matern (also on columns, scaled or normalised), "
        "and kernels with a finite map of their own; Nystroem serves every kernel."
    )
