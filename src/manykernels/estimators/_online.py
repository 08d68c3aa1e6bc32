"""What UFOMKLClassifier and UFOMKLRegressor share: the stream of samples, and what has come of it."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..approx import OwnFeatures, resolve_approx
from ..families import Family, resolve_kernels
from ..grams import StackGram, parse_memory
from ..grams.expansions import Expansion, FeatureExpansion, KernelExpansion
from ..kernels import Fitted, Mixture
from ..losses import StructuredLoss
from ..solvers._stopping import goes_on
from ..solvers.ufo import UFO, GroupRegularizer, always_moves, curvature, dual_exponent, targets
from ._data import read_new, read_training
from ._fit import build_dictionary
from ._online_checks import (
    check_approx,
    check_definite,
    check_family,
    check_finite,
    warn_empty,
    warn_few,
    warn_sizes,
)
from ._online_parts import OnlineParts
from ._params import check_online
from ._progress import progress
from ._rows import Rows
from ._targets import check_length, require_target

Array = NDArray[np.float64]
_SETTLED = ("loss", "average", "normalize", "fit_intercept")  # by the first data seen


class BaseUFO(OnlineParts):
    """Learns online; see the estimators for the parameters."""

    center = False  # UFO-MKL takes kernels as they are; not a parameter
    intercept_: Any
    _ufo: UFO
    _expansion: Expansion
    _loss_: StructuredLoss

    # -- what an estimator supplies -------------------------------------------------------------
    @abstractmethod
    def _read_y(self, y: Any) -> NDArray[Any]:
        """y validated."""

    @abstractmethod
    def _learn_targets(self, y: NDArray[Any]) -> None:
        """Set what the first y tells: classes, or the shape and mean of numbers."""

    @abstractmethod
    def _structured_loss(self) -> StructuredLoss: ...

    @abstractmethod
    def _outputs(self, loss: StructuredLoss) -> int: ...

    @abstractmethod
    def _encode(self, y: NDArray[Any], loss: StructuredLoss) -> Array:
        """Targets (n, outputs) for the loss, or (n, 1) with the number of the class."""

    @abstractmethod
    def _constant(self) -> Array:
        """(outputs,): the decision where no kernel has any weight."""

    def _count(self, y: NDArray[Any]) -> None:
        """Take note of what is learned from."""

    # -- fitting --------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Take ``epochs`` passes over the samples, from the beginning or (``warm_start``) from the last one.

        Parameters
        ----------
        X : array, CSR matrix, frame, list of strings, or stack (n_samples, n_train, n_kernels)
        y : array of shape (n_samples,), or (n_samples, n_outputs) for regression
        """
        self._check(y)
        going_on = self.warm_start and self._started()
        if not going_on:
            self._forget()
        with threads(self.n_jobs):
            self._fit(X, self._read_y(y), going_on)
        return self

    def _fit(self, X: Any, y: NDArray[Any], going_on: bool) -> None:
        X, kind = self._read(X, going_on)
        n = _num_samples(X)
        check_length(n, y)
        self._learn_targets(y)
        print_ = joblib.hash((X, y)) if self.warm_start else None
        again = going_on and print_ == getattr(self, "_fingerprint", None)
        if not going_on:
            self._start(X, kind, stored=True)
        elif kind == "stack" and not again:
            raise ValueError(
                "warm_start goes on with the stack and y of the last fit that had warm_start=True, and got "
                "others. Set warm_start=False."
            )
        else:
            self._go_on(X)
        Y, self._fingerprint = self._encode(y, self._loss_), print_
        self._count(y)
        rows = self._expansion.enter(X, again)
        rng = check_random_state(self.random_state)
        history: dict[str, list[float]] = {"seconds": [], "dual": [], "active": []}
        started = time.perf_counter()
        with progress(self, total=int(self.epochs)) as shown:
            for epoch in range(self.epochs):
                order = rng.permutation(n) if self.shuffle else np.arange(n)
                self._ufo.advance(self._expansion, self._loss_, rows[order], Y[order])
                active = int(np.count_nonzero(self._ufo.shares[0][: len(self.kernels_)]))
                history["seconds"].append(time.perf_counter() - started)
                history["dual"].append(self._ufo.dual(self._expansion, self._loss_, Y))
                history["active"].append(float(active))
                shown.step(f"pass {epoch + 1}, {active} kernels, minimum ≥ {history['dual'][-1]:.4g}")
                if not goes_on(epoch + 1, int(self.epochs)):
                    break
        self.history_ = {name: np.array(values) for name, values in history.items()}
        self._measure(self._ufo.primal(self._expansion, self._loss_, rows, Y), max(history["dual"]))
        self.n_iter_ = len(history["dual"])
        self._store()

    def _measure(self, primal: float, dual: float) -> None:
        """What is known of the objective: P, and its distance from the best lower bound."""
        self.certified_ = bool(np.isfinite(primal - dual))
        gap = max(primal - dual, 0.0) / abs(primal) if primal else 0.0
        self.objective_, self.dual_gap_ = primal, float(gap) if self.certified_ else np.nan

    def _stream(self, X: Any, y: NDArray[Any]) -> Self:
        """The samples of a ``partial_fit``."""
        going_on = self._started()
        X, kind = self._read(X, going_on)
        check_length(_num_samples(X), y)
        if kind == "stack":
            raise ValueError(
                "partial_fit was given a stack, which holds products with the training samples only: give "
                "the samples and kernels that compute their products, or call fit."
            )
        with threads(self.n_jobs):
            if going_on:
                self._go_on(X)
            else:
                self._start(X, kind, stored=False)
            Y, self._fingerprint = self._encode(y, self._loss_), None
            self._count(y)
            rows = self._expansion.enter(X)
            self._ufo.advance(self._expansion, self._loss_, rows, Y)
            self._measure(np.nan, -np.inf)
            self.__dict__.pop("history_", None)  # of a fit before this
            self.n_iter_ = 1
            self._store()
        return self

    def objective(self, X: Any, y: Any) -> float:
        """The objective ½ λ ‖w‖²_{2,p} + α Σ_j ‖w^j‖ + mean loss of what was learned, on any samples."""
        check_is_fitted(self)
        require_target(self, y)
        y = self._read_y(y)
        f = self._decide(X)
        check_length(len(f), y)
        s, share = self._ufo.shares
        norms = self._expansion.norms(s, share)
        f += self._expansion.intercept(s, share) - self._intercept  # not the majority's
        value = self._loss_.value(targets(self._loss_, self._encode(y, self._loss_)), f)
        return self._ufo.regularizer.value(norms) + float(value.mean())

    def _started(self) -> bool:
        return getattr(self, "_ufo", None) is not None

    def _check(self, y: Any) -> None:
        check_online(self)
        require_target(self, y)
        check_family(self.kernels)

    def _forget(self) -> None:
        for name in ("_ufo", "_counts", "_fingerprint", "features_", "feature_coef_", "dual_coef_", "X_fit_"):
            self.__dict__.pop(name, None)

    def _read(self, X: Any, going_on: bool) -> tuple[Any, Any]:
        return (read_new(self, X, self._kind), self._kind) if going_on else read_training(self, X)

    # -- the state ------------------------------------------------------------------------------
    def _start(self, X: Any, kind: Any, stored: bool) -> None:
        """Kernels, features and a state at zero."""
        self._kind, self._n_layers = kind, X.shape[2] if kind == "stack" else 0
        self._loss_ = self._structured_loss()
        names_in = getattr(self, "feature_names_in_", None) if kind == "array" else None
        approx = resolve_approx(self.approx)
        check_approx(approx, kind)
        if approx is None and isinstance(self.kernels, Family) and self.kernels.factors:
            approx = OwnFeatures()  # kernels of rank one: exact, and never n × n
        gram = None
        if approx is None and (stored or kind == "stack"):
            n = _num_samples(X)
            everyone = np.arange(n)
            rows = Rows(everyone, everyone, np.ones(n), np.ones(n))
            found = build_dictionary(self, X, kind, rows, np.ones(n), names_in, work=0)
            self.kernels_, self.kernel_names_ = found.kernels, found.names
            gram = found.gram if isinstance(found.gram, StackGram) else None
        else:
            kernels = resolve_kernels(self.kernels, X, None, names_in, approx=approx)
            check_finite(kernels, X)
            self.kernel_names_ = list(kernels)
            options: dict[str, Any] = {"normalize": self.normalize}
            self.kernels_ = [Fitted(k, name=name, **options).fit(X) for name, k in kernels.items()]
        self._slack = max(kernel.rounding(X) for kernel in self.kernels_)
        warn_sizes(self, X)
        outputs, F = self._outputs(self._loss_), len(self.kernels_)
        warn_few(F)
        part: dict[str, Any] = {"constant": bool(self.fit_intercept), "averaging": bool(self.average)}
        if approx is None:
            self._expansion = KernelExpansion(
                self.kernels_, outputs, gram=gram, eager=always_moves(self._loss_), **part
            )
        else:
            self.features_ = approx.fit(self.kernels_, X, rng=check_random_state(self.random_state))
            part["memory"] = parse_memory(self.memory_limit) // 2 if stored and self.epochs > 1 else 0
            self._expansion = FeatureExpansion(self.features_, outputs, **part)
        self._settled = {name: repr(getattr(self, name)) for name in _SETTLED}
        groups, average = self._expansion.n_groups, bool(self.average)
        self._ufo = UFO(self._regularizer(), groups, average=average, curvature=curvature(self._loss_))

    def _regularizer(self) -> GroupRegularizer:
        return GroupRegularizer(float(self.lam), float(self.alpha), dual_exponent(len(self.kernels_)))

    def _go_on(self, X: Any) -> None:
        """With lam and alpha as they are now; other parameters were settled by the first data.

        On a copy of the state, which is the model's until this call ends.
        """
        for name, before in self._settled.items():
            if repr(getattr(self, name)) != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} was given to a model that was started with "
                    f"{name}={before}, and goes on. Set it back, or start anew: fit with warm_start=False."
                )
        self._ufo, self._expansion = self._ufo.copy(), self._expansion.copy()
        self._ufo.regularize(self._regularizer())
        warn_sizes(self, X)

    # -- what was learned -----------------------------------------------------------------------
    def _store(self) -> None:
        """Fitted attributes from the state."""
        check_definite(self._ufo.indefinite(self._slack), self.kernel_names_)
        (s, share), expansion, F = self._ufo.shares, self._expansion, len(self.kernels_)
        self.weights_ = s[:F].copy()
        self.active_ = np.flatnonzero(self.weights_)
        self.kernel_ = Mixture([self.kernels_[m] for m in self.active_], self.weights_[self.active_])
        self.t_, self.bound_ = self._ufo.t, self._ufo.bound(self._loss_)
        self._intercept = expansion.intercept(s, share) + self._shift()
        if not self.active_.size:
            warn_empty(self.alpha, self.t_)
            if not np.any(s):
                self._intercept = self._constant() + self._shift()
        self.intercept_ = self._single(self._intercept)
        if isinstance(expansion, FeatureExpansion):
            self._feature_coef = expansion.feature_coef(s, share)
            self.feature_coef_ = self._single(self._feature_coef)
            expansion.release()
            return
        assert isinstance(expansion, KernelExpansion)
        if not self.warm_start and self._kind != "stack":
            expansion.release()
        self.X_fit_ = np.arange(len(expansion.coef)) if self._kind == "stack" else expansion.X
        self._support = self.X_fit_
        self._coefficients = expansion.coef
        if self.average:
            self._kernel_coef = expansion.kernel_coef(s, share)
            self.dual_coef_ = self._single(self._kernel_coef)
        else:
            self.dual_coef_ = self._single(expansion.coef)

    def _shift(self) -> Array | float:
        """What targets were taken from."""
        return getattr(self, "_offset", 0.0)
