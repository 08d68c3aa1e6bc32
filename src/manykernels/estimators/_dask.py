"""Methods of new samples that take Dask collections too."""

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
    """``score`` of frames about different samples, which are matched with y as ``fit`` does it."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy, or R² of a regressor."""
        found: float = super().score(matched(X, y, quiet=True), y, sample_weight)  # type: ignore[misc]
        return found


class LazyScore:
    """``score`` of samples in a Dask collection, whose predictions are made block by block."""

    def score(self, X: Any, y: Any, sample_weight: Any = None, covariates: Any = None) -> float:
        """The accuracy, or R² of a regressor; ``covariates`` where ``fit`` was given them beside X."""
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
    """A method of new samples that gives a Dask array for a Dask collection, block by block."""

    @wraps(method)
    def call(self: Any, X: Any, *args: Any, **options: Any) -> Any:
        if not is_lazy(X):
            return method(self, X, *args, **options)
        return over_rows(X, partial(_call, getattr(self, method.__name__), args, options))

    return call


def _call(method: Callable[..., Any], args: Any, options: Any, block: Any) -> Any:
    """A method of a model on a block of rows, which may be none."""
    with threads(1):
        if len(block):
            return method(block, *args, **options)
        return method(np.zeros((1, block.shape[1])), *args, **options)[:0]
