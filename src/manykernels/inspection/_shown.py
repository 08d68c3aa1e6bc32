"""Results with a row for each name, shown as a table."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np

from ..comparison.tables import Table, Tabled

_ROWS = 10  # that are shown


class Shown(Tabled):
    """Base class of results that print as a table of their first rows; ``to_frame`` has all of them."""

    @abstractmethod
    def columns(self) -> dict[str, Any]:
        """Return the columns of the table.

        Returns
        -------
        dict
            The columns by name, of equal lengths; the first has the names of the rows.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.inspection import Stability
        >>> found = Stability(["linear", "narrow"], np.array([[0.75, 0.25], [1.0, 0.0]]), level=0.95)
        >>> columns = found.columns()
        >>> list(columns)
        ['name', 'mean', 'low', 'high', 'frequency']
        >>> columns["frequency"].tolist()
        [1.0, 0.5]
        """
        raise NotImplementedError

    @abstractmethod
    def _said(self) -> list[str]:
        """Return the sentences below the table."""
        raise NotImplementedError

    def _first(self) -> Any:
        """Return the order in which rows are shown; None for their own."""
        return None

    def table(self) -> Table:
        columns = self.columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        cells = [[_cell(value) for value in row.values()] for row in rows]
        return Table(rows, list(columns), cells, notes=self._said())

    def __repr__(self) -> str:
        return self._short().text()

    def _repr_html_(self) -> str:
        return self._short().html()

    def _short(self) -> Table:
        whole, first = self.table(), self._first()
        order = range(len(whole.cells)) if first is None else [int(j) for j in first]
        more = len(order) - _ROWS
        notes = [f"… and {more} more: to_frame() has all.", *whole.notes] if more > 0 else whole.notes
        return replace(whole, cells=[whole.cells[j] for j in order[:_ROWS]], notes=notes)


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float | np.floating) else str(value)
