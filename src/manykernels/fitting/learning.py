"""One-stage learning: the weights of the kernels and the machine that uses them, in one problem."""

from __future__ import annotations

from .bound import solve
from .dictionary import bind
from .model import Model
from .options import Options
from .progress import progress
from .samples import AnySamples

_BARS = 20  # problems that show a bar each


def learn(options: Options, samples: AnySamples, previous: Model | None = None) -> Model:
    """One problem for all outputs, or one for each where they learn weights of their own.

    `previous` is a model to start from, as far as it is of the same shape.
    """
    bound = bind(options, samples)
    groups = options.groups(bound.Y.shape[1])
    each, total = options, 0
    if len(groups) > _BARS:  # one bar for all of them
        each, total = options.replace(verbose=max(int(options.verbose) - 1, 0)), len(groups)
    results = []
    with progress(options.title, int(options.verbose) if total else 0, total=total) as shown:
        for g, group in enumerate(groups):
            start = None if previous is None else bound.resume(previous, g, group, len(groups))
            results.append(solve(each, bound, group, start))
            if total:
                shown.step(f"output {g}")
    return bound.model(options, results)
