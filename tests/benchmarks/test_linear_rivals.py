"""Benchmarks beside skglm and himalaya: the reduction to a group lasso holds, and rows do without rivals."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import bench_group_lasso, bench_groups, bench_ridge, bench_targets, rivals_linear
from benchmarks.harness import MISSING, Report
from benchmarks.limits import Limits
from benchmarks.rivals_linear import certificate

LIMITS = Limits(threads=1, read_gb_s=20.0, triad_gb_s=15.0, gemm_gflop_s=50.0)


@pytest.fixture
def alone(monkeypatch):
    """As where no rival is installed."""
    monkeypatch.setattr(rivals_linear, "skglm", None)
    monkeypatch.setattr(rivals_linear, "celer", None)
    monkeypatch.setattr(rivals_linear, "himalaya", None)


@pytest.mark.parametrize("size", [1, 5])
def test_our_solution_is_the_group_lassos(size):
    X, y, groups = bench_group_lasso.problem(60, 12, size)
    (w,) = bench_group_lasso.learned(X, y, groups, [1.0], 1e-9)
    lam = bench_group_lasso.strength(groups, w, 1.0)
    primal, gap = certificate(X, y, groups, lam, w)
    # A gap of 1e-9 in P leaves √1e-9 in w and so in the scale of u, to which d answers in the first order.
    assert -1e-12 <= gap <= 1e-9**0.5 and 0 < lam < bench_group_lasso.lam_max(X, y, groups)
    r = y - X @ w  # X_gᵀr = λ w_g/‖w_g‖ where w_g ≠ 0, and no longer than λ elsewhere
    for group in groups:
        pull, norm = X[:, group].T @ r, np.linalg.norm(w[group])
        assert np.linalg.norm(pull) <= lam * (1 + 1e-3)
        if norm > 1e-3:
            np.testing.assert_allclose(pull, lam * w[group] / norm, atol=1e-3 * lam)
    assert certificate(X, y, groups, lam, 0.5 * w)[0] > primal
    assert certificate(X, y, groups, 0.5 * lam, w)[1] > 1e-3  # of another λ it is not the solution


def test_a_certificate_knows_the_solution_of_one_orthonormal_group():
    X, y = np.eye(3), np.array([3.0, 4.0, 0.0])  # w = (1 − λ/‖y‖) y
    primal, gap = certificate(X, y, [[0, 1, 2]], 2.0, 0.6 * y)
    assert primal == pytest.approx(2.0 + 2.0 * 3.0) and gap == pytest.approx(0.0, abs=1e-12)


@pytest.mark.slow
def test_group_lasso_rows_do_without_the_rival(alone, capsys):
    report = Report("group_lasso", LIMITS, quick=True)
    bench_group_lasso.run(report)
    rows = [row for table in report.tables for row in table["rows"]]
    theirs = [row for row in rows if row["contender"].startswith("skglm")]
    assert theirs and all(row["seconds"] == MISSING for row in theirs)
    ours = [row for row in rows if row["contender"] == "ours, tol 1e-6"]
    assert len(ours) == 5 and max(row["prediction difference"] for row in ours) <= 1e-3
    lasso = [row for row in rows if row["contender"] == "scikit-learn Lasso"]
    assert lasso and max(abs(row["objective above ours"]) for row in lasso) <= 1e-2
    assert MISSING in capsys.readouterr().out


@pytest.mark.slow
def test_rows_of_wide_groups_do_without_rivals(alone, capsys):
    """At a gap that is that of the group lasso, also where groups share columns."""
    report = Report("groups", LIMITS, quick=True)
    bench_groups.run(report)
    path, same, overlapping = (table["rows"] for table in report.tables)
    for ours, *theirs in (path, overlapping):
        assert ours["worst gap"] <= bench_groups.GAP and ours["× the time of ours"] == 1.0
        assert [row["CPU s"] for row in theirs] == [MISSING, MISSING]
    assert [row["prediction difference"] for row in same] == [MISSING, MISSING]
    data = bench_groups.problem(40, 30, 4, 10, 2)
    (w,) = data.ours(1e-9, data.costs[:1])
    groups = [list(range(lo, lo + 10)) for lo in data.ptr[:-1]]
    lam = data.strengths(w[None], data.costs[:1])[0]
    np.testing.assert_allclose(
        rivals_linear.grouped_certificate(data.Z, data.y, data.ptr, lam, w),
        certificate(data.Z, data.y, groups, lam, w),
        rtol=1e-9,
        atol=1e-12,
    )


@pytest.mark.slow
def test_ridge_rows_do_without_the_rival(alone, capsys):
    report = Report("ridge", LIMITS, quick=True)
    bench_ridge.run(report)
    assert len(report.tables) == 3
    for table in report.tables:
        ours, theirs = table["rows"]
        assert ours["relative squared error"] < ours["worst split"] + 1e-12
        assert ours["splits with a smaller error than ours"] == 0
        assert theirs["seconds"] == MISSING and "relative squared error" not in theirs


@pytest.mark.slow
def test_targets_are_scored_without_a_rival(alone):
    ours, theirs = bench_targets.against_the_rival(80, (4, 8), 12, 2)
    assert theirs["seconds"] == MISSING and "median R²" not in theirs
    assert ours["mean loss"] == 0.0 and ours["Σ parts − R²"] < 1e-10
    K = np.ones((2, 9, 9)) + np.eye(9)
    fits = bench_targets.models(K, np.arange(9.0), (3,))
    assert next(iter(fits.values()))().predict(np.moveaxis(K, 0, -1)).shape == (9,)


def test_a_space_is_found_where_its_weight_is_the_largest():
    truth = np.array([[0.5, 0.0, 0.3, 0.4], [0.0, 0.5, 0.3, 0.0]])
    weights = np.array([[0.9, 0.1], [0.6, 0.4], [1.0, 0.0], [0.1, 0.9]])
    r2 = np.array([0.4, 0.4, 0.4, 0.05])  # the third has two spaces, the fourth is not predicted
    assert bench_targets.found(weights, r2, truth) == 0.5


def test_kernels_of_a_split_are_scaled_by_its_training_samples():
    X, y, kernels = bench_ridge.sets(60)["diabetes"]
    K, a, new, b = bench_ridge.split(X, y, kernels, 0)
    np.testing.assert_allclose(np.einsum("mii->m", K), len(a))
    assert K.shape == (16, 40, 40) and new.shape == (16, 20, 40) and len(b) == 20


@pytest.mark.slow
def test_rivals_agree_where_they_are_installed():
    pytest.importorskip("skglm")
    X, y, groups = bench_group_lasso.problem(60, 8, 5)
    (w,) = bench_group_lasso.learned(X, y, groups, [1.0], 1e-9)
    lam = bench_group_lasso.strength(groups, w, 1.0)
    (v,) = rivals_linear.group_lasso(X, y, groups, [lam], 1e-5)
    np.testing.assert_allclose(v, w, atol=1e-4)
