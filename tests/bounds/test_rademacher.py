"""Rademacher complexities against all signs, a convex solver and each other."""

from itertools import product
from math import comb, e, factorial, log, sqrt

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from hypothesis import given
from hypothesis import strategies as st

from manykernels.bounds import (
    empirical_rademacher,
    linear_rademacher_bound,
    rademacher_bound,
    rademacher_bound_uniform,
)
from manykernels.bounds.rademacher import ETA0
from manykernels.families import rank_one
from manykernels.kernels import Gaussian, Linear, Polynomial

NORMS = [1.0, 4 / 3, 1.5, 2.0, np.inf]


def signs(n):
    return np.array(list(product([-1.0, 1.0], repeat=n))).T


def random_stack(seed, n, M):
    """Kernels of different ranks and sizes, (n, n, M)."""
    rng = np.random.RandomState(seed)
    ranks, sizes = rng.randint(1, n + 1, M), 10.0 ** rng.uniform(-2, 2, M)
    factors = [rng.standard_cauchy((n, rank)) for rank in ranks]
    return np.stack([s * A @ A.T / np.trace(A @ A.T) for s, A in zip(sizes, factors, strict=True)], axis=2)


def exact(stack, r):
    """Prop. 2.5 from its definition, one sign vector at a time."""
    n = stack.shape[0]
    forms = [np.einsum("i,ijm,j->m", s, stack, s).clip(0) for s in signs(n).T]
    return np.mean([sqrt(np.linalg.norm(u, r)) for u in forms]) / n


# -- the moments of Lemma 2.1 --------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_moments_of_quadratic_forms(r, seed):
    """Lemma 2.1 and its sharper form; all-ones kernels (rank one, n large) come near the latter."""
    stack = np.concatenate([random_stack(seed, 8, 3), np.ones((8, 8, 1)), np.eye(8)[:, :, None]], axis=2)
    forms = np.einsum("is,ijm,js->ms", signs(8), stack, signs(8))
    moments, traces = np.mean(forms**r, axis=1), np.einsum("iim->m", stack)
    odd = np.prod(np.arange(1, 2 * r, 2))
    assert np.all(moments <= odd * traces**r * (1 + 1e-12))
    assert odd <= r**r
    # E (Σσ)^{2r} tends to (2r − 1)!! n^r, so no smaller constant would do for all n
    n = 400
    ones = sum(comb(n, k) * (n - 2 * k) ** (2 * r) for k in range(n + 1)) / 2**n / n**r
    assert 0.95 * odd < ones <= odd


@pytest.mark.parametrize("r", range(1, 6))
def test_ratio_of_multinomial_coefficients(r):
    """Lemma A.2 over all partitions of r: at most (2r − 1)!!, attained, and that is at most (η₀ r)^r."""

    def parts(total, most):
        if total == 0:
            yield ()
        for first in range(min(total, most), 0, -1):
            yield from ((first, *rest) for rest in parts(total - first, first))

    def coefficient(ts):
        return factorial(sum(ts)) / np.prod([float(factorial(t)) for t in ts])

    ratios = [coefficient([2 * t for t in ts]) / coefficient(ts) for ts in parts(r, r)]
    assert max(ratios) == pytest.approx(np.prod(np.arange(1.0, 2 * r, 2)))
    assert max(ratios) <= (ETA0 * r) ** r


# -- Prop. 2.5 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_all_signs_are_visited(norm):
    stack = random_stack(0, 10, 4)
    r = np.inf if norm == 1 else 1 if norm == np.inf else norm / (norm - 1)
    found = empirical_rademacher("precomputed", stack, norm=norm, n_draws=None)
    assert found.exact and found.standard_error == 0
    assert found.value == pytest.approx(exact(stack, r), rel=1e-12)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_the_formula_is_the_supremum_over_the_class(norm):
    """sup Σ_i σ_i h(x_i) over w and μ themselves, by a convex solver."""
    stack = random_stack(3, 3, 2)
    roots = [np.linalg.cholesky(stack[:, :, m] + 1e-9 * np.eye(3)) for m in range(2)]
    values = []
    for sigma in signs(3).T:
        w, mu = [cp.Variable(3) for _ in roots], cp.Variable(2, nonneg=True)
        correlation = sum(sigma @ (root @ part) for root, part in zip(roots, w, strict=True))
        size = sum(cp.quad_over_lin(part, mu[m]) for m, part in enumerate(w))
        task = cp.Problem(cp.Maximize(correlation), [size <= 1, cp.norm(mu, norm) <= 1])
        values.append(optimal_value(task))
    found = empirical_rademacher("precomputed", stack, norm=norm, n_draws=None).value
    assert np.mean(values) / 3 == pytest.approx(found, rel=1e-4)


def test_draws_agree_with_all_signs():
    rng = np.random.RandomState(0)
    X = rng.randn(12, 3)
    kernels = {"a": Gaussian(1.0), "b": [Linear(), Polynomial(2)]}
    whole = empirical_rademacher(kernels, X, norm=2.0, n_draws=None)
    drawn = empirical_rademacher(kernels, X, norm=2.0, n_draws=4000, random_state=0)
    assert 0 < drawn.standard_error < 0.02 * whole.value
    assert abs(drawn.value - whole.value) < 4 * drawn.standard_error
    again = empirical_rademacher(kernels, X, norm=2.0, n_draws=4000, random_state=0)
    assert again == drawn
    assert "value=" in repr(drawn) and "standard_error=" in repr(drawn)


def test_families_and_explicit_factors():
    """rank_one never forms n × n; its kernels are the linear ones of the columns."""
    X = np.random.RandomState(1).randn(9, 4)
    stack = np.stack([np.outer(x, x) for x in X.T], axis=2)
    found = empirical_rademacher(rank_one(), X, n_draws=None).value
    assert found == pytest.approx(exact(stack, np.inf), rel=1e-12)


def test_a_memory_limit_changes_nothing():
    X = np.random.RandomState(2).randn(60, 3)
    kernels = [Gaussian(w) for w in np.geomspace(0.3, 3, 8)]
    whole = empirical_rademacher(kernels, X, random_state=0)
    limited = empirical_rademacher(kernels, X, random_state=0, memory_limit=8 * 60 * 60 * 8)
    assert limited.value == pytest.approx(whole.value, rel=1e-10)


# -- Thms 2.5 to 2.9 -----------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 12), st.sampled_from(NORMS))
def test_bounds_are_above_the_complexity(seed, n, M, norm):
    stack = random_stack(seed, n, M)
    value = empirical_rademacher("precomputed", stack, norm=norm, n_draws=None).value
    traces = np.einsum("iim->m", stack)
    R = sqrt(np.einsum("iim->im", stack).max())
    bound = rademacher_bound(traces, n, norm=norm)
    sharp = rademacher_bound(traces, n, norm=norm, sharp=True)
    assert value <= sharp * (1 + 1e-9) and sharp <= bound
    if norm == 1:
        every = [rademacher_bound(traces, n, r=r) for r in range(1, 40)]
        assert bound == pytest.approx(min(every), rel=1e-12)
        assert sharp == pytest.approx(min(rademacher_bound(traces, n, r=r, sharp=True) for r in range(1, 40)))
    if M > 1 or norm > 1:
        assert bound <= rademacher_bound_uniform(R, M, n, norm=norm) * (1 + 1e-12)


def test_many_signs_of_equal_kernels_nearly_attain_the_sharp_bound():
    """n orthogonal points: σᵀKσ = tr K whatever σ, so at norm=inf (r = 1) the sharp bound is the value."""
    stack = np.repeat(np.eye(6)[:, :, None], 3, axis=2)
    value = empirical_rademacher("precomputed", stack, norm=np.inf, n_draws=None).value
    assert value == pytest.approx(rademacher_bound([6.0] * 3, 6, norm=np.inf, sharp=True))


def test_the_remark_after_theorem_2_6():
    """√(η₀ e ⌈log p⌉ ‖u‖_∞)/n holds; with /n inside the root, as printed, it would be √n times that."""
    for p in (2, 3, 20, 1000):
        u = np.random.RandomState(p).uniform(0, 5, p)
        right = sqrt(ETA0 * e * np.ceil(log(p)) * u.max()) / 50
        assert rademacher_bound(u, 50) <= right
        assert right == pytest.approx(rademacher_bound_uniform(sqrt(u.max() / 50), p, 50))


def test_formulas():
    assert rademacher_bound([3.0, 4.0], 10, norm=2) == pytest.approx(sqrt(ETA0 * 2 * 5) / 10)
    assert rademacher_bound([3.0, 4.0], 10, norm=np.inf) == pytest.approx(sqrt(ETA0 * 7) / 10)
    assert rademacher_bound([3.0, 4.0], 10, r=2) == pytest.approx(sqrt(ETA0 * 2 * 5) / 10)
    assert rademacher_bound([3.0, 4.0], 10, norm=1.5) == pytest.approx(sqrt(ETA0 * 3 * 91 ** (1 / 3)) / 10)
    assert rademacher_bound([0.0, 0.0], 10) == 0
    assert rademacher_bound([1e300, 1e300], 10, norm=1.01) < np.inf
    assert rademacher_bound_uniform(2.0, 16, 100, norm=2) == pytest.approx(sqrt(ETA0 * 2 * 4 * 4 / 100))
    assert rademacher_bound_uniform(2.0, 16, 100) == pytest.approx(sqrt(ETA0 * e * 3 * 4 / 100))


@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 5), st.sampled_from([2, 4, 6]))
def test_linear_functions(seed, n, d, r):
    """Thm 2.9: the complexity of ‖w‖_q ≤ W is (W/n) E ‖Σσx‖_r."""
    X = np.random.RandomState(seed).standard_cauchy((n, d))
    largest = np.linalg.norm(X, r, axis=1).max()
    value = 3.0 * np.mean(np.linalg.norm(X.T @ signs(n), r, axis=0)) / n
    assert value <= linear_rademacher_bound(largest, 3.0, n, r) * (1 + 1e-12)


# -- refusals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("norm", "nearest"),
    [
        (3.0, r"2 \(r = 2\) or inf \(r = 1\)"),
        (1.7, r"1.5 \(r = 3\) or 2 \(r = 2\)"),
        (1.01001, r"1.01 \(r = 101\) or 1.0101 \(r = 100\)"),
    ],
)
def test_norms_without_a_whole_conjugate_are_refused_with_the_nearest(norm, nearest):
    with pytest.raises(ValueError, match=nearest):
        rademacher_bound([1.0], 5, norm=norm)
    with pytest.raises(ValueError, match=nearest):
        rademacher_bound_uniform(1.0, 4, 5, norm=norm)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rademacher_bound([], 5), "traces"),
        (lambda: rademacher_bound([1.0, -1.0], 5), "at least 0"),
        (lambda: rademacher_bound([np.nan], 5), "finite"),
        (lambda: rademacher_bound("many", 5), "expected numbers"),
        (lambda: rademacher_bound([1.0], 0), "n=0"),
        (lambda: rademacher_bound([1.0], 2.5), "n=2.5"),
        (lambda: rademacher_bound([1.0], 5, r=0), "r=0"),
        (lambda: rademacher_bound([1.0], 5, r=1.5), "r=1.5"),
        (lambda: rademacher_bound([1.0], 5, norm=2, r=3), "conjugate exponent 2"),
        (lambda: rademacher_bound([1.0], 5, norm=0.5), "norm=0.5"),
        (lambda: rademacher_bound([1.0], 5, norm="1"), "norm='1'"),
        (lambda: rademacher_bound_uniform(1.0, 1, 5), "n_kernels=1"),
        (lambda: rademacher_bound_uniform(-1.0, 3, 5), "R=-1"),
        (lambda: linear_rademacher_bound(1.0, 1.0, 5, 3), "even"),
        (lambda: linear_rademacher_bound(1.0, 1.0, 5, 0), "even"),
        (lambda: linear_rademacher_bound(np.inf, 1.0, 5, 2), "X_norm=inf"),
        (lambda: empirical_rademacher(Linear(), np.ones((21, 1)), n_draws=None), "n_draws=None"),
        (lambda: empirical_rademacher(Linear(), np.ones((5, 1)), n_draws=1), "n_draws=1"),
        (lambda: empirical_rademacher(Linear(), np.ones((5, 1)), norm=0.9), "norm=0.9"),
        (lambda: empirical_rademacher("precomputed", np.ones((5, 4, 2))), "square"),
        (lambda: empirical_rademacher("precomputed", np.ones((5, 4))), "precomputed"),
        (lambda: empirical_rademacher("precomputed", -np.eye(5)[:, :, None]), "semi-definite|diagonal"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
