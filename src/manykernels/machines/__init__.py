"""Inner solvers: the kernel machine for one combined kernel."""

from ..losses import Loss
from .base import Array, Machine, Sensitivity, Solution, feasible
from .corners import Corners
from .newton import Newton
from .smo import SMO

__all__ = ["SMO", "Machine", "Newton", "Sensitivity", "Solution", "feasible", "machine_for"]


def machine_for(loss: Loss, fit_intercept: bool, Z: Array | None = None) -> Machine:
    """The machine that solves this loss: SMO for the piecewise linear ones, Newton for smooth ones.

    `Z` is an unpenalised part of several columns, which SMO has no moves for (`corners.py`).
    """
    if loss.piecewise_linear:
        return SMO(loss, fit_intercept) if Z is None else Corners(loss, Z)
    if loss.smooth:
        return Newton(loss, fit_intercept, Z=Z)
    raise TypeError(
        f"no machine solves {loss!r}: a loss of your own must be smooth (offer `hessian`) to be solved by "
        "Newton's method, or piecewise linear (derive it from `losses.PiecewiseLinear`) to be solved by SMO"
    )
