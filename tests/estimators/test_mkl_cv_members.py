"""Searches choose among kernels by what these say of themselves, and never by what they are called."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressorCV
from manykernels.families import Subset, per_feature, rank_one
from manykernels.kernels import Gaussian, Linear, OnColumns

RNG = np.random.default_rng(4)
X = RNG.normal(size=(60, 2))
Y = np.sign(np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * RNG.normal(size=60))
TABLE = pd.DataFrame({f"{view}__{c}": RNG.normal(size=60) for view in ("gene", "image") for c in "ab"})
WORDS = sparse.random_array((60, 30), density=0.2, rng=RNG, format="csr")
COUNTS = np.sign(WORDS.sum(axis=1) - np.median(WORDS.sum(axis=1)) + 1e-9)


def search(kernels, **given):
    return MKLClassifierCV(kernels, strategy="finite", norms=[1.0], Cs=[1.0, 10.0], cv=3, **given)


def tried(model):
    return list(dict.fromkeys(model.path_["finite"]["kernels"]))


@pytest.mark.parametrize(
    "names",
    [
        ("Gaussian(0.25 cm)", "middle", "wide"),
        ("all: Gaussian(width=1)", "left: Gaussian(width=1)", "right: Gaussian(width=1)"),
        ("1", "1 (2)", "Gaussian(1 × median, normal scores)"),
    ],
)
def test_a_name_decides_nothing(names):
    kernels = [Gaussian(2.0), OnColumns(Gaussian(1.0), 0), Linear()]
    plain = search(dict(zip("abc", kernels, strict=True))).fit(X, Y)
    named = search(dict(zip(names, kernels, strict=True))).fit(X, Y)
    to = dict(zip("abc", names, strict=True))
    renamed = [None if only is None else tuple(to[name] for name in only) for only in tried(plain)]
    assert renamed == tried(named) and len(renamed) == 4
    np.testing.assert_array_equal(plain.path_["finite"]["loss"], named.path_["finite"]["loss"])
    np.testing.assert_array_equal(plain.decision_function(X), named.decision_function(X))


def test_views_are_tried_without_their_narrow_kernels():
    model = search("auto").fit(TABLE, Y)
    (wide,) = [only for only in tried(model) if only is not None and len(only) > 1]
    assert "gene: Gaussian(1 × median)" in wide and "image: Linear" in wide
    assert not any("0.25 ×" in name or "0.5 ×" in name for name in wide)
    assert len(wide) == 3 * 5  # of 7: two views, and both together


def test_single_columns_are_not_tried_alone_beside_the_whole_table():
    singles = [only for only in tried(search("auto").fit(X, Y)) if only is not None and len(only) == 1]
    assert ("Linear",) in singles and ("x0: Gaussian(width=1)",) not in singles
    singles = tried(search(per_feature([1.0], [1])).fit(X, Y))
    assert singles == [None, ("all: Gaussian(σ=1)",), ("all: Polynomial(degree=1)",)]
    assert tried(search(rank_one()).fit(X, Y)) == [None, ("x0",), ("x1",)]  # there is nothing else


def test_kernels_of_sparse_data_are_the_same_in_every_fold():
    """By their widths, which differ, none of them could be compared."""
    model = search("auto").fit(WORDS, COUNTS)
    singles = [only for only in tried(model) if only is not None]
    assert ("Linear",) in singles and ("Gaussian(0.05 quantile)",) in singles and len(singles) > 4
    part = MKLClassifier(Subset("auto", singles[-1])).fit(WORDS[:40], COUNTS[:40])
    assert part.kernel_names_ == list(singles[-1])


def test_a_search_over_sparse_data_may_choose_one_kernel():
    target = np.asarray(WORDS @ RNG.normal(size=30))
    model = MKLRegressorCV("auto", strategy="finite", Cs=[10.0, 100.0], cv=3).fit(WORDS, target)
    assert model.best_params_["kernels"] == ("Linear",) and model.kernel_names_ == ["Linear"]
