"""Model selection: scikit-learn's checks, splitters, scores and containers; strategies; and what it tells."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    RepeatedKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLRegressor
from manykernels.approx import Nystroem
from manykernels.estimators import MKLClassifierCV, MKLRegressorCV, model_of
from manykernels.families import Gaussians, Relevance, views
from manykernels.kernels import Gaussian, Linear
from manykernels.selection.strategies import strategies
from manykernels.selection.sums_table import from_sums
from manykernels.selection.text import describe_search

KERNELS = {"line": Linear(), "narrow": Gaussian(0.5), "wide": Gaussian(2.0)}
SMALL = {"kernels": KERNELS, "Cs": [1.0, 10.0], "cv": 2}
RNG = np.random.RandomState(1)
N = 80
X = RNG.randn(N, 3)
NUMBERS = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.2 * RNG.randn(N)
LABELS = np.where(NUMBERS > 0.0, "yes", "no")
THREE = np.digitize(NUMBERS, [-0.7, 0.7])
BOTH = pytest.mark.parametrize(
    ("kind", "y"), [(MKLClassifierCV, LABELS), (MKLRegressorCV, NUMBERS)], ids=["classes", "numbers"]
)


@parametrize_with_checks([MKLClassifierCV(**SMALL), MKLRegressorCV(**SMALL)])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([MKLClassifierCV(), MKLRegressorCV(), MKLClassifierCV(**SMALL, loss="logistic")])
def test_scikit_learns_checks_of_the_defaults(estimator, check):
    check(estimator)


# -- splitters, scores, containers ----------------------------------------------------------------
@BOTH
def test_nested_in_cross_validate_and_pipelines(kind, y):
    search = kind(**SMALL)
    found = cross_validate(search, X, y, cv=3, error_score="raise", return_estimator=True)
    assert found["test_score"].mean() > 0.6
    assert all(fitted.best_params_["C"] in SMALL["Cs"] for fitted in found["estimator"])
    pipe = make_pipeline(StandardScaler(), search)
    assert cross_validate(pipe, X, y, cv=3, error_score="raise")["test_score"].mean() > 0.6


@BOTH
def test_clones_and_pickles(kind, y):
    search = kind(**SMALL, norms=(1.0, 1.5))
    fitted = clone(search).fit(X, y)
    assert not hasattr(search, "best_params_")
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert again.comparison_ == fitted.comparison_ and again.describe() == fitted.describe()
    twin = clone(fitted).fit(X, y)
    assert twin.best_params_ == fitted.best_params_
    np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))


@BOTH
def test_an_iterable_of_splits_is_its_splitter(kind, y):
    splitter = (KFold if kind is MKLRegressorCV else StratifiedKFold)(3)
    lists = kind(KERNELS, Cs=[1.0, 10.0], cv=list(splitter.split(X, y))).fit(X, y)
    for cv in (3, splitter, splitter.split(X, y)):
        same = clone(lists).set_params(cv=cv).fit(X, y)
        np.testing.assert_array_equal(same.path_["finite"]["loss"], lists.path_["finite"]["loss"])
        assert same.comparison_["folds"] == [3]


def test_groups_stay_together_and_repeats_are_folds():
    groups = np.arange(N) % 5
    grouped = MKLRegressorCV(KERNELS, Cs=[1.0], cv=GroupKFold(5)).fit(X, NUMBERS, groups=groups)
    folds = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in range(5)]
    by_hand = MKLRegressorCV(KERNELS, Cs=[1.0], cv=folds).fit(X, NUMBERS)
    assert grouped.best_score_ == pytest.approx(by_hand.best_score_, abs=1e-12)
    with pytest.raises(ValueError, match="groups"):
        clone(grouped).fit(X, NUMBERS)
    repeated = MKLRegressorCV(KERNELS, Cs=[1.0], cv=RepeatedKFold(n_splits=2, n_repeats=3, random_state=0))
    assert repeated.fit(X, NUMBERS).comparison_["folds"] == [6]


@pytest.mark.parametrize(
    ("kind", "y", "scoring"),
    [
        (MKLClassifierCV, LABELS, "roc_auc"),
        (MKLClassifierCV, THREE, "balanced_accuracy"),
        (MKLClassifierCV, THREE, "f1_macro"),
        (MKLRegressorCV, NUMBERS, "neg_mean_absolute_error"),
        (MKLRegressorCV, NUMBERS, make_scorer(max_error, greater_is_better=False)),
        (MKLRegressorCV, NUMBERS, lambda model, X, y: -np.median(np.abs(model.predict(X) - y))),
        (MKLRegressorCV, np.column_stack([NUMBERS, X[:, 2]]), "r2"),
    ],
)
def test_the_best_score_is_that_of_cross_validation(kind, y, scoring):
    """The chosen model, fitted in the same folds by scikit-learn, scores what path_ says."""
    folds = list(KFold(3).split(X))
    search = kind(KERNELS, Cs=[0.1, 10.0], cv=folds, scoring=scoring, tol=1e-2).fit(X, y)
    path = search.path_["finite"]
    assert search.best_score_ == path["score"].max()
    found = cross_validate(search.best_estimator_, X, y, cv=folds, scoring=scoring, error_score="raise")
    assert found["test_score"].mean() == pytest.approx(search.best_score_, abs=0.03)


def test_probabilities_are_scored_and_told_where_the_loss_gives_them():
    for y in (LABELS, THREE):
        search = MKLClassifierCV(**SMALL, loss="logistic", scoring="neg_log_loss").fit(X, y)
        p = search.predict_proba(X)
        assert p.shape == (N, np.unique(y).size)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        folds = list(StratifiedKFold(2).split(X, y))
        found = cross_validate(search.best_estimator_, X, y, cv=folds, scoring="neg_log_loss")
        assert found["test_score"].mean() == pytest.approx(search.best_score_, abs=0.03)


def test_class_weights_count_where_models_are_chosen():
    """With errors on one class at a thousand times the cost of the others, hardly anything else is said."""
    noise = RNG.randint(0, 2, N)
    heavy = MKLClassifierCV(class_weight={0: 1000.0, 1: 0.001}, strategy="finite").fit(X, noise)
    assert np.mean(heavy.predict(RNG.randn(200, 3)) == 0) > 0.9


@BOTH
def test_without_refit_there_is_the_comparison_only(kind, y):
    search = kind(**SMALL, refit=False).fit(X, y)
    full = kind(**SMALL).fit(X, y)
    assert search.best_params_ == full.best_params_ and search.best_score_ == full.best_score_
    assert not hasattr(search, "predict") and not hasattr(search, "weights_")
    with pytest.raises(AttributeError, match="predict"):
        search.predict(X)
    assert "Chosen: finite" in search.describe()


@pytest.mark.slow  # processes that start
@BOTH
def test_two_jobs_find_what_one_finds(kind, y):
    one, two = (kind(**SMALL, strategy=["finite", "products"], n_jobs=j).fit(X, y) for j in (None, 2))
    for name, path in one.path_.items():
        np.testing.assert_allclose(two.path_[name]["loss"], path["loss"], rtol=1e-9)
    assert one.best_params_ == two.best_params_
    np.testing.assert_allclose(
        one.best_estimator_.dual_coef_, two.best_estimator_.dual_coef_, rtol=1e-6, atol=1e-9
    )


def test_weights_of_samples_are_repetition():
    weight = RNG.randint(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    half = np.arange(N) < N // 2
    folds = [(np.flatnonzero(half), np.flatnonzero(~half)), (np.flatnonzero(~half), np.flatnonzero(half))]
    again = [(np.flatnonzero(half[rows]), np.flatnonzero(~half[rows]))]
    again += [again[0][::-1]]
    for kind, y in ((MKLRegressorCV, NUMBERS), (MKLClassifierCV, THREE)):
        weighted = kind(strategy="finite", Cs=[1.0, 10.0], cv=folds).fit(X, y, sample_weight=weight)
        repeated = kind(strategy="finite", Cs=[1.0, 10.0], cv=again).fit(X[rows], y[rows])
        for column in ("score", "loss"):
            np.testing.assert_allclose(
                weighted.path_["finite"][column], repeated.path_["finite"][column], atol=1e-6
            )
        np.testing.assert_allclose(weighted.weights_, repeated.weights_, atol=1e-6)


# -- explicit features ----------------------------------------------------------------------------
OWN = [
    (np.arange(20), np.arange(40, N)),
    (np.arange(40, 70), np.arange(40)),
]  # rows 20 to 39 are not trained on


@pytest.mark.parametrize(
    "cv",
    [KFold(3), RepeatedKFold(n_splits=2, n_repeats=2, random_state=0), TimeSeriesSplit(3), OWN],
    ids=["parts", "repeated", "series", "own"],
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:n_components:UserWarning")
def test_features_that_are_exact_find_what_kernels_find(cv, weighted):
    """With every sample a landmark, whether from sums over rows or fold by fold."""
    weight = RNG.randint(1, 4, N) if weighted else None
    exact = MKLRegressorCV([Gaussian(2.0)], Cs=[0.1, 1.0], cv=cv, norms=[1.0]).fit(X, NUMBERS, weight)
    features = clone(exact).set_params(approx=Nystroem(N)).fit(X, NUMBERS, weight)
    for column in ("score", "loss"):
        np.testing.assert_allclose(
            features.path_["finite"][column], exact.path_["finite"][column], rtol=1e-4, atol=1e-5
        )
    np.testing.assert_allclose(features.predict(X), exact.predict(X), atol=1e-4)


def test_sums_over_rows_are_for_kernels_that_know_no_target():
    folds = list(KFold(2).split(X))
    for kernels, expected in (([Linear()], True), ("auto", True), (Relevance(), False)):
        search = MKLRegressorCV(kernels, approx=Nystroem(10), strategy="finite", Cs=[1.0], cv=folds)
        data, target, layout = search._read(X, NUMBERS, None)
        (strategy,) = strategies(search._wish(target, layout), X, 1)
        assert from_sums(strategy, data, folds) is expected
        assert not from_sums(strategy, data, OWN)
        assert search.fit(X, NUMBERS).best_score_ > 0.0


# -- strategies -----------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("strategy", ["finite", "continuous", "products", "aligned"])
def test_each_strategy(kind, y, strategy):
    search = kind(strategy=strategy, Cs=[0.3, 3.0], cv=3).fit(X, y)
    assert search.best_params_["strategy"] == strategy and list(search.path_) == [strategy]
    assert search.score(X, y) > 0.75 and search.best_score_ > 0.5
    assert f"Chosen: {strategy}" in search.describe()


@BOTH
def test_auto_is_all_that_apply(kind, y):
    search = kind(Cs=[0.3, 3.0], cv=2).fit(X, y)
    assert search.comparison_["strategy"] == ["finite", "continuous", "products"]
    assert search.best_params_["strategy"] in search.describe()
    assert kind(**SMALL).fit(X, y).comparison_["strategy"] == ["finite"]
    several = MKLRegressorCV(Cs=[0.3, 3.0], cv=2).fit(X, np.column_stack([NUMBERS, X[:, 2]]))
    assert several.comparison_["strategy"] == ["finite", "continuous"]


def test_a_list_with_estimators():
    own = MKLRegressor(Gaussians(0.1, 10.0), norm=1.0)
    search = MKLRegressorCV(KERNELS, strategy=["finite", own, own], Cs=[0.1, 10.0], cv=2).fit(X, NUMBERS)
    assert search.comparison_["strategy"] == ["finite", "MKLRegressor", "MKLRegressor (2)"]
    np.testing.assert_array_equal(
        search.path_["MKLRegressor"]["loss"], search.path_["MKLRegressor (2)"]["loss"]
    )
    classes = MKLClassifierCV(KERNELS, strategy=[SVC(), "finite"], Cs=[0.1, 10.0], cv=2).fit(X, THREE)
    assert classes.comparison_["strategy"] == ["SVC", "finite"]
    only = MKLClassifierCV(strategy=[SVC(gamma=0.3)], Cs=[0.1, 10.0], cv=2).fit(X, LABELS)
    assert isinstance(only.best_estimator_, SVC) and only.best_estimator_.gamma == 0.3
    assert only.best_estimator_.C == only.best_params_["C"] in (0.1, 10.0)
    assert "Chosen: SVC" in only.describe()


def test_models_without_decisions_are_compared_by_their_probabilities():
    """A forest on noise must not win for having no decision function."""
    forest = RandomForestClassifier(5, max_features=1, random_state=0)
    line = np.where(X[:, 0] + X[:, 1] - X[:, 2] > 0.0, 1, 0)
    search = MKLClassifierCV([Linear()], strategy=[forest, "finite"], cv=3).fit(X, line)
    assert search.best_params_["strategy"] == "finite"
    assert search.path_["RandomForestClassifier"]["loss"][0] > 0.1


@BOTH
def test_what_is_told(kind, y):
    search = kind(KERNELS, strategy=["finite", "aligned"], norms=(1.0, 2.0), Cs=[0.1, 1.0, 10.0], cv=3).fit(
        X, y
    )
    columns = "strategy norm kernels C score std folds seconds".split()
    assert list(search.comparison_) == columns and {len(c) for c in search.comparison_.values()} == {2}
    for name, path in search.path_.items():
        models = len(path["C"])
        for column in "norm kernels C score std loss gap n_active".split():
            assert len(path[column]) == models
        assert models == (3 if name == "aligned" else 2 * 3 + 3 * 3)
    best = search.comparison_["strategy"].index(search.best_params_["strategy"])
    assert search.comparison_["C"][best] == search.best_params_["C"]
    assert search.comparison_["score"][best] == search.best_score_


@BOTH
def test_the_best_parameters_give_the_best_model(kind, y):
    for norms in ((1.0,), (2.0,)):
        search = kind(KERNELS, norms=norms, Cs=[0.1, 1.0, 10.0], cv=3, tol=1e-8).fit(X, y)
        best = search.best_params_
        model = clone(search.best_estimator_)
        assert model.C == best["C"] and model.norm == best["norm"]
        np.testing.assert_allclose(model.fit(X, y).weights_, search.weights_, atol=1e-2)
        f = [
            m.decision_function(X) if hasattr(m, "decision_function") else m.predict(X)
            for m in (model, search)
        ]
        np.testing.assert_allclose(*f, atol=2e-3)
        names = best["kernels"] or tuple(KERNELS)
        assert tuple(search.kernel_names_) == names
        whole = search.path_["finite"]["all samples"]
        i = list(whole["C"]).index(best["C"])
        np.testing.assert_array_equal(whole["weights"][i], search.weights_)
        assert np.all(whole["gap"] <= 1e-7) and len(whole["weights"]) == 3


def test_unknown_strategies_are_refused():
    for strategy in ("finit", [], ["finite", "nothing"], None, {"finite"}, 3):
        with pytest.raises(ValueError, match="expected 'auto', one of 'finite'"):
            MKLRegressorCV(strategy=strategy).fit(X, NUMBERS)
    for strategy in ("continuous", "products"):
        with pytest.raises(ValueError, match="Take 'finite' or 'aligned'"):
            MKLRegressorCV("precomputed", strategy=strategy).fit(np.ones((N, N, 1)), NUMBERS)


def test_heavy_tails_are_told_by_the_names_of_their_columns():
    rng, n = np.random.RandomState(0), 100
    text = ["".join(rng.choice(list("abcdefgh"), 9)) for _ in range(n)]
    columns = {"note": text, "a": rng.randn(n), "flag": rng.randint(0, 2, n), "rare": rng.randn(n)}
    table = pd.DataFrame(columns | {"lognormal": np.exp(2.0 * rng.randn(n))})
    table.loc[:3, "rare"] = 50.0
    search = MKLRegressorCV(strategy="finite", Cs=[1.0], cv=2).fit(table, table["a"])
    assert "for their heavy tails: rare, lognormal." in search.describe()
    values = table.drop(columns="note").to_numpy()
    plain = MKLRegressorCV(strategy="finite", Cs=[1.0], cv=2).fit(values, table["a"])
    assert "for their heavy tails: x2, x3." in plain.describe()


def test_what_is_described_of_views_is_of_all_of_them_in_their_order():
    rng, n = np.random.RandomState(0), 60
    Z = pd.DataFrame(rng.randn(n, 8), columns=[f"z{j}" for j in range(8)])
    A = pd.DataFrame(np.exp(2.0 * rng.randn(n, 2)), columns=["a0", "a1"])
    told = {
        "strategy": ["finite"],
        "norm": [2.0],
        "C": [1.0],
        "kernels": [None],
        "score": [0.5],
        "std": [0.1],
    }
    told |= {"folds": [5], "seconds": [1.0]}
    best = {"strategy": "finite", "norm": 2.0, "kernels": None, "C": 1.0}
    named = views({"zebra": list(Z), "apple": list(A)})
    for spec, X_given in [(named, pd.concat([Z, A], axis=1)), ("auto", {"zebra": Z, "apple": A})]:
        model = MKLRegressor(spec, norm=2.0).fit(X_given, Z["z0"])
        text = describe_search(told, best, model_of(model)[0], spec)
        assert "of view zebra: 8 columns of numbers" in text
        assert "of view apple: 2 columns of numbers standardised; also as normal scores" in text
        assert "heavy tails: a0, a1." in text
        shares = {name: w / sum(model.view_weights_.values()) for name, w in model.view_weights_.items()}
        assert f"by view: zebra {100 * shares['zebra']:.0f} %, apple {100 * shares['apple']:.0f} %." in text
        assert f"and {len(model.active_) - 8} more" in text
        assert spec == "auto" or "from 2 views: zebra (8 columns), apple (2 columns)," in text
