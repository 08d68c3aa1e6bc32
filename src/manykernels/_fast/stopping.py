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
    """Let the first Ctrl-C inside the block stop solvers, and the second one interrupt as usual.

    A solver that is asked to stop ends at its next iteration, as if that were `max_iter`. It returns the
    weights, the machine and the gap that it has. Work before the first iteration, such as kernel matrices, is
    finished first. Python handles signals in the main thread alone: in other threads the block changes
    nothing.

    Parameters
    ----------
    said : callable or None, default=None
        Function without arguments that is called at the first Ctrl-C, for example to print a message.

    Yields
    ------
    threading.Event
        The event is set once somebody has asked to stop.

    Examples
    --------
    >>> from manykernels.solvers import stoppable
    >>> with stoppable() as wish:
    ...     interrupted = wish.is_set()  # fit a model here
    >>> interrupted
    False
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
    """Tell whether an iteration may follow: there are some left, time is not up, and nobody asked to stop."""
    return iteration < max_iter and not told_to_stop()


def told_to_stop() -> bool:
    """Tell whether somebody asked to stop, or time is up."""
    return _wish.is_set() or time.monotonic() >= _end.get()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Within the block solvers and searches stop after so many seconds, as if somebody had asked them to."""
    token = _end.set(min(_end.get(), time.monotonic() + seconds))
    try:
        yield
    finally:
        _end.reset(token)


def is_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: as numba hands over arrays, it becomes a SystemError."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
