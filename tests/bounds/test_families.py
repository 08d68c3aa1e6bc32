"""Complexities and bounds of families: every product or width against lists, all signs and dense grids."""

from itertools import combinations, combinations_with_replacement, product
from math import log, sqrt

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from benchmarks.references import optimal_value

from manykernels import MKLClassifier, MKLRegressor
from manykernels.bounds import empirical_rademacher, margin_bound, rademacher_bound, regression_bound
from manykernels.estimators import AlignMKLClassifier
from manykernels.families import (
    ARDGaussians,
    Dirichlets,
    Gaussians,
    Laplacians,
    Parametric,
    PolynomialDAG,
    Products,
)
from manykernels.kernels import Gaussian, Linear, OnColumns, Polynomial
from manykernels.oracles import build_oracle

RHO = [1.5, 1.0, 1.3, 2.0]


def signs(n):
    return np.array(list(product([-1.0, 1.0], repeat=n))).T


def monomials(X, degree, interactions_only=False):
    """Every product of columns, with its degree."""
    every = combinations if interactions_only else combinations_with_replacement
    return [(d, X[:, list(z)].prod(axis=1)) for d in range(degree + 1) for z in every(range(X.shape[1]), d)]


class Widths(Parametric):
    """Gaussians that are divided by their width, with a bound on the derivative."""

    bounds = [(0.5, 3.0)]

    def kernel(self, width):
        return Gaussian(width)

    def prior(self, width):
        return sqrt(width)


# -- complexities --------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("interactions_only", [False, True])
def test_all_products_and_all_signs(norm, interactions_only):
    X = np.random.RandomState(0).randn(7, 3)
    family = Products(degree=3, rho=RHO, interactions_only=interactions_only)
    found = empirical_rademacher(family, X, norm=norm, n_draws=None)
    r = np.inf if norm == 1 else 1.0 if norm == np.inf else norm / (norm - 1)
    F = np.array([x / RHO[d] for d, x in monomials(X, 3, interactions_only)])
    value = np.mean([sqrt(np.linalg.norm((F @ s) ** 2, r)) for s in signs(7).T]) / 7
    assert found.value == pytest.approx(value, rel=1e-10) and found.upper == pytest.approx(value, rel=1e-8)
    assert found.certified and found.exact and found.bound() == found.upper


def test_products_of_matrices():
    X = np.random.RandomState(1).randn(6, 2)
    base = [Gaussian(1.0), Linear(), Polynomial(2)]
    found = empirical_rademacher(Products(base, degree=2), X, n_draws=None)
    K = [k(X) for k in base]
    every = [np.ones((6, 6)), *K, *(A * B for A, B in combinations_with_replacement(K, 2))]
    value = np.mean([sqrt(max(s @ A @ s for A in every)) for s in signs(6).T]) / 6
    assert found.value == pytest.approx(value, rel=1e-10)


@pytest.mark.parametrize("family", [Gaussians(0.3, 4.0), Laplacians(0.3, 4.0), Dirichlets(0.5, 6.0)])
def test_a_continuum_is_bounded_above_a_dense_grid(family):
    X = np.random.RandomState(2).randn(8, 1)
    K = np.array([family.kernel(width)(X) for width in np.geomspace(family.low, family.high, 1500)])
    found = empirical_rademacher(family, X, n_draws=None)
    grid = np.mean([sqrt((K @ s @ s).max()) for s in signs(8).T]) / 8
    assert found.certified
    assert grid * (1 - 1e-9) <= found.upper <= found.value * (1 + 1e-5)
    assert found.value == pytest.approx(grid, rel=1e-3)


def test_more_kernels_than_can_be_looked_at_are_bounded_or_not_and_say_so(monkeypatch):
    X = np.random.RandomState(3).randn(12, 10)
    whole = empirical_rademacher(Products(degree=3), X, n_draws=4, random_state=0)
    monkeypatch.setattr("manykernels.oracles.products._ENUMERABLE", 100.0)
    found = empirical_rademacher(Products(degree=3), X, n_draws=4, random_state=0)
    assert found.value <= whole.value * (1 + 1e-9) and whole.value <= found.upper * (1 + 1e-9)
    assert found.certified == np.isfinite(found.upper)
    monkeypatch.setattr("manykernels.oracles.products._ENUMERABLE_MATRICES", 1e-9)
    monkeypatch.setattr("manykernels.bounds._forms._LISTED", 3)
    with pytest.raises(ValueError, match="cannot be asked for the largest"):
        empirical_rademacher(Products([Gaussian(1.0), Linear()], degree=2), X, n_draws=2)


def test_several_widths_are_found_but_not_bounded():
    X = np.random.RandomState(4).randn(20, 2)
    found = empirical_rademacher(ARDGaussians(0.5, 4.0), X, n_draws=3, random_state=0)
    common = empirical_rademacher(Gaussians(0.5, 4.0), X, n_draws=3, random_state=0)
    assert not found.certified and found.upper == np.inf and found.bound() == np.inf
    assert found.value >= common.value * (1 - 1e-6)


def test_graphs_are_listed():
    X = np.random.RandomState(5).randn(6, 2)
    F = np.array([X[:, 0] ** a * X[:, 1] ** b for a in range(3) for b in range(3)])
    value = np.mean([np.abs(F @ s).max() for s in signs(6).T]) / 6
    assert empirical_rademacher(PolynomialDAG(2), X, n_draws=None).value == pytest.approx(value, rel=1e-9)


def test_draws_stay_below_their_bound():
    """R̂ is known from all signs; each share of samples of draws, δ, may be above."""
    X = np.random.RandomState(6).randn(10, 2)
    family = Products(degree=2)
    truth = empirical_rademacher(family, X, n_draws=None).value
    drawn = [empirical_rademacher(family, X, n_draws=5, random_state=seed) for seed in range(100)]
    assert sum(found.value < truth for found in drawn) > 30
    assert sum(found.bound(0.2) < truth for found in drawn) <= 20


@pytest.mark.parametrize(
    "family",
    [
        Products(degree=3, rho=RHO),
        Products(degree=3, rho=RHO, interactions_only=True),
        Products([Gaussian(1.0), Linear(), Polynomial(2)], degree=2),
        Gaussians(0.5, 3.0),
        Widths(),
    ],
)
def test_largest_diagonals(family):
    X = np.random.RandomState(7).randn(5, 4)
    oracle = build_oracle(family, X, normalize=None)
    found = oracle.diagonal()
    for i, e in enumerate(np.eye(5)):
        largest = oracle.best(e[:, None], 1)
        assert found is None or largest.values[0] * (1 - 1e-9) <= found[i] <= largest.upper * (1 + 1e-9)
    assert (found is None) == isinstance(family, Widths)


def test_functions_of_several_values():
    """sup Σ_k Σ_i σ_ik f_k(x_i) over w, μ themselves, by a convex solver; and by traces."""
    X = np.random.RandomState(8).randn(3, 2)
    kernels = [Gaussian(1.0), Linear()]
    roots = [np.linalg.cholesky(k(X) + 1e-9 * np.eye(3)) for k in kernels]
    values = []
    for sigma in signs(6).T[:32].reshape(-1, 3, 2):  # the others are the negatives of these
        w, mu = [cp.Variable((3, 2)) for _ in roots], cp.Variable(2, nonneg=True)
        inner = sum(cp.sum(cp.multiply(sigma, root @ part)) for root, part in zip(roots, w, strict=True))
        size = sum(cp.quad_over_lin(cp.vec(part, order="F"), mu[m]) for m, part in enumerate(w))
        values.append(optimal_value(cp.Problem(cp.Maximize(inner), [size <= 1, cp.sum(mu) <= 1])))
    found = empirical_rademacher(kernels, X, n_draws=None, n_outputs=2)
    assert np.mean(values) / 3 == pytest.approx(found.value, rel=1e-4)
    traces = [np.trace(k(X)) for k in kernels]
    assert found.value <= rademacher_bound(2 * np.array(traces), 3)


def test_contraction_of_margins_of_several_classes():
    """E sup Σ σ_i ℓ(f(x_i)) ≤ (2/ρ) E sup Σ_ik σ_ik f_k(x_i), over any set of functions."""
    rng, rho, one, many = np.random.RandomState(9), 0.5, signs(3), signs(9)
    for _ in range(20):
        F = rng.randn(6, 3, 3)  # functions, samples, classes
        y = rng.randint(3, size=3)
        own = F[:, np.arange(3), y]
        others = np.where(np.arange(3) == y[:, None], -np.inf, F).max(axis=2)
        losses = np.clip(1 - (own - others) / rho, 0, 1)
        assert (losses @ one).max(axis=0).mean() <= 2 / rho * (F.reshape(6, 9) @ many).max(axis=0).mean()


# -- margins -------------------------------------------------------------------------------------------


def data(n=60, seed=0):
    X = np.random.RandomState(seed).randn(n, 3)
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0, 1, -1)


@pytest.mark.parametrize("normalize", [None, "trace", "max"])
@pytest.mark.parametrize("solver", ["corrective", "active-set"])
def test_the_norm_of_a_polynomial_is_that_of_its_coefficients(normalize, solver):
    """At norm 1 Σ_z c_z x_z has the norm Σ_z |c_z| ρ_d, the intercept beside it |b|/R_b."""
    X, y = data()
    family = Products(degree=2, rho=RHO[:3])
    model = MKLClassifier(family, normalize=normalize, solver=solver).fit(X, y)
    new = np.random.RandomState(1).randn(80, 3)
    powers = monomials(new, 2)
    F = np.array([x for _, x in powers]).T
    c = np.linalg.lstsq(F, model.decision_function(new), rcond=None)[0]
    b = np.atleast_1d(model.intercept_)[0]
    norm = sum(abs(v) * RHO[d] for v, (d, _) in zip(c[1:], powers[1:], strict=True))
    found = margin_bound(model, y, margin=0.5, intercept_scale=0.5, n_draws=20, random_state=0)
    constant = c[0] - b  # the product of no factors
    assert found.function_norm == pytest.approx(norm + abs(constant) * RHO[0] + abs(b) / 0.5, rel=1e-6)
    assert found.guaranteed and found.n_kernels == 1 + 10
    h = y * model.decision_function(X) / found.function_norm
    assert found.margin_loss == pytest.approx(np.clip(1 - h / 0.5, 0, 1).mean())
    assert found.confidence == pytest.approx(3 * sqrt(log(2 / (0.9 * 0.05)) / 120))


def test_products_of_matrices_are_written_in_their_base():
    X, y = data()
    base = [Gaussian(1.0), Linear(), OnColumns(Gaussian(2.0), [0])]
    family = Products(base, degree=2, rho=[1.0, 1.0, 2.0])
    model = MKLClassifier(family, fit_intercept=False).fit(X, y)
    K = [k(X) for k in base]
    every = [np.ones((60, 60)), *K, *(A * B / 4 for A, B in combinations_with_replacement(K, 2))]
    names = ["1", *(k.label for k in base)]
    raw = dict(zip(names, every, strict=False))
    alpha, norm = model.dual_coef_, 0.0
    for name, theta, kernel in zip(model.kernel_names_, model.weights_, model.kernels_, strict=True):
        fitted = kernel(X)
        member = raw.get(name)
        if member is None:
            member = next(A for A in every if np.allclose(A / np.trace(A), fitted / np.trace(fitted)))
        c = np.trace(fitted) / np.trace(member)
        norm += theta * c * sqrt(alpha @ member @ alpha)
    assert margin_bound(model, y, n_draws=5).function_norm == pytest.approx(norm, rel=1e-8)


def test_widths_that_were_found_have_the_norm_of_a_list():
    X, y = data()
    for family in (Gaussians(0.5, 5.0), Widths()):
        model = MKLClassifier(family, C=2.0).fit(X, y)
        found = margin_bound(model, y, margin=0.1, n_draws=50, random_state=0)
        scales = [family.prior(k.width) ** 2 for k in model.kernels_]
        listed = MKLClassifier([k.kernel for k in model.kernels_], C=2.0, normalize=None).fit(X, y)
        assert found.n_kernels == np.inf
        alpha = model.dual_coef_
        norms = [
            theta * k.scale_ * sqrt(s * (alpha @ k.kernel(X) @ alpha))
            for theta, k, s in zip(model.weights_, model.kernels_, scales, strict=True)
        ]
        assert found.function_norm == pytest.approx(sum(norms) + abs(model.intercept_), rel=1e-8)
        assert found.guaranteed == isinstance(family, Gaussians)
        few = margin_bound(listed, y, margin=0.1, n_draws=50, random_state=0)
        assert not found.guaranteed or found.complexity >= few.complexity * (1 - 1e-9)
    assert "guess" in found.caveat


def test_a_family_that_is_not_bounded_is_no_guarantee():
    X, y = data(n=25)
    found = margin_bound(MKLClassifier(ARDGaussians(0.5, 4.0), tol=0.1).fit(X, y), y, n_draws=3)
    assert not found.guaranteed and "bounds no kernel" in found.caveat


@pytest.mark.parametrize(
    ("family", "message"),
    [
        (Gaussians(), "takes its range from"),
        (Gaussians(0.5), "takes its range from"),
        (Products(atom_scale="rms"), "scales every product"),
        (Products("auto"), "kernels='auto'"),
    ],
)
def test_families_from_the_data_are_no_guarantee(family, message):
    X, y = data(n=30)
    model = MKLClassifier(family, tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        margin_bound(model, y)
    found = margin_bound(model, y, accept_data_dependent=True, n_draws=3)
    assert not found.guaranteed and message in found.caveat


def test_norms_above_one_and_constant_columns():
    X, y = data(n=30)
    model = MKLClassifier(Gaussians(0.5, 3.0), norm=2, solver="stochastic", max_iter=3).fit(X, y)
    with pytest.raises(ValueError, match="norm=1"):
        margin_bound(model, y)
    assert margin_bound(model, y, norm=1, n_draws=5).guaranteed
    model = MKLClassifier(Products(degree=2), norm=1.7, solver="active-set").fit(X, y)
    assert margin_bound(model, y, n_draws=5).guaranteed  # draws need no whole conjugate exponent
    with pytest.warns(UserWarning, match="the same for all samples"):
        model = MKLClassifier(Products(degree=2)).fit(np.column_stack([X, np.ones(30)]), y)
    with pytest.warns(UserWarning, match="the same for all samples"):
        assert "left out" in margin_bound(model, y, n_draws=5).caveat


def test_greedy_alignment_has_the_bound_too():
    X, y = data(n=40)
    model = AlignMKLClassifier(Gaussians(0.5, 5.0), weighting="greedy").fit(X, y)
    found = margin_bound(model, y, margin=0.2, n_draws=5)
    assert found.guaranteed and found.function_norm > 0


def test_draws_are_sharper_than_traces():
    X, y = data(n=200)
    model = MKLClassifier([Gaussian(w) for w in (0.5, 1.0, 2.0, 4.0)]).fit(X, y)
    traces = margin_bound(model, y, margin=0.1)
    drawn = margin_bound(model, y, margin=0.1, n_draws=500, random_state=0)
    assert drawn.complexity < 0.9 * traces.complexity
    assert drawn.function_norm == pytest.approx(traces.function_norm)


# -- several classes and numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_several_classes(multi_class):
    X, _ = data(n=60)
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    kernels = [Gaussian(1.0), Linear()]
    model = MKLClassifier(kernels, multi_class=multi_class, center=True).fit(X, y)
    found = margin_bound(model, y, margin=0.5)
    theta = np.broadcast_to(model.weights_, (3, 2))
    alpha = model.dual_coef_ - model.dual_coef_.mean(axis=0)
    F = model.decision_function(X)
    raw = np.zeros((60, 3))
    a = np.zeros(2)
    for m, kernel in enumerate(kernels):
        s = model.kernels_[m].scale_
        raw += kernel(X) @ alpha * (theta[:, m] * s)
        a[m] = sqrt(
            sum((t * s) ** 2 * (c @ kernel(X) @ c) for t, c in zip(theta[:, m], alpha.T, strict=True))
        )
    b = np.linalg.norm((F - raw).mean(axis=0))
    assert found.function_norm == pytest.approx(a.sum() + b, rel=1e-6)
    codes = np.searchsorted(["a", "b", "c"], y)
    own = F[np.arange(60), codes]
    others = np.where(np.arange(3) == codes[:, None], -np.inf, F).max(axis=1)
    h = (own - others) / found.function_norm
    assert found.margin_loss == pytest.approx(np.clip(1 - h / 0.5, 0, 1).mean())
    traces = 3 * np.array([60.0, np.sum(X**2), 60.0])
    assert found.complexity == pytest.approx(4 / 0.5 * rademacher_bound(traces, 60))
    family = MKLClassifier(Products(degree=2), multi_class=multi_class, tol=0.1).fit(X, y)
    assert margin_bound(family, y, n_draws=5).guaranteed


def test_the_terms_of_a_bound_for_regression():
    X, _ = data(n=80)
    y = np.sin(X[:, 0]) + 0.1 * X[:, 1]
    model = MKLRegressor([Gaussian(1.0), Linear()], C=0.1).fit(X, y)
    residual = np.minimum(np.abs(y - model.predict(X)), 2.0)
    found = regression_bound(model, y, M=2.0, function_norm=8.0, delta=0.1)
    rademacher = rademacher_bound([80.0, np.sum(X**2), 80.0], 80)
    assert found.empirical == pytest.approx(residual.mean())
    assert found.complexity == pytest.approx(2 * 8 * rademacher)
    assert found.confidence == pytest.approx(3 * 2 * sqrt(log(20) / 160))
    assert found.value == pytest.approx(found.empirical + found.complexity + found.confidence)
    squared = regression_bound(model, y, M=2.0, loss="squared", function_norm=8.0, delta=0.1)
    assert squared.empirical == pytest.approx((residual**2).mean())
    assert squared.complexity == pytest.approx(4 * found.complexity)
    best = regression_bound(model, y, M=2.0, delta=0.1)
    e = round(np.log2(best.class_norm / 2.0))
    place = abs(2 * e) - (e < 0)
    share = 0.1 / ((place + 1) * (place + 2))
    again = regression_bound(model, y, M=2.0, function_norm=best.class_norm, delta=share)
    assert again.value == pytest.approx(best.value) and best.class_norm / 2 < best.function_norm
    assert any("M was chosen" in line for line in best.assumptions)


def test_several_numbers_and_a_family():
    X, _ = data(n=60)
    Y = np.column_stack([X[:, 0] * X[:, 1], X[:, 2]])
    model = MKLRegressor(Products(degree=2), C=0.1, tol=0.1).fit(X, Y)
    found = regression_bound(model, Y, M=1.0, n_draws=50, random_state=0)
    errors = np.linalg.norm(Y - model.predict(X), axis=1)
    assert found.guaranteed and found.empirical == pytest.approx(np.minimum(errors, 1).mean())
    one = regression_bound(
        MKLRegressor(Products(degree=2), C=0.1, tol=0.1).fit(X, Y[:, 0]), Y[:, 0], M=1.0, n_draws=50
    )
    assert found.complexity / found.class_norm > sqrt(2) * one.complexity / one.class_norm


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"M": 0.0}, "M=0.0"),
        ({"M": np.inf}, "M=inf"),
        ({"loss": "huber"}, "loss='huber'"),
        ({"function_norm": 1e-6}, "expected at least that"),
        ({"delta": 2.0}, "delta=2.0"),
        ({"y": np.zeros(3)}, "y of shape"),
        ({"y": ["a"] * 30}, "no numbers"),
        ({"n_draws": 1}, "n_draws=1"),
    ],
)
def test_bad_options(options, message):
    X, y = data(n=30)
    model = MKLRegressor([Gaussian(1.0)]).fit(X, y)
    with pytest.raises(ValueError, match=message):
        regression_bound(model, **{"y": y, "M": 1.0, **options})


def test_covariates_are_in_no_class():
    X, y = data(n=30)
    model = MKLRegressor([OnColumns(Gaussian(1.0), [1, 2])], covariates=[0]).fit(X, y)
    with pytest.raises(ValueError, match="covariates, whose coefficients are not penalised"):
        regression_bound(model, y, M=1.0)


def test_products_of_kernels_of_named_columns():
    X, y = data(n=40)
    base = [OnColumns(Gaussian(1.0), "a"), OnColumns(Linear(), ["b", "c"])]
    model = MKLClassifier(Products(base, degree=2), tol=0.1).fit(pd.DataFrame(X, columns=list("abc")), y)
    places = [OnColumns(Gaussian(1.0), 0), OnColumns(Linear(), [1, 2])]
    same = MKLClassifier(Products(places, degree=2), tol=0.1).fit(X, y)
    found, expected = (margin_bound(m, y, n_draws=5, random_state=0) for m in (model, same))
    assert found.guaranteed and found.value == pytest.approx(expected.value, rel=1e-6)


def test_classifiers_are_not_regressors():
    X, y = data(n=30)
    with pytest.raises(ValueError, match="see margin_bound"):
        regression_bound(MKLClassifier([Gaussian(1.0)]).fit(X, y), y, M=1.0)


@pytest.mark.slow
def test_errors_are_below_the_bounds():
    """Points of a known set with labels of three classes that are noise, and numbers that are.

    Fits to the noise look good on it: without the complexity the bounds would mostly be false.
    """
    atoms = np.random.RandomState(0).randn(300, 2)
    fails, without = 0, 0
    for seed in range(60):
        rng = np.random.RandomState(seed)
        which = rng.randint(300, size=200)
        y = rng.randint(3, size=200)
        model = MKLClassifier(Gaussians(0.05, 3.0), C=10.0, tol=0.1).fit(atoms[which], y)
        found = margin_bound(model, y, margin=0.01, delta=0.2, n_draws=50, random_state=seed)
        fails += found.value < 2 / 3
        without += found.margin_loss + found.confidence < 2 / 3
        z = rng.choice([-1.0, 1.0], size=200)
        model = MKLRegressor(Gaussians(0.02, 3.0), C=10.0, tol=0.1).fit(atoms[which], z)
        f = model.predict(atoms)
        error = 0.5 * np.mean(np.minimum(np.abs(f - 1), 2) + np.minimum(np.abs(f + 1), 2))
        bound = regression_bound(model, z, M=2.0, delta=0.2, n_draws=50, random_state=seed)
        fails += bound.value < error
        without += bound.empirical + bound.confidence < error
    assert fails <= 0.2 * 120
    assert without > 0.4 * 120
