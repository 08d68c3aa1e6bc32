"""Constant kernels where an intercept is no substitute for them.

In a sum with an intercept a constant kernel does nothing, and is left out with a warning. In a power of a
sum, (1 + k)² = 1 + 2k + k², and behind a gate, where it gives every cluster an offset of its own, it does.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from ._fit import Problem


@contextmanager
def constants_count(counts: bool) -> Iterator[None]:
    """No warning that constant kernels are left out, where they are not."""
    with warnings.catch_warnings():
        if counts:
            warnings.filterwarnings("ignore", "kernels? .* constant to within", UserWarning)
        yield


def with_constants(estimator: Any, problem: Problem) -> Problem:
    """The problem with its constant kernels back in; centred ones are zero, and stay out."""
    if estimator.center:
        return problem
    gram, kernels = problem.dictionary.gram, problem.dictionary.kernels
    for m in np.flatnonzero(problem.useless):
        gram.scale[m] = kernels[m].scale_
    return replace(problem, useless=problem.useless & (gram.traces() <= 0.0))
