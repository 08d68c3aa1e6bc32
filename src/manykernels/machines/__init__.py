"""Inner solvers: the kernel machine for one combined kernel."""

from ..losses import Loss
from .base import Array, Machine, Sensitivity, Solution, feasible
from .corners import Corners
from .newton import Newton
from .smo import SMO

__all__ = ["SMO", "Machine", "Newton", "Sensitivity", "Solution", "feasible", "machine_for"]


def machine_for(loss: Loss, fit_intercept: bool, Z: Array | None = None) -> Machine:
    """Return the machine that solves a loss: SMO for piecewise linear losses, Newton for smooth ones.

    Parameters
    ----------
    loss : Loss
        The loss.
    fit_intercept : bool
        Whether there is an intercept.
    Z : ndarray of shape (n_samples, n_covariates) or None, default=None
        An unpenalised part of several columns, which SMO has no moves for (`corners.py`).

    Returns
    -------
    Machine
        The machine.

    Raises
    ------
    TypeError
        If the loss is neither smooth nor piecewise linear.

    Examples
    --------
    >>> from manykernels.losses import Hinge, Squared
    >>> from manykernels.machines import machine_for
    >>> type(machine_for(Hinge(), True)).__name__, type(machine_for(Squared(), True)).__name__
    ('SMO', 'Newton')
    """
    if loss.piecewise_linear:
        return SMO(loss, fit_intercept) if Z is None else Corners(loss, Z)
    if loss.smooth:
        return Newton(loss, fit_intercept, Z=Z)
    raise TypeError(
        f"no machine solves {loss!r}: a loss of your own must be smooth (offer `hessian`) to be solved by "
        "Newton's method, or piecewise linear (derive it from `losses.PiecewiseLinear`) to be solved by SMO"
    )
