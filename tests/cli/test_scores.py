"""Scores of methods, in the folds where they work and in those where they fail."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.test_bad_files import GOOD
from typer.testing import CliRunner

from manykernels.cli.app import app
from manykernels.comparison import folds
from manykernels.comparison.scores import Fold, Scores


def run(*args):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result


def test_a_mean_needs_all_folds():
    scores = Scores([Fold(0.9, 1.0, 3), Fold(error="no such kernel."), Fold(0.8, 1.0, 5)])
    assert scores.values == [0.9, 0.8] and not scores.complete and scores.mean == -np.inf
    found = scores.as_dict()
    assert found["mean"] is None and found["folds"] == [0.9, None, 0.8] and found["kernels"] == 4.0
    assert found["error"] == "failed in 1 of 3 folds: no such kernel."
    scores.add(Fold(error="another reason."))
    assert scores.error == "failed in 2 of 4 folds: no such kernel; another reason."
    scores.add(Fold(error="x" * 1000))
    assert scores.error.endswith("another reason. (Not all reasons are shown.)")
    assert len(Scores([Fold(error="x" * 1000)]).error) < 400
    assert Scores().error == "" and not Scores().complete


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_method_that_fails_in_some_folds_says_so(command, tmp_path, monkeypatch):
    """It ranks below all that have a score in each, and has no mean."""
    (tmp_path / "t.csv").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    whole, seen = folds.score_fold, []

    def fails_once(model, *data, **how):
        seen.append(model)
        fold = whole(model, *data, **how)
        return Fold(error="this fold has no such kernel.") if len(seen) == 1 else fold

    monkeypatch.setattr(folds, "score_fold", fails_once)
    told = "failed in 1 of 3 folds: this fold has no such kernel."
    if command == "fit":
        result = run("fit", "t.csv", "-t", "t", "-m", "sparse", "--cv", "3", "--jobs", "1")
        assert f"the model is not scored: it {told}" in " ".join(result.stderr.split())
        assert "cross-validated" not in result.stdout
        return
    asked = [
        "compare",
        "t.csv",
        "-t",
        "t",
        "-m",
        "sparse",
        "-m",
        "uniform",
        "--cv",
        "3",
        "--no-tune",
        "-j",
        "1",
    ]
    result = run(*asked)
    assert f"sparse {told}" in " ".join(result.stderr.split()) and "failed in 1/3" in result.stdout
    assert result.stdout.index("uniform") < result.stdout.index("sparse")
