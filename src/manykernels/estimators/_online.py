"""Base class of the online estimators: the stream of samples, and what was learned from it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import joblib
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..approx import resolve_approx
from ..fitting.functions import FeatureFunction
from ..fitting.layout import Layout, read_training
from ..fitting.matching import matched, require_same_samples
from ..fitting.model import Model, Proof
from ..fitting.online import Steps, Stream, begin, proof_of_passes, proof_of_steps
from ..fitting.online_checks import check_family
from ..fitting.options import Options
from ..fitting.targets import Target, check_length, require_target
from ..losses import StructuredLoss
from ._explain import Array, Explained
from ._params import check_online

_SETTLED = ("kernels", "approx", "loss", "average", "normalize", "fit_intercept")  # by the first data seen
_SHARED = "normalize fit_intercept memory_limit random_state n_jobs verbose".split()


class BaseUFO(Explained):
    """Base class of the online estimators, which document the parameters."""

    approx: Any
    warm_start: bool
    _state: Stream | None
    _settled: dict[str, str]
    _fingerprint: str | None

    # -- what an estimator supplies -------------------------------------------------------------
    @abstractmethod
    def _read_y(self, y: Any) -> NDArray[Any]:
        """Return y, validated."""

    @abstractmethod
    def _learn_targets(self, y: NDArray[Any]) -> None:
        """Set what the first y determines: classes, or the shape and mean of numbers."""

    @abstractmethod
    def _target(self) -> Target:
        """Return the kind of target, with what was learned of it."""

    @abstractmethod
    def _structured_loss(self) -> StructuredLoss: ...

    @abstractmethod
    def _outputs(self, loss: StructuredLoss) -> int: ...

    @abstractmethod
    def _encode(self, y: NDArray[Any], loss: StructuredLoss) -> Array:
        """Encode the targets for the loss: (n, outputs), or (n, 1) with the number of the class."""

    @abstractmethod
    def _constant(self, outputs: int) -> Array:
        """Return the decision, of shape (outputs,), for a model in which no kernel has weight."""

    def _count(self, y: NDArray[Any]) -> None:
        """Count the samples of each class."""

    def _shift(self) -> Array | float:
        """Return the number that was subtracted from the targets."""
        return 0.0

    # -- fitting --------------------------------------------------------------------------------
    def fit(self, X: Any, y: Any) -> Self:
        """Make ``epochs`` passes over the samples.

        They start anew, or with ``warm_start`` from the state of the last fit.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets: labels for a classifier, numbers for a regressor. Only a regressor takes several
            outputs.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a value that it cannot have, if samples and targets do not fit together, if
            a classifier gets only one class, or if a kernel is not finite or not
            positive semidefinite.
        TypeError
            If an argument is of a type that it cannot be of.

        Examples
        --------
        Ten passes over six samples are sixty steps:

        >>> import numpy as np
        >>> from manykernels import UFOMKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> kernels = [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> UFOMKLRegressor(kernels, epochs=10, random_state=0).fit(X, X[:, 0]).t_
        60
        """
        options, steps = self._asked(y)
        if not self.warm_start:
            self._forget()
        with threads(self.n_jobs):
            self._fit(options, steps, matched(X, y), self._read_y(y))
        return self

    def _fit(self, options: Options, steps: Steps, X: Any, y: NDArray[Any]) -> None:
        state = self._going_on()
        X, layout = self._read(options, X)
        check_length(_num_samples(X), y)
        self._learn_targets(y)
        fingerprint = joblib.hash((X, y)) if self.warm_start else None
        again = state is not None and fingerprint == self._fingerprint
        if state is not None and layout.kind == "stack" and not again:
            raise ValueError(
                "warm_start goes on with the stack and y of the last fit that had warm_start=True, and got "
                "others. Set warm_start=False."
            )
        state = self._next(options, steps, X, layout, stored=True)
        Y = self._encode(y, state.loss)
        self._count(y)
        history, primal = state.passes(X, Y, again)
        self._store(state, proof_of_passes(primal, history), fingerprint)

    def _stream(self, X: Any, y: NDArray[Any]) -> Self:
        """Learn from the samples of a ``partial_fit``."""
        options, steps = self._asked(y)
        require_same_samples(X)
        X, layout = self._read(options, X)
        check_length(_num_samples(X), y)
        if layout.kind == "stack":
            raise ValueError(
                "partial_fit was given a stack, which holds products with the training samples only: give "
                "the samples and kernels that compute their products, or call fit."
            )
        with threads(self.n_jobs):
            state = self._next(options, steps, X, layout, stored=False)
            Y = self._encode(y, state.loss)
            self._count(y)
            state.advance(X, Y)
            self._store(state, proof_of_steps(), None)
        return self

    def objective(self, X: Any, y: Any) -> float:
        """Compute the objective of the learned function on any samples.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets of the samples.

        Returns
        -------
        float
            ½ λ ‖w‖²_{2,p} + α Σ_j ‖w^j‖ + the mean loss.

        Examples
        --------
        More passes lower the objective:

        >>> import numpy as np
        >>> from manykernels import UFOMKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> X = np.random.RandomState(0).randn(50, 1)
        >>> y, kernels = 3.0 * X[:, 0], [Linear(), Gaussian(1.0), Gaussian(4.0)]
        >>> few = UFOMKLRegressor(kernels, epochs=1, random_state=0).fit(X, y)
        >>> many = UFOMKLRegressor(kernels, epochs=20, random_state=0).fit(X, y)
        >>> many.objective(X, y) < few.objective(X, y)
        True
        """
        check_is_fitted(self)
        require_target(type(self).__name__, y)
        y, state, function = self._read_y(y), self._state, self._model.function
        assert state is not None and function is not None
        f = self._model.decide(X)
        check_length(len(f), y)
        f += state.intercept - function.intercept  # neither the majority's, nor shifted
        return state.objective(f, self._encode(y, state.loss))

    # -- the state ------------------------------------------------------------------------------
    def _asked(self, y: Any) -> tuple[Options, Steps]:
        given = self._given()
        check_online(given)
        self._check_types()
        require_target(type(self).__name__, y)
        check_family(self.kernels)
        shared = {name: given[name] for name in _SHARED}
        options = Options(
            type(self).__name__, kernels=self.kernels, approx=resolve_approx(self.approx), **shared
        )
        return options, Steps(*(given[name] for name in ("lam", "alpha", "epochs", "average", "shuffle")))

    def _going_on(self) -> Stream | None:
        """Return the state of the last call, or None."""
        return self.__dict__.get("_state")

    def _forget(self) -> None:
        for name in ("_state", "_counts", "_fingerprint"):
            self.__dict__.pop(name, None)

    def _read(self, options: Options, X: Any) -> tuple[Any, Layout]:
        state = self._going_on()
        if state is None:
            return read_training(options.title, options.kernels, X)
        return state.layout.read(X), state.layout

    def _next(self, options: Options, steps: Steps, X: Any, layout: Layout, stored: bool) -> Stream:
        """Return a new state, or a copy of the last one, which stays the model's until this call ends."""
        state = self._going_on()
        if state is None:
            loss = self._structured_loss()
            state = begin(options, steps, X, layout, loss, self._outputs(loss), stored)
            self._settled = {name: repr(getattr(self, name)) for name in _SETTLED}
            return state
        for name, before in self._settled.items():
            if repr(getattr(self, name)) != before:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} was given to a model that was started with "
                    f"{name}={before}, and goes on. Set it back, or start anew: fit with warm_start=False."
                )
        return state.go_on(options, steps, X)

    def _store(self, state: Stream, proof: Proof, fingerprint: str | None) -> None:
        constant = self._constant(state.expansion.outputs)
        keep = bool(self.warm_start) or state.layout.kind == "stack"
        model = state.model(self._target(), proof, constant, self._shift(), keep)
        self._state, self._fingerprint = state, fingerprint
        self._publish(model)

    def _publish(self, model: Model) -> None:
        super()._publish(model)
        function: Any = model.function
        if not isinstance(function, FeatureFunction):
            self.X_fit_, self.dual_coef_ = model.X_fit, self._single(function.coefficients)
