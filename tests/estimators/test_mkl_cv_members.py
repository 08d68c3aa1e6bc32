"""Searches choose among kernels by what these say of themselves, and never by what they are called."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressorCV
from manykernels.families import Subset, per_feature, rank_one, views
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
    (wide,) = [only for only in tried(model) if only is not None and len(only) == 3 * 5]
    assert "gene: Gaussian(1 × median)" in wide and "image: Linear" in wide
    assert not any("0.25 ×" in name or "0.5 ×" in name for name in wide)
    # of 7: two views, and both together


def test_views_are_tried_alone_left_out_and_with_one_similarity():
    columns = {"a": [0], "b": [1], "c": [0, 1]}
    given = {view: (at, {"near": Gaussian(0.5), "far": Gaussian(3.0)}) for view, at in columns.items()}
    model = search(views(given)).fit(X, Y)
    sets = set(tried(model))
    assert ("a: near", "b: near", "c: near") in sets and ("a: far", "b: far", "c: far") in sets
    assert ("b: near", "b: far") in sets  # a view alone
    assert ("a: near", "a: far", "c: near", "c: far") in sets  # all but one
    assert np.inf in model.path_["finite"]["norm"]  # the plain sum
    renamed = {f"x{view}": pair for view, pair in given.items()}
    again = search(views(renamed)).fit(X, Y)
    np.testing.assert_array_equal(model.path_["finite"]["loss"], again.path_["finite"]["loss"])


@pytest.mark.parametrize("together", [True, False])
def test_views_are_joined_only_where_that_is_clearly_better(together):
    """Kernels of views add up, so that they cannot learn a product of two views; one table can."""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 150, 2))
    y = A[:, 0] * B[:, 0] if together else A[:, 0] + np.sin(B[:, 0])
    model = MKLRegressorCV(Cs=[1.0, 100.0], cv=3).fit({"a": A, "b": B}, y + 0.1 * rng.normal(size=150))
    assert model.comparison_["strategy"] == ["finite", "joined"]
    assert model.best_params_["strategy"] == ("joined" if together else "finite")
    assert list(model.view_weights_) == (["all columns"] if together else ["a", "b"])
    assert model.score({"b": B, "a": A}, y) > 0.8


def test_joining_needs_views():
    with pytest.raises(ValueError, match=r"strategy='joined' was given.*name views"):
        MKLClassifierCV(strategy="joined").fit(X, Y)


def test_wide_tables_of_one_unit_have_profiles():
    """Lengths of rows are noise here, and columns vary as they do because they matter so."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, size=80)
    shape = np.abs(rng.normal(size=(2, 60)))[y] + 0.7 * rng.normal(size=(80, 60))
    rows = shape * np.exp(2.0 * rng.normal(size=80))[:, None]
    model = MKLClassifierCV(strategy="finite", Cs=[1.0, 100.0], cv=3).fit(rows, y)
    (chosen,) = model.best_params_["kernels"] or ("",)
    assert "profiles" in chosen
    again = model.predict(1e3 * rows)
    np.testing.assert_array_equal(again, model.predict(rows))
    assert not any("profiles" in name for name in MKLClassifier().fit(rows[:, :20], y).kernel_names_)


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
