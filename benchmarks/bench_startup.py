"""What users wait for before anything is learned: help, imports, and the first fit in a new installation."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping

import numpy as np

from .harness import Facts, Report

HELP = "import sys; sys.argv[1:] = ['--help']; from manykernels.cli import main; main()"
WAITS = {
    "import sklearn.svm": "import sklearn.svm",
    "import sklearn.base, numba (the limit)": "import sklearn.base, numba",
    "import typer": "import typer",
    "manykernels --help": HELP,
    "import manykernels": "import manykernels",
    "from manykernels import MKLClassifier": "from manykernels import MKLClassifier",
    "from manykernels import MKLClassifierCV": "from manykernels import MKLClassifierCV",
}
DATA = "from sklearn.datasets import load_breast_cancer\nX, y = load_breast_cancer(return_X_y=True)\n"
FIT = DATA + "from manykernels import MKLClassifier\nMKLClassifier().fit(X, y)"
ONE = "import numpy, numba\nnumba.njit(lambda x: x.sum())(numpy.zeros(3))"


def run(report: Report) -> None:
    """Processor seconds of whole processes, which other work on the machine disturbs less than the clock."""
    rounds = report.pick(5, 2)
    times: dict[str, list[float]] = {name: [] for name in WAITS}
    for _ in range(rounds):
        for name, code in WAITS.items():
            times[name].append(processor(code))
    base = float(np.median(times["import sklearn.svm"]))
    rows: list[Facts] = [
        {"wait": name, "processor s": found, "× import sklearn.svm": found / base}
        for name, seconds in times.items()
        for found in [float(np.median(seconds))]
    ]
    report.table("Help and imports", rows, "help 0.5 s, import 1.1 times scikit-learn's")
    report.table(
        "MKLClassifier().fit, 569 × 30, as a process of its own",
        first_fits(report.pick(2, 1)),
        "the first takes 3 s more than the second",
    )


def first_fits(rounds: int) -> list[Facts]:
    """With an empty cache of compiled functions, with a full one, and after ``manykernels warm-up``."""
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
            warm = "from manykernels.cli.warm_up import compile_ahead; compile_ahead()"
            found.setdefault("numba compiles one line (the limit)", []).append(processor(ONE))
            found.setdefault("first fit", []).append(processor(FIT, NUMBA_CACHE_DIR=folder))
            found.setdefault("second fit", []).append(processor(FIT, NUMBA_CACHE_DIR=folder))
            found.setdefault("manykernels warm-up", []).append(processor(warm, NUMBA_CACHE_DIR=other))
            found.setdefault("first fit after it", []).append(processor(FIT, NUMBA_CACHE_DIR=other))
    second = float(np.median(found["second fit"]))
    rows: list[Facts] = []
    for name, seconds in found.items():
        here = float(np.median(seconds))
        more = here - second if "fit" in name else None
        rows.append({"process": name, "processor s": here, "more than the second fit, s": more})
    return rows


def processor(code: str, **more: str) -> float:
    """Processor seconds of a new Python process."""
    environment: Mapping[str, str] = {**os.environ, **more}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code]
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
