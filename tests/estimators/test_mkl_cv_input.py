"""Model selection on raw tables and frames, and what it says of input that cannot work."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, cross_val_score

from manykernels import MKLRegressor
from manykernels.estimators import MKLClassifierCV, MKLRegressorCV
from manykernels.families import Gaussians, Relevance, Subset
from manykernels.kernels import Gaussian, Linear, OnColumns

RNG = np.random.RandomState(2)
N = 90
X = RNG.randn(N, 4)
X[:, 3] = np.sign(X[:, 3]) * np.abs(X[:, 3]) ** 4  # heavy tails
COLOUR = RNG.choice(["blue", "green", "red"], N)
TEXT = np.array(["".join(RNG.choice(list("abcd" if c == "red" else "cdef"), 12)) for c in COLOUR])
NUMBERS = np.sin(2.0 * X[:, 0]) + X[:, 1] + 1.5 * (COLOUR == "red") + 0.1 * RNG.randn(N)
LABELS = np.where(NUMBERS > 0.5, "yes", "no")
THREE = np.digitize(NUMBERS, [0.0, 1.0])
NAMES = ["age", "height", "weight", "dose"]
FEW = {"Cs": [1.0, 100.0], "cv": 2}
BOTH = pytest.mark.parametrize(
    ("kind", "y"), [(MKLClassifierCV, LABELS), (MKLRegressorCV, NUMBERS)], ids=["classes", "numbers"]
)


def frame(library=pd):
    return library.DataFrame({**dict(zip(NAMES, X.T, strict=True)), "colour": COLOUR, "note": TEXT})


def decisions(search, new):
    return search.decision_function(new) if hasattr(search, "decision_function") else search.predict(new)


# -- raw tables -----------------------------------------------------------------------------------
@BOTH
@pytest.mark.parametrize("strategy", ["finite", "continuous", "products", "auto"])
def test_scale_and_shift_of_columns_do_not_matter(kind, y, strategy):
    scale, shift = 10.0 ** np.array([6, -5, 2, -1]), np.array([3e6, 0.0, -1e3, 4.0])
    plain = kind(strategy=strategy, **FEW).fit(X, y)
    moved = kind(strategy=strategy, **FEW).fit(scale * X + shift, y)
    assert plain.best_params_ == moved.best_params_
    np.testing.assert_allclose(decisions(moved, scale * X + shift), decisions(plain, X), atol=2e-5)


@BOTH
@pytest.mark.parametrize("library", [pd, pl])
def test_frames_with_categories_and_text(kind, y, library):
    table = frame(library)
    search = kind(strategy=["finite", "continuous", "products"], **FEW).fit(table, y)
    assert search.score(table, y) > 0.8
    np.testing.assert_array_equal(search.feature_names_in_, [*NAMES, "colour", "note"])
    assert "1 categorical column as indicators" in search.describe()
    numbers = kind(strategy="finite", **FEW).fit(table[NAMES], y)
    if kind is MKLRegressorCV:
        assert search.best_score_ > numbers.best_score_ + 0.05  # the colour says something


def test_text_has_string_kernels():
    search = MKLRegressorCV(strategy="finite", **FEW).fit(frame(), NUMBERS)
    assert ("note: Spectrum(k=3)",) in search.path_["finite"]["kernels"]
    only = MKLClassifierCV(strategy="finite", refit=False, **FEW).fit(frame()[["note"]], COLOUR == "red")
    assert only.best_score_ > 0.9
    objects = frame()[["age", "note", "colour"]].to_numpy(dtype=object)
    assert MKLRegressorCV(strategy="finite", refit=False, **FEW).fit(objects, NUMBERS).best_score_ > 0.3


@pytest.mark.parametrize("form", ["frame", "objects", "text", "stack"])
def test_a_kernel_that_wins_alone_is_fitted_on_whatever_there_is(form):
    """Refitting one kernel of many reads X as the search did."""
    table, kernels = frame()[["age", "colour"]], "auto"
    if form == "objects":
        table = table.to_numpy(dtype=object)
    elif form == "text":
        table = frame()[["note"]]
    elif form == "stack":
        table, kernels = np.stack([np.eye(N), Gaussian(2.0)(X)], axis=2), "precomputed"
    search = MKLRegressorCV(kernels, strategy="finite", refit=False, **FEW).fit(table, NUMBERS)
    alone = next(only for only in search.path_["finite"]["kernels"] if only is not None and len(only) == 1)
    model = MKLRegressor(Subset(kernels, alone), C=10.0).fit(table, NUMBERS)
    assert model.kernel_names_ == list(alone) and np.isfinite(model.predict(table)).all()


@BOTH
def test_unseen_levels_are_like_no_level_in_particular(kind, y):
    table = frame().drop(columns="note")
    search = kind(strategy="continuous", **FEW).fit(table, y)
    strange = table.assign(colour="mauve")
    assert np.isfinite(decisions(search, strange)).all()
    two = [decisions(search, strange.assign(colour=c)) for c in ("mauve", "ochre")]
    np.testing.assert_allclose(*two, atol=1e-12)
    assert cross_val_score(search, table, y, cv=3, error_score="raise").mean() > 0.6


@BOTH
@pytest.mark.parametrize("strategy", ["finite", "continuous", "products"])
def test_levels_that_a_fold_does_not_have(kind, y, strategy):
    rare = frame()[["age", "colour"]]
    rare.loc[:2, "colour"] = "mauve"
    folds = [(np.arange(3, N), np.arange(3)), (np.r_[0:40], np.r_[40:N])]
    search = kind(strategy=strategy, Cs=[1.0], cv=folds, refit=False).fit(rare, y)
    assert np.isfinite(search.path_[strategy]["loss"]).all()


def test_many_categories_are_tried_column_by_column():
    """Letters of a sequence, of which each says a little."""
    draws = np.random.RandomState(2)
    codes = draws.randint(0, 4, size=(150, 20)).astype(float)
    effects = draws.randn(10, 4)
    y = sum(effects[j][codes[:, j].astype(int)] for j in range(10)) + draws.randn(150) > 0
    letters = pd.DataFrame(np.array(list("ACGT"))[codes.astype(int)], columns=[f"at{j}" for j in range(20)])
    search = MKLClassifierCV(norms=[1.0], Cs=[1.0], cv=2, refit=False).fit(letters, y)
    assert search.comparison_["strategy"] == ["finite", "continuous", "columns", "products"]
    chosen = MKLClassifierCV(strategy="columns", Cs=[1.0], cv=2).fit(letters, y)
    assert chosen.best_score_ > 0.7
    single = {name: w for name, w in zip(chosen.kernel_names_, chosen.weights_, strict=True) if ":" in name}
    told = sum(single[f"at{j}: Linear"] for j in range(10))
    assert len(single) == 20 and told > 0.8 * sum(single.values())
    few = MKLClassifierCV(norms=[1.0], Cs=[1.0], cv=2, refit=False).fit(codes, y)
    assert "columns" in few.comparison_["strategy"]


@pytest.mark.parametrize("dtype", ["category", "string", object, bool])
def test_kinds_of_columns(dtype):
    table = frame()[NAMES]
    table["red"] = pd.Series(COLOUR == "red" if dtype is bool else COLOUR).astype(dtype)
    search = MKLRegressorCV(strategy="finite", **FEW).fit(table, NUMBERS)
    assert search.best_score_ > MKLRegressorCV(strategy="finite", **FEW).fit(X, NUMBERS).best_score_ + 0.05


def test_levels_of_several_types():
    table = frame()[NAMES].assign(red=pd.Series([1 if c == "red" else "no" for c in COLOUR], dtype=object))
    search = MKLRegressorCV(strategy="continuous", **FEW).fit(table, NUMBERS)
    words = MKLRegressorCV(strategy="continuous", **FEW).fit(table.assign(red=COLOUR == "red"), NUMBERS)
    assert search.best_score_ > 0.5 and search.best_score_ == pytest.approx(words.best_score_, abs=0.1)


def test_missing_values_say_how_to_impute_where_kernels_read_columns_as_they_are():
    for table, name in ((frame(), "age"), (frame()[NAMES], "age")):
        table.loc[3, name] = np.nan
        with pytest.raises(ValueError, match=r"[Ii]mpute"):
            MKLRegressorCV([OnColumns(Gaussian(1.0), ["age"])]).fit(table, NUMBERS)
    holes = X.copy()
    holes[5, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MKLRegressorCV([Gaussian(1.0)]).fit(holes, NUMBERS)


def test_many_levels_warn():
    table = frame()[["age"]].assign(id=[f"{i:03d}" for i in range(N)])
    with pytest.warns(
        UserWarning, match=r"'id' is left out: all its values differ, as those of an identifier"
    ):
        search = MKLRegressorCV(strategy="finite", **FEW).fit(table, NUMBERS)
    assert search.best_score_ > 0.0


def test_columns_at_predict():
    mixed, numbers = frame(), frame()[NAMES]
    search = MKLRegressorCV(strategy="finite", **FEW).fit(mixed, NUMBERS)
    np.testing.assert_allclose(search.predict(mixed[mixed.columns[::-1]]), search.predict(mixed), atol=1e-12)
    with pytest.raises(ValueError, match="lacks the columns 'colour', 'note'"):
        search.predict(numbers)
    plain = MKLRegressorCV(strategy="finite", **FEW).fit(numbers, NUMBERS)
    with pytest.raises(ValueError, match="feature names should match"):
        plain.predict(numbers[NAMES[::-1]])
    with pytest.raises(ValueError, match="dose"):
        plain.predict(numbers[NAMES[:-1]])


def test_views_and_sparse_matrices():
    names = ["body__age", "body__height", "lab__weight", "lab__dose"]
    search = MKLRegressorCV(strategy="finite", **FEW).fit(pd.DataFrame(X, columns=names), NUMBERS)
    assert set(search.view_weights_) >= {"body", "lab"}
    S = np.where(np.abs(X) > 0.5, X, 0.0)
    for form in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        thin = MKLRegressorCV(**FEW).fit(form(S), NUMBERS)
        assert thin.comparison_["strategy"] == ["finite"] and thin.predict(form(S)).shape == (N,)
    with pytest.raises(ValueError, match="dense"):
        MKLRegressorCV(strategy="products").fit(sparse.csr_array(S), NUMBERS)


# -- bad input ------------------------------------------------------------------------------------
def test_a_fold_with_one_class_is_named():
    order = np.argsort(LABELS, kind="stable")
    no = int(np.sum(LABELS == "no"))
    folds = [(np.r_[: no // 2, no : no + 10], np.r_[no + 10 : N]), (np.arange(no), np.arange(no, N))]
    with pytest.raises(ValueError, match=r"Fold 1 .*one class only \('no'\)"):
        MKLClassifierCV(cv=folds).fit(X[order], LABELS[order])
    with pytest.raises(ValueError, match=r"Fold 0 .*no sample"):
        MKLRegressorCV(cv=[(np.arange(N), np.arange(0))]).fit(X, NUMBERS)


def test_groups_that_leave_a_class_out():
    groups = THREE
    search = MKLClassifierCV(**FEW | {"cv": LeaveOneGroupOut()}).fit(X, THREE, groups=groups)
    assert search.best_score_ == 0.0  # a class that was never seen is never said
    np.testing.assert_array_equal(search.classes_, [0, 1, 2])
    assert search.decision_function(X).shape == (N, 3) and search.score(X, THREE) > 0.8
    for strategy in ("continuous", "aligned", "products"):
        other = clone(search).set_params(strategy=strategy).fit(X, THREE, groups=groups)
        assert other.best_score_ == 0.0 and np.isfinite(other.path_[strategy]["loss"]).all()
    with pytest.raises(ValueError, match=r"Fold 0 of cv=GroupKFold\(.*trains on samples of one class only"):
        MKLClassifierCV(cv=GroupKFold(2)).fit(X, LABELS, groups=LABELS)


def test_fewer_samples_than_folds():
    with pytest.raises(ValueError, match="n_splits=5"):
        MKLRegressorCV(cv=5).fit(X[:3], NUMBERS[:3])
    with pytest.raises(ValueError, match="n_splits=50"):
        MKLClassifierCV(cv=50).fit(X[:30], LABELS[:30])
    few = MKLRegressorCV(strategy="finite").fit(X[:3], NUMBERS[:3])  # the default takes fewer folds
    assert few.comparison_["folds"] == [3] and np.isfinite(few.predict(X)).all()
    with pytest.raises(ValueError, match="1 sample"):
        MKLRegressorCV().fit(X[:1], NUMBERS[:1])


@pytest.mark.parametrize("strategy", ["auto", "finite", "continuous", "products"])
@pytest.mark.parametrize("value", [0.0, 7.5])
def test_a_constant_target_is_predicted(strategy, value):
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        search = MKLRegressorCV(strategy=strategy, **FEW).fit(X, np.full(N, value))
    np.testing.assert_allclose(search.predict(RNG.randn(5, 4)), value, atol=1e-9)
    assert np.isfinite(search.best_score_)


def test_alignment_with_a_constant_target_is_not_defined():
    with pytest.raises(ValueError, match="constant target is not defined"):
        MKLRegressorCV(strategy="aligned", **FEW).fit(X, np.ones(N))


@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
def test_a_constant_class_is_an_error():
    with pytest.raises(ValueError, match="only one class"):
        MKLClassifierCV().fit(X, np.ones(N, dtype=int))
    with pytest.raises(ValueError, match="as many classes as samples"):
        MKLClassifierCV().fit(X, np.arange(N))


@pytest.mark.parametrize(
    "Cs", [[], [0.0, 1.0], [-1.0], [np.nan], [np.inf], 0, -2, True, 1.5, "many", [[1.0]]]
)
def test_wrong_costs(Cs):
    with pytest.raises(ValueError, match=r"Cs=.* was given; expected"):
        MKLRegressorCV(Cs=Cs).fit(X, NUMBERS)


@pytest.mark.parametrize("norms", [[], 0.5, [1.0, 0.0], "l2", [None]])
def test_wrong_norms(norms):
    with pytest.raises((ValueError, TypeError), match="norm"):
        MKLRegressorCV([Linear(), Gaussian(1.0)], norms=norms).fit(X, NUMBERS)


def test_costs_and_norms():
    search = MKLRegressorCV([Linear(), Gaussian(1.0)], Cs=4, norms=2.0, cv=2).fit(X, NUMBERS)
    path = search.path_["finite"]
    np.testing.assert_allclose(path["C"][:4], np.geomspace(path["C"][0], path["C"][3], 4))
    assert path["norm"][:4] == [2.0] * 4
    twice = clone(search).set_params(Cs=[10.0, 1.0, 10.0]).fit(X, NUMBERS)
    assert twice.path_["finite"]["C"][:2].tolist() == [1.0, 10.0]
    family = MKLRegressorCV(Gaussians(0.1, 10.0), **FEW).fit(X, NUMBERS)
    assert family.path_["finite"]["norm"] == [1.0, 1.0]


def test_scores_that_take_no_weights():
    for scoring in ("neg_max_error", lambda model, X, y: 0.0):
        search = MKLRegressorCV([Linear()], scoring=scoring, **FEW).fit(X, NUMBERS)
        with pytest.raises(ValueError, match="takes no weights"):
            search.fit(X, NUMBERS, sample_weight=np.ones(N))
    for scoring in ("neg_mean_absolute_error", lambda model, X, y, sample_weight: float(sample_weight.sum())):
        MKLRegressorCV([Linear()], scoring=scoring, **FEW).fit(X, NUMBERS, sample_weight=np.ones(N))


def test_widths_of_samples_without_weight():
    weight = np.r_[np.zeros(30), np.ones(N - 30)]
    given = Relevance().resolve(X, weight, target=NUMBERS[:, None])
    left = Relevance().resolve(X[30:], target=NUMBERS[30:, None])
    widths = [list(kernels.values())[1].kernel.widths for kernels in (given, left)]
    np.testing.assert_allclose(*widths, rtol=1e-6)


def test_other_mistakes():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        MKLRegressorCV().fit(X, NUMBERS[:-1])
    with pytest.raises(ValueError, match="y to be passed"):
        MKLRegressorCV().fit(X, None)
    with pytest.raises(ValueError, match="scoring"):
        MKLRegressorCV(scoring="nothing").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="at least one positive weight"):
        MKLRegressorCV().fit(X, NUMBERS, sample_weight=np.zeros(N))
    with pytest.raises(ValueError, match=r"Fold 0 .*no sample to train on"):
        MKLRegressorCV(cv=KFold(2)).fit(X, NUMBERS, sample_weight=np.arange(N) < N // 2)
    with pytest.raises(ValueError, match="tol"):
        MKLRegressorCV(tol=-1.0).fit(X, NUMBERS)


def test_a_failed_fit_leaves_the_model_of_before():
    search = MKLClassifierCV([Linear()], **FEW).fit(X, LABELS)
    before = vars(search).copy()
    with pytest.raises(ValueError, match="only one class"):
        search.fit(X, np.ones(N))
    assert vars(search) == before
    own = MKLClassifierCV(strategy=[MKLRegressor()])
    with pytest.raises(ValueError, match=r"MKLRegressor.*expected classifiers"):
        own.fit(X, LABELS)
