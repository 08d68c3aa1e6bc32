"""The certified search over one width, against sums over all pairs at many widths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manykernels._fast import bins
from manykernels.kernels.stationary import manhattan, squared_distances
from manykernels.oracles import _widths
from manykernels.oracles._widths import WidthSearch

KINDS = [
    "ridge",
    "alignment",
    "random",
    "negative",
    "hollow",
    "waves",
    "fast waves",
    "alternating",
    "columns",
]
RATES = {"inverse-square": lambda sigma: 1.0 / sigma / sigma, "inverse": lambda sigma: 1.0 / sigma}


def points(n, d=3, seed=0):
    """A mixture of two scales, with a third of the points twice."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d) * np.where(rng.rand(n, 1) < 0.5, 0.1, 1.0)
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    return X


def signs(kind, X, D):
    """A symmetric S, or a factor of one, of each kind that solvers and adversaries ask for."""
    n, rng = len(D), np.random.RandomState(1)
    R = rng.randn(n, n)
    if kind == "ridge":
        K = np.exp(-D / (D.mean() + 1e-9))
        return np.linalg.solve(K + 0.01 * np.eye(n), np.sin(4.0 * X[:, :1]))
    if kind == "alignment":
        y, H = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0), np.eye(n) - 1.0 / n
        K, Y = H @ np.exp(-D / (D.mean() + 1e-9)) @ H, H @ np.outer(y, y) @ H
        return Y - K * (np.sum(K * Y) / max(np.sum(K * K), 1e-300))
    if kind == "columns":
        return rng.randn(n, 3)
    waves = np.cos(6.0 * np.log(D + np.eye(n) + 1e-9))
    order = np.argsort(np.argsort((D + D.T).ravel(), kind="stable")).reshape(n, n)
    S = {
        "random": R + R.T,
        "negative": -np.abs(R + R.T),
        "hollow": -np.abs(R + R.T),
        "waves": waves - waves.mean(),
        "fast waves": np.sign(np.cos(100.0 * np.sqrt(D))),
        "alternating": np.tril(1.0 - 2.0 * (order % 2), -1) + np.tril(1.0 - 2.0 * (order % 2), -1).T,
    }[kind]
    if kind not in ("random", "negative"):
        np.fill_diagonal(S, 0.0)
    return S


def as_matrix(S):
    return S if S.shape[0] == S.shape[1] else S @ S.T


def sums(D, S, rates):
    """h by sums over all pairs, in extended precision."""
    i, j = np.tril_indices(len(D), -1)
    s, d = 2.0 * S[i, j].astype(np.longdouble), D[i, j].astype(np.longdouble)
    return np.array([np.trace(S) + np.sum(s * np.exp(-np.longdouble(g) * d)) for g in rates], dtype=float)


def allowed(value, S):
    return 1e-6 * max(abs(value), 1e-7 * float(np.abs(S).sum()))


def check(D, S, low, high, count, rate="inverse-square", **options):
    """A bound, close to a value that is exact, that no width beats."""
    found = WidthSearch(D, low, high, rate, **options).best(S)
    S = as_matrix(S)
    grid = np.clip(np.geomspace(low, high, count), low, high)
    h = sums(D, S, RATES[rate](grid))
    size = float(np.abs(S).sum())
    assert low <= found.parameter <= high
    assert found.upper - found.value <= allowed(found.value, S)
    assert found.value >= h.max() - allowed(h.max(), S)
    assert found.upper >= h.max() - 1e-15 * size  # of the sum that it is compared to
    assert found.value == pytest.approx(
        sums(D, S, [RATES[rate](found.parameter)])[0], rel=1e-13, abs=1e-14 * size
    )
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 40])
def test_no_width_of_2000_beats_the_one_found(kind, n):
    X = points(n)
    D = squared_distances(X)
    check(D, signs(kind, X, D), 1e-2, 1e2, 2000)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "low, high", [(0.3, 0.3), (0.3, 0.3001), (1e-6, 1e6), (1e-60, 1e60), (1e3, 1e4), (1e-9, 1e-8)]
)
def test_tiny_huge_and_idle_ranges(kind, low, high):
    X = points(20)
    D = squared_distances(X)
    check(D, signs(kind, X, D), low, high, 300)


@pytest.mark.parametrize("kind", ["ridge", "random", "alternating"])
def test_distances_with_the_rate_of_laplacian_kernels(kind):
    X = points(40)
    D = manhattan(X)
    check(D, signs(kind, X, D), 1e-2, 1e2, 1000, "inverse")


@pytest.mark.parametrize("kind", ["ridge", "alignment", "hollow", "waves", "columns"])
def test_many_points_in_few_bins(kind):
    X = np.random.RandomState(0).randn(500, 60)
    D = squared_distances(X)
    check(D, signs(kind, X, D), 1e-1, 1e3, 12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 25])
def test_no_width_of_100000_beats_the_one_found(kind, n):
    X = points(n)
    D = squared_distances(X)
    check(D, signs(kind, X, D), 1e-3, 1e3, 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_two_thousand_points(kind):
    X = points(2000)
    D = squared_distances(X)
    check(D, signs(kind, X, D), 1e-2, 1e2, 10)


@given(st.integers(2, 12), st.integers(0, 10_000), st.floats(-6, 6), st.floats(0, 8), st.booleans())
def test_random_distances_and_signs(n, seed, low, length, whole):
    rng = np.random.RandomState(seed)
    D = 10.0 ** rng.uniform(-8, 8, (n, n)) * (rng.rand(n, n) < 0.9)
    D = np.tril(D, -1) + np.tril(D, -1).T
    S = rng.standard_cauchy((n, n)) if whole else rng.standard_cauchy((n, 1))
    check(D, S + S.T if whole else S, 10.0**low, 10.0 ** (low + length), 200)


def test_the_order_of_pairs_may_be_found_anew_in_each_search():
    X = points(400)
    D = squared_distances(X)
    a = np.random.RandomState(0).randn(400, 1)
    kept, anew = WidthSearch(D, 0.01, 10.0).best(a, 3), WidthSearch(D, 0.01, 10.0, keep=0).best(a, 3)
    np.testing.assert_array_equal(kept.values, anew.values)
    np.testing.assert_array_equal(kept.parameters, anew.parameters)


def test_tiles_hold_each_pair_below_the_diagonal_once(monkeypatch):
    monkeypatch.setattr(bins, "_WIDTH", 16)
    monkeypatch.setattr(bins, "AREA", 50)
    seen, before = np.zeros((70, 70)), 0
    for lo, hi, left, right, start in bins.tiles(70):
        assert start == before
        for i in range(lo, hi):
            seen[i, left : min(right, i)] += 1
            before += max(min(right, i) - left, 0)
    np.testing.assert_array_equal(seen, np.tril(np.ones((70, 70)), -1))


def test_factors_and_their_products_agree_and_a_square_factor_is_told():
    X = points(30)
    D = squared_distances(X)
    search = WidthSearch(D, 0.01, 10.0)
    for columns in (1, 4, 30):
        A = np.random.RandomState(columns).randn(30, columns)
        one, other = search.best(A, factor=True), search.best(A @ A.T)
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.upper == pytest.approx(other.upper, rel=1e-6)


def test_further_local_maxima_are_maxima_and_apart():
    D = np.array([[0.0, 1e-4, 1.0, 1e4], [1e-4, 0, 1e2, 1e6], [1.0, 1e2, 0, 1e8], [1e4, 1e6, 1e8, 0]])
    S = np.array([[0, -1.0, 1.1, -0.9], [-1, 0, -1.0, 1.0], [1.1, -1, 0, -1.2], [-0.9, 1, -1.2, 0]])
    found = WidthSearch(D, 1e-4, 1e6).best(S, 3)
    assert len(found.values) == 3 and np.all(np.diff(found.values) <= 0.0)
    assert np.min(np.abs(np.subtract.outer(*[np.log(found.parameters)] * 2)) + np.eye(3)) >= 0.15
    for sigma, value in zip(found.parameters, found.values, strict=True):
        near = np.clip(sigma * np.array([0.99, 1.0, 1.01]), 1e-4, 1e6)
        h = sums(D, S, 1.0 / near**2)
        assert value == pytest.approx(h[1], abs=1e-13) and h.max() <= value + 1e-13


@pytest.mark.parametrize("broken", ["curvature", "far", "moments"])
def test_a_broken_bound_is_noticed(broken, monkeypatch):
    """The checks above fail where the search leaves out a part of its argument."""
    if broken == "curvature":
        real = _widths.Pieces.peaks

        def peaks(self, V, error, k, tolerance):  # looks at the points only
            pieces, s, _ = real(self, V, error, k, tolerance)
            return pieces[:1], s[:1], float(V.max())

        monkeypatch.setattr(_widths.Pieces, "peaks", peaks)
    elif broken == "far":
        monkeypatch.setattr(_widths, "_FAR", 5.0)
    else:
        real_moments = bins.Pairs.moments

        def moments(self, S, A):  # as if all pairs of a bin were at its centre
            M, size = real_moments(self, S, A)
            M[:, 1:] = 0.0
            return M, size

        monkeypatch.setattr(bins.Pairs, "moments", moments)
    X = points(40)
    D = squared_distances(X)
    with pytest.raises(AssertionError):
        check(D, signs("ridge", X, D), 1e-2, 1e2, 2000)


def test_one_point_and_no_distances():
    assert WidthSearch(np.zeros((1, 1)), 0.1, 1.0).best(np.array([[2.0]])).value == pytest.approx(2.0)
    found = WidthSearch(np.zeros((5, 5)), 0.1, 1.0).best(np.arange(5.0)[:, None])
    assert found.value == pytest.approx(100.0) and math.isclose(found.upper, 100.0, rel_tol=1e-6)


@pytest.mark.parametrize(
    "low, high, rate, says",
    [
        (0, 1, "inverse", "0 < low"),
        (2, 1, "inverse", "low ≤ high"),
        (1e-200, 1, "inverse-square", "between"),
        (1, 2, "x", "rate"),
    ],
)
def test_ranges_that_cannot_be(low, high, rate, says):
    with pytest.raises(ValueError, match=says):
        WidthSearch(np.zeros((2, 2)), low, high, rate)


def test_matrices_that_cannot_be():
    with pytest.raises(ValueError, match="square matrix"):
        WidthSearch(np.zeros((2, 3)), 1, 2)
    for wrong in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite distances"):
            WidthSearch(np.array([[0, wrong], [wrong, 0]]), 1, 2)
    search = WidthSearch(np.ones((3, 3)) - np.eye(3), 1, 2)
    with pytest.raises(ValueError, match=r"shape \(2, 1\)"):
        search.best(np.ones((2, 1)))
    with pytest.raises(ValueError, match="not finite"):
        search.best(np.full((3, 1), np.nan))
