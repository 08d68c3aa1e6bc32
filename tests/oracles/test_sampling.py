"""Draws of products: their probabilities by enumeration, and their frequencies."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chi2
from tests.oracles.naive import (
    all_products,
    base_matrices,
    data,
    frequencies,
    matrix,
    oracle_of,
    orders,
    scale,
)

from manykernels.oracles._parts import FactorParts, StackParts
from manykernels.oracles._sampling import Sampler, draw_uniformly

RHO = [0.7, 1.0, 1.5, 0.8, 2.0]
KINDS = ["features", "gaussians"]
CASES = [
    pytest.param(kind, r, D, rho, outputs, id=f"{kind}-r{r}-D{D}-{'rho' if rho else 'flat'}-k{outputs}")
    for kind in KINDS
    for r, D, rho, outputs in [(4, 3, None, 1), (3, 4, RHO, 1), (4, 3, RHO[:4], 2)]
]


def weights(kind, X, A, D, rho, interactions_only=False):
    """q° = ρ_d⁻² ⟨M, ΠK_j⟩ of every product, from matrices."""
    bases, M = base_matrices(kind, X), A @ A.T
    products = all_products(X.shape[1], D, interactions_only)
    return {z: scale(z, bases, rho) * float(np.sum(M * matrix(bases, z))) for z in products}


def chi_square_accepts(counts, probabilities):
    """Whether counts fit probabilities, at a level of 1e-6; products that are rarely met make one cell."""
    size = sum(counts.values())
    expected = {z: size * p for z, p in probabilities.items()}
    frequent = [z for z, e in expected.items() if e >= 5.0]
    observed = np.array([counts[z] for z in frequent] + [size - sum(counts[z] for z in frequent)])
    wanted = np.array([expected[z] for z in frequent])
    wanted = np.append(wanted, max(size - wanted.sum(), 1e-9))
    used = wanted >= 1.0
    statistic = np.sum((observed - wanted)[used] ** 2 / wanted[used])
    assert observed[~used].sum() <= 12
    return statistic < chi2.ppf(1.0 - 1e-6, used.sum() - 1)


@pytest.mark.parametrize("multiplicity", ["distinct", "paper"])
@pytest.mark.parametrize(("kind", "r", "D", "rho", "outputs"), CASES)
def test_draws_follow_the_importance_probabilities(kind, r, D, rho, outputs, multiplicity):
    X, A = data(r=r, outputs=outputs)
    oracle = oracle_of(kind, X, degree=D, rho=rho, multiplicity=multiplicity)
    q = weights(kind, X, A, D, rho)
    total = math.fsum(orders(z) * value for z, value in q.items())
    expected = {z: orders(z) * value / total for z, value in q.items()}
    assert oracle.normaliser(A) == pytest.approx(total, rel=1e-12)
    counts, given = frequencies(oracle.sample(A, 20_000, np.random.RandomState(1)))
    for z, p in given.items():
        assert p == pytest.approx(expected[z], abs=1e-12, rel=1e-9)
    assert chi_square_accepts(counts, expected)


@pytest.mark.parametrize(("kind", "r", "D", "rho", "outputs"), CASES)
def test_distinct_draws_follow_q(kind, r, D, rho, outputs):
    X, A = data(r=r, outputs=outputs)
    oracle = oracle_of(kind, X, degree=D, rho=rho)
    q = weights(kind, X, A, D, rho)
    total = math.fsum(q.values())
    assert oracle.total(A, 1.0) == pytest.approx(total, rel=1e-12)
    counts, given = frequencies(oracle.sample_distinct(A, 20_000, np.random.RandomState(2)))
    for z, p in given.items():
        assert p == pytest.approx(q[z] / total, abs=1e-12, rel=1e-9)
    assert chi_square_accepts(counts, {z: value / total for z, value in q.items()})


@pytest.mark.parametrize("multiplicity", ["distinct", "paper"])
@pytest.mark.parametrize(("kind", "r", "D", "rho", "outputs"), CASES)
def test_interactions_are_drawn_by_q_itself(kind, r, D, rho, outputs, multiplicity):
    X, A = data(r=r, outputs=outputs)
    oracle = oracle_of(kind, X, degree=D, rho=rho, interactions_only=True, multiplicity=multiplicity)
    q = weights(kind, X, A, min(D, r), rho, interactions_only=True)
    if multiplicity == "paper":  # norm 2: c_z^{1/2}
        q = {z: value * math.factorial(len(z)) ** 0.5 for z, value in q.items()}
    total = math.fsum(q.values())
    assert oracle.normaliser(A) == pytest.approx(total, rel=1e-12)
    assert oracle.total(A, 1.0) == pytest.approx(total, rel=1e-12)
    counts, given = frequencies(oracle.sample(A, 20_000, np.random.RandomState(3)))
    for z, p in given.items():
        assert p == pytest.approx(q[z] / total, abs=1e-12, rel=1e-9)
    assert chi_square_accepts(counts, {z: value / total for z, value in q.items()})


@pytest.mark.parametrize("multiplicity", ["distinct", "paper"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interactions_only", [False, True])
def test_the_gradient_estimate_is_unbiased(kind, interactions_only, multiplicity):
    """Probabilities sum to one, are positive where g is not zero, and g_z/P(z) averages to the gradient."""
    X, A = data(r=3)
    oracle = oracle_of(
        kind, X, degree=3, rho=RHO[:4], interactions_only=interactions_only, multiplicity=multiplicity
    )
    atoms = list(oracle.atoms())
    g = -0.5 * oracle.quad(A, atoms)
    size = 40_000
    counts, given = frequencies(oracle.sample(A, size, np.random.RandomState(4)))
    seen = [z in given for z in atoms]
    assert np.all(np.array(seen) | (np.abs(g) < 1e-3 * np.abs(g).max()))
    assert sum(given.values()) == pytest.approx(1.0, abs=1e-12 if all(seen) else 1e-3)
    estimate = np.array([counts[z] / size * g[i] / given.get(z, 1.0) for i, z in enumerate(atoms)])
    p = np.array([given.get(z, 0.0) for z in atoms])
    spread = np.abs(g) * np.sqrt(np.divide(1.0, size * p, out=np.zeros_like(p), where=p > 0))
    assert np.all(np.abs(estimate - g)[seen] <= 6.0 * spread[seen])


@pytest.mark.parametrize("method", ["sample", "sample_distinct"])
@pytest.mark.parametrize("interactions_only", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_many_base_kernels_are_drawn_by_blocks_alike(kind, interactions_only, method):
    """Enough prefixes and base kernels that blocks come into play: frequencies against the probabilities."""
    X, A = data(n=10, r=12, seed=5)
    oracle = oracle_of(kind, X, degree=3, interactions_only=interactions_only)
    assert oracle.parts.blocks_pay(12, oracle.parts.power_sum(1))
    q = weights(kind, X, A, 3, None, interactions_only)
    if method == "sample" and not interactions_only:
        q = {z: orders(z) * value for z, value in q.items()}
    total = math.fsum(q.values())
    draws = getattr(oracle, method)(A, 20_000, np.random.RandomState(6))
    counts, given = frequencies(draws)
    for z, p in given.items():
        assert p == pytest.approx(q[z] / total, abs=1e-12, rel=1e-9)
    assert chi_square_accepts(counts, {z: value / total for z, value in q.items()})


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_masses_are_those_of_the_matrices(kind, outputs):
    X, A = data(n=15, r=10, outputs=outputs)
    bases, M = base_matrices(kind, X), A @ A.T
    parts = oracle_of(kind, X, degree=2).parts
    assert isinstance(parts, FactorParts if kind == "features" else StackParts)
    point, prefixes, S = parts.point(A), [(), (2,), (1, 1, 7)], sum(bases)
    lower = np.tril_indices(len(X))
    for H, dense in (
        (None, np.ones_like(S)),
        (parts.power_sum(1), S),
        (parts.power_sum(2), sum(K**2 for K in bases)),
    ):
        if H is not None:
            np.testing.assert_allclose(H, dense if kind == "features" else dense[lower], rtol=1e-12)
        columns = parts.mass(point, H).size  # of a stack one stands for all
        assert parts.mass(point, H).sum() == pytest.approx(np.sum(M * dense), rel=1e-12)
        for k in range(columns):
            starts = [(k, z) for z in prefixes]
            own = M if columns == 1 else np.outer(A[:, k], A[:, k])
            for power in (1, 2):
                wanted = [
                    [np.sum(own * matrix(bases, z) * dense * K**power) for K in bases] for z in prefixes
                ]
                np.testing.assert_allclose(parts.masses(point, starts, H, power), wanted, rtol=1e-9)
            if H is not None:
                wanted = parts.masses(point, starts, H)
                table = [parts.within(point, starts, H, b) for b in range(len(parts.edges) - 1)]
                np.testing.assert_allclose(np.hstack(table), wanted, rtol=1e-9)
                sums = np.add.reduceat(wanted, parts.edges[:-1], axis=1)
                np.testing.assert_allclose(parts.block_masses(point, starts, H), sums, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_masses_of_sets_are_sums_over_those_that_complete_them(kind):
    X, A = data(r=6)
    bases, M = base_matrices(kind, X), A @ A.T
    oracle = oracle_of(kind, X, degree=4, interactions_only=True)
    for prefix, e in [((), 4), ((2,), 3), ((0, 5), 2), ((1, 3), 1)]:
        others = [j for j in range(6) if j not in prefix]
        found = oracle.sampler._set_masses(oracle.parts.point(A), (0, prefix), e)
        for j in others:
            rest = itertools.combinations([i for i in others if i != j], e - 1)
            wanted = sum(np.sum(M * matrix(bases, (*prefix, j, *z))) for z in rest)
            assert found[j] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_symmetric_functions(kind):
    X, A = data(r=4)
    bases, M = base_matrices(kind, X), A @ A.T
    oracle = oracle_of(kind, X, degree=4)
    sampler = Sampler(oracle.parts, np.ones(5))
    for d in range(5):
        repeated = itertools.combinations_with_replacement(range(4), d)
        wanted = {
            "orders": sum(np.sum(M * matrix(bases, z)) for z in itertools.product(range(4), repeat=d)),
            "multisets": sum(np.sum(M * matrix(bases, z)) for z in repeated),
            "sets": sum(np.sum(M * matrix(bases, z)) for z in itertools.combinations(range(4), d)),
        }
        for name, value in wanted.items():
            assert sampler.by_degree(oracle.parts.point(A), name)[d] == pytest.approx(value, rel=1e-11)


class TestUniform:
    @pytest.mark.parametrize("interactions_only", [False, True])
    def test_every_product_alike(self, interactions_only):
        X, _ = data(r=4)
        oracle = oracle_of("features", X, degree=3, interactions_only=interactions_only)
        atoms = all_products(4, 3, interactions_only)
        counts, given = frequencies(oracle.sample_uniform(20_000, np.random.RandomState(0)))
        assert set(given.values()) == {1.0 / len(atoms)}
        assert chi_square_accepts(counts, dict.fromkeys(atoms, 1.0 / len(atoms)))

    def test_more_products_than_64_bits_count(self):
        r, D = 1000, 12
        counts = [math.comb(r + d - 1, d) for d in range(D + 1)]
        assert sum(counts) > 2**64
        drawn = draw_uniformly(r, counts, False, 300, np.random.RandomState(0))
        assert all(list(z) == sorted(z) and z[-1] < r for z in drawn)
        # Degree 11 is drawn with a probability of 12/1011; the first of 12 indices has mean about r/13.
        assert {len(z) for z in drawn} <= {10, 11, 12} and sum(len(z) == 12 for z in drawn) > 280
        firsts = np.array([z[0] for z in drawn if len(z) == 12])
        assert abs(firsts.mean() - (r - 1) / 13) < 6 * firsts.std() / np.sqrt(firsts.size)


class TestBehaviour:
    @pytest.mark.parametrize("method", ["sample", "sample_distinct"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_draws_are_those_of_the_seed(self, kind, method):
        X, A = data(r=10)
        first, again, other = (
            getattr(oracle_of(kind, X, degree=3), method)(A, 50, np.random.RandomState(seed))
            for seed in (0, 0, 1)
        )
        assert first.atoms == again.atoms and first.atoms != other.atoms
        np.testing.assert_array_equal(first.probabilities, again.probabilities)

    def test_a_point_without_gradient_is_drawn_from_uniformly(self):
        X, A = data()
        oracle = oracle_of("features", X, degree=2)
        draws = oracle.sample(0.0 * A, 5, np.random.RandomState(0))
        np.testing.assert_array_equal(draws.probabilities, np.full(5, 1.0 / oracle.size))

    def test_products_that_vanish_are_not_drawn(self):
        """Columns that are nowhere different from zero together: of their products only powers remain."""
        X = np.repeat(np.eye(3), 4, axis=0) * np.linspace(1.0, 2.0, 12)[:, None]
        A = np.random.RandomState(0).randn(12, 1)
        for kind in ("sample", "sample_distinct"):
            draws = getattr(oracle_of("features", X, degree=3), kind)(A, 2000, np.random.RandomState(0))
            assert all(len(set(z)) <= 1 for z in draws.atoms)
        interactions = oracle_of("features", X, degree=3, interactions_only=True)
        assert {len(z) for z in interactions.sample(A, 2000, np.random.RandomState(0)).atoms} == {0, 1}

    def test_atoms_scaled_one_by_one_are_refused(self):
        X, A = data()
        oracle = oracle_of("features", X, degree=2, atom_scale="rms")
        for ask in (oracle.sample, oracle.sample_distinct):
            with pytest.raises(ValueError, match=r"atom_scale='rms'.*Give atom_scale=None.*corrective"):
                ask(A, 3, np.random.RandomState(0))
        with pytest.raises(ValueError, match="atom_scale='rms'"):
            oracle.normaliser(A)
        assert len(oracle.sample_uniform(3, np.random.RandomState(0)).atoms) == 3
