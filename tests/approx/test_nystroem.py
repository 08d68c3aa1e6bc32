"""Nyström features: exact on all rows and at the landmarks, better with more of them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manykernels.approx import Nystroem, approximation_error
from manykernels.approx.nystroem import kmeans_plus_plus
from manykernels.kernels import (
    Callable,
    Fitted,
    FromDistance,
    Gaussian,
    Laplacian,
    Linear,
    OnColumns,
    Polynomial,
    Precomputed,
    Product,
    Spectrum,
)

RNG = np.random.RandomState(0)
X = RNG.randn(50, 4)
KERNELS = [
    Gaussian(0.5),
    Gaussian(20.0),
    Laplacian(3.0),
    Polynomial(2),
    Linear(),
    Product([Gaussian(1.0), OnColumns(Gaussian(2.0), [0])]),
    OnColumns(Gaussian(1.0), [1, 2]),
    Fitted(Gaussian(2.0), center=True, normalize="trace").fit(X),
    Fitted(Polynomial(2), normalize="cosine").fit(X),
]


def fit(approx, kernels, data=X, seed=0, **options):
    return approx.fit(kernels, data, rng=np.random.RandomState(seed), **options)


def matrices(features, A, B):
    Phi_A, Phi_B = features.transform(A), features.transform(B)
    return [Phi_A[:, a:b] @ Phi_B[:, a:b].T for a, b in zip(features.ptr[:-1], features.ptr[1:], strict=True)]


@pytest.mark.parametrize("landmarks", ["kmeans++", "uniform"])
def test_all_rows_give_the_kernels(landmarks):
    features = fit(Nystroem(50, landmarks), KERNELS)
    for kernel, K in zip(KERNELS, matrices(features, X, X), strict=True):
        np.testing.assert_allclose(K, kernel(X), atol=1e-8)


@pytest.mark.parametrize("landmarks", ["kmeans++", "uniform"])
def test_is_exact_wherever_one_side_is_a_landmark(landmarks):
    features = fit(Nystroem(12, landmarks), KERNELS)
    rows = features.parts[0].rows
    new = RNG.randn(9, 4)
    assert np.unique(rows).size == 12
    for kernel, K in zip(KERNELS, matrices(features, new, X[rows]), strict=True):
        np.testing.assert_allclose(K, kernel(new, X[rows]), atol=1e-7)


def test_is_the_projection_on_the_landmarks():
    """K − K̂ is positive semidefinite: a Schur complement."""
    features = fit(Nystroem(12), KERNELS)
    for kernel, K in zip(KERNELS, matrices(features, X, X), strict=True):
        assert np.linalg.eigvalsh(kernel(X) - K).min() > -1e-7 * np.trace(kernel(X))


def test_the_error_falls_with_components():
    kernels = [Gaussian(2.0), Laplacian(6.0), Gaussian(5.0)]
    errors = []
    for n_components in (5, 15, 30, 50):
        fits = [fit(Nystroem(n_components), kernels, seed=seed) for seed in range(5)]
        rng = np.random.RandomState(0)
        errors.append(np.mean([approximation_error(f, kernels, X, rng=rng) for f in fits], axis=0))
    assert np.all(np.diff(errors, axis=0) < 0)
    assert np.all(errors[-1] < 1e-8)


def test_features_are_as_many_as_the_rank():
    kernels = [Linear(), Polynomial(2), Gaussian(1e9), 0.0 * Gaussian(1.0)]
    assert np.diff(fit(Nystroem(40), kernels).ptr).tolist() == [4, 15, 1, 1]
    assert not fit(Nystroem(40), kernels[-1:]).transform(X).any()


def test_distances_are_computed_once_for_all_widths(monkeypatch):
    calls = []
    plain = Gaussian.compute_statistic

    def counting(self, *args, **kwargs):
        calls.append(self.width)
        return plain(self, *args, **kwargs)

    kernels = [Gaussian(1.0), Linear(), 2.0 * Gaussian(2.0), Fitted(Gaussian(3.0), normalize="trace").fit(X)]
    monkeypatch.setattr(Gaussian, "compute_statistic", counting)
    features = fit(Nystroem(10), kernels)
    assert len(calls) == 1
    features.transform(X)
    assert len(calls) == 2


def test_more_components_than_rows():
    with pytest.warns(UserWarning, match="n_components=80 is more than the 50 rows"):
        features = fit(Nystroem(80), [Gaussian(1.0)])
    np.testing.assert_allclose(matrices(features, X, X)[0], Gaussian(1.0)(X), atol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(Nystroem(50), [Gaussian(1.0)])


@pytest.mark.parametrize("landmarks", ["kmeans++", "uniform"])
def test_rows_of_weight_zero_are_no_landmarks(landmarks):
    weight = np.where(np.arange(50) % 2, 0.0, RNG.uniform(0.5, 2.0, 50))
    for n_components in (10, 25):
        features = fit(Nystroem(n_components, landmarks), [Gaussian(1.0)], sample_weight=weight)
        assert np.all(weight[features.parts[0].rows] > 0)
    with pytest.warns(UserWarning, match="the 25 rows"):
        fit(Nystroem(26, landmarks), [Gaussian(1.0)], sample_weight=weight)


def test_kmeans_plus_plus_draws_by_squared_distance():
    A = np.array([[0.0], [1.0], [3.0], [3.0]])
    weight = np.array([1.0, 2.0, 0.5, 0.5])
    rng = np.random.RandomState(0)
    counts = np.zeros((4, 4))
    for _ in range(4_000):
        first, second = kmeans_plus_plus(A, weight, 2, rng)
        counts[first, second] += 1
    expected = weight[:, None] * (A - A.T) ** 2 * weight
    expected *= (weight / weight.sum() / expected.sum(axis=1))[:, None]
    np.testing.assert_allclose(counts / 4_000, expected, atol=0.03)


def test_kmeans_plus_plus_stops_when_all_different_rows_are_taken():
    A = np.repeat(X[:6] + 1e4, 5, axis=0)
    for data in (A, sparse.csr_array(A - 1e4)):
        rows = kmeans_plus_plus(data, np.ones(30), 10, np.random.RandomState(0))
        assert sorted(rows // 5) == [0, 1, 2, 3, 4, 5]


def test_kmeans_plus_plus_of_many_rows_reads_a_sample():
    many = np.random.RandomState(0).randn(12_000, 2)
    nearest = {}
    for landmarks in ("kmeans++", "uniform"):
        fits = [fit(Nystroem(20, landmarks), [Gaussian(1.0)], many, seed=seed) for seed in range(5)]
        centres = [many[features.parts[0].rows] for features in fits]
        assert all(len(np.unique(c, axis=0)) == 20 for c in centres)
        distances = [np.linalg.norm(c[:, None] - c[None], axis=2) + 99 * np.eye(20) for c in centres]
        nearest[landmarks] = np.mean(np.min(distances, axis=1))
    assert nearest["kmeans++"] > 1.2 * nearest["uniform"]


def test_strings_and_tables():
    texts = ["".join(RNG.choice(list("acgt"), size=8)) for _ in range(30)]
    features = fit(Nystroem(30, "uniform"), [Spectrum(2)], texts)
    new = ["acgtacgt", "zzzz", ""]
    np.testing.assert_allclose(matrices(features, new, texts)[0], Spectrum(2)(new, texts), atol=1e-8)
    table = pd.DataFrame({"text": texts, "a": RNG.randn(30)})
    kernels = [OnColumns(Spectrum(2), "text"), OnColumns(Gaussian(1.0), ["a"])]
    features = fit(Nystroem(30, "uniform"), kernels, table)
    for kernel, K in zip(kernels, matrices(features, table, table), strict=True):
        np.testing.assert_allclose(K, kernel(table), atol=1e-8)
    for data, kernel in ((texts, Spectrum(2)), (table, kernels[0])):
        with pytest.raises(
            ValueError, match=r"landmarks='kmeans\+\+' .* Give Nystroem\(landmarks='uniform'\)"
        ):
            fit(Nystroem(5), [kernel], data)


def test_functions_of_a_user_run_in_one_thread():
    kernels = [Callable(lambda A, B: A @ B.T), FromDistance(1.0, lambda A, B: np.abs(A[:, :1] - B[:, 0]))]
    assert not any(fit(Nystroem(50), [kernel]).parts[0].threads for kernel in kernels)
    assert fit(Nystroem(50), KERNELS).parts[0].threads
    features = fit(Nystroem(50), kernels)
    for kernel, K in zip(kernels, matrices(features, X, X), strict=True):
        np.testing.assert_allclose(K, kernel(X), atol=1e-8)


def test_a_stack_of_matrices():
    stack = np.stack([Gaussian(1.0)(X), Linear()(X)], axis=2)
    kernels = [Fitted(Precomputed(0), center=True).fit(stack), Precomputed(1)]
    features = fit(Nystroem(50, "uniform"), kernels, stack)
    for kernel, K in zip(kernels, matrices(features, stack, stack), strict=True):
        np.testing.assert_allclose(K, kernel(stack), atol=1e-8)
    few = fit(Nystroem(20, "uniform"), kernels, stack)
    rows = few.parts[0].rows
    for kernel, K in zip(kernels, matrices(few, stack[:7], stack), strict=True):
        np.testing.assert_allclose(K[:, rows], kernel(stack[:7])[:, rows], atol=1e-8)
    assert np.all(approximation_error(few, kernels, stack, n_sample=30, rng=np.random.RandomState(0)) < 0.9)


def test_messages():
    with pytest.raises(ValueError, match=r"landmarks='grid' .* expected 'kmeans\+\+' or 'uniform'"):
        fit(Nystroem(5, "grid"), KERNELS)
    minus = Callable(lambda A, B: -(A @ B.T), name="minus")
    with pytest.raises(ValueError, match="minus is not positive semidefinite on the landmarks"):
        fit(Nystroem(5), [minus])
    endless = Callable(lambda A, B: np.full((len(A), len(B)), np.nan), name="endless")
    with pytest.raises(ValueError, match="endless is not finite"):
        fit(Nystroem(5), [endless])
    with pytest.raises(ValueError, match="expected 50 non-negative numbers"):
        fit(Nystroem(5), KERNELS, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="none of positive weight"):
        fit(Nystroem(5), KERNELS, sample_weight=np.zeros(50))
    with pytest.raises(ValueError, match="X has 0 rows"):
        fit(Nystroem(5), KERNELS, X[:0])
