"""The kernel of a user's map."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

from manykernels.kernels import FeatureMap, Fitted, Kernel, OnColumns, combine

RNG = np.random.RandomState(0)
X, Y = RNG.randn(30, 5), RNG.randn(8, 5)


def squares(A):
    """A map of the user's."""
    return np.hstack([A, A**2])


def sparse_squares(A):
    return sparse.csr_matrix(squares(A))


@pytest.mark.parametrize("function", [squares, sparse_squares, lambda A: pd.DataFrame(squares(A))])
def test_is_the_inner_product_of_the_map(function):
    kernel = FeatureMap(function)
    expected = squares(X) @ squares(Y).T
    np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(X), squares(X) @ squares(X).T, rtol=1e-12)
    np.testing.assert_array_equal(kernel(X), kernel(X).T)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-12)
    np.testing.assert_allclose(Kernel.diag(kernel, X), kernel.diag(X), rtol=1e-12)
    out = np.empty(expected.shape)
    assert kernel(X, Y, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert kernel.has_features
    assert kernel.statistic is None


def test_one_feature_may_come_as_a_vector():
    kernel = FeatureMap(lambda A: A[:, 0])
    np.testing.assert_allclose(kernel(X, Y), np.outer(X[:, 0], Y[:, 0]))


def test_works_with_other_kernels():
    kernel = OnColumns(FeatureMap(squares), [1, 2])
    expected = squares(X[:, 1:3]) @ squares(Y[:, 1:3]).T
    np.testing.assert_allclose((2.0 * kernel)(X, Y), 2.0 * expected, rtol=1e-12)
    np.testing.assert_allclose(combine([kernel, kernel], [1.0, 3.0], X, Y), 4.0 * expected, rtol=1e-12)
    fitted = Fitted(kernel, center=True, normalize="trace").fit(X)
    assert np.mean(fitted.diag(X)) == pytest.approx(1.0)


def test_a_transformer_stays_fitted_when_cloned():
    pca = PCA(2).fit(X)
    kernel = FeatureMap(pca, name="pca")
    expected = pca.transform(X) @ pca.transform(Y).T
    for copy in (kernel, clone(kernel), clone([kernel])[0], pickle.loads(pickle.dumps(kernel))):
        np.testing.assert_allclose(copy(X, Y), expected, rtol=1e-10)
        assert copy.label == "pca"
    assert clone(kernel).function is pca
    frames = StandardScaler().set_output(transform="pandas").fit(pd.DataFrame(X))
    np.testing.assert_allclose(FeatureMap(frames)(pd.DataFrame(X)).trace(), X.size, rtol=1e-10)


def test_label():
    assert FeatureMap(squares).label == "FeatureMap(squares)"
    assert FeatureMap(PCA(2)).label == "FeatureMap(PCA)"


def test_messages():
    with pytest.raises(ValueError, match=r"returned shape \(1, 5\); expected 30 rows, one per row of X"):
        FeatureMap(lambda A: A[:1])(X)
    with pytest.raises(ValueError, match=r"FeatureMap.* returned NaN or infinite features"):
        FeatureMap(lambda A: np.full((len(A), 2), np.inf))(X)
    bad = sparse.csr_matrix(X)
    bad.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite"):
        FeatureMap(lambda A: bad)(X)
    with pytest.raises(ValueError, match="returned 30 and 8 columns"):
        FeatureMap(lambda A: np.eye(len(A)))(X, Y)
    for wrong in (3, PCA, None):
        with pytest.raises(ValueError, match=r"expected a callable X -> .* or a fitted transformer"):
            FeatureMap(wrong)(X)
    with pytest.raises(ValueError, match="shape"):
        FeatureMap(lambda A: np.zeros((len(A), 2, 2)))(X)
    with pytest.raises(NotFittedError):
        FeatureMap(PCA(2))(X)
