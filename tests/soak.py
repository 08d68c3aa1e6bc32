"""A long life of one process: random fits, refits, files, threads, forks and interrupts, again and again.

`python -m tests.soak --minutes 60` draws what to do next from a seed. Every answer is compared, to the bit,
with that of a process that did nothing else before; memory is measured after each round, and must not grow.
"""

from __future__ import annotations

import argparse
import gc
import os
import pickle
import random
import signal
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from tests.fitted_models import FITTED, answers

from manykernels import load, save
from manykernels._fast.stopping import is_interrupt

SLOW = {"many widths", "auto", "powers"}  # which would take most of the time
NAMES = [name for name in FITTED if name not in SLOW]
ROUND = 40  # things done between two looks at the memory


def learned(name: str) -> tuple[Any, Any]:
    """A model that is fitted anew, and data to ask it about."""
    check_random_state(None).seed(0)
    return FITTED[name]()


def fresh(name: str) -> list[Any]:
    """The answers of a process that begins here and does nothing else."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            with os.fdopen(writing, "wb") as pipe:
                pickle.dump([np.asarray(a) for a in answers(*learned(name))], pipe)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found: list[Any] = pickle.load(pipe)
    os.waitpid(pid, 0)
    return found


def resident() -> float:
    """Megabytes of memory that the process holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


class Soak:
    """What can be done, and what is expected of it."""

    def __init__(self, seed: int, names: list[str]) -> None:
        self.draw, self.names, self.done = random.Random(seed), names, Counter[str]()
        self.expected = {name: fresh(name) for name in names}  # before anything else is done here
        self.models = {name: learned(name) for name in names}
        self.folder, self.sizes = Path(tempfile.mkdtemp()), list[float]()
        self.actions: list[Callable[[str], None]] = [self.fit, self.refit, self.files]
        self.actions += [self.threads, self.forks, self.interrupts]

    def step(self) -> None:
        name, action = self.draw.choice(self.names), self.draw.choice(self.actions)
        self.done[action.__name__] += 1
        action(name)

    def check(self, name: str, model: Any, data: Any, what: str) -> None:
        for found, expected in zip(answers(model, data), self.expected[name], strict=True):
            if not np.array_equal(found, expected, equal_nan=np.asarray(found).dtype.kind == "f"):
                raise AssertionError(f"{name}, {what}: the answer is not that of a fresh process.")

    # -- what is done ---------------------------------------------------------------------------
    def fit(self, name: str) -> None:
        self.models[name] = learned(name)
        self.check(name, *self.models[name], "fitted anew")

    def refit(self, name: str) -> None:
        """The same object, on samples that it has not seen, and then as it was."""
        model, data = self.models[name]
        before = pickle.dumps(model)
        other = clone(model)
        if hasattr(other, "fit") and isinstance(data, np.ndarray) and data.ndim == 2:
            check_random_state(None).seed(self.draw.randrange(1000))
            try:
                other.fit(data, np.arange(len(data)) % 2)
            except (TypeError, ValueError):  # another kind of target, or too few samples of it
                pass
        self.models[name] = pickle.loads(before), data
        self.check(name, *self.models[name], "beside a clone that was fitted on others")

    def files(self, name: str) -> None:
        model, data = self.models[name]
        save(model, self.folder / "model")
        self.models[name] = load(self.folder / "model"), data
        self.check(name, *self.models[name], "from a file")

    def threads(self, name: str) -> None:
        others = [name, *self.draw.sample(self.names, 3)]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda one: self.check(one, *self.models[one], "in threads"), others))

    def forks(self, name: str) -> None:
        for found, expected in zip(fresh(name), self.expected[name], strict=True):
            if not np.array_equal(found, expected, equal_nan=found.dtype.kind == "f"):
                raise AssertionError(f"{name}, after a fork: the answer is not that of a fresh process.")

    def interrupts(self, name: str) -> None:
        """Ctrl-C somewhere in a fit, whose model is thrown away."""

        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        previous = signal.signal(signal.SIGVTALRM, stop)
        try:
            try:
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.001 + 0.1 * self.draw.random())
                learned(name)
            finally:  # it may come here too, as the fit has just ended
                signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self.done["interrupted"] += 1
        finally:
            signal.signal(signal.SIGVTALRM, previous)
        self.fit(name)


def growth(sizes: list[float]) -> float:
    """By which share the last third of the rounds has more memory than the second."""
    third = max(len(sizes) // 3, 1)
    before, after = statistics.median(sizes[third : 2 * third]), statistics.median(sizes[-third:])
    return after / before - 1.0


def soak(minutes: float, seed: int = 0, names: list[str] | None = None, verbose: bool = False) -> Soak:
    """Live for so long, and nine rounds at least; memory after each round is in ``sizes``."""
    warnings.simplefilter("ignore")
    life, ends = Soak(seed, names or NAMES), time.monotonic() + 60.0 * minutes
    while time.monotonic() < ends or len(life.sizes) < 9:
        for _ in range(ROUND):
            life.step()
        life.sizes.append(resident())
        if verbose:
            print(f"{sum(life.done.values())} things done, {life.sizes[-1]:.0f} MB", flush=True)
    return life


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    life = soak(asked.minutes, asked.seed, verbose=True)
    grown = growth(life.sizes)
    print(f"0 differences in {dict(life.done)}; memory grew by {100 * grown:.1f} %.")
    sys.exit(grown > 0.02)


if __name__ == "__main__":
    main()
