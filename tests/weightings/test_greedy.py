"""One kernel after the other: every step is that of Afkanpour 2013, §5.3, and its limit is alignf's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from manykernels import AlignMKLRegressor
from manykernels.families import Gaussians
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear
from manykernels.objectives import Alignment
from manykernels.oracles import FiniteOracle, build_oracle
from manykernels.weightings import Alignf, GreedyAlignment, resolve_weighting
from manykernels.weightings.greedy import _Distance, _Stagewise, best_step

METHODS = ("stagewise", "distance", "distance-printed")
each_method = pytest.mark.parametrize("method", METHODS)


def problem(seed=0, n=60, outputs=1):
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    Y = np.sign(np.sin(3 * X[:, :1]) + X[:, 1:2] + 0.1 * rng.randn(n, 1))
    if outputs > 1:
        Y = np.hstack([Y, rng.randn(n, outputs - 1)])
    columns = [[0], [1], [0, 1, 2]]
    stack = np.array([Gaussian(w)(X[:, c]) for w in np.geomspace(0.3, 10.0, 6) for c in columns])
    return Alignment(StackGram(stack), Y), stack, X, Y


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


@given(st.integers(0, 10**6), st.floats(0.01, 100.0))
@settings(max_examples=60, deadline=None)
def test_the_step_is_the_best_of_its_interval(seed, largest):
    """Prop. 5.4 against numeric maximisation; with the root outside the interval, an end is best."""
    rng = np.random.RandomState(seed)
    K, new, T = (B @ B.T for B in rng.randn(3, 5, 3))
    a, b, c, d, e = (np.vdot(x, y) for x, y in ((K, T), (new, T), (K, K), (K, new), (new, new)))

    def value(eta):
        return (a + b * eta) / np.sqrt(c + 2 * d * eta + e * eta**2)

    eta = best_step(a, b, c, d, e, largest)
    assert 0.0 <= eta <= largest
    grid = np.linspace(0.0, largest, 2001)
    numeric = minimize_scalar(lambda t: -value(t), bounds=(0.0, largest), method="bounded")
    assert value(eta) >= max(value(grid).max(), -numeric.fun) * (1 - 1e-9)


def test_stagewise_follows_the_gradient_of_alignment():
    """The kernel that joins has the largest directional derivative (Prop. 5.2), by finite differences."""
    alignment, stack, _, _ = problem()
    state = _Stagewise(alignment_oracle(alignment), alignment.Y, GreedyAlignment(), 0.0)
    T = centred(alignment.Y @ alignment.Y.T)

    def rho(K):
        return np.vdot(K, T) / (np.linalg.norm(K) * np.linalg.norm(T))

    for _ in range(4):
        K = state.K.copy()
        size = 1e-6 * np.linalg.norm(K)
        slopes = [(rho(K + size * centred(k)) - rho(K - size * centred(k))) for k in stack]
        before = list(state.chosen.atoms), state.chosen.theta.copy()
        assert state.step()
        new = [z for z in state.chosen.atoms if z not in before[0]]
        grown = np.flatnonzero(state.chosen.theta[: len(before[1])] > before[1])
        chosen = new[0] if new else state.chosen.atoms[grown[0]]
        assert slopes[chosen] >= max(slopes) - 1e-9 * max(map(abs, slopes))


def alignment_oracle(alignment):
    return FiniteOracle(alignment.gram)


@each_method
@pytest.mark.parametrize("outputs", [1, 3])
def test_alignments_along_the_path(method, outputs):
    """Those that are reported are those of the combination, and never fall but for the printed Alg. 8."""
    alignment, stack, _, _ = problem(1, outputs=outputs)
    for steps in (1, 2, 5):
        chosen = GreedyAlignment(method, max_kernels=steps, tol=-1.0).choose(
            alignment_oracle(alignment), alignment.Y
        )
        theta = np.zeros(len(stack))
        np.add.at(theta, chosen.atoms, chosen.theta)
        np.testing.assert_allclose(theta.sum(), 1.0)
        np.testing.assert_allclose(chosen.path[-1], alignment.value(theta), atol=1e-9)
        if method != "distance-printed":
            assert np.all(np.diff(chosen.path) >= -1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_of_the_corrected_distance_method_is_alignf(seed):
    alignment, _, _, _ = problem(seed, 40)
    best = alignment.value(Alignf().weigh(alignment).theta)
    found = alignment.value(GreedyAlignment("distance", max_kernels=400, tol=-1.0).weigh(alignment).theta)
    assert best - 1e-4 <= found <= best + 1e-10
    printed = GreedyAlignment("distance-printed", max_kernels=400, tol=-1.0).weigh(alignment)
    assert alignment.value(printed.theta) <= best + 1e-10


def test_the_printed_algorithm_does_not_reach_alignf():
    """Its step optimises θ + ηe_I and its update is (1 − η)θ + ηe_I."""
    worse = []
    for seed in range(4):
        alignment, _, _, _ = problem(seed, 40)
        best = alignment.value(Alignf().weigh(alignment).theta)
        printed = GreedyAlignment("distance-printed", max_kernels=400, tol=-1.0).weigh(alignment)
        worse.append(best - alignment.value(printed.theta))
    assert max(worse) > 1e-3


def test_the_distance_falls_at_every_step():
    alignment, _, _, _ = problem(2)
    state = _Distance(alignment_oracle(alignment), alignment.Y, GreedyAlignment("distance"), 0.0)
    values = [0.5 * state.tau**2]
    for _ in range(30):
        if not state.step():
            break
        values.append(0.5 * np.linalg.norm(state._combination() - state.T) ** 2)
    assert len(values) > 2 and np.all(np.diff(values) <= 1e-9 * values[0])


@each_method
def test_over_a_continuum(method):
    """Widths are found, not listed, and the alignment is at least that of the best single one of a grid."""
    _, _, X, Y = problem(3)
    oracle = build_oracle(Gaussians(0.1, 30.0), X, normalize="trace")
    target = Y - Y.mean()
    chosen = GreedyAlignment(method).choose(oracle, target)
    assert len(set(chosen.atoms)) == len(chosen.atoms) and np.all(chosen.theta >= 0)
    T = target @ target.T
    if method == "stagewise":  # the gradient at εI
        T -= np.trace(T) / (len(T) - 1) * centred(np.eye(len(T)))
    grid = [centred(Gaussian(w)(X)) for w in np.geomspace(0.1, 30.0, 50)]
    first = max(np.vdot(K, T) for K in grid)
    K = centred(oracle.gram(chosen.atoms[:1]).combine(np.ones(1)))
    assert np.vdot(K, T) >= first * (1 - 1e-9)


def test_early_stopping_takes_the_best_on_other_data():
    alignment, _, _, _ = problem(4)
    values = iter([0.3, 0.5, 0.4, 0.2, 0.1])
    seen = []

    def validate(atoms, theta):
        np.testing.assert_allclose(theta.sum(), 1.0)
        seen.append(list(atoms))
        return next(values)

    chosen = GreedyAlignment(tol=-1.0).choose(alignment_oracle(alignment), alignment.Y, validate)
    assert len(seen) == 5 and chosen.atoms == seen[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "fast"}, "method='fast'.*'stagewise'"),
        ({"max_kernels": 0}, "max_kernels=0.*at least 1"),
        ({"max_step": -1.0}, "max_step=-1.0.*positive"),
        ({"tol": np.nan}, "tol=nan.*expected a number"),
        ({"shrinkage": -1.0}, "shrinkage=-1.0.*at least 0"),
        ({"validation": 1.5}, "validation=1.5.*between 0 and 1"),
    ],
)
def test_bad_options(options, message):
    alignment, _, _, _ = problem()
    with pytest.raises(ValueError, match=message):
        GreedyAlignment(**options).weigh(alignment)


def test_its_name():
    assert isinstance(resolve_weighting("greedy"), GreedyAlignment)


@pytest.mark.parametrize("method", ["stagewise", "distance"])
def test_weights_of_samples_are_those_of_the_problem(method):
    """Of a list, the weighted alignment is climbed: the limit is that of alignf with the same weights."""
    rng = np.random.RandomState(0)
    X = rng.randn(60, 4)
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.randn(60)
    w = rng.randint(1, 4, size=60).astype(float)
    kernels = [Gaussian(0.5), Gaussian(1.0), Gaussian(3.0), Linear()]
    greedy = AlignMKLRegressor(kernels, weighting=GreedyAlignment(method, tol=1e-10))
    exact = AlignMKLRegressor(kernels, weighting="alignf").fit(X, y, sample_weight=w)
    plain = AlignMKLRegressor(kernels, weighting="alignf").fit(X, y)
    found = greedy.fit(X, y, sample_weight=w).weights_
    np.testing.assert_allclose(found, exact.weights_, atol=1e-3)
    assert np.abs(found - plain.weights_).max() > 0.02
