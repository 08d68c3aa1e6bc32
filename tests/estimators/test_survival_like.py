"""Targets of survival analysis are called by their name, and other pairs are not taken for them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manykernels import AlignMKLRegressor, MKLClassifier, MKLClassifierCV, MKLRegressor, UFOMKLRegressor
from manykernels.kernels import Linear

RNG = np.random.RandomState(0)
X = RNG.randn(12, 2)
EVENT, TIME = np.arange(12) % 3 > 0, RNG.rand(12) + 1.0
PAIRS = list(zip(EVENT.tolist(), TIME.tolist(), strict=True))
SURVIVAL = {
    "structured": np.array(PAIRS, dtype=[("event", bool), ("time", float)]),
    "pandas": pd.DataFrame({"time": TIME, "dead": EVENT}),
    "polars": pl.DataFrame({"d": EVENT, "t": TIME}),
    "numbers with names": pd.DataFrame({"Time": TIME, "Status": EVENT.astype(int)}),
    "list": PAIRS,
    "objects": pd.DataFrame({"time": TIME, "dead": EVENT}).to_numpy(dtype=object),
}


@pytest.mark.parametrize("kind", SURVIVAL)
@pytest.mark.parametrize(
    "face", [MKLClassifier, MKLRegressor, AlignMKLRegressor, UFOMKLRegressor, MKLClassifierCV]
)
def test_a_time_to_an_event_is_refused_by_name(kind, face):
    with pytest.raises(ValueError, match=r"pairs of an event and a time .*Take MKLSurvival"):
        face(Linear()).fit(X, SURVIVAL[kind])


@pytest.mark.parametrize(
    "y",
    [X, pd.DataFrame(X, columns=["event", "time"]), pd.DataFrame({"a": EVENT, "b": ~EVENT}).astype(float)],
)
def test_two_numbers_are_two_outputs(y):
    assert MKLRegressor(Linear()).fit(X, y).predict(X).shape == (12, 2)
