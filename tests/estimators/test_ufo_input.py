"""What UFO-MKL says of input that it cannot use, and what it does where nothing is left to learn."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from manykernels import UFOMKLClassifier, UFOMKLRegressor
from manykernels.approx import RandomFeatures
from manykernels.families import Gaussians, Products, gaussian_grid, per_feature
from manykernels.fitting.targets import signs
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns
from manykernels.losses import MulticlassHinge, OrdinalHinge
from manykernels.losses.structured import PerScore

rng = np.random.RandomState(0)
X = rng.randn(40, 3)
TWO, THREE = (X[:, 0] > 0.4).astype(int), np.digitize(X[:, 0], [-1.2, 0.6])
NUMBERS = X[:, 0] + X[:, 1] ** 2
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lam": 0.0}, r"lam=0.0 was given; expected a positive"),
        ({"lam": np.nan}, r"lam=nan .*positive finite"),
        ({"lam": "auto"}, r"lam='auto' .*positive finite"),
        ({"alpha": -0.1}, r"alpha=-0.1 .*finite number ≥ 0"),
        ({"alpha": np.inf}, r"alpha=inf .*finite number ≥ 0"),
        ({"epochs": 0}, r"epochs=0 .*at least 1"),
        ({"epochs": 2.5}, r"epochs=2.5 .*whole number"),
        ({"average": 1}, r"average=1 .*True or False"),
        ({"shuffle": "no"}, r"shuffle='no' .*True or False"),
        ({"warm_start": None}, r"warm_start=None .*True or False"),
        ({"normalize": "l2"}, r"normalize='l2' .*'max'"),
        ({"n_jobs": 0}, r"n_jobs=0"),
        ({"memory_limit": "much"}, r"memory_limit='much'.*'2GB'"),
        ({"kernels": Gaussians(0.1, 10.0)}, r"Gaussians.* than can be listed.*gaussian_grid"),
        ({"kernels": Products()}, r"Products.* than can be listed"),
        ({"approx": "rff"}, r"approx='rff' is unknown; expected None .*'features'"),
        ({"approx": "features"}, r"Gaussian\(width=1\) has no finite feature map.*RandomFeatures"),
        ({"approx": RandomFeatures(0)}, r"n_components=0"),
    ],
)
def test_bad_parameters(options, words):
    for kind, y in ((UFOMKLClassifier, TWO), (UFOMKLRegressor, NUMBERS)):
        with pytest.raises(ValueError, match=words):
            kind(**{"kernels": KERNELS, **options}).fit(X, y)
        first = {"classes": [0, 1]} if kind is UFOMKLClassifier else {}
        if "memory_limit" not in options:  # a stream stores nothing
            with pytest.raises(ValueError, match=words):
                kind(**{"kernels": KERNELS, **options}).partial_fit(X, y, **first)


@pytest.mark.parametrize(
    ("kind", "loss", "error", "words"),
    [
        (UFOMKLClassifier, "squared", ValueError, "is a regression loss; expected a classification loss"),
        (UFOMKLClassifier, "hingee", ValueError, "'hingee' is unknown.*'hinge'.*'multiclass_hinge'"),
        (UFOMKLClassifier, MulticlassHinge, TypeError, r"is a class; give an object: .*MulticlassHinge\(\)"),
        (UFOMKLClassifier, 3, TypeError, "loss=3 of type int"),
        (UFOMKLRegressor, "hinge", ValueError, "is a classification loss; expected a regression loss"),
        (UFOMKLRegressor, OrdinalHinge(), TypeError, "OrdinalHinge.*expected a regression loss"),
    ],
)
def test_losses_of_the_wrong_kind(kind, loss, error, words):
    with pytest.raises(error, match=words):
        kind(KERNELS, loss=loss).fit(X, TWO)


def test_approximations_of_the_wrong_kind():
    with pytest.raises(TypeError, match=r"approx=RandomFeatures is a class.*RandomFeatures\(\)"):
        UFOMKLClassifier(KERNELS, approx=RandomFeatures).fit(X, TWO)
    with pytest.raises(TypeError, match="approx=7 of type int"):
        UFOMKLClassifier(KERNELS, approx=7).fit(X, TWO)
    with pytest.raises(ValueError, match=r"approx=RandomFeatures.*with a stack.*approx=None"):
        UFOMKLClassifier("precomputed", approx=RandomFeatures(20)).fit(STACK, TWO)


# -- few kernels, large kernels -------------------------------------------------------------------------
@pytest.mark.parametrize("F", [1, 2])
def test_few_kernels(F):
    with pytest.warns(UserWarning, match=rf"{F} kernels? (was|were) given: .*F ≥ 3, so q = 2 is taken"):
        model = UFOMKLClassifier(KERNELS[1 : 1 + F], fit_intercept=False, epochs=5).fit(X, TWO)
    T = model.t_
    assert model.bound_ == pytest.approx(F * (1 + np.log(T)) / (1e-3 * T))  # q F^{2/q}/2 = F
    assert model.score(X, TWO) > 0.8  # the majority has 0.6; 0.9 and more in 200 orders of the stream


@pytest.mark.parametrize("normalize", [None, "trace"])
def test_large_kernels_break_the_bound(normalize):
    wide = [Linear(), Gaussian(1.0), Gaussian(2.0)]
    model = UFOMKLClassifier(wide, normalize=normalize, epochs=1)
    with pytest.warns(UserWarning, match=r"'Linear' has k\(x, x\) up to .*normalize='max'"):
        model.fit(X, TWO)
    with pytest.warns(UserWarning, match=r"up to .*e\+06.*normalize='max'"):
        model.partial_fit(1e3 * X[:5], TWO[:5])
    with pytest.warns(UserWarning, match="normalize='max'"):
        UFOMKLClassifier("precomputed", normalize=normalize).fit(STACK, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        UFOMKLClassifier(wide, epochs=1).fit(X, TWO)
        UFOMKLClassifier(wide[1:] * 2, normalize=normalize, epochs=1).fit(X, TWO)


def test_kernels_that_are_none():
    def negative(A, B):
        return -np.asarray(A) @ np.asarray(B).T

    kernels = {"bad": Callable(negative), "g": Gaussian(1.0), "h": Gaussian(2.0)}
    with pytest.raises(ValueError, match="kernel 'bad' is not positive semi-definite"):
        UFOMKLClassifier(kernels, normalize=None).fit(X, TWO)

    def broken(A, B):
        return np.full((len(A), len(B)), np.nan)

    for start in ("fit", "partial_fit"):
        model = UFOMKLRegressor({**kernels, "bad": Callable(broken)})
        with pytest.raises(ValueError, match="kernel 'bad' is not finite"):
            getattr(model, start)(X, NUMBERS)


# -- nothing left -----------------------------------------------------------------------------------------
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("loss", ["hinge", "multiclass_hinge", "logistic", "squared_hinge", OrdinalHinge()])
@pytest.mark.parametrize("form", [{}, {"average": True}, {"approx": RandomFeatures(20)}], ids=repr)
def test_thresholds_that_leave_nothing(y, loss, form):
    majority = np.bincount(y).argmax()
    model = UFOMKLClassifier(KERNELS, loss=loss, alpha=1e3, epochs=2, **form)
    with pytest.warns(
        UserWarning, match=r"alpha=1000.0 leaves no kernel any weight after 80 steps.*Lower alpha"
    ):
        model.fit(X, y)
    np.testing.assert_array_equal(model.predict(X), majority)
    assert model.weights_.tolist() == [0.0] * 3 and model.active_.size == 0
    assert model.contributions(X).shape[:2] == (40, 0)
    f = model.decision_function(X)
    np.testing.assert_allclose(f, np.broadcast_to(model.intercept_, f.shape))
    inner = model._state.loss
    y_of_loss = signs(y, y.max() + 1) if isinstance(inner, PerScore) else y
    at_zero = inner.value(y_of_loss, np.zeros((40, model._state.expansion.outputs))).mean()
    assert model.objective_ == pytest.approx(at_zero)  # of w = 0, not of the majority
    assert model.objective(X, y) == pytest.approx(at_zero)
    streamed = UFOMKLClassifier(KERNELS, loss=loss, alpha=1e3, **form)
    for lo in (0, 20):
        with pytest.warns(UserWarning, match=f"after {lo + 20} steps"):
            streamed.partial_fit(X[lo : lo + 20], y[lo : lo + 20], classes=np.unique(y))
    np.testing.assert_array_equal(streamed.predict(X), majority)


def test_measuring_elsewhere_does_not_change_the_majority():
    with pytest.warns(UserWarning, match="leaves no kernel"):
        model = UFOMKLClassifier(KERNELS, alpha=1e3).partial_fit(X, TWO, classes=[0, 1])
        model.objective(np.repeat(X, 5, axis=0), np.ones(200, dtype=int))
        model.partial_fit(X[:1], TWO[:1])
    np.testing.assert_array_equal(model.predict(X), np.bincount(TWO).argmax())


def test_regression_without_kernels_predicts_the_mean():
    with pytest.warns(UserWarning, match="leaves no kernel"):
        model = UFOMKLRegressor(KERNELS, alpha=1e3).fit(X, NUMBERS)
    np.testing.assert_allclose(model.predict(X), NUMBERS.mean())


# -- streams ------------------------------------------------------------------------------------------------
def test_classes_of_a_stream():
    model = UFOMKLClassifier(KERNELS)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, TWO)
    with pytest.raises(ValueError, match=r"classes=\[1\] was given: expected at least two"):
        model.partial_fit(X, TWO, classes=[1])
    with pytest.raises(ValueError, match=r"y holds 2, which is not among the classes \[0, 1\].*by classes="):
        model.partial_fit(X, THREE, classes=[0, 1])
    model.partial_fit(X[:20], TWO[:20], classes=[0, 1])  # a first call that failed has named nothing
    with pytest.raises(ValueError, match=r"`classes=\[0, 1, 2\]` is not the same as on last call"):
        model.partial_fit(X, TWO, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"y holds 'b', which is not among the classes \[0, 1\]"):
        model.partial_fit(X, np.where(TWO, "a", "b")[np.argsort(TWO)])
    steps = model.t_
    model.partial_fit(X[:1], TWO[:1])  # one class at a time is fine, and what was refused left no trace
    assert model.t_ == steps + 1 == 21


def test_streams_of_changing_form():
    model = UFOMKLClassifier(KERNELS).partial_fit(X, TWO, classes=[0, 1])
    with pytest.raises(ValueError, match="X has 2 features, but UFOMKLClassifier is expecting 3"):
        model.partial_fit(X[:, :2], TWO)
    with pytest.raises(ValueError, match="40 samples and y has 39"):
        model.partial_fit(X, TWO[:39])
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(X > 2, np.nan, X), TWO)
    with pytest.raises(ValueError, match=r"partial_fit was given a stack.*call fit"):
        UFOMKLClassifier("precomputed").partial_fit(STACK, TWO, classes=[0, 1])
    assert model.t_ == 40
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = [OnColumns(Gaussian(w), ["a", "b"]) for w in (1.0, 2.0, 3.0)]
    tabled = UFOMKLClassifier(named).partial_fit(frame, TWO, classes=[0, 1])
    with pytest.raises(ValueError, match="X lacks the column 'b'"):
        tabled.partial_fit(frame[["a", "c"]], TWO)
    numbers = UFOMKLRegressor(KERNELS).partial_fit(X, np.stack([NUMBERS, NUMBERS], axis=1))
    with pytest.raises(ValueError, match=r"y has outputs of shape \(\); the model was started with \(2,\)"):
        numbers.partial_fit(X, NUMBERS)


def test_parameters_that_were_settled():
    model = UFOMKLClassifier(KERNELS).partial_fit(X, TWO, classes=[0, 1])
    for name, value in (("average", True), ("loss", "logistic"), ("normalize", "cosine")):
        before = getattr(model, name)
        with pytest.raises(ValueError, match=f"{name}={value!r} was given to a model .*{name}={before!r}"):
            model.set_params(**{name: value}).partial_fit(X, TWO)
        model.set_params(**{name: before})
    assert model.set_params(lam=1.0, alpha=0.0).partial_fit(X, TWO).t_ == 80


# -- warm starts --------------------------------------------------------------------------------------------
def test_warm_starts_that_are_refused():
    model = UFOMKLClassifier("precomputed", warm_start=True, epochs=1).fit(STACK, TWO)
    other = STACK + 0.1 * np.eye(40)[:, :, None]
    for _ in range(2):  # the second time too
        with pytest.raises(ValueError, match="goes on with the stack and y of the last fit"):
            model.fit(other, TWO)
    assert model.fit(STACK, TWO).t_ == 80
    model = UFOMKLClassifier(KERNELS, warm_start=True, epochs=1).fit(X, TWO)
    with pytest.raises(ValueError, match=r"goes on with classes \[0, 1\], and y holds \[0, 1, 2\]"):
        model.fit(X, THREE)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.fit(X[:, :2], TWO)
    assert model.fit(X, TWO).t_ == 80 and model.certified_
    numbers = UFOMKLRegressor(KERNELS, warm_start=True, epochs=1).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="started with"):
        numbers.fit(X, np.stack([NUMBERS, NUMBERS], axis=1))


def test_other_input():
    for model, y in ((UFOMKLClassifier(KERNELS), TWO), (UFOMKLRegressor(KERNELS), NUMBERS)):
        with pytest.raises(NotFittedError):
            model.predict(X)
        with pytest.raises(NotFittedError):
            model.objective(X, y)
        for call in (model.fit, model.partial_fit, model.fit(X, y).objective):
            with pytest.raises(ValueError, match="requires y"):
                call(X, None)
        with pytest.raises(ValueError, match="40 samples and y has 30"):
            model.objective(X, y[:30])
    with pytest.raises(ValueError, match="only one class"):
        UFOMKLClassifier(KERNELS).fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="continuous"):
        UFOMKLClassifier(KERNELS).fit(X, NUMBERS)


def test_listed_families_are_welcome():
    for family in (gaussian_grid(0.5, 4.0, 5), per_feature()):
        model = UFOMKLClassifier(family, epochs=3, random_state=0).fit(X, TWO)
        assert len(model.kernel_names_) == len(model.weights_) >= 5
        assert model.score(X, TWO) > 0.9
