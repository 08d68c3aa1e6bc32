"""Weights and C of its own for every output, chosen by validation."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GroupKFold, KFold

from manykernels import MKLRegressorCV
from manykernels.approx import Nystroem
from manykernels.families import Products
from manykernels.inspection import certificate, weight_stability
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.persistence import load, save
from manykernels.report import report_data
from manykernels.selection.own import search

rng = np.random.RandomState(0)
X = rng.randn(70, 6)
CLEAN = np.c_[X[:, 0] + X[:, 1], X[:, 3] - X[:, 4], np.sin(2 * X[:, 2]), X[:, 5] + X[:, 0]]
Y = CLEAN + 0.2 * rng.randn(70, 4)
new = rng.randn(9, 6)
BANDS = {"left": OnColumns(Linear(), slice(0, 3)), "right": OnColumns(Linear(), slice(3, 6))}
KERNELS = BANDS | {"round": Gaussian(1.5)}
CASES = {
    "leave one out": {},
    "folds": {"cv": 4},
    "no intercept": {"fit_intercept": False},
    "approximate": {"approx": Nystroem(20)},
    "approximate folds": {"approx": Nystroem(20), "cv": KFold(3)},
    "centred": {"center": True},
}


def own(kernels=KERNELS, **options):
    return MKLRegressorCV(kernels, multi_output="own", random_state=0, **options)


@pytest.mark.parametrize("name", CASES)
def test_what_is_fitted(name):
    model = own(**CASES[name]).fit(X, Y)
    assert model.weights_.shape == (4, 3) and model.best_C_.shape == model.cv_scores_.shape == (4,)
    np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)
    assert model.weights_[:2].argmax(axis=1).tolist() == [0, 1]
    assert model.cv_scores_[0] > 0.9 and model.best_score_ == pytest.approx(model.cv_scores_.mean())
    predicted = model.predict(new)
    np.testing.assert_allclose(model.contributions(new).sum(axis=1) + model.intercept_, predicted, atol=1e-9)
    np.testing.assert_allclose(np.exp(model.deltas_.T), model.weights_ * model.best_C_[:, None])
    for text in ("4 outputs", "R² on samples left out", "left"):
        assert text in model.describe()


def test_machines_are_kernel_ridge_regression_at_the_weights():
    model = own(fit_intercept=False, normalize=None).fit(X, Y)
    for k in range(4):
        K = sum(w * kernel(X) for w, kernel in zip(model.weights_[k], KERNELS.values(), strict=True))
        ridge = KernelRidge(alpha=1.0 / model.best_C_[k], kernel="precomputed").fit(K, Y[:, k])
        np.testing.assert_allclose(model.dual_coef_[:, k], ridge.dual_coef_, rtol=1e-6, atol=1e-8)


def test_outputs_share_nothing_but_candidates():
    together = own().fit(X, Y)
    order = [2, 0, 3, 1]
    turned = own().fit(X, Y[:, order])
    np.testing.assert_allclose(turned.cv_scores_, together.cv_scores_[order], atol=5e-3)
    for k in range(4):
        alone = own().fit(X, Y[:, k])
        assert alone.weights_.shape == (3,) and isinstance(alone.best_C_, float)
        assert alone.cv_scores_ == pytest.approx(together.cv_scores_[k], abs=5e-3)


def test_scores_are_those_of_left_out_samples():
    model = own(cv=(folds := list(KFold(4).split(X)))).fit(X, Y)
    missed, total = np.zeros(4), np.zeros(4)
    for train, test in folds:
        inner = own(cv=4, Cs=[1.0]).fit(X[train], Y[train])  # for its kernels, which are those of this part
        for k in range(4):
            theta, C = model.weights_[k], model.best_C_[k]
            parts = [kernel(X[train]) for kernel in inner.kernels_]
            K = np.tensordot(theta, parts, axes=1)
            A = np.block(
                [[K + np.eye(len(K)) / C, np.ones((len(K), 1))], [np.ones((1, len(K))), np.zeros((1, 1))]]
            )
            found = np.linalg.solve(A, np.append(Y[train, k], 0.0))
            there = np.tensordot(theta, [kernel(X[test], X[train]) for kernel in inner.kernels_], axes=1)
            missed[k] += np.sum((there @ found[:-1] + found[-1] - Y[test, k]) ** 2)
        total += np.sum((Y[test] - Y.mean(axis=0)) ** 2, axis=0)
    np.testing.assert_allclose(model.cv_scores_, 1.0 - missed / total, atol=1e-5)


def test_weights_are_repetitions():
    weight = rng.randint(1, 4, 70)
    weighted = own().fit(X, Y, sample_weight=weight)
    repeated = own().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(weighted.cv_scores_, repeated.cv_scores_, atol=1e-6)
    np.testing.assert_allclose(weighted.predict(new), repeated.predict(new), atol=1e-6)


def test_groups_stay_together():
    groups = np.repeat(np.arange(10), 7)
    close = np.repeat(X[::7], 7, axis=0) + 1e-3 * rng.randn(70, 6)  # neighbours are alike
    noise = np.repeat(rng.randn(10, 2), 7, axis=0)
    apart = own(cv=GroupKFold(5)).fit(close, noise, groups=groups)
    assert np.all(apart.cv_scores_ < 0.5) and np.all(own(Cs=[1.0]).fit(close, noise).cv_scores_ > 0.9)


def test_targets_that_do_not_vary_are_named():
    with pytest.warns(UserWarning, match=r"1 target \(1\) has the same value"):
        model = own(BANDS).fit(X, np.c_[Y[:, 0], np.full(70, 3.0)])
    assert not model.weights_[1].any() and model.cv_scores_[1] == 0.0
    np.testing.assert_allclose(model.predict(new)[:, 1], 3.0, atol=1e-12)


def test_ends_of_the_range_are_named():
    with pytest.warns(UserWarning, match=r"2 targets \(0, 1\) have the best C at the upper end .* 0.01"):
        own(BANDS, Cs=[1e-3, 1e-2]).fit(X, Y[:, :2])
    with pytest.warns(UserWarning, match=r"1 target \(0\) has the best C at the lower end .* 1e\+03"):
        own(BANDS, Cs=[1e3, 1e4]).fit(X, rng.randn(70, 1))
    named = pd.DataFrame(rng.randn(70, 1), columns=["voxel 7"])
    with pytest.warns(UserWarning, match=r"1 target \('voxel 7'\) has the best C .* do not predict it"):
        own(BANDS, Cs=[1e3, 1e4]).fit(X, named)


def test_gaps_are_named():
    gaps = Y.copy()
    gaps[3, 1], gaps[4, 2] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"NaN or infinity in 2 of 4 outputs \(1, 2\)"):
        own().fit(X, gaps)


def test_more_kernels_than_samples():
    kernels = {f"x{j}, {k}": OnColumns(Gaussian(1.0 + k), [j]) for j in range(6) for k in range(14)}
    model = own(kernels, max_iter=100).fit(X, Y[:, :2])
    assert model.weights_.shape == (2, 84) and np.isfinite(model.predict(new)).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"loss": "huber"}, "loss='huber' .*squared loss"),
        ({"norms": [1.0]}, "norms=.*simplex"),
        ({"scoring": "r2"}, "scoring='r2' .*its R²"),
        ({"strategy": "products"}, "strategy='products'"),
        ({"kernels": Products()}, "can be listed"),
        ({"cv": 80}, "number of splits"),
    ],
)
def test_refusals(options, said):
    with pytest.raises(ValueError, match=said):
        own(**options).fit(X, Y)


def test_what_needs_a_training_problem_is_refused():
    model = own().fit(X, Y)
    with pytest.raises(TypeError, match="nothing to certify"):
        certificate(model, X, Y)
    with pytest.raises(ValueError, match="samples left out"):
        weight_stability(model, X, Y)


def test_files_reports_and_stacks(tmp_path):
    model = own().fit(X, Y)
    save(model, tmp_path / "model.mk")
    for copy in (load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(new), model.predict(new))
    document = report_data(model, X, Y)
    assert np.shape(document["weights"]["values"]) == (4, 3) and "Weights along C" in document["left_out"]
    stack = np.stack([kernel(X) for kernel in KERNELS.values()], axis=-1)
    stacked = own("precomputed", cv=3).fit(stack, Y)
    np.testing.assert_allclose(stacked.predict(stack), own(cv=3).fit(X, Y).predict(X), atol=0.05)


def test_without_a_model():
    model = own(refit=False).fit(X, Y)
    assert model.best_C_.shape == (4,) and not hasattr(model, "predict")
    assert not hasattr(clone(model), "best_C_")


def test_quiet_where_nothing_is_wrong(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own(verbose=1).fit(X, Y)
    assert "MKLRegressorCV 100%" in capsys.readouterr().err


def test_targets_in_a_dask_array():
    dask = pytest.importorskip("dask.array")
    lazy = own().fit(X, dask.from_array(Y, chunks=(30, 2)))
    np.testing.assert_array_equal(lazy.weights_, own().fit(X, Y).weights_)


def test_a_limit_on_candidates_and_on_memory():
    assert own(max_iter=5).fit(X, Y).n_candidates_ == 5
    with pytest.raises(MemoryError, match=r"40000 outputs of 70 samples .* Fit some outputs at a time"):
        own(memory_limit="10MB").fit(X, np.tile(Y, (1, 10_000)))


def test_few_outputs_go_on_downhill_and_stay_within_the_values_of_C(monkeypatch):
    """The exact error falls further than the candidates reach."""
    columns = {f"column {j}": OnColumns(Gaussian(1.5), j) for j in range(6)} | {"linear": Linear()}
    options = {"Cs": np.logspace(-2, 3, 11)}
    downhill = own(columns, **options).fit(X, Y)
    assert downhill.best_C_.min() >= 1e-2 * (1 - 1e-9) and downhill.best_C_.max() <= 1e3 * (1 + 1e-9)
    monkeypatch.setattr("manykernels.selection.own.search._DESCENT", 0)
    before = own(columns, **options).fit(X, Y)
    assert np.all(downhill.cv_scores_ >= before.cv_scores_ - 1e-4)
    assert np.mean(1.0 - downhill.cv_scores_) < 0.995 * np.mean(1.0 - before.cv_scores_)


def test_a_C_that_was_given_is_taken():
    assert np.all(own(Cs=[1.0]).fit(X, Y).best_C_ == 1.0)


@pytest.mark.parametrize("cv", [None, 3])
def test_many_targets_try_what_is_in_their_reach(monkeypatch, cv):
    many = np.tile(CLEAN, (1, 10)) + 0.5 * rng.randn(70, 40)
    whole = own(cv=cv).fit(X, many)
    monkeypatch.setattr(search, "_THOUGHT", 8)
    few = own(cv=cv).fit(X, many)
    assert abs(few.best_score_ - whole.best_score_) < 0.01 and np.isfinite(few.cv_scores_).all()
    np.testing.assert_allclose(few.weights_.sum(axis=1), 1.0)
