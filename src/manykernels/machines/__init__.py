"""Inner solvers: the kernel machine for one combined kernel."""

from ..losses import Loss
from .base import Machine, Sensitivity, Solution, feasible
from .newton import Newton
from .smo import SMO

__all__ = ["SMO", "Machine", "Newton", "Sensitivity", "Solution", "feasible", "machine_for"]


def machine_for(loss: Loss, fit_intercept: bool) -> Machine:
    """The machine that solves this loss: SMO for the piecewise linear ones, Newton for smooth ones."""
    if loss.piecewise_linear:
        return SMO(loss, fit_intercept)
    if loss.smooth:
        return Newton(loss, fit_intercept)
    raise TypeError(
        f"no machine solves {loss!r}: a loss of your own must be smooth (offer `hessian`) to be solved by "
        "Newton's method, or piecewise linear (derive it from `losses.PiecewiseLinear`) to be solved by SMO"
    )
