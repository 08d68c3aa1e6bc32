"""Raw tables as numbers: names, output, weights, and what is said."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.estimators.test_tables import FRAME, QUIET, Y

from manykernels import load, save
from manykernels.estimators import TablePreparer
from manykernels.families import TableWarning


@QUIET
def test_numbers_have_names():
    ready = TablePreparer().set_output(transform="pandas").fit(FRAME)
    made = ready.transform(FRAME)
    assert list(made.columns) == list(ready.get_feature_names_out())
    assert [name for name in made if "missing" in name] == ["age missing", "visit missing", "place=missing"]
    assert np.isfinite(made.to_numpy()).all() and abs(made["age"].mean()) < 1e-9
    assert ready.n_features_in_ == 8 and list(ready.feature_names_in_) == list(FRAME.columns)


@QUIET
def test_names_that_meet_are_told_apart():
    table = pd.DataFrame({"a": ["b", "c"] * 5, "a=b": np.arange(10) % 3})
    assert list(TablePreparer().fit(table).get_feature_names_out()) == ["a=b", "a=b (2)", "a=c"]


@QUIET
def test_weights_are_repetition():
    weight = np.random.RandomState(0).randint(1, 4, len(FRAME))
    rows = np.repeat(np.arange(len(FRAME)), weight)
    numbers = FRAME[["age", "visit", "place"]]
    weighted = TablePreparer().fit(numbers, sample_weight=weight).transform(numbers)
    np.testing.assert_allclose(
        weighted, TablePreparer().fit(numbers.iloc[rows]).transform(numbers), atol=1e-9
    )


def test_what_is_left_out_is_said():
    with pytest.warns(TableWarning) as caught:
        TablePreparer().fit(FRAME)
    said = [str(warning.message) for warning in caught]
    assert len(said) == 4 and "'smiles' is left out: text has no numbers" in said[-1]
    for wrong in (FRAME[["smiles"]], sparse.eye_array(5).tocsr()):
        with pytest.raises(ValueError, match=r"nothing to prepare|sparse matrix"):
            TablePreparer().fit(wrong)


@QUIET
@parametrize_with_checks([TablePreparer()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@QUIET
def test_before_estimators_of_others(tmp_path):
    model = make_pipeline(TablePreparer(), Ridge()).fit(FRAME, Y)
    assert model.score(FRAME, Y) > 0.5 and clone(model).fit(FRAME, Y).score(FRAME, Y) > 0.5
    save(model, tmp_path / "m")
    np.testing.assert_allclose(load(tmp_path / "m").predict(FRAME), model.predict(FRAME))
