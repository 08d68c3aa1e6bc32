"""Processes that are killed at drawn moments, and others that go on: nothing lost, nothing different.

    python -m tests.kills dask --kills 50

A piece of work runs in a process of its own, which is killed (SIGKILL, or a timer of its own processor time
that ends it in the same way: nothing more is run). It is begun three times in one folder, each time killed at
a drawn moment, and then left to end. Its answer must be that of a process that nobody killed, to the bit.
"""

from __future__ import annotations

import argparse
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from tests.times import times
from typer.testing import CliRunner

from manykernels import (
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvivalCV,
    UFOMKLClassifier,
    UFOMKLRegressor,
    _pieces,
    load,
    save,
)
from manykernels._files import is_report, write_atomically
from manykernels.approx import Nystroem
from manykernels.cli.app import app
from manykernels.families import Products
from manykernels.inspection import significance, weight_stability
from manykernels.kernels import Gaussian, Linear
from manykernels.penalties import LpBall
from manykernels.selection import plan

rng = np.random.RandomState(0)
X = rng.randn(60, 3)
numbers = X[:, 0] * X[:, 1] + 0.3 * rng.randn(60)
y = numbers > 0
MANY = rng.randn(24_000, 4)
TARGET = np.sin(2.0 * MANY[:, 0]) + MANY[:, 1] * MANY[:, 2] + 0.1 * rng.randn(24_000)
KERNELS = {"linear": Linear(), "narrow": Gaussian(1.0), "wide": Gaussian(3.0)}
FEW: dict[str, Any] = {"kernels": KERNELS, "Cs": [0.1, 1.0, 10.0], "random_state": 0}
ROWS: dict[str, Any] = {"approx": Nystroem(100), "random_state": 0, "norm": 2.0}
BLOCKS = 10  # of a stream


# -- what is done ---------------------------------------------------------------------------------
def searched(kind: Any, target: Any, rows: Any = X, **options: Any) -> Callable[[Path], Any]:
    """A search, with all that it decides by."""

    def run(folder: Path) -> Any:
        model = kind(**{**FEW, **options}, checkpoint=folder / "kept").fit(rows, target)
        found = [model.weights_, model.dual_coef_, model.intercept_, model.predict(rows[:60])]
        return [*found, model.predict_interval(X)] if options.get("intervals") else found

    return run


def passed(kernels: Any, lazy: bool, **options: Any) -> Callable[[Path], Any]:
    """A fit from passes over rows."""

    def run(folder: Path) -> Any:
        data: Any = (MANY, TARGET)
        if lazy:
            import dask.array as da

            data = tuple(da.from_array(part, chunks=(1000, *part.shape[1:])) for part in data)
        model = MKLRegressor(kernels, **options, checkpoint=folder / "kept").fit(*data)
        return [model.weights_, model.feature_coef_, model.intercept_, model.predict(MANY[:60])]

    return run


SMALL = {"WHOLE": 60, "EXACT": 100, "FEW": 80, "_RACE": (60, 60), "_SECOND": 80, "_MOST": 80}
HIDDEN = np.random.RandomState(4).randn(2600, 6)  # few rows say little of them
FAINT = np.sin(2 * HIDDEN[:, 0]) + np.sin(2 * HIDDEN[:, 2]) + np.random.RandomState(5).randn(2600)


def widened(folder: Path) -> Any:
    """A search whose stages have few rows each, and whose winner has widths that were learned again."""
    options = {"strategy": "continuous", "norms": [2.0], "cv": 2, "random_state": 0}
    with patch.multiple(plan, **SMALL):
        model = MKLRegressorCV(**options, checkpoint=folder / "kept").fit(HIDDEN, FAINT)
    if "learned again from more rows" not in model.describe():
        raise AssertionError("no widths were learned again")
    return [model.weights_, model.predict(HIDDEN[:60])]


def resampled(folder: Path) -> Any:
    model = MKLRegressor(KERNELS, loss="epsilon_insensitive")
    options = {"n_resamples": 30, "random_state": 0, "checkpoint": folder / "kept"}
    return [weight_stability(model, X, numbers, **options).weights]


def tested(folder: Path) -> Any:
    """Tests by their formula, and by permutations."""
    options = {"method": "permutation", "n_permutations": 999, "random_state": 0}
    score = significance(KERNELS, X, y, checkpoint=folder / "score")
    drawn = significance(KERNELS, X, numbers, **options, checkpoint=folder / "drawn")
    return [score.p_value, drawn.p_value, drawn.p_adjusted]


def commanded(folder: Path) -> Any:
    """`fit --checkpoint` of the command line; whoever comes later has `--resume` alone."""
    keep, table, model = folder / "keep", folder / "t.csv", folder / "model"
    rows = pd.DataFrame(X, columns=list("abc"))
    if (keep / "command.json").exists():
        command = ["fit", "--resume", keep]
    else:
        write_atomically(table, rows.assign(t=np.where(y, "yes", "no")).to_csv(index=False).encode())
        command = ["fit", table, "-t", "t", "-k", "gaussians:1,8,2", "--cv", 2, "--jobs", 1, "--model", model]
        command += ["--report", folder / "r.html", "--no-stability", "--no-importance", "--checkpoint", keep]
    ended = CliRunner().invoke(app, [str(word) for word in command])
    if ended.exit_code or keep.exists() or not is_report(folder / "r.html"):
        raise AssertionError(ended.output)
    return [load(model).decision_function(rows)]


def on_cluster(run: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """The same with a client of the cluster whose address the environment has."""

    def connected(folder: Path) -> Any:
        from distributed import Client

        with Client(os.environ["KILLS_CLUSTER"], set_as_default=True):
            return run(folder)

    return connected


STREAMS = {
    "classes": lambda: UFOMKLClassifier(KERNELS, average=True, random_state=0),
    "features": lambda: UFOMKLRegressor(KERNELS, approx=Nystroem(8), random_state=0),
}


def said(model: Any) -> list[Any]:
    ask = model.decision_function if hasattr(model, "decision_function") else model.predict
    return [ask(X), model.weights_]


def streamed(model: Any, first: int, last: int) -> Any:
    """A stream that has learned from these blocks too."""
    for i in range(first, last):
        rows, classes = slice(6 * i, 6 * i + 6), isinstance(model, UFOMKLClassifier)
        more = {"classes": [False, True]} if classes and i == 0 else {}
        model.partial_fit(X[rows], (y if classes else numbers)[rows], **more)
    return model


def stream(name: str) -> Callable[[Path], Any]:
    """A stream that is saved after every block."""

    def run(folder: Path) -> Any:
        path = folder / "model"
        model = load(path) if path.exists() else STREAMS[name]()
        first = model._state.ufo.t // 6 if path.exists() else 0
        for i in range(first, BLOCKS):
            save(streamed(model, i, i + 1), path)
        return said(load(path))

    return run


def saved(folder: Path) -> Any:
    """A model that replaces another one, five times; a file that is there is whole."""
    path, models = folder / "model", [streamed(STREAMS["features"](), 0, n) for n in (5, 6)]
    for k in range(5):
        if path.exists():
            found = said(load(path))
            if not any(same(found, said(model)) for model in models):
                raise AssertionError("a file holds neither model")
        save(models[k % 2], path)
    return said(load(path))


@dataclass(frozen=True)
class Work:
    """What is done in a folder, and by which clock it is killed."""

    run: Callable[[Path], Any]
    own_time: bool = True  # of the processor, in the process itself; else by the clock of the wall
    cluster: bool = False


WORKS = {
    "classes": Work(searched(MKLClassifierCV, y, strategy=["finite", "aligned"])),
    "numbers": Work(searched(MKLRegressorCV, numbers, norms=(1.0, LpBall(1.5)), loss="epsilon_insensitive")),
    "events": Work(searched(MKLSurvivalCV, times(numbers))),
    "intervals": Work(searched(MKLRegressorCV, numbers, norms=(1.0, 2.0), intervals=True)),
    "large": Work(searched(MKLRegressorCV, TARGET[:3000], MANY[:3000], strategy="finite", norms=(1.0, 2.0))),
    "own": Work(searched(MKLRegressorCV, np.column_stack([numbers, X[:, 0]]), Cs=None, multi_output="own")),
    "own-folds": Work(
        searched(MKLRegressorCV, np.column_stack([numbers, X[:, 0]]), Cs=None, multi_output="own", cv=3)
    ),
    "widths": Work(widened),
    "stability": Work(resampled),
    "significance": Work(tested),
    "command": Work(commanded),
    "rows": Work(passed(KERNELS, False, **ROWS)),
    "products": Work(passed(Products(degree=3), False, approx="features", random_state=0)),
    "dask": Work(on_cluster(passed(KERNELS, True, **ROWS)), own_time=False, cluster=True),
    "stream-classes": Work(stream("classes")),
    "stream-features": Work(stream("features")),
    "save": Work(saved),
}


# -- killing --------------------------------------------------------------------------------------
def same(a: Any, b: Any) -> bool:
    return all(np.array_equal(left, right) for left, right in zip(a, b, strict=True))


def child(work: Work, folder: Path, seconds: float | None) -> bool:
    """Work in another process, which ends after so many seconds; whether it was killed.

    Its answer, and the seconds that it took, are in the file ``answer``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    pid = os.fork()
    if not pid:
        code = 1
        try:
            warnings.simplefilter("ignore")
            _pieces._SHARE = np.inf  # everything is worth to be kept
            if work.own_time and seconds is not None:
                signal.signal(signal.SIGPROF, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_PROF, seconds)
            began = time.process_time() if work.own_time else time.monotonic()
            answer = work.run(folder)
            ended = time.process_time() if work.own_time else time.monotonic()
            with open(folder / "answer.part", "wb") as file:
                pickle.dump((answer, ended - began), file)
            os.replace(folder / "answer.part", folder / "answer")
            code = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(code)
    if seconds is not None and not work.own_time:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if (status := os.waitpid(pid, os.WNOHANG))[0]:
                return _ended(status[1])
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    return _ended(os.waitpid(pid, 0)[1])


def _ended(status: int) -> bool:
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError("the process failed; what it said is above")
    return not os.WIFEXITED(status)


def answer(folder: Path) -> tuple[Any, float]:
    found: tuple[Any, float] = pickle.loads((folder / "answer").read_bytes())
    return found


@dataclass
class Tally:
    """What came of it."""

    kills: int = 0
    ends: int = 0
    different: int = 0


def survive(work: Work, kills: int, where: Path, seed: int = 0) -> Tally:
    """Kill it so often at drawn moments, three times in one folder, and let it end there each time."""
    draw, tally = random.Random(seed), Tally()
    child(work, where / "first", None)  # once more below: the first may compile
    child(work, where / "whole", None)
    expected, seconds = answer(where / "whole")
    while tally.kills < kills:
        here = where / str(tally.ends)
        for _ in range(3):
            tally.kills += child(work, here, max(draw.random() * seconds, 1e-3))
        child(work, here, None)
        tally.ends += 1
        tally.different += not same(answer(here)[0], expected)
    return tally


def cluster(workers: int = 2) -> subprocess.Popen[str]:
    """A cluster in processes of its own, which end with it; its address is in the environment."""
    code = (
        "import sys, distributed\n"
        "if __name__ == '__main__':\n"
        "    options = {'dashboard_address': ':0', 'processes': True, 'threads_per_worker': 1}\n"
        "    found = distributed.LocalCluster(n_workers=int(sys.argv[1]), **options)\n"
        "    print(found.scheduler_address, flush=True)\n"
        "    sys.stdin.read()\n"
        "    found.close()\n"
    )
    found = subprocess.Popen(
        [sys.executable, "-c", code, str(workers)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert found.stdout is not None
    os.environ["KILLS_CLUSTER"] = found.stdout.readline().strip()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="+", choices=WORKS)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked, bad = parser.parse_args(), 0
    for name in asked.works:
        with tempfile.TemporaryDirectory() as folder:
            running = cluster() if WORKS[name].cluster else None
            try:
                tally = survive(WORKS[name], asked.kills, Path(folder), asked.seed)
            finally:
                if running is not None:
                    running.communicate()  # it ends with its input
        bad += tally.different
        print(f"{name}: {tally.kills} kills, {tally.ends} ends, {tally.different} different", flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
