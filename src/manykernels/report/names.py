"""Names of columns as people write them: bmi (body) in place of body__bmi."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_SHOWN = (1e-4, 1e7)  # numbers between these are written without a power of ten


def number_shown(value: float, digits: int = 3, *, grouped: bool = True) -> str:
    """A number for people: a few digits, no power of ten where that can be, and thousands set apart.

    Numbers of four digits are not set apart, since they may be years.
    """
    text = f"{value:.{digits}g}"
    if "e" in text and _SHOWN[0] <= abs(value) < _SHOWN[1]:
        text = f"{float(text):.12f}".rstrip("0").rstrip(".")
    if grouped and "e" not in text and abs(value) >= 1e4 and math.isfinite(value):
        text = f"{float(text):,.0f}"
    return text


_KEPT = ("call", "model")  # parts of a report that a machine reads


def shown_names(columns: Any, views: set[str]) -> dict[str, str]:
    """Names of columns that begin with that of a view, and how people write them."""
    found = {}
    for name in map(str, columns):
        view, mark, rest = name.partition("__")
        if mark and rest and view in views:
            found[name] = f"{rest} ({view})"
    return found


def readable(value: Any, names: Mapping[str, str]) -> Any:
    """The same with these names in place of the others: in texts, and in all that dicts and lists hold."""
    if not names:
        return value
    starts = sorted({name.partition("__")[0] for name in names}, key=len, reverse=True)
    begin = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, starts))})__")
    lengths = sorted({len(name) for name in names}, reverse=True)

    def text(found: str) -> str:
        if found in names or "__" not in found:
            return names.get(found, found)
        made, at = [], 0
        for match in begin.finditer(found):
            i = match.start()
            ends = (i + n for n in lengths if found[i : i + n] in names and not _goes_on(found, i + n))
            end = next(ends, None) if i >= at else None
            if end is not None:
                made += [found[at:i], names[found[i:end]]]
                at = end
        return "".join([*made, found[at:]])

    def walk(part: Any) -> Any:
        if isinstance(part, str):
            return text(part)
        if isinstance(part, Mapping):
            return {key: item if key in _KEPT else walk(item) for key, item in part.items()}
        return [walk(item) for item in part] if isinstance(part, list) else part

    return walk(value)


def _goes_on(text: str, end: int) -> bool:
    """Whether a word goes on there, so that a name is the beginning of another one."""
    return end < len(text) and (text[end].isalnum() or text[end] == "_")
