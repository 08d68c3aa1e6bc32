"""Intervals on the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from .test_commands import run

rng = np.random.RandomState(0)
TABLE = pd.DataFrame(rng.randn(60, 2), columns=["a", "b"])
TABLE["price"] = TABLE["a"] + 0.3 * rng.randn(60)
TABLE["kind"] = np.where(TABLE["a"] > 0, "x", "y")


@pytest.fixture
def csv(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


@pytest.mark.slow
def test_intervals_stand_beside_predictions(csv, tmp_path):
    model, out = tmp_path / "price.model", tmp_path / "answers.csv"
    quick = ["--no-score", "--no-significance", "--drop", "kind"]
    run("fit", csv, "--target", "price", "--intervals", "--model", model, *quick)
    run("predict", model, csv, "--interval", "0.9", "--out", out)
    found = pd.read_csv(out)
    assert list(found.columns) == ["row", "price", "lower end (90 %)", "upper end (90 %)"]
    low, high = found.iloc[:, 2], found.iloc[:, 3]
    assert (low < found["price"]).all() and (found["price"] < high).all()
    assert ((low <= TABLE["price"]) & (TABLE["price"] <= high)).mean() > 0.8
    run("predict", model, csv, "--interval", "0.8", "--out", out)  # replaces its own kind
    assert (
        "--interval 90: expected a share between 0 and 1"
        in run("predict", model, csv, "--interval", "90", code=2).output
    )


def test_where_there_are_none(csv, tmp_path):
    said = run("fit", csv, "--target", "kind", "--intervals", code=2).output
    assert "--method auto, and numbers to predict" in " ".join(said.split())
    model = tmp_path / "plain.model"
    quick = ["--no-score", "--no-significance", "--method", "sparse", "--drop", "kind"]
    run("fit", csv, "--target", "price", "--model", model, *quick)
    said = run("predict", model, csv, "--interval", "0.9", code=2).output
    assert "learned without intervals" in " ".join(said.split())
