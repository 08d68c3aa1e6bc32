"""Tables as they are printed, and saved as JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

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
        mean = round(self.mean, self.digits) + 0.0  # no minus before a zero
        return f"{mean:.{self.digits}f} ± {np.std(self.values, ddof=1):.{self.digits}f}"


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

    def table(self, title: str, rows: list[Facts], note: str = "") -> None:
        """Add rows; columns are the union of their keys."""
        self.tables.append({"title": title, "note": note, "rows": rows})
        print("\n" + _section(self.tables[-1]), flush=True)

    def write(self, folder: Path) -> None:
        """folder/name.json and folder/name.md."""
        folder.mkdir(parents=True, exist_ok=True)
        content = {"experiment": self.name, "quick": self.quick, "tables": self.tables}
        text = json.dumps(_plain(content), indent=1, ensure_ascii=False)
        (folder / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")
        sections = [f"# {self.title}", *(_section(table) for table in self.tables)]
        (folder / f"{self.name}.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


def _section(table: Facts) -> str:
    note = f"\n\n{table['note']}" if table["note"] else ""
    return f"## {table['title']}\n\n{markdown(table['rows'])}{note}"


def markdown(rows: list[Facts]) -> str:
    """Rows as a Markdown table whose columns also stand below each other in plain text."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [columns, *([_cell(row.get(column)) for column in columns] for row in rows)]
    widths = [max(len(line[j]) for line in cells) for j in range(len(columns))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)


def _plain(value: Any) -> Any:
    """What JSON can hold, floats rounded to five digits."""
    if isinstance(value, Spread):
        return {"mean": _plain(value.mean), "values": _plain(list(value.values))}
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.5g}") if np.isfinite(value) else str(value)
    return value
