"""Scorers for ``scoring=``: what they say of a model is what the functions say of its predictions."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels.survival import (
    BrierScorer,
    ConcordanceScorer,
    UnoScorer,
    breslow,
    censoring_curve,
    concordance_index,
    integrated_brier_score,
    uno_c,
)

rng = np.random.RandomState(0)
X = rng.randn(150, 2)
time = rng.exponential(np.exp(-X[:, 0]))
limit = rng.exponential(2.0, 150)
y = np.array(
    list(zip(time <= limit, np.minimum(time, limit), strict=True)), dtype=[("event", bool), ("time", float)]
)


class FirstColumn(BaseEstimator):
    """Takes ±the first column for the risk, and knows its training samples as survival models do."""

    def __init__(self, sign=1.0):
        self.sign = sign

    def fit(self, X, y):
        self.censoring_ = censoring_curve(y["event"], y["time"])
        self.baseline_ = breslow(y["event"], y["time"], self.predict(X))
        return self

    def predict(self, X):
        return self.sign * X[:, 0]

    def predict_survival_function(self, X, times=None):
        return self.baseline_.survival_at(self.predict(X), times)


class Functions(FirstColumn):
    """As scikit-survival's models: functions of time, and no word about the training samples."""

    def fit(self, X, y):
        super().fit(X, y)
        del self.censoring_
        return self

    def predict_survival_function(self, X):
        return np.array([*self.baseline_.survival(self.predict(X))], dtype=object)


train, test = np.arange(100), np.arange(100, 150)


def test_scorers_are_the_scores_of_predictions():
    model = make_pipeline(StandardScaler(), FirstColumn()).fit(X[train], y[train])
    Z = model[:-1].transform(X[test])
    e, t = y["event"][test], y["time"][test]
    found = ConcordanceScorer()(model, X[test], y[test])
    assert found == concordance_index(e, t, Z[:, 0])
    tau = float(np.quantile(t, 0.8))
    found = UnoScorer(tau)(model, X[test], y[test])
    assert found == pytest.approx(uno_c(y[train], y[test], Z[:, 0], tau), abs=1e-12)
    times = np.linspace(0.2, 1.0, 9)
    S = model[-1].predict_survival_function(Z, times)
    expected = -integrated_brier_score(y[train], y[test], S, times)
    assert BrierScorer(times)(model, X[test], y[test]) == pytest.approx(expected, abs=1e-12)
    weight = rng.uniform(0.5, 2.0, test.size)
    found = ConcordanceScorer()(model, X[test], y[test], sample_weight=weight)
    assert found == concordance_index(e, t, Z[:, 0], weight)


@pytest.mark.parametrize("scorer", [ConcordanceScorer(), UnoScorer(), BrierScorer(), UnoScorer(tau=1.0)])
def test_searches_choose_by_them(scorer):
    search = GridSearchCV(FirstColumn(), {"sign": [1.0, -1.0]}, scoring=clone(scorer), cv=4).fit(X, y)
    assert search.best_params_ == {"sign": 1.0}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert np.isfinite(scorer(search, X, y))


def test_models_of_other_packages_are_scored_with_the_samples_given():
    model = Functions().fit(X[train], y[train])
    known = FirstColumn().fit(X[train], y[train])
    for scorer in (UnoScorer, BrierScorer):
        with pytest.raises(ValueError, match="does not say how its training samples were censored"):
            scorer()(model, X[test], y[test])
        found = scorer(train=y[train])(model, X[test], y[test])
        assert found == pytest.approx(scorer()(known, X[test], y[test]), abs=1e-12)
    scores = cross_val_score(Functions(), X, y, scoring=BrierScorer(train=y), cv=3)
    assert np.all(scores > -0.25)  # better than a coin


def test_curves_that_are_not_there_are_told():
    class Risks(BaseEstimator):
        censoring_ = censoring_curve(y["event"], y["time"])

        def predict(self, X):
            return X[:, 0]

    with pytest.raises(ValueError, match="predicts no survival curves"):
        BrierScorer()(Risks(), X, y)
    late = y[:3].copy()
    late["time"] += 1e6
    with pytest.raises(ValueError, match=r"give the scorer the times"):
        BrierScorer()(FirstColumn().fit(X, y), X[:3], late)
