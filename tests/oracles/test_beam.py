"""Search beyond enumeration: what it finds is scored rightly, and what it claims to have proven is true."""

import itertools
import math

import numpy as np
import pytest

from manykernels.oracles._beam import Beam, beam_best
from manykernels.oracles._branch import Branches

KINDS = {
    "normal": lambda rng, shape: rng.randn(*shape),
    "binary": lambda rng, shape: (rng.rand(*shape) < 0.25).astype(float),
    "small": lambda rng, shape: rng.uniform(-1.0, 1.0, shape),
    "negative": lambda rng, shape: -rng.rand(*shape),
    "mixed signs": lambda rng, shape: rng.rand(*shape) * rng.choice([-1.0, 1.0], shape[1]),
}


def every_product(X, A, degree, scale, exponent=0.0, weight=None, interactions_only=False):
    """{z: q_z} from the definition."""
    choose = itertools.combinations if interactions_only else itertools.combinations_with_replacement
    q = {}
    for d in range(degree + 1):
        for z in choose(range(X.shape[1]), d):
            p = np.prod(X[:, list(z)], axis=1)
            orders = math.factorial(d) / math.prod(math.factorial(z.count(j)) for j in set(z))
            size = 1.0 if weight is None else float(weight @ p**2)
            q[z] = scale[d] * orders**exponent / size * float(np.sum((A.T @ p) ** 2)) if size > 0.0 else 0.0
    return q


def draw(seed, kind):
    """A small family with all its options."""
    rng = np.random.RandomState(seed)
    n, r, degree = rng.randint(3, 30), rng.randint(2, 7), rng.randint(2, 6)
    X, A = KINDS[kind](rng, (n, r)), rng.randn(n, rng.randint(1, 3))
    weight = rng.rand(n) + 0.1
    options = {
        "scale": rng.uniform(0.2, 1.0) ** np.arange(degree + 1),
        "exponent": [0.0, 0.5, 1.0][rng.randint(3)],
        "weight": weight / weight.sum() if rng.rand() < 0.4 else None,
        "interactions_only": bool(rng.randint(2)),
    }
    return rng, X, A, degree, options


@pytest.mark.parametrize("kind", KINDS)
def test_values_are_right_and_the_bound_holds(kind):
    """Whatever the width, the budgets and the number of nodes: upper is never below the true maximum."""
    proven = 0
    for seed in range(40):
        rng, X, A, degree, options = draw(seed, kind)
        q = every_product(X, A, degree, **options)
        k, width = rng.randint(1, 5), rng.randint(1, 5)
        limits = {"budget": rng.choice([1, 10, 100]), "nodes": rng.choice([3, 30, 1000])}
        atoms, values, upper = beam_best(X, A, k, degree, width=width, **limits, **options)
        assert len(set(atoms)) == len(atoms) <= k
        np.testing.assert_allclose(values, [q[z] for z in atoms], rtol=1e-9, atol=1e-12)
        assert np.all(np.diff(values) <= 0.0)
        assert upper >= max(q.values()) * (1 - 1e-12)
        proven += np.isfinite(upper)
        assert not (np.isfinite(upper) and values[0] < max(q.values()) * (1 - 1e-8))
    assert proven > 10
    assert kind != "normal" or 0 < 40 - proven  # some are beyond three nodes


@pytest.mark.parametrize("kind", KINDS)
def test_every_bound_holds_below_its_prefix(kind):
    for seed in range(10):
        _, X, A, degree, options = draw(seed, kind)
        degree = min(degree, 4)
        q = every_product(X, A, degree, **options)
        branches = Branches(X, degree, 1, **options)
        for length in range(degree - 1):
            for prefix in itertools.combinations_with_replacement(range(X.shape[1]), length):
                if options["interactions_only"] and len(set(prefix)) < length:
                    continue
                u = np.array([prefix], dtype=np.intp).reshape(1, length)
                bounds = branches._bounds(A, u, branches.values(u))[0]
                for j in range(X.shape[1]):
                    below = [
                        v for z, v in q.items() if len(z) > length + 1 and z[: length + 1] == (*prefix, j)
                    ]
                    assert bounds[j] >= max(below, default=-2.0) * (1 - 1e-12)


@pytest.mark.parametrize("weight", [None, np.full(400, 1 / 400)], ids=["raw", "rms"])
def test_sparse_indicators_are_proven(weight):
    """Products of rare indicators die out: of 376,992 products of degree 5 few need to be looked at."""
    rng = np.random.RandomState(0)
    X = (rng.rand(400, 32) < 0.15).astype(float)
    A = (3.0 * X[:, 3] * X[:, 7] + 0.3 * rng.randn(400))[:, None]
    A -= A.mean()
    beam = Beam(X, 5, scale=np.ones(6), weight=weight, budget=600, width=50, work=0.0, nodes=20_000)
    atoms, values, upper = beam.best(A, 3)
    assert beam.low == 2
    assert values[0] <= upper <= values[0] * (1 + 1e-8)
    exact, all_values, bound = beam_best(X, A, 3, 5, scale=np.ones(6), weight=weight)  # enumerates them all
    assert bound == all_values[0]
    np.testing.assert_allclose(values[0], all_values[0], rtol=1e-9)
    assert set(atoms[0]) == set(exact[0]) == {3, 7}


def test_columns_below_one_are_proven():
    """|x| < 1: the 10¹⁰ products of degree 6 of 150 dense columns are too small to beat one of degree 2."""
    rng = np.random.RandomState(1)
    X = rng.uniform(-1.0, 1.0, (300, 150))
    A = (X[:, 3] * X[:, 5] + 0.02 * rng.randn(300))[:, None]
    atoms, values, upper = beam_best(
        X, A, 1, 6, scale=0.5 ** np.arange(7), budget=1e5, width=20, work=0.0, nodes=100
    )
    assert atoms == [(3, 5)] and upper <= values[0] * (1 + 1e-8)


def test_dense_columns_of_unit_size_are_not():
    rng = np.random.RandomState(2)
    X = rng.randn(200, 60)
    A = rng.randn(200, 1)
    weight = np.full(200, 1 / 200)
    _, values, upper = beam_best(X, A, 1, 5, scale=np.ones(6), weight=weight, budget=1e4, width=20)
    assert np.isfinite(values[0]) and upper == np.inf


@pytest.mark.parametrize("interactions_only", [True, False])
def test_finds_planted_products_whose_parts_carry_signal(interactions_only):
    """Degree 5 of 60 columns, 5 million and more, of which 2,000 are enumerated."""
    for seed in range(3):
        rng = np.random.RandomState(seed)
        X = rng.choice([0.5, 1.0, 1.5], (300, 60))
        z = tuple(sorted(rng.choice(60, 5, replace=False).tolist()))
        p = np.prod(X[:, list(z)], axis=1)
        A = ((p - p.mean()) / p.std() + 0.2 * rng.randn(300))[:, None]
        weight = np.full(300, 1 / 300)
        options = {"scale": np.ones(6), "weight": weight, "interactions_only": interactions_only, "work": 0.0}
        atoms, values, _ = beam_best(X, A - A.mean(), 5, 5, budget=2000, width=100, **options)
        assert z in atoms
        planted = float(((A - A.mean())[:, 0] @ p) ** 2 / (weight @ p**2))
        np.testing.assert_allclose(values[atoms.index(z)], planted)


def test_what_the_beam_misses_the_proof_finds():
    """Two rare indicators with no signal in either: a beam of width 1 goes the wrong way."""
    rng = np.random.RandomState(0)
    X = np.zeros((60, 8))
    X[:40] = rng.rand(40, 8) < 0.1
    X[40:50, 0] = X[45:55, 1] = 1.0  # rows 45–49 have both
    X[40:50, 2] = 1.0
    A = np.zeros((60, 1))
    A[45:50] = 1.0
    A[40:45] = A[50:55] = -1.0
    A[55] = 0.5
    X[55, 3] = 2.0
    options = {"scale": np.ones(4), "budget": 1, "width": 1, "work": 0.0}
    _, values, upper = beam_best(X, A, 1, 3, nodes=0, **options)
    _, better, proven = beam_best(X, A, 1, 3, nodes=1000, **options)
    best = max(every_product(X, A, 3, np.ones(4)).values())
    assert values[0] < best and upper == np.inf
    np.testing.assert_allclose([better[0], proven], best, rtol=1e-8)


def test_the_same_question_has_the_same_answer():
    rng = np.random.RandomState(0)
    X, A = rng.randn(40, 10), rng.randn(40, 2)
    beam = Beam(X, 4, scale=np.ones(5), budget=60, width=10)
    first, second = beam.best(A, 4), beam.best(A, 4)
    assert first[0] == second[0] and np.array_equal(first[1], second[1]) and first[2] == second[2]


def test_shares_are_sums_over_all_sets():
    """Σ over sets Z of e columns of (Σ_t α_t p_t x_tj Π_Z x_t)², less the terms of single samples."""
    rng = np.random.RandomState(3)
    X, A = rng.randn(9, 6), rng.randn(9, 2)
    beam = Beam(X, 5, scale=np.ones(6), budget=1)
    X, prefixes = beam.branches.X, np.array([[0, 3], [2, 5]])
    for e in (1, 2, 3):
        shares = beam._shares(A, prefixes, e)
        for prefix, row in zip(prefixes, shares, strict=True):
            for j in range(6):
                start = A * (X[:, prefix].prod(axis=1) * X[:, j])[:, None]
                terms = [
                    start * X[:, Z].prod(axis=1)[:, None]
                    for Z in map(list, itertools.combinations(range(6), e))
                ]
                expected = sum(np.sum(t.sum(axis=0) ** 2) - np.sum(t**2) for t in terms)
                assert row[j] == -np.inf if j in prefix else np.isclose(row[j], expected)


@pytest.mark.parametrize("interactions_only", [True, False])
def test_finds_products_whose_parts_carry_none(interactions_only):
    """x₁x₂x₃x₄ of independent columns of mean zero: no product of fewer of them is worth anything."""
    alone = shared = 0
    weight = np.full(300, 1 / 300)
    for seed in range(5):
        rng = np.random.RandomState(seed)
        X = rng.uniform(-1.0, 1.0, (300, 50))
        z = tuple(sorted(rng.choice(50, 4, replace=False).tolist()))
        p = X[:, list(z)].prod(axis=1)
        A = (p / p.std() + 0.3 * rng.randn(300))[:, None]
        options = {"scale": np.ones(5), "weight": weight, "interactions_only": interactions_only}
        options |= {"budget": 2000, "width": 20, "nodes": 0}
        alone += beam_best(X, A, 1, 4, work=0.0, **options)[0] == [z]
        shared += beam_best(X, A, 1, 4, **options)[0] == [z]
    assert alone <= 2 and shared == 5
