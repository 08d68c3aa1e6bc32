"""Cholesky factors with one jitter policy."""

import numpy as np
import pytest

from manykernels._fast.linalg import factor, invert, solve


def semidefinite(n, rank, seed=0):
    F = np.random.RandomState(seed).randn(n, rank)
    return F @ F.T


@pytest.mark.parametrize("n", [1, 2, 5, 40])
@pytest.mark.parametrize("order", ["C", "F"])
def test_factor_and_solve(n, order):
    A = semidefinite(n, n) + np.eye(n)
    L = np.tril(factor(np.array(A, order=order)))
    np.testing.assert_allclose(L @ L.T, A, atol=1e-12 * n)
    x = np.random.RandomState(1).randn(n, 2)
    np.testing.assert_allclose(A @ solve(factor(A.copy()), x), x, atol=1e-9)


@pytest.mark.parametrize("n", [1, 40, 64, 65, 131, 260])
def test_invert(n):
    A = semidefinite(n, n) + np.eye(n)
    inverse = np.tril(invert(factor(A.copy())))
    inverse += np.tril(inverse, -1).T
    np.testing.assert_allclose(A @ inverse, np.eye(n), atol=1e-9)


def test_no_samples():
    assert factor(np.empty((0, 0))).shape == (0, 0)


@pytest.mark.parametrize("rank", [0, 1, 5, 29])
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_singular_matrices_move_by_rounding_only(rank, scale):
    A = scale * semidefinite(30, rank)
    L = np.tril(factor(A.copy()))
    np.testing.assert_allclose(L @ L.T, A, atol=1e-9 * scale * 30)


def test_given_jitter():
    A = semidefinite(6, 6)
    L = np.tril(factor(A.copy(), 1e-3))
    np.testing.assert_allclose(L @ L.T, A + 1e-3 * A.trace() / 6 * np.eye(6), atol=1e-12)


def test_zero_matrix_has_an_invertible_factor_whose_squares_are_finite():
    L = factor(np.zeros((4, 4)), 1e-8)
    v = 1.0 / L.diagonal()
    assert np.isfinite(v @ v)


@pytest.mark.parametrize("negative", [0.05, 0.5, 2.0])
def test_an_indefinite_matrix_is_refused_and_not_repaired(negative):
    A = np.eye(4)
    A[0, 1] = A[1, 0] = 1.0 + negative
    with pytest.raises(np.linalg.LinAlgError, match="not positive semi-definite"):
        factor(A)
