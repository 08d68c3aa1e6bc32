"""Held-out permutation importance: its definition, its intervals, every kind of model and of table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from tests import fitted_models
from tests.fitted_models import FITTED, fitted

from manykernels import KernelAligner, MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels.families import views
from manykernels.inspection import _permuted, importance, permutation_test, weight_stability
from manykernels.inspection._permuted import joined, permuted
from manykernels.kernels import Gaussian, Linear, OnColumns, Precomputed

rng = np.random.RandomState(0)
X = rng.randn(90, 4)
y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.randn(90)
KERNELS = [Linear(), Gaussian(2.0)]
FOLDS = list(KFold(3, shuffle=True, random_state=1).split(X))
WORDS = pd.Categorical(np.where(X[:, 1] > 0, "up", "down"))
FRAME = pd.DataFrame({"a": X[:, 0], "word": WORDS, "b": X[:, 2]})


# -- what it is -------------------------------------------------------------------------------------
def test_it_is_what_the_score_loses_on_samples_that_were_held_out():
    model = MKLRegressor(KERNELS)
    found = importance(model, X, y, cv=FOLDS, n_repeats=2, level=0.8, random_state=3)
    seeds = np.random.RandomState(3).randint(2**31 - 1, size=3)
    for k, (train, test) in enumerate(FOLDS):
        learned, draw = clone(model).fit(X[train], y[train]), np.random.RandomState(seeds[k])
        before = r2_score(y[test], learned.predict(X[test]))
        assert found.scores[k] == pytest.approx(before)
        for r in range(2):
            order = draw.permutation(len(test))
            for j in range(4):
                held = X[test].copy()
                held[:, j] = held[order, j]
                after = r2_score(y[test], learned.predict(held))
                assert found.drops[j, k, r] == pytest.approx(before - after)
    assert found.names == ["x0", "x1", "x2", "x3"] and found.metric == "R²" and found.of == 4
    assert found.order[-1] == 3 and found.leading()[0] == 0 and found.views is None
    assert found.columns()["name"][0] == "x0"


def test_groups_of_samples_stay_together_in_folds_and_searches():
    groups = np.arange(90) // 9
    search = MKLRegressorCV(KERNELS, strategy="finite", norms=[1.0], Cs=[1.0], cv=GroupKFold(3))
    with pytest.raises(ValueError, match="by groups of samples, and none were given"):
        importance(search, X, y, cv=GroupKFold(2), n_repeats=1)
    fitted = clone(search).fit(X, y, groups=groups)
    for ask in (importance, weight_stability, permutation_test):  # no folds that split groups, unless told
        with pytest.raises(ValueError, match="keeps groups of samples together, and none were given here"):
            ask(fitted, X, y)
    assert importance(fitted, X, y, sample_groups=groups, n_repeats=1, max_columns=1).scores.size == 5
    for model in (search, make_pipeline(StandardScaler(), search)):
        found = importance(model, X, y, cv=GroupKFold(2), n_repeats=1, sample_groups=groups)
        assert found.names[0] == "x0" and found.scores.size == 2
    copies = np.repeat(rng.randn(10, 4), 9, axis=0)  # of a group: nothing is known of other groups
    target = np.repeat(rng.randn(10), 9)
    apart = importance(MKLRegressor(KERNELS), copies, target, n_repeats=1, sample_groups=groups)
    mixed = importance(MKLRegressor(KERNELS), copies, target, n_repeats=1, random_state=0)
    assert apart.scores.mean() < 0.3 < 0.6 < mixed.scores.mean()


def test_intervals_know_that_training_parts_overlap():
    found = importance(MKLRegressor(KERNELS), X, y, cv=FOLDS, n_repeats=2, random_state=3, level=0.8)
    by_fold = found.drops.mean(axis=2)
    error = np.sqrt((1 / 3 + 30 / 60) * by_fold.var(axis=1, ddof=1))
    np.testing.assert_allclose(found.error, error)
    np.testing.assert_allclose(found.high - found.mean, stats.t.ppf(0.9, 2) * error)
    np.testing.assert_allclose(found.mean - found.low, stats.t.ppf(0.9, 2) * error)


def test_one_fold_has_no_interval():
    found = importance(MKLRegressor(KERNELS), X, y, cv=FOLDS[:1], n_repeats=1, random_state=0)
    assert np.isnan(found.low).all() and np.isfinite(found.mean).all() and found.leading() == []


def test_columns_that_say_the_same_matter_as_a_group():
    twins = np.column_stack([X[:, 0], X[:, 0] + 0.01 * rng.randn(90), X[:, 3]])
    groups = {"twins": [0, 1], "rest": 2}
    found = importance(MKLRegressor([Linear()]), twins, X[:, 0], groups=groups, random_state=0)
    assert found.views.mean[0] > 1.5 * found.mean[:2].max() and abs(found.views.mean[1]) < 0.05


# -- which models -----------------------------------------------------------------------------------
def data_of(name):
    tables = {"stack": fitted_models.stack, "tanimoto": fitted_models.bits}
    return tables.get(name, fitted_models.frame() if "frame" in name else fitted_models.X)


SAME_ROAD = {
    "auto",
    "logistic",
    "centred",
    "parts",
    "matern",
    "ufo warm",
    "kmeans",
    "centred frame",
    "many widths",
}


@pytest.mark.parametrize("name", sorted(set(FITTED) - {"strings", "aligner"} - SAME_ROAD))
def test_every_kind_of_model(name):
    model, table = fitted(name)[0], data_of(name)
    target = fitted_models.y if hasattr(model, "classes_") else fitted_models.numbers
    if name in ("three classes", "ovr", "ufo"):
        target = fitted_models.three
    target = fitted_models.TIMES.get(name, target)
    if name == "two outputs":
        target = fitted_models.X[:, :2] ** 2
    found = importance(model, table, target, cv=2, n_repeats=1, random_state=0)
    assert found.drops.shape == (table.shape[-1], 2, 1) and np.isfinite(found.drops).all()
    other = "C index" if name in fitted_models.TIMES else "R²"
    assert found.metric == ("accuracy" if hasattr(model, "classes_") else other)
    if name == "views of a frame":
        assert found.views.names == ["n", "w"]


def test_layers_of_a_stack_are_permuted_by_rows():
    K = np.stack([Linear()(X[:, [0]]), Linear()(X[:, [3]])], axis=2)
    model = MKLRegressor({"right": Precomputed(0), "wrong": Precomputed(1)})
    found = importance(model, K, X[:, 0], groups={"both": ["right", "wrong"]}, cv=3, random_state=0)
    assert found.names == ["right", "wrong"] and found.mean[0] > 0.5 > abs(found.mean[1])
    assert found.views.names == ["both"]


def test_what_a_search_chose_is_learned_in_the_folds_unless_it_chooses_anew():
    search = MKLClassifierCV({"a": Linear(), "b": Gaussian(1.0)}, Cs=[0.1, 1.0], cv=2).fit(X, y > 0)
    how = {"cv": 2, "n_repeats": 1, "random_state": 0}
    settled = importance(search, X, y > 0, **how)
    best = importance(search.best_estimator_, X, y > 0, **how)
    np.testing.assert_array_equal(settled.drops, best.drops)
    anew = importance(search, X, y > 0, searched="anew", **how)
    fresh = importance(clone(search), X, y > 0, **how)
    np.testing.assert_array_equal(anew.drops, fresh.drops)


def test_searches_of_scikit_learn_and_estimators_of_others():
    whole = make_pipeline(StandardScaler(), MKLClassifier(KERNELS))
    grid = GridSearchCV(whole, {"mklclassifier__C": [1.0, 2.0]}, cv=2)
    found = importance(grid.fit(X, y > 0), X, y > 0, cv=2, n_repeats=1, random_state=0)
    other = importance(LogisticRegression(), X, y > 0, cv=2, n_repeats=1, random_state=0)
    assert len(found.names) == len(other.names) == 4 and other.metric == "accuracy"


# -- which tables -----------------------------------------------------------------------------------
ORDER = np.random.RandomState(5).permutation(90)


@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix, pd.DataFrame, pl.DataFrame])
def test_the_rows_of_some_columns_change_places(kind):
    expected = X.copy()
    expected[:, [1, 3]] = X[ORDER][:, [1, 3]]
    table = kind(X)
    changed = permuted(table, [1, 3], ORDER)
    assert type(changed).__name__.split("_")[0] == type(table).__name__.split("_")[0]
    plain = changed.toarray() if sparse.issparse(changed) else np.asarray(changed)
    np.testing.assert_array_equal(plain, expected)
    twice = joined([table, changed])
    plain = twice.toarray() if sparse.issparse(twice) else np.asarray(twice)
    np.testing.assert_array_equal(plain, np.vstack([X, expected]))


def test_frames_keep_their_types():
    changed = permuted(FRAME, [1], ORDER)
    assert list(changed.dtypes) == list(FRAME.dtypes) == list(joined([FRAME, changed]).dtypes)
    assert list(changed["word"]) == list(FRAME["word"].iloc[ORDER]) and changed["a"].equals(FRAME["a"])


def test_columns_are_permuted_before_any_preparation():
    ready = ColumnTransformer([("n", StandardScaler(), ["a", "b"]), ("c", OneHotEncoder(), ["word"])])
    model = make_pipeline(ready, MKLClassifier([Linear()]))
    found = importance(model, FRAME, X[:, 1] > 0, cv=3, random_state=0)
    assert found.names == ["a", "word", "b"] and found.leading() == [1]


def test_views_are_those_that_the_model_or_the_names_tell():
    table = pd.DataFrame(X, columns=["p", "q", "r", "s"])
    how = {"cv": 2, "n_repeats": 1, "random_state": 0}
    by_name = MKLRegressor(views({"left": ["p", "s"], "right": ["q", "r"]}))
    assert importance(by_name, table, y, **how).views.names == ["left", "right"]
    behind = make_pipeline(StandardScaler().set_output(transform="pandas"), by_name)
    assert importance(behind, table, y, **how).views.names == ["left", "right"]
    direct = MKLRegressor(
        [OnColumns(Linear(), [0, 3], view="left"), OnColumns(Linear(), [1, 2], view="right")]
    )
    first, second = (importance(m, table, y, **how).views for m in (direct, by_name))
    assert first.names == second.names
    prefixed = table.set_axis(["left__p", "right__q", "right__r", "left__s"], axis=1)
    assert importance(MKLRegressor(KERNELS), prefixed, y, **how).views.names == ["left", "right"]
    assert importance(MKLRegressor(KERNELS), table, y, **how).views is None


def test_views_and_matrices_of_a_dict_keep_their_names():
    how = {"cv": 2, "n_repeats": 1, "random_state": 0}
    parts = {"left": X[:, :1], "right": X[:, 1:3]}
    found = importance(MKLRegressor(), parts, y, **how)
    assert found.names == ["left__x0", "right__x0", "x1"] and found.views.names == ["left", "right"]
    matrices = {name: part @ part.T for name, part in parts.items()}
    assert importance(MKLRegressor("precomputed"), matrices, y, **how).names == ["left", "right"]


def test_of_many_columns_those_that_change_predictions_are_looked_at():
    wide = rng.randn(80, 300)
    wide[:, [17, 250]] *= 30.0
    target = wide[:, 17] + wide[:, 250]
    found = importance(MKLRegressor([Linear()]), wide, target, max_columns=6, cv=3, random_state=0)
    assert len(found.names) == 6 and found.of == 300 and set(found.columns()["name"][:2]) == {"x17", "x250"}
    model = MKLRegressor(views({"first": slice(0, 20), "rest": slice(20, None)}))
    alone = importance(model, wide, target, max_columns=0, cv=2, n_repeats=1, random_state=0)
    assert alone.names == [] and alone.views.names == ["first", "rest"] and alone.drops.shape == (0, 2, 1)


# -- how it is done ---------------------------------------------------------------------------------
def test_batches_change_nothing(monkeypatch):
    how = {"cv": 2, "n_repeats": 2, "random_state": 0}
    found = importance(MKLRegressor(KERNELS), X, y, **how)
    monkeypatch.setattr(_permuted, "_ENTRIES", 1)
    np.testing.assert_allclose(importance(MKLRegressor(KERNELS), X, y, **how).drops, found.drops, atol=1e-12)


@pytest.mark.slow
def test_processes_change_nothing():
    how = {"cv": 2, "n_repeats": 2, "random_state": 0}
    found = importance(MKLRegressor(KERNELS), X, y, **how)
    again = importance(MKLRegressor(KERNELS), X, y, n_jobs=2, **how)
    np.testing.assert_allclose(again.drops, found.drops, atol=1e-12)


def odd(model, X, y):
    """A score that asks for other samples too."""
    return float(np.mean((model.predict(X) > 0) == y)) - 0.0 * float(model.predict(X[:3]).sum())


@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc", odd])
def test_scores_of_all_kinds(scoring):
    how = {"cv": 2, "n_repeats": 2, "random_state": 0}
    found = importance(MKLClassifier(KERNELS), X, y > 0, scoring=scoring, **how)
    assert found.metric == (scoring if isinstance(scoring, str) else "odd")
    plain = importance(MKLClassifier(KERNELS), X, y > 0, **how)
    if scoring == "accuracy":
        np.testing.assert_allclose(found.drops, plain.drops)
    assert found.order[0] == plain.order[0] == 0


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        (MKLRegressor(), X, {"n_repeats": 0}, "n_repeats=0"),
        (MKLRegressor(), X, {"max_columns": -1}, "max_columns=-1"),
        (MKLRegressor(), X, {"max_columns": 0}, "without groups"),
        (MKLRegressor(), X, {"level": 1.0}, "level=1.0"),
        (MKLRegressor(), X, {"searched": "never"}, "searched='never'"),
        (MKLRegressor(), X, {"groups": ["a"]}, "expected a dict"),
        (MKLRegressor(), X, {"groups": {"a": []}}, "no columns"),
        (MKLRegressor(), X, {"groups": {"a": "age"}}, "'age' is not in X"),
        (MKLRegressor(), X[:50], {}, "50 samples and y has 90"),
        (MKLRegressor(), ["ab"] * 90, {}, "list of strings"),
        (KernelAligner(), X, {}, "no predict method"),
    ],
)
def test_bad_input(model, data, options, message):
    with pytest.raises(ValueError, match=message):
        importance(model, data, y, **options)
