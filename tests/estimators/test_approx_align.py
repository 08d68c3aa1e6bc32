"""Two-stage learning with explicit features: alignments of exact kernels, and learners of features."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import AlignMKLClassifier, AlignMKLRegressor, KernelAligner
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear
from manykernels.weightings import AlignfLinear

X, y = (part[:150] for part in load_diabetes(return_X_y=True))
X, y = 20.0 * X, y + 0.5  # not whole, so that nobody takes them for classes
X_iris, y_iris = load_iris(return_X_y=True)
KERNELS = [Gaussian(2.0), Gaussian(6.0), Linear()]
ALL, FEW = Nystroem(10_000, "uniform"), Nystroem(12)


def fitted(model, *data):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "n_components=.* is more than", UserWarning)
        return model.set_params(random_state=0).fit(*data)


@pytest.mark.parametrize("weighting", ["alignf", "align", "uniform", "greedy"])
@pytest.mark.parametrize(("data", "target"), [(X, y), (X_iris, y_iris), (X_iris[:100], y_iris[:100])])
@pytest.mark.parametrize("center", [False, True])
def test_all_points_as_landmarks_give_the_exact_alignment(weighting, data, target, center):
    options = {"weighting": weighting, "center": center}
    exact = KernelAligner(KERNELS, **options).fit(data, target)
    model = fitted(KernelAligner(KERNELS, approx=ALL, **options), data, target)
    np.testing.assert_allclose(model.weights_, exact.weights_, atol=1e-6)
    assert model.alignment_ == pytest.approx(exact.alignment_, abs=1e-8)
    Z = model.transform(data)
    np.testing.assert_allclose(Z @ Z.T, exact.transform(data), atol=1e-6)
    found = model.score_alignment(data[::2], target[::2])
    assert found == pytest.approx(exact.score_alignment(data[::2], target[::2]), abs=1e-8)


def test_few_landmarks_use_sums_and_keep_no_samples():
    model = fitted(KernelAligner(KERNELS, approx=FEW), X, y)
    assert model.features_.n_features < len(y) and not hasattr(model, "X_fit_")
    dense = KernelAligner("precomputed", center=False, normalize=None)
    Phi, scale = model.features_.transform(X), [kernel.scale_ for kernel in model.kernels_]
    parts = np.split(Phi, model.features_.ptr[1:-1], axis=1)
    dense.fit(np.stack([s * P @ P.T for s, P in zip(scale, parts, strict=True)], axis=2), y)
    np.testing.assert_allclose(model.weights_, dense.weights_, atol=1e-8)
    assert model.alignment_ == pytest.approx(dense.alignment_, abs=1e-10)
    assert model.transform(X).shape == (150, len(model.get_feature_names_out()))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    exact = model.set_params(approx=None).fit(X, y)
    assert hasattr(exact, "X_fit_") and not hasattr(exact, "features_")


@pytest.mark.parametrize("approx", [FEW, ALL], ids=str)
@pytest.mark.parametrize("target", [y, np.column_stack([y, X[:, 0]])])
def test_the_default_regressor_is_ridge_on_features(approx, target):
    model = fitted(AlignMKLRegressor(KERNELS, approx=approx), X, target)
    Z = fitted(KernelAligner(KERNELS, approx=approx, target="regression"), X, target).transform(X)
    reference = Ridge().fit(Z, target)
    np.testing.assert_allclose(model.predict(X), reference.predict(Z), rtol=1e-6)
    f = model.features_.transform(X) @ model.feature_coef_ + model.intercept_
    np.testing.assert_allclose(model.predict(X), f, rtol=1e-8)
    np.testing.assert_allclose(model.contributions(X).sum(axis=1) + model.intercept_, f, rtol=1e-8)


def test_all_points_give_kernel_ridge():
    exact = AlignMKLRegressor(KERNELS).fit(X, y)
    model = fitted(AlignMKLRegressor(KERNELS, approx=ALL), X, y)
    np.testing.assert_allclose(model.predict(X), exact.predict(X), rtol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_default_classifier_is_ridge_on_features(classes):
    A, labels = X_iris[: 50 * classes], np.array(["a", "b", "c"])[y_iris[: 50 * classes]]
    model = fitted(AlignMKLClassifier(KERNELS, approx=FEW), A, labels)
    Z = model._new(A)  # those of KernelAligner, but for equal samples, which are merged
    reference = RidgeClassifier().fit(Z, labels)
    np.testing.assert_allclose(model.decision_function(A), reference.decision_function(Z), atol=1e-6)
    np.testing.assert_array_equal(model.predict(A), reference.predict(Z))
    parts = model.contributions(A).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(parts, model.decision_function(A), atol=1e-8)


def test_learners_of_features():
    model = fitted(AlignMKLClassifier(KERNELS, approx=FEW, estimator=LogisticRegression()), X_iris, y_iris)
    steps = make_pipeline(KernelAligner(KERNELS, approx=FEW, random_state=0), LogisticRegression())
    np.testing.assert_allclose(model.predict_proba(X_iris), steps.fit(X_iris, y_iris).predict_proba(X_iris))
    assert model.score(X_iris, y_iris) > 0.9


def test_bad_options():
    with pytest.raises(ValueError, match=r"SVC\(kernel='precomputed'\) was given with approx.*LinearSVC"):
        fitted(AlignMKLClassifier(approx=FEW, estimator=SVC(kernel="precomputed")), X_iris, y_iris)
    with pytest.raises(ValueError, match=r"KernelRidge\(kernel='precomputed'\) was given with approx"):
        fitted(AlignMKLRegressor(approx=FEW, estimator=KernelRidge(kernel="precomputed")), X, y)
    with pytest.raises(ValueError, match="for classification"):
        fitted(AlignMKLClassifier(approx=FEW, estimator=Ridge()), X_iris, y_iris)
    with pytest.raises(ValueError, match="approx='some' is unknown"):
        fitted(KernelAligner(approx="some"), X, y)
    correlated = [Gaussian(2.0), Gaussian(2.2), Gaussian(2.4)]
    with pytest.raises(ValueError, match="negative weights has no real features"):
        fitted(KernelAligner(correlated, approx=FEW, weighting=AlignfLinear(True)), X, y)


@pytest.mark.filterwarnings("ignore:n_components=.* is more than:UserWarning")
@pytest.mark.filterwarnings("ignore:some kernels are linear combinations:UserWarning")
@parametrize_with_checks(
    [
        KernelAligner(approx=Nystroem(20), random_state=0),
        AlignMKLClassifier(approx=Nystroem(20), random_state=0),
        AlignMKLRegressor(approx=Nystroem(20), random_state=0),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)
