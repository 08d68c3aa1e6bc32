"""Rates of convergence against runs of the algorithms, and the bounds that others had."""

from math import e, inf, log, sqrt

import numpy as np
import pytest

from manykernels.bounds import (
    greedy_bound,
    lanckriet_bound,
    lanckriet_spectral_bound,
    mirror_descent,
    rademacher_bound_uniform,
    srebro_ben_david_bound,
    stochastic_gradient,
    ying_campbell_bound,
)


def ridge(seed=0, n=6, M=4):
    """J(θ), −∇J(θ) of ridge regression at C = 1 with kernels of rank two, and C ≥ ‖∇J‖₁ for all θ."""
    rng = np.random.RandomState(seed)
    K = np.array([A @ A.T / 4 for A in rng.randn(M, n, 2)])
    y = rng.randn(n)

    def J(theta):
        alpha = np.linalg.solve(np.tensordot(theta, K, 1) + np.eye(n), y)
        return 0.5 * y @ alpha, 0.5 * np.einsum("i,mij,j->m", alpha, K, alpha)

    return J, 0.5 * np.linalg.eigvalsh(K.sum(axis=0))[-1] * float(y @ y), M  # ‖α‖ ≤ ‖y‖


def minimum(J, M):
    theta = np.full(M, M**-0.5)
    for _ in range(3000):
        theta = theta + 0.5 * J(theta)[1]
        theta /= max(1.0, np.linalg.norm(theta))
    return J(theta)[0]


@pytest.mark.parametrize("sampling", ["gradient", "uniform"])
def test_stochastic_gradient_descent_keeps_its_bound(sampling):
    """Afkanpour 2013, Alg. 2 from its definition: one kernel a step, the mean of the iterates."""
    J, C, M = ridge()
    T, rng, lowest = 30, np.random.RandomState(0), minimum(*ridge()[::2])
    ratio = 1.0 if sampling == "gradient" else float(M)
    bound = stochastic_gradient(T, gradient=C, ratio=ratio, epsilon=0.05)
    plain = stochastic_gradient(T, gradient=C, ratio=ratio)
    gaps = []
    for _ in range(100):
        theta, total = np.zeros(M), np.zeros(M)
        for _ in range(T):
            total += theta
            g = J(theta)[1]
            p = g / g.sum() if sampling == "gradient" else np.full(M, 1 / M)
            z = rng.choice(M, p=p)
            theta[z] += plain.step * g[z] / p[z]
            theta /= max(1.0, np.linalg.norm(theta))
        gaps.append(J(total / T)[0] - lowest)
    assert 0 <= np.mean(gaps) <= plain.expected
    assert max(gaps) <= bound.tail and plain.tail is None
    assert plain.expected == pytest.approx(C * sqrt(ratio / T))
    assert plain.step == pytest.approx(1 / (C * sqrt(ratio * T)))


def test_the_half_in_corollary_4_3_is_wrong():
    """J(θ) = −Cθ with one kernel: after one step the mean of the iterates is 0, and the gap is C."""
    C = 3.0
    found = stochastic_gradient(1, gradient=C)
    assert found.expected == pytest.approx(C) and sqrt(0.5 * C**2 / 1) < C


def test_the_tail_of_theorem_4_1_takes_the_diameter():
    """Its proof has ½‖θ − θ*‖² ≤ Ψ(θ) − Ψ(θ*), which fails for two unit vectors; √2 is their distance."""
    free = mirror_descent(50, B=2.0, delta=0.5, epsilon=0.1)
    ball = mirror_descent(50, B=2.0, delta=0.5, epsilon=0.1, diameter=sqrt(2.0))
    printed = 4 * sqrt(2.0 * 0.5 * log(10) / 50)
    assert free.tail - free.expected == pytest.approx(2 * printed)
    assert ball.tail - ball.expected == pytest.approx(sqrt(2) * printed)
    assert mirror_descent(50, B=2.0, delta=0.5, alpha=4.0).expected == pytest.approx(free.expected / 2)
    assert mirror_descent(5, B=0.0, delta=0.5).expected == 0.0


@pytest.mark.parametrize("error", [0.0, 0.05])
@pytest.mark.parametrize("line_search", [False, True])
def test_greedy_descent_keeps_its_bound_at_every_step(error, line_search):
    """½‖Σθ_z K_z − T‖² over the simplex; with `error` the worst kernel that may be taken is."""
    for seed in range(5):
        rng = np.random.RandomState(seed)
        V, T = rng.randn(8, 5), 0.5 * rng.randn(5)
        curvature = max(np.sum((v - w) ** 2) for v in V for w in V)
        slack, theta, gaps = error * curvature, np.eye(8)[0], []
        for k in range(1, 60):
            slopes = -V @ (V.T @ theta - T)
            allowed = np.flatnonzero(slopes >= slopes.max() - slack)
            z = allowed[np.argmin(slopes[allowed])]
            step = V[z] - V.T @ theta
            eta = 2 / (k + 1)
            if line_search and step @ step > 0:
                eta = np.clip(step @ (T - V.T @ theta) / (step @ step), 0, 1)
            theta = (1 - eta) * theta + eta * np.eye(8)[z]
            gaps.append(0.5 * np.sum((V.T @ theta - T) ** 2))
        bounds = [greedy_bound(k, curvature=curvature, error=slack) for k in range(1, 60)]
        assert np.all(np.array(gaps) - _lowest(V, T) <= np.array(bounds))


def _lowest(V, T):
    """Just below the minimum, by exponentiated gradients."""
    theta = np.full(8, 1 / 8)
    for _ in range(4000):
        slopes = -V @ (V.T @ theta - T)
        theta = theta * np.exp(0.05 * (slopes - slopes.max()))
        theta /= theta.sum()
    return 0.5 * np.sum((V.T @ theta - T) ** 2) - 1e-6


# -- what others had -----------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [10, 1000])
def test_what_figure_2_1_says(p):
    """ρ/R = 0.2: the bound by the pseudo-dimension is above 1 up to 15 million samples; ours is not."""
    for n in (10**3, 10**5, 15 * 10**6):
        assert srebro_ben_david_bound(n, p, R=1.0, margin=0.2) > 1
    assert 2 / 0.2 * rademacher_bound_uniform(1.0, p, 15 * 10**6) < 0.02
    assert srebro_ben_david_bound(10**12, p, R=1.0, margin=0.2) < 0.1


def test_the_expression_of_srebro_and_ben_david():
    n, p, R, rho = 10**6, 7, 2.0, 0.5
    inside = 2 + p * log(128 * e * n**3 * R**2 / (rho**2 * p))
    inside += 256 * R**2 / rho**2 * log(rho * e * n / (8 * R)) * log(128 * n * R**2 / rho**2)
    assert srebro_ben_david_bound(n, p, R=R, margin=rho) == pytest.approx(sqrt(8 * inside / n))
    with_delta = srebro_ben_david_bound(n, p, R=R, margin=rho, delta=0.01)
    assert with_delta == pytest.approx(sqrt(8 * (inside + log(100)) / n))
    assert srebro_ben_david_bound(2, p, R=R, margin=rho) == inf


def test_how_the_others_grow_with_the_number_of_kernels():
    """Multiplied by p, by p and a logarithm, and by log p."""

    def growth(bound):
        return bound(1000) / bound(10)

    at = {"R": 1.0, "margin": 0.2}
    assert growth(lambda p: lanckriet_bound(500, p, **at)) == pytest.approx(10)
    assert growth(lambda p: ying_campbell_bound(500, p, **at)) == pytest.approx(10)
    assert growth(lambda p: rademacher_bound_uniform(1.0, p, 500)) < 2
    assert ying_campbell_bound(500, 3, **at) == pytest.approx(lanckriet_bound(500, 3, **at) * sqrt(log(500)))


def test_the_spectral_bound():
    K = [np.eye(4), np.ones((4, 4))]
    norms = [np.linalg.eigvalsh(A)[-1] for A in K]
    found = lanckriet_spectral_bound([np.trace(A) for A in K], norms, 4, margin=0.5)
    assert found == pytest.approx(sqrt(4.0 * 1.0 / 4) / 0.5)
    with pytest.raises(ValueError, match="tr K/n"):
        lanckriet_spectral_bound([4.0], [5.0], 4, margin=0.5)
    with pytest.raises(ValueError, match="one of each"):
        lanckriet_spectral_bound([4.0, 1.0], [3.0], 4, margin=0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mirror_descent(0, B=1.0, delta=1.0), "T=0"),
        (lambda: mirror_descent(5, B=-1.0, delta=1.0), "B=-1.0"),
        (lambda: mirror_descent(5, B=1.0, delta=1.0, alpha=0.0), "alpha=0.0"),
        (lambda: mirror_descent(5, B=1.0, delta=1.0, epsilon=0.0), "epsilon=0.0"),
        (lambda: stochastic_gradient(5, gradient=1.0, ratio=0.5), "at least 1"),
        (lambda: greedy_bound(0, curvature=1.0), "k=0"),
        (lambda: greedy_bound(5, curvature=np.nan), "curvature=nan"),
        (lambda: lanckriet_bound(5, 0, R=1.0, margin=1.0), "n_kernels=0"),
        (lambda: srebro_ben_david_bound(5, 1, R=1.0, margin=0.0), "margin=0.0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
