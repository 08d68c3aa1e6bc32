"""Files that the package writes: whole or not at all, and never in the place of somebody else's.

What a command or a function wrote is known by its contents: a model is an archive with a description of ours
in it, a report a page with our mark. Anything else that is not empty is replaced only when that is asked for.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from zipfile import ZipFile

try:
    import fcntl
except ImportError:  # Windows, where files that are open cannot be removed by others anyway
    fcntl = None  # type: ignore[assignment]

MODEL_MARK = "manykernels.json"  # the member of a model's archive that says what it is
REPORT_MARK = '<meta name="generator" content="manykernels">'
MARKDOWN_MARK = "<!-- generator: manykernels -->"  # of a report in Markdown
_START = 4096  # bytes of a page that hold the mark
_STALE = 3600.0  # seconds after which a part is nobody's, where locks cannot tell
_LONGEST = 56  # characters of a name, lest that of its part be too long for a file system


# -- what is there already ------------------------------------------------------------------------
def is_model(path: Path) -> bool:
    """Tell whether ``save`` wrote a file."""
    with path.open("rb") as file:
        if file.read(2) != b"PK":
            return False
    try:
        with ZipFile(path) as archive:
            return MODEL_MARK in archive.namelist()
    except (MemoryError, OSError):  # which say nothing of the file
        raise
    except Exception:  # a damaged archive, of which nobody can say what it was
        return False


def is_report(path: Path) -> bool:
    """Tell whether ``write_report`` wrote a file."""
    with path.open("rb") as file:
        start = file.read(_START)
    return REPORT_MARK.encode() in start or start.startswith(MARKDOWN_MARK.encode())


def holds_something_else(path: str | os.PathLike[str], ours: Callable[[Path], bool]) -> bool:
    """Tell whether a path is a file that is neither empty nor ``ours``; devices and pipes hold nothing."""
    target = Path(path)
    try:
        with named(path):
            return target.is_file() and target.stat().st_size > 0 and not ours(target)
    except FileNotFoundError:  # somebody removed it meanwhile
        return False


def require_replaceable(
    path: str | os.PathLike[str], ours: Callable[[Path], bool], kind: str, overwrite: bool
) -> None:
    """An error where writing to a path would destroy a file of another kind."""
    if not overwrite and holds_something_else(path, ours):
        raise FileExistsError(
            f"{os.fspath(path)} exists and is not {kind}, so it is not replaced. Give another name, delete "
            "the file, or say overwrite=True."
        )


# -- writing --------------------------------------------------------------------------------------
def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file such that at any time there is either the old one or all of the new one.

    The new one is written beside it as ``.name.manykernels-….part``. A process that is killed leaves that
    behind, and the next one that writes to the same path removes it.
    """
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
    with named(path):
        if target.exists() and not target.is_file():  # a device or a pipe: written to and never replaced
            target.write_bytes(data)
            return
        _remove_stale(target)
        _replace(target, data)


@contextmanager
def named(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors name the file that was asked for: "No space left on device" alone does not say where."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _replace(target: Path, data: bytes) -> None:
    handle, name = _open_part(target)
    try:
        try:
            _write(handle, data)
            os.fsync(handle)
            os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
            if fcntl is not None:  # before the lock ends with the file
                os.replace(name, target)
        finally:
            os.close(handle)
        if fcntl is None:
            os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _write(handle: int, data: bytes) -> None:
    """All of the data: the system may take less than it is given."""
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _beginning(target: Path) -> str:
    """Of the names of all parts of a target, and of no file of a user's."""
    return f".{target.name[:_LONGEST]}.manykernels-"


def _open_part(target: Path) -> tuple[int, str]:
    """A new file beside the target, locked as long as it is open: the lock says that its writer lives."""
    while True:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=_beginning(target), suffix=".part")
        try:
            _lock(handle)
            if os.fstat(handle).st_nlink > 0:
                return handle, name
        except BaseException:  # as long as it is open and locked, nobody removes it
            os.close(handle)
            with suppress(OSError):
                os.unlink(name)
            raise
        os.close(handle)  # it was taken for a dead one before it was locked


def _remove_stale(target: Path) -> None:
    """Remove the parts that processes left which were killed while they wrote to this target."""
    start = _beginning(target)
    try:
        found = [part for part in target.parent.iterdir() if part.name.startswith(start)]
    except OSError:  # a folder that may be written to and not be listed, or that is not there
        return
    for part in found:
        if part.suffix == ".part":
            with suppress(OSError):  # gone already, not ours to remove, or in use
                _remove_unless_locked(part)


def _remove_unless_locked(part: Path) -> None:
    if fcntl is None:
        if time.time() - part.stat().st_mtime > _STALE:
            part.unlink()
        return
    handle = os.open(part, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        part.unlink()
    finally:
        os.close(handle)


def _lock(handle: int) -> None:
    """Lock a file until it is closed or the process ends; some file systems have no locks."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
