"""What a fitted model promises: optimality, its attributes, and decisions that they explain."""

from __future__ import annotations

import pickle
import warnings

import numba
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import model_of
from manykernels.families import gaussian_grid, per_feature, rank_one, views
from manykernels.kernels import Gaussian, Linear, OnColumns, Polynomial
from manykernels.losses import EpsilonInsensitive, Hinge
from manykernels.penalties import ElasticNet, L2Ball
from manykernels.solvers import ActiveSet

KERNELS = {"linear": Linear(), "wide": Gaussian(4.0), "narrow": Gaussian(1.0), "x0": OnColumns(Linear(), 0)}
X, y = make_classification(80, 5, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0)
X_new = np.random.RandomState(1).randn(17, 5)
X_iris, y_iris = load_iris(return_X_y=True)
X_diabetes, y_diabetes = (part[:90] for part in load_diabetes(return_X_y=True))
Y_diabetes = np.column_stack([y_diabetes, 100.0 * X_diabetes[:, 2], y_diabetes[::-1]])


def classifier(**options):
    return MKLClassifier(KERNELS, **options).fit(X, y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "squared"])
@pytest.mark.parametrize("norm", [1.0, 4 / 3, 2.0, np.inf, ElasticNet(0.5)], ids=str)
def test_classifiers_reach_the_gap_they_promise(loss, norm):
    model = classifier(loss=loss, norm=norm, tol=1e-5)
    assert 0 <= model.dual_gap_ <= 1e-5
    assert model.certified_
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf, L2Ball(0.5, 1.0)], ids=str)
def test_regressors_reach_the_gap_they_promise(loss, norm):
    model = MKLRegressor(loss=loss, norm=norm, C=10.0, tol=1e-5).fit(X_diabetes, y_diabetes)
    assert 0 <= model.dual_gap_ <= 1e-5


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_least_squares_classification_is_regression_on_signs(multi_class):
    model = MKLClassifier(loss="squared", multi_class=multi_class, norm=2.0, tol=1e-10).fit(X_iris, y_iris)
    Y = np.where(y_iris[:, None] == np.arange(3), 1.0, -1.0)
    groups = [[0, 1, 2]] if multi_class == "shared" else [[0], [1], [2]]
    references = [MKLRegressor(norm=2.0, tol=1e-10).fit(X_iris, Y[:, group]) for group in groups]
    expected = np.hstack([reference.predict(X_iris) for reference in references])
    np.testing.assert_allclose(model.decision_function(X_iris), expected, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X_iris), expected.argmax(axis=1))
    assert not hasattr(model, "predict_proba")


def test_the_objective_is_that_of_the_returned_model():
    model = classifier(tol=1e-6, norm=2.0)
    K = [kernel(X) for kernel in model.kernels_]
    norms = sum(w * model.dual_coef_ @ k @ model.dual_coef_ for w, k in zip(model.weights_, K, strict=True))
    signs = np.where(y == 1, 1.0, -1.0)
    primal = 0.5 * norms + np.maximum(0.0, 1.0 - signs * model.decision_function(X)).sum()
    assert model.objective_ == pytest.approx(primal, rel=1e-5)
    assert np.linalg.norm(model.weights_) == pytest.approx(1.0)


def test_one_kernel_is_a_support_vector_machine():
    model = MKLClassifier(Gaussian(2.0), normalize=None, tol=1e-8).fit(X, y)
    reference = SVC(gamma=1 / 4.0, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X_new), reference.decision_function(X_new), atol=1e-3)


def test_the_fitted_attributes_are_those_of_the_contract():
    model = classifier()
    n, M = len(X), len(KERNELS)
    assert model.kernel_names_ == list(KERNELS)
    assert [kernel.label for kernel in model.kernels_] == list(KERNELS)
    assert model.weights_.shape == (M,)
    np.testing.assert_array_equal(model.active_, np.flatnonzero(model.weights_))
    assert model.dual_coef_.shape == (n,) and isinstance(model.intercept_, float)
    assert model.n_features_in_ == 5 and model.n_iter_ >= 1
    assert set(model.history_) == {"objective", "gap", "seconds", "active"}
    assert model.history_["gap"][-1] == model.dual_gap_
    np.testing.assert_array_equal(model.classes_, [0, 1])
    np.testing.assert_allclose(np.trace(model.kernels_[0](X)) / n, 1.0)


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalize", [None, "trace", "max", "cosine", "frobenius"])
def test_the_decision_is_kernel_times_coefficients(center, normalize):
    model = classifier(center=center, normalize=normalize, norm=2.0)
    for Z in (X, X_new):
        expected = model.kernel_(Z, model.X_fit_) @ model.dual_coef_ + model.intercept_
        np.testing.assert_allclose(model.decision_function(Z), expected, atol=1e-10)
        parts = model.contributions(Z)
        assert parts.shape == (len(Z), model.active_.size)
        np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, expected, atol=1e-10)


@pytest.mark.parametrize("multi_class", ["shared", "ovr"])
def test_more_than_two_classes(multi_class):
    model = MKLClassifier(KERNELS, multi_class=multi_class, tol=1e-4).fit(X_iris, y_iris)
    f = model.decision_function(X_iris)
    assert f.shape == (150, 3) and model.dual_coef_.shape == (150, 3) and model.intercept_.shape == (3,)
    assert model.score(X_iris, y_iris) > 0.93
    assert model.dual_gap_ <= 1e-4
    np.testing.assert_allclose(model.contributions(X_iris).sum(axis=1) + model.intercept_, f, atol=1e-9)
    if multi_class == "shared":
        assert model.weights_.shape == (4,)
        np.testing.assert_allclose(
            model.kernel_(X_iris, model.X_fit_) @ model.dual_coef_ + model.intercept_, f, atol=1e-9
        )
        return
    assert model.weights_.shape == (3, 4) and len(model.kernel_) == len(model.history_) == 3
    for k, kernel in enumerate(model.kernel_):
        expected = kernel(X_iris, model.X_fit_) @ model.dual_coef_[:, k] + model.intercept_[k]
        np.testing.assert_allclose(f[:, k], expected, atol=1e-9)
        one = MKLClassifier(KERNELS, tol=1e-4).fit(X_iris, y_iris == k)
        np.testing.assert_allclose(one.weights_, model.weights_[k], atol=1e-12)


def test_two_classes_are_one_problem_whatever_multi_class_says():
    shared, ovr = classifier(), classifier(multi_class="ovr")
    np.testing.assert_array_equal(shared.weights_, ovr.weights_)
    assert ovr.weights_.ndim == 1 and not isinstance(ovr.kernel_, list)


def test_several_outputs_share_weights():
    model = MKLRegressor(norm=2.0, tol=1e-6).fit(X_diabetes, Y_diabetes)
    assert model.predict(X_diabetes).shape == (90, 3) and model.dual_coef_.shape == (90, 3)
    assert model.weights_.ndim == 1 and model.dual_gap_ <= 1e-6
    column = MKLRegressor(norm=2.0).fit(X_diabetes, y_diabetes[:, None])
    flat = MKLRegressor(norm=2.0).fit(X_diabetes, y_diabetes)
    np.testing.assert_allclose(column.predict(X_diabetes)[:, 0], flat.predict(X_diabetes))


def test_probabilities_of_two_and_of_more_classes():
    model = classifier(loss="logistic")
    p = model.predict_proba(X_new)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-model.decision_function(X_new))))
    model = MKLClassifier(loss="logistic").fit(X_iris, y_iris)
    p = model.predict_proba(X_iris)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X_iris))
    np.testing.assert_allclose(np.log(p), model.predict_log_proba(X_iris))


def test_without_the_logistic_loss_probabilities_come_from_calibration():
    assert not hasattr(MKLClassifier(), "predict_proba") and not hasattr(MKLClassifier(), "predict_log_proba")
    assert hasattr(MKLClassifier(loss="logistic"), "predict_proba")
    p = CalibratedClassifierCV(MKLClassifier(KERNELS), cv=3).fit(X, y).predict_proba(X_new)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_a_weighted_sample_is_a_repeated_one():
    weight = np.random.RandomState(0).randint(0, 4, len(X))
    for options in ({}, {"center": True, "normalize": "frobenius"}, {"class_weight": "balanced"}):
        weighted = MKLClassifier(**options).fit(X, y, weight)
        repeated = MKLClassifier(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
        np.testing.assert_array_equal(weighted.weights_, repeated.weights_)
        np.testing.assert_allclose(
            weighted.decision_function(X_new), repeated.decision_function(X_new), atol=1e-12
        )
        assert not weighted.dual_coef_[weight == 0].any()
        assert repeated.dual_coef_.sum() == pytest.approx(weighted.dual_coef_.sum(), abs=1e-12)


def test_the_order_of_the_samples_does_not_matter():
    order = np.random.RandomState(0).permutation(len(X))
    model, other = classifier(), MKLClassifier(KERNELS).fit(X[order], y[order])
    np.testing.assert_array_equal(model.weights_, other.weights_)
    np.testing.assert_array_equal(model.dual_coef_[order], other.dual_coef_)


def test_class_weights_are_costs():
    costs = classifier(class_weight={0: 3.0})
    weight = classifier_with_weights(np.where(y == 0, 3.0, 1.0))
    # the cost of a class is no repetition, so the normalisation of the kernels does not see it
    np.testing.assert_allclose(costs.weights_, weight.weights_, atol=1e-6)
    np.testing.assert_allclose(costs.dual_coef_, weight.dual_coef_, atol=1e-6)
    no_zeros = MKLClassifier(KERNELS, class_weight={0: 0.0}).fit(X_iris, y_iris)
    assert (no_zeros.predict(X_iris) != 0).mean() > 0.9 and no_zeros.classes_.size == 3


def classifier_with_weights(weight):
    scale = [1.0 / kernel.diag(X).mean() for kernel in KERNELS.values()]
    kernels = [s * kernel for s, kernel in zip(scale, KERNELS.values(), strict=True)]
    return MKLClassifier(kernels, normalize=None).fit(X, y, weight)


def test_features_of_linear_models():
    for model, Z in [
        (MKLClassifier([Linear(), 2.0 * OnColumns(Linear(), [1, 2])], norm=2.0), X_new),
        (MKLClassifier(rank_one(), normalize="max"), X_new),
        (MKLRegressor(views({"a": (slice(0, 2), Linear()), "b": ([2, 3, 4], [Linear()])})), X_new),
    ]:
        model.fit(X, y)
        f = model.predict(Z) if isinstance(model, MKLRegressor) else model.decision_function(Z)
        assert model.coef_.shape == (5,)
        np.testing.assert_allclose(Z @ model.coef_.T + model.intercept_, f, atol=1e-10)
    model = MKLClassifier(Linear()).fit(X_iris, y_iris)
    np.testing.assert_allclose(
        X_iris @ model.coef_.T + model.intercept_, model.decision_function(X_iris), atol=1e-9
    )


@pytest.mark.parametrize(
    "model", [MKLClassifier(Gaussian()), MKLClassifier(Polynomial()), MKLClassifier(Linear(), center=True)]
)
def test_models_that_are_not_linear_have_no_coefficients(model):
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="contributions"):
        _ = model.fit(X, y).coef_


def test_weights_and_contributions_add_up_per_view():
    model = MKLClassifier(
        [views({"left": [0, 1], "right": slice(2, 5)}), Linear(name="all")], norm=2.0, multi_class="ovr"
    ).fit(X, y)
    total = model.view_weights_
    assert list(total) == ["left", "right", "all"]
    assert sum(total.values()) == pytest.approx(model.weights_.sum())
    parts = model.contributions(X_new, by="view")
    assert parts.shape == (17, 3)
    np.testing.assert_allclose(
        parts.sum(axis=1) + model.intercept_, model.decision_function(X_new), atol=1e-10
    )
    with pytest.raises(ValueError, match="'kernel' or 'view'"):
        model.contributions(X_new, by="sample")


def test_a_warm_start_needs_fewer_machines_and_ends_at_the_same_model():
    model = MKLClassifier(gaussian_grid(0.3, 10, 12), tol=1e-6, warm_start=True).fit(X, y)
    cold, objective = model.n_iter_, model.objective_
    assert model.fit(X, y).n_iter_ < cold
    assert model.objective_ == pytest.approx(objective, rel=2e-6)
    model.set_params(C=2.0).fit(X, y)
    fresh = clone(model).fit(X, y)
    assert model.objective_ == pytest.approx(fresh.objective_, rel=2e-6)
    model.set_params(norm=2.0).fit(X, y)
    assert np.linalg.norm(model.weights_) == pytest.approx(1.0)
    assert model.set_params(norm=1.0).fit(X, y).dual_gap_ <= 1e-6
    assert model.fit(X[:50], y[:50]).dual_coef_.shape == (50,)
    assert model.fit(X_iris, y_iris).dual_coef_.shape == (150, 3)


def test_parts_can_be_given_as_names_or_as_objects():
    by_name = classifier(loss="hinge", solver="active-set")
    by_object = classifier(loss=Hinge(), solver=ActiveSet())
    np.testing.assert_array_equal(by_name.weights_, by_object.weights_)
    wide = MKLRegressor(KERNELS, loss=EpsilonInsensitive(0.3)).fit(X, y)
    assert np.count_nonzero(wide.dual_coef_) < np.count_nonzero(MKLRegressor(KERNELS).fit(X, y).dual_coef_)
    alternating = classifier(norm=2.0, tol=1e-6, solver="alternating")
    assert alternating.objective_ == pytest.approx(classifier(norm=2.0, tol=1e-6).objective_, rel=2e-6)


def test_pickles_and_clones_decide_alike():
    model = classifier(center=True)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.decision_function(X_new), model.decision_function(X_new))
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X_new), model.decision_function(X_new))


def test_threads_change_the_time_and_not_the_answer():
    before = numba.get_num_threads()
    one, all_of_them = classifier(n_jobs=1), classifier(n_jobs=-1)
    assert numba.get_num_threads() == before
    np.testing.assert_allclose(one.decision_function(X_new), all_of_them.decision_function(X_new), atol=1e-9)


def test_little_memory_changes_the_time_and_not_the_answer():
    stored = MKLClassifier(per_feature(), tol=1e-8, norm=2.0).fit(X, y)
    blocks = MKLClassifier(per_feature(), tol=1e-8, norm=2.0, memory_limit="500KB").fit(X, y)
    np.testing.assert_allclose(blocks.weights_, stored.weights_, atol=1e-6)
    np.testing.assert_allclose(blocks.decision_function(X_new), stored.decision_function(X_new), atol=1e-4)


def test_verbose_shows_a_bar_and_is_silent_otherwise(capsys):
    classifier(verbose=1)
    shown = capsys.readouterr()
    assert "gap" in shown.err and "100%" in shown.err and not shown.out
    classifier()
    shown = capsys.readouterr()
    assert not shown.err and not shown.out


def test_stopping_early_warns_with_the_gap():
    with pytest.warns(ConvergenceWarning, match=r"gap of .*max_iter"):
        model = MKLClassifier(gaussian_grid(0.1, 10, 8), max_iter=1, tol=1e-9).fit(X, y)
    assert model.dual_gap_ > 1e-9
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier()


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_a_constant_target_is_the_intercept(norm, loss):
    model = MKLRegressor(KERNELS, norm=norm, loss=loss).fit(X, np.full(len(X), 3.3))
    np.testing.assert_allclose(model.predict(X_new), 3.3, atol=0.1 + 1e-6)
    assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_where_the_targets_lie_changes_only_the_intercept(loss):
    near, far = (
        MKLRegressor(KERNELS, loss=loss, tol=1e-5).fit(X_diabetes, y_diabetes + shift)
        for shift in (0.0, 2.0**40)
    )
    assert far.objective_ == pytest.approx(near.objective_, rel=2e-5)
    np.testing.assert_allclose(far.intercept_ - 2.0**40, near.intercept_, atol=1e-2)


def test_a_huge_cost_does_not_turn_the_objective_into_rounding():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MKLRegressor(KERNELS, C=1e28, max_iter=5).fit(X_diabetes, y_diabetes)
    assert model.objective_ > 1.0


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_a_class_that_costs_nothing_leaves_an_output_of_one_sign(norm, C):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MKLClassifier(KERNELS, norm=norm, C=C, tol=1e-6, class_weight={0: 1.0, 1: 1.0, 2: 0.0})
        model.fit(X, np.arange(len(X)) % 3)
    assert not model.dual_coef_[:, 2].any() and model.intercept_[2] == pytest.approx(-1.0)


def test_a_class_that_costs_nothing_leaves_the_mean_of_a_centred_stack_too():
    costs, kernels = {0: 1.0, 1: 1.0, 2: 0.0}, [Linear(), Gaussian(2.0)]
    stack = np.stack([kernel(X_iris) for kernel in kernels], axis=2)
    options = {"center": True, "class_weight": costs, "tol": 1e-6, "loss": "squared_hinge"}
    given = MKLClassifier("precomputed", **options).fit(stack, y_iris)
    computed = MKLClassifier(kernels, **options).fit(X_iris, y_iris)
    np.testing.assert_allclose(given.decision_function(stack), computed.decision_function(X_iris), atol=1e-2)
    assert given.objective_ == pytest.approx(computed.objective_, rel=1e-5)


def test_a_certificate_of_few_samples_says_so():
    for n, few in ((4, True), (40, False)):
        X_few = np.arange(2.0 * n).reshape(n, 2) % 7
        model = MKLClassifier([Gaussian(1.0)]).fit(X_few, np.arange(n) % 2)
        assert (f"That is about {n} samples, which are too few" in model_of(model)[0].sentence()) == few
