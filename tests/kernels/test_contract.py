"""Every exported kernel against a naive double loop, on every kind of data it takes."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.special import gamma, kv
from sklearn.base import clone

import manykernels.kernels as package
from manykernels.kernels import (
    ARDGaussian,
    Callable,
    Constant,
    Cosine,
    Dirichlet,
    FeatureMap,
    Fitted,
    FromDistance,
    Gaussian,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Mixture,
    Monomial,
    OnColumns,
    Polynomial,
    Power,
    Precomputed,
    Preparation,
    Prepared,
    Product,
    Scaled,
    Spectrum,
    Sum,
    Tanimoto,
)

rng = np.random.default_rng(0)
N, M, D = 40, 13, 11  # more features than are compared by plain differences
X_NUMBERS, Y_NUMBERS = (np.abs(rng.normal(size=(n, D)) + 3.0) for n in (N, M))  # Tanimoto takes no others
X_NUMBERS[rng.random(X_NUMBERS.shape) < 0.3] = 0.0
X_STRINGS, Y_STRINGS = (
    ["".join(rng.choice(list("acgt"), size=rng.integers(0, 12))) for _ in range(n)] for n in (N, M)
)


def spectrum(k):
    def count(s):
        return Counter(s[i : i + k] for i in range(len(s) - k + 1))

    return lambda s, t: sum(count(s)[u] * c for u, c in count(t).items())


def dirichlet(frequency, degree):
    def value(x, y):
        terms = [np.cos(k * frequency * (x - y)) for k in range(1, degree + 1)]
        return np.prod(1 + 2 * np.sum(terms, axis=0))

    return value


def cosine(x, y):
    return x @ y / np.sqrt((x @ x) * (y @ y))


def min_kernel(X, Y):
    """A kernel of the user's: min(x, y) of the first feature."""
    return np.minimum.outer(np.abs(X[:, 0]), np.abs(Y[:, 0]))


def gaussian(width):
    return lambda x, y: np.exp(-np.sum((x - y) ** 2) / width**2)


def matern(nu, width):
    def value(x, y):
        t = np.sqrt(2.0 * nu) * np.linalg.norm(x - y) / width
        return 2.0 ** (1.0 - nu) / gamma(nu) * t**nu * kv(nu, t) if t > 0.0 else 1.0

    return value


def tanimoto(x, y):
    return (x @ y) / (x @ x + y @ y - x @ y) if np.any(x) or np.any(y) else 1.0


def minmax(x, y):
    return np.minimum(x, y).sum() / np.maximum(x, y).sum()


STANDARDISED = Preparation().fit(X_NUMBERS)


def standard(x):
    return (x - X_NUMBERS.mean(axis=0)) / X_NUMBERS.std(axis=0)


# (kernel, naive reference on two points, what data it takes)
SPARSE, DENSE, STRINGS = "sparse", "dense", "strings"
CASES = [
    (Linear(), lambda x, y: x @ y, SPARSE),
    (Polynomial(degree=3, coef0=0.5), lambda x, y: (x @ y + 0.5) ** 3, SPARSE),
    (Polynomial(degree=1), lambda x, y: x @ y + 1.0, SPARSE),
    (Polynomial(degree=6), lambda x, y: (x @ y + 1.0) ** 6, SPARSE),
    (Gaussian(width=2.5), gaussian(2.5), SPARSE),
    (ARDGaussian([2.0] * D), gaussian(2.0), SPARSE),
    (Laplacian(width=4.0), lambda x, y: np.exp(-np.sum(np.abs(x - y)) / 4.0), SPARSE),
    (Matern(nu=0.5, width=4.0), matern(0.5, 4.0), SPARSE),
    (Matern(nu=1.5, width=4.0), matern(1.5, 4.0), SPARSE),
    (Matern(nu=2.5, width=4.0), matern(2.5, 4.0), SPARSE),
    (Matern(nu=0.8, width=4.0), matern(0.8, 4.0), SPARSE),
    (Cosine(), cosine, SPARSE),
    (Tanimoto(), minmax, SPARSE),
    (Tanimoto(form="inner"), tanimoto, SPARSE),
    (Constant(value=0.7), lambda x, y: 0.7, SPARSE),
    (Monomial([-1, 0], [1, 3]), lambda x, y: x[-1] * y[-1] * (x[0] * y[0]) ** 3, SPARSE),
    (Dirichlet(frequency=0.3), dirichlet(0.3, 1), DENSE),
    (Dirichlet(frequency=0.2, degree=3), dirichlet(0.2, 3), DENSE),
    (FromDistance(gamma=0.4), lambda x, y: np.exp(-0.4 * np.linalg.norm(x - y)), DENSE),
    (Spectrum(k=2), spectrum(2), STRINGS),
    (OnColumns(Gaussian(1.5), [0, 4]), lambda x, y: gaussian(1.5)(x[[0, 4]], y[[0, 4]]), SPARSE),
    (OnColumns(Linear(), 2), lambda x, y: x[2] * y[2], SPARSE),
    (Prepared(Gaussian(2.0), STANDARDISED), lambda x, y: gaussian(2.0)(standard(x), standard(y)), DENSE),
    (Sum([Linear(), Gaussian(2.0)]), lambda x, y: x @ y + gaussian(2.0)(x, y), SPARSE),
    (Product([Linear(), Gaussian(2.0)]), lambda x, y: (x @ y) * gaussian(2.0)(x, y), SPARSE),
    (Scaled(Gaussian(3.0), 2.5), lambda x, y: 2.5 * gaussian(3.0)(x, y), SPARSE),
    (Power(Gaussian(3.0), 3), lambda x, y: gaussian(3.0)(x, y) ** 3, SPARSE),
    (
        Mixture([Linear(), Gaussian(2.0), Gaussian(4.0)], [0.5, 2.0, 0.0]),
        lambda x, y: 0.5 * (x @ y) + 2.0 * gaussian(2.0)(x, y),
        SPARSE,
    ),
]
IDS = [kernel.label for kernel, _, _ in CASES]
# Tested in test_given.py, test_feature_map.py and test_fitted.py.
ELSEWHERE = {Precomputed, Callable, FeatureMap, Fitted, Preparation}


def data(kind):
    return (X_STRINGS, Y_STRINGS) if kind == STRINGS else (X_NUMBERS, Y_NUMBERS)


def naive(reference, X, Y):
    return np.array([[reference(x, y) for y in Y] for x in X], dtype=float)


def test_every_exported_kernel_is_covered():
    exported = {value for name in package.__all__ if isinstance(value := getattr(package, name), type)}
    assert exported - {Kernel} == {type(kernel) for kernel, _, _ in CASES} | ELSEWHERE


@pytest.mark.parametrize(("kernel", "reference", "kind"), CASES, ids=IDS)
class TestContract:
    def test_agrees_with_the_double_loop(self, kernel, reference, kind):
        X, Y = data(kind)
        np.testing.assert_allclose(kernel(X, Y), naive(reference, X, Y), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kernel(X), naive(reference, X, X), rtol=1e-9, atol=1e-12)

    def test_is_symmetric_and_positive_semidefinite(self, kernel, reference, kind):
        K = kernel(data(kind)[0])
        assert np.array_equal(K, K.T)
        assert np.linalg.eigvalsh(K).min() > -1e-10 * np.trace(K)

    def test_same_data_twice_is_the_same_as_once(self, kernel, reference, kind):
        X, _ = data(kind)
        assert np.array_equal(kernel(X, X), kernel(X))

    def test_diag(self, kernel, reference, kind):
        X, _ = data(kind)
        expected = [reference(x, x) for x in X]
        np.testing.assert_allclose(kernel.diag(X), expected, rtol=1e-10)
        np.testing.assert_allclose(Kernel.diag(kernel, X), expected, rtol=1e-10)

    def test_out_is_filled_and_returned(self, kernel, reference, kind):
        X, Y = data(kind)
        for Z in (None, Y):
            expected = kernel(X, Z)
            out = np.full(expected.shape, np.nan)
            assert kernel(X, Z, out=out) is out
            np.testing.assert_array_equal(out, expected)
            wide = np.full((N, 2 * expected.shape[1]), np.nan)
            kernel(X, Z, out=wide[:, ::2])
            np.testing.assert_allclose(wide[:, ::2], expected, rtol=1e-12, atol=1e-14)

    def test_wrong_out_is_refused(self, kernel, reference, kind):
        X, _ = data(kind)
        with pytest.raises(ValueError, match=r"expected \(40, 40\) and float64"):
            kernel(X, out=np.empty((3, 3)))

    def test_statistic_can_be_filled_in_place_and_by_blocks(self, kernel, reference, kind):
        if kernel.statistic is None:
            with pytest.raises(TypeError, match="no shared statistic"):
                kernel.compute_statistic(data(kind)[0])
            with pytest.raises(TypeError, match="no shared statistic"):
                kernel.fill(np.ones((1, 1)), np.ones((1, 1)))
            return
        hash(kernel.statistic)
        X, Y = data(kind)
        expected = naive(reference, X, Y)
        S = kernel.compute_statistic(X, Y)
        out = np.empty_like(S)
        before = S.copy()
        kernel.fill(S, out)
        np.testing.assert_array_equal(S, before)
        np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-12)
        kernel.fill(S[5:9], out[5:9])
        kernel.fill(S, S)
        np.testing.assert_allclose(S, out, rtol=1e-14)
        given = np.empty_like(S)
        assert kernel.compute_statistic(X, Y, given) is given

    def test_features_give_the_kernel(self, kernel, reference, kind):
        X, Y = data(kind)
        if not kernel.has_features:
            with pytest.raises(TypeError, match="no finite feature map"):
                kernel.features(X)
            return
        Phi_X, Phi_Y = kernel.feature_maps(X, Y)
        product = Phi_X @ Phi_Y.T
        product = product.toarray() if sparse.issparse(product) else product
        np.testing.assert_allclose(product, kernel(X, Y), rtol=1e-12, atol=1e-12)
        Phi = kernel.features(X)
        product = Phi @ Phi.T
        product = product.toarray() if sparse.issparse(product) else product
        np.testing.assert_allclose(product, kernel(X), rtol=1e-12, atol=1e-12)

    def test_terms_add_up(self, kernel, reference, kind):
        X, Y = data(kind)
        total = sum(c * part(X, Y) for c, part in kernel.terms())
        np.testing.assert_allclose(total, kernel(X, Y), rtol=1e-11, atol=1e-12)

    def test_params_clone_and_pickle(self, kernel, reference, kind):
        X, Y = data(kind)
        copies = [clone(kernel), pickle.loads(pickle.dumps(kernel)), kernel.set_params(**kernel.get_params())]
        for copy in copies:
            assert repr(copy) == repr(kernel)
            assert copy.label == kernel.label
            np.testing.assert_array_equal(copy(X, Y), kernel(X, Y))
        assert clone(kernel).set_params(name="mine").label == "mine"
        assert "name" in kernel.get_params(deep=False)

    def test_repr_is_code(self, kernel, reference, kind):
        if isinstance(kernel, Mixture | Prepared):
            return  # shows its largest weights only, or not the constants of the training data
        X, Y = data(kind)
        again = eval(repr(kernel), vars(package))
        np.testing.assert_allclose(again(X, Y), kernel(X, Y), rtol=1e-14)

    def test_kinds_of_data(self, kernel, reference, kind):
        X, Y = data(kind)
        expected = kernel(X, Y)
        names = [f"f{j}" for j in range(D)]
        if kind == STRINGS:
            kinds = [np.array, lambda s: np.array(s, dtype=object), pd.Series, pl.Series]
            kinds += [lambda s: pd.DataFrame({"s": s}), lambda s: pl.DataFrame({"s": s})]
        else:
            kinds = [np.asfortranarray, lambda A: np.repeat(A, 2, axis=1)[:, ::2]]
            kinds += [lambda A: pd.DataFrame(A, columns=names), lambda A: pl.DataFrame(A, schema=names)]
            kinds += [lambda A: A.tolist()] * (not isinstance(kernel, OnColumns))
        if kind == SPARSE:
            kinds += [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.coo_matrix]
        for convert in kinds:
            np.testing.assert_allclose(kernel(convert(X), convert(Y)), expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(kernel(convert(X)), kernel(X), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(kernel.diag(convert(X)), kernel.diag(X), rtol=1e-9)
            assert np.all(kernel(convert(X)) == kernel(convert(X)).T)
        if kind == SPARSE:
            np.testing.assert_allclose(kernel(sparse.csr_array(X), Y), expected, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(kernel(X, sparse.csr_array(Y)), expected, rtol=1e-9, atol=1e-12)
        elif kind == DENSE:
            with pytest.raises(ValueError, match="dense"):
                kernel(sparse.csr_array(X))

    def test_float32_and_integers(self, kernel, reference, kind):
        if kind == STRINGS:
            return
        X = np.round(X_NUMBERS)
        for dtype in (np.float32, np.int64):
            K = kernel(X.astype(dtype))
            assert K.dtype == np.float64
            np.testing.assert_allclose(K, kernel(X), rtol=1e-12)

    def test_few_features(self, kernel, reference, kind):
        if kind == STRINGS or isinstance(kernel, OnColumns | Monomial | ARDGaussian | Prepared):
            return
        X, Y = X_NUMBERS[:, :2], Y_NUMBERS[:, :2]
        X = X[np.any(X != 0, axis=1)]
        np.testing.assert_allclose(kernel(X, Y), naive(reference, X, Y), rtol=1e-9, atol=1e-12)
        one = X_NUMBERS[:, 1] + 1.0
        np.testing.assert_allclose(kernel(one), kernel(one[:, None]), rtol=1e-14)

    def test_no_samples(self, kernel, reference, kind):
        X, Y = data(kind)
        assert kernel(X, Y[:0]).shape == (N, 0)
        assert kernel.diag(X[:0]).shape == (0,)


def test_equal_keys_mean_equal_statistics():
    kernels = [kernel for kernel, _, kind in CASES if kind != STRINGS and kernel.statistic is not None]
    seen = {}
    for kernel in kernels:
        S = kernel.compute_statistic(X_NUMBERS, Y_NUMBERS)
        np.testing.assert_array_equal(S, seen.setdefault(kernel.statistic, S))
    assert Gaussian(1.0).statistic == Gaussian(2.0).statistic == ("sqeuclidean",)
    assert Linear().statistic == Polynomial(2).statistic == ("inner",)
    assert Laplacian(1.0).statistic == ("manhattan",)


def test_distances_lose_no_digits_far_from_the_origin():
    X = rng.normal(size=(20, 30))
    np.testing.assert_allclose(Gaussian(5.0)(X + 1e5), Gaussian(5.0)(X), rtol=1e-8)
    assert np.all(np.diagonal(Gaussian(1e-3)(X + 1e5)) == 1.0)


def test_extreme_widths():
    X = rng.normal(size=(5, 3))
    np.testing.assert_array_equal(Gaussian(1e-200)(X), np.eye(5))
    np.testing.assert_array_equal(Gaussian(1e200)(X), np.ones((5, 5)))


def test_cosine_of_a_zero_row_is_zero():
    X = np.vstack([np.zeros(D), X_NUMBERS[:3]])
    for Z in (X, sparse.csr_matrix(X)):
        K = Cosine()(Z)
        np.testing.assert_array_equal(K[0], 0.0)
        np.testing.assert_allclose(np.diagonal(K), Cosine().diag(Z), rtol=1e-12)


def test_a_kernel_of_ones_own_needs_compute_only():
    class Min(Kernel):
        def __init__(self, *, name=None):
            self.name = name

        def compute(self, X, Y=None, out=None):
            return min_kernel(X, X if Y is None else Y)

    kernel = Min()
    expected = min_kernel(X_NUMBERS, Y_NUMBERS)
    out = np.empty((N, M))
    assert kernel(X_NUMBERS, Y_NUMBERS, out=out) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(kernel.diag(X_NUMBERS), np.abs(X_NUMBERS[:, 0]))
    np.testing.assert_allclose((2.0 * kernel + kernel)(X_NUMBERS, Y_NUMBERS), 3.0 * expected)
    assert kernel.label == "Min"
    with pytest.raises(NotImplementedError, match="must define compute"):
        Kernel()(X_NUMBERS)
