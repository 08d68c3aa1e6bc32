"""Hierarchical estimators: scikit-learn's checks, the contract of fitted models, and bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import HierarchicalMKLClassifier, HierarchicalMKLRegressor, MKLRegressor
from manykernels.families import DAG, AnovaDAG, PolynomialDAG, gaussian_grid
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns
from manykernels.solvers import Hierarchical

rng = np.random.RandomState(0)
X = rng.randn(80, 5)
TARGET = X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.1 * rng.randn(80)
LABELS = np.where(TARGET > 0, "up", "down")
OWN = DAG({"line": (Linear(), []), "wide": (Gaussian(4.0), ["line"]), "narrow": (Gaussian(1.0), ["wide"])})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([HierarchicalMKLClassifier(), HierarchicalMKLRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernels", ["auto", PolynomialDAG(2, beta=1.5), AnovaDAG(), OWN], ids=str)
@pytest.mark.parametrize(
    "model",
    [HierarchicalMKLRegressor(), HierarchicalMKLClassifier(), HierarchicalMKLClassifier(loss="logistic")],
    ids=["squared", "hinge", "logistic"],
)
def test_fitted_models_keep_the_contract(model, kernels):
    y = TARGET if isinstance(model, HierarchicalMKLRegressor) else LABELS
    model = clone(model).set_params(kernels=kernels, C=3.0).fit(X, y)
    assert model.certified_ and model.dual_gap_ <= model.tol
    new = rng.randn(7, 5)
    f = model.kernel_(new, model.X_fit_) @ model.dual_coef_ + model.intercept_
    answer = model.predict if y is TARGET else model.decision_function
    np.testing.assert_allclose(answer(new), f, atol=1e-9)
    size = len(model.hull_)
    assert len(model.kernels_) == len(model.kernel_names_) == model.weights_.size == size
    assert np.all(model.weights_ > 0.0) and model.active_.size == size
    parts = model.contributions(new)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-9)
    assert [kernel.name for kernel in model.kernels_] == model.kernel_names_
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(new), model.predict(new))


def test_products_are_found_with_all_above_them():
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d", "e"])
    model = HierarchicalMKLRegressor(C=10.0).fit(frame, TARGET)
    assert {"1", "a", "b", "c", "a · b"} <= set(model.kernel_names_)
    assert {(), ((0, 1),), ((1, 1),), ((0, 1), (1, 1)), ((2, 1),)} <= set(model.hull_)
    weight = dict(zip(model.kernel_names_, model.weights_, strict=True))
    assert weight["1"] > weight["a"] > weight["a · b"]  # ζ falls on the way down
    assert model.score(frame, TARGET) > 0.9


def test_even_powers_are_named():
    y = X[:, 3] ** 2 + 0.01 * rng.randn(80)
    model = HierarchicalMKLRegressor(C=10.0).fit(X, y)
    assert "x3²" in model.kernel_names_ and "x3" in model.kernel_names_


def test_several_classes_and_outputs_share_a_hull():
    classes = np.digitize(TARGET, [-0.5, 0.5])
    model = HierarchicalMKLClassifier(loss="squared_hinge").fit(X, classes)
    assert model.decision_function(X).shape == (80, 3) and model.weights_.ndim == 1
    both = HierarchicalMKLRegressor(C=5.0).fit(X, np.column_stack([TARGET, X[:, 3] * X[:, 4]]))
    assert both.predict(X).shape == (80, 2) and {"x0 · x1", "x3 · x4"} <= set(both.kernel_names_)


def test_a_repeated_sample_counts_twice():
    """Equal rows are merged, with their weight in the scales and in the costs."""
    twice = HierarchicalMKLRegressor(PolynomialDAG(2), C=1.0, tol=1e-6)
    one = clone(twice).set_params(C=2.0).fit(X, TARGET)
    two = clone(twice).fit(np.repeat(X, 2, axis=0), np.repeat(TARGET, 2))
    assert one.objective_ == pytest.approx(two.objective_, rel=1e-6)
    np.testing.assert_allclose(one.predict(X), two.predict(X), atol=1e-3)


def test_a_chain_of_one_kernel_is_plain_learning():
    alone = DAG({"wide": (OnColumns(Gaussian(2.0), [0, 1]), [])})
    graded = HierarchicalMKLRegressor(alone, tol=1e-8).fit(X, TARGET)
    plain = MKLRegressor([OnColumns(Gaussian(2.0), [0, 1])], tol=1e-8).fit(X, TARGET)
    assert graded.objective_ == pytest.approx(plain.objective_, rel=1e-7)
    np.testing.assert_allclose(graded.predict(X), plain.predict(X), atol=1e-5)


def test_constant_targets_have_nothing_to_learn():
    model = HierarchicalMKLRegressor().fit(X, np.full(80, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert model.objective_ == 0.0 and model.dual_gap_ == 0.0


def test_warm_starts_and_searches():
    model = HierarchicalMKLRegressor(C=1.0, warm_start=True).fit(X, TARGET)
    cold = HierarchicalMKLRegressor(C=2.0).fit(X, TARGET)
    model.set_params(C=2.0).fit(X, TARGET)
    assert model.objective_ == pytest.approx(cold.objective_, rel=2e-3)
    model.fit(X[:, :3], TARGET)  # the last hull may name columns that are gone
    assert model.n_features_in_ == 3
    grid = {"kernels": [PolynomialDAG(1), PolynomialDAG(2)], "C": [0.1, 3.0]}
    search = GridSearchCV(HierarchicalMKLRegressor(), grid, cv=3, error_score="raise").fit(X, TARGET)
    assert search.best_params_["C"] == 3.0
    assert clone(HierarchicalMKLRegressor(PolynomialDAG(2))).set_params(kernels__degree=1).kernels.degree == 1


def test_stopping_early_is_said():
    with pytest.warns(
        ConvergenceWarning, match=r"gap of .* over the kernels that it looked at, of 1.02e\+03"
    ):
        model = HierarchicalMKLRegressor(C=100.0, solver=Hierarchical(max_active=3)).fit(X, TARGET)
    assert not model.certified_ and len(model.hull_) <= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": [Linear()]}, r"expected 'auto', PolynomialDAG\(degree\), AnovaDAG\(width\) or"),
        ({"kernels": gaussian_grid(0.1, 1.0, 3)}, "which say which kernels are above which"),
        ({"kernels": "precomputed"}, "expected 'auto', PolynomialDAG"),
        ({"kernels": PolynomialDAG(0)}, "degree=0 was given"),
        ({"kernels": DAG({"a": (Linear(), ["b"])})}, "unknown parents 'b'"),
        ({"solver": "corrective"}, r"solver='corrective' was given; expected 'auto', or Hierarchical"),
        ({"normalize": "frobenius"}, "normalize='frobenius' was given with PolynomialDAG"),
        ({"C": 0.0}, "C=0.0 was given"),
        ({"loss": "hinge"}, "hinge"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        HierarchicalMKLRegressor(**options).fit(X, TARGET)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda A, B: -(A @ B.T), "not positive semi-definite"),
        (lambda A, B: np.tanh(A @ B.T - 1.0), "not positive semi-definite"),
        (lambda A, B: A @ B.T + A[:, :1], "not symmetric"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "not finite"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_functions_that_are_no_kernels(function, message, first):
    """Whether or not they would have joined the hull."""
    above, below = (Callable(function), Linear()) if first else (Linear(), Callable(function))
    with pytest.raises(ValueError, match=message):
        HierarchicalMKLRegressor(DAG({"a": (above, []), "b": (below, ["a"])})).fit(X, TARGET)


def test_other_estimators_say_who_serves_a_graph():
    many = np.random.RandomState(0).randn(20, 30)
    with pytest.raises(ValueError, match="HierarchicalMKLClassifier and HierarchicalMKLRegressor"):
        MKLRegressor(PolynomialDAG()).fit(many, many[:, 0])


def test_text_is_refused():
    frame = pd.DataFrame({"a": ["x", "y"] * 10, "b": np.arange(20.0)})
    with pytest.raises(ValueError, match="'a'"):
        HierarchicalMKLRegressor().fit(frame, np.arange(20.0))


def test_a_graph_of_ones_own_reads_columns_of_a_frame_by_name():
    frame = pd.DataFrame(np.random.RandomState(0).randn(60, 2), columns=["a", "b"])
    frame["text"] = ["x", "yy"] * 30
    nodes = {
        "a": (OnColumns(Linear(), ["a"]), []),
        "a, curved": (OnColumns(Gaussian(1.0), ["a"]), ["a"]),
        "b": (OnColumns(Linear(), ["b"]), []),
    }
    model = HierarchicalMKLRegressor(DAG(nodes), C=10.0).fit(frame, frame["a"] ** 2 + frame["b"])
    assert set(model.kernel_names_) == set(nodes) and model.score(frame, frame["a"] ** 2 + frame["b"]) > 0.9
    np.testing.assert_allclose(model.predict(frame[["text", "b", "a"]]), model.predict(frame))
