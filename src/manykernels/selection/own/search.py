"""The search for weights and C of every target: candidates, errors and choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._fast.stopping import goes_on
from ..._fast.threads import threads
from ..._pieces import Thrift, current, fingerprint, kept, part
from ...fitting.options import Options
from ...fitting.progress import Progress, progress
from ...fitting.samples import Given
from ...grams import parse_memory
from ...grams.memory import counted, require_memory
from ..splits import Folds
from .candidates import first_candidates, next_candidates, within_reach
from .criteria import Criterion, LeaveOneOut, batches, coefficients, inverse_diagonal, precision
from .descent import descend
from .folded import folded
from .ridge import Ridge, ridge_of

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Keep = Callable[..., Any]  # `kept` in the folder of this search: a name, what to do, and its arguments
LOO_COSTS = tuple(10.0 ** (k / 4.0) for k in range(-16, 25))
FOLD_COSTS = tuple(10.0 ** (k / 2.0) for k in range(-8, 13))
_ROUND = 8  # candidates that are chosen together
_SHARE = 0.5  # of tol: two rounds that lower the errors by less, relatively, are the last
_RELATIVE = 1e-2  # of the variance: errors above it count relatively
_EXACT = 1024  # targets whose machines are found at a time
_EMPTY: tuple[tuple[float, Any], ...] = ((np.inf, np.float32), (0, np.int16))  # errors and places of C
_BEST = 3  # candidates of a target that others are near to
_THOUGHT = 2000  # targets that next candidates are chosen by
_DESCENT = 96  # factorisations for the descent of all targets together
_STEPS = 30  # of them for one target at most
_WORTH = 12  # with fewer a descent goes nowhere


@dataclass(frozen=True)
class Chosen:
    """The choice of every target."""

    theta: Array  # (outputs, M)
    C: Array  # (outputs,)
    score: Array  # (outputs,): R² on samples that were left out
    alpha: Array  # (n, outputs): coefficients of the merged samples
    intercept: Array  # (outputs,)
    tried: int  # candidates
    place: Index  # (outputs,): of C among the values tried
    constant: Index  # targets that do not vary


def choose_each(options: Options, given: Given, folds: Folds | None, Cs: Array) -> tuple[Ridge, Chosen]:
    """Weights and C of every target, by leave-one-out or by folds, and the machines with these."""
    with threads(options.n_jobs):
        samples = given.samples(in_order=True)
        _require_room(options, samples.n, samples.Y.shape[1], 1 if folds is None else len(folds))
        ridge = ridge_of(options, samples)
        criterion: Criterion
        if folds is None:
            criterion = LeaveOneOut(ridge, samples.Y, Cs)
        else:
            criterion = folded(options, given, folds, Cs)
        with progress(options.title, int(options.verbose)) as bar, part("own", fingerprint(folds)):
            keep = partial(kept, current(), thrift=Thrift())
            found = _explore(options, criterion, ridge, bar, keep)
            chosen = _settle(criterion, ridge, *found, Cs, bar, keep)
            return ridge, chosen if folds is not None else _descended(options, ridge, chosen, Cs, keep)


def _require_room(options: Options, n: int, outputs: int, folds: int) -> None:
    """Raise a MemoryError if targets and coefficients of all outputs are more than memory_limit allows."""
    need = n * outputs * (8 + precision(n * outputs)().itemsize * (1 if folds == 1 else folds))
    require_memory(
        counted(need),
        parse_memory(options.memory_limit),
        f"{outputs} outputs of {n} samples need",
        "their targets as the search reads them, and their coefficients",
        "Fit some outputs at a time, such as y[:, :10000], take cv='loo' in place of folds, or raise "
        "memory_limit.",
    )


def _descended(options: Options, ridge: Ridge, chosen: Chosen, Cs: Array, keep: Keep) -> Chosen:
    """Few targets go on by themselves, downhill from the best candidate; many share what was tried."""
    Y = ridge.samples.Y
    each = min(_DESCENT // Y.shape[1], _STEPS)
    if each < _WORTH or Cs.size < 2 or np.count_nonzero(~ridge.useless) < 2:
        return chosen
    theta, C, score = chosen.theta.copy(), chosen.C.copy(), chosen.score.copy()
    alpha, place = chosen.alpha.copy(), chosen.place.copy()
    for k in np.setdiff1d(np.arange(len(C)), chosen.constant):
        if not goes_on(chosen.tried, int(options.max_iter)):
            break
        given = ridge, Y[:, [k]], theta[k], float(C[k]), Cs[-1], each
        weights, cost = keep(("descent", int(k)), descend, *given)
        if cost < Cs[0]:  # below all values that were asked for
            continue
        theta[k], C[k] = weights, cost
        place[k] = np.abs(np.log(Cs / C[k])).argmin()
        alpha[:, [k]], score[k] = _machine(ridge, Y[:, [k]], theta[k], C[k])
    intercept = _intercept(ridge, theta, alpha)
    return Chosen(theta, C, score, alpha, intercept, chosen.tried, place, chosen.constant)


def _machine(ridge: Ridge, y: Array, theta: Array, C: float) -> tuple[Array, float]:
    """Coefficients (n, 1) of a target, and its R² on samples left out one at a time."""
    spectrum, white, lam = ridge.spectrum(theta), ridge.whitened(y), np.array([1.0 / C])
    alpha = coefficients(ridge, spectrum, white, lam)
    missed = alpha / inverse_diagonal(ridge, spectrum, lam)
    return ridge.root[:, None] * alpha, 1.0 - float(np.sum(missed**2) / np.sum(white**2))


def _intercept(ridge: Ridge, theta: Array, alpha: Array) -> Array:
    if not ridge.fit_intercept:
        return np.zeros(len(theta))
    means = ridge.means(ridge.samples.Y)
    return np.asarray(means - np.einsum("tm,mt->t", theta, ridge.mean_rows() @ alpha))


def _explore(
    options: Options, criterion: Criterion, ridge: Ridge, bar: Progress, keep: Keep
) -> tuple[Array, Any, NDArray[np.int16]]:
    """Candidates (c, M), and every target's error and place of C at each of them (c, outputs).

    Errors are ∞ at candidates that were out of a target's reach: of many targets, all try the first ones, and
    `_THOUGHT` of them all that come later.
    """
    useful = np.flatnonzero(~ridge.useless)
    rng, most = options.rng, int(options.max_iter)
    waiting = first_candidates(max(useful.size, 1), rng)
    shown = np.zeros(criterion.outputs, dtype=bool)  # targets that next candidates are chosen by
    shown[rng.permutation(criterion.outputs)[:_THOUGHT]] = True
    first, best = np.empty((0, useful.size)), None
    tried: list[Array] = []
    errors: list[Any] = []
    places: list[Any] = []
    means = [np.inf, np.inf]
    while True:
        bar.expect(len(tried) + len(waiting) + 2 * _ROUND)
        for theta in waiting:
            if tried and not goes_on(len(tried), most):
                break
            some = None if best is None else np.flatnonzero(shown | within_reach(theta, first, best))
            found = keep(("screen", len(tried)), criterion.screen, _spread(theta, useful, ridge), some)
            criterion.remember(found[0], found[1], some)
            error, place = (np.full(criterion.outputs, fill, kind) for fill, kind in _EMPTY)
            which = slice(None) if some is None else some
            error[which], place[which] = found
            tried.append(theta)
            errors.append(error)
            places.append(place)
            bar.step(f"{len(tried)} weights tried")
        means.append(float(_seen(np.minimum.reduce(errors)).mean()))
        pays = means[-3] - means[-1] > _SHARE * options.tol
        if useful.size < 2 or not pays or not goes_on(len(tried), most):
            break
        first = np.array(tried)
        waiting = next_candidates(first, np.array([_seen(error[shown]) for error in errors]), _ROUND, rng)
        if not shown.all():
            best = np.argpartition(np.array(errors), _BEST - 1, axis=0)[:_BEST]
    whole = np.array([_spread(theta, useful, ridge) for theta in tried])
    return whole, np.array(errors), np.array(places)


def _seen(error: Any) -> Array:
    """Errors as a search counts them: relatively, down to 1 % of the variance."""
    return np.log(np.asarray(error, dtype=np.float64) + _RELATIVE)


def _spread(theta: Array, useful: Index, ridge: Ridge) -> Array:
    """Weights of the useful kernels as weights of all."""
    whole = np.zeros(len(ridge.names))
    whole[useful] = theta[: useful.size]
    return whole


def _settle(
    criterion: Criterion,
    ridge: Ridge,
    tried: Array,
    errors: Any,
    places: NDArray[np.int16],
    Cs: Array,
    bar: Progress,
    keep: Keep,
) -> Chosen:
    """The best candidate of every target, and its machine on all samples in double precision."""
    Y, outputs = ridge.samples.Y, criterion.outputs

    def machines(c: int, which: Index, at: Index) -> tuple[Array, Array]:
        """Coefficients and errors of some targets with the weights of a candidate."""
        spectrum, lam = ridge.spectrum(tried[c]), 1.0 / Cs[at]
        coef = coefficients(ridge, spectrum, ridge.whitened(Y[:, which]), lam)
        return coef, criterion.exact(spectrum, which, lam, coef, errors[c, which])

    order = np.argsort(errors, axis=0)[: criterion.finalists]
    alpha = np.zeros((ridge.n, outputs))
    score, who = np.full(outputs, -np.inf), np.zeros(outputs, dtype=np.intp)
    place = np.zeros(outputs, dtype=np.intp)
    bar.expect(len(tried) + np.unique(order).size)
    for c in np.unique(order)[::-1]:  # the eigenvectors of the last ones are still there
        bar.step("machines on all samples")
        some = np.flatnonzero((order == c).any(axis=0))
        for batch in batches(some.size, _EXACT):
            which = some[batch]
            at = places[c, which].astype(np.intp)
            coef, error = keep(("machines", int(c), batch.start), machines, c, which, at)
            better = 1.0 - error > score[which]
            won = which[better]
            score[won], who[won], place[won] = 1.0 - error[better], c, at[better]
            alpha[:, won] = ridge.root[:, None] * coef[:, better]
    theta = tried[who]
    constant = np.flatnonzero(Y.max(axis=0) == Y.min(axis=0))
    theta[constant], alpha[:, constant], score[constant], place[constant] = 0.0, 0.0, 0.0, 0
    intercept = _intercept(ridge, theta, alpha)
    return Chosen(theta, Cs[place], score, alpha, intercept, len(tried), place, constant)
