"""Totally corrective learning: the optimum of the whole family, with a gap that covers every kernel of it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers import LOSSES, primal_of, problem, risk_of, run, told

from manykernels.families import Products
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, OnColumns
from manykernels.losses import Hinge, Logistic, Squared
from manykernels.objectives import Separable
from manykernels.oracles import Best, FiniteOracle, build_oracle
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import ActiveSet, Corrective, Greedy, History, Stochastic, resolve_solver
from manykernels.solvers._lasso import Lasso

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_family = pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("features", {"degree": 3}),
        ("features", {"degree": 2, "atom_scale": "rms", "rho": [1.0, 1.0, 1.5]}),
        ("features", {"degree": 3, "interactions_only": True, "multiplicity": "paper"}),
        ("gaussians", {"degree": 2}),
        ("gaussians", {"degree": 2, "atom_scale": "rms", "interactions_only": True}),
    ],
    ids=["raw", "rms", "interactions", "gaussians", "gaussian interactions"],
)


def data(seed=0, n=30, r=4):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, r)
    targets = (X[:, 0] * X[:, 1] + 0.7 * X[:, 2] - 0.5 * X[:, 0] ** 2 + 0.3 * rng.randn(n))[:, None]
    return X, np.where(targets > np.median(targets), 1.0, -1.0), targets


def oracle_of(X, kind="features", normalize="trace", **options):
    base = "features" if kind == "features" else [OnColumns(Gaussian(1.5), j) for j in range(X.shape[1])]
    return build_oracle(Products(base, **options), X, normalize=normalize)


def written_out(oracle, X):
    """Every product as a matrix, from the kernels as functions: not from the Gram that solvers use."""
    return np.stack([oracle.kernel(z)(X) for z in oracle.atoms()])


def solve(oracle, risk, tol=1e-6, max_iter=1000, solver=None, penalty=None, **options):
    return (solver or Corrective()).run(oracle, risk, penalty or Simplex(), told(tol, max_iter, **options))


def assert_certified(oracle, risk, stack, found):
    """P is that of the function returned, and no kernel of the family lets the optimum fall below D."""
    atoms = list(oracle.atoms())
    theta = np.zeros(len(atoms))
    theta[[atoms.index(z) for z in found.atoms]] = found.weights
    assert len(set(found.atoms)) == len(found.atoms) and np.all(found.weights > 0.0)
    assert found.weights.sum() == pytest.approx(1.0, abs=1e-9)
    value = primal_of(stack, risk, Simplex(), theta, found.alpha, found.intercept)
    np.testing.assert_allclose(found.primal, value, rtol=1e-7)
    assert found.dual <= found.primal * (1 + 1e-9)
    assert risk.fit_intercept or np.all(found.intercept == 0.0)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    assert found.dual <= best.primal * (1 + 1e-9), "D is above the optimum of the listed family"
    assert found.primal >= best.dual * (1 - 1e-9)
    return best


# -- finite dictionaries ---------------------------------------------------------------------------
@each_loss
@pytest.mark.parametrize(("outputs", "fit_intercept"), [(1, True), (1, False), (3, True)])
def test_a_finite_dictionary_has_the_optimum_of_the_active_set(loss, outputs, fit_intercept):
    stack, labels, targets = problem(1, 26, 9, outputs)
    C = 3.0 * np.linspace(0.5, 1.5, 26)[:, None]
    risk = risk_of(loss, labels, targets, C, fit_intercept)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    found = run(Corrective(add=2), stack, risk, Simplex(), 1e-6)
    assert found.converged and 0.0 <= found.gap <= 1e-6
    np.testing.assert_allclose(found.primal, best.primal, rtol=1e-6)
    again = primal_of(stack, risk, Simplex(), found.weights, found.alpha, found.intercept)
    np.testing.assert_allclose(found.primal, again, rtol=1e-8)
    assert np.all(found.weights >= 0.0) and found.weights.sum() == pytest.approx(1.0, abs=1e-9)


# -- products --------------------------------------------------------------------------------------
@each_loss
@each_family
def test_products_have_the_optimum_of_the_family_written_out(loss, kind, options):
    X, labels, targets = data()
    oracle = oracle_of(X, kind, **options)
    fit_intercept = kind == "features"
    risk = risk_of(loss, labels, targets, 2.0 * np.linspace(0.5, 1.5, 30)[:, None], fit_intercept)
    found = solve(oracle, risk)
    best = assert_certified(oracle, risk, written_out(oracle, X), found)
    assert found.certified and found.converged and found.gap <= 1e-6
    np.testing.assert_allclose(found.primal, best.primal, rtol=1e-6)


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=repr)
def test_products_of_several_outputs_share_their_weights(loss):
    X, _, targets = data()
    Y = np.column_stack([targets, X[:, 1] ** 2, X[:, 3]])
    risk = risk_of(loss, np.where(Y > np.median(Y, axis=0), 1.0, -1.0), Y, 2.0)
    oracle = oracle_of(X, degree=2, atom_scale="rms")
    found = solve(oracle, risk)
    best = assert_certified(oracle, risk, written_out(oracle, X), found)
    assert found.alpha.shape == (30, 3) and found.converged
    np.testing.assert_allclose(found.primal, best.primal, rtol=1e-6)


@pytest.mark.parametrize("C", [1e-4, 0.1, 100.0])
@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_every_cost(loss, C, fit_intercept):
    X, labels, targets = data(3)
    oracle = oracle_of(X, degree=2)
    risk = risk_of(loss, labels, targets, C, fit_intercept)
    found = solve(oracle, risk, 1e-5)
    assert found.converged
    assert_certified(oracle, risk, written_out(oracle, X), found)


@pytest.mark.parametrize(
    "tol",
    [1e-3, pytest.param(1e-4, marks=pytest.mark.slow), pytest.param(1e-5, marks=pytest.mark.slow), 1e-6],
)
@each_loss
def test_every_tolerance_is_reached(loss, tol):
    """Few atoms at a time from a larger family: many rounds, all of them looked at."""
    X, labels, targets = data(5, 40, 5)
    risk = risk_of(loss, labels, targets, 5.0)
    history = History()
    found = solve(
        oracle_of(X, degree=3, atom_scale="rms"), risk, tol, solver=Corrective(add=5), history=history
    )
    assert found.converged and found.certified and -1e-9 <= found.primal - found.dual
    assert found.gap <= tol and history.gap[-1] == found.gap and history.objective[-1] == found.primal
    objective, gap = np.array(history.objective), np.array(history.gap)
    # each problem is solved to a tenth of the gap of the family
    assert np.all(np.diff(objective) <= (1e-6 + 3 * tol + 0.1 * np.minimum(gap, 0.3))[:-1] * objective[:-1])


@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
def test_every_path_ends_at_the_same_optimum(loss):
    X, labels, targets = data(2)
    risk, oracle = risk_of(loss, labels, targets, 20.0), oracle_of(X, degree=3)
    values = [
        solve(oracle, risk, solver=Corrective(add, steps)).primal for add, steps in [(50, 3), (5, 0), (1, 1)]
    ]
    np.testing.assert_allclose(values, values[0], rtol=2e-6)


# -- stopping early, and without a bound -----------------------------------------------------------
@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
@pytest.mark.parametrize("max_iter", [1, 2, 12])
def test_stopped_early_the_gap_is_honest(loss, max_iter):
    X, labels, targets = data(4, 40, 5)
    oracle = oracle_of(X, degree=3)
    risk = risk_of(loss, labels, targets, 50.0)
    found = solve(oracle, risk, 1e-8, max_iter, Corrective(add=1, steps=1))
    assert not found.converged and found.certified and found.gap > 1e-8
    best = assert_certified(oracle, risk, written_out(oracle, X), found)
    assert found.gap >= (found.primal - best.primal) / found.primal * (1 - 1e-6)


class Unsure(FiniteOracle):
    """Says what is best, but hides kernels and bounds nothing on the looks named."""

    def __init__(self, gram, unsure, hidden=()):
        super().__init__(gram)
        self.unsure, self.hidden, self.looks = unsure, hidden, 0

    def best(self, A, k):
        self.looks += 1
        exact = super().best(A, int(self.size))
        if not self.unsure(self.looks):
            return Best(exact.atoms[:k], exact.values[:k], exact.upper)
        seen = [(z, q) for z, q in zip(exact.atoms, exact.values, strict=True) if z not in self.hidden][:k]
        return Best([z for z, _ in seen], np.array([q for _, q in seen]), np.inf)


def test_without_a_bound_nothing_is_certified():
    stack, labels, targets = problem(1, 26, 9)
    risk = risk_of(Squared(), labels, targets, 3.0)
    found = solve(Unsure(StackGram(stack), lambda look: True), risk)
    assert found.converged and not found.certified
    assert found.primal == pytest.approx(run(ActiveSet(), stack, risk, Simplex(), 1e-9).primal, rel=1e-6)


def test_a_bound_that_was_not_proven_does_not_become_one():
    """The best kernel is hidden while nothing is proven: the values of then are far above the optimum."""
    rng = np.random.RandomState(0)
    y = rng.randn(20, 1)
    F = np.column_stack([y, 0.2 * y + rng.randn(20, 3)])
    stack = np.einsum("im,jm->mij", F, F)
    risk = risk_of(Squared(), None, y, 5.0)
    best = run(ActiveSet(), stack, risk, Simplex(), 1e-9)
    assert best.weights[0] > 0.99
    assert run(ActiveSet(), stack[1:], risk, Simplex(), 1e-6).dual > 3.0 * best.primal
    late = Unsure(StackGram(stack), lambda look: look <= 2, [0])
    found = solve(late, risk, solver=Corrective(add=1, steps=0))
    assert found.certified and late.looks > 3
    assert found.dual <= best.primal * (1 + 1e-9)
    np.testing.assert_allclose(found.primal, best.primal, rtol=2e-6)
    early = Unsure(StackGram(stack), lambda look: look != 2, [0])
    assert not solve(early, risk, solver=Corrective(add=1, steps=0)).certified


# -- little to learn -------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["features", "gaussians"])
@pytest.mark.parametrize(("level", "fit_intercept"), [(0.0, True), (2.5, True), (0.0, False)])
def test_a_constant_target(kind, level, fit_intercept):
    X, _, targets = data()
    risk = risk_of(Squared(), None, np.full_like(targets, level), 1.0, fit_intercept)
    found = solve(oracle_of(X, kind), risk)
    assert found.converged and found.primal <= 1e-20 and np.all(np.isfinite(found.weights))
    np.testing.assert_allclose(found.intercept, level, atol=1e-10)


@each_loss
def test_two_samples(loss):
    """One sample of each class, or two numbers."""
    X = np.array([[1.0, 2.0, -1.0], [-0.5, 1.0, 3.0]])
    risk = risk_of(loss, np.array([[1.0], [-1.0]]), np.array([[2.0], [-1.0]]), 10.0)
    oracle = oracle_of(X, degree=2)
    found = solve(oracle, risk, 1e-5)
    assert found.converged
    assert_certified(oracle, risk, written_out(oracle, X), found)


@each_loss
def test_the_same_feature_twice(loss):
    """Weights are not unique then; the objective is, and it is that without the copy."""
    X, labels, targets = data(6)
    risk = risk_of(loss, labels, targets, 2.0)
    single = solve(oracle_of(X, degree=2), risk)
    double = solve(oracle_of(np.column_stack([X, X[:, 0], -X[:, 1]]), degree=2), risk)
    assert single.converged and double.converged
    np.testing.assert_allclose(double.primal, single.primal, rtol=2e-6)


@pytest.mark.parametrize("kind", ["features", "gaussians"])
def test_the_same_question_has_the_same_answer(kind):
    X, _, targets = data()
    risk = risk_of(Squared(), None, targets, 2.0)
    first, second = (solve(oracle_of(X, kind), risk) for _ in range(2))
    assert first.atoms == second.atoms and first.n_iter == second.n_iter
    assert np.array_equal(first.weights, second.weights) and np.array_equal(first.alpha, second.alpha)


def test_targets_far_from_zero():
    """A shift of the target is the intercept's; rounding must not cost the certificate."""
    X, _, targets = data()
    plain = solve(oracle_of(X), risk_of(Squared(), None, targets, 2.0))
    far = solve(oracle_of(X), risk_of(Squared(), None, targets + 1e4, 2.0))
    assert far.converged and far.certified
    np.testing.assert_allclose(far.primal, plain.primal, rtol=1e-7)
    np.testing.assert_allclose(far.intercept - 1e4, plain.intercept, atol=1e-6)


# -- others find the same --------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [Squared(), Hinge(), Logistic()], ids=repr)
@pytest.mark.parametrize("kind", ["features", "gaussians"])
def test_greedy_stochastic_and_the_active_set_agree(loss, kind):
    X, labels, targets = data(7, 30, 3)
    oracle, risk = oracle_of(X, kind, degree=2), risk_of(loss, labels, targets, 1.0)
    best = run(ActiveSet(), written_out(oracle, X), risk, Simplex(), 1e-8)
    for solver, tol, most in [(Corrective(), 1e-6, 500), (Greedy(), 3e-3, 800), (Stochastic(), 3e-2, 1500)]:
        found = solve(oracle, risk, tol, most, solver)
        assert found.certified and found.gap <= tol, solver
        assert found.dual <= best.primal * (1 + 1e-8) and found.primal >= best.dual * (1 - 1e-8)
        assert found.primal <= best.primal * (1 + 1.1 * tol)


# -- refusals --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "penalty", [LpBall(2.0), LpBall(np.inf), L2Ball(0.1, 1.0), ElasticNet(0.5)], ids=repr
)
def test_other_norms_are_refused(penalty):
    X, _, targets = data()
    with pytest.raises(
        ValueError, match=r"solver='corrective' needs norm=1, .* and norm=.* was given. Take "
    ):
        solve(oracle_of(X), risk_of(Squared(), None, targets), penalty=penalty)


@pytest.mark.parametrize("options", [{"add": 0}, {"add": 2.5}, {"steps": -1}, {"steps": "many"}])
def test_options_that_make_no_sense(options):
    X, _, targets = data()
    with pytest.raises(ValueError, match="expected a whole number, at least"):
        solve(oracle_of(X), risk_of(Squared(), None, targets), solver=Corrective(**options))


def test_a_family_that_cannot_say_what_is_best_is_refused(monkeypatch):
    X, _, targets = data()
    oracle = oracle_of(X)
    monkeypatch.setattr(type(oracle), "offers", lambda self, question: question != "best")
    with pytest.raises(ValueError, match="needs a family that answers 'best', and ProductsOracle does not"):
        solve(oracle, risk_of(Squared(), None, targets))


def test_names_and_the_restricted_problem():
    """Squared loss and features go by the lasso; everything else by the active set."""
    assert isinstance(resolve_solver("corrective"), Corrective)
    X, _, targets = data()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        risk = Separable(Squared(), targets, np.full_like(targets, 2.0), True)
        found = solve(oracle_of(X, degree=3), risk)
    lasso = Lasso(oracle_of(X, degree=3), risk, risk.least_squares())
    lasso.add(list(oracle_of(X, degree=3).atoms()))
    np.testing.assert_allclose(lasso.solve(1.0, 0.0)[1], found.primal, rtol=1e-6)


def test_a_certificate_can_be_demanded():
    X, _, targets = data()
    risk = risk_of(Squared(), None, targets, 2.0)
    found = solve(oracle_of(X, degree=2), risk, solver=Corrective(certify=True))
    assert found.certified
    oracle = oracle_of(X, degree=2)
    search = oracle.best
    oracle.best = lambda *given: replace(search(*given), upper=np.inf)  # as of a family too large to look at
    with pytest.raises(ValueError, match=r"certify=True.*cannot be bounded.*lower degree"):
        solve(oracle, risk, solver=Corrective(certify=True))
    assert not solve(oracle, risk).certified
