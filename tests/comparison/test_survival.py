"""Times to an event are compared by C, in folds that share the events, beside the same risk for all."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.survival.test_scorers import FirstColumn, X, y

import manykernels as mk
from manykernels.comparison.folds import cross_validate, make_folds, times_of
from manykernels.kernels import Linear
from manykernels.survival import BrierScorer, ConcordanceScorer


class Scored(FirstColumn):
    def score(self, X, y, sample_weight=None):
        return ConcordanceScorer()(self, X, y, sample_weight)


def test_models_are_compared_by_c_and_with_the_same_risk_for_all():
    found = mk.compare({"right": Scored(), "wrong": Scored(-1.0)}, X, y)
    assert found.metric == "C index" and found.best == "right"
    np.testing.assert_array_equal(found.chance.values, 0.5)
    right, wrong = found.scores["right"].values, found.scores["wrong"].values
    np.testing.assert_allclose(np.add(right, wrong), 1.0)
    weight = np.random.RandomState(0).randint(1, 4, len(y))
    weighted = mk.compare({"right": Scored()}, X, y, sample_weight=weight)
    assert weighted.scores["right"].error == "failed in 5 of 5 folds: Scored.fit takes no sample_weight."


def test_folds_share_the_events():
    shares = [y["event"][test].mean() for _, test in make_folds(y, classes=False)]
    assert np.ptp(shares) <= 1.0 / 30.0 + 1e-9  # 30 samples a fold
    few = y.copy()
    few["event"][3:] = False
    few["event"][:3] = True
    with pytest.raises(ValueError, match="y has 3 events, fewer than the 5 folds"):
        make_folds(few, classes=False)


def test_predictions_are_kept_where_asked_for():
    splits = make_folds(y, classes=False, cv=3)
    learners = {"a": Scored(), "b": Scored()}
    keep = {"a": lambda model, X, y: (model.predict(X), y)}
    found = cross_validate(learners, X, y, splits, keep=keep, scoring=BrierScorer())
    for (_, test), fold in zip(splits, found["a"].folds, strict=True):
        np.testing.assert_array_equal(fold.kept[0], X[test, 0])
        np.testing.assert_array_equal(fold.kept[1], y[test])
    assert all(fold.kept is None for fold in found["b"].folds)


def test_methods_by_name_learn_times_to_an_event():
    frame = pd.DataFrame({"event": y["event"], "time": y["time"]})
    found = mk.compare(["sparse", "uniform"], X, frame, kernels=[Linear()], tune=False, cv=3)
    assert found.metric == "C index" and min(one.mean for one in found.scores.values()) > 0.6
    with pytest.raises(
        ValueError, match="'align' does not learn times to an event; expected one of 'auto', 'sp"
    ):
        mk.compare(["sparse", "align"], X, y)


def test_late_entries_and_strata_stay_with_their_samples():
    frame = pd.DataFrame({"event": y["event"], "time": 1.0 + y["time"]})
    late = times_of(frame.assign(entry=0.5, stratum=np.where(X[:, 1] > 0.0, "a", "b")))
    assert late.dtype.names == ("event", "time", "entry", "stratum")
    assert times_of(frame).dtype.names == ("event", "time")  # as scikit-survival has it
    assert times_of(y) is y
