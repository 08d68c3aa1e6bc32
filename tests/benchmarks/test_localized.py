"""The benchmark of localized learning: what it counts, and that both ways solve one problem."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import bench_localized as bench


def test_gates_share_every_sample_out():
    gates = bench._gates(40, 3)
    assert gates.shape == (40, 3) and gates.min() > 0.0
    np.testing.assert_allclose(gates.sum(axis=1), 1.0)


def test_a_pass_is_that_of_stored_kernels():
    gram, weights, alpha = bench._gated(30, 3, 2)
    stack = np.array([gram.whole.combine(np.ones(1), np.array([m])) for m in range(3)])
    stored = np.concatenate([stack * np.outer(c, c) for c in gram.gates.T])
    np.testing.assert_allclose(gram.combine(weights), np.tensordot(weights, stored, axes=1))
    forms = np.einsum("nk,mnp,pk->mk", alpha, stored, alpha)
    np.testing.assert_allclose(bench._pass(gram, weights, alpha), forms)


def test_rows_divide_by_iterations_and_size():
    class Fitted:
        n_iter_, dual_gap_ = 4, 1e-4

    (row,) = bench._rows({(10, 2, 5): Fitted}, 1, bench._told)
    assert row["iterations"] == 4 and row["gap"] == 1e-4
    assert row["CPU ms each"] == pytest.approx(1e3 * row["seconds"].cpu[0] / 4)
    assert row["ns by n²Ml"] == pytest.approx(1e6 * row["CPU ms each"] / (10 * 10 * 2 * 5))


@pytest.mark.slow
def test_both_ways_solve_one_problem():
    gated, stored = bench._both_ways(60, 3, 2)
    assert stored["MB of kernels"] == 2.0 * gated["MB of kernels"]
    assert max(gated["gap"], stored["gap"]) <= 1e-3
    assert gated["P"] == pytest.approx(stored["P"], rel=2e-3)  # both within their gaps
