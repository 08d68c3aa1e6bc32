"""What the machine can do at all: how fast it reads memory and multiplies matrices; and what it is."""

from __future__ import annotations

import os
import platform
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

Array = NDArray[np.float64]


@dataclass
class Limits:
    """Measured in this run: the best of several rounds, as a limit should be."""

    threads: int
    read_gb_s: float
    triad_gb_s: float
    gemm_gflop_s: float

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        memory = f"read {self.read_gb_s:.1f} GB/s, triad {self.triad_gb_s:.1f} GB/s"
        threads = f"{self.threads} thread{'' if self.threads == 1 else 's'}"
        return f"{threads}: {memory}, GEMM {self.gemm_gflop_s:.0f} GFLOP/s"


@njit(cache=True, nogil=True, fastmath=True)
def _read(x: Array) -> float:
    """Σ x from four places at once, so that the hardware has several streams to prefetch."""
    m = x.size // 4
    a, b, c, d = x[:m], x[m : 2 * m], x[2 * m : 3 * m], x[3 * m : 4 * m]
    s = 0.0
    for i in range(m):
        s += (a[i] + b[i]) + (c[i] + d[i])
    return s


@njit(cache=True, nogil=True, fastmath=True)
def _triad(x: Array, y: Array, z: Array) -> None:
    for i in range(x.size):
        z[i] = x[i] + 3.0 * y[i]


def read(x: Array) -> float:
    """Read all of a contiguous array once, on the threads that are pinned: the fastest any pass can be."""
    parts = np.array_split(x.reshape(-1), numba.get_num_threads())
    with ThreadPoolExecutor(len(parts)) as pool:
        return sum(pool.map(_read, parts))


def _best(run: Callable[[int], object], threads: int, rounds: int) -> float:
    """Seconds of the fastest round in which every thread t does run(t)."""
    seconds = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(rounds + 1):  # the first compiles and touches the pages
            started = time.perf_counter()
            list(pool.map(run, range(threads)))
            seconds.append(time.perf_counter() - started)
    return min(seconds[1:])


def measure(quick: bool = False) -> Limits:
    """Read bandwidth, triad (two reads and a write) and GEMM rate on the threads that are pinned."""
    threads, rounds = numba.get_num_threads(), 4 if quick else 8
    size = (1 << 25 if quick else 1 << 27) // threads  # in all 256 MB or 1 GB: no cache holds that
    parts = [np.ones(size) for _ in range(threads)]
    reads = threads * 8 * size / _best(lambda t: _read(parts[t]), threads, rounds)
    third = size // 3

    def triad_of(t: int) -> None:
        x = parts[t]
        _triad(x[:third], x[third : 2 * third], x[2 * third : 3 * third])

    triad = threads * 24 * third / _best(triad_of, threads, rounds)
    n = 1000 if quick else 2000
    a, out = np.random.RandomState(0).rand(n, n), np.empty((n, n))
    gemm = 2 * n**3 / _best(lambda _: np.matmul(a, a, out=out), 1, rounds)
    return Limits(threads, reads / 1e9, triad / 1e9, gemm / 1e9)


def machine() -> dict[str, Any]:
    """What a reader of the figures must know of the machine; no names and no paths."""
    packages = ["manykernels", "numpy", "scipy", "scikit-learn", "numba", "cvxpy", "clarabel"]
    packages += ["himalaya", "skglm", "celer"]
    pools = [part for part in threadpool_info() if part["user_api"] == "blas"]
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "processor": _first("/proc/cpuinfo", "model name") or platform.machine(),
        "processors": os.cpu_count(),
        "memory": _first("/proc/meminfo", "MemTotal"),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "system": platform.system(),
        "python": platform.python_version(),
        "blas": sorted({f"{part['internal_api']} {part['version']}" for part in pools}),
        "versions": {name: v for name in packages if (v := _version(name)) is not None},
    }


def memory(key: str) -> float:
    """Bytes: resident now (VmRSS) or at most so far (VmHWM).

    Where the system has no such file, both are getrusage's peak; it is not used first because on Linux a
    new process starts with the peak of the one that started it.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return float(peak if sys.platform == "darwin" else 1024 * peak)
    return 1024.0 * next(float(line.split()[1]) for line in lines if line.startswith(key + ":"))


def _first(file: str, key: str) -> str | None:
    """The first value of `key` in a file of the system, where there is one."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), None)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except ImportError:
        return None
