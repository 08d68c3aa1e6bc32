"""Finished work by name: pieces of it in a folder, which a second process reads in place of doing them again.

Whoever does work that takes long asks for it by name (`kept`). Where somebody above asked for a folder
(`selection/checkpoint.py`), it is read from there, or done and written. A pass over many rows keeps what it
has come to (`gone_through`). Each piece is one file, written whole or not at all, with a checksum.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

import joblib
import numpy as np

from ._arguments import shown
from ._fast.stopping import goes_on
from ._files import named, write_atomically
from ._warn import warn

Value = TypeVar("Value")
Name = tuple[str, str]  # of a class or function: its module, and its name in it
PIECE = ".piece"
_HEAD = b"manykernels piece 1\n"
_SHARE = 0.01  # of the time of a pass that writing may take
_COST, _SPEED = 0.005, 2e8  # seconds of a write, and bytes a second, until it is known
# What pieces are made of beside classes of this package: arrays and numbers.
_PLAIN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("builtins", "slice"),
    ("builtins", "range"),
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("builtins", "complex"),
    *(
        (f"numpy.{core}.{module}", name)
        for core in ("core", "_core")
        for module, name in (
            ("multiarray", "_reconstruct"),
            ("multiarray", "scalar"),
            ("numeric", "_frombuffer"),
        )
    ),
}


@dataclass(frozen=True)
class Store:
    """The pieces of one call: files of a folder. Other processes may be handed it, and write their own."""

    folder: str
    run: str  # of all that the call was given
    trusted: frozenset[Name] = frozenset()  # what the call was given, which pieces may hold

    def path(self, key: tuple[Any, ...]) -> Path:
        """Return where the piece of this name is, or would be."""
        return Path(self.folder) / f"{_hash(repr((self.run, key)).encode())[:32]}{PIECE}"

    def part(self, *name: Any) -> Store:
        """The same folder for a part of the work, whose pieces are called as those of other parts are."""
        return replace(self, run=_hash(repr((self.run, "part", name)).encode()))

    def read(self, key: tuple[Any, ...]) -> Any:
        """The piece; KeyError where there is none, or what is there is damaged."""
        path = self.path(key)
        try:
            with named(path):
                data = path.read_bytes()
        except FileNotFoundError:
            raise KeyError(key) from None
        start = len(_HEAD) + 65
        if data[: len(_HEAD)] != _HEAD or data[len(_HEAD) : start - 1] != _hash(data[start:]).encode():
            warn(f"{path} is damaged; what it held is computed anew.")
            raise KeyError(key)
        try:
            return _Reader(data[start:], self.trusted).load()
        except pickle.UnpicklingError as error:
            warn(f"{path} is not read, since {error}; what it held is computed anew.")
            raise KeyError(key) from error

    def write(self, key: tuple[Any, ...], value: Any) -> None:
        """Keep a piece. Where it cannot be written the work goes on, with a warning.

        What holds objects of other packages, which no file may name, is not kept.
        """
        try:
            body = _dumped(value, self.trusted)
        except pickle.PicklingError:
            return
        try:
            write_atomically(self.path(key), _HEAD + _hash(body).encode() + b"\n" + body)
        except OSError as error:
            warn(
                f"{error.strerror}: {self.folder} keeps no more work; what is done from here on may be lost."
            )


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def fingerprint(value: Any) -> str:
    """A hash of a value, whatever it is made of; functions are known by their name."""
    return str(joblib.hash(value, hash_name="sha1"))


# -- what pieces may hold -------------------------------------------------------------------------
class _Reader(pickle.Unpickler):
    """Builds arrays, numbers and objects of this package, and runs nothing else that a file names."""

    def __init__(self, data: bytes, trusted: frozenset[Name]) -> None:
        super().__init__(io.BytesIO(data))
        self._trusted = trusted

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN or (module, name) in self._trusted:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module.startswith("manykernels.") else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"it holds {shown(f'{module}.{name}')}")
        return found


class _Writer(pickle.Pickler):
    """Notes the classes and functions that a value holds; without `noted`, refuses what is not to be read."""

    def __init__(self, file: io.BytesIO, trusted: frozenset[Name], noted: set[Name] | None = None) -> None:
        super().__init__(file, protocol=5)
        self._trusted, self._noted = trusted, noted

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, type | FunctionType | BuiltinFunctionType):
            name = str(obj.__module__), obj.__qualname__
            if self._noted is not None:
                self._noted.add(name)
            elif not (name in _PLAIN or name in self._trusted or _is_our_class(obj)):
                raise pickle.PicklingError(f"it holds {shown('.'.join(name))}")
        return NotImplemented


def _is_our_class(obj: Any) -> bool:
    return isinstance(obj, type) and obj.__module__.startswith("manykernels.")


def _dumped(value: Any, trusted: frozenset[Name], noted: set[Name] | None = None) -> bytes:
    file = io.BytesIO()
    try:
        _Writer(file, trusted, noted).dump(value)
    except (AttributeError, TypeError) as error:  # of what has no name, and of what cannot be written
        raise pickle.PicklingError(str(error)) from error
    return file.getvalue()


def names_in(parts: Iterable[Any]) -> frozenset[Name]:
    """The classes and functions that these parts hold, as far as they can be written."""
    noted: set[Name] = set()
    for part in parts:
        with suppress(pickle.PicklingError):
            _dumped(part, frozenset(), noted)
    return frozenset(noted)


# -- doing work -----------------------------------------------------------------------------------
_store: ContextVar[Store | None] = ContextVar("_store", default=None)


def current() -> Store | None:
    """Return where work is kept, if anybody asked for it."""
    return _store.get()


@contextmanager
def at(store: Store | None) -> Iterator[Store | None]:
    """Inside, this is where work is kept."""
    token = _store.set(store)
    try:
        yield store
    finally:
        _store.reset(token)


@contextmanager
def part(*name: Any) -> Iterator[None]:
    """Inside, pieces are those of a part of the work, with names of its own."""
    store = current()
    with at(None if store is None else store.part(*name)):
        yield


def kept(
    store: Store | None,
    key: tuple[Any, ...],
    work: Callable[..., Value],
    *args: Any,
    thrift: Thrift | None = None,
) -> Value:
    """Return what ``work(*args)`` gives, from the store where it was done before, and into it where not.

    Work during which somebody asked to stop is unfinished, and not kept; nor is what is not worth it
    (`thrift`).
    """
    if store is None:
        return work(*args)
    with suppress(KeyError):
        value: Value = store.read(key)
        return value
    with at(None):  # names of pieces within this one would mean something else
        value = work(*args)
    if not goes_on(0, 1):
        return value
    if thrift is None:
        store.write(key, value)
    else:
        thrift.write(store, key, value)
    with suppress(KeyError):  # the very same that a second run will read
        value = store.read(key)
    return value


class Thrift:
    """Keeps what is worth it: since this was made, a hundredth of the time goes into writing at most.

    Which pieces there are depends on the clock, and what is learned does not.
    """

    def __init__(self) -> None:
        self._begun, self._spent, self._speed = time.monotonic(), 0.0, _SPEED

    def affords(self, value: Any) -> bool:
        """Tell whether it is time to write this."""
        cost = _COST + _bytes(value) / self._speed
        return self._spent + cost <= _SHARE * (time.monotonic() - self._begun)

    def write(self, store: Store, key: tuple[Any, ...], value: Any) -> None:
        """Keep it if it is time to."""
        if not self.affords(value):
            return
        began = time.monotonic()
        store.write(key, value)
        seconds = time.monotonic() - began
        self._spent += seconds
        self._speed = min(self._speed, max(_bytes(value), 1.0) / max(seconds - _COST, 1e-9))


def _bytes(value: Any) -> float:
    """About how many a value has on disk."""
    if isinstance(value, np.ndarray):
        return float(value.nbytes)
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return sum(map(_bytes, vars(value).values())) if hasattr(value, "__dict__") else 8.0


def gone_through(
    store: Store | None, key: tuple[Any, ...], count: int, state: Value, step: Callable[[int, Value], Value]
) -> Value:
    """``step(k, state)`` for k = 0 … count − 1, each with what the last one gave.

    What it has come to is kept now and then, always in the same piece, and gone on from.
    """
    first, thrift = 0, Thrift()
    if store is not None:
        with suppress(KeyError):
            first, state = store.read(key)
    for k in range(first, count):
        state = step(k, state)
        if store is not None:
            thrift.write(store, key, (k + 1, state))
    return state
