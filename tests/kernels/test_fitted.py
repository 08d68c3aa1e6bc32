"""Centred and normalised kernels against explicit feature maps and explicit repetition."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import KernelCenterer

from manykernels.kernels import (
    Constant,
    Cosine,
    Fitted,
    Gaussian,
    Linear,
    OnColumns,
    Polynomial,
    Precomputed,
    Spectrum,
)

rng = np.random.default_rng(0)
X, Y, Z = (rng.normal(size=(n, 4)) + 1.0 for n in (25, 9, 6))
WEIGHT = rng.integers(0, 4, size=25).astype(float)
KERNELS = [Linear(), Polynomial(2), Gaussian(2.0), OnColumns(Gaussian(1.0), [0, 2])]
NORMALIZE = [None, "trace", "max", "cosine", "frobenius"]


def quadratic(A):
    """Explicit features of (1 + ⟨x, x'⟩)²."""
    i, j = np.triu_indices(A.shape[1], 1)
    return np.hstack([np.ones((len(A), 1)), np.sqrt(2) * A, A**2, np.sqrt(2) * A[:, i] * A[:, j]])


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("normalize", NORMALIZE)
def test_centring_and_normalising_in_feature_space(weight, normalize):
    fitted = Fitted(Polynomial(2), center=True, normalize=normalize).fit(X, sample_weight=weight)
    repeated = X if weight is None else np.repeat(X, weight.astype(int), axis=0)
    mean = quadratic(repeated).mean(axis=0)

    def Phi(A):
        F = quadratic(A) - mean
        return F / np.linalg.norm(F, axis=1)[:, None] if normalize == "cosine" else F

    T = Phi(repeated)
    scale = {
        "trace": len(T) / np.sum(T * T),
        "max": 1.0 / np.max(np.sum(T * T, axis=1)),
        "frobenius": 1.0 / np.linalg.norm(T @ T.T),
    }.get(normalize, 1.0)
    np.testing.assert_allclose(fitted.scale_, scale, rtol=1e-10)
    for A, B in [(X, X), (Y, X), (X, Y), (Y, Z)]:
        np.testing.assert_allclose(fitted(A, B), scale * Phi(A) @ Phi(B).T, rtol=1e-9, atol=1e-10)
    for A in (X, Y):
        np.testing.assert_allclose(fitted(A), scale * Phi(A) @ Phi(A).T, rtol=1e-9, atol=1e-10)
        assert np.array_equal(fitted(A), fitted(A).T)
        np.testing.assert_allclose(fitted.diag(A), np.diagonal(fitted(A)), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZE)
def test_weights_are_repetition(kernel, center, normalize):
    weighted = Fitted(kernel, center=center, normalize=normalize).fit(X, sample_weight=WEIGHT)
    repeated = Fitted(kernel, center=center, normalize=normalize).fit(
        np.repeat(X, WEIGHT.astype(int), axis=0)
    )
    np.testing.assert_allclose(weighted(Y, Z), repeated(Y, Z), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(weighted(Y, X), repeated(Y, X), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_training_matrix_is_normalised(kernel):
    for center in (False, True):
        K = {nz: Fitted(kernel, center=center, normalize=nz).fit(X)(X) for nz in NORMALIZE}
        assert np.trace(K["trace"]) == pytest.approx(25.0)
        assert np.max(np.diagonal(K["max"])) == pytest.approx(1.0)
        np.testing.assert_allclose(np.diagonal(K["cosine"]), 1.0)
        assert np.linalg.norm(K["frobenius"]) == pytest.approx(1.0)
        if center:
            np.testing.assert_allclose(K[None].sum(axis=0), 0.0, atol=1e-9)
            np.testing.assert_allclose(K[None], KernelCenterer().fit_transform(kernel(X)), atol=1e-10)


def test_from_constants_is_the_same_kernel():
    for kernel in KERNELS:
        for weight in (None, WEIGHT):
            fitted = Fitted(kernel, center=True, normalize="trace").fit(X, sample_weight=weight)
            w = np.ones(25) if weight is None else weight
            r = kernel(X) @ w / w.sum()
            center = r, float(w @ r / w.sum())
            again = Fitted.from_constants(
                kernel, fitted.scale_, X, center, sample_weight=weight, normalize="trace"
            )
            for A, B in [(X, None), (Y, X), (Y, None), (Y, Z)]:
                np.testing.assert_allclose(again(A, B), fitted(A, B), rtol=1e-10, atol=1e-11)
    plain = Fitted.from_constants(Gaussian(2.0), 0.5)
    np.testing.assert_allclose(plain(X, Y), 0.5 * Gaussian(2.0)(X, Y))
    cosine = Fitted.from_constants(Linear(), 1.0, normalize="cosine")
    np.testing.assert_allclose(cosine(X, Y), Cosine()(X, Y))


def test_shared_statistic_and_features():
    fitted = Fitted(Gaussian(2.0), normalize="frobenius").fit(X)
    assert fitted.statistic == ("sqeuclidean",)
    S = fitted.compute_statistic(X, Y)
    fitted.fill(S, S)
    np.testing.assert_allclose(S, fitted(X, Y), rtol=1e-14)
    linear = Fitted(Linear(), normalize="trace").fit(X)
    assert linear.has_features and not fitted.has_features
    np.testing.assert_allclose(linear.features(X) @ linear.features(X).T, linear(X))
    for other in (Fitted(Linear(), center=True), Fitted(Linear(), normalize="cosine")):
        assert other.fit(X).statistic is None and not other.has_features


def test_training_points_are_recognised_and_not_evaluated_again():
    calls = []

    class Counted(Linear):
        def compute_statistic(self, X, Y=None, out=None):
            calls.append(len(X))
            return super().compute_statistic(X, Y, out)

    fitted = Fitted(Counted(), center=True, normalize="trace").fit(X)
    calls.clear()
    fitted(Y, X)
    fitted(X)
    fitted(X, X[:])
    assert calls == [9, 25, 25]


def test_other_data():
    words = ["acgt", "cgt", "ttta", "ac"]
    fitted = Fitted(Spectrum(2), center=True, normalize="trace").fit(words)
    Phi = Spectrum(2).features(words).toarray()
    Phi -= Phi.mean(axis=0)
    np.testing.assert_allclose(fitted(words), Phi @ Phi.T * len(words) / np.sum(Phi**2), atol=1e-12)
    for convert in (pd.DataFrame, sparse.csr_array):
        for center in (False, True):
            expected = Fitted(Gaussian(2.0), center=center, normalize="cosine").fit(X)(Y, Z)
            fitted = Fitted(Gaussian(2.0), center=center, normalize="cosine").fit(convert(X))
            np.testing.assert_allclose(fitted(convert(Y), convert(Z)), expected, rtol=1e-9)


def test_stacks():
    stack = np.stack([Linear()(X), Gaussian(2.0)(X)], axis=2)
    test = np.stack([Linear()(Y, X), Gaussian(2.0)(Y, X)], axis=2)
    for m, kernel in enumerate([Linear(), Gaussian(2.0)]):
        for center in (False, True):
            expected = Fitted(kernel, center=center, normalize="trace").fit(X)
            fitted = Fitted(Precomputed(m), center=center, normalize="trace").fit(stack)
            np.testing.assert_allclose(fitted(stack), expected(X), rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(fitted(test, stack), expected(Y, X), rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(fitted(test), expected(Y, X), rtol=1e-10, atol=1e-12)


def test_parameters_of_the_base_show_through():
    fitted = Fitted(Gaussian(2.0), normalize="trace").fit(X)
    assert fitted.width == 2.0
    params = fitted.get_params()
    assert params["width"] == params["kernel__width"] == 2.0 and params["normalize"] == "trace"
    assert set(fitted.get_params(deep=False)) == {"kernel", "center", "normalize", "name"}
    fitted.set_params(width=3.0, center=True)
    assert fitted.kernel.width == 3.0 and fitted.center is True
    fitted.set_params(kernel__width=4.0)
    assert fitted.width == 4.0
    with pytest.raises(AttributeError, match="no attribute 'height'"):
        _ = fitted.height
    assert not hasattr(clone(fitted), "scale_")
    assert Fitted(OnColumns(Gaussian(2.0), 0)).fit(X).get_params()["columns"] == 0


def test_pickle_keeps_the_training_points_recognisable():
    fitted = Fitted(Gaussian(2.0), center=True).fit(X)
    again, points = pickle.loads(pickle.dumps((fitted, X)))
    assert again.X_fit_ is points
    np.testing.assert_array_equal(again(Y, points), fitted(Y, X))


def test_points_at_the_origin_have_no_direction():
    A = np.vstack([np.zeros(4), X])
    K = Fitted(Linear(), normalize="cosine").fit(A)(A)
    np.testing.assert_array_equal(K[0], 0.0)
    assert np.all(np.isfinite(K))


@pytest.mark.parametrize("normalize", ["trace", "max", "cosine", "frobenius"])
def test_kernels_that_cannot_be_normalised(normalize):
    with pytest.raises(ValueError, match=r"Kernel Linear is zero.*normalize=None"):
        Fitted(Linear(), normalize=normalize).fit(np.zeros((5, 2)))
    with pytest.raises(ValueError, match=r"Kernel flat is the same for all training points"):
        Fitted(Constant(3.0, name="flat"), center=True, normalize=normalize).fit(X)
    with pytest.raises(ValueError, match="is the same for all"):
        Fitted(Gaussian(1.0), center=True, normalize=normalize).fit(np.full((5, 20), 0.1))
    Fitted(Linear()).fit(np.zeros((5, 2)))


def test_errors():
    with pytest.raises(NotFittedError, match=r"call fit\(X\)"):
        Fitted(Linear())(X)
    for use in ("diag", "terms", "features"):
        with pytest.raises(NotFittedError):
            getattr(Fitted(Linear()), use)(*([] if use == "terms" else [X]))
    with pytest.raises(ValueError, match="normalize='l2' was given; expected 'trace'"):
        Fitted(Linear(), normalize="l2").fit(X)
    r = Linear()(X).mean(axis=1)
    with pytest.raises(ValueError, match="needs the training points"):
        Fitted.from_constants(Linear(), 1.0, center=(r, r.mean()))(Y)
