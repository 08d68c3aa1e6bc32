"""The benchmark of the papers' solvers: what stands beside ours solves the problem that its row names."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import bench_papers
from benchmarks.harness import Report
from benchmarks.limits import Limits
from benchmarks.rivals import qcqp
from tests.helpers import gaussians

from manykernels.grams import StackGram
from manykernels.solvers import ActiveSet

LIMITS = Limits(threads=1, read_gb_s=20.0, triad_gb_s=15.0, gemm_gflop_s=50.0)
rng = np.random.RandomState(0)
X = rng.randn(40, 2)
y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.randn(40) > 0, 1.0, -1.0)
STACK = bench_papers.scaled(gaussians(X, [0.1, 0.5, 2.0]))


def test_the_qcqp_has_the_weights_of_our_solver():
    ours = bench_papers.learn(ActiveSet(), StackGram(STACK), y, 2.0, 1e-8, 500)
    theirs = qcqp(STACK, y, 2.0)
    assert abs(theirs.gap) <= 1e-4
    np.testing.assert_allclose(theirs.weights, ours.weights, atol=1e-2)


@pytest.mark.slow
def test_the_gap_of_obscure_is_that_of_its_own_problem(monkeypatch):
    gaps = []
    for passes in (5, 50, 1000):
        monkeypatch.setattr(bench_papers, "EPOCHS", passes)
        gaps.append(bench_papers.obscure(STACK, y, 1.0).gap)
    assert gaps[0] > gaps[1] > gaps[2] > 0.0 and gaps[2] < 2e-3


def test_online_methods_say_the_gap_of_their_own_problem():
    found = bench_papers.ufo(STACK, y, 1.0)
    assert 0.0 < found.gap < 1.0 and found.weights.shape == (3,)


@pytest.mark.slow
def test_all_that_solve_the_same_problem_agree():
    report = Report("papers", LIMITS, quick=True)
    bench_papers.table(report, "made", STACK, y, 1.0, 1e-3, {"SILP": "1.0"})
    (table,) = report.tables
    same = [row for row in table["rows"] if row["problem"] == "norm 1"]
    assert len(same) == 6 and all(row["gap"] <= 1e-3 for row in same)
    assert all(row["P above the best bound"] <= 1e-3 for row in same[:5])
    assert same[2][bench_papers.PAPER] == "1.0"
