"""Every call to the system in turn fails, in searches that are kept, in commands and while models are read.

    python -m tests.every_call

Each function runs its work again and again, with the k-th call failing, for every k until none is left (or
for each `step`-th of them), and returns how many failed. After each fault files are old or new, and whole, a
model is as it was, or fitted, the message names the cause, and a second run goes on to the same model.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tests.faults import Counted, failing_call
from tests.fitted_models import answers, fitted
from typer.testing import CliRunner

from manykernels import MKLClassifierCV, load, save
from manykernels._files import is_report
from manykernels.cli.app import app
from manykernels.kernels import Gaussian, Linear
from manykernels.selection.checkpoint import clear

ERRORS: dict[str, Callable[[], BaseException]] = {
    "full": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "read-only": lambda: OSError(errno.EROFS, os.strerror(errno.EROFS)),
    "lost": lambda: OSError(errno.ESTALE, os.strerror(errno.ESTALE)),
    "memory": MemoryError,
    "interrupt": KeyboardInterrupt,
}
rng = np.random.RandomState(0)
X = rng.randn(40, 2)
y = X[:, 0] * X[:, 1] + 0.2 * rng.randn(40) > 0
END = 5000  # calls that no work here has


def asked(name: str, step: int = 1, first: int = 1) -> Iterator[tuple[int, BaseException]]:
    """k = 1, 1 + step, …; who asks ends it where the fault did not come any more."""
    for k in range(first, END, step):
        yield k, ERRORS[name]()
    raise AssertionError("no end of calls")


def check_cause(failed: BaseException, fault: BaseException, folder: Path) -> None:
    """What was raised says what happened, and to which file."""
    if isinstance(fault, OSError):
        assert isinstance(failed, OSError) and failed.errno == fault.errno, repr(failed)
        assert os.fspath(folder) in str(failed) and os.strerror(fault.errno or 0) in str(failed), str(failed)
    else:
        assert type(failed) is type(fault), repr(failed)


# -- searches -------------------------------------------------------------------------------------
def search(folder: Path | None, **options: Any) -> Any:
    kernels = options.pop("kernels", {"linear": Linear(), "narrow": Gaussian(1.0)})
    given = {"strategy": "finite", "Cs": [0.1, 1.0], "norms": [2.0], "cv": 2, "random_state": 0, **options}
    return MKLClassifierCV(kernels, **given, checkpoint=folder)


def learned(model: Any) -> list[Any]:
    return [model.weights_, model.dual_coef_, model.intercept_, model.decision_function(X)]


def same(found: list[Any], expected: list[Any]) -> None:
    for left, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(left, right)


def searches(name: str, where: Path, step: int = 1, first: int = 1) -> int:
    """A search that is kept: the folder, its lock, its description, and pieces written and read back."""
    expected, count = learned(search(None).fit(X, y)), 0
    for k, fault in asked(name, step, first):
        folder = where / "kept"
        model, failed = search(folder), None
        before = vars(model).copy()
        with failing_call(k, fault, paths=True) as calls, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, y)
            except BaseException as caught:
                failed = caught
        try:
            if failed is None:
                same(learned(model), expected)
            else:
                check_cause(failed, fault, folder)
                assert vars(model) == before
            goes_on(folder, expected)
        except Exception as wrong:
            raise AssertionError(f"{calls.name}, call {k}: {failed!r}") from wrong
        if not calls.fired:
            assert failed is None
            return count
        count += 1
    return count


def goes_on(folder: Path, expected: list[Any]) -> None:
    """A second run, with nothing to warn of, and once more with all pieces read; then nothing is left."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(learned(search(folder).fit(X, y)), expected)
        same(learned(search(folder).fit(X, y)), expected)
    assert len(list(folder.glob("*.piece"))) == 3
    clear(folder)
    assert not folder.exists()


# -- workers --------------------------------------------------------------------------------------
def plain(A: Any, B: Any) -> Any:
    return A @ B.T


def workers(where: Path, kept: bool) -> int:
    """A search in two processes, of which one is killed at the k-th call of a kernel."""
    options = {"kernels": {"few": plain, "wide": Gaussian(2.0)}}
    expected = search(None, **options).fit(X, y)
    for k in range(1, 100):
        kernel = Counted(where / f"calls {k}", k)
        folder = where / f"kept {k}" if kept else None
        model = search(folder, kernels={"few": kernel, "wide": Gaussian(2.0)}, n_jobs=2)
        before, failed = vars(model).copy(), None
        try:
            model.fit(X, y)
        except TerminatedWorkerError as caught:
            failed = caught
        assert (failed is not None) == kernel.fired, f"call {k}: {failed!r}"
        if failed is not None:
            assert "terminated" in str(failed) and vars(model) == before, f"call {k}"
            model.fit(X, y)  # with workers that are new
        same(learned(model), learned(expected))
        if not kernel.fired:
            return k - 1
    raise AssertionError("no end of calls")


# -- commands -------------------------------------------------------------------------------------
class Commands:
    """``fit --checkpoint`` with a model and a report, and ``predict``, in a folder of their own."""

    def __init__(self, where: Path, *more: str) -> None:
        self.where, self.keep = where, where / "keep"
        self.model, self.report, self.out = where / "model", where / "r.html", where / "out.csv"
        table = pd.DataFrame(X, columns=["a", "b"]).assign(t=np.where(y, "yes", "no"))
        table.to_csv(where / "t.csv", index=False)
        options = ["-t", "t", "-k", "gaussians:1,8,2", "--cv", "2", "--jobs", "1"]
        quick = ["--no-importance", "--no-significance", "--no-stability", *more]
        files = ["--model", self.model, "--report", self.report, "--checkpoint", self.keep]
        self.fit = ["fit", where / "t.csv", *options, *quick, *files]
        self.predict = ["predict", self.model, where / "t.csv", "--out", self.out, "--force"]

    def run(self, *args: Any) -> Any:
        return CliRunner().invoke(app, [str(arg) for arg in args])

    def said(self) -> list[Any]:
        return [load(self.model).decision_function(pd.DataFrame(X, columns=["a", "b"]))]


def commands(name: str, where: Path, step: int = 1, first: int = 1, score: bool = False) -> int:
    """A command that learns, writes a model and a report, and keeps its work."""
    work, count = Commands(where, *([] if score else ["--no-score"])), 0
    whole = work.run(*work.fit)
    assert whole.exit_code == 0, whole.output
    expected, old = work.said(), [work.model.read_bytes(), work.report.read_bytes()]
    for k, fault in asked(name, step, first):
        with failing_call(k, fault, paths=True) as calls:
            ended = work.run(*work.fit)
        try:
            if ended.exit_code:
                told(ended, fault)
            same(work.said(), expected)  # the model is the old one or the new one
            assert is_report(work.report) and work.report.read_text().rstrip().endswith("</html>")
            again = work.run("fit", "--resume", work.keep) if kept(work) else work.run(*work.fit)
            assert again.exit_code == 0, again.output
            same(work.said(), expected)
            left = sorted(os.listdir(where))
            assert left == ["model", "r.html", "t.csv"], left
        except Exception as wrong:
            raise AssertionError(f"{calls.name}, call {k}: {ended.output}") from wrong
        if not calls.fired:
            assert ended.exit_code == 0
            return count
        count += 1
        for file, data in zip((work.model, work.report), old, strict=True):
            file.write_bytes(data)
    return count


def kept(work: Commands) -> bool:
    """Whether there is work of a command that can be gone on with."""
    return (work.keep / "command.json").exists()


def told(ended: Any, fault: BaseException) -> None:
    """A command that ends with an error says which in plain words, and where."""
    said = ended.output
    assert "Traceback" not in said and "bug" not in said, said
    if isinstance(fault, OSError):
        assert ended.exit_code == 2 and os.strerror(fault.errno or 0).lower() in said.lower(), said
    elif isinstance(fault, MemoryError):
        assert "memory" in said, said
    else:
        assert ended.exit_code == 130, (ended.exit_code, said)


def predictions(name: str, where: Path, step: int = 1, first: int = 1) -> int:
    """A command that writes predictions."""
    work, count = Commands(where, "--no-score"), 0
    assert work.run(*work.fit).exit_code == 0 and work.run(*work.predict).exit_code == 0
    new = work.out.read_bytes()
    for k, fault in asked(name, step, first):
        work.out.write_text("old")
        with failing_call(k, fault, paths=True) as calls:
            ended = work.run(*work.predict)
        try:
            if ended.exit_code:
                told(ended, fault)
                assert work.out.read_bytes() in (b"old", new)
            else:
                assert work.out.read_bytes() == new
            assert work.run(*work.predict).exit_code == 0 and work.out.read_bytes() == new
            left = sorted(os.listdir(where))
            assert left == ["model", "out.csv", "r.html", "t.csv"], left
        except Exception as wrong:
            raise AssertionError(f"{calls.name}, call {k}: {ended.output}") from wrong
        if not calls.fired:
            return count
        count += 1
    return count


# -- files ----------------------------------------------------------------------------------------
def loads(name: str, where: Path) -> int:
    """A model that is read."""
    path, (model, data) = where / "model", fitted("classifier")
    save(model, path)
    before, expected = path.read_bytes(), answers(model, data)
    for k, fault in asked(name):
        found, failed = None, None
        with failing_call(k, fault, paths=True) as calls:
            try:
                found = load(path)
            except BaseException as caught:
                failed = caught
        if failed is not None:
            check_cause(failed, fault, path)
        assert path.read_bytes() == before
        same(answers(load(path) if found is None else found, data), expected)
        if not calls.fired:
            return k - 1
        assert failed is not None
    raise AssertionError("no end of calls")


WORKS: dict[str, Callable[[str, Path], int]] = {
    "search": searches,
    "fit": commands,
    "fit with scores": lambda name, where: commands(name, where, 7, score=True),
    "predict": predictions,
    "load": loads,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--works", nargs="+", choices=[*WORKS, "workers"], default=[*WORKS, "workers"])
    parser.add_argument("--errors", nargs="+", choices=ERRORS, default=list(ERRORS))
    given = parser.parse_args()
    for work in given.works:
        for name in ["alone", "kept"] if work == "workers" else given.errors:
            where = Path(tempfile.mkdtemp())
            try:
                count = workers(where, name == "kept") if work == "workers" else WORKS[work](name, where)
            finally:
                shutil.rmtree(where)
            print(f"{work}, {name}: {count} calls failed, one by one; nothing torn, nothing half", flush=True)


if __name__ == "__main__":
    main()
