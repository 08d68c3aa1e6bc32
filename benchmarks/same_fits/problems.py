"""All problems, from the tables in the files beside this one."""

from __future__ import annotations

from functools import cache

from . import families, finite, searches, streams
from .problem import Problem, Problems


@cache
def problems() -> dict[str, Problem]:
    """Every problem, by name."""
    found = Problems()
    for file in (finite, families, streams, searches):
        file.tables(found)
    return found.found


def chosen(only: list[str]) -> list[Problem]:
    """The problems whose name has any of these texts in it; all of them without texts."""
    found = [p for name, p in problems().items() if not only or any(text in name for text in only)]
    if not found:
        raise SystemExit(f"no problem has {' or '.join(map(repr, only))} in its name")
    return found
