"""The second stage: the learned kernel in the hands of a learner."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import KernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from manykernels import AlignMKLClassifier, AlignMKLRegressor, KernelAligner, MKLRegressor
from manykernels.families import views
from manykernels.kernels import Gaussian, Linear, OnColumns, Polynomial

rng = np.random.RandomState(0)
X, X_NEW = rng.randn(60, 4), rng.randn(25, 4)
LABELS = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * rng.randn(60) > 0.5, "yes", "no")
CLASSES = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
NUMBERS = X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.randn(60)
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0), Polynomial(2)]
STACK, STACK_NEW = (np.stack([k(Z, X) for k in KERNELS], axis=2) for Z in (X, X_NEW))

classifiers = pytest.mark.parametrize(
    "learner",
    [
        None,
        SVC(kernel="precomputed", C=10.0),
        NuSVC(kernel="precomputed", nu=0.3),
        GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 10.0]}, cv=3),
    ],
)
regressors = pytest.mark.parametrize(
    "learner",
    [
        None,
        KernelRidge(kernel="precomputed", alpha=0.1),
        SVR(kernel="precomputed", C=10.0),
        NuSVR(kernel="precomputed"),
        GridSearchCV(KernelRidge(kernel="precomputed"), {"alpha": [0.1, 1.0]}, cv=3),
    ],
)
options = pytest.mark.parametrize(
    "options",
    [
        {},
        {"center": False, "normalize": None},
        {"normalize": "cosine", "weighting": "align"},
        {"normalize": "frobenius", "weighting": "uniform", "center": False},
        {"normalize": "max"},
    ],
)


class Parzen(ClassifierMixin, BaseEstimator):
    """A learner of the user's own without a decision_function: shares of the classes in exp of the kernel."""

    def fit(self, K, y):
        self.classes_ = np.unique(y)
        self.members_ = (y[:, None] == self.classes_).astype(float)
        return self

    def predict_proba(self, K):
        p = np.exp(K) @ self.members_
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, K):
        return self.classes_[self.predict_proba(K).argmax(axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


# -- f(x) = kernel_(x, X_fit_) @ dual_coef_ + intercept_ -------------------------------------------
@classifiers
@options
def test_decisions_of_two_classes(learner, options):
    model = AlignMKLClassifier(KERNELS, estimator=learner, **options).fit(X, LABELS)
    f = model.decision_function(X_NEW)
    assert f.shape == (25,) and model.dual_coef_.shape == (60,)
    expected = model.kernel_(X_NEW, model.X_fit_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(f, expected, atol=1e-9)
    np.testing.assert_array_equal(model.predict(X_NEW), np.where(f > 0, "yes", "no"))
    np.testing.assert_array_equal(model.classes_, ["no", "yes"])
    parts = model.contributions(X_NEW)
    assert parts.shape == (25, model.active_.size)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-9)


@regressors
@options
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_decisions_of_regression(learner, options, offset):
    """Also where the targets have a large mean, which kernel ridge knows nothing about."""
    model = AlignMKLRegressor(KERNELS, estimator=learner, **options).fit(X, NUMBERS + offset)
    f = model.predict(X_NEW)
    expected = model.kernel_(X_NEW, model.X_fit_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(f, expected, atol=1e-8)
    parts = model.contributions(X_NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-8)
    assert np.ptp(f) < 100 and abs(f.mean() - offset) < 10


def test_outputs():
    Y = np.stack([NUMBERS + 100.0, X[:, 2]], axis=1)
    model = AlignMKLRegressor(KERNELS).fit(X, Y)
    f = model.predict(X_NEW)
    assert f.shape == (25, 2) and model.dual_coef_.shape == (60, 2)
    expected = model.kernel_(X_NEW, X) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(f, expected, atol=1e-10)
    parts = model.contributions(X_NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-10)
    single = AlignMKLRegressor(KERNELS).fit(X, Y[:, :1])
    flat = AlignMKLRegressor(KERNELS).fit(X, Y[:, 0])
    assert single.predict(X_NEW).shape == (25, 1) and flat.predict(X_NEW).shape == (25,)
    np.testing.assert_allclose(single.predict(X_NEW)[:, 0], flat.predict(X_NEW), atol=1e-10)


def test_the_learner_saw_the_learned_kernel():
    """The same as doing both stages by hand."""
    aligner = KernelAligner(KERNELS).fit(X, CLASSES)
    model = AlignMKLClassifier(KERNELS).fit(X, CLASSES)
    svm = SVC(kernel="precomputed").fit(aligner.transform(X), CLASSES)
    np.testing.assert_allclose(
        model.decision_function(X_NEW), svm.decision_function(aligner.transform(X_NEW)), atol=1e-6
    )
    np.testing.assert_array_equal(model.weights_, aligner.weights_)
    assert model.alignment_ == aligner.alignment_ and model.alignment_bound_ == aligner.alignment_bound_


@pytest.mark.parametrize("center", [False, True])
def test_a_stack_is_its_kernels(center):
    objects = AlignMKLClassifier(KERNELS, center=center).fit(X, LABELS)
    given = AlignMKLClassifier("precomputed", center=center).fit(STACK, LABELS)
    f = objects.decision_function(X_NEW)
    np.testing.assert_allclose(given.decision_function(STACK_NEW), f, atol=1e-6)
    expected = given.kernel_(STACK_NEW, given.X_fit_) @ given.dual_coef_ + given.intercept_
    np.testing.assert_allclose(given.decision_function(STACK_NEW), expected, atol=1e-9)
    parts = given.contributions(STACK_NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + given.intercept_, expected, atol=1e-9)


def test_weights_of_features():
    kernels = [OnColumns(Linear(), [0, 1]), 3.0 * OnColumns(Linear(), [3]), Linear()]
    for normalize in ("trace", "max", "frobenius", None):
        options = {"center": False, "normalize": normalize, "weighting": "align"}
        model = AlignMKLClassifier(kernels, **options).fit(X, LABELS)
        expected = X_NEW @ model.coef_ + model.intercept_
        np.testing.assert_allclose(model.decision_function(X_NEW), expected, atol=1e-9)
        Y = np.stack([NUMBERS, X[:, 1]], axis=1)
        several = AlignMKLRegressor(kernels, **options).fit(X, Y)
        assert several.coef_.shape == (2, 4)
        expected = X_NEW @ several.coef_.T + several.intercept_
        np.testing.assert_allclose(several.predict(X_NEW), expected, atol=1e-9)
    assert not hasattr(AlignMKLClassifier(kernels).fit(X, LABELS), "coef_")  # centred
    assert not hasattr(AlignMKLClassifier(KERNELS, center=False).fit(X, LABELS), "coef_")


def test_contributions_of_views():
    family = views({"first": [0, 1], "second": ([2, 3], [Linear(), Gaussian(1.0)])})
    model = AlignMKLClassifier(family, weighting="align").fit(X, LABELS)
    assert list(model.view_weights_) == ["first", "second"]
    assert sum(model.view_weights_.values()) == pytest.approx(1.0)
    parts = model.contributions(X_NEW, by="view")
    f = model.decision_function(X_NEW)
    assert parts.shape == (25, 2)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-9)


@pytest.mark.parametrize("learner", [None, OneVsRestClassifier(SVC(kernel="precomputed"))])
def test_several_classes_have_no_single_decision(learner):
    model = AlignMKLClassifier(KERNELS, estimator=learner).fit(X, CLASSES)
    assert model.score(X, CLASSES) > 0.8 and model.decision_function(X_NEW).shape == (25, 3)
    for attribute in ("dual_coef_", "intercept_", "coef_"):
        assert not hasattr(model, attribute)
    with pytest.raises(AttributeError, match="one linear combination"):
        model.contributions(X_NEW)


# -- against one-stage learning -------------------------------------------------------------------
@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("kernel", [Gaussian(2.0), Linear(), Polynomial(2)])
def test_one_centred_kernel_is_ridge_regression_with_an_intercept(alpha, kernel):
    """½‖w‖² + (C/2) Σ(y − f − b)² with C = 1/α; the features are centred, so b is the mean of y."""
    y = NUMBERS + 50.0
    two = AlignMKLRegressor(
        [kernel], weighting="uniform", estimator=KernelRidge(kernel="precomputed", alpha=alpha)
    ).fit(X, y)
    one = MKLRegressor([kernel], C=1 / alpha, center=True, loss="squared", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(two.predict(X_NEW), one.predict(X_NEW), atol=1e-6)
    np.testing.assert_allclose(two.dual_coef_, one.dual_coef_, atol=1e-5)
    assert two.intercept_ == pytest.approx(one.intercept_, abs=1e-7)


# -- learners -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (SVC(), r"SVC\(kernel='rbf'\).*Give SVC\(kernel='precomputed'\)"),
        (SVC(kernel="linear"), r"kernel='linear'"),
        (SVC(kernel=lambda a, b: a @ b.T), r"SVC\(kernel=<function"),
        (GridSearchCV(SVC(), {"C": [1.0]}), r"SVC\(kernel='rbf'\)"),
        (KNeighborsClassifier(metric="precomputed"), "expects distances"),
        (GridSearchCV(KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1]}), "expects distances"),
        (
            CalibratedClassifierCV(SVC(kernel="precomputed")),
            "CalibratedClassifierCV was given; it takes features",
        ),
        (LogisticRegression(), r"LogisticRegression was given; it takes features.*Pipeline"),
        (KNeighborsClassifier(), "takes features"),
        (GaussianProcessClassifier(), "kernel of its own"),
        (SVR(kernel="precomputed"), "it is not a learner for classification"),
        (KernelRidge(kernel="precomputed"), "it is not a learner for classification"),
        (OneClassSVM(kernel="precomputed"), "it is not a learner for classification"),
        (KernelPCA(kernel="precomputed"), "it is not a learner for classification"),
    ],
)
def test_learners_that_cannot_use_a_kernel(learner, words):
    with pytest.raises(ValueError, match=words):
        AlignMKLClassifier(KERNELS, estimator=learner).fit(X, LABELS)


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (KernelRidge(), r"KernelRidge\(kernel='linear'\)"),
        (Ridge(), "takes features"),
        (SVC(kernel="precomputed"), "it is not a learner for regression"),
        (GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0]}), "it is not a learner for regression"),
    ],
)
def test_learners_that_cannot_use_a_kernel_for_numbers(learner, words):
    with pytest.raises(ValueError, match=words):
        AlignMKLRegressor(KERNELS, estimator=learner).fit(X, NUMBERS)


def test_learners_that_use_a_kernel_in_another_way():
    inner = make_pipeline(KernelPCA(5, kernel="precomputed"), SVC(kernel="rbf"))
    model = AlignMKLClassifier(KERNELS, estimator=inner).fit(X, LABELS)
    assert model.score(X, LABELS) > 0.8 and not hasattr(model, "dual_coef_")


def test_classes_and_strings_for_estimators_are_refused():
    for wrong in (SVC, "svc"):
        with pytest.raises(TypeError, match="expected a scikit-learn learner"):
            AlignMKLClassifier(estimator=wrong).fit(X, LABELS)


def test_a_search_is_the_search_one_would_write():
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": [1e-3, 0.1, 10.0]}, cv=4)
    model = AlignMKLClassifier(KERNELS, estimator=search).fit(X, LABELS)
    K = KernelAligner(KERNELS).fit(X, LABELS).transform(X)
    by_hand = GridSearchCV(SVC(kernel="precomputed"), {"C": [1e-3, 0.1, 10.0]}, cv=4).fit(K, LABELS)
    assert model.estimator_.best_params_ == by_hand.best_params_
    scores = (s.cv_results_["mean_test_score"] for s in (model.estimator_, by_hand))
    np.testing.assert_allclose(*scores, atol=1e-12)
    assert not hasattr(search, "best_params_")  # the user's object is left alone
    outer = GridSearchCV(
        AlignMKLClassifier(KERNELS, estimator=SVC(kernel="precomputed")), {"estimator__C": [0.1, 10.0]}, cv=3
    )
    assert outer.fit(X, LABELS).best_estimator_.estimator_.C in (0.1, 10.0)


def test_probabilities_only_where_the_learner_has_them():
    plain = AlignMKLClassifier(KERNELS)
    assert not hasattr(plain, "predict_proba") and not hasattr(plain.fit(X, LABELS), "predict_log_proba")
    assert hasattr(AlignMKLClassifier(KERNELS, estimator=Parzen()), "predict_proba")
    model = AlignMKLClassifier(KERNELS, estimator=Parzen()).fit(X, LABELS)
    p = model.predict_proba(X_NEW)
    by_hand = Parzen().fit(model.kernel_(X), LABELS).predict_proba(model.kernel_(X_NEW, X))
    np.testing.assert_allclose(p, by_hand, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X_NEW), np.where(p[:, 1] > 0.5, "yes", "no"))
    assert not hasattr(model, "decision_function") and not hasattr(model, "dual_coef_")


# -- targets, and fitting again -------------------------------------------------------------------
def test_targets_of_the_first_stage():
    codes = np.unique(CLASSES, return_inverse=True)[1]
    as_numbers = AlignMKLClassifier(KERNELS, target="regression").fit(X, codes)
    aligner = KernelAligner(KERNELS, target="regression").fit(X, codes)
    np.testing.assert_array_equal(as_numbers.weights_, aligner.weights_)
    assert set(as_numbers.predict(X_NEW)) <= {0, 1, 2}
    as_classes = AlignMKLRegressor(KERNELS, target="classification").fit(X, codes)
    aligner = KernelAligner(KERNELS, target="classification").fit(X, codes)
    np.testing.assert_array_equal(as_classes.weights_, aligner.weights_)
    numbers = AlignMKLRegressor(KERNELS).fit(X, codes)  # whole numbers are numbers to a regressor
    np.testing.assert_allclose(numbers.weights_, as_numbers.weights_, atol=1e-12)
    strings = AlignMKLClassifier(KERNELS).fit(X, pd.Series(CLASSES))
    np.testing.assert_array_equal(strings.predict(X), AlignMKLClassifier(KERNELS).fit(X, CLASSES).predict(X))


def test_fitting_again_leaves_nothing_of_the_first_time():
    model = AlignMKLClassifier(KERNELS).fit(X, LABELS)
    assert hasattr(model, "dual_coef_")
    model.fit(X, CLASSES)
    assert not hasattr(model, "dual_coef_")
    model.set_params(estimator=Parzen(), kernels="precomputed").fit(STACK, LABELS)
    assert hasattr(model, "predict_proba") and not hasattr(model, "decision_function")
    model.set_params(estimator=None, kernels=[Linear()]).fit(X[:50, :2], LABELS[:50])
    fresh = AlignMKLClassifier([Linear()]).fit(X[:50, :2], LABELS[:50])
    assert set(vars(model)) == set(vars(fresh))
    np.testing.assert_array_equal(model.decision_function(X[:, :2]), fresh.decision_function(X[:, :2]))
    number = AlignMKLRegressor(KERNELS).fit(X, NUMBERS + 1e3)
    assert number.fit(X, np.stack([NUMBERS, X[:, 0]], axis=1)).intercept_.shape == (2,)
    assert abs(number.fit(X, NUMBERS).intercept_) < 10


def test_a_second_stage_that_fails_leaves_the_model_of_before():
    model = AlignMKLClassifier(KERNELS).fit(X, LABELS)
    said = model.decision_function(X)
    uneven = np.where(np.arange(60) < 2, "yes", "no")
    with pytest.raises(ValueError, match="nu"):
        model.set_params(estimator=NuSVC(kernel="precomputed", nu=0.9)).fit(X, uneven)
    np.testing.assert_array_equal(model.decision_function(X), said)
    with pytest.raises(ValueError, match="nu"):
        first = AlignMKLClassifier(KERNELS, estimator=NuSVC(kernel="precomputed", nu=0.9))
        first.fit(X, uneven)
    with pytest.raises(NotFittedError):
        first.predict(X)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (AlignMKLClassifier(), ["yes"] * 60, "only one class"),
        (AlignMKLClassifier(), NUMBERS, "Unknown label type"),
        (AlignMKLClassifier(), LABELS[:59], "60 samples and y has 59"),
        (AlignMKLClassifier(), None, "requires y"),
        (AlignMKLClassifier(target="regression"), LABELS, "holds text"),
        (AlignMKLRegressor(), np.full(60, 3.0), "same for all 60"),
        (AlignMKLRegressor(), LABELS, "could not convert string"),
        (AlignMKLRegressor(), None, "requires y"),
        (AlignMKLRegressor(target="classification"), NUMBERS, "class label"),
    ],
)
def test_bad_targets(model, y, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    with pytest.raises(NotFittedError):
        model.predict(X)
