"""Trials on all processors, each kept on disk as soon as it is finished.

A trial is known by its function, its arguments, quick, and by the code: the files of the package, the module
of the experiment and of the function, whatever of this folder they import, and the versions of the libraries.
If any of these changes it is another trial and is run again; results of different code are never mixed. A
trial that reads a file itself has its name, or a `Source`, among its arguments: it also is another one when
the file changes. Times are what they were when they were measured.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
from joblib import Parallel, delayed

import manykernels

from .data import stamp, stand_in

HERE = Path(__file__).resolve().parent
HARNESS = {
    "__init__",
    "__main__",
    "pages",
    "plots",
    "records",
    "tables",
    "trials",
}  # no numbers come from these
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass
class Store:
    """Where the trials of the experiment that is running are kept."""

    folder: Path
    code: str
    fresh: bool = False
    run: int = 0
    kept: int = 0
    seconds: float = 0.0  # of processors, in other processes

    def file(self, function: Callable[..., Any], arguments: tuple[Any, ...], quick: bool) -> Path:
        of_function = code_of(Path(sys.modules[function.__module__].__file__ or ""))
        data = [stand_in(quick), *(stamp(argument, quick) for argument in arguments)]
        name = f"{function.__module__}.{function.__qualname__}"
        key = joblib.hash((name, arguments, quick, data, self.code, of_function))
        return self.folder / f"{key}.joblib"


_store: list[Store] = []  # of the experiment that is running, if its trials are to be kept


@contextmanager
def keeping(folder: Path, module_file: Path, fresh: bool = False) -> Iterator[Store]:
    """Within this, `in_parallel` keeps what is finished in the folder, and takes what is there."""
    _store.append(Store(folder, code_of(module_file), fresh))
    try:
        yield _store[-1]
    finally:
        _store.pop()


def in_parallel(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], quick: bool = False
) -> list[Any]:
    """Trials on all processors, one thread each; in this process where they are quick."""
    store = _store[-1] if _store else None
    files = [store.file(function, a, quick) if store else None for a in arguments]
    old = [(k, file) for k, file in enumerate(files) if file and file.is_file()]
    known = {k: joblib.load(file) for k, file in old} if store and not store.fresh else {}
    todo = [k for k in range(len(arguments)) if k not in known]
    if store:
        store.run, store.kept = store.run + len(todo), store.kept + len(known)
    if quick:
        found = [_trial(files[k], function, arguments[k])[0] for k in todo]
    else:
        jobs = (delayed(_trial)(files[k], function, arguments[k]) for k in todo)
        done = Parallel(n_jobs=-1, inner_max_num_threads=1)(jobs)
        found = [one for one, _ in done]
        if store:
            store.seconds += sum(seconds for _, seconds in done)
    known |= dict(zip(todo, found, strict=True))
    return [known[k] for k in range(len(arguments))]


def _trial(file: Path | None, function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    """Its result and seconds; kept by the process that ran it, at once: the others may be stopped."""
    started = time.process_time()
    found = function(*arguments)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        joblib.dump(found, part)
        part.replace(file)
    return found, time.process_time() - started


# -- the code behind a trial ------------------------------------------------------------------------
@cache
def code_of(file: Path) -> str:
    """A hash of a module, of what it imports from this folder, of the package and of the libraries.

    As files are when it is first asked for: what is edited while an experiment runs is not what runs.
    """
    seen: dict[Path, bytes] = {}
    _gather(file.resolve(), seen)
    parts = [f"{name}=={version(name)}".encode() for name in LIBRARIES] + [package_code().encode()]
    return _hash([*parts, *(seen[file] for file in sorted(seen))])


def _gather(file: Path, seen: dict[Path, bytes]) -> None:
    if file in seen or not file.is_file():
        return
    seen[file] = file.read_bytes()
    for node in ast.walk(ast.parse(seen[file])):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = file.parents[node.level - 1]
            names = [node.module] if node.module else [alias.name for alias in node.names]
            if folder.joinpath(*(names[0].split("."))).is_dir():
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if name not in HARNESS or folder != HERE:
                    _gather(folder.joinpath(*name.split(".")).with_suffix(".py"), seen)


@cache
def package_code() -> str:
    """Of all files of the package."""
    folder = Path(manykernels.__file__).parent
    return _hash([file.read_bytes() for file in sorted(folder.rglob("*.py"))])


def _hash(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part).digest())
    return digest.hexdigest()[:16]
