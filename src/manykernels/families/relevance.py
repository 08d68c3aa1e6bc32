"""Gaussians with a width for each feature, learned before the weights."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from .._fast.stopping import goes_on
from ..kernels import ARDGaussian, Kernel, Linear
from ..kernels.data import Array, Data
from ..kernels.preparation import Part
from ..kernels.prepared import Prepared
from ._evidence import Widths, learn_widths
from ._remembered import Remembered
from .auto import text_kernels, unprepared
from .base import Family
from .tables import read_columns

_WIDEST = 1e4  # deviations: a feature that is this wide plays no part
_STEPS = (0.0, 0.5, 1.0)  # powers of two, times the widths: learning would prefer narrower ones, and overfit
_REMEMBERED = Remembered(64)


class Relevance(Family):
    """Gaussians exp(−s⁻² Σ_i γ_i (x_i − x'_i)²) of a few s, and a linear kernel, with γ learned from y.

    The widths of all features are learned from the evidence of a Gaussian process (automatic relevance
    determination; classes count as ±1). This takes about fifty factorisations of one matrix. Features that do
    not help get a width so large that they play no part. The weights of the kernels are then learned as
    always. The certificate of the fit is that of the weights and the machine: widths are not a convex
    problem.

    Features are prepared as by "auto": standardised, categories as indicators, heavy-tailed columns also as
    normal scores, of which the widths choose. Columns of text have string kernels, as there.

    Parameters
    ----------
    shrinkage : float, default=1.0
        Strength of the prior that all widths are alike. A larger value asks more of the data before widths
        differ.
    max_samples : int, default=1000
        Largest number of samples that widths are learned from, taken evenly. More samples give better widths
        and cost the third power of their number.
    max_iter : int, default=40
        Largest number of steps of the quasi-Newton method.

    See Also
    --------
    ARDGaussians : Widths of features learned with the weights.
    Auto : The same kernels without learned widths.

    References
    ----------
    Rasmussen & Williams (2006), "Gaussian Processes for Machine Learning", MIT Press, §5.1 and §5.4.1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Relevance
    >>> X = np.random.RandomState(0).randn(80, 4)
    >>> model = MKLRegressor(Relevance(), C=10.0).fit(X, np.sin(2 * X[:, 1]))
    >>> bool(model.score(X, np.sin(2 * X[:, 1])) > 0.9)
    True
    """

    supervised: ClassVar[bool] = True

    def __init__(self, shrinkage: float = 1.0, max_samples: int = 1000, max_iter: int = 40) -> None:
        self.shrinkage = shrinkage
        self.max_samples = max_samples
        self.max_iter = max_iter

    def resolve(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None, target: Any = None
    ) -> dict[str, Kernel]:
        """List the kernels, with widths learned from the targets.

        Parameters
        ----------
        target : array-like of shape (n_samples, n_outputs)
            Training targets, which the widths are learned from.
        """
        if target is None:
            raise ValueError(
                "Relevance learns widths from y, and there is none here. Use it in MKLClassifier or "
                "MKLRegressor; without y take 'auto' or gaussian_grid(...)."
            )
        self._check(X)
        table = read_columns(X, feature_names)
        prepared = table.preparation(X, sample_weight)
        Y = np.asarray(target, dtype=np.float64)
        if prepared is None:
            return text_kernels(table) or unprepared(X, table)
        if not np.any(Y != Y[0]):
            return {"Linear": Prepared(Linear(), prepared)}
        part: Part = "levels" if prepared.has_levels else "both"
        A = prepared.transform(X, part)
        found = self._learn(A, Y, sample_weight)
        widths = np.minimum(1.0 / np.sqrt(found.gamma), _WIDEST)
        kernels: dict[str, Kernel] = {"Linear": Prepared(Linear(), prepared)}
        for step in _STEPS:
            scale = 2.0**step
            kernel = ARDGaussian(tuple((scale * widths).tolist()))
            kernels[f"ARDGaussian(× {scale:.3g})"] = Prepared(kernel, prepared, part)
        return kernels | text_kernels(table)

    def _check(self, X: Data) -> None:
        if sparse.issparse(X):
            raise ValueError("Relevance was given a sparse matrix; expected a dense one: X.toarray().")
        for option, least in (("max_samples", 2), ("max_iter", 1)):
            value = getattr(self, option)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
                raise ValueError(
                    f"{option}={value!r} was given to Relevance; expected a whole number, at least {least}."
                )
        if not isinstance(self.shrinkage, int | float) or not 0.0 <= self.shrinkage < np.inf:
            raise ValueError(
                f"shrinkage={self.shrinkage!r} was given to Relevance; expected a number, at least 0."
            )

    def _learn(self, A: Array, Y: Array, sample_weight: Any) -> Widths:
        w = np.ones(len(A)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        A, Y, w = A[w > 0], Y[w > 0], w[w > 0]
        if len(A) > self.max_samples:
            rows = np.linspace(0, len(A) - 1, self.max_samples).astype(np.intp)
            A, Y, w = A[rows], Y[rows], w[rows]
        how = float(self.shrinkage), int(self.max_iter)
        # norms and repeated fits ask for the same widths, but not for those of a search that was stopped
        *gamma, linear, noise, value = _REMEMBERED(_learned, A, Y, w, *how, worth=lambda: goes_on(0, 1))
        return Widths(np.array(gamma), linear, noise, value)


def _learned(A: Array, Y: Array, w: Array, shrinkage: float, max_iter: int) -> Array:
    """The widths, and what else the evidence says, as one array."""
    found = learn_widths(A, Y, w, shrinkage, max_iter)
    return np.array([*found.gamma, found.linear, found.noise, found.value])
