"""Leave-one-out along a path of the squared loss, at the weights of all samples: one factorisation a step.

With (K_θ + diag(1/C))α + b1 = y and 1ᵀα = 0, let P be the inverse of the bordered matrix, cut to the samples:
P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1), A = K_θ + diag(1/C); covariates Z take the place of 1. The error of the machine
that is fitted without sample i is α_i/P_ii. The weights θ have seen that sample, so this is optimistic, the
more so the more kernels there are: it can choose C, and says nothing about kernels, norms or strategies.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from .._fast.linalg import factor
from .._fast.threads import threads
from ..fitting.dictionary import bind
from ..fitting.listed import Listed
from ..fitting.options import Options
from ..grams.memory import LEFT_OUT
from ..machines.free import basis
from ..penalties import resolve_penalty
from .data import Data
from .folds import Row, Table, Trial
from .paths import warm_path
from .strategies import Strategy

Array = NDArray[np.float64]


def left_out(K: Array, Y: Array, cost: Array, fit_intercept: bool, Z: Array | None = None) -> Array:
    """Return (n, outputs): the error on each sample of the machine fitted without it."""
    A = K.copy()
    A.flat[:: len(A) + 1] += 1.0 / cost
    L = factor(A)
    inverse_root = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    half = inverse_root @ Y
    P = np.einsum("ij,ij->j", inverse_root, inverse_root)
    if Z is not None:
        V = basis(inverse_root @ Z)
        half -= V @ (V.T @ half)
        P = P - np.sum((V.T @ inverse_root) ** 2, axis=0)
    elif fit_intercept:
        v = inverse_root.sum(axis=1)
        size = float(v @ v)
        half -= np.outer(v, (v @ half) / size)
        P = P - (inverse_root.T @ v) ** 2 / size
    return np.asarray(-(inverse_root.T @ half) / P[:, None])


def loo_table(strategy: Strategy, data: Data) -> Table:
    """The strategy along its path on all samples, scored by leave-one-out."""
    started = time.perf_counter()
    options = _checked(strategy, data)
    assert strategy.given is not None
    table = Table(strategy)
    trial: Trial = {}
    norm = strategy.norms[0]
    with warnings.catch_warnings(), threads(options.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows keep their gap
        samples = strategy.given.samples()
        kept = np.flatnonzero(samples.rows.owner >= 0)  # nothing was learned of classes that cost nothing
        judge, places = data.judge(kept, kept, data.classes), data.kept(kept)
        bound = bind(options, samples, more=LEFT_OUT)
        assert isinstance(bound, Listed)
        for C, (result, *_) in warm_path(options, bound, strategy.Cs):
            K = bound.space.combine(result.weights)
            Z = None if samples.free is None else samples.free.basis
            error = left_out(K, samples.Y, C * samples.costs, bound.intercept, Z)
            f = (samples.Y + error)[samples.rows.owner[kept]]
            (score,) = judge.scores([f])
            decided = judge.decisions(judge.stand_in(f), places)
            trial[norm, None, float(C)] = Row(
                *score, float(result.gap), int(np.count_nonzero(result.weights)), decided
            )
    table.trials.append(trial)
    table.held.append(kept[places])
    table.seconds = time.perf_counter() - started
    return table


def only(found: list[Strategy]) -> Strategy:
    """The strategy, where there is one: leave-one-out cannot choose between them."""
    if len(found) > 1:
        names = ", ".join(repr(strategy.name) for strategy in found)
        raise ValueError(
            f"cv='loo' was given with the strategies {names}; it keeps weights and widths that were "
            "learned from all samples, so that it can choose C only. Give one strategy, such as "
            "strategy='finite', or take cv=5."
        )
    return found[0]


def _checked(strategy: Strategy, data: Data) -> Options:
    options = strategy.options
    if options is None or not options.listed or not strategy.has_path:
        raise ValueError(
            f"cv='loo' was given with strategy {strategy.name!r}; leave-one-out from one factorisation needs "
            "kernels that can be listed, and approx=None. Take cv=5."
        )
    if not options.loss.quadratic or options.own_weights or data.scorer is not None:
        raise ValueError(
            "cv='loo' needs loss='squared', multi_class='shared' and scoring=None; take cv=5 with others."
        )
    if len(strategy.norms) > 1:
        raise ValueError(
            f"cv='loo' was given with norms={list(strategy.norms)!r}; it keeps weights that were learned "
            "from all samples, so that it can choose C only. Give one norm, such as norms=[1.0], or cv=5."
        )
    return options.replace(penalty=resolve_penalty(strategy.norms[0]))
