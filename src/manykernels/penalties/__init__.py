"""Penalties: which weights θ of the kernels are allowed or preferred, with what the solvers need of that."""

from __future__ import annotations

from .._arguments import is_number, shown
from .base import Penalty
from .elastic_net import ElasticNet
from .l2_ball import L2Ball
from .lp_ball import LpBall, Simplex
from .product import BallProduct

__all__ = ["BallProduct", "ElasticNet", "L2Ball", "LpBall", "Penalty", "Simplex", "resolve_penalty"]


def resolve_penalty(norm: object) -> Penalty:
    """Return the penalty that the argument ``norm`` of an estimator means.

    Parameters
    ----------
    norm : float or Penalty
        A number p in [1, ∞] for ‖θ‖_p ≤ 1, or a penalty, which is returned as it is.

    Returns
    -------
    Penalty
        The penalty.

    Raises
    ------
    ValueError
        If the number is not in [1, ∞].
    TypeError
        If the argument is neither a number nor a penalty.

    Examples
    --------
    >>> from manykernels.penalties import resolve_penalty
    >>> resolve_penalty(1), resolve_penalty(2.0)
    (Simplex(), LpBall())
    """
    if isinstance(norm, Penalty):
        return norm
    expected = (
        "expected a number p from 1 (sparse) to np.inf (the plain sum of kernels), or a penalty object "
        "such as manykernels.penalties.L2Ball(mu0, radius)"
    )
    if isinstance(norm, type) and issubclass(norm, Penalty):
        raise TypeError(
            f"norm={norm.__name__} is a class; {expected}. Give an object: norm={norm.__name__}()."
        )
    if not is_number(norm):
        raise TypeError(f"norm={shown(norm)} of type {type(norm).__name__} was given; {expected}.")
    p = float(norm)  # type: ignore[arg-type]
    if not p >= 1:
        raise ValueError(f"norm={norm!r} was given; {expected}.")
    return Simplex() if p == 1 else LpBall(p)
