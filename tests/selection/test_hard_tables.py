"""Searches over tables and folds that leave little to learn from, or little to judge by."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold, PredefinedSplit, TimeSeriesSplit

from manykernels import MKLClassifierCV, MKLRegressorCV
from manykernels.estimators import _last
from manykernels.kernels import Gaussian
from manykernels.selection import plan
from manykernels.selection.race import held_rows, race_of_fold, scarce, some_rows

FEW = {"WHOLE": 60, "EXACT": 100, "FEW": 20, "_RACE": (40, 60), "_SECOND": 80, "_MOST": 80}


@pytest.fixture
def few(monkeypatch):
    """Stages that begin at 60 rows, and landmarks that begin at 100."""
    for name, value in FEW.items():
        monkeypatch.setattr(plan, name, value)


def smooth(n, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 2)
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.randn(n)


def one_kernel(**options):
    return MKLRegressorCV([Gaussian(0.5)], strategy="finite", norms=2.0, random_state=0, **options)


def test_landmarks_learn_from_no_row_of_a_group_that_is_held_out(few):
    """Members of a group are nearly equal, so that one of them would give away the target of another."""
    rng = np.random.RandomState(0)
    groups = rng.permutation(np.repeat(np.arange(30), 10))
    X = rng.randn(30, 4)[groups] + 1e-3 * rng.randn(300, 4)
    y = rng.randn(30)[groups]
    assert one_kernel(cv=GroupKFold(2)).fit(X, y, groups=groups).best_score_ < 0.3
    assert one_kernel(cv=2).fit(X, y).best_score_ > 0.9


def test_landmarks_learn_from_no_row_after_those_held_out(few, monkeypatch):
    seen = []

    def fit(model, samples, held, *rest):
        seen.append(held)
        return original(model, samples, held, *rest)

    original = _last.fit_landmarks
    monkeypatch.setattr(_last, "fit_landmarks", fit)
    X, y = smooth(200)
    assert one_kernel(cv=TimeSeriesSplit(4, gap=10)).fit(X, y).score(X, y) > 0.8
    learned = np.setdiff1d(np.arange(200), np.union1d(seen[-1].rows, seen[-1].spare))
    assert np.array_equal(learned, np.arange(150))  # the fold with the most rows to learn from
    assert seen[-1].rows.min() >= 160


def test_folds_that_hold_out_few_of_many_rows_judge_a_race(few):
    X, y = smooth(200)
    for cv in (PredefinedSplit(np.where(np.arange(200) < 6, 0, -1)), [(np.arange(9, 200), np.arange(9))]):
        assert one_kernel(cv=cv).fit(X, y).score(X, y) > 0.5
    counted_back = [(np.arange(-150, 0), np.arange(-200, -150))]
    assert one_kernel(cv=counted_back).fit(X, y).score(X, y) > 0.5


def test_rows_of_one_fold_are_drawn_in_parts_that_judge():
    assert scarce([]) and scarce([(np.arange(9), np.arange(9, 99))])
    assert not scarce([(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))])
    train, test = np.arange(20, 200), np.arange(20)
    rows, cut = race_of_fold(train, test, np.zeros(200), None, 60, np.random.RandomState(0))
    judging = np.concatenate([rows[part] for _, part in cut])
    assert len(cut) == 3 and judging.size == np.unique(judging).size == 15 and judging.max() < 20
    assert all(rows[learned].min() >= 20 and learned.size == 45 for learned, _ in cut)


def test_many_classes_do_not_make_a_race_of_all_rows():
    y = np.arange(3000) // 3
    rows = some_rows(np.arange(3000), y, np.arange(1000), 700, np.random.RandomState(0))
    assert rows.size <= 700 and np.unique(y[rows], return_counts=True)[1].min() == 3
    assert held_rows(np.arange(100), y, None, 4000, np.random.RandomState(0)).size == 20


def test_a_race_of_some_classes_ends_with_all_of_them(few):
    y = np.repeat(np.arange(60), 4)
    X = y[:, None] + 0.01 * np.random.RandomState(0).randn(240, 1)
    found = MKLClassifierCV(strategy="finite", norms=[2.0], Cs=[100.0], random_state=0).fit(X, y)
    assert found.predict_proba(X[:3]).shape == (3, 60) and np.isin(found.predict(X), y).all()


def test_samples_without_weight_do_not_count_as_rows(few):
    X, y = smooth(200)
    weight = (np.arange(200) < 30).astype(float)
    assert "raced" not in one_kernel().fit(X, y, sample_weight=weight).describe()


@pytest.mark.parametrize("rows", [50, 90])
@pytest.mark.parametrize("search", [MKLClassifierCV, MKLRegressorCV])
def test_columns_that_hardly_vary_have_a_model(few, rows, search):
    """Of such columns no fold, or not every one, has anything to make products of."""
    y = np.arange(rows) % 2
    rare = np.zeros((rows, 2))
    rare[7, 0] = rare[9, 1] = 1.0
    for X in (np.ones((rows, 3)), rare):
        found = search(Cs=[1.0, 10.0], cv=2).fit(X, y)
        assert np.isfinite(found.predict(X)).all() and "products" not in found.best_params_["strategy"]


def test_products_that_were_asked_for_say_that_nothing_varies():
    with pytest.raises(ValueError, match="No column of X varies"):
        MKLRegressorCV(strategy="products").fit(np.ones((30, 2)), np.arange(30.0))


def test_texts_too_short_for_some_substrings_have_a_model():
    table = pd.DataFrame({"code": [f"id{i}" for i in range(40)]})
    found = MKLRegressorCV(Cs=[1.0, 10.0], cv=2).fit(table, np.arange(40.0))
    assert found.best_params_["kernels"] != ("code: Spectrum(k=5)",)


def test_classes_of_one_sample_each_are_refused_in_words():
    with pytest.raises(ValueError, match="has one sample only"):
        MKLClassifierCV().fit(np.eye(2), ["a", "b"])


@pytest.mark.parametrize("budget", [-1.0, float("nan")])
def test_a_time_budget_is_no_negative_number(budget):
    with pytest.raises(ValueError, match="expected seconds, 0 or more"):
        MKLRegressorCV(time_budget=budget).fit(*smooth(30))


def test_a_time_budget_that_left_something_out_is_told(few):
    X, y = smooth(200)
    early = "time_budget=0 ended this early."
    assert early in one_kernel(time_budget=0.0).fit(X, y).describe()
    assert "ended this early" not in one_kernel(time_budget=1e6).fit(X, y).describe()


def test_a_file_that_is_no_parquet_file_is_named(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"none")
    with pytest.raises(ValueError, match=r"rows\.parquet.*cannot be read as a Parquet file"):
        MKLRegressorCV().fit(str(tmp_path / "rows.parquet"), "y")
