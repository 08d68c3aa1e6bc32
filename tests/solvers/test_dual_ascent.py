"""Dual ascent on drawn rows: the optimum of other solvers, at any norm above 1, with its proof."""

import itertools

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.families import Gaussians, Products
from manykernels.grams.row_blocks import HeldBlocks
from manykernels.inspection import certificate
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic
from manykernels.objectives import Separable
from manykernels.oracles import row_products
from manykernels.oracles.bind_rows import bind_rows
from manykernels.penalties import LpBall
from manykernels.solvers import DualAscent, Run
from manykernels.solvers.dual_ascent import _Ascent

N, R = 160, 4
RMS = Products(degree=3, atom_scale="rms")
FAMILIES = {
    "monomials": Products(degree=3),
    "unit": RMS,
    "interactions": Products(degree=3, interactions_only=True),
    "paper": Products(degree=3, multiplicity="paper", rho=[1.0, 1.0, 2.0, 3.0]),
    "own": Products(degree=2, rho=lambda names: 1.0 + len(names)),
    "degree one": Products(degree=1),
}


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.randn(N, R) + 0.3
    y = X[:, 0] * X[:, 1] + X[:, 2] ** 2 * X[:, 3] + 0.3 * rng.randn(N) + 5.0
    return X, y


def oracle_of(family, X, norm=2.0):
    options = {"normalize": "trace", "sample_weight": None, "feature_names": None, "memory_limit": "1GB"}
    return bind_rows(family, HeldBlocks(X, len(X), step=50), X, norm=norm, **options)


# -- all products at once ----------------------------------------------------------------------------
@pytest.mark.parametrize("name", FAMILIES)
def test_all_products_are_those_of_the_family_one_by_one(data, name):
    X, _ = data
    oracle = oracle_of(FAMILIES[name], X)
    whole = oracle.whole()
    atoms = whole.products()
    assert len(atoms) == len(set(atoms)) == whole.size == oracle.size and set(atoms) == set(oracle.atoms())
    rows = oracle.source.read(X)
    Phi, block = oracle.map(atoms)(rows).T, whole.on(rows)
    rng = np.random.RandomState(1)
    A, w, theta = rng.randn(N, 2), rng.randn(whole.size, 2), rng.rand(whole.size)
    np.testing.assert_allclose(block.scores(A), Phi.T @ A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(block.decisions(w), Phi @ w, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(block.diagonal(theta), Phi**2 @ theta, rtol=1e-9)


def test_what_very_many_products_add_is_found_in_one_look(data, monkeypatch):
    X, _ = data
    oracle = oracle_of(FAMILIES["paper"], X)
    atoms = oracle.whole().products()[::2]
    w, weight = np.random.RandomState(2).randn(len(atoms), 2), np.full(N, 1.0 / N)
    one_by_one = oracle.mean_squares(atoms, w, weight)
    monkeypatch.setattr(row_products, "_MANY", 1)
    np.testing.assert_allclose(oracle.mean_squares(atoms, w, weight), one_by_one, rtol=1e-10)


# -- the steps ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [Logistic(), Hinge()])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_pass_raises_the_dual_and_keeps_its_scores(data, loss, intercept):
    X, y = data
    Y = np.where(y > 5.0, 1.0, -1.0)[:, None]
    oracle, penalty = oracle_of(RMS, X, 1.5), LpBall(1.5)
    risk = Separable(loss, Y, np.full((N, 1), 0.2), intercept)
    ascent, rng = _Ascent(oracle, risk, penalty), np.random.RandomState(3)
    Phi = oracle.map(ascent.all.products())(oracle.source.read(X)).T
    values = [0.0]
    for _ in range(6):
        ascent.go_through(23, rng)
        v = Phi.T @ ascent.alpha
        np.testing.assert_allclose(ascent.v, v, atol=1e-8)
        conjugate = penalty.conjugate(np.square(v).sum(axis=1))[0]
        values.append(float(risk.dual_terms(ascent.alpha).sum()) - 0.5 * conjugate)
        assert not intercept or abs(ascent.alpha.sum()) < 1e-6
    assert np.all(np.diff(values) >= -1e-9 * abs(values[-1])) and values[-1] > values[1] > 0.0


def test_the_solution_meets_the_conditions_of_the_optimum(data):
    """w = θ∘Φᵀα at the θ of the conjugate, and α = −∇R(f) for a smooth loss."""
    X, y = data
    Y = np.where(y > 5.0, 1.0, -1.0)[:, None]
    oracle, penalty = oracle_of(RMS, X), LpBall(2.0)
    risk = Separable(Logistic(), Y, np.full((N, 1), 0.2), True)
    found = DualAscent(batch=40).run(oracle, risk, penalty, Run(1e-9, 2000, np.random.RandomState(0)))
    Phi = oracle.map(found.atoms)(oracle.source.read(X)).T
    w, v = found.details["coefficients"], Phi.T @ found.alpha
    assert found.converged and found.certified and found.dual <= found.primal
    np.testing.assert_allclose(w, found.weights[:, None] * v, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(found.weights), 1.0, rtol=1e-9)
    np.testing.assert_allclose(risk.gradient(Phi @ w + found.intercept), -found.alpha, atol=1e-3)


@pytest.mark.parametrize(("loss", "norm"), [("logistic", 2.0), ("hinge", 2.0), ("logistic", 1.25)])
def test_cvxpy_has_the_same_optimum(loss, norm):
    """½‖w‖_s² with s = 2p/(p + 1) in place of weights, in another solver."""
    cp = pytest.importorskip("cvxpy")
    rng = np.random.RandomState(10)
    X = rng.randn(60, 3)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.7 * rng.randn(60) > 0, 1.0, -1.0)
    products = [z for d in range(3) for z in itertools.combinations_with_replacement(range(3), d)]
    Phi = np.array([np.prod(X[:, list(z)], axis=1) for z in products]).T
    Phi /= np.sqrt(np.mean(Phi**2, axis=0))
    w, b = cp.Variable(len(products)), cp.Variable()
    margins = cp.multiply(y, Phi @ w + b)
    errors = cp.sum(cp.pos(1 - margins)) if loss == "hinge" else cp.sum(cp.logistic(-margins))
    size = cp.pnorm(w, 2.0 * norm / (norm + 1.0))
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(size) + 0.4 * errors))
    problem.solve(solver="CLARABEL")
    products = Products(degree=2, atom_scale="rms")
    options = {"norm": norm, "loss": loss, "C": 0.4, "approx": "features", "random_state": 0}
    model = MKLClassifier(products, solver=DualAscent(batch=16), tol=1e-5, **options).fit(X, y)
    assert model.certified_
    np.testing.assert_allclose(model.objective_, problem.value, rtol=2e-5)


# -- on the road -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        {"norm": 2.0},
        {"norm": 1.3, "fit_intercept": False, "C": 0.02},
        {"norm": 4.0, "loss": "huber"},
        {"norm": 2.0, "loss": EpsilonInsensitive(0.3)},
        {"norm": 2.0, "kernels": FAMILIES["paper"], "C": 0.05},
    ],
)
def test_an_exact_fit_has_the_same_answer(data, options):
    X, y = data
    given = {"kernels": RMS, "C": 0.1, "tol": 1e-5, "random_state": 0, **options}
    exact = MKLRegressor(**given).fit(X, y)
    rows = MKLRegressor(**given, solver=DualAscent(batch=32), approx="features").fit(X, y)
    assert rows.certified_ and rows.dual_gap_ <= 1e-5 and not hasattr(rows, "dual_coef_")
    np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=2e-5)
    np.testing.assert_allclose(rows.predict(X), exact.predict(X), atol=0.05)
    if rows.loss in ("squared", "huber"):
        np.testing.assert_allclose(certificate(rows, X, y).primal, rows.objective_, rtol=1e-8)


def test_several_outputs_share_weights_with_any_loss(data):
    X, y = data
    three = np.digitize(y, [4.7, 5.6])
    given = {"loss": "logistic", "norm": 2.0, "C": 0.1, "tol": 1e-5, "random_state": 0}
    exact = MKLClassifier(RMS, **given).fit(X, three)
    rows = MKLClassifier(RMS, approx="features", **given).fit(X, three)
    np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=2e-5)
    np.testing.assert_allclose(rows.weights_.sum(), exact.weights_.sum(), rtol=1e-2)


def test_matrices_that_do_not_fit_files_and_dask(tmp_path):
    """Norm 2 is learned from rows by itself; rows may be in a file or in a collection."""
    da = pytest.importorskip("dask.array")
    rng = np.random.RandomState(4)
    n = 20_500  # more than are merged
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(n, 3))
    X[:] = rng.randn(n, 3)
    y = X[:, 0] * X[:, 1] - X[:, 2] + rng.randn(n)
    model = MKLRegressor(Products(degree=2), norm=2.0, C=0.01, tol=1e-6, memory_limit="1GB", random_state=0)
    expected = model.fit(X, y).predict(X)
    assert model.certified_ and not hasattr(model, "X_fit_")
    lazy = da.from_array(np.asarray(X), chunks=(6000, 3))
    model.fit(lazy, da.from_array(y, chunks=5000))
    np.testing.assert_allclose(model.predict(np.array(X)), expected, atol=1e-3)


def test_a_search_over_norms(data):
    X, y = data
    search = MKLRegressorCV(RMS, norms=[1.0, 2.0], Cs=[0.001, 0.1], cv=2, approx="features", random_state=0)
    assert search.fit(X, y).best_params_["C"] == 0.1


def test_refusals_say_what_to_do(data, monkeypatch):
    X, y = data
    ascent = {"solver": "dual-ascent", "approx": "features"}
    wrong = [
        ({"norm": 1.0, **ascent}, "needs a finite norm above 1.*Take solver='corrective'"),
        ({"norm": 2.0, "covariates": [3], **ascent}, "covariates, which it does not learn. Take norm=1"),
        ({"norm": 2.0, "solver": DualAscent(batch=0), "approx": "features"}, "batch=0 was given"),
        ({"norm": 2.0, "solver": "stochastic", "approx": "features"}, "Take solver='dual-ascent'"),
        ({"norm": 2.0, "solver": "dual-ascent", "kernels": Gaussians(0.5, 5.0)}, "dual-ascent"),
    ]
    for options, message in wrong:
        with pytest.raises(ValueError, match=message):
            MKLRegressor(**{"kernels": RMS, **options}).fit(X, y)
    monkeypatch.setattr(row_products, "_LISTED", 10)
    with pytest.raises(ValueError, match=r"there are 35, more than can be listed\. Take norm=1 with solver="):
        MKLRegressor(RMS, norm=2.0, **ascent).fit(X, y)
