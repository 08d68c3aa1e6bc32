"""Scores of each target, and the best possible score if measurements were repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import UndefinedMetricWarning

from .._arguments import and_more, as_numbers
from .._warn import warn

Array = NDArray[np.float64]
_BLOCK = 1 << 22  # numbers that are looked at together
_NAMED = 5  # targets that a warning names


def r2_scores(y: Any, predicted: Any) -> Any:
    """Compute R² = 1 − Σ_i (y_i − f_i)² / Σ_i (y_i − ȳ)² of each target.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The targets. Single precision is summed in double precision, in blocks of targets.
    predicted : array-like of shape (n_samples,) or (n_samples, n_targets)
        The predictions.

    Returns
    -------
    float or ndarray of shape (n_targets,)
        The scores. NaN if y is constant, with a warning that names these targets.

    Examples
    --------
    >>> from manykernels.inspection import r2_scores
    >>> r2_scores([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]], [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]])
    array([1., 0.])
    """
    Y, F = _pair(y, predicted)
    found = np.empty(Y.shape[1])
    for columns, (a, b) in _blocks(Y, F):
        left, spread = a - b, a - a.mean(axis=0)
        found[columns] = 1.0 - _dot(left, left) / _defined(_dot(spread, spread), a)
    return _told(found, "R²", np.ndim(y))


def correlations(y: Any, predicted: Any) -> Any:
    """Compute Pearson's correlation between y and the prediction, for each target.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        The targets.
    predicted : array-like of shape (n_samples,) or (n_samples, n_targets)
        The predictions.

    Returns
    -------
    float or ndarray of shape (n_targets,)
        The correlations. NaN if y or the prediction is constant, with a warning that names these targets.

    Examples
    --------
    >>> from manykernels.inspection import correlations
    >>> correlations([[1.0, 1.0], [2.0, 3.0], [3.0, 2.0]], [[2.0, 3.0], [4.0, 1.0], [6.0, 2.0]])
    array([ 1., -1.])
    """
    Y, F = _pair(y, predicted)
    found = np.empty(Y.shape[1])
    for columns, (a, b) in _blocks(Y, F):
        p, q = a - a.mean(axis=0), b - b.mean(axis=0)
        found[columns] = _dot(p, q) / np.sqrt(_defined(_dot(p, p), a) * _defined(_dot(q, q), b))
    return _told(np.clip(found, -1.0, 1.0), "correlation", np.ndim(y))


@dataclass(frozen=True)
class NoiseCeiling:
    """The score that no model can exceed on average, since measurements of the same samples differ.

    Parameters
    ----------
    signal : float or ndarray of shape (n_targets,)
        The variance over the samples of what repeats have in common. It is an estimate, which may be
        negative.
    noise : float or ndarray of shape (n_targets,)
        The variance of what is different in each repeat.
    n_repeats : int
        The number of repeats.

    Attributes
    ----------
    r2 : float or ndarray of shape (n_targets,)
        R² of the perfect model with the mean over the repeats; 0 if no signal was found.
    r2_single : float or ndarray of shape (n_targets,)
        R² of the perfect model with one repeat.
    correlation : float or ndarray of shape (n_targets,)
        Correlation of the perfect model with the mean over the repeats; 0 if no signal was found.

    See Also
    --------
    noise_ceiling : Estimates it from repeated measurements.

    Examples
    --------
    >>> from manykernels.inspection import NoiseCeiling
    >>> ceiling = NoiseCeiling(signal=1.0, noise=1.0, n_repeats=4)
    >>> round(float(ceiling.r2), 3), round(float(ceiling.normalize(0.4)), 3)
    (0.8, 0.5)
    """

    signal: Any
    noise: Any
    n_repeats: int

    @property
    def r2(self) -> Any:
        """The R² of the perfect model with the mean over the repeats."""
        return self._share(self.n_repeats)

    @property
    def r2_single(self) -> Any:
        """The R² of the perfect model with one repeat."""
        return self._share(1)

    @property
    def correlation(self) -> Any:
        """The correlation of the perfect model with the mean over the repeats."""
        return np.sqrt(self.r2)

    def _share(self, repeats: int) -> Any:
        """signal / (signal + noise / repeats); NaN where measurements do not vary at all."""
        signal = np.maximum(self.signal, 0.0)
        total = self.signal + self.noise / repeats
        share = np.divide(signal, total, out=np.full_like(total, np.nan), where=total > 0.0)
        return share if share.ndim else float(share)

    def normalize(self, r2: Any, *, least: float = 0.05) -> Any:
        """Divide R² by the ceiling: the explained share of what can be explained.

        The share has a large error if there is little signal: that of the ceiling, divided by the ceiling.

        Parameters
        ----------
        r2 : float or array-like of shape (n_targets,)
            The R² of a model.
        least : float, default=0.05
            Targets whose ceiling is lower have no share.

        Returns
        -------
        float or ndarray of shape (n_targets,)
            The shares r2 / self.r2; NaN if the ceiling is below ``least``.

        Examples
        --------
        The second target has too little signal for a share:

        >>> import numpy as np
        >>> from manykernels.inspection import NoiseCeiling
        >>> ceiling = NoiseCeiling(signal=np.array([1.0, 0.01]), noise=np.array([1.0, 1.0]), n_repeats=4)
        >>> ceiling.normalize([0.4, 0.01]).round(3)
        array([0.5, nan])
        """
        ceiling = np.asarray(self.r2)
        share = np.divide(r2, ceiling, out=np.full(ceiling.shape, np.nan), where=ceiling >= least)
        return share if share.ndim else float(share)


def noise_ceiling(repeats: Any) -> NoiseCeiling:
    """Estimate from repeated measurements how well a perfect model would predict each target.

    Parameters
    ----------
    repeats : array of shape (n_repeats, n_samples) or (n_repeats, n_samples, n_targets)
        The same samples (the same film, say), measured at least twice.

    Returns
    -------
    NoiseCeiling
        With ``signal``, ``noise``, ``r2``, ``correlation`` and ``r2_single`` for each target.

    Notes
    -----
    Repeat r is y_rt = s_t + e_rt, with noise of mean 0 that is independent between the R repeats (not
    necessarily over time t). With variances over t,

        E[mean_r Var(y_r)] = Var(s) + σ²,      E[Var(mean_r y_r)] = Var(s) + σ² / R,

    so that Var(s) = (R Var(mean_r y_r) − mean_r Var(y_r)) / (R − 1) is estimated without bias (Sahani &
    Linden 2003), and σ² is the rest. The perfect model predicts s: its R² with the mean over the repeats is
    Var(s) / (Var(s) + σ² / R), and its correlation the root of that, which is the CC_max of Schoppe et al.
    (2016) and of Hsu, Borst & Theunissen (2004), the latter from all halves of the repeats. A model that is
    scored on single repeats is compared with ``r2_single``. The estimates are ratios: with few samples they
    scatter, and targets without signal have a ceiling above 0 in about half of the cases.

    References
    ----------
    - Sahani and Linden (2003), How linear are auditory cortical responses?, NIPS.
    - Hsu, Borst and Theunissen (2004), Quantifying variability in neural responses and its application for
      the validation of model predictions, Network 15.
    - Schoppe, Harper, Willmore, King and Schnupp (2016), Measuring the performance of neural models,
      Frontiers in Computational Neuroscience 10.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import noise_ceiling
    >>> rng = np.random.RandomState(0)
    >>> signal = rng.randn(2000)
    >>> ceiling = noise_ceiling(signal + rng.randn(4, 2000))
    >>> abs(ceiling.r2 - 0.8) < 0.05, abs(ceiling.r2_single - 0.5) < 0.05
    (True, True)
    """
    expected = "an array of shape (n_repeats, n_samples) or (n_repeats, n_samples, n_targets)"
    R = as_numbers(repeats, "repeats", expected)
    if R.ndim not in (2, 3) or R.shape[0] < 2 or R.shape[1] < 2:
        raise ValueError(
            f"repeats of shape {R.shape} was given; expected {expected}, with at least two repeats of at "
            "least two samples: one measurement does not tell signal from noise."
        )
    flat, R = R.ndim == 2, R.reshape(*R.shape[:2], -1)
    _require_finite(R, "repeats")
    count, samples, targets = R.shape
    signal, noise = np.empty(targets), np.empty(targets)
    for columns in _columns(targets, count * samples):
        block = R[:, :, columns].astype(np.float64)
        each, mean = block.var(axis=1, ddof=1).mean(axis=0), block.mean(axis=0).var(axis=0, ddof=1)
        signal[columns] = (count * mean - each) / (count - 1)
        noise[columns] = each - signal[columns]
    if flat:
        return NoiseCeiling(float(signal[0]), float(noise[0]), count)
    return NoiseCeiling(signal, noise, count)


# -- arrays of very many targets ------------------------------------------------------------------------
def _pair(y: Any, predicted: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both as (n, targets)."""
    expected = "an array of shape (n_samples,) or (n_samples, n_targets)"
    Y, F = as_numbers(y, "y", expected), as_numbers(predicted, "predicted", expected)
    if Y.shape != F.shape or Y.ndim not in (1, 2) or len(Y) < 2:
        raise ValueError(
            f"y of shape {Y.shape} and predicted of shape {F.shape} were given; expected two arrays of the "
            "same shape, (n_samples,) or (n_samples, n_targets), of at least two samples."
        )
    Y, F = Y.reshape(len(Y), -1), F.reshape(len(F), -1)
    _require_finite(Y, "y")
    _require_finite(F, "predicted")
    return Y, F


def _require_finite(values: NDArray[Any], what: str) -> None:
    """Raise an error that names the targets with NaN or infinite values."""
    bad = np.flatnonzero(~np.isfinite(values).reshape(-1, values.shape[-1]).all(axis=0))
    if bad.size:
        raise ValueError(
            f"{what} holds NaN or infinite values in target {and_more([str(k) for k in bad], _NAMED)}. Leave "
            "these targets out, or the samples."
        )


def _columns(targets: int, rows: int) -> Iterator[slice]:
    step = max(_BLOCK // rows, 1)
    return (slice(lo, lo + step) for lo in range(0, targets, step))


def _blocks(*arrays: NDArray[Any]) -> Iterator[tuple[slice, list[Array]]]:
    """Blocks of targets, in double precision."""
    for columns in _columns(arrays[0].shape[1], len(arrays[0])):
        yield columns, [A[:, columns].astype(np.float64) for A in arrays]


def _dot(a: Array, b: Array) -> Array:
    return np.asarray(np.einsum("nk,nk->k", a, b))


def _defined(squares: Array, values: Array) -> Array:
    """Sums of squared deviations, NaN where values are constant."""
    return np.where(np.ptp(values, axis=0) > 0.0, squares, np.nan)


def _told(found: Array, score: str, ndim: int) -> Any:
    """Return a score without an axis that y did not have, with a warning about undefined scores."""
    warn_of_undefined(np.isnan(found), score)
    return float(found[0]) if ndim == 1 else found


def warn_of_undefined(undefined: NDArray[np.bool_], score: str) -> None:
    """Warn about targets for which the score is undefined."""
    if undefined.any():
        names = [str(k) for k in np.flatnonzero(undefined)]
        why = "y is constant there" if score == "R²" else "y or the prediction is constant there"
        warn(
            f"{score} is not defined for {len(names)} of {undefined.size} targets, and is NaN: {why} "
            f"(target {and_more(names, _NAMED)}).",
            UndefinedMetricWarning,
        )
