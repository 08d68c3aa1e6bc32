"""The experiment on ensembles of kernel predictors: its tables, and what is compared with what."""

import numpy as np
import pytest
from experiments.kernel_ensembles import rows, view_rows


def trials(errors):
    return [
        {method: {"error": e, "active": 1.0} for method, e in zip(errors, column, strict=True)}
        for column in zip(*errors.values(), strict=True)
    ]


def test_differences_are_from_the_best_learned_kernel():
    found = trials({"unif": [0.3, 0.5], "alignf": [0.2, 0.4], "l1 ensemble, three folds": [0.1, 0.5]})
    table = rows("regression", found)
    assert [row["method"] for row in table] == list(found[0])
    np.testing.assert_allclose(table[2]["less alignf's"].values, [-0.1, 0.1])
    np.testing.assert_allclose(table[1]["less alignf's"].values, 0.0)


def test_views_in_a_row():
    errors = {"plain sum": [3.0], "learned, norm 2": [2.0], "learned, norm 1": [4.0]}
    (row,) = view_rows("made", trials(errors | {"l1 ensemble": [1.0], "l2 ensemble": [5.0]}))
    assert row["set"] == "made" and row["draws"] == 1
    assert (row["l1 ensemble less norm 2"].mean, row["l2 ensemble less norm 2"].mean) == (-1.0, 3.0)


@pytest.mark.slow
def test_it_runs(quick):
    tables = quick("kernel_ensembles")
    assert len(tables) == 6 and all("l2 ensemble" in str(table) for table in tables.values())
