"""How much memory the package may use."""

from __future__ import annotations

import os
import re

from .._arguments import is_number, shown

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def parse_memory(limit: int | float | str | None) -> int:
    """Bytes: a number of bytes, a string such as "2GB" or "500 MiB", or None for half of what is free."""
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
