"""The function that an estimator learned, written in its base kernels as they were given.

Normalising and centring use constants of the sample, so the kernels that a fit works with depend on it. The
function does not need them. With k̃_m = s_m (k_m(x, x') − r_m(x) − r_m(x') + g_m),
r_m(x) = Σ_j w̄_j k_m(x, z_j), g_m = Σ_j w̄_j r_m(z_j), the training samples z_j and their weights w̄_j (Σw̄ =
1),

    Σ_i α_i k̃_m(x, x_i) = s_m [Σ_i α_i k_m(x, x_i) − A Σ_j w̄_j k_m(x, z_j)] − constant,      A = Σ_i α_i,

where the constant is the mean Σ_j w̄_j of the first term over the z_j, since centring leaves no mean. So

    f = Σ_m f_m + b',      f_m = θ_m s_m [Σ_i α_i k_m(·, x_i) − A Σ_j w̄_j k_m(·, z_j)],
    b' = b − Σ_m Σ_j w̄_j f_m(z_j),

and ‖f_m‖² in the space of the raw k_m is θ_m s_m times the sum of its coefficients times its values. Outputs
and classes k have α_k, b_k and, where each has its own weights, θ_km: then there are f_mk.

Kernels of a family are written in those of the class that was fixed in advance, k_z/ρ_z² of base kernels that
are not normalised. They are the same functions up to a constant, which their diagonals tell.
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
    """f_k = Σ_m f_mk + intercept_k; f_mk = weights_mk Σ over `points` of coefficients_·k k_m(·, point)."""

    kernels: list[Kernel]
    weights: Array  # (M, k)
    points: list[tuple[Data, Array]]  # with coefficients (n, k); for a stack: None and those of its columns
    intercept: Array  # (k,)

    def __call__(self, X: Data) -> Array:
        """(n, k): f on the rows of X."""
        return self.on(X, None)[0]

    def on(self, X: Data, coefficients: Array | None) -> tuple[Array, Array]:
        """(n, k) f on the rows of X, and (M, k): Σ_i coefficients_ik f_mk(x_i)."""
        F = np.tile(self.intercept, (n_samples(X), 1))
        inner = np.zeros_like(self.weights)
        for lo in range(0, len(F), _MATRIX_ROWS):
            hi = min(lo + _MATRIX_ROWS, len(F))
            for points, alpha in self.points:
                for m, K in evaluate(self.kernels, take_rows(X, lo, hi), points):
                    part = (K @ alpha) * self.weights[m]
                    F[lo:hi] += part
                    if coefficients is not None:
                        inner[m] += np.einsum("ik,ik->k", coefficients[lo:hi], part)
        return F, inner


def machine(model: Model) -> tuple[Array, Array] | None:
    """(n, k) coefficients of the training samples and (k,) intercepts, of machines that are linear in the
    kernels; None where they decide in another way."""
    function = model.function
    # powers and gates of kernels are no sums of them, and covariates are unpenalised
    if type(function) is not KernelFunction or model.covariates is not None:
        return None
    alpha = function.coefficients if model.dual is None else model.dual
    intercept = np.atleast_1d(np.asarray(function.intercept, dtype=float))
    if model.classes is not None and len(model.classes) == alpha.shape[-1] == 2:
        own = len(function.theta) > 1  # the difference of two functions of different kernels
        return None if own else (alpha[:, 1:] - alpha[:, :1], intercept[1:] - intercept[:1])
    return np.asarray(alpha.reshape(len(alpha), -1)), intercept


def raw_function(
    model: Model, X: Data, members: list[Fitted] | None = None
) -> tuple[RawFunction, Array, Array]:
    """The function, its values (n, k) on the training samples X, and (M, k) norms ‖f_mk‖ of active kernels.

    `members` are the active kernels as the class has them, where that is a family.
    """
    found = machine(model)
    assert found is not None and isinstance(model.function, KernelFunction)
    alpha, intercept = found
    fitted = [model.kernels[m] for m in model.active]
    if any(mask is not None for mask in presences(fitted, X)):
        raise ValueError(
            "some samples of X lack views, and bounds are about kernels that do not depend on the sample, as "
            "the mean that stands for an absent view does. Give a model of samples that have all views."
        )
    theta = np.broadcast_to(model.function.theta, (alpha.shape[1], len(model.kernels)))[:, model.active].T
    kernels: list[Kernel] = [raw_kernel(kernel) for kernel in fitted]
    scales = np.array([kernel.scale_ for kernel in fitted])
    if members is not None:
        scales = scales * [_ratio(raw, member, X) for raw, member in zip(kernels, members, strict=True)]
        kernels = list(members)
    points, mean = _points(fitted, X, alpha)
    function = RawFunction(kernels, theta * scales[:, None], points, np.zeros_like(intercept))
    found_at = [function.on(X if at is None else at, coefficients) for at, coefficients in points]
    squares = np.sum([inner for _, inner in found_at], axis=0)
    shift = 0.0 if mean is None else mean @ found_at[-1][0]
    function = replace(function, intercept=intercept - shift)
    norms = np.sqrt(np.maximum(function.weights * squares, 0.0))
    return function, found_at[0][0] + function.intercept, norms


def raw_kernel(fitted: Fitted) -> Kernel:
    """The kernel without constants of the sample; the cosine of an uncentred one has none."""
    return fitted if fitted.normalize == "cosine" else fitted.kernel


def _ratio(kernel: Kernel, member: Kernel, X: Data) -> float:
    """kernel / member, which is a constant."""
    whole = float(np.sum(member.diag(X)))
    return float(np.sum(kernel.diag(X))) / whole if whole > 0.0 else 1.0


def _points(fitted: list[Fitted], X: Data, alpha: Array) -> tuple[list[tuple[Data, Array]], Array | None]:
    """Return the points where the f_m have coefficients, and w̄ if the kernels are centred."""
    points = None if is_stack(X) else X
    if not fitted or fitted[0].row_means_ is None:
        return [(points, alpha)], None
    Z, weight = fitted[0].X_fit_, fitted[0].weight_
    mean = np.ones(n_samples(X if points is None else Z)) if weight is None else weight
    mean = mean / mean.sum()
    if points is None:
        return [(None, alpha - np.outer(mean, alpha.sum(axis=0)))], mean
    return [(X, alpha), (Z, -np.outer(mean, alpha.sum(axis=0)))], mean
