"""Models in files: a file is written whole or not at all, and reading it runs no code from the file.

``save`` and ``load`` use the format of skops: a zip archive of arrays and a description of objects, with a
checksum over all of it. ``load`` checks the file before it builds anything. It builds only classes of this
package, types of scikit-learn, NumPy and SciPy that skops knows to be harmless, scikit-learn's splitters, and
the types that the caller names. Use this format for files that you send or receive. ``pickle`` and
``joblib.dump`` work too and save any function of yours, but loading such a file runs any code that it
contains. Use them only for files that nobody else could have changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

from .._archives import ArchiveError, TooLargeError, shown
from .._arguments import and_more
from .._files import is_model, named, require_replaceable, write_atomically
from .._warn import warn
from ..grams.memory import parse_memory, readable
from ._contents import FORMAT, ModelFileError, describe, require_known, unpack
from ._flat import Flat, flatten, is_flat, unflatten
from ._frames import NotInstalledError, swap
from ._trust import find, full_name, our_class, splitter

__all__ = ["FORMAT", "ModelFileError", "load", "save"]

_HARMLESS = frozenset({"numpy.dtype", full_name(Flat)})  # skops asks about the type of an array too
_LARGEST = 4 << 30  # bytes that a model may take, unless more are allowed


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write a model to a file, whole or not at all.

    Parameters
    ----------
    model : estimator
        An estimator of this package, or a scikit-learn pipeline, search or ensemble that holds some.
    path : str or path
        The file to write. A model that is there already is replaced once the new one is complete.
    overwrite : bool, default=False
        With False, a file that is not a model is never replaced. With True, any file is.

    Raises
    ------
    FileExistsError
        If the file exists and is not a model, unless ``overwrite=True``.
    ModelFileError
        If the model holds something that cannot be saved safely.

    See Also
    --------
    load : Reads the model.

    Notes
    -----
    Functions of your own inside the model (``Callable(f)``) must be defined at the top of a module, so that
    another process can import them. ``load`` builds them only if you name them in ``trusted``. ``save`` warns
    of them and lists their names.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import manykernels as mk
    >>> X, y = load_iris(return_X_y=True)
    >>> model = mk.MKLClassifier(loss="squared").fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mk")
    >>> mk.save(model, path)
    >>> bool((mk.load(path).predict(X) == model.predict(X)).all())
    True
    """
    io_ = skops_io()
    require_replaceable(path, is_model, "a model that save(model, path) wrote", overwrite)
    try:
        data = io_.dumps(_packed(model), compression=ZIP_DEFLATED, compresslevel=1)
    except (TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{type(model).__name__} holds something that cannot be saved safely: "
            f"{str(error).removesuffix('.')}. Remove it from the model, or save the model by pickle."
        ) from error
    found = io_.get_untrusted_types(data=data)
    lost = [name for name in found if find(name) is None]
    if lost:
        raise ModelFileError(
            f"{type(model).__name__} holds {_names_told(lost)}, which no other process can import by that "
            "name. Define it at the top of a module, or save the model by pickle or cloudpickle."
        )
    try:
        whole = describe(data, type(model).__name__)
    except ArchiveError as error:  # which load would refuse
        raise ModelFileError(
            f"{type(model).__name__} cannot be saved: load would refuse the file, since {error}. Save the "
            "model by pickle."
        ) from error
    write_atomically(path, whole)
    if asked := _unknown(found, set()):
        warn(
            f"{os.fspath(path)} holds {_names_told(asked)}, which load builds only if you name it: "
            f"{_trusting(asked)}."
        )


def load(
    path: str | os.PathLike[str], trusted: Iterable[str] = (), memory_limit: int | float | str | None = None
) -> Any:
    """Read a model that ``save`` wrote.

    The whole file is checked before any object is built. A file that was changed or damaged after it was
    written does not match its checksum and is refused. The checksum does not show who wrote the file. So the
    types in the file are checked too: a file that names an unknown type is refused.

    Parameters
    ----------
    path : str or path
        The file.
    trusted : iterable of str, default=()
        Full names, such as "mymodule.myfunction", of functions and classes that the file may use beside those
        that are always trusted. If a file is refused, the error lists the names that it needs.
    memory_limit : int, float, str or None, default=None
        The memory that loading may take: a number of bytes, or a text such as "8GB". The sizes in the archive
        are checked before anything is unpacked. None means 4 GB, or half of the free memory if that is less.

    Returns
    -------
    estimator
        The model.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or too large, was written by a newer version, or holds types
        that are not trusted.
    TypeError
        If ``trusted`` is a single text in place of a list.

    See Also
    --------
    save : Writes the model.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> import manykernels as mk
    >>> X, y = load_iris(return_X_y=True)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.mk")
    >>> mk.save(mk.MKLClassifier(loss="squared").fit(X, y), path)
    >>> mk.load(path)
    MKLClassifier(loss='squared')
    """
    io_ = skops_io()
    if isinstance(trusted, str):
        raise TypeError(
            f"trusted={trusted!r} was given; expected a list of full names: trusted=[{trusted!r}]."
        )
    limit = parse_memory(memory_limit)
    limit = min(_LARGEST, limit) if memory_limit is None else limit
    name = os.fspath(path)
    with named(path):
        data = _read(path, limit)
    try:
        if data is None:
            raise TooLargeError(f"it has more than the {readable(limit)} that are allowed")
        return _build(io_, data, set(trusted), limit, name)
    except (ModelFileError, MemoryError):  # too little memory is no fault of the file
        raise
    except TooLargeError as error:
        raise ModelFileError(
            f"{name} was not loaded: {error}. If you know where the file comes from, allow more: "
            "load(path, memory_limit='16GB'), for example."
        ) from error
    except NotInstalledError as error:  # there is nothing wrong with the file
        raise ModelFileError(f"{name} was not loaded: {error}.") from error
    except ArchiveError as error:
        raise ModelFileError(
            f"{name} cannot be read as a model: {error}. Write it again by save(model, path)."
        ) from error
    except Exception as error:  # a wrong description of objects can raise any error
        raise ModelFileError(_misfit(name, error)) from error


def _read(path: str | os.PathLike[str], limit: int) -> bytes | None:
    """Read the beginning of a file, and all of it if it may be an archive; None if it is too large."""
    with Path(path).open("rb") as file:
        start = file.read(2)
        if os.fstat(file.fileno()).st_size > limit:
            return None
        return start + (file.read() if start == b"PK" else b"")


def _build(io_: Any, data: bytes, trusted: set[str], limit: int, name: str) -> Any:
    if not data.startswith(b"PK"):
        raise ArchiveError("it is cut off, or it is not a model at all")
    whole = unpack(data, limit, lambda about: require_known(about, name))
    found = io_.get_untrusted_types(data=whole)
    _require_trusted(found, trusted, name)
    return _unpacked(io_.loads(whole, trusted=found))


def _misfit(name: str, error: Exception) -> str:
    return (
        f"{name} cannot be read as a model: it is complete, but an object in it cannot be built here "
        f"({type(error).__name__}: {shown(error)}). Either it was written with other versions of "
        "scikit-learn, NumPy, pandas or skops, or it was changed by hand. Write it again by "
        "save(model, path)."
    )


def skops_io() -> Any:
    """Import the package that writes and reads models, or say how to install it."""
    try:
        import skops.io as io_
    except ImportError as error:
        raise ImportError(
            "save and load need the package skops: pip install 'manykernels[cli]'. pickle works without it."
        ) from error
    return io_


# -- what skops sees ------------------------------------------------------------------------------
def _packed(model: Any) -> Any:
    """Replace the objects of this package by records, so that skops can save the model."""
    done: dict[int, tuple[Any, Any]] = {}

    def pack(value: Any) -> Any:
        if not is_flat(value):
            return value
        flat = flatten(value)
        flat.leaves = [swap(leaf, pack, done) for leaf in flat.leaves]
        return flat

    return swap(model, pack, done)


def _unpacked(built: Any) -> Any:
    """Rebuild the model from the records of ``_packed``."""
    done: dict[int, tuple[Any, Any]] = {}

    def unpack(value: Any) -> Any:
        if not isinstance(value, Flat):
            return value
        value.leaves = [swap(leaf, unpack, done) for leaf in value.leaves]
        return unflatten(value)

    return swap(built, unpack, done)


# -- what may be built ----------------------------------------------------------------------------
def _require_trusted(found: Iterable[str], trusted: set[str], path: str) -> None:
    unknown = _unknown(found, trusted)
    if unknown:
        raise ModelFileError(
            f"{path} was not loaded: it holds {_names_told(unknown)}. Only types of this package, and "
            "harmless types of scikit-learn, NumPy and SciPy, are loaded without being named. If you know "
            f"what these are and where the file comes from, name them: {_trusting(unknown)}."
        )


def _unknown(found: Iterable[str], trusted: set[str]) -> list[str]:
    """Return the names that are trusted only if the caller names them."""
    return sorted(
        name
        for name in set(found) - trusted
        if name not in _HARMLESS and our_class(name) is None and splitter(name) is None
    )


def _trusting(names: list[str]) -> str:
    """Return the call that loads a file with these names."""
    return f"load(path, trusted={[shown(name) for name in names[:5]]!r})"


def _names_told(names: list[str]) -> str:
    """Format names from a file for a message."""
    return and_more([shown(name) for name in names], 10)
