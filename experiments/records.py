"""What an experiment found, as one Parquet file: tidy, exact, and with what makes it traceable.

A row of the file is one cell of a table, or one trial's value of a cell that shows several:

    table, title, note   which table of the report, in order
    row, column          which cell of it
    kind                 float, int, bool, str, none (an empty cell), or spread (values of trials)
    trial, number        the number, and of which trial; nothing for text
    text                 the cell as it was printed

so that tables can be printed again as they were, and analysed without reading text. Facts about the run are
in the metadata of the file, as JSON under "experiment". Records of before 2026-11 cite papers by a number of
this project; they are read with the names of the authors (`named`).
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .tables import Facts, Report, Spread, shown

KEY = b"experiment"
PAPERS = ("Afkanpour", "Afkanpour et al.", "Orabona & Jie", "Lei et al.", "Rostamizadeh")  # by their number
YEARS = (2013, 2013, 2011, 2016, 2010)
VERSIONS = ("numpy", "scipy", "scikit-learn", "manykernels")


@dataclass(frozen=True)
class Record:
    """A saved report. A table has a title, a note, rows (of values) and the same rows as printed."""

    facts: Facts
    tables: list[Facts]


@cache
def commit() -> str:
    """The commit of the package's code, "-dirty" where files differ from it; nothing outside a checkout."""
    return _git("rev-parse", "--short", "HEAD") + ("-dirty" if _git("status", "--porcelain", "src") else "")


def _git(*words: str) -> str:
    call, folder = ["git", "--no-optional-locks", *words], Path(__file__).parent.parent
    try:
        return subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def write(report: Report, file: Path, **facts: Any) -> None:
    """The report, with what is known of this run and whatever other facts are given."""
    known: Facts = {"name": report.name, "title": report.title, "quick": report.quick}
    known |= {"date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC", "commit": commit()}
    known |= {"left out": report.left_out, "python": platform.python_version()}
    save(file, report.tables, known | {name: version(name) for name in VERSIONS} | facts)


def save(file: Path, tables: list[Facts], facts: Facts) -> None:
    """Tables and facts; a file that was there is replaced at once, never half written."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = [("table", pa.int32()), ("title", pa.string()), ("note", pa.string()), ("row", pa.int32())]
    kinds += [("column", pa.string()), ("kind", pa.string()), ("trial", pa.int32())]
    schema = pa.schema([*kinds, ("number", pa.float64()), ("text", pa.string())])
    cells = [cell for number, table in enumerate(tables) for cell in _cells(number, table)]
    content = pa.Table.from_pylist(cells, schema.with_metadata({KEY: json.dumps(facts, ensure_ascii=False)}))
    part = file.with_suffix(".part")
    pq.write_table(content, part, compression="zstd")
    part.replace(file)


def _cells(number: int, table: Facts) -> Iterator[Facts]:
    printed = table.get("printed") or table["rows"]
    for k, (row, texts) in enumerate(zip(table["rows"], printed, strict=True)):
        for column, value in row.items():
            cell = {"table": number, "title": table["title"], "note": table["note"], "row": k}
            cell |= {"column": str(column), "text": shown(texts[column])}
            yield from (cell | facts for facts in _numbers(value))


def _numbers(value: Any) -> list[Facts]:
    if isinstance(value, Spread):
        return [{"kind": "spread", "trial": t, "number": float(v)} for t, v in enumerate(value.values)]
    if value is None:
        return [{"kind": "none"}]
    if isinstance(value, bool | np.bool_):
        return [{"kind": "bool", "number": float(value)}]
    if isinstance(value, int | np.integer):
        return [{"kind": "int", "number": float(value)}]
    if isinstance(value, float | np.floating):
        return [{"kind": "float", "number": float(value)}]
    return [{"kind": "str"}]


def named(text: str) -> str:
    """The text with author and year of a paper in place of its number, as old records cite it."""

    def name(found: re.Match[str]) -> str:
        author, year = PAPERS[int(found[1])], YEARS[int(found[1])]
        return f"{author}'s" if found[2] == "'s" else f"{author} {year}" + (", " if found[2] else "")

    place = r" (?=§|fn|[A-Z][a-z]+\.? [A-Z.]*\d)"  # of a section, figure or theorem
    return re.sub(rf"(?<![\w.,-])(?<!\d )00([0-4])(?![\w.]?\d)('s|{place}|)", name, text)


def facts_of(file: Path) -> Facts:
    """Only what is known of the run; nothing where there is no such file."""
    import pyarrow.parquet as pq

    facts = dict(json.loads(pq.read_schema(file).metadata[KEY])) if file.is_file() else {}
    return facts | {key: named(facts[key]) for key in ("title", "remark") if key in facts}


def read(file: Path) -> Record:
    """The inverse of `write`: values of trials are a Spread again."""
    import pyarrow.parquet as pq

    tables: dict[int, Facts] = {}
    for cell in pq.read_table(file).to_pylist():
        cell |= {key: named(cell[key] or "") for key in ("title", "note", "column", "text")}
        head = {"title": cell["title"], "note": cell["note"], "rows": [], "printed": []}
        table = tables.setdefault(cell["table"], head)
        if cell["row"] == len(table["rows"]):
            table["rows"].append({})
            table["printed"].append({})
        row, column = table["rows"][-1], cell["column"]
        table["printed"][-1][column] = cell["text"]
        if cell["kind"] == "spread":
            row.setdefault(column, Spread([])).values.append(cell["number"])
        else:
            row[column] = _value(cell)
    return Record(facts_of(file), list(tables.values()))


def _value(cell: Facts) -> Any:
    if cell["kind"] == "str":
        return cell["text"]
    return (
        None
        if cell["kind"] == "none"
        else {"float": float, "int": int, "bool": bool}[cell["kind"]](cell["number"])
    )
