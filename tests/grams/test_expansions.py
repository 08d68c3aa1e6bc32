"""Expansions: kernels stored, kernels computed where they are needed, and features say the same."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from manykernels.approx import OwnFeatures
from manykernels.grams import StackGram
from manykernels.grams.expansions import FeatureExpansion, KernelExpansion, _concatenate
from manykernels.kernels import FeatureMap, Gaussian, Linear, OnColumns

rng = np.random.RandomState(0)
X = rng.randn(23, 4)


def squares(Z):
    return np.asarray(Z) ** 2


KERNELS = [Linear(), OnColumns(Linear(), [1, 3]), FeatureMap(squares)]
MAPS = [X, X[:, [1, 3]], X**2]
each_form = pytest.mark.parametrize(
    "form", ["stored", "stored, eager", "computed", "features", "features kept"]
)
each_width = pytest.mark.parametrize(("k", "constant"), [(1, True), (3, False), (3, True)])


def expansion(form, k, constant, averaging=True):
    options = {"constant": constant, "averaging": averaging}
    if form.startswith("features"):
        features = OwnFeatures().fit(KERNELS, X, rng=np.random.RandomState(0))
        return FeatureExpansion(features, k, memory=(1 << 20) * ("kept" in form), **options)
    gram = StackGram(np.stack([2.0 * Phi @ Phi.T for Phi in MAPS]), np.full(3, 0.5))
    stored = {"gram": gram, "eager": "eager" in form} if form.startswith("stored") else {}
    return KernelExpansion(KERNELS, k, **stored, **options)


def filled(form, k, constant, parts):
    """An expansion that samples were added to in two rounds, and the same sums written out."""
    made = expansion(form, k, constant)
    rows = made.enter(X)
    maps = [*MAPS, np.ones((23, 1))][: 3 + constant]
    theta, late = [np.zeros((Phi.shape[1], k)) for Phi in maps], [np.zeros((Phi.shape[1], k)) for Phi in maps]
    draws = np.random.RandomState(1)
    for chosen in parts:
        G, L = draws.randn(len(chosen), k), draws.randn(3 + constant, len(chosen), k)
        made.block(rows[chosen])
        made.add(rows[chosen], G, L)
        for j, Phi in enumerate(maps):
            theta[j] += Phi[chosen].T @ G
            late[j] += Phi[chosen].T @ L[j]
    return made, rows, maps, theta, late


@each_form
@each_width
def test_blocks_decisions_and_norms(form, k, constant):
    parts = [np.arange(10), np.array([3, 22, 11, 0])]
    made, rows, maps, theta, late = filled(form, k, constant, parts)
    part = np.array([5, 0, 20, 22])
    Z, K, scale, at = made.block(rows[part])
    assert len(K) == (3 if form == "stored" else made.n_groups)  # without the constant kernel, which is 1
    for j, Phi in enumerate(maps):
        np.testing.assert_allclose(Z[j], Phi[part] @ theta[j], atol=1e-11)
        if j < len(K):
            products = scale[j] * K[j][np.ix_(at, at)]
            np.testing.assert_allclose(np.triu(products), np.triu(Phi[part] @ Phi[part].T), atol=1e-12)
    s = np.array([0.5, 0.0, 2.0, 0.7])[: made.n_groups]
    late[1][:] = 0.0  # a kernel that never had weight has no remainder
    if isinstance(made, FeatureExpansion):
        made.late[made.ptr[1] : made.ptr[2]] = 0.0
    else:
        made.late[1] = 0.0
    w = [a * b + 0.1 * c for a, b, c in zip(s, theta, late, strict=True)]
    f = sum(Phi @ part for Phi, part in zip(maps, w, strict=True))
    np.testing.assert_allclose(made.decide(rows, s, 0.1), f, atol=1e-11)
    np.testing.assert_allclose(made.norms(s, 0.1), [np.linalg.norm(part) for part in w], atol=1e-11)
    intercept = w[3][0] if constant else np.zeros(k)
    np.testing.assert_allclose(made.intercept(s, 0.1), intercept, atol=1e-12)
    if isinstance(made, FeatureExpansion):
        np.testing.assert_allclose(made.feature_coef(s, 0.1), np.concatenate(w[:3]), atol=1e-12)
    else:
        coef = made.kernel_coef(s, 0.1)
        for j in range(3):
            np.testing.assert_allclose(maps[j].T @ coef[j], w[j], atol=1e-11)


@pytest.mark.parametrize("form", ["stored", "computed"])
def test_samples_without_coefficients_are_dropped(form):
    made = expansion(form, 1, False)
    rows = made.enter(X[:10])
    made.gram = None if form == "computed" else StackGram(np.stack([P[:10] @ P[:10].T for P in MAPS]))
    made.add(rows[[2, 7]], np.array([[1.0], [-2.0]]), np.zeros((3, 2, 1)))
    assert made.complete
    fresh = made.enter(X[10:15])
    np.testing.assert_array_equal(fresh, np.arange(2, 7))
    np.testing.assert_array_equal(made.X, X[[2, 7, 10, 11, 12, 13, 14]])
    assert not made.complete and made.gram is None
    np.testing.assert_allclose(made.block(fresh)[0][0, :, 0], X[10:15] @ (X[2] - 2 * X[7]), atol=1e-12)
    np.testing.assert_array_equal(made.enter(X[10:15], again=True), fresh)
    assert made.late.shape == (3, 7, 1)


def test_features_forget_samples():
    made = expansion("features kept", 2, True)
    assert made.enter(X).size == 23 and made.complete and made.Phi is not None
    made.enter(X, again=True)
    assert made.complete
    made.enter(X[:5])
    assert not made.complete and made.coef.shape == (5, 2)
    made.release()
    assert made.X is None and made.Phi is None


def test_blocks_shrink_with_the_number_of_kernels():
    assert KernelExpansion([Gaussian()] * 10, 1, constant=False).block_size == 256
    assert KernelExpansion([Gaussian()] * 5000, 1, constant=True).block_size == 20
    assert KernelExpansion([Gaussian()] * 50_000, 1, constant=True).block_size == 16


def test_rows_are_joined_in_their_own_type():
    A, B = np.arange(6.0).reshape(3, 2), np.arange(4.0).reshape(2, 2)
    both = np.concatenate([A, B])
    np.testing.assert_array_equal(_concatenate(A, B), both)
    joined = _concatenate(sparse.csr_array(A), sparse.csr_array(B))
    assert joined.format == "csr"
    np.testing.assert_array_equal(joined.toarray(), both)
    items = _concatenate(np.array(["a", "bc"], dtype=object), np.array(["def"], dtype=object))
    assert items.tolist() == ["a", "bc", "def"]
    for library in (pd, pl):
        first = library.DataFrame({"n": [1, 2], "text": ["a", "b"]})
        second = library.DataFrame({"n": [0.5], "text": ["c"]})
        joined = _concatenate(first, second)
        assert isinstance(joined, library.DataFrame)
        assert list(joined["n"]) == [1.0, 2.0, 0.5]  # whole numbers first must not cut later ones
        assert list(joined["text"]) == ["a", "b", "c"]
