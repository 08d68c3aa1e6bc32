"""Losses that need every sample, in the space of features: the answers of matrices, without matrices."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.helpers import told

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.estimators._approx_primal import FeatureActiveSet, FeatureGram, FeatureRisk, Smoothed
from manykernels.grams import FactorGram
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared, SquaredHinge
from manykernels.objectives import Risk
from manykernels.penalties import ElasticNet, resolve_penalty
from manykernels.solvers import ActiveSet, Alternating

X, y = make_classification(300, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
SIGNS = np.where(y == 1, 1.0, -1.0)[:, None]
KERNELS = [Gaussian(1.5), Gaussian(5.0), Linear(), OnColumns(Gaussian(1.0), [0, 1])]
FEATURES = Nystroem(15).fit(KERNELS, X, rng=np.random.RandomState(0))
PHI, PTR = FEATURES.transform(X), FEATURES.ptr
COST = np.random.RandomState(1).uniform(0.3, 2.0, SIGNS.shape)
LOSSES = [Logistic(), SquaredHinge(), Hinge(), EpsilonInsensitive(0.2), Squared()]
X_iris, y_iris = load_iris(return_X_y=True)
ALL = Nystroem(10_000, "uniform")


def quietly(model, *data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* is more than", UserWarning)
        return model.fit(*data)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    ("norm", "intercept"),
    [(1.0, False), (1.0, True), (2.0, True), (np.inf, False), (ElasticNet(0.3), True)],
    ids=str,
)
def test_the_optimum_is_that_of_matrices(loss, norm, intercept):
    penalty, risk = resolve_penalty(norm), Risk(loss, SIGNS, COST, intercept)
    found = FeatureActiveSet().run(FeatureGram(PHI, PTR), risk, penalty, told(1e-4, 300))
    matrices = ActiveSet().run(FactorGram(PHI, PTR), risk, penalty, told(1e-4, 300))
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(matrices.primal, rel=1e-4)
    assert found.dual <= matrices.primal * (1 + 1e-9)
    if intercept:
        np.testing.assert_allclose(found.alpha.sum(axis=0), 0.0, atol=1e-8 * np.abs(found.alpha).sum())
    # both values are what they say, by matrices alone
    K = FactorGram(PHI, PTR).combine(found.weights)
    f = K @ found.alpha + found.intercept
    q = FactorGram(PHI, PTR).quad(found.alpha).sum(axis=1)
    primal = 0.5 * penalty.group_norm(found.weights * np.sqrt(q)) + risk.loss_value(f)
    assert found.primal == pytest.approx(primal, rel=1e-8)
    assert found.dual >= risk.dual(found.alpha, q, penalty, 0.0) * (1 - 1e-9)


@pytest.mark.parametrize("loss", [LOSSES[0], LOSSES[1], LOSSES[4]], ids=str)
@pytest.mark.parametrize("intercept", [False, True])
def test_the_sensitivity_is_that_of_matrices(loss, intercept):
    """BᵀB is the second derivative of J, and `move` the derivative of α, of each output."""
    two, costs = np.hstack([SIGNS, SIGNS[::-1]]), np.hstack([COST, COST])
    theta, zero = np.array([0.3, 0.2, 0.4, 0.1]), np.zeros_like(two)
    values = []
    for gram, risk in (
        (FeatureGram(PHI, PTR), FeatureRisk(Risk(loss, two, costs, intercept))),
        (FactorGram(PHI, PTR), Risk(loss, two, costs, intercept)),
    ):
        K = gram.combine(theta)
        fit = risk.solve(K, zero, 1e-12)
        B = risk.curvature(K, fit, gram.products(fit.alpha))
        d = np.array([0.1, -0.1, 0.2, 0.0])
        values.append((fit.alpha, B.T @ B, risk.move(fit, zero, B @ d)))
    for a, b in zip(*values, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * np.abs(b).max())


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3)], ids=str)
@pytest.mark.parametrize("mu", [1.0, 0.1])
def test_a_smoothed_loss_is_below_by_at_most_half_mu(loss, mu):
    smooth, f = Smoothed(loss, mu), np.linspace(-3.0, 3.0, 1001)
    for target in (-1.0, 1.0):
        t = np.full_like(f, target)
        below = loss.value(t, f) - smooth.value(t, f)
        assert below.min() > -1e-12 and below.max() <= 0.5 * mu + 1e-12
        numeric = np.gradient(smooth.value(t, f), f)
        np.testing.assert_allclose(smooth.gradient(t, f)[1:-1], numeric[1:-1], atol=0.01 / mu)
        a = -smooth.gradient(t, f)
        np.testing.assert_allclose(smooth.value(t, f) + smooth.conjugate(t, -a), -a * f, atol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_all_points_as_landmarks_give_the_exact_method(loss, norm):
    options = {"loss": loss, "norm": norm, "tol": 1e-7}
    some = X[:100], y[:100]
    exact = MKLClassifier(KERNELS, **options).fit(*some)
    model = quietly(MKLClassifier(KERNELS, approx=ALL, **options), *some)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-6)
    np.testing.assert_allclose(model.decision_function(X), exact.decision_function(X), atol=2e-2)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
@pytest.mark.parametrize("center", [False, True])
def test_classifiers_reach_the_gap_they_promise(loss, multi_class, center):
    options = {"loss": loss, "multi_class": multi_class, "center": center, "norm": 2.0}
    options["class_weight"] = {0: 1.0, 1: 2.0, 2: 1.0}
    model = MKLClassifier(approx=Nystroem(10), random_state=0, **options).fit(X_iris, y_iris)
    assert model.dual_gap_ <= 1e-3 and model.certified_ and model.score(X_iris, y_iris) > 0.9
    f = model.features_.transform(X_iris) @ model.feature_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X_iris), f)
    if loss == "logistic":
        np.testing.assert_allclose(model.predict_proba(X_iris).sum(axis=1), 1.0)


def test_regressors_reach_the_gap_they_promise():
    A, b = load_diabetes(return_X_y=True)
    model = MKLRegressor(approx=Nystroem(10), loss="epsilon_insensitive", random_state=0).fit(20.0 * A, b)
    assert model.dual_gap_ <= 1e-3 and model.score(20.0 * A, b) > 0.3


def test_other_solvers_use_matrices_where_they_fit():
    options = {"loss": "logistic", "approx": Nystroem(10), "norm": 2.0, "random_state": 0, "tol": 1e-5}
    a, b = (MKLClassifier(KERNELS, solver=s, **options).fit(X, y) for s in ("auto", Alternating()))
    assert a.objective_ == pytest.approx(b.objective_, rel=2e-5)


def test_too_little_memory_says_what_to_do():
    model = MKLClassifier(KERNELS, approx=Nystroem(20), memory_limit="400KB")
    with pytest.raises(MemoryError, match=r"features of all 300 samples.*loss='squared'.*UFOMKLClassifier"):
        model.fit(X, y)
    with pytest.raises(MemoryError, match="matrices of 300 × 300"):
        model.set_params(memory_limit="2MB", solver="alternating").fit(X, y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_components=.* is more than:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        MKLClassifier(approx=Nystroem(5), random_state=0),
        MKLClassifier(loss="logistic", approx=Nystroem(5), random_state=0, norm=2.0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), Hinge(), Logistic(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_tolerances_that_rounding_does_not_allow_end_with_a_gap_that_holds(loss, C):
    """A machine whose gap is zero already has to end too: it made a smoothed loss of no width at all."""
    risk = Risk(loss, SIGNS[:60], np.full((60, 1), C), True)
    penalty, gram = resolve_penalty(1.0), FeatureGram(np.ascontiguousarray(PHI[:60]), PTR)
    with np.errstate(divide="raise", invalid="raise"):
        rough = FeatureActiveSet().run(gram, risk, penalty, told(1e-3, 15))
        fine = FeatureActiveSet().run(gram, risk, penalty, told(1e-12, 15))
    assert rough.gap <= 1e-3 and np.isfinite(fine.gap)
    assert fine.primal >= rough.dual * (1 - 1e-9) and rough.primal >= fine.dual * (1 - 1e-9)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), Hinge()], ids=str)
def test_corners_are_learned_with_matrices_while_samples_are_few(loss):
    """The smoothed loss reaches about 1e-9 at best, and slowly."""
    task = MKLClassifier if loss.task == "classification" else MKLRegressor
    model = task(KERNELS, loss=loss, approx=Nystroem(3), tol=1e-8, random_state=0)
    assert model.fit(X[:36], y[:36]).dual_gap_ <= 1e-8
