"""What MKLClassifier and MKLRegressor share: fitting, deciding and explaining."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..kernels import Mixture
from ..losses import Loss
from ..solvers import Result
from ._data import read_new, read_training, take
from ._explain import Explained
from ._fit import Dictionary, Problem, build_dictionary, find_useless, solve
from ._params import check_parameters
from ._rows import Rows, merge
from ._targets import check_length, check_weights, require_target

Array = NDArray[np.float64]


class BaseMKL(Explained):
    """Fits a combination of kernels and the machine that uses it; see the estimators for the parameters."""

    intercept_: Any

    # -- what an estimator supplies -------------------------------------------------------------
    @abstractmethod
    def _read_y(self, y: Any) -> NDArray[Any]:
        """y validated."""

    @abstractmethod
    def _encode(self, y: NDArray[Any], weight: Array) -> tuple[Array, Array]:
        """Targets (n, outputs) and the cost of each sample (n,) relative to C; sets what y tells."""

    @abstractmethod
    def _loss(self) -> Loss:
        """The loss, checked to be one for the task."""

    def _separate(self) -> bool:
        """Whether every output learns weights of its own."""
        return False

    # -- fitting --------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the weights of the kernels together with the machine that uses them.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, or stack (n_samples, n_train, n_kernels)
            The samples; a stack only with ``kernels="precomputed"`` or ``from_distances(...)``.
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        sample_weight : array of shape (n_samples,), optional
            A sample of weight 2 counts as two samples, one of weight 0 as none.
        """
        check_parameters(self)
        loss = self._loss()
        require_target(self, y)
        with threads(self.n_jobs):
            self._fit(X, y, sample_weight, loss)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any, loss: Loss) -> None:
        previous = self._previous()
        X, kind = read_training(self, X)
        y = self._read_y(y)
        n = _num_samples(X)
        check_length(n, y)
        weight = check_weights(sample_weight, n)
        kept = np.flatnonzero(weight > 0)
        Y, cost = self._encode(y[kept], weight[kept])
        kept, Y, cost = kept[cost > 0], Y[cost > 0], cost[cost > 0]
        rows = merge(X, kind, Y, weight, kept)
        self._kind, self._n_layers = kind, X.shape[2] if kind == "stack" else 0
        names_in = getattr(self, "feature_names_in_", None) if kind == "array" else None
        dictionary = build_dictionary(self, X, kind, rows, weight, names_in)
        place = np.full(n, -1)
        place[kept] = np.arange(kept.size)
        Y, cost = Y[place[rows.first]], cost[place[rows.first]]
        C = np.repeat((float(self.C) * rows.weight * cost)[:, None], Y.shape[1], axis=1)
        useless = find_useless(self, dictionary)
        results = self._solve(Problem(dictionary, useless, loss, Y, C), rows, previous)
        self._store(X, rows, dictionary, results)

    def _previous(self) -> tuple[Array, Array] | None:
        """θ (problems, M) and dual coefficients of the last fit, where a new one should start from them."""
        if not self.warm_start or not hasattr(self, "dual_coef_"):
            return None
        return np.atleast_2d(self.weights_), self._dual

    def _solve(self, problem: Problem, rows: Rows, previous: tuple[Array, Array] | None) -> list[Result]:
        """One problem for all outputs, or one for each where they learn weights of their own."""
        outputs, M = problem.Y.shape[1], problem.dictionary.gram.n_kernels
        separate = self._separate() and outputs > 1
        groups = [[k] for k in range(outputs)] if separate else [list(range(outputs))]
        shapes = ((len(groups), M), (rows.owner.size, outputs))
        if previous is not None and (previous[0].shape, previous[1].shape) != shapes:
            previous = None
        results = []
        for g, group in enumerate(groups):
            part = replace(problem, Y=problem.Y[:, group], C=problem.C[:, group])
            start = None if previous is None else (previous[0][g].copy(), rows.gather(previous[1][:, group]))
            results.append(solve(self, part, start))
        return results

    def _store(self, X: Any, rows: Rows, dictionary: Dictionary, results: list[Result]) -> None:
        alpha = np.concatenate([result.alpha for result in results], axis=1)
        theta = np.stack([result.theta for result in results])
        intercept = np.concatenate([np.atleast_1d(result.intercept) for result in results])
        single = alpha.shape[1] == 1 and not self._keeps_outputs()
        self.kernels_, self.kernel_names_ = dictionary.kernels, dictionary.names
        self.weights_ = theta if len(results) > 1 else theta[0]
        self.active_ = np.flatnonzero(theta.any(axis=0))
        mixtures = [self._mixture(weights) for weights in theta]
        self.kernel_ = mixtures if len(results) > 1 else mixtures[0]
        self._dual, self._intercept = rows.spread(alpha), intercept
        self.dual_coef_ = self._dual[:, 0] if single else self._dual
        self.intercept_ = float(intercept[0]) if single else intercept
        self._remember(X, rows, alpha)
        primal, dual = (sum(getattr(r, side) for r in results) for side in ("primal", "dual"))
        self.objective_ = float(primal)
        self.dual_gap_ = float(max(primal - dual, 0.0) / abs(primal)) if primal != 0.0 else 0.0
        self.certified_ = True
        self.n_iter_ = max(1, *(result.n_iter for result in results))
        histories = [result.history.as_dict() for result in results]
        self.history_ = histories if len(results) > 1 else histories[0]

    def _mixture(self, weights: Array) -> Mixture:
        used = np.flatnonzero(weights)
        return Mixture([self.kernels_[m] for m in used], weights[used])

    def _remember(self, X: Any, rows: Rows, alpha: Array) -> None:
        """Training samples: all as given in X_fit_, and those that decisions need as that is fastest.

        Samples without a coefficient are left out, except where kernels are centred: those know the products
        of all (merged) training samples with their mean already. A stack brings its samples along.
        """
        if self._kind == "stack":
            self.X_fit_ = np.arange(X.shape[0])
            self._support, self._coefficients = self.X_fit_, self._dual
            return
        self.X_fit_ = X
        self._support, self._coefficients = self.kernels_[0].X_fit_, alpha
        if self._support is None:
            used = np.flatnonzero(alpha.any(axis=1))
            used = used if used.size else np.arange(1)
            self._support, self._coefficients = take(X, rows.first[used]), alpha[used]

    def _keeps_outputs(self) -> bool:
        """Whether dual_coef_ has a column for the output even if there is only one."""
        return False

    # -- deciding -------------------------------------------------------------------------------
    def _decide(self, X: Any) -> Array:
        """kernel_(X, X_fit_) @ dual_coef_ + intercept_, of shape (n, outputs)."""
        check_is_fitted(self)
        X = read_new(self, X, self._kind)
        n, outputs = _num_samples(X), self._coefficients.shape[1]
        mixtures = self.kernel_ if isinstance(self.kernel_, list) else [self.kernel_]
        f = np.empty((n, outputs))
        with threads(self.n_jobs):
            for rows, part in self._blocks(X, n):
                for k, mixture in enumerate(mixtures):
                    columns = slice(None) if len(mixtures) == 1 else slice(k, k + 1)
                    f[rows, columns] = mixture(part, self._support) @ self._coefficients[:, columns]
        f += self._intercept
        return f
