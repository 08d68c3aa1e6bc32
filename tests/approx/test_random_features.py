"""Random features: unbiased, exact on the diagonal, converging at the rate of sampling or faster."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from manykernels._fast.fourier import fourier
from manykernels.approx import OwnFeatures, RandomFeatures, approximation_error
from manykernels.approx.random_features import frequencies
from manykernels.kernels import (
    Callable,
    Constant,
    Fitted,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    OnColumns,
    Polynomial,
    Product,
    Spectrum,
    Sum,
)
from manykernels.kernels.ard import ARDGaussian
from manykernels.kernels.matern import Student
from manykernels.kernels.spectral import Independent, Spectral
from manykernels.kernels.stationary import Cauchy, Normal

X = np.random.RandomState(0).randn(25, 4)
KERNELS = [
    Gaussian(2.5),
    Laplacian(4.0),
    OnColumns(Gaussian(1.0), [0, 2]),
    OnColumns(Laplacian(2.0), [1]),
    OnColumns(Gaussian(1.5), 3),
    ARDGaussian((1.0, 2.0, 3.0, 9.0)),
    2.0 * Gaussian(4.0),
    Fitted(OnColumns(3.0 * Laplacian(3.0), [0, 1]), normalize="trace").fit(X),
    Fitted(2.0 * Gaussian(3.0), normalize="cosine").fit(X),
    Matern(0.5, 3.0),
    OnColumns(Matern(1.5, 2.0), [0, 3]),
    2.0 * Matern(0.8, 2.0),
    Matern(np.inf, 2.0),
]


def draws(kernels, n_components, orthogonal, times):
    """(times, M, n, n): the approximate matrices of independent draws."""
    rng = np.random.RandomState(7)
    result = []
    for _ in range(times):
        features = RandomFeatures(n_components, orthogonal).fit(kernels, X, rng=rng)
        Phi = features.transform(X)
        parts = [Phi[:, a:b] for a, b in zip(features.ptr[:-1], features.ptr[1:], strict=True)]
        result.append([part @ part.T for part in parts])
    return np.array(result)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_is_unbiased(orthogonal):
    times = 500
    K = draws(KERNELS, 12, orthogonal, times)
    error = K.mean(axis=0) - [kernel(X) for kernel in KERNELS]
    z = error / np.maximum(K.std(axis=0) / np.sqrt(times), 1e-12)
    assert np.abs(z).max() < 5.5  # of 3,900 entries, dependent
    assert np.abs(error).mean() < 0.02


def test_the_error_falls_as_one_over_the_root_and_orthogonal_ones_do_better():
    exact = np.array([kernel(X) for kernel in KERNELS])
    rms = {
        (D, orthogonal): np.sqrt(((draws(KERNELS, D, orthogonal, 60) - exact) ** 2).mean(axis=(0, 2, 3)))
        for D in (16, 256)
        for orthogonal in (False, True)
    }
    np.testing.assert_allclose(rms[16, False] / rms[256, False], 4.0, rtol=0.3)
    assert np.all(rms[16, True] < rms[16, False])
    assert np.all(rms[256, True] < rms[256, False])
    one_column = [3, 4]  # stratified samples of a smooth function
    assert np.all(rms[256, True][one_column] < 0.4 * rms[256, False][one_column])


def test_the_variance_is_that_of_independent_frequencies():
    """Var k̂(δ) = (1 + k(2δ) − 2 k(δ)²) / 2D (Sutherland & Schneider 2015)."""
    K = draws([Gaussian(2.5), Laplacian(4.0)], 8, False, 2000)
    delta = X[:, None] - X[None]
    square, absolute = (delta**2).sum(axis=2) / 2.5**2, np.abs(delta).sum(axis=2) / 4.0
    expected = [0.5 + 0.5 * np.exp(-4 * square) - np.exp(-2 * square), 0.5 - 0.5 * np.exp(-2 * absolute)]
    off = ~np.eye(len(X), dtype=bool)
    np.testing.assert_allclose(K.var(axis=0)[:, off], np.array(expected)[:, off] / 4, rtol=0.15, atol=1e-4)


@pytest.mark.parametrize("orthogonal", [False, True])
def test_the_diagonal_is_exact(orthogonal):
    features = RandomFeatures(10, orthogonal).fit(KERNELS, X, rng=np.random.RandomState(0))
    Phi = features.transform(X)
    squares = np.add.reduceat(Phi**2, features.ptr[:-1], axis=1)
    np.testing.assert_allclose(squares.T, [kernel.diag(X) for kernel in KERNELS], rtol=1e-14)


@pytest.mark.parametrize(("d", "D"), [(1, 50), (3, 50), (50, 20)])
def test_frequencies_have_the_right_marginals(d, D):
    rng = np.random.RandomState(0)
    for orthogonal in (False, True):
        normal = np.hstack([frequencies(Normal(), d, D, orthogonal, rng) for _ in range(40)])
        signs = rng.choice([-1.0, 1.0], normal.shape[1])  # QR's signs are free
        assert stats.kstest(normal[0] * signs, stats.norm(scale=np.sqrt(2)).cdf).pvalue > 1e-3
        assert stats.kstest((normal**2).sum(axis=0) / 2, stats.chi2(d).cdf).pvalue > 1e-3
        tails = np.hstack([frequencies(Cauchy(), d, D, orthogonal, rng) for _ in range(40)])
        assert stats.kstest(tails[d // 2], stats.cauchy.cdf).pvalue > 1e-3
        for nu in (0.3, 0.5, 2.5):
            heavy = np.hstack([frequencies(Student(nu), d, D, orthogonal, rng) for _ in range(40)])
            assert stats.kstest(heavy[0] * signs, stats.t(2.0 * nu).cdf).pvalue > 1e-3
            assert stats.kstest((heavy**2).sum(axis=0) / d, stats.f(d, 2.0 * nu).cdf).pvalue > 1e-3


def test_a_normal_law_gives_normal_draws_back():
    """Whether directions and lengths are drawn together or apart, the numbers of a seed are the same."""
    plain = np.sqrt(2.0) * np.random.RandomState(3).standard_normal((5, 400))
    omega = frequencies(Normal(), 5, 400, False, np.random.RandomState(3))
    np.testing.assert_allclose(omega, plain, rtol=1e-11)
    assert frequencies(Normal(), 0, 4, True, np.random.RandomState(0)).shape == (0, 4)


def test_directions_are_orthogonal_in_blocks():
    omega = frequencies(Normal(), 6, 15, True, np.random.RandomState(0))
    for block in (omega[:, :6], omega[:, 6:12], omega[:, 12:]):
        G = block.T @ block
        np.testing.assert_allclose(G - np.diag(np.diag(G)), 0.0, atol=1e-12)


def test_widths_share_frequencies_and_columns_do_not():
    kernels = [
        Gaussian(1.0),
        OnColumns(Gaussian(1.0), [0, 1]),
        Gaussian(2.0),
        OnColumns(Gaussian(1.0), [2, 3]),
    ]
    features = RandomFeatures(10).fit(kernels, X, rng=np.random.RandomState(0))
    assert [part.members for part in features.parts] == [[0, 2], [1], [3]]
    Phi = features.transform(X)
    np.testing.assert_allclose(Phi[:, 20:30], features.transform(0.5 * X)[:, :10], atol=1e-14)
    assert not np.allclose(features.parts[1].omega, features.parts[2].omega)


def test_kernels_of_one_law_share_frequencies():
    kernels = [Matern(1.5, 1.0), Gaussian(1.0), Matern(1.5, 3.0), Matern(np.inf, 2.0), Matern(2.5, 1.0)]
    features = RandomFeatures(10).fit(kernels, X, rng=np.random.RandomState(0))
    assert [part.members for part in features.parts] == [[0, 2], [1, 3], [4]]


@dataclass(frozen=True)
class TwoSided(Independent):
    """ω_j with density ½ exp(−|ω_j|)."""

    def coordinates(self, u):
        return -np.sign(u - 0.5) * np.log1p(-2.0 * np.abs(u - 0.5))


class Lorentz(Kernel):
    """k(x, x') = Π_j 1/(1 + (x_j − x'_j)²/width²), which says its own density."""

    def __init__(self, width=1.0, *, name=None):
        self.width, self.name = width, name

    def compute(self, X, Y=None, out=None):
        Y = X if Y is None else Y
        return np.prod(1.0 / (1.0 + (X[:, None] - Y[None]) ** 2 / self.width**2), axis=2)

    def spectral(self):
        return Spectral(TwoSided(), 1.0 / self.width)


def test_a_kernel_of_ones_own_needs_only_say_its_density():
    kernel = Lorentz(2.0)
    K = draws([kernel, OnColumns(Lorentz(1.0), [0, 1])], 12, True, 300).mean(axis=0)
    np.testing.assert_allclose(K, [kernel(X), Lorentz(1.0)(X[:, :2])], atol=0.05)
    assert RandomFeatures(10).serves(kernel, X) and kernel.spectral() == Lorentz(2.0).spectral()


def test_kernels_may_draw_frequencies_of_their_own():
    kernels = [Gaussian(1.0), Gaussian(1.0), Gaussian(2.0)]
    features = RandomFeatures(2000, shared=False).fit(kernels, X, rng=np.random.RandomState(0))
    assert [part.members for part in features.parts] == [[0], [1], [2]]
    Phi = features.transform(X)
    assert not np.allclose(Phi[:, :2000], Phi[:, 2000:4000])
    K = Gaussian(1.0)(X)
    errors = [np.linalg.norm(A @ A.T - K) for A in (Phi[:, :2000], Phi[:, 2000:4000])]
    both = Phi[:, :4000] / np.sqrt(2.0)
    assert np.linalg.norm(both @ both.T - K) < max(errors)  # errors average out


def test_kernels_with_a_map_of_their_own_use_it():
    kernels = [Linear(), Gaussian(2.0), Constant(4.0)]
    features = RandomFeatures(6).fit(kernels, X, rng=np.random.RandomState(0))
    assert features.ptr.tolist() == [0, 4, 10, 11]
    np.testing.assert_array_equal(features.transform(X)[:, :4], X)
    error = approximation_error(features, kernels, X, rng=np.random.RandomState(0))
    assert max(error[0], error[2]) <= 1e-14


def test_extreme_widths():
    kernels = [Gaussian(1e-200), Gaussian(1e200), Laplacian(1e-200), Matern(0.01, 1e-20)]
    Phi = RandomFeatures(400).fit(kernels, X, rng=np.random.RandomState(0)).transform(X)
    assert np.all(np.isfinite(Phi))
    np.testing.assert_allclose(Phi[:, 400:800] @ Phi[:, 400:800].T, 1.0)
    for part in (Phi[:, :400], Phi[:, 800:1200], Phi[:, 1200:]):
        np.testing.assert_allclose(part @ part.T, np.eye(len(X)), atol=0.35)


def test_a_kernel_given_with_many_rank_one_ones():
    """Positions in the dictionary decide the columns, not the parts that compute them."""
    kernels = [OnColumns(Linear(), 3), Gaussian(1.0), 4.0 * OnColumns(Linear(), 0)]
    Phi = RandomFeatures(2).fit(kernels, X, rng=np.random.RandomState(0)).transform(X)
    np.testing.assert_array_equal(Phi[:, [0, 3]], X[:, [3, 0]] * [1.0, 2.0])


UNSERVED = [
    (Product([Gaussian(1.0), Gaussian(2.0)]), r"Gaussian\(width=1\) \* Gaussian\(width=2\)"),
    (Polynomial(3, name="cubic"), "cubic"),
    (Callable(np.minimum.outer, name="mine"), "mine"),
    (Sum([Gaussian(1.0), Linear()]), "Gaussian"),
    (
        Fitted(Gaussian(1.0, name="middle"), center=True).fit(X),
        "middle has no random features once it is centred",
    ),
]


@pytest.mark.parametrize(("kernel", "match"), UNSERVED)
def test_what_has_no_random_features_is_named(kernel, match):
    with pytest.raises(ValueError, match=match + r".*Nystroem serves every kernel"):
        RandomFeatures(10).fit([Linear(), kernel], X, rng=np.random.RandomState(0))


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        *UNSERVED[:4],
        (Gaussian(1.0), "Gaussian"),
        (Spectrum(2), "collected anew"),
        (2.0 * Spectrum(2), "anew"),
    ],
)
def test_what_has_no_map_of_its_own_is_named(kernel, match):
    with pytest.raises(ValueError, match=r"approx='features' was given, but .*"):
        OwnFeatures().fit([Linear(), kernel], X, rng=np.random.RandomState(0))
    with pytest.raises(ValueError, match=match + r".*Nystroem serves every kernel"):
        OwnFeatures().fit([Linear(), kernel], X, rng=np.random.RandomState(0))


def test_messages():
    rng = np.random.RandomState(0)
    with pytest.raises(ValueError, match=r"n_components=7 .* expected an even number.* take 8"):
        RandomFeatures(7).fit([Gaussian()], X, rng=rng)
    with pytest.raises(
        ValueError, match="Linear has a map of its own with 4 features, more than n_components=2"
    ):
        RandomFeatures(2).fit([Gaussian(), Linear()], X, rng=rng)
    with pytest.raises(ValueError, match="width=-1"):
        RandomFeatures(2).fit([Gaussian(-1)], X, rng=rng)
    with pytest.raises(ValueError, match="6 columns here; the features were drawn for 4"):
        RandomFeatures(2).fit([Gaussian()], X, rng=rng).transform(np.ones((3, 6)))


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-15), (np.float32, 2e-7)])
@pytest.mark.parametrize("size", [1.0, 1e3, 1e8, 1e20, 1e305])
def test_cos_and_sin_of_quarter_turns(dtype, tol, size):
    rng = np.random.RandomState(0)
    P = np.concatenate([rng.uniform(-size, size, (30, 11)), np.round(rng.uniform(-9, 9, (4, 11)) * 2) / 2])
    scale, root, start = np.array([1.0, 0.25]), np.array([1.0, 2.0]), np.array([22, 0])
    out = np.full((34, 44), np.nan, dtype=dtype)
    fourier(P, scale, root, start, out)
    for a, c, columns in zip(scale, root, start, strict=True):
        angle = np.where(np.abs(a * P) > 2.0**40, a * P, np.fmod(a * P, 4.0)) * (np.pi / 2)
        np.testing.assert_allclose(out[:, columns : columns + 11], c * np.cos(angle), atol=c * 3 * tol)
        np.testing.assert_allclose(out[:, columns + 11 : columns + 22], c * np.sin(angle), atol=c * 3 * tol)
