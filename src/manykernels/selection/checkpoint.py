"""Checkpoints: finished work is kept in a folder, so that a killed process loses one piece at most.

A folder holds the work of one call. ``about.json`` says of which: a hash of the samples, of every option, and
the versions of what computed them, each by its name, so that another table or option is refused by name.
Every finished piece of work is one file (`_pieces.py`). A second process is refused while the first one
lives: a lock that the system takes back when a process ends, however it ends.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from .._arguments import and_more, shown
from .._files import named, write_atomically
from .._pieces import PIECE, Store, at, current, fingerprint, names_in
from .._warn import warn

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
FREE = ("checkpoint", "n_jobs", "verbose")  # parameters on which no answer depends
_ABOUT, _LOCK = "about.json", "lock"


@dataclass(frozen=True)
class Checkpoint:
    """A folder that keeps finished work, so that a call goes on after a crash.

    Parameters
    ----------
    folder : str or path
        The folder, which is made if there is none. It belongs to one call: the same samples and options.
    remove : bool, default=False
        Whether the folder and its files are removed when the call has ended with a result.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_wine
    >>> from manykernels import MKLClassifierCV
    >>> from manykernels.selection.checkpoint import Checkpoint
    >>> X, y = load_wine(return_X_y=True)
    >>> kept = Checkpoint(tempfile.mkdtemp(), remove=True)
    >>> MKLClassifierCV(strategy="finite", cv=2, checkpoint=kept).fit(X, y).best_params_["strategy"]
    'finite'
    """

    folder: str | os.PathLike[str]
    remove: bool = False


@contextmanager
def keeping(
    given: Any,
    title: str,
    prints: Callable[[], Mapping[str, str]],
    parts: Iterable[Any] = (),
    joined: bool = False,
) -> Iterator[Store | None]:
    """Keep finished work in the given folder inside a ``with`` block; None keeps nothing.

    `prints` has a hash for each thing that the work depends on, by the name that a user knows it by; `parts`
    are things of the user's own that pieces of work may hold. Work that is `joined` is a part of that around
    it, and is kept with it.
    """
    if given is None:
        with at(current() if joined else None) as around:
            yield around
        return
    asked = given if isinstance(given, Checkpoint) else Checkpoint(given)
    if not is_folder(asked.folder) or not os.fspath(asked.folder):
        raise TypeError(
            f"checkpoint={shown(given)} was given; expected the path of a folder, a Checkpoint, or None."
        )
    folder = Path(os.path.abspath(asked.folder))
    with _locked(folder, _folder(folder)):
        known = {**prints(), **_versions()}
        _require_same(folder, title, known)
        run = hashlib.sha256(json.dumps([title, known]).encode()).hexdigest()
        store = Store(str(folder), run, names_in(parts))
        with at(store):
            yield store
        if asked.remove:
            clear(folder)


def is_folder(given: Any) -> bool:
    """Tell whether this is a folder for finished work."""
    return isinstance(given, str | os.PathLike | Checkpoint)


def require_number(checkpoint: Any, random_state: Any) -> None:
    """Raise an error if other rows, permutations or weights would be drawn the next time."""
    if checkpoint is not None and random_state is None:
        raise ValueError(
            "checkpoint was given without random_state; give a whole number, to draw the same again."
        )


def print_of(name: str, value: Any) -> str:
    """Hash any value; functions are known by their name."""
    if name == "X" and isinstance(value, str | os.PathLike) and os.path.isfile(value):
        with named(value), open(value, "rb") as file:
            return hashlib.file_digest(file, "sha1").hexdigest()
    if hasattr(value, "__dask_graph__"):
        return str(getattr(value, "name", None) or getattr(value, "_name", ""))
    if isinstance(value, np.random.RandomState | np.random.Generator):
        raise ValueError(
            f"{name}={shown(value)} was given with checkpoint; its draws depend on earlier "
            "draws, so that kept work could not be continued. Give a whole number."
        )
    try:
        return fingerprint(value)
    except Exception as error:
        raise ValueError(
            f"{name}={shown(value)} was given with checkpoint, and holds something that other processes "
            "cannot know again (a lambda, or a function inside of a function). Define it at the top of a "
            "module, or leave checkpoint out."
        ) from error


def prints_of(estimator: Any, given: Mapping[str, Any]) -> dict[str, str]:
    """Hash everything that a fit depends on, by name: its arguments, and all parameters."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name not in FREE}
    return {name: print_of(name, value) for name, value in {**given, **params}.items()}


def _versions() -> dict[str, str]:
    ours = sys.modules[__name__.partition(".")[0]]  # which gathers from everywhere, and is imported by now
    modules = {"manykernels": ours, "numpy": np, "scipy": scipy, "scikit-learn": sklearn}
    found = {f"the version of {name}": module.__version__ for name, module in modules.items()}
    return found | {"the version of Python": platform.python_version()}


# -- the folder -----------------------------------------------------------------------------------
def _folder(folder: Path) -> Path:
    """Return the folder, made if there is none; a folder with other files is refused."""
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"checkpoint={os.fspath(folder)!r} is a file; give the path of a folder.")
    with named(folder):
        folder.mkdir(parents=True, exist_ok=True)
        names = os.listdir(folder)
    if _ABOUT not in names and any(name != _LOCK and not name.startswith(f".{_ABOUT}") for name in names):
        raise FileExistsError(
            f"checkpoint={os.fspath(folder)!r} holds other files, and no work that was kept. Give a folder "
            "that is empty, or the name of a new one."
        )
    return folder / _LOCK


def _require_same(folder: Path, title: str, known: dict[str, str]) -> None:
    """Write what the work depends on, or raise an error that names what has changed."""
    path = folder / _ABOUT
    if not path.exists():
        told = {"format": FORMAT, "title": title, "prints": known}
        write_atomically(path, json.dumps(told, indent=1).encode())
        return
    try:
        told = json.loads(path.read_bytes())
        before, kind, by = dict(told["prints"]), str(told["title"]), int(told["format"])
    except (ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} is damaged. Delete the folder, or give checkpoint= another one.") from error
    if by != FORMAT or kind != title:
        raise ValueError(
            f"checkpoint={os.fspath(folder)!r} holds the work of {kind} (format {by}), and this is {title} "
            f"(format {FORMAT}). Give another folder."
        )
    names = [*known, *(name for name in before if name not in known)]
    other = [name for name in names if before.get(name) != known.get(name)]
    if other:
        were = "is not what it was" if len(other) == 1 else "are not what they were"
        raise ValueError(
            f"checkpoint={os.fspath(folder)!r} holds work that was done with something else: "
            f"{and_more(other, 8)} {were}. Give the same again, or another folder."
        )


def clear(folder: str | os.PathLike[str]) -> None:
    """Remove what was kept in a folder, and the folder if nothing else is in it.

    Where a file cannot be removed, that is told; the work itself is done.
    """
    path = Path(folder)
    parts = path.glob(".*.part")  # which a process left that was killed while it wrote
    try:
        for file in [*path.glob(f"*{PIECE}"), *parts, path / _ABOUT, path / _LOCK]:
            with suppress(FileNotFoundError):
                file.unlink()
    except OSError as error:
        warn(f"{error.strerror}: {os.fspath(folder)} is not removed. Delete it.")
        return
    with suppress(OSError):
        path.rmdir()


@contextmanager
def _locked(folder: Path, path: Path) -> Iterator[None]:
    """Lock the folder against other processes inside a ``with`` block."""
    with named(path):
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        with named(path):
            _require_free(handle, folder)
        with suppress(OSError):
            os.ftruncate(handle, 0)
            os.pwrite(handle, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
        yield
        with suppress(OSError):
            os.ftruncate(handle, 0)  # whoever comes next need not wonder
    finally:
        with suppress(OSError):  # nothing was written to it that anybody needs
            os.close(handle)


def _require_free(handle: int, folder: Path) -> None:
    """Raise an error if another process has the lock; one that has ended has none, however it ended."""
    try:
        owner = json.loads(os.pread(handle, 4096, 0) or b"{}")
        pid, host = int(owner.get("pid", 0)), str(owner.get("host", ""))
    except (ValueError, AttributeError, TypeError):
        pid, host = 0, ""
    taken = False
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            taken = True
        except OSError:  # a file system without locks
            taken = _lives(pid, host)
    else:
        taken = _lives(pid, host)
    if taken:
        raise BlockingIOError(
            f"checkpoint={os.fspath(folder)!r} is in use by process {pid} on {host or 'another machine'}. "
            "Wait until it has ended, or give another folder."
        )


def _lives(pid: int, host: str) -> bool:
    """Whether a process is known to run, or may do so on another machine."""
    if not pid or pid == os.getpid():
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
