"""One-stage learning: the weights of the kernels and the machine that uses them, in one problem."""

from __future__ import annotations

from .bound import solve
from .dictionary import bind
from .model import Model
from .options import Options
from .samples import AnySamples


def learn(options: Options, samples: AnySamples, previous: Model | None = None) -> Model:
    """One problem for all outputs, or one for each where they learn weights of their own.

    `previous` is a model to start from, as far as it is of the same shape.
    """
    bound = bind(options, samples)
    groups = options.groups(bound.Y.shape[1])
    results = []
    for g, group in enumerate(groups):
        start = None if previous is None else bound.resume(previous, g, group, len(groups))
        results.append(solve(options, bound, group, start))
    return bound.model(options, results)
