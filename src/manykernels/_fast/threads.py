"""How many threads compiled passes and BLAS may use."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numba
from threadpoolctl import threadpool_limits


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Work on `n_jobs` threads (-1: all processors, -2: all but one, …) inside; None changes nothing."""
    if n_jobs is None:
        yield
        return
    processors = os.cpu_count() or 1
    wanted = n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)
    config: Any = numba.config
    before = numba.get_num_threads()
    numba.set_num_threads(min(wanted, config.NUMBA_NUM_THREADS))
    try:
        with threadpool_limits(wanted, user_api="blas"):
            yield
    finally:
        numba.set_num_threads(before)
