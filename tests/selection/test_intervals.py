"""Intervals by CV+ against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels.selection.intervals import HeldOut, count_of, intervals, rank_of

rng = np.random.RandomState(0)


def by_definition(f, r, k, coverage):
    """Sorted lists, one new sample at a time."""
    n, ends = len(r), []
    rank = int(np.ceil(round(coverage * (n + 1), 9)))
    for column in f.T:
        low, high = np.sort(column[k] - r), np.sort(column[k] + r)
        ends.append((low[n - rank], high[rank - 1]))
    return np.array(ends)


@pytest.mark.parametrize("sizes", [(40,), (13, 12, 15)])
@pytest.mark.parametrize("coverage", [0.6, 0.9, 0.95])
def test_the_definition(sizes, coverage):
    parts = [HeldOut(None, np.abs(rng.randn(m)), None) for m in sizes]
    f = 0.1 * rng.randn(len(sizes), 7)
    r, k = np.concatenate([p.errors for p in parts]), np.repeat(np.arange(len(sizes)), sizes)
    found = intervals(parts, list(f), coverage)
    np.testing.assert_allclose(found, by_definition(f, r, k, coverage), rtol=1e-12)
    both = [HeldOut(None, np.c_[p.errors, 2.0 * p.errors], None) for p in parts]
    two = intervals(both, [np.c_[row, row] for row in f], coverage)
    assert two.shape == (7, 2, 2)
    np.testing.assert_array_equal(two[:, :, 0], found)


def test_blocks_change_nothing(monkeypatch):
    parts = [HeldOut(None, np.abs(rng.randn(20)), None), HeldOut(None, np.abs(rng.randn(21)), None)]
    f = list(rng.randn(2, 50))
    whole = intervals(parts, f, 0.9)
    monkeypatch.setattr("manykernels.selection.intervals._CELLS", 100)
    np.testing.assert_array_equal(intervals(parts, f, 0.9), whole)


def test_a_weight_is_a_repetition():
    errors, w = np.abs(rng.randn(30)), rng.randint(0, 4, size=30).astype(float)
    weighted = [HeldOut(None, errors, w)]
    repeated = [HeldOut(None, np.repeat(errors, w.astype(int)), None)]
    assert count_of(weighted) == count_of(repeated)
    f = [rng.randn(5)]
    for coverage in (0.5, 0.8, 0.9):
        np.testing.assert_allclose(
            intervals(weighted, f, coverage), intervals(repeated, f, coverage), rtol=1e-12
        )


def test_too_few_samples_are_infinite():
    parts = [HeldOut(None, np.ones(8), None)]
    assert rank_of(0.9, 8) == 9 and rank_of(0.9, 9) == 9
    assert np.array_equal(intervals(parts, [np.zeros(2)], 0.9), [[-np.inf, np.inf]] * 2)
    assert np.isfinite(intervals([HeldOut(None, np.ones(9), None)], [np.zeros(2)], 0.9)).all()
    assert rank_of(0.9, 109) == 99  # 0.9 · 110 is 99.00000000000001 in floating point


def test_split_conformal_covers_as_proven():
    """The mean coverage of one fold lies between c and c + 1/(n + 1), by Monte Carlo."""
    n, draws, coverage = 19, 4000, 0.8
    errors, new = np.abs(rng.randn(draws, n)), np.abs(rng.randn(draws))
    half = np.array([intervals([HeldOut(None, e, None)], [np.zeros(1)], coverage)[0, 1] for e in errors])
    inside = np.mean(new <= half)
    room = 3.0 * np.sqrt(coverage * (1 - coverage) / draws)
    assert coverage - room <= inside <= coverage + 1.0 / (n + 1) + room
