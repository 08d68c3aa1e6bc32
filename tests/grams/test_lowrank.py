"""Sums over rows stand for the rows: they add up, folds come off, and nothing that is learned can tell."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from tests.helpers import told

from manykernels.approx import Nystroem, RandomFeatures
from manykernels.grams import FactorGram, StackGram
from manykernels.grams.lowrank import (
    LowRankGram,
    constants,
    reduce,
    reduce_rows,
    squared_error,
    without_means,
)
from manykernels.grams.statistics import statistics
from manykernels.kernels import Callable, Constant, Gaussian, Linear
from manykernels.losses import Squared
from manykernels.objectives import Alignment, Separable
from manykernels.penalties import ElasticNet, L2Ball, resolve_penalty
from manykernels.solvers import ActiveSet, Alternating, Greedy, Stochastic
from manykernels.weightings import Align, Alignf, AlignfLinear, GreedyAlignment, Uniform

RNG = np.random.RandomState(0)
N = 120
X = RNG.randn(N, 4)
Y = np.column_stack([np.sin(X[:, 0]) + 0.1 * RNG.randn(N) + 2.0, X[:, 1] - X[:, 2]])
WEIGHT, COST = RNG.uniform(0.2, 2.0, N), RNG.uniform(0.5, 1.5, N)
KERNELS = [Gaussian(1.5), Linear(), Gaussian(4.0), Gaussian(1.5)]  # the last depends on the first entirely
FEATURES = Nystroem(15).fit(KERNELS, X, rng=np.random.RandomState(0))
PHI = FEATURES.transform(X)
PTR = FEATURES.ptr
THETA = np.array([0.3, 0.4, 0.2, 0.1])


def same(S, other, atol=1e-10):
    for field in dataclasses.fields(S):
        np.testing.assert_allclose(getattr(S, field.name), getattr(other, field.name), atol=atol)


def rows_of(known, intercept, weight=WEIGHT, cost=COST):
    """ψ and y of every sample, less their means, times the roots of their costs: the definition."""
    c = weight * cost
    psi = (PHI - (0.0 if known.mean is None else known.mean)) * known.roots(PTR)
    A = np.column_stack([psi, Y])
    return np.sqrt(c)[:, None] * (A - (np.average(A, axis=0, weights=c) if intercept else 0.0))


def test_statistics_are_the_sums_they_say():
    S = statistics(FEATURES, X, Y, WEIGHT, COST, sizes=True)
    c, E = WEIGHT * COST, np.column_stack([Y, np.ones(N)])
    np.testing.assert_allclose(S.G, (PHI * c[:, None]).T @ PHI, atol=1e-10)
    np.testing.assert_allclose(S.Z, (PHI * c[:, None]).T @ E, atol=1e-10)
    np.testing.assert_allclose(S.T, (E * c[:, None]).T @ E, atol=1e-10)
    np.testing.assert_allclose(S.sums, WEIGHT @ PHI, atol=1e-10)
    np.testing.assert_allclose(S.squares, WEIGHT @ PHI**2, atol=1e-10)
    sizes = [np.sum(PHI[:, a:b] ** 2, axis=1).max() for a, b in itertools.pairwise(PTR)]
    np.testing.assert_allclose(S.largest, sizes)
    assert S.total == pytest.approx(WEIGHT.sum()) and S.n == N


@pytest.mark.parametrize("cut", [1, 50, 119])
def test_blocks_add_up_and_come_off(cut):
    first, second = slice(None, cut), slice(cut, None)
    whole = statistics(FEATURES, X, Y, WEIGHT, COST, sizes=True)
    a, b = (statistics(FEATURES, X[s], Y[s], WEIGHT[s], COST[s], sizes=True) for s in (first, second))
    same(a + b, whole)
    rest = whole - a
    assert np.isnan(rest.largest).all()
    same(dataclasses.replace(rest, largest=b.largest), b)


def test_blocks_within_a_pass_change_nothing(monkeypatch):
    whole = statistics(FEATURES, X, Y, WEIGHT)
    seen = []
    monkeypatch.setattr("manykernels.grams.statistics._FEWEST", 7)
    monkeypatch.setattr("manykernels.grams.statistics._BLOCK", 1)
    same(statistics(FEATURES, X, Y, WEIGHT, progress=seen.append), whole)
    assert sum(seen) == N and max(seen) == 7


def test_a_weight_is_a_repetition():
    times = RNG.randint(0, 4, N)
    repeated = np.repeat(np.arange(N), times)
    weighted = statistics(FEATURES, X, Y, times.astype(float), sizes=True)
    same(weighted, dataclasses.replace(statistics(FEATURES, X[repeated], Y[repeated], sizes=True), n=N))


def test_statistics_of_other_features_do_not_add_up():
    other = RandomFeatures(10).fit(KERNELS[::2], X, rng=np.random.RandomState(0))
    with pytest.raises(ValueError, match=r"features and 2 outputs .*add up only for the same"):
        statistics(FEATURES, X, Y) + statistics(other, X, Y)


def test_a_row_that_is_not_finite_is_named():
    bad = X.copy()
    bad[77, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinity in row 1077 \(of the block of rows 1000 to 1119"):
        statistics(FEATURES, bad, Y, first=1000)
    odd = Callable(lambda A, B: np.where(A[:, :1] == X[77, 0], np.nan, A @ B.T))
    features = Nystroem(5, "uniform").fit([Linear(), odd], X[:20], rng=np.random.RandomState(0))
    with pytest.raises(ValueError, match="kernel 'odd' is not finite in row 77"):
        statistics(features, X, Y, names=["linear", "odd"])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_pseudo_samples_have_the_products_of_all_samples(center, intercept):
    S = statistics(FEATURES, X, Y, WEIGHT, COST)
    known = constants(S, PTR, center, "trace")
    few = reduce(S, PTR, known, intercept)
    A = rows_of(known, intercept)
    B = np.column_stack([few.gram.features, few.targets])
    np.testing.assert_allclose(B.T @ B, A.T @ A, atol=1e-9 * N)
    assert len(B) <= PTR[3] + 2  # the last kernel adds no dimension
    every = reduce_rows(PHI.copy(), Y, WEIGHT * COST, PTR, known, intercept)
    np.testing.assert_allclose(np.column_stack([every.gram.features, every.targets]), A, atol=1e-10)
    np.testing.assert_allclose(few.feature_means, every.feature_means, atol=1e-10)
    np.testing.assert_allclose(few.target_means, every.target_means, atol=1e-10)


@pytest.mark.parametrize(
    ("normalize", "center"),
    [("max", False), *((n, c) for n in ("trace", "frobenius", None) for c in (False, True))],
)
def test_constants_normalise_the_kernels_of_the_features(normalize, center):
    known = constants(statistics(FEATURES, X, Y, sizes=True), PTR, center, normalize)
    psi = (PHI - PHI.mean(axis=0) * center) * known.roots(PTR)
    measure = {
        "trace": lambda K: np.diag(K).mean(),
        "max": lambda K: np.diag(K).max(),
        "frobenius": np.linalg.norm,
    }
    for m, (a, b) in enumerate(itertools.pairwise(PTR)):
        K = psi[:, a:b] @ psi[:, a:b].T
        assert known.scale[m] == 1.0 if normalize is None else measure[normalize](K) == pytest.approx(1.0)


def test_kernels_that_do_not_vary_are_known():
    features = Nystroem(8).fit([Gaussian(1.0), Constant(2.0)], X, rng=np.random.RandomState(0))
    S = statistics(features, X, Y)
    np.testing.assert_array_equal(constants(S, features.ptr, False, "trace").flat, [False, True])
    np.testing.assert_array_equal(constants(S, features.ptr, False, "trace").zero, [False, False])
    np.testing.assert_array_equal(constants(S, features.ptr, True, "trace").zero, [False, True])
    assert constants(S, features.ptr, True, "trace").scale[1] == 0.0


def low_and_dense(intercept=True):
    S = statistics(FEATURES, X, Y)
    known = constants(S, PTR, False, "trace")
    low = reduce(S, PTR, known, intercept)
    psi = PHI * known.roots(PTR)
    return low, StackGram(np.array([p @ p.T for p in np.split(psi, PTR[1:-1], axis=1)]))


@pytest.mark.parametrize("theta", [THETA, [0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5], np.zeros(4)], ids=str)
def test_the_gram_of_pseudo_samples_is_that_of_their_features(theta):
    gram = low_and_dense()[0].gram
    assert isinstance(gram, LowRankGram)
    plain, A = FactorGram(gram.features, PTR), RNG.randn(gram.n, 3)
    np.testing.assert_allclose(gram.combine(theta), plain.combine(theta), atol=1e-10)
    np.testing.assert_allclose(gram.combine(-THETA), plain.combine(-THETA), atol=1e-10)
    for atoms in (None, np.array([2]), np.array([3, 0])):
        np.testing.assert_allclose(gram.quad(A, atoms), plain.quad(A, atoms), rtol=1e-9)
        np.testing.assert_allclose(gram.products(A, atoms), plain.products(A, atoms), atol=1e-9)


SOLVERS = [
    (ActiveSet(), 1.0),
    (ActiveSet(), 2.0),
    (ActiveSet(), np.inf),
    (ActiveSet(), ElasticNet(0.3)),
    (ActiveSet(), L2Ball(0.1, 1.0)),
    (Alternating(), 4 / 3),
    (Alternating(interpolation=0.5), L2Ball(0.1, 1.0)),
    (Greedy(), 1.0),
    (Stochastic(), 2.0),
]


@pytest.mark.parametrize(("solver", "norm"), SOLVERS, ids=str)
def test_every_solver_finds_on_pseudo_samples_what_it_finds_on_samples(solver, norm):
    """Primal and dual of few pseudo-samples without intercept are those of all samples with one."""
    low, dense = low_and_dense()
    penalty, results = resolve_penalty(norm), []
    for gram, targets, intercept in ((low.gram, low.targets, False), (dense, Y, True)):
        risk = Separable(Squared(), targets, np.full(targets.shape, 3.0), intercept)
        start = (penalty.start(4), np.zeros_like(targets))
        results.append(solver.run(gram, risk, penalty, told(1e-4, 300, start=start)))
    a, b = results
    gap = max(a.gap, b.gap)
    assert gap < 0.1
    # each primal value is at least the other's dual bound, and both gaps are small
    assert a.primal >= b.dual - 1e-8 * abs(b.dual) and b.primal >= a.dual - 1e-8 * abs(a.dual)
    coef = low.coefficients(a.weights, a.alpha)
    f = PHI @ coef + low.intercept(coef)
    expected = dense.combine(b.weights) @ b.alpha + b.intercept
    np.testing.assert_allclose(f, expected, atol=2.0 * np.sqrt(2.0 * gap * a.primal / 3.0) + 1e-8)


def test_without_an_intercept_nothing_is_centred():
    low, dense = low_and_dense(intercept=False)
    penalty = resolve_penalty(2.0)
    found = [
        ActiveSet().run(
            gram, Separable(Squared(), targets, np.ones(targets.shape), False), penalty,
            told(1e-10, 200, start=(penalty.start(4), 0.0 * targets)),
        )
        for gram, targets in ((low.gram, low.targets), (dense, Y))
    ]  # fmt: skip
    assert found[0].primal == pytest.approx(found[1].primal, rel=1e-9)
    np.testing.assert_allclose(found[0].weights[:3:2], found[1].weights[:3:2], atol=1e-4)


@pytest.mark.parametrize(
    "weighting",
    [Uniform(), Align(), Align(q=1.5), Alignf(), AlignfLinear(True), GreedyAlignment(tol=1e-6)],
    ids=str,
)
def test_every_weighting_finds_on_pseudo_samples_what_it_finds_on_samples(weighting):
    low, dense = low_and_dense()
    gram, targets = without_means(low)
    np.testing.assert_allclose(gram.features.sum(axis=0), 0.0, atol=1e-10)
    a, b = Alignment(gram, targets), Alignment(dense, Y)
    np.testing.assert_allclose(a.M, b.M, rtol=1e-8)
    found, expected = weighting.weigh(a), weighting.weigh(b)
    assert a.value(found.theta) == pytest.approx(b.value(expected.theta), abs=1e-8)
    merged = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]])  # twins share their weight in any way
    np.testing.assert_allclose(merged @ found.theta, merged @ expected.theta, atol=1e-6)


@pytest.mark.parametrize("center", [False, True])
def test_squared_errors_need_no_samples(center):
    S = statistics(FEATURES, X, Y, WEIGHT, COST)
    mean = constants(S, PTR, center, None).mean
    coef, b = RNG.randn(PHI.shape[1], 2), RNG.randn(2)
    f = (PHI - (0.0 if mean is None else mean)) @ coef + b
    expected = (WEIGHT * COST) @ (Y - f) ** 2
    np.testing.assert_allclose(squared_error(S, coef, b, mean), expected, rtol=1e-10)
