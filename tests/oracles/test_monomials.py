"""Products of columns scored by matrix products: the same as one after the other, in blocks of every size."""

import itertools
import math

import numpy as np
import pytest
from tests.oracles.naive import all_products, orders

from manykernels.oracles import _monomials
from manykernels.oracles._monomials import Monomials


def data(n=15, r=5, outputs=1, seed=0):
    rng = np.random.RandomState(seed)
    return rng.randn(n, r) * np.linspace(0.5, 1.5, r), rng.randn(n, outputs)


def brute(X, A, degree, scale, exponent=0.0, weight=None, interactions_only=False):
    """q_z of every product by its definition."""
    q = {}
    for z in all_products(X.shape[1], degree, interactions_only):
        phi = np.prod(X[:, list(z)], axis=1) if z else np.ones(len(X))
        s = scale[len(z)] * orders(z) ** exponent
        if weight is not None:
            size = float(weight @ phi**2)
            s = s / size if size > 0.0 else 0.0
        q[z] = s * float(np.sum((phi @ A) ** 2))
    return q


def options_of(n, degree, rms, exponent, interactions_only):
    weight = np.random.RandomState(9).uniform(0.1, 1.0, n)
    return {
        "scale": np.geomspace(1.0, 0.2, degree + 1),
        "exponent": exponent,
        "weight": weight / weight.sum() if rms else None,
        "interactions_only": interactions_only,
    }


def assert_the_same(monomials, A, q, degree):
    """best, power_sum and product, against all q."""
    k = len(q)
    atoms, values = monomials.best(A, k + 7)
    assert sorted(atoms) == sorted(q), "every product once, and none twice"
    np.testing.assert_allclose(values, [q[z] for z in atoms], rtol=1e-9, atol=1e-12 * max(q.values()))
    assert np.all(np.diff(values) <= 0.0)
    for few in (1, min(3, k), k // 2 + 1):
        some, values = monomials.best(A, few)
        assert len(set(some)) == few
        np.testing.assert_allclose(values, sorted(q.values(), reverse=True)[:few], rtol=1e-9)
        np.testing.assert_allclose([q[z] for z in some], values, rtol=1e-9)
    for power in (1.0, 2.0, 3.5):
        expected = sum(value**power for value in q.values())
        np.testing.assert_allclose(monomials.power_sum(A, power), expected, rtol=1e-10)
    for d in range(degree + 1):
        count = 1 if d == 0 else monomials.count(d)
        listed = [monomials.product(d, place) for place in range(count)]
        assert sorted(listed) == sorted(z for z in q if len(z) == d)
        assert all(list(z) == sorted(z) for z in listed)


SHAPES = [(1, 1), (1, 4), (2, 3), (5, 1), (5, 3), (6, 2), (4, 4)]


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("rms", [False, True], ids=["raw", "rms"])
@pytest.mark.parametrize("interactions_only", [False, True], ids=["powers", "interactions"])
@pytest.mark.parametrize(("r", "degree"), SHAPES)
def test_all_products(r, degree, interactions_only, rms, exponent):
    X, A = data(r=r, outputs=1 + r % 3)
    options = options_of(len(X), degree, rms, exponent, interactions_only)
    q = brute(X, A, degree, **options)
    size = sum(math.comb(r, d) if interactions_only else math.comb(r + d - 1, d) for d in range(degree + 1))
    assert len(q) == size
    monomials = Monomials(X, degree, **options)
    assert_the_same(monomials, A, q, min(degree, r) if interactions_only else degree)


LIMITS = {"_BLOCK": [1, 2, 7], "_CACHED": [0, 400], "_PREFIXES": [1, 40], "_KNOWN": [0]}


@pytest.mark.parametrize("limits", list(itertools.product(*LIMITS.values())), ids=str)
@pytest.mark.parametrize("rms", [False, True], ids=["raw", "rms"])
def test_blocks_smaller_than_a_group(limits, rms, monkeypatch):
    """Every limit far below what one group of prefixes needs, and a second question of the same oracle."""
    for name, value in zip(LIMITS, limits, strict=True):
        monkeypatch.setattr(_monomials, name, value)
    for degree, interactions_only in [(3, False), (4, True)]:
        X, A = data(outputs=2)
        options = options_of(len(X), degree, rms, 0.5 if rms else 0.0, interactions_only)
        monomials = Monomials(X, degree, **options)
        for point in (A, A[::-1].copy()):
            q = brute(X, point, degree, **options)
            atoms, values = monomials.best(point, 9)
            rtol = 1e-6 if rms else 1e-9  # scales beyond what is known exactly are single
            np.testing.assert_allclose(values, sorted(q.values(), reverse=True)[:9], rtol=rtol)
            np.testing.assert_allclose([q[z] for z in atoms], values, rtol=rtol)
            np.testing.assert_allclose(monomials.power_sum(point, 1.0), sum(q.values()), rtol=rtol)


def test_a_bound_from_single_scales_is_still_one(monkeypatch):
    """The largest q bounds the family: rounding of its scale to single precision must not lower it."""
    X, _ = data(n=20, r=4)
    exact = Monomials(X, 3, **options_of(20, 3, True, 0.0, False))
    exact.power_sum(X[:, :1], 1.0)  # computes its scales
    monkeypatch.setattr(_monomials, "_KNOWN", 0)
    rough = Monomials(X, 3, **options_of(20, 3, True, 0.0, False))
    for seed in range(40):
        A = np.random.RandomState(seed).randn(20, 1)
        ratio = rough.best(A, 1)[1][0] / exact.best(A, 1)[1][0]
        assert 1.0 - 1e-13 <= ratio <= 1.0 + 3e-7


def test_memory_is_not_touched_by_answers():
    """Answers are copies: asking again does not change what was given."""
    X, A = data(r=6)
    monomials = Monomials(X, 3, scale=np.ones(4))
    atoms, values = monomials.best(A, 5)
    kept = values.copy()
    monomials.best(10.0 * A, 5)
    np.testing.assert_array_equal(values, kept)
    again, same = monomials.best(A, 5)
    assert again == atoms and np.array_equal(same, kept)


@pytest.mark.parametrize("block", [5, 1 << 19])
def test_a_floor_leaves_out_what_is_below(block, monkeypatch):
    monkeypatch.setattr(_monomials, "_BLOCK", block)
    X, A = data(r=6)
    monomials = Monomials(X, 3, scale=np.ones(4))
    q = brute(X, A, 3, np.ones(4))
    ordered = sorted(q.values(), reverse=True)
    floor = 0.5 * (ordered[10] + ordered[11])
    atoms, values = monomials.best(A, 50, floor)
    assert len(atoms) == 11 and sorted(atoms) == sorted(z for z in q if q[z] > floor)
    np.testing.assert_allclose(values, ordered[:11], rtol=1e-9)
    assert len(monomials.best(A, 4, floor)[0]) == 4
    atoms, values = monomials.best(A, 5, 2.0 * ordered[0])
    assert len(atoms) == 1 and values[0] == pytest.approx(ordered[0]), "the largest is always given"


@pytest.mark.parametrize("k", [1, 4, 30, 1000])
@pytest.mark.parametrize("block", [3, 1 << 19])
def test_ties(k, block, monkeypatch):
    """The same column five times: as many of the tied products as were asked for, none twice."""
    monkeypatch.setattr(_monomials, "_BLOCK", block)
    x = np.random.RandomState(0).randn(12)
    X, A = np.repeat(x[:, None], 5, axis=1), np.random.RandomState(1).randn(12, 2)
    q = brute(X, A, 3, np.ones(4))
    atoms, values = Monomials(X, 3, scale=np.ones(4)).best(A, k)
    assert len(atoms) == len(set(atoms)) == min(k, len(q))
    np.testing.assert_allclose(values, sorted(q.values(), reverse=True)[:k], rtol=1e-9)
    np.testing.assert_allclose([q[z] for z in atoms], values, rtol=1e-9)


def test_a_point_of_zero_and_columns_of_zero():
    X, A = data(r=4)
    monomials = Monomials(X, 2, scale=np.ones(3))
    atoms, values = monomials.best(np.zeros_like(A), 3)
    assert (
        len(set(atoms)) == 3 and np.all(values == 0.0) and monomials.power_sum(np.zeros_like(A), 2.0) == 0.0
    )
    X[:, 1] = 0.0
    options = options_of(len(X), 3, True, 0.0, False)
    assert_the_same(Monomials(X, 3, **options), A, brute(X, A, 3, **options), 3)


def test_disjoint_indicators():
    """Products that are zero on all samples cannot be scaled, and score nothing."""
    X = np.repeat(np.eye(3), 4, axis=0)
    A = np.random.RandomState(2).randn(12, 1)
    options = {"scale": np.ones(4), "weight": np.full(12, 1 / 12)}
    q = brute(X, A, 3, **options)
    assert sum(value == 0.0 for value in q.values()) >= 10
    assert_the_same(Monomials(X, 3, **options), A, q, 3)
