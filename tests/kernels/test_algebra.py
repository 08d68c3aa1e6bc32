"""Operators, labels and nested parameters."""

import numpy as np
import pytest
from sklearn.base import clone

from manykernels.kernels import (
    Callable,
    Constant,
    Cosine,
    Dirichlet,
    Fitted,
    Gaussian,
    Linear,
    Mixture,
    OnColumns,
    Polynomial,
    Power,
    Product,
    Scaled,
    Spectrum,
    Sum,
)

X = np.random.default_rng(0).normal(size=(9, 4))
L, G = Linear(), Gaussian(2.0)


def test_operators_compute_what_they_say():
    for kernel, expected in [
        (L + G, L(X) + G(X)),
        (L * G, L(X) * G(X)),
        (3 * G, 3 * G(X)),
        (G * 0.5, 0.5 * G(X)),
        (np.float64(2.0) * G, 2 * G(X)),
        (np.int64(2) * G, 2 * G(X)),
        (G**2, G(X) ** 2),
        (sum([L, G, L]), 2 * L(X) + G(X)),
        ((L + G) * (L + 2 * G) ** 2, (L(X) + G(X)) * (L(X) + 2 * G(X)) ** 2),
    ]:
        np.testing.assert_allclose(kernel(X), expected, rtol=1e-12)
        np.testing.assert_allclose(kernel.diag(X), np.diagonal(expected), rtol=1e-12)


def test_operators_build_flat_trees():
    assert isinstance(L + G, Sum) and isinstance(L * G, Product)
    assert isinstance(2 * L, Scaled) and isinstance(L**2, Power)
    assert [type(k) for k in (L + G + L).kernels] == [Linear, Gaussian, Linear]
    assert [type(k) for k in (L * (G * L)).kernels] == [Linear, Gaussian, Linear]
    named = Sum([L, G], name="both")
    assert (named + L).kernels == [named, L]


@pytest.mark.parametrize("other", ["a", None, [1.0]])
def test_operators_refuse_other_things(other):
    for operation in (lambda: G + other, lambda: other + G, lambda: G * other, lambda: G**other):
        with pytest.raises(TypeError):
            operation()


def named_function(X, Y):
    return X @ Y.T


@pytest.mark.parametrize(
    ("kernel", "label"),
    [
        (Linear(), "Linear"),
        (Gaussian(2.0), "Gaussian(width=2)"),
        (Gaussian(1 / 3), "Gaussian(width=0.3333)"),
        (Gaussian(2.0, name="wide"), "wide"),
        (Polynomial(3), "Polynomial(degree=3, coef0=1)"),
        (Dirichlet(0.5, 2), "Dirichlet(frequency=0.5, degree=2)"),
        (Constant(), "Constant(value=1)"),
        (Cosine(), "Cosine"),
        (Spectrum(4), "Spectrum(k=4)"),
        (Callable(named_function), "Callable(function=named_function)"),
        (L + G, "Linear + Gaussian(width=2)"),
        (2 * (L + G), "2 * (Linear + Gaussian(width=2))"),
        (L * G**2, "Linear * (Gaussian(width=2)^2)"),
        (OnColumns(G, 3), "x3: Gaussian(width=2)"),
        (OnColumns(G, "age"), "age: Gaussian(width=2)"),
        (OnColumns(G, ["a", "b", "c", "d"]), "a, b, c, … (4): Gaussian(width=2)"),
        (OnColumns(G, slice(0, 5)), "x0:x5: Gaussian(width=2)"),
        (OnColumns(G, slice(None, "b", 2)), ":b:2: Gaussian(width=2)"),
        (OnColumns(G, [True, False, True]), "x0, x2: Gaussian(width=2)"),
        (OnColumns(G, np.array([1, 2])), "x1, x2: Gaussian(width=2)"),
        (OnColumns(G, named_function), "named_function: Gaussian(width=2)"),
        (OnColumns(G, [0, 1], view="gene"), "gene: Gaussian(width=2)"),
        (Fitted(G), "Gaussian(width=2)"),
        (Mixture([L, G], [0.25, 0.5]), "0.5 * Gaussian(width=2) + 0.25 * Linear"),
        (Mixture([L] * 4, [1, 2, 3, 4.0]), "4 * Linear + 3 * Linear + 2 * Linear + … (4 kernels)"),
        (Mixture([], []), "0"),
    ],
)
def test_labels(kernel, label):
    assert kernel.label == label


def test_nested_parameters_can_be_read_and_set():
    kernel = 2.0 * (Linear() + OnColumns(Gaussian(2.0), [0, 1]))
    params = kernel.get_params()
    assert params["kernel__k1__kernel__width"] == 2.0
    changed = clone(kernel).set_params(kernel__k1__kernel__width=5.0, factor=1.0)
    np.testing.assert_allclose(changed(X), L(X) + Gaussian(5.0)(X[:, :2]))
    np.testing.assert_allclose(kernel(X), 2 * (L(X) + G(X[:, :2])))


def test_a_member_can_be_replaced():
    kernel = clone(L + G).set_params(k0=Gaussian(1.0), k1__width=3.0)
    np.testing.assert_allclose(kernel(X), Gaussian(1.0)(X) + Gaussian(3.0)(X))
    with pytest.raises(ValueError, match=r"k2 was given to .*, which has 2 kernels"):
        kernel.set_params(k2=Linear())
    with pytest.raises(ValueError, match="Invalid parameter"):
        kernel.set_params(k5__width=2.0)


def test_repr():
    assert repr(2 * (L + G) * L**2) == "(2 * (Linear() + Gaussian(width=2.0))) * (Linear() ** 2)"
    assert repr(Gaussian(2.0, name="g")) == "Gaussian(width=2.0, name='g')"
    assert repr(Sum([L], name="s")) == "Sum(kernels=[Linear()], name='s')"
    assert repr(Mixture([L], [0.5])) == "Mixture(0.5 * Linear)"
