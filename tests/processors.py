"""Run the fast tests with the arithmetic of other processors: `make test-cpu`.

The last digits of a sum depend on the processor: OpenBLAS, NumPy, numba and the C library each choose code
for it, which adds in another order or rounds products or not. Here OpenBLAS is told its core type, and the
others use only what every x86-64 processor has. A test that passes by the last digits of one machine fails in
one of the runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CACHE = ROOT / ".venv" / "processors"  # compiled functions, of each core type apart
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Core:
    """A core type of OpenBLAS, what it needs, and the names that libraries report where they have taken it.

    OpenBLAS takes one core type for another where they have the same code, and then reports either's name.
    """

    coretype: str
    needs: frozenset[str]
    reported: frozenset[str]


_AVX2 = frozenset({"AVX2", "FMA3"})
_AVX512 = frozenset({"AVX512F", "AVX512CD", "AVX512BW", "AVX512DQ", "AVX512VL"})
# from the oldest to the newest: the first one is the farthest from any machine that can do more
CORES = {
    "prescott": Core("Prescott", frozenset({"SSE3"}), frozenset({"Prescott", "Katmai"})),
    "haswell": Core("Haswell", _AVX2, frozenset({"Haswell"})),
    "zen": Core("Zen", _AVX2, frozenset({"Zen", "Haswell"})),
    "skylakex": Core("SkylakeX", _AVX2 | _AVX512, frozenset({"SkylakeX"})),
}

# What a process with these settings has really taken, as JSON.
_PROBE = """
import json
import numba, numpy, scipy.linalg, threadpoolctl
from numpy._core import _multiarray_umath as umath

@numba.njit(fastmath=True)
def dot(a, b):
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total

dot(numpy.ones(9), numpy.ones(9))
code = "".join(dot.inspect_asm().values())
blas = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
print(json.dumps({
    "blas": {library["filepath"]: library.get("architecture", library["internal_api"]) for library in blas},
    "threads": sorted({library["num_threads"] for library in blas} | {numba.get_num_threads()}),
    "features": [name for name, usable in umath.__cpu_features__.items() if usable],
    "dispatch": [name for name in umath.__cpu_dispatch__ if umath.__cpu_features__[name]],
    "compiled": [name for name in ("ymm", "zmm", "vfmadd") if name in code],
}))
"""


def probe(settings: Mapping[str, str]) -> dict[str, Any]:
    """What Python processes with these settings compute with."""
    command = [sys.executable, "-c", _PROBE]
    found = subprocess.run(command, env=os.environ | settings, stdout=subprocess.PIPE, check=True)
    answer: dict[str, Any] = json.loads(found.stdout)
    return answer


def executable(features: Iterable[str]) -> list[str]:
    """The core types that a processor with these features can execute, the farthest from it first."""
    return [name for name, core in CORES.items() if core.needs <= set(features)]


def settings_of(name: str, threads: int, dispatch: Iterable[str]) -> dict[str, str]:
    """Environment variables for a core type; `dispatch` is what NumPy would choose beyond its baseline."""
    return {
        "OPENBLAS_CORETYPE": CORES[name].coretype,
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(CACHE / name),
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatch),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F,-AVX2,-FMA,-FMA4",
        "CI": "1",  # the same examples of property tests on every processor
        **dict.fromkeys(THREADS, str(threads)),
    }


def complaint(name: str, threads: int, taken: Mapping[str, Any]) -> str | None:
    """What was not taken as it was set, as a sentence; None where all was."""
    others = {path: found for path, found in taken["blas"].items() if found not in CORES[name].reported}
    if others or not taken["blas"]:
        return f"expected {CORES[name].coretype} of OpenBLAS in NumPy and SciPy, but found {others or 'none'}"
    if taken["dispatch"]:
        return f"expected NumPy's baseline only, but it still uses {', '.join(taken['dispatch'])}"
    if taken["compiled"]:
        return f"expected generic code of numba, but it still contains {', '.join(taken['compiled'])}"
    if taken["threads"] != [threads]:
        return f"expected {_count(threads)}, but libraries use {taken['threads']}"
    return None


def run(name: str, threads: int, dispatch: Iterable[str], jobs: int, tests: list[str]) -> str:
    """The fast tests under one configuration, and in a word how they ended."""
    settings = settings_of(name, threads, dispatch)
    taken = probe(settings)
    libraries = ", ".join(f"{Path(path).name}: {found}" for path, found in taken["blas"].items())
    print(f"== {name}, {_count(threads)} ({libraries}; NumPy and numba: baseline)", flush=True)
    wrong = complaint(name, threads, taken)
    if wrong:
        return f"not run: {wrong}"
    command = [sys.executable, "-m", "pytest", "-m", "not slow", "-n", str(jobs), "--dist", "worksteal", "-q"]
    start = time.monotonic()
    code = subprocess.run([*command, *tests], cwd=ROOT, env=os.environ | settings, check=False).returncode
    return f"{'passed' if code == 0 else 'failed'} in {(time.monotonic() - start) / 60:.0f} min"


def choose(asked: list[str], possible: list[str]) -> list[str]:
    """The core types asked for, which is all that are possible where none was named."""
    if not possible:
        raise SystemExit("This processor cannot execute any of OpenBLAS's core types for x86-64.")
    for name in asked:
        if name not in ["farthest", *possible]:
            raise SystemExit(
                f"CPU={name} was given; this machine executes {', '.join(possible)}. "
                "Choose from these, or CPU=farthest."
            )
    return [possible[0] if name == "farthest" else name for name in asked or possible]


def skipped(possible: list[str], dispatch: Iterable[str]) -> dict[str, str]:
    """Why a run of all core types leaves some of them out."""
    reasons = {name: "this processor cannot execute it" for name in CORES if name not in possible}
    first: dict[frozenset[str], str] = {}
    for name in possible:
        taken = frozenset(probe(settings_of(name, 1, dispatch))["blas"].values())
        if first.setdefault(taken, name) != name:
            reasons[name] = f"this OpenBLAS has the same code for it as for {first[taken]}"
    return reasons


def main() -> None:
    """Run what was asked for, one after the other, and sum up at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cores", nargs="*", help=f"{', '.join(CORES)} or farthest; all if none is given")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--tests", nargs=argparse.REMAINDER, default=[], help="what else pytest is to be told"
    )
    options = parser.parse_args()
    here = probe({})
    names, dispatch = choose(options.cores, executable(here["features"])), here["dispatch"]
    reasons = {} if options.cores else skipped(names, dispatch)
    results = {
        f"{name}, {_count(threads)}": run(name, threads, dispatch, options.jobs, options.tests)
        for name in names
        if name not in reasons
        for threads in options.threads
    }
    print("\n".join(f"{what:22} {result}" for what, result in [*results.items(), *reasons.items()]))
    sys.exit(any(not result.startswith("passed") for result in results.values()))


def _count(threads: int) -> str:
    return f"{threads} thread{'' if threads == 1 else 's'}"


if __name__ == "__main__":
    main()
