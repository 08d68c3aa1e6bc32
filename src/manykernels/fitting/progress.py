"""Progress of a fit: bars in terminals and notebooks (``verbose=1``), and the log "manykernels".

Everything is logged, whatever ``verbose`` is: single looks at level DEBUG, the end of a fit at INFO. Nobody
sees it before they ask for it: ``logging.basicConfig(level=logging.INFO)``.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from ..grams import Gram
from ..solvers import History

logger = logging.getLogger("manykernels")
logger.addHandler(logging.NullHandler())

_FORMAT = "{desc} {percentage:3.0f}% |{bar:20}| {elapsed}<{remaining}{postfix}"


class Progress:
    """A bar, if wanted, and lines in the log.

    With a known number of steps it counts them. A solver does not know how many steps are left, but gaps
    shrink about geometrically: its bar goes from the first gap to ``tol`` on a logarithmic scale.
    """

    def __init__(self, title: str, verbose: int, tol: float = 0.0, total: float | None = None) -> None:
        self.title, self.verbose, self.tol, self.total = title, int(verbose), tol, total
        self._bar: Any = None
        self._first = math.nan

    def line(self, text: str) -> None:
        """Write a line about something that happened."""
        logger.debug("%s: %s", self.title, text)
        if self.verbose > 1:
            self._tqdm().write(f"{self.title}: {text}", file=_stderr())

    def look(self, gap: float, active: int) -> None:
        """A look at the whole family: the relative gap, and how many kernels have weight."""
        if not self.verbose:
            return
        measured = math.isfinite(gap)
        if self._bar is None:
            self._first = gap
            self._open(1.0 if measured else None)
        shown = f"gap {gap:.1e}, " if measured else ""
        self._bar.set_postfix_str(f"{shown}{active} kernel{'s' if active != 1 else ''}", refresh=False)
        self._bar.update(max(self._share(gap) - self._bar.n, 0.0) if self._bar.total else 1)

    def begin(self, estimate: str) -> None:
        """Show the bar before the first step, with what all of them will take, about."""
        self.line(estimate)
        if self.verbose:
            self._open(self.total)
            self._bar.set_postfix_str(estimate)

    def step(self, text: str, amount: float = 1) -> None:
        """One of the steps whose number, or worth, is known in all; or another one of unknown number."""
        self.line(text)
        if self.verbose:
            if self._bar is None:
                self._open(self.total)
            self._bar.set_postfix_str(text, refresh=False)
            room = amount if self.total is None else max(self.total - self._bar.n, 0)
            self._bar.update(min(amount, room))

    def expect(self, total: float) -> None:
        """Say anew how many steps there are in all."""
        self.total = total
        if self._bar is not None:
            self._bar.total = total

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def _share(self, gap: float) -> float:
        """Return the share of the way from the first gap to tol, in decades."""
        if gap <= self.tol:
            return 1.0
        way = math.log(self._first / self.tol) if self.tol > 0 and self._first > self.tol else 0.0
        return min(math.log(self._first / gap) / way, 1.0) if way > 0 and math.isfinite(gap) else 0.0

    def _open(self, total: float | None) -> None:
        form = {"bar_format": _FORMAT} if total else {}
        self._bar = self._tqdm()(desc=self.title, total=total, file=_stderr(), **form)

    def _tqdm(self) -> Any:
        from tqdm.auto import tqdm  # here, since it looks for a notebook

        return tqdm


def _stderr() -> Any:
    import sys

    return sys.stderr


@dataclass
class Watched(History):
    """The history of a solver, with somebody watching until the block ends that it is used in."""

    progress: Progress = field(kw_only=True)

    def add(self, objective: float, gap: float, active: int) -> None:
        super().add(objective, gap, active)
        self.progress.look(gap, active)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.progress.close()
        if self.gap and kind is None:
            logger.info(
                "%s: objective %.6g, relative gap %.1e, %d kernels, %.2f s",
                *(self.progress.title, self.objective[-1], self.gap[-1]),
                *(self.active[-1], time.perf_counter() - self.started),
            )


def watch(title: str, verbose: int, tol: float, steps: bool = False) -> Watched:
    """The history for a solver to write; it counts `steps` where there is no gap."""
    shown = Progress(title, verbose, tol)
    return Watched(report=shown.step if steps else shown.line, progress=shown)


@contextmanager
def watched_pass(title: str, verbose: int, gram: Gram) -> Iterator[None]:
    """A bar over the pairs of samples that one pass over all kernels looks at."""
    if not verbose:
        yield
        return
    from tqdm.auto import tqdm  # here, since it looks for a notebook

    with tqdm(desc=title, unit="pair", unit_scale=True, file=_stderr()) as bar:

        def watch(entries: int, total: int) -> None:
            bar.total = max(total, bar.n + entries)
            bar.update(entries)

        gram.watch = watch
        try:
            yield
        finally:
            gram.watch = None


@contextmanager
def watched_rows(n: int, verbose: int) -> Iterator[Callable[[int], object] | None]:
    """A bar over the rows of one pass over the samples."""
    if not verbose:
        yield None
        return
    from tqdm.auto import tqdm  # here, since it looks for a notebook

    with tqdm(total=n, unit="row", unit_scale=True) as bar:
        yield bar.update


@contextmanager
def progress(title: str, verbose: int, tol: float = 0.0, total: float | None = None) -> Iterator[Progress]:
    """A bar for what is not written as a history."""
    shown = Progress(title, verbose, tol, total)
    try:
        yield shown
    finally:
        shown.close()
