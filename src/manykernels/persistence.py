"""Models in files: written all or not at all, and read without running code that a file brings along.

``save`` and ``load`` use the format of skops, a zip archive of arrays and a description of objects. Unlike a
pickle, it can be looked at before anything is built from it: ``load`` builds only types of scikit-learn,
NumPy and SciPy that skops knows to be harmless, classes of this package, and what the caller names. Take it
for files that travel. ``pickle`` and ``joblib.dump`` work too, take any function of yours, and run whatever
a file tells them to: for files that never left your hands.
"""

from __future__ import annotations

import importlib
import io
import json
import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, BadZipFile, ZipFile

import numpy as np

import manykernels

from .families._tables import column_of, holds_numbers

FORMAT = 1  # of the file; a change that an older version cannot read raises it
_ABOUT = "manykernels.json"
# The parts whose classes models are made of; the others (a command line, say) have no business in a file.
_PARTS = (
    "kernels approx losses penalties families grams oracles machines objectives weightings solvers estimators"
).split()
_HARMLESS = frozenset({"numpy.dtype"})  # of an array that the file holds; skops asks about it nevertheless


class ModelFileError(ValueError):
    """A file that does not hold a model which this version can, or should, load."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : an estimator of this package, or a scikit-learn pipeline, search or ensemble that holds some
    path : where to; a file that is there already is replaced once the new one is complete.

    Functions of your own inside the model (``Callable(f)``) must have a name that can be imported, and then
    ``load`` wants to be told that they are trusted.
    """
    io_ = _skops()
    try:
        data = io_.dumps(_swap(model, _pack), compression=ZIP_DEFLATED, compresslevel=1)
    except (TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{type(model).__name__} holds something that cannot be saved safely: {error} pickle can save it."
        ) from error
    lost = [name for name in io_.get_untrusted_types(data=data) if _find(name) is None]
    if lost:
        raise ModelFileError(
            f"{type(model).__name__} holds {_listed(lost)}, which no other process can import by that name. "
            "Define it at the top of a module, or save the model by pickle or cloudpickle."
        )
    buffer = io.BytesIO(data)
    about = {"format": FORMAT, "version": manykernels.__version__, "model": type(model).__name__}
    with ZipFile(buffer, "a") as archive:
        archive.writestr(_ABOUT, json.dumps(about))
    write_atomically(path, buffer.getvalue())


def load(path: str | os.PathLike[str], trusted: Iterable[str] = ()) -> Any:
    """The model that ``save`` wrote; nothing of a file is built before all of it is known to be harmless.

    Parameters
    ----------
    path : the file
    trusted : full names, such as "mymodule.myfunction", that may be imported beside the types of this
        package and those that skops trusts. What a refused file holds is listed in the error.
    """
    io_ = _skops()
    with Path(path).open("rb") as file:
        start = file.read(2)
        data = start + (file.read() if start == b"PK" else b"")  # other files may be large
    about = _about(data, path)
    _require_known(about, path)
    try:
        found = io_.get_untrusted_types(data=data)
        unknown = sorted(name for name in set(found) - set(trusted) if not _is_ours(name))
        if unknown:
            raise ModelFileError(
                f"{os.fspath(path)} was not loaded: it holds {_listed(unknown)}, and only types of this "
                "package and of scikit-learn, NumPy and SciPy are trusted. If you know what these are and "
                f"where the file comes from, say so: load(path, trusted={unknown[:5]!r})."
            )
        return _swap(io_.loads(data, trusted=found), _unpack)
    except ModelFileError:
        raise
    except Exception as error:  # a damaged file fails in as many ways as it has bytes
        raise ModelFileError(_damaged(path, error)) from error


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file such that at any time there is either the old one or all of the new one."""
    target = Path(os.path.realpath(path))  # a link stays one
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)} is a folder; give the name of a file.")
    if target.exists() and not target.is_file():  # a device or a pipe, which is written to and never replaced
        target.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _skops() -> Any:
    try:
        import skops.io as io_
    except ImportError as error:
        raise ImportError(
            "save and load need the package skops: pip install 'manykernels[cli]'. pickle works without it."
        ) from error
    return io_


# -- what a file says of itself -------------------------------------------------------------------
def _about(data: bytes, path: Any) -> dict[str, Any]:
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            if _ABOUT not in archive.namelist():
                raise ModelFileError(
                    f"{os.fspath(path)} is not a model of manykernels: it was not written by save(model, "
                    "path). Files of skops are for skops.io.load."
                )
            about = json.loads(archive.read(_ABOUT))
        return {"format": int(about["format"]), "version": str(about["version"])}
    except ModelFileError:
        raise
    except Exception as error:
        raise ModelFileError(_damaged(path, error)) from error


def _require_known(about: dict[str, Any], path: Any) -> None:
    """An error where the file is of a newer version, whose models this one might misread."""
    ours = manykernels.__version__
    if about["format"] > FORMAT or _numbers(about["version"]) > _numbers(ours):
        raise ModelFileError(
            f"{os.fspath(path)} was written by manykernels {about['version']} (format {about['format']}), "
            f"and this is {ours} (format {FORMAT}). Install that version, or a newer one."
        )


def _numbers(version: str) -> tuple[int, ...]:
    parts = (part for part in version.split(".")[:3])
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)


def _damaged(path: Any, error: Exception) -> str:
    why = "it is cut off or not a model at all" if isinstance(error, BadZipFile | EOFError) else str(error)
    return f"{os.fspath(path)} cannot be read as a model: {why}. Write it again by save(model, path)."


# -- what may be built ----------------------------------------------------------------------------
def _is_ours(name: str) -> bool:
    """Whether a name is that of a class which a model of this package may hold.

    The beginning of the name alone proves nothing: the class is looked up, and must have been defined there.
    Importing a module of this package runs no other code than the package's own.
    """
    if name in _HARMLESS or name == f"{__name__}.{_Frame.__name__}":
        return True
    parts = name.split(".")
    if len(parts) < 3 or parts[0] != "manykernels" or parts[1] not in _PARTS:
        return False
    found = _find(name)
    return isinstance(found, type) and found.__module__ == name.rpartition(".")[0]


def _find(name: str) -> Any:
    """What a full name stands for, or None."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None) if module else None
    except (ImportError, ValueError):
        return None


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


# -- frames, which skops does not know ------------------------------------------------------------
class _Frame:
    """The columns of a frame that a model keeps: numbers, or lists of text."""

    def __init__(self, library: str, names: list[Any], columns: list[Any]) -> None:
        self.library, self.names, self.columns = library, names, columns


def _pack(value: Any) -> Any:
    library = type(value).__module__.split(".")[0]
    if library not in ("pandas", "polars") or not hasattr(value, "columns"):
        return value
    columns = [_plain(column_of(value, j)) for j in range(value.shape[1])]
    return _Frame(library, list(value.columns), columns)


def _plain(column: Any) -> Any:
    if holds_numbers(column):
        return np.asarray(column, dtype=np.float64)
    return [None if v is None or v != v else str(v) for v in column]


def _unpack(value: Any) -> Any:
    if not isinstance(value, _Frame):
        return value
    library = importlib.import_module(value.library)
    if value.library == "polars":
        return library.DataFrame(dict(zip(value.names, value.columns, strict=True)))
    frame = library.DataFrame(dict(enumerate(value.columns)))
    frame.columns = value.names
    return frame


def _swap(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]] | None = None) -> Any:
    """A copy of an object with some things inside it changed; what holds none of them is not copied.

    What is the same object in several places is so afterwards too: models compare their samples by identity.
    """
    done = {} if done is None else done
    if id(value) in done:
        return done[id(value)][1]
    new = change(value)
    if new is value:
        new = _swap_inside(value, change, done)
    done[id(value)] = value, new  # the old one too, lest its id be used again
    return new


def _swap_inside(value: Any, change: Callable[[Any], Any], done: dict[int, tuple[Any, Any]]) -> Any:
    if type(value) in (list, tuple):
        items = [_swap(item, change, done) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else type(value)(items)
    if type(value) is dict:
        pairs = {key: _swap(item, change, done) for key, item in value.items()}
        return value if all(pairs[key] is value[key] for key in value) else pairs
    if type(value).__module__.split(".")[0] not in ("manykernels", "sklearn") or isinstance(value, type):
        return value
    state = getattr(value, "__dict__", {})
    inner = {key: _swap(item, change, done) for key, item in state.items()}
    if all(inner[key] is state[key] for key in state):
        return value
    new = copy(value)
    new.__dict__.update(inner)
    return new
