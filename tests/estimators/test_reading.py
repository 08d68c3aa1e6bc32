"""What other parts of the package read of an estimator: the model inside, what is around it, and copies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.fitted_models import FITTED, X, fitted, kernels, numbers, stack, y

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, UFOMKLRegressor
from manykernels.estimators import copies_of, face_of, model_of, opened


@pytest.mark.parametrize("name", FITTED)
def test_every_estimator_has_a_model(name):
    estimator, data = fitted(name)
    model, inner = model_of(estimator, data)
    face, _ = face_of(estimator)
    assert model.title == type(face).__name__ and model.names == face.kernel_names_
    np.testing.assert_array_equal(model.weights, face.weights_)
    assert (inner is data) == (name != "pipeline")


def test_samples_go_through_searches_and_pipelines():
    inside = make_pipeline(StandardScaler(), MKLClassifier(kernels))
    search = GridSearchCV(inside, {"mklclassifier__C": [1.0, 2.0]}, cv=2).fit(3.0 * X, y)
    outside = make_pipeline(StandardScaler(), search).fit(3.0 * X, y)
    model, inner = model_of(outside, 3.0 * X)
    np.testing.assert_allclose(inner, X, atol=1e-12)
    np.testing.assert_allclose(model.decide(inner)[:, 0], outside.decision_function(3.0 * X))


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (
            LogisticRegression(),
            TypeError,
            "LogisticRegression was given; expected an estimator of",
        ),
        (make_pipeline(StandardScaler(), LogisticRegression()), TypeError, "Pipeline was given"),
        (None, TypeError, "NoneType was given"),
        (MKLClassifier(), NotFittedError, "MKLClassifier is not fitted"),
        (MKLClassifierCV(), NotFittedError, "MKLClassifierCV is not fitted"),
    ],
)
def test_what_has_no_model_says_so(estimator, error, words):
    with pytest.raises(error, match=words):
        model_of(estimator)


def test_a_search_without_a_model_says_why():
    search = MKLClassifierCV(kernels, Cs=[1.0], norms=[2.0], cv=2, refit=False).fit(X, y)
    with pytest.raises(NotFittedError, match="refit=False"):
        model_of(search)


def test_pipelines_are_taken_apart_and_put_together():
    search = make_pipeline(StandardScaler(), MKLClassifierCV(kernels, Cs=[0.1, 1.0], norms=[2.0], cv=2)).fit(
        X, y
    )
    parts = opened(search)
    assert parts.searched.best == search[-1].best_params_ and parts.searched.by == "error"
    assert set(parts.searched.whole["C"]) == {0.1, 1.0}
    other = parts.behind(LogisticRegression())
    assert [name for name, _ in other.steps] == ["standardscaler", "mklclassifiercv"]
    assert not hasattr(other[0], "mean_")  # not fitted
    plain = opened(LogisticRegression())
    assert plain.front == [] and plain.searched is None and plain.behind(3) == 3


@pytest.mark.parametrize(("kind", "data"), [(kernels, X), ("precomputed", stack)])
def test_copies_learn_from_some_rows(kind, data):
    estimator = MKLRegressor(kind, C=2.0).fit(data, numbers)
    copies, rows = copies_of(estimator), np.arange(0, 48, 2)
    part = data[np.ix_(rows, rows)] if kind == "precomputed" else data[rows]
    expected = MKLRegressor(kind, C=4.0).fit(part, numbers[rows])
    np.testing.assert_array_equal(copies.relearn(data, numbers, rows).weights, expected.weights_)
    np.testing.assert_array_equal(copies.learn(data, numbers, rows, C=4.0).weights, expected.weights_)
    assert copies.C == estimator.C == 2.0 and not copies.classifies


def test_only_what_has_a_cost_has_a_path():
    with pytest.raises(ValueError, match="UFOMKLRegressor has no parameter C"):
        copies_of(UFOMKLRegressor(kernels)).C  # noqa: B018
