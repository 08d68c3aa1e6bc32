"""What fitted models say about their kernels: parts of a decision, weights of views and of features."""

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
    """Tells scikit-learn how to cut X: a stack of kernels in rows and columns."""

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
        """Whether cells of X may be missing: kernels prepare every column that they read."""
        return only_prepares(self.kernels)


class LearnedKernel(HTMLSummary, PairwiseTags):
    """A model with weighted kernels."""

    kernels_: list[Fitted]
    kernel_names_: list[str]
    weights_: Array
    active_: NDArray[np.intp]
    X_fit_: Any
    n_jobs: int | None
    _model: Model

    def _publish(self, model: Model) -> None:
        """Set what was learned, and nothing of an earlier fit."""
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
        """The learned kernel, callable on new data; a list where classes or outputs have their own."""
        check_is_fitted(self)
        return self._model.mixtures

    @property
    def view_weights_(self) -> dict[str, Any]:
        """The total weight of each view; a kernel that belongs to none counts under its own name."""
        check_is_fitted(self)
        return self._model.view_weights


class Explained(LearnedKernel):
    """A model whose decisions are sums of what each kernel says."""

    def contributions(
        self, X: Any, by: Literal["kernel", "view"] = "kernel", *, outputs: Any = None
    ) -> Array:
        """What each kernel adds to the decision on each sample; they and ``intercept_`` sum to the decision.

        With covariates, Z @ ``covariate_coef_`` is the rest of the sum.

        Parameters
        ----------
        X : samples
        by : "kernel" or "view"
            "view" adds up the kernels of each view.
        outputs : list of int, slice or None
            Places of some outputs, for models of so many that all of them do not fit into memory.

        Returns
        -------
        array of shape (n_samples, len(active_))
            In the order of ``active_``; with ``by="view"`` (n_samples, n_views), in the order of
            ``view_weights_``. Models of several outputs have them on a last axis.
        """
        check_is_fitted(self)
        return self._added(X, by, outputs, self._model.function)

    def _added(self, X: Any, by: str, outputs: Any, function: Function | None) -> Array:
        """Contributions to all outputs of a function, as users see them, or to some."""
        assert function is not None
        if outputs is None:
            return self._single(self._model.contributions(X, by, function))
        return self._model.contributions(X, by, function.of(_places(outputs, function.intercept.size)))

    def _single(self, f: Array) -> Array:
        """Decisions or coefficients (…, outputs) as users see them."""
        return self._model.single(f)

    @property
    def coef_(self) -> Array:
        """Weights of the features where all active kernels are linear: X @ coef_.T + intercept_ decides.

        Of shape (n_features,), or (n_outputs, n_features) where there are several outputs.
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
    """Which of the outputs are meant."""
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
