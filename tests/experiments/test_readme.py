"""Every "mean ± spread" of experiments/README.md is in the record of its section, or a paired difference."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

from experiments import records
from experiments.claims.figures import less, mean, sd, se
from experiments.tables import Spread

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
RESULTS = EXPERIMENTS / "results"
PAIR = re.compile(r"([-+−]?\d*\.?\d+) ± (\d*\.?\d+)")
SECTIONS = re.split(r"^## ", (EXPERIMENTS / "README.md").read_text(encoding="utf-8"), flags=re.M)[1:]
UNRECORDED = ("by hand", "first run", "first record")  # lines that say so are about what is not kept


@pytest.mark.parametrize("section", [one for one in SECTIONS if "±" in one], ids=lambda one: one.split()[0])
def test_figures_of_a_section_are_in_its_record(section):
    named = [file.stem for file in RESULTS.glob("*.parquet") if re.search(rf"\b{file.stem}\b", section)]
    tables = together(named)
    text = "\n".join(line for line in section.splitlines() if not any(one in line for one in UNRECORDED))
    found = [one.groups() for one in PAIR.finditer(text)]
    missing = without(without(found, held(tables)), differences(tables))
    assert not missing, (
        f"the records of {', '.join(sorted(named))} have no {[' ± '.join(one) for one in missing]}"
    )


def together(names):
    """The tables of records; those with the same title are one."""
    tables = {}
    for name in names:
        for table in records.read(RESULTS / f"{name}.parquet").tables:
            tables.setdefault(table["title"], []).extend(table["rows"])
    return list(tables.values())


def held(tables):
    """Means with standard deviations or errors, and what the record has as text."""
    for cell in (cell for rows in tables for row in rows for cell in row.values()):
        if isinstance(cell, Spread) and len(cell.values) > 1:
            yield from ((mean(cell), s(cell)) for s in (sd, se))
        elif isinstance(cell, str):
            yield from ((number(a), number(b)) for a, b in PAIR.findall(cell))


def differences(tables):
    """Of cells of a row, and of a column unless it is a curve, in the same trials."""
    for rows in tables:
        columns = {key for row in rows for key in row} if len(rows) <= 20 else ()
        lines = [*(list(row.values()) for row in rows), *([row.get(key) for row in rows] for key in columns)]
        for cells in lines:
            several = [cell for cell in cells if isinstance(cell, Spread) and len(cell.values) > 1]
            for a, b in combinations(several, 2):
                if len(a.values) == len(b.values):
                    yield from ((mean(less(a, b)), s(less(a, b))) for s in (sd, se))


def without(found, known):
    """The pairs that nothing known is printed as; the sign is that of who is named first."""
    known = list(known) if found else []
    return [pair for pair in found if not any(printed_so(pair, one) for one in known)]


def printed_so(pair, known):
    room = [0.501 * 10.0 ** -len(part.partition(".")[2]) for part in pair]
    apart = [abs(abs(number(part)) - abs(value)) for part, value in zip(pair, known, strict=True)]
    return apart[0] <= room[0] and apart[1] <= room[1]


def number(text):
    return float(text.replace("−", "-"))


def test_a_figure_that_is_in_no_record_is_found():
    tables = [[{"a": Spread([1.0, 2.0, 3.0]), "b": Spread([2.0, 4.0, 6.0]), "c": "+0.51 ± 0.20"}]]
    found = [
        ("2.0", "1.0"),
        ("2.00", "0.58"),
        ("−0.5", "0.2"),
        ("4.0", "2.0"),
        ("2.1", "1.0"),
        ("2.0", "0.9"),
    ]
    assert without(found, held(tables)) == found[-2:]
    assert without([("−2.0", "1.0"), ("2.0", "1.1")], differences(tables)) == [("2.0", "1.1")]
