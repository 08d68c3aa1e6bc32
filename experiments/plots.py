"""Curves, drawn from saved tables: a script says PLOTS = [Lines(...), …] which columns or rows they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .tables import Facts, Spread

NUMBER = re.compile(r"[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Lines:
    """One panel for each table whose title begins with `table`; panels of one file stand side by side.

    Either x is a column and y are columns (by default all others that hold numbers), or, with `across`, every
    row is a curve, named by its column `across`, and x is in the heads of the columns ("γ = 5", "1,024").
    `last`: of text with several numbers ("42 of 48") x is the last one.
    """

    file: str
    table: str
    xlabel: str
    ylabel: str
    x: str = ""
    y: Sequence[str] = ()
    across: str = ""
    log: str = ""  # "x", "y", "xy"
    last: bool = False
    title: str = ""  # default: that of the table up to the first colon, or all of it where others begin so
    shown: tuple[float, float] | None = None  # the range of y, where curves leave it
    bars: bool = True  # standard deviations, where they are known

    def curves(self, table: Facts) -> dict[str, tuple[list[float], list[float], list[float]]]:
        """x, y and the standard deviation of y (0 where it is not known), of cells that hold a number."""
        rows: list[Facts] = table["rows"]
        points: dict[str, list[tuple[float | None, Any]]] = {}
        if self.across:
            for row in rows:
                points[str(row[self.across])] = [(number(key, whole=True), row[key]) for key in row]
        else:
            for key in self.y or dict.fromkeys(key for row in rows for key in row if key != self.x):
                points[key] = [(number(row[self.x], last=self.last), row.get(key)) for row in rows]
        found = {name: _numbers(pairs) for name, pairs in points.items()}
        return {name: curve for name, curve in found.items() if curve[0]}


def number(value: Any, last: bool = False, whole: bool = False) -> float | None:
    """The first (or last) number of a cell; `whole`: only if there is nothing else but a name before "="."""
    if isinstance(value, Spread):
        return value.mean
    if value is None or isinstance(value, int | float):
        return None if value is None else float(value)
    text = value.split("=")[-1].strip() if whole else value
    found = [NUMBER.fullmatch(text)] if whole else list(NUMBER.finditer(text))
    match = found[-1 if last else 0] if found else None
    return float(match.group().replace(",", "").replace("−", "-")) if match else None


def _numbers(pairs: Sequence[tuple[float | None, Any]]) -> tuple[list[float], list[float], list[float]]:
    known: tuple[list[float], list[float], list[float]] = ([], [], [])
    for x, cell in pairs:
        y = number(cell)
        if x is not None and y is not None and not str(cell).startswith("<"):  # below what can be told
            several = isinstance(cell, Spread) and len(cell.values) > 1
            for part, value in zip(
                known, (x, y, np.std(cell.values, ddof=1) if several else 0.0), strict=True
            ):
                part.append(float(value))
    return known


def draw(tables: list[Facts], lines: Sequence[Lines], folder: Path) -> None:
    """All pictures of an experiment."""
    for file in dict.fromkeys(one.file for one in lines):
        panels = [
            (one, table)
            for one in lines
            if one.file == file
            for table in tables
            if table["title"].startswith(one.table)
        ]
        if panels:
            _figure(panels, folder / file)


def _figure(panels: list[tuple[Lines, Facts]], file: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    short = [one.title or table["title"].split(":")[0] for one, table in panels]
    titles = [
        name if short.count(name) == 1 else table["title"]
        for name, (_, table) in zip(short, panels, strict=True)
    ]
    fig = Figure(figsize=(0.6 + 4.6 * len(panels), 5.2), layout="constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(1, len(panels), squeeze=False)[0]
    for ax, title, (one, table) in zip(axes, titles, panels, strict=True):
        curves = one.curves(table)
        for k, (name, (x, y, spread)) in enumerate(curves.items()):
            style = {"marker": "osv^Dx+*"[k % 8], "markersize": 4, "linewidth": 1.1, "label": name}
            ax.errorbar(
                x, y, spread if one.bars and any(spread) else None, capsize=2, elinewidth=0.6, **style
            )
        ax.set_xscale("log" if "x" in one.log else "linear")
        ax.set_yscale("log" if "y" in one.log else "linear")
        ax.set(xlabel=one.xlabel, ylabel=one.ylabel)
        if one.shown is not None:
            ax.set_ylim(*one.shown)
        ax.set_title(title, fontsize=10)
        ax.grid(True, linewidth=0.3)
        ax.legend(fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False)
    fig.savefig(file, dpi=80, metadata={"Software": None})
