"""Non-linear multiple kernel learning as scikit-learn estimators."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLRegressor, NonlinearMKLClassifier, NonlinearMKLRegressor
from manykernels.families import Products, gaussian_grid, rank_one, views
from manykernels.kernels import Callable, Gaussian, Linear, Power
from manykernels.penalties import L2Ball

rng = np.random.RandomState(0)
X = rng.randn(80, 4)
NUMBERS = X[:, 0] * X[:, 1] + 0.1 * rng.randn(80)
LABELS = np.where(NUMBERS > 0, "up", "down")
THREE = np.digitize(NUMBERS, [-0.4, 0.4])
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([NonlinearMKLClassifier(), NonlinearMKLRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        NonlinearMKLClassifier(KERNELS, loss="hinge", degree=3, mu0=0.5, center=True),
        NonlinearMKLRegressor(
            KERNELS, loss="epsilon_insensitive", degree=1, normalize="cosine", fit_intercept=False
        ),
    ]
)
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)


MODELS = [
    (NonlinearMKLRegressor(KERNELS, random_state=0), NUMBERS),
    (NonlinearMKLRegressor(KERNELS, degree=3, mu0=[1.0, 0.0, 0.2], center=True), NUMBERS),
    (NonlinearMKLRegressor(KERNELS, loss="epsilon_insensitive"), np.column_stack([NUMBERS, X[:, 2]])),
    (NonlinearMKLClassifier(KERNELS), LABELS),
    (NonlinearMKLClassifier(KERNELS, loss="hinge", C=10.0, normalize="cosine"), LABELS),
    (NonlinearMKLClassifier(KERNELS, loss="logistic", class_weight="balanced"), THREE),
]
each_model = pytest.mark.parametrize(("model", "y"), MODELS, ids=lambda p: type(p).__name__[9:12])


@each_model
def test_what_is_learned(model, y):
    """The contract of decisions, and the objective of the function that is returned."""
    model = clone(model).fit(X, y)
    assert isinstance(model.kernel_, Power) and model.kernel_.degree == model.degree
    new = np.random.RandomState(1).randn(13, 4)
    decide = model.predict if isinstance(model, NonlinearMKLRegressor) else model.decision_function
    for data in (X, new):
        expected = model.kernel_(data, model.X_fit_) @ model.dual_coef_ + model.intercept_
        np.testing.assert_allclose(decide(data), expected, atol=1e-9)
    mu, ball = model.weights_, L2Ball(model.mu0, model.radius)
    assert mu.shape == (3,) and np.isfinite(ball.value(mu))
    base = sum(w * kernel(X, X) for w, kernel in zip(mu, model.kernels_, strict=True))
    np.testing.assert_allclose(model.kernel_(X, X), base**model.degree, atol=1e-10)
    assert np.isnan(model.dual_gap_) and model.certified_ is False
    assert len(model.starts_["objective"]) == 5 and model.objective_ == min(model.starts_["objective"])
    worst = max(model.starts_["objective"])
    assert model.spread_ == pytest.approx((worst - model.objective_) / model.objective_)
    assert all(np.diff(model.history_["objective"]) < 0) and model.history_["residual"][-1] <= model.tol
    alpha, f = model.dual_coef_, decide(X)
    squares = np.sum(alpha * (model.kernel_(X, X) @ alpha))
    loss = model._loss()
    encoded, cost = model._model.target.encode(y, np.ones(len(X)))
    fitted = np.sum(model.C * cost[:, None] * loss.value(encoded, f.reshape(encoded.shape)))
    assert model.objective_ == pytest.approx(0.5 * squares + fitted, rel=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(decide(new), (getattr(again, decide.__name__))(new))
    assert set(model.view_weights_.values()) == set(mu.tolist())


def test_products_are_learned_that_a_sum_of_linear_kernels_cannot():
    """y = x₀x₁: (Σ μ_i x_i x'_i)² holds x₀x₁, and the other columns lose their weight."""
    model = NonlinearMKLRegressor(rank_one(), C=10.0, random_state=0).fit(X[:50], NUMBERS[:50])
    assert model.score(X[50:], NUMBERS[50:]) > 0.9
    assert model.weights_[:2].min() > 3 * model.weights_[2:].max()
    assert MKLRegressor(rank_one(), C=10.0).fit(X[:50], NUMBERS[:50]).score(X[50:], NUMBERS[50:]) < 0.3


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_degree_one_is_convex_learning_in_a_ball(loss):
    options = {"C": 2.0, "loss": loss, "tol": 1e-6}
    model = NonlinearMKLClassifier(KERNELS, degree=1, mu0=0.2, radius=0.5, **options).fit(X, LABELS)
    convex = MKLClassifier(KERNELS, norm=L2Ball(0.2, 0.5), **options).fit(X, LABELS)
    assert model.objective_ == pytest.approx(convex.objective_, rel=2e-6)
    np.testing.assert_allclose(model.weights_, convex.weights_, atol=5e-3)
    assert model.spread_ < 1e-6


def test_degree_one_regression_is_convex_learning_in_a_ball():
    Y = np.column_stack([NUMBERS, X[:, 2]]) + 100.0
    model = NonlinearMKLRegressor(KERNELS, degree=1, mu0=0.1, radius=2.0, C=5.0).fit(X, Y)
    convex = MKLRegressor(KERNELS, norm=L2Ball(0.1, 2.0), C=5.0, tol=1e-7).fit(X, Y)
    assert model.objective_ == pytest.approx(convex.objective_, rel=1e-5)
    np.testing.assert_allclose(model.predict(X), convex.predict(X), atol=1e-2)


def test_the_squared_loss_of_labels_is_regression_on_signs():
    signs = np.where(LABELS == "up", 1.0, -1.0)
    labels = NonlinearMKLClassifier(KERNELS, random_state=0).fit(X, LABELS)
    numbers = NonlinearMKLRegressor(KERNELS, random_state=0).fit(X, signs)
    assert labels.objective_ == pytest.approx(numbers.objective_, rel=1e-5)
    np.testing.assert_allclose(labels.decision_function(X), numbers.predict(X), atol=1e-2)


def test_a_constant_kernel_is_what_makes_a_power_inhomogeneous():
    """(μ₀ + μ₁⟨x, x'⟩)² holds linear functions, which no intercept makes up for: nothing is dropped."""
    y, one = X[:, 0] + X[:, 1], Callable(lambda A, B: np.ones((len(A), len(B))))
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        both = NonlinearMKLRegressor({"one": one, "line": Linear()}, C=100.0).fit(X, y)
    assert both.weights_.min() > 0.1 and both.score(X, y) > 0.99
    assert NonlinearMKLRegressor([Linear()], C=100.0).fit(X, y).score(X, y) < 0.9
    with pytest.warns(UserWarning, match="'one' is constant"):
        assert NonlinearMKLRegressor({"one": one, "line": Linear()}, degree=1).fit(X, y).weights_[0] == 0.0
    with pytest.warns(UserWarning, match="'nought' is zero"):
        nought = Callable(lambda A, B: np.zeros((len(A), len(B))))
        assert NonlinearMKLRegressor({"nought": nought, "line": Linear()}).fit(X, y).weights_[0] == 0.0


def test_stacks_views_and_repeated_samples():
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    given = NonlinearMKLClassifier("precomputed", loss="hinge", random_state=0).fit(stack, LABELS)
    objects = NonlinearMKLClassifier(KERNELS, loss="hinge", random_state=0).fit(X, LABELS)
    assert given.objective_ == pytest.approx(objects.objective_, rel=1e-5)
    np.testing.assert_allclose(given.decision_function(stack), objects.decision_function(X), atol=0.02)
    twice = NonlinearMKLRegressor(KERNELS, random_state=0).fit(np.tile(X, (2, 1)), np.tile(NUMBERS, 2))
    dearer = NonlinearMKLRegressor(KERNELS, C=2.0, random_state=0).fit(X, NUMBERS)
    np.testing.assert_allclose(twice.predict(X), dearer.predict(X), atol=1e-9)
    by_view = NonlinearMKLRegressor(views({"left": [0, 1], "right": [2, 3]})).fit(X, NUMBERS)
    assert list(by_view.view_weights_) == ["left", "right"]


def test_searches_and_starts():
    grid = {"degree": [1, 2], "kernels__1__width": [1.0, 2.0], "radius": [0.5, 2.0]}
    search = GridSearchCV(NonlinearMKLRegressor(KERNELS, n_starts=1), grid, cv=3, error_score="raise")
    assert search.fit(X, NUMBERS).best_score_ > 0.6
    model = NonlinearMKLRegressor(KERNELS, n_starts=3, warm_start=True, random_state=1).fit(X, NUMBERS)
    assert model.starts_["start"] == ["uniform", "random", "random"]
    first = model.objective_
    again = model.fit(X, NUMBERS)
    assert again.starts_["start"][0] == "given" and again.starts_["iterations"][0] == 0
    assert again.objective_ <= first * (1 + 1e-9)
    assert model.fit(X[:40], NUMBERS[:40]).starts_["start"][0] == "uniform"
    same = [NonlinearMKLRegressor(KERNELS, random_state=3).fit(X, NUMBERS) for _ in range(2)]
    assert same[0].starts_ == same[1].starts_


def test_says_when_it_stops_early(capsys, caplog):
    caplog.set_level("INFO", "manykernels")
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 iteration at a relative projected"):
        NonlinearMKLRegressor(KERNELS, max_iter=1, tol=1e-8, verbose=1).fit(X, NUMBERS)
    assert "residual" in capsys.readouterr().err
    assert "5 starts, objectives from" in caplog.text


def test_an_indefinite_kernel_is_named_whatever_the_degree():
    """Its square may well be positive semi-definite; its function is still no inner product."""
    bad = Callable(lambda A, B: np.tanh(A @ B.T - 1.0))
    negative = Callable(lambda A, B: -Gaussian(1.0)(A, B))
    some, y = X[:30], NUMBERS[:30]
    assert np.linalg.eigvalsh(negative(some))[0] < -1.0 < 0.0 < np.linalg.eigvalsh(negative(some) ** 2)[0]
    for degree in (1, 2, 4):
        for kernel in (bad, negative):
            model = NonlinearMKLRegressor({"line": Linear(), "odd": kernel}, degree=degree, normalize=None)
            with pytest.raises(ValueError, match="'odd' is not positive semi-definite"):
                model.fit(some, y)
    stack = np.stack([Linear()(X), np.tanh(X @ X.T)], axis=2)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        NonlinearMKLClassifier("precomputed").fit(stack, LABELS)


def test_there_are_no_contributions():
    model = NonlinearMKLRegressor([Linear()]).fit(X, NUMBERS)
    with pytest.raises(AttributeError, match=r"a power of a sum.*weights_"):
        model.contributions(X)
    assert not hasattr(model, "coef_") and not hasattr(model, "predict_proba")
    logistic = NonlinearMKLClassifier(KERNELS, loss="logistic", n_starts=1).fit(X, LABELS)
    np.testing.assert_allclose(logistic.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degree": 0}, "degree=0 was given"),
        ({"degree": 1.5}, "degree=1.5 was given"),
        ({"degree": True}, "degree=True was given"),
        ({"n_starts": 0}, "n_starts=0 was given"),
        ({"radius": -1.0}, "radius=-1.0 was given"),
        ({"radius": "big"}, "radius='big' was given"),
        ({"radius": 0.0}, "radius=0 was given with mu0=0"),
        ({"mu0": -0.1}, "mu0=-0.1 was given"),
        ({"mu0": [np.nan, 1.0, 1.0]}, "mu0=.* was given"),
        ({"mu0": "none"}, "mu0='none' was given"),
        ({"mu0": [1.0, 1.0]}, r"mu0 of shape \(2,\) was given.*or 3, one per kernel"),
        ({"C": 0.0}, "C=0.0 was given"),
        ({"kernels": Products()}, "more kernels than can be listed"),
        ({"loss": "hinge"}, "hinge' is a classification loss"),
        ({"normalize": None, "degree": 200, "radius": 1e3}, "too large for degree=200"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        NonlinearMKLRegressor(**{"kernels": KERNELS, **options}).fit(X, NUMBERS)


def test_a_classifier_refuses_other_regression_losses():
    with pytest.raises(ValueError, match="is a regression loss"):
        NonlinearMKLClassifier(KERNELS, loss="epsilon_insensitive").fit(X, LABELS)
    radius_zero = NonlinearMKLClassifier(gaussian_grid(0.5, 2.0, 3), mu0=1.0, radius=0.0).fit(X, LABELS)
    np.testing.assert_array_equal(radius_zero.weights_, np.ones(3))
