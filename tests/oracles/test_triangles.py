"""Products of matrices that are made when they are asked for, against the stored ones."""

import numpy as np

from manykernels.families import Products
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear
from manykernels.oracles import build_oracle
from manykernels.oracles._triangles import TriangleGram, pack, unpack

X = np.random.RandomState(0).randn(30, 3)
ATOMS = [(), (0,), (1, 1), (0, 1)]


def test_a_matrix_and_its_triangle():
    K = Gaussian()(X)
    np.testing.assert_array_equal(pack(K)[:3], [K[0, 0], K[1, 0], K[1, 1]])
    np.testing.assert_array_equal(unpack(pack(K), np.empty_like(K)), K)


def test_products_made_one_by_one_are_those_that_are_stored():
    family = Products([Gaussian(), Linear()], degree=2)
    oracle = build_oracle(family, X, normalize="trace")
    stored = oracle.gram(ATOMS)
    oracle.parts.room = 0
    made = oracle.gram(ATOMS)
    assert isinstance(stored, StackGram) and isinstance(made, TriangleGram)
    A, theta = np.random.RandomState(1).randn(30, 2), np.array([0.0, 0.5, 2.0, 1.0])
    for one, other in [
        (made.combine(theta), stored.combine(theta)),
        (made.products(A), stored.products(A)),
        (made.quad(A), stored.quad(A)),
        (made.traces(), stored.traces()),
        (made.against(A @ A.T), stored.against(A @ A.T)),
        (made.subset(np.arange(5, 20)).combine(theta), stored.combine(theta)[5:20, 5:20]),
    ]:
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
