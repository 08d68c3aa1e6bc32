"""Mixture, combine and evaluate: many kernels on the same data."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from manykernels.kernels import (
    Constant,
    Cosine,
    Dirichlet,
    Fitted,
    Gaussian,
    Laplacian,
    Linear,
    Mixture,
    OnColumns,
    Polynomial,
    Precomputed,
    Spectrum,
    combine,
    evaluate,
)

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(30, 10)), rng.normal(size=(17, 10))
KERNELS = [
    Linear(),
    Polynomial(3),
    Gaussian(2.0),
    Gaussian(5.0),
    Laplacian(3.0),
    Dirichlet(0.2),
    Cosine(),
    Constant(2.0),
    OnColumns(Linear(), 2),
    OnColumns(Linear(), [2, -1]),
    OnColumns(Linear(), slice(3, 6)),
    OnColumns(Cosine(), [1, 2]),
    OnColumns(Polynomial(2), [0, 1]),
    OnColumns(Linear(), [0, 1]),
    OnColumns(Gaussian(1.0), [0, 1]),
    OnColumns(Gaussian(1.0) + 2.0 * Linear(), [0, 1]),
    2.0 * Gaussian(3.0),
    Linear() + Gaussian(3.0),
    Linear() * Gaussian(3.0),
    Gaussian(2.0) ** 2,
]


def explicit(kernels, weights, X, Y):
    return sum(w * kernel(X, Y) for w, kernel in zip(weights, kernels, strict=True))


@given(st.data())
def test_mixture_is_the_weighted_sum(data):
    kernels = data.draw(st.lists(st.sampled_from(KERNELS), min_size=1, max_size=6))
    weights = [data.draw(st.sampled_from([0.0, 0.3, 1.0, 2.5, -0.7])) for _ in kernels]
    mixture = Mixture(kernels, weights)
    for Z in (None, Y):
        expected = explicit(kernels, weights, X, Z)
        np.testing.assert_allclose(mixture(X, Z), expected, rtol=1e-10, atol=1e-10)
        out = np.full(expected.shape, np.nan)
        assert mixture(X, Z, out=out) is out
        np.testing.assert_allclose(out, expected, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(mixture.diag(X), np.diagonal(mixture(X)), rtol=1e-10, atol=1e-10)


def test_positive_mixtures_are_exactly_symmetric():
    K = Mixture(KERNELS, np.linspace(0.1, 2.0, len(KERNELS)))(X)
    assert np.array_equal(K, K.T)


@pytest.mark.parametrize("convert", [sparse.csr_array, lambda A: pd.DataFrame(A, columns=list("abcdefghij"))])
def test_mixture_on_other_data(convert):
    kernels = [k for k in KERNELS if not isinstance(k, Dirichlet)]
    weights = rng.uniform(size=len(kernels))
    expected = explicit(kernels, weights, X, Y)
    np.testing.assert_allclose(Mixture(kernels, weights)(convert(X), convert(Y)), expected, rtol=1e-10)


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=list("abcdefghij"))
    kernels = [OnColumns(Linear(), "a"), OnColumns(Linear(), ["a", "c"]), OnColumns(Linear(), 1)]
    expected = X[:, [0, 0, 2, 1]] * [1.0, 2.0, 2.0, 3.0] @ X[:, [0, 0, 2, 1]].T
    np.testing.assert_allclose(combine(kernels, [1.0, 2.0, 3.0], frame), expected, rtol=1e-12)


def test_many_narrow_features_are_stacked_in_several_products():
    wide = rng.normal(size=(6, 3000))
    kernels = [OnColumns(Cosine(), slice(j, j + 300)) for j in range(0, 3000, 300)] + [Cosine()]
    weights = rng.uniform(size=len(kernels))
    np.testing.assert_allclose(combine(kernels, weights, wide), explicit(kernels, weights, wide, None))


def test_strings_and_stacks():
    words, others = ["acgt", "cgtt", "ttt"], ["gtt", "zz"]
    kernels = [Spectrum(1), Spectrum(2), Constant(1.0)]
    np.testing.assert_allclose(
        combine(kernels, [1.0, 2.0, 0.5], words, others), explicit(kernels, [1.0, 2.0, 0.5], words, others)
    )
    stack = rng.normal(size=(4, 6, 3))
    mixture = Mixture([Precomputed(m) for m in range(3)], [1.0, 0.0, 2.0])
    np.testing.assert_allclose(mixture(stack), stack[:, :, 0] + 2.0 * stack[:, :, 2])


def test_nested_mixtures_and_empty_ones():
    inner = Mixture([Linear(), Gaussian(2.0)], [0.5, 1.0])
    outer = Mixture([inner, Gaussian(2.0)], [2.0, 1.0])
    np.testing.assert_allclose(outer(X, Y), Linear()(X, Y) + 3.0 * Gaussian(2.0)(X, Y))
    assert len(outer.terms()) == 3
    np.testing.assert_array_equal(Mixture([], [])(X, Y), np.zeros((30, 17)))
    np.testing.assert_array_equal(Mixture([Linear()], [0.0]).diag(X), np.zeros(30))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalize", [None, "trace", "cosine", "frobenius"])
@pytest.mark.parametrize("weighted", [False, True])
def test_fitted_kernels(center, normalize, weighted):
    weight = rng.integers(1, 4, size=30).astype(float) if weighted else None
    kernels = [k for k in KERNELS if not (center and isinstance(k, Constant))]
    fitted = [Fitted(k, center=center, normalize=normalize).fit(X, sample_weight=weight) for k in kernels]
    weights = rng.uniform(size=len(fitted))
    mixture = Mixture(fitted, weights)
    for A, B in [(X, None), (Y, X), (X[:5], Y), (Y, None)]:
        expected = explicit(fitted, weights, A, B)
        np.testing.assert_allclose(mixture(A, B), expected, rtol=1e-9, atol=1e-9)
        for m, K in evaluate(fitted, A, B):
            np.testing.assert_allclose(K, fitted[m](A, B), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("Z", [None, Y, X])
def test_evaluate_visits_every_kernel_once(Z):
    seen = []
    for m, K in evaluate(KERNELS, X, Z):
        np.testing.assert_allclose(K, KERNELS[m](X, Z), rtol=1e-12)
        K.fill(np.nan)  # the matrix may be overwritten
        seen.append(m)
    assert sorted(seen) == list(range(len(KERNELS)))


def test_statistics_are_computed_once_per_key():
    calls = []

    class Counted(Gaussian):
        def compute_statistic(self, X, Y=None, out=None):
            calls.append(1)
            return super().compute_statistic(X, Y, out)

    kernels = [Counted(float(w)) for w in range(1, 6)]
    list(evaluate(kernels, X))
    Mixture(kernels, np.ones(5))(X)
    Mixture([Fitted.from_constants(k, 2.0) for k in kernels], np.ones(5))(X)
    assert len(calls) == 3


def test_memory_is_three_matrices():
    n = 600
    A = rng.normal(size=(n, 12))
    kernels = [*KERNELS[:7], *(Gaussian(float(w)) for w in range(1, 20)), Linear() * Gaussian(2.0)]
    mixture = Mixture(kernels, np.ones(len(kernels)))
    mixture(A[:10])  # compile
    tracemalloc.start()
    mixture(A)
    peak = tracemalloc.get_traced_memory()[1] / (8 * n * n)
    tracemalloc.reset_peak()
    for _ in evaluate(kernels[:-1], A):
        pass
    evaluated = tracemalloc.get_traced_memory()[1] / (8 * n * n)
    tracemalloc.stop()
    assert peak < 4.6  # of which two within the product
    assert evaluated < 2.6
