"""One training part of a cross-validation: the decisions of a whole path on the samples that were held out.

Everything that is learned (widths, scales, centring, weights, machines) comes from the training part. What
does not depend on C and norm is done once: validation, kernels, their matrices among the training samples and
against the others. Each problem starts from the solution of the one before, from small C to large.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._fast.threads import blas_for, threads
from ..families import Family
from ..grams import SelectedGram
from ..kernels import Mixture, evaluate
from ..losses import Loss
from ..objectives import Risk
from ..penalties import Simplex
from ..solvers import Corrective, History, Result, Run
from ._base import BaseMKL, Posed
from ._data import read_new, take
from ._family_fit import Bound, bind_family
from ._fit import Dictionary, Problem, solve
from ._params import check_parameters

Array = NDArray[np.float64]
Only = tuple[str, ...] | None
Parts = Callable[[list[str]], list[tuple[Any, Only]]]
_RISE = 1.5  # times α, at most, where C rises: those at their bound go up with it, the others hardly move
_WORSE = 1.02  # times the error before
_STORED = 50_000_000  # numbers of kernels against new samples that are kept at a time


@dataclass(frozen=True)
class Step:
    """One point of a path: norm, kernels and C, the decisions on new samples, and what was learned."""

    norm: Any
    only: Only  # the kernels that there were to choose from, by name; None for all
    C: float
    decision: Array  # (n_new, outputs)
    weights: Array | None  # (kernels,) or (classes, kernels); None where kernels differ along the path
    n_active: int
    gap: float


def path_steps(
    template: BaseMKL,
    X: Any,
    y: Any,
    sample_weight: Any,
    new: Any,
    norms: Sequence[Any],
    Cs: Sequence[float],
    parts: Parts | None = None,
    error: Callable[[Array], float] | None = None,
) -> list[Step]:
    """Fit on (X, y) for all norms and, in ascending order, all C; decide on the samples `new`.

    `parts` names, given the names of all kernels, more sets of kernels to learn from, each with its norm. A
    path ends where the `error` of its decisions grows: the last step then stands for larger C.
    """
    model = clone(template).set_params(C=1.0, norm=norms[0])
    check_parameters(model)
    loss = model._loss()
    with warnings.catch_warnings(), threads(model.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # steps keep their gap
        posed = model._pose(X, y, sample_weight)
        new = read_new(model, new, posed.kind)
        if isinstance(model.kernels, Family) and not model.kernels.listed:
            return list(_over_family(model, posed, loss, new, norms, Cs))
        return list(_over_list(model, posed, loss, new, norms, Cs, parts, error))


def _over_list(
    model: BaseMKL,
    posed: Posed,
    loss: Loss,
    new: Any,
    norms: Sequence[Any],
    Cs: Sequence[float],
    parts: Parts | None,
    error: Callable[[Array], float] | None,
) -> Iterator[Step]:
    problem = model._problem(posed, loss)
    names = problem.dictionary.names
    decide = _Decisions(problem.dictionary, posed, new)
    sets: list[tuple[Any, Only]] = [(norm, None) for norm in norms]
    with blas_for(problem.dictionary.gram.n):
        for norm, only in sets + (parts(names) if parts else []):
            chosen = np.arange(len(names)) if only is None else np.array([names.index(n) for n in only])
            model.set_params(norm=norm)
            now = np.inf
            path = alone_path if only is not None and chosen.size == 1 else warm_path
            for C, results in path(model, select(problem, chosen), Cs):
                theta = np.zeros((len(results), len(names)))
                theta[:, chosen] = [result.weights for result in results]
                f = [decide(t, one.alpha) + one.intercept for t, one in zip(theta, results, strict=True)]
                weights = theta if len(results) > 1 else theta[0]
                gap = _gap([(result.primal, result.dual) for result in results])
                step = Step(norm, only, C, np.hstack(f), weights, int(theta.any(axis=0).sum()), gap)
                yield step
                before, now = now, error(step.decision) if error else 0.0
                if now > _WORSE * before:
                    yield from (replace(step, C=more, gap=np.nan) for more in sorted(Cs) if more > C)
                    break


def select(problem: Problem, chosen: NDArray[np.intp]) -> Problem:
    """The problem over some of its kernels."""
    whole = problem.dictionary
    if chosen.size == len(whole.names):
        return problem
    gram = SelectedGram(whole.gram, chosen)
    kernels, names = [whole.kernels[m] for m in chosen], [whole.names[m] for m in chosen]
    return replace(
        problem, dictionary=Dictionary(names, gram, kernels, whole.X), useless=problem.useless[chosen]
    )


def warm_path(model: BaseMKL, problem: Problem, Cs: Sequence[float]) -> Iterator[tuple[float, list[Result]]]:
    """The solutions for rising C, each from the one before; `problem` has the costs of C = 1."""
    groups = model._groups(problem.Y)
    last: list[Result] = []
    before = 1.0
    for C in sorted(Cs):
        model.set_params(C=C)
        results = []
        for g, group in enumerate(groups):
            part = replace(problem, Y=problem.Y[:, group], C=C * problem.C[:, group])
            start = (last[g].weights.copy(), last[g].alpha * min(C / before, _RISE)) if last else None
            results.append(solve(model, part, start))
        last, before = results, C
        yield C, results


def alone_path(model: BaseMKL, problem: Problem, Cs: Sequence[float]) -> Iterator[tuple[float, list[Result]]]:
    """The same for one kernel, of weight 1: there is only a machine to fit."""
    gram = problem.dictionary.gram
    K = gram.combine(np.ones(1))
    translates = problem.loss.translates and model.fit_intercept
    shift = np.median(problem.Y, axis=0) if translates else np.zeros(problem.Y.shape[1])
    alpha, before = np.zeros_like(problem.Y), 1.0
    for C in sorted(Cs):
        risk = Risk(problem.loss, problem.Y - shift, C * problem.C, bool(model.fit_intercept), shift)
        accuracy = 0.1 * float(model.tol) * risk.constant_value()
        fit = risk.solve(K, risk.feasible(alpha * min(C / before, _RISE)), accuracy)
        value = risk.machine_value(fit)
        if fit.gap > model.tol * value:
            fit = risk.solve(K, fit.alpha, 0.5 * float(model.tol) * value)
            value = risk.machine_value(fit)
        alpha, before = fit.alpha, C
        theta, q = np.where(problem.useless, 0.0, 1.0), gram.quad(alpha).sum(axis=1)
        primal = risk.primal(Simplex(), np.ones(1), q, fit.f, alpha, gram.largest())
        dual = risk.dual(alpha, q, Simplex(), gram.largest())
        yield (
            C,
            [
                Result(
                    atoms=[0],
                    weights=theta,
                    alpha=alpha,
                    intercept=fit.intercept + shift,
                    primal=primal,
                    dual=dual,
                    certified=True,
                    converged=True,
                    n_iter=1,
                    history=History(),
                )
            ],
        )


def _gap(values: list[tuple[float, float]]) -> float:
    """The relative gap of several problems together, from their primal and dual values."""
    primal, dual = sum(v[0] for v in values), sum(v[1] for v in values)
    return float(max(primal - dual, 0.0) / abs(primal)) if primal else 0.0


class _Decisions:
    """Σ_m θ_m K_m(new, training) α, with the matrices kept where there is room."""

    def __init__(self, dictionary: Dictionary, posed: Posed, new: Any) -> None:
        kernels = self.kernels = dictionary.kernels
        self.posed, self.new = posed, new
        self.support = None if posed.kind == "stack" else take(posed.X, posed.rows.first)
        size = (len(kernels) + 2) * _num_samples(new) * posed.rows.owner.size  # two are for their sum
        self.stack: Array | None = None
        if size <= min(_STORED, dictionary.gram.room // 8):
            shape = (len(kernels), _num_samples(new), self._width())
            self.stack = np.empty(shape)
            for _ in evaluate(kernels, new, self.support, out=self.stack):
                pass

    def _width(self) -> int:
        return int(self.new.shape[1]) if self.support is None else self.posed.rows.first.size

    def __call__(self, theta: Array, alpha: Array) -> Array:
        if self.support is None:
            alpha = self.posed.rows.spread(alpha)
        active = np.flatnonzero(theta)
        if not active.size:
            return np.zeros((_num_samples(self.new), alpha.shape[1]))
        if self.stack is not None:
            K = theta[active[0]] * self.stack[active[0]]
            for m in active[1:]:
                K += theta[m] * self.stack[m]
        else:
            K = Mixture([self.kernels[m] for m in active], theta[active])(self.new, self.support)
        return np.asarray(K @ alpha)


def _over_family(
    model: BaseMKL, posed: Posed, loss: Loss, new: Any, norms: Sequence[Any], Cs: Sequence[float]
) -> Iterator[Step]:
    """Families that are too large to list; kernels differ from one C to the next."""
    groups, Cs = model._groups(posed.Y), sorted(Cs)
    for norm in norms:
        model.set_params(norm=norm, C=Cs[-1])
        bound = bind_family(model, posed.X, posed.rows, posed.names_in, loss, groups)
        decide = _FamilyDecisions(bound, new)
        columns: list[list[Array]] = [[] for _ in Cs]
        active = [0] * len(Cs)
        values: list[list[tuple[float, float]]] = [[] for _ in Cs]
        for group in groups:
            Y, C = posed.Y[:, group], posed.C[:, group]
            shift = np.median(Y, axis=0) if loss.translates and model.fit_intercept else 0.0
            for i, result in enumerate(_family_results(model, bound, loss, Y - shift, C, Cs)):
                columns[i].append(decide(result) + result.intercept + shift)
                active[i] += len(result.atoms)
                values[i].append((result.primal, result.dual))
        for i, cost in enumerate(Cs):
            yield Step(norm, None, cost, np.hstack(columns[i]), None, active[i], _gap(values[i]))


class _FamilyDecisions:
    """Σ_z θ_z K_z(new, training) α; what is known of a kernel is kept, since most occur all along a path."""

    def __init__(self, bound: Bound, new: Any) -> None:
        self.bound = bound
        self.new = new if bound.prepared is None else bound.prepared.transform(new, "scores")
        self.maps: dict[Any, tuple[Array, Array]] = {}

    def __call__(self, result: Result) -> Array:
        f = np.zeros((_num_samples(self.new), result.alpha.shape[1]))
        if not self.bound.oracle.rank_one:
            kernels = [self.bound.oracle.kernel(z) for z in result.atoms]
            return (
                f + Mixture(kernels, result.weights)(self.new, self.bound.X) @ result.alpha if kernels else f
            )
        for z, weight in zip(result.atoms, result.weights, strict=True):
            if z not in self.maps:
                kernel = self.bound.oracle.kernel(z)
                here, there = kernel.kernel.feature_maps(self.new, self.bound.X)
                self.maps[z] = (kernel.scale_ * here, there)
            here, there = self.maps[z]
            f += weight * here * (there.T @ result.alpha)
        return f


def _family_results(
    model: BaseMKL, bound: Bound, loss: Loss, Y: Array, C: Array, Cs: Sequence[float]
) -> Iterator[Result]:
    """The solutions for all C, by one path where the solver has one."""
    rng = check_random_state(model.random_state)
    run = Run(tol=float(model.tol), max_iter=int(model.max_iter), rng=rng)
    intercept = bool(model.fit_intercept)
    if isinstance(bound.solver, Corrective):
        risk = Risk(loss, Y, Cs[-1] * C, intercept)
        scales = [cost / Cs[-1] for cost in Cs]
        yield from bound.solver.run_path(bound.oracle, risk, bound.penalty, scales, run)
        return
    for cost in Cs:
        risk = Risk(loss, Y, cost * C, intercept)
        yield bound.solver.run(bound.oracle, risk, bound.penalty, replace(run, history=History()))
