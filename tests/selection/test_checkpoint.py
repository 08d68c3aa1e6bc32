"""Work that is kept: after a kill at any moment the same model, to the bit; other work is refused by name."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import pickle
import signal
import subprocess
import sys
import time
import warnings
from collections import Counter

import numpy as np
import pytest
from tests.faults import Counted, failing_call
from tests.kills import FEW, KERNELS, STREAMS, WORKS, X, numbers, said, streamed, survive, y

from manykernels import (
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    _pieces,
    compare,
    load,
    save,
)
from manykernels._pieces import Store, kept
from manykernels.inspection import importance, significance, weight_stability
from manykernels.kernels import Gaussian, Linear
from manykernels.selection import checkpoint
from manykernels.selection.checkpoint import Checkpoint, prints_of

FORK = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that begin in the middle")


def search(folder=None, **options):
    return MKLClassifierCV(**{**FEW, "strategy": ["finite", "aligned"], "checkpoint": folder, **options}), y


def learned(model):
    """All that a fit decides by, to the last bit."""
    return [
        np.asarray(part) for part in (model.weights_, model.dual_coef_, model.intercept_, model.predict(X))
    ]


def same(a, b):
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


def pieces(folder):
    return sorted(folder.glob("*.piece"))


@FORK
def test_a_search_that_is_killed_goes_on(tmp_path):
    tally = survive(WORKS["classes"], 1, tmp_path)
    assert tally.kills > 0 and not tally.different


@FORK
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, work in WORKS.items() if not work.cluster])
def test_what_is_killed_at_any_moment_goes_on(name, tmp_path):
    """A few kills of each; ``python -m tests.kills NAME --kills 50`` does as many as asked for."""
    slow = name in ("large", "command", "widths")
    assert not survive(WORKS[name], 2 if slow else 6, tmp_path).different


def test_nothing_is_done_twice(tmp_path, monkeypatch):
    model, target = search(folder=tmp_path, norms=(1.0,))
    model.fit(X, target)
    assert len(pieces(tmp_path)) == 11  # two strategies in five folds, and the model that was chosen
    monkeypatch.setattr("manykernels.selection.folds.run_trial", None)
    again, _ = search(folder=str(tmp_path), norms=(1.0,), n_jobs=1, verbose=0)
    same(learned(again.fit(X, target)), learned(model))
    assert again.comparison_ == model.comparison_  # the seconds too


@pytest.mark.filterwarnings("ignore:.*the best C at the upper end")
@pytest.mark.parametrize("cv", [None, 3])
def test_weights_of_every_output_are_kept(cv, tmp_path, monkeypatch):
    """Errors of candidates, machines and descents; what follows from them is computed again."""
    monkeypatch.setattr(_pieces, "_SHARE", np.inf)
    options = {"multi_output": "own", "random_state": 0, "cv": cv, "checkpoint": tmp_path}
    two, calls = np.column_stack([numbers, X[:, 0] ** 2]), Counter()
    expected = learned(MKLRegressorCV(KERNELS, **options).set_params(checkpoint=None).fit(X, two))
    model = MKLRegressorCV(KERNELS, **options)
    same(learned(model.fit(X, two)), expected)
    whole = len(pieces(tmp_path))
    assert whole >= model.n_candidates_ + 1 + (2 if cv is None else 0)
    for file in pieces(tmp_path)[::2]:
        file.unlink()
    write = Store.write
    monkeypatch.setattr(Store, "write", lambda store, key, value: calls.update([write(store, key, value)]))
    same(learned(model.fit(X, two)), expected)
    assert len(pieces(tmp_path)) == whole and calls.total() == (whole + 1) // 2
    with pytest.raises(ValueError, match="y is not what it was"):
        model.fit(X, two[:, ::-1])


def test_other_work_is_refused_by_name(tmp_path, monkeypatch):
    model, target = search(folder=tmp_path)
    model.fit(X, target)
    changes = {
        "X": lambda: search(folder=tmp_path)[0].fit(X + 1e-12, target),
        "y": lambda: search(folder=tmp_path)[0].fit(X, ~target),
        "sample_weight": lambda: search(folder=tmp_path)[0].fit(X, target, np.ones(60)),
        "Cs": lambda: search(folder=tmp_path, Cs=[0.1, 1.0])[0].fit(X, target),
        "kernels": lambda: search(folder=tmp_path, kernels=[Linear()])[0].fit(X, target),
        "random_state, tol": lambda: search(folder=tmp_path, tol=0.1, random_state=1)[0].fit(X, target),
    }
    for name, change in changes.items():
        are = "are not what they were" if "," in name else "is not what it was"
        told = f"something else: {name} {are}"
        with pytest.raises(ValueError, match=told):
            change()
    monkeypatch.setattr(np, "__version__", "1.0")
    with pytest.raises(ValueError, match="the version of numpy is not what it was"):
        search(folder=tmp_path)[0].fit(X, target)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="holds the work of MKLClassifierCV"):
        MKLRegressorCV(checkpoint=tmp_path).fit(X, numbers)


def test_what_no_checkpoint_can_know(tmp_path):
    for options, told in (
        ({"random_state": np.random.RandomState(0)}, r"random_state=.*Give a whole number"),
        ({"kernels": [lambda A, B: A @ B.T]}, r"kernels=.*top of a module"),
        ({"folder": 3}, r"checkpoint=3 was given; expected the path of a folder"),
    ):
        with pytest.raises((ValueError, TypeError), match=told):
            search(**{"folder": tmp_path / "new", **options})[0].fit(X, y)
    with pytest.raises(ValueError, match="checkpoint was given without random_state"):
        MKLRegressorCV(multi_output="own", checkpoint=tmp_path).fit(X, numbers)
    (tmp_path / "mine.txt").write_text("a user's")
    with pytest.raises(FileExistsError, match="holds other files"):
        search(folder=tmp_path)[0].fit(X, y)
    with pytest.raises(NotADirectoryError, match="is a file"):
        search(folder=tmp_path / "mine.txt")[0].fit(X, y)
    assert (tmp_path / "mine.txt").read_text() == "a user's"


def test_the_folder_is_removed_when_asked(tmp_path):
    model, target = search(folder=Checkpoint(tmp_path / "a", remove=True), cv=2)
    model.fit(X, target)
    assert os.listdir(tmp_path) == []
    (tmp_path / "b").mkdir()
    model.set_params(checkpoint=Checkpoint(tmp_path / "b", remove=True), scoring=fails)
    with pytest.raises(ZeroDivisionError):
        model.fit(X, target)
    assert "about.json" in os.listdir(tmp_path / "b")  # what has not ended is kept


def fails(*_):
    return 1 / 0


@FORK
def test_a_second_process_is_refused_while_the_first_one_lives(tmp_path):
    search(folder=tmp_path, cv=2)[0].fit(X, y)
    readable, writable = os.pipe()
    pid = os.fork()
    if not pid:
        with checkpoint.keeping(tmp_path, "MKLClassifierCV", lambda: prints_of(search(cv=2)[0], given())):
            os.write(writable, b".")
            time.sleep(60.0)
        os._exit(0)
    os.read(readable, 1)
    with pytest.raises(BlockingIOError, match=rf"in use by process {pid} on .*Wait"):
        search(folder=tmp_path, cv=2)[0].fit(X, y)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    search(folder=tmp_path, cv=2)[0].fit(X, y)


def given():
    return {"X": X, "y": y, "sample_weight": None, "groups": None, "covariates": None}


def test_who_holds_a_lock_where_files_have_none(tmp_path, monkeypatch):
    """By the process that is noted: gone, alive, or on another machine."""
    monkeypatch.setattr(checkpoint, "fcntl", None)
    search(folder=tmp_path, cv=2)[0].fit(X, y)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    alive = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    for pid, host, free in (
        (gone.pid, None, True),
        (alive.pid, None, False),
        (1, "elsewhere", False),
    ):
        owner = {"pid": pid, "host": checkpoint.socket.gethostname() if host is None else host}
        (tmp_path / "lock").write_text(json.dumps(owner))
        if free:
            search(folder=tmp_path, cv=2)[0].fit(X, y)
            continue
        with pytest.raises(BlockingIOError, match=f"process {pid}"):
            search(folder=tmp_path, cv=2)[0].fit(X, y)
    alive.communicate(b"\n")
    assert alive.returncode == 0  # it was only looked at


def test_damage_is_noticed_and_mended(tmp_path):
    model, target = search(folder=tmp_path, cv=2, strategy="finite")
    expected = learned(model.fit(X, target))
    first, second, third = pieces(tmp_path)
    first.write_bytes(first.read_bytes()[:-1] + b"?")
    second.write_bytes(b"")
    third.write_bytes(b"manykernels")
    with pytest.warns(UserWarning, match="is damaged; what it held is computed anew"):
        same(learned(model.fit(X, target)), expected)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(learned(model.fit(X, target)), expected)
    (tmp_path / "about.json").write_text("{")
    with pytest.raises(ValueError, match=r"about\.json is damaged"):
        model.fit(X, target)


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code of a file was run')",))


def test_a_piece_runs_no_code(tmp_path):
    store = Store(str(tmp_path), "run")
    for held in (Evil(), os.system, subprocess.Popen, checkpoint.clear, pickle.loads):
        store.write(("a",), held)
        assert pieces(tmp_path) == []  # nor is it written
        body = pickle.dumps(held)
        told = hashlib.sha256(body).hexdigest().encode()
        store.path(("a",)).write_bytes(_pieces._HEAD + told + b"\n" + body)
        with pytest.warns(UserWarning, match="is not read, since it holds"):
            assert kept(store, ("a",), lambda: 3) == 3
        assert kept(store, ("a",), None) == 3
        store.path(("a",)).unlink()


def test_a_full_disk_ends_the_keeping_and_not_the_work(tmp_path):
    store = Store(str(tmp_path), "run")
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with failing_call(3, full), pytest.warns(UserWarning, match=r"No space left.*may be lost"):
        assert kept(store, ("a",), lambda: 3) == 3
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_workers_keep_what_they_did_when_one_of_them_is_killed(tmp_path):
    kernel = Counted(tmp_path / "calls", 8)
    options = {"kernels": {"few": kernel, "wide": Gaussian(2.0)}, "strategy": "finite"}
    model, target = search(folder=tmp_path / "kept", n_jobs=2, **options)
    with pytest.raises(Exception, match="terminated"):
        model.fit(X, target)
    assert kernel.fired
    before = pieces(tmp_path / "kept")
    model.fit(X, target)
    assert len(pieces(tmp_path / "kept")) == 6 and all(file.exists() for file in before)
    same(learned(model), learned(search(**options)[0].fit(X, target)))


# -- inspection -----------------------------------------------------------------------------------
def test_resamples_and_tests_are_kept(tmp_path, monkeypatch):
    model = MKLClassifierCV(KERNELS, Cs=[0.1, 1.0], cv=2, strategy="finite").fit(X, y)
    four, written = {"n_resamples": 4, "random_state": 0}, []
    calls = {
        "stability": lambda **more: weight_stability(model, X, y, **four, **more).weights,
        "score": lambda **more: significance(KERNELS, X, y, **more).p_value,
        "drawn": lambda **more: (
            significance(
                model, X, y, method="permutation", n_permutations=19, random_state=0, **more
            ).p_adjusted
        ),
    }
    for name, call in calls.items():
        folder = tmp_path / name
        expected = call()
        np.testing.assert_array_equal(call(checkpoint=folder), expected)
        kept_now = pieces(folder)
        assert len(kept_now) == (4 if name == "stability" else 3)
        kept_now[0].unlink()  # as if the process had been killed there
        with monkeypatch.context() as patch:
            patch.setattr(Store, "write", lambda self, key, value: written.append(key))
            written.clear()
            np.testing.assert_array_equal(call(checkpoint=folder), expected)
        assert len(written) == 1
    with pytest.raises(ValueError, match="y is not what it was"):
        weight_stability(model, X, ~y, n_resamples=4, random_state=0, checkpoint=tmp_path / "stability")
    with pytest.raises(ValueError, match="kernels is not what it was"):
        significance([Linear()], X, y, checkpoint=tmp_path / "score")
    with pytest.raises(ValueError, match="checkpoint was given without random_state"):
        weight_stability(model, X, y, checkpoint=tmp_path / "new")


def test_models_that_are_learned_anew_keep_nothing(tmp_path):
    """In folds of somebody else's, samples are others: the folder is that of the search on all of them."""
    model, _ = search(folder=tmp_path, cv=2, strategy="finite")
    model.fit(X, y)
    before = pieces(tmp_path)
    importance(model, X, y, cv=2, n_repeats=1, searched="anew")
    weight_stability(model, X, y, n_resamples=2)
    compare({"mine": model}, X, y, cv=2)
    assert pieces(tmp_path) == before


def test_more_resamples_go_on_from_fewer(tmp_path):
    model = MKLRegressor(KERNELS)
    few, many = (
        weight_stability(model, X, numbers, n_resamples=n, random_state=0, checkpoint=tmp_path)
        for n in (3, 5)
    )
    np.testing.assert_array_equal(many.weights[:3], few.weights)
    assert len(pieces(tmp_path)) == 5


# -- streams --------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_goes_on_from_any_file(name, tmp_path):
    """Saved after any block and loaded, it learns the rest to the same bits."""
    expected, model = said(streamed(STREAMS[name](), 0, 10)), STREAMS[name]()
    for i in range(10):
        save(streamed(model, i, i + 1), tmp_path / "model")
        model = load(tmp_path / "model")
    same(said(model), expected)
