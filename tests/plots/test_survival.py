"""Plots of survival show the curves, the counts and the test that the functions give."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.survival.drawn import draw

from manykernels.plots import RiskGroupsDisplay, SurvivalCurvesDisplay
from manykernels.survival import StepFunctions, curves_by_risk

event, time, risk = draw(0, n=60)
y = np.array(list(zip(event, time, strict=True)), dtype=[("event", bool), ("time", float)])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("groups", [1, 3, 5])
def test_risk_groups_are_drawn_with_their_counts(groups):
    display = RiskGroupsDisplay.from_predictions(y, risk, groups=groups, time="$months")
    display.figure_.canvas.draw()
    found = curves_by_risk(event, time, risk, groups)
    steps = [line for line in display.ax_.lines if line.get_marker() != "|"]
    assert len(steps) == groups
    for line, curve in zip(steps, found.curves, strict=True):
        np.testing.assert_allclose(line.get_ydata()[1:-1], curve.survival)
    written = [text.get_text() for text in display.ax_.texts]
    ticks = display.ax_.get_xticks()
    rows = [written[1 + g * (ticks.size + 1) :][: ticks.size + 1] for g in range(groups)]
    for name, counts, row in zip(found.names, found.at_risk(ticks), rows, strict=True):
        assert row == [name, *(f"{count:.0f}" for count in counts)]
    assert display.ax_.get_title(loc="left").startswith("log-rank test: p" if groups > 1 else "")


def test_risk_groups_fit_into_axes_of_a_user_and_without_a_table():
    _, ax = plt.subplots()
    display = RiskGroupsDisplay.from_predictions(y, risk, ax=ax, table=False, bands=False)
    assert display.ax_ is ax and not ax.texts and not ax.collections


def test_a_curve_that_falls_to_zero_and_one_without_events():
    last = np.array([(True, 1.0), (True, 2.0), (False, 3.0), (False, 4.0)], dtype=y.dtype)
    display = RiskGroupsDisplay.from_predictions(last, [1.0, 1.0, 0.0, 0.0], groups=2)
    display.figure_.canvas.draw()
    low, high = [line.get_ydata() for line in display.ax_.lines if line.get_marker() != "|"]
    np.testing.assert_array_equal(low, [1.0, 1.0])
    np.testing.assert_array_equal(high, [1.0, 0.5, 0.0, 0.0])


def test_predicted_curves_of_samples():
    S = np.linspace(1.0, 0.2, 4) ** np.arange(1, 13)[:, None]
    curves = StepFunctions(np.arange(1.0, 5.0), S, 1.0, 6.0)
    display = SurvivalCurvesDisplay(curves, samples=[f"patient {i}" for i in range(12)]).plot()
    display.figure_.canvas.draw()
    np.testing.assert_allclose(display.ax_.lines[2].get_ydata(), [1.0, *S[2], S[2, -1]])
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[0] == "patient 0: median 3" and len(labels) == 10
