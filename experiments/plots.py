"""Pictures of saved tables: a script says by PLOTS = [Lines(...), Dots(...), …] what of them is shown."""

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


@dataclass(frozen=True)
class Dots:
    """A panel for each column with values of trials: the mean of every row, with its standard deviation."""

    file: str
    table: str
    xlabel: str
    label: str = "method"
    wide: int = 4  # panels side by side
    largest: bool = False  # is best, not the least

    def panels(self, table: Facts) -> dict[str, list[tuple[str, float, float]]]:
        """Of each column the names of the rows, means and standard deviations, in the order of the table."""
        found: dict[str, list[tuple[str, float, float]]] = {}
        for row in table["rows"]:
            for key, cell in row.items():
                if isinstance(cell, Spread):
                    spread = float(np.std(cell.values, ddof=1)) if len(cell.values) > 1 else 0.0
                    found.setdefault(key, []).append((str(row[self.label]), cell.mean, spread))
        return found


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


def draw(tables: list[Facts], plots: Sequence[Lines | Dots], folder: Path) -> None:
    """All pictures of an experiment."""
    for file in dict.fromkeys(one.file for one in plots):
        panels = [
            (one, table)
            for one in plots
            if one.file == file
            for table in tables
            if table["title"].startswith(one.table)
        ]
        lines = [(one, table) for one, table in panels if isinstance(one, Lines) and one.curves(table)]
        dots = [(one, table) for one, table in panels if isinstance(one, Dots) and one.panels(table)]
        if lines:
            _figure(lines, folder / file)
        elif dots:
            _dots(*dots[0], folder / file)


def _dots(one: Dots, table: Facts, file: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = one.panels(table)
    names = list(dict.fromkeys(name for points in panels.values() for name, _, _ in points))
    wide = min(one.wide, len(panels))
    high = -(-len(panels) // wide)
    fig = Figure(figsize=(1.6 + 2.5 * wide, 0.7 + (0.5 + 0.21 * len(names)) * high), layout="constrained")
    FigureCanvasAgg(fig)
    axes = fig.subplots(high, wide, sharey=True, squeeze=False).ravel()
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    for ax, (title, points) in zip(axes, panels.items(), strict=False):
        places = [names.index(name) for name, _, _ in points]
        means, spreads = ([point[k] for point in points] for k in (1, 2))
        ax.errorbar(means, places, xerr=spreads, fmt="o", markersize=3.5, elinewidth=0.8, capsize=2)
        best = max(means) if one.largest else min(means)
        ax.axvline(best, linewidth=0.5, color="0.6")  # who is first, and by how much
        ax.set_title(title, fontsize=9)
        ax.grid(True, axis="y", linewidth=0.3)
        ax.tick_params(labelsize=7)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    fig.supxlabel(one.xlabel, fontsize=9)
    fig.savefig(file, dpi=80, metadata={"Software": None})


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
