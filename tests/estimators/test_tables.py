"""Raw tables in estimators: gaps, dates, text and identifiers, without a leak, and weights as repetition."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import manykernels
from manykernels import (
    KernelAligner,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    load,
    save,
)
from manykernels.families import Auto, Products, Relevance, views
from manykernels.families.remarks import TableWarning
from manykernels.fitting.options import Options
from manykernels.fitting.samples import read
from manykernels.fitting.targets import Numbers
from manykernels.kernels import Gaussian
from manykernels.report import report_data
from manykernels.selection.strategies import NAMES

N = 90


def raw(n=N, seed=0):
    """A table with everything that files hold, and a target."""
    rng = np.random.RandomState(seed)
    age, place = rng.normal(50, 10, n), rng.choice(["a", "b", "c"], n)
    frame = pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "code": [f"P-{i:04d}" for i in range(n)],
            "age": age,
            "crp": [f"{v:.2f}" if v > 0.5 else "<0.5" for v in rng.lognormal(size=n)],
            "place": place,
            "visit": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.randint(0, 900, n), unit="D"),
            "smiles": ["".join(rng.choice(list("CNO=c1()"), rng.randint(6, 15))) for _ in range(n)],
            "unit": "mg",
        }
    )
    y = (age - 50) / 10 + (place == "a") + 0.1 * rng.randn(n)
    frame.loc[::7, "age"] = np.nan
    frame.loc[1::9, "place"] = None
    frame.loc[2::11, "visit"] = pd.NaT
    frame.loc[5, "smiles"] = None
    return frame, y


FRAME, Y = raw()
QUIET = pytest.mark.filterwarnings("ignore::manykernels.families.remarks.TableWarning")
TRAIN, TEST = np.arange(60), np.arange(60, N)


@QUIET
@pytest.mark.parametrize("strategy", ["finite", "continuous", "products", "aligned"])
def test_every_strategy_learns_from_a_raw_table(strategy):
    search = MKLRegressorCV(strategy=strategy, Cs=[1.0, 10.0], cv=3).fit(FRAME, Y)
    assert search.best_score_ > 0.4
    assert np.isfinite(search.predict(raw(20, seed=1)[0])).all()


@QUIET
@pytest.mark.parametrize(
    "name", [name for name in manykernels.__all__ if name.endswith(("Classifier", "Regressor"))]
)
def test_every_estimator_learns_from_a_raw_table(name):
    model = getattr(manykernels, name)()
    if name.startswith("Hierarchical"):  # which has no "auto"
        assert not model.__sklearn_tags__().input_tags.allow_nan
        with pytest.raises(ValueError):
            model.fit(FRAME, Y)
        return
    assert model.__sklearn_tags__().input_tags.allow_nan
    y = Y if name.endswith("Regressor") else (Y > 0).astype(int)
    assert model.fit(FRAME, y).score(FRAME, y) > 0.5


@QUIET
def test_kernels_alone_are_learned_from_a_raw_table():
    aligner = KernelAligner().fit(FRAME, Y)
    assert aligner.transform(FRAME.head(4)).shape[0] == 4


@QUIET
@pytest.mark.parametrize(
    "convert", [lambda frame: pl.from_pandas(frame), lambda frame: frame.convert_dtypes()]
)
def test_other_frames_give_the_same_model(convert):
    models = [MKLRegressor("auto").fit(frame, Y) for frame in (FRAME, convert(FRAME))]
    np.testing.assert_allclose(models[1].predict(convert(FRAME)), models[0].predict(FRAME), atol=1e-8)


@QUIET
def test_arrays_with_gaps():
    A = np.column_stack([FRAME["age"], np.random.RandomState(1).randn(N)])
    model = MKLRegressor("auto").fit(A, Y)
    objects = A.astype(object)
    objects[np.isnan(A)] = None
    np.testing.assert_allclose(MKLRegressor("auto").fit(objects, Y).predict(objects), model.predict(A))
    names = [name for name in model.kernel_names_ if "missing" in name]
    assert not names and np.isfinite(model.predict(np.full((2, 2), np.nan))).all()


# -- nothing of held-out samples is seen ----------------------------------------------------------
def other_test_rows():
    """The same training samples, and held-out ones of another world."""
    frame = FRAME.copy()
    frame.loc[TEST, "id"] = 10**6
    frame.loc[TEST, "code"] = "same"
    frame.loc[TEST, "age"] = 1e6
    frame.loc[TEST, "crp"] = "not measured"
    frame.loc[TEST, "place"] = "z"
    frame.loc[TEST, "visit"] = pd.NaT
    frame.loc[TEST, "smiles"] = "CCCCCCCC"
    frame.loc[TEST, "unit"] = "g"
    return frame


@QUIET
@pytest.mark.parametrize(
    "kernels",
    [
        "auto",
        Relevance(),
        Products(degree=2, scale=True),
        views({"v": ["age", "crp", "place"], "w": ["smiles"]}),
    ],
    ids=["auto", "relevance", "products", "views"],
)
def test_a_fold_knows_nothing_of_the_samples_that_it_leaves_out(kernels):
    """Medians, levels, formats, and which columns are left out come from the training part alone."""
    learned = []
    for frame in (FRAME, other_test_rows()):
        given = read(Options("MKLRegressor", kernels=kernels), frame, Y, None, Numbers())
        part = given.part(TRAIN)
        model = MKLRegressor(kernels).fit(part.X, part.y)
        learned.append((model.kernel_names_, model.weights_, model.predict(FRAME.iloc[TRAIN])))
    assert learned[0][0] == learned[1][0]
    np.testing.assert_array_equal(learned[0][1], learned[1][1])
    np.testing.assert_array_equal(learned[0][2], learned[1][2])


@QUIET
@pytest.mark.parametrize("strategy", ["finite", "continuous", "products"])
def test_the_folds_of_a_search_know_nothing_either(strategy):
    """Swapping what a fold holds out does not change how its model does on other samples."""
    weight = np.r_[np.ones(len(TRAIN)), np.zeros(len(TEST) - 10), np.ones(10)]
    scores = []
    for frame in (FRAME, other_test_rows()):
        mixed = frame.copy()
        mixed.loc[N - 10 :] = FRAME.loc[N - 10 :]  # what is scored is the same
        fold = [(TRAIN, np.arange(N - 10, N))]
        search = MKLRegressorCV(strategy=strategy, Cs=[1.0], cv=fold, refit=False)
        scores.append(search.fit(mixed, Y, sample_weight=weight).best_score_)
    assert scores[0] == scores[1]


def of_noise(n, kind, seed):
    """A column that knows nothing of the target, of a kind that could learn each row by heart."""
    rng = np.random.RandomState(seed)
    if kind == "levels":
        return [f"site {k}" for k in rng.randint(0, 60, n)]  # half as many as training rows
    if kind == "ordered":
        grades = [f"{k:02d}" for k in range(30)]
        return pd.Categorical(rng.choice(grades, n), grades, ordered=True)
    return rng.randint(0, 12, n).astype(float)  # few different numbers, taken as levels


@QUIET
@pytest.mark.parametrize("strategy", ["finite", "continuous"])
@pytest.mark.parametrize("kind", ["levels", "ordered", "numbers"])
def test_columns_of_noise_do_not_score_above_chance(kind, strategy):
    """Neither in the folds nor on new rows: no row helps to decide itself."""
    n, rng = 120, np.random.RandomState(1)
    one, two = (pd.DataFrame({c: of_noise(n, kind, seed + k) for k, c in enumerate("ab")}) for seed in (3, 5))
    y, z = (rng.permutation(np.arange(n) % 2) for _ in range(2))
    search = MKLClassifierCV(strategy=strategy, norms=(1.0,), Cs=[1.0], cv=3).fit(one, y)  # text in the folds
    assert search.best_score_ < 0.66 and search.score(two, z) < 0.66  # 0.5 and 3.5 standard errors


def test_categories_of_many_levels_have_kernels_of_their_own():
    """An effect of each level; where there is no other column it is the linear kernel of all features."""
    frame = FRAME[["age", "place"]].assign(site=[f"site {k % 15}" for k in range(N)])
    kernels = Auto().resolve(frame)
    K = kernels["site: Linear"](frame)
    same = np.equal.outer(frame["site"].to_numpy(), frame["site"].to_numpy())
    assert K[same].min() > K[~same].max() and "place: Linear" not in kernels
    assert "site: Linear" not in Auto().resolve(frame[["site"]])
    many = pd.DataFrame({f"c{j}": [f"level {(k * (j + 1)) % 29 % 15}" for k in range(N)] for j in range(13)})
    assert not any(name.startswith("c0") for name in Auto().resolve(many))


# -- weights --------------------------------------------------------------------------------------
@QUIET
@pytest.mark.parametrize("kernels", ["auto", Products(degree=2, scale=True)], ids=["auto", "products"])
def test_a_weight_is_a_repetition(kernels):
    weight = np.random.RandomState(0).randint(0, 3, N)
    rows = np.repeat(np.arange(N), weight)
    weighted = MKLRegressor(kernels).fit(FRAME, Y, sample_weight=weight)
    repeated = MKLRegressor(kernels).fit(FRAME.iloc[rows], Y[rows])
    assert weighted.kernel_names_ == repeated.kernel_names_
    np.testing.assert_allclose(weighted.predict(FRAME), repeated.predict(FRAME), atol=1e-9)


# -- what is said -----------------------------------------------------------------------------------
def test_each_thing_is_said_once_by_a_whole_search():
    with pytest.warns(TableWarning) as caught:
        MKLRegressorCV(Cs=[1.0], cv=3).fit(FRAME, Y)
    said = sorted(str(warning.message)[:40] for warning in caught if warning.category is TableWarning)
    assert len(said) == 3 and "cells such as '<0.5'" in said[0]
    assert "'code' is left out" in said[1] and "'id' is left out" in said[2]


def test_new_samples_of_another_kind_are_told_once():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        search = MKLRegressorCV(strategy="finite", Cs=[1.0], cv=3).fit(FRAME, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.predict(FRAME)
    with pytest.warns(TableWarning, match="not seen: 'z', in 'place'") as caught:
        search.predict(FRAME.assign(place="z"))
    assert len(caught) == 1
    with pytest.raises(ValueError, match="Column 'age' has infinite values"):
        search.predict(FRAME.assign(age=np.inf))


def test_a_table_of_identifiers_leaves_nothing_to_learn_from():
    with pytest.raises(ValueError, match=r"No column of X is left to learn from \('id': it numbers the rows"):
        MKLRegressor("auto").fit(FRAME[["id", "code"]], Y)


# -- text alone -------------------------------------------------------------------------------------
@QUIET
def test_a_column_of_text_is_enough():
    labels = (FRAME["smiles"].fillna("").str.count("C") > 2).astype(int)
    for columns in (["smiles"], ["smiles", "age"]):
        search = MKLClassifierCV(Cs=[1.0, 10.0], cv=3).fit(FRAME[columns], labels)
        assert search.best_score_ > 0.7 and np.isin(search.predict(FRAME[columns]), [0, 1]).all()
    alone = MKLClassifierCV(strategy="continuous", Cs=[1.0], cv=3).fit(FRAME[["smiles"]], labels)
    assert alone.kernel_names_ == ["smiles: Spectrum(k=3)", "smiles: Spectrum(k=5)"]
    assert set(NAMES) > set(search.path_)


# -- where kernels are given ------------------------------------------------------------------------
@QUIET
def test_gaps_are_an_error_only_where_kernels_read_columns_as_they_are():
    given = views({"prepared": ["age", "place"], "own": (["noise", "more"], Gaussian(1.0))})
    frame = FRAME.assign(noise=np.random.RandomState(2).randn(N), more=0.5)
    model = MKLClassifier(given)
    assert not model.__sklearn_tags__().input_tags.allow_nan
    model.fit(frame, Y > 0)
    with pytest.raises(ValueError, match=r"Column 'noise' of X holds a missing value.*Impute"):
        clone(model).fit(frame.assign(noise=FRAME["age"]), Y > 0)
    assert MKLClassifier(views({"v": ["age"]})).__sklearn_tags__().input_tags.allow_nan


def test_clusters_of_columns_as_they_are_need_all_of_them():
    model = LocalizedMKLRegressor(gating="kmeans", random_state=0)
    assert not model.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match=r"gating='kmeans' .*missing \(NaN\).*kernel-kmeans"):
        model.fit(np.where(np.eye(30) > 0, np.nan, 1.0), np.arange(30.0))


@QUIET
def test_files_keep_what_a_table_is(tmp_path):
    model = MKLRegressorCV(strategy="finite", Cs=[1.0], cv=3).fit(FRAME, Y)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    new = raw(20, seed=1)[0]
    np.testing.assert_allclose(again.predict(new), model.predict(new), atol=1e-12)
    with pytest.warns(TableWarning, match="not seen"):
        again.predict(new.assign(place="z"))


@QUIET
@pytest.mark.parametrize("convert", [lambda frame: frame, lambda frame: frame.convert_dtypes()])
def test_a_report_tells_of_a_raw_table_by_the_names_of_its_columns(convert):
    frame = convert(FRAME)
    model = MKLRegressor(Products(degree=2, scale=True), C=10.0).fit(frame, Y)
    document = report_data(model, frame, Y, fit_path=False)
    missing = {column["name"]: column["missing"] for column in document["data"]["columns"]}
    assert missing["age"] == 13 and missing["place"] == 10 and missing["id"] == 0
    nodes = {node["name"] for node in document["interactions"]["nodes"]}
    assert {"age", "place=a"} <= nodes and not any(name.startswith("x") for name in nodes)
