"""Oracles of continuous families against dense grids, finite differences and integrals."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.oracles.continua import LINE, Mixed, Rational, X, oracle_of

from manykernels.families import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.grams import BlockGram, FactorGram, StackGram
from manykernels.kernels import Gaussian
from manykernels.kernels.ard import ARDGaussian
from manykernels.oracles._lines import LinePoint

rng = np.random.RandomState(1)
A = rng.normal(size=(40, 1))
RIDGE = np.linalg.solve(Gaussian(1.0)(X) + 0.1 * np.eye(40), np.sin(2 * X[:, :1]))
WIDE = rng.normal(size=(40, 3))
DENSE = WIDE @ np.diag([1.0, -1.0, 0.5]) @ WIDE.T
ONE = {
    "gaussians": (Gaussians(0.05, 50.0), X),
    "laplacians": (Laplacians(0.05, 50.0), X),
    "dirichlets": (Dirichlets(0.5, 9.0), LINE),
    "dirichlets of degree 2": (Dirichlets(0.5, 6.0, degree=2), LINE),
}
ALL = {**ONE, "ard": (ARDGaussians(0.1, 20.0), X), "dirichlets of 2 features": (Dirichlets(0.5, 3.0), X)}


def forms(oracle, S, grid):
    """⟨S, K_σ⟩ from the kernels as functions."""
    return np.array([np.vdot(S, oracle.kernel(tuple(sigma))(oracle.X)) for sigma in grid])


@pytest.mark.parametrize("name", ALL)
def test_kernels_grams_and_forms_are_the_same(name):
    oracle = oracle_of(*ALL[name])
    atoms = [oracle.best(A, 1).atoms[0], *oracle.sample_uniform(3, np.random.RandomState(0)).atoms]
    gram, small = oracle.gram(atoms), oracle_of(*ALL[name], memory_limit=11 * 8 * 40**2).gram(atoms)
    few = oracle.family.factor(np.array(atoms[0]), oracle.X) is not None  # features
    expected = (FactorGram, FactorGram) if few else (StackGram, BlockGram)
    assert isinstance(gram, expected[0]) and isinstance(small, expected[1])
    for m, atom in enumerate(atoms):
        K = oracle.kernel(atom)(oracle.X)
        for held in (gram, small):
            np.testing.assert_allclose(held.combine(np.ones(1), np.array([m])), K, rtol=1e-10, atol=1e-13)
        assert np.mean(np.diag(K)) == pytest.approx(1.0)
        assert oracle.kernel(atom).name == oracle.name(atom) == gram.names[m]
        assert oracle.quad(WIDE, [atom])[0] == pytest.approx(np.vdot(WIDE, K @ WIDE), rel=1e-10)
    assert oracle.quad(A, []).shape == (0,)


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("S", [A, RIDGE, WIDE, DENSE, -DENSE], ids=["A", "ridge", "wide", "dense", "minus"])
def test_the_best_of_one_parameter_against_a_dense_grid(name, S):
    oracle = oracle_of(*ONE[name])
    low, high = oracle.coordinates.low, oracle.coordinates.high
    factor = S.shape[1] < 40
    best = oracle.best(S, 3) if factor else oracle.best_against(S, 3)
    matrix = S @ S.T if factor else S
    grid = forms(oracle, matrix, np.linspace(low, high, 800))
    size = max(abs(grid.max()), 1e-7 * np.abs(matrix).sum())
    np.testing.assert_allclose(best.values, forms(oracle, matrix, best.atoms), rtol=1e-8, atol=1e-8 * size)
    assert np.all(np.diff(best.values) <= 0.0) and len(set(best.atoms)) == len(best.atoms)
    assert best.upper >= grid.max()
    assert 0.0 <= best.upper - best.values[0] <= 2e-6 * size
    assert all(low <= sigma <= high for (sigma,) in best.atoms)


def test_atoms_are_rounded_merged_with_kernels_in_use_and_found_again():
    oracle = oracle_of(*ONE["gaussians"])
    (sigma,) = oracle.best(RIDGE, 1).atoms[0]
    assert sigma == float(f"{sigma:.11e}")
    nearby, other = (sigma * (1 + 5e-7),), (sigma * (1 + 5e-6),)
    oracle.gram([other])
    assert oracle.best(RIDGE, 1).atoms == [(sigma,)]
    oracle.gram([nearby])
    assert oracle.best(RIDGE, 1).atoms == [nearby]
    again = pickle.loads(pickle.dumps(oracle))
    assert again.best(RIDGE, 1).atoms == [nearby]


def test_a_dual_point_of_zero_has_a_best_kernel_of_value_zero():
    for name in ALL:
        oracle = oracle_of(*ALL[name])
        best = oracle.best(np.zeros((40, 1)), 5)
        assert len(best.atoms) == 1 and best.values == [0.0] and best.upper == 0.0
        assert np.all(oracle.sample(np.zeros((40, 1)), 3, np.random.RandomState(0)).probabilities > 0.0)


def test_data_without_two_different_rows():
    oracle = oracle_of(Gaussians(0.1, 10.0), np.ones((5, 2)))
    best = oracle.best(np.ones((5, 1)), 2)
    assert best.values[0] == pytest.approx(25.0) and best.upper == pytest.approx(25.0)


class TestSeveralParameters:
    @pytest.mark.parametrize(
        "data", [X, sparse.csr_matrix(np.where(X > 0.3, X, 0.0))], ids=["dense", "sparse"]
    )
    def test_gradient(self, data):
        family, sigma, step = ARDGaussians(), np.array([0.8, 2.5]), 1e-6
        value, gradient = family.form(sigma, data, DENSE)
        assert value == pytest.approx(np.vdot(DENSE, ARDGaussian(sigma)(data)), rel=1e-12)
        np.testing.assert_array_equal(family.gradient(sigma, data, DENSE), gradient)
        for i in range(2):
            up, down = sigma + step * np.eye(2)[i], sigma - step * np.eye(2)[i]
            slope = (family.form(up, data, DENSE)[0] - family.form(down, data, DENSE)[0]) / (2 * step)
            assert gradient[i] == pytest.approx(slope, rel=1e-6)

    @pytest.mark.parametrize("S", [RIDGE, DENSE], ids=["ridge", "dense"])
    def test_the_best_of_two_widths_against_a_grid(self, S):
        oracle = oracle_of(*ALL["ard"])
        best = oracle.best(S, 3) if S.shape[1] == 1 else oracle.best_against(S, 3)
        widths = np.geomspace(0.1, 20.0, 40)
        matrix = S @ S.T if S.shape[1] == 1 else S
        grid = forms(oracle, matrix, [(a, b) for a in widths for b in widths])
        assert best.values[0] >= grid.max() * (1 - 1e-9)
        assert best.upper == np.inf and oracle.total(A, np.inf) is None
        np.testing.assert_allclose(best.values, forms(oracle, matrix, best.atoms), rtol=1e-8)

    def test_what_is_found_is_never_worse_than_a_kernel_in_use(self):
        oracle = oracle_of(ARDGaussians(0.01, 100.0), rng.normal(size=(30, 6)))
        a = rng.normal(size=(30, 1))
        draws = oracle.sample_uniform(20, np.random.RandomState(1)).atoms
        oracle.gram(draws)
        assert oracle.best(a, 1).values[0] >= oracle.quad(a, draws).max() * (1 - 1e-9)

    def test_shrinkage_to_the_mean(self):
        """The optimum of h − λ‖σ − σ̄‖² is stationary; its limit is equal widths (Afkanpour 2013, Eq. 6.2)."""
        oracle = oracle_of(ARDGaussians(0.1, 20.0), X)
        S = RIDGE @ RIDGE.T
        free = oracle.best_against(S, 1).atoms[0]
        some = oracle.best_against(S, 1, shrinkage=0.1).atoms[0]
        equal = oracle.best_against(S, 1, shrinkage=1e6).atoms[0]
        assert np.ptp(equal) < 1e-3 < np.ptp(some) < np.ptp(free)
        common = oracle_of(Gaussians(0.1, 20.0), X).best(RIDGE, 1)
        assert np.mean(equal) == pytest.approx(common.atoms[0][0], rel=1e-2)
        gradient = oracle.family.gradient(np.array(some), X, S) - 0.2 * (np.array(some) - np.mean(some))
        assert np.abs(gradient).max() < 1e-3 * np.abs(oracle.family.gradient(np.ones(2), X, S)).max()

    def test_scale_and_prior_are_part_of_the_gradient(self):
        oracle = oracle_of(Mixed(), X)
        sigma, step = np.array([1.2, 0.7]), 1e-5
        gradient = oracle._form(sigma, LinePoint(matrix=DENSE))[1]
        for i in range(2):
            up, down = sigma + step * np.eye(2)[i], sigma - step * np.eye(2)[i]
            values = forms(oracle, DENSE, [up, down])
            assert gradient[i] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-5)
        assert np.mean(oracle.kernel(tuple(sigma)).diag(X)) == pytest.approx((1 + 1.2**2) ** -2)
        grid = forms(
            oracle, RIDGE @ RIDGE.T, [(a, b) for a in np.linspace(0.5, 2, 30) for b in np.linspace(-1, 3, 30)]
        )
        assert oracle.best(RIDGE, 2).values[0] >= grid.max() * (1 - 1e-6)

    def test_without_a_gradient_differences_do(self):
        class Plain(Mixed):
            gradient = Parametric.gradient

        given, plain = (oracle_of(family, X).best(RIDGE, 1) for family in (Mixed(), Plain()))
        assert plain.values[0] == pytest.approx(given.values[0], rel=1e-5)

    def test_constant_features_are_fixed(self):
        data = np.column_stack([X, np.full(40, 3.0)])
        with pytest.warns(UserWarning, match=r"width of 1 constant feature.*'x2'"):
            oracle = oracle_of(ARDGaussians(0.1, 20.0), data)
        atoms = oracle.best(RIDGE, 2).atoms + oracle.sample(RIDGE, 3, np.random.RandomState(0)).atoms
        assert all(atom[2] == 20.0 for atom in atoms)
        draws = oracle.sample_uniform(2, np.random.RandomState(0))
        np.testing.assert_allclose(draws.probabilities, 19.9**-2)
        with pytest.raises(ValueError, match="without two different rows"):
            oracle_of(ARDGaussians(0.1, 20.0), np.ones((4, 2)))


class TestDraws:
    @pytest.mark.parametrize("name", ["gaussians", "ard"])
    def test_integrals_are_estimated_without_bias(self, name):
        """E[q_σ/s_σ] = ∫ q_σ dσ over the box, for both distributions."""
        family = Gaussians(0.3, 2.5) if name == "gaussians" else ARDGaussians(0.3, 2.5)
        oracle = oracle_of(family, X[:12])
        a = np.random.RandomState(3).normal(size=(12, 1))
        t = 0.3 + 2.2 * (np.arange(400 if name == "gaussians" else 40) + 0.5) / (
            400 if name == "gaussians" else 40
        )
        atoms = [(s,) for s in t] if name == "gaussians" else [(s, r) for s in t for r in t]
        integral = oracle.quad(a, atoms).mean() * (2.2 if name == "gaussians" else 2.2**2)
        for draws in (
            oracle.sample(a, 1500, np.random.RandomState(0)),
            oracle.sample_uniform(1500, np.random.RandomState(0)),
        ):
            assert np.array(draws.atoms).min() >= 0.3 and np.array(draws.atoms).max() <= 2.5
            estimate = oracle.quad(a, draws.atoms) / draws.probabilities
            assert estimate.mean() == pytest.approx(integral, abs=4.5 * estimate.std() / np.sqrt(1500))

    def test_draws_follow_the_truncated_normal_distribution(self):
        from scipy.stats import kstest, truncnorm

        oracle = oracle_of(*ONE["gaussians"])
        draws = oracle.sample(RIDGE, 2000, np.random.RandomState(0))
        ((best,),) = oracle.best(RIDGE, 1).atoms
        expected = truncnorm((0.05 - best) / best, (50.0 - best) / best, loc=best, scale=best)
        sigma = np.array(draws.atoms)[:, 0]
        assert kstest(sigma, expected.cdf).pvalue > 1e-3
        np.testing.assert_allclose(draws.probabilities, expected.pdf(sigma), rtol=1e-8)

    def test_draws_depend_on_the_seed_only(self):
        for name in ALL:
            one, two = (oracle_of(*ALL[name]).sample(A, 4, np.random.RandomState(7)) for _ in range(2))
            assert one.atoms == two.atoms


class TestLipschitz:
    def test_certificate(self):
        oracle = oracle_of(Rational(), X)
        grid = forms(oracle, RIDGE @ RIDGE.T, np.linspace(0.2, 20.0, 2000)[:, None])
        best = oracle.best(RIDGE, 2)
        assert grid.max() * (1 - 1e-9) <= best.values[0] <= best.upper < np.inf
        negative = oracle.best_against(-RIDGE @ RIDGE.T, 1)
        assert -grid.min() * (1 + 1e-9) <= negative.values[0] <= negative.upper

    def test_a_matrix_of_constants_bounds_more_closely(self):
        class Closer(Rational):
            def lipschitz(self, X):
                D = ((X[:, None] - X) ** 2).sum(axis=2)
                return D / (1.0 + 0.2 * D) ** 2

        loose, close = (oracle_of(family, X).best(RIDGE, 1) for family in (Rational(), Closer()))
        assert loose.values[0] == pytest.approx(close.values[0], rel=1e-6)
        assert close.values[0] <= close.upper <= loose.upper

    def test_without_one_nothing_is_certified(self):
        class Unknown(Rational):
            lipschitz = None

        known, unknown = (oracle_of(family, X).best(RIDGE, 1) for family in (Rational(), Unknown()))
        assert unknown.values[0] == pytest.approx(known.values[0], rel=1e-6)
        assert unknown.upper == np.inf

    @pytest.mark.parametrize(("given", "message"), [(1e-6, "more than it allows"), (-1.0, "non-negative")])
    def test_wrong_ones(self, given, message):
        class Wrong(Rational):
            lipschitz = given

        with pytest.raises(ValueError, match=message):
            oracle_of(Wrong(), X).best(RIDGE, 1)


def test_kernels_of_widths_behave_as_kernels():
    widths = (0.5, 2.0)
    kernel, Y = ARDGaussian(widths), rng.normal(size=(7, 2))
    expected = np.exp(-(((X[:, None] - Y) / widths) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(sparse.csr_matrix(X), sparse.csr_matrix(Y)), expected, rtol=1e-9)
    np.testing.assert_array_equal(np.diag(kernel(X)), kernel.diag(X))
    assert clone(kernel).widths == widths and kernel.label == "ARDGaussian(widths=0.5, 2)"
    assert ARDGaussian(np.arange(1.0, 8.0)).label == "ARDGaussian(widths=1, 2, 3, 4, … (7))"
