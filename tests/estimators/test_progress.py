"""Bars and logs of fits."""

from __future__ import annotations

import logging
import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from tests.fitted_models import X, kernels, numbers, y

import manykernels as mk
from manykernels.families import Gaussians, PolynomialDAG, gaussian_grid
from manykernels.fitting.progress import Progress, watch

LOUD = {
    "finite": lambda v: mk.MKLClassifier(kernels, verbose=v).fit(X, y),
    "family": lambda v: mk.MKLRegressor(Gaussians(), verbose=v).fit(X, numbers),
    "graph": lambda v: mk.HierarchicalMKLRegressor(PolynomialDAG(degree=2), verbose=v).fit(X, numbers),
    "powers": lambda v: mk.NonlinearMKLRegressor(kernels, n_starts=1, verbose=v).fit(X, numbers),
    "online": lambda v: mk.UFOMKLClassifier(kernels, epochs=3, verbose=v, random_state=0).fit(X, y),
    "localized": lambda v: mk.LocalizedMKLClassifier(kernels, verbose=v, random_state=0).fit(X, y),
}


@pytest.mark.parametrize("name", LOUD)
def test_everything_with_verbose_shows_a_bar_on_stderr(name, capsys):
    model = LOUD[name](1)
    shown = capsys.readouterr()
    assert not shown.out and shown.err.count(type(model).__name__) > 0 and "kernel" in shown.err
    LOUD[name](0)
    shown = capsys.readouterr()
    assert not shown.out and not shown.err


@pytest.mark.parametrize("name", LOUD)
def test_every_fit_is_logged_whatever_verbose(name, caplog):
    caplog.set_level(logging.DEBUG, "manykernels")
    model = LOUD[name](0)
    assert caplog.records and all(r.name == "manykernels" for r in caplog.records)
    assert all(type(model).__name__ in r.getMessage() for r in caplog.records)
    if name != "online":
        assert [r for r in caplog.records if r.levelno == logging.INFO]


def test_lines_are_shown_on_request(capsys):
    model = LOUD["finite"](2)
    lines = [line for line in capsys.readouterr().err.splitlines() if "objective" in line]
    assert len(lines) == len(model.history_["gap"])


def test_a_search_tells_of_every_strategy_in_every_fold(capsys):
    given = {"strategy": ["finite", "aligned"], "Cs": [1.0], "cv": 3}
    quiet = mk.MKLClassifierCV(kernels, **given).fit(X, y)
    assert not capsys.readouterr().err
    loud = mk.MKLClassifierCV(kernels, verbose=2, **given).fit(X, y)
    told = capsys.readouterr().err
    for strategy in ("finite", "aligned"):
        assert told.count(f"MKLClassifierCV: {strategy}") == 3
    assert "100%" in told and loud.best_params_ == quiet.best_params_


def test_a_search_says_what_it_will_take_before_its_first_fold(capsys):
    mk.MKLRegressorCV(kernels, Cs=[1.0], cv=3, verbose=2).fit(X, numbers)
    told = capsys.readouterr().err
    before, _ = told.split("MKLRegressorCV: finite", 1)
    assert "3 folds of finite; at most about 1 s of one processor and " in before
    assert " beside the data" in before and "  0% |" in before  # the bar is open
    own = Ridge()
    mk.MKLRegressorCV(kernels, strategy=[own], cv=3, verbose=1).fit(X, numbers)
    told = capsys.readouterr().err
    assert "3 folds of Ridge" in told and "at most" not in told


def test_watching_changes_no_answer():
    np.testing.assert_array_equal(LOUD["finite"](1).dual_coef_, LOUD["finite"](0).dual_coef_)


def test_an_error_closes_the_bar(capsys):
    with pytest.raises(KeyboardInterrupt), watch("fit", 1, 1e-3) as history:
        history.add(1.0, 0.5, 2)
        raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith("\n")


# -- where the bar stands -------------------------------------------------------------------------
def positions(gaps, tol):
    bar = Progress("fit", 1, tol)
    where = []
    for gap in gaps:
        bar.look(gap, 3)
        where.append(bar._bar.n)
    bar.close()
    return where


def test_a_bar_goes_by_decades_of_the_gap():
    np.testing.assert_allclose(positions([1.0, 0.1, 0.01, 1e-4], 1e-4), [0.0, 0.25, 0.5, 1.0])


def test_a_bar_never_goes_back_nor_beyond():
    assert positions([1e-2, 1e-1, 1e-2, 1e-9], 1e-4) == [0.0, 0.0, 0.0, 1.0]
    assert positions([0.0], 1e-4) == [1.0]
    np.testing.assert_allclose(positions([0.1, math.inf, 0.01], 1e-3), [0.0, 0.0, 0.5])


def test_without_a_gap_looks_are_counted():
    assert positions([math.nan, math.nan, math.inf], 1e-3) == [1, 2, 3]


def test_an_aligner_shows_the_pass_over_its_kernels(capsys):
    A = np.random.RandomState(0).randn(80, 3)
    model = mk.KernelAligner(gaussian_grid(0.5, 4.0, 3), verbose=1).fit(A, A[:, 0] > 0)
    shown = capsys.readouterr().err
    assert "KernelAligner" in shown and "100%" in shown and "pair" in shown
    quiet = mk.KernelAligner(gaussian_grid(0.5, 4.0, 3)).fit(A, A[:, 0] > 0)
    assert capsys.readouterr().err == ""
    np.testing.assert_array_equal(model.weights_, quiet.weights_)


def test_blockwise_learning_shows_its_gap(capsys):
    A = np.random.RandomState(0).randn(80, 3)
    mk.MKLRegressor(gaussian_grid(0.5, 4.0, 3), solver="blockwise", verbose=1).fit(A, A[:, 0])
    assert "gap" in capsys.readouterr().err
