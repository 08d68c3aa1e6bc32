"""A page of claims, written from records: a row says in a template what its figures are.

    section = Section("Orabona & Jie 2011: UFO-MKL")

    @section.row("Table 1, Sonar: accuracy 74 to 80 %")
    def sonar() -> tuple[str, str]:
        accuracies = table("ufo_table", "Sonar").column("accuracy")
        expect(min(map(mean, accuracies)) > 74, "no row is less accurate")
        return f"{span(accuracies)} %", "**holds**"

The function returns the result and the verdict. Figures come from the record; words that a record could prove
wrong ("first on all five") are held to it by `expect`. Text may be wrapped: line breaks are spaces.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .figures import Drift

Cells = Callable[[], tuple[str, ...]]


@dataclass(frozen=True)
class Row:
    """One claim: its name in the code, the claim, and what computes the other cells."""

    name: str
    claim: str
    cells: Cells
    recomputed: bool = True

    def line(self) -> str:
        """The line of the table."""
        cells = [flowing(cell) for cell in (self.claim, *self.cells())]
        if any("|" in cell for cell in cells):
            raise ValueError(f"{self.name}: a bar would end the cell")
        return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"


@dataclass
class Section:
    """A heading, paragraphs, and a table of claims."""

    title: str
    heads: tuple[str, ...] = ("claim", "result", "verdict")
    rows: list[Row] = field(default_factory=list)
    paragraphs: list[Callable[[], str]] = field(default_factory=list)

    def row(self, claim: str) -> Callable[[Cells], Cells]:
        """Add a row whose other cells the function computes."""

        def add(function: Cells) -> Cells:
            self.rows.append(Row(function.__name__, claim, function))
            return function

        return add

    def written(self, name: str, claim: str, *cells: str) -> None:
        """Add a row that nothing recomputes: `unrecorded()` lists it."""
        self.rows.append(Row(name, claim, lambda: cells, recomputed=False))

    def text(self, function: Callable[[], str]) -> Callable[[], str]:
        """Add a paragraph that the function computes."""
        self.paragraphs.append(function)
        return function

    def table(self) -> str:
        """Heads and rows."""
        lines = [f"| {' | '.join(self.heads)} |", "|" + "---|" * len(self.heads)]
        return "\n".join([*lines, *(row.line() for row in self.rows)])

    def markdown(self) -> str:
        blocks = [f"## {self.title}", *(flowing(one()) for one in self.paragraphs)]
        return "\n\n".join([*blocks, *([self.table()] if self.rows else [])])


def flowing(text: str) -> str:
    """One line of it, whatever its lines were."""
    return " ".join(text.split())


def problems(sections: list[Section], page: str) -> list[str]:
    """Where a page and the records differ: the row, what the text has, what the record gives."""
    return [problem for section in sections for problem in _problems(section, page)]


def _problems(section: Section, page: str) -> Iterator[str]:
    lines = page.splitlines()
    for row in section.rows:
        shown = [line for line in lines if line.startswith(f"| {flowing(row.claim)} |")]
        if len(shown) != 1:
            yield f"{section.title}: {row.name}: {len(shown)} rows of the page have this claim, expected one"
        else:
            yield from (f"{section.title}: {row.name}: {one}" for one in _compared(shown[0], row.line))
    for paragraph in section.paragraphs:
        yield from (f"{section.title}: {paragraph.__name__}: {one}" for one in lacking(lines, paragraph))


def _compared(shown: str, line: Callable[[], str]) -> Iterator[str]:
    try:
        if shown != (now := line()):
            yield changes(shown, now)
    except Exception as reason:  # of a record that has other tables or columns now
        yield _told(reason)


def lacking(lines: list[str], paragraph: Callable[[], str]) -> Iterator[str]:
    """What differs from the line of a page that is most like the paragraph."""
    try:
        if (now := flowing(paragraph())) not in lines:
            near = difflib.get_close_matches(now, lines, 1, 0.5)
            yield changes(near[0], now) if near else f"the page lacks “{now}”"
    except Exception as reason:
        yield _told(reason)


def _told(reason: Exception) -> str:
    return str(reason) if isinstance(reason, Drift) else f"{type(reason).__name__}: {reason}"


def changes(text: str, record: str) -> str:
    """The words that differ: the text has …, the record gives …"""
    old, new = (re.findall(r"\S+", one) for one in (text, record))
    steps = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    found = [(old[a:b], new[c:d]) for kind, a, b, c, d in steps if kind != "equal"]
    return "; ".join(
        f"the text has “{' '.join(was) or 'nothing'}”, the record gives “{' '.join(now) or 'nothing'}”"
        for was, now in found
    )
