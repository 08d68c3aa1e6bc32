"""What may be wrong with a continuous family, its range and a user's own code."""

import warnings

import numpy as np
import pytest
from tests.oracles.continua import LINE, Mixed, Rational, X, oracle_of

from manykernels.families import ARDGaussians, Dirichlets, Gaussians, Laplacians, Parametric
from manykernels.kernels.ard import ARDGaussian


@pytest.mark.parametrize("kind", [Gaussians, Laplacians, Dirichlets, ARDGaussians])
def test_ranges(kind):
    for low, high in ((-1.0, 2.0), (0.0, 2.0), ("1", 2.0), (1.0, np.inf), (np.nan, 1.0), (True, 2.0)):
        with pytest.raises(ValueError, match=r"(low|high)=.* was given to .*expected a positive number"):
            oracle_of(kind(low, high), LINE)
    for low, high in ((2.0, 1.0), (2.0, 2.0)):
        with pytest.raises(ValueError, match=r"low=2 and high=.*expected low < high"):
            oracle_of(kind(low, high), LINE)
    with pytest.raises(ValueError, match=r"n_samples = 5\) has no two different rows"):
        oracle_of(kind(0.1), np.ones((5, 1)))


def test_ranges_from_the_data():
    for kind in (Gaussians, Laplacians, Dirichlets, ARDGaussians):
        low, high = kind().box(X)
        assert np.all((0.0 < low) & (low < high))
        np.testing.assert_array_equal(kind(low=0.01).box(X)[1], high)
        np.testing.assert_array_equal(kind(high=99.0).box(X)[0], low)
        np.testing.assert_allclose(np.array(kind().box(X, np.full(40, 2.0))), np.array([low, high]))
    distances = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))[np.triu_indices(40, 1)]
    near, far = np.quantile(distances, [0.05, 0.95], method="inverted_cdf")
    np.testing.assert_allclose(np.ravel(Gaussians().box(X)), [near / 4, far * 4])


def test_a_range_for_each_feature():
    low, high = ARDGaussians([0.1, 0.2], [1.0, 3.0]).box(X)
    np.testing.assert_array_equal([low, high], [[0.1, 0.2], [1.0, 3.0]])
    with pytest.raises(ValueError, match=r"expected a positive number or 2 of them"):
        ARDGaussians([0.1, 0.2, 0.3], 5.0).box(X)
    with pytest.raises(ValueError, match=r"for parameter 1; expected low < high"):
        ARDGaussians([0.1, 2.0], 1.0).box(X)


def test_kernels_and_options():
    with pytest.raises(ValueError, match="degree=0 was given to Dirichlet"):
        oracle_of(Dirichlets(0.1, 2.0, degree=0), X)
    with pytest.raises(ValueError, match=r"normalize='frobenius' was given with Gaussians"):
        oracle_of(Gaussians(0.1, 2.0), X, normalize="frobenius")
    with pytest.raises(ValueError, match="cannot be normalised"):
        oracle_of(Dirichlets(0.1, 2.0), np.random.RandomState(0).normal(size=(4, 700)))
    with pytest.raises(ValueError, match=r"diagonal of .* is not constant"):
        oracle_of(Mixed(), X, normalize="cosine")
    with pytest.raises(MemoryError, match="Gaussians on 40 samples needs"):
        oracle_of(Gaussians(0.1, 2.0), X, memory_limit=1000)
    with pytest.raises(ValueError, match=r"widths=\(1.0,\) were given to ARDGaussian for X with 2"):
        ARDGaussian()(X)


@pytest.mark.parametrize("given", [None, [], [(0.0, 1.0, 2.0)], [("a", 1.0)], [(0.0, np.inf)], 3.0])
def test_bounds_of_a_users_family(given):
    class Bad(Rational):
        bounds = given

    with pytest.raises(ValueError, match=r"bounds=.* of Bad were given; expected a pair"):
        oracle_of(Bad(), X)


def test_a_users_family():
    class NoKernel(Parametric):
        bounds = [(0.0, 1.0)]

    class NotAKernel(NoKernel):
        def kernel(self, *parameters):
            return "Gaussian"

    class BadPrior(Rational):
        def prior(self, *parameters):
            return 0.0

    class BadGradient(Mixed):
        def gradient(self, parameters, X, S):
            return super().gradient(parameters, X, S) * [1.0, 2.0]

    class ShortGradient(Mixed):
        def gradient(self, parameters, X, S):
            return np.ones(1)

    class NaNGradient(Mixed):
        def gradient(self, parameters, X, S):
            return np.array([np.nan, 0.0])

    for family, error, message in [
        (NoKernel(), NotImplementedError, r"must define kernel"),
        (NotAKernel(), TypeError, r"expected a kernel of manykernels"),
        (BadPrior(), ValueError, r"prior\(.*is 0; expected a positive"),
        (BadGradient(), ValueError, r"says .* for parameter 1 at .*finite differences"),
        (NaNGradient(), ValueError, r"says nan for parameter 0"),
        (ShortGradient(), ValueError, r"returned shape \(1,\); expected \(2,\)"),
    ]:
        with pytest.raises(error, match=message):
            oracle_of(family, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oracle_of(Mixed(), X)
