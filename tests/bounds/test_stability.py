"""Stability: the bound against LKRR solved twice, the lemmas of its proof, and what is wrong in print."""

from math import log, sqrt

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from manykernels import MKLClassifier, MKLRegressor
from manykernels.bounds import lkrr_range, lkrr_stability, lkrr_stability_of, stability_bound
from manykernels.kernels import Gaussian
from manykernels.losses import Squared
from manykernels.penalties import L2Ball, LpBall


def lkrr(G, I, y, lam0, mu0, radius):
    """LKRR fitted to the points I of the kernels G (N, N, p): its values at all N points."""
    model = MKLRegressor(
        "precomputed",
        norm=L2Ball(mu0=mu0, radius=radius),
        fit_intercept=False,
        normalize=None,
        C=1.0 / (lam0 * len(I)),
        tol=1e-9,
    ).fit(np.ascontiguousarray(G[np.ix_(I, I)]), y[I])
    return model.predict(np.ascontiguousarray(G[:, I]))


def a_problem(seed):
    """n points and two candidates for the last, with p kernels of few features; 3 points more to look at."""
    rng = np.random.RandomState(seed)
    n, p, D = rng.randint(1, 6), rng.randint(1, 5), rng.randint(1, 4)
    lam0, radius = 10 ** rng.uniform(-2, 1), 10 ** rng.uniform(-1, 1) * (rng.rand() < 0.8)
    mu0 = rng.uniform(0, 1, p) * (rng.rand() < 0.6 or radius == 0)
    Phi = rng.randn(p, n + 4, D) * 10 ** rng.uniform(-0.5, 0.5, (p, 1, 1))
    y = rng.randn(n + 4) * 10 ** rng.uniform(-1, 1, n + 4)
    return np.einsum("kid,kjd->ijk", Phi, Phi), y, n, lam0, mu0, radius


# -- the bound on |Δh| ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_sample_changes_predictions_by_less_than_the_bound():
    """M is measured as the proof uses it, on the replaced sample alone; anything larger is easier."""
    ratios = []
    for seed in range(150):
        G, y, n, lam0, mu0, radius = a_problem(seed)
        h = lkrr(G, np.arange(n), y, lam0, mu0, radius)
        other = lkrr(G, np.append(np.arange(n - 1), n), y, lam0, mu0, radius)
        d = np.einsum("iik->ik", G)
        bound = lkrr_stability(
            n,
            lam0=lam0,
            radius=radius,
            M=max(abs(h[n - 1] - y[n - 1]), abs(other[n] - y[n])),
            R0=np.linalg.norm(d, axis=1).max(),
            RA=sqrt((d @ mu0).max()),
        )
        ratios.append(np.abs(other - h).max() / (bound.beta_S + bound.beta_K))
        M = max(np.abs(h - y).max(), np.abs(other - y).max())
        whole = lkrr_stability(
            n, lam0=lam0, radius=radius, M=M, R0=np.linalg.norm(d, axis=1).max(), RA=sqrt((d @ mu0).max())
        )
        assert np.abs((other - y) ** 2 - (h - y) ** 2).max() <= whole.beta * (1 + 1e-6)
        a_priori = lkrr_range(
            np.abs(y).max(),
            lam0=lam0,
            radius=radius,
            R0=np.linalg.norm(d, axis=1).max(),
            RA=sqrt((d @ mu0).max()),
        )
        assert M <= a_priori
    assert max(ratios) <= 1 + 1e-6
    assert max(ratios) > 0.2  # it is not so loose that nothing could break it


def test_a_single_kernel_attains_the_bound():
    """Two opposite points and labels of one sign, n = 1: with λ₀ large, |Δh| tends to 2MR²/(λ₀n)."""
    lam0 = 1e4
    G = np.array([[1.0, -1.0], [-1.0, 1.0]])[:, :, None]
    y = np.array([1.0, 1.0])
    h, other = (lkrr(G, np.array([i]), y, lam0, np.ones(1), 0.0) for i in (0, 1))
    bound = lkrr_stability(1, lam0=lam0, radius=0.0, M=1.0, R0=1.0, RA=1.0)
    assert np.abs(other - h).max() == pytest.approx(bound.beta_S + bound.beta_K, rel=1e-3)


def test_smoothness_of_the_conjugate():
    """‖v + d‖²_{2,4} ≤ ‖v‖² + ⟨∇, d⟩ + 3‖d‖²: what makes Ω strongly convex. A constant of 2 would not do."""

    def square(v):
        return np.sum(np.sum(v**2, axis=1) ** 2) ** 0.5

    def gradient(v):
        return 2 * v * np.sum(v**2, axis=1, keepdims=True) / square(v)

    rng = np.random.RandomState(0)
    largest = 0.0
    for _ in range(3000):
        v = rng.randn(rng.randint(1, 12), rng.randint(1, 3))
        d = 10 ** rng.uniform(-3, 1) * rng.randn(*v.shape)
        if rng.rand() < 0.5:  # nearly the worst there is: growth in every other group
            v = np.ones_like(v)
            d = 1e-2 * np.where(np.arange(len(v)) % 2, 1.0, -1.0)[:, None] * v
        excess = square(v + d) - square(v) - np.sum(gradient(v) * d)
        largest = max(largest, excess / square(d))
    assert 2 < largest <= 3 + 1e-9


def test_the_group_norm_is_the_infimal_convolution():
    """Ω of the proof is the package's own group norm, (Σ a^{4/3})^{3/2}/Λ at μ₀ = 0, and Ω* its conjugate."""
    rng = np.random.RandomState(0)
    for _ in range(50):
        p = rng.randint(1, 6)
        a, v = rng.uniform(0, 2, p), rng.uniform(0, 2, p)
        mu0, radius = rng.uniform(0, 1, p), rng.uniform(0.1, 2)
        plain = L2Ball(0.0, radius).group_norm(a)
        assert plain == pytest.approx(np.sum(a ** (4 / 3)) ** 1.5 / radius)
        omega = L2Ball(mu0, radius).group_norm(a)
        conjugate = 0.25 * (mu0 @ v**2 + radius * np.sqrt(np.sum(v**4)))
        assert omega >= a @ v - conjugate - 1e-9
        best = 0.5 * v * (mu0 + radius * v**2 / np.linalg.norm(v**2))  # ∇Ω*(v)
        assert L2Ball(mu0, radius).group_norm(best) == pytest.approx(best @ v - conjugate)


# -- what is printed -----------------------------------------------------------------------------------


def test_theorem_2_2_is_wrong_with_the_smallest_eigenvalue():
    """One sample on the unit circle: S = {(a, 1)}, S' = {(a', 1)}, ⟨a, a'⟩ = 7/8, λ = λ₀ = 1/8, R = 1.

    At x* ∝ a' − a, labelled 0, h and h' are ∓2/9, which is also the largest residual M anywhere. So
    |Δh(x*)| = 4/9, and 2MR²/(λ_min(K') + λ) = 32/81 is less.
    """
    a, b = np.array([1.0, 0.0]), np.array([7 / 8, sqrt(15) / 8])
    points, y = np.array([a, b, (b - a) / np.linalg.norm(b - a)]), np.array([1.0, 1.0, 0.0])
    G = (points @ points.T)[:, :, None]
    h, other = (lkrr(G, np.array([i]), y, 1 / 8, np.ones(1), 0.0) for i in (0, 1))
    M = max(np.abs(h - y).max(), np.abs(other - y).max())
    assert M == pytest.approx(2 / 9)
    assert abs(other[2] - h[2]) == pytest.approx(4 / 9)
    assert abs(other[2] - h[2]) > 1.1 * 2 * M / (1 + 1 / 8)
    right = lkrr_stability(
        1, lam0=1 / 8, radius=0.0, M=M, R0=1.0, RA=1.0, method="thesis", n_kernels=1, orthogonal=True
    )
    assert abs(other[2] - h[2]) <= right.beta_S and right.beta_K == 0


def test_proposition_2_4_is_wrong_as_printed():
    """Weights and function change together: two kernels x_1 x'_1 and x_2 x'_2, Λ = 1, μ₀ = 0, all labels 1.

    There are 19 points (10, 10), and one that goes from (10, −10) to (−10, 10). λ₀ is so large that M ≈ 1.
    """
    n, R2, lam0 = 20, 100 * sqrt(2), 1e6
    points = np.array([[10.0, 10.0]] * (n - 1) + [[10.0, -10.0], [-10.0, 10.0]])
    y = np.ones(n + 1)
    G = np.einsum("ik,jk->ijk", points, points)
    h = lkrr(G, np.arange(n), y, lam0, 0.0, 1.0)
    other = lkrr(G, np.append(np.arange(n - 1), n), y, lam0, 0.0, 1.0)
    M = max(np.abs(h - y).max(), np.abs(other - y).max())
    change = np.abs(other - h).max()
    C0, C1 = 2 * R2 * M + 4 * sqrt(R2) * M * (R2 / lam0 + 1), 16 * M * R2**1.5 / lam0
    assert change > 2 * (C0 + C1 * sqrt(2)) / (lam0 * n)
    options = {"lam0": lam0, "radius": 1.0, "M": M, "R0": R2}
    right = lkrr_stability(n, **options)
    assert 0.95 < change / (right.beta_S + right.beta_K) <= 1  # and the proven bound is nearly attained
    corrected = lkrr_stability(n, **options, method="thesis", n_kernels=2, orthogonal=True)
    assert change <= corrected.beta_S + corrected.beta_K


def test_the_corrected_thesis_is_never_below_what_is_proven():
    rng = np.random.RandomState(0)
    for _ in range(200):
        lam0, radius, M, R0, RA = 10 ** rng.uniform(-3, 3, 5)
        options = {"lam0": lam0, "radius": radius, "M": M, "R0": R0, "RA": RA}
        proven = lkrr_stability(10, **options)
        thesis = lkrr_stability(10, **options, method="thesis", n_kernels=1, orthogonal=True)
        assert thesis.beta_S >= proven.beta_S and thesis.beta_K >= proven.beta_K


def test_equation_a_6_does_not_hold():
    """F₁ = Σ (v_k + √(v_k v'_k))²/(μ_k² ‖v'‖²) at v' = v and μ = Λv/‖v‖ is 4p/Λ², not at most 4."""
    v, radius = np.array([0.5, 1.0, 2.0, 0.1]), 0.5
    mu = radius * v / np.linalg.norm(v)
    F1 = np.sum((2 * v) ** 2 / (mu**2 * (v @ v)))
    assert F1 == pytest.approx(4 * 4 / radius**2) and F1 > 4


def test_the_formulas_of_the_thesis_with_what_was_dropped():
    n, lam0, radius, M, R0, RA, p = 50, 0.3, 2.0, 1.5, 3.0, 0.5, 9
    found = lkrr_stability(
        n, lam0=lam0, radius=radius, M=M, R0=R0, RA=RA, method="thesis", n_kernels=p, orthogonal=True
    )
    R = sqrt(RA**2 + radius * R0)
    printed = 4 * radius * M * R * ((4 * radius * R**2 * sqrt(p) + R**2) / lam0 + 1) / (lam0 * n)
    assert found.beta_K == pytest.approx(2 * R * printed)
    assert found.beta_S == pytest.approx(2 * M * R**2 / (lam0 * n))
    assert found.beta == pytest.approx(2 * M * (found.beta_S + found.beta_K))
    assert "beta_K=" in repr(found)


def test_units_do_not_matter():
    """Kernels times c with Λ and μ₀ divided by it are the same problem; y times c is too, in other units."""
    base = lkrr_stability(20, lam0=0.3, radius=2.0, M=1.5, R0=3.0, RA=0.5)
    same = lkrr_stability(20, lam0=0.3, radius=0.2, M=1.5, R0=30.0, RA=0.5)
    assert same.beta == pytest.approx(base.beta)
    units = lkrr_stability(20, lam0=0.3, radius=2.0, M=15.0, R0=3.0, RA=0.5)
    assert units.beta == pytest.approx(100 * base.beta)
    for change in ("replace", "remove"):
        value = stability_bound(0.4, base.beta, 20, 1.5, 0.1, change=change)
        assert stability_bound(40.0, units.beta, 20, 15.0, 0.1, change=change) == pytest.approx(100 * value)


# -- Thm 2.4 -------------------------------------------------------------------------------------------


def test_the_formula_of_theorem_2_4():
    root = sqrt(log(20) / 200)
    assert stability_bound(0.3, 0.01, 100, 2.0) == pytest.approx(0.3 + 0.01 + (2 + 4) * root)
    assert stability_bound(0.3, 0.01, 100, 2.0, change="remove") == pytest.approx(0.3 + 0.02 + (4 + 4) * root)


def test_the_risk_is_below_the_bound():
    """The mean as a predictor: h = Σy/(n + λ). Its β and its risk are known, and M = 1 for y in {0, 1}.

    With nothing but the empirical risk the bound would fail in about half of all samples.
    """
    n, lam, p = 100, 5.0, 0.3
    ys = np.random.RandomState(0).rand(4000, n) < p
    h = ys.sum(axis=1) / (n + lam)
    risk = p * (1 - h) ** 2 + (1 - p) * h**2
    empirical = np.mean((ys - h[:, None]) ** 2, axis=1)
    beta = lkrr_stability(n, lam0=lam / n, radius=0.0, M=1.0, R0=1.0, RA=1.0)
    assert 1 / (n + lam) <= beta.beta_S  # replacing one label moves h by this
    values = np.array([stability_bound(e, 2 / (n + lam), n, 1.0, 0.1) for e in empirical])
    assert np.mean(risk > values) <= 0.1
    assert np.mean(risk > empirical) > 0.3


# -- of an estimator, and refusals ---------------------------------------------------------------------


def test_of_an_estimator():
    rng = np.random.RandomState(0)
    X, y = rng.randn(20, 2), rng.rand(20)
    options = {"C": 0.4, "fit_intercept": False, "normalize": None}
    model = MKLRegressor([Gaussian(1.0), Gaussian(2.0)], norm=L2Ball([0.3, 0.4], 0.7), **options).fit(X, y)
    given = {"lam0": 1 / (0.4 * 20), "radius": 0.7, "R0": sqrt(2), "RA": sqrt(0.7)}
    assert lkrr_stability_of(model, diagonal=1.0, M=2.0) == lkrr_stability(20, M=2.0, **given)
    M = lkrr_range(1.0, **given)
    assert lkrr_stability_of(model, diagonal=[1, 1], y_max=1.0) == lkrr_stability(20, M=M, **given)
    assert np.abs(model.predict(X) - y).max() <= M
    with pytest.raises(ValueError, match="3 entries"):
        lkrr_stability_of(model, diagonal=[1, 1, 1], M=2.0)
    for wrong in ({}, {"M": 1.0, "y_max": 1.0}):
        with pytest.raises(ValueError, match="expected one of them"):
            lkrr_stability_of(model, diagonal=1.0, **wrong)
    for change in (
        {"norm": LpBall(2.0)},
        {"loss": "epsilon_insensitive"},
        {"fit_intercept": True},
        {"center": True},
        {"normalize": "trace"},
    ):
        other = MKLRegressor([Gaussian(1.0)], norm=L2Ball(), **options).set_params(**change).fit(X, y)
        with pytest.raises(ValueError, match=f"fitted with {next(iter(change))}="):
            lkrr_stability_of(other, diagonal=1.0, M=2.0)
    both = MKLRegressor([Gaussian(1.0)], norm=L2Ball(), loss=Squared(), **options).fit(X, np.c_[y, y])
    with pytest.raises(ValueError, match="several outputs"):
        lkrr_stability_of(both, diagonal=1.0, M=2.0)
    with pytest.raises(ValueError, match="MKLClassifier was given"):
        lkrr_stability_of(MKLClassifier().fit(X, y > 0.5), diagonal=1.0, M=2.0)
    with pytest.raises(ValueError, match="LinearRegression was given"):
        lkrr_stability_of(LinearRegression().fit(X, y), diagonal=1.0, M=2.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n": 0}, "n=0"),
        ({"lam0": 0.0}, "lam0=0.0"),
        ({"radius": -1.0}, "radius=-1.0"),
        ({"M": np.nan}, "M=nan"),
        ({"R0": np.inf}, "R0=inf"),
        ({"RA": "1"}, "RA='1'"),
        ({"method": "guess"}, "method='guess'"),
        ({"method": "thesis", "n_kernels": 3}, "orthogonal=True"),
        ({"method": "thesis", "orthogonal": True}, "n_kernels=None"),
        ({"method": "thesis", "orthogonal": True, "n_kernels": 0}, "n_kernels=0"),
    ],
)
def test_refusals_of_lkrr_stability(change, message):
    given = {"n": 5, "lam0": 1.0, "radius": 1.0, "M": 1.0, "R0": 1.0, **change}
    with pytest.raises(ValueError, match=message):
        lkrr_stability(**given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"empirical_risk": -0.1}, "empirical_risk=-0.1"),
        ({"beta": -1.0}, "beta=-1.0"),
        ({"n": 0.5}, "n=0.5"),
        ({"M": -1.0}, "M=-1.0"),
        ({"delta": 1.5}, "delta=1.5"),
        ({"change": "add"}, "change='add'"),
    ],
)
def test_refusals_of_stability_bound(change, message):
    given = {"empirical_risk": 0.1, "beta": 0.1, "n": 5, "M": 1.0, "delta": 0.1, **change}
    with pytest.raises(ValueError, match=message):
        stability_bound(**given)
