"""The number of threads that compiled passes and BLAS use.

Compiled loops release the GIL and are split over plain threads rather than compiled with ``parallel=True``:
they compile in a tenth of the time, and are safe under ``fork`` and inside other thread pools.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numba
from threadpoolctl import ThreadpoolController

from .._arguments import is_integral, shown

_PARALLEL = 1 << 18  # operations below which handing work to a thread costs more than it saves
_FEW = 3000  # samples up to which one BLAS thread is as fast as several that wait for each other
_inside = threading.local()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="manykernels")


if hasattr(os, "register_at_fork"):  # a child process has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def split(n: int, operations: float, run: Callable[[int, int], object]) -> None:
    """Call ``run(lo, hi)`` on equal parts of range(n), one per thread when there is work enough.

    Parts that split again run on their own thread, so that the pool never waits for itself.
    """
    parts = min(n, thread_count()) if operations > _PARALLEL else 1
    if parts <= 1:
        run(0, n)
        return
    edges = [n * p // parts for p in range(parts + 1)]
    others = [_pool(parts - 1).submit(_part, run, lo, hi) for lo, hi in itertools.pairwise(edges[1:])]
    try:
        _part(run, 0, edges[1])
    finally:
        for other in others:
            other.exception()  # wait, so that no part outlives the call
    for other in others:
        other.result()


def thread_count() -> int:
    """Return how many parts `split` makes of enough work."""
    return 1 if getattr(_inside, "part", False) else int(numba.get_num_threads())


def _part(run: Callable[[int, int], object], lo: int, hi: int) -> None:
    _inside.part = True
    try:
        run(lo, hi)
    finally:
        _inside.part = False


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _Inside:
    """Somebody who limits BLAS for as long as the frame that holds this lives."""


_lock = threading.RLock()  # collecting a frame may happen inside, and leaves
_limits: WeakKeyDictionary[_Inside, int] = WeakKeyDictionary()  # BLAS has one setting for the process
_before: list[Any] = []  # what to go back to when all are out


@contextmanager
def blas_threads(limit: int | None) -> Iterator[None]:
    """At most `limit` threads for BLAS inside; None changes nothing.

    Where several threads are inside at once, the smallest limit holds, and the setting from before any of
    them comes back with the last one out, in whatever order they leave. Who is interrupted even while
    leaving counts no longer for the next one who comes.
    """
    if limit is None:
        yield
        return
    me = _Inside()
    try:
        with _lock:
            _limits[me] = limit
            _apply()
        yield
    finally:
        with _lock:
            _limits.pop(me, None)
            _apply()


def _apply() -> None:
    """Set BLAS to the smallest limit, or back; what was there before is noted first and forgotten last."""
    limits = list(_limits.values())
    if limits and not _before:
        _before.append(_controller().limit(limits=None))
    if limits:
        _controller().limit(limits=min(limits), user_api="blas")
    elif _before:
        _before[0].restore_original_limits()
        _before.clear()


def blas_for(n: int) -> AbstractContextManager[None]:
    """One BLAS thread for many small steps on n samples, where these are few; else all there are."""
    return blas_threads(1 if n < _FEW else None)


def require_jobs(n_jobs: Any) -> None:
    """An error unless `n_jobs` says how many threads to use."""
    if n_jobs is None or (is_integral(n_jobs) and n_jobs != 0):
        return
    raise ValueError(
        f"n_jobs={shown(n_jobs)} was given; expected a number of threads, -1 for all processors, or None."
    )


def processes(n_jobs: int | None, tasks: int) -> int | None:
    """`n_jobs` as joblib takes it, and no more than there are tasks."""
    require_jobs(n_jobs)
    return n_jobs if n_jobs is None else max(min(int(n_jobs), max(tasks, 1)), -(os.cpu_count() or 1))


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Work on `n_jobs` threads (-1: all processors, -2: all but one, …) inside; None changes nothing."""
    require_jobs(n_jobs)
    if n_jobs is None:
        yield
        return
    processors = os.cpu_count() or 1
    wanted = min(int(n_jobs), processors) if n_jobs > 0 else max(1, processors + 1 + int(n_jobs))
    config: Any = numba.config
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(min(wanted, config.NUMBA_NUM_THREADS))
        with blas_threads(wanted):
            yield
    finally:
        numba.set_num_threads(before)
