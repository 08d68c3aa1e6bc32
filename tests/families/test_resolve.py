"""What a user may give as ``kernels``."""

import numpy as np
import pandas as pd
import pytest

from manykernels.families import Auto, rank_one, resolve_kernels
from manykernels.kernels import FromDistance, Gaussian, Linear, OnColumns, Polynomial, Spectrum

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
FRAME = pd.DataFrame(X, columns=["age", "height", "weight"])
STACK = np.abs(rng.normal(size=(5, 5, 2)))


def test_one_kernel_or_many():
    assert list(resolve_kernels(Gaussian(2.0), X)) == ["Gaussian(width=2)"]
    kernels = resolve_kernels([Linear(), [Gaussian(2.0), Gaussian(3.0, name="wide")], (Linear(),)], X)
    assert list(kernels) == ["Linear", "Gaussian(width=2)", "wide", "Linear (2)"]


def test_dicts_keep_their_names_and_objects():
    gene = Gaussian(2.0)
    kernels = resolve_kernels({"gene": gene, "all": rank_one(), "more": [Linear(), Linear()]}, X)
    assert list(kernels) == ["gene", "all: x0", "all: x1", "all: x2", "more: Linear", "more: Linear (2)"]
    assert kernels["gene"] is gene


def test_suffixes_never_collide():
    kernels = resolve_kernels([Linear(name="a"), Linear(name="a (2)"), Linear(name="a"), Linear(name="a")], X)
    assert len(kernels) == 4 and list(kernels)[:2] == ["a", "a (2)"]


def test_families_in_lists_and_strings():
    kernels = resolve_kernels([rank_one(), "auto", Polynomial(2)], FRAME)
    assert list(kernels)[:4] == ["age", "height", "weight", "Linear"]
    assert list(kernels)[-1] == "Polynomial(degree=2, coef0=1)"
    assert list(resolve_kernels("auto", X)) == list(Auto().resolve(X))


def test_precomputed():
    kernels = resolve_kernels("precomputed", STACK)
    assert list(kernels) == ["kernel 0", "kernel 1"]
    np.testing.assert_array_equal(kernels["kernel 1"](STACK), STACK[:, :, 1])
    with pytest.raises(ValueError, match=r"\(n_samples, n_train, n_kernels\), got shape \(30, 3\)"):
        resolve_kernels("precomputed", X)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("rbf", "kernels='rbf' was given; the strings that mean something are 'auto'"),
        ([], r"kernels=\[\] holds no kernel"),
        ({}, "holds no kernel"),
        ([[], {}], "holds no kernel"),
        (None, r"kernels was given None \(NoneType\)"),
        ([Linear(), 3.0], r"kernels was given 3.0 \(float\)"),
        (Gaussian, r"Call it: Gaussian\(...\)"),
        ({0: Linear()}, "key 0; expected names"),
        ({"a": None}, "NoneType"),
    ],
)
def test_errors(spec, message):
    with pytest.raises(ValueError, match=message):
        resolve_kernels(spec, X)


def test_columns_and_stacks_pass_through():
    kernels = resolve_kernels([OnColumns(Spectrum(2), "age"), FromDistance(1.0, 0)], FRAME)
    assert list(kernels) == ["age: Spectrum(k=2)", "FromDistance(gamma=1, distance=0)"]
