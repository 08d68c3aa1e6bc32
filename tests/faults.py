"""Faults on purpose: the k-th call to the system fails, or memory ends at a drawn line of the package.

SQLite's tests fail every write and every allocation in turn. Here the calls of ``_files.py``, through which
all files are written, those of folders of kept work, and reads by paths fail one after the other (a write
that fails has written half of its bytes), and every line of the package may be the one where memory ends.
Whoever uses this asks the same three questions: is the old file whole, or the new one? Is the estimator as it
was, or fitted? Who is told what?
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import manykernels
from manykernels import _files
from manykernels.selection import checkpoint

PACKAGE = str(Path(manykernels.__file__).parent)
CALLS = ("open", "fsync", "chmod", "replace", "unlink", "fstat", "listdir", "ftruncate", "pread", "pwrite")
PATHS = ("mkdir", "unlink", "rmdir", "iterdir", "read_bytes")
_WHOLE = 4096  # bytes that the system takes at once


class Calls:
    """Counts calls, and fails the k-th of them."""

    def __init__(self, k: int, error: BaseException) -> None:
        self.k, self.error, self.count, self.name = k, error, 0, ""

    @property
    def fired(self) -> bool:
        return self.count >= self.k

    def due(self, name: str) -> bool:
        self.count += 1
        if self.count == self.k:
            self.name = name
        return self.count == self.k

    def wrapped(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            if self.due(name):
                raise self.error
            return call(*args, **options)

        return counted


class _System:
    """The module ``os`` with calls that fail; what cannot fail is as ever."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        known = name in CALLS and not hasattr(type(self), name)
        return self._calls.wrapped(name, getattr(os, name)) if known else getattr(os, name)

    def write(self, handle: int, data: bytes) -> int:
        """What fails has written half before; what does not, only a part, as the system may."""
        if self._calls.due("write"):
            os.write(handle, data[: len(data) // 2])
            raise self._calls.error
        return os.write(handle, data[: max(1 + 2 * len(data) // 3, _WHOLE)])

    def close(self, handle: int) -> None:
        """A file is closed also where that is told as an error."""
        os.close(handle)
        if self._calls.due("close"):
            raise self._calls.error


class _Read:
    """A file of which each read is a call."""

    def __init__(self, file: Any, calls: Calls, path: Path) -> None:
        self._file, self._calls, self._path = file, calls, path

    def __enter__(self) -> _Read:
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def read(self, *args: Any) -> Any:
        if self._calls.due("read"):
            raise self._calls.error
        return self._file.read(*args)


def _by_path(calls: Calls, name: str) -> Callable[..., Any]:
    """A method of paths that fails where the package calls it; the system's errors name the file."""
    real = getattr(Path, name)

    def counted(path: Path, *args: Any, **options: Any) -> Any:
        ours = sys._getframe(1).f_code.co_filename.startswith(PACKAGE)
        if ours and calls.due(f"Path.{name}"):
            if isinstance(calls.error, OSError):
                calls.error.filename = os.fspath(path)
            raise calls.error
        found = real(path, *args, **options)
        return _Read(found, calls, path) if ours and name == "open" and "b" in str(args) else found

    return counted


@contextmanager
def failing_call(k: int, error: BaseException, paths: bool = False) -> Iterator[Calls]:
    """Inside, the k-th call with which the package writes fails; with `paths` also calls with which it reads.

    Without `paths` only those of ``_files.py`` are counted.
    """
    calls = Calls(k, error)
    made = SimpleNamespace(mkstemp=calls.wrapped("mkstemp", tempfile.mkstemp))
    with ExitStack() as stack:
        for owner, name, value in (
            (_files, "os", _System(calls)),
            (_files, "tempfile", made),
            *((checkpoint, "os", _System(calls)) for _ in range(paths)),
            *((Path, name, _by_path(calls, name)) for name in (*PATHS, "open") if paths),
        ):
            stack.enter_context(patch.object(owner, name, value))
        yield calls


def every_call(error: Callable[[], BaseException]) -> Iterator[tuple[int, BaseException]]:
    """k = 1, 2, …; who asks ends it where the fault did not come any more."""
    for k in range(1, 1000):
        yield k, error()
    raise AssertionError("no end of calls")


# -- lines ----------------------------------------------------------------------------------------
Line = tuple[str, int]


LOCKED = os.path.join("_fast", "threads.py")


class Lines:
    """Counts the lines of the package that are run, and fails the n-th run of one of them."""

    def __init__(self, line: Line | None = None, nth: int = 1, error: BaseException | None = None) -> None:
        self.line, self.nth, self.error = line, nth, error
        self.seen: Counter[Line] = Counter()
        self.fired = False

    def __enter__(self) -> Lines:
        self._before = sys.gettrace()
        sys.settrace(self._call)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.settrace(self._before)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE):
            return None
        return self._inside if self.line is None or file == self.line[0] else None

    def _inside(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            here = frame.f_code.co_filename, frame.f_lineno
            if self.line is None or here == self.line:
                self.seen[here] += 1
                if here == self.line and self.seen[here] == self.nth and self.error is not None:
                    self.fired = True
                    raise self.error
        return self._inside


def drawn_lines(seen: Counter[Line], count: int, seed: int) -> list[tuple[Line, int]]:
    """Lines, each equally likely however often it is run, and which run of it is to fail.

    Not those of the file that holds a lock: an error that tracing raises as `with lock` is left keeps the
    lock for good, which no want of memory does.
    """
    draw = random.Random(seed)
    lines = sorted(line for line in seen if not line[0].endswith(LOCKED))
    return [(line, draw.randint(1, seen[line])) for line in (draw.choice(lines) for _ in range(count))]


# -- workers --------------------------------------------------------------------------------------
class Counted:
    """A kernel as a function of two samples' matrices, whose k-th call fails, over all processes.

    Calls are bytes of a file. What fails is the call (`error`), or, without one, the process, unless it is
    the one in which this was made.
    """

    def __init__(self, file: Path, k: int, error: type[BaseException] | None = None) -> None:
        self.file, self.k, self.error, self.home = str(file), k, error, os.getpid()

    def __call__(self, A: Any, B: Any) -> Any:
        if self.error is not None or os.getpid() != self.home:
            handle = os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.write(handle, b".")
            count = os.lseek(handle, 0, os.SEEK_CUR)
            os.close(handle)
            if count == self.k:
                self._fail()
        return A @ B.T

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error("drawn")
        os.kill(os.getpid(), signal.SIGKILL)

    @property
    def fired(self) -> bool:
        return os.path.exists(self.file) and os.path.getsize(self.file) >= self.k
