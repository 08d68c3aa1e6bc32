"""Ensembles of kernel predictors: cross-fitting, weights against other solvers, the checks."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from benchmarks.references import optimal_value
from sklearn.datasets import load_diabetes, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import KernelEnsembleClassifier, KernelEnsembleRegressor, MKLRegressor, load, save
from manykernels.families import Products, gaussian_grid
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.selection.ensembles import Normal

X, y = load_diabetes(return_X_y=True)
X, y = X[:120] / X.std(axis=0), (y[:120] - y.mean()) / y.std()
WINE, LABELS = load_wine(return_X_y=True)
WINE = (WINE - WINE.mean(axis=0)) / WINE.std(axis=0)
KERNELS = {"linear": Linear(), "narrow": Gaussian(2.0), "wide": Gaussian(8.0)}
FOLDS = list(KFold(3, shuffle=True, random_state=0).split(X))
both = pytest.mark.parametrize("combination", ["l1", "l2"])


@pytest.mark.slow
@parametrize_with_checks([KernelEnsembleClassifier(), KernelEnsembleRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        KernelEnsembleClassifier([Linear(), Gaussian(3.0)], combination="l1", loss="hinge", Cs=[0.1, 1.0]),
        KernelEnsembleRegressor([Linear(), Gaussian(3.0)], combination="l1", center=True, lam=0.01),
    ]
)
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)


# -- the weights ------------------------------------------------------------------------------------
def predictors(kernels, new, train, C=1.0):
    """Decisions of kernel ridge regression without an intercept, one column a kernel, on new samples."""
    columns = []
    for kernel in kernels:
        K = kernel(train[0])
        scale = 1.0 / np.mean(np.diag(K))
        machine = KernelRidge(kernel="precomputed", alpha=1.0 / C).fit(scale * K, train[1])
        columns.append(machine.predict(scale * kernel(new, train[0])))
    return np.column_stack(columns)


@both
def test_stacking_written_out(combination):
    """The same by scikit-learn's ridge machines and its own Lasso and Ridge on held-out predictions."""
    kernels, lam = list(KERNELS.values()), 0.02
    H = np.zeros((len(X), 3))
    for train, test in FOLDS:
        H[test] = predictors(kernels, X[test], (X[train], y[train]))
    size = y.var()
    second = Lasso(lam * size, tol=1e-12) if combination == "l1" else Ridge(lam * size * len(y))
    second.fit(H, y)
    ours = KernelEnsembleRegressor(
        kernels, combination=combination, lam=lam, cv=FOLDS, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(ours.weights_, second.coef_, atol=1e-6)
    whole = predictors(kernels, X[:7] + 0.1, (X, y)) @ second.coef_ + second.intercept_
    np.testing.assert_allclose(ours.predict(X[:7] + 0.1), whole, atol=1e-6)
    alone = np.mean((H - y[:, None]) ** 2, axis=0)
    np.testing.assert_allclose(ours.cv_errors_, alone, rtol=1e-8)


@both
def test_weights_minimise_what_they_say(combination):
    """Against cvxpy, also where predictors are nearly the same, and where several outputs share weights."""
    rng = np.random.RandomState(0)
    for k in (1, 3):
        H = rng.randn(50, 6, k)
        H[:, 4] = H[:, 3] + 1e-7 * rng.randn(50, k)
        Y, cost, lam = H[:, 0] - 0.5 * H[:, 3] + 0.3 * rng.randn(50, k), rng.uniform(0.5, 2, 50), 0.05
        normal = Normal.of(H, Y, cost)
        mu = normal.weights(combination, lam)
        size = np.sum(np.average((Y - np.average(Y, axis=0, weights=cost)) ** 2, axis=0, weights=cost))
        m, b = cp.Variable(6), cp.Variable(k)
        share = cost / cost.sum() / size
        left = sum(cp.sum(cp.multiply(share, cp.square(Y[:, j] - H[:, :, j] @ m - b[j]))) for j in range(k))
        penalty = cp.norm1(m) if combination == "l1" else 0.5 * cp.sum_squares(m)
        best = optimal_value(cp.Problem(cp.Minimize(0.5 * left + lam * penalty)), 1e-10)
        residual = Y - np.einsum("nmk,m->nk", H, mu) - normal.intercept(mu)
        value = 0.5 * float(np.sum(share[:, None] * residual**2))
        value += lam * (np.abs(mu).sum() if combination == "l1" else 0.5 * mu @ mu)
        assert value == pytest.approx(best, rel=1e-6)


def test_nothing_of_a_held_out_sample_is_seen():
    """The errors of single predictors are those of models that are fitted on the other folds."""
    model = KernelEnsembleRegressor(KERNELS, cv=FOLDS, Cs=[0.1, 3.0], center=True).fit(X, y)
    for m, (name, kernel) in enumerate(KERNELS.items()):
        errors = {}
        for C in (0.1, 3.0):
            single = MKLRegressor({name: kernel}, C=C, center=True)
            parts = [single.fit(X[a], y[a]).predict(X[b]) - y[b] for a, b in FOLDS]
            errors[C] = np.mean(np.concatenate(parts) ** 2)
        assert model.cv_errors_[m] == pytest.approx(min(errors.values()), rel=1e-6)
        assert model.predictor_C_[m] == min(errors, key=errors.get)


def test_lambda_is_chosen_on_the_folds():
    model = KernelEnsembleRegressor(KERNELS, cv=FOLDS, combination="l1").fit(X, y)
    assert model.lam_ == model.path_["lam"][np.argmin(model.path_["cv_error"])]
    heavy = KernelEnsembleRegressor(KERNELS, cv=FOLDS, combination="l1", lam=1e3).fit(X, y)
    assert not heavy.weights_.any() and heavy.active_.size == 0
    np.testing.assert_allclose(heavy.predict(X), np.mean(y), atol=1e-12)


# -- what a model is ----------------------------------------------------------------------------------
@both
def test_classes_contributions_and_files(combination, tmp_path):
    model = KernelEnsembleClassifier(KERNELS, combination=combination, cv=3).fit(WINE, LABELS)
    f = model.decision_function(WINE)
    assert f.shape == (178, 3) and model.score(WINE, LABELS) > 0.97
    np.testing.assert_allclose(model.contributions(WINE).sum(axis=1) + model.intercept_, f, atol=1e-10)
    path = tmp_path / "ensemble.mk"
    save(model, path)
    np.testing.assert_array_equal(load(path).decision_function(WINE), f)
    with pytest.raises(AttributeError, match="no kernel_: every kernel has a predictor of its own"):
        model.kernel_  # noqa: B018


def test_two_classes_strings_weights_and_stacks():
    two = np.where(LABELS > 0, "yes", "no")
    kernels = list(KERNELS.values())
    stack = np.stack([k(WINE) for k in kernels], axis=2)
    folds = list(KFold(3, shuffle=True, random_state=1).split(WINE))
    made = KernelEnsembleClassifier(kernels, cv=folds, loss="hinge", tol=1e-8).fit(WINE, two)
    given = KernelEnsembleClassifier("precomputed", cv=folds, loss="hinge", tol=1e-8).fit(stack, two)
    np.testing.assert_allclose(made.decision_function(WINE), given.decision_function(stack), atol=1e-3)
    assert set(made.predict(WINE)) == {"yes", "no"}
    some = np.arange(178) % 5 > 0
    dropped = KernelEnsembleClassifier(kernels, cv=2).fit(WINE, two, sample_weight=some.astype(float))
    assert dropped.score(WINE, two) > 0.9


def test_views_frames_groups_and_linear_coefficients():
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(10)])
    kernels = {"a": OnColumns(Linear(), ["x0", "x1", "x2"]), "b": OnColumns(Linear(), ["x3", "x8"])}
    model = KernelEnsembleRegressor(kernels, cv=GroupKFold(4))
    model.fit(frame, y, groups=np.arange(120) // 10)
    plain = {"a": OnColumns(Linear(), [0, 1, 2]), "b": OnColumns(Linear(), [3, 8])}
    same = KernelEnsembleRegressor(plain, cv=GroupKFold(4)).fit(X, y, groups=np.arange(120) // 10)
    np.testing.assert_allclose(same.predict(X), model.predict(frame), atol=1e-9)
    np.testing.assert_allclose(X @ same.coef_ + same.intercept_, same.predict(X), atol=1e-9)
    outputs = KernelEnsembleRegressor(kernels).fit(frame, np.column_stack([y, 2 * y]))
    np.testing.assert_allclose(outputs.predict(frame)[:, 1], 2 * outputs.predict(frame)[:, 0], atol=1e-7)


def test_a_class_that_a_fold_lacks():
    labels = LABELS.copy()
    labels[0] = 3  # of one sample
    model = KernelEnsembleClassifier(KERNELS, cv=KFold(3, shuffle=True, random_state=0)).fit(WINE, labels)
    assert model.decision_function(WINE).shape == (178, 4)
    assert np.mean(model.predict(WINE) == labels) > 0.9


# -- bad input ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cv": 6}, r"cv=6 was given with 5 samples.*fewer folds"),
        ({"cv": 1}, "1"),
        ({"combination": "l0"}, "combination='l0' was given; expected 'l1' or 'l2'"),
        ({"lam": -1.0}, "lam=-1.0 was given; expected a finite number ≥ 0"),
        ({"lam": "large"}, "lam='large' was given"),
        ({"lam": np.nan}, "lam=nan was given"),
        ({"Cs": []}, r"Cs=\[\] was given; expected a list of numbers above 0"),
        ({"Cs": [1.0, -1.0]}, "Cs=.*numbers above 0"),
        ({"C": 0.0}, "C=0.0 .*positive"),
        ({"kernels": Products()}, "more kernels than can be listed.*gaussian_grid"),
        ({"loss": "hinge"}, "loss"),
    ],
)
def test_errors_say_what_to_do(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        KernelEnsembleRegressor(**options).fit(X[:5], y[:5])


def test_too_few_samples():
    with pytest.raises(ValueError, match=r"cv=5 was given with 4 samples"):
        KernelEnsembleClassifier([Linear()], cv=5).fit(WINE[::45], LABELS[::45])
    with pytest.raises(ValueError, match="1 sample"):
        KernelEnsembleRegressor([Linear()]).fit(X[:1], y[:1])
    grid = gaussian_grid(1.0, 10.0, 3)
    with pytest.raises(ValueError, match=r"one class|class"):
        KernelEnsembleClassifier(grid).fit(WINE[:10], np.zeros(10))
