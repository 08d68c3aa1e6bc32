"""Reports of survival models: the data of their page, against what the functions say."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from tests.report.reports import MADE

from manykernels import MKLSurvival
from manykernels.comparison.folds import make_folds, times_of
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.report import baseline_models, report_data
from manykernels.report.baselines import compared
from manykernels.report.survival import _ticks, held_out_groups, striking
from manykernels.survival import concordance_index, kaplan_meier, log_rank, risk_groups

rng = np.random.RandomState(0)
X = pd.DataFrame(rng.randn(90, 4), columns=list("abcd"), index=[f"patient {i}" for i in range(90)])
_time, _limit = rng.exponential(np.exp(-1.5 * X["a"].to_numpy())), rng.exponential(2.0, 90)
y = pd.DataFrame({"event": _time <= _limit, "time": np.minimum(_time, _limit)}, index=X.index)
KERNELS = {"first": OnColumns(Linear(), ["a", "b"]), "second": OnColumns(Gaussian(2.0), ["c", "d"])}


@cache
def model():
    return MKLSurvival(KERNELS).fit(X, y)


@cache
def document():
    return report_data(model(), X, y, made=MADE, target="years", fit_path=False)


def test_groups_are_thirds_of_the_risk_and_their_curves_kaplan_and_meiers():
    found = document()["survival"]
    group = risk_groups(model().predict(X))
    assert not found["held_out"] and found["groups"][0]["name"] == "low risk"
    expected = log_rank(y["event"], y["time"], group)
    assert found["p_value"] == pytest.approx(expected.p_value, rel=1e-4)
    for g, one in enumerate(found["groups"]):
        rows = group == g
        curve = kaplan_meier(y["event"][rows], y["time"][rows])
        np.testing.assert_allclose(one["y"][1:-1], curve.survival, atol=1e-5)
        assert one["samples"] == rows.sum() and one["events"] == y["event"][rows].sum()
        counts = [int((y["time"][rows] >= t).sum()) for t in found["ticks"]]
        assert one["at_risk"] == counts
    predicted = found["predicted"]["curves"]
    S = model().predict_survival_function(X)
    middle = np.median(model().predict(X))
    assert predicted[1]["risk"] == pytest.approx(middle, abs=1e-5) and len(S) == 90
    assert predicted[0]["y"][-1] >= predicted[1]["y"][-1] >= predicted[2]["y"][-1]


def test_the_target_is_told_in_events_and_follow_up():
    told = document()["data"]["target"]
    assert told["task"] == "survival" and sum(told["counts"]) == 90
    assert sum(told["events"]) == y["event"].sum() and told["median"] > 0.0


def test_single_samples_are_striking_ones_in_words():
    found = document()["contributions"]["samples"]
    risk = model().predict(X)
    orders, words = striking(times_of(y), risk)
    assert orders["highest risk"].order[0] == risk.argmax()
    assert orders["lowest risk"].order[0] == risk.argmin()
    assert words[orders["early event at a low risk"].order[0]].startswith("event at")
    assert {one["why"] for one in found} == set(orders)
    for one in found:
        row = one["row"]
        what = "event" if y["event"].iloc[row] else "censored"
        assert one["truth"] == f"{what} at {y['time'].iloc[row]:.4g}" and one["name"] == X.index[row]
        assert one["decision"] == pytest.approx(risk[row], abs=1e-4)


def test_held_out_groups_are_made_within_folds():
    splits = [(np.arange(3, 9), np.arange(3)), (np.arange(3), np.arange(3, 6))]
    groups = held_out_groups(np.zeros(9), splits, [[3.0, 1.0, 2.0], [100.0, 300.0, 200.0]])
    np.testing.assert_array_equal(groups, [2, 0, 1, 0, 2, 1, -1, -1, -1])


def test_rivals_are_scored_in_the_same_folds_and_risks_kept():
    assert list(baseline_models(model(), X)) == [
        "plain sum of the kernels",
        "best single kernel",
        "ridge Cox",
    ]
    found = compared(model(), X, y, cv=2)
    scores = found["scores"]
    assert scores.metric == "C index" and not [one.error for one in scores.scores.values() if one.error]
    assert min(one.mean for one in scores.scores.values()) > 0.6
    told = report_data(model(), X, y, made=MADE, fit_path=False, **found)
    assert told["survival"]["held_out"] and told["scores"]["chance"]["mean"] == 0.5
    fold, test = scores.scores["learned"].folds[0], y.iloc[make_folds(times_of(y), classes=False, cv=2)[0][1]]
    assert fold.value == pytest.approx(concordance_index(test["event"], test["time"], fold.kept.predicted))


def test_ticks_are_plain_numbers():
    assert _ticks(113.0) == [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    assert _ticks(0.7)[:3] == [0.0, 0.2, 0.4]
