"""Convex localized learning (Lei et al. 2016): its optimum, its certificate, its estimators."""

import pickle

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.helpers import cvxpy_loss

from manykernels import LocalizedMKLClassifier, LocalizedMKLRegressor, MKLClassifier, MKLRegressor
from manykernels.families import Gaussians, Products, gaussian_grid, views
from manykernels.kernels import Callable, Gaussian, Linear
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared
from manykernels.penalties import BallProduct, ElasticNet

rng = np.random.RandomState(0)
X = rng.randn(50, 3)
LEFT = X[:, 0] < 0
NUMBERS = np.where(LEFT, X[:, 1], np.sin(4.0 * X[:, 2])) + 0.1 * rng.randn(50)
LABELS = np.where(NUMBERS > 0, "up", "down")
THREE = np.digitize(NUMBERS, [-0.5, 0.5])
KERNELS = [Linear(), Gaussian(0.7), Gaussian(3.0)]
GATES = rng.dirichlet(np.ones(2), 50)
HARD = np.column_stack([LEFT, ~LEFT]).astype(float)
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([LocalizedMKLClassifier(), LocalizedMKLRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        LocalizedMKLClassifier(gating="hard", loss="logistic"),
        LocalizedMKLClassifier(n_clusters=1, norm=1.0),
        LocalizedMKLRegressor(KERNELS, gating="kmeans", center=True, loss="epsilon_insensitive"),
        LocalizedMKLRegressor(gating="hard", normalize="cosine", fit_intercept=False),
        LocalizedMKLClassifier(gating="softmax"),
        LocalizedMKLClassifier(gating="sigmoid", loss="logistic"),
        LocalizedMKLRegressor(gating="softmax"),
    ]
)
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)


# -- the problem ------------------------------------------------------------------------------------
@pytest.mark.parametrize("gating", ["kernel-kmeans", "kmeans", "hard", np.ones((50, 1))], ids=str)
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_one_cluster_is_global_learning(gating, norm):
    options = {"norm": norm, "C": 3.0, "loss": "hinge"}
    local = LocalizedMKLClassifier(KERNELS, n_clusters=1, gating=gating, **options).fit(X, LABELS)
    whole = MKLClassifier(KERNELS, **options).fit(X, LABELS)
    np.testing.assert_array_equal(local.weights_, whole.weights_[None])
    np.testing.assert_array_equal(local.dual_coef_, whole.dual_coef_)
    assert (local.objective_, local.dual_gap_, local.n_iter_) == (
        whole.objective_,
        whole.dual_gap_,
        whole.n_iter_,
    )
    ones = np.ones((50, 1))
    np.testing.assert_allclose(local.decision_function(X, gates=ones), whole.decision_function(X), atol=1e-10)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 6.0])
def test_the_closed_form_of_proposition_5(p):
    """β_jm = ‖w_jm‖^{2/(p+1)} (Σ_k ‖w_jk‖^{2p/(p+1)})^{−1/p} minimises Σ ‖w_jm‖²/β_jm in every cluster."""
    norms = np.abs(np.random.RandomState(1).randn(2, 4)) + 0.1
    expected = norms ** (2 / (p + 1)) * np.sum(norms ** (2 * p / (p + 1)), axis=1, keepdims=True) ** (-1 / p)
    found = BallProduct(p, 2).closed_form(norms.ravel())
    np.testing.assert_allclose(found.reshape(2, 4), expected, rtol=1e-10)
    for row, best in zip(norms, expected, strict=True):

        def value(z, row=row):  # β = e^z/‖e^z‖_p runs over the border of the ball
            beta = np.exp(z - z.max())
            return float(np.sum(row**2 / beta) * np.linalg.norm(beta, p))

        numeric = minimize(value, np.zeros(4), method="BFGS", options={"gtol": 1e-10})
        assert np.sum(row**2 / best) == pytest.approx(numeric.fun, rel=1e-7)


def localized_optimum(loss, Y, C, gates, stack, p):
    """min of (P) by cvxpy: ½ Σ_j (Σ_m ‖w_jm‖^{2p/(p+1)})^{(p+1)/p} + C Σ ℓ, b shared by all clusters."""
    roots = [root(K) for K in stack]
    W = [[cp.Variable((L.shape[1], 1)) for L in roots] for _ in gates.T]
    parts = [
        cp.multiply(c[:, None], sum(L @ w for L, w in zip(roots, row, strict=True)))
        for c, row in zip(gates.T, W, strict=True)
    ]
    F = sum(parts) + np.ones((len(Y), 1)) @ cp.Variable((1, 1))
    norms = [cp.hstack([cp.norm(w, "fro") for w in row]) for row in W]
    size = sum(0.5 * cp.square(cp.pnorm(row, 2 * p / (p + 1))) for row in norms)
    task = cp.Problem(cp.Minimize(size + cvxpy_loss(loss, Y, np.full(Y.shape, C), F)))
    return optimal_value(task, 1e-9)


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared(), EpsilonInsensitive(0.1)], ids=repr)
@pytest.mark.parametrize("p", [1.0, 2.0])
@pytest.mark.parametrize("gates", [GATES, HARD], ids=["soft", "hard"])
def test_the_optimum_is_that_of_cvxpy(loss, p, gates):
    rows = np.arange(24)
    kind = LocalizedMKLClassifier if loss.task == "classification" else LocalizedMKLRegressor
    y = LABELS[rows] if loss.task == "classification" else NUMBERS[rows]
    options = {"gating": gates[rows], "norm": p, "C": 2.0, "loss": loss, "tol": 1e-6, "normalize": None}
    model = kind(KERNELS, **options).fit(X[rows], y)
    Y = np.where(y == "up", 1.0, -1.0) if loss.task == "classification" else y
    stack = [kernel(X[rows]) for kernel in KERNELS]
    optimum = localized_optimum(loss, Y[:, None], 2.0, gates[rows], stack, p)
    assert model.certified_ and 0.0 <= model.dual_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(optimum, rel=1e-5)
    assert np.all(model.weights_ >= 0) and np.all(np.linalg.norm(model.weights_, p, axis=1) <= 1 + 1e-9)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_hard_clusters_without_an_intercept_are_problems_of_their_own(loss):
    """Only b is shared; without it nothing of one cluster reaches another."""
    options = {"C": 2.0, "loss": loss, "fit_intercept": False, "normalize": None, "tol": 1e-7, "norm": 2.0}
    model = LocalizedMKLClassifier(KERNELS, gating=HARD, **options).fit(X, LABELS)
    alone = [MKLClassifier(KERNELS, **options).fit(X[part], LABELS[part]) for part in (LEFT, ~LEFT)]
    assert model.objective_ == pytest.approx(sum(one.objective_ for one in alone), rel=1e-6)
    for j, (part, one) in enumerate(zip((LEFT, ~LEFT), alone, strict=True)):
        np.testing.assert_allclose(model.weights_[j], one.weights_, atol=1e-3)
        np.testing.assert_allclose(
            model.decision_function(X[part], gates=HARD[part]), one.decision_function(X[part]), atol=1e-3
        )
    shared = LocalizedMKLClassifier(KERNELS, gating=HARD, **options | {"fit_intercept": True}).fit(X, LABELS)
    apart = [
        MKLClassifier(KERNELS, **options | {"fit_intercept": True}).fit(X[part], LABELS[part])
        for part in (LEFT, ~LEFT)
    ]
    assert shared.objective_ > sum(one.objective_ for one in apart) * (1 + 1e-6)  # a b for each is freer


@pytest.mark.parametrize("gating", ["kernel-kmeans", "kmeans", "hard"])
@pytest.mark.parametrize("norm", [1.0, 4 / 3, 2.0, np.inf])
def test_the_gap_is_certified(gating, norm):
    for n_clusters in (2, 4):
        options = {"n_clusters": n_clusters, "gating": gating, "norm": norm, "C": 10.0, "random_state": 0}
        model = LocalizedMKLClassifier(KERNELS, **options).fit(X, LABELS)
        assert model.certified_ and 0.0 <= model.dual_gap_ <= 1e-3
        assert model.weights_.shape == (n_clusters, 3)
        worst = np.linalg.norm(model.weights_, norm, axis=1)
        assert np.all(worst <= 1 + 1e-9)


def test_uniform_gates_are_a_global_problem_of_another_scale():
    """c_j = 1/2 twice: the best of both clusters is the same w, f = w with ‖w‖²/2 in all, so C is halved."""
    even = LocalizedMKLClassifier(KERNELS, gating=np.full((50, 2), 0.5), C=2.0, tol=1e-6).fit(X, LABELS)
    whole = MKLClassifier(KERNELS, norm=2.0, C=1.0, tol=1e-6).fit(X, LABELS)
    np.testing.assert_allclose(even.weights_, np.tile(whole.weights_, (2, 1)), atol=1e-3)
    assert even.objective_ == pytest.approx(2.0 * whole.objective_, rel=1e-5)


# -- the estimators ---------------------------------------------------------------------------------
MODELS = [
    (LocalizedMKLClassifier(KERNELS, random_state=0), LABELS),
    (LocalizedMKLClassifier(KERNELS, gating="hard", center=True, n_clusters=3), LABELS),
    (LocalizedMKLClassifier(KERNELS, gating="kmeans", loss="logistic", temperature=1.0), THREE),
    (LocalizedMKLRegressor(KERNELS, normalize="cosine", C=10.0), NUMBERS),
    (LocalizedMKLRegressor(KERNELS, gating="kmeans"), np.column_stack([NUMBERS, X[:, 2]])),
    (LocalizedMKLClassifier(KERNELS, gating="softmax"), THREE),
    (LocalizedMKLRegressor(KERNELS, gating="sigmoid", center=True), np.column_stack([NUMBERS, X[:, 2]])),
]
each_model = pytest.mark.parametrize(("model", "y"), MODELS)


@each_model
def test_decisions_are_those_of_the_learned_kernel(model, y):
    model = clone(model).fit(X, y)
    new = np.random.RandomState(1).randn(11, 3)
    decide = model.predict if isinstance(model, LocalizedMKLRegressor) else model.decision_function
    for data in (model.X_fit_, X.copy(), new):
        expected = model.kernel_(data, model.X_fit_) @ model.dual_coef_ + model.intercept_
        np.testing.assert_allclose(decide(data), expected, atol=1e-8)
    left, right = model.gate(new), model.gates_
    K = sum(
        np.outer(left[:, j], right[:, j]) * model.weights_[j, m] * kernel(new, X)
        for j in range(len(model.weights_))
        for m, kernel in enumerate(model.kernels_)
    )
    np.testing.assert_allclose(model.kernel_(new, model.X_fit_), K, atol=1e-9)
    np.testing.assert_allclose(model.kernel_.diag(new), np.diag(model.kernel_(new)), atol=1e-9)
    parts = model.contributions(new)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, decide(new), atol=1e-8)
    assert parts.shape[1] == model.active_.size
    with pytest.raises(AttributeError, match="its weights change with x"):
        _ = model.coef_
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(getattr(again, decide.__name__)(new), decide(new))
    np.testing.assert_allclose(
        again.kernel_(new, again.X_fit_) @ again.dual_coef_ + again.intercept_, decide(new), atol=1e-8
    )


@pytest.mark.parametrize("gating", ["kernel-kmeans", "hard"])
def test_stacks(gating):
    given = LocalizedMKLClassifier("precomputed", gating=gating, tol=1e-6, random_state=0).fit(STACK, LABELS)
    gates = given.gates_  # not learned anew, since k-means has many optima here and draws would decide
    objects = LocalizedMKLClassifier(KERNELS, gating=gates, tol=1e-6).fit(X, LABELS)
    expected = given.kernel_(STACK, given.X_fit_) @ given.dual_coef_ + given.intercept_
    np.testing.assert_allclose(given.decision_function(STACK), expected, atol=1e-9)
    assert given.objective_ == pytest.approx(objects.objective_, rel=1e-5)
    f = objects.decision_function(X, gates=gates)
    np.testing.assert_allclose(given.decision_function(STACK), f, atol=0.02)
    scores = cross_val_score(LocalizedMKLClassifier("precomputed", gating=gating), STACK, LABELS, cv=3)
    assert scores.shape == (3,)


def test_several_classes_and_views():
    model = LocalizedMKLClassifier(views({"left": [0, 1], "right": [2]}), norm=1.0, C=5.0).fit(X, THREE)
    assert model.decision_function(X).shape == (50, 3) and model.dual_coef_.shape == (50, 3)
    assert set(model.predict(X)) <= {0, 1, 2} and model.score(X, THREE) > 0.6
    assert model.contributions(X, by="view").shape == (50, 2, 3)
    assert {view: np.shape(w) for view, w in model.view_weights_.items()} == {"left": (2,), "right": (2,)}


def test_starting_from_the_last_fit():
    options = {"warm_start": True, "random_state": 0, "tol": 1e-5}
    model = LocalizedMKLClassifier(KERNELS, **options).fit(X, LABELS)
    first, steps = model.objective_, model.n_iter_
    assert model.fit(X, LABELS).n_iter_ < steps
    assert model.objective_ == pytest.approx(first, rel=2e-5)
    for change in ({"n_clusters": 3}, {"n_clusters": 1}, {"kernels": KERNELS[:2]}):
        model.set_params(**change).fit(X, LABELS)
        assert model.dual_gap_ <= 1e-5
    assert model.fit(X[:40], LABELS[:40]).dual_gap_ <= 1e-5


def test_searches_and_pipelines():
    grid = {"n_clusters": [1, 2], "temperature": [0.1, 1.0], "kernels__1__width": [0.5, 1.0]}
    search = GridSearchCV(LocalizedMKLRegressor(KERNELS, random_state=0), grid, cv=3, error_score="raise")
    assert len(search.fit(X, NUMBERS).cv_results_["params"]) == 8
    chain = make_pipeline(StandardScaler(), LocalizedMKLClassifier(KERNELS))
    assert chain.fit(X, LABELS).score(X, LABELS) > 0.6


def test_weights_differ_where_the_right_kernel_does():
    """Linear on the left, wiggly on the right, and nothing to choose between them for all."""
    Z = np.random.RandomState(2).uniform(-1, 1, (200, 1)) + np.repeat([[-2.0], [2.0]], 100, axis=0)
    y = np.where(Z[:, 0] < 0, Z[:, 0], np.sin(12.0 * Z[:, 0]))
    kernels = [Linear(), Gaussian(0.2)]
    options = {"C": 10.0, "center": True, "norm": 1.0}
    model = LocalizedMKLRegressor(kernels, gating="hard", random_state=0, **options).fit(Z, y)
    left, right = model.weights_[model.gate([[-2.0], [2.0]]).argmax(axis=1)]
    assert left[0] > 0.6 and right[1] > 0.9
    assert 0.1 < MKLRegressor(kernels, **options).fit(Z, y).weights_[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": Products()}, "more kernels than can be listed, and every cluster"),
        ({"kernels": Gaussians(0.1, 1.0)}, "more kernels than can be listed"),
        ({"norm": ElasticNet(0.5)}, r"norm=ElasticNet.* was given; expected a number p ≥ 1"),
        ({"norm": 0.5}, "0.5"),
        ({"C": -1.0}, "C=-1.0 was given"),
        ({"loss": "epsilon_insensitive"}, "is a regression loss"),
        (
            {"kernels": {"odd": Callable(lambda A, B: np.tanh(A @ B.T - 1.0))}},
            "not positive semi-definite",
        ),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        LocalizedMKLClassifier(**{"kernels": KERNELS, **options}).fit(X, LABELS)


@pytest.mark.parametrize("gating", ["kernel-kmeans", "kmeans", "hard"])
def test_a_weight_is_a_repetition(gating):
    weight = np.random.RandomState(0).randint(0, 3, len(X))
    options = {"gating": gating, "random_state": 0, "tol": 1e-8}
    kernels = gaussian_grid(0.5, 2.0, 2)
    weighted = LocalizedMKLClassifier(kernels, **options).fit(X, LABELS, weight)
    repeated = np.repeat(np.arange(len(X)), weight)
    again = LocalizedMKLClassifier(kernels, **options).fit(X[repeated], LABELS[repeated])
    np.testing.assert_allclose(weighted.decision_function(X), again.decision_function(X), atol=1e-8)
    assert len(weighted.gates_) == len(X) and weighted.dual_gap_ <= 1e-8
