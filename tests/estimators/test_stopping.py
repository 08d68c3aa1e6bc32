"""Asked to stop, every estimator ends soon, with the model until then; and no option of a solver hangs it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.times import times

import manykernels as mk
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import ARDGaussians, Gaussians, Products, Relevance, gaussian_grid
from manykernels.selection import folds
from manykernels.solvers import (
    ActiveSet,
    Blockwise,
    Corrective,
    Hierarchical,
    History,
    Stochastic,
    stoppable,
)
from manykernels.weightings import GreedyAlignment

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
numbers = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.standard_normal(60)
labels = numbers > 0
three = np.digitize(numbers, [-0.5, 0.5])
GRID = gaussian_grid(0.3, 10.0, 6)
FEW = Nystroem(5)
BOTH = ("finite", "continuous")
LOOKS = 50  # at the whole family, after which a solver that was asked to stop is one that never does

MODELS = {
    "one-stage": (mk.MKLClassifier(GRID, C=100.0, tol=1e-9), labels),
    "one-stage, numbers": (mk.MKLRegressor(GRID, C=100.0, tol=1e-9), numbers),
    "relevance": (mk.MKLRegressor(Relevance()), numbers),
    "several widths": (mk.MKLRegressor(ARDGaussians(), tol=1e-9), numbers),
    "features, squared": (mk.MKLRegressor(GRID, C=100.0, approx=FEW, tol=1e-9), numbers),
    "features, ε-insensitive": (
        mk.MKLRegressor(GRID, loss="epsilon_insensitive", C=100.0, approx=FEW, tol=1e-9),
        numbers,
    ),
    "features, hinge": (mk.MKLClassifier(GRID, C=100.0, approx=FEW, tol=1e-9), labels),
    "features, logistic": (mk.MKLClassifier(GRID, loss="logistic", C=100.0, approx=FEW, tol=1e-9), labels),
    "features, dense": (mk.MKLClassifier(GRID, norm=2.0, C=100.0, approx=FEW, tol=1e-9), three),
    "features, many": (mk.MKLClassifier(GRID, C=100.0, approx=RandomFeatures(40), tol=1e-9), labels),
    "search": (mk.MKLClassifierCV(GRID, random_state=0), labels),
    "search, numbers": (mk.MKLRegressorCV(GRID, random_state=0), numbers),
    "search, features": (mk.MKLRegressorCV(GRID, approx=FEW, random_state=0), numbers),
    "search, leave-one-out": (mk.MKLRegressorCV(GRID, cv="loo", strategy="finite", norms=[1.0]), numbers),
    "survival": (mk.MKLSurvival(GRID, C=100.0, tol=1e-9), times(numbers)),
    "survival, features": (mk.MKLSurvival(GRID, C=100.0, approx=FEW, tol=1e-9), times(numbers)),
    "survival, search": (mk.MKLSurvivalCV(GRID, random_state=0), times(numbers)),
    "ensemble": (mk.KernelEnsembleClassifier(GRID), labels),
    "ensemble, numbers": (mk.KernelEnsembleRegressor(GRID), numbers),
    "two-stage": (mk.AlignMKLClassifier(GRID), labels),
    "two-stage, numbers": (mk.AlignMKLRegressor(GRID), numbers),
    "two-stage, family": (mk.AlignMKLRegressor(Gaussians(), weighting="greedy"), numbers),
    "two-stage, several widths": (mk.AlignMKLRegressor(ARDGaussians(), weighting="greedy"), numbers),
    "alignment": (mk.KernelAligner(GRID), labels),
    "online": (mk.UFOMKLClassifier(GRID, epochs=50, random_state=0), labels),
    "online, numbers": (mk.UFOMKLRegressor(GRID, epochs=50, random_state=0), numbers),
    "online, features": (mk.UFOMKLClassifier(GRID, epochs=50, approx=FEW, random_state=0), labels),
    "localized": (mk.LocalizedMKLClassifier(GRID, random_state=0), labels),
    "localized, numbers": (mk.LocalizedMKLRegressor(GRID, random_state=0), numbers),
    "non-linear": (mk.NonlinearMKLClassifier(GRID, random_state=0), labels),
    "non-linear, numbers": (mk.NonlinearMKLRegressor(GRID, random_state=0), numbers),
    "hierarchical": (mk.HierarchicalMKLClassifier(), labels),
    "hierarchical, numbers": (mk.HierarchicalMKLRegressor(), numbers),
}


@pytest.fixture
def impatient(monkeypatch):
    """Fails where a solver goes on and on, instead of waiting for it."""
    add = History.add

    def counted(self, *args):
        assert len(self.gap) < LOOKS, "asked to stop, it goes on for ever"
        add(self, *args)

    monkeypatch.setattr(History, "add", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def test_every_estimator_is_asked():
    fitted = {name for name in mk.__all__ if hasattr(getattr(mk, name), "fit")}
    assert {type(model).__name__ for model, _ in MODELS.values()} == fitted


@pytest.mark.parametrize("name", MODELS)
def test_asked_to_stop_every_estimator_ends_with_a_model(name, impatient):
    model, y = MODELS[name]
    with stoppable() as wish:
        wish.set()
        model.fit(X, y)
    answer = model.predict(X) if hasattr(model, "predict") else model.weights_
    assert np.isfinite(np.asarray(answer, dtype=float)).all()
    signed = name.startswith("ensemble")  # whose weights are coefficients
    assert signed or (np.asarray(model.weights_) >= 0.0).all()


@pytest.mark.parametrize("name", ["one-stage", "several widths", "features, hinge", "non-linear, numbers"])
def test_who_was_told_to_stop_is_not_advised_more_iterations(name):
    model, y = MODELS[name]
    with stoppable() as wish, pytest.warns(ConvergenceWarning, match="It was told to stop") as told:
        wish.set()
        model.fit(X, y)
    assert not any("max_iter" in str(one.message) for one in told)
    with pytest.warns(ConvergenceWarning, match=r"Raise max_iter \(now 1\)"):
        clone(model).set_params(max_iter=1).fit(X, y)


@pytest.mark.parametrize(
    ("during", "left"),
    [(1, {"finite": 1}), (2, {"finite": 1}), (4, dict.fromkeys(BOTH, 1)), (6, dict.fromkeys(BOTH, 2))],
)
def test_a_search_compares_the_folds_that_every_strategy_has_been_through(
    during, left, impatient, monkeypatch
):
    run_trial, told = folds.run_trial, []
    model = mk.MKLRegressorCV(strategy=list(BOTH), norms=[1.0], Cs=[1.0], cv=3)
    with stoppable() as wish:

        def counted(strategy, *args):
            told.append(strategy.name)
            if len(told) == during:
                wish.set()
            return run_trial(strategy, *args)

        monkeypatch.setattr(folds, "run_trial", counted)
        model.fit(X, numbers)
    assert len(told) == during
    assert dict(zip(model.comparison_["strategy"], model.comparison_["folds"], strict=True)) == left
    assert np.isfinite(model.predict(X)).all()


SOLVERS = {
    "active set": (mk.MKLRegressor(GRID), ActiveSet, {"add": 1, "cuts": 2, "warm_size": 0}),
    "active set, features": (
        mk.MKLClassifier(GRID, loss="logistic", approx=FEW),
        ActiveSet,
        {"add": 1, "cuts": 2, "warm_size": 0},
    ),
    "blockwise": (mk.MKLRegressor(GRID, norm=2.0), Blockwise, {"landmarks": 1}),
    "corrective": (mk.MKLRegressor(Products(degree=2)), Corrective, {"add": 1, "steps": 0}),
    "stochastic": (mk.MKLRegressor(Products(degree=2), norm=1.5), Stochastic, {"batch": 1}),
    "hierarchical": (
        mk.HierarchicalMKLRegressor(),
        Hierarchical,
        {"max_active": 1, "max_visited": 1, "add": 1, "steps": 0},
    ),
    "greedy alignment": (mk.AlignMKLRegressor(GRID), GreedyAlignment, {"max_kernels": 1}),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_the_least_that_an_option_may_be_is_served_and_less_is_refused(name):
    model, kind, options = SOLVERS[name]
    parameter = "weighting" if kind is GreedyAlignment else "solver"
    y = labels if isinstance(model, mk.MKLClassifier) else numbers

    def fit(**given):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.set_params(**{parameter: kind(**given)}).fit(X, y)

    for option, least in options.items():
        assert np.isfinite(np.asarray(fit(**{option: least}).predict(X), dtype=float)).all()
        for wrong in (least - 1, -(10**30), least + 0.5, float("nan"), True, "3"):
            with pytest.raises((ValueError, TypeError), match=f"{option}=.*expected a whole number"):
                fit(**{option: wrong})
