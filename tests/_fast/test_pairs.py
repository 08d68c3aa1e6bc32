"""Products of all pairs of a few long vectors, against NumPy."""

import numpy as np
import pytest

from manykernels._fast import pairs as fast
from manykernels._fast import threads


@pytest.mark.parametrize("M", [1, 3, 4, 5, 7, 8, 20, 33, 200])
@pytest.mark.parametrize("K", [0, 1, 7, 511, 512, 513, 1500])
def test_pairs(M, K):
    B = np.random.RandomState(M + K).randn(M, K)
    found = fast.pairs(B)
    np.testing.assert_allclose(found, B @ B.T, atol=1e-11)
    assert np.array_equal(found, found.T)


def test_rows_of_a_larger_array():
    B = np.random.RandomState(0).randn(9, 1000)[:, 100:800]
    np.testing.assert_allclose(fast.pairs(B), B @ B.T, atol=1e-11)


@pytest.mark.parametrize("M", [1, 4, 6])
@pytest.mark.parametrize("n", [1, 2, 5, 40, 61])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_centred_pairs(M, n, dtype, monkeypatch):
    A = np.random.RandomState(n).randn(M, n, n)
    stack = (A + A.transpose(0, 2, 1)).astype(dtype)
    mean = np.random.RandomState(1).rand(n)
    mean /= mean.sum()
    K = stack.astype(float)
    means = K @ mean
    H = np.eye(n) - np.outer(np.ones(n), mean)
    centred = H @ K @ H.T
    expected = np.einsum("kij,lij->kl", centred, centred)
    lower = np.tril(stack)  # only the lower triangle is read
    monkeypatch.setattr(threads, "_PARALLEL", 0)
    monkeypatch.setattr(threads.numba, "get_num_threads", lambda: 3)
    told: list[tuple[int, int]] = []
    found = fast.centred_pairs(lower, means, means @ mean, lambda some, of: told.append((some, of)))
    np.testing.assert_allclose(found, expected, atol=1e-11 * n * n)
    assert sum(some for some, _ in told) == n * n
