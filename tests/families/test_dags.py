"""Graphs of kernels: what they say, what they refuse, and what they are on data."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from manykernels.families import DAG, AnovaDAG, PolynomialDAG
from manykernels.kernels import Gaussian, Linear
from manykernels.oracles._bind_dags import bind_dag

X = np.random.RandomState(0).randn(20, 3) * [1.0, 2.0, 0.5]
OWN = {
    "fine": (Gaussian(0.5), ["coarse", "line"]),
    "coarse": (Gaussian(2.0), []),
    "line": (Linear(), ()),
    "finer": (Gaussian(0.1), ["fine", "coarse"]),
}


def test_parents_come_first_and_depth_is_the_longest_way():
    dag = clone(DAG(OWN))
    assert list(dag.nodes()) == ["coarse", "line", "fine", "finer"]
    assert dag.depths() == {"coarse": 0, "line": 0, "fine": 1, "finer": 2}
    assert list(dag.resolve(X)) == list(dag.nodes())
    bound = bind_dag(DAG(OWN, beta=3.0), X, normalize="trace")
    assert [bound.price(v) for v in dag.nodes()] == [1.0, 1.0, 3.0, 9.0]
    assert bound.roots == ["coarse", "line"] and bound.ancestors("finer")[-1] == "finer"
    assert bound.children("coarse") == ["fine", "finer"]


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        (
            {"a": (Linear(), ["b"]), "b": (Linear(), ["c"]), "c": (Linear(), ["b"])},
            "cycle: (b → c → b|c → b → c)",
        ),
        ({"a": (Linear(), ["a"])}, "cycle: a → a"),
        (
            {"a": (Linear(), []), "b": (Linear(), ["a", "z"])},
            "'b' of DAG has unknown parents 'z'; the nodes are 'a', 'b'",
        ),
        ({"a": Linear()}, r"Node 'a' of DAG was given as .*; expected \(kernel, \[names"),
        ({"a": (Linear(), "b"), "b": (Linear(), [])}, "Node 'a' of DAG was given as"),
        ({1: (Linear(), [])}, "a node called 1; expected a string"),
        ({}, "expected a dict name"),
        ([Linear()], "expected a dict name"),
    ],
)
def test_bad_graphs(parents, message):
    with pytest.raises(ValueError, match=message):
        DAG(parents).nodes()


@pytest.mark.parametrize("degree", [0, -1, 1.5, "2", None, True])
def test_bad_degrees(degree):
    with pytest.raises(ValueError, match=r"degree=.* was given to PolynomialDAG; expected a whole number"):
        bind_dag(PolynomialDAG(degree), X, normalize="trace")


@pytest.mark.parametrize("family", [PolynomialDAG, AnovaDAG, lambda beta: DAG(OWN, beta=beta)])
@pytest.mark.parametrize("beta", [1.0, 0.5, np.inf, "2", np.nan])
def test_bad_prices(family, beta):
    with pytest.raises(ValueError, match=r"beta=.*expected a number above 1"):
        bind_dag(family(beta=beta), X, normalize="trace")


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, "1"])
def test_bad_widths(width):
    with pytest.raises(ValueError, match=r"width=.* was given to AnovaDAG; expected a positive number"):
        bind_dag(AnovaDAG(width), X, normalize="trace")


def test_prices_grow_with_the_number_of_features():
    assert PolynomialDAG().price(8) == 2.0 and PolynomialDAG().price(144) == 6.0
    assert PolynomialDAG(beta=1.5).price(144) == 1.5


@pytest.mark.parametrize("normalize", ["trace", "max", None])
def test_products_of_powers(normalize):
    w = np.arange(1.0, 21.0)
    bound = bind_dag(PolynomialDAG(2, beta=2.0), X, normalize=normalize, sample_weight=w)
    assert bound.size == 27
    node = ((0, 1), (2, 2))
    assert bound.name(node) == "x0 · x2²" and bound.name(()) == "1" and bound.price(node) == 8.0
    assert set(bound.parents(node)) == {((2, 2),), ((0, 1), (2, 1))}
    assert set(bound.children(node)) == {((0, 2), (2, 2)), ((0, 1), (1, 1), (2, 2))}
    size = {"trace": lambda d: w @ d / w.sum(), "max": np.max, None: lambda d: 1.0}[normalize]
    phi = X[:, 0] * X[:, 2] ** 2 / np.sqrt(size(X[:, 0] ** 2) * size(X[:, 2] ** 4))
    np.testing.assert_allclose(bound.kernel(node)(X), np.outer(phi, phi))
    np.testing.assert_allclose(
        bound.gram([(), node]).combine(np.array([1.0, 2.0])), 1 + 2 * np.outer(phi, phi)
    )


def test_subsets():
    bound = bind_dag(AnovaDAG(1.5), X, normalize="trace")
    assert bound.size == 8 and bound.children(((0, 1),)) == [((0, 1), (1, 1)), ((0, 1), (2, 1))]
    scaled = X[:, [0, 2]] / (1.5 * X[:, [0, 2]].std(axis=0))
    K = np.exp(-((scaled[:, None] - scaled[None]) ** 2).sum(axis=2))
    node = ((0, 1), (2, 1))
    np.testing.assert_allclose(bound.kernel(node)(X), K)
    np.testing.assert_allclose(bound.gram([node]).combine(np.ones(1)), K)
    np.testing.assert_allclose(bound.kernel(())(X), 1.0)


def assert_largest(found, share, allowed, count):
    """`count` nodes with the largest shares above `allowed`, falling; equal but for rounding, either goes."""
    largest = sorted((value for value in share.values() if value > allowed), reverse=True)[:count]
    assert len(set(found)) == len(found)
    np.testing.assert_allclose([share[v] for v in found], largest, rtol=1e-9)


def test_products_of_three_factors_are_scanned():
    """Every node of depth at most 3 outside the hull, and nothing else, in falling order of its share."""
    rng = np.random.RandomState(1)
    A, Z = rng.randn(15, 2), rng.randn(15, 5)
    for degree in (1, 2, 4):
        bound = bind_dag(PolynomialDAG(degree, beta=1.3), Z, normalize="trace")
        powers = itertools.product(range(degree + 1), repeat=5)
        nodes = [tuple((i, p) for i, p in enumerate(v) if p) for v in powers if 0 < sum(v) <= 3]
        hull = {v for w in [nodes[3], nodes[-1], nodes[-4]] for v in bound.ancestors(w)}
        outside = [v for v in nodes if v not in hull]
        totals = [sum(bound.price(x) for x in bound.ancestors(v) if x not in hull) for v in outside]
        share = dict(zip(outside, bound.quad(A, outside) / np.square(totals), strict=True))
        between = np.mean(sorted(share.values())[len(share) // 2 :][:2])  # two shares, and equal to none
        for allowed, count in ((0.0, 1000), (between, 1000), (0.0, 7)):
            assert_largest(bound.scan(A, hull, allowed, count), share, allowed, count)
    bound = bind_dag(DAG(OWN, beta=1.3), X, normalize="trace")
    A = rng.randn(20, 1)
    totals = {"line": 1.0, "fine": 1.0 + 1.3, "finer": 1.0 + 1.3 + 1.3**2}
    share = {v: bound.quad(A, [v])[0] / total**2 for v, total in totals.items()}
    assert_largest(bound.scan(A, {"coarse"}, 0.0, 9), share, 0.0, 9)


def test_columns_that_do_not_vary_are_left_out():
    Z = np.column_stack([X, np.full(20, 3.0)])
    A = np.random.RandomState(2).randn(20, 1)
    for family in (PolynomialDAG(2), AnovaDAG()):
        with pytest.warns(UserWarning, match="columns 'x3' are the same for all samples"):
            bound = bind_dag(family, Z, normalize="trace")
        assert bound.quad(A, [((3, 1),), ((0, 1), (3, 1))]).max() == 0.0
        assert bound.bounds(A, [((3, 1),)])[0] == 0.0
        alone = bind_dag(family, X, normalize="trace")
        np.testing.assert_allclose(bound.bounds(A, [((1, 1),)]), alone.bounds(A, [((1, 1),)]))
        with pytest.raises(ValueError, match="the same for all samples"), warnings.catch_warnings():
            warnings.simplefilter("error")
            bind_dag(family, np.ones((5, 2)), normalize="trace")


def test_sums_where_factors_vanish():
    """1 + x x'/(1 + β)² is exactly 0 for x = 3, x' = −3 and β = 2: bounds divide by it all the same."""
    Z = np.array([[3.0, 3.0], [-3.0, -3.0], [3.0, -3.0], [1.0, 2.0]])
    A = np.random.RandomState(4).randn(4, 1)
    bound = bind_dag(PolynomialDAG(1, beta=2.0), Z, normalize=None)
    first, second, both = ((0, 1),), ((1, 1),), ((0, 1), (1, 1))
    q = dict(zip((first, second, both), bound.quad(A, [first, second, both]), strict=True))
    below = [q[t] / 2.0**2 + q[both] / (2.0 + 4.0) ** 2 for t in (first, second)]
    np.testing.assert_allclose(bound.bounds(A, [first, second]), below)
    np.testing.assert_allclose(bound.bounds(A, [both]), q[both] / 4.0**2)


def test_what_cannot_be_served_is_said():
    with pytest.raises(
        ValueError, match=r"normalize='cosine' was given with PolynomialDAG; expected 'trace'"
    ):
        bind_dag(PolynomialDAG(), X, normalize="cosine")
    with pytest.raises(ValueError, match=r"Column 'x1' reaches 1e\+60, whose power 3 is out of range"):
        bind_dag(
            PolynomialDAG(3),
            X * [1.0, 0.0, 1.0] + [[0.0, 1e60, 0.0], [0.0, -1e60, 0.0]] * 10,
            normalize="trace",
        )
    with pytest.raises(ValueError, match="Column 'x0' does not hold numbers"):
        bind_dag(PolynomialDAG(), np.array([["a"], ["b"]], dtype=object), normalize="trace")
    with pytest.raises(ValueError, match="has no bound of its own"):
        bind_dag(PolynomialDAG(), X, normalize="trace").bounds(np.ones((20, 1)), [()])


def test_sparse_columns():
    Z = np.where(np.abs(X) > 0.5, X, 0.0)
    dense, thin = (bind_dag(PolynomialDAG(), data, normalize="trace") for data in (Z, sparse.csr_matrix(Z)))
    node = ((0, 2), (1, 1))
    np.testing.assert_allclose(thin.gram([node]).combine(np.ones(1)), dense.gram([node]).combine(np.ones(1)))
