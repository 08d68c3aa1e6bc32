"""A risk that is no sum of losses: one file outside of the package, solved and certified as any other."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from tests.helpers import problem, run
from tests.objectives.correlated import Correlated

from manykernels.grams import StackGram
from manykernels.grams.features import FeatureGram
from manykernels.losses import Squared
from manykernels.objectives import Risk, Separable
from manykernels.penalties import ElasticNet, LpBall, Simplex
from manykernels.solvers import ActiveSet, Alternating, Blockwise, Corrective, Greedy

each_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])


def noise(n, seed=0):
    """M, the inverse of a covariance that falls with the distance between samples."""
    sizes = np.random.RandomState(seed).uniform(0.3, 1.0, n)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n))
    return np.linalg.inv(np.outer(sizes, sizes) * np.exp(-0.4 * distance))


def setting(fit_intercept, n=40):
    stack, _, targets = problem(1, n)
    return stack, Correlated(targets + 2.0, noise(n), fit_intercept)


def reference(stack, risk, penalty):
    """min P by cvxpy."""
    roots = [root(K) for K in stack]
    w = [cp.Variable(L.shape[1]) for L in roots]
    f = sum(L @ v for L, v in zip(roots, w, strict=True)) + (cp.Variable() if risk.fit_intercept else 0.0)
    norms = [cp.norm(v) for v in w]
    if isinstance(penalty, ElasticNet):
        lam = penalty.lam
        size = sum(0.5 * lam * cp.sum_squares(v) + (1 - lam) * a for v, a in zip(w, norms, strict=True))
    else:
        size = 0.5 * cp.square(cp.pnorm(cp.hstack(norms), 2 * penalty.p / (penalty.p + 1)))
    half = np.linalg.cholesky(risk.M).T
    return optimal_value(
        cp.Problem(cp.Minimize(size + 0.5 * cp.sum_squares(half @ (risk.y[:, 0] - f)))), 1e-10
    )


@each_intercept
@pytest.mark.parametrize("penalty", [Simplex(), LpBall(2.0), ElasticNet(0.4)], ids=repr)
@pytest.mark.parametrize(
    ("solver", "tol"),
    [(ActiveSet(), 1e-8), (ActiveSet(warm_size=8), 1e-8), (Alternating(), 1e-4), (Corrective(), 1e-7)],
    ids=["active set", "warm", "alternating", "corrective"],
)
def test_solvers_reach_the_optimum_and_prove_it(solver, tol, penalty, fit_intercept):
    if isinstance(solver, Corrective) and not isinstance(penalty, Simplex):
        pytest.skip("it is for norm 1")
    stack, risk = setting(fit_intercept)
    optimum = reference(stack, risk, penalty)
    result = run(solver, stack, risk, penalty, tol, 5000)
    assert result.certified and result.gap <= tol
    assert result.dual <= optimum * (1 + 1e-8) and result.primal == pytest.approx(
        optimum, rel=max(2 * tol, 1e-7)
    )
    f = np.einsum("m,mij,jk->ik", result.weights, stack, result.alpha) + result.intercept
    q = np.einsum("ik,mij,jk->m", result.alpha, stack, result.alpha)
    P = 0.5 * penalty.group_norm(result.weights * np.sqrt(np.maximum(q, 0.0))) + risk.value(f)
    assert P == pytest.approx(result.primal, rel=1e-9)
    if tol < 1e-6:  # α = M(y − f), and Σα = 0
        np.testing.assert_allclose(result.alpha, risk.M @ (risk.y - f), atol=1e-2)
        assert not fit_intercept or abs(result.alpha.sum()) <= 1e-9 * np.abs(result.alpha).sum()


def test_frank_wolfe_takes_it_too():
    stack, risk = setting(True)
    result = run(Greedy(), stack, risk, Simplex(), 1e-2, 2000)
    assert result.gap <= 1e-2
    assert result.primal == pytest.approx(reference(stack, risk, Simplex()), rel=1.1e-2)


@each_intercept
def test_independent_noise_is_least_squares(fit_intercept):
    stack, _, targets = problem(1, 40)
    C = np.random.RandomState(2).uniform(0.3, 3.0, targets.shape)
    ours = run(ActiveSet(), stack, Correlated(targets, np.diag(C[:, 0]), fit_intercept), Simplex(), 1e-9)
    sums = run(ActiveSet(), stack, Separable(Squared(), targets, C, fit_intercept), Simplex(), 1e-9)
    assert ours.primal == pytest.approx(sums.primal, rel=1e-8)
    np.testing.assert_allclose(ours.weights, sums.weights, atol=1e-4)


@each_intercept
def test_the_dual_is_below_every_primal(fit_intercept):
    stack, risk = setting(fit_intercept, 15)
    penalty, rng = LpBall(2.0), np.random.RandomState(0)
    duals, primals = [], []
    for _ in range(20):
        alpha = risk.feasible(10 ** rng.uniform(-2, 1) * rng.randn(15, 1))
        q = np.einsum("ik,mij,jk->m", alpha, stack, alpha)
        duals.append(risk.dual(alpha, q, penalty, 0.0))
        theta = penalty.closed_form(rng.uniform(size=4))
        f = np.einsum("m,mij,jk->ik", theta, stack, alpha) + (rng.randn() if fit_intercept else 0.0)
        primals.append(0.5 * (theta @ q) + risk.value(f))
        off = rng.uniform(0.0, 0.1, f.shape)
        assert risk.value(f + off * rng.choice([-1.0, 1.0], f.shape)) <= risk.worst(f, off)
    assert max(duals) <= min(primals)
    constant, steps = np.full((15, 1), risk.constant()), (-1e-4, 0.0, 1e-4) if fit_intercept else (0.0,)
    assert risk.constant_value() <= min(risk.value(constant + step) for step in steps) + 1e-12


def test_what_a_risk_cannot_do_is_said():
    stack, risk = setting(True)
    with pytest.raises(ValueError, match="is for loss='squared', and Correlated was given"):
        run(Blockwise(), StackGram(stack), risk, LpBall(2.0))
    with pytest.raises(TypeError, match="Correlated was given with explicit features"):
        run(ActiveSet(), FeatureGram(np.eye(40), np.array([0, 20, 40])), risk, Simplex())
    with pytest.raises(TypeError, match="abstract"):
        Risk()
