"""The made problems of Afkanpour (2013) and of Orabona & Jie (2011), by the formulas of the texts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ._checks import Array, Labels, Random, count, size

FREQUENCIES = np.sqrt([2.0, 12.0, 60.0])  # of the three sines
Term = tuple[int, ...]


def make_polynomials(
    n_samples: int = 500,
    n_features: int = 100,
    *,
    n_relevant: int = 5,
    n_terms: int = 10,
    degree: int = 3,
    constant: bool = True,
    noise: float = 0.0,
    random_state: Random = None,
) -> tuple[Array, Array, list[Term]]:
    """Make a regression problem whose target is the mean of a few products of a few variables.

        y = (1/n_terms) Σ_z ∏_{j ∈ z} x_j + noise · std · N(0, 1)

    X is uniform in [−1, 1]^r. The products z are drawn without repetition among all of at most `degree`
    factors of the first `n_relevant` variables. Nothing is standardised.

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples.
    n_features : int, default=100
        Number r of variables.
    n_relevant : int, default=5
        Number of variables, the first ones, that occur in products.
    n_terms : int, default=10
        Number of products.
    degree : int, default=3
        Largest number of factors.
    constant : bool, default=True
        Whether the constant may be among the products.
    noise : float, default=0.0
        Noise in units of the standard deviation of y.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Targets.
    terms : list of tuple of int
        The products as tuples of columns: (0, 0, 3) is x_0² x_3, () the constant.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §6.1.3.

    Examples
    --------
    >>> from manykernels.datasets import make_polynomials
    >>> X, y, terms = make_polynomials(50, 10, random_state=0)
    >>> X.shape, len(terms), max(map(len, terms)) <= 3
    ((50, 10), 10, True)
    """
    n, r = count("n_samples", n_samples), count("n_features", n_features)
    used, ten = count("n_relevant", n_relevant), count("n_terms", n_terms)
    deepest, noise = count("degree", degree), size("noise", noise)
    if used > r:
        raise ValueError(f"n_relevant={used} was given with n_features={r}; expected at most {r}.")
    choose = itertools.combinations_with_replacement
    every = [z for d in range(0 if constant else 1, deepest + 1) for z in choose(range(used), d)]
    if ten > len(every):
        raise ValueError(
            f"n_terms={ten} was given; expected at most {len(every)}, which is how many products of at most "
            f"{deepest} of {used} variables there are. Give a larger degree or n_relevant."
        )
    rng = check_random_state(random_state)
    X = rng.uniform(-1.0, 1.0, (n, r))
    terms = [every[i] for i in rng.permutation(len(every))[:ten]]
    y = np.mean([X[:, list(z)].prod(axis=1) for z in terms], axis=0)
    y += noise * y.std() * rng.randn(y.size)
    return X, y, terms


def make_relevance(
    n_samples: int = 50,
    n_features: int = 50,
    *,
    gamma: float = 10.0,
    distance: float = 1.75,
    random_state: Random = None,
) -> tuple[Array, Array]:
    """Make two normal classes whose features differ in relevance.

    x ~ N(±μ, I) for y = ±1 with μ = ρβ/‖β‖, β_i = (i/r)^γ. No classifier errs less than Φ(−ρ), whatever γ is:
    4.0 % for the default.

    Parameters
    ----------
    n_samples : int, default=50
        Number of samples.
    n_features : int, default=50
        Number r of features.
    gamma : float, default=10.0
        The exponent γ. 0 makes all features equally relevant, a large value only the last few.
    distance : float, default=1.75
        The distance ρ of the means from 0. A larger one makes the problem easier.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Samples.
    y : ndarray of shape (n_samples,)
        Classes −1 and 1.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §6.2.1.

    Examples
    --------
    >>> from manykernels.datasets import make_relevance
    >>> X, y = make_relevance(random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 50), [-1.0, 1.0])
    """
    n, r = count("n_samples", n_samples), count("n_features", n_features)
    gamma, rho = size("gamma", gamma), size("distance", distance)
    rng = check_random_state(random_state)
    beta = (np.arange(1, r + 1) / r) ** gamma
    y = np.where(rng.uniform(size=n) < 0.5, 1.0, -1.0)
    return rng.randn(n, r) + np.outer(y, rho * beta / np.linalg.norm(beta)), y


def make_sines(
    n_samples: int = 500, *, frequencies: Any = None, random_state: Random = None
) -> tuple[Array, Array]:
    """Make two classes by the sign of a sum of sines, y = sign(sin √2x + sin √12x + sin √60x).

    Parameters
    ----------
    n_samples : int, default=500
        Number of samples, uniform in [−10, 10].
    frequencies : array-like or None, default=None
        Angular frequencies of the sines. None stands for √2, √12 and √60.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 1)
        Samples.
    y : ndarray of shape (n_samples,)
        Classes −1 and 1.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §3.1.

    Examples
    --------
    >>> from manykernels.datasets import make_sines
    >>> X, y = make_sines(100, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((100, 1), [-1.0, 1.0])
    """
    n, rng = count("n_samples", n_samples), check_random_state(random_state)
    sigma = np.asarray(FREQUENCIES if frequencies is None else frequencies, dtype=np.float64)
    if sigma.ndim != 1 or not sigma.size or not np.all(np.isfinite(sigma)):
        raise ValueError(f"frequencies={frequencies!r} was given; expected a list of numbers, as [1.4, 3.5].")
    X = rng.uniform(-10.0, 10.0, (n, 1))
    return X, np.where(np.sin(X * sigma).sum(axis=1) > 0.0, 1.0, -1.0)


def make_three_views(
    n_per_class: int = 100, *, noise: float = 0.1, random_state: Random = None
) -> tuple[Array, Labels]:
    """Make three classes and four views of two columns each, of which only the last is enough.

    Views 1 to 3 put class 2, 0 or 1 at a distance of 1 from the two others; the fourth puts the classes at
    the corners of a triangle of side 1. Orabona & Jie (2011) show its kernels in a figure only; these give
    matrices of the same blocks. Rows are in the order of the classes.

    Parameters
    ----------
    n_per_class : int, default=100
        Number of samples of each class.
    noise : float, default=0.1
        Standard deviation of the noise that is added to every column.
    random_state : int, RandomState or None, default=None
        Seed or source of random numbers.

    Returns
    -------
    X : ndarray of shape (3 · n_per_class, 8)
        Samples.
    y : ndarray of int of shape (3 · n_per_class,)
        Classes 0, 1 and 2.

    References
    ----------
    Orabona & Jie (2011), "Ultra-Fast Optimization Algorithm for Sparse Multi Kernel Learning", ICML, §5.2.

    Examples
    --------
    >>> from manykernels.datasets import make_three_views
    >>> X, y = make_three_views(10, random_state=0)
    >>> X.shape, y[:3].tolist()
    ((30, 8), [0, 0, 0])
    """
    n, noise = count("n_per_class", n_per_class), size("noise", noise)
    rng, y = check_random_state(random_state), np.repeat([0, 1, 2], n)
    X = noise * rng.standard_normal((3 * n, 8))
    for j, apart in enumerate((2, 0, 1)):
        X[y == apart, 2 * j] += 1.0
    corner = 2.0 * np.pi * y / 3.0
    X[:, 6:] += np.column_stack([np.cos(corner), np.sin(corner)]) / np.sqrt(3.0)
    return X, y
