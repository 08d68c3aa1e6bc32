"""The margin bound: the rewrite in raw kernels, the class it needs, what it promises and what it refuses."""

from dataclasses import replace
from math import log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from manykernels import MKLClassifier, MKLRegressor
from manykernels.bounds import margin_bound
from manykernels.bounds._raw import raw_function as raw_functions
from manykernels.bounds.rademacher import ETA0
from manykernels.estimators import (
    AlignMKLClassifier,
    LocalizedMKLClassifier,
    NonlinearMKLClassifier,
    model_of,
)
from manykernels.families import Auto, Family, per_feature, rank_one, views
from manykernels.kernels import Callable, Gaussian, Linear, Polynomial
from manykernels.penalties import L2Ball, LpBall

KERNELS = [Gaussian(1.0), Gaussian(3.0), Linear(), Polynomial(2)]


def raw_function(model, X):
    """That of one output: what it says of new samples, of X, its norms and its constant."""
    function, values, norms = raw_functions(model, X)
    return SimpleNamespace(of=function, intercept=function.intercept[0]), values[:, 0], norms[:, 0]


def data(seed=0, n=40, offset=1.0):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3) + offset
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.randn(n) > 1.0, "yes", "no")


def stack_of(X, Z=None):
    return np.stack([kernel(X, Z) for kernel in KERNELS], axis=2)


# -- f in raw kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize("normalize", [None, "trace", "max", "frobenius"])
@pytest.mark.parametrize("center", [False, True])
def test_raw_kernels_give_the_same_function(center, normalize, norm, fit_intercept):
    X, y = data()
    X = np.concatenate([X, X[:5]])  # repeated rows are merged in the fit
    y = np.concatenate([y, y[:5]])
    options = {"center": center, "normalize": normalize, "norm": norm, "fit_intercept": fit_intercept}
    model = MKLClassifier(KERNELS, **options).fit(X, y)
    function, values, norms = raw_function(model_of(model)[0], model.X_fit_)
    new = np.random.RandomState(1).randn(20, 3)
    assert values == pytest.approx(model.decision_function(X), abs=1e-10)
    assert function.of(new)[:, 0] == pytest.approx(model.decision_function(new), abs=1e-10)
    # ‖f_m‖ from its definition: α' = α − w̄ Σα on the rows as given
    alpha = model.dual_coef_ - center * model.dual_coef_.mean()
    for a, m in zip(norms, model.active_, strict=True):
        theta_s = model.weights_[m] * model.kernels_[m].scale_
        assert a == pytest.approx(theta_s * sqrt(alpha @ KERNELS[m](X) @ alpha), rel=1e-8)


@pytest.mark.parametrize("center", [False, True])
def test_a_stack_gives_the_same_function(center):
    X, y = data()
    given = MKLClassifier("precomputed", center=center, fit_intercept=False, tol=1e-8)
    given.fit(stack_of(X), y)
    function, values, norms = raw_function(model_of(given)[0], stack_of(X))
    new = stack_of(np.random.RandomState(1).randn(20, 3), X)
    assert values == pytest.approx(given.decision_function(stack_of(X)), abs=1e-10)
    assert function.of(new)[:, 0] == pytest.approx(given.decision_function(new), abs=1e-10)
    own = MKLClassifier(KERNELS, center=center, fit_intercept=False, tol=1e-8).fit(X, y)
    assert norms == pytest.approx(raw_function(model_of(own)[0], X)[2], rel=1e-3)
    a, b = margin_bound(given, y, X=stack_of(X), margin=0.5), margin_bound(own, y, margin=0.5)
    assert a.value == pytest.approx(b.value, rel=1e-3)
    assert any("matrices" in line for line in a.assumptions)
    assert not any("matrices" in line for line in b.assumptions)


def test_weights_of_samples_move_the_centre():
    X, y = data()
    weight = np.random.RandomState(2).uniform(0, 3, len(X))
    weight[:3] = 0
    model = MKLClassifier(KERNELS, center=True, fit_intercept=False).fit(X, y, sample_weight=weight)
    function, values, _ = raw_function(model_of(model)[0], model.X_fit_)
    assert values == pytest.approx(model.decision_function(X), abs=1e-10)
    assert function.of(X + 1)[:, 0] == pytest.approx(model.decision_function(X + 1), abs=1e-10)
    assert margin_bound(model, y).n == len(X)


@pytest.mark.parametrize("center", [False, True])
def test_the_norm_of_a_linear_function_is_that_of_its_coefficients(center):
    X, y = data()
    model = MKLClassifier(Linear(), center=center, fit_intercept=False).fit(X, y)
    function, _, norms = raw_function(model_of(model)[0], X)
    at_zero = model.decision_function(np.zeros((1, 3)))
    w = model.decision_function(np.eye(3)) - at_zero
    assert norms == pytest.approx([np.linalg.norm(w)], rel=1e-8)
    assert function.intercept == pytest.approx(at_zero[0], abs=1e-12)


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, np.inf])
def test_the_scaled_function_is_in_the_class(norm):
    """There is μ in the ball with Σ a²/μ = ‖f‖², so that f/‖f‖ = ⟨w, φ_μ⟩ with ‖w‖ = 1; none has less."""
    X, y = data()
    model = MKLClassifier(KERNELS, norm=norm, center=True).fit(X, y)
    function, _, norms = raw_function(model_of(model)[0], X)
    a = np.append(norms, abs(function.intercept))
    found = margin_bound(model, y).function_norm
    mu = LpBall(norm).closed_form(a)
    assert np.linalg.norm(mu, norm) == pytest.approx(1.0)
    used = a > 0
    assert np.sum(a[used] ** 2 / mu[used]) == pytest.approx(found**2, rel=1e-8)
    for seed in range(20):
        other = np.random.RandomState(seed).uniform(0.1, 1, a.size)
        assert np.sum(a**2 / (other / np.linalg.norm(other, norm))) >= found**2 * (1 - 1e-9)


@pytest.mark.parametrize("center", [False, True])
def test_two_stage_learners_have_the_bound_too(center):
    X, y = data(n=60)
    model = AlignMKLClassifier(KERNELS, center=center).fit(X, y)
    function, values, _ = raw_function(model_of(model)[0], model.X_fit_)
    assert values == pytest.approx(model.decision_function(X), abs=1e-10)
    assert function.of(X + 1)[:, 0] == pytest.approx(model.decision_function(X + 1), abs=1e-10)
    found = margin_bound(model, y, margin=0.5)
    assert found.guaranteed and found.n_kernels == 5
    scale = found.function_norm * 0.5
    loss = np.clip(1 - np.where(y == "yes", 1, -1) * model.decision_function(X) / scale, 0, 1)
    assert found.margin_loss == pytest.approx(loss.mean())
    three = AlignMKLClassifier(KERNELS).fit(X, np.arange(60) % 3)  # machines between pairs of classes
    with pytest.raises(ValueError, match="machines that share a kernel"):
        margin_bound(three, np.arange(60) % 3)
    learner = OneVsRestClassifier(SVC(kernel="precomputed"))
    with pytest.raises(ValueError, match="linear in the kernels"):
        margin_bound(AlignMKLClassifier(KERNELS, estimator=learner).fit(X, y), y)


# -- the bound -----------------------------------------------------------------------------------------


def test_the_terms_of_the_bound():
    """Cor. 2.2 from its definition, for norm=2 and unit diagonals."""
    X, y = data(n=50)
    kernels = [Gaussian(1.0), Gaussian(2.0)]
    model = MKLClassifier(kernels, norm=2).fit(X, y)
    found = margin_bound(model, y, margin=0.3, delta=0.1)
    h = np.where(y == "yes", 1, -1) * model.decision_function(X) / found.function_norm
    assert found.margin_loss == pytest.approx(np.mean(np.minimum(1, np.maximum(0, 1 - h / 0.3))))
    assert found.complexity == pytest.approx(2 / 0.3 * sqrt(ETA0 * 2 * 50 * sqrt(3)) / 50)
    assert found.confidence == pytest.approx(3 * sqrt(log(2 / 0.1) / 100))
    assert found.value == pytest.approx(found.margin_loss + found.complexity + found.confidence)
    assert found.guaranteed and found.caveat == "" and found.n_kernels == 3
    assert found.vacuous == (found.value >= 1)
    assert any("margin was" in line for line in found.assumptions)
    wider = margin_bound(model, y, margin=0.3, delta=0.1, intercept_scale=3.0)
    assert wider.function_norm < found.function_norm and wider.complexity > found.complexity
    assert margin_bound(model, y, margin=0.3, sharp=True).complexity < found.complexity
    assert "margin_loss=" in repr(found) and "assumptions=(" in repr(found)


def test_the_best_margin_pays_for_the_choice():
    X, y = data(n=200)
    model = MKLClassifier(KERNELS[:2]).fit(X, y)
    best = margin_bound(model, y, delta=0.05)
    place = int(abs(2 * np.log2(best.margin))) - (best.margin < 1)
    share = 0.05 / ((place + 1) * (place + 2))
    assert margin_bound(model, y, margin=best.margin, delta=share).value == pytest.approx(best.value)
    assert margin_bound(model, y, margin=best.margin, delta=0.05).value < best.value
    for exponent in range(-4, 5):
        place = abs(2 * exponent) - (exponent < 0)
        share = 0.05 / ((place + 1) * (place + 2))
        assert best.value <= margin_bound(model, y, margin=2.0**exponent, delta=share).value + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("flips", [0.1, 0.5])
def test_the_error_is_below_the_bound(flips):
    """A thousand points with labels that flip, so the error is known; at 0.5 it is ½ whatever f is.

    There a fit to the training labels looks good on them, and margin loss and confidence without the
    complexity would be below ½. The bound may fail in a share δ of the samples.
    """
    atoms = np.random.RandomState(0).randn(1000, 4)
    signs = np.where(atoms[:, 0] > 0, 1, -1)
    n, fails, without = 110 if flips == 0.5 else 60, 0, 0
    for seed in range(200):
        rng = np.random.RandomState(seed)
        which = rng.randint(1000, size=n)
        y = signs[which] * np.where(rng.rand(n) < flips, -1, 1)
        model = MKLClassifier([Gaussian(0.5), Gaussian(1.0)], C=10.0, tol=0.1).fit(atoms[which], y)
        wrong = np.sign(model.decision_function(atoms)) != signs
        error = np.mean(np.where(wrong, 1 - flips, flips))
        found = margin_bound(model, y, margin=0.05, delta=0.2)
        fails += error > found.value
        without += error > found.margin_loss + found.confidence
    assert fails <= 0.2 * 200
    assert flips < 0.5 or without > 0.2 * 200


def test_a_large_easy_sample_gets_a_bound_that_says_something():
    rng = np.random.RandomState(0)
    y = np.where(rng.rand(3000) < 0.5, 1, -1)
    X = y[:, None] * np.array([1.0, 0.0]) + 0.05 * rng.randn(3000, 2)
    found = margin_bound(MKLClassifier([Linear(), Gaussian(2.0)], fit_intercept=False).fit(X, y), y)
    assert not found.vacuous and 0 < found.value < 0.5


def test_a_function_that_is_zero_has_no_margin():
    X, y = data()
    model = MKLClassifier(KERNELS, fit_intercept=False).fit(X, y)
    model._model = replace(model._model, dual=np.zeros_like(model._model.dual))
    found = margin_bound(model, y)
    assert found.function_norm == 0 and found.margin_loss == 1 and found.vacuous


def test_the_cosine_of_an_uncentred_kernel_is_fixed_in_advance():
    X, y = data()
    model = MKLClassifier(KERNELS, normalize="cosine").fit(X, y)
    _, values, _ = raw_function(model_of(model)[0], X)
    assert values == pytest.approx(model.decision_function(X), abs=1e-10)
    assert margin_bound(model, y, margin=1.0).guaranteed


# -- refusals ------------------------------------------------------------------------------------------


class Own(Family):
    def resolve(self, X, sample_weight=None, feature_names=None):
        return {"own": Gaussian(float(np.std(X)))}


@pytest.mark.parametrize(
    "kernels",
    [
        "auto",
        Auto(),
        [Gaussian(9.0), "auto"],
        {"a": Auto(), "b": Gaussian(9.0)},
        views({"first": [0, 1]}),
        Own(),
    ],
    ids=["auto", "Auto", "list", "dict", "views", "own"],
)
def test_kernels_chosen_from_the_sample_are_no_guarantee(kernels):
    X, y = data()
    model = MKLClassifier(kernels).fit(X, y)
    with pytest.raises(ValueError, match="accept_data_dependent=True"):
        margin_bound(model, y)
    found = margin_bound(model, y, accept_data_dependent=True)
    assert not found.guaranteed and "training samples" in found.caveat


@pytest.mark.parametrize(
    "kernels", [per_feature((1.0,), (1,)), rank_one(), views({"first": ([0, 1], Gaussian(1.0))}), Linear()]
)
def test_kernels_that_are_fixed_are_accepted(kernels):
    X, y = data()
    assert margin_bound(MKLClassifier(kernels).fit(X, y), y, accept_data_dependent=True).guaranteed


def test_functions_of_the_user_are_trusted_and_that_is_said():
    X, y = data()
    model = MKLClassifier(Callable(lambda A, B: A @ B.T)).fit(X, y)
    assert any("given functions" in line for line in margin_bound(model, y).assumptions)


@pytest.fixture(scope="module")
def fitted():
    X, y = data()
    return SimpleNamespace(X=X, y=y, model=MKLClassifier(KERNELS).fit(X, y))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delta": 0.0}, "delta=0.0"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"delta": "0.1"}, "delta='0.1'"),
        ({"margin": 0.0}, "margin=0.0"),
        ({"margin": -1.0}, "margin=-1.0"),
        ({"margin": np.inf}, "margin=inf"),
        ({"intercept_scale": 0.0}, "intercept_scale=0.0"),
        ({"norm": 1.7}, r"1.5 \(r = 3\) or 2 \(r = 2\)"),
        ({"norm": 0.5}, "norm=0.5"),
        ({"X": np.eye(40)}, "Leave it out"),
        ({"y": np.array(["yes", "no"])}, "y of shape"),
        ({"y": np.array(["maybe"] * 40)}, "maybe"),
    ],
)
def test_bad_options(fitted, options, message):
    with pytest.raises(ValueError, match=message):
        margin_bound(fitted.model, **{"y": fitted.y, **options})


def test_estimators_that_have_no_such_bound(fitted):
    X, y = fitted.X, fitted.y
    with pytest.raises(ValueError, match="MKLRegressor was given"):
        margin_bound(MKLRegressor(KERNELS).fit(X, X[:, 0]), X[:, 0])
    with pytest.raises(ValueError, match="LogisticRegression was given"):
        margin_bound(LogisticRegression().fit(X, y), y)
    with pytest.raises(NotFittedError):
        margin_bound(MKLClassifier(KERNELS), y)
    for other in (NonlinearMKLClassifier, LocalizedMKLClassifier):  # no sums of functions of the kernels
        with pytest.raises(ValueError, match="linear in the kernels"):
            margin_bound(other(KERNELS, random_state=0).fit(X, y), y)
    with pytest.raises(ValueError, match="cosine"):
        margin_bound(MKLClassifier(KERNELS, normalize="cosine", center=True).fit(X, y), y)
    with pytest.raises(ValueError, match="whole"):
        margin_bound(MKLClassifier(KERNELS, norm=1.2501).fit(X, y), y)
    model = MKLClassifier(KERNELS, norm=L2Ball(0.1, 1.0)).fit(X, y)
    with pytest.raises(ValueError, match="norm=2"):
        margin_bound(model, y)
    assert margin_bound(model, y, norm=2).guaranteed
    model = MKLClassifier("precomputed").fit(stack_of(X), y)
    with pytest.raises(ValueError, match="expected the stack"):
        margin_bound(model, y)
    with pytest.raises(ValueError, match="expected the stack"):
        margin_bound(model, y, X=stack_of(X)[:-1])
    model = MKLClassifier(KERNELS).fit(X, y)
    model.approx = "nystroem"
    with pytest.raises(ValueError, match="approx=None"):
        margin_bound(model, y)
