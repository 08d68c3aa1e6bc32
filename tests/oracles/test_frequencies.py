"""The certified search over one frequency, against kernel matrices at many frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manykernels.kernels import Dirichlet
from manykernels.oracles import _frequencies
from manykernels.oracles._frequencies import FrequencySearch


def values(X, S, sigma, degree):
    X = np.reshape(X, (len(X), -1))
    S = S if S.shape[0] == S.shape[1] else S @ S.T
    return np.array([np.sum(S * Dirichlet(s, degree)(X)) for s in np.atleast_1d(sigma)])


def check(X, S, low, high, degree=1, count=400):
    """A bound, close to a value that is that of the kernel, that no frequency beats."""
    found = FrequencySearch(X, low, high, degree).best(S)
    h = values(X, S, np.linspace(low, high, count), degree)
    features = np.reshape(X, (len(X), -1)).shape[1]
    size = np.abs(S if S.shape[0] == S.shape[1] else S @ S.T).sum() * (2 * degree + 1) ** features
    allowed = 1e-6 * max(abs(found.value), 1e-5 * size)
    assert low <= found.parameter <= high
    assert found.upper - found.value <= allowed
    assert max(found.value, h.max()) <= found.upper + 1e-14 * size
    assert found.value >= h.max() - allowed
    assert found.value == pytest.approx(values(X, S, found.parameter, degree)[0], rel=1e-9, abs=1e-12 * size)
    return found


def symmetric(n, seed):
    R = np.random.RandomState(seed).randn(n, n)
    return R + R.T


@pytest.mark.parametrize("degree", [1, 3])
@pytest.mark.parametrize("S", ["factor", "columns", "matrix", "negative", "hollow"])
def test_one_feature(S, degree):
    rng = np.random.RandomState(0)
    x = rng.uniform(-5.0, 5.0, 30)
    x[:5] = x[5:10]
    S = {
        "factor": rng.randn(30, 1),
        "columns": rng.randn(30, 3),
        "matrix": symmetric(30, 0),
        "negative": -np.abs(symmetric(30, 1)),
        "hollow": np.ones((30, 30)) - np.eye(30),
    }[S]
    check(x, S, 0.1, 10.0, degree, 2000)


@pytest.mark.parametrize("S", ["factor", "matrix"])
def test_several_features(S):
    X = np.random.RandomState(0).randn(20, 2)
    check(X, symmetric(20, 2) if S == "matrix" else np.random.RandomState(1).randn(20, 1), 0.1, 6.0, 1, 1000)
    X = np.random.RandomState(0).randn(20, 3)
    check(X, symmetric(20, 2) if S == "matrix" else np.random.RandomState(1).randn(20, 1), 0.1, 2.0, 2, 300)


def test_a_hidden_frequency_among_many_is_found():
    rng = np.random.RandomState(0)
    x = rng.uniform(0.0, 50.0, 300)
    found = check(x, np.sin(np.sqrt(60.0) * x)[:, None], 0.01, 40.0)
    assert found.parameter == pytest.approx(np.sqrt(60.0), abs=1e-2)


@given(st.integers(1, 8), st.integers(0, 10_000), st.floats(0.01, 5.0), st.floats(0.0, 20.0), st.booleans())
def test_random_points_and_signs(n, seed, low, length, whole):
    rng = np.random.RandomState(seed)
    x = 10.0 ** rng.uniform(-2, 1) * rng.standard_normal(n)
    S = symmetric(n, seed) if whole else rng.standard_cauchy((n, 1))
    check(x, S, low, low + length, 1, 100)


def test_further_maxima_are_maxima_and_apart():
    rng = np.random.RandomState(0)
    x, S = rng.uniform(-3.0, 3.0, 40), symmetric(40, 4)
    found = FrequencySearch(x, 0.1, 12.0).best(S, 4)
    assert len(found.values) == 4 and np.all(np.diff(found.values) <= 0.0)
    for sigma, value in zip(found.parameters, found.values, strict=True):
        near = values(x, S, np.clip([sigma - 1e-3, sigma + 1e-3], 0.1, 12.0), 1)
        assert near.max() <= value + 1e-9 * np.abs(S).sum()


def test_a_search_that_is_too_dear_is_not_certified(monkeypatch):
    rng = np.random.RandomState(0)
    X, a = rng.randn(30, 2), rng.randn(30, 1)
    certified = FrequencySearch(X, 0.1, 3.0).best(a)
    monkeypatch.setattr(_frequencies, "_AFFORDABLE", 0.0)
    for S in (a, a @ a.T):
        found = FrequencySearch(X, 0.1, 3.0).best(S)
        assert found.upper == np.inf
        assert found.value == pytest.approx(certified.value, rel=1e-8)
        assert found.value == pytest.approx(values(X, a, found.parameter, 1)[0], rel=1e-9)
    many = FrequencySearch(rng.randn(10, 30), 0.1, 1e6, 5).best(rng.randn(10, 1))
    assert many.upper == np.inf and np.isfinite(many.value)


@pytest.mark.parametrize("broken", ["degree", "waves"])
def test_a_broken_bound_is_noticed(broken, monkeypatch):
    if broken == "degree":  # too few points, and nobody to say so
        monkeypatch.setattr(_frequencies, "_DEGREE", 6)
        monkeypatch.setattr(FrequencySearch, "_truncation", lambda self: 0.0)
    else:  # the points alone
        real = _frequencies.Pieces.peaks
        monkeypatch.setattr(
            _frequencies.Pieces,
            "peaks",
            lambda self, V, *rest: (*(x[:1] for x in real(self, V, *rest)[:2]), V.max()),
        )
    with pytest.raises(AssertionError):
        check(np.random.RandomState(0).uniform(-5.0, 5.0, 30), symmetric(30, 0), 0.1, 10.0, 1, 2000)


def test_bad_input():
    for low, high, degree in ((-1.0, 1.0, 1), (2.0, 1.0, 1), (0.0, 1.0, 1), (1.0, np.inf, 1), (0.1, 1.0, 0)):
        with pytest.raises(ValueError, match="search over frequencies"):
            FrequencySearch(np.zeros(3), low, high, degree)
    with pytest.raises(ValueError, match="finite values"):
        FrequencySearch(np.array([0.0, np.nan]), 0.1, 1.0)
    with pytest.raises(ValueError, match=r"shape \(2, 1\)"):
        FrequencySearch(np.zeros(3), 0.1, 1.0).best(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="not finite"):
        FrequencySearch(np.zeros(3), 0.1, 1.0).best(np.full((3, 1), np.inf))
