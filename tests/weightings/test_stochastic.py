"""Mirror descent on the alignment: the direction is unbiased, the limit is alignf's, and bounds hold."""

import numpy as np
import pytest
from tests.oracles.naive import orders

from manykernels import AlignMKLClassifier, AlignMKLRegressor, KernelAligner
from manykernels.families import Gaussians, Products
from manykernels.kernels import Gaussian, Linear
from manykernels.measures import centered_alignment
from manykernels.objectives import Alignment
from manykernels.oracles import Draws, FiniteOracle, build_oracle
from manykernels.weightings import Alignf, GreedyAlignment, StochasticAlignment, resolve_weighting
from manykernels.weightings.bound import alignment_bound

FAMILIES = {
    "columns": Products(degree=3),
    "interactions": Products(degree=3, interactions_only=True),
    "prior": Products(degree=2, rho=[1.0, 2.0, 0.5]),
    "matrices": Products([Linear(), Gaussian(2.0), Gaussian(0.7)], degree=2),
}
each_family = pytest.mark.parametrize("name", FAMILIES)


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def given(name="columns", n=25, r=4, outputs=1, seed=0):
    """An oracle, all its atoms and their matrices, a target and a combination of a few kernels."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, r)
    oracle = build_oracle(FAMILIES[name], X, normalize="trace")
    atoms = list(oracle.atoms())
    stack = np.array([oracle.gram([z]).combine(np.ones(1)) for z in atoms])
    Y = np.column_stack([X[:, 0] * X[:, 1] + 0.3 * rng.randn(n), rng.randn(n, outputs - 1)])
    Y = (Y - Y.mean(axis=0)) / np.abs(Y).max()
    theta = rng.uniform(size=len(atoms)) * (rng.uniform(size=len(atoms)) < 0.4)
    return oracle, atoms, stack, Y, theta


class InTurn(FiniteOracle):
    """Draws a kernel in turn, with the probability of the real oracle."""

    def sample_against(self, Q, size, rng):
        q = self.whole.against(Q)
        self.shares = q / q.sum()
        return Draws([self.turn], self.shares[[self.turn]])


# -- the direction --------------------------------------------------------------------------------
@each_family
def test_the_direction_is_unbiased_by_enumeration(name):
    """Σ_z s_z ĝ(z) = −‖K_c‖‖T‖ ∇ρ̂, with ∇ρ̂ by finite differences."""
    oracle, atoms, stack, Y, theta = given(name)
    T = Y @ Y.T

    def rho(theta):
        K = centred(np.tensordot(theta, stack, 1))
        return np.vdot(K, T) / (np.linalg.norm(K) * np.linalg.norm(T))

    K = centred(np.tensordot(theta, stack, 1))
    listed, mean = InTurn(oracle.gram(atoms)), np.zeros(len(atoms))
    for z in range(len(atoms)):
        listed.turn = z
        with np.errstate(divide="ignore", invalid="ignore"):
            found, g, _ = StochasticAlignment(batch=1).estimate(listed, T, K, None)
        assert found == [z]
        mean[z] = listed.shares[z] * g[0] if listed.shares[z] > 1e-12 else 0.0  # a constant kernel
    step = 1e-6 * theta.max()
    slopes = [(rho(theta + step * e) - rho(theta - step * e)) / (2 * step) for e in np.eye(len(atoms))]
    wanted = -np.linalg.norm(K) * np.linalg.norm(T) * np.array(slopes)
    np.testing.assert_allclose(mean, wanted, atol=1e-5 * np.abs(wanted).max())


@each_family
def test_draws_from_the_sum_of_both_masses(name):
    """Probabilities by enumeration, weights below N, and means within their errors."""
    oracle, atoms, stack, Y, theta = given(name, n=15, outputs=2)
    T, K = Y @ Y.T, centred(np.tensordot(theta, stack, 1))
    beta = np.vdot(K, T) / np.vdot(K, K)
    up, down = (np.array([np.vdot(k, S) for k in stack]) for S in (beta * K, T))
    assert min(up.min(), down.min()) >= -1e-9 * down.max()
    count = np.array([1.0 if name == "interactions" else orders(z) for z in atoms])
    s = count * (up + down) / np.sum(count * (up + down))
    draws = oracle.sample_against(T + beta * K, 50, np.random.RandomState(0))
    at = [atoms.index(z) for z in draws.atoms]
    np.testing.assert_allclose(draws.probabilities, s[at], rtol=1e-8)
    weighting, rng, total = (
        StochasticAlignment(batch=20),
        np.random.RandomState(1),
        np.sum(count * (up + down)),
    )
    rows = np.zeros((120, len(atoms)))
    for row in rows:
        found, g, ratios = weighting.estimate(oracle, T, K, rng)
        row[[atoms.index(z) for z in found]] = g
        assert ratios.max() <= total * (1 + 1e-9)
    expected, error = weighting.batch * len(rows) * s, np.abs(rows.mean(axis=0) - (up - down))
    often = expected >= 5.0
    assert often.sum() > len(atoms) // 2
    assert np.all(error[often] <= 6.0 * np.abs(up - down)[often] / np.sqrt(expected[often]) + 1e-9)


# -- the limit ------------------------------------------------------------------------------------
def products(n=100, r=10):
    X = np.random.RandomState(3).randn(n, r)
    return X, X[:, 0] * X[:, 1] * X[:, 2] + X[:, 3] + 0.2 * np.random.RandomState(4).randn(n)


def over_the_list(X, y):
    """alignf over all 285 products that vary."""
    oracle = build_oracle(Products(degree=3), X, normalize="trace")
    Y = (y - y.mean())[:, None]
    alignment = Alignment(oracle.gram([z for z in oracle.atoms() if z]), Y)
    return oracle, Y / np.abs(Y).max(), alignment.value(Alignf().weigh(alignment).theta)


def test_it_comes_near_alignf_over_the_list():
    """The mean of the iterates without any fit at the end; more batches, nearer, in most draws."""
    X, y = products(70)
    oracle, Y, best = over_the_list(X, y)
    gaps = []
    for seed in range(5):
        for T in (25, 200):
            chosen = StochasticAlignment(T, batch=64, refit=False, random_state=seed).choose(oracle, Y)
            assert chosen.theta.sum() == pytest.approx(1.0) and chosen.theta.min() > 0.0
            gaps.append(best - Alignment(oracle.gram(chosen.atoms), Y).value(chosen.theta))
    few, many = np.median(np.reshape(gaps, (5, 2)), axis=0)
    # of twelve draws the gaps are .12 to .21 after 25 batches, and .002 to .02 after 200
    assert min(gaps) >= -1e-9 and many < 0.02 and many < 0.5 * few


def test_the_fit_at_the_end_is_alignf_with_a_proof():
    X, y = products(70)
    best = over_the_list(X, y)[2]
    weighting = StochasticAlignment(100)
    model = AlignMKLRegressor(Products(degree=3), weighting=weighting).fit(X, y)
    assert model.alignment_ == pytest.approx(best, abs=1e-4) and model.alignment_ <= best + 1e-9
    assert best - 1e-9 <= model.alignment_bound_ <= best + 0.05
    assert centered_alignment(model.kernel_(X), y) == pytest.approx(model.alignment_, abs=1e-8)
    again = AlignMKLRegressor(Products(degree=3), weighting=weighting).fit(X, y)
    assert again.kernel_names_ == model.kernel_names_ and not model.certified_


# -- the bound ------------------------------------------------------------------------------------
@each_family
def test_no_combination_exceeds_the_bound(name):
    """From any point; and at alignf's the bound is its alignment."""
    oracle, atoms, stack, Y, _ = given(name, r=3)
    varying = [i for i, K in enumerate(stack) if np.linalg.norm(centred(K)) > 1e-9 * np.trace(K)]
    alignment = Alignment(oracle.gram([atoms[i] for i in varying]), Y)
    weights = Alignf().weigh(alignment).theta
    best = alignment.value(weights)
    rng = np.random.RandomState(0)
    for _ in range(5):
        some = rng.choice(varying, 3, replace=False)
        bound = alignment_bound(oracle, Y, [atoms[i] for i in some], rng.uniform(size=3))
        assert best - 1e-9 <= bound <= 1.0
    used = np.flatnonzero(weights)
    bound = alignment_bound(oracle, Y, [atoms[varying[i]] for i in used], weights[used])
    assert bound == pytest.approx(best, abs=1e-5) and bound >= best - 1e-9


def test_greedy_alignment_has_the_bound_too():
    X, y = products(60, 5)
    model = AlignMKLRegressor(Products(degree=2), weighting=GreedyAlignment("distance", 200, 1e-9)).fit(X, y)
    assert model.alignment_ <= model.alignment_bound_ <= model.alignment_ + 1e-3
    widths = AlignMKLRegressor(Gaussians(0.5, 20.0), weighting="greedy").fit(X, y)
    assert widths.alignment_bound_ is None or widths.alignment_ <= widths.alignment_bound_ <= 1.0


# -- estimators -----------------------------------------------------------------------------------
def test_classes_and_kernels_that_are_no_columns():
    X, y = products(60, 5)
    labels = np.digitize(y, [-0.5, 0.5])
    family = Products([Linear(), Gaussian(3.0)], degree=2)
    weighting = StochasticAlignment(20, batch=16)
    model = AlignMKLClassifier(family, weighting=weighting).fit(X, labels)
    assert model.score(X, labels) > 0.6 and 0.0 < model.alignment_ <= model.alignment_bound_
    assert isinstance(resolve_weighting("stochastic"), StochasticAlignment)


def test_lists_and_weights_of_samples():
    """A list is weighed from sums, in which a weight is a repetition: the answer is alignf's."""
    X, y = products(40, 4)
    weight = np.random.RandomState(0).randint(1, 4, 40)
    kernels = [Linear(), Gaussian(1.0), Gaussian(3.0), Gaussian(9.0)]
    for refit, near in ((True, 1e-6), (False, 5e-3)):
        model = AlignMKLRegressor(kernels, weighting=StochasticAlignment(400, refit=refit))
        best = AlignMKLRegressor(kernels, weighting="alignf")
        found = [one.fit(X, y, sample_weight=weight).alignment_ for one in (model, best)]
        assert found[1] - near <= found[0] <= found[1] + 1e-9


def test_families_that_cannot_be_drawn_from_are_refused():
    X, y = products(30, 4)
    for family in (Products(degree=2, atom_scale="rms"), Gaussians(0.5, 5.0)):
        with pytest.raises(ValueError, match=r"answers 'sample_against'.*Take weighting='greedy'"):
            KernelAligner(family, weighting="stochastic").fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight was given .*weighting='stochastic'"):
        AlignMKLRegressor(Products(degree=2), weighting="stochastic").fit(X, y, sample_weight=np.arange(30.0))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iter": 0}, r"max_iter=0.*at least 1"),
        ({"batch": 2.5}, r"batch=2.5.*whole number"),
        ({"norm": 1.0}, r"norm=1.0.*from 1.05 to 2"),
        ({"norm": "2"}, r"norm='2'.*from 1.05"),
    ],
)
def test_bad_options(options, message):
    oracle, _, _, Y, _ = given()
    with pytest.raises(ValueError, match=message):
        StochasticAlignment(**options).choose(oracle, Y)
