"""The memory that the package may use, and the part of it that each road of a fit needs.

`memory_limit` bounds what a fit holds beyond its inputs (X, y, and X as numbers). The counts below are of
matrices of n × n that are held at once beside the kernels; tests/estimators/test_memory.py measures them.
Arrays that are smaller than SMALL in all (vectors, blocks of rows, lists) are not counted.
"""

from __future__ import annotations

import os
import re

from .._arguments import is_number, number_of, shown

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

SMALL = 1 << 24  # bytes
SOLVER = 5  # two combinations of kernels, the factors of their machines, and one in the making
DRAWS = 8  # kernels that are drawn: their combination, its mean over all steps, and a batch of them
DESCENT = 6  # the same for powers of combinations, and for kernels behind gates
SEARCH = 4  # distances in a continuum, a target for its search and tables of it, beside a solver
GRAPH = 9  # the machine of a hull and the next one, and what its curvature needs
LEARNER = 4  # the learned kernel, and what a learner of scikit-learn's makes of it
LEFT_OUT = 3  # leave-one-out, beside a solver: a factor, its inverse, and the unit matrix
SWEEP = 1 << 28  # bytes that recomputed kernels need for what they share and for their chunks
_PASS = 2.5e11  # entries of kernels that are recomputed in one pass, at most: some minutes
_LISTED = 100_000  # kernels that are recomputed, at most
_PASSES = 20  # over all kernels, in a fit of average difficulty
_PER_ENTRY, _PER_KERNEL = 2e-9, 1e-4  # seconds
_HINT = (
    "Take approx=Nystroem(200) of manykernels.approx for explicit features in place of matrices, or "
    "solver='blockwise' for exact kernels and the squared loss with nothing of n × n; or raise memory_limit, "
    "or fit on fewer samples."
)


def machine_matrices(outputs: int, shared: bool) -> int:
    """Matrices beyond those of one output: each has factors of its own, unless all share their equations."""
    return 0 if shared else 2 * (outputs - 1)


def counted(size: float) -> int:
    """Bytes of many small arrays, as far as they are not small together."""
    return max(int(size) - SMALL, 0)


def require_memory(need: float, limit: int, who: str, what: str, advice: str = _HINT) -> None:
    """A MemoryError, before anything is made, where `need` bytes are more than there are.

    `who` needs them, as "3 kernels on 100 samples need", and `what` are they, as "matrices of 100 × 100".
    """
    if need > limit:
        raise MemoryError(
            f"{who} at least {readable(need)} ({what}), and memory_limit allows {readable(limit)}. {advice}"
        )


def require_time(M: int, n: int) -> None:
    """A MemoryError where kernels that do not fit in memory would be recomputed for hours."""
    entries = 0.5 * M * float(n) ** 2
    if entries <= _PASS and M <= _LISTED:
        return
    hours = _PASSES * (entries * _PER_ENTRY + M * _PER_KERNEL) / 3600.0
    fewer = "Take fewer kernels or columns (SelectKBest, or rank_one() for linear ones)"
    if entries > _PASS:
        fewer = "Fit on fewer samples, take fewer kernels"
    raise MemoryError(
        f"{number_of(M, 'kernel')} on {n} samples need {readable(8.0 * M * float(n) ** 2)} to be stored, "
        f"more than memory_limit allows, and about {max(hours, 0.1):.2g} hours to be computed again and "
        f"again. {fewer}, take approx=Nystroem(200) of manykernels.approx for explicit features in place of "
        "matrices, or raise memory_limit on a machine that has as much."
    )


def parse_memory(limit: int | float | str | None) -> int:
    """Read a memory limit as a number of bytes.

    Parameters
    ----------
    limit : int, float, str or None
        A number of bytes, a string such as "2GB" or "500 MiB", or None for half of the free memory.

    Returns
    -------
    int
        The number of bytes.

    Examples
    --------
    >>> from manykernels.grams import parse_memory
    >>> parse_memory("2 GB") == parse_memory("2GB") > parse_memory("500MB")
    True
    """
    if limit is None:
        return free_memory() // 2
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+\.?[0-9]*)\s*([KMGT]?)(i?B)?\s*", limit, flags=re.IGNORECASE)
        if match is not None:
            return int(float(match[1]) * _UNITS[match[2].upper()])
    elif is_number(limit) and 0 < limit < float("inf"):
        return int(limit)
    raise ValueError(
        f"memory_limit={shown(limit)} was given; expected a number of bytes, a string such as '2GB' or "
        "'500MB', or None for half of the free memory."
    )


def free_memory() -> int:
    """Bytes that could be allocated without swapping, as far as the system tells."""
    try:
        with open("/proc/meminfo") as lines:
            for line in lines:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 2**30


def readable(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TB"
