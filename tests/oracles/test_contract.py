"""What every oracle promises, whatever family it is of."""

import pickle

import numpy as np
import pytest
from tests.helpers import gaussians
from tests.oracles.naive import data, oracle_of

import manykernels.oracles as package
from manykernels.kernels import Gaussian, Kernel
from manykernels.oracles import FiniteOracle, Oracle, ProductsOracle, build_oracle

X, A = data(n=15, r=4, outputs=2)
ORACLES = {
    "finite": build_oracle([Gaussian(w) for w in (0.5, 1.0, 2.0, 4.0)], X, normalize="trace"),
    "monomials": oracle_of("features", X, degree=3, rho=[2.0, 1.0, 1.5, 2.0]),
    "interactions": oracle_of("features", X, degree=3, interactions_only=True),
    "unit monomials": oracle_of("features", X, degree=3, atom_scale="rms"),
    "matrices": oracle_of("gaussians", X, degree=3, multiplicity="paper"),
}
DRAWING = [name for name in ORACLES if name != "unit monomials"]


def everything(oracle):
    """All atoms of a family that is small enough."""
    return list(oracle.atoms()) if isinstance(oracle, ProductsOracle) else list(range(int(oracle.size)))


def test_every_exported_oracle_is_covered():
    exported = {value for name in package.__all__ if isinstance(value := getattr(package, name), type)}
    oracles = {kind for kind in exported if issubclass(kind, Oracle)}
    assert oracles - {Oracle} == {type(oracle) for oracle in ORACLES.values()}


@pytest.mark.parametrize("name", ORACLES)
class TestContract:
    def test_atoms(self, name):
        oracle = ORACLES[name]
        atoms = everything(oracle)
        assert len({hash(atom) for atom in atoms}) == oracle.size == len(atoms)
        assert len({oracle.name(atom) for atom in atoms}) == len(atoms)

    def test_kernels_and_grams_are_the_same(self, name):
        oracle = ORACLES[name]
        atoms = everything(oracle)[::-1]
        gram = oracle.gram(atoms)
        assert gram.n == oracle.n and gram.n_kernels == len(atoms)
        for m, atom in enumerate(atoms):
            kernel = oracle.kernel(atom)
            assert isinstance(kernel, Kernel)
            K = gram.combine(np.ones(1), np.array([m]))
            np.testing.assert_allclose(kernel(X), K, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(kernel.diag(X), np.diag(K), rtol=1e-10, atol=1e-12)
            assert oracle.quad(A, [atom])[0] == pytest.approx(np.sum(A * (K @ A)), rel=1e-10)
            assert np.linalg.eigvalsh(K).min() > -1e-10 * max(np.trace(K), 1.0)
            if oracle.rank_one:
                assert np.linalg.matrix_rank(K) == 1
        assert oracle.quad(A, []).shape == (0,)

    def test_best(self, name):
        oracle = ORACLES[name]
        atoms = everything(oracle)
        q = oracle.quad(A, atoms)
        for k in (1, 3, len(atoms), len(atoms) + 5):
            best = oracle.best(A, k)
            assert len(best.atoms) == len(set(best.atoms)) == best.values.size == min(k, len(atoms))
            np.testing.assert_allclose(best.values, np.sort(q)[::-1][:k], rtol=1e-10)
            np.testing.assert_allclose(best.values, oracle.quad(A, best.atoms), rtol=1e-10)
            assert best.upper >= q.max() * (1 - 1e-12)
        for r in (1.0, 2.0, np.inf):
            assert oracle.total(A, r) == pytest.approx(np.linalg.norm(q, r), rel=1e-10)

    def test_uniform_draws(self, name):
        oracle = ORACLES[name]
        draws = oracle.sample_uniform(4000, np.random.RandomState(0))
        assert set(draws.atoms) == set(everything(oracle))
        np.testing.assert_allclose(draws.probabilities, 1.0 / oracle.size)

    def test_offers(self, name):
        asked = ("atoms", "best", "sample_uniform", *(["sample"] if name in DRAWING else []))
        assert all(ORACLES[name].offers(question) for question in asked)
        assert ORACLES[name].offers("sample") == (name in DRAWING)

    def test_pickle(self, name):
        oracle = ORACLES[name]
        atoms = everything(oracle)
        again = pickle.loads(pickle.dumps(oracle))
        np.testing.assert_array_equal(again.quad(A, atoms), oracle.quad(A, atoms))


@pytest.mark.parametrize("name", DRAWING)
def test_draws_come_with_their_probability(name):
    oracle = ORACLES[name]
    atoms = everything(oracle)
    draws = oracle.sample(A, 30_000, np.random.RandomState(0))
    assert len(draws.atoms) == draws.probabilities.size == 30_000
    given = dict(zip(draws.atoms, draws.probabilities, strict=True))
    assert sum(given.values()) == pytest.approx(1.0, abs=1e-3)
    counts = np.array([draws.atoms.count(atom) for atom in given])
    p = np.array(list(given.values()))
    assert np.all(np.abs(counts - 30_000 * p) <= 6.0 * np.sqrt(30_000 * p) + 3.0)
    # A sum over the family, estimated from draws: with draws near q, it varies little.
    q = oracle.quad(A, atoms)
    estimate = oracle.quad(A, draws.atoms[:2000]) / draws.probabilities[:2000]
    assert estimate.mean() == pytest.approx(
        q.sum(), abs=5.0 * estimate.std() / np.sqrt(2000) + 1e-9 * q.sum()
    )
    nothing = oracle.sample(np.zeros_like(A), 5, np.random.RandomState(0))
    np.testing.assert_allclose(nothing.probabilities, 1.0 / oracle.size)


def test_a_finite_oracle_of_a_given_stack():
    from manykernels.grams import StackGram

    stack = gaussians(X, [0.1, 1.0])
    oracle = FiniteOracle(StackGram(stack))
    np.testing.assert_allclose(oracle.quad(A, [1, 0]), np.einsum("ik,mij,jk->m", A, stack[::-1], A))
