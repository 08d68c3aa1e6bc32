"""Kernels whose values are given: layers of a stack, distances, functions."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from manykernels.kernels import Callable, FromDistance, Precomputed

rng = np.random.default_rng(0)
N, M = 40, 13
X_NUMBERS, Y_NUMBERS = rng.normal(size=(N, 11)), rng.normal(size=(M, 11))
X_STACK = rng.random((N, N, 3))
X_STACK += X_STACK.transpose(1, 0, 2)
Y_STACK = rng.random((M, N, 3))


def min_kernel(X, Y):
    """A kernel of the user's: min(x, y) of the first feature."""
    return np.minimum.outer(np.abs(X[:, 0]), np.abs(Y[:, 0]))


def test_precomputed_is_a_layer_of_the_stack():
    kernel = Precomputed(1)
    np.testing.assert_array_equal(kernel(X_STACK), X_STACK[:, :, 1])
    np.testing.assert_array_equal(kernel(Y_STACK, X_STACK), Y_STACK[:, :, 1])
    np.testing.assert_array_equal(kernel.diag(X_STACK), np.diagonal(X_STACK[:, :, 1]))
    K = kernel(X_STACK)
    K *= 2.0  # a result is always the caller's own memory
    assert not np.array_equal(K, X_STACK[:, :, 1])


def test_stack_composites():
    kernel = Precomputed(0) * Precomputed(1) + 2.0 * FromDistance(0.5, 2)
    expected = Y_STACK[:, :, 0] * Y_STACK[:, :, 1] + 2.0 * np.exp(-0.5 * Y_STACK[:, :, 2])
    np.testing.assert_allclose(kernel(Y_STACK, X_STACK), expected, rtol=1e-13)
    out = np.empty((M, N))
    assert kernel(Y_STACK, out=out) is out


@pytest.mark.parametrize("kernel", [Precomputed(3), FromDistance(1.0, 3), FromDistance(1.0, -4)])
def test_missing_layer(kernel):
    with pytest.raises(ValueError, match=r"the stack has 3 layers \(0 to 2\)"):
        kernel(X_STACK)


@pytest.mark.parametrize("kernel", [Precomputed(0), FromDistance(1.0, 0)])
def test_not_a_stack(kernel):
    with pytest.raises(ValueError, match=r"stack of shape .* got X of shape \(40, 11\)"):
        kernel(X_NUMBERS)
    with pytest.raises(ValueError, match="square stack"):
        kernel.diag(Y_STACK)


def test_distance_by_layer_name_and_function():
    X, Y = np.abs(X_NUMBERS), np.abs(Y_NUMBERS)
    D1 = np.abs(X[:, None] - Y[None]).sum(axis=2)
    expected = np.exp(-0.1 * D1)
    stack = np.stack([np.zeros_like(D1), D1], axis=2)
    np.testing.assert_allclose(FromDistance(0.1, 1)(stack), expected, rtol=1e-13)
    np.testing.assert_allclose(FromDistance(0.1, "cityblock")(X, Y), expected, rtol=1e-12)
    by_function = FromDistance(0.1, lambda A, B: np.abs(A[:, None] - B[None]).sum(axis=2))
    np.testing.assert_allclose(by_function(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(by_function.diag(X), np.ones(N), rtol=1e-14)
    square = stack[:M, :, :]
    np.testing.assert_allclose(FromDistance(0.1, 1).diag(square), np.diagonal(expected[:M]), rtol=1e-13)
    np.testing.assert_array_equal(stack[:, :, 1], D1)


def test_callable():
    kernel = Callable(min_kernel)
    np.testing.assert_array_equal(kernel(X_NUMBERS, Y_NUMBERS), min_kernel(X_NUMBERS, Y_NUMBERS))
    np.testing.assert_array_equal(kernel.diag(X_NUMBERS), np.abs(X_NUMBERS[:, 0]))
    assert kernel.label == "Callable(function=min_kernel)"
    out = np.empty((N, N))
    assert kernel(X_NUMBERS, out=out) is out
    assert pickle.loads(pickle.dumps(clone(kernel))).function is min_kernel


def test_wrong_shape_of_a_function():
    for kernel in (Callable(lambda X, Y: np.ones(3)), FromDistance(1.0, lambda X, Y: np.ones(3))):
        with pytest.raises(ValueError, match=r"returned shape \(3,\); expected \(40, 13\)"):
            kernel(X_NUMBERS, Y_NUMBERS)


def test_a_functions_own_array_is_not_written_to():
    cached = np.ones((N, N))
    FromDistance(1.0, lambda X, Y: cached)(X_NUMBERS)
    K = Callable(lambda X, Y: cached)(X_NUMBERS)
    K += 1.0
    np.testing.assert_array_equal(cached, 1.0)
