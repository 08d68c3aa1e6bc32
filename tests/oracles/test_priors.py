"""Priors ρ on base kernels and products, and the prices of graphs (Afkanpour 2013, fn. 2 and Eq. 2.13)."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from tests.oracles.naive import all_products, base_matrices, data, matrix

from manykernels import HierarchicalMKLRegressor, MKLClassifier, MKLRegressor
from manykernels.bounds import margin_bound
from manykernels.families import DAG, AnovaDAG, PolynomialDAG, Products
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.kernels.monomial import Monomial
from manykernels.oracles import bind_dag, build_oracle
from manykernels.solvers import Stochastic

BASE = [2.0, 0.5, 1.0, 3.0]


def rho(names):
    """Any function of the names: products with x1 are preferred, and longer ones are not."""
    return (0.5 if "x1" in names else 1.0) * 1.7 ** len(names) + 0.1 * len(set(names))


def rho_by_place(names):
    return rho(tuple(f"x{'abcd'.index(name)}" for name in names))


def family(kind, **options):
    if kind == "features":
        return Products(degree=3, **options)
    base = {name: OnColumns(Gaussian(1.0), j) for j, name in enumerate("abcd")}
    return Products(base, degree=3, **options)


@pytest.mark.parametrize("interactions_only", [False, True])
@pytest.mark.parametrize("options", ["base", "own", "both", "own rms"])
@pytest.mark.parametrize("kind", ["features", "gaussians"])
def test_every_product_is_divided_by_its_prior(kind, options, interactions_only):
    X, A = data(outputs=2)
    function = rho if kind == "features" else rho_by_place
    given = {}
    if options in ("base", "both"):
        given["base_rho"] = BASE
    if options != "base":
        given["rho"] = function
    if options == "own rms":
        given["atom_scale"] = "rms"
    products = family(kind, interactions_only=interactions_only, **given)
    oracle = build_oracle(products, X, normalize="trace" if kind == "features" else None)
    gaussians = [Gaussian(1.0)(X[:, [j]]) for j in range(4)]
    bases = base_matrices("features", X) if kind == "features" else gaussians
    atoms = all_products(4, 3, interactions_only)
    K = []
    for z in atoms:
        Kz = matrix(bases, z)
        if options == "own rms":
            Kz = Kz / np.mean(np.diagonal(Kz))
        if "rho" in given:
            Kz = Kz / rho(tuple(f"x{j}" for j in z)) ** 2
        if "base_rho" in given:
            Kz = Kz / np.prod([BASE[j] ** 2 for j in z])
        K.append(Kz)
    q = np.array([np.sum((A @ A.T) * Kz) for Kz in K])
    np.testing.assert_allclose(oracle.quad(A, atoms), q, rtol=1e-10)
    np.testing.assert_allclose(oracle.gram(atoms).quad(A).sum(axis=1), q, rtol=1e-10)
    for z, Kz in zip(atoms[::5], K[::5], strict=True):
        np.testing.assert_allclose(oracle.kernel(z)(X), Kz, rtol=1e-10, atol=1e-13)
    best = oracle.best(A, 5)
    np.testing.assert_allclose(best.values, np.sort(q)[::-1][:5], rtol=1e-10)
    assert best.upper >= q.max() * (1 - 1e-10)
    for r in (1.0, 2.0, np.inf):
        assert oracle.total(A, r) == pytest.approx(np.linalg.norm(q, r), rel=1e-9)
    diagonal = oracle.diagonal()
    np.testing.assert_allclose(diagonal, np.max([np.diagonal(Kz) for Kz in K], axis=0), rtol=1e-9)


@pytest.mark.parametrize("kind", ["features", "gaussians"])
@pytest.mark.parametrize("options", [{"base_rho": BASE}, {"rho": True}])
def test_draws_estimate_the_gradient_without_bias(kind, options):
    """With ρ of base kernels they are exactly by the gradient; with ρ of products they are weighted."""
    X, A = data()
    if "rho" in options:
        options = {"rho": rho if kind == "features" else rho_by_place}
    oracle = build_oracle(family(kind, interactions_only=True, **options), X, normalize=None)
    atoms = list(oracle.atoms())
    q = dict(zip(atoms, oracle.quad(A, atoms), strict=True))
    draws = oracle.sample(A, 20_000, np.random.RandomState(0))
    ratio = np.array([q[z] for z in draws.atoms]) / draws.probabilities
    total = sum(q.values())
    assert ratio.mean() == pytest.approx(total, abs=4 * ratio.std() / np.sqrt(ratio.size) + 1e-9 * total)
    assert ("base_rho" in options) == bool(np.ptp(ratio) <= 1e-8 * total)


def test_a_fit_with_priors_is_that_of_the_scaled_list():
    X = np.random.RandomState(0).randn(40, 3)
    y = X[:, 0] * X[:, 1] + 0.3 * X[:, 2]
    products = Products(degree=2, rho=rho, base_rho={"x2": 2.0})
    model = MKLRegressor(products, normalize=None, tol=1e-6).fit(X, y)
    base = [1.0, 1.0, 2.0]
    kernels = []
    for z in all_products(3, 2)[1:]:  # the intercept does what the constant could
        columns, powers = np.unique(np.array(z, dtype=int), return_counts=True)
        scale = rho(tuple(f"x{j}" for j in z)) ** -2 * np.prod([base[j] ** -2.0 for j in z])
        kernels.append(scale * Monomial(columns.tolist(), powers.tolist()))
    listed = MKLRegressor(kernels, normalize=None, tol=1e-6).fit(X, y)
    assert model.certified_ and model.objective_ == pytest.approx(listed.objective_, rel=1e-5)
    np.testing.assert_allclose(model.predict(X), listed.predict(X), atol=1e-2)
    stochastic = MKLRegressor(
        products, norm=2, normalize=None, solver=Stochastic(batch=32), max_iter=64, tol=1e-3, random_state=0
    )
    exact = MKLRegressor(products, norm=2, normalize=None, solver="active-set").fit(X, y)
    stochastic.fit(X, y)
    assert stochastic.certified_ and stochastic.objective_ <= 1.1 * exact.objective_


def test_more_products_than_a_function_can_be_asked_of_are_drawn_and_not_certified(monkeypatch):
    monkeypatch.setattr("manykernels.oracles.products._OWN", 5.0)
    X = np.random.RandomState(0).randn(30, 4)
    y = X[:, 0] * X[:, 1]
    oracle = build_oracle(Products(degree=2, rho=rho), X, normalize=None)
    assert not oracle.offers("best") and oracle.total(y[:, None], np.inf) is None
    with pytest.raises(ValueError, match="each with a rho of its own"):
        oracle.best(y[:, None], 1)
    model = MKLRegressor(Products(degree=2, rho=rho), norm=2, solver="stochastic", max_iter=4).fit(X, y)
    assert (not model.certified_ and np.isnan(model.dual_gap_)) or not np.isfinite(model.dual_gap_)


def test_bounds_know_the_priors():
    X = np.random.RandomState(0).randn(40, 2)
    y = np.sign(X[:, 0] * X[:, 1])
    model = MKLClassifier(Products(degree=2, base_rho=[2.0, 3.0]), fit_intercept=False).fit(X, y)
    F = np.column_stack([np.ones(40), X, X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])
    c = np.linalg.lstsq(F, model.decision_function(X), rcond=None)[0]
    norm = np.abs(c) @ [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]
    assert margin_bound(model, y, n_draws=3).function_norm == pytest.approx(norm, rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rho": [1.0, 0.0, 1.0]}, "expected 3 positive numbers"),
        ({"rho": [1.0, -1.0, 1.0]}, "expected 3 positive numbers"),
        ({"rho": [1.0, np.nan, 1.0]}, "expected 3 positive numbers"),
        ({"rho": "x"}, "expected 3 positive numbers"),
        ({"rho": lambda names: 0.0}, r"rho\(\) of Products is 0.0"),
        (
            {"rho": lambda names: -1.0 if names == ("x0", "x1") else 1.0},
            r"rho\('x0', 'x1'\) of Products is -1.0",
        ),
        ({"rho": lambda names: None}, "is None; expected a positive number"),
        ({"base_rho": [1.0, 0.0]}, "expected 2 positive numbers"),
        ({"base_rho": [1.0]}, "expected 2 positive numbers"),
        ({"base_rho": 2.0}, "expected 2 positive numbers"),
        ({"base_rho": {"x9": 1.0}}, "names 'x9'"),
        ({"base_rho": {"x0": -1.0}}, "expected 2 positive numbers"),
        ({"base_rho": [1.0, 2.0], "atom_scale": "rms"}, "atom_scale=None"),
    ],
)
def test_a_prior_that_is_no_positive_number(options, message):
    X = np.random.RandomState(0).randn(20, 2)
    with pytest.raises(ValueError, match=message):
        MKLRegressor(Products(degree=2, **options)).fit(X, X[:, 0])


# -- prices of graphs -----------------------------------------------------------------------------
BETA = [1.5, 3.0, 2.0]


def as_dag(r, D, beta):
    """The graph of powers as a list of nodes with prices."""
    nodes = list(np.ndindex(*[D + 1] * r))
    parents, prices = {}, {}
    for v in nodes:
        used = [(i, p) for i, p in enumerate(v) if p]
        above = [tuple(p - (j == i) for j, p in enumerate(v)) for i, _ in used]
        kernel = Monomial([i for i, _ in used], [p for _, p in used])
        parents[str(v)] = (kernel, [str(u) for u in above])
        prices[str(v)] = float(np.prod([beta[i] ** p for i, p in used]))
    return DAG(parents, prices=prices)


@pytest.mark.slow
def test_a_price_for_each_feature_is_that_of_the_listed_graph():
    X = np.random.RandomState(0).randn(30, 3)
    A = np.random.RandomState(1).randn(30, 2)
    found = bind_dag(PolynomialDAG(2, beta=BETA), X, normalize=None)
    listed = bind_dag(as_dag(3, 2, BETA), X, normalize=None)
    names = {v: str(tuple(dict(v).get(i, 0) for i in range(3))) for v in found.nodes()}
    for v, name in names.items():
        assert found.price(v) == pytest.approx(listed.price(name))
    some = list(names)[1:12]
    np.testing.assert_allclose(found.bounds(A, some), listed.bounds(A, [names[v] for v in some]), rtol=1e-9)
    hull = {(), ((0, 1),), ((1, 1),)}
    seen = listed.scan(A, {names[v] for v in hull}, 0.0, 27)
    below = [names[v] for v in found.scan(A, hull, 0.0, 27)]
    assert below[:5] == [name for name in seen if name in below][:5]


@pytest.mark.parametrize("kernels", [PolynomialDAG(2, beta=BETA[:2]), as_dag(2, 2, BETA[:2])])
def test_the_penalty_with_prices_by_a_convex_solver(kernels):
    """½ (Σ_v d_v ‖w_{D(v)}‖)² + ½C Σ (y − f)², with w over all monomials."""
    X = np.random.RandomState(2).randn(25, 2)
    y = X[:, 0] + X[:, 0] * X[:, 1] + 0.1 * np.random.RandomState(3).randn(25)
    C = 0.5
    nodes = list(np.ndindex(3, 3))
    F = np.column_stack([X[:, 0] ** a * X[:, 1] ** b for a, b in nodes])
    w = cp.Variable(9)
    norms = [
        BETA[0] ** v[0]
        * BETA[1] ** v[1]
        * cp.norm(w[[k for k, u in enumerate(nodes) if u[0] >= v[0] and u[1] >= v[1]]])
        for v in nodes
    ]
    risk = 0.5 * cp.square(sum(norms)) + 0.5 * C * cp.sum_squares(y - F @ w)
    best = optimal_value(cp.Problem(cp.Minimize(risk)))
    model = HierarchicalMKLRegressor(kernels, C=C, normalize=None, fit_intercept=False, tol=1e-6).fit(X, y)
    assert model.certified_ and model.objective_ == pytest.approx(best, rel=1e-4)


def test_a_dear_feature_is_used_less():
    X = np.random.RandomState(4).randn(60, 3)
    y = X[:, 0] + X[:, 1] + X[:, 2]
    for learned, graph in ((PolynomialDAG, {"degree": 1}), (AnovaDAG, {"width": 3.0})):
        model = HierarchicalMKLRegressor(learned(**graph, beta=[2.0, 2.0, 200.0]), C=0.05).fit(X, y)
        used = [name for name in model.kernel_names_ if "x2" in name]
        assert not used and any("x0" in name for name in model.kernel_names_)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (PolynomialDAG(2, beta=[2.0]), "2 such numbers, one for each feature"),
        (PolynomialDAG(2, beta=[2.0, 1.0]), "2 such numbers"),
        (AnovaDAG(beta=["a", "b"]), "2 such numbers"),
        (DAG({"a": (Linear(), [])}, prices={"b": 1.0}), "names 'b'"),
        (DAG({"a": (Linear(), [])}, prices={"a": 0.0}), "expected a positive number"),
        (DAG({"a": (Linear(), [])}, prices={"a": -2.0}), "expected a positive number"),
        (DAG({"a": (Linear(), [])}, prices=[1.0]), "expected a dict"),
    ],
)
def test_prices_that_are_none(graph, message):
    X = np.random.RandomState(0).randn(20, 2)
    with pytest.raises(ValueError, match=message):
        HierarchicalMKLRegressor(graph).fit(X, X[:, 0])
