"""Laws that hold on random stacks of positive semi-definite kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.helpers import LOSSES, primal_of, risk_of, run

from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import ActiveSet

seeds = st.integers(0, 100_000)
losses = st.sampled_from(LOSSES)
penalties = st.sampled_from([Simplex(), LpBall(4 / 3), LpBall(2.0), L2Ball(0.3, 0.7), ElasticNet(0.4)])
smooth_balls = st.sampled_from([LpBall(4 / 3), LpBall(2.0), LpBall(4.0)])
few = settings(max_examples=20)


def random_problem(seed, n=None, M=None):
    """Wishart kernels of any rank, unit mean diagonal, with random labels and targets."""
    rng = np.random.RandomState(seed)
    n, M = n or rng.randint(4, 16), M or rng.randint(1, 7)
    stack = []
    for _ in range(M):
        F = rng.randn(n, rng.randint(1, n + 1))
        stack.append(F @ F.T * n / np.sum(F * F))
    labels = rng.choice([-1.0, 1.0], (n, 1))
    labels[:2, 0] = [-1.0, 1.0]
    return np.array(stack), labels, rng.randn(n, 1), 10 ** rng.uniform(-2, 2)


@settings(max_examples=60)
@given(
    seed=seeds,
    loss=losses,
    penalty=penalties,
    fit_intercept=st.booleans(),
    max_iter=st.sampled_from([1, 3, 500]),
)
def test_the_gap_is_a_certificate(seed, loss, penalty, fit_intercept, max_iter):
    """gap ≥ 0, P is what it says, and D is below P of any other point: here of the converged one."""
    stack, labels, targets, C = random_problem(seed)
    risk = risk_of(loss, labels, targets, C, fit_intercept)
    result = run(ActiveSet(), stack, risk, penalty, tol=1e-5, max_iter=max_iter)
    best = run(ActiveSet(), stack, risk, penalty, tol=1e-5)
    assert best.converged and best.gap <= 1e-5
    assert result.gap >= 0.0 and result.converged == (result.gap <= 1e-5)
    assert result.dual <= best.primal * (1 + 1e-9) + 1e-12
    again = primal_of(stack, risk, penalty, result.weights, result.alpha, result.intercept)
    np.testing.assert_allclose(result.primal, again, rtol=1e-6, atol=1e-12)
    assert np.all(result.weights >= 0) and np.isfinite(penalty.value(result.weights))


@few
@given(seed=seeds, loss=losses, penalty=penalties)
def test_permuting_kernels_permutes_weights(seed, loss, penalty):
    stack, labels, targets, C = random_problem(seed, M=5)
    risk = risk_of(loss, labels, targets, C)
    order = np.random.RandomState(seed).permutation(5)
    a, b = (run(ActiveSet(), s, risk, penalty, tol=1e-8) for s in (stack, stack[order]))
    np.testing.assert_allclose(a.primal, b.primal, rtol=2e-8)
    if not penalty.sparse:
        np.testing.assert_allclose(a.weights[order], b.weights, atol=2e-3)


@few
@given(
    seed=seeds,
    loss=losses,
    penalty=st.sampled_from([Simplex(), LpBall(4 / 3), LpBall(2.0)]),
    c=st.floats(0.05, 20),
)
def test_scaling_kernels_is_scaling_the_cost(seed, loss, penalty, c):
    """½‖w‖²/c + C·loss = (½‖w‖² + cC·loss)/c: cK at C has P/c of K at cC, and the same θ."""
    stack, labels, targets, C = random_problem(seed)
    a = run(ActiveSet(), c * stack, risk_of(loss, labels, targets, C), penalty, tol=1e-8)
    b = run(ActiveSet(), stack, risk_of(loss, labels, targets, c * C), penalty, tol=1e-8)
    np.testing.assert_allclose(c * a.primal, b.primal, rtol=2e-8)
    if not penalty.sparse:
        np.testing.assert_allclose(a.weights, b.weights, atol=2e-3)


@few
@given(seed=seeds, s=st.floats(1e-3, 1e3), penalty=penalties)
def test_scaling_targets(seed, s, penalty):
    """Squared loss: P grows as s² (sets only; the elastic net has a scale of its own)."""
    if isinstance(penalty, ElasticNet):
        return
    stack, labels, targets, C = random_problem(seed)
    a, b = (
        run(ActiveSet(), stack, risk_of(Squared(), labels, t, C), penalty, tol=1e-8)
        for t in (targets, s * targets)
    )
    np.testing.assert_allclose(s * s * a.primal, b.primal, rtol=2e-8)


@few
@given(
    seed=seeds,
    loss=st.sampled_from([Hinge(), Logistic(), Squared(), EpsilonInsensitive(0.1)]),
    penalty=smooth_balls,
)
def test_duplicates_share_alike_for_p_above_one(seed, loss, penalty):
    """And two copies of weight t are one kernel of weight 2t, at the price ‖(t, t)‖_p = 2^{1/p} t."""
    stack, labels, targets, C = random_problem(seed, M=3)
    risk = risk_of(loss, labels, targets, C)
    twice = run(ActiveSet(), np.concatenate([stack, stack[:1]]), risk, penalty, tol=1e-9)
    np.testing.assert_allclose(twice.weights[0], twice.weights[3], atol=2e-3)
    grown = stack * np.array([2.0 ** (1.0 - 1.0 / penalty.p), 1.0, 1.0])[:, None, None]
    np.testing.assert_allclose(
        twice.primal, run(ActiveSet(), grown, risk, penalty, tol=1e-9).primal, rtol=1e-8
    )


@few
@given(seed=seeds, loss=st.sampled_from([Hinge(), Logistic(), Squared()]))
def test_only_the_total_of_duplicates_matters_at_p_one(seed, loss):
    stack, labels, targets, C = random_problem(seed, M=3)
    risk = risk_of(loss, labels, targets, C)
    once, twice = (
        run(ActiveSet(), s, risk, Simplex(), tol=1e-8) for s in (stack, np.concatenate([stack, stack]))
    )
    assert twice.converged
    np.testing.assert_allclose(once.primal, twice.primal, rtol=2e-8)
    folded = twice.weights[:3] + twice.weights[3:]
    mixed = run(ActiveSet(), np.einsum("m,mij->ij", folded, stack)[None], risk, Simplex(), tol=1e-9)
    np.testing.assert_allclose(mixed.primal, once.primal, rtol=1e-6)


@few
@given(seed=seeds, loss=losses)
def test_more_kernels_and_larger_sets_never_hurt(seed, loss):
    stack, labels, targets, C = random_problem(seed, M=4)
    risk = risk_of(loss, labels, targets, C)
    values = [
        run(ActiveSet(), stack, risk, p, tol=1e-7).primal for p in (Simplex(), LpBall(2.0), LpBall(np.inf))
    ]
    assert values[0] >= values[1] * (1 - 1e-6) and values[1] >= values[2] * (1 - 1e-6)
    fewer = run(ActiveSet(), stack[:3], risk, Simplex(), tol=1e-7).primal
    assert values[0] <= fewer * (1 + 1e-6)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_sample_costs_are_repetition(loss):
    stack, labels, targets, _ = random_problem(1, n=12, M=4)
    counts = np.random.RandomState(0).randint(1, 4, 12)
    rows = np.repeat(np.arange(12), counts)
    long = stack[:, rows[:, None], rows]
    a = run(ActiveSet(), stack, risk_of(loss, labels, targets, counts[:, None]), LpBall(2.0), tol=1e-9)
    b = run(ActiveSet(), long, risk_of(loss, labels[rows], targets[rows]), LpBall(2.0), tol=1e-9)
    np.testing.assert_allclose(a.primal, b.primal, rtol=1e-8)
    np.testing.assert_allclose(a.weights, b.weights, atol=1e-3)
