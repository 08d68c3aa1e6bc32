"""Data in every form: arrays, sparse matrices, frames, strings, objects, stacks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr, get_tags

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import from_distances, per_feature, rank_one, views
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns, Precomputed, Spectrum

X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
NAMES = ["age", "height", "weight", "dose"]
TEXT = [
    "".join(np.random.RandomState(i).choice(list("ACG" if label else "CGT"), 12)) for i, label in enumerate(y)
]
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)


def frame(library):
    data = {**dict(zip(NAMES, X.T, strict=True)), "sequence": TEXT}
    return pd.DataFrame(data) if library == "pandas" else pl.DataFrame(data)


# -- frames ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_numbers_are_arrays_with_names(library):
    table = frame(library)[NAMES]
    model = MKLClassifier(per_feature(degrees=(1,), widths=(1.0,))).fit(table, y)
    np.testing.assert_array_equal(model.feature_names_in_, NAMES)
    assert "dose: Gaussian(σ=1)" in model.kernel_names_
    same = MKLClassifier(per_feature(degrees=(1,), widths=(1.0,))).fit(X, y)
    np.testing.assert_allclose(model.decision_function(table), same.decision_function(X), atol=1e-12)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_kernels_select_columns_by_name(library):
    table = frame(library)
    kernels = {
        "body": OnColumns(Gaussian(2.0), ["height", "weight"]),
        "range": OnColumns(Linear(), slice("age", "height")),
        "text": OnColumns(Spectrum(2), "sequence"),
    }
    model = MKLClassifier(kernels, norm=2.0, tol=1e-9).fit(table, y)
    assert model.n_features_in_ == 5 and model.score(table, y) > 0.8
    by_position = MKLClassifier(
        [OnColumns(Gaussian(2.0), [1, 2]), OnColumns(Linear(), [0, 1]), OnColumns(Spectrum(2), 4)],
        norm=2.0,
        tol=1e-9,
    ).fit(np.column_stack([X.astype(object), TEXT]), y)
    np.testing.assert_allclose(model.weights_, by_position.weights_, atol=1e-4)
    f = model.decision_function(table)
    np.testing.assert_array_equal(model.decision_function(table[["sequence", *NAMES[::-1]]]), f)
    with pytest.raises(ValueError, match="lacks the column 'sequence'"):
        model.predict(table[NAMES])
    with pytest.raises(ValueError, match="fitted on a frame"):
        model.predict(X)
    assert cross_val_score(model, table, y, cv=3).mean() > 0.5


def test_columns_by_a_callable_and_views_by_name():
    table = frame("pandas")
    numbers = make_column_selector(dtype_include=float)
    model = MKLClassifier([OnColumns(Gaussian(2.0), numbers)], tol=1e-9).fit(table, y)
    same = MKLClassifier([Gaussian(2.0)], tol=1e-9).fit(X, y)
    np.testing.assert_allclose(model.decision_function(table), same.decision_function(X), atol=1e-4)
    model = MKLClassifier(views({"body": ["height", "weight"], "text": ("sequence", Spectrum(2))})).fit(
        table, y
    )
    assert list(model.view_weights_) == ["body", "text"]


def test_columns_that_no_kernel_uses_may_hold_anything():
    table = frame("pandas").assign(notes=[None, "late"] * 30, weight=np.nan)
    model = MKLClassifier({"age": OnColumns(Gaussian(1.0), "age"), "dose": 2 * OnColumns(Linear(), ["dose"])})
    assert model.fit(table, y).predict(table).shape == (60,)


def test_weights_are_repetition_in_tables_and_lists_too():
    table, weight = frame("pandas"), np.random.RandomState(0).randint(0, 3, len(y))
    rows = np.random.RandomState(1).permutation(np.repeat(np.arange(len(y)), weight))
    for kernels, data, repeated in [
        (
            {"n": OnColumns(Linear(), ["age"]), "t": OnColumns(Spectrum(2), "sequence")},
            table,
            table.iloc[rows],
        ),
        ([Spectrum(1), Spectrum(2)], TEXT, [TEXT[i] for i in rows]),
        ("auto", sparse.csr_array(X), sparse.csr_array(X)[rows]),
    ]:
        weighted = MKLClassifier(kernels).fit(data, y, weight)
        merged = MKLClassifier(kernels).fit(repeated, y[rows])
        np.testing.assert_array_equal(weighted.weights_, merged.weights_)
        np.testing.assert_allclose(
            weighted.decision_function(data), merged.decision_function(data), atol=1e-12
        )


# -- strings, objects, sparse matrices ------------------------------------------------------------
@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series])
def test_lists_of_strings(form):
    model = MKLClassifier([Spectrum(1), Spectrum(2), Spectrum(3)], norm=2.0).fit(form(TEXT), y)
    assert model.predict(form(TEXT[:5])).shape == (5,)
    assert model.score(form(TEXT), y) > 0.8
    assert model.predict(["ACGT" * 3, "XYZ"]).shape == (2,)  # also k-mers that were never seen


def test_strings_in_cross_validation():
    scores = cross_val_score(MKLClassifier([Spectrum(1), Spectrum(2)]), TEXT, y, cv=3, error_score="raise")
    assert scores.mean() > 0.6


def test_objects_that_only_the_users_function_understands():
    class Blob:
        def __init__(self, size):
            self.size = size

    def overlap(left, right):
        return np.minimum.outer([b.size for b in left], [b.size for b in right])

    blobs = [Blob(abs(value)) for value in X[:, 0]]
    target = np.abs(X[:, 0]) ** 2
    model = MKLRegressor([Callable(overlap)], C=100.0).fit(blobs, target)
    assert model.score(blobs, target) > 0.9


@pytest.mark.parametrize("kernels", [KERNELS, rank_one(), [OnColumns(Gaussian(2.0), [0, 2])]])
def test_sparse_is_dense(kernels):
    S = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    model, dense = (
        MKLClassifier(kernels, tol=1e-6).fit(S, y),
        MKLClassifier(kernels, tol=1e-6).fit(S.toarray(), y),
    )
    assert model.objective_ == pytest.approx(dense.objective_, rel=2e-6)
    np.testing.assert_allclose(model.decision_function(S), dense.decision_function(S.toarray()), atol=0.02)


# -- stacks ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalize", [None, "trace", "max", "frobenius"])
def test_a_stack_is_its_kernels(center, normalize):
    options = {"norm": 2.0, "center": center, "normalize": normalize, "tol": 1e-9}
    train, test = np.arange(40), np.arange(40, 60)
    objects = MKLClassifier(KERNELS, **options).fit(X[train], y[train])
    given = MKLClassifier("precomputed", **options).fit(STACK[np.ix_(train, train)], y[train])
    new = STACK[np.ix_(test, train)]
    # a gap of 1e-9 bounds weights by its square root only, and each road ends where its own sums say
    np.testing.assert_allclose(given.weights_, objects.weights_, atol=1e-4)
    f = objects.decision_function(X[test])
    np.testing.assert_allclose(given.decision_function(new), f, atol=1e-4)
    expected = given.kernel_(new, given.X_fit_) @ given.dual_coef_ + given.intercept_
    np.testing.assert_allclose(given.decision_function(new), expected, atol=1e-10)
    np.testing.assert_allclose(
        given.contributions(new).sum(axis=1) + given.intercept_, given.decision_function(new), atol=1e-10
    )


def test_a_stack_of_contiguous_kernels_is_not_copied_nor_changed():
    kernels = np.ascontiguousarray(np.moveaxis(STACK, 2, 0))
    before = kernels.copy()
    for options in ({}, {"normalize": "frobenius"}, {"center": True}):
        MKLClassifier("precomputed", **options).fit(np.moveaxis(kernels, 0, 2), y)
        np.testing.assert_array_equal(kernels, before)
    single = MKLClassifier("precomputed").fit(STACK.astype(np.float32), y)
    double = MKLClassifier("precomputed").fit(STACK, y)
    assert single.objective_ == pytest.approx(double.objective_, rel=1e-3)


@pytest.mark.parametrize("center", [False, True])
def test_samples_of_weight_zero_leave_a_stack(center):
    weight = np.r_[np.zeros(15), np.full(45, 2.0)]
    kept = np.arange(15, 60)
    model = MKLClassifier("precomputed", center=center, tol=1e-6).fit(STACK, y, weight)
    part = MKLClassifier("precomputed", center=center, tol=1e-6).fit(
        STACK[np.ix_(kept, kept)], y[kept], weight[kept]
    )
    assert model.dual_coef_.shape == (60,) and not model.dual_coef_[:15].any()
    np.testing.assert_allclose(
        model.decision_function(STACK), part.decision_function(STACK[:, kept]), atol=1e-3
    )


def test_grid_search_over_a_stack_is_the_loop_one_would_write():
    folds = list(StratifiedKFold(4).split(X, y))
    model = MKLClassifier("precomputed", norm=2.0)
    search = GridSearchCV(model, {"C": [0.01, 1.0, 100.0]}, cv=folds, error_score="raise").fit(STACK, y)
    for C, score in zip([0.01, 1.0, 100.0], search.cv_results_["mean_test_score"], strict=True):
        scores = []
        for train, test in folds:
            one = clone(model).set_params(C=C).fit(STACK[np.ix_(train, train)], y[train])
            scores.append(one.score(STACK[np.ix_(test, train)], y[test]))
        assert score == pytest.approx(np.mean(scores))
    assert search.best_estimator_.dual_coef_.shape == (60,)


def test_stacks_of_distances():
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))
    distances = np.stack([D, np.abs(X[:, None, 0] - X[None, :, 0])], axis=2)
    model = MKLClassifier(from_distances([0.1, 1.0]), norm=2.0).fit(distances, y)
    stack = np.stack([np.exp(-g * distances[:, :, j]) for j in (0, 1) for g in (0.1, 1.0)], axis=2)
    given = MKLClassifier("precomputed", norm=2.0).fit(stack, y)
    np.testing.assert_allclose(model.weights_, given.weights_, atol=1e-9)
    np.testing.assert_allclose(model.decision_function(distances), given.decision_function(stack), atol=1e-9)
    assert cross_val_score(model, distances, y, cv=3, error_score="raise").shape == (3,)
    some = MKLClassifier([Precomputed(0), Precomputed(2)]).fit(stack, y)
    assert len(some.kernels_) == 2 and some.predict(stack[:4]).shape == (4,)


def test_only_stacks_are_pairwise():
    for kernels, pairwise in [
        ("auto", False),
        ("precomputed", True),
        (from_distances([1.0]), True),
        ({"a": [from_distances([1.0])]}, True),
        ([Linear(), Precomputed(1)], True),
        (KERNELS, False),
    ]:
        for estimator in (MKLClassifier(kernels), MKLRegressor(kernels)):
            assert get_tags(estimator).input_tags.pairwise is pairwise


# -- pipelines and parameters ---------------------------------------------------------------------
def test_pipelines_and_searches_over_parameters_of_kernels():
    model = MKLClassifier({"gene": Gaussian(1.0), "linear": Linear()})
    pipe = make_pipeline(StandardScaler(), model)
    grid = {"mklclassifier__kernels__gene__width": [0.01, 3.0], "mklclassifier__norm": [1.0, 2.0]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["mklclassifier__kernels__gene__width"] == 3.0
    assert model.kernels["gene"].width == 1.0
    assert search.best_estimator_[-1].kernels_[0].width == 3.0


def test_kernels_in_dicts_and_lists_are_parameters():
    kernels = {"gene": Gaussian(1.0), "text": OnColumns(Linear(), [0])}
    model = MKLClassifier(kernels)
    params = model.get_params()
    assert params["kernels"] is kernels and params["kernels__gene"] is kernels["gene"]
    assert params["kernels__gene__width"] == 1.0 and params["kernels__text__columns"] == [0]
    model.set_params(kernels__text=Linear(), kernels__gene__width=5.0, C=3.0)
    assert isinstance(model.kernels["text"], Linear) and model.kernels["gene"].width == 5.0 and model.C == 3.0
    assert isinstance(kernels["text"], OnColumns)  # the user's dict is left alone
    model.set_params(kernels=[Gaussian(1.0), Linear()], kernels__0__width=2.0)
    assert model.get_params()["kernels__0__width"] == 2.0
    with pytest.raises(ValueError, match="are called"):
        model.set_params(kernels__gene__width=2.0)
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(colour="red")
    single = MKLClassifier(Gaussian(1.0)).set_params(kernels__width=7.0)
    assert single.kernels.width == 7.0
    assert "Gaussian" in repr(model) and "MKLClassifier" in estimator_html_repr(model)
