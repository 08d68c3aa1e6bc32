"""Every check that scikit-learn has for estimators, with no expected failures; and two-stage learning in its
searches, pipelines and containers (one-stage learning is in test_data.py)."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_html_repr, get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.times import times

from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    KernelAligner,
    MKLClassifier,
    MKLRegressor,
    MKLSurvival,
    MKLSurvivalCV,
)
from manykernels.families import from_distances, rank_one
from manykernels.kernels import Gaussian, Linear, OnColumns, Precomputed, Spectrum
from manykernels.weightings import Align, AlignfLinear


class Timed(MKLSurvival):
    """For checks whose y is no time to an event: such targets are made of it."""

    def fit(self, X, y, sample_weight=None, covariates=None):
        return super().fit(X, y if y is None else times(y), sample_weight, covariates)

    def score(self, X, y, sample_weight=None, covariates=None):
        return super().score(X, times(y), sample_weight, covariates)


class TimedCV(MKLSurvivalCV):
    """The same with model selection."""

    def fit(self, X, y, sample_weight=None, groups=None, covariates=None):
        return super().fit(X, y if y is None else times(y), sample_weight, groups, covariates)

    def score(self, X, y, sample_weight=None, covariates=None):
        return super().score(X, times(y), sample_weight, covariates)


FEW = {"kernels": {"line": Linear(), "wide": Gaussian(2.0)}, "norms": (1.0,), "Cs": [0.1, 1.0], "cv": 3}
ESTIMATORS = [
    MKLClassifier(),
    MKLRegressor(),
    KernelAligner(),
    AlignMKLClassifier(),
    AlignMKLRegressor(),
    Timed(),
    TimedCV(**FEW),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MKLClassifier(
            {"linear": Linear(), "wide": Gaussian(3.0)}, norm=2.0, loss="logistic", multi_class="ovr"
        ),
        MKLClassifier(norm=2.0, multi_class="crammer-singer"),
        MKLClassifier(norm=1.5, loss="squared_hinge", center=True, normalize="cosine"),
        MKLRegressor([Linear(), Gaussian(2.0)], loss="epsilon_insensitive", center=True, normalize="max"),
        Timed([Linear(), Gaussian(2.0)], norm=2.0, center=True, normalize="max"),
        TimedCV(),
        KernelAligner(rank_one(), weighting=Align(q=1.5), center=False, normalize=None),
        AlignMKLClassifier(weighting="align", normalize="cosine", target="classification"),
        AlignMKLRegressor([Linear(), Gaussian(2.0)], weighting=AlignfLinear(True), normalize="max"),
    ]
)
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)


# -- two-stage learning ---------------------------------------------------------------------------
X, y = make_classification(60, 4, n_informative=3, n_redundant=0, random_state=0)
NUMBERS = X[:, 0] + X[:, 1] ** 2
NAMES = ["age", "height", "weight", "dose"]
TEXT = ["".join(np.random.RandomState(i).choice(list("ACG" if c else "CGT"), 12)) for i, c in enumerate(y)]
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)
MODELS = [(KernelAligner, y), (AlignMKLClassifier, y), (AlignMKLRegressor, NUMBERS)]
each_model = pytest.mark.parametrize(("kind", "target"), MODELS)


def answer(model, data):
    return model.transform(data) if hasattr(model, "transform") else model.predict(data)


def frame(library):
    return (pd if library == "pandas" else pl).DataFrame({**dict(zip(NAMES, X.T, strict=True)), "dna": TEXT})


@each_model
def test_clones_and_pickles(kind, target):
    model = kind({"wide": Gaussian(3.0), "line": Linear()}, weighting=Align(q=1.5), normalize="max", n_jobs=1)
    twin = clone(model)
    assert not hasattr(twin, "weights_") and twin.weighting is not model.weighting and twin.weighting.q == 1.5
    assert twin.get_params()["kernels__wide__width"] == 3.0
    fitted = model.fit(X, target)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_allclose(answer(again, X), answer(fitted, X), atol=1e-12)
    np.testing.assert_array_equal(again.weights_, twin.fit(X, target).weights_)
    assert again.score_alignment(X, target) == pytest.approx(fitted.alignment_, abs=1e-12)
    assert kind.__name__ in repr(model) and kind.__name__ in estimator_html_repr(model)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (AlignMKLClassifier(KERNELS, estimator=SVC(kernel="precomputed")), y),
        (AlignMKLRegressor(KERNELS, estimator=KernelRidge(kernel="precomputed")), NUMBERS),
    ],
)
def test_searches_over_everything(model, target):
    inner = "estimator__C" if target is y else "estimator__alpha"
    grid = {
        "kernels__1__width": [0.1, 2.0],
        "weighting": ["alignf", Align(q=2)],
        inner: [0.1, 10.0],
    }
    search = GridSearchCV(model, grid, cv=3, error_score="raise").fit(X, target)
    assert search.best_score_ > 0.5 and len(search.cv_results_["params"]) == 8
    assert search.best_estimator_.kernels_[1].width == search.best_params_["kernels__1__width"]
    assert search.best_estimator_.estimator_.get_params()[inner[11:]] == search.best_params_[inner]
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0.0
    assert model.kernels[1].width == 1.0


def test_pipelines():
    folds = StratifiedKFold(3)
    inside = make_pipeline(StandardScaler(), KernelAligner(KERNELS), SVC(kernel="precomputed", C=2.0))
    outside = make_pipeline(
        StandardScaler(), AlignMKLClassifier(KERNELS, estimator=SVC(kernel="precomputed", C=2.0))
    )
    scores = [cross_val_score(pipe, X, y, cv=folds, error_score="raise") for pipe in (inside, outside)]
    np.testing.assert_array_equal(*scores)
    assert scores[0].mean() > 0.7
    search = GridSearchCV(inside, {"kernelaligner__weighting": ["align", "uniform"], "svc__C": [1.0, 10.0]})
    assert search.fit(X, y).best_score_ > 0.7
    aligner = KernelAligner(KERNELS).set_output(transform="pandas").fit(X, y)
    table = aligner.transform(X[:5])
    assert table.shape == (5, 60) and list(table.columns) == list(aligner.get_feature_names_out())
    np.testing.assert_allclose(KernelAligner(KERNELS).fit_transform(X, y), aligner.transform(X), atol=1e-12)


@each_model
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(kind, target, library):
    table = frame(library)
    numbers = kind(KERNELS).fit(table[NAMES], target)
    np.testing.assert_array_equal(numbers.feature_names_in_, NAMES)
    expected = answer(kind(KERNELS).fit(X, target), X)
    np.testing.assert_allclose(answer(numbers, table[NAMES]), expected, atol=1e-9)
    kernels = {"body": OnColumns(Gaussian(2.0), ["height", "age"]), "dna": OnColumns(Spectrum(2), "dna")}
    mixed = kind(kernels, weighting="align").fit(table, target)
    expected = answer(mixed, table)
    np.testing.assert_allclose(answer(mixed, table[["dna", *NAMES[::-1]]]), expected, atol=1e-12)
    assert mixed.score_alignment(table, target) == pytest.approx(mixed.alignment_, abs=1e-10)
    with pytest.raises(ValueError, match="lacks the column 'dna'"):
        answer(mixed, table[NAMES])


@each_model
def test_sparse_matrices_and_strings(kind, target):
    S = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    for kernels in (KERNELS, rank_one()):
        thin, dense = kind(kernels).fit(S, target), kind(kernels).fit(S.toarray(), target)
        np.testing.assert_allclose(thin.weights_, dense.weights_, atol=1e-10)
        np.testing.assert_allclose(answer(thin, S), answer(dense, S.toarray()), atol=1e-6)
    for form in (list, np.array, pd.Series, pl.Series):
        model = kind([Spectrum(1), Spectrum(2)], weighting="align").fit(form(TEXT), target)
        assert len(answer(model, form(TEXT[:7]))) == 7
        assert model.score_alignment(TEXT, target) == pytest.approx(model.alignment_, abs=1e-10)
        assert not hasattr(model, "n_features_in_")


def test_strings_in_cross_validation():
    model = AlignMKLClassifier([Spectrum(1), Spectrum(2)])
    assert cross_val_score(model, TEXT, y, cv=3, error_score="raise").mean() > 0.6


@each_model
def test_only_stacks_are_pairwise(kind, target):
    for kernels, pairwise in [
        ("auto", False),
        (KERNELS, False),
        ("precomputed", True),
        (from_distances([1.0]), True),
        ([Linear(), Precomputed(1)], True),
    ]:
        assert get_tags(kind(kernels)).input_tags.pairwise is pairwise


@pytest.mark.parametrize(("kind", "target"), MODELS[1:])
def test_cross_validation_cuts_a_stack_on_both_sides(kind, target):
    folds = list((StratifiedKFold(4) if target is y else KFold(4)).split(X, target))
    for kernels, data in (("precomputed", STACK), (from_distances([0.5]), np.abs(X[:, None] - X))):
        model = kind(kernels)
        by_hand = [
            clone(model)
            .fit(data[np.ix_(train, train)], target[train])
            .score(data[np.ix_(test, train)], target[test])
            for train, test in folds
        ]
        scores = cross_val_score(model, data, target, cv=folds, error_score="raise")
        np.testing.assert_allclose(scores, by_hand, atol=1e-12)
    search = GridSearchCV(kind("precomputed"), {"weighting": ["align", "uniform"]}, cv=folds)
    assert search.fit(STACK, target).best_estimator_.weights_.shape == (3,)
    objects = cross_val_score(kind(KERNELS), X, target, cv=folds)
    given = cross_val_score(kind("precomputed"), STACK, target, cv=folds)
    np.testing.assert_allclose(given, objects, atol=1e-6)
    chain = make_pipeline(KernelAligner("precomputed"), SVC(kernel="precomputed"))
    if target is y:  # the pairwise tag is that of the first step
        assert cross_val_score(chain, STACK, y, cv=folds, error_score="raise").shape == (4,)
