"""Plain functions as kernels: in lists, dicts, views and families, for every estimator."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import GridSearchCV
from tests.times import times

import manykernels
from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import DAG, Products, views
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns
from manykernels.kernels.given import from_function
from manykernels.persistence import ModelFileError, save

RNG = np.random.RandomState(0)
X = RNG.randn(30, 3)
Y = X[:, 0] + X[:, 1] ** 2
LABELS = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, "yes", "no")


def bump(A, B):
    return rbf_kernel(A, B, gamma=0.3)


class Box:
    """Something with a length."""

    def __init__(self, values):
        self.values = values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)


def pair(x, y):
    return float(np.exp(-0.3 * np.sum((x - y) ** 2)))


@pytest.mark.parametrize("kernels", [bump, [bump], {"mine": bump}, pair, {"mine": pair}])
def test_a_function_is_the_kernel_that_callable_makes_of_it(kernels):
    model = MKLRegressor(kernels).fit(X, Y)
    reference = MKLRegressor([Callable(bump)]).fit(X, Y)
    np.testing.assert_allclose(model.predict(X[:5] + 0.1), reference.predict(X[:5] + 0.1), rtol=1e-9)
    assert model.kernel_names_ == [
        next(iter(kernels)) if isinstance(kernels, dict) else model.kernel_names_[0]
    ]


def test_names_are_those_of_the_functions():
    given = [
        bump,
        lambda A, B: A @ B.T,
        lambda x, y: float(x @ y) ** 2,
        partial(laplacian_kernel, gamma=0.5),
        RBF(),
    ]
    model = MKLRegressor(given, norm=2.0).fit(X, Y)
    expected = ["bump", "function", "function (2)", "laplacian_kernel(gamma=0.5)", "RBF(length_scale=1)"]
    assert model.kernel_names_ == expected


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, y: x @ y,
        lambda x, y: np.dot(x, y) + 1,
        lambda x, y: np.minimum(x, y).sum(),
        lambda x, y: x[0] * y[0],
    ],
)
def test_functions_of_two_samples_are_found_whatever_the_width(width, function):
    A = np.random.RandomState(1).rand(6, width)
    kernel = from_function(function, A)
    assert kernel.pairs
    np.testing.assert_allclose(kernel(A, A[:2]), [[function(a, b) for b in A[:2]] for a in A])


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_functions_of_sets_are_found_whatever_the_shape(width, n):
    A = np.random.RandomState(1).rand(n, width)
    assert not from_function(lambda P, Q: P @ Q.T, A).pairs
    assert not from_function(lambda P, Q: np.ones((len(P), len(Q))), A).pairs


def test_samples_are_rows_of_whatever_x_is():
    words = ["abc", "bcd", "xyz"]

    def common(x, y):
        return len(set(x) & set(y))

    def of_columns(x, y):
        return x["a"] * y["a"]

    frame = {"a": [1.0, 2.0, 3.0], "b": ["p", "q", "r"]}
    items = np.array(words, dtype=object)
    assert from_function(common, items)(items)[0, 1] == 2.0
    for kind in (pd.DataFrame, pl.DataFrame):
        np.testing.assert_allclose(from_function(of_columns, kind(frame))(kind(frame))[2], [3.0, 6.0, 9.0])
    S = sparse.csr_matrix(np.diag([1.0, 2.0, 3.0]))
    K = from_function(lambda x, y: (x.multiply(y)).sum(), S)(S)
    np.testing.assert_allclose(K, np.diag([1.0, 4.0, 9.0]))


def test_functions_stand_in_views_products_graphs_and_subsets():
    spec = views({"left": ([0, 1], [bump, Gaussian(1.0)]), "right": ([2], pair)})
    model = MKLRegressor(spec, norm=2.0).fit(X, Y)
    assert set(model.view_weights_) == {"left", "right"} and "left: bump" in model.kernel_names_
    assert MKLRegressor(Products([bump, Linear()], degree=2)).fit(X, Y).certified_
    graph = DAG({"top": (bump, []), "below": (Linear(), ["top"])})
    assert manykernels.HierarchicalMKLRegressor(graph).fit(X, Y).kernel_names_


FACES = [name for name in manykernels.__all__ if isinstance(getattr(manykernels, name), type)]


@pytest.mark.parametrize("name", [name for name in FACES if not name.startswith("Hierarchical")])
def test_every_estimator_takes_functions(name):
    face = getattr(manykernels, name)
    y = times(Y) if "Survival" in name else Y if "Regressor" in name else LABELS
    model = face({"mine": bump, "wide": Gaussian(3.0), "lambda": lambda A, B: A @ B.T + 1.0}).fit(X, y)
    assert set(model.kernel_names_) <= {"mine", "wide", "lambda"}  # a search may leave some out
    new = X[:4] + 0.05
    found = model.predict(new) if hasattr(model, "predict") else model.transform(new)
    assert len(found) == 4


def test_functions_survive_clone_pickle_and_search(tmp_path):
    model = clone(MKLClassifier({"mine": bump, "g": Gaussian(1.0)}))
    assert model.get_params()["kernels__mine"] is bump
    fitted = pickle.loads(pickle.dumps(model.fit(X, LABELS)))
    np.testing.assert_allclose(fitted.decision_function(X), model.decision_function(X))
    grid = GridSearchCV(model, {"kernels__mine": [bump, pair], "kernels__g__width": [1.0, 2.0]}, cv=2)
    assert grid.fit(X, LABELS).best_score_ > 0.5
    lambdas = MKLClassifier([lambda A, B: A @ B.T]).fit(X, LABELS)
    with pytest.raises(ModelFileError, match="Define it at the top of a module"):
        save(lambdas, tmp_path / "model")


def test_what_is_no_kernel_is_said_with_the_way_out():
    with pytest.raises(ValueError, match=r"expected a kernel. A plain function becomes one by Callable"):
        MKLRegressor([OnColumns(bump, [0])]).fit(X, Y)
    with pytest.raises(ValueError, match=r"Callable\(function, pairs=True\)"):
        MKLRegressor([Callable(lambda x, y: np.sum(x * 2))]).fit(X, Y)
    with pytest.raises(ValueError, match="returned shape"):
        MKLRegressor([lambda A, B: np.ones(3)]).fit(X, Y)
    with pytest.raises(ZeroDivisionError):
        MKLRegressor([lambda A, B: 1 / 0]).fit(X, Y)
    with pytest.raises(ValueError, match="expected one number"):
        Callable(lambda x, y: x, pairs=True)(X)
    with pytest.raises(ValueError, match="positive semi"):
        MKLRegressor([lambda x, y: -float(np.abs(x - y).sum())], normalize=None).fit(X, Y)
    with pytest.raises(ValueError, match=r"Call it: Gaussian\(...\)"):
        MKLRegressor([Gaussian]).fit(X, Y)


def common(a, b):
    return float(len(set(a) & set(b)))


@pytest.mark.parametrize("kind", [set, frozenset, dict.fromkeys, list, np.array, Box])
def test_functions_read_samples_of_any_kind(kind):
    lengths = np.random.RandomState(3).randint(2, 6, 30)
    drawn = [np.random.RandomState(i).choice(9, n, replace=False).tolist() for i, n in enumerate(lengths)]
    samples = [kind(values) for values in drawn]
    model = MKLRegressor(common, C=10.0).fit(samples, lengths.astype(float))
    np.testing.assert_allclose(model.predict(samples[:1]), model.predict(samples)[:1])
    same = [sample for sample, n in zip(samples, lengths, strict=True) if n == 3]
    assert model.predict(same).shape == (len(same),)


def test_strings_need_no_kernel_to_be_named():
    words = ["".join(RNG.choice(list("acgt"), 9)) for _ in range(30)]
    y = np.array([word.count("a") for word in words], dtype=float)
    model = MKLRegressor().fit(words, y)
    assert model.kernel_names_ == ["Spectrum(k=3)", "Spectrum(k=5)"]
    np.testing.assert_allclose(model.predict(pd.Series(words)), model.predict(words))
    with pytest.raises(ValueError, match="list of frozenset objects"):
        MKLRegressor().fit([frozenset(word) for word in words], y)
    with pytest.raises(ValueError, match=r"Write Gaussian\(width\)"):
        MKLRegressor("rbf").fit(X, Y)
