"""A wish to stop: Ctrl-C that ends a solver with what it has, instead of throwing it away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_wish = threading.Event()


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
    """Whether an iteration may follow: there are some left, and nobody asked to stop."""
    return iteration < max_iter and not _wish.is_set()
