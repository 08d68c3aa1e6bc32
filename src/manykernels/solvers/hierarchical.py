"""Hierarchical multiple kernel learning over graphs of any size (Bach 2008; Afkanpour 2013, §2.3.1, Eqs
2.13–2.15).

    P = ½ Ω(w)² + Σ C ℓ(y, f),    Ω(w) = Σ_v d_v ‖w_{D(v)}‖,
    D = −Σ C ℓ* − ½ σ(q),         σ(q) = max_η Σ_w ζ_w(η) q_w over η ≥ 0, Σ_v d_v² η_v ≤ 1.

At a solution the kernels with weight form a hull, and only hulls are ever worked on. For a hull W and any κ
with Σ_{v∈A(w)} κ_vw = 1, σ(q) ≤ max_v d_v⁻² Σ_{w∈D(v)} κ_vw² q_w. Inside W, κ is that of the weights found
(`_hull.py`). A node outside W that was looked at keeps all for itself, which gives q_w/d_w²; where that is
too much, it shares with its ancestors outside W, as is best. All the others share among their ancestors
that were not looked at, in proportion to d: that bounds them by S_t, the largest over the sources t of what
was not looked at (`oracles/dags.py`). So for every α, exactly, σ(q) is at most the largest of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from .._fast.threads import blas_for
from ..grams.memory import GRAPH
from ..objectives import Risk
from ..oracles.dags import Hierarchy, Node
from ..penalties import Penalty
from ._hull import HullPoint, HullProblem, Proof, Shape, largest
from ._stopping import goes_on
from .base import Array, Kernels, Result, Run, Solver, relative, require_served, whole_number
from .declarations import Serves

_LOOSE = 0.05  # the gap along the path
_ROOM = 0.9  # of the gap asked for: the rest is for leaving out nodes that hardly matter
_INSIDE = 0.3  # of the gap asked for, to which the problem on a hull is solved
_SCANNED = 200  # products that are judged together
_TINY = 1e-3  # of the largest part of σ, below which a node need not join
_SAMPLE = 16  # sources
_FAR = 30.0  # times what is allowed: where most sources are so far off, too many would have to be looked at
_JOIN = 0.02  # of the weight, for nodes that join


class Hierarchical(Solver):
    """Grow a hull of a graph of kernels until no node of the whole graph is missing.

    Parameters
    ----------
    max_active : int, default=400
        Largest number of kernels to work on.
    max_visited : int, default=4000
        Largest number of kernels to look at for a proof that those not looked at do not matter.
    add : int, default=10
        Largest number of kernels that join at a time, not counting their ancestors; more for hulls of more
        than twice that.
    steps : int, default=1
        Number of steps of the path for each decade of C; 0 starts at C.

    References
    ----------
    Bach (2008), "Exploring large feature spaces with hierarchical multiple kernel learning", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import HierarchicalMKLRegressor
    >>> from manykernels.families import PolynomialDAG
    >>> from manykernels.solvers import Hierarchical
    >>> X = np.random.RandomState(0).randn(40, 3)
    >>> model = HierarchicalMKLRegressor(PolynomialDAG(2), solver=Hierarchical(add=5)).fit(X, X[:, 0])
    >>> model.certified_
    True
    """

    serves = Serves(kernels=frozenset({"graph"}), problem="hull")
    matrices: ClassVar[int] = GRAPH

    def __init__(self, max_active: int = 400, max_visited: int = 4000, add: int = 10, steps: int = 1) -> None:
        self.max_active = max_active
        self.max_visited = max_visited
        self.add = add
        self.steps = steps

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        """The same over a graph, from the hull `run.start` where one is given; the graph is the penalty."""
        require_served(self, kernels, risk, penalty)
        assert isinstance(kernels, Hierarchy)
        for option, least in (("max_active", 1), ("max_visited", 1), ("add", 1), ("steps", 0)):
            whole_number(self, option, least)
        search = _HullSearch(self, kernels, risk, run)
        with blas_for(kernels.n):
            for scale in [] if run.start else self._path(risk):
                if goes_on(0, 1):
                    search.grow(scale, max(run.tol, _LOOSE))
            return search.result(*search.grow(1.0, _ROOM * run.tol), run.tol)

    def _path(self, risk: Risk) -> list[float]:
        """Factors of C on the way to it, from about 1/n, where hardly anything is fitted."""
        first = 1.0 / (risk.shape[0] * risk.cost)
        if self.steps == 0 or first >= 1.0:
            return []
        count = int(np.ceil(-self.steps * np.log10(first)))
        return [float(first ** (1.0 - step / count)) for step in range(count)]


@dataclass(frozen=True)
class _Look:
    """A look at the graph at one α: nodes that must join, and a bound on σ(q) with what it covers."""

    missing: list[Node]
    visited: float  # bounds σ over the nodes that were looked at
    everywhere: float  # over all nodes; inf where that was not asked


class _HullSearch:
    """One run: the hull, its weights and the machine at the last factor of C."""

    def __init__(self, options: Hierarchical, hierarchy: Hierarchy, risk: Risk, run: Run) -> None:
        self.options, self.hierarchy, self.whole_risk = options, hierarchy, risk
        self.max_iter, self.history, self.n_iter = run.max_iter, run.history, 0
        self.nodes: list[Node] = []
        self.u = np.zeros(0)
        self.alpha = risk.constant_alpha()
        self._join(list(run.start or hierarchy.roots))
        self.risk, self.primal = risk, np.inf
        self.dual = -np.inf  # a bound on the optimum over all nodes
        self.seen = -np.inf  # over those that the last look saw

    # -- growing --------------------------------------------------------------------------------
    def grow(self, scale: float, goal: float) -> tuple[HullPoint, Proof]:
        """Add nodes at costs scale · C until the gap is at most `goal`; on the way to C nothing is proven."""
        self.risk = self.whole_risk
        if scale != 1.0:
            base = self.whole_risk
            self.risk = base.scaled(scale)
        self.alpha = self.risk.feasible(self.alpha)
        self.dual = self.seen = -np.inf
        while True:
            restricted = self._restricted(self.nodes)
            limit = max(self.max_iter - self.n_iter - (2 if scale < 1.0 else 0), 1)
            point = restricted.solve(self.u, self.alpha, _INSIDE * goal, limit)
            self.n_iter += restricted.machines
            proof = restricted.proof
            self.u, self.alpha, self.primal = proof.u, point.fit.alpha, point.primal
            look = self._look(proof, self._allowed(restricted, point.primal, goal), prove=scale == 1.0)
            self.seen = restricted.bound(proof.alpha, look.visited)
            self.dual = max(self.dual, restricted.bound(proof.alpha, look.everywhere))
            gap = relative(self.primal, self.dual)
            if scale == 1.0:
                self.history.add(self.primal, gap, len(self.nodes))
            done = gap <= goal or not look.missing or not goes_on(self.n_iter, self.max_iter - (scale < 1.0))
            if done or len(self.nodes) >= self.options.max_active:
                return point, proof
            self._join(look.missing)

    def _allowed(self, restricted: HullProblem, primal: float, goal: float) -> float:
        """The largest bound on σ that still proves the gap asked for; at least the hull's own."""
        proof = restricted.proof
        low, high = proof.level, 4.0 * proof.level
        if relative(primal, proof.dual) > goal:
            return low
        for _ in range(20):
            middle = 0.5 * (low + high)
            fits = relative(primal, restricted.bound(proof.alpha, middle)) <= goal
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _look(self, proof: Proof, allowed: float, prove: bool) -> _Look:
        """Nodes that must join; without any, look further until all others are bounded.

        The first to be looked at are the sources of the hull's complement (the necessary condition), and the
        nodes that the graph can look at all at once: a product may matter though nothing above it does. Then
        every source t with S_t above what is allowed is looked at itself, and those below it bounded anew.
        """
        hierarchy, alpha, limit = self.hierarchy, proof.alpha, self.options.max_visited
        inside = set(self.nodes)
        large = self._large(alpha, hierarchy.sources(inside), allowed)
        alone = dict.fromkeys(hierarchy.scan(alpha, inside, allowed, _SCANNED))
        missing, top, apart = self._judge(alpha, large | alone, allowed)
        top = max(top, proof.level)
        if missing or not prove:
            return _Look(missing, max(top, allowed), np.inf)
        visited, rest = {*self.nodes, *apart}, 0.0
        sources = hierarchy.sources(visited)
        if self._hopeless(alpha, sources, len(visited), allowed):
            return _Look([], max(top, allowed), np.inf)
        while sources:
            S = hierarchy.bounds(alpha, sources)
            fresh = [sources[i] for i in np.flatnonzero(S > allowed)]
            if len(visited) + len(fresh) > limit:
                return _Look([], max(top, allowed), max(top, allowed, float(S.max())))
            large |= self._large(alpha, fresh, allowed)
            missing, here, _ = self._judge(alpha, large, allowed)
            if missing:
                return _Look(missing, max(top, here, allowed), np.inf)
            small = self._ratios(alpha, [w for w in fresh if w not in large])
            rest = max(rest, float(S.max(initial=0.0, where=S <= allowed)), float(small.max(initial=0.0)))
            top = max(top, here)
            visited.update(fresh)
            sources = hierarchy.sources(visited, fresh)
        return _Look([], max(top, rest), max(top, rest))

    def _hopeless(self, alpha: Array, sources: list[Node], visited: int, allowed: float) -> bool:
        """Tell whether no proof is in reach: most of a few sources have far too much below them."""
        if visited > self.options.max_visited:
            return True
        if len(sources) <= _SAMPLE or self.hierarchy.size <= self.options.max_visited:
            return False
        some = sources[:: len(sources) // _SAMPLE]
        return float(np.median(self.hierarchy.bounds(alpha, some))) > _FAR * allowed

    def _judge(
        self, alpha: Array, large: Iterable[Node], allowed: float
    ) -> tuple[list[Node], float, list[Node]]:
        """Judge nodes Q = A(large) outside the hull: which must join, a bound on σ over them alone, and Q."""
        inside = set(self.nodes)
        Q = list(dict.fromkeys(x for w in large for x in self.hierarchy.ancestors(w) if x not in inside))
        if not Q:
            return [], 0.0, Q
        q = self.hierarchy.quad(alpha, Q)
        bound, parts = largest(self._above(Q), np.array([self.hierarchy.price(v) for v in Q]), q, allowed)
        if bound <= allowed:
            return [], bound, Q
        order = np.argsort(-parts, kind="stable")[: max(self.options.add, len(self.nodes) // 4)]
        return [Q[m] for m in order if parts[m] > _TINY * parts[order[0]]], bound, Q

    def _large(self, alpha: Array, nodes: list[Node], allowed: float) -> dict[Node, None]:
        """Nodes whose q_w/d_w² is above what is allowed."""
        ratio = self._ratios(alpha, nodes)
        return {w: None for w, value in zip(nodes, ratio, strict=True) if value > allowed}

    def _ratios(self, alpha: Array, nodes: list[Node]) -> Array:
        d = np.array([self.hierarchy.price(v) for v in nodes])
        return np.asarray(self.hierarchy.quad(alpha, nodes) / d**2)

    def _join(self, nodes: list[Node]) -> None:
        """Add nodes with their ancestors, at a small weight; as many as are allowed."""
        inside = set(self.nodes)
        before = len(self.nodes)
        for v in nodes:
            more = [w for w in self.hierarchy.ancestors(v) if w not in inside]
            if self.nodes and len(self.nodes) + len(more) > self.options.max_active:
                continue
            self.nodes.extend(more)
            inside.update(more)
        added = len(self.nodes) - before
        share = _JOIN if before else 1.0
        if added:
            self.u = np.concatenate([(1.0 - share) * self.u, np.full(added, share / added)])

    def _above(self, nodes: list[Node]) -> sparse.csr_array:
        """[w, v]: whether v ∈ A(w), among these nodes only."""
        place = {v: m for m, v in enumerate(nodes)}
        rows = [[place[x] for x in self.hierarchy.ancestors(v) if x in place] for v in nodes]
        ptr = np.cumsum([0, *map(len, rows)])
        columns = np.array([m for row in rows for m in row], dtype=np.intp)
        return sparse.csr_array((np.ones(columns.size), columns, ptr), shape=(len(nodes), len(nodes)))

    def _shape(self, nodes: list[Node]) -> Shape:
        return Shape(self._above(nodes).toarray(), np.array([self.hierarchy.price(v) for v in nodes]))

    def _restricted(self, nodes: list[Node]) -> HullProblem:
        return HullProblem(self.hierarchy.gram(nodes), self._shape(nodes), self.risk)

    # -- what is told ---------------------------------------------------------------------------
    def result(self, last: HullPoint, proof: Proof, tol: float) -> Result:
        nodes, point = self._pruned(last, proof, tol)
        certified = relative(point.primal, self.dual) <= tol
        dual = self.dual if certified else self.seen
        if point is not last:  # the history ends with what is given back
            self.history.add(point.primal, relative(point.primal, dual), len(nodes))
        return Result(
            atoms=nodes,
            weights=point.zeta,
            alpha=point.fit.alpha,
            intercept=point.fit.intercept,
            primal=point.primal,
            dual=dual,
            certified=certified,
            converged=certified,
            n_iter=self.n_iter,
            history=self.history,
        )

    def _pruned(self, point: HullPoint, proof: Proof, tol: float) -> tuple[list[Node], HullPoint]:
        """Nodes with weight at the solution, and the machine on them alone.

        Near a solution u_v s_v is the same small μ for all nodes, s_v = ½(level − G_v) being the slack: nodes
        with weight have u_v ≫ √μ, the others u_v ≪ √μ (in units of the level).
        """
        bar = float(np.sqrt(proof.barrier / proof.level)) if proof.level > 0.0 else 0.0
        above, tried = self._shape(self.nodes).above > 0.0, 0
        for share in (30.0 * bar, 10.0 * bar, 3.0 * bar, bar, 0.1 * bar, 0.01 * bar):
            low = proof.u < share
            kept = np.flatnonzero(~(above & low).any(axis=1))
            if not low.any():
                break
            if not kept.size or kept.size == tried:
                continue
            tried = kept.size
            nodes = [self.nodes[m] for m in kept]
            restricted = self._restricted(nodes)
            u = proof.u[kept] / proof.u[kept].sum()
            limit = max(self.max_iter - self.n_iter, 5)
            trial = restricted.solve(u, point.fit.alpha, _INSIDE * tol, limit)
            self.n_iter += restricted.machines
            proven = relative(trial.primal, self.dual) <= tol
            close = trial.primal <= point.primal * (1.0 + 0.1 * tol)
            if proven or (close and relative(point.primal, self.dual) > tol):
                return nodes, trial
        return self.nodes, point
