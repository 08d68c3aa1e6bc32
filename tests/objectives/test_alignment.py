"""The alignment of a combination, against matrices that are centred and multiplied out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from manykernels.grams import BlockGram, FactorGram, StackGram
from manykernels.kernels import Gaussian, Linear, Polynomial
from manykernels.measures import centered_alignment, target_factor
from manykernels.objectives import Alignment

N = 23
rng = np.random.RandomState(0)
X = rng.randn(N, 4)
KERNELS = [Gaussian(1.0), Gaussian(3.0), Polynomial(2), Linear()]
H = np.eye(N) - 1.0 / N
TARGETS = {
    "binary": target_factor(X[:, 0] > 0.2),
    "classes": target_factor(np.array(["a", "b", "c"])[rng.randint(3, size=N)]),
    "numbers": X[:, :1] + 100.0,
    "outputs": X[:, :3] * [1.0, 10.0, 0.1] + 5.0,
}


def grams(scale=None, mean=None):
    """The same four kernels however they are held, and the four rank-one kernels of the columns."""
    stack = np.stack([kernel(X) for kernel in KERNELS])
    columns = np.einsum("im,jm->mij", X, X)
    ptr = np.arange(5)
    return [
        (StackGram(stack, scale, mean), stack),
        (BlockGram(KERNELS, X, N, 0, scale, mean), stack),
        (FactorGram(X, ptr, scale, mean), columns),
        (FactorGram(sparse.csr_array(X), ptr, scale, mean), columns),
    ]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("theta", [[0.1, 0.2, 0.3, 0.4], [0.0, 1.0, 0.0, 0.0], [1.0, -0.3, 0.2, -0.4]])
def test_value_is_the_definition(target, centred, theta):
    Y, theta = TARGETS[target], np.array(theta)
    scale = np.array([2.0, 0.5, 1.0, 3.0])
    for gram, stack in grams(scale, np.full(N, 1 / N) if centred else None):
        K = H @ np.einsum("m,mij->ij", theta * scale, stack) @ H
        K_Y = H @ Y @ Y.T @ H
        expected = np.vdot(K, K_Y) / (np.linalg.norm(K) * np.linalg.norm(K_Y))
        alignment = Alignment(gram, Y)
        assert alignment.value(theta) == pytest.approx(expected, abs=1e-12)  # without M
        assert alignment.M.shape == (4, 4)
        assert alignment.value(theta) == pytest.approx(expected, abs=1e-12)  # and with it
        assert alignment.value(7.0 * theta) == pytest.approx(expected, abs=1e-12)
        assert alignment.value(-theta) == pytest.approx(-expected, abs=1e-12)


@pytest.mark.parametrize("target", TARGETS)
def test_each_and_cosines(target):
    Y = TARGETS[target]
    for gram, stack in grams():
        alignment = Alignment(gram, Y)
        alone = [centered_alignment(K, Y @ Y.T, kind="kernel") for K in stack]
        np.testing.assert_allclose(alignment.each, alone, atol=1e-12)
        pairs = [[centered_alignment(K, L, kind="kernel") for K in stack] for L in stack]
        np.testing.assert_allclose(alignment.cosines, pairs, atol=1e-12)
        np.testing.assert_array_equal(np.diag(alignment.cosines), np.ones(4))
        for m, theta in enumerate(np.eye(4)):
            assert alignment.value(theta) == pytest.approx(alone[m], abs=1e-12)
        dense = H @ stack @ H
        np.testing.assert_allclose(alignment.norms, np.linalg.norm(dense, axis=(1, 2)), rtol=1e-12)


def test_one_hot_is_signs_for_two_classes():
    codes = (X[:, 0] > 0).astype(int)
    gram = grams()[0][0]
    one_hot = Alignment(gram, np.eye(2)[codes])
    signs = Alignment(gram, 2.0 * codes[:, None] - 1.0)
    np.testing.assert_allclose(one_hot.each, signs.each, rtol=1e-13)
    for alignment in (one_hot, signs):
        np.testing.assert_array_equal(alignment.codes, codes)
    three = rng.randint(3, size=N)
    np.testing.assert_array_equal(Alignment(gram, np.eye(3)[three]).codes, three)


@pytest.mark.parametrize("target", TARGETS)
def test_without_centring_neither_kernels_nor_target_are_centred(target):
    Y, theta = TARGETS[target], np.array([0.1, 0.2, 0.3, 0.4])
    for mean in (None, np.full(N, 1 / N)):
        for gram, stack in grams(mean=mean):
            K, K_Y = np.einsum("m,mij->ij", theta, stack), Y @ Y.T
            expected = np.vdot(K, K_Y) / (np.linalg.norm(K) * np.linalg.norm(K_Y))
            plain = Alignment(gram, Y).uncentred
            assert plain.value(theta) == pytest.approx(expected, abs=1e-12)
            products = np.einsum("kij,lij->kl", stack, stack)
            np.testing.assert_allclose(plain.M, products, rtol=1e-10)
            np.testing.assert_allclose(plain.norms, np.sqrt(np.diag(products)), rtol=1e-10)


@pytest.mark.parametrize("size", [1e-200, 1e-30, 1e30, 1e200])
def test_neither_the_units_of_the_target_nor_its_offset_matter(size):
    gram = grams()[0][0]
    expected = Alignment(gram, X[:, :2])
    scaled = Alignment(gram, size * X[:, :2])
    np.testing.assert_allclose(scaled.each, expected.each, rtol=1e-12)
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    assert scaled.value(theta) == pytest.approx(expected.value(theta), rel=1e-12)
    shifted = Alignment(gram, X[:, :2] + [1e6, -1e5])
    np.testing.assert_allclose(shifted.each, expected.each, rtol=1e-8)


def test_a_kernel_that_does_not_vary_is_named():
    stack = np.stack([X @ X.T, np.full((N, N), 3.0), np.ones((N, N)), np.zeros((N, N))])
    gram = StackGram(stack)
    with pytest.raises(ValueError, match=r"kernel '1' \(and 2 more\).*centred norm is zero"):
        Alignment(gram, X[:, :1]).each  # noqa: B018
    gram.names = ["linear", "flat", "flat too", "zero"]
    alignment = Alignment(gram, X[:, :1])
    assert alignment.M[1, 1] == pytest.approx(0.0, abs=1e-20)
    with pytest.raises(ValueError, match=r"kernel 'flat' \(and 2 more\).*Leave it out"):
        alignment.cosines  # noqa: B018


def test_nearly_constant_kernels_still_have_an_alignment():
    """A Gaussian of width σ → ∞ is 1 − ‖x − x'‖²/σ²: its alignment tends to that of the linear kernel."""
    wide = np.array([Gaussian(1e4)(X), X @ X.T])
    alignment = Alignment(StackGram(wide), X[:, :1])
    assert alignment.each[0] == pytest.approx(alignment.each[1], rel=1e-6)
    assert alignment.cosines[0, 1] == pytest.approx(1.0, abs=1e-6)


def test_a_combination_that_cancels_has_no_alignment():
    stack = np.stack([X @ X.T, 2.0 * X @ X.T])
    assert Alignment(StackGram(stack), X[:, :1]).value(np.array([2.0, -1.0])) == 0.0


def test_the_same_sample_over_and_over_is_aligned_with_nothing():
    """What is left of the kernels after centring is rounding."""
    for seed in range(5):
        same = np.tile(np.random.RandomState(seed).randn(1, 4), (11, 1))
        stack = np.stack([kernel(same) for kernel in KERNELS])
        stack *= 1.0 + 3e-16 * np.random.RandomState(seed).randint(-1, 2, stack.shape)
        y = np.arange(11.0)[:, None] % 2
        for gram in (StackGram(stack), FactorGram(same, np.arange(5))):
            assert Alignment(gram, y).value(np.full(4, 0.25)) == 0.0
