"""Scores, plots and checks of fitted survival models: what works on arrays works on models too."""

from __future__ import annotations

from functools import cache

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import MKLSurvival, MKLSurvivalCV, load, save
from manykernels.inspection import importance, permutation_test, weight_stability
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.plots import RiskGroupsDisplay, SurvivalCurvesDisplay
from manykernels.survival import BrierScorer, ConcordanceScorer, UnoScorer, breslow, curves_by_risk

from .test_scorers import X, y

SCORERS = [ConcordanceScorer(), UnoScorer(), BrierScorer()]
KERNELS = {"linear": Linear(), "second": OnColumns(Gaussian(2.0), [1])}
STRATA = pd.DataFrame({"event": y["event"], "time": y["time"], "stratum": np.where(X[:, 1] > 0, "a", "b")})


@cache
def stratified():
    return MKLSurvival(KERNELS).fit(X, STRATA)


@pytest.mark.parametrize("scorer", SCORERS)
def test_a_search_scores_as_scikit_learn_does_in_the_same_folds(scorer):
    """The search keeps decisions and no models: what stands for these knows censoring and hazard too."""
    folds, model = KFold(3), MKLSurvival(KERNELS, tol=1e-8)
    search = MKLSurvivalCV(KERNELS, strategy=[model], Cs=[1.0], cv=folds, scoring=scorer, tol=1e-8).fit(X, y)
    known = search.best_params_["C"]
    expected = cross_val_score(model.set_params(C=known), X, y, cv=folds, scoring=scorer)
    assert search.best_score_ == pytest.approx(expected.mean(), abs=2e-3)


@pytest.mark.parametrize("scorer", SCORERS)
def test_scorers_take_pipelines_and_strata(scorer):
    pipeline = make_pipeline(StandardScaler(), MKLSurvival(KERNELS))
    search = GridSearchCV(pipeline, {"mklsurvival__C": [0.1, 1.0]}, cv=3, scoring=scorer).fit(X, y)
    guess = -0.25 if isinstance(scorer, BrierScorer) else 0.6
    assert min(search.best_score_, scorer(search, X, y), scorer(stratified(), X, STRATA)) > guess


def test_plots_are_of_what_the_model_predicts():
    shown = RiskGroupsDisplay.from_estimator(stratified(), X, STRATA).curves
    risk = stratified().predict(X)
    assert (
        shown.test.p_value
        == curves_by_risk(y["event"], y["time"], risk, stratum=STRATA["stratum"]).test.p_value
    )
    curves = SurvivalCurvesDisplay.from_estimator(stratified(), X, samples=[3, -1], stratum=STRATA["stratum"])
    own = breslow(y["event"], y["time"], risk, stratum=STRATA["stratum"].to_numpy())
    expected = own.survival_at(risk[[3, -1]], [0.5, 1.0], STRATA["stratum"].to_numpy()[[3, -1]])
    np.testing.assert_allclose(curves.curves.at([0.5, 1.0]), expected, atol=1e-12)
    with pytest.raises(ValueError, match="no strata were given"):
        SurvivalCurvesDisplay.from_estimator(stratified(), X)
    plt.close("all")


def test_files_keep_curves_and_scorers(tmp_path):
    search = MKLSurvivalCV(KERNELS, strategy="finite", Cs=[1.0], cv=2, scoring=ConcordanceScorer()).fit(X, y)
    for model, strata in ((stratified(), {"stratum": STRATA["stratum"]}), (search, {})):
        save(model, tmp_path / "model")
        again = load(tmp_path / "model")
        found = [m.predict_survival_function(X, times=[0.5, 1.0], **strata) for m in (model, again)]
        np.testing.assert_array_equal(*found)
        assert UnoScorer()(again, X, y) == UnoScorer()(model, X, y)


def test_models_are_looked_at_as_others_are():
    folds = {"cv": 2, "random_state": 0}
    found = importance(stratified(), X, STRATA, n_repeats=2, **folds)
    assert found.metric == "C index" and found.columns()["name"][0] == "x0"
    assert permutation_test(stratified(), X, STRATA, n_permutations=3, **folds).p_value == 0.25
    search = MKLSurvivalCV(KERNELS, strategy="finite", Cs=[0.1, 1.0], cv=2).fit(X, STRATA)
    again = weight_stability(search, X, STRATA, n_resamples=4, random_state=0)
    assert sum(again.choices.values()) == 4 and "linear" in again.names
