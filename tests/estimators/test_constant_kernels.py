"""Kernels that are constant are found, and no others."""

from __future__ import annotations

import numpy as np

from manykernels.fitting.checks import constant_kernels
from manykernels.grams import StackGram

N = 60  # more samples than the few that are looked at first


def test_a_kernel_that_is_orthogonal_to_a_drawn_direction_is_not_constant(monkeypatch):
    """Of thousands of kernels with rank one, some are orthogonal to a direction by chance."""
    directions, parts, quad, subset = [], [], StackGram.quad, StackGram.subset
    monkeypatch.setattr(
        StackGram, "quad", lambda self, A, m=None: (directions.append(A), quad(self, A, m))[1]
    )
    monkeypatch.setattr(StackGram, "subset", lambda self, rows: (parts.append(rows), subset(self, rows))[1])
    constant = np.ones((1, N, N))
    assert constant_kernels(StackGram(constant)).tolist() == [0]
    z = next(A[:, 0] for A in directions if len(A) == N)
    others = np.setdiff1d(np.arange(N), parts[0])[:2]
    x = np.zeros(N)
    x[others] = z[others[1]], -z[others[0]]
    assert abs(x @ z) <= 1e-12
    assert constant_kernels(StackGram(np.concatenate([constant, np.outer(x, x)[None]]))).tolist() == [0]
