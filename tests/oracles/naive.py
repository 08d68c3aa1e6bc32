"""Families of products written out from their definition: every product as a matrix."""

import itertools
import math
from collections import Counter

import numpy as np

from manykernels.families import Products
from manykernels.kernels import Gaussian, OnColumns
from manykernels.oracles import build_oracle


def data(n=12, r=4, outputs=1, seed=0):
    """Samples and a dual point."""
    rng = np.random.RandomState(seed)
    return rng.randn(n, r) * np.linspace(0.5, 2.0, r), rng.randn(n, outputs)


def base_of(kind, r):
    """What to give as `base` for features, or for a Gaussian on each of r columns."""
    return "features" if kind == "features" else [OnColumns(Gaussian(1.5), j) for j in range(r)]


def oracle_of(kind, X, norm=2.0, normalize="trace", sample_weight=None, **options):
    family = Products(base_of(kind, X.shape[1]), **options)
    return build_oracle(family, X, normalize=normalize, norm=norm, sample_weight=sample_weight)


def base_matrices(kind, X, sample_weight=None):
    """The base kernels with a mean diagonal of one."""
    w = np.ones(len(X)) if sample_weight is None else sample_weight
    matrices = []
    for x in X.T:
        K = np.outer(x, x) if kind == "features" else np.exp(-((x[:, None] - x) ** 2) / 1.5**2)
        matrices.append(K * w.sum() / (w @ np.diag(K)))
    return matrices


def all_products(r, degree, interactions_only=False):
    choose = itertools.combinations if interactions_only else itertools.combinations_with_replacement
    return [z for d in range(degree + 1) for z in choose(range(r), d)]


def orders(z):
    """In how many orders the factors of z can be written, by writing them."""
    return len(set(itertools.permutations(z)))


def matrix(bases, z):
    K = np.ones_like(bases[0])
    for j in z:
        K = K * bases[j]
    return K


def scale(z, bases, rho, norm=2.0, multiplicity="distinct", atom_scale=None, sample_weight=None):
    """s_z = ρ_d⁻² c_z^{(p−1)/p} n/Σ_i (ΠK)_ii, the last two as the options ask."""
    s = 1.0 if rho is None else rho[len(z)] ** -2.0
    if multiplicity == "paper":
        s *= orders(z) ** (1.0 if norm == math.inf else (norm - 1.0) / norm)
    if atom_scale == "rms":
        w = np.ones(len(bases[0])) if sample_weight is None else sample_weight
        s *= w.sum() / (w @ np.diag(matrix(bases, z)))
    return s


def frequencies(draws):
    """How often each atom was drawn, and the probability given with it."""
    return Counter(draws.atoms), dict(zip(draws.atoms, draws.probabilities, strict=True))
