"""Zip archives from files that may be damaged, or made to do harm: nothing is unpacked before it is measured.

A small archive can hold huge arrays, and the sizes that it declares can be wrong. Whoever reads one asks here
first: ``open_archive`` refuses what unpacks to more than a limit, ``read_member`` never unpacks more than was
declared, and the header of every array must declare as many bytes as there are.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np

from ._arguments import shortened
from .grams.memory import readable

_CHUNK = 1 << 20
_ENCRYPTED = 0x1
_READ = 200  # characters of a name that are looked at
_MAGIC, _ZIP = b"\x93NUMPY", b"PK"


class ArchiveError(ValueError):
    """An archive that is not read; the text is a clause that says why, without the name of the file."""


class TooLargeError(ArchiveError):
    """An archive that would take more memory than there is for it."""


@contextmanager
def open_archive(source: Any, limit: int, copies: int = 1) -> Iterator[ZipFile]:
    """An archive of at most ``limit`` bytes when ``copies`` of its contents are in memory."""
    try:
        archive = ZipFile(source)
    except (BadZipFile, NotImplementedError, ValueError, OSError) as error:
        raise ArchiveError("it is cut off, or it is no archive at all") from error
    with archive:
        _require_plain(archive.infolist())
        _require_room(archive.infolist(), limit, copies)
        yield archive


def _require_plain(infos: list[ZipInfo]) -> None:
    """Nothing that the writers of arrays and models never write."""
    if len({info.filename for info in infos}) < len(infos):
        raise ArchiveError("two of its members have the same name")
    for info in infos:
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.flag_bits & _ENCRYPTED:
            raise ArchiveError(f"its member {_short(info.filename)} is packed in a way that is not read here")


def _require_room(infos: list[ZipInfo], limit: int, copies: int) -> None:
    total = sum(info.file_size for info in infos)
    if copies * total > limit:
        largest = max(infos, key=lambda info: info.file_size)
        packed = sum(info.compress_size for info in infos)
        raise TooLargeError(
            f"it unpacks from {readable(packed)} to {readable(total)} (its largest member, "
            f"{_short(largest.filename)}, to {readable(largest.file_size)}), which takes about "
            f"{readable(copies * total)} of memory, and {readable(limit)} are allowed"
        )


def read_member(archive: ZipFile, info: ZipInfo) -> bytes:
    """The contents of a member, of exactly the size that the archive declares."""
    parts, left = [], info.file_size
    try:
        with archive.open(info) as file:
            while left > 0 and (part := file.read(min(left, _CHUNK))):
                parts.append(part)
                left -= len(part)
    except MemoryError:
        raise
    except Exception as error:  # zipfile fails in as many ways as an archive has bytes
        raise ArchiveError(f"its member {_short(info.filename)} is damaged") from error
    if left:
        raise ArchiveError(f"its member {_short(info.filename)} is shorter than the archive says")
    return b"".join(parts)


def require_arrays(archive: ZipFile) -> None:
    """An error unless every member is an array whose header declares the bytes that follow it."""
    for info in archive.infolist():
        try:
            with archive.open(info) as file:
                require_array(file, info.file_size)
        except ArchiveError as error:
            raise ArchiveError(f"in its member {_short(info.filename)}, {error}") from error
        except MemoryError:
            raise
        except Exception as error:
            raise ArchiveError(f"its member {_short(info.filename)} is damaged") from error


def require_array(file: BinaryIO | Any, size: int) -> None:
    """An error unless ``size`` bytes of a file are an array in NumPy's format, whole and without objects."""
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
    except (ValueError, TypeError, OverflowError, MemoryError) as error:
        raise ArchiveError("the header is not that of an array") from error
    if dtype.hasobject:
        raise ArchiveError("the array holds Python objects, which are never read from files")
    declared, there = math.prod(shape) * dtype.itemsize, size - file.tell()
    if declared != there or min(shape, default=1) < 0 or (dtype.itemsize == 0 and math.prod(shape) > 0):
        raise ArchiveError(
            f"the array declares shape {shape} and type {dtype}, which are {declared} bytes, and has {there}"
        )


def unpacked_size(name: str, data: bytes, limit: int) -> int:
    """The bytes that a member of an archive takes in memory, once what it declares is known to be true.

    What it is says its beginning, as it does to NumPy, whatever it is called.
    """
    if data.startswith(_ZIP) or name.endswith(".npz"):
        with open_archive(io.BytesIO(data), limit) as inner:
            require_arrays(inner)
            return len(data) + sum(info.file_size for info in inner.infolist())
    if data.startswith(_MAGIC) or name.endswith(".npy"):
        require_array(io.BytesIO(data), len(data))
    return len(data)


def shown(name: Any) -> str:
    """A name from a file for a message: not too long, and nothing that a terminal would obey."""
    return shortened("".join(c if c.isprintable() else "?" for c in str(name)[:_READ]), 80)


def _short(name: str) -> str:
    return f"'{shown(name)}'"
