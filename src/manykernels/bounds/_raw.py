"""The function that an estimator learned, written in its base kernels as they were given.

Normalising and centring use constants of the sample, so the kernels that a fit works with depend on it. The
function does not need them. With k̃_m = s_m (k_m(x, x') − r_m(x) − r_m(x') + g_m),
r_m(x) = Σ_j w̄_j k_m(x, z_j), g_m = Σ_j w̄_j r_m(z_j), the training samples z_j and their weights w̄_j (Σw̄ = 1),

    Σ_i α_i k̃_m(x, x_i) = s_m [Σ_i α_i k_m(x, x_i) − A Σ_j w̄_j k_m(x, z_j)] − constant,      A = Σ_i α_i,

where the constant is the mean Σ_j w̄_j of the first term over the z_j, since centring leaves no mean. So

    f = Σ_m f_m + b',      f_m = θ_m s_m [Σ_i α_i k_m(·, x_i) − A Σ_j w̄_j k_m(·, z_j)],
    b' = b − Σ_m Σ_j w̄_j f_m(z_j),

and ‖f_m‖² in the space of the raw k_m is θ_m s_m times the sum of its coefficients times its values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..fitting.functions import KernelFunction
from ..fitting.model import Model
from ..kernels import Fitted, Kernel, evaluate
from ..kernels.data import Data, is_stack, n_samples, take_rows
from ..kernels.presence import presences
from ._common import Array

_MATRIX_ROWS = 512  # of kernel matrices at a time


@dataclass(frozen=True)
class RawFunction:
    """f = Σ_m f_m + intercept; f_m = weights_m Σ over `points` of coefficients · k_m(·, point)."""

    kernels: list[Kernel]
    weights: Array
    points: list[tuple[Data, Array]]  # for a stack: None and the coefficients of its columns
    intercept: float = 0.0

    def parts(self, X: Data) -> Array:
        """(n, M): f_m on the rows of X."""
        F = np.zeros((n_samples(X), len(self.kernels)))
        for lo in range(0, len(F), _MATRIX_ROWS):
            hi = min(lo + _MATRIX_ROWS, len(F))
            for points, coefficients in self.points:
                for m, K in evaluate(self.kernels, take_rows(X, lo, hi), points):
                    F[lo:hi, m] += self.weights[m] * (K @ coefficients)
        return F

    def __call__(self, X: Data) -> Array:
        """f on the rows of X."""
        return np.asarray(self.parts(X).sum(axis=1) + self.intercept)


def machine(model: Model) -> tuple[Array, float] | None:
    """The coefficients of the training samples and the intercept, of one machine that is linear in the
    kernels; None where several decide, or in another way."""
    function = model.function
    # powers and gates of kernels are no sums of them, and covariates are unpenalised
    if type(function) is not KernelFunction or model.covariates is not None:
        return None
    alpha = model.single(function.coefficients if model.dual is None else model.dual)
    return (alpha, float(model.single(function.intercept))) if alpha.ndim == 1 else None


def raw_function(model: Model, X: Data) -> tuple[RawFunction, Array, Array]:
    """The function, its values (n,) on the training samples X, and the norms ‖f_m‖ of the active kernels."""
    found = machine(model)
    assert found is not None
    alpha, intercept = found
    fitted = [model.kernels[m] for m in model.active]
    if any(mask is not None for mask in presences(fitted, X)):
        raise ValueError(
            "some samples of X lack views, and bounds are about kernels that do not depend on the sample, as "
            "the mean that stands for an absent view does. Give a model of samples that have all views."
        )
    weights = np.array([model.weights[m] * model.kernels[m].scale_ for m in model.active])
    points, mean = _points(fitted, X, alpha)
    function = RawFunction([raw_kernel(kernel) for kernel in fitted], weights, points, intercept)
    parts = function.parts(X)
    values = [parts]
    if mean is not None:
        Z = points[-1][0]
        values = [parts] if Z is None else [parts, function.parts(Z)]
        function = replace(function, intercept=intercept - float((mean @ values[-1]).sum()))
    squares = sum(coefficients @ F for (_, coefficients), F in zip(points, values, strict=True))
    norms = np.sqrt(np.maximum(weights * squares, 0.0))
    return function, parts.sum(axis=1) + function.intercept, norms


def raw_kernel(fitted: Fitted) -> Kernel:
    """The kernel without constants of the sample; the cosine of an uncentred one has none."""
    return fitted if fitted.normalize == "cosine" else fitted.kernel


def _points(fitted: list[Fitted], X: Data, alpha: Array) -> tuple[list[tuple[Data, Array]], Array | None]:
    """Where the f_m have coefficients, and w̄ if the kernels are centred (on the last of these points)."""
    points = None if is_stack(X) else X
    if not fitted or fitted[0].row_means_ is None:
        return [(points, alpha)], None
    Z, weight = fitted[0].X_fit_, fitted[0].weight_
    mean = np.ones(n_samples(X if points is None else Z)) if weight is None else weight
    mean = mean / mean.sum()
    if points is None:
        return [(None, alpha - alpha.sum() * mean)], mean
    return [(X, alpha), (Z, -alpha.sum() * mean)], mean
