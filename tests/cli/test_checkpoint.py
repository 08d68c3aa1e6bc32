"""`fit --checkpoint`: killed at any moment, `fit --resume` ends with the same model."""

from __future__ import annotations

import errno
import json
import os
import random
import signal

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels import load
from manykernels.cli import kept
from manykernels.cli.app import app
from manykernels.selection.checkpoint import keeping

rng = np.random.RandomState(0)
X = pd.DataFrame(rng.randn(60, 3), columns=list("abc"))
FIT = ["fit", "t.csv", "-t", "t", "-k", "gaussians:1,8,3", "--cv", 2, "--no-importance", "--jobs", 1]


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert "Traceback" not in result.output and result.exit_code == code, result.output
    return result.output


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    signs = np.where(X["a"] * X["b"] + 0.3 * rng.randn(60) > 0, "yes", "no")
    X.assign(t=signs).to_csv("t.csv", index=False)
    return tmp_path


def killed(seconds, *args):
    pid = os.fork()
    if not pid:
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            CliRunner().invoke(app, [str(arg) for arg in args])
        finally:
            os._exit(0)
    return not os.WIFEXITED(os.waitpid(pid, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes that begin in the middle")
@pytest.mark.slow
def test_a_command_that_is_killed_is_resumed_without_other_options(folder, monkeypatch):
    run(*FIT, "--model", "plain.model")
    expected, draw, kills = load("plain.model").decision_function(X), random.Random(0), 0
    for turn in range(6):
        keep = folder / f"keep {turn}"
        kills += killed(0.05 + 0.6 * draw.random(), *FIT, "--model", f"{turn}.model", "--checkpoint", keep)
        if not keep.exists():
            continue
        kills += killed(0.05 + 0.6 * draw.random(), "fit", "--resume", keep)
        if keep.exists():
            monkeypatch.chdir("/")  # the command is gone on with where it was begun
            run("fit", "--resume", keep)
        monkeypatch.chdir(folder)
        model = load(f"{turn}.model")
        np.testing.assert_array_equal(model.decision_function(X), expected)
        assert not keep.exists() and model.get_params().get("checkpoint") is None
    assert kills > 3


def test_a_folder_whose_first_file_was_not_finished_is_taken_again(folder):
    """As where a process is killed while it notes which command it is."""
    keep = folder / "keep"
    keep.mkdir()
    (keep / ".command.json.manykernels-x1.part").write_text('{"folder": "/')
    kept.remember(keep, {"method": "lp"})
    assert [path.name for path in keep.iterdir()] == ["command.json"]
    assert kept.remembered(keep)["method"] == "lp"
    kept.forget(keep)
    assert not keep.exists()


def test_a_disk_that_is_full_ends_the_keeping_and_not_the_command(folder, monkeypatch):
    """Nothing of scores can be kept, and they are told all the same; what refuses a folder still does.

    How an answer is shown may be another one when the command is gone on with.
    """
    keep = folder / "keep"
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "about.json")

    def failing(given, title, *more):
        if title == "scores":
            raise full
        return keeping(given, title, *more)

    monkeypatch.setattr(kept, "keeping", failing)
    command = [*FIT, "--no-significance", "--permutations", 0, "--checkpoint", keep]
    said = run(*command)
    assert "No space left on device" in said and "may be lost" in said and "accuracy" in said
    assert not keep.exists()
    full = BlockingIOError("checkpoint='keep' is in use by process 1.")
    assert "is in use by process 1" in run(*command, code=2)
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    shown = CliRunner().invoke(app, ["fit", "--resume", str(keep), "--json"]).stdout
    assert json.loads(shown)["samples"] == 60 and not keep.exists()


def test_a_folder_belongs_to_one_command(folder):
    keep = folder / "keep"
    keep.mkdir()
    (keep / "mine.txt").write_text("a user's")
    assert "holds other files" in run(*FIT, "--checkpoint", keep, code=2)
    (keep / "mine.txt").unlink()
    told = {"folder": str(folder), "options": {"method": "lp", "data": {"path": "t.csv"}}}
    (keep / "command.json").write_text(json.dumps(told))
    said = run("fit", "t.csv", "-m", "sparse", "--checkpoint", keep, code=2)
    assert "belongs to another command: --method" in said and "--resume" in said
    assert "no command has kept any work" in run("fit", "--resume", folder, code=2)
    (keep / "command.json").write_text("{")
    assert "is damaged" in run("fit", "--resume", keep, code=2)


def test_the_folder_is_removed_at_the_end(folder):
    quick = ["fit", "t.csv", "-t", "t", "-k", "gaussians:1,8,2", "--no-score", "--no-significance"]
    run(*quick, "--model", "a.model", "--checkpoint", "keep")
    assert sorted(os.listdir(folder)) == ["a.model", "t.csv"]
