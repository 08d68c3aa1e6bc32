"""Asked to stop, every solver ends soon, with an answer and bounds that hold."""

from __future__ import annotations

import signal
import threading
import warnings

import numpy as np
import pytest

import manykernels as mk
from manykernels.families import Gaussians, PolynomialDAG, Products, gaussian_grid
from manykernels.solvers import Corrective, History, stoppable

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 5))
numbers = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.1 * rng.standard_normal(60)
labels = numbers > 0
GRID = gaussian_grid(0.3, 10.0, 8)

CONVEX = {
    "active set": (mk.MKLClassifier(GRID, C=10.0), labels),
    "active set, squared": (mk.MKLRegressor(GRID, C=10.0), numbers),
    "active set, dense": (mk.MKLRegressor(GRID, norm=2.0, C=10.0), numbers),
    "alternating": (mk.MKLRegressor(GRID, norm=2.0, C=10.0, solver="alternating"), numbers),
    "silp": (mk.MKLClassifier(GRID, C=10.0, solver="silp"), labels),
    "simplemkl": (mk.MKLClassifier(GRID, C=10.0, solver="simplemkl"), labels),
    "hessian": (mk.MKLClassifier(GRID, C=10.0, solver="hessian"), labels),
    "blockwise": (mk.MKLRegressor(GRID, norm=2.0, C=10.0, solver="blockwise"), numbers),
    "corrective": (mk.MKLClassifier(Products(degree=2), C=10.0), labels),
    "corrective, squared": (mk.MKLRegressor(Products(degree=2), C=10.0), numbers),
    "corrective, path": (mk.MKLClassifier(Products(degree=2), C=10.0, solver=Corrective(steps=2)), labels),
    "corrective, widths": (mk.MKLRegressor(Gaussians(), C=10.0), numbers),
    "greedy": (mk.MKLRegressor(Gaussians(), C=10.0, solver="greedy"), numbers),
    "stochastic": (mk.MKLRegressor(Products(degree=2), norm=1.5, C=1.0, solver="stochastic"), numbers),
    "hierarchical": (mk.HierarchicalMKLClassifier(PolynomialDAG(degree=2), C=10.0), labels),
    "hierarchical, squared": (mk.HierarchicalMKLRegressor(PolynomialDAG(degree=2), C=10.0), numbers),
    "localized": (mk.LocalizedMKLClassifier(GRID, C=10.0, random_state=0), labels),
    "online": (mk.UFOMKLClassifier(GRID, random_state=0, epochs=50), labels),
}


@pytest.fixture
def calm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("name", CONVEX)
def test_stopped_before_it_began(name, calm):
    model, y = CONVEX[name]
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    whole = model.fit(X, y)
    primal, dual, steps = whole.objective_, whole.objective_ * (1.0 - whole.dual_gap_), whole.n_iter_
    with stoppable() as wish:
        wish.set()
        model.fit(X, y)
    assert model.n_iter_ < steps
    assert np.isfinite(model.predict(X).astype(float)).all() and (model.weights_ >= 0.0).all()
    # two problems bound each other: what was reached is above the optimum, what was proven below it
    assert model.objective_ >= dual * (1.0 - 1e-9)
    if model.certified_:
        assert model.objective_ * (1.0 - model.dual_gap_) <= primal * (1.0 + 1e-9)
    assert model.fit(X, y).n_iter_ == steps  # a wish does not outlive its block


def test_nonlinear_stops_at_its_first_start(calm):
    model = mk.NonlinearMKLRegressor(GRID, n_starts=3, random_state=0).fit(X, numbers)
    steps, starts = model.n_iter_, len(model.starts_["objective"])
    with stoppable() as wish:
        wish.set()
        model.fit(X, numbers)
    assert model.n_iter_ == 1 < steps and len(model.starts_["objective"]) == 1 < starts
    assert np.isfinite(model.predict(X)).all()


def test_ctrl_c_in_the_middle(monkeypatch, calm):
    add, said = History.add, []

    def interrupted(self, *args):
        add(self, *args)
        if len(self.gap) == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(History, "add", interrupted)
    model = mk.MKLRegressor(GRID, norm=2.0, C=10.0, tol=1e-8, solver="alternating")
    with stoppable(lambda: said.append(1)) as wish:
        model.fit(X, numbers)
        assert wish.is_set()
    assert said == [1] and model.n_iter_ == 2 and model.dual_gap_ == model.history_["gap"][1]


def test_a_second_ctrl_c_interrupts_and_leaves_nothing_behind():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), stoppable() as wish:
        signal.raise_signal(signal.SIGINT)
        assert wish.is_set()
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before and not wish.is_set()


def test_other_threads_are_left_alone():
    found = []

    def elsewhere():
        with stoppable() as wish:
            found.append(wish.is_set())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert found == [False]
