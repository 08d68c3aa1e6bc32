"""Cells and tables of Markdown: names as text, numbers to the right."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

_ROWS = 60  # of a table


def text(value: Any) -> str:
    """Escape the characters of a text that have a meaning in Markdown or HTML."""
    flat = " ".join(str(value).split())
    return re.sub(r"([\\`*_{}\[\]<>|~])", r"\\\1", flat).replace("&", "&amp;")


def number(value: Any, digits: int = 3) -> str:
    """Format a number with so many digits; None becomes –, and other values become text."""
    if value is None:
        return "–"
    return text(value) if not isinstance(value, int | float) else f"{value:.{digits}g}".replace("-", "−")


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], most: int = _ROWS) -> str:
    """Make a Markdown table with numbers aligned right; long tables are cut to their first rows."""
    made = [list(row) for row in rows]
    shown = made[:most]
    right = [
        bool(shown) and all(isinstance(row[c], int | float | None) for row in shown)
        for c in range(len(titles))
    ]
    lines = [titles, ["---:" if one else "---" for one in right]]
    written = [_alike([row[c] for row in shown]) for c in range(len(titles))]
    lines += [[write(cell) for write, cell in zip(written, row, strict=True)] for row in shown]
    told = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return told + (f"\n\nAnd {len(made) - most} more rows." if len(made) > most else "")


def _alike(cells: Sequence[Any]) -> Callable[[Any], str]:
    """How the cells of a column are written: numbers of about one size with the same digits."""
    sizes = [abs(cell) for cell in cells if isinstance(cell, int | float) and cell]
    largest = max(sizes, default=0.0)
    sizes = [size for size in sizes if size > 1e-12 * largest]  # of others only rounding is left
    if not sizes or all(float(size).is_integer() for size in sizes):
        return partial(number, digits=6)
    if not 1e-3 <= largest < 1e5 or largest > 1e4 * min(sizes):
        return partial(number, digits=4)
    return partial(_rounded, decimals=max(0, min(6, 3 - math.floor(math.log10(largest)))))


def _rounded(cell: Any, decimals: int) -> str:
    """A number with so many digits behind the point; anything else as text."""
    if not isinstance(cell, float):
        return number(cell, 6)
    told = f"{cell:.{decimals}f}"
    return "0" if float(told) == 0.0 else told.replace("-", "−")
