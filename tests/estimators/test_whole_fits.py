"""A fit that fails, or is interrupted, leaves the model and the process as they were."""

from __future__ import annotations

import pickle
from contextlib import contextmanager

import numba
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_info

import manykernels as mk
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, PolynomialDAG
from manykernels.kernels import Callable, Gaussian, Linear

rng = np.random.RandomState(0)
X = rng.randn(24, 3)
y = (X[:, 0] + 0.3 * rng.randn(24) > 0).astype(int)
OTHER = rng.randn(30, 4)
NAMES = np.array(["no", "yes", "perhaps"])[np.arange(30) % 3]
KERNELS = {"linear": Linear(), "narrow": Gaussian(1.0), "wide": Gaussian(4.0)}

MODELS = {
    "MKLClassifier": lambda: mk.MKLClassifier(KERNELS),
    "MKLRegressor": lambda: mk.MKLRegressor(KERNELS, warm_start=True),
    "features": lambda: mk.MKLClassifier(KERNELS, approx=Nystroem(8), random_state=0),
    "family": lambda: mk.MKLRegressor(Gaussians()),
    "MKLClassifierCV": lambda: mk.MKLClassifierCV(KERNELS, Cs=[1.0], norms=[2.0], cv=2),
    "MKLRegressorCV": lambda: mk.MKLRegressorCV(KERNELS, Cs=[1.0], norms=[2.0], cv=2),
    "KernelAligner": lambda: mk.KernelAligner(KERNELS),
    "AlignMKLClassifier": lambda: mk.AlignMKLClassifier(KERNELS),
    "AlignMKLRegressor": lambda: mk.AlignMKLRegressor(KERNELS),
    "UFOMKLClassifier": lambda: mk.UFOMKLClassifier(KERNELS, epochs=2, random_state=0),
    "UFOMKLRegressor": lambda: mk.UFOMKLRegressor(KERNELS, epochs=2, average=True, random_state=0),
    "UFO goes on": lambda: mk.UFOMKLClassifier(KERNELS, epochs=2, warm_start=True, random_state=0),
    "UFO in features": lambda: mk.UFOMKLRegressor(
        [Gaussian(1.0), Gaussian(2.0), Gaussian(4.0)], epochs=2, approx=Nystroem(8), random_state=0
    ),
    "HierarchicalMKLClassifier": lambda: mk.HierarchicalMKLClassifier(PolynomialDAG(degree=2)),
    "HierarchicalMKLRegressor": lambda: mk.HierarchicalMKLRegressor(PolynomialDAG(degree=2), warm_start=True),
    "NonlinearMKLClassifier": lambda: mk.NonlinearMKLClassifier(KERNELS, n_starts=2, random_state=0),
    "NonlinearMKLRegressor": lambda: mk.NonlinearMKLRegressor(KERNELS, n_starts=2, random_state=0),
    "LocalizedMKLClassifier": lambda: mk.LocalizedMKLClassifier(KERNELS, random_state=0),
    "LocalizedMKLRegressor": lambda: mk.LocalizedMKLRegressor(KERNELS, random_state=0),
    "MKLSurvival": lambda: mk.MKLSurvival(KERNELS, warm_start=True),
    "MKLSurvivalCV": lambda: mk.MKLSurvivalCV(KERNELS, Cs=[1.0], norms=[2.0], cv=2),
    "KernelEnsembleClassifier": lambda: mk.KernelEnsembleClassifier(KERNELS, cv=2),
    "KernelEnsembleRegressor": lambda: mk.KernelEnsembleRegressor(KERNELS, cv=2),
}


def test_every_estimator_is_here():
    assert {type(make()) for make in MODELS.values()} == {
        value
        for value in vars(mk).values()
        if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")
    }


def target(model, n=24):
    if "Survival" in type(model).__name__:
        return np.column_stack([np.arange(n) % 3 > 0, np.arange(n) * 7 % n + 1.0])
    return NAMES[:n] if n == 30 and "Classifier" in type(model).__name__ else np.resize(y, n)


def answer(model):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


def state(model):
    """All that is in the model, as bytes: a change of an array in place shows too."""
    kernels = {"kernels": None, "approx": None}
    return {name: pickle.dumps(value) for name, value in (vars(model) | kernels).items()}


def limits():
    blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return numba.get_num_threads(), blas


@contextmanager
def late(monkeypatch, model, error):
    """The last step of a fit, which stores what was learned, ends in this error."""
    kind = type(model)
    last = next(name for name in ("_describe", "_refit", "_publish") if hasattr(kind, name))
    done = getattr(kind, last)

    def and_fail(self, *args):
        done(self, *args)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(kind, last, and_fail)
        yield


def unchanged(model, before, said, threads):
    assert state(model).keys() == before.keys()
    assert [name for name, value in state(model).items() if value != before[name]] == []
    np.testing.assert_array_equal(answer(model), said)
    assert limits() == threads


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_refit_that_fails_leaves_the_old_model(name, monkeypatch):
    threads, model = limits(), MODELS[name]()
    model.fit(X, target(model))
    before, said = state(model), answer(model)
    gap = OTHER.copy()
    gap[3, 2] = np.inf
    with pytest.raises(ValueError):
        model.fit(gap, target(model, 30))
    unchanged(model, before, said, threads)
    with pytest.raises(ValueError):
        model.fit(OTHER, target(model, 30)[:20])
    unchanged(model, before, said, threads)
    for error in (RuntimeError("late"), KeyboardInterrupt()):
        warm = getattr(model, "warm_start", False)
        with late(monkeypatch, model, error), pytest.raises(type(error)):
            model.fit(X if warm else OTHER, target(model, 24 if warm else 30))
        unchanged(model, before, said, threads)
    if hasattr(model, "partial_fit"):
        with late(monkeypatch, model, KeyboardInterrupt()), pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[:9], y[:9])
        unchanged(model, before, said, threads)
    assert model.fit(X, target(model)) is model


def test_an_interrupt_is_one_also_where_compiled_code_hands_it_on(monkeypatch):
    """As numba does at each array that a function returns, several times over; its own errors stay."""
    model, interrupt, other = MODELS["MKLClassifier"](), SystemError("a"), SystemError("b")
    interrupt.__cause__ = SystemError("again")
    interrupt.__cause__.__cause__ = KeyboardInterrupt()
    for error, told in ((interrupt, KeyboardInterrupt), (other, SystemError)):
        with late(monkeypatch, model, error), pytest.raises(told):
            model.fit(X, target(model))
        assert not hasattr(model, "weights_")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_first_fit_that_fails_leaves_no_model(name):
    threads, model = limits(), MODELS[name]()
    before = vars(model).copy()
    broken = Callable(fails_late())
    if "DAG" not in repr(model) and name != "family" and "features" not in name:
        model.set_params(kernels={"linear": Linear(), "narrow": Gaussian(1.0), "broken": broken})
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, target(model))
        model.set_params(kernels=KERNELS)
    bad = X.copy()
    bad[-1, 0] = np.inf
    for method in ("fit", "partial_fit"):
        if hasattr(model, method):
            with pytest.raises(ValueError):
                getattr(model, method)(bad, target(model))
            assert vars(model).keys() == before.keys() and limits() == threads
            with pytest.raises(NotFittedError):
                check_is_fitted(model)
    assert np.isfinite(answer(model.fit(X, target(model)))).all()


def fails_late():
    """A kernel that is interrupted at its second call."""
    calls = []

    def function(A, B):
        calls.append(1)
        if len(calls) >= 2:
            raise KeyboardInterrupt
        return np.asarray(A) @ np.asarray(B).T

    return function


@pytest.mark.parametrize(
    "kind", [mk.MKLClassifier, mk.KernelAligner, mk.AlignMKLRegressor, mk.MKLClassifierCV]
)
@pytest.mark.parametrize("n_jobs", [float("inf"), float("nan"), 0, True, 1.5, "2", 10**30, -(10**30)])
def test_no_number_of_threads_outlives_its_call(kind, n_jobs):
    threads = limits()
    model = kind(KERNELS)
    if kind is mk.MKLClassifierCV:
        model.set_params(Cs=[1.0], norms=[2.0], cv=2)
    good = model.fit(X, y)
    if isinstance(n_jobs, int) and abs(n_jobs) > 1:
        if kind is mk.MKLClassifierCV:
            return  # processes, which are slow to start: see the test of `processes`
        good.set_params(n_jobs=n_jobs).fit(X, y)  # all processors, and one
    else:
        with pytest.raises(ValueError, match="n_jobs="):
            good.set_params(n_jobs=n_jobs).fit(X, y)
    assert limits() == threads
    assert np.isfinite(answer(mk.KernelAligner(KERNELS, n_jobs=2).fit(X, y))).all()
    assert limits() == threads
