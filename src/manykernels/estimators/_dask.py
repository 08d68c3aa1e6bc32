"""Methods that also take new samples in Dask collections."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .._fast.threads import threads
from ..fitting.layout import is_lazy
from ..fitting.lazy import in_memory, over_rows
from ..fitting.matching import matched


class MatchedScore:
    """Adds a ``score`` that matches the samples of frames with y, as ``fit`` does."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy of a classifier, or R² of a regressor.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The true targets.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples in the score.

        Returns
        -------
        float
            The accuracy of a classifier, R² of a regressor.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import UFOMKLClassifier
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), ["cold", "cold", "warm", "warm"]
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> model = UFOMKLClassifier(kernels, random_state=0).fit(X, y)
        >>> model.score(X, y), model.score(X, ["warm", "cold", "warm", "warm"])
        (1.0, 0.75)
        """
        found: float = super().score(matched(X, y, quiet=True), y, sample_weight)  # type: ignore[misc]
        return found


class LazyScore:
    """Adds a ``score`` that also takes Dask collections, block by block."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """Compute the accuracy of a classifier, or R² of a regressor.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The true targets.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples in the score.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        float
            The accuracy of a classifier, R² of a regressor.

        Examples
        --------
        One of four samples has another class than the model predicts:

        >>> import numpy as np
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import Linear
        >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["cold", "cold", "warm", "warm"]
        >>> model = MKLClassifier(Linear(), C=10.0).fit(X, y)
        >>> model.score(X, ["cold", "warm", "warm", "warm"])
        0.75
        >>> model.score(X, ["cold", "warm", "warm", "warm"], sample_weight=[1, 0, 1, 1])
        1.0
        """
        X = matched(X, y, quiet=True)
        if not is_lazy(X) and covariates is None:
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return found
        beside = {} if covariates is None else {"covariates": covariates}
        said = self.predict(X, **beside)  # type: ignore[attr-defined]
        (said, y, sample_weight) = in_memory(said, y, sample_weight)
        from sklearn.metrics import accuracy_score, r2_score

        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, said, sample_weight=sample_weight))


def over_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make a method of new samples return a Dask array for a Dask collection, block by block."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        return over_rows(X, partial(_call, getattr(self, method.__name__), args, options))

    return call


def _call(method: Callable[..., Any], args: Any, options: Any, block: Any) -> Any:
    """Call a method of a model on a block of rows, which may be empty."""
    with threads(1):
        if len(block):
            return method(block, *args, **options)
        return method(np.zeros((1, block.shape[1])), *args, **options)[:0]
