"""Bad parameters and bad data: the error says what was given, what was expected and what to do."""

import numpy as np
import pandas as pd
import pytest

from manykernels.kernels import (
    Constant,
    Dirichlet,
    FromDistance,
    Gaussian,
    Laplacian,
    Linear,
    Mixture,
    Polynomial,
    Power,
    Product,
    Spectrum,
    Sum,
)

rng = np.random.default_rng(0)
X_NUMBERS, Y_NUMBERS = rng.normal(size=(40, 11)), rng.normal(size=(13, 11))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Gaussian(0.0), "width=0.0 was given to Gaussian; expected a positive number"),
        (Gaussian(-1), "width=-1"),
        (Gaussian(np.nan), "width=nan"),
        (Gaussian("wide"), "width='wide'"),
        (Laplacian(True), "width=True"),
        (Polynomial(0), "degree=0 was given to Polynomial; expected a whole number"),
        (Polynomial(1.5), "degree=1.5"),
        (Polynomial(np.inf), "degree=inf"),
        (Polynomial(2, coef0=-1.0), "coef0=-1.0 was given to Polynomial; expected a non-negative"),
        (Dirichlet(frequency=0), "frequency=0"),
        (Dirichlet(degree=0), "degree=0"),
        (Constant(-1.0), "value=-1.0"),
        (FromDistance(gamma=-1), "gamma=-1"),
        (FromDistance(distance="mahalanobis"), "changes with the data"),
        (FromDistance(distance=None), "distance=None was given"),
        (Linear() * -2.0, "factor=-2.0"),
        (Power(Linear(), 0), "degree=0"),
        (Sum([]), "at least one kernel"),
        (Product([Linear(), 3]), "list of at least one kernel"),
        (Mixture([Linear()], [1.0, 2.0]), "1 kernels and weights of shape"),
    ],
)
def test_bad_parameters(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(X_NUMBERS)


def test_bad_parameters_are_found_in_threads_too():
    X = rng.normal(size=(700, 3))
    with pytest.raises(ValueError, match="width=-1"):
        Mixture([Gaussian(1.0), Gaussian(-1)], [1.0, 1.0])(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", "b"]], "expects numbers, got .*Give a text column its own kernel"),
        (np.array([["1", "2"]]), "expects numbers"),
        (np.ones((2, 2, 2)), "A stack of kernels or distances needs Precomputed"),
        (pd.DataFrame({"a": [1.0], "b": ["x"]}), "expects numbers, got DataFrame"),
    ],
)
def test_data_that_are_not_numbers(X, message):
    with pytest.raises(ValueError, match=message):
        Linear()(X)


def test_different_numbers_of_features():
    with pytest.raises(ValueError, match="X has 11 features and Y has 10"):
        Gaussian()(X_NUMBERS, Y_NUMBERS[:, 1:])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.array([["a", "b"]]), "one column of strings"),
        (["a", None], "got None .* in row 1"),
        ("acgt", "list or column of strings"),
        ([1.0], "in row 0"),
    ],
)
def test_data_that_are_not_strings(X, message):
    with pytest.raises(ValueError, match=message):
        Spectrum(2)(X)
