"""How the kernels of a fit are held: the one place that decides, and the only "auto" of a solver.

As a list of Gram matrices (`listed.py`; behind gates in `gated.py`, under a power in `powers.py`), as a
family that is asked for its best kernels one after the other (`asked.py`; a graph in `graphs.py`), or as
explicit features (`featured.py`). The rest of the road does not tell them apart.
"""

from __future__ import annotations

from typing import Literal

from ..solvers import Hierarchical, Solver, resolve_solver
from ..solvers.nonlinear import ProjectedGradient
from .asked import bind_asked
from .bound import Bound
from .featured import bind_featured
from .gated import Gated
from .graphs import bind_graph
from .listed import bind_listed
from .options import Options
from .powers import Powers
from .samples import AnySamples, Samples

Road = Literal["listed", "asked", "featured"]


def bind(options: Options, samples: AnySamples, more: int = 0) -> Bound:
    """The kernels on the samples, checked; `more` matrices of n × n are needed beside those of the solver."""
    way = road(options)
    solver = choose_solver(options, way)
    if way == "featured":
        return bind_featured(options, samples, solver)
    assert isinstance(samples, Samples)
    if isinstance(solver, Hierarchical):
        return bind_graph(options, samples, solver)
    if way == "asked":
        return bind_asked(options, samples, solver)
    listed = bind_listed(options, samples, solver, more)
    if isinstance(solver, ProjectedGradient):
        return Powers.of(listed)
    return listed if options.gating is None else Gated.of(listed, options.gating, options.rng)


def road(options: Options) -> Road:
    """How these kernels are held."""
    if options.approx is not None:
        return "featured"
    return "listed" if options.listed else "asked"


def choose_solver(options: Options, way: Road) -> Solver:
    """The solver that was asked for. "auto" is the second-order method; over a family that cannot be listed
    it is column generation, or where many kernels have weight, stochastic descent."""
    if isinstance(options.solver, Solver):
        return options.solver
    if options.solver != "auto" or way != "asked":
        return resolve_solver(options.solver)
    return resolve_solver("corrective" if options.penalty.sparse else "stochastic")
