"""Every exported approximation: shapes, rows by themselves, the same draw from the same seed, any data."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import manykernels.approx as package
from manykernels._fast import threads
from manykernels.approx import (
    Approximation,
    Features,
    Nystroem,
    OwnFeatures,
    RandomFeatures,
    approximation_error,
    resolve_approx,
)
from manykernels.kernels import Constant, Cosine, FeatureMap, Fitted, Gaussian, Laplacian, Linear, OnColumns

N, D = 60, 7
X = np.random.RandomState(0).randn(N, D)
X[np.random.RandomState(1).uniform(size=X.shape) < 0.3] = 0.0
OWN = [
    Linear(),
    OnColumns(Linear(), 2),
    Fitted(OnColumns(Linear(), [4, 0]), normalize="trace").fit(X),
    Constant(2.0),
    OnColumns(Linear(), [6]),
    3.0 * Cosine(),
]
MIXED = [
    Gaussian(3.0),
    Linear(),
    OnColumns(Gaussian(1.0), [0, 3]),
    Laplacian(9.0),
    Fitted(2.0 * Gaussian(5.0), normalize="trace").fit(X),
    OnColumns(Laplacian(1.0), 1),
    OnColumns(Linear(), [5, 1]),
]
# (approximation, kernels, how far rows may differ from the same rows alone; Λ^{−1/2} can be 1e6)
CASES = [
    (RandomFeatures(20), MIXED, 1e-12),
    (RandomFeatures(30, orthogonal=False), MIXED, 1e-12),
    (Nystroem(15), MIXED, 1e-9),
    (Nystroem(15, landmarks="uniform"), MIXED, 1e-9),
    (OwnFeatures(), OWN, 1e-12),
]


def fitted(approx, kernels, data=X, seed=0):
    return approx.fit(kernels, data, rng=np.random.RandomState(seed))


def test_every_exported_approximation_is_covered():
    exported = {value for name in package.__all__ if isinstance(value := getattr(package, name), type)}
    assert exported - {Approximation, Features} == {type(approx) for approx, _, _ in CASES}


@pytest.mark.parametrize(("approx", "kernels", "tol"), CASES, ids=[repr(case[0]) for case in CASES])
class TestContract:
    def test_shapes_and_types(self, approx, kernels, tol):
        features = fitted(approx, kernels)
        Phi = features.transform(X)
        assert features.ptr.dtype == np.intp
        assert features.ptr.shape == (len(kernels) + 1,)
        assert features.ptr[0] == 0
        assert np.all(np.diff(features.ptr) >= 1)
        assert Phi.shape == (N, features.ptr[-1]) == (N, features.n_features)
        assert Phi.dtype == np.float64
        assert features.transform(X[:0]).shape == (0, features.n_features)

    def test_out(self, approx, kernels, tol):
        features = fitted(approx, kernels)
        Phi = features.transform(X)
        out = np.full(Phi.shape, np.nan)
        assert features.transform(X, out) is out
        np.testing.assert_array_equal(out, Phi)
        single = np.full(Phi.shape, np.nan, dtype=np.float32)
        features.transform(X, single)
        np.testing.assert_allclose(single, Phi, rtol=2e-7, atol=1e-6)
        for order in (np.full((N, 2 * Phi.shape[1]), np.nan)[:, ::2], np.full(Phi.shape[::-1], np.nan).T):
            features.transform(X, order)
            np.testing.assert_array_equal(order, Phi)
        for wrong in (np.empty((N, 1)), np.empty(Phi.shape, dtype=int), [1.0]):
            with pytest.raises(
                ValueError, match=f"expected \\({N}, {Phi.shape[1]}\\) and float64 or float32"
            ):
                features.transform(X, wrong)

    def test_rows_stand_by_themselves(self, approx, kernels, tol):
        features = fitted(approx, kernels)
        many = np.random.RandomState(5).randn(1500, D)  # more than one block
        Phi = features.transform(many)
        for rows in (slice(0, 1), slice(7, 8), slice(1020, 1030), slice(1499, 1500)):
            np.testing.assert_allclose(features.transform(many[rows]), Phi[rows], rtol=0, atol=tol)

    def test_threads_change_nothing_but_the_last_digits(self, approx, kernels, tol, monkeypatch):
        features = fitted(approx, kernels)
        many = np.random.RandomState(5).randn(2500, D)
        out = np.full((2500, features.n_features), np.nan)
        with monkeypatch.context() as patch:
            patch.setattr(threads.numba, "get_num_threads", lambda: 1)
            Phi = features.transform(many)
        monkeypatch.setattr(threads.numba, "get_num_threads", lambda: 3)
        monkeypatch.setattr(threads, "_PARALLEL", 0)
        np.testing.assert_allclose(features.transform(many, out), Phi, rtol=0, atol=tol)

    def test_the_same_seed_draws_the_same_features(self, approx, kernels, tol):
        first = fitted(approx, kernels).transform(X)
        np.testing.assert_array_equal(fitted(approx, kernels).transform(X), first)
        other = fitted(approx, kernels, seed=1).transform(X)
        assert isinstance(approx, OwnFeatures) == (
            other.shape == first.shape and np.array_equal(other, first)
        )

    def test_pickles(self, approx, kernels, tol):
        features = fitted(approx, kernels)
        again = pickle.loads(pickle.dumps(features))
        np.testing.assert_array_equal(again.transform(X), features.transform(X))
        np.testing.assert_array_equal(again.ptr, features.ptr)

    def test_clone_and_repr(self, approx, kernels, tol):
        copy = eval(repr(approx), vars(package))
        assert clone(approx).get_params() == copy.get_params() == approx.get_params()

    def test_kinds_of_data(self, approx, kernels, tol):
        expected = fitted(approx, kernels).transform(X)
        names = [f"f{j}" for j in range(D)]
        kinds = [np.asfortranarray, sparse.csr_array, sparse.csc_matrix]
        kinds += [lambda A: pd.DataFrame(A, columns=names), lambda A: pl.DataFrame(A, schema=names)]
        for convert in kinds:
            features = fitted(approx, kernels, convert(X))
            np.testing.assert_allclose(features.transform(convert(X)), expected, rtol=0, atol=1e-8)

    def test_is_near_the_kernels(self, approx, kernels, tol):
        """Not how near: the files of each approximation say that."""
        features = fitted(approx, kernels)
        assert np.all(approximation_error(features, kernels, X, rng=np.random.RandomState(0)) < 0.8)

    def test_other_columns_are_refused(self, approx, kernels, tol):
        features = fitted(approx, kernels)
        with pytest.raises(ValueError, match=r"columns|features"):
            features.transform(np.hstack([X, X]))

    def test_no_kernels(self, approx, kernels, tol):
        features = fitted(approx, [])
        assert features.ptr.tolist() == [0]
        assert features.transform(X).shape == (N, 0)


def test_columns_by_name():
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    kernels = [
        OnColumns(Linear(), "c"),
        OnColumns(Gaussian(1.0), ["a", "d"]),
        OnColumns(Linear(), ["b", "a"]),
    ]
    features = fitted(RandomFeatures(10), kernels, frame)
    Phi = features.transform(frame[list("gfedcba")])
    np.testing.assert_allclose(Phi, features.transform(frame), atol=1e-13)
    np.testing.assert_array_equal(Phi[:, :1], X[:, [2]])
    np.testing.assert_array_equal(Phi[:, 11:], X[:, [1, 0]])


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_map_of_the_users(convert):
    """It is called in one thread, block by block, and its columns are counted."""
    kernels = [Linear(), FeatureMap(lambda A: convert(A[:, :3] ** 2))]
    features = fitted(OwnFeatures(), kernels)
    assert [part.threads for part in features.parts] == [True, False]
    np.testing.assert_array_equal(features.transform(X), np.hstack([X, X[:, :3] ** 2]))
    growing = fitted(OwnFeatures(), [FeatureMap(lambda A: np.eye(len(A)), name="growing")])
    with pytest.raises(ValueError, match="growing has 60 features on this X and had 1"):
        growing.transform(X)


class TestError:
    def test_is_the_relative_frobenius_norm(self):
        kernels = [Gaussian(3.0), Linear()]
        features = fitted(RandomFeatures(8), kernels)
        Phi = features.transform(X)[:, :8]
        K = Gaussian(3.0)(X)
        error = approximation_error(features, kernels, X, n_sample=1000, rng=np.random.RandomState(0))
        np.testing.assert_allclose(error[0], np.linalg.norm(Phi @ Phi.T - K) / np.linalg.norm(K))
        assert error[1] < 1e-14

    def test_a_sample_is_near_the_whole(self):
        many = np.random.RandomState(3).randn(2000, 3)
        features = fitted(RandomFeatures(50), [Gaussian(2.0)], many)
        whole = approximation_error(
            features, [Gaussian(2.0)], many, n_sample=2000, rng=np.random.RandomState(0)
        )
        part = approximation_error(
            features, [Gaussian(2.0)], many, n_sample=500, rng=np.random.RandomState(0)
        )
        np.testing.assert_allclose(part, whole, rtol=0.2)

    def test_of_a_zero_kernel(self):
        features = fitted(Nystroem(5), [0.0 * Linear()])
        assert approximation_error(features, [0.0 * Linear()], X, rng=np.random.RandomState(0)) == 0.0

    def test_messages(self):
        features = fitted(RandomFeatures(8), [Linear()])
        with pytest.raises(ValueError, match="2 kernels were given with features of 1"):
            approximation_error(features, [Linear(), Linear()], X, rng=np.random.RandomState(0))
        with pytest.raises(ValueError, match="n_sample=0"):
            approximation_error(features, [Linear()], X, n_sample=0, rng=np.random.RandomState(0))


class TestResolve:
    def test_what_may_be_given(self):
        approx = Nystroem(7)
        assert resolve_approx(None) is None
        assert resolve_approx(approx) is approx
        assert isinstance(resolve_approx("features"), OwnFeatures)

    def test_messages(self):
        with pytest.raises(ValueError, match="approx='nystroem' is unknown; expected None"):
            resolve_approx("nystroem")
        with pytest.raises(TypeError, match=r"is a class; .* Give an object: approx=Nystroem\(\)"):
            resolve_approx(Nystroem)
        with pytest.raises(TypeError, match="approx=100 of type int"):
            resolve_approx(100)


@pytest.mark.parametrize("approx", [RandomFeatures, Nystroem])
@pytest.mark.parametrize("n_components", [0, -2, 2.5, "100", None, True])
def test_the_number_of_components_is_checked(approx, n_components):
    with pytest.raises(ValueError, match=r"n_components=.* expected a whole number"):
        fitted(approx(n_components), [Gaussian()])
