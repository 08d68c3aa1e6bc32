"""Exponential weights, and what the draws of a batch are worth (Afkanpour 2013, §4.2)."""

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.exceptions import ConvergenceWarning
from tests.helpers import problem, risk_of, told

from manykernels import MKLRegressor
from manykernels.families import ARDGaussians, Gaussians, Products
from manykernels.grams import StackGram
from manykernels.losses import Hinge, Squared
from manykernels.oracles import FiniteOracle, build_oracle
from manykernels.oracles._proposals import draw_normal
from manykernels.oracles.descent import EntropicIterate
from manykernels.penalties import LpBall, Simplex
from manykernels.penalties.steps import Steps
from manykernels.solvers import ActiveSet, Stochastic


def entropic(seed=0, n=30, M=6, loss=None, C=3.0):
    stack, labels, targets = problem(seed, n, M=M)
    return StackGram(stack), risk_of(loss or Squared(), labels, targets, C)


# -- the entropy ----------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
def test_exponential_weights_converge_with_a_certificate(loss):
    gram, risk = entropic(loss=loss)
    best = ActiveSet().run(gram, risk, Simplex(), told(1e-8, 500))
    found = Stochastic(potential="entropy", batch=16).run(gram, risk, Simplex(), told(2e-2, 2000))
    assert found.converged and found.certified
    assert found.dual <= best.primal * (1 + 1e-7) and best.dual <= found.primal * (1 + 1e-7)
    assert found.weights.sum() == pytest.approx(1.0) and found.weights.min() >= 0.0


@pytest.mark.parametrize("sizes", [0.3, 6.0])
def test_the_bookkeeping_is_that_of_dense_exponential_weights(sizes):
    """θ ← θ exp(−ηg)/Z, and the average of all iterates; large steps put w back to scale on the way."""
    gram, _ = entropic(1, n=12, M=8)
    iterate, rng = EntropicIterate(FiniteOracle(gram)), np.random.RandomState(0)
    theta, total, weight = np.full(8, 1 / 8), np.zeros(8), 0.0
    np.testing.assert_allclose(iterate.weights(), theta)
    for k in range(60):
        iterate.count(k + 1.0)
        total, weight = total + (k + 1.0) * theta, weight + k + 1.0
        atoms = rng.choice(8, 3, replace=False).tolist()
        g = -rng.uniform(size=3)
        iterate.step(atoms, g, sizes)
        theta[atoms] *= np.exp(-sizes * g)
        theta /= theta.sum()
    average, K = iterate.average()
    np.testing.assert_allclose(iterate.weights(), theta, atol=1e-12)
    np.testing.assert_allclose(iterate.s * iterate.K, gram.combine(theta), atol=1e-9)
    np.testing.assert_allclose(average, total / weight, atol=1e-10)
    np.testing.assert_allclose(K, gram.combine(total / weight), atol=1e-9)


def test_the_theorem_for_the_entropy():
    """E J(mean) − min J ≤ √(2B log M/T): α = 1 in ‖·‖₁, δ = log M, B the square of the largest entry."""
    gram, risk = entropic(2, n=20, M=12)
    best = ActiveSet().run(gram, risk, Simplex(), told(1e-8, 500)).primal
    T, excess, B = 150, [], 0.0
    for seed in range(4):
        iterate, steps = EntropicIterate(FiniteOracle(gram)), Steps("theorem", Simplex(), 1.0, 12, T)
        rng = np.random.RandomState(seed)
        for _ in range(T):
            fit = risk.solve(iterate.s * iterate.K, risk.zeros(), 1e-8)
            iterate.count(1.0)
            atoms, g, ratio = Stochastic(batch=1).estimate(iterate.oracle, fit.alpha, rng)
            iterate.step(atoms, g, steps.next(g, ratio))
        B = max(B, steps.B)
        excess.append(risk.machine_value(risk.solve(iterate.average()[1], risk.zeros(), 1e-8)) - best)
    assert -1e-6 <= np.mean(excess) <= np.sqrt(2 * B * np.log(12) / T)


def test_steps_that_would_overflow_are_cut():
    gram, risk = entropic(3)
    found = Stochastic(potential="entropy", step=1e6, batch=4).run(gram, risk, Simplex(), told(0.0, 30))
    assert np.isfinite(found.primal) and found.weights.sum() == pytest.approx(1.0)


def test_what_the_entropy_is_for():
    """Norm 1 and kernels that can be listed; a short family of products is."""
    X = np.random.RandomState(0).randn(40, 4)
    y = X[:, 0] * X[:, 1]
    solver = Stochastic(potential="entropy")
    model = MKLRegressor(Products(degree=2), solver=solver, tol=0.05, max_iter=500, random_state=0).fit(X, y)
    assert model.certified_ and model.dual_gap_ <= 0.05
    with pytest.raises(ValueError, match="needs norm=1 for potential='entropy'"):
        MKLRegressor(Products(degree=2), norm=2, solver=solver).fit(X, y)
    with pytest.raises(ValueError, match="infinitely many"):
        MKLRegressor(Gaussians(0.5, 5.0), solver=solver).fit(X, y)


# -- draws that count -----------------------------------------------------------------------------
def test_draws_by_the_gradient_all_count_and_uniform_ones_do_not():
    gram, risk = entropic(4, M=40)
    exact = Stochastic(batch=32).run(gram, risk, LpBall(2.0), told(0.0, 8))
    uniform = Stochastic("uniform", batch=32).run(gram, risk, LpBall(2.0), told(0.0, 8))
    assert exact.history.effective == pytest.approx([32.0] * 4)
    assert max(uniform.history.effective) < 31.0 and min(uniform.history.effective) >= 1.0
    assert len(exact.history.as_dict()["effective_draws"]) == len(exact.history.gap)
    assert "effective_draws" not in ActiveSet().run(gram, risk, LpBall(2.0), told(1e-2, 50)).history.as_dict()


@pytest.mark.parametrize("spread", [0.2, 1.0, 3.0])
def test_the_density_of_draws_of_any_spread(spread):
    low, high, mean = np.array([0.5]), np.array([4.0]), 1.2
    sigma, density = draw_normal(np.full((4000, 1), mean), low, high, np.random.RandomState(0), spread)
    assert low[0] <= sigma.min() and sigma.max() <= high[0]
    d = spread * mean

    def bell(x):
        return np.exp(-0.5 * ((x - mean) / d) ** 2)

    mass = quad(bell, 0.5, 4.0)[0]
    np.testing.assert_allclose(density, bell(sigma[:, 0]) / mass, rtol=1e-8)
    below = quad(bell, 0.5, 1.0)[0] / mass
    assert np.mean(sigma < 1.0) == pytest.approx(below, abs=0.03)


@pytest.mark.parametrize("spread", [0.5, 1.0, 2.0])
def test_estimates_are_unbiased_whatever_the_spread(spread):
    """The mean over draws of q_σ/s_σ is ∫ q_σ dσ; a width for each of two features."""
    X = np.random.RandomState(0).randn(15, 2)
    A = np.random.RandomState(1).randn(15, 1)
    oracle = build_oracle(ARDGaussians(0.8, 1.6), X, normalize=None)
    at = 0.8 + 0.8 * (np.arange(12) + 0.5) / 12
    total = oracle.quad(A, [(a, b) for a in at for b in at]).mean() * 0.8**2
    draws = oracle.sample(A, 800, np.random.RandomState(2), spread=spread)
    ratio = oracle.quad(A, draws.atoms) / draws.probabilities
    assert ratio.mean() == pytest.approx(total, abs=4 * ratio.std() / np.sqrt(800) + 0.01 * total)


def test_draws_of_which_few_count_are_said_to_be():
    rng = np.random.RandomState(0)
    X = rng.randn(40, 2)
    y = X[:, 0] + 0.1 * rng.randn(40)

    def fitted(spread):
        solver = Stochastic(spread=spread)
        return MKLRegressor(Gaussians(0.3, 30.0), norm=2, solver=solver, max_iter=2, random_state=0).fit(X, y)

    with pytest.warns(ConvergenceWarning, match=r"of 128 kernels drawn in a step, .* count"):
        narrow = fitted(0.05)
    assert narrow.history_["effective_draws"][-1] < 6.4 and not narrow.certified_
    assert fitted(3.0).history_["effective_draws"][-1] > 20
