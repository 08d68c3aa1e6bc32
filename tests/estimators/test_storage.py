"""`storage="float32"`: kernels in half of the memory, and a gap that stays that of the kernels themselves."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLSurvival
from manykernels.families import gaussian_grid, views
from manykernels.grams import RoundedGram
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Polynomial

X, y = load_breast_cancer(return_X_y=True)
X, y = (X[:120] - X[:120].mean(axis=0)) / X[:120].std(axis=0), y[:120]
KERNELS = gaussian_grid(1.0, 30.0, 6)


@pytest.fixture
def rounded(monkeypatch):
    """How many stacks were kept in single precision."""
    made, init = [], RoundedGram.__init__

    def watched(self, *args):
        init(self, *args)
        made.append(self.n)

    monkeypatch.setattr(RoundedGram, "__init__", watched)
    return made


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("center", [False, True])
def test_the_gap_is_a_bound_for_the_exact_kernels(loss, norm, center, rounded):
    """Other code computes P and D from exact kernels: the fit claimed no smaller gap, and reached tol."""
    options = {"norm": norm, "loss": loss, "center": center, "C": 10.0}
    model = MKLClassifier(KERNELS, **options, storage="float32").fit(X, y)
    exact, double = certificate(model, X, y), MKLClassifier(KERNELS, **options).fit(X, y)
    assert rounded and model.dual_gap_ <= model.tol
    assert exact.primal <= model.objective_ * (1 + 1e-12)
    assert exact.gap <= model.dual_gap_ + 1e-12
    assert abs(model.objective_ - double.objective_) <= 2e-3 * double.objective_
    decided = model.kernel_(X, X) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), decided, atol=1e-9)


def test_rounding_that_tol_does_not_allow_for_is_said():
    """A kernel of large values and a tiny tolerance: the warning names the storage, and the gap is honest."""
    kernels = [Polynomial(degree=2, coef0=1e3)]
    options = {"kernels": kernels, "loss": "squared", "normalize": None, "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MKLRegressor(**options, C=1e-6).fit(X[:60], X[:60, 0])
    with pytest.warns(ConvergenceWarning, match=r"stored in float32, whose rounding leaves this gap"):
        model = MKLRegressor(**options, C=1e-6, storage="float32").fit(X[:60], X[:60, 0])
    assert certificate(model, X[:60], X[:60, 0]).gap <= model.dual_gap_


def test_views_that_samples_lack(rounded):
    Z = X.copy()
    Z[::5, :10] = np.nan
    kernels = views({"mean": range(10), "rest": range(10, 30)})
    one = MKLClassifier(kernels, storage="float32", tol=1e-5).fit(Z, y)
    two = MKLClassifier(kernels, tol=1e-5).fit(Z, y)
    assert rounded and one.objective_ == pytest.approx(two.objective_, rel=1e-4)
    np.testing.assert_allclose(one.decision_function(Z), two.decision_function(Z), atol=0.02)


def test_several_outputs_with_weights_of_their_own(rounded):
    Z, t = load_diabetes(return_X_y=True)
    t = np.stack([t, np.roll(t, 3)], axis=1)[:80] / t.std()
    options = {"kernels": KERNELS, "multi_output": "own", "random_state": 0}
    one = MKLRegressor(**options, storage="float32").fit(Z[:80], t)
    assert rounded and np.all(one.dual_gap_ <= one.tol) and certificate(one, Z[:80], t).gap <= one.tol


def test_times_to_an_event(rounded):
    rng = np.random.RandomState(0)
    times = np.column_stack([rng.rand(120) < 0.7, np.exp(-0.3 * X[:, 0]) * rng.exponential(size=120)])
    model = MKLSurvival(KERNELS, storage="float32").fit(X, times)
    exact = certificate(model, X, times)
    assert rounded and exact.gap <= model.dual_gap_ + 1e-12 and model.dual_gap_ <= model.tol


def test_a_search_passes_it_on(rounded):
    model = MKLClassifierCV(KERNELS, Cs=[1.0, 10.0], cv=3, storage="float32", random_state=0).fit(X, y)
    assert rounded and model.best_estimator_.storage == "float32"
    assert model.score(X, y) > 0.9


def test_given_matrices_keep_their_own_type(rounded):
    stack = np.stack([np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / w) for w in (10.0, 40.0)], axis=2)
    one = MKLClassifier("precomputed", storage="float32").fit(stack, y)
    two = MKLClassifier("precomputed").fit(stack, y)
    assert not rounded and one.objective_ == two.objective_


@pytest.mark.parametrize("given", ["single", np.float32, None, np.zeros(2)])
def test_other_types_are_refused(given):
    with pytest.raises((ValueError, TypeError), match=r"storage=.*expected.*'?float(64|32)?"):
        MKLClassifier(storage=given).fit(X, y)


def test_kernels_of_somebody_else_are_judged_as_they_are(rounded):
    """Rounding gives a matrix of low rank negative eigenvalues, which the kernel itself does not have."""
    kernels = {"line": lambda A, B: A @ B.T, "wide": Gaussian(5.0)}
    model = MKLClassifier(kernels, norm=2.0, storage="float32").fit(X, y)
    assert rounded and certificate(model, X, y).gap <= model.dual_gap_ + 1e-12
    with pytest.raises(ValueError, match="'minus' is not positive semi-definite"):
        MKLClassifier(
            {"minus": lambda A, B: A @ B.T - 10.0 * np.sign(A) @ np.sign(B).T}, storage="float32"
        ).fit(X, y)


def test_values_that_float32_cannot_hold_are_named():
    with pytest.raises(ValueError, match=r"Polynomial.*is not finite on the training data"):
        MKLClassifier([Polynomial(degree=8, coef0=1e5)], normalize=None, storage="float32").fit(X, y)
