"""Losses: how far a prediction f is from its target y, with what the dual needs of it."""

from __future__ import annotations

from .._arguments import shown
from .base import Criterion, Loss, Task
from .hinge import Hinge, SquaredHinge
from .huber import Huber
from .logistic import Logistic
from .partial_likelihood import PartialLikelihood
from .piecewise import PiecewiseLinear
from .pinball import Pinball
from .regression import EpsilonInsensitive, Squared
from .structured import MulticlassHinge, MulticlassLogistic, OrdinalHinge, StructuredLoss

__all__ = [
    "Criterion",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "MulticlassLogistic",
    "OrdinalHinge",
    "PartialLikelihood",
    "PiecewiseLinear",
    "Pinball",
    "Squared",
    "SquaredHinge",
    "StructuredLoss",
    "resolve_loss",
]

NAMES: dict[str, type[Loss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "squared": Squared,
    "epsilon_insensitive": EpsilonInsensitive,
    "pinball": Pinball,
    "huber": Huber,
}


def resolve_loss(spec: object, task: Task, also: tuple[str, ...] = ()) -> Loss:
    """Return the loss that a name or an object means, checked to be one for the task.

    Parameters
    ----------
    spec : str or Loss
        A name such as "hinge" or "squared", or a loss.
    task : {"classification", "regression"}
        The task that the loss must be for.
    also : tuple of str, default=()
        Names of losses of other tasks that are allowed too.

    Returns
    -------
    Loss
        The loss.

    Raises
    ------
    ValueError
        If there is no loss of that name, or if it is one for another task.
    TypeError
        If the argument is a class, or neither a name nor a loss.

    Examples
    --------
    >>> from manykernels.losses import resolve_loss
    >>> resolve_loss("hinge", "classification")
    Hinge()
    """
    names = [name for name, kind in NAMES.items() if kind.task == task or name in also]
    expected = f"expected a {task} loss: one of {names}, or a manykernels.losses.Loss object"
    if isinstance(spec, str) and spec in NAMES:
        loss: object = NAMES[spec]()
    else:
        loss = spec
    if isinstance(loss, type) and issubclass(loss, Loss):
        name = loss.__name__
        raise TypeError(f"loss={name} is a class; {expected}. Give an object: loss={name}().")
    if isinstance(loss, str):
        raise ValueError(f"loss={spec!r} is unknown; {expected}.")
    if not isinstance(loss, Loss):
        raise TypeError(f"loss={shown(spec)} of type {type(spec).__name__} was given; {expected}.")
    if loss.task != task and not isinstance(loss, tuple(NAMES[name] for name in also)):
        raise ValueError(f"loss={spec!r} is a {loss.task} loss; {expected}.")
    return loss
