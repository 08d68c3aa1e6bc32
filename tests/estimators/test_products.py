"""Estimators that learn over all products of features or kernels: decisions, tables, scikit-learn, errors."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import Products
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns, monomial
from manykernels.oracles import products as products_oracle
from manykernels.oracles._beam import Beam
from manykernels.solvers import Corrective

RNG = np.random.RandomState(0)
X = RNG.randn(45, 4)
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * RNG.randn(45)
CLASSES = np.array(["low", "mid", "high"])[np.digitize(Y, [-0.7, 0.7])]
NEW = RNG.randn(17, 4)
NAMES = ["age", "dose", "height", "weight"]
GAUSSIANS = [OnColumns(Gaussian(1.5), j) for j in range(4)]
MODELS = {
    "squared": (MKLRegressor(Products(degree=3, atom_scale="rms"), C=10), Y),
    "outputs": (MKLRegressor(Products(), C=3), np.column_stack([Y, X[:, 1] ** 2])),
    "tube": (MKLRegressor(Products(rho=[1, 1, 2]), loss="epsilon_insensitive", C=3), Y),
    "gaussians": (MKLRegressor(Products(GAUSSIANS), C=10), Y),
    "no intercept": (MKLRegressor(Products(interactions_only=True), fit_intercept=False), Y),
    "two classes": (MKLClassifier(Products(atom_scale="rms")), Y > 0),
    "shared": (MKLClassifier(Products(atom_scale="rms"), loss="logistic"), CLASSES),
    "ovr": (MKLClassifier(Products(), multi_class="ovr", loss="squared_hinge"), CLASSES),
    "cosine": (MKLRegressor(Products(), normalize="cosine", C=3), Y),
    "greedy": (MKLRegressor(Products(), solver="greedy", tol=0.02), Y),
    "norm 2": (MKLRegressor(Products(), norm=2, tol=0.02, random_state=0), Y),
}
each_model = pytest.mark.parametrize("name", MODELS)


def fitted(name, data=X):
    model, target = MODELS[name]
    return clone(model).fit(data, target)


def decision(model, data):
    return model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data)


def repeated(table, key):
    return dict(zip(table["product"], table[key], strict=True))


# -- decisions -------------------------------------------------------------------------------------
@each_model
def test_decisions_are_kernels_times_coefficients(name):
    model = fitted(name)
    assert model.certified_ and 0.0 <= model.dual_gap_ <= model.tol and np.isfinite(model.objective_)
    if name == "ovr":
        pairs = zip(model.kernel_, model.dual_coef_.T, strict=True)
        f = np.column_stack([kernel(NEW, model.X_fit_) @ alpha for kernel, alpha in pairs])
    else:
        f = model.kernel_(NEW, model.X_fit_) @ model.dual_coef_
    np.testing.assert_allclose(decision(model, NEW), f + model.intercept_, rtol=1e-9, atol=1e-9)
    parts = model.contributions(NEW)
    assert parts.shape[1] == model.active_.size == len(model.selected_products_["product"])
    np.testing.assert_allclose(
        parts.sum(axis=1) + model.intercept_, decision(model, NEW), rtol=1e-9, atol=1e-9
    )
    assert name != "no intercept" or model.intercept_ == 0.0


@pytest.mark.parametrize("name", ["squared", "gaussians", "no intercept", "tube"])
def test_the_objective_is_that_of_the_decision(name):
    """½ Σ αᵀK_θα + Σ Cℓ at the decisions on the training samples."""
    model = fitted(name)
    f, loss = model.predict(X), np.abs(Y - model.predict(X))
    fit = np.maximum(loss - 0.1, 0).sum() if name == "tube" else 0.5 * (loss**2).sum()
    norm = model.dual_coef_ @ (f - model.intercept_)
    np.testing.assert_allclose(0.5 * norm + model.C * fit, model.objective_, rtol=2 * model.tol)


@each_model
def test_the_table_of_products(name):
    """Sorted by contribution, with the degree of each product and the weights of the model."""
    model = fitted(name)
    table = pd.DataFrame(model.selected_products_)
    assert list(table.columns) == ["product", "degree", "weight", "contribution"]
    assert table["product"].is_unique and len(table) == model.active_.size > 0
    assert np.all(np.diff(table["contribution"]) <= 0.0) and np.all(table["weight"] > 0.0)
    weights = np.atleast_2d(model.weights_).sum(axis=0)
    named = {model.kernel_names_[m]: weights[m] for m in model.active_}
    assert repeated(table, "weight") == pytest.approx(named)
    if model.norm == 1.0:
        assert table["weight"].sum() == pytest.approx(3.0 if name == "ovr" else 1.0, abs=1e-9)
    parts = model.contributions(X).reshape(len(X), model.active_.size, -1)
    sizes = dict(zip([model.kernel_names_[m] for m in model.active_], (parts**2).sum(2).mean(0) ** 0.5))  # noqa: B905
    assert repeated(table, "contribution") == pytest.approx(sizes)


def test_names_are_those_of_the_columns():
    """The truth is age·dose + height: they come first, by the user's names, in every kind of frame."""
    models = [MKLRegressor(Products(degree=3, atom_scale="rms"), C=10) for _ in range(2)]
    frames = [pd.DataFrame(X, columns=NAMES), pl.DataFrame(dict(zip(NAMES, X.T, strict=True)))]
    for model, frame in zip(models, frames, strict=True):
        table = model.fit(frame, Y).selected_products_
        assert table["product"][:2] == ["age · dose", "height"] and table["degree"][:2] == [2, 1]
        np.testing.assert_allclose(model.predict(frame), fitted("squared").predict(X), rtol=1e-9, atol=1e-9)
        assert all(len(p.split(" · ")) <= d for p, d in zip(table["product"], table["degree"], strict=True))
    cubes = MKLRegressor(Products(degree=3), C=1e3).fit(frames[0], X[:, 1] ** 3)
    assert cubes.selected_products_["product"][0] == "dose³" and cubes.selected_products_["degree"][0] == 3
    constant = MKLRegressor(Products(), fit_intercept=False, C=1e3).fit(X, np.full(45, 2.0))
    assert constant.selected_products_["product"] == ["1"] and constant.selected_products_["degree"] == [0]


def test_sparse_and_listed_columns_are_the_same_problem():
    expected = MKLRegressor(Products(), C=5).fit(X, Y)
    thin = MKLRegressor(Products(), C=5).fit(sparse.csr_matrix(X), Y)
    np.testing.assert_allclose(
        thin.predict(sparse.csr_matrix(NEW)), expected.predict(NEW), rtol=1e-9, atol=1e-9
    )
    linear = {name: OnColumns(Linear(), j) for j, name in enumerate(NAMES)}
    listed = MKLRegressor(Products(linear), C=5).fit(X, Y)
    np.testing.assert_allclose(listed.predict(NEW), expected.predict(NEW), rtol=1e-9, atol=1e-9)
    assert listed.selected_products_["product"][0] == "age · dose"


def test_prediction_touches_selected_products_only(monkeypatch):
    """Out of 5,456 products, those with weight are computed, and no column that none of them has is read."""
    wide = np.random.RandomState(1).randn(60, 30)
    model = MKLRegressor(Products(degree=3, atom_scale="rms"), C=0.3)
    model.fit(wide, wide[:, 3] * wide[:, 7])
    assert model.active_.size < 20
    chosen = [model.kernels_[m].kernel for m in model.active_]
    read, computed = set(), []

    def columns(data, column, original=monomial.take_columns):
        read.add(column)
        return original(data, column)

    def maps(self, *sets, original=monomial.Monomial.feature_maps):
        computed.append(self)
        return original(self, *sets)

    monkeypatch.setattr(monomial, "take_columns", columns)
    monkeypatch.setattr(monomial.Monomial, "feature_maps", maps)
    model.predict(wide[:10])
    assert read == {column for kernel in chosen for column in kernel.columns} and len(read) < 30
    assert {id(kernel) for kernel in computed} == {id(kernel) for kernel in chosen}
    assert len(computed) <= 2 * len(chosen)


# -- sample weights --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("base", "scale"), [("features", None), ("features", "rms"), (GAUSSIANS, "rms")], ids=str
)
@pytest.mark.parametrize("kind", [MKLRegressor, MKLClassifier])
def test_a_weight_is_a_repetition(kind, base, scale):
    target = Y if kind is MKLRegressor else CLASSES
    counts = np.random.RandomState(2).randint(0, 4, 45)
    rows = np.random.RandomState(3).permutation(np.repeat(np.arange(45), counts))
    model = kind(
        Products(base, atom_scale=scale), tol=1e-9, loss="squared" if kind is MKLRegressor else "logistic"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a tolerance as small as rounding allows
        weighted = clone(model).fit(X, target, sample_weight=counts)
        again = clone(model).fit(X[rows], target[rows])
    np.testing.assert_allclose(decision(weighted, NEW), decision(again, NEW), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(weighted.objective_, again.objective_, rtol=1e-7)


# -- scikit-learn ----------------------------------------------------------------------------------
@each_model
def test_clones_pickles_and_repeats_itself(name):
    model = fitted(name)
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(decision(back, NEW), decision(model, NEW))
    assert back.selected_products_ == model.selected_products_
    again = clone(model)
    assert not hasattr(again, "weights_") and again.kernels is not model.kernels
    assert np.array_equal(decision(again.fit(X, MODELS[name][1]), NEW), decision(model, NEW))


def test_searches_and_pipelines():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MKLRegressor(Products(atom_scale="rms"))),
        {"mklregressor__kernels__degree": [1, 2], "mklregressor__C": [0.1, 10.0]},
        cv=3,
    ).fit(X, Y)
    assert search.best_params_ == {"mklregressor__kernels__degree": 2, "mklregressor__C": 10.0}
    assert search.best_score_ > 0.95
    linear = cross_val_score(MKLRegressor(Products(degree=1), C=10), X, Y, cv=3).mean()
    assert linear < search.best_score_ - 0.2
    assert cross_val_score(MKLClassifier(Products(), C=10), X, Y > 0, cv=3).mean() > 0.8


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:Column:UserWarning")
@parametrize_with_checks([MKLRegressor(Products()), MKLClassifier(Products())])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_warm_start_and_other_kernels_on_the_way():
    model = MKLRegressor(Products(), warm_start=True, C=5)
    first = model.fit(X, Y).objective_
    assert model.fit(X, Y).objective_ == pytest.approx(first, rel=1e-3)
    assert model.set_params(C=50).fit(X, Y).certified_
    model.set_params(kernels=[Linear(), Gaussian(2.0)]).fit(X, Y)
    assert not hasattr(model, "selected_products_") and len(model.weights_) == 2
    model.set_params(kernels=Products(degree=3)).fit(X[:30], Y[:30])
    assert max(model.selected_products_["degree"]) <= 3 and model.dual_coef_.shape == (30,)


# -- bad input -------------------------------------------------------------------------------------
@pytest.mark.parametrize("degree", [0, -2, 1.5, "2", None])
def test_degrees_that_are_none(degree):
    with pytest.raises(ValueError, match=r"degree=.* was given to Products; expected a whole number"):
        MKLRegressor(Products(degree=degree)).fit(X, Y)


def test_indefinite_base_kernels():
    """One that two samples show, and one that only all of them do."""
    negative = Callable(lambda a, b: -np.abs(a @ b.T))
    repelling = Callable(lambda a, b: np.where((a[:, None] == b[None]).all(axis=2), 1.0, -0.6))
    for kernel, message in [
        (negative, "needs kernels without negative eigenvalues"),
        (repelling, "Schur's theorem"),
    ]:
        with pytest.raises(ValueError, match=f"is not positive semi-definite.*{message}"):
            MKLRegressor(Products([Linear(), kernel])).fit(X, Y)


def test_columns_without_variance():
    flat = X.copy()
    flat[:, 1] = 3.0
    with pytest.warns(
        UserWarning, match="Column 'dose' is the same for all samples: .* left out of the base"
    ):
        model = MKLRegressor(Products(), C=5).fit(pd.DataFrame(flat, columns=NAMES), Y)
    assert not any("dose" in product for product in model.selected_products_["product"])
    without = MKLRegressor(Products(), C=5).fit(np.delete(X, 1, axis=1), Y)
    changed = pd.DataFrame(np.insert(np.delete(NEW, 1, axis=1), 1, 99.0, axis=1), columns=NAMES)
    np.testing.assert_allclose(model.predict(changed), without.predict(np.delete(NEW, 1, axis=1)), atol=1e-9)
    with pytest.raises(ValueError, match="are the same for all samples, and Products has no others"):
        MKLRegressor(Products()).fit(np.ones((45, 2)), Y)


@pytest.mark.parametrize(("unit", "normalize"), [(1e80, None), (1e80, "trace"), (1e-100, "trace")])
def test_products_out_of_range(unit, normalize):
    with pytest.raises(ValueError, match=r"overflow.* Scale the data \(StandardScaler\)"):
        MKLRegressor(Products(degree=3), normalize=normalize).fit(X * unit, Y)


@pytest.mark.parametrize("unit", [1e-40, 1e40])
def test_units_that_are_in_range_change_nothing(unit):
    plain, scaled = (MKLRegressor(Products(degree=3), C=5).fit(u * X, Y) for u in (1.0, unit))
    np.testing.assert_allclose(scaled.predict(unit * NEW), plain.predict(NEW), rtol=1e-7, atol=1e-7)


def test_a_single_sample():
    for rows in (X[:1], np.repeat(X[:1], 3, axis=0)):
        with pytest.raises(ValueError, match=r"X holds 1 sample, .* Give at least two samples that differ"):
            MKLRegressor(Products()).fit(rows, np.ones(len(rows)))


def test_centring_and_solvers_for_lists():
    with pytest.raises(
        ValueError, match=r"center=True was given .* Leave center=False: the intercept does the same"
    ):
        MKLRegressor(Products(), center=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"'corrective' needs norm=1.* Take solver='active-set'"):
        MKLRegressor(Products(), solver="corrective", norm=2).fit(X, Y)
    wide = np.random.RandomState(0).randn(len(X), 60)
    with pytest.raises(ValueError, match="Give it alone, as kernels=Products"):
        MKLRegressor([Products(degree=3), Linear()]).fit(wide, Y)


def test_a_table_of_products_needs_products():
    for model in (MKLRegressor(Products()), MKLRegressor([Linear()]).fit(X, Y)):
        with pytest.raises(AttributeError, match=r"only after a fit with kernels=Products"):
            _ = model.selected_products_


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_a_constant_target_selects_nothing(loss):
    model = MKLRegressor(Products(), loss=loss).fit(X, np.full(45, 7.0))
    np.testing.assert_allclose(model.predict(NEW), 7.0)
    assert model.active_.size == 0 and model.selected_products_["product"] == [] and model.dual_gap_ == 0.0


# -- what was not reached, or not proven -----------------------------------------------------------
@pytest.mark.parametrize("max_iter", [1, 3])
def test_stopping_early_is_said(max_iter):
    model = MKLRegressor(Products(degree=3), C=100, solver=Corrective(add=1), max_iter=max_iter)
    with pytest.warns(
        ConvergenceWarning, match=rf"stopped after {max_iter} iterations? .* over all 35 kernels"
    ):
        model.fit(X, Y)
    best = MKLRegressor(Products(degree=3), C=100, tol=1e-7).fit(X, Y)
    assert model.certified_ and model.n_iter_ == max_iter
    assert model.dual_gap_ >= (model.objective_ - best.objective_) / model.objective_ > 0.01


def test_a_family_too_large_to_enumerate_says_that_nothing_is_proven(monkeypatch):
    """Found by the beam it may be the optimum, and here it is: but that is not known, and so said."""
    best = MKLRegressor(Products(degree=3), C=10, tol=1e-6).fit(X, Y)
    monkeypatch.setattr(products_oracle, "_ENUMERABLE", 5.0)
    monkeypatch.setattr(
        products_oracle, "Beam", lambda *args, **options: Beam(*args, **{**options, "budget": 5, "nodes": 1})
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLRegressor(Products(degree=3), C=10, tol=1e-6).fit(X, Y)
    assert best.certified_ and not model.certified_
    np.testing.assert_allclose(model.objective_, best.objective_, rtol=1e-5)
    with pytest.warns(ConvergenceWarning, match="over the kernels that it found, above tol"):
        MKLRegressor(Products(degree=3), C=10, solver=Corrective(add=1), max_iter=2).fit(X, Y)
