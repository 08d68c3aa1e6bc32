"""A wish to stop: Ctrl-C, or time that is up, ends a solver with what it has, in place of nothing."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_wish = threading.Event()
_end: ContextVar[float] = ContextVar("_end", default=float("inf"))  # of the clock, for this thread


@contextmanager
def stoppable(said: Callable[[], None] | None = None) -> Iterator[threading.Event]:
    """Within the block the first Ctrl-C asks solvers to stop; a second one interrupts as ever.

    A solver that is asked ends at its next iteration, as if that were `max_iter`, with the weights, machine
    and gap that it has. What takes long before its first iteration, such as kernel matrices, goes on first.
    Gives what tells whether somebody asked; `said` is called at the first Ctrl-C. Python lets signals be
    handled in the main thread alone: in others the block changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return

    def ask(signum: int, frame: FrameType | None) -> None:
        if _wish.is_set():
            raise KeyboardInterrupt
        _wish.set()
        if said is not None:
            said()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield _wish
    finally:
        signal.signal(signal.SIGINT, before)
        _wish.clear()


def goes_on(iteration: int, max_iter: int) -> bool:
    """Whether an iteration may follow: there are some left, time is not up, and nobody asked to stop."""
    return iteration < max_iter and not _wish.is_set() and time.monotonic() < _end.get()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Within the block solvers and searches stop after so many seconds, as if somebody had asked them to."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)
