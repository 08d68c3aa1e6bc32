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

import numpy as np
from tests.times import times

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
from manykernels.approx import Nystroem
from manykernels.families import Products
from manykernels.kernels import Gaussian, Linear
from manykernels.penalties import LpBall

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
