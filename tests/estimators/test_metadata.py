"""Transformers give frames with names, and groups, weights and covariates reach estimators inside others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from manykernels import KernelAligner, MKLClassifier, MKLClassifierCV
from manykernels.approx import Nystroem
from manykernels.estimators import TablePreparer
from manykernels.kernels import Gaussian, Linear
from manykernels.recordings import Delayer

RNG = np.random.RandomState(0)
X = pd.DataFrame(RNG.randn(40, 3), columns=["age", "dose", "size"], index=[f"s{i}" for i in range(40)])
Y = (X["age"] + 0.3 * RNG.randn(40) > 0).to_numpy()
GROUPS = np.arange(40) % 8
WEIGHTS = np.where(np.arange(40) % 4 == 0, 5.0, 1.0)
KERNELS = [Linear(), Gaussian(1.0)]


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize(
    "transformer",
    [
        KernelAligner(KERNELS),
        KernelAligner(KERNELS, approx=Nystroem(5), random_state=0),
        TablePreparer(),
        Delayer([0, 1]),
    ],
    ids=["kernel", "features", "table", "delays"],
)
@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_transformers_give_frames_with_their_names(transformer, frame):
    pytest.importorskip(frame)
    plain = sklearn.clone(transformer).fit(X, Y)
    named = sklearn.clone(transformer).set_output(transform=frame).fit(X, Y)
    Z = named.transform(X)
    assert list(Z.columns) == plain.get_feature_names_out().tolist()
    np.testing.assert_allclose(Z.to_numpy(), plain.transform(X))
    if frame == "pandas":
        assert list(Z.index) == list(X.index)


def test_a_learner_takes_the_frame_of_a_learned_kernel():
    steps = KernelAligner(KERNELS), SVC(kernel="precomputed")
    plain = make_pipeline(*map(sklearn.clone, steps)).fit(X, Y)
    framed = make_pipeline(*map(sklearn.clone, steps)).set_output(transform="pandas").fit(X, Y)
    np.testing.assert_allclose(framed.decision_function(X), plain.decision_function(X))


def test_groups_reach_a_search_in_a_pipeline(routing):
    seen = []

    class Splitter(GroupKFold):
        def split(self, X, y=None, groups=None):
            seen.append(groups)
            return super().split(X, y, groups)

    search = MKLClassifierCV(KERNELS, Cs=[1.0], norms=[1.0], cv=Splitter(4))
    front = TablePreparer().set_fit_request(sample_weight=True)
    last = search.set_fit_request(groups=True, sample_weight=False)
    make_pipeline(front, last).fit(X, Y, groups=GROUPS, sample_weight=WEIGHTS)
    assert seen and all(np.array_equal(groups, GROUPS) for groups in seen)


def test_weights_reach_fits_and_scores_of_a_search_of_scikit_learn(routing):
    model = MKLClassifier(KERNELS, loss="squared").set_fit_request(sample_weight=True)
    model.set_score_request(sample_weight=True)
    found = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, Y, sample_weight=WEIGHTS)
    direct = MKLClassifier(KERNELS, loss="squared", **found.best_params_).fit(X, Y, WEIGHTS)
    np.testing.assert_allclose(found.decision_function(X), direct.decision_function(X))
    unweighted = MKLClassifier(KERNELS, loss="squared", **found.best_params_).fit(X, Y)
    assert np.abs(direct.decision_function(X) - unweighted.decision_function(X)).max() > 1e-3


def test_covariates_reach_fits_and_scores_of_folds(routing):
    model = MKLClassifier(KERNELS, loss="squared").set_fit_request(covariates=True)
    model.set_score_request(covariates=True)
    found = cross_validate(model, X, Y, params={"covariates": X[["age"]]}, cv=3, return_estimator=True)
    assert all(fitted.covariate_names_ == ["age"] for fitted in found["estimator"])
    assert np.isfinite(found["test_score"]).all()
