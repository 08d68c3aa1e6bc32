"""Objects of this package in a file: each object is written once, all of them in one text and one array.

skops alone would be slow. It writes an object again in each place where it occurs. It writes each array as a
member of its own, and searches all members for each new one. A model with 3,000 kernels on the same samples,
or with 1,000 columns, then takes a minute. So the objects of this package, their contents and small arrays
become one list of nodes. A node refers only to nodes before it. A file can therefore hold no cycles, and
objects cannot grow while they are read. skops saves the rest (``leaves``): functions, large arrays and
estimators of scikit-learn.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter, signature
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from .._archives import ArchiveError, shown
from ._frames import Frame, as_frame, frame_of, is_frame
from ._trust import full_name, our_class

_PLAIN = (type(None), bool, int, float, str)
_KINDS = "biufcUS"  # of arrays whose bytes say everything
_DTYPE = re.compile(rf"[<>|][{_KINDS}][1-9][0-9]{{0,4}}")
_SMALL = 1 << 16  # bytes; larger arrays are members of their own
_FRAME = "Frame"
_ODD = "it refers to its objects in a way that save(model, path) never does"


class Flat:
    """Objects as a text (nodes in JSON), the bytes of their small arrays, and the objects left to skops."""

    def __init__(self, text: Any, pool: Any, leaves: list[Any]) -> None:
        self.text, self.pool, self.leaves = text, pool, leaves


# -- writing --------------------------------------------------------------------------------------
def is_flat(value: Any) -> bool:
    """Tell whether ``flatten`` takes a value apart: an object of this package, or a frame."""
    return is_frame(value) or our_class(full_name(type(value))) is type(value)


def flatten(value: Any) -> Flat:
    """Turn an object of this package into a record that skops can save."""
    writer = _Writer()
    root = writer.put(value)
    described = {"classes": list(writer.classes), "nodes": writer.nodes, "root": root}
    text = np.frombuffer(json.dumps(described, separators=(",", ":")).encode("ascii"), dtype=np.uint8)
    return Flat(text, np.frombuffer(b"".join(writer.pool), dtype=np.uint8), writer.leaves)


class _Writer:
    """Write values as nodes: a plain value stands for itself, and [i] for node i."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.classes: dict[str, int] = {}
        self.pool: list[bytes] = []
        self.leaves: list[Any] = []
        self._known: dict[int, tuple[Any, int]] = {}  # keeps the value alive, so that no other gets its id

    def put(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if id(value) not in self._known:
            node = self._node(value)
            self._known[id(value)] = value, len(self.nodes)
            self.nodes.append(node)
        return [self._known[id(value)][1]]

    def _node(self, value: Any) -> list[Any]:
        kind = type(value)
        if kind in (list, tuple):
            return [kind.__name__, [self.put(item) for item in value]]
        if kind is dict and all(_is_key(key) for key in value):
            return ["dict", [[_key(key), self.put(item)] for key, item in value.items()]]
        if kind in (set, frozenset) and all(_is_key(key) for key in value):
            return [kind.__name__, [_key(key) for key in value]]
        if kind is slice:
            return ["slice", [self.put(end) for end in (value.start, value.stop, value.step)]]
        if kind is bytes:
            self.pool.append(value)
            return ["bytes", len(value)]
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        return self._object(value)

    def _array(self, value: Any) -> list[Any]:
        if type(value) is np.ndarray and value.dtype == object:
            return ["objects", list(value.shape), [self.put(item) for item in value.ravel().tolist()]]
        if not _DTYPE.fullmatch(value.dtype.str) or value.nbytes > _SMALL:
            return self._leaf(value)
        if isinstance(value, np.generic):
            self.pool.append(value.tobytes())
            return ["scalar", value.dtype.str]
        if type(value) is not np.ndarray:
            return self._leaf(value)
        order: Literal["C", "F"] = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
        self.pool.append(value.tobytes(order))
        return ["array", value.dtype.str, list(value.shape), order]

    def _object(self, value: Any) -> list[Any]:
        if is_frame(value):
            return self._state(_FRAME, vars(frame_of(value)))
        name = full_name(type(value))
        state = value.__getstate__() if our_class(name) is type(value) else ()
        if state is None:
            state = {}
        return self._state(name, state) if type(state) is dict else self._leaf(value)

    def _state(self, name: str, state: dict[str, Any]) -> list[Any]:
        known = self.classes.setdefault(name, len(self.classes))
        return ["object", known, {key: self.put(item) for key, item in state.items()}]

    def _leaf(self, value: Any) -> list[Any]:
        self.leaves.append(value)
        return ["leaf", len(self.leaves) - 1]


def _is_key(key: Any) -> bool:
    return type(key) in _PLAIN or (type(key) is tuple and all(_is_key(item) for item in key))


def _key(key: Any) -> Any:
    """Write a key in full, without references: short references could make a key that takes ages to hash."""
    return [_key(item) for item in key] if type(key) is tuple else key


# -- reading --------------------------------------------------------------------------------------
def unflatten(flat: Flat) -> Any:
    """Rebuild the object from its record. Raise an ArchiveError if ``flatten`` cannot have written it."""
    try:
        described = json.loads(_bytes(flat.text))
        classes = [_class(name) for name in described["classes"]]
        reader = _Reader(classes, _bytes(flat.pool), flat.leaves)
        for node in described["nodes"]:
            reader.values.append(reader.build(node))
        return reader.get(described["root"])
    except ArchiveError:
        raise
    except (AttributeError, IndexError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise ArchiveError(_ODD) from error


def _bytes(given: Any) -> bytes:
    if type(given) is not np.ndarray or given.dtype != np.uint8 or given.ndim != 1:
        raise ArchiveError(_ODD)
    return given.tobytes()


def _class(name: Any) -> type:
    found = Frame if name == _FRAME else our_class(name) if isinstance(name, str) else None
    if found is None:
        raise ArchiveError(f"it holds {shown(name)}, which is not a class that models hold")
    return found


class _Reader:
    """Build nodes in their order; ``values`` holds the objects of the nodes built so far."""

    def __init__(self, classes: list[type], pool: bytes, leaves: list[Any]) -> None:
        self.classes, self.leaves, self.values = classes, leaves, list[Any]()
        self._pool, self._at = pool, 0
        self._makers: dict[str, Callable[..., Any]] = {
            "list": self._items,
            "tuple": lambda items: tuple(self._items(items)),
            "set": lambda keys: set(map(_unkey, keys)),
            "frozenset": lambda keys: frozenset(map(_unkey, keys)),
            "dict": lambda pairs: {_unkey(key): self.get(item) for key, item in pairs},
            "slice": lambda ends: slice(*self._items(ends)),
            "bytes": self._take,
            "scalar": lambda kind: self._array(kind, [], "C")[()],
            "array": self._array,
            "objects": self._objects,
            "object": self._object,
            "leaf": lambda index: leaves[_position(index)],
        }

    def build(self, node: Any) -> Any:
        kind, *given = node
        return self._makers[kind](*given)

    def get(self, value: Any) -> Any:
        if isinstance(value, list):
            (index,) = value
            return self.values[_position(index)]
        if isinstance(value, dict):
            raise ArchiveError(_ODD)
        return value

    def _items(self, items: list[Any]) -> list[Any]:
        return [self.get(item) for item in items]

    def _take(self, size: int) -> bytes:
        """Return the next bytes of the pool; each byte is used once."""
        start, self._at = self._at, self._at + _position(size)
        if self._at > len(self._pool):
            raise ArchiveError(_ODD)
        return self._pool[start : self._at]

    def _array(self, kind: str, shape: list[int], order: Any) -> Any:
        if not _DTYPE.fullmatch(kind) or order not in ("C", "F"):
            raise ArchiveError(_ODD)
        dtype = np.dtype(kind)
        flat = np.frombuffer(self._take(dtype.itemsize * math.prod(map(_position, shape))), dtype=dtype)
        return flat.reshape(shape, order=order).copy(order=order)

    def _objects(self, shape: list[int], items: list[Any]) -> Any:
        values = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            values[i] = self.get(item)
        return values.reshape([_position(size) for size in shape])

    def _object(self, kind: int, state: dict[str, Any]) -> Any:
        made: Any = object.__new__(self.classes[_position(kind)])
        made.__dict__.update(_defaults(self.classes[kind]))
        made.__dict__.update({key: self.get(item) for key, item in state.items()})
        return as_frame(made) if isinstance(made, Frame) else made


@cache
def _defaults(kind: type) -> dict[str, Any]:
    """Return the default parameters of an estimator: older files lack parameters that were added later."""
    if not (issubclass(kind, BaseEstimator) and hasattr(kind, "fit")):
        return {}
    given = signature(kind).parameters.values()
    return {one.name: one.default for one in given if one.default is not Parameter.empty}


def _position(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ArchiveError(_ODD)
    return value


def _unkey(key: Any) -> Any:
    return tuple(map(_unkey, key)) if isinstance(key, list) else key
