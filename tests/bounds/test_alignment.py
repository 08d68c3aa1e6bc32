"""Alignment: concentration on finite distributions, and predictors whose error is counted."""

from itertools import product
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manykernels.bounds import alignment_deviation, alignment_predictor, frobenius_deviation


def moment(p, K, L):
    """E[K_c L_c] for the distribution p on finitely many points."""
    H = np.eye(len(p)) - np.outer(np.ones(len(p)), p)
    return p @ ((H @ K @ H.T) * (H @ L @ H.T)) @ p


def finite(seed, atoms=4):
    """A distribution on a few points, and two kernels with K(x, x) ≤ 1."""
    rng = np.random.RandomState(seed)
    p = rng.dirichlet(np.ones(atoms))
    Phi = rng.randn(2, atoms, rng.randint(1, 4))
    Phi /= np.linalg.norm(Phi, axis=2, keepdims=True) / rng.uniform(0.5, 1, (2, atoms, 1))
    return p, Phi[0] @ Phi[0].T, Phi[1] @ Phi[1].T


# -- concentration -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_the_bias_by_all_samples(n):
    """Lemma A.5: |E_S ⟨K_c, K'_c⟩/n² − E[K_c K'_c]| ≤ 18R⁴/n, within −16 and 2 as the docstring proves."""
    for seed in range(10):
        p, K, L = finite(seed)
        expected = 0.0
        for sample in product(range(4), repeat=n):
            weights = np.bincount(sample, minlength=4) / n
            expected += np.prod(p[list(sample)]) * moment(weights, K, L)
        assert -16 / n <= moment(p, K, L) - expected <= 2 / n


def test_one_sample_changes_the_product_by_little():
    """Lemma A.4: by at most 24R⁴/n."""
    rng = np.random.RandomState(0)
    largest = 0.0
    for seed in range(300):
        _, K, L = finite(seed, atoms=5)
        n = rng.randint(2, 7)
        counts = np.bincount(rng.randint(5, size=n - 1), minlength=5)
        values = [moment((counts + unit) / n, K, L) for unit in np.eye(5)]
        largest = max(largest, n * np.ptp(values))
    assert 0.3 < largest <= 24


def test_deviations_of_large_samples():
    """A sample of n = 10⁶ is its counts; the bound is then informative, and the deviation well above 1/n."""
    n, delta, far = 10**6, 0.1, 0
    for seed in range(40):
        p, K, L = finite(seed)
        moments = [moment(p, K, K), moment(p, L, L)]
        rho = moment(p, K, L) / sqrt(moments[0] * moments[1])
        bound = alignment_deviation(n, R=1.0, second_moments=moments, delta=delta)
        product_bound = frobenius_deviation(n, R=1.0, delta=delta)
        assert product_bound < 0.05
        sample = np.random.RandomState(seed).multinomial(n, p) / n
        found = moment(sample, K, L) / sqrt(moment(sample, K, K) * moment(sample, L, L))
        deviation = abs(moment(sample, K, L) - moment(p, K, L))
        assert deviation <= product_bound
        assert abs(found - rho) <= bound
        far += deviation > 18 / n
    assert far > 10


def test_formulas_of_the_deviations():
    root = sqrt(log(2 / 0.1) / 100)
    assert frobenius_deviation(50, R=2.0, delta=0.1) == pytest.approx(16 * (18 / 50 + 24 * root))
    root = sqrt(log(6 / 0.1) / 100)
    found = alignment_deviation(50, R=2.0, second_moments=[4.0, 8.0], delta=0.1)
    assert found == pytest.approx(18 * 4 * (3 / 50 + 4 * root))
    # three deviations at δ/3 each, as the proof of Thm 2.10 puts them together
    assert found == pytest.approx(3 * frobenius_deviation(50, R=2.0, delta=0.1 / 3) / 4)


# -- predictors ----------------------------------------------------------------------------------------


def by_hand(K, y):
    """h*, ρ and Γ with sums over pairs."""
    n = len(y)
    Kc = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    Y = np.outer(y - y.mean(), y - y.mean())
    norm = sqrt(sum(Kc[i, j] ** 2 for i in range(n) for j in range(n)) / n**2)
    h = [sum(y[j] * Kc[i, j] for j in range(n)) / n / norm for i in range(n)]
    rho = np.sum(Kc * Y) / np.linalg.norm(Kc) / np.linalg.norm(Y)
    gamma = max(sqrt(np.mean(Kc[i] ** 2)) / norm for i in range(n))
    return np.array(h), rho, gamma


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4))
def test_classification(seed, n, d):
    rng = np.random.RandomState(seed)
    A = rng.randint(-3, 4, (n, d)) + 0.01 * rng.randn(n, d)
    A -= A.mean(axis=0)  # so that centring K loses no digits
    y = np.where(rng.rand(n) < rng.uniform(0.1, 0.9), 1.0, -1.0)
    y[:2] = 1.0, -1.0
    found = alignment_predictor(A @ A.T, y, task="classification")
    h, rho, gamma = by_hand(A @ A.T, y)
    assert found.predictions == pytest.approx(h, abs=1e-8)
    assert found.alignment == pytest.approx(rho, abs=1e-8) and found.gamma == pytest.approx(gamma)
    assert found.error == np.mean(y * h < -1e-8 * np.abs(h).max())
    assert found.bound == pytest.approx(1 - rho * y.std() / gamma, abs=1e-8)
    assert found.error <= found.bound + 1e-9
    assert found.error <= found.unnormalized_bound + 1e-9
    assert np.abs(found.predictions).max() <= y.std() * gamma * (1 + 1e-9)
    assert np.mean(y * h) == pytest.approx(rho * y.var(), abs=1e-8)  # not ρ


def test_theorem_2_11_is_wrong_for_classes_of_different_sizes():
    """g = (1, −1 + 4ε, −ε, −ε, −ε, −ε), K = ggᵀ, y = (1, −1, 1, 1, 1, 1): four of six are just wrong."""
    eps = 1e-3
    g = np.array([1.0, -1.0 + 4 * eps, -eps, -eps, -eps, -eps])
    y = np.array([1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
    found = alignment_predictor(np.outer(g, g), y, task="classification")
    assert found.error == pytest.approx(4 / 6)
    assert found.error > 1 - found.alignment / found.gamma + 0.01
    assert found.error <= found.bound < 1


def test_theorem_2_11_is_attained_and_right_for_equal_classes():
    """At ρ = 1 and Γ = 1 there is no error; the bound says so."""
    y = np.array([1.0, -1.0, 1.0, -1.0])
    found = alignment_predictor(np.outer(y, y) + 3.0, y, task="classification")
    assert found.alignment == pytest.approx(1) and found.gamma == pytest.approx(1)
    assert found.error == 0 and found.bound == pytest.approx(0, abs=1e-12)
    assert found.unnormalized_bound == pytest.approx(0, abs=1e-12)
    assert "alignment=1" in repr(found) and "array of shape (4,)" in repr(found)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4))
def test_regression(seed, n, d):
    rng = np.random.RandomState(seed)
    A, y = rng.randn(n, d), 5.0 + 3.0 * rng.standard_cauchy(n)
    A -= A.mean(axis=0)
    found = alignment_predictor(A @ A.T, y, task="regression")
    z = (y - y.mean()) / y.std()
    h, rho, _ = by_hand(A @ A.T, z)
    assert found.predictions == pytest.approx(h, abs=1e-8)
    assert found.error == pytest.approx(np.mean((z - h) ** 2), abs=1e-8)
    assert found.bound == pytest.approx(2 * (1 - rho), abs=1e-8)
    assert found.error <= found.bound + 1e-9
    assert found.unnormalized_bound is None


def test_scales_and_offsets_of_kernel_and_targets_do_not_matter():
    rng = np.random.RandomState(0)
    A, y = rng.randn(10, 2), rng.randn(10)
    one = alignment_predictor(A @ A.T, y, task="regression")
    B = A + np.array([3.0, -1.0])
    two = alignment_predictor(7 * B @ B.T + 5, 100 + 30 * y, task="regression")
    assert two.predictions == pytest.approx(one.predictions) and two.bound == pytest.approx(one.bound)


# -- refusals ------------------------------------------------------------------------------------------


I3 = np.eye(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: alignment_predictor(I3, [1, -1, 1], task="ranking"), "task='ranking'"),
        (lambda: alignment_predictor(I3[:2], [1, -1], task="classification"), "square"),
        (lambda: alignment_predictor(I3 * np.nan, [1, -1, 1], task="classification"), "finite"),
        (lambda: alignment_predictor(np.tri(3), [1, -1, 1], task="classification"), "symmetric"),
        (lambda: alignment_predictor(-I3, [1, -1, 1], task="classification"), "negative eigenvalue"),
        (lambda: alignment_predictor(np.ones((3, 3)), [1, -1, 1], task="classification"), "varies"),
        (lambda: alignment_predictor(np.zeros((3, 3)), [1, -1, 1], task="classification"), "varies"),
        (lambda: alignment_predictor(I3, [0, 1, 1], task="classification"), "both −1 and 1"),
        (lambda: alignment_predictor(I3, [1, 1, 1], task="classification"), "both −1 and 1"),
        (lambda: alignment_predictor(I3, ["a", "b", "b"], task="classification"), "y holds no numbers"),
        (lambda: alignment_predictor(I3, [1, -1], task="classification"), "y of shape"),
        (lambda: alignment_predictor(I3, [2, 2, 2], task="regression"), "vary"),
        (lambda: frobenius_deviation(0, R=1.0), "n=0"),
        (lambda: frobenius_deviation(5, R=0.0), "R=0.0"),
        (lambda: frobenius_deviation(5, R=1.0, delta=0), "delta=0"),
        (lambda: alignment_deviation(5, R=1.0, second_moments=[0.0, 1.0]), "above 0"),
        (lambda: alignment_deviation(5, R=1.0, second_moments=[0.5, 1.1]), "at most R⁴"),
        (lambda: alignment_deviation(5, R=1.0, second_moments=[0.5, 0.5, 0.5]), "one or two"),
        (lambda: alignment_deviation(5, R=1.0, second_moments=[]), "second_moments"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
