"""Combinations that stay in features: everything they answer is what matrices answer."""

import numpy as np
import pytest
from tests.helpers import featured

from manykernels.grams import FactorGram
from manykernels.grams.features import FeatureGram

PHI, PTR, SIGNS, COST = featured()
SCALE = np.array([1.0, 0.5, 2.0, 0.3])
PAIR = FeatureGram(PHI, PTR, SCALE), FactorGram(PHI, PTR, SCALE)
A = np.random.RandomState(0).randn(len(PHI), 2)


@pytest.mark.parametrize("atoms", [None, [2, 0]], ids=str)
def test_combinations_multiply_as_matrices_do(atoms):
    atoms = None if atoms is None else np.array(atoms)
    theta = np.array([0.3, 0.2, 0.4, 0.1]) if atoms is None else np.array([0.7, 0.3])
    K, dense = (gram.combine(theta, atoms) for gram in PAIR)
    np.testing.assert_allclose(K @ A, dense @ A, atol=1e-10)
    Psi = K.Phi * K.root
    np.testing.assert_allclose(Psi @ Psi.T, dense, atol=1e-10)
    np.testing.assert_allclose(K.features(A), Psi.T @ A, atol=1e-10)
    v = A[: K.root.size, 0]
    np.testing.assert_allclose(K.scores(v), Psi @ v, atol=1e-10)


def test_a_kernel_without_weight_takes_no_part():
    K = PAIR[0].combine(np.array([0.0, 0.5, 0.0, 0.5]))
    assert K.root.size == int(np.diff(PTR)[[1, 3]].sum())
    np.testing.assert_allclose(K @ A, PAIR[1].combine(np.array([0.0, 0.5, 0.0, 0.5])) @ A, atol=1e-10)


def test_the_system_of_newtons_method():
    K, W = PAIR[0].combine(np.full(4, 0.25)), np.maximum(COST[:, 0] - 1.0, 0.0)
    Psi = np.column_stack([K.Phi * K.root, np.ones(len(PHI))])
    expected = Psi.T @ (W[:, None] * Psi) + np.diag([1.0] * K.root.size + [0.0])
    np.testing.assert_allclose(K.system(W), expected, atol=1e-9)


def test_quadratic_forms_and_traces_are_those_of_matrices():
    here, there = ((g.quad(A), g.quad(A, np.array([3, 1])), g.traces(), g.largest()) for g in PAIR)
    for a, b in zip(here, there, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    assert FeatureGram.explicit and not FactorGram.explicit
