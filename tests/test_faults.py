"""Every fault in turn: files are old or new, and whole, models as they were, or fitted; the cause is told."""

from __future__ import annotations

import copy
import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from joblib.externals.loky.process_executor import TerminatedWorkerError
from tests.estimators.test_whole_fits import MODELS, OTHER, limits, state, target
from tests.estimators.test_whole_fits import X as FIRST
from tests.faults import Counted, Lines, drawn_lines, every_call, failing_call
from tests.fitted_models import X, answers, fitted, new, y
from typer.testing import CliRunner

import manykernels as mk
from manykernels import _files, load, save
from manykernels.cli._console import plainly
from manykernels.cli.app import app
from manykernels.inspection import importance, permutation_test, weight_stability
from manykernels.kernels import Gaussian
from manykernels.report import render, report_data, write_report

ERRORS = {
    "full": lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "read-only": lambda: OSError(errno.EROFS, os.strerror(errno.EROFS)),
    "lost": lambda: OSError(errno.ESTALE, os.strerror(errno.ESTALE)),
    "memory": MemoryError,
    "interrupt": KeyboardInterrupt,
}


def command(*args):
    return CliRunner().invoke(app, [str(arg) for arg in args])


# -- writing --------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def page():
    return report_data(fitted("regressor")[0], X, np.zeros(len(X)), fit_path=False)


def write(name, page, path):
    save(fitted("classifier")[0], path) if name == "save" else write_report({**page, "title": "new"}, path)


FAST = [("save", "full"), ("save", "memory"), ("report", "lost")]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        pytest.param(name, error, marks=[] if (name, error) in FAST else pytest.mark.slow)
        for name in ("save", "report")
        for error in ERRORS
    ],
)
def test_every_call_of_a_write_may_fail(name, error, page, tmp_path):
    folder = tmp_path / "folder"
    for existing in (True, False):
        for k, fault in every_call(ERRORS[error]):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            path = folder / "file"
            if existing:
                save(fitted("regressor")[0], path) if name == "save" else write_report(page, path)
            before = path.read_bytes() if existing else None
            failed = None
            with failing_call(k, fault) as calls:
                try:
                    write(name, page, path)
                except BaseException as caught:
                    failed = caught
            if not calls.fired:
                break
            check_cause(failed, fault, path)
            after = path.read_bytes() if path.exists() else None
            if after != before:
                assert is_new(name, page, path), f"{calls.name}, call {k}"
            write(name, page, path)
            assert is_new(name, page, path) and os.listdir(folder) == ["file"], f"{calls.name}, call {k}"
        assert k > 5  # there were calls to fail
        assert failed is None and is_new(name, page, path)


def check_cause(failed, fault, path):
    """What was raised says what happened, and where; nothing at all where it did not matter."""
    if failed is None:
        return
    if isinstance(fault, OSError):
        assert isinstance(failed, OSError) and failed.errno == fault.errno
        assert os.fspath(path) in str(failed) and fault.strerror in str(failed)
    else:
        assert type(failed) is type(fault)


def is_new(name, page, path):
    if name == "report":
        return path.read_bytes() == render({**page, "title": "new"}).encode()
    return bool((load(path).predict(new) == fitted("classifier")[0].predict(new)).all())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limits on the size of files")
def test_a_file_that_may_not_grow(tmp_path):
    """The system itself ends a write in the middle: the old file stays, and the message names it."""
    path = tmp_path / "model"
    path.write_bytes(b"")
    save(fitted("regressor")[0], path)
    before = path.read_bytes()
    script = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))\n"
        "runpy.run_path(sys.argv[1])['write_atomically'](sys.argv[2], bytes(100_000))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, _files.__file__, str(path)], capture_output=True, text=True
    )
    assert ended.returncode == 1 and str(path) in ended.stderr.splitlines()[-1]
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model"]


# -- reading --------------------------------------------------------------------------------------
class Losing:
    """``open`` of files whose n-th read fails, as on a network that is gone."""

    def __init__(self, monkeypatch, name, n=1):
        self.left = n
        real = Path.open

        def opened(path, *args, **options):
            file = real(path, *args, **options)
            return _Lost(file, self) if path.name == name else file

        monkeypatch.setattr(Path, "open", opened)


class _Lost:
    def __init__(self, file, losing):
        self._file, self._losing = file, losing

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)

    def read(self, *args):
        self._losing.left -= 1
        if self._losing.left == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._file.read(*args)


@pytest.mark.parametrize("n", [1, 2])
def test_a_model_that_is_lost_while_it_is_read(n, tmp_path, monkeypatch):
    save(fitted("classifier")[0], tmp_path / "model")
    Losing(monkeypatch, "model", n)
    with pytest.raises(OSError, match=r"Input/output error.*model") as caught:
        load(tmp_path / "model")
    assert caught.value.errno == errno.EIO


def test_a_file_that_vanishes_while_it_is_looked_at(tmp_path, monkeypatch):
    """Between two looks at a path somebody may remove it."""
    path = tmp_path / "model"
    save(fitted("classifier")[0], path)
    real = os.path.getsize
    monkeypatch.setattr(os.path, "getsize", lambda p: (os.unlink(p), real(p))[1])
    same = answers(load(path), new)
    np.testing.assert_array_equal(same[0], answers(fitted("classifier")[0], new)[0])
    monkeypatch.undo()
    save(fitted("classifier")[0], path)
    gone = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda p: gone(p) and not (p == path and p.unlink()))
    save(fitted("classifier")[0], path)  # there was one when it was asked, and then there was none
    monkeypatch.undo()
    load(path)


def test_a_table_that_is_lost_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    pd.DataFrame(X).assign(t=y).to_csv(path, index=False)
    for n in (1, 2):
        with monkeypatch.context() as patch:
            Losing(patch, "table.csv", n)
            ended = command("fit", path, "-t", "t", "-m", "sparse", "--no-score")
        assert ended.exit_code == 2 and "Traceback" not in ended.output
        assert "table.csv" in ended.output and "Input/output error" in ended.output


# -- lines ----------------------------------------------------------------------------------------
class Fit:
    """Learn other samples anew, from a model that is fitted already."""

    def __init__(self, name):
        self.first = MODELS[name]()
        self.first.fit(FIRST, target(self.first))
        warm = getattr(self.first, "warm_start", False)  # goes on with the same columns and classes
        self.X, self.y = (FIRST, target(self.first)) if warm else (OTHER, target(self.first, 30))
        self.before = state(self.first)
        self.run()
        self.expected = self.answer()

    def answer(self):
        return (
            self.model.transform(self.X) if hasattr(self.model, "transform") else self.model.predict(self.X)
        )

    def run(self):
        self.model = copy.deepcopy(self.first)  # some go on from where they are
        self.model.fit(self.X, self.y)

    def check(self, failed):
        if failed is None or state(self.model) != self.before:
            np.testing.assert_array_equal(self.answer(), self.expected)

    def again(self):
        self.run()
        self.check(None)


class Save:
    def __init__(self, name, folder):
        self.path = folder / "model"
        save(fitted("regressor")[0], self.path)
        self.before, self.new = self.path.read_bytes(), fitted(name)

    def run(self):
        save(self.new[0], self.path)

    def check(self, failed):
        if failed is None or self.path.read_bytes() != self.before:
            np.testing.assert_array_equal(answers(load(self.path), self.new[1])[0], answers(*self.new)[0])

    def again(self):
        self.run()
        self.check(None)
        assert os.listdir(self.path.parent) == ["model"]


class Load:
    def __init__(self, name, folder):
        self.path, self.new, self.found = folder / "model", fitted(name), None
        save(self.new[0], self.path)

    def run(self):
        self.found = load(self.path)

    def check(self, failed):
        if failed is None:
            np.testing.assert_array_equal(answers(self.found, self.new[1])[0], answers(*self.new)[0])

    def again(self):
        self.run()
        self.check(None)


class Report:
    def __init__(self, folder):
        self.path = folder / "page.html"
        self.run()
        self.before = self.expected = self.path.read_bytes()

    def run(self):
        from datetime import date

        data = report_data(fitted("classifier")[0], X, y, fit_path=False, made=date(2026, 1, 1))
        write_report(data, self.path)

    def check(self, failed):
        """What a section cannot be made of for want of memory is an error, not a page without it."""
        assert self.path.read_bytes() == self.expected

    def again(self):
        self.run()
        self.check(None)


class Command:
    def __init__(self, folder):
        self.folder, self.ended = folder, None
        frame = pd.DataFrame(X, columns=list("abcd"))
        frame.assign(t=np.where(y > 0, "yes", "no")).to_csv(folder / "t.csv", index=False)
        self.files = [folder / "model", folder / "out.csv"]
        self.run()
        self.expected = {file: self.said(file) for file in self.files}

    def said(self, file):
        return load(file).predict(X[:, :4]).tolist() if file.name == "model" else file.read_text()

    def run(self):
        fit = ["fit", self.folder / "t.csv", "-t", "t", "-m", "sparse", "--no-score", "--no-importance"]
        self.ended = command(*fit, "--no-significance", "--model", self.files[0])
        if self.ended.exit_code == 0:
            predict = ["predict", self.files[0], self.folder / "t.csv", "--out", self.files[1], "--force"]
            self.ended = command(*predict)
        if self.ended.exit_code:
            raise RuntimeError(self.ended.output)

    def check(self, failed):
        if failed is not None:
            assert "memory" in str(failed) and "Traceback" not in str(failed)
        for file, expected in self.expected.items():
            assert self.said(file) == expected

    def again(self):
        self.run()
        self.check(None)
        assert sorted(os.listdir(self.folder)) == ["model", "out.csv", "t.csv"]


def told(failed):
    """The parser of headers runs out of memory where somebody nests brackets: that is the header's fault."""
    return "memory" in str(failed) or "the header is not that of an array" in str(failed)


def memory_ends(operation, count, seed):
    """Let memory end at drawn lines of an operation; how many faults came."""
    operation.again()
    with Lines() as lines:
        operation.run()
    fired = 0
    for line, nth in drawn_lines(lines.seen, count, seed):
        before, failed = limits(), None
        with Lines(line, nth, MemoryError("drawn")) as fault:
            try:
                operation.run()
            except BaseException as caught:
                failed = caught
        where = f"{line[0]}:{line[1]}, time {nth}: {type(failed).__name__}: {failed}"
        fired += fault.fired
        try:
            operation.check(failed)
            assert failed is None or isinstance(failed, MemoryError) or told(failed)
            failed = None  # its frames count as long as they live
            operation.again()  # where memory ended while limits were given back, the next one does that
            assert limits() == before
        except Exception as wrong:
            raise AssertionError(where) from wrong
    return fired


def operations(folder):
    found = {f"fit {name}": (lambda name=name: Fit(name)) for name in MODELS}
    for name in ("classifier", "views of a frame", "pipeline"):
        found[f"save {name}"] = lambda name=name: Save(name, folder)
        found[f"load {name}"] = lambda name=name: Load(name, folder)
    return found | {"report": lambda: Report(folder), "command": lambda: Command(folder)}


SOME = ("fit MKLClassifier", "fit MKLClassifierCV", "fit UFO goes on", "save pipeline", "load classifier")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SOME)
def test_memory_ends_somewhere(name, tmp_path):
    assert memory_ends(operations(tmp_path)[name](), 3, seed=0) > 0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", operations(Path()))
def test_memory_ends_anywhere(name, tmp_path):
    """Eight lines of each: some 250 in all."""
    assert memory_ends(operations(tmp_path)[name](), 8, seed=1) > 4  # some lines are run only now and then


# -- workers --------------------------------------------------------------------------------------
def search(kernel, **options):
    given = {"few": kernel, "wide": Gaussian(2.0)}
    return mk.MKLClassifierCV(given, Cs=[0.1, 1.0], norms=[2.0], cv=3, **options)


@pytest.mark.parametrize("backend", ["sequential", pytest.param("threading", marks=pytest.mark.slow)])
def test_every_call_of_a_kernel_in_a_search_may_fail(backend, tmp_path):
    expected = search(plain).fit(X, y)
    for k in range(1, 1000):
        kernel = Counted(tmp_path / f"{k}", k, MemoryError)
        model, failed = search(kernel, n_jobs=2), None
        before = vars(model).copy()
        with parallel_config(backend=backend):
            try:
                model.fit(X, y)
            except MemoryError as caught:
                failed = caught
        if not kernel.fired:
            break
        assert failed is not None and vars(model) == before, f"call {k}"
    assert k > 3
    np.testing.assert_array_equal(model.weights_, expected.weights_)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)


def plain(A, B):
    return A @ B.T


KILLED = {
    "importance": lambda model: importance(model, X, y, cv=2, n_repeats=1, n_jobs=2),
    "stability": lambda model: weight_stability(model, X, y, n_resamples=4, n_jobs=2),
    "permutations": lambda model: permutation_test(model, X, y, cv=2, n_permutations=4, n_jobs=2),
    "comparison": lambda model: mk.compare({"mine": model}, X, y, cv=3, n_jobs=2),
}


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 4])
def test_a_worker_of_a_search_that_is_killed(k, tmp_path):
    kernel = Counted(tmp_path / "calls", k)
    model = search(kernel, n_jobs=2)
    before = vars(model).copy()
    with pytest.raises(TerminatedWorkerError, match=r"worker process .* terminated"):
        model.fit(X, y)
    assert kernel.fired and vars(model) == before
    model.fit(X, y)  # with workers that are new
    expected = search(plain).fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-10)


def test_a_killed_worker_is_no_bug_of_the_command(capsys):
    def fails(voice):
        raise TerminatedWorkerError("a worker process was terminated")

    with pytest.raises(SystemExit) as ended:
        plainly(fails)(json_=False, quiet=False, debug=False)
    said = capsys.readouterr().err
    assert ended.value.code == 2 and "--jobs 1" in said and "bug" not in said


@pytest.mark.slow
@pytest.mark.parametrize("name", KILLED)
def test_a_worker_that_is_killed_elsewhere(name, tmp_path):
    kernel = Counted(tmp_path / "calls", 2)
    model = mk.MKLClassifier({"few": kernel, "wide": Gaussian(2.0)}).fit(X, y)
    said = answers(model, new)[0]
    with pytest.raises(TerminatedWorkerError, match=r"worker process .* terminated"):
        KILLED[name](model)
    np.testing.assert_array_equal(answers(model, new)[0], said)
    KILLED[name](model)
