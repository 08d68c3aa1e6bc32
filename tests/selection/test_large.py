"""Searches over more rows than everything is tried on, with plans for few rows so that they are quick."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from manykernels import MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels.approx import Nystroem
from manykernels.approx.whitened import landmark_coefficients, landmark_features
from manykernels.estimators import _last
from manykernels.grams.statistics import statistics
from manykernels.kernels import Gaussian
from manykernels.selection import plan
from manykernels.selection.landmarks import Fit, grow, ridge
from manykernels.selection.race import held_rows, some_rows, with_best, within_rows


@pytest.fixture
def few(monkeypatch):
    """Stages that begin at 60 rows, and landmarks that begin at 100."""
    sizes = {"WHOLE": 60, "EXACT": 100, "FEW": 20, "_RACE": (40, 60), "_SECOND": 80, "_MOST": 80}
    for name, value in sizes.items():
        monkeypatch.setattr(plan, name, value)


def problem(n, d=3, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d)
    return X, np.sin(2 * X[:, 0]) + 0.1 * rng.randn(n)


# -- the parts --------------------------------------------------------------------------------------
def test_landmark_features_give_the_kernel_and_fewer_landmarks_the_first_ones():
    X, _ = problem(40)
    kernel = Gaussian(1.5)
    features = landmark_features(kernel, X[:12])
    Phi = features.transform(X)
    K, W = kernel(X, X[:12]), kernel(X[:12])
    np.testing.assert_allclose(Phi @ Phi.T, K @ np.linalg.solve(W, K.T), atol=1e-6)
    np.testing.assert_allclose(Phi[:, :5], landmark_features(kernel, X[:5]).transform(X), atol=1e-7)
    w = np.random.RandomState(0).randn(12, 2)
    np.testing.assert_allclose(K @ landmark_coefficients(features, w), Phi @ w, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_ridge_from_sums_meets_its_optimality_conditions(intercept):
    X, y = problem(60)
    features = landmark_features(Gaussian(1.0), X[:9])
    Phi, C = features.transform(X), 7.0
    weight = np.random.RandomState(1).rand(60)
    S = statistics(features, X, y[:, None], weight)
    for first in (9, 4):
        ((w, b),) = ridge(S, [C], intercept, first)
        residual = weight * (y - Phi[:, :first] @ w[:, 0] - b[0])
        np.testing.assert_allclose(w[:, 0], C * Phi[:, :first].T @ residual, atol=1e-8)
        assert abs(residual.sum()) < 1e-8 if intercept else b[0] == 0.0


def test_landmarks_double_until_too_little_is_expected_of_more():
    errors = {500: 1.0, 1000: 0.9, 2000: 0.88, 4000: 0.875, 8000: 0.5}

    def fit(count, C=1.0):
        sums = SimpleNamespace(G=np.empty((count, 0)))
        return Fit(None, None, [sums], C, errors[count], 0.0, np.empty(0), errors[count // 2])

    best, tried = grow(fit(1000), [2000, 4000, 8000], fit, lambda count: True)
    assert best.count == 2000 and tried == [(1000, 0.9), (2000, 0.88)]  # 0.02 · 0.2 is little beside 0.88
    errors[2000], errors[4000] = 0.81, 0.82
    best, tried = grow(fit(1000), [2000, 4000, 8000], fit, lambda count: True)
    assert best.count == 2000 and len(tried) == 3
    best, tried = grow(fit(1000), [2000, 4000], fit, lambda count: count < 2000)
    assert best.count == 1000 and len(tried) == 1


def test_rows_are_drawn_by_class_and_folds_cut_to_them():
    y = np.array([0] * 80 + [1] * 18 + [2, 3])
    rows, classes, rng = np.arange(100), np.arange(4), np.random.RandomState(0)
    drawn = some_rows(rows, y, classes, 30, rng)
    assert drawn.size == 30 and set(y[drawn]) == {0, 1, 2, 3}
    held = held_rows(rows, y, classes, 20, rng)
    assert set(y[held]) == {0, 1} and set(y[np.setdiff1d(rows, held)]) == {0, 1, 2, 3}
    folds = [(np.arange(50), np.arange(50, 100)), (np.arange(50, 100), np.arange(50))]
    cut = within_rows(folds, np.array([3, 60, 70]))
    assert [part.tolist() for part in cut[0]] == [[0], [1, 2]] and len(cut) == 2
    assert within_rows(folds, np.array([3])) == []


def test_the_best_model_with_learned_widths_goes_on_in_any_case():
    finalists = {"strategy": ["finite"], "norm": [1.0], "kernels": [("a",)], "C": [1.0], "behind": [0.0]}
    rows = {"strategy": ["finite", "continuous", "products"], "norm": [1.0, 2.0, 1.0]}
    rows |= {"kernels": [("a",), None, None], "C": [1.0, 10.0, 0.1]}
    found = with_best(finalists, rows, ["continuous"])
    assert found["strategy"] == ["finite", "continuous"] and found["C"] == [1.0, 10.0]
    assert with_best(finalists, rows, ["finite"])["strategy"] == ["finite"]


def test_a_plan_keeps_to_its_memory_and_says_so_where_it_cannot():
    whole, exact, large = (plan.make_plan(n, 10, "4GB") for n in (1000, 2000, 10**6))
    assert whole.whole and exact.exact and not large.exact
    assert plan.make_plan(10**6, 10, "300MB").most < large.most
    assert plan.make_plan(10**6, 10, "300MB").memory < 1.1 * 300 * 2**20
    with pytest.raises(MemoryError, match=r"1000000 rows.*Raise memory_limit, or fit on fewer rows"):
        plan.make_plan(10**6, 10, "10MB")
    assert [plan.duration(t) for t in (0.1, 600, 36000)] == ["1 s", "10 min", "10.0 h"]


# -- whole searches -----------------------------------------------------------------------------------
def test_a_search_in_stages_ends_at_landmarks(few):
    X, y = problem(300)
    search = MKLRegressorCV(strategy=["finite", "continuous"], norms=[2.0], Cs=[1.0, 10.0], random_state=0)
    model = search.fit(X[:200], y[:200])
    assert model.score(X[200:], y[200:]) > 0.8
    assert 20 <= model.best_estimator_.n_landmarks_ <= 80
    assert len(model.X_fit_) == model.best_estimator_.n_landmarks_
    parts = model.contributions(X[200:])
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.predict(X[200:]))
    said = model.describe()
    for words in (
        "Up to 60 rows",
        "Race: ",
        "Second round: ",
        "landmarks. Errors on 40 held-out rows",
        "Chosen: ",
    ):
        assert words in said
    again = clone(search).fit(X[:200], y[:200])
    np.testing.assert_allclose(model.predict(X), again.predict(X))


def test_exact_kernels_where_these_pay_and_none_of_it_without_auto(few):
    X, y = problem(90)
    model = MKLRegressorCV(strategy="finite", norms=[2.0], cv=2, random_state=0).fit(X, y)
    assert model.dual_gap_ <= 1e-3 and "exact kernels on all 90 rows" in model.describe()
    plain = MKLRegressorCV(strategy="finite", norms=[2.0], cv=2, approx=None, random_state=0).fit(X, y)
    assert not hasattr(plain, "stages_") and "Race" not in plain.describe()


def test_landmarks_that_are_all_rows_are_the_exact_model(few):
    X, y = problem(130)
    kernels = {"one": Gaussian(1.0)}
    model = MKLRegressorCV(kernels, Cs=[3.0], norms=[1.0], random_state=0).fit(X, y)
    exact = MKLRegressor(kernels, C=3.0).fit(X, y)
    many = MKLRegressor(kernels, C=3.0, approx=Nystroem(model.best_estimator_.n_landmarks_)).fit(X, y)
    off, also = (np.std(m.predict(X) - exact.predict(X)) / y.std() for m in (model, many))
    assert off < max(0.2, 3 * also)


def test_classes_that_the_race_has_not_seen_are_known_in_the_end(few):
    rng = np.random.RandomState(0)
    X = np.vstack([rng.randn(100, 2) + 3 * np.array([k, k % 2]) for k in range(3)] + [np.full((1, 2), 20.0)])
    y = np.array(["a"] * 100 + ["b"] * 100 + ["c"] * 100 + ["d"])
    model = MKLClassifierCV(strategy="finite", norms=[2.0], cv=2, random_state=0).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c", "d"] and model.score(X, y) > 0.9
    chances = model.predict_proba(X)
    assert chances.shape == (301, 4) and np.allclose(chances.sum(axis=1), 1.0)


def test_weights_groups_and_other_losses(few, monkeypatch):
    X, y = problem(160)
    weight = np.ones(160)
    weight[:20] = 0.0
    bent = y.copy()
    bent[:20] = 100.0
    groups = np.repeat(np.arange(16), 10)
    model = MKLRegressorCV(strategy="finite", norms=[2.0], cv=GroupKFold(4), random_state=0)
    model.fit(X, bent, sample_weight=weight, groups=groups)
    assert model.score(X[20:], y[20:]) > 0.8
    monkeypatch.setattr(_last, "_FEATURES", 50)
    other = MKLRegressorCV({"one": Gaussian(1.0)}, cv=2, loss="huber", random_state=0).fit(X, y)
    assert other.score(X, y) > 0.7 and "stand for each kernel" in other.describe()


def test_a_file_that_is_mapped_gives_the_answer_of_the_array(few, tmp_path, monkeypatch):
    from manykernels.fitting import samples

    monkeypatch.setattr(samples, "MERGED", 100)
    X, y = problem(220)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    fits = [
        MKLRegressorCV(strategy="finite", norms=[2.0], cv=2, random_state=0).fit(data, y)
        for data in (X, mapped)
    ]
    np.testing.assert_allclose(fits[0].predict(X), fits[1].predict(X), atol=1e-8)


def test_kernels_are_compared_on_some_of_many_rows(few, monkeypatch):
    monkeypatch.setattr(_last, "ROWS", 100)
    X, y = problem(240)
    model = MKLRegressorCV(strategy=["finite", "continuous"], cv=2, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8


def test_a_time_budget_ends_with_a_model(few):
    X, y = problem(200)
    for rows in (50, 90, 200):
        model = MKLRegressorCV(time_budget=1e-3, random_state=0).fit(X[:rows], y[:rows])
        assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("rows", [90, 160])
def test_tables_that_say_little_have_a_model(few, rows):
    X, y = problem(rows)
    for data, target in (
        (X[:, :1], y),
        (np.hstack([X, np.random.RandomState(1).randn(rows, 2 * rows)]), y),
        (np.hstack([X, np.full((rows, 1), np.nan)]), y),
        (X, np.ones(rows)),
    ):
        model = MKLRegressorCV(strategy="finite", norms=[2.0], Cs=[1.0, 10.0], cv=2, random_state=0)
        model.fit(data, target)
        assert np.isfinite(model.predict(data)).all()


def test_a_parquet_file_stays_where_it_is(few, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    from manykernels.fitting import outside

    X, y = problem(240)
    X[::9, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    path = tmp_path / "rows.parquet"
    frame.to_parquet(path, row_group_size=50)
    search = MKLRegressorCV(strategy="finite", norms=[2.0], Cs=[1.0, 10.0], cv=2, random_state=0)
    small = clone(search).fit(str(path), "y")  # read as a frame
    assert small.feature_names_in_.tolist() == list("abc")
    monkeypatch.setattr(outside, "MANY", 100)
    monkeypatch.setattr(outside, "_SHARE", 10**12)
    rows, target = outside.open_parquet(path, "y")
    assert isinstance(rows, outside.RowGroups) and rows.shape == (240, 3)
    np.testing.assert_array_equal(rows[[70, 3, 239]], X[[70, 3, 239]])
    np.testing.assert_array_equal(rows[45:105], X[45:105])
    np.testing.assert_array_equal(np.asarray(rows)[-1], rows[239])
    np.testing.assert_array_equal(target, y)
    large = clone(search).fit(path, "y")
    np.testing.assert_allclose(large.predict(X), clone(search).fit(X, y).predict(X), atol=1e-8)
    with pytest.raises(ValueError, match="expected an array, or a column of"):
        clone(search).fit(path, "z")
    with pytest.raises(FileNotFoundError, match="no such file"):
        clone(search).fit(str(tmp_path / "other.parquet"), y)
    frame.assign(a="text").to_parquet(path)
    with pytest.raises(ValueError, match=r"no numbers \(a\).*pandas.read_parquet"):
        clone(search).fit(path, "y")


def test_a_dask_collection_gives_the_answer_of_the_array(few, monkeypatch):
    da = pytest.importorskip("dask.array")
    from manykernels.fitting import lazy

    monkeypatch.setattr(lazy, "MERGED", 100)
    X, y = problem(220)
    search = MKLRegressorCV(strategy="finite", norms=[2.0], Cs=[1.0, 10.0], cv=2, random_state=0)
    model = clone(search).fit(da.from_array(X, chunks=(60, 3)), y)
    np.testing.assert_allclose(model.predict(X), clone(search).fit(X, y).predict(X), atol=1e-6)
    labels = np.where(y > 0, "up", "down")
    searched = MKLClassifierCV(strategy="finite", norms=[2.0], Cs=[1.0], cv=2, random_state=0)
    assert searched.fit(da.from_array(X, chunks=(60, 3)), labels).score(X, labels) > 0.8
