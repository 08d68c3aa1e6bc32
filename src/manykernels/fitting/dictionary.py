"""The choice of how the kernels of a fit are held, and of the solver "auto".

As a list of Gram matrices (`listed.py`; behind gates in `gated.py`, under a power in `powers.py`), as a
family that is asked for its best kernels one after the other (`asked.py`; a graph in `graphs.py`), or is
listed because it is short enough (`enumerated.py`), or is learned from blocks of rows (`passed.py`), or as
explicit features (`featured.py`). The rest of the road does not tell them apart.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ..approx import OwnFeatures, RandomFeatures
from ..grams.memory import DRAWS, SOLVER, parse_memory
from ..solvers import Held, Solver, refusal, resolve_solver, why_not
from ..solvers.declarations import penalty_kind
from ..solvers.group_descent import serves_outputs
from .asked import Asked, bind_asked
from .bound import Bound
from .enumerated import Enumerated, can_be_listed
from .featured import bind_featured
from .gated import Gated, LearnedGates
from .graphs import bind_graph
from .listed import bind_listed
from .options import Options
from .passed import bind_passed
from .powers import Powers
from .samples import AnySamples, Samples

Road = Literal["listed", "asked", "passed", "featured"]
_MANY = 200  # kernels from which dense weights are learned faster by alternation than by second order
_SPREAD = 1.1  # the norm from which that is so: nearer to 1 its steps take weights to 0, and leave them there

_DENSE = 4.0 / 3.0  # the norm from which that is so of kernels of rank one


def bind(options: Options, samples: AnySamples, more: int = 0) -> Bound:
    """Bind the kernels to the samples; `more` matrices of n × n are needed beside those of the solver."""
    options = options.replace(kernels=samples.layout.seen(options.kernels))
    way = road(options, float(samples.n) if isinstance(samples, Samples) else np.inf)
    given = options.solver
    if isinstance(given, Solver) and given.serves.problem == "hull":
        assert isinstance(samples, Samples)
        return bind_graph(options, samples, given)
    if way == "passed":
        passed = bind_passed(options, samples)
        solver = _for_rows(options)
        _require_served(options, solver, [Held.of(passed.oracle)])
        return replace(passed, solver=solver)
    if way == "asked":
        assert isinstance(samples, Samples)
        return _bind_family(options, samples)
    solver = choose_solver(options, way)
    _require_served(options, solver, [Held("list", factored=solver.serves.factored)])
    if way == "featured":
        grouped = options.solver == "auto" and _in_groups(options, samples)
        return bind_featured(options, samples, resolve_solver("group-descent") if grouped else solver)
    assert isinstance(samples, Samples)
    groups = resolve_solver("group-descent")
    narrow = solver.serves.factored or (options.solver == "auto" and _in_groups(options, samples))
    listed = bind_listed(options, samples, solver, more, narrow)
    if narrow and Held.of(listed.space).factored:
        listed = replace(listed, solver=solver if solver.serves.factored else groups)
    elif (cornered := _cornered(options, listed)) is not None:
        listed = replace(listed, solver=cornered)
    elif solver.serves.factored:
        _require_served(options, solver, [Held.of(listed.space)])
    if solver.serves.problem == "power":
        return Powers.of(listed)
    if options.gating is None:
        return listed
    behind = LearnedGates if solver.serves.problem == "gates" else Gated
    return behind.of(listed, options.gating, options.rng)


def _for_rows(options: Options) -> Solver:
    """The solver of a family that is learned from blocks of rows."""
    if options.solver != "auto":
        return resolve_solver(options.solver)
    dense = penalty_kind(options.penalty) == "norm p" and options.kernels.from_rows
    return resolve_solver("dual-ascent" if dense else "corrective")


def _in_groups(options: Options, samples: AnySamples) -> bool:
    """Tell whether kernels have few explicit features, so that they are learned as a group lasso."""
    held = Held("list", factored=True)
    outputs = 1 if options.own_weights else getattr(samples.target, "outputs", 1)
    served = why_not(resolve_solver("group-descent"), held, options.loss, options.penalty) is None
    return served and options.gating is None and serves_outputs(outputs, options.loss.quadratic)


def _cornered(options: Options, listed: Bound) -> Solver | None:
    """The solver for many kernels of rank one and a piecewise linear loss, where "auto" takes another one.

    At norm 1 they are learned on their features. Where all of them have weight, the second-order model has as
    many unknowns as kernels, and alternation, whose steps are few there, costs the same for each of them.
    """
    auto = options.solver == "auto" and options.gating is None and options.loss.piecewise_linear
    if not auto or not listed.space.rank_one:
        return None
    alone = options.own_weights or listed.Y.shape[1] == 1
    if alone and penalty_kind(options.penalty) == "norm 1":
        return resolve_solver("corrective")
    dense = _DENSE <= getattr(options.penalty, "p", 0.0) < np.inf
    return resolve_solver("alternating") if dense and listed.space.n_kernels > _MANY else None


def road(options: Options, n: float) -> Road:
    """Return how these kernels are held on n samples."""
    if in_rows(options, n):
        return "passed"
    if options.approx is not None:
        return "featured"
    return "listed" if options.listed else "asked"


def in_rows(options: Options, n: float) -> bool:
    """Tell whether a family is learned from n samples in blocks of rows: it can be, and matrices do not fit.

    Somebody who gives approx="features" wants that for few samples too; a continuum is learned so with
    approx=RandomFeatures(...) only, which changes its kernels. n is infinite for samples that are not in
    memory.
    """
    if options.listed or not options.loss.separable:
        return False
    if isinstance(options.approx, RandomFeatures):
        return bool(options.kernels.in_waves)
    if not options.kernels.from_rows:
        return False
    if options.approx is not None:
        return isinstance(options.approx, OwnFeatures)
    if penalty_kind(options.penalty) not in ("norm 1", "norm p"):
        return False
    if "rows" not in _for_rows(options).serves.kernels:
        return False
    return 8.0 * SOLVER * n * n > parse_memory(options.memory_limit)


def choose_solver(options: Options, way: Road, asked: Asked | None = None) -> Solver:
    """Return the given solver, or the solver that "auto" stands for:

    | kernels | norm | solver |
    |---|---|---|
    | a list, or features | any | "active-set" |
    | a list of kernels with few explicit features, or features, and a smooth loss | 1 | "group-descent" |
    | a list of kernels of rank one (`rank_one()`), and a piecewise linear loss | 1 | "corrective" |
    | the same, more than 200 kernels | 4/3 and more | "alternating" |
    | a family that answers "best", and one that is learned from blocks of rows | 1 | "corrective" |
    | products that are learned from blocks of rows | above 1 | "dual-ascent" |
    | another one that is short enough to be listed, of up to 200 kernels | any | "active-set" |
    | a larger one that is | below 1.1, or the elastic net | "active-set" |
    | a larger one that is | others | "alternating" |
    | every other family | any | "stochastic" |
    """
    if isinstance(options.solver, Solver):
        return options.solver
    if options.solver != "auto" or way != "asked":
        return resolve_solver(options.solver)
    assert asked is not None
    penalty, corrective = options.penalty, resolve_solver("corrective")
    if why_not(corrective, Held.of(asked.oracle), options.loss, penalty) is None:
        return corrective
    if not can_be_listed(options, asked, DRAWS, wished=False):
        return resolve_solver("stochastic")
    dense = not penalty.sparse and asked.oracle.size > _MANY and getattr(penalty, "p", 2.0) >= _SPREAD
    return resolve_solver("alternating" if dense else "active-set")


def _bind_family(options: Options, samples: Samples) -> Bound:
    """Bind a family: asked if the solver asks and the family answers, else listed if it is short."""
    may_draw = options.solver == "auto" and not options.penalty.sparse
    matrices = DRAWS if may_draw else resolve_solver(options.solver).matrices
    asked = bind_asked(options, samples, matrices)
    solver = choose_solver(options, "asked", asked)
    held = Held.of(asked.oracle)
    ways = [replace(held, answers=held.answers - {"atoms"})]
    if can_be_listed(options, asked, matrices, wished=True):
        ways.append(Held("list", size=held.size))
    held = _require_served(options, solver, ways)
    return Enumerated.of(asked, solver) if held.kind == "list" else replace(asked, solver=solver)


def _require_served(options: Options, solver: Solver, ways: list[Held]) -> Held:
    """Return the first way of holding the kernels that the solver serves, or raise an error."""
    for held in ways:
        if why_not(solver, held, options.loss, options.penalty) is None:
            return held
    advice = getattr(options.kernels, "instead", "") if ways[-1].kind == "family" else ""
    raise ValueError(refusal(solver, ways, options.loss, options.penalty, advice))
