"""What models that were learned online decide, and what each kernel adds to that."""

from __future__ import annotations

from abc import abstractmethod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..grams.expansions import Expansion, FeatureExpansion
from ..kernels import evaluate
from ._data import read_new, require_finite
from ._explain import Explained
from ._feature_model import decide, no_coef
from ._feature_model import parts as parts_of_features
from ._linear import linear_coefficients

Array = NDArray[np.float64]


class OnlineParts(Explained):
    """Reads the attributes that ``BaseUFO`` stores, in all three forms: one coefficient a sample for all
    kernels, one for each of them (``average``), and explicit features (``approx``)."""

    average: bool
    features_: Any
    _expansion: Expansion
    _intercept: Array
    _kernel_coef: Array  # (kernels, support, outputs), with average
    _feature_coef: Array  # (features, outputs), with approx

    @abstractmethod
    def _single(self, f: Array) -> Array:
        """Decisions or coefficients (…, outputs) as users see them."""

    def _decide(self, X: Any) -> Array:
        """(n, outputs)."""
        check_is_fitted(self)
        X = read_new(self, X, self._kind)
        f = np.zeros((_num_samples(X), self._expansion.outputs))
        if not self.active_.size:
            return f + self._intercept
        with threads(self.n_jobs):
            if isinstance(self._expansion, FeatureExpansion):
                f = decide(self.features_, self._feature_coef, X)
            elif self.average:
                active = [self.kernels_[m] for m in self.active_]
                for rows, part in self._blocks(X, len(f)):
                    for i, K in evaluate(active, part, self._support):
                        f[rows] += K @ self._kernel_coef[self.active_[i]]
            else:
                for rows, part in self._blocks(X, len(f)):
                    f[rows] = self.kernel_(part, self._support) @ self._coefficients
        return require_finite(f + self._intercept, "decision")

    def _parts(self, X: Any) -> Array:
        """(n_samples, active kernels, outputs): what each kernel adds, for X as kernels read it."""
        features = isinstance(self._expansion, FeatureExpansion)
        if not features and not self.average:
            return super()._parts(X)
        parts = np.zeros((_num_samples(X), self.active_.size, self._expansion.outputs))
        with threads(self.n_jobs):
            if features:
                return parts_of_features(self.features_, self._feature_coef, self.active_, X)
            active = [self.kernels_[m] for m in self.active_]
            for rows, part in self._blocks(X, len(parts)) if active else ():
                for i, K in evaluate(active, part, self._support):
                    parts[rows, i] = K @ self._kernel_coef[self.active_[i]]
        return parts

    @property
    def coef_(self) -> Array:
        """Weights of the features of X where all active kernels are linear: X @ coef_.T + intercept_ decides.

        Of shape (n_features,), or (n_outputs, n_features) where there are several outputs.
        """
        if "weights_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coef_ before it is fitted.")
        if isinstance(self._expansion, FeatureExpansion):
            raise no_coef()
        coef: Any = linear_coefficients(self) if not self.average else self._mean_coefficients()
        return self._single(np.asarray(coef).T).T

    def _mean_coefficients(self) -> Array:
        """(outputs, n_features), of kernels that have coefficients of their own."""
        coef = np.zeros((self._expansion.outputs, self.n_features_in_))
        for m in self.active_:
            one = SimpleNamespace(
                **{name: getattr(self, name) for name in ("_kind", "_support", "kernels_", "kernel_names_")},
                _coefficients=self._kernel_coef[m],
                weights_=np.ones(len(self.kernels_)),
                active_=[m],
            )
            coef += linear_coefficients(one)
        return coef
