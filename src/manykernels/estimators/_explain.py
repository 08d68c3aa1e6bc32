"""Explanations of fitted models: contributions of kernels, weights of views and of features."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from .._arguments import shown
from ..fitting.functions import FeatureFunction, Function
from ..fitting.model import Model
from ..fitting.spec import needs_stack, only_prepares
from ..kernels import Fitted
from ._params import NestedKernels
from ._repr import HTMLSummary

Array = NDArray[np.float64]


class PairwiseTags(NestedKernels):
    """Sets the tags by which scikit-learn cuts X: a stack of kernels in rows and in columns."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        stack = needs_stack(self.kernels)
        tags.input_tags.pairwise = stack
        tags.input_tags.three_d_array = stack
        tags.input_tags.two_d_array = not stack
        tags.input_tags.sparse = not stack
        tags.input_tags.allow_nan = self._fills_gaps()
        return tags

    def _fills_gaps(self) -> bool:
        """Tell whether cells of X may be missing, since the kernels prepare every column that they read."""
        return only_prepares(self.kernels)


class LearnedKernel(HTMLSummary, PairwiseTags):
    """Base class of all estimators with weighted kernels."""

    kernels_: list[Fitted]
    kernel_names_: list[str]
    weights_: Array
    active_: NDArray[np.intp]
    X_fit_: Any
    n_jobs: int | None
    _model: Model

    def _publish(self, model: Model) -> None:
        """Set the fitted attributes, and remove those of an earlier fit."""
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)
        self._model = model
        self.__dict__.update(model.layout.attributes)
        self.__dict__.update({} if model.target is None else model.target.attributes)
        self.kernels_, self.kernel_names_ = model.kernels, model.names
        self.weights_, self.active_ = model.weights, model.active
        self.__dict__.update(model.extra)

    @property
    def kernel_(self) -> Any:
        """The learned kernel, callable on new data; a list if classes or outputs have their own."""
        check_is_fitted(self)
        return self._model.mixtures

    @property
    def view_weights_(self) -> dict[str, Any]:
        """The total weight of each view; a kernel of no view counts under its own name."""
        check_is_fitted(self)
        return self._model.view_weights


class Explained(LearnedKernel):
    """Base class of estimators whose decision is a sum of contributions of the kernels."""

    def contributions(
        self, X: Any, by: Literal["kernel", "view"] = "kernel", *, outputs: Any = None
    ) -> Array:
        """Compute what each kernel adds to the decision on each sample.

        The contributions and ``intercept_`` sum to the decision; with covariates Z @ ``covariate_coef_`` is
        the rest of the sum.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        by : {"kernel", "view"}, default="kernel"
            With "view" the kernels of each view are added up.
        outputs : list of int, slice or None, default=None
            The positions of some outputs, for models with so many that all of them do not fit into memory.

        Returns
        -------
        ndarray of shape (n_samples, n_active) or (n_samples, n_views)
            The contributions, in the order of ``active_``, or of ``view_weights_`` with ``by="view"``. Models
            of several outputs have these on a last axis.

        Examples
        --------
        The contributions and the intercept add up to the prediction:

        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> kernels = {"age": OnColumns(Linear(), [0]), "dose": OnColumns(Linear(), [1])}
        >>> model = MKLRegressor(kernels, C=1e4).fit(X, X[:, 0] + X[:, 1])
        >>> parts = model.contributions(X)
        >>> np.allclose(parts.sum(axis=1) + model.intercept_, model.predict(X))
        True

        In sample 2 the age is larger by 2 and the dose by 1 than in sample 0:

        >>> (parts[2] - parts[0]).round(1)
        array([2., 1.])
        """
        check_is_fitted(self)
        return self._added(X, by, outputs, self._model.function)

    def _added(self, X: Any, by: str, outputs: Any, function: Function | None) -> Array:
        """Compute the contributions to all outputs of a function, or to some of them."""
        assert function is not None
        if outputs is None:
            return self._single(self._model.contributions(X, by, function))
        return self._model.contributions(X, by, function.of(_places(outputs, function.intercept.size)))

    def _single(self, f: Array) -> Array:
        """Drop the last axis of decisions or coefficients (…, outputs) if y had none."""
        return self._model.single(f)

    @property
    def coef_(self) -> Array:
        """The weights of the features, if all active kernels are linear.

        ``X @ coef_.T + intercept_`` decides. The shape is (n_features,), or (n_outputs, n_features) for
        several outputs.
        """
        if "weights_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coef_ before it is fitted.")
        return self._single(self._model.coef().T).T

    def _publish(self, model: Model) -> None:
        super()._publish(model)
        function, proof = model.function, model.proof
        if function is None:
            return
        learned: dict[str, Any] = {"intercept_": self._single(function.intercept)}
        if np.ndim(learned["intercept_"]) == 0:
            learned["intercept_"] = float(learned["intercept_"])
        if isinstance(function, FeatureFunction):
            learned |= {"features_": function.features, "feature_coef_": self._single(function.coefficients)}
        elif model.dual is not None:
            learned |= {"X_fit_": model.X_fit, "dual_coef_": self._single(model.dual)}
        if model.covariates is not None:
            learned["covariate_coef_"] = self._single(model.covariates.coefficients)
            learned["covariate_names_"] = model.covariates.design.names
        if model.dual_point is not None:
            learned["dual_point_"] = self._single(model.dual_point)
        if proof is not None:
            learned |= {"objective_": proof.primal, "dual_gap_": proof.gap, "certified_": proof.certified}
            if model.rows == "output" and proof.each is not None:
                learned |= {"objective_": proof.each[:, 0], "dual_gap_": proof.gaps}
            learned["n_iter_"] = proof.n_iter
            if proof.history is not None:
                learned["history_"] = proof.history
        self.__dict__.update(learned)


def _places(outputs: Any, count: int) -> NDArray[np.intp]:
    """Return the positions of the selected outputs."""
    try:
        places = np.arange(count)[outputs]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"outputs={shown(outputs)} was given ({error}); expected places of some of the {count} outputs "
            "of the model, as a list or a slice."
        ) from error
    if places.ndim != 1:
        raise ValueError(f"outputs={shown(outputs)} was given; expected a list of places or a slice.")
    return np.asarray(places)
