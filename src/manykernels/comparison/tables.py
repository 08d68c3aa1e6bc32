"""Tables of results: as text, as a data frame, and for files of a paper."""

from __future__ import annotations

import csv
import html
import io
import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._files import require_replaceable, write_atomically

_LATEX = {char: f"\\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": r"$-$",
    "²": r"$^2$",
    "<": r"$<$",
    ">": r"$>$",
    "–": "--",
    "×": r"$\times$",
    "§": r"\S{}",
}

_CELL = "style='text-align:{};padding:3px 10px;border-bottom:1px solid #bbb'"


@dataclass(frozen=True)
class Table:
    """The same rows as values (for files of data) and as text (for people), with notes below them."""

    values: Sequence[dict[str, Any]]
    titles: Sequence[str]
    cells: Sequence[Sequence[str]]
    best: Sequence[int] = ()  # rows that are set in bold
    notes: Sequence[str] = ()

    def text(self) -> str:
        """Columns of equal width, the first to the left."""
        lines = [list(self.titles), *map(list, self.cells)]
        widths = [max(len(line[c]) for line in lines) for c in range(len(self.titles))]
        aligned = [
            "  ".join(
                cell.rjust(w) if c else cell.ljust(w)
                for c, (cell, w) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        ]
        return "\n".join([*(line.rstrip() for line in aligned), *(["", *self.notes] if self.notes else [])])

    def csv(self) -> str:
        """All values, in full."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(self.values[0]) if self.values else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.values)
        return out.getvalue()

    def latex(self) -> str:
        """A ``tabular`` with the rules of the package booktabs; the best is bold, notes are comments."""
        lines = [f"% {_plain_latex(note)}" for note in self.notes]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(self.titles) - 1)}}}", r"\toprule"]
        lines += [" & ".join(map(_latex, self.titles)) + r" \\", r"\midrule"]
        for i, row in enumerate(self.cells):
            texts = [_latex(cell) for cell in row]
            if i in self.best:
                texts = [rf"\textbf{{{text}}}" if c < 2 else text for c, text in enumerate(texts)]
            lines.append(" & ".join(texts) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])

    def html(self) -> str:
        """A ``table`` with numbers to the right and a rule below each row, and the notes as paragraphs."""
        sides = [_CELL.format("right" if c else "left") for c in range(len(self.titles))]
        head = "".join(
            f"<th {side}>{html.escape(title)}</th>" for side, title in zip(sides, self.titles, strict=True)
        )
        rows = []
        for i, row in enumerate(self.cells):
            cells = [html.escape(cell) for cell in row]
            if i in self.best:
                cells = [f"<b>{cell}</b>" if c < 2 else cell for c, cell in enumerate(cells)]
            rows.append(
                "<tr>"
                + "".join(f"<td {side}>{cell}</td>" for side, cell in zip(sides, cells, strict=True))
                + "</tr>"
            )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        body = "\n".join(rows)
        whole = f"<table style='border-collapse:collapse'>\n<thead><tr>{head}</tr></thead>\n"
        return f"{whole}<tbody>\n{body}\n</tbody>\n</table>\n{notes}\n"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(char, char) for char in text)


def _plain_latex(text: str) -> str:
    return " ".join(text.split())


class Tabled:
    """Base class of results that can be read as a table."""

    @abstractmethod
    def table(self) -> Table:
        """Make the rows of the table.

        Returns
        -------
        Table
            The rows, as values and as text.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> found = Comparison("accuracy", {"forest": Scores([Fold(0.8)]), "line": Scores([Fold(0.9)])})
        >>> [row[:3] for row in found.table().cells]
        [['line', '0.900', '1'], ['forest', '0.800', '2']]
        """
        raise NotImplementedError

    def to_frame(self) -> Any:
        """Return the values as a pandas data frame.

        Returns
        -------
        DataFrame
            A row for each row of the table.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> found = Comparison("accuracy", {"forest": Scores([Fold(0.8)]), "line": Scores([Fold(0.9)])})
        >>> found.to_frame()["mean"].to_dict()
        {'line': 0.9, 'forest': 0.8}
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install 'manykernels[cli]'.") from error
        frame = pd.DataFrame(list(self.table().values))
        return frame.set_index(frame.columns[0]) if len(frame) else frame

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> str | None:
        """Write the values as CSV.

        Parameters
        ----------
        path : str, path or None, default=None
            The file to write to. None returns the text.
        overwrite : bool, default=False
            Whether a file that is not empty is replaced.

        Returns
        -------
        str or None
            The text, if no path was given.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.inspection import Stability
        >>> found = Stability(["linear", "narrow"], np.array([[0.5, 0.5], [1.0, 0.0]]), level=0.5)
        >>> print(found.to_csv(), end="")
        name,mean,low,high,frequency
        linear,0.75,0.625,0.875,1.0
        narrow,0.25,0.125,0.375,0.5
        """
        return _written(self.table().csv(), path, overwrite)

    def to_latex(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> str | None:
        """Write a ``tabular`` for LaTeX, with the rules of booktabs.

        Parameters
        ----------
        path : str, path or None, default=None
            The file to write to. None returns the text.
        overwrite : bool, default=False
            Whether a file that is not empty is replaced.

        Returns
        -------
        str or None
            The text, if no path was given.

        Examples
        --------
        The best method is bold:

        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> found = Comparison("accuracy", {"forest": Scores([Fold(0.8)]), "line": Scores([Fold(0.9)])})
        >>> "textbf{line}" in found.to_latex()
        True
        """
        return _written(self.table().latex(), path, overwrite)

    def to_html(self, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False) -> str | None:
        """Write a table in HTML.

        Parameters
        ----------
        path : str, path or None, default=None
            The file to write to. None returns the text.
        overwrite : bool, default=False
            Whether a file that is not empty is replaced.

        Returns
        -------
        str or None
            The text, if no path was given.

        Examples
        --------
        There is a row of titles and one for each method, the best in bold:

        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> found = Comparison("accuracy", {"forest": Scores([Fold(0.8)]), "line": Scores([Fold(0.9)])})
        >>> page = found.to_html()
        >>> page.count("<tr>"), "<b>line</b>" in page
        (3, True)
        """
        return _written(self.table().html(), path, overwrite)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _written(text: str, path: str | os.PathLike[str] | None, overwrite: bool) -> str | None:
    """Write the text to a file, which is not replaced if it is not empty; without a path return it."""
    if path is None:
        return text
    require_replaceable(path, lambda _: False, "empty", overwrite)
    write_atomically(path, text.encode())
    return None
