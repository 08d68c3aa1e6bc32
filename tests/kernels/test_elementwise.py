"""The compiled elementwise functions against NumPy."""

import numpy as np
import pytest

from manykernels._fast import elementwise

rng = np.random.default_rng(0)


def exp(x, c=1.0):
    out = np.empty_like(x)
    elementwise.exp(x, c, out)
    return out


@pytest.mark.parametrize(("low", "high"), [(-708.0, 0.0), (-1.0, 0.0), (-1e-8, 1e-8), (0.0, 709.0)])
def test_exp_is_right_to_the_last_bits(low, high):
    x = rng.uniform(low, high, (50, 2000))
    exact = np.exp(x.astype(np.longdouble))
    assert np.max(np.abs(exp(x) - exact) / exact) < 4e-16


def test_exp_at_the_ends():
    x = np.array([[0.0, -0.0, -1e-300, -745.2, -1e10, -np.inf, 710.0, np.inf, np.nan]])
    np.testing.assert_array_equal(exp(x), [[1, 1, 1, 0, 0, 0, np.inf, np.inf, np.nan]])
    x = np.linspace(-745.0, -708.0, 101)[None]
    np.testing.assert_allclose(exp(x), np.exp(x), atol=2.3e-308)  # subnormal numbers may be zero


def test_exp_is_monotone_around_every_change_of_the_exponent():
    x = np.sort(np.log(2) * (np.arange(-40, 0) + 0.5)[:, None] + np.linspace(-1e-9, 1e-9, 201), axis=1)
    assert np.all(np.diff(exp(x), axis=1) >= 0)


@pytest.mark.parametrize("n", [1, 7, 600])  # 600 × 600 is split over threads
def test_exp_in_place_and_in_any_layout(n):
    S = rng.uniform(0, 5, (n, n))
    expected = np.exp(-0.5 * S)
    same = S.copy()
    elementwise.exp(same, -0.5, same)
    outs = [
        np.empty((n, n)),
        np.empty((n, n), order="F"),
        np.empty((n, 2 * n))[:, ::2],
        np.empty((2 * n, n))[::2],
    ]
    for out in outs:
        for source in (S, np.asfortranarray(S)):
            elementwise.exp(source, -0.5, out)
            np.testing.assert_allclose(out, expected, rtol=1e-15)
    np.testing.assert_allclose(same, expected, rtol=1e-15)
    np.testing.assert_allclose(exp(np.asfortranarray(S), -0.5), expected, rtol=1e-15)


@pytest.mark.parametrize("degree", range(1, 10))
def test_power(degree):
    S = rng.uniform(-1, 2, (600, 500))
    out = np.empty_like(S)
    elementwise.power(S, 0.5, degree, out)
    np.testing.assert_allclose(out, (S + 0.5) ** degree, rtol=1e-14)
    elementwise.power(S, 0.5, degree, S)
    np.testing.assert_array_equal(S, out)


def test_outer_updates():
    K, a, b = rng.normal(size=(600, 500)), rng.normal(size=600), rng.normal(size=500)
    A = K.copy()
    elementwise.subtract_outer(A, a, b)
    np.testing.assert_allclose(A, K - a[:, None] - b, atol=1e-14)
    A = K.copy()
    elementwise.multiply_outer(A, a, b)
    np.testing.assert_allclose(A, K * np.outer(a, b), rtol=1e-14)
    A = K.copy()
    elementwise.add(np.asfortranarray(K), 0.5, A)
    np.testing.assert_allclose(A, 1.5 * K, rtol=1e-14)


def test_split_covers_everything_once_and_raises_what_a_part_raised():
    seen = np.zeros(1003, dtype=int)

    def run(lo, hi):
        seen[lo:hi] += 1

    elementwise.split(1003, 1e9, run)
    assert np.all(seen == 1)

    def fail(lo, hi):
        if hi == 1003:
            raise ValueError("the last part")

    with pytest.raises(ValueError, match="the last part"):
        elementwise.split(1003, 1e9, fail)
