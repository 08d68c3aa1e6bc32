"""MK2xx: does a choice lie at the end of its range?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..families import Gaussians, Laplacians
from ..fitting.spec import bare
from ..selection.tried import Searched
from .base import Facts, Rule
from .quality import no_better

_MOST = 0.5  # of the weight, from which kernels are said to have it
_FEWEST = 3  # widths that make a range
_LEVEL = 0.01  # of the range of errors along C, or
_HARDLY = 0.001  # of the error itself: the last step improves by less where the path is level
_AT_END = 1.02  # times the end of a continuous range: as good as there
_SIDES = {"largest": "Larger", "smallest": "Smaller"}


def _cost(facts: Facts) -> str | None:
    search = facts.searched
    end = "" if search is None else search.end_of_path
    if search is None or not end or no_better(facts) is not None:  # of noise any C is as good
        return None
    if _is_level(search):
        return None
    tried = np.unique(np.asarray(search.path[search.best["strategy"]]["C"], dtype=np.float64))
    return (
        f"The search chose C = {search.best['C']:.3g}, the {end} of {tried.size} values that it tried. "
        f"{_SIDES[end]} values may be better."
    )


def _is_level(search: Searched) -> bool:
    """Tell whether the last step along C hardly improves the error: beyond the end it then hardly changes.

    Models without errors to learn from any more have such a path, and most ordinary tables with a C at its
    end do.
    """
    path, best = search.path[search.best["strategy"]], search.best
    if "norm" not in path or "kernels" not in path:
        return False
    own = [i for i, C in enumerate(path["C"]) if (path["norm"][i], path["kernels"][i]) == _key(best)]
    error = np.asarray(path["loss"] if search.by == "error" else -np.asarray(path["score"]), dtype=np.float64)
    order = np.argsort(np.asarray(path["C"], dtype=np.float64)[own], kind="stable")
    along = error[own][order]
    if search.end_of_path == "smallest":
        along = along[::-1]
    if along.size < 2 or not np.all(np.isfinite(along)):
        return False
    return bool(along[-2] - along[-1] <= max(_LEVEL * np.ptp(along), _HARDLY * np.abs(along).max()))


def _key(best: Mapping[str, Any]) -> tuple[Any, Any]:
    return best["norm"], best["kernels"]


def _width(facts: Facts) -> str | None:
    for group in _ranges(facts):
        widths, weights = np.array(group).T
        low, high = _given_ends(facts) or (widths.min(), widths.max())
        at = {"smallest": widths <= low * _AT_END, "largest": widths >= high / _AT_END}
        for end, here in at.items():
            share = float(weights[here].sum())
            if share > _MOST:
                return (
                    f"The {end} width, {widths[here][0]:.3g}, has {100 * share:.0f} % of the weight. "
                    f"{_SIDES[end]} widths may be better."
                )
    return None


def _given_ends(facts: Facts) -> tuple[float, float] | None:
    """The ends of a continuous range that was given by its user."""
    spec = facts.model.layout.kernels
    return (float(spec.low), float(spec.high)) if _is_given(spec) else None


def _is_given(spec: Any) -> bool:
    return isinstance(spec, Gaussians | Laplacians) and spec.low is not None and spec.high is not None


def _ranges(facts: Facts) -> list[list[tuple[float, float]]]:
    """(width, share of the weight) of kernels that differ in nothing but their width.

    Families that measure widths by the data (``Member.scale``) have a range of their own making.
    """
    model, shares = facts.model, facts.shares
    found: dict[Any, list[tuple[float, float]]] = {}
    for m, kernel in enumerate(model.kernels):
        told = {} if kernel.member.scale is not None else bare(kernel.kernel)._arguments()
        if np.ndim(told.get("width", "")) == 0 and isinstance(told.get("width"), float | int):
            others = repr(sorted((key, repr(value)) for key, value in told.items() if key != "width"))
            key = (type(bare(kernel.kernel)).__name__, getattr(kernel.kernel, "view", None), others)
            found.setdefault(key, []).append((float(told["width"]), float(shares[m])))
    if _is_given(model.layout.kernels):
        return list(found.values())
    return [group for group in found.values() if model.listed and len({w for w, _ in group}) >= _FEWEST]


CHOICES = (
    Rule("MK201", "C is at the end of its range", "Give a wider range of Cs.", _cost),
    Rule(
        "MK202",
        "A width is at the end of its range",
        "Give a wider range of widths, or let Gaussians() choose it.",
        _width,
    ),
)
