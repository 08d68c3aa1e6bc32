"""Whatever is done with a fitted model is done with survival models too: files, searches, tests, plots."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import manykernels as mk
from manykernels import MKLRegressor, MKLSurvival, MKLSurvivalCV, inspection, plots
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.survival import BrierScorer, ConcordanceScorer, UnoScorer

RNG = np.random.RandomState(0)
N = 60
X = RNG.randn(N, 4)
DEATH, LAST = RNG.exponential(np.exp(-1.5 * X[:, 0])), RNG.exponential(2.0, N)
EVENT, TIME = DEATH <= LAST, np.minimum(DEATH, LAST)
Y = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", bool), ("time", float)])
FORMS = {
    "frame": pd.DataFrame({"days": TIME, "status": EVENT.astype(int)}),
    "strata": pd.DataFrame({"time": TIME, "event": EVENT, "stratum": np.arange(N) % 2}),
    "numbers": np.column_stack([EVENT, TIME]),
    "entry": pd.DataFrame({"time": TIME, "event": EVENT, "entry": 0.2 * TIME}),
}
VIEWS = {"a": OnColumns(Linear(), [0, 1]), "b": OnColumns(Gaussian(2.0), [2, 3])}
MODEL = MKLSurvival(VIEWS).fit(X, Y)


@pytest.fixture(scope="module")
def search():
    return MKLSurvivalCV(VIEWS, norms=(1.0, 2.0), Cs=[0.1, 1.0], cv=3, random_state=0).fit(X, Y)


def test_files_and_copies_are_the_same_model(search, tmp_path):
    for i, model in enumerate([MODEL, search]):
        mk.save(model, tmp_path / str(i))
        for copy in (mk.load(tmp_path / str(i)), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(copy.predict(X), model.predict(X))
            S = [m.predict_survival_function(X[:3], [0.2, 0.5]) for m in (copy, model)]
            np.testing.assert_array_equal(*S)
            assert copy.score(X, Y) == model.score(X, Y)
        again = clone(model).fit(X, FORMS["frame"])
        np.testing.assert_allclose(again.predict(X), model.predict(X), atol=1e-12)
        assert type(model).__name__ in repr(model)
        assert type(model).__name__ in model._repr_html_()


def test_parts_add_up():
    parts = np.asarray(MODEL.contributions(X)).sum(axis=1) + MODEL.intercept_
    np.testing.assert_allclose(parts, MODEL.predict(X), atol=1e-9)
    linear = MKLSurvival(Linear()).fit(X, Y)
    np.testing.assert_allclose(X @ linear.coef_ + linear.intercept_, linear.predict(X), atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_inspection_reads_every_form_of_y(form, search):
    y = FORMS[form]
    for model in (MODEL, search):
        found = inspection.weight_stability(model, X, y, n_resamples=4, random_state=0, method="pairs")
        assert found.names[0] == "a"
    needed = inspection.importance(MODEL, X, y, cv=3, n_repeats=2, random_state=0)
    assert needed.metric == "C index"
    assert needed.columns()["name"][0] == "x0"
    tested = inspection.significance(MODEL, X, y)
    assert tested.p_value[0] < 1e-3 < 0.05 < tested.p_value[1]
    null = inspection.permutation_test(MODEL, X, y, cv=3, n_permutations=2)
    assert null.score > max(null.null)
    compared = mk.compare({"ours": MKLSurvival(Linear()), "named": "sparse"}, X, y, cv=3, tune=False)
    assert compared.metric == "C index"
    assert min(one.mean for one in compared.scores.values()) > 0.7


def test_what_is_for_other_tasks_says_so():
    with pytest.raises(TypeError, match="expected a regression model"):
        inspection.explained_parts(MODEL, X, Y)
    with pytest.raises(ValueError, match="'alignf' does not learn times to an event; expected"):
        mk.compare(["sparse", "alignf"], X, Y)
    with pytest.raises(ValueError, match=r"such as manykernels\.survival\.UnoScorer"):
        MKLSurvivalCV(VIEWS, scoring="r2").fit(X, Y)
    with pytest.raises(ValueError, match="Take MKLSurvival"):
        MKLRegressor().fit(X, FORMS["strata"])


def test_plots_are_drawn(search):
    for model in (MODEL, search):
        plots.WeightsDisplay.from_estimator(model)
        plots.ContributionDisplay.from_estimator(model, X)
        plots.ConvergenceDisplay.from_estimator(model)
    plots.PathDisplay.from_estimator(search)
    plots.PathDisplay.from_estimator(MODEL, X, FORMS["frame"], Cs=[0.1, 1.0])


def test_searches_of_scikit_learn():
    for scorer in (None, ConcordanceScorer(), UnoScorer(), BrierScorer()):
        pipe = make_pipeline(StandardScaler(), MKLSurvival(Linear()))
        found = GridSearchCV(pipe, {"mklsurvival__C": [0.01, 1.0]}, cv=3, scoring=scorer).fit(X, Y)
        assert np.isfinite(found.cv_results_["mean_test_score"]).all()
        assert found.predict(X).shape == (N,)


def test_a_search_takes_every_scorer_of_times():
    """Scorers that weigh by censoring, or read survival curves, are told of the training part."""
    for scorer in (ConcordanceScorer(), UnoScorer(), BrierScorer()):
        ours = MKLSurvivalCV(VIEWS, norms=(1.0,), Cs=[0.1, 1.0], cv=3, scoring=scorer, tol=1e-6).fit(X, Y)
        assert np.isfinite(ours.best_score_)
    events = np.flatnonzero(EVENT)
    cut = [(np.setdiff1d(np.arange(N), events[::2]), events[::2])]
    found = MKLSurvivalCV({"a": Linear()}, norms=(1.0,), Cs=[1.0], cv=cut, scoring=BrierScorer(), tol=1e-8)
    plain = MKLSurvival(Linear(), tol=1e-8).fit(X[cut[0][0]], Y[cut[0][0]])
    expected = BrierScorer()(plain, X[cut[0][1]], Y[cut[0][1]])
    assert found.fit(X, Y).best_score_ == pytest.approx(expected, abs=1e-3)


def test_metadata_is_routed():
    Z, K = X[:, 2:3], np.stack([X[:, :2] @ X[:, :2].T], axis=-1)
    weight = 1.0 + np.arange(N) % 2
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLSurvival("precomputed").set_fit_request(sample_weight=True, covariates=True)
        model.set_score_request(covariates=True, sample_weight=True)
        given = {"sample_weight": weight, "covariates": Z}
        scores = cross_val_score(model, K, Y, cv=3, params=given, error_score="raise")
        weighed = UnoScorer().set_score_request(sample_weight=True)
        own = MKLSurvival(VIEWS).set_fit_request(sample_weight=True)
        uno = cross_val_score(own, X, Y, cv=3, scoring=weighed, params={"sample_weight": weight})
    assert scores.min() > 0.5 < uno.min()
