"""Tables as they are printed and, by `records` and `pages`, saved for programs and for people."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from .data import MissingData

Facts = dict[str, Any]


@dataclass
class Spread:
    """Values of several trials, shown as their mean and standard deviation."""

    values: Sequence[float]
    digits: int = 3

    @property
    def mean(self) -> float:
        return float(np.mean(self.values))

    def __str__(self) -> str:
        mean = f"{round(self.mean, self.digits) + 0.0:.{self.digits}f}"  # no minus before a zero
        return f"{mean} ± {np.std(self.values, ddof=1):.{self.digits}f}" if len(self.values) > 1 else mean


def median_ranks(errors: dict[str, list[float]]) -> dict[str, float]:
    """Of every method, given its errors on several tasks; 1 is the least error, equal ones share ranks."""
    ranks = rankdata(np.round(list(errors.values()), 9), axis=0)
    return {name: float(np.median(row)) for name, row in zip(errors, ranks, strict=True)}


@dataclass
class Report:
    """The tables of one experiment, printed as they come."""

    name: str
    title: str
    quick: bool = False
    tables: list[Facts] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # sets, and why

    def table(self, title: str, rows: list[Facts], note: str = "") -> None:
        """Add rows; columns are the union of their keys. Without rows (every set left out) no table."""
        if rows:
            self.tables.append({"title": title, "note": note, "rows": rows})
            print("\n" + section(self.tables[-1]), flush=True)

    @contextmanager
    def leaving_out(self, name: str) -> Iterator[None]:
        """Around what is done with one set: if it is missing the rest goes on, and the report says so."""
        try:
            yield
        except MissingData as reason:
            self.left_out[name] = reason.short
            print(f"{self.name}: left out: {name} ({reason.short})", file=sys.stderr, flush=True)

    def write(self, folder: Path, **facts: Any) -> None:
        """folder/name.parquet, and made from it folder/name.md with its pictures and folder/README.md."""
        from . import pages, records

        folder.mkdir(parents=True, exist_ok=True)
        records.write(self, folder / f"{self.name}.parquet", **facts)
        pages.render(folder, [self.name])


def section(table: Facts) -> str:
    """A table under its title, as it was printed where it is read from a file."""
    note = f"\n\n{table['note']}" if table["note"] else ""
    return f"## {table['title']}\n\n{markdown(table.get('printed') or table['rows'])}{note}"


def markdown(rows: list[Facts]) -> str:
    """Rows as a Markdown table whose columns also stand below each other in plain text."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([shown(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def shown(value: Any) -> str:
    """A value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)
