"""OnColumns: every kind of selection on every kind of data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from manykernels.kernels import Fitted, Gaussian, Laplacian, Linear, OnColumns, Polynomial, Spectrum
from manykernels.kernels.data import positions

rng = np.random.default_rng(0)
A = rng.normal(size=(12, 4))
NAMES = ["age", "height", "weight", "pulse"]
PANDAS = pd.DataFrame(A, columns=NAMES, index=rng.permutation(12))
POLARS = pl.DataFrame(A, schema=NAMES)
KERNEL = Gaussian(2.0)

BY_POSITION = [
    (1, [1]),
    (-1, [3]),
    (np.int64(2), [2]),
    ([0, 2], [0, 2]),
    ((2, 0), [2, 0]),
    (np.array([3, 1]), [3, 1]),
    (slice(1, 3), [1, 2]),
    (slice(None, None, 2), [0, 2]),
    ([True, False, True, False], [0, 2]),
    (np.array([False, True, True, False]), [1, 2]),
    (lambda X: [0, 3], [0, 3]),
]
BY_NAME = [
    ("height", [1]),
    (["weight", "age"], [2, 0]),
    (slice("height", "pulse"), [1, 2, 3]),
    (slice(None, "height"), [0, 1]),
    (slice("weight", None), [2, 3]),
]


@pytest.mark.parametrize(("columns", "expected"), BY_POSITION)
@pytest.mark.parametrize("X", [A, PANDAS, POLARS, sparse.csr_array(A), sparse.csc_matrix(A), A.tolist()])
def test_selection_by_position(X, columns, expected):
    check(X, columns, expected)


@pytest.mark.parametrize(("columns", "expected"), BY_NAME)
@pytest.mark.parametrize("X", [PANDAS, POLARS])
def test_selection_by_name(X, columns, expected):
    check(X, columns, expected)


@pytest.mark.parametrize("X", [PANDAS, POLARS])
def test_selection_by_a_function(X):
    check(X, lambda X: [c for c in X.columns if "h" in c], [1, 2])
    check(X, lambda X: "pulse", [3])


def check(X, columns, expected):
    for kernel in (KERNEL, Linear(), Laplacian(1.5), Polynomial(2)):
        chosen = OnColumns(kernel, columns)
        np.testing.assert_allclose(chosen(X), kernel(A[:, expected]), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(chosen.diag(X), kernel.diag(A[:, expected]), rtol=1e-12)


def test_strings_in_frames_and_object_arrays():
    words = ["acgt", "cgta", "ttt", "acg"]
    expected = Spectrum(2)(words)
    mixed = {"x": [1.0, 2.0, 3.0, 4.0], "s": words}
    for X in (pd.DataFrame(mixed), pl.DataFrame(mixed)):
        for columns in ("s", ["s"], 1):
            np.testing.assert_array_equal(OnColumns(Spectrum(2), columns)(X), expected)
    X = np.array(list(zip(mixed["x"], words, strict=True)), dtype=object)
    np.testing.assert_array_equal(OnColumns(Spectrum(2), 1)(X), expected)
    np.testing.assert_array_equal(OnColumns(Spectrum(2), 1)(X.tolist()), expected)
    np.testing.assert_allclose(OnColumns(Linear(), 0)(X), np.outer(mixed["x"], mixed["x"]))


def test_keys_are_equal_only_for_the_same_columns():
    selections = [
        0,
        [0, 1],
        [1, 0],
        slice(0, 2),
        [True, False],
        ["age"],
        "age",
        slice("age", None),
        len,
        KERNEL,
    ]
    keys = [OnColumns(KERNEL, columns).statistic for columns in selections]
    assert len(set(keys)) == len(keys) - 1  # "age" and ["age"] are the same numbers
    assert OnColumns(Gaussian(1.0), [0, 1]).statistic == OnColumns(Gaussian(2.0), np.array([0, 1])).statistic
    assert OnColumns(Gaussian(1.0), 0).statistic != OnColumns(Laplacian(1.0), 0).statistic
    assert OnColumns(Gaussian(1.0), 0).statistic == (("columns", (0,)), ("sqeuclidean",))
    assert OnColumns(Spectrum(2), 0).statistic is None
    nested = OnColumns(OnColumns(KERNEL, [1]), [0, 2])
    np.testing.assert_allclose(nested(A), KERNEL(A[:, [2]]))


def test_symmetric_when_both_sides_are_the_same():
    kernel = OnColumns(KERNEL, [0, 2])
    S = kernel.compute_statistic(A, A)
    assert np.array_equal(S, S.T) and not np.any(np.diagonal(S))


def test_view_can_be_read_on_the_fitted_kernel():
    kernel = OnColumns(KERNEL, [0], view="gene")
    assert Fitted(kernel).fit(A).view == kernel.view == "gene"


@pytest.mark.parametrize(
    ("X", "columns", "message"),
    [
        (PANDAS, "sex", "Column 'sex' is not in X, whose columns are 'age', 'height', 'weight', 'pulse'"),
        (POLARS, ["age", "sex"], "Column 'sex' is not in X"),
        (PANDAS, slice("sex", None), "Column 'sex' is not in X"),
        (A, "age", r"by name, but X \(ndarray of shape \(12, 4\)\) has no column names"),
        (A, 4, r"Column 4 was asked for, but X has 4 columns \(0 to 3\)"),
        (A, [0, -5], "Column -5 was asked for"),
        (A, [True, False], "mask of 2 columns was given for X with 4"),
        (A, None, "columns=None was given; expected"),
        (A, 1.5, "columns=1.5 was given"),
        (A, [0.5, 1.0], r"columns=\[0.5, 1.0\] was given"),
        (["acgt", "tt"], 0, "needs X of shape"),
        (A[:, 0], 0, "needs X of shape"),
    ],
)
def test_bad_columns(X, columns, message):
    with pytest.raises(ValueError, match=message):
        OnColumns(KERNEL, columns)(X)


def test_a_frame_is_asked_for_a_column_and_its_names_are_not_gone_through(monkeypatch):
    """Thousands of kernels may ask for a column each: going through all names for each is quadratic."""
    width = 400
    names = [f"c{j}" for j in range(width)]
    table = np.arange(3.0 * width).reshape(3, width)
    frames = [pd.DataFrame(table, columns=names), pl.DataFrame(table, schema=names)]
    through = []
    listed = pd.Index.__iter__

    def counted(self):
        through.append(len(self))
        return listed(self)

    monkeypatch.setattr(pd.Index, "__iter__", counted)
    monkeypatch.setattr(pl.DataFrame, "columns", property(lambda self: through.append(self.width)))
    for X in frames:
        assert positions(X, "c3") == 3 and positions(X, ["c2", "c0"]) == [2, 0]
    assert max(through, default=0) <= 2  # the names that were asked for


def test_frames_whose_names_repeat_give_the_last_column_of_a_name():
    X = pd.DataFrame(A, columns=["a", "b", "a", "c"])
    assert positions(X, ["a", "c"]) == [2, 3]
