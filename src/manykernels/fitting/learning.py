"""One-stage learning: the weights of the kernels and the machine that uses them, in one problem."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._warn import warn
from ..solvers import Result
from .bound import Bound, more_work, solve
from .covariates import require_minimiser
from .dictionary import bind
from .model import Model
from .options import Options
from .progress import progress
from .samples import AnySamples

_FEW = 20  # problems that show a bar each, and warn each
_NAMED = 5  # outputs in a warning


def learn(options: Options, samples: AnySamples, previous: Model | None = None) -> Model:
    """Solve one problem for all outputs, or one for each output with its own weights.

    `previous` is a model to start from, as far as it is of the same shape.
    """
    free = getattr(samples, "free", None)
    if free is not None and options.loss.probabilistic:
        require_minimiser(np.asarray(getattr(samples, "Y", None)), free)
    bound = bind(options, samples)
    groups = options.groups(bound.Y.shape[1])
    if len(groups) > _FEW:
        return bound.model(options, _solve_many(options, bound, groups, previous))
    starts = [_start(bound, previous, groups, g) for g in range(len(groups))]
    return bound.model(options, [solve(options, bound, *given) for given in zip(groups, starts, strict=True)])


def _start(bound: Bound, previous: Model | None, groups: list[list[int]], g: int) -> object:
    return None if previous is None else bound.resume(previous, g, groups[g], len(groups))


def _solve_many(
    options: Options, bound: Bound, groups: list[list[int]], previous: Model | None
) -> list[Result]:
    """Many problems, with one bar and one warning for all of them."""
    quiet, results = options.replace(verbose=max(int(options.verbose) - 1, 0)), []
    with progress(options.title, int(options.verbose), total=len(groups)) as shown, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for g, group in enumerate(groups):
            results.append(solve(quiet, bound, group, _start(bound, previous, groups, g)))
            shown.step(f"output {g}")
    short = [g for g, result in enumerate(results) if result.gap > options.tol]
    if short:
        named = ", ".join(map(str, short[:_NAMED])) + (", …" if len(short) > _NAMED else "")
        worst = max(results[g].gap for g in short)
        warn(
            f"{options.title} stopped above tol={options.tol:g} for {len(short)} of {len(groups)} outputs "
            f"({named}), at relative duality gaps of up to {worst:.1e}. "
            f"{more_work(options)}; scaling the features or a smaller C make the problem easier.",
            ConvergenceWarning,
        )
    return results
