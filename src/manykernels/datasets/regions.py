"""Problems for localized learning (Lei et al. 2016), whose right kernel differs by region."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ._checks import Array, Random, count


def make_regions_views(n_samples: int = 300, *, random_state: Random = None) -> tuple[Array, Array]:
    """Make a problem in which a place decides which of two views is informative.

    The place (columns 0 and 1) is N((±2, 0), 0.49 I), + in one region and − in the other; the first view (2
    to 7) and the second (8 to 13) are N(0, I). y = sign(v_0 + v_1 + 0.3 N(0, 1)) with v the first view in the
    region on the left and the second on the right.

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 14)
        Samples.
    y : ndarray of shape (n_samples,)
        Classes −1 and 1.

    Examples
    --------
    >>> from manykernels.datasets import make_regions_views
    >>> X, y = make_regions_views(50, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 14), [-1.0, 1.0])
    """
    n, rng = count("n_samples", n_samples), check_random_state(random_state)
    region = rng.randint(0, 2, n)
    place = 0.7 * rng.randn(n, 2) + np.outer(np.where(region == 1, 2.0, -2.0), [1.0, 0.0])
    first, second = rng.randn(n, 6), rng.randn(n, 6)
    signal = np.where(region == 0, first[:, 0] + first[:, 1], second[:, 0] + second[:, 1])
    y = np.where(signal + 0.3 * rng.randn(n) > 0, 1.0, -1.0)
    return np.hstack([place, first, second]), y


def make_regions_widths(n_samples: int = 300, *, random_state: Random = None) -> tuple[Array, Array, Array]:
    """Make a regression problem that is smooth on the left and wiggly along a line on the right.

        left, x_0 = u_0 − 2.5:    f = sin(2u_0 + u_1 + u_2) + cos(2u_1 − u_0),   u uniform in [−1, 1]³
        right, x_0 = u_0 + 2.5:   f = 1.4 sin(5π u_0),                           u_1 = u_2 = 0

    Parameters
    ----------
    n_samples : int, default=300
        Number of samples.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Samples.
    y : ndarray of shape (n_samples,)
        Targets f + 0.1 N(0, 1).
    f : ndarray of shape (n_samples,)
        The function without noise, for tests.

    Examples
    --------
    >>> from manykernels.datasets import make_regions_widths
    >>> X, y, f = make_regions_widths(50, random_state=0)
    >>> X.shape, y.shape, f.shape
    ((50, 3), (50,), (50,))
    """
    n, rng = count("n_samples", n_samples), check_random_state(random_state)
    right = rng.randint(0, 2, n) == 1
    X = rng.uniform(-1.0, 1.0, (n, 3))
    X[right, 1:] = 0.0
    smooth = np.sin(2.0 * X[:, 0] + X[:, 1] + X[:, 2]) + np.cos(2.0 * X[:, 1] - X[:, 0])
    f = np.where(right, 1.4 * np.sin(5.0 * np.pi * X[:, 0]), smooth)
    X[:, 0] += np.where(right, 2.5, -2.5)
    return X, f + 0.1 * rng.randn(n), f
