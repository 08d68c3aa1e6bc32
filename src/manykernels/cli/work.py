"""How much work is done at a time, and how much of it is worth its time."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Sequence

from joblib import Parallel, cpu_count, delayed

from ..comparison.methods import INNER
from ..selection.plan import EXACT
from ._console import Voice
from .data import Data
from .files import free_memory

_WORTH = 400  # samples from which a search takes longer than other processes take to start
_MATRICES = 20  # n × n, that a process may hold at a time
_SEARCHED = 5  # folds of a search that was not told otherwise
_SECONDS = 180.0  # that searches within the folds may take


def jobs_for(data: Data, asked: int | None) -> int:
    """Processes at a time: as asked, or one for each processor where that pays and memory allows it."""
    jobs = asked
    if jobs is None:
        room = free_memory() // (2 * _MATRICES * 8 * min(data.n, EXACT) ** 2)
        jobs = int(max(1, min(cpu_count(), room))) if data.n >= _WORTH else 1
    if jobs > 1:
        _start(jobs)
    return jobs


def _start(jobs: int) -> None:
    """Processes that leave Ctrl-C to this one: a terminal tells them all, and each would have its say."""
    if threading.current_thread() is not threading.main_thread():
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which they inherit
    try:
        Parallel(n_jobs=jobs)(delayed(os.getpid)() for _ in range(jobs))
    finally:
        signal.signal(signal.SIGINT, before)


def searches_again(voice: Voice, spent: Sequence[float], seconds: float, cv: int, jobs: int) -> bool:
    """Whether a search, whose strategies took so many seconds each, is done again in each of the folds.

    A choice that has seen the samples it is scored on flatters the score. Only where searching again takes
    too long, the choice stays as it is, and that is said.
    """
    expected = cv * sum(spent) * INNER / _SEARCHED / min(jobs, cv)  # of one process, whatever ran beside it
    if expected <= max(_SECONDS, seconds):
        return True
    voice.note(
        f"searching again in {cv} folds would take about {expected:.0f} s: they use the model that was "
        "chosen on all samples, so that the score is a little too good."
    )
    return False
