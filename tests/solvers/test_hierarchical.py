"""Learning over graphs of kernels: the optimum of the listed problem, hulls, and bounds that always hold."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value, root
from scipy import sparse
from tests.helpers import LOSSES, cvxpy_loss, risk_of, told

from manykernels.families import DAG, AnovaDAG, PolynomialDAG
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared
from manykernels.objectives import Separable
from manykernels.oracles._bind_dags import bind_dag
from manykernels.penalties import Simplex
from manykernels.solvers import Hierarchical, History, _hull
from manykernels.solvers._hull import HullProblem, Shape, bending, largest

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
OWN = {
    "left": (OnColumns(Linear(), 0), []),
    "right": (OnColumns(Linear(), 1), []),
    "both": (OnColumns(Gaussian(2.0), [0, 1]), ["left", "right"]),
    "more": (OnColumns(Gaussian(1.0), [0, 1]), ["both"]),
    "third": (OnColumns(Gaussian(1.0), 2), ["left"]),
}
GRAPHS = {
    "powers": (PolynomialDAG(2, beta=1.5), 3),
    "subsets": (AnovaDAG(1.5, beta=1.3), 4),
    "own": (DAG(OWN, beta=1.2), 3),
}
each_graph = pytest.mark.parametrize("graph", GRAPHS)


def data(graph, seed=0, n=24):
    family, r = GRAPHS[graph]
    rng = np.random.RandomState(seed)
    X = rng.randn(n, r)
    targets = (X[:, 0] * X[:, 1] + 0.6 * X[:, 2] + 0.3 * rng.randn(n))[:, None]
    return bind_dag(family, X, normalize="trace"), X, np.where(targets > 0, 1.0, -1.0), targets


def listed(hierarchy):
    """All nodes, every one after its parents, from the graph's own children."""
    nodes = list(hierarchy.roots)
    for v in nodes:
        nodes += [t for t in hierarchy.children(v) if t not in nodes]
    depth = {v: len(hierarchy.ancestors(v)) for v in nodes}
    return sorted(nodes, key=depth.__getitem__)


def incidence(hierarchy, nodes):
    return np.array([[float(v in hierarchy.ancestors(w)) for v in nodes] for w in nodes])


def whole(hierarchy, risk):
    """The problem over all nodes at once."""
    nodes = listed(hierarchy)
    shape = Shape(incidence(hierarchy, nodes), np.array([hierarchy.price(v) for v in nodes]))
    return nodes, HullProblem(hierarchy.gram(nodes), shape, risk)


def stack_of(hierarchy, X, nodes):
    """The kernels as functions, not as the solver reads them."""
    return np.stack([hierarchy.kernel(v)(X) for v in nodes])


def reference(stack, above, d, risk):
    """min ½(Σ_v d_v ‖w_{D(v)}‖)² + Σ C ℓ by cvxpy, from the norm itself (Afkanpour 2013, Eqs 2.13, 2.14)."""
    n, outputs = risk.Y.shape
    roots = [root(K) for K in stack]
    W = [cp.Variable((L.shape[1], outputs)) for L in roots]
    F = sum(L @ w for L, w in zip(roots, W, strict=True))
    if risk.fit_intercept:
        F = F + np.ones((n, 1)) @ cp.Variable((1, outputs))
    below = [[cp.vec(W[w], order="F") for w in np.flatnonzero(above[:, v])] for v in range(len(d))]
    size = sum(price * cp.norm(cp.hstack(part)) for price, part in zip(d, below, strict=True))
    task = cp.Problem(cp.Minimize(0.5 * cp.square(size) + cvxpy_loss(risk.loss, risk.Y, risk.C, F)))
    return optimal_value(task)


def solve(hierarchy, risk, tol=1e-5, max_iter=2000, options=None, **more):
    return (options or Hierarchical()).run(hierarchy, risk, Simplex(), told(tol, max_iter, **more))


def value_of(hierarchy, X, risk, found):
    """P of the function that was returned, from scratch."""
    stack, d = stack_of(hierarchy, X, found.atoms), [hierarchy.price(v) for v in found.atoms]
    f = np.einsum("m,mij,jk->ik", found.weights, stack, found.alpha) + found.intercept
    q = np.einsum("ik,mij,jk->m", found.alpha, stack, found.alpha)
    squares = found.weights**2 * np.maximum(q, 0.0)
    norm = np.sum(d * np.sqrt(squares @ incidence(hierarchy, found.atoms)))
    return 0.5 * norm**2 + np.sum(risk.C * risk.loss.value(risk.Y, f))


# -- the optimum -----------------------------------------------------------------------------------
@each_graph
@each_loss
def test_the_optimum_is_that_of_the_listed_problem(graph, loss):
    hierarchy, X, labels, targets = data(graph)
    nodes = listed(hierarchy)
    assert len(nodes) == hierarchy.size
    d = np.array([hierarchy.price(v) for v in nodes])
    risk = risk_of(loss, labels, targets, 2.0)
    best = reference(stack_of(hierarchy, X, nodes), incidence(hierarchy, nodes), d, risk)
    found = solve(hierarchy, risk)
    assert found.certified and found.converged and found.gap <= 1e-5
    assert found.dual <= best * (1 + 1e-6) and found.primal >= best * (1 - 1e-6)
    np.testing.assert_allclose(found.primal, value_of(hierarchy, X, risk, found), rtol=1e-7)


@each_graph
def test_only_hulls_have_weight(graph):
    hierarchy, _, labels, targets = data(graph, seed=1)
    for loss, C in itertools.product([Squared(), Hinge(), Logistic()], (0.01, 10.0)):
        found = solve(hierarchy, risk_of(loss, labels, targets, C), tol=1e-3)
        assert np.all(found.weights > 0.0) and len(set(found.atoms)) == len(found.atoms)
        assert all(p in found.atoms for v in found.atoms for p in hierarchy.parents(v))


def test_several_outputs_share_the_hull():
    hierarchy, X, _, targets = data("powers")
    Y = np.concatenate([targets, X[:, :1] * X[:, 2:]], axis=1)
    risk = Separable(Squared(), Y, np.full(Y.shape, 3.0), True)
    found = solve(hierarchy, risk)
    nodes = listed(hierarchy)
    d = np.array([hierarchy.price(v) for v in nodes])
    best = reference(stack_of(hierarchy, X, nodes), incidence(hierarchy, nodes), d, risk)
    np.testing.assert_allclose(found.primal, best, rtol=2e-5)
    assert found.alpha.shape == Y.shape and {((0, 1), (1, 1)), ((0, 1), (2, 1))} <= set(found.atoms)


def test_without_an_intercept_and_with_unequal_costs():
    hierarchy, X, _, targets = data("powers")
    C = np.random.RandomState(0).uniform(0.1, 3.0, targets.shape)
    risk = Separable(EpsilonInsensitive(0.2), targets + 1.0, C, False)
    found = solve(hierarchy, risk)
    nodes = listed(hierarchy)
    d = np.array([hierarchy.price(v) for v in nodes])
    best = reference(stack_of(hierarchy, X, nodes), incidence(hierarchy, nodes), d, risk)
    np.testing.assert_allclose(found.primal, best, rtol=2e-5)
    assert np.all(found.intercept == 0.0)


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Hinge()], ids=repr)
def test_optimality_conditions(loss):
    """Over all nodes: G_v is the same wherever there is weight and nowhere larger, and every κ bounds σ."""
    hierarchy, _, labels, targets = data("powers", seed=2)
    nodes, problem = whole(hierarchy, risk_of(loss, labels, targets, 0.5))
    u = np.full(len(nodes), 1.0 / len(nodes))
    point = problem.solve(u, np.zeros_like(labels), 1e-8, 400)
    proof = problem.proof
    assert problem.gap(point) <= 1e-8
    used = proof.u > 1e-2
    assert used.any() and not used.all()
    np.testing.assert_allclose(proof.G[used], proof.level, rtol=1e-4)
    q = hierarchy.quad(proof.alpha, nodes)
    for _ in range(200):  # σ(q) is a maximum over the simplex
        other = np.random.RandomState(_).dirichlet(np.full(len(nodes), 0.3)) + 1e-12
        assert problem.shape.zeta(other / other.sum()) @ q <= proof.level * (1 + 1e-9)
    np.testing.assert_allclose(problem.shape.zeta(proof.u) @ q, proof.level, rtol=1e-5)


each_storage = pytest.mark.parametrize("share", [0.0, 1.0], ids=["dense", "sparse"])


@each_storage
@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
def test_the_optimum_is_the_same_however_relations_are_stored(share, loss, monkeypatch):
    hierarchy, _, labels, targets = data("powers")
    nodes, problem = whole(hierarchy, risk_of(loss, labels, targets))
    expected = solve(hierarchy, problem.risk, tol=1e-6)
    monkeypatch.setattr(_hull, "_SPARSE", share)
    start = np.full(len(nodes), 1.0 / len(nodes))
    point = problem.solve(start, problem.risk.zeros(), 1e-6, 500)
    assert (problem.shape.links is None) == (share == 0.0)
    assert problem.gap(point) <= 1e-6
    np.testing.assert_allclose(point.primal, expected.primal, rtol=3e-6)


def test_a_gap_that_no_longer_falls_ends_the_search(monkeypatch):
    """Where rounding may have done more than the gap asked for, more machines are of no use."""
    upper = HullProblem._upper
    monkeypatch.setattr(HullProblem, "_upper", lambda *of: 1.01 * upper(*of))
    hierarchy, _, labels, targets = data("powers")
    nodes, problem = whole(hierarchy, risk_of(Squared(), labels, targets))
    start = np.full(len(nodes), 1.0 / len(nodes))
    point = problem.solve(start, problem.risk.zeros(), 1e-4, 100_000)
    assert 1e-3 < problem.gap(point) < 2e-2 and problem.machines < 10_000


@each_storage
def test_the_derivatives_of_the_weights(share, monkeypatch):
    monkeypatch.setattr(_hull, "_SPARSE", share)
    hierarchy, _, labels, targets = data("powers")
    nodes, problem = whole(hierarchy, risk_of(Squared(), labels, targets))
    rng = np.random.RandomState(0)
    u, q, step = rng.dirichlet(np.ones(len(nodes))), rng.rand(len(nodes)), rng.randn(len(nodes))

    def total(t):
        return problem.shape.zeta(u * (1 + t * step)) @ q

    zeta = problem.shape.zeta(u)
    kappa = problem.shape.kappa(u, zeta)
    np.testing.assert_allclose(kappa.sum(axis=1), 1.0)
    slope, h = (zeta * q) @ kappa @ step, 1e-4
    np.testing.assert_allclose((total(h) - total(-h)) / (2 * h), slope, rtol=1e-5)
    second = -2.0 * step @ bending(kappa, zeta * q) @ step  # ½ΔζᵀΔ… enters J with −½
    np.testing.assert_allclose((total(h) - 2 * total(0.0) + total(-h)) / h**2, second, rtol=1e-4)


def test_the_closed_form_attains_the_norm():
    hierarchy, _, labels, targets = data("own")
    _, problem = whole(hierarchy, risk_of(Squared(), labels, targets))
    squares = np.random.RandomState(0).rand(problem.shape.d.size)
    best = squares @ (1.0 / problem.shape.zeta(problem.shape.closed_form(squares)))
    np.testing.assert_allclose(best, problem.shape.norm(squares) ** 2)
    for seed in range(100):
        u = np.random.RandomState(seed).dirichlet(np.ones(squares.size))
        assert squares @ (1.0 / problem.shape.zeta(u)) >= best


def test_alternating_never_raises_the_objective():
    hierarchy, _, labels, targets = data("powers")
    nodes, problem = whole(hierarchy, risk_of(Squared(), labels, targets))
    point = problem.at(np.full(len(nodes), 1.0 / len(nodes)), np.zeros_like(labels), 1e-9)
    values = [point.value]
    for _ in range(20):
        point = problem._alternate(point, 1e-9)
        values.append(point.value)
    assert np.all(np.diff(values) < 0.0)


# -- bounds ----------------------------------------------------------------------------------------
@each_graph
def test_sources_and_their_sums_by_enumeration(graph):
    hierarchy, _, _, _ = data(graph)
    nodes, rng = listed(hierarchy), np.random.RandomState(3)
    above = {w: set(hierarchy.ancestors(w)) for w in nodes}
    A = rng.randn(hierarchy.n, 2)
    for size in (1, 3, 5):
        hull = set()
        for i in rng.permutation(len(nodes))[:size]:
            hull |= above[nodes[i]]
        outside = [t for t in nodes if t not in hull and above[t] - {t} <= hull]
        sources = hierarchy.sources(hull)
        assert set(sources) == set(outside) and len(sources) == len(outside)
        fresh = set(list(hull)[::2])
        below = [t for t in outside if fresh & set(hierarchy.parents(t))]
        found = hierarchy.sources(hull, fresh)
        assert set(found) == set(below) and len(found) == len(below)
        sums = [
            sum(
                q / sum(hierarchy.price(v) for v in above[w] if t in above[v]) ** 2
                for w, q in zip(nodes, hierarchy.quad(A, nodes), strict=True)
                if t in above[w]
            )
            for t in sources
        ]
        known = [t for t in sources if t not in hierarchy.roots or graph == "own"]
        np.testing.assert_allclose(
            hierarchy.bounds(A, known), [S for t, S in zip(sources, sums, strict=True) if t in known]
        )


@each_graph
@pytest.mark.parametrize("loss", [Squared(), Hinge(), Logistic()], ids=repr)
def test_the_certified_gap_covers_the_true_one(graph, loss):
    """However early the search stops, D is below the optimum over all nodes."""
    hierarchy, _, labels, targets = data(graph, seed=4)
    for C in (0.1, 3.0):
        risk = risk_of(loss, labels, targets, C)
        nodes, problem = whole(hierarchy, risk)
        problem.solve(np.full(len(nodes), 1.0 / len(nodes)), np.zeros_like(labels), 1e-8, 400)
        for tol, options in [(0.3, Hierarchical(steps=0)), (1e-2, Hierarchical(add=1)), (1e-4, None)]:
            found = solve(hierarchy, risk, tol=tol, options=options)
            assert found.certified
            best = problem.proof.dual
            assert found.dual <= best * (1 + 1e-7) and found.primal >= best * (1 - 1e-7)
            assert found.primal - best <= (found.primal - found.dual) * (1 + 1e-6) + 1e-9


def test_limits_are_kept_and_said():
    hierarchy, _, labels, targets = data("powers")
    risk = risk_of(Squared(), labels, targets, 30.0)
    few = solve(hierarchy, risk, options=Hierarchical(max_active=4))
    assert len(few.atoms) <= 4 and not few.certified and not few.converged
    short = solve(hierarchy, risk, max_iter=3, options=Hierarchical(steps=0))
    assert not short.certified
    unseen = bind_dag(PolynomialDAG(3, beta=1.01), np.random.RandomState(0).randn(30, 12), normalize="trace")
    risk = Separable(Squared(), np.random.RandomState(1).randn(30, 1), np.ones((30, 1)), True)
    loose = solve(unseen, risk, tol=1e-3, options=Hierarchical(max_visited=3, max_active=20))
    assert not loose.certified


def test_the_objective_falls_as_the_hull_grows():
    hierarchy, _, labels, targets = data("powers", seed=5)
    history = History()
    risk = risk_of(Squared(), labels, targets, 10.0)
    solve(hierarchy, risk, options=Hierarchical(add=1, steps=0), history=history, tol=1e-6)
    assert len(history.objective) > 3
    assert np.all(np.diff(history.objective) <= 1e-6 * history.objective[0])
    assert np.all(np.diff(history.active) > 0)


def test_a_warm_start_finds_the_same():
    hierarchy, _, labels, targets = data("powers")
    risk = risk_of(Logistic(), labels, targets, 3.0)
    cold = solve(hierarchy, risk)
    warm = solve(hierarchy, risk, start=cold.atoms)
    np.testing.assert_allclose(warm.primal, cold.primal, rtol=2e-5)
    assert warm.n_iter < cold.n_iter


def test_exponentially_many_nodes_are_not_visited():
    """4^40 kernels: the products of the target are found and everything else is proven not to matter."""
    rng = np.random.RandomState(0)
    X = rng.randn(120, 40)
    y = X[:, 3] * X[:, 5] + X[:, 7] + 0.1 * rng.randn(120)
    hierarchy = bind_dag(PolynomialDAG(3), X, normalize="trace")
    risk = Separable(Squared(), y[:, None], np.full((120, 1), 1.0), True)
    found = solve(hierarchy, risk, tol=1e-3)
    assert hierarchy.size == 4.0**40 and found.certified and found.gap <= 1e-3
    assert {((3, 1),), ((5, 1),), ((3, 1), (5, 1)), ((7, 1),)} <= set(found.atoms)


@pytest.mark.parametrize("option", [{"max_active": 0}, {"max_visited": 1.5}, {"add": True}, {"steps": -1}])
def test_bad_options(option):
    hierarchy, _, labels, targets = data("own")
    name = next(iter(option))
    with pytest.raises(ValueError, match=rf"{name}=.*was given to Hierarchical; expected a whole number"):
        solve(hierarchy, risk_of(Squared(), labels, targets), options=Hierarchical(**option))


def test_the_largest_sum_over_nodes_outside():
    """A bound on σ, nearly its value, for any q; at most what is allowed where that is possible."""
    hierarchy, _, labels, targets = data("powers")
    nodes, problem = whole(hierarchy, risk_of(Squared(), labels, targets))
    above, d = sparse.csr_array(problem.shape.above), problem.shape.d
    for seed in range(5):
        q = np.random.RandomState(seed).exponential(size=len(nodes)) ** 2
        bound, parts = largest(above, d, q, 0.0)
        assert parts.sum() <= bound * (1 + 1e-9)
        draws = np.random.RandomState(seed).dirichlet(np.full(len(nodes), 0.2), 300) + 1e-9
        best = max(problem.shape.zeta(u / u.sum()) @ q for u in draws)
        assert best <= bound
        tight, _ = largest(above, d, q, 1.02 * parts.sum())
        assert tight <= 1.1 * parts.sum()
