"""P and D computed anew from a fitted model: they agree with what the fit claims, and with long double."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_wine

from manykernels import AlignMKLClassifier, MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels._fast import compensated
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, Products
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, Polynomial
from manykernels.losses import Hinge, Squared
from manykernels.machines import feasible
from manykernels.objectives import Separable
from manykernels.objectives.rounding import zero_sum
from manykernels.penalties import LpBall, Simplex

X, labels = load_wine(return_X_y=True)
X, labels = ((X - X.mean(axis=0)) / X.std(axis=0))[::2], labels[::2]
rng = np.random.default_rng(0)
y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.1 * rng.normal(size=len(X))
KERNELS = [Linear(), Gaussian(1.0), Gaussian(4.0), Polynomial(2)]


def check(model, *data, **more):
    found = certificate(model, *data, **more)
    assert found.certified == model.certified_
    assert found.dual <= found.primal
    np.testing.assert_allclose(found.primal, model.objective_, rtol=1e-9)
    assert found.primal <= model.objective_ * (1 + 1e-14)  # which has what rounding may add
    np.testing.assert_allclose(found.gap, model.dual_gap_, rtol=1e-6, atol=1e-9)
    return found


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "squared"])
@pytest.mark.parametrize("options", [{}, {"multi_class": "ovr"}, {"norm": 2.0, "center": True}])
def test_classification(loss, options):
    check(MKLClassifier(KERNELS, loss=loss, **options).fit(X, labels), X, labels)


def test_weights_are_those_of_the_fit():
    weight = rng.integers(0, 3, len(X)).astype(float)
    model = MKLClassifier(KERNELS, class_weight="balanced").fit(X, labels, weight)
    found = check(model, X, labels, sample_weight=weight)
    assert abs(certificate(model, X, labels).primal - found.primal) > 1e-3 * found.primal


@pytest.mark.parametrize("solver", ["active-set", "alternating", "blockwise"])
def test_regression_by_each_solver(solver):
    check(MKLRegressor(KERNELS, norm=2.0, solver=solver).fit(X, y), X, y)


@pytest.mark.parametrize("family", [Products(degree=2), Gaussians(0.5, 30.0)])
def test_families_are_bounded_as_a_whole(family):
    assert check(MKLRegressor(family).fit(X, y), X, y).certified


def test_a_stack_and_a_search():
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    check(MKLClassifier("precomputed").fit(stack, labels), stack, labels)
    search = MKLClassifierCV(KERNELS, cv=3).fit(X, labels)
    assert certificate(search, X, labels).gap <= search.dual_gap_ + 1e-9


def test_explicit_features_have_a_bound_of_their_own():
    model = MKLRegressor(KERNELS, approx=Nystroem(20), tol=1e-6).fit(X, y)
    found = certificate(model, X, y)
    np.testing.assert_allclose(found.primal, model.objective_, rtol=1e-7)
    assert 0.0 <= found.gap < 0.1 and found.dual <= model.objective_


def test_a_model_that_was_changed_is_found_out():
    """The certificate is of the function that predicts: a worse one has a larger gap."""
    model = MKLRegressor(KERNELS).fit(X, y)
    model._model = replace(model._model, dual=0.5 * model._model.dual)
    assert certificate(model, X, y).gap > 0.05


def test_what_has_none():
    with pytest.raises(TypeError, match="AlignMKLClassifier; expected a fitted MKLClassifier"):
        certificate(AlignMKLClassifier(KERNELS).fit(X, labels), X, labels)
    with pytest.raises(TypeError, match="smooth loss"):
        certificate(MKLClassifier(KERNELS, approx=Nystroem(20)).fit(X, labels), X, labels)
    with pytest.raises(ValueError, match="holds 10 samples, and the model was fitted on 89"):
        certificate(MKLRegressor(KERNELS).fit(X, y), X[:10], y[:10])


def test_compensated_sums_against_rationals():
    """Values that cancel: float64 has no correct digit, the compensated sums all of them."""
    K = rng.normal(size=(6, 6)) * 10.0 ** rng.integers(0, 14, (6, 6))
    alpha = rng.normal(size=(6, 2))
    alpha[-1] = -alpha[:-1].sum(axis=0)
    high, low = np.zeros((6, 2)), np.zeros((6, 2))
    compensated.expand(K, alpha, 0.3, high, low)
    rational = np.vectorize(Fraction, otypes=[object])
    exact = rational(K) @ rational(alpha)
    np.testing.assert_allclose(high + low, (exact * Fraction(0.3)).astype(float), rtol=1e-14)
    total = np.sum(rational(alpha) * exact)
    np.testing.assert_allclose(compensated.quad(K, alpha), float(total), rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_sums_are_exactly_zero(seed):
    """In rational arithmetic, inside the box to the last digit, next to where it was."""
    rng = np.random.default_rng(seed)
    hi = 10.0 ** rng.uniform(-8, 8, 30)
    lo = -(10.0 ** rng.uniform(-8, 8, 30)) * (rng.uniform(size=30) < 0.7)
    alpha = np.clip(rng.normal(size=30) * 10.0 ** rng.uniform(-6, 6), lo, hi)
    alpha = feasible(alpha, lo, hi)
    found = zero_sum(alpha, lo, hi, hi - lo)
    assert sum(Fraction(v) for v in found) == 0
    assert np.all((found >= lo) & (found <= hi))
    assert not found.any() or np.abs(found - alpha).sum() <= 1e-9 * np.abs(alpha).sum()


def test_without_room_there_is_only_zero():
    ones = np.ones(4)
    assert not zero_sum(ones, np.zeros(4), ones, ones).any()
    assert not zero_sum(np.full(4, 1e-300), -ones, ones, ones).any()


@pytest.mark.parametrize("loss, targets", [(Hinge(), [1.0, -1.0]), (Squared(), [0.3, -2.0])])
def test_larger_kernels_allow_for_more_rounding(loss, targets):
    Y = np.resize(targets, (10, 1))
    risk = Separable(loss, Y, np.full((10, 1), 2.0), True)
    alpha = risk.exact(Y * rng.uniform(0.1, 1.0, (10, 1)))
    q, f = np.array([3.0]), 0.5 * Y
    values = [risk.primal(Simplex(), np.ones(1), q, f, alpha, size) for size in (0.0, 1.0, 1e8, 1e12)]
    bounds = [risk.dual(alpha, q, LpBall(2.0), size) for size in (0.0, 1.0, 1e8, 1e12)]
    assert np.all(np.diff(values) > 0.0) and np.all(np.diff(bounds) < 0.0)


def test_offsets_are_served_or_refused():
    """A linear kernel at a large offset: never a wrong prediction with a small gap."""
    served = 0
    for offset in (0.0, 1e2, 1e4, 1e6, 1e7, 1.7e9):
        for loss in ("squared", "epsilon_insensitive"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    model = MKLRegressor([Linear()], normalize=None, loss=loss).fit(X + offset, y)
                except ValueError as error:
                    assert "Subtract the mean" in str(error) and offset >= 1e6
                    continue
            served += 1
            assert np.mean((model.predict(X + offset) - y) ** 2) <= np.var(y)
            assert certificate(model, X + offset, y).primal <= model.objective_ * (1 + 1e-12)
    assert served >= 6
