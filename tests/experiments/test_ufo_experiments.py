"""The experiments of UFO-MKL: problems as they say, equal objectives, quick runs without a data folder."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks import bench_ufo
from experiments import ufo_batch, ufo_multiclass, ufo_stream, ufo_table

from manykernels import MKLClassifier, UFOMKLClassifier
from manykernels.kernels import Gaussian, evaluate


# -- the generators -------------------------------------------------------------------------------
def test_ringnorm_has_breimans_moments_and_error():
    X, y = ufo_stream.ringnorm(200_000, np.random.RandomState(0))
    wide, narrow = X[y == 0], X[y == 1]
    np.testing.assert_allclose(wide.mean(axis=0), 0.0, atol=0.04)
    np.testing.assert_allclose(narrow.mean(axis=0), 2.0 / np.sqrt(20.0), atol=0.02)
    np.testing.assert_allclose(np.cov(wide.T), 4.0 * np.eye(20), atol=0.1)
    np.testing.assert_allclose(np.cov(narrow.T), np.eye(20), atol=0.03)
    assert 0.0115 < np.mean(ufo_stream.best_ringnorm(X) != y) < 0.0135  # 1.3 % in Breiman's paper


def test_waveform_mixes_two_of_three_waves():
    X, y = ufo_stream.waveform(100_000, np.random.RandomState(0))
    heights = [(6.0, 10), (6.0, 14), (6.0, 6)]  # and where
    assert [(wave.max(), int(wave.argmax())) for wave in ufo_stream.WAVES] == heights
    assert np.all(ufo_stream.WAVES.sum(axis=1) == 36.0)
    for k, (a, b) in enumerate(((0, 1), (0, 2), (1, 2))):
        mean = 0.5 * (ufo_stream.WAVES[a] + ufo_stream.WAVES[b])
        np.testing.assert_allclose(X[y == k].mean(axis=0), mean, atol=0.04)


def test_the_best_decision_about_waveforms_has_the_largest_density():
    """Against densities by a fine sum over u; Breiman et al. give an error of about 14 %."""
    X, y = ufo_stream.waveform(2000, np.random.RandomState(1))
    u = (np.arange(2000) + 0.5) / 2000.0
    densities = []
    for a, b in ufo_stream.PAIRS:
        means = np.outer(u, ufo_stream.WAVES[a]) + np.outer(1.0 - u, ufo_stream.WAVES[b])
        distance = np.sum(X**2, axis=1)[:, None] - 2.0 * X @ means.T + np.sum(means**2, axis=1)
        densities.append(np.exp(-0.5 * distance).mean(axis=1))
    best = ufo_stream.best_waveform(X)
    assert np.array_equal(best, np.argmax(densities, axis=0))
    assert 0.11 < np.mean(best != y) < 0.17


def test_a_stream_is_the_same_for_the_same_seed_and_cut_into_batches(monkeypatch):
    monkeypatch.setattr(ufo_stream, "BATCH", 40)
    scale = ufo_stream.scale_of("waveform")
    parts = list(ufo_stream.batches("waveform", 100, 3, scale))
    again = list(ufo_stream.batches("waveform", 100, 3, scale))
    assert [len(X) for X, _ in parts] == [40, 40, 20]
    assert all(np.array_equal(X, Z) for (X, _), (Z, _) in zip(parts, again, strict=True))


def test_only_the_fourth_pair_of_columns_tells_all_classes_apart():
    X, y = ufo_multiclass.problem(0, 0.1)
    found = []
    for j in range(4):
        part = X[:, 2 * j : 2 * j + 2]
        means = np.array([part[y == k].mean(axis=0) for k in range(3)])
        sides = [np.linalg.norm(means[a] - means[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
        found.append([bool(side > 0.9) for side in sides])
    # (1, 2), (1, 3), (2, 3): kernels 1 to 3 set class 3, 1, 2 apart
    expected = [[False, True, True], [True, True, False], [True, False, True], [True, True, True]]
    assert found == expected


# -- equal problems -------------------------------------------------------------------------------
def small(n: int = 60, F: int = 6) -> tuple[Any, Any]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, 3))
    stack = np.empty((F, n, n))
    for m, K in evaluate([Gaussian(float(width)) for width in np.geomspace(0.5, 8.0, F)], X):
        stack[m] = K
    return stack, np.where(X[:, :1] * X[:, 1:2] + 0.3 * rng.standard_normal((n, 1)) > 0.0, 1.0, -1.0)


def test_kernels_of_trace_one_are_another_lambda_and_alpha():
    """(λ, α) on K/n are (λ n, α √n) on K, step by step."""
    stack, Y = small()
    n, X = len(Y), stack.transpose(1, 2, 0)
    (lam, one), _, (other, factor) = ufo_table.readings(n).values()
    options: dict[str, Any] = {"normalize": None, "fit_intercept": False, "random_state": 0, "epochs": 3}
    models = [
        UFOMKLClassifier("precomputed", lam=lam, alpha=one * 1e-2, **options).fit(X / n, Y[:, 0]),
        UFOMKLClassifier("precomputed", lam=other, alpha=factor * 1e-2, **options).fit(X, Y[:, 0]),
    ]
    f, g = models[0].decision_function(X / n), models[1].decision_function(X)
    np.testing.assert_allclose(f, g, rtol=1e-9, atol=1e-9)
    assert 0 < models[0].active_.size == models[1].active_.size


@pytest.mark.parametrize("outputs", [1, 2])
def test_both_objectives_are_the_same_quantity(outputs):
    """The batch solver's end is a bound for every pass, which many passes come close to."""
    stack, Y = small()
    Y = np.concatenate([Y, -Y[::-1]], axis=1)[:, :outputs]
    lam = 1.0 / len(Y)
    theirs, bound = ufo_batch.batch(stack, Y, lam)
    ours = ufo_batch.online(stack, Y, lam, passes=300)
    assert bound <= theirs.objective[-1] <= bound * (1.0 + 2e-4)
    assert min(ours.objective) >= bound
    assert ours.objective[-1] <= 1.02 * bound < ours.objective[0]
    assert np.all(np.diff(ours.seconds) >= 0.0)


def test_the_batch_problem_is_that_of_the_estimator():
    """λ P of MKLClassifier with norm = p̃/(2 − p̃), p̃ = q/(q − 1), q = 2 log F."""
    stack, Y = small()
    q = 2.0 * np.log(6.0)
    exponent, lam = q / (q - 1.0), 0.5 / len(Y)
    model = MKLClassifier(
        "precomputed", norm=exponent / (2.0 - exponent), C=2.0, normalize=None, fit_intercept=False, tol=1e-4
    ).fit(stack.transpose(1, 2, 0), Y[:, 0])
    theirs, _ = ufo_batch.batch(stack, Y, lam)
    assert lam * model.objective_ == pytest.approx(theirs.objective[-1], rel=3e-4)


# -- quick runs -----------------------------------------------------------------------------------
def test_the_table_stands_beside_the_papers(quick_tables):
    tables = quick_tables("ufo_table")
    assert len(tables) == 5  # three readings of Liver, one of the others
    first = tables[0]["rows"]
    assert [row["Orabona & Jie 2011: kernels"] for row in first][:2] == ["89.7 ± 0.6", "30.5 ± 3.5"]
    assert all(0.0 <= row["accuracy"].mean <= 100.0 for table in tables for row in table["rows"])
    assert [row["loss"] for row in first].count("norm 1 (for SILP)") == 1


def test_the_multiclass_loss_needs_fewer_kernels_than_the_sum_of_classes(quick_tables):
    clean, noisy = quick_tables("ufo_multiclass")
    assert len(clean["rows"]) == len(noisy["rows"]) == 6
    rest = [row for row in clean["rows"] if row["learned"].startswith("class")]
    assert len(rest) == 3 and all(int(row["kernels"].split()[0]) >= 2 for row in rest)
    strongest = clean["rows"][2]
    assert float(strongest["kernel 4"]) > max(float(strongest[f"kernel {j}"]) for j in (1, 2, 3))


def test_objectives_are_told_beside_the_batch_solver(quick_tables):
    tables = quick_tables("ufo_batch")
    assert len(tables) == 6
    for table in tables:
        *online, as_good, end = table["rows"]
        excess = [row["UFO-MKL"].mean for row in online]
        assert len(excess) == 2 and excess[0] > excess[1] and "passes" in online[1][""]
        assert as_good["batch"].mean <= excess[1] and end["batch"].mean <= -3.0


def test_streams_learn(quick_tables, monkeypatch):
    stand_in = lambda _, task: {**ufo_stream.child(task), "peak": 1.0}  # noqa: E731
    monkeypatch.setattr(ufo_stream, "in_a_process", stand_in)
    for table in quick_tables("ufo_stream"):
        *learned, best = (row["per cent wrong"] for row in table["rows"])
        (stream, exact), best = (spread.mean for spread in learned), float(best)
        assert best <= min(stream, exact) + 1.0
        assert stream <= best + 12.0


def test_the_benchmark_fits_what_the_table_fits():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((40, 2))
    model = bench_ufo.learn(X, np.where(X[:, 0] > 0.0, 1.0, -1.0), "hinge", 1e-3)
    assert model.get_params()["lam"] == pytest.approx(1.0 / 4000.0)
    assert len(model.kernels_) == 39 and model.history_["active"].size == 20
