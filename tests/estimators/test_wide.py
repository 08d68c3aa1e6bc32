"""Wide tables: the work grows with the columns, not with their square."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.utils.validation as validation

from manykernels import MKLClassifier
from manykernels.fitting import layout, rows
from manykernels.fitting.tables import read_table
from manykernels.kernels import Linear, OnColumns, Spectrum, preparation
from manykernels.kernels.data import take_columns
from manykernels.kernels.preparation import Preparation

rng = np.random.default_rng(0)
y = np.where(np.arange(30) % 2, "a", "b")


def frame(width, library=pd):
    table = rng.normal(size=(30, width)) + (y == "a")[:, None]
    names = [f"c{j}" for j in range(width)]
    return pd.DataFrame(table, columns=names) if library is pd else pl.DataFrame(table, schema=names)


@pytest.mark.parametrize("library", [pd, pl])
def test_scikit_learn_is_given_the_numbers_of_a_frame(library, monkeypatch):
    """It would go through the types of all columns, which takes longer than a fit of many columns."""
    seen = []
    check = validation.check_array

    def spied(X, *args, **kwargs):
        seen.append(type(X))
        return check(X, *args, **kwargs)

    monkeypatch.setattr(validation, "check_array", spied)
    monkeypatch.setattr(layout, "check_array", spied)
    X = frame(7, library)
    model = MKLClassifier().fit(X, y)
    model.predict(X[:3])
    assert np.ndarray in seen and type(X) not in seen
    assert model.feature_names_in_.tolist() == list(X.columns)


def test_what_tells_preparations_apart_does_not_grow_with_the_columns():
    """Kernels are told apart by it again and again, and files hold it."""
    few, many = (Preparation().fit(frame(width).to_numpy()) for width in (3, 300))
    assert len(few.key_) == len(many.key_)
    X = frame(3)
    assert Preparation().fit(X).key_ == Preparation().fit(X.copy()).key_
    others = [X * 2.0, X + 1.0, X.mask(X > 1.0), X[["c0", "c1"]], X**3, X[:20]]
    assert len({Preparation().fit(other).key_ for other in [X, *others]}) == 1 + len(others)


@pytest.mark.parametrize("library", [pd, pl])
def test_rows_of_a_table_are_compared_by_all_its_numbers_at_once(library, monkeypatch):
    """Only columns of other kinds are looked at one by one."""
    looked = []
    of = rows.column_of
    monkeypatch.setattr(rows, "column_of", lambda X, j: looked.append(j) or of(X, j))
    X = frame(50, pd)
    X["c7"] = np.where(np.arange(30) < 4, np.nan, np.round(X["c7"]))
    X["word"] = np.where(np.arange(30) % 3, "x", "yz")
    X["large"] = 2**60 + np.arange(30) % 5  # whole numbers which as floats would all be the same
    twice = pd.concat([X, X[3:9]], ignore_index=True)
    if library is pl:
        twice = pl.from_pandas(twice)
    merged = rows.merge(twice, "table", np.zeros((36, 1)), np.ones(36), np.arange(36))
    assert sorted(merged.first.tolist()) == list(range(30))
    np.testing.assert_array_equal(merged.owner[30:], merged.owner[3:9])
    assert looked == [50, 51]


@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_of_a_table_are_taken_in_runs_of_columns(library, monkeypatch):
    """pandas takes a list of columns one by one, and a slice at once."""
    X = frame(40, pd)
    X.insert(10, "word", "x")
    X.insert(30, "other", "y")
    X = X if library is pd else pl.from_pandas(X)
    taken = []
    take = preparation.take_columns
    monkeypatch.setattr(
        preparation, "take_columns", lambda X, columns: taken.append(columns) or take(X, columns)
    )
    plain = [j for j in range(42) if j not in (10, 30)]
    A = preparation.number_matrix(X, plain, {})
    assert taken == [slice(0, 10), slice(11, 30), slice(31, 42)]
    expected = np.column_stack([np.asarray(X[name]) for j, name in enumerate(X.columns) if j not in (10, 30)])
    np.testing.assert_array_equal(A, expected)
    np.testing.assert_array_equal(preparation.number_matrix(X, [41, 2, 3, 0], {}), expected[:, [39, 2, 3, 0]])


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("columns", [[2, 3, 4], [-3, -2, -1], [-1, 0, 1], [4, 3, 2], [5]])
def test_neighbouring_columns_are_those_that_were_asked_for(library, columns):
    X = frame(6, library)
    np.testing.assert_array_equal(np.asarray(take_columns(X, columns)), np.asarray(X)[:, columns])


def test_a_table_from_a_csv_file_is_held_in_few_blocks():
    """pandas keeps each of its columns by itself, and would go through all of them in every fold."""
    text = frame(150).assign(word=np.where(np.arange(30) % 3, "x", "yz")).to_csv(index=False)
    X = pd.read_csv(io.StringIO(text))
    model = MKLClassifier([OnColumns(Linear(), list(X.columns[:150])), OnColumns(Spectrum(1), "word")])
    model.fit(X, y)
    assert runs_of_memory(model.X_fit_) == 1
    assert runs_of_memory(read_table(X[list(X.columns)], model.kernels)) == 1


def runs_of_memory(X):
    """How many pieces of memory the numbers are in: columns of one piece begin where the last one ends."""
    starts = [X.iloc[:, j].to_numpy().__array_interface__["data"][0] for j in range(150)]
    step = X.shape[0] * 8
    return 1 + sum(abs(b - a) not in (8, step) for a, b in itertools.pairwise(starts))
