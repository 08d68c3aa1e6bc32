"""Checks of parts that users give as kernels, solver, norm and so on, before they are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._arguments import check_types, shown
from ..approx import Approximation
from ..families import Family
from ..kernels import Kernel
from ..kernels.given import is_function
from ..losses import Loss, StructuredLoss
from ..penalties import Penalty
from ..solvers import Solver
from ..weightings import Weighting

_PARTS = (Kernel, Family, Penalty, Loss, StructuredLoss, Solver, Approximation)
_LONGEST = 10**300  # numbers beyond it cannot even be shown in a message
_DEEPEST = 100  # levels of kernels in kernels: each costs some of Python's stack


def check_parts(given: Mapping[str, Any]) -> None:
    """Raise an error if a part has arguments of a wrong type, or holds itself."""
    waiting = [(value, 0, name) for name, value in given.items()]
    while waiting:
        value, depth, where = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError(
                f"{where} is nested more than {_DEEPEST} levels deep, or holds itself; expected a few "
                "levels. Sum([...]) and Product([...]) take any number of kernels at once."
            )
        if isinstance(value, int) and abs(value) > _LONGEST:
            raise ValueError(
                f"{where} holds a whole number of hundreds of digits; expected one that a float can hold."
            )
        if isinstance(value, Mapping):
            waiting += [(part, depth + 1, where) for part in value.values()]
        elif isinstance(value, list | tuple):
            waiting += [(part, depth + 1, where) for part in value]
        elif isinstance(value, (*_PARTS, Weighting)):
            check_types(value)
            given = value._arguments() if isinstance(value, Kernel) else value.get_params(deep=False)
            if isinstance(value, Kernel):
                _check_members(value, given)
            waiting += [(part, depth + 1, where) for part in given.values()]


def _check_members(kernel: Kernel, given: dict[str, Any]) -> None:
    """Check the kernels that a kernel is made of."""
    name = type(kernel).__name__
    if "kernel" in given and not isinstance(given["kernel"], Kernel):
        hint = _hint(given["kernel"])
        raise ValueError(f"kernel={shown(given['kernel'])} was given to {name}; expected a kernel.{hint}")
    members = given.get("kernels", [kernel])
    if not isinstance(members, list | tuple) or not members:
        raise ValueError(f"kernels={shown(members)} was given to {name}; expected a list of kernels.")
    for member in members:
        if not isinstance(member, Kernel):
            raise ValueError(
                f"{shown(member)} was given to {name} in a list of kernels; expected a kernel.{_hint(member)}"
            )


def _hint(member: Any) -> str:
    return " A plain function becomes one by Callable(function)." if is_function(member) else ""
