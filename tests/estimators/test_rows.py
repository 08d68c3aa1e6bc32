"""Merging equal samples: what comes back, and that the order does not matter."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manykernels.fitting.rows import merge


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=12))
def test_merged_rows_hold_all_the_weight_and_nothing_twice(samples):
    x, y, w = (np.array(column, dtype=float) for column in zip(*samples, strict=True))
    kept = np.flatnonzero(w > 0)
    if kept.size == 0:
        return
    rows = merge(x[:, None], "array", y[kept, None], w, kept)
    pairs = list(zip(x[rows.first], y[rows.first], strict=True))
    assert len(set(pairs)) == len(pairs) and rows.weight.sum() == w.sum()
    for pair, weight in zip(pairs, rows.weight, strict=True):
        assert weight == sum(c for a, b, c in samples if (a, b) == pair)
    alpha = np.arange(1.0, rows.first.size + 1)[:, None]
    spread = rows.spread(alpha)
    np.testing.assert_allclose(rows.gather(spread), alpha)
    assert not spread[w == 0].any()


@pytest.mark.parametrize("kind", ["array", "sparse", "table", "items", "objects"])
def test_the_order_is_the_same_however_samples_come(kind):
    rng = np.random.RandomState(0)
    X = rng.randint(0, 3, (30, 2)).astype(float)
    y = rng.randint(0, 2, (30, 1)).astype(float)
    order = rng.permutation(30)
    text = np.array([f"{a:.0f}{b:.0f}" for a, b in X], dtype=object)
    mixed = np.array([str(a) if a > 1 else int(a) for a in X[:, 0]], dtype=object)
    data, how = {
        "array": (X, "array"),
        "sparse": (sparse.csr_array(X), "array"),
        "table": (pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(str), "c": mixed}), "table"),
        "items": (text, "items"),
        "objects": (np.array([(a, b) for a, b in X] + [None], dtype=object)[:30], "items"),
    }[kind]
    shuffled = data.iloc[order] if hasattr(data, "iloc") else data[order]
    w = np.ones(30)
    one = merge(data, how, y, w, np.arange(30))
    two = merge(shuffled, how, y[order], w, np.arange(30))
    np.testing.assert_array_equal(one.weight, two.weight)
    np.testing.assert_array_equal(X[one.first], X[order][two.first])
    assert one.first.size == len({(*a, *b) for a, b in zip(X, y, strict=True)})


def test_minus_zero_is_zero():
    rows = merge(np.array([[0.0], [-0.0]]), "array", np.ones((2, 1)), np.ones(2), np.arange(2))
    assert rows.first.size == 1


def test_things_without_an_order_stay_as_they_are():
    things = np.array([object(), object(), {1: 2}], dtype=object)
    rows = merge(things, "items", np.ones((3, 1)), np.ones(3), np.arange(3))
    assert rows.first.size == 3
