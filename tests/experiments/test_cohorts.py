"""Pickles of frames are read, and no others; splits and figures of the survival experiment."""

from __future__ import annotations

import io
import os
import pickle

import numpy as np
import pytest
from experiments.cohorts import convert

pd = pytest.importorskip("pandas")


def test_a_frame_is_rebuilt_and_becomes_numbers_and_categories():
    frame = pd.DataFrame({"pid": [7, 7, 9], "event": [1, 0, 2], "time": [3.0, 4.0, 5.0]})
    frame["num_a"] = [1.0, np.nan, 2.0]
    frame["fac_a"] = pd.Categorical(["u", None, "v"], categories=["v", "u"])
    frame["fac_b"] = pd.Categorical(["x", "x", "y"])
    parts = convert.parts_of(frame, "said")
    assert parts["feature_names"].tolist() == ["num_a", "fac_a", "b"]
    assert np.array_equal(parts["X"][:, 1], [1.0, np.nan, 0.0], equal_nan=True)
    assert parts["levels"].tolist() == ["v", "u", "x", "y"] and parts["n_levels"].tolist() == [2, 2]
    assert parts["event"].tolist() == [True, False, True] and parts["subject"].tolist() == [0, 0, 1]


class Attack:
    def __reduce__(self):
        return os.system, ("echo this must not run",)


@pytest.mark.parametrize("wanted", [Attack(), eval, getattr, np.load])
def test_a_pickle_of_anything_else_is_refused(wanted):
    with pytest.raises(pickle.UnpicklingError, match="only what a pandas frame is made of"):
        convert.frame_of(io.BytesIO(pickle.dumps(wanted)))


def test_arrays_are_rebuilt():
    X = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(convert.frame_of(io.BytesIO(pickle.dumps(X))), X)
