"""Rows that stay in a file: arrays mapped into memory, and Parquet files, which are read by row groups.

Both look like an array of numbers of which blocks and single rows are taken. Only those are ever in memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grams import parse_memory

Array = NDArray[np.float64]
MANY = 20_000  # rows from which a file stays where it is
_SHARE = 8  # of the memory, which a file that is read as a whole may take
_NUMBERS = ("int", "uint", "float", "double", "halffloat", "bool", "decimal")


@dataclass(frozen=True)
class RowGroups:
    """The columns of numbers of a Parquet file, as an array of which rows are taken."""

    path: str
    columns: tuple[str, ...]
    starts: NDArray[np.intp]  # of row groups, and the end
    kept: dict[int, Array] = field(default_factory=dict, repr=False)  # the row group that was read last

    ndim = 2
    dtype = np.dtype(np.float64)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.starts[-1]), len(self.columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        return self[:].astype(np.float64 if dtype is None else dtype, copy=False)

    def __getitem__(self, key: Any) -> Array:
        """Rows, by a slice or by their numbers."""
        key = key[0] if isinstance(key, tuple) else key
        rows = np.arange(len(self))[key]
        single = np.ndim(rows) == 0
        rows = np.atleast_1d(rows)
        out = np.empty((rows.size, len(self.columns)))
        group = np.searchsorted(self.starts, rows, side="right") - 1
        for g in np.unique(group):
            own = group == g
            out[own] = self._read(int(g))[rows[own] - self.starts[g]]
        return out[0] if single else out

    def _read(self, group: int) -> Array:
        if group not in self.kept:
            table = _parquet().ParquetFile(self.path).read_row_group(group, columns=list(self.columns))
            values = np.empty((table.num_rows, len(self.columns)))
            for j, name in enumerate(self.columns):
                values[:, j] = table.column(name).to_pandas().to_numpy(dtype=np.float64, na_value=np.nan)
            self.kept.clear()
            self.kept[group] = values
        return self.kept[group]


@dataclass(frozen=True)
class Picked:
    """Some rows of what stays in a file, which are taken block by block."""

    X: Any
    rows: NDArray[np.intp]

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.size, int(self.X.shape[1])

    def __len__(self) -> int:
        return int(self.rows.size)

    def __getitem__(self, key: slice) -> Any:
        return np.asarray(self.X[self.rows[key]])


def is_mapped(X: Any) -> bool:
    """Tell whether X is a large file: it is then neither copied nor looked at as a whole."""
    if isinstance(X, RowGroups):
        return True
    return isinstance(X, np.memmap) and X.ndim == 2 and len(X) > MANY and X.dtype.kind in "fiu"


def is_path(X: Any) -> bool:
    """Tell whether X names a Parquet file."""
    return isinstance(X, str | PathLike) and str(X).endswith((".parquet", ".pq"))


def open_parquet(X: Any, y: Any, memory_limit: Any = None) -> tuple[Any, Any]:
    """The samples of a Parquet file, and its column `y` where that is a name; all else as it is.

    A file that takes little of the memory is read as a frame. Others stay where they are.
    """
    if not is_path(X):
        return X, y
    path = Path(X)
    if not path.is_file():
        raise FileNotFoundError(f"X={str(X)!r} was given, and there is no such file.")
    try:
        file = _parquet().ParquetFile(path)
    except ValueError as error:  # of pyarrow, whose errors of format are such
        raise ValueError(
            f"X={str(X)!r} was given, which cannot be read as a Parquet file: {error} Write it again, for "
            "example by DataFrame.to_parquet."
        ) from error
    names, groups = file.schema_arrow.names, [file.metadata.row_group(g) for g in range(file.num_row_groups)]
    if isinstance(y, str):
        if y not in names:
            raise ValueError(f"y={y!r} was given; expected an array, or a column of {path}: {names[:20]}.")
        target = file.read(columns=[y]).column(0).to_pandas().to_numpy()
        names = [name for name in names if name != y]
    else:
        target = y
    small = file.metadata.num_rows <= MANY
    if small or sum(g.total_byte_size for g in groups) <= parse_memory(memory_limit) // _SHARE:
        frame = file.read(columns=names).to_pandas()
        return frame, target
    kinds = {name: str(file.schema_arrow.field(name).type) for name in names}
    other = [name for name, kind in kinds.items() if not kind.startswith(_NUMBERS)]
    if other:
        raise ValueError(
            f"{path} has columns that are no numbers ({', '.join(other[:5])}) and is larger than "
            f"1/{_SHARE} of the memory, so that it is read by row groups, which takes numbers alone. Leave "
            "them out, make numbers of them, or read it with pandas.read_parquet."
        )
    starts = np.concatenate([[0], np.cumsum([g.num_rows for g in groups])]).astype(np.intp)
    return RowGroups(str(path), tuple(names), starts), target


def _parquet() -> Any:
    try:
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise ImportError(
            "X names a Parquet file, which is read by pyarrow: pip install 'manykernels[cli]'."
        ) from error
    return parquet
