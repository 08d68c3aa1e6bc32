"""What fitted models say about their kernels: parts of a decision, weights of views and of features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ..kernels import Fitted, evaluate
from ..kernels.data import take_rows
from ._data import Kind, read_new, require_finite
from ._linear import linear_coefficients
from ._params import NestedKernels
from ._repr import HTMLSummary
from ._spec import needs_stack

Array = NDArray[np.float64]
_BLOCK_BYTES = 1 << 25  # of one matrix between new samples and training samples


class LearnedKernel(HTMLSummary, NestedKernels):
    """A model with weighted kernels."""

    kernels_: list[Fitted]
    kernel_names_: list[str]
    weights_: Array
    active_: NDArray[np.intp]
    kernel_: Any
    X_fit_: Any
    n_jobs: int | None
    _kind: Kind
    _support: Any  # the training samples that new ones are compared with

    def _blocks(self, X: Any, n: int) -> Iterator[tuple[slice, Any]]:
        """X in blocks of rows, so that matrices between it and the training samples stay small."""
        step = max(16, _BLOCK_BYTES // (8 * max(_num_samples(self._support), 1)))
        for lo in range(0, n, step):
            yield slice(lo, lo + step), take_rows(X, lo, min(lo + step, n))

    @property
    def view_weights_(self) -> dict[str, Any]:
        """The total weight of each view; a kernel that belongs to none counts under its own name."""
        check_is_fitted(self)
        totals: dict[str, Any] = {}
        for m, view in enumerate(self._views()):
            totals[view] = totals.get(view, 0.0) + self.weights_[..., m]
        return {view: total if np.ndim(total) else float(total) for view, total in totals.items()}

    def _views(self) -> list[str]:
        given = [getattr(kernel.kernel, "view", None) for kernel in self.kernels_]
        return [name if view is None else view for name, view in zip(self.kernel_names_, given, strict=True)]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        stack = needs_stack(self.kernels)
        tags.input_tags.pairwise = stack
        tags.input_tags.three_d_array = stack
        tags.input_tags.two_d_array = not stack
        tags.input_tags.sparse = not stack
        return tags


class Explained(LearnedKernel):
    """A model that is linear in its kernels: f(x) = Σ_m θ_m k_m(x, X_fit_) dual_coef_ + intercept_."""

    dual_coef_: Any
    _coefficients: Array  # (support, outputs)

    def contributions(self, X: Any, by: Literal["kernel", "view"] = "kernel") -> Array:
        """What each kernel adds to the decision on each sample; they and ``intercept_`` sum to the decision.

        Returns (n_samples, len(active_)), in the order of ``active_``; with ``by="view"`` (n_samples,
        n_views), in the order of ``view_weights_``. Models of several outputs have them on a last axis.
        """
        check_is_fitted(self)
        if by not in ("kernel", "view"):
            raise ValueError(f"by={by!r} was given; expected 'kernel' or 'view'.")
        parts = self._parts(read_new(self, X, self._kind))
        if by == "view":
            views = self._views()
            order = {view: v for v, view in enumerate(dict.fromkeys(views))}
            total = np.zeros((parts.shape[0], len(order), parts.shape[2]))
            for i, m in enumerate(self.active_):
                total[:, order[views[m]]] += parts[:, i]
            parts = total
        return self._single(require_finite(parts, "contributions"))

    def _single(self, f: Array) -> Array:
        """Decisions or coefficients (…, outputs) as users see them: without that axis where y had none."""
        return f[..., 0] if self._one_output() else f

    def _one_output(self) -> bool:
        """Whether y had no axis of outputs."""
        return bool(self.dual_coef_.ndim == 1)

    def _parts(self, X: Any) -> Array:
        """(n_samples, active kernels, outputs): what each kernel adds, for X as kernels read it."""
        outputs = self._coefficients.shape[1]
        theta = np.broadcast_to(np.atleast_2d(self.weights_), (outputs, len(self.kernels_)))[:, self.active_]
        parts = np.zeros((_num_samples(X), self.active_.size, outputs))
        with threads(self.n_jobs):
            active = [self.kernels_[m] for m in self.active_]
            for rows, part in self._blocks(X, len(parts)):
                for i, K in evaluate(active, part, self._support):
                    parts[rows, i] = (K @ self._coefficients) * theta[:, i]
        return parts

    @property
    def coef_(self) -> Array:
        """Weights of the features where all active kernels are linear: X @ coef_.T + intercept_ decides.

        Of shape (n_features,), or (n_outputs, n_features) where there are several outputs.
        """
        if "weights_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no coef_ before it is fitted.")
        coef = linear_coefficients(self)
        return coef[0] if self._one_output() else coef
