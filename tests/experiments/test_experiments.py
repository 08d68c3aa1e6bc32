"""The experiments run without a data folder, divide samples as they say, and read files as they say."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import __main__ as command
from experiments import alignment_correlation
from experiments.common import COSTS, Split, machines, splits, tuned
from experiments.data import Dataset, MissingData, Source, documents
from experiments.tables import Spread, markdown
from sklearn.kernel_ridge import KernelRidge

from manykernels.kernels import Fitted, Gaussian

NAMES = ["alignment_correlation", "alignment_gaussians", "alignment_sentiment"]


@pytest.mark.parametrize("name", ["alignment_gaussians", "alignment_sentiment"])
def test_alignf_has_the_largest_alignment_in_training(quick, name):
    """Of all non-negative weights (Rostamizadeh 2010, Prop. 3.3), so in every trial of every table."""
    tables = quick(name)
    assert len(tables) == (5 if name == "alignment_gaussians" else 6)
    for rows in tables.values():
        training = {row["method"]: np.array(row["training"].values) for row in rows}
        assert {"unif", "align", "alignf"} <= set(training)
        for values in training.values():
            assert np.all(training["alignf"] >= values - 1e-4)


@pytest.mark.slow
def test_correlations_and_choices_are_consistent(quick):
    tables = quick("alignment_correlation")
    rows = [row for table in tables.values() for row in table]
    assert len(rows) == 5 + 2 + 16
    for row in rows:
        assert -1.0 <= row["ρ"] <= 1.0
        assert row["centred better"] == (row["ρ"] < row["Â"])
        assert row["least"] <= min(row["error, best ρ"], row["best Â"])


def test_correlations_are_over_the_kernels_asked_for():
    facts = {"errors": np.array([1.0, 2.0, 3.0, 0.0]), "centred": np.array([3.0, 2.0, 1.0, 0.0])}
    facts["uncentred"] = facts["errors"]
    assert alignment_correlation.correlations(facts, slice(0, 3)) == pytest.approx((-1.0, 1.0))
    assert alignment_correlation.correlations(facts)[0] > -0.5


def test_every_sample_is_tested_and_tuned_on_once_a_round():
    y = np.where(np.arange(103) < 30, 1.0, -1.0)
    parts = splits(Dataset(np.zeros((103, 1)), y, "classification"), rounds=2)
    for k in (0, 5):
        for key in ("test", "validation"):
            assert sorted(np.concatenate([getattr(s, key) for s in parts[k : k + 5]])) == list(range(103))
    for s in parts:
        assert sorted(np.concatenate([s.train, s.validation, s.test])) == list(range(103))
        assert np.sum(y[s.test] > 0) == 6
    assert not np.array_equal(parts[0].test, parts[5].test)


def test_tuning_looks_at_the_validation_fold_only():
    data = Dataset(np.zeros((3, 1)), np.array([0.0, 1.0, 2.0]), "regression")
    split = Split(np.array([0]), np.array([1]), np.array([2]))
    best_in_test, best_in_validation = np.array([9.0, 5.0, 2.0]), np.array([9.0, 1.5, 4.0])
    assert tuned(data, split, [best_in_test, best_in_validation]) == (1, 2.0)


def test_ridge_regression_is_scikit_learns(monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)  # a stand-in is taken
    data = Source("", "regression").load(quick=True)
    split = splits(data)[0]
    X, y = data.X[split.train], data.y[split.train]
    K = Fitted(Gaussian(2.0), center=True, normalize="trace").fit(X)(data.X, X)
    for C, predicted in zip(COSTS["regression"], machines(data, split, K), strict=True):
        reference = KernelRidge(alpha=1.0 / C, kernel="precomputed").fit(K[split.train], y - y.mean())
        np.testing.assert_allclose(predicted, reference.predict(K) + y.mean(), rtol=1e-6, atol=1e-6)


def test_tables_are_read_scaled_and_coded(tmp_path, monkeypatch):
    X, y = np.array([[0.0, 5.0], [1.0, 5.0], [3.0, 5.0], [2.0, 5.0]]), np.array([0, 1, 2, 2])
    np.savez(tmp_path / "some.npz", X=X, y=y)
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    unit = Source("some", "classification").load()
    assert sorted(unit.X[:, 0]) == pytest.approx([-1.0, -1 / 3, 1 / 3, 1.0])
    assert np.all(unit.X[:, 1] == -1.0)  # a constant feature
    assert sorted(unit.y) == [-1.0, -1.0, 1.0, 1.0]
    two = Source("some", "classification", "raw", classes=((0,), (1,)), letters=4).load()
    assert sorted(map(tuple, two.X[:, :4])) == [(0, 1, 0, 0), (1, 0, 0, 0)]
    assert two.X.shape == (2, 8)


def test_the_most_frequent_bigrams_are_taken(tmp_path, monkeypatch):
    words = ["good", "very_good", "not_very", "so_so_so", "too_bad"]
    X = np.array([[9, 1, 0, 9, 2], [9, 1, 1, 9, 3]])
    rows, columns = np.nonzero(X)
    counts = {"X_data": X[rows, columns], "X_indices": columns, "X_indptr": [0, 4, 9], "X_shape": X.shape}
    np.savez(
        tmp_path / "texts.npz", y=[1, -1], vocab=np.frombuffer("\n".join(words).encode(), "u1"), **counts
    )
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    data = documents("texts", "classification", bigrams=2)
    np.testing.assert_array_equal(data.X.toarray(), X[:, [1, 4]])
    np.testing.assert_array_equal(data.y, [1.0, -1.0])


def test_stars_become_two_classes_or_stay_numbers(tmp_path, monkeypatch):
    counts = {
        "X_data": np.ones(4),
        "X_indices": np.zeros(4, int),
        "X_indptr": np.arange(5),
        "X_shape": (4, 1),
    }
    np.savez(tmp_path / "stars.npz", y=[1.0, 2.0, 4.0, 5.0], vocab=np.frombuffer(b"so_so", "u1"), **counts)
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    np.testing.assert_array_equal(documents("stars", "classification", 1).y, [-1.0, -1.0, 1.0, 1.0])
    np.testing.assert_array_equal(documents("stars", "regression", 1).y, [1.0, 2.0, 4.0, 5.0])


def test_missing_data_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    with pytest.raises(MissingData, match="MANYKERNELS_DATA is not set"):
        Source("some", "regression").load()
    command.main(["alignment_gaussians", "--output", str(tmp_path)])
    printed = capsys.readouterr()
    assert "left out: german (MANYKERNELS_DATA is not set)" in printed.err
    assert "| alignment_gaussians | skipped" in printed.out and not list(tmp_path.iterdir())
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    with pytest.raises(MissingData, match=r"no some\.npz in"):
        Source("some", "regression").load()


def test_the_command_lists_experiments_and_refuses_others(capsys):
    command.main(["--list"])
    listed = capsys.readouterr().out
    assert all(name in listed for name in NAMES)
    with pytest.raises(SystemExit):
        command.main(["nothing"])
    assert "no experiment is called nothing" in capsys.readouterr().err


def test_tables_in_markdown():
    rows = [{"a": 1, "b": Spread([1.0, 2.0], 1)}, {"a": True, "c": 0.12345}]
    assert markdown(rows).splitlines() == [
        "| a   | b         | c     |",
        "|-----|-----------|-------|",
        "| 1   | 1.5 ± 0.7 |       |",
        "| yes |           | 0.123 |",
    ]
