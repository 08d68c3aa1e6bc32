"""What MKLClassifier and MKLRegressor share: fitting, deciding and explaining."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..approx import Features
from ..families import Family, Products
from ..grams.memory import machine_matrices
from ..kernels import Mixture
from ..losses import Loss, Squared
from ..solvers import Result, resolve_solver
from ._approx_fit import FEATURE_ATTRIBUTES, FeatureFit, fit_features, forget
from ._data import Kind, read_new, read_training, require_finite, take
from ._explain import Explained
from ._family_fit import learn_over_family
from ._feature_model import decide, no_coef, parts
from ._fit import Problem, build_dictionary, find_useless, solve
from ._params import check_parameters
from ._rows import Rows, merge
from ._targets import check_length, check_weights, require_target, sample_costs

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Posed:
    """Samples and targets as a fit uses them: validated, and with equal samples merged."""

    X: Any  # as given
    kind: Kind
    rows: Rows
    weight: Array  # of the given samples
    names_in: Any
    Y: Array  # (merged, outputs)
    C: Array


class BaseMKL(Explained):
    """Fits a combination of kernels and the machine that uses it; see the estimators for the parameters."""

    intercept_: Any
    features_: Features
    feature_coef_: Array  # (features,) or (features, outputs), with approx
    _feature_coef: Array  # (features, outputs)

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
        if self.approx is not None:
            return self._fit_features(X, y, sample_weight, loss)
        forget(self, FEATURE_ATTRIBUTES)
        previous = self._previous()
        posed = self._pose(X, y, sample_weight)
        X, rows = posed.X, posed.rows
        if isinstance(self.kernels, Family) and not self.kernels.listed:
            found = learn_over_family(
                self, X, rows, posed.names_in, loss, posed.Y, posed.C, self._groups(posed.Y)
            )
            self.kernels_, self.kernel_names_, self._atoms = found.kernels, found.names, found.atoms
            return self._store(X, rows, found.theta, found.results)
        problem = self._problem(posed, loss)
        results = self._solve(problem, rows, previous)
        self.kernels_, self.kernel_names_ = problem.dictionary.kernels, problem.dictionary.names
        return self._store(X, rows, np.stack([result.weights for result in results]), results)

    def _pose(self, X: Any, y: Any, sample_weight: Any) -> Posed:
        """The samples and targets validated, with equal samples merged."""
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
        place = np.full(n, -1)
        place[kept] = np.arange(kept.size)
        Y, cost = Y[place[rows.first]], cost[place[rows.first]]
        C = np.repeat(sample_costs(self.C, rows.weight * cost)[:, None], Y.shape[1], axis=1)
        return Posed(X, kind, rows, weight, names_in, Y, C)

    def _work(self, loss: Loss, outputs: int) -> int:
        """How many matrices of n × n a fit needs beside the kernels."""
        shared = isinstance(loss, Squared) or self._separate()
        return resolve_solver(getattr(self, "solver", "auto")).matrices + machine_matrices(outputs, shared)

    def _problem(self, posed: Posed, loss: Loss, more: int = 0) -> Problem:
        """What the solver is asked, for kernels that can be listed; `more` matrices are needed with it."""
        work = self._work(loss, posed.Y.shape[1]) + more
        dictionary = build_dictionary(
            self, posed.X, posed.kind, posed.rows, posed.weight, posed.names_in, work, posed.Y
        )
        return Problem(dictionary, find_useless(self, dictionary), loss, posed.Y, posed.C)

    def _fit_features(self, X: Any, y: Any, sample_weight: Any, loss: Loss) -> None:
        """With explicit features: nothing of n × n, and for the squared loss one pass over the samples."""
        start = np.atleast_2d(self.weights_) if self.warm_start and hasattr(self, "weights_") else None
        self._store_features(fit_features(self, X, y, sample_weight, loss, start))

    def _store_features(self, found: FeatureFit) -> None:
        """What was learned in the space of features."""
        forget(self, ("X_fit_", "dual_coef_", "dual_point_", "_dual", "_support", "_coefficients"))
        self.features_, self._feature_coef, self._intercept = found.features, found.coef, found.intercept
        self.kernels_, self.kernel_names_ = found.fitted_kernels(self.normalize), found.chosen.names
        single = found.coef.shape[1] == 1 and not self._keeps_outputs()
        self.feature_coef_ = found.coef[:, 0] if single else found.coef
        self.intercept_ = float(found.intercept[0]) if single else found.intercept
        self._store_weights(found.theta, found.results)

    def _previous(self) -> tuple[Array, Array] | None:
        """θ (problems, M) and dual coefficients of the last fit, where a new one should start from them."""
        if not self.warm_start or not hasattr(self, "dual_coef_"):
            return None
        if isinstance(self.kernels, Family) and not self.kernels.listed:
            return None  # its kernels are found anew
        return np.atleast_2d(self.weights_), self._dual

    def _solve(self, problem: Problem, rows: Rows, previous: tuple[Array, Array] | None) -> list[Result]:
        """One problem for all outputs, or one for each where they learn weights of their own."""
        outputs, M = problem.Y.shape[1], problem.dictionary.gram.n_kernels
        groups = self._groups(problem.Y)
        shapes = ((len(groups), M), (rows.owner.size, outputs))
        if previous is not None and (previous[0].shape, previous[1].shape) != shapes:
            previous = None
        results = []
        for g, group in enumerate(groups):
            part = replace(problem, Y=problem.Y[:, group], C=problem.C[:, group])
            start = None if previous is None else (previous[0][g].copy(), rows.gather(previous[1][:, group]))
            results.append(solve(self, part, start))
        return results

    def _groups(self, Y: Array) -> list[list[int]]:
        """The outputs that share weights."""
        outputs = Y.shape[1]
        separate = self._separate() and outputs > 1
        return [[k] for k in range(outputs)] if separate else [list(range(outputs))]

    def _store(self, X: Any, rows: Rows, theta: Array, results: Sequence[Result]) -> None:
        """What was learned: θ (problems, M) over `kernels_`, and the machines of the problems."""
        alpha = np.concatenate([result.alpha for result in results], axis=1)
        intercept = np.concatenate([np.atleast_1d(result.intercept) for result in results])
        single = alpha.shape[1] == 1 and not self._keeps_outputs()
        proofs = [r.alpha if r.dual_alpha is None else r.dual_alpha for r in results]
        point = rows.spread(np.concatenate(proofs, axis=1))
        self.dual_point_ = point[:, 0] if single else point
        self._dual, self._intercept = rows.spread(alpha), intercept
        self.dual_coef_ = self._dual[:, 0] if single else self._dual
        self.intercept_ = float(intercept[0]) if single else intercept
        self._store_weights(theta, results)
        self._remember(X, rows, alpha)

    def _store_weights(self, theta: Array, results: Sequence[Result]) -> None:
        """θ, the learned kernel, and how near to optimal it is."""
        self.weights_ = theta if len(results) > 1 else theta[0]
        self.active_ = np.flatnonzero(theta.any(axis=0))
        mixtures = [self._mixture(weights) for weights in theta]
        self.kernel_ = mixtures if len(results) > 1 else mixtures[0]
        primal, dual = (sum(getattr(r, side) for r in results) for side in ("primal", "dual"))
        self.objective_ = float(primal)
        self.dual_gap_ = float(max(primal - dual, 0.0) / abs(primal)) if primal != 0.0 else 0.0
        self.certified_ = all(result.certified for result in results)
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
        if "features_" in self.__dict__:
            with threads(self.n_jobs):
                f = decide(self.features_, self._feature_coef, X) + self._intercept
            return require_finite(f, "decision")
        n, outputs = _num_samples(X), self._coefficients.shape[1]
        mixtures = self.kernel_ if isinstance(self.kernel_, list) else [self.kernel_]
        f = np.empty((n, outputs))
        with threads(self.n_jobs):
            for rows, part in self._blocks(X, n):
                for k, mixture in enumerate(mixtures):
                    columns = slice(None) if len(mixtures) == 1 else slice(k, k + 1)
                    f[rows, columns] = mixture(part, self._support) @ self._coefficients[:, columns]
        f += self._intercept
        return require_finite(f, "decision")

    def _parts(self, X: Any) -> Array:
        if "features_" not in self.__dict__:
            return super()._parts(X)
        with threads(self.n_jobs):
            return parts(self.features_, self._feature_coef, self.active_, X)

    def _one_output(self) -> bool:
        coef = self.feature_coef_ if "features_" in self.__dict__ else self.dual_coef_
        return bool(coef.ndim == 1)

    @property
    def coef_(self) -> Array:
        """Weights of the features of X, where all active kernels are linear and exact."""
        if "features_" in self.__dict__:
            raise no_coef()
        return super().coef_

    @property
    def selected_products_(self) -> dict[str, list[Any]]:
        """The products with weight, as columns of a table: product, degree, weight, contribution.

        For ``kernels=Products(...)``, largest contribution first. A contribution is the root mean square,
        over the training samples, of what the product adds to the decision. ``pandas.DataFrame`` takes it as
        it is.
        """
        if "weights_" not in self.__dict__ or not isinstance(self.kernels, Products):
            raise AttributeError(
                f"{type(self).__name__} has selected_products_ once fitted on Products(...)."
            )
        size = np.sqrt(np.mean(np.sum(self._parts(self.X_fit_) ** 2, axis=2), axis=0))
        order = np.argsort(-size, kind="stable")
        weights = np.atleast_2d(self.weights_).sum(axis=0)
        return {
            "product": [self.kernel_names_[self.active_[i]] for i in order],
            "degree": [len(self._atoms[self.active_[i]]) for i in order],
            "weight": [float(weights[self.active_[i]]) for i in order],
            "contribution": [float(size[i]) for i in order],
        }
