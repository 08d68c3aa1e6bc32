"""Decorators that compile functions, and a faster one for those that only compiled functions call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit
from numba.core import event


def inner(**options: Any) -> Any:
    """``njit`` without an entrance from Python or C, which takes longer to compile than most small loops.

    Nor is such a function cached by itself: its code is a part of the cached functions that call it, which
    must be in the same file, since a cached function is compiled anew when its own file has changed.
    """
    without: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # options that numba's types lack
    return njit(**without, **options)


class _Names(event.Listener):
    def __init__(self) -> None:
        self.names: list[str] = []

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        function = event.data["dispatcher"].py_func
        if function.__module__.startswith(__name__.partition(".")[0]):
            self.names.append(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")


@contextmanager
def compiling() -> Iterator[list[str]]:
    """The functions of this package that are compiled meanwhile and not read from the cache, by name."""
    listener = _Names()
    with event.install_listener("numba:compile", listener):
        yield listener.names
