"""Leave-one-out along a path of the squared loss, at the weights of all samples: one factorisation a step.

The weights θ have seen the sample that is left out, so this is optimistic, the more so the more kernels there
are: it can choose C, and says nothing about kernels, norms or strategies.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._fast.threads import threads
from ..fitting.dictionary import bind
from ..fitting.listed import Listed
from ..fitting.options import Options
from ..grams.memory import LEFT_OUT
from ..penalties import resolve_penalty
from .data import Data
from .folds import Row, Table, Trial
from .left_out import left_out
from .paths import warm_path
from .strategies import Strategy


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
