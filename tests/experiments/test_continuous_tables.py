"""The experiments of continua on digits, letters and IDA sets: their protocol, and quick runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from experiments.continuous_digits import Method, aligned, draw, methods, trial, wrong
from experiments.continuous_peaks import curves, peaks
from experiments.continuous_ranks import TABLE_3, TABLE_5, searching_methods, standardised
from experiments.data import Source
from experiments.tables import median_ranks

from manykernels.families import Gaussians
from manykernels.kernels import Gaussian
from manykernels.measures import centered_alignment


@pytest.fixture
def parts():
    rng = np.random.RandomState(0)
    X = rng.randn(120, 2)
    return draw(X, np.where(np.sum(X**2, axis=1) > 1.4, 1.0, -1.0), (60, 30, 30), 0)


def test_equal_errors_share_their_ranks():
    errors = {"a": [1.0, 2.0, 3.0], "b": [1.0, 5.0, 1.0], "c": [4.0, 1.0, 1.0]}
    assert median_ranks(errors) == {"a": 2.0, "b": 1.5, "c": 1.5}  # 1.5, 2, 3; 1.5, 3, 1.5; 3, 1, 1.5


def test_parts_have_no_sample_in_common():
    X, y = np.arange(50.0)[:, None], np.arange(50.0)
    first, second = (draw(X, y, (20, 10, 15), seed) for seed in (0, 1))
    assert [len(part[1]) for part in first] == [20, 10, 15]
    assert np.unique(np.concatenate([part[1] for part in first])).size == 45
    assert all(np.array_equal(part[0][:, 0], part[1]) for part in first)
    assert not np.array_equal(first[0][1], second[0][1])


def test_all_parts_are_standardised_by_the_first(parts):
    (X, _), (Z, _), _ = standardised(parts)
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0) - 1.0], 0.0, atol=1e-12)
    raw = parts[0][0]
    np.testing.assert_allclose(Z * raw.std(axis=0) + raw.mean(axis=0), parts[1][0], atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("weighting", ["greedy", "uniform"])
def test_a_machine_on_a_first_stage_is_the_whole_learner(parts, weighting, task):
    """Against both stages anew for every C, with the machine inside the estimator."""
    kernels = Gaussians(0.1, 10.0) if weighting == "greedy" else [Gaussian(w) for w in (0.5, 1.0, 4.0)]
    method, costs = Method(kernels, weighting), [0.01, 1.0, 100.0]
    (X, y), (Z, y_validation), (X_test, y_test) = parts
    whole = [method.at(C, task).fit(X, y) for C in costs]
    errors = [wrong(task, y_validation, model.predict(Z)) for model in whole]
    assert len(set(errors)) > 1
    found = trial(parts, {"it": method}, costs, task)["it"]
    best = int(np.argmin(errors))
    assert found["C"] == costs[best]
    assert found["error"] == pytest.approx(wrong(task, y_test, whole[best].predict(X_test)))
    assert found["kernels"] == whole[best].active_.size


def test_a_constant_kernel_is_not_aligned(parts):
    X, y = parts[0]
    wide, fitting = (aligned(Gaussian(width)(X), y) for width in (1e8, 1.0))
    assert wide == 0.0 < fitting == centered_alignment(Gaussian(1.0)(X), y)


def test_first_stages_are_kept_for_the_next_machine(parts):
    first_stages: dict[str, Any] = {}
    chosen = {"two": Method(Gaussians(0.1, 10.0), "greedy"), "one": Method([Gaussian(1.0)])}
    trial(parts, chosen, [1.0], "classification", first_stages)
    assert list(first_stages) == ["two"]
    first_stages["two"].transform = lambda X: np.zeros((len(X), 60))  # a kernel that tells nothing
    found = trial(parts, chosen, [1.0], "regression", first_stages)
    y, y_test = parts[0][1], parts[2][1]
    assert found["two"]["error"] == pytest.approx(np.mean((y_test - y.mean()) ** 2))
    assert found["one"]["error"] < found["two"]["error"]


def test_the_test_part_has_no_say_and_a_follower_takes_the_cost(parts):
    chosen = {
        "leader": Method(Gaussians(0.1, 10.0), "greedy"),
        "follower": Method([Gaussian(1.0), Gaussian(2.0)], "uniform", follows="leader"),
    }
    found = trial(parts, chosen, [0.01, 1.0, 100.0])
    X_test, y_test = parts[2]
    turned = trial([*parts[:2], (X_test, -y_test)], chosen, [0.01, 1.0, 100.0])
    for name, facts in found.items():
        assert facts["C"] == turned[name]["C"] == found["leader"]["C"]
        assert facts["error"] == pytest.approx(100.0 - turned[name]["error"])


def test_peaks_are_those_of_the_growth_of_alignment():
    """F' is the derivative of the alignment (Afkanpour 2013, Prop. 5.2): against finite differences."""
    X = np.random.RandomState(1).uniform(0.0, 3.0, (12, 1))
    y = np.where(np.sin(4.0 * X[:, 0]) > 0.0, 1.0, -1.0)
    method, widths = Method(Gaussians(0.1, 1.5), "greedy"), np.geomspace(0.1, 1.5, 60)
    model = method.at(1.0).fit(X, y)
    counts, K = [], np.eye(12)
    for m in range(model.weights_.size + 1):
        if m:
            K = sum(w * k(X) for w, k in zip(model.weights_[:m], model.kernels_[:m], strict=True))
        h = [centered_alignment(K + 1e-4 * Gaussian(w)(X), y) for w in widths]
        rises = np.diff(h, prepend=-np.inf, append=-np.inf) > 0.0
        counts.append(int(np.sum(rises[:-1] & ~rises[1:])))
    assert [peaks(h) for h in curves(X, y, method.kernels, 60)[1]] == counts
    assert max(counts) > 1


def test_all_methods_of_the_tables_are_there():
    listed = set(searching_methods(1.0, 2.0, "regression", quick=True)) | {"LPMKL, p = 2", "uniform"}
    assert set(TABLE_3) | set(TABLE_5) == listed
    assert {"IKL (nD)", "SGD-1s (1D)"}.isdisjoint(searching_methods(1.0, 2.0, "classification", quick=True))


def test_images_are_read_as_numbers(tmp_path, monkeypatch):
    X = np.array([[0, 255], [10, 0], [7, 7]], dtype=np.uint8)
    np.savez(tmp_path / "mnist.npz", X=X, y=np.array([3, 8, 5]))
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    data = Source("mnist", "classification", "raw", classes=((3,), (8,))).load()
    assert data.X.dtype == data.y.dtype == np.float64
    assert sorted(zip(data.y, data.X[:, 1], strict=True)) == [(-1.0, 0.0), (1.0, 255.0)]


@pytest.mark.slow
def test_digits_in_a_quick_run(quick):
    tables = quick("continuous_digits")
    errors = tables["Per cent wrong"]
    assert [row["method"] for row in errors] == [n for n in methods(1, 2, 2) if not n.endswith("alternating")]
    means = {row["method"]: [row[pair].mean for pair in ("0 v 1", "0 v 2")] for row in errors}
    assert {row["method"]: float(row["median rank"]) for row in errors} == pytest.approx(median_ranks(means))
    seconds = tables["Seconds of one fit at the chosen C"]
    assert [row["method"] for row in seconds] == list(methods(1, 2, 2))
    assert all(row["seconds"] > 0.0 for row in seconds)


def test_peaks_in_a_quick_run(quick):
    digits, digit, letters, letter = quick("continuous_peaks").values()
    for (row,), curve in ((digits, digit), (letters, letter)):
        assert row["iterations"] == row["1 peak"] + row["2 peaks"] + row["3 peaks"] > 2
        assert row["most"] <= 3 and len(curve) == 40
        assert max(abs(v) for row in curve for key, v in row.items() if key != "width") <= 1.0


def test_three_kernels_in_a_quick_run(quick):
    (rows,) = quick("ridge_uci").values()
    assert [row["method"] for row in rows] == ["best single", "uniform", "norm 1", "norm 2 (Algorithm 1)"]
    assert rows[0]["less best single's"] is None and rows[3]["iterations"].mean >= 1.0
    assert all(0.0 <= row["per cent wrong"].mean <= 50.0 and row["RMSE"].mean < 1.2 for row in rows)


@pytest.mark.slow
def test_ranks_in_a_quick_run(quick):
    letters, alignments, classes, ridge = quick("continuous_ranks").values()
    assert [row["method"] for row in letters] == [row["method"] for row in alignments]
    assert [row["method"] for row in letters] == [row["method"] for row in classes]
    assert sum(row["largest in"] for row in alignments) == 1
    for title, names in (("Table 6.3", TABLE_3), ("Table 6.5", TABLE_5)):
        ranks = {row["method"]: float(row[title]) for row in ridge if row[title] is not None}
        means = {row["method"]: [row["banana"].mean] for row in ridge if row["method"] in names}
        assert ranks == median_ranks(means)
