"""min_{v ≥ 0} ½vᵀGv − cᵀv: the conditions of its optimum, then three solvers that know nothing of ours."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import lapack
from scipy.optimize import minimize
from scipy.optimize import nnls as scipy_nnls

from manykernels._fast.nnls import _factored, nnls


def problem(seed, M=8, d=30, kind="random", signed=False):
    """Columns B of norm one and a target t of norm one, with ‖Bv − t‖² = vᵀGv − 2cᵀv + 1."""
    rng = np.random.RandomState(seed)
    B = rng.randn(d, M) if signed else np.abs(rng.randn(d, M))
    if kind == "duplicates":
        B = B[:, rng.randint(M, size=M + 4)]
    elif kind == "dependent":
        B = np.c_[B, B @ np.abs(rng.randn(M, 3)), B @ rng.randn(M, 2)]
    elif isinstance(kind, float):  # dependent but for that much
        copies, sums = B[:, rng.randint(M, size=3)], B @ np.abs(rng.randn(M, 2))
        B = np.c_[B, copies + kind * rng.randn(d, 3), sums + kind * rng.randn(d, 2)]
        B = B[:, rng.permutation(B.shape[1])]
    elif kind == "low rank":
        B = B[:, :3] @ np.abs(rng.randn(min(3, M), M))
    elif kind == "orthogonal target":
        B = np.r_[B, np.zeros((1, M))]
        B[:, : M // 2] = 0.0
        B[-1, : M // 2] = 1.0
    B = B / np.linalg.norm(B, axis=0)
    t = np.abs(rng.randn(len(B)))
    if kind == "orthogonal target":
        t[-1] = 0.0  # c is zero for half of the columns
    return B, t / np.linalg.norm(t)


def normal(B, t):
    G = B.T @ B
    np.fill_diagonal(G, 1.0)
    return G, B.T @ t


def assert_optimal(G, c, v):
    """v ≥ 0, w = c − Gv ≤ 0 and vᵀw = 0, up to the rounding of Gv, whose terms can be larger than |c| ≤ 1."""
    w, tol = c - G @ v, 1e-12 * (1.0 + np.max(np.abs(G) @ v))
    assert np.all(v >= 0.0)
    assert w.max() <= tol
    assert np.abs(w[v > 0]).max(initial=0.0) <= tol


KINDS = ["random", "duplicates", "dependent", "low rank", "orthogonal target", 1e-5, 1e-6, 1e-7, 1e-8]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("signed", [False, True])
def test_conditions_of_the_optimum_and_scipys_solution(kind, signed):
    for seed in range(40):
        B, t = problem(seed, M=3 + seed % 12, kind=kind, signed=signed)
        G, c = normal(B, t)
        v = nnls(G, c)
        assert_optimal(G, c, v)
        residual = scipy_nnls(B, t, maxiter=10_000)[1]
        assert np.linalg.norm(B @ v - t) <= residual + 1e-13


@pytest.mark.parametrize("kind", ["random", "duplicates", "dependent"])
@pytest.mark.parametrize("seed", range(3))
def test_against_cvxpy(kind, seed):
    B, t = problem(seed, kind=kind)
    v = cp.Variable(B.shape[1], nonneg=True)
    best = optimal_value(cp.Problem(cp.Minimize(cp.sum_squares(B @ v - t))), 1e-11)
    found = nnls(*normal(B, t))
    assert np.sum((B @ found - t) ** 2) == pytest.approx(best, abs=1e-8)
    np.testing.assert_allclose(B @ found, B @ v.value, atol=1e-4)  # unique, where v is not


@pytest.mark.parametrize("seed", range(3))
def test_against_a_descent_with_bounds(seed):
    G, c = normal(*problem(seed, M=6))
    found = minimize(
        lambda v: 0.5 * v @ G @ v - c @ v,
        np.full(6, 0.1),
        jac=lambda v: G @ v - c,
        bounds=[(0.0, None)] * 6,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-12},
    )
    np.testing.assert_allclose(nnls(G, c), found.x, atol=1e-5)


@given(
    st.integers(0, 10_000),
    st.integers(1, 12),
    st.sampled_from(KINDS),
    st.booleans(),
)
def test_conditions_of_the_optimum_on_anything(seed, M, kind, signed):
    G, c = normal(*problem(seed, M=M, kind=kind, signed=signed))
    assert_optimal(G, c, nnls(G, c))


def test_by_enumeration():
    """The best of all 2^M sets of free indices."""
    for seed in range(5):
        G, c = normal(*problem(seed, M=6, d=8))
        best = 0.0
        for code in range(1, 2**6):
            part = np.flatnonzero([code >> m & 1 for m in range(6)])
            v = np.linalg.solve(G[np.ix_(part, part)], c[part])
            if np.all(v >= 0):
                best = min(best, -0.5 * float(c[part] @ v))
        v = nnls(G, c)
        assert 0.5 * v @ G @ v - c @ v == pytest.approx(best, abs=1e-14)


@pytest.mark.parametrize("kind", ["random", "duplicates", 1e-7])
def test_500_kernels(kind):
    B, t = problem(0, M=500, d=800, kind=kind)
    G, c = normal(B, t)
    v = nnls(G, c)
    assert_optimal(G, c, v)
    assert np.linalg.norm(B @ v - t) <= scipy_nnls(B, t, maxiter=10_000)[1] + 1e-12


@pytest.fixture
def calls(monkeypatch):
    """The names of LAPACK's routines, as they are called."""
    names = []

    class Counting:
        def __getattr__(self, name):
            names.append(name)
            return getattr(lapack, name)

    monkeypatch.setattr("manykernels._fast.nnls.lapack", Counting())
    return names


def test_dependent_kernels_are_found_together(calls):
    """One factorisation each would take the time of hundreds where many features are the same."""
    B, t = problem(0, M=150, d=400, kind="random")
    B = np.repeat(B, 2, axis=1) + 0.0
    G, c = normal(B, t)
    v = nnls(G, c)
    assert_optimal(G, c, v)
    assert np.count_nonzero(v) > 20 and calls.count("dpotrf") < 20


def test_many_that_are_fixed_share_a_factorisation(calls):
    """From far away: a factorisation for each of those that reach zero would take O(k³) for each."""
    B, t = problem(0, M=200, d=300, signed=True)
    G, c = normal(B, t)
    v = nnls(G, c, np.full(200, 0.1))
    assert_optimal(G, c, v)
    assert np.count_nonzero(v == 0.0) > 60 and calls.count("dpotrf") < 12


@pytest.mark.parametrize("kind", ["random", "dependent", 1e-5, 1e-7])
@pytest.mark.parametrize("changes", [0, 3, 50])
def test_free_indices_that_come_and_go(kind, changes):
    """Whatever became free or was fixed since the factorisation, the solution is that on what is free now."""
    rng = np.random.RandomState(1)
    G, c = normal(*problem(2, M=20, d=40, kind=kind, signed=True))
    free = _factored(G, c, np.arange(12), changes)
    for _ in range(40):
        free = free.toggle(rng.permutation(c.size)[: rng.randint(1, 4)])
        part = free.indices
        assert part.size == np.unique(part).size and np.all(np.flatnonzero(free.mask) == np.sort(part))
        assert free.toggled.size <= changes
        for solution, b in [(free.solution(), c), (free.solve(G[:, 3]), G[:, 3])]:
            assert np.all(solution[~free.mask] == 0.0)
            np.testing.assert_allclose((G @ solution)[part], b[part], atol=1e-9)


def test_500_smooth_kernels():
    """Gaussians of neighbouring widths, each of them in the span of a few others but for rounding."""
    x = np.linspace(-1.0, 1.0, 30)
    K = np.exp(-np.logspace(-2, 2, 500)[:, None] * ((x[:, None] - x) ** 2).ravel())
    K -= K.mean(axis=1, keepdims=True)
    t = np.sign(np.outer(x, x)).ravel()
    B, t = (K / np.linalg.norm(K, axis=1, keepdims=True)).T, t / np.linalg.norm(t)
    G, c = normal(B, t)
    assert_optimal(G, c, nnls(G, c))


def test_one_kernel_and_none_that_helps():
    np.testing.assert_array_equal(nnls(np.eye(1), np.array([0.3])), [0.3])
    np.testing.assert_array_equal(nnls(np.eye(1), np.array([-0.3])), [0.0])
    np.testing.assert_array_equal(nnls(np.eye(3), np.zeros(3)), np.zeros(3))
    np.testing.assert_array_equal(nnls(np.ones((3, 3)), -np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(nnls(np.eye(3), np.array([0.0, 0.5, 0.0])), [0.0, 0.5, 0.0])


def test_duplicates_of_one_kernel():
    v = nnls(np.ones((4, 4)), np.full(4, 0.6))
    assert v.sum() == pytest.approx(0.6, abs=1e-15) and np.all(v >= 0)


@given(st.integers(0, 1000), st.sampled_from(["random", "duplicates", "dependent", 1e-7]))
def test_the_order_of_kernels_does_not_matter(seed, kind):
    B, t = problem(seed, kind=kind)
    order = np.random.RandomState(seed).permutation(B.shape[1])
    v, u = nnls(*normal(B, t)), nnls(*normal(B[:, order], t))
    np.testing.assert_allclose(B @ v, B[:, order] @ u, atol=1e-12)


def test_what_it_is_given_stays_as_it_was():
    G, c = normal(*problem(0))
    before = G.copy(), c.copy()
    nnls(G, c)
    np.testing.assert_array_equal(G, before[0])
    np.testing.assert_array_equal(c, before[1])


def test_a_step_smaller_than_the_rounding_of_the_objective_is_taken():
    """The objective is −½ and falls by 5e-19: as a difference of values that is nothing."""
    v = nnls(np.eye(2), np.array([1.0, 1e-9]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(v, [1.0, 1e-9], rtol=1e-12)
