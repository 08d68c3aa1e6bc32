"""Widths of features by the evidence (`Relevance`): a step beside the factorisation and the inverse in it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from manykernels.families._evidence import _Evidence

from .harness import Facts, Report, compare
from .problems import Array

LIMIT = "LAPACK's Cholesky factor and inverse (dpotrf, dpotri)"
STEP = "evidence and its derivatives"


def run(report: Report) -> None:
    """One evaluation of the evidence and its derivatives, for several sizes."""
    rows: list[Facts] = []
    for n in report.pick([200, 455, 1000, 2000], [100]):
        rows += _step(n, 40, report.pick(31, 3))
    goal = "at most 2 times the factorisation and the inverse, in processor time"
    report.table("A step of the evidence, 40 features", rows, goal)


def _step(n: int, d: int, repeats: int) -> list[Facts]:
    rng = np.random.RandomState(0)
    X = rng.randn(n, d)
    Y = np.sign(X[:, :1] + X[:, 1:2] ** 2 - 1.0)
    evidence = _Evidence(X, Y, np.ones(n), 1.0)
    p = np.concatenate([np.zeros(d), [np.log(0.5 / d), np.log(0.3), np.log(0.1)]])
    A = np.asfortranarray(_matrix(evidence, p))
    timings = compare({LIMIT: lambda: _inverse(A), STEP: lambda: evidence(p)}, repeats)
    limit, step = (timings[name].as_dict()["cpu"] for name in (LIMIT, STEP))
    return [
        {"contender": LIMIT, "n": n, "seconds": timings[LIMIT], "factorisations": 1.0},
        {"contender": STEP, "n": n, "seconds": timings[STEP], "factorisations": step / limit},
    ]


def _matrix(evidence: _Evidence, p: Array) -> Array:
    """The matrix A at p: what a step factorises."""
    d = evidence.X.shape[1]
    scaled = evidence.X * np.exp(0.5 * (p[d] + p[:d]))
    squares = np.sum(scaled**2, axis=1)
    distances = np.maximum(squares[:, None] + squares - 2.0 * scaled @ scaled.T, 0.0)
    return np.exp(-distances) + np.exp(p[d + 1]) * evidence.inner + np.exp(p[d + 2]) * np.eye(len(scaled))


def _inverse(A: Array) -> Array:
    L, _ = lapack.dpotrf(A, lower=1)
    return np.asarray(lapack.dpotri(L, lower=1, overwrite_c=1)[0])
