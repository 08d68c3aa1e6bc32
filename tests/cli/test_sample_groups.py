"""Samples that belong together, and predictions outside of what was seen, on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels import MKLRegressorCV
from manykernels.cli.app import app
from manykernels.persistence import load


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Forty patients with three visits each; what is predicted belongs to the patient."""
    where = tmp_path_factory.mktemp("groups")
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(40), 3)
    own = rng.normal(size=(40, 2))[patient]
    frame = pd.DataFrame(own + 0.1 * rng.normal(size=own.shape), columns=["age", "dose"])
    frame = frame.assign(outcome=own[:, 0] + own[:, 1], clinic=[f"c{k}" for k in patient])
    frame.to_csv(where / "visits.csv", index=False)
    frame[["age", "dose"]].assign(age=frame["age"] + 100.0).to_csv(where / "far.csv", index=False)
    frame[["age", "dose"]].to_csv(where / "near.csv", index=False)
    return where


def run(folder, monkeypatch, line):
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, line.split())
    assert said.exit_code == 0, said.output
    return said


def test_folds_keep_groups_together(folder, monkeypatch):
    said = run(
        folder,
        monkeypatch,
        "fit visits.csv -t outcome -m sparse --sample-groups clinic --cv 3 --report r.html --model m.mkl "
        "--no-stability --permutations 0 --json --force",
    )
    told = json.loads(said.stdout)
    assert "MK404" not in [one["code"] for one in told["checks"]]
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert '"groups":{"name":"clinic","count":40}' in page
    assert '{"name":"clinic","why":"it says which samples belong together"}' in page
    assert load(folder / "m.mkl").n_features_in_ == 2  # nothing is learned from the groups


def test_a_search_gets_the_groups(folder, monkeypatch):
    run(
        folder,
        monkeypatch,
        "fit visits.csv -t outcome --sample-groups clinic --no-score --model s.mkl --force",
    )
    assert type(load(folder / "s.mkl").cv).__name__ == "GroupKFold"


def test_predictions_outside_of_what_was_seen_are_told(folder, monkeypatch):
    run(
        folder,
        monkeypatch,
        "fit visits.csv -t outcome -m uniform -k linear --drop clinic --no-score --model p.mkl --force",
    )
    said = run(folder, monkeypatch, "predict p.mkl far.csv --json")
    told = json.loads(said.stdout)
    assert [one["code"] for one in told["checks"]] == ["MK416", "MK503"]
    (note,) = [note for note in told["notes"] if note.startswith("MK416")]
    assert "100 % of the new samples" in note and "'age'" in note and "Do not rely" in note
    assert json.loads(run(folder, monkeypatch, "predict p.mkl near.csv --json").stdout)["checks"] == []


def test_the_search_within_a_scoring_fold_keeps_groups_together(folder, monkeypatch):
    seen, plain = [], MKLRegressorCV._compare

    def recorded(self, X, y, *others):
        folds = self.cv if isinstance(self.cv, list) else []  # the final model has a splitter
        seen.extend((set(np.asarray(y)[train]), set(np.asarray(y)[test])) for train, test in folds)
        return plain(self, X, y, *others)

    monkeypatch.setattr(MKLRegressorCV, "_compare", recorded)
    run(
        folder,
        monkeypatch,
        "fit visits.csv -t outcome --sample-groups clinic --cv 2 --model w.mkl --no-stability "
        "--no-importance --permutations 0 --force",
    )
    assert len(seen) == 2 * 3  # folds of scores, times folds of the search in each
    assert all(not train & test for train, test in seen)  # each patient has an outcome of its own
