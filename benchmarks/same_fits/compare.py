"""Two records of the same problems: where they differ and by how much, and how long each took."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

SHOWN = 4  # differences of a problem that its line names
SLOWEST = 10
_ROUNDING = 1e-9  # by which a bound may pass an objective that it meets

Results = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Difference:
    """What differs in one problem; `within` says whether both are answers to the same question."""

    problem: str
    what: list[str]
    verdict: str
    within: bool = False

    def __str__(self) -> str:
        rest = f"; {len(self.what) - SHOWN} more" if len(self.what) > SHOWN else ""
        return f"{self.problem}: {'; '.join(self.what[:SHOWN])}{rest} [{self.verdict}]"


def differences(old: Results, new: Results, tol: float) -> list[Difference]:
    """The problems that differ, in their order."""
    found = []
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            found.append(Difference(name, [f"only in {'new' if name in new else 'old'}"], "no verdict"))
        elif what := unlike(old[name]["values"], new[name]["values"], tol):
            found.append(Difference(name, what, *verdict(old[name], new[name])))
    return found


def unlike(old: Mapping[str, Any], new: Mapping[str, Any], tol: float) -> list[str]:
    """One line for each value that differs."""
    lines = []
    for key in dict.fromkeys([*old, *new]):
        if key not in old or key not in new:
            lines.append(f"{key} only in {'new' if key in new else 'old'}")
        elif said := how(old[key], new[key], tol):
            lines.append(f"{key} {said}")
    return lines


def how(old: Any, new: Any, tol: float) -> str:
    """By how much two values differ, or "" where they agree."""
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray):
        if old.shape != new.shape:
            return f"of shape {old.shape}, now {new.shape}"
        off = distance(old, new)
        return f"by {off:.1e}" if off > tol else ""
    if type(old) is not type(new):
        return f"was {shown(old)}, is {shown(new)}"
    if isinstance(old, list):
        if len(old) != len(new):
            lost, won = set(old) - set(new), set(new) - set(old)
            return f"were {len(old)}, are {len(new)}: lost {shown(sorted(lost))}, new {shown(sorted(won))}"
        return next((f"was {a!r}, is {b!r}" for a, b in zip(old, new, strict=True) if a != b), "")
    return "" if old == new else f"was {shown(old)}, is {shown(new)}"


def distance(old: np.ndarray, new: np.ndarray) -> float:
    """The largest |a − b|/max(1, |a|); infinite where one is not a number or only one is infinite."""
    same = (old == new) | (np.isnan(old) & np.isnan(new))
    if same.all():
        return 0.0
    with np.errstate(invalid="ignore"):
        off = np.abs(old[~same] - new[~same]) / np.maximum(1.0, np.abs(old[~same]))
    return float(np.where(np.isfinite(off), off, np.inf).max())


def verdict(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[str, bool]:
    """Whether P is the same to the model's tol, and neither bound is above either objective."""
    sides = [(side["values"].get("objective_"), side["values"].get("dual")) for side in (old, new)]
    tol = old["tol"]
    if tol is None or any(
        value is None or not np.all(np.isfinite(value)) for side in sides for value in side
    ):
        return "no certificate", False
    (P, D), (Q, E) = [(float(primal), float(dual)) for primal, dual in sides]
    off, allowed = abs(Q - P) / max(abs(P), 1e-300), _ROUNDING * max(abs(P), abs(Q))
    if max(D, E) > min(P, Q) + allowed:
        return f"a bound is above an objective: P {P:.10g}, {Q:.10g}, D {D:.10g}, {E:.10g}", False
    if off > tol:
        return f"P off by {off:.1e}, above tol={tol:g}; D ≤ P", False
    return f"P within tol={tol:g}, D ≤ P", True


def shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."


def report(old: Results, new: Results, tol: float) -> tuple[str, int]:
    """What is to be printed, and the exit code: 1 if anything differs."""
    found = differences(old, new, tol)
    count = len(dict.fromkeys([*old, *new]))
    lines = [str(difference) for difference in found]
    for side, results in (("old", old), ("new", new)):
        lines += [
            f"unexpected in {side}: {name}: {result['values']['error'] or 'no error'}"
            for name, result in results.items()
            if result["unexpected"]
        ]
    said = f"{count} problems: {count - len(found)} the same to {tol:g}"
    if found:
        within = sum(difference.within for difference in found)
        said += f", {len(found)} differ ({within} of these with P within the model's tol and D ≤ P)"
    return "\n".join([*lines, said, *times(old, new)]), 1 if found else 0


def times(old: Results, new: Results) -> list[str]:
    """Seconds in all, and of the problems whose seconds changed most; compilation is told apart."""
    total = [sum(result["seconds"] for result in side.values()) for side in (old, new)]
    compiling = [sum(result["compiling"] for result in side.values()) for side in (old, new)]
    more = f"(and {compiling[0]:.1f}, {compiling[1]:.1f} compiling)"
    lines = [f"seconds of the processor: old {total[0]:.1f}, new {total[1]:.1f} {more}"]
    pairs = [(old[name]["seconds"], new[name]["seconds"], name) for name in old if name in new]
    for a, b, name in sorted(pairs, key=lambda pair: -abs(pair[1] - pair[0]))[:SLOWEST]:
        lines.append(f"  {a:7.3f} {b:7.3f}  {name}")
    return lines
