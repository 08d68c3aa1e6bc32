"""Intervals of `MKLRegressorCV`: learned without what they are judged on, and kept with the model."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold

from manykernels import MKLRegressor, MKLRegressorCV, load, save
from manykernels.families import views
from manykernels.kernels import Gaussian, Linear, OnColumns

rng = np.random.RandomState(0)
X = rng.randn(90, 3)
y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.5 * rng.randn(90)
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
FEW = {"norms": (1.0,), "Cs": [0.1, 1.0], "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return MKLRegressorCV(KERNELS, intervals=True, cv=KFold(3), **FEW).fit(X, y)


def test_models_are_learned_without_their_fold(model):
    """The same as a search by hand on the other folds, and CV+ from its errors."""
    folds = list(KFold(3).split(X))
    new = rng.randn(6, 3)
    F, r, k = [], [], []
    for i, (train, test) in enumerate(folds):
        places = [(np.flatnonzero(np.isin(train, a)), np.flatnonzero(np.isin(train, b))) for a, b in folds]
        inner = [(a, b) for j, (a, b) in enumerate(places) if j != i]
        other = MKLRegressorCV(KERNELS, strategy="finite", cv=inner, **FEW).fit(X[train], y[train])
        r.append(np.abs(y[test] - other.predict(X[test])))
        k.append(np.full(test.size, i))
        F.append(other.predict(new))
    r, k, F = np.concatenate(r), np.concatenate(k), np.array(F)
    rank = int(np.ceil(0.9 * 91))
    low, high = (np.sort(F[k] + sign * r[:, None], axis=0) for sign in (-1, 1))
    found = model.predict_interval(new)
    np.testing.assert_allclose(found, np.c_[low[90 - rank], high[rank - 1]], rtol=1e-6, atol=1e-8)


def test_intervals_grow_with_coverage_and_cover(model):
    new = np.random.RandomState(1).randn(400, 3)
    target = new[:, 0] + np.sin(2.0 * new[:, 1]) + 0.5 * np.random.RandomState(2).randn(400)
    wide, narrow = model.predict_interval(new, 0.9), model.predict_interval(new, 0.6)
    assert np.all(wide[:, 0] <= narrow[:, 0]) and np.all(narrow[:, 1] <= wide[:, 1])
    inside = np.mean((wide[:, 0] <= target) & (target <= wide[:, 1]))
    assert 0.8 < inside < 0.99


FIXED = {"strategy": "finite", "norms": (np.inf,), "Cs": [2.0], "cv": "loo", "random_state": 0}


def by_hand(kernels, X, Y, new, coverage, weight=None, fit_intercept=True):
    """The jackknife+ from as many fits as there are samples."""
    keep = np.arange(len(Y))
    F, r = [], []
    for i in keep:
        rest, w = np.delete(keep, i), None if weight is None else np.delete(weight, i)
        one = MKLRegressor(kernels, norm=np.inf, C=2.0, loss="squared", normalize=None, tol=1e-9)
        one.set_params(fit_intercept=fit_intercept).fit(X[rest], Y[rest], w)
        F.append(one.predict(new))
        r.append(abs(Y[i] - one.predict(X[[i]])[0]))
    F, r = np.array(F), np.array(r)
    rank = int(np.ceil(coverage * (len(Y) + 1)))
    low, high = (np.sort(F + sign * r[:, None], axis=0) for sign in (-1, 1))
    return np.c_[low[len(Y) - rank], high[rank - 1]]


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leaving_one_out_equals_as_many_fits(fit_intercept):
    new, few = rng.randn(5, 3), slice(0, 40)
    model = MKLRegressorCV(KERNELS, intervals=True, normalize=None, fit_intercept=fit_intercept, **FIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X[few], y[few])
    assert model.intervals_.fixed
    expected = by_hand(KERNELS, X[few], y[few], new, 0.8, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.predict_interval(new, 0.8), expected, rtol=1e-5, atol=1e-6)


def test_leaving_one_out_with_weights_outputs_stacks_and_files(tmp_path):
    weight = np.r_[np.zeros(10), np.ones(80)]
    model = MKLRegressorCV(KERNELS, intervals=True, normalize=None, **FIXED).fit(X, y, weight)
    fewer = clone(model).fit(X[10:], y[10:])
    np.testing.assert_allclose(model.predict_interval(X[:5]), fewer.predict_interval(X[:5]), rtol=1e-6)
    two = clone(model).fit(X[10:], np.c_[y, 3.0 * y][10:]).predict_interval(X[:5])
    np.testing.assert_allclose(two[:, :, 1], 3.0 * fewer.predict_interval(X[:5]), rtol=1e-5, atol=1e-6)
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    given = MKLRegressorCV("precomputed", intervals=True, normalize=None, **FIXED).fit(stack, y, weight)
    np.testing.assert_allclose(given.predict_interval(stack[:5]), fewer.predict_interval(X[:5]), rtol=1e-5)
    save(model, tmp_path / "model.mkl")
    kept = load(tmp_path / "model.mkl").predict_interval(X[:4])
    np.testing.assert_array_equal(kept, model.predict_interval(X[:4]))


def test_leaving_one_out_is_approximate_where_weights_or_costs_were_chosen():
    for change in ({"norms": (1.0,)}, {"Cs": [0.1, 1.0]}):
        with pytest.warns(UserWarning, match=r"approximate jackknife\+"):
            model = MKLRegressorCV(KERNELS, intervals=True, **(FIXED | change)).fit(X, y)
        assert not model.intervals_.fixed
    inside = (model.predict_interval(X)[:, 0] <= y) & (y <= model.predict_interval(X)[:, 1])
    assert inside.mean() > 0.8
    with pytest.raises(ValueError, match="cv='loo' and covariates"):
        MKLRegressorCV(KERNELS, intervals=True, **FIXED).fit(X, y, covariates=X[:, :1])
    with pytest.warns(UserWarning, match="intervals are infinite"):
        assert np.isinf(model.predict_interval(X[:2], 0.999)).all()


def test_kept_in_files_and_clones(model, tmp_path):
    path = tmp_path / "model.mkl"
    save(model, path)
    np.testing.assert_array_equal(load(path).predict_interval(X[:4]), model.predict_interval(X[:4]))
    assert clone(model).intervals and not hasattr(clone(model), "intervals_")


def test_views_weights_groups_outputs_and_covariates():
    frame = pd.DataFrame(np.c_[X, rng.randn(90)], columns=list("abcd"))
    spec = views({"left": (["a", "b"], Linear()), "right": (["c", "d"], Gaussian(2.0))})
    weight, groups = rng.randint(0, 3, size=90).astype(float), np.repeat(np.arange(30), 3)
    one = MKLRegressorCV(spec, intervals=True, cv=GroupKFold(3), **FEW)
    found = one.fit(frame, y, weight, groups).predict_interval(frame)
    assert found.shape == (90, 2) and np.isfinite(found).all()
    two = MKLRegressorCV(KERNELS[:2], intervals=True, cv=3, **FEW).fit(X, np.c_[y, 3.0 * y])
    found = two.predict_interval(X[:5])
    assert found.shape == (5, 2, 2)
    np.testing.assert_allclose(found[:, :, 1], 3.0 * found[:, :, 0], rtol=1e-6)
    beside = MKLRegressorCV(KERNELS[:2], intervals=True, cv=3, **FEW).fit(X, y, covariates=frame[["d"]])
    assert np.isfinite(beside.predict_interval(X[:5], covariates=frame[["d"]][:5])).all()


def test_stacks_and_estimators_of_other_packages():
    from sklearn.linear_model import Ridge

    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    given = MKLRegressorCV("precomputed", intervals=True, cv=KFold(3), **FEW).fit(stack, y)
    by_name = MKLRegressorCV(KERNELS, intervals=True, cv=KFold(3), **FEW).fit(X, y)
    found, expected = given.predict_interval(stack[:5]), by_name.predict_interval(X[:5])
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    matrices = {f"k{m}": stack[:, :, m] for m in range(3)}
    named = MKLRegressorCV("precomputed", intervals=True, cv=KFold(3), **FEW).fit(matrices, y)
    found = named.predict_interval({name: K[:5] for name, K in matrices.items()})
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    ridge = MKLRegressorCV(KERNELS, strategy=[Ridge()], intervals=True, cv=3, Cs=[0.1, 1.0]).fit(X, y)
    assert np.isfinite(ridge.predict_interval(X[:3])).all()


def test_files(tmp_path, monkeypatch):
    frame = pd.DataFrame(X, columns=list("abc")).assign(target=y)
    frame.to_parquet(tmp_path / "table.parquet")
    from_file = MKLRegressorCV(KERNELS[:1], intervals=True, cv=3, **FEW)
    from_file.fit(tmp_path / "table.parquet", "target")
    from_frame = clone(from_file).fit(frame[list("abc")], y)
    new = frame[list("abc")][:3]
    np.testing.assert_array_equal(from_file.predict_interval(new), from_frame.predict_interval(new))
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr("manykernels.fitting.outside.MANY", 50)
    with pytest.raises(ValueError, match=r"intervals=True was given, and X stays in a file .*np.array\(X\)"):
        clone(from_file).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)


def test_what_cannot_be_asked(model):
    for wrong in (0.0, 1.0, 90, -0.1, "0.9", None):
        with pytest.raises(ValueError, match=r"coverage=.* was given; expected a number between 0 and 1"):
            model.predict_interval(X, wrong)
    with pytest.warns(UserWarning, match=r"coverage=0.999 needs 999 samples .* there were 90: .* infinite"):
        assert np.isinf(model.predict_interval(X[:2], 0.999)).all()
    plain = MKLRegressorCV(KERNELS, **FEW)
    assert not hasattr(plain, "predict_interval")
    with pytest.raises(AttributeError, match="intervals=True"):
        plain.predict_interval(X)
    for options, words in (
        ({"refit": False}, "refit=False"),
        ({"multi_output": "own"}, "multi_output='own'"),
        ({"cv": RepeatedKFold(n_splits=2, n_repeats=2, random_state=0)}, "holds a sample out 2 times"),
    ):
        with pytest.raises(ValueError, match=words):
            MKLRegressorCV([OnColumns(Linear(), [0])], intervals=True, **FEW, **options).fit(X, y)
    with pytest.raises(AttributeError, match=r"predict needs the model that was chosen, and refit=False"):
        MKLRegressorCV(KERNELS, refit=False, **FEW).fit(X, y).predict(X)
