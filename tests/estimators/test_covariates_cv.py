"""Covariates in searches: in every strategy, learned anew in every fold, and asked for again in predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import KFold, cross_val_score, cross_validate
from sklearn.svm import SVR
from tests.estimators.test_covariates import BESIDE, LABELS, TABLE, X, Y

from manykernels import MKLClassifierCV, MKLRegressor, MKLRegressorCV
from manykernels.approx import Nystroem
from manykernels.families import Gaussians
from manykernels.kernels import Gaussian, Linear

TWO = [Gaussian(2.0), Linear()]
CS = [1.0, 10.0]


@pytest.mark.parametrize(
    "given",
    [
        {"kernels": "auto"},
        {"kernels": Gaussians(0.5, 5.0), "norms": [1.0]},
        {"kernels": TWO, "approx": Nystroem(15)},
        {"kernels": TWO, "norms": [1.0], "cv": "loo"},
        {"kernels": TWO, "loss": "epsilon_insensitive"},
    ],
    ids=["auto", "family", "features", "loo", "corners"],
)
def test_searches_adjust_for_covariates(given: dict[str, Any]) -> None:
    asked = {"cv": 3, **given, "Cs": CS, "random_state": 0, "covariates": ["age", "site"]}
    model = MKLRegressorCV(**asked).fit(TABLE, Y)
    np.testing.assert_allclose(model.covariate_coef_, [0.1, 2.0, -1.0], atol=0.5)
    assert model.covariate_names_ == ["age", "site=B", "site=C"]
    assert model.best_score_ > 0.6
    assert model.n_features_in_ == 5


def test_folds_are_those_of_models_fitted_by_themselves() -> None:
    """Nothing of a held-out sample is known: the score is that of refitted models."""
    folds = KFold(4)
    model = MKLRegressorCV(
        TWO, strategy="finite", norms=[1.0], Cs=[1.0], cv=folds, covariates=["age", "site"]
    )
    path = model.fit(TABLE, Y).path_["finite"]
    whole = [i for i, kernels in enumerate(path["kernels"]) if kernels is None]
    alone = cross_val_score(
        MKLRegressor(TWO, solver="active-set", tol=1e-2, covariates=["age", "site"]), TABLE, Y, cv=folds
    )
    assert path["score"][whole[0]] == pytest.approx(alone.mean(), abs=1e-3)


def test_covariates_beside_samples() -> None:
    model = MKLClassifierCV(TWO, Cs=CS, cv=3).fit(X, LABELS, covariates=BESIDE)
    assert model.score(X, LABELS, covariates=BESIDE) > 0.8
    chances = model.predict_proba(X, covariates=BESIDE)
    assert np.mean(model.classes_[chances.argmax(axis=1)] == model.predict(X, covariates=BESIDE)) > 0.95
    assert model.decision_function(X, covariates=BESIDE).shape == (len(X),)
    with pytest.raises(ValueError, match="covariates are missing"):
        model.predict(X)


def test_what_takes_no_covariates_is_refused() -> None:
    with pytest.raises(ValueError, match="'SVR', which takes none"):
        MKLRegressorCV(TWO, strategy=["finite", SVR()], covariates=["age"]).fit(TABLE[["a", "age"]], Y)
    with pytest.raises(ValueError, match="multi_output='own'"):
        MKLRegressorCV(TWO, multi_output="own").fit(X, np.column_stack([Y, Y]), covariates=BESIDE)


def test_routed_by_scikit_learn() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLRegressor(TWO).set_fit_request(covariates=True).set_score_request(covariates=True)
        routed = cross_validate(model, X, Y, params={"covariates": BESIDE}, cv=3)["test_score"]
    named = cross_val_score(MKLRegressor(TWO, covariates=["age", "site"]), TABLE, Y, cv=3)
    np.testing.assert_allclose(routed, named, atol=1e-8)


def test_a_level_of_one_fold_is_an_average_one_there() -> None:
    table = TABLE.copy()
    table.loc[3, "site"] = "rare"
    with pytest.warns(UserWarning, match="'site' is rare in 1 sample"):
        model = MKLRegressorCV(TWO, Cs=CS, cv=3, covariates=["age", "site"]).fit(table, Y)
    assert model.covariate_names_ == ["age", "site=B", "site=C", "site=rare"]
