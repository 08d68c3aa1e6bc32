"""Weightings of kernels, for two-stage learning; the estimators take these objects or their names."""

from typing import Any

from .alignf import Alignf, AlignfLinear
from .base import Weighted, Weighting
from .easymkl import EasyMKL
from .fsm import FSM
from .greedy import GreedyAlignment
from .independent import Align, Uniform
from .kl import KL
from .stochastic import StochasticAlignment

_NAMES: dict[str, type[Weighting]] = {
    "alignf": Alignf,
    "align": Align,
    "uniform": Uniform,
    "alignf-linear": AlignfLinear,
    "greedy": GreedyAlignment,
    "stochastic": StochasticAlignment,
    "easymkl": EasyMKL,
    "fsm": FSM,
    "kl": KL,
}

__all__ = [
    "FSM",
    "KL",
    "Align",
    "Alignf",
    "AlignfLinear",
    "EasyMKL",
    "GreedyAlignment",
    "StochasticAlignment",
    "Uniform",
    "Weighted",
    "Weighting",
    "resolve_weighting",
]


def resolve_weighting(weighting: Any) -> Weighting:
    """Return the weighting that a name stands for, or the object itself.

    Parameters
    ----------
    weighting : str or Weighting
        A name such as "alignf", or a weighting.

    Returns
    -------
    Weighting
        The weighting.

    Raises
    ------
    ValueError
        If there is no weighting of that name, or the object is none.

    Examples
    --------
    >>> from manykernels.weightings import resolve_weighting
    >>> resolve_weighting("align")
    Align()
    """
    if isinstance(weighting, Weighting):
        return weighting
    if isinstance(weighting, str) and weighting in _NAMES:
        return _NAMES[weighting]()
    raise ValueError(
        f"weighting={weighting!r} was given; expected one of {', '.join(map(repr, _NAMES))}, or an object of "
        "manykernels.weightings such as Align(q=2)."
    )
