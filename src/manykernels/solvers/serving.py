"""The names of solvers, the solvers that serve a problem, and refusals that name those which would work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..losses import Loss, Squared
from ..objectives import Risk
from ..penalties import Penalty, Simplex
from .active_set import ActiveSet
from .alternating import Alternating
from .base import Solver
from .blockwise import Blockwise
from .corrective import Corrective
from .declarations import DataFit, Held, why_not
from .dual_ascent import DualAscent
from .greedy import Greedy
from .group_descent import GroupDescent
from .hessian_mkl import HessianMKL
from .silp import SILP
from .simple_mkl import SimpleMKL
from .stochastic import Stochastic

Fit = Loss | Risk | DataFit
NAMES: dict[str, type[Solver]] = {
    "auto": ActiveSet,
    "active-set": ActiveSet,
    "alternating": Alternating,
    "blockwise": Blockwise,
    "corrective": Corrective,
    "dual-ascent": DualAscent,
    "greedy": Greedy,
    "group-descent": GroupDescent,
    "hessian": HessianMKL,
    "silp": SILP,
    "simplemkl": SimpleMKL,
    "stochastic": Stochastic,
}


def resolve_solver(solver: object) -> Solver:
    """Return the solver that a name stands for, or the object itself, if it learns sums of kernels.

    Parameters
    ----------
    solver : str or Solver
        A name such as "active-set" or "corrective", or a solver.

    Returns
    -------
    Solver
        The solver.

    Raises
    ------
    ValueError
        If there is no solver of that name, or the object does not learn sums of kernels.

    Examples
    --------
    >>> from manykernels.solvers import resolve_solver
    >>> resolve_solver("greedy")
    Greedy()
    """
    if isinstance(solver, Solver) and solver.serves.problem == "sum":
        return solver
    if isinstance(solver, str) and solver in NAMES:
        return NAMES[solver]()
    known = ", ".join(repr(name) for name in NAMES)
    raise ValueError(
        f"solver={solver!r} was given; expected one of {known}, or an object of "
        "manykernels.solvers such as ActiveSet()."
    )


def serving(ways: Sequence[Held], risk: Fit, penalty: Penalty) -> list[str]:
    """List the names of all solvers that serve a problem.

    Parameters
    ----------
    ways : sequence of Held
        Forms in which the kernels could be held.
    risk : Criterion or Risk
        The data fit.
    penalty : Penalty
        The penalty on the weights.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> from manykernels.losses import Hinge
    >>> from manykernels.penalties import LpBall
    >>> from manykernels.solvers import Held, serving
    >>> "active-set" in serving([Held("list")], Hinge(), LpBall(2.0))
    True
    """
    return [
        name
        for name, kind in NAMES.items()
        if name != "auto" and any(why_not(kind(), held, risk, penalty) is None for held in ways)
    ]


def refusal(solver: Solver, ways: Sequence[Held], risk: Fit, penalty: Penalty, advice: str = "") -> str:
    """Say why a solver cannot be used, and what can: another solver, another norm or loss, or `advice`.

    Parameters
    ----------
    solver : Solver
        The solver that somebody asked for.
    ways : sequence of Held
        Forms in which the kernels could be held; the last is the one that the solver came closest to.
    risk : Criterion or Risk
        The data fit.
    penalty : Penalty
        The penalty on the weights.
    advice : str, default=""
        A further sentence.

    Returns
    -------
    str
        The message.

    Examples
    --------
    >>> from manykernels.losses import Hinge
    >>> from manykernels.penalties import LpBall
    >>> from manykernels.solvers import Blockwise, Held, refusal
    >>> refusal(Blockwise(), [Held("list")], Hinge(), LpBall(2.0)).startswith("solver='blockwise' is for")
    True
    """
    reason = why_not(solver, ways[-1], risk, penalty)
    works = what_works(ways, risk, penalty)
    parts = (f"solver={called(solver)} {reason}.", works, advice, solver.serves.hint)
    return " ".join(part for part in parts if part)


def what_works(ways: Sequence[Held], risk: Fit, penalty: Penalty) -> str:
    """Solvers for the problem; where there are none, or only a heuristic, for the nearest that has some."""
    names, found = serving(ways, risk, penalty), []
    heuristic = bool(names) and not all(np.isfinite(held.size) for held in ways) and not penalty.sparse
    if names:
        found.append(f"solver={_either(names)}" + (", a heuristic there" if heuristic else ""))
    if heuristic or not names:
        for change, others in (
            ("norm=1", serving(ways, risk, Simplex())),
            ("loss='squared'", serving(ways, Squared(), penalty)),
        ):
            if others and others != names:
                found.append(f"{change} with solver={_either(others)}")
    return f"Take {'; or '.join(found)}." if found else ""


def _either(names: list[str]) -> str:
    *most, last = map(repr, names)
    return f"{', '.join(most)} or {last}" if most else last


def called(solver: Solver) -> str:
    """A solver as a user would give it: by its name, where it has one and no options."""
    for name, kind in NAMES.items():
        if name != "auto" and type(solver) is kind and repr(solver) == repr(kind()):
            return repr(name)
    return repr(solver)
