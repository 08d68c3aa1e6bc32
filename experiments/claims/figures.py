"""Figures of a record, and how a sentence shows them.

Sums are those of `math.fsum`, exact up to one rounding: the same record gives the same last digit on every
processor.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from .. import records
from ..plots import number
from ..selection import sizes
from ..tables import Facts, Spread

HERE = Path(__file__).resolve().parent.parent
RESULTS = HERE / "results"
BENCHMARKS = HERE.parent / "benchmarks" / "results"
WORDS = "no one two three four five six seven eight nine ten eleven twelve".split()
POWERS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Drift(AssertionError):
    """A record no longer says what the page says."""


def expect(holds: object, words: str) -> None:
    """The words of a row, as a rule: an error names them where the record does not bear them out."""
    if not holds:
        raise Drift(f"the record does not say: {words}")


# -- what a record holds ----------------------------------------------------------------------------
class Table(list[Facts]):
    """The rows of one table of a record."""

    def row(self, **known: Any) -> Facts:
        """The only row with these values; odd names of columns go into a dict: row(**{"% wrong": 3})."""
        found = [row for row in self if all(row.get(key) == value for key, value in known.items())]
        if len(found) != 1:
            raise Drift(f"{len(found)} rows have {known}, expected one")
        return found[0]

    def where(self, **known: Any) -> Table:
        """All rows with these values."""
        return Table(row for row in self if all(row.get(key) == value for key, value in known.items()))

    def by(self, key: str) -> dict[Any, Facts]:
        """Rows by the value of a column."""
        return {row[key]: row for row in self}

    def column(self, name: str) -> list[Any]:
        return [row[name] for row in self]


@cache
def _tables(file: Path) -> list[Facts]:
    if file.suffix == ".json":
        return list(json.loads(file.read_text(encoding="utf-8"))["tables"])
    if file.suffix == ".csv":
        return [{"title": "runs", "rows": list(sizes.known(file).values())}]
    return records.read(file).tables


def table(name: str, title: str) -> Table:
    """Of experiments/results/NAME.parquet the only table with this title, or with these words in it."""
    return _only(RESULTS / f"{name}.parquet", title)


def benchmark(name: str, title: str) -> Table:
    """Of benchmarks/results/NAME.json the only table with this title, or with these words in it."""
    return _only(BENCHMARKS / f"{name}.json", title)


def by_rows(rows: int) -> dict[sizes.Key, Facts]:
    """Of experiments/results/selection_sizes.csv the runs with so many rows."""
    found = [one for one in _only(sizes.TABLE, "runs") if one["rows"] == rows and "failed" not in one]
    return {(one["set"], rows, one["seed"], one["method"]): one for one in found}


def note(name: str, title: str) -> str:
    """What a table of an experiment says below itself."""
    return str(next(one["note"] for one in _tables(RESULTS / f"{name}.parquet") if title in one["title"]))


def _only(file: Path, title: str) -> Table:
    known = _tables(file)
    found = [one for one in known if title == one["title"]] or [one for one in known if title in one["title"]]
    if len(found) != 1:
        titles = "; ".join(one["title"] for one in known)
        raise Drift(f"{len(found)} tables of {file.name} have {title!r} in their title; there are: {titles}")
    return Table(found[0]["rows"])


# -- numbers of cells ---------------------------------------------------------------------------------
def values(cell: Any) -> list[float]:
    """Those of all trials; of another cell its one number."""
    if isinstance(cell, Spread):
        return [float(value) for value in cell.values]
    if isinstance(cell, dict):  # a time of a benchmark
        return [float(cell["median"])]
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return [float(value) for value in cell]
    found = number(f"0{cell}" if isinstance(cell, str) and cell.startswith(".") else cell)
    if found is None:
        raise Drift(f"{cell!r} is no number")
    return [found]


def mean(cell: Any) -> float:
    return statistics.fmean(values(cell))


def median(cell: Any) -> float:
    return statistics.median(values(cell))


def sd(cell: Any) -> float:
    """Standard deviation over the trials."""
    data, centre = values(cell), mean(cell)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in data) / (len(data) - 1))


def se(cell: Any) -> float:
    """Standard error of the mean."""
    return sd(cell) / math.sqrt(len(values(cell)))


def less(one: Any, other: Any) -> list[float]:
    """Differences in the same trials."""
    return [a - b for a, b in zip(values(one), values(other), strict=True)]


def over(one: Any, other: Any) -> list[float]:
    """Ratios in the same trials."""
    return [a / b for a, b in zip(values(one), values(other), strict=True)]


def beyond(cell: Any) -> float:
    """The mean in standard errors."""
    return mean(cell) / se(cell) if se(cell) else math.copysign(math.inf, mean(cell)) if mean(cell) else 0.0


# -- how they are shown -------------------------------------------------------------------------------
def num(cell: Any, digits: int = 0) -> str:
    """The mean, with commas in thousands and a true minus: 1,024, −0.3."""
    return f"{round(mean(cell), digits) + 0.0:,.{digits}f}".replace("-", "−")


def signed(cell: Any, digits: int = 1) -> str:
    """The mean with its sign: +1.6, −0.4."""
    return f"{round(mean(cell), digits) + 0.0:+,.{digits}f}".replace("-", "−")


def pm(cell: Any, digits: int = 1) -> str:
    """Mean ± standard deviation."""
    return f"{num(cell, digits)} ± {sd(cell):.{digits}f}"


def differ(one: Any, other: Any, digits: int = 1) -> str:
    """One less the other in the same trials: mean with its sign ± standard error."""
    return standard(less(one, other), digits)


def standard(cell: Any, digits: int = 1) -> str:
    """Mean with its sign ± standard error."""
    return f"{signed(cell, digits)} ± {se(cell):.{digits}f}"


def short(cell: Any, digits: int = 2) -> str:
    """Without the zero before the point: .62."""
    return num(cell, digits).replace("0.", ".", 1) if abs(mean(cell)) < 1 else num(cell, digits)


def span(cells: Iterable[Any], digits: int = 1, between: str = " to ") -> str:
    """The least and the largest mean: 0.3 to 1.8; one figure where they look alike."""
    means = [mean(cell) for cell in cells]
    ends = list(dict.fromkeys([num(min(means), digits), num(max(means), digits)]))
    return between.join(ends)


def each(cells: Iterable[Any], digits: int = 1) -> str:
    """All of them: 16.3, 19.1, 23.1."""
    return ", ".join(num(cell, digits) for cell in cells)


def listed(words: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def power(cell: Any, digits: int = 1) -> str:
    """1.4·10⁻⁵."""
    digit, exponent = f"{mean(cell):.{digits}e}".split("e")
    return f"{digit}·10{str(int(exponent)).translate(POWERS)}"


def trials(*cells: Any) -> str:
    """How many there were, as a word; the same for all cells."""
    counts = {len(values(cell)) for cell in cells}
    if len(counts) != 1:
        raise Drift(f"cells have {sorted(counts)} trials, expected one number for all")
    return word(counts.pop())


def count(truths: Iterable[object]) -> int:
    """How many hold."""
    return sum(bool(one) for one in truths)


def word(n: int) -> str:
    """Small numbers as words."""
    return WORDS[n] if 0 <= n < len(WORDS) else f"{n:,}"


def printed(cell: str) -> str:
    """As the record prints it, with a true minus."""
    return cell.replace("-", "−")
