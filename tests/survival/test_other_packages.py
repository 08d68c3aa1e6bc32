"""The linear case is ridge Cox as scikit-survival and lifelines have it, and their habits work with ours.

The numbers were computed by scikit-survival 0.28 and lifelines 0.30; where these are installed, they are
asked again.
"""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from manykernels import MKLSurvival, MKLSurvivalCV, compare
from manykernels.kernels import Linear
from manykernels.survival import BrierScorer, UnoScorer, integrated_brier_score, uno_c

X = np.array(
    [
        *([0.5, -1.0], [1.5, 0.0], [-0.5, 2.0], [2.0, 1.0], [-1.0, -0.5], [0.0, 0.5]),
        *([1.0, -2.0], [-2.0, 1.5], [0.25, 0.75], [-0.75, -1.25], [1.25, 0.25], [-1.5, -0.25]),
    ]
)
TIME = np.array([2.0, 1.0, 5.0, 1.0, 6.0, 3.0, 2.0, 8.0, 3.0, 7.0, 2.0, 4.0])  # with ties
EVENT = np.array([1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1], dtype=bool)
N, PENALTY = len(X), 0.1
ALPHA = 0.5
COEF = {"breslow": [1.4007785500, -0.1115358308], "efron": [1.4742917401, -0.1259446691]}
SURVIVAL = [0.8917651252, 0.3553444610, 0.0075770628]  # of the first sample at 1, 3 and 6, ties="breslow"
LIFELINES = {  # of the columns divided by their deviations, ties="efron"
    "plain": ([1.0438918355, -0.1041393597], {}),
    "strata": ([0.9107587893, -0.1544875865], {"stratum": np.arange(N) % 2}),
    "entry": ([0.7670060917, -0.0614046761], {"entry": 0.4 * TIME}),
}


def ridge(X, y, alpha, ties):
    return MKLSurvival(Linear(), normalize=None, C=1.0 / alpha, ties=ties, tol=1e-10).fit(X, y)


@pytest.mark.parametrize("ties", COEF)
def test_one_linear_kernel_is_ridge_cox(ties):
    model = ridge(X, np.column_stack([EVENT, TIME]), ALPHA, ties)
    np.testing.assert_allclose(model.coef_, COEF[ties], atol=1e-6)
    if ties == "breslow":
        S = model.predict_survival_function(X[:1], [1.0, 3.0, 6.0])[0]
        np.testing.assert_allclose(S, SURVIVAL, atol=1e-6)


@pytest.mark.parametrize("case", LIFELINES)
def test_penalty_strata_and_entries_are_those_of_lifelines(case):
    """It scales columns, and penalises the mean: its penalizer is α/n."""
    expected, more = LIFELINES[case]
    scale = X.std(axis=0, ddof=1)
    y = pd.DataFrame({"event": EVENT, "time": TIME, **more})
    model = ridge(X / scale, y, PENALTY * N, "efron")
    np.testing.assert_allclose(model.coef_ / scale, expected, atol=1e-6)


def test_columns_of_a_frame_are_known_by_what_they_hold():
    expected = MKLSurvival(Linear()).fit(X, np.column_stack([EVENT, TIME])).predict(X)
    given = pd.DataFrame({"T": TIME, "E": EVENT.astype(int)})
    for y in (given, given[["E", "T"]], pd.DataFrame({"week": TIME, "arrest": EVENT})):
        np.testing.assert_array_equal(MKLSurvival(Linear()).fit(X, y).predict(X), expected)


def test_curves_have_the_names_of_scikit_survival():
    model = MKLSurvival(Linear()).fit(X, np.column_stack([EVENT, TIME]))
    curves = model.predict_survival_function(X)
    S = model.predict_survival_function(X, return_array=True)
    assert S.shape == (N, len(model.unique_times_))
    for row, curve in zip(S, curves, strict=True):
        np.testing.assert_array_equal(curve.x, model.unique_times_)
        np.testing.assert_array_equal(curve.y, row)
        assert curve.domain == (0.0, 8.0)
        np.testing.assert_array_equal(curve(curve.x), curve.y)
    H = model.predict_cumulative_hazard_function(X, return_array=True)
    np.testing.assert_allclose(np.exp(-H), S)


class Marker(BaseEstimator):
    """Of another package: the first column is the risk; y has the two fields that such packages expect."""

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0]


def test_a_search_takes_estimators_of_other_packages():
    y = np.column_stack([EVENT, TIME])
    search = MKLSurvivalCV({"noise": Linear()}, strategy=[Marker()], cv=2).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), X[:, 0])
    assert search.score(X, y) > 0.7
    with pytest.raises(ValueError, match="the search chose Marker, which is a model of another package"):
        search.predict_survival_function(X)


# -- where they are installed ---------------------------------------------------------------------
def drawn(n=80):
    rng = np.random.RandomState(1)
    X = rng.randn(n, 3)
    death, last = rng.exponential(np.exp(-X[:, 0])), rng.exponential(2.0, n)
    return X, death <= last, np.minimum(death, last)


@pytest.mark.parametrize("ties", COEF)
def test_scikit_survival_agrees(ties):
    linear_model = pytest.importorskip("sksurv.linear_model")
    util = pytest.importorskip("sksurv.util")
    X, event, time = drawn()
    y = util.Surv.from_arrays(event, np.ceil(5.0 * time))
    theirs = linear_model.CoxPHSurvivalAnalysis(alpha=3.0, ties=ties, tol=1e-14, n_iter=200).fit(X, y)
    np.testing.assert_allclose(ridge(X, y, 3.0, ties).coef_, theirs.coef_, atol=1e-6)


def test_lifelines_agrees():
    lifelines = pytest.importorskip("lifelines")
    X, event, time = drawn()
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(T=np.ceil(5.0 * time), E=event)
    theirs = lifelines.CoxPHFitter(penalizer=PENALTY, l1_ratio=0.0).fit(table, "T", "E")
    scale = X.std(axis=0, ddof=1)
    ours = ridge(X / scale, table[["T", "E"]], PENALTY * len(X), "efron")
    np.testing.assert_allclose(ours.coef_ / scale, theirs.params_, atol=1e-5)


def test_metrics_and_searches_of_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics")
    util = pytest.importorskip("sksurv.util")
    X, event, time = drawn()
    y, at = util.Surv.from_arrays(event, time), np.quantile(time, [0.2, 0.4, 0.6])
    model = MKLSurvival(Linear()).fit(X, y)
    risk, S = model.predict(X), np.vstack([f(at) for f in model.predict_survival_function(X)])
    assert model.score(X, y) == pytest.approx(metrics.concordance_index_censored(event, time, risk)[0])
    theirs = metrics.concordance_index_ipcw(y, y, risk, tau=at[-1])[0]
    assert uno_c((event, time), (event, time), risk, at[-1]) == pytest.approx(theirs)
    theirs = metrics.integrated_brier_score(y, y, S, at)
    assert integrated_brier_score((event, time), (event, time), S, at) == pytest.approx(theirs)
    wrapped = metrics.as_concordance_index_ipcw_scorer(MKLSurvival(Linear()), tau=at[-1])
    assert GridSearchCV(wrapped, {"estimator__C": [0.1, 1.0]}, cv=3).fit(X, y).best_score_ > 0.6


def test_their_preparation_and_estimators():
    linear_model = pytest.importorskip("sksurv.linear_model")
    preprocessing, util = pytest.importorskip("sksurv.preprocessing"), pytest.importorskip("sksurv.util")
    X, event, time = drawn()
    y = util.Surv.from_arrays(event, time)
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(g=pd.Categorical(np.where(X[:, 1] > 0, "u", "v")))
    pipe = make_pipeline(preprocessing.OneHotEncoder(), MKLSurvival()).fit(table, y)
    assert pipe.score(table, y) > 0.6
    cox = linear_model.CoxPHSurvivalAnalysis(alpha=1.0)
    for scorer in (UnoScorer(train=y), BrierScorer(train=y)):
        assert np.isfinite(scorer(cox.fit(X, y), X, y))
    compared = compare({"theirs": cox, "ours": MKLSurvival(Linear())}, X, y, cv=3)
    assert min(one.mean for one in compared.scores.values()) > 0.6
    search = MKLSurvivalCV(Linear(), strategy=["finite", cox], Cs=[1e-6], norms=(1.0,), cv=3).fit(X, y)
    assert search.predict(X).shape == (len(X),)
