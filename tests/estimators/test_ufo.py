"""UFO-MKL as an estimator: streams, warm starts, three forms of one model, and what it says of itself."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators.ufo_models import (
    FORMS,
    GAUSSIANS,
    MODELS,
    THREE,
    TWO,
    X_NEW,
    X,
    Y,
    decide,
    each_form,
    each_model,
    make,
    numbers,
    same,
)

from manykernels import MKLClassifier, MKLRegressor, UFOMKLClassifier, UFOMKLRegressor
from manykernels.approx import RandomFeatures
from manykernels.families import from_distances, rank_one
from manykernels.grams.expansions import FeatureExpansion, KernelExpansion
from manykernels.kernels import FeatureMap, Gaussian, Linear, OnColumns
from manykernels.solvers.ufo import dual_exponent


# -- scikit-learn -------------------------------------------------------------------------------------
@parametrize_with_checks([UFOMKLClassifier(epochs=5), UFOMKLRegressor(epochs=5)])
@pytest.mark.filterwarnings("ignore:alpha=")
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        UFOMKLClassifier([Gaussian(2.0), Gaussian(5.0), Linear()], approx=RandomFeatures(50)),
        UFOMKLClassifier(average=True, loss="logistic"),
        UFOMKLClassifier(loss="multiclass_hinge", warm_start=True),
        UFOMKLRegressor([Gaussian(2.0), Gaussian(5.0), Linear()], approx=RandomFeatures(50), average=True),
        UFOMKLRegressor(average=True, loss="epsilon_insensitive", lam=0.05),
    ]
)
@pytest.mark.filterwarnings("ignore:alpha=")
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)


@each_form
def test_clones_pickles_pipelines_and_searches(form):
    model = make(UFOMKLClassifier(), **form).fit(X, TWO)
    assert clone(model).get_params().keys() == model.get_params().keys()
    np.testing.assert_array_equal(decide(pickle.loads(pickle.dumps(model)), X_NEW), decide(model, X_NEW))
    same(clone(model).fit(X, TWO), model, atol=0)
    pipe = make_pipeline(StandardScaler(), make(UFOMKLClassifier(), **form))
    assert cross_val_score(pipe, X, TWO, cv=3).mean() > 0.6
    kernels = {"g": Gaussian(0.01), "l": Linear(), "h": Gaussian(2.0)}
    search = GridSearchCV(
        make(UFOMKLClassifier(), kernels=kernels, **form), {"kernels__g__width": [0.01, 1.0]}
    )
    assert search.fit(X, TWO).best_params_ == {"kernels__g__width": 1.0}


def test_pickles_do_not_hold_the_matrices():
    model = make(UFOMKLClassifier()).fit(X, TWO)
    assert len(pickle.dumps(model)) < 8 * 90 * 90
    assert model.objective(X, TWO) == pytest.approx(model.objective_, rel=1e-10)


def test_threads_change_nothing():
    same(make(UFOMKLClassifier(), n_jobs=1).fit(X, THREE), make(UFOMKLClassifier(), n_jobs=2).fit(X, THREE))


# -- three forms of one model ---------------------------------------------------------------------------
def maps():
    return [Linear(), OnColumns(Linear(), [0, 2]), FeatureMap(np.square), OnColumns(Linear(), [1])]


@each_model
@pytest.mark.parametrize("average", [False, True])
def test_forms_agree(model, y, average, monkeypatch):
    """Kernels stored, computed in each step, given as matrices, and explicit features; blocks of any size."""
    options = {"kernels": maps(), "normalize": "trace", "average": average}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        stored = make(model, **options).fit(X, y)
        own = make(model, approx="features", **options).fit(X, y)
        same(stored, own)
        assert own.objective_ == pytest.approx(stored.objective_, rel=1e-9)
        assert own.dual_gap_ == pytest.approx(stored.dual_gap_, rel=1e-6)
        raw = [np.stack([k(A, X) for k in maps()], axis=2) for A in (X, X_NEW)]
        given = make(model, **{**options, "kernels": "precomputed"}).fit(raw[0], y)
        np.testing.assert_allclose(decide(given, raw[1]), decide(stored, X_NEW), atol=1e-10)
        assert given.objective(raw[0], y) == pytest.approx(stored.objective_, rel=1e-9)
        for kind in (KernelExpansion, FeatureExpansion):
            monkeypatch.setattr(kind, "block_size", 7)
        same(stored, make(model, **options).fit(X, y))
        same(stored, make(model, approx="features", **options).fit(X, y))


@each_model
def test_kernels_that_do_not_fit_in_memory(model, y):
    many = [Gaussian(w) for w in np.linspace(0.5, 5, 30)]
    stored, computed = (make(model, kernels=many, memory_limit=m).fit(X, y) for m in (None, "1MB"))
    same(stored, computed)
    assert computed.objective_ == pytest.approx(stored.objective_, rel=1e-9)


def test_distances_that_do_not_fit_in_memory():
    D = (X[:, None] - X) ** 2
    family = from_distances(np.logspace(-1, 1, 12))
    stored, computed = (make(UFOMKLClassifier(), kernels=family, memory_limit=m) for m in (None, "1MB"))
    np.testing.assert_allclose(
        computed.fit(D, TWO).decision_function(D), stored.fit(D, TWO).decision_function(D), atol=1e-10
    )


@each_model
@each_form
def test_contract_of_coefficients(model, y, form):
    model = make(model, **form).fit(X, y)
    f = decide(model, X_NEW)
    outputs = () if y is TWO or y is MODELS[-1][1] else (2 if y is Y else 3,)
    assert f.shape == (40, *outputs)
    if "approx" in form:
        again = model.features_.transform(X_NEW) @ model.feature_coef_ + model.intercept_
        assert not hasattr(model, "dual_coef_") and not hasattr(model, "X_fit_")
    elif form:
        coef = model.dual_coef_[model.active_]
        again = sum(
            model.kernels_[m](X_NEW, model.X_fit_) @ c for m, c in zip(model.active_, coef, strict=True)
        )
        again = again + model.intercept_
    else:
        again = model.kernel_(X_NEW, model.X_fit_) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(again, f, atol=1e-10)
    parts = model.contributions(X_NEW)
    assert parts.shape == (40, model.active_.size, *f.shape[1:])
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, f, atol=1e-10)
    assert model.objective(X, y) == pytest.approx(model.objective_, rel=1e-9)
    if hasattr(model, "classes_"):
        codes = (f > 0).astype(int) if f.ndim == 1 else f.argmax(axis=1)
        np.testing.assert_array_equal(model.predict(X_NEW), model.classes_[codes])


@pytest.mark.parametrize("form", FORMS[:2], ids=repr)
@each_model
def test_linear_coefficients(model, y, form):
    kernels = [
        Linear(),
        OnColumns(Linear(), [0, 1]),
        2.0 * OnColumns(Linear(), [3]),
        OnColumns(Linear(), [2]),
    ]
    model = make(model, kernels=kernels, alpha=0.0, **form).fit(X, y)
    np.testing.assert_allclose(X_NEW @ model.coef_.T + model.intercept_, decide(model, X_NEW), atol=1e-10)


def test_contributions_of_views_and_what_has_no_coef():
    kernels = [
        OnColumns(Gaussian(w), c, view=v) for v, c in (("l", [0, 1]), ("r", [2, 3])) for w in (1.0, 3.0)
    ]
    for form in FORMS:
        model = make(UFOMKLClassifier(), kernels=kernels, alpha=0.0, **form).fit(X, THREE)
        views = model.contributions(X_NEW, by="view")
        assert views.shape == (40, 2, 3) and list(model.view_weights_) == ["l", "r"]
        np.testing.assert_allclose(views.sum(axis=1) + model.intercept_, decide(model, X_NEW), atol=1e-10)
        with pytest.raises(
            AttributeError, match="feature_coef_" if "approx" in form else "is not; use contri"
        ):
            _ = model.coef_
    with pytest.raises(ValueError, match=r"by='views'.*'view'"):
        model.contributions(X_NEW, by="views")
    with pytest.raises(AttributeError, match="before it is fitted"):
        _ = UFOMKLClassifier().coef_
    single = make(UFOMKLClassifier(), kernels=rank_one()).fit(X, TWO)  # rank one: features, never n × n
    assert single.feature_coef_.shape == (4,)


def test_probabilities():
    from manykernels.losses import MulticlassLogistic

    two = make(UFOMKLClassifier(loss="logistic")).fit(X, TWO)
    np.testing.assert_allclose(two.predict_proba(X)[:, 1], 1 / (1 + np.exp(-two.decision_function(X))))
    for loss in ("logistic", MulticlassLogistic()):
        several = make(UFOMKLClassifier(loss=loss)).fit(X, THREE)
        e = np.exp(several.decision_function(X))
        np.testing.assert_allclose(several.predict_proba(X), e / e.sum(axis=1, keepdims=True))
    assert not hasattr(UFOMKLClassifier(), "predict_proba")


# -- against batch learning -----------------------------------------------------------------------------
@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_batch_learning_has_the_same_minimum(loss):
    """At α = 0, P/λ is MKL's objective with norm p/(2 − p), 1/p + 1/q = 1, and C = 1/(N λ)."""
    lam, q = 0.02, dual_exponent(4)
    p = q / (q - 1)
    batch = MKLClassifier(
        GAUSSIANS,
        norm=p / (2 - p),
        loss=loss,
        C=1 / (90 * lam),
        fit_intercept=False,
        normalize=None,
        tol=1e-6,
    ).fit(X, TWO)
    options = {"loss": loss, "lam": lam, "alpha": 0.0, "fit_intercept": False, "average": True}
    gaps = []
    for epochs in (10, 300):
        online = make(UFOMKLClassifier(), epochs=epochs, **options).fit(X, TWO)
        gaps.append(online.dual_gap_)
    minimum = lam * batch.objective_
    assert minimum * (1 - 1e-5) <= online.objective_ <= 1.01 * minimum
    assert online.history_["dual"].max() <= minimum * (1 + 1e-5)
    assert gaps[1] < gaps[0] / 4 and gaps[1] < 0.02
    np.testing.assert_allclose(online.decision_function(X), batch.decision_function(X), atol=0.05)


def test_batch_regression_has_the_same_minimum():
    lam, q, y = 0.02, dual_exponent(4), Y[:, 0]
    p = q / (q - 1)
    options = {"fit_intercept": False, "normalize": None}
    batch = MKLRegressor(GAUSSIANS, norm=p / (2 - p), C=1 / (90 * lam), tol=1e-8, **options).fit(X, y)
    online = make(UFOMKLRegressor(), lam=lam, alpha=0.0, epochs=300, **options).fit(X, y)
    assert lam * batch.objective_ * (1 - 1e-6) <= online.objective_ <= 1.01 * lam * batch.objective_


# -- Orabona & Jie 2011, §5.2 ----------------------------------------------------------------------
def three_classes(seed=0, n=100):
    """Views 1–3 tell one class (3, 1, 2) from the others, view 4 all three (Orabona & Jie 2011, Fig. 1)."""
    draw, codes = np.random.RandomState(seed), np.repeat([0, 1, 2], n)
    views = [np.where(codes == c, 1.5, -1.5)[:, None] * np.ones((1, 2)) for c in (2, 0, 1)]
    angle = 2 * np.pi * codes / 3
    views.append(2.0 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    data = np.concatenate([view + 0.6 * draw.randn(3 * n, 2) for view in views], axis=1)
    return data, codes, [OnColumns(Gaussian(2.0), [2 * v, 2 * v + 1]) for v in range(4)]


def test_one_kernel_for_all_classes():
    data, codes, kernels = three_classes()
    options = {"lam": 1 / (100 * 300), "alpha": 0.15, "epochs": 20, "random_state": 0}
    online = UFOMKLClassifier(kernels, loss="multiclass_hinge", **options).fit(data, codes)
    assert online.active_.tolist() == [3] and online.score(data, codes) > 0.97
    batch = MKLClassifier(kernels, multi_class="ovr", norm=1).fit(data, codes)
    assert np.all(np.count_nonzero(batch.weights_ > 1e-6, axis=1) >= 2)


# -- numbers --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lam", [1e-6, 1e-4, 1e-2, 1.0])
def test_squared_loss_never_explodes(lam):
    smooth = numbers(X)
    for form in FORMS[:3]:
        model = make(UFOMKLRegressor(), lam=lam, alpha=0.0, epochs=20, **form).fit(X, 1e3 * smooth)
        assert np.isfinite(model.objective_) and model.bound_ == np.inf
        assert model.score(X, 1e3 * smooth) > (0.0 if lam == 1.0 else 0.55)
        assert np.abs(model.predict(X_NEW)).max() < 1e5


def test_bound_and_history():
    model = make(UFOMKLClassifier(), fit_intercept=False, epochs=3).fit(X, TWO)
    T = model.t_
    assert T == 270 and model.n_iter_ == 3
    assert model.bound_ == pytest.approx(np.e * (1 + np.log(T)) * np.log(4) / (0.01 * T))
    several = make(UFOMKLClassifier(), fit_intercept=False, epochs=3).fit(X, THREE)
    assert several.bound_ == pytest.approx(2 * model.bound_)
    assert {len(values) for values in model.history_.values()} == {3}
    assert model.history_["active"][-1] == model.active_.size
    assert 0 <= model.dual_gap_ == pytest.approx(1 - model.history_["dual"].max() / model.objective_)
