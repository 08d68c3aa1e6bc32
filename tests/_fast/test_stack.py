"""Compiled passes over a stack of Gram matrices, against NumPy."""

import numpy as np
import pytest

from manykernels._fast import stack as fast
from manykernels._fast import threads
from manykernels._fast.checking import check

SIZES = [1, 2, 3, 4, 5, 7, 8, 47, 48, 49, 97]
each_size = pytest.mark.parametrize("n", SIZES)
each_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def symmetric(n, M, dtype, seed=0):
    A = np.random.RandomState(seed).randn(M, n, n)
    return (A + A.transpose(0, 2, 1)).astype(dtype)


def exactness(dtype):
    return 1e-12 if dtype == np.float64 else 1e-5  # squares of single numbers are single


@each_size
@each_dtype
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 9])
def test_combine(n, dtype, count):
    stack = symmetric(n, 9, dtype)
    index = np.random.RandomState(1).permutation(9)[:count]
    weight = np.random.RandomState(2).randn(count)
    out = np.full((n, n), np.nan)
    fast.combine(stack, index, weight, out)
    expected = np.einsum("m,mij->ij", weight, stack[index].astype(float))
    np.testing.assert_allclose(out, expected, atol=1e-13 * 9)
    assert np.array_equal(out, out.T)


@each_size
@each_dtype
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_products(n, dtype, columns):
    stack, index = symmetric(n, 4, dtype), np.array([2, 0, 3, 2])
    x = np.random.RandomState(3).randn(columns, n)
    out = np.full((4, columns, n), np.nan)
    fast.products(stack, index, x, out)
    expected = np.einsum("mij,cj->mci", stack[index].astype(float), x)
    np.testing.assert_allclose(out, expected, atol=n * exactness(np.float64))


@each_size
@each_dtype
@pytest.mark.parametrize("kept", ["all", "some", "few", "none"])
def test_quadratic_forms(n, dtype, kept):
    stack, index = symmetric(n, 3, dtype), np.array([1, 2])
    x = np.random.RandomState(4).randn(2, n)
    x[:, :: {"all": n + 1, "some": 2, "few": n + 1, "none": 1}[kept]] = 0.0
    if kept == "few":
        x[:, np.random.RandomState(8).rand(n) < 0.7] = 0.0
    x[0, -1:] = 0.0  # vectors may be zero in different places
    out = np.full((2, 2), np.nan)
    fast.quadratic_forms(stack, index, x, out)
    expected = np.einsum("ci,mij,cj->mc", x, stack[index].astype(float), x)
    np.testing.assert_allclose(out, expected, atol=n * n * 1e-13)


def test_only_the_lower_triangle_is_read():
    stack = symmetric(9, 2, np.float64)
    lower = np.tril(stack) + np.triu(np.full((9, 9), np.nan), 1)
    x, index = np.random.RandomState(0).randn(1, 9), np.arange(2)
    out, y, q = np.empty((9, 9)), np.empty((2, 1, 9)), np.empty((2, 1))
    fast.combine(lower, index, np.ones(2), out)
    fast.products(lower, index, x, y)
    fast.quadratic_forms(lower, index, x, q)
    np.testing.assert_allclose(out, stack.sum(axis=0))
    np.testing.assert_allclose(y[:, 0], stack @ x[0])
    np.testing.assert_allclose(q[:, 0], x[0] @ stack @ x[0])


@each_size
def test_mirror(n):
    A = np.random.RandomState(5).randn(n, n)
    out = A.copy()
    fast.mirror(out)
    assert np.array_equal(out, np.tril(A) + np.tril(A, -1).T)


@each_size
@each_dtype
def test_check_sums_asymmetry_and_minors(n, dtype):
    stack = symmetric(n, 3, dtype)
    stack[1] += np.triu(np.full((n, n), 0.5, dtype), 1)
    x = np.random.RandomState(6).uniform(0.5, 1.0, n)
    share = np.random.RandomState(7).uniform(0.0, 1.0, n)
    out, means = np.full((3, 3), np.nan), np.full((3, n), np.nan)
    check(stack, x, 1.1, share, out, means)
    wide = stack.astype(float)
    d = np.einsum("mii->mi", wide)
    excess = wide**2 - 1.1 * d[:, :, None] * d[:, None, :]
    np.testing.assert_allclose(out[:, 0], wide.sum(axis=(1, 2)), atol=1e-10)
    np.testing.assert_allclose(
        out[:, 1], np.abs((wide - wide.transpose(0, 2, 1)) @ x).max(axis=1), atol=1e-10
    )
    np.testing.assert_allclose(means, wide @ share, atol=1e-10)
    once, twice = (np.maximum(half, 0).sum(axis=(1, 2)) for half in (np.tril(excess), excess))
    slack = exactness(dtype) * (twice + n * n)  # of each pair of entries one is looked at, or both
    assert np.all(once - slack <= out[:, 2]) and np.all(out[:, 2] <= twice + slack)
    assert out[0, 1] < 1e-10 and (n == 1 or out[1, 1] > 0.2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (0, 6), (6, 2)])
def test_check_finds_what_is_not_finite(bad, place):
    stack = symmetric(7, 2, np.float64)
    stack[1][place] = bad
    out = np.empty((2, 3))
    check(stack, np.ones(7), 1.0, np.ones(7), out, np.empty((2, 7)))
    assert np.isfinite(out[0, 0]) and not np.isfinite(out[1, 0])


def test_threads_give_the_same_answers(monkeypatch):
    """A pass is cut into pieces where there is work enough; the pieces must meet without a seam."""
    stack, n = symmetric(53, 7, np.float64), 53
    x, index = np.random.RandomState(0).randn(2, n), np.arange(7)

    def answers():
        out, y = np.empty((n, n)), np.empty((7, 2, n))
        q, c, r = np.empty((7, 2)), np.empty((7, 3)), np.empty((7, n))
        fast.combine(stack, index, np.arange(7.0), out)
        fast.products(stack, index, x, y)
        fast.quadratic_forms(stack, index, x, q)
        check(stack, x[0], 1.0, x[1], c, r)
        return out, y, q, c, r

    one = answers()
    monkeypatch.setattr(threads, "_PARALLEL", 0)
    monkeypatch.setattr(threads.numba, "get_num_threads", lambda: 3)
    for a, b in zip(one, answers(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)
