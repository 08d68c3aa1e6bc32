"""Tests in forks of one process, each in a copy of the repository, for mutation testing (`mutants.py`)."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
COPIED = ["src", "tests", "benchmarks", "experiments", "docs", "examples", "README.md", "CHANGELOG.md"]
COPIED += ["pyproject.toml"]


def copy_tree(folder: Path, jobs: int) -> None:
    """The repository as it is now, once for each process, with what has been compiled of it."""
    for k in range(jobs):
        tree = folder / f"tree{k}"
        (tree / "tmp").mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            if (ROOT / name).is_dir():
                ignore = shutil.ignore_patterns("results", "_build", "gallery", ".hypothesis")
                shutil.copytree(ROOT / name, tree / name, dirs_exist_ok=True, ignore=ignore)
            else:
                shutil.copy2(ROOT / name, tree / name)


def restore(tree: Path, file: Path) -> None:
    """The file as it was, with its time, so that what was compiled of it holds."""
    (tree / file).unlink(missing_ok=True)
    shutil.copy2(ROOT / file, tree / file)


def import_all_but_the_package() -> None:
    """What every run needs, once."""
    import cvxpy  # noqa: F401
    import hypothesis  # noqa: F401
    import joblib  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import scipy.optimize
    import scipy.sparse.linalg
    import scipy.special
    import scipy.stats  # noqa: F401
    import sklearn.model_selection
    import sklearn.pipeline
    import sklearn.svm
    import sklearn.utils.estimator_checks  # noqa: F401


def fork(tree: Path, log: Path, seconds: float, work: Callable[[], int]) -> int:
    """A process in a copy of the repository; its number."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 6))
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))
        output = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(tree)
        here = {str(ROOT), str(ROOT / "src"), ""}
        sys.path[:] = [str(tree / "src"), str(tree), *(p for p in sys.path if p not in here)]
        os.environ.update(PYTHONPATH=os.pathsep.join(sys.path[:2]), CI="1", TMPDIR=str(tree / "tmp"))
        code = work()
    finally:
        sys.stdout.flush()
        os._exit(code)


def run_all(
    jobs: int, work: Iterable[Callable[[Path], int]], folder: Path, done: Callable[[int, int, float], None]
) -> None:
    """Start each piece of work in a free tree, `jobs` at a time; `done(number, exit status, seconds)`."""
    free = [folder / f"tree{k}" for k in range(jobs)]
    running: dict[int, tuple[int, Path, float]] = {}

    def wait(limit: int) -> None:
        while len(running) > limit:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in running:
                number, tree, start = running.pop(pid)
                free.append(tree)
                done(number, os.waitstatus_to_exitcode(status), time.monotonic() - start)
                continue
            for pid, (_, _, start) in running.items():
                if time.monotonic() - start > 900.0:  # neither works nor ends
                    os.killpg(pid, signal.SIGKILL)
            time.sleep(0.02)

    for number, start in enumerate(work):
        wait(jobs - 1)
        tree = free.pop()
        running[start(tree)] = number, tree, time.monotonic()
    wait(0)


class Chosen:
    """A plugin of pytest: the tests of a list, in its order, and what each of them took."""

    def __init__(self, names: list[str] | None = None, tracer: Tracer | None = None) -> None:
        self.rank = None if names is None else {name: k for k, name in enumerate(names)}
        self.tracer, self.taken, self.failed = tracer, dict[str, float](), set[str]()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.rank is not None:
            items[:] = sorted((i for i in items if i.nodeid in self.rank), key=lambda i: self.rank[i.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        start = time.process_time()
        if self.tracer is None:
            return (yield)
        with self.tracer.of(item.nodeid):
            result = yield
        self.taken[item.nodeid] = time.process_time() - start
        return result

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.outcome != "passed":
            self.failed.add(report.nodeid)


class Tracer:
    """Which lines of some files each test executes."""

    def __init__(self, root: Path, files: list[Path]) -> None:
        self.files = {str(root / file): file.as_posix() for file in files}
        self.lines: dict[str, set[tuple[str, int]]] = {}
        self.current: set[tuple[str, int]] = set()

    def of(self, test: str) -> Tracer:
        self.current = self.lines[test] = set()
        return self

    def __enter__(self) -> None:
        threading.settrace(self.call)
        sys.settrace(self.call)

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]

    def call(self, frame: Any, event: str, argument: Any) -> Any:
        name = self.files.get(frame.f_code.co_filename)
        if name is None:
            return None
        current = self.current

        def line(frame: Any, event: str, argument: Any) -> Any:
            current.add((name, frame.f_lineno))
            return line

        return line(frame, event, argument)


QUIET = [
    "-q",
    "--no-header",
    "-p",
    "no:cacheprovider",
    "-m",
    "not slow",
    "-W",
    "ignore::pytest.PytestWarning",
]
