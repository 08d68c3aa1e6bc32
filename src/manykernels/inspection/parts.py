"""Parts of the kernels in the score of a model, on samples that it may not have seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..estimators import model_of
from ..fitting.lazy import in_memory
from ..fitting.matching import matched
from ..fitting.model import Model
from ..fitting.targets import check_length, check_weights
from .scores import warn_of_undefined

Array = NDArray[np.float64]
_SCORES = ("r2", "correlation")


def explained_parts(
    model: Any,
    X: Any,
    y: Any,
    *,
    by: Literal["kernel", "view"] = "kernel",
    score: Literal["r2", "correlation"] = "r2",
    sample_weight: Any = None,
) -> Array:
    """Split R² into parts of the kernels that add up to it, for each output.

    Parameters
    ----------
    model : estimator
        A fitted regression model of this package whose function is a sum over kernels, also inside a
        pipeline or a search.
    X : array-like, frame, sparse matrix, list or dict
        The samples, preferably those that the model was not fitted on.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    by : {"kernel", "view"}, default="kernel"
        With "view" the parts of all kernels of a view are added up.
    score : {"r2", "correlation"}, default="r2"
        The score to split: R², or Pearson's correlation between y and the prediction.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        The weights of the samples.

    Returns
    -------
    ndarray of shape (n_kernels + 1,) or (n_kernels + 1, n_outputs)
        In the order of ``kernel_names_`` (or of ``view_weights_``); the last is that of the intercept. The
        sum over the first axis is the score. NaN for outputs whose score is not defined, with a warning that
        names them: y is constant, or for the correlation the prediction is.

    Notes
    -----
    The model predicts f = Σ_m f_m + b. Write y' and f' for what is left of y and f without their own means
    over the samples, S = Σ_i y'_i², and δ for the mean of f − y. Then

        R² = 1 − Σ_i (y_i − f_i)² / S = Σ_m [Σ_i f'_mi (2 y'_i − f'_i) / S] − n δ² / S,

    and the brackets are the parts: the product measure (Hoffman 1960; Pratt 1987), as Dupré la Tour et al.
    (2022) use it for encoding models. The last term is the part of the intercept: what a wrong mean costs,
    which is never positive. Adding a constant to one f_m and taking it from b changes no part.

    A part is no variance and may be negative: kernel m makes predictions worse on these samples, or helps
    only in taking away what others say too much. Parts of kernels that say nearly the same share what they
    explain in a way that the data hardly determine; add them up by view. The correlation is split alike,
    Σ_m Σ_i f'_mi y'_i / √(S Σ_i f'_i²), and the intercept has no part of it.

    Contributions are computed in blocks of samples, so that memory does not grow with the number of outputs
    times that of the samples.

    References
    ----------
    - Hoffman (1960), The paramorphic representation of clinical judgment, Psychological Bulletin 57.
    - Pratt (1987), Dividing the indivisible: using simple symmetry to partition variance explained,
      Proceedings of the Second International Tampere Conference in Statistics.
    - Dupré la Tour, Eickenberg, Nunez-Elizalde and Gallant (2022), Feature-space selection with banded ridge
      regression, NeuroImage 264.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import views
    >>> from manykernels.inspection import explained_parts
    >>> from manykernels.kernels import Linear
    >>> X = np.random.RandomState(0).randn(200, 4)
    >>> Y = np.stack([X[:, 0] + X[:, 1], X[:, 0] + X[:, 2]], axis=1)
    >>> bands = views({"a": ([0, 1], Linear()), "b": ([2, 3], Linear())})
    >>> model = MKLRegressor(bands, C=100.0).fit(X[:100], Y[:100])
    >>> parts = explained_parts(model, X[100:], Y[100:], by="view")
    >>> parts.shape
    (3, 2)
    >>> bool(np.all(np.abs(parts[:, 1] - [0.5, 0.5, 0.0]) < 0.1))
    True
    """
    if score not in _SCORES:
        raise ValueError(f"score={score!r} was given; expected 'r2' or 'correlation'.")
    X, y, sample_weight = in_memory(X, y, sample_weight)
    learned, X = model_of(model, matched(X, y, quiet=True))
    Y = _targets(learned, y)
    check_length(_num_samples(X), Y)
    weight = np.ones(len(Y)) if sample_weight is None else check_weights(sample_weight, len(Y))
    sums = _Sums.over(learned, X, Y, weight, by)
    parts, undefined = sums.of_r2() if score == "r2" else sums.of_correlation()
    if learned.covariates is not None:  # with the intercept
        parts = np.vstack([parts[:-2], parts[-2:].sum(axis=0)])
    warn_of_undefined(undefined, {"r2": "R²"}.get(score, score))
    rows = learned.active if by == "kernel" else np.arange(len(parts) - 1)
    found = np.zeros((1 + (len(learned.names) if by == "kernel" else rows.size), Y.shape[1]))
    found[rows], found[-1] = parts[:-1], parts[-1]
    found[:, undefined] = np.nan
    return learned.single(found)


def _targets(model: Model, y: Any) -> Array:
    """y as (n, outputs), as many as the model has."""
    if model.function is None or model.target is None or model.target.task != "regression":
        raise TypeError(
            f"explained_parts was given {model.title}; expected a regression model whose function is a sum "
            "over its kernels (MKLRegressor, MKLRegressorCV, UFOMKLRegressor, HierarchicalMKLRegressor, ...)."
        )
    Y = np.asarray(model.target.read(y), dtype=np.float64)
    Y, outputs = Y.reshape(len(Y), -1), model.function.intercept.size
    if Y.shape[1] != outputs:
        raise ValueError(f"y has {Y.shape[1]} outputs, and the model was fitted on {outputs}. Give the same.")
    return Y


@dataclass
class _Sums:
    """Σ over the samples, with weights w; y' and f are relative to the mean of y, f_m to a constant.

    The constants (means of f_m over the first block) keep the sums small; once centred, sums do not depend on
    them.
    """

    W: float  # Σ w
    S: Array  # (k,): Σ w y'²
    constant: NDArray[np.bool_]  # (k,): whether y is
    f: Any = 0.0  # (k,): Σ w f
    ff: Any = 0.0  # (k,): Σ w f²
    m: Any = 0.0  # (M, k): Σ w f_m
    my: Any = 0.0  # (M, k): Σ w f_m y'
    mf: Any = 0.0  # (M, k): Σ w f_m f
    low: Any = np.inf  # (k,): the smallest f
    high: Any = -np.inf

    @classmethod
    def over(cls, model: Model, X: Any, Y: Array, w: Array, by: str) -> Self:
        """Compute the sums in one pass over the samples."""
        assert model.function is not None
        mean, constant = np.average(Y, axis=0, weights=w), np.ptp(Y[w > 0.0], axis=0) == 0.0
        Y = Y - mean
        sums = cls(float(w.sum()), w @ Y**2, constant)
        shift: Any = None
        beside = model.beside(X)
        for rows, parts in model.contribution_blocks(X, by):
            if beside is not None:
                parts = np.concatenate([parts, beside[rows, None]], axis=1)
            f = parts.sum(axis=1) + (model.function.intercept - mean)
            shift = parts.mean(axis=0) if shift is None else shift
            parts -= shift
            sums.low, sums.high = np.minimum(sums.low, f.min(axis=0)), np.maximum(sums.high, f.max(axis=0))
            wf, wy = w[rows, None] * f, w[rows, None] * Y[rows]
            sums.f, sums.ff = sums.f + wf.sum(axis=0), sums.ff + np.einsum("nk,nk->k", wf, f)
            sums.m = sums.m + np.einsum("n,nmk->mk", w[rows], parts)
            sums.my = sums.my + np.einsum("nmk,nk->mk", parts, wy)
            sums.mf = sums.mf + np.einsum("nmk,nk->mk", parts, wf)
        return sums

    def of_r2(self) -> tuple[Array, NDArray[np.bool_]]:
        """Parts (M + 1, k), and where there are none; Σ w y' = 0."""
        S = np.where(self.constant, 1.0, self.S)
        parts = (2.0 * self.my - (self.mf - self.m * (self.f / self.W))) / S
        return np.vstack([parts, -(self.f**2) / (self.W * S)]), self.constant

    def of_correlation(self) -> tuple[Array, NDArray[np.bool_]]:
        spread = self.ff - self.f**2 / self.W  # of f
        undefined = self.constant | (self.low == self.high)
        parts = self.my / np.sqrt(np.where(undefined, 1.0, self.S * spread))
        return np.vstack([parts, np.zeros_like(spread)]), undefined
