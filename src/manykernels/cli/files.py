"""Tables and arrays from files, or one line that says what is wrong with a file."""

from __future__ import annotations

import codecs
import csv
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .._archives import ArchiveError, TooLargeError, open_archive, require_array, require_arrays
from .._arguments import number_of
from ._console import UserError, one_line

TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
_GROWS = 4  # bytes of memory for one of a text file, at least
_COPIES = 2  # of the columns or arrays of other files
_SNIFFED = 1 << 16


@dataclass(frozen=True)
class Reading:
    """How files are read."""

    encoding: str = "utf-8"
    rows: int | None = None


def read_file(path: Path, how: Reading) -> pd.DataFrame | dict[str, np.ndarray[Any, Any]]:
    """A frame of a CSV or Parquet file or an .npy array, the arrays of an .npz file."""
    if not path.exists():
        raise UserError(f"{path}: there is no such file. Check its name, and the folder that you are in.")
    if path.is_dir():
        raise UserError(f"{path} is a folder; give the name of a file.")
    kind = path.suffix.lower()
    if path.stat().st_size == 0:
        raise UserError(f"{path} is empty. Check that it is the right file.")
    with _said(path):
        _require_numpy(path, kind)
        _require_room(path, kind, how)
        if kind in TEXT:
            return _read_text(path, how)
        if kind in PARQUET:
            return _named(_with_index(pd.read_parquet(path)), path, how)
        if kind == ".npy":
            return _from_array(np.load(path, allow_pickle=False), path)[: how.rows]
        if kind == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
    known = ", ".join([*TEXT, *PARQUET, ".npy", ".npz", ".h5ad", ".h5mu"])
    raise UserError(
        f"{path}: files that end in {kind or 'nothing'} are not read; expected one of {known}. Save the "
        "table as CSV, for example."
    )


def _require_numpy(path: Path, kind: str) -> None:
    """Other files with such a name would be taken for pickles, which are never read."""
    with path.open("rb") as file:
        start = file.read(6)
    if (kind == ".npy" and start != b"\x93NUMPY") or (kind == ".npz" and not zipfile.is_zipfile(path)):
        raise UserError(
            f"{path} is not a file that NumPy wrote. Write it by np.save (.npy) or np.savez (.npz)."
        )


def _require_room(path: Path, kind: str, how: Reading) -> None:
    """Refuse what memory cannot hold before it is tried, by what a file says of its contents."""
    size, limit = path.stat().st_size, min(4 << 30, free_memory() // 2)
    if kind in TEXT:
        needed = 0 if how.rows is not None else _GROWS * size
    elif kind in PARQUET:
        needed = _COPIES * max(size, _parquet_size(path))
    elif kind == ".npz":
        with open_archive(path, limit, _COPIES) as archive:
            require_arrays(archive)
        return
    elif kind == ".npy":
        with path.open("rb") as file:
            require_array(file, size)
        needed = _COPIES * size
    else:
        return
    if needed > limit:
        part = "Read part of it by --first N" if kind in TEXT else "Put fewer rows into it"
        raise UserError(
            f"{path} has {_gigabytes(size)} and would need about {_gigabytes(needed)} of memory; the limit "
            f"here is {_gigabytes(limit)}. {part}, or learn from it block by block in Python: "
            "UFOMKLClassifier.partial_fit."
        )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e9:.3f} GB"


def _parquet_size(path: Path) -> int:
    """The bytes of the columns when they are read: in a file, repeated values take next to none."""
    from pyarrow.parquet import read_metadata

    told = read_metadata(path)
    encoded = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    return int(max(encoded, 8 * told.num_rows * told.num_columns))


def free_memory() -> int:
    """Bytes; 8 GB where the system does not say."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 8 << 30


@contextmanager
def _said(path: Path) -> Iterator[None]:
    """Return the error of a reader in one line that names the file."""
    try:
        yield
    except (UserError, MemoryError):
        raise
    except TooLargeError as error:
        raise UserError(
            f"{path} was not read: {error}. Put fewer rows or arrays into the file, or learn from blocks of "
            "it in Python: UFOMKLClassifier.partial_fit."
        ) from error
    except ArchiveError as error:
        raise UserError(f"{path} cannot be read: {error}.") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        with path.open("rb") as file:
            start = file.read(_SNIFFED)
        likely = "utf-16" if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin-1"
        if likely == "latin-1" and _is_binary(start):
            raise UserError(
                f"{path} is not a table of text, although its name ends in {path.suffix}: it holds binary "
                "data. Save the table as CSV (in a spreadsheet: Save as), or check that it is the right file."
            ) from error
        raise UserError(
            f"{path} is not {error.encoding} (byte 0x{byte:02x}): say how it is written, for example by "
            f"--encoding {likely}."
        ) from error
    except Exception as error:  # readers of other formats fail in many ways
        raise UserError(f"{path} cannot be read: {one_line(error)}") from error


def _is_binary(start: bytes) -> bool:
    """Whether bytes hold what no text does: control characters other than tabs and ends of lines."""
    return any(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in start)


# -- text -----------------------------------------------------------------------------------------
def _read_text(path: Path, how: Reading) -> pd.DataFrame:
    encoding = _encoding(how)
    separator = _scan(path, encoding, how.rows)
    frame = pd.read_csv(
        path, sep=separator, encoding=encoding, nrows=how.rows, skipinitialspace=True, low_memory=False
    )
    if separator == ";":
        frame = frame.apply(_decimal_comma)
    return _named(frame, path, how)


def _encoding(how: Reading) -> str:
    try:
        codecs.lookup(how.encoding)
    except LookupError as error:
        raise UserError(
            f"--encoding {how.encoding}: there is no such encoding; expected utf-8, latin-1, cp1252 or "
            "utf-16, for example."
        ) from error
    return "utf-8-sig" if how.encoding.lower().replace("_", "-") in ("utf-8", "utf8") else how.encoding


def read_as_text(path: Path, frame: pd.DataFrame, how: Reading, name: str) -> pd.Series:
    """A column of a file that was read, with its cells as they are written: 007 is not a number."""
    if path.suffix.lower() not in TEXT:
        return frame[name]
    column = list(frame.columns).index(name)
    encoding = _encoding(how)
    separator = _scan(path, encoding, how.rows)
    options: dict[str, Any] = {"sep": separator, "encoding": encoding, "nrows": how.rows}
    return pd.read_csv(path, **options, skipinitialspace=True, usecols=[column], dtype=str).iloc[:, 0]


def _scan(path: Path, encoding: str, rows: int | None) -> str:
    """The separator, once every row is known to have as many fields as the header."""
    with path.open(encoding=encoding, newline="") as file:
        start = file.read(_SNIFFED)
        if not start.strip():
            raise UserError(f"{path} is empty. Check that it is the right file.")
        if "\0" in start.partition("\n")[0]:
            raise UserError(
                f"{path} holds zero bytes: it is not a table of text in {encoding}. Save it as CSV, or check "
                "that it is the right file."
            )
        separator = _separator(start)
        file.seek(0)
        lines = csv.reader(file, delimiter=separator, skipinitialspace=True)
        header: list[str] = []
        count = 0
        try:
            for fields in lines:
                if not fields:
                    continue
                if not header:
                    header = fields
                    _require_once(header, path)
                elif len(fields) != len(header):
                    raise UserError(
                        f"{path}, line {lines.line_num}: {number_of(len(fields), 'field')}, and the header "
                        f"has {len(header)} (separated by {separator!r}). Correct this line, or put quotes "
                        "around text that holds the separator."
                    )
                else:
                    count += 1
                    if rows is not None and count >= rows:
                        break
        except csv.Error as error:
            raise UserError(f"{path}, line {lines.line_num}: {error}.") from error
    if not count:
        raise UserError(_no_rows(path))
    return separator


def _no_rows(path: Path) -> str:
    return f"{path} has a header and no rows. Add a row for each sample, or check that it is the right file."


def _separator(start: str) -> str:
    """Return the separator of the header; a table of one column has none."""
    first = next(line for line in start.splitlines() if line.strip())
    counts = {separator: first.count(separator) for separator in (",", "\t", ";", "|")}
    best = max(counts, key=lambda separator: counts[separator])
    return best if counts[best] else ","


def _decimal_comma(column: pd.Series) -> pd.Series:
    """Numbers such as 1,5, which go with a semicolon between fields."""
    if pd.api.types.is_numeric_dtype(column):
        return column
    changed = pd.to_numeric(column.astype(str).str.replace(",", "."), errors="coerce")
    return changed if changed.notna().equals(column.notna()) and column.notna().any() else column


def _with_index(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with an index that has names as columns."""
    named = [name is not None and name not in frame.columns for name in frame.index.names]
    return frame.reset_index() if all(named) else frame


def _named(frame: pd.DataFrame, path: Path, how: Reading) -> pd.DataFrame:
    """Return the frame with unique names as text, or raise an error if it has no rows."""
    frame = frame.iloc[: how.rows].reset_index(drop=True)
    frame.columns = [str(name) for name in frame.columns]
    _require_once(list(frame.columns), path)
    if len(frame) == 0:
        raise UserError(_no_rows(path))
    return frame


def _require_once(names: list[str], path: Path) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen and name.strip():
            raise UserError(f"{path}: two columns are called {name!r}; rename one.")
        seen.add(name)


def _from_array(A: np.ndarray[Any, Any], path: Path) -> pd.DataFrame:
    if A.ndim == 1:
        A = A[:, None]
    if A.ndim != 2 or A.dtype.kind not in "biuf":
        raise UserError(
            f"{path} holds an array of shape {A.shape} and type {A.dtype}; expected numbers, 2-D."
        )
    if 0 in A.shape:
        raise UserError(f"{path} holds an empty array, of shape {A.shape}.")
    return pd.DataFrame(A, columns=[f"x{j}" for j in range(A.shape[1])])
