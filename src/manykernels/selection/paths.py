"""One training part of a cross-validation: the decisions of a whole path on the samples that were held out.

Everything that is learned (widths, scales, centring, weights, machines) comes from the training part. What
does not depend on C and norm is done once: kernels, their matrices among the training samples and against
the others. Each problem starts from the solution of the one before, from small C to large.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples

from .._fast.threads import blas_for, threads
from .._pieces import current, kept
from ..fitting.asked import Asked
from ..fitting.bound import gap_of, solve, warn_stopped
from ..fitting.dictionary import bind
from ..fitting.listed import Listed
from ..fitting.model import Model
from ..fitting.options import Options
from ..fitting.passed import Passed
from ..fitting.samples import Given, Samples
from ..grams import FactorGram
from ..kernels import Kernel, Mixture, evaluate
from ..penalties import Simplex, resolve_penalty
from ..solvers import Corrective, GroupDescent, History, Result, Run
from .promise import Chosen, Promise

Array = NDArray[np.float64]
Only = tuple[str, ...] | None
Parts = Callable[[Mapping[str, Kernel]], list[tuple[Any, Only]]]
Costs = Callable[[Any, Only], Sequence[float]]
_RISE = 1.5  # times α, at most, where C rises: those at their bound go up with it, the others hardly move
_WORSE = 1.02  # times the error before
_STORED = 50_000_000  # numbers of kernels against new samples that are kept at a time


@dataclass(frozen=True)
class PathStep:
    """One point of a path: norm, kernels and C, the decisions on new samples, and what was learned."""

    norm: Any
    only: Only  # the kernels that there were to choose from, by name; None for all
    C: float
    decision: Array  # (n_new, outputs)
    weights: Array | None  # (kernels,) or (classes, kernels); None where kernels differ along the path
    n_active: int
    gap: float
    plain: bool = False  # whether it is the plainest model that there is: a linear one


def path_steps(
    options: Options,
    samples: Samples,
    new: Any,
    norms: Sequence[Any],
    Cs: Sequence[float],
    parts: Parts | None = None,
    error: Callable[[Array], float] | None = None,
    beside: Any = None,
    bounds: list[Any] | None = None,
    costs: Costs | None = None,
) -> list[PathStep]:
    """Learn for all norms and, in ascending order, all C; decide on the samples `new`, as kernels read them.

    `beside` holds their covariates, where there are any.

    `parts` names, given all kernels by name, more sets of kernels to learn from, each with its norm. `costs`
    says which values of C a norm and a set of kernels have, where these are not the same for all. A
    path ends where the `error` of its decisions grows: the last step then stands for larger C. How the
    kernels are held is added to `bounds`, for who wants to make models of the steps.
    """
    if norms:
        options = options.replace(penalty=resolve_penalty(norms[0]))
    sparse = bool(norms) and all(resolve_penalty(norm).sparse for norm in norms)
    with warnings.catch_warnings(), threads(options.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # steps keep their gap
        bound = bind(options if sparse else _for_all(options), samples)
        if isinstance(bound.solver, GroupDescent) and _some_alone(bound, parts):
            bound = bind(_for_all(options), samples)
        if bounds is not None:
            bounds.append(bound)
        Z = None if samples.free is None else samples.free.design.values(beside)
        if isinstance(bound, Asked):
            return list(_over_family(options, bound, new, norms, Cs, Z))
        assert isinstance(bound, Listed)
        return list(_over_list(options, bound, new, norms, costs or (lambda *_: Cs), parts, error, Z))


def _for_all(options: Options) -> Options:
    """Return the options with a solver that serves all norms and all parts of the list."""
    return options.replace(solver="active-set") if options.listed and options.solver == "auto" else options


def _some_alone(bound: Any, parts: Parts | None) -> bool:
    """Whether some of the kernels are learned from without the others."""
    return parts is not None and bool(parts(dict(zip(bound.names, bound.known.kernels, strict=True))))


def _over_list(
    options: Options,
    bound: Listed,
    new: Any,
    norms: Sequence[Any],
    costs: Costs,
    parts: Parts | None,
    error: Callable[[Array], float] | None,
    Z: Array | None,
) -> Iterator[PathStep]:
    names = bound.known.names
    decide = Decisions(bound, new)
    sets: list[tuple[Any, Only]] = [(norm, None) for norm in norms]
    with blas_for(bound.space.n):
        kernels = dict(zip(names, bound.known.kernels, strict=True))
        for norm, only in sets + (parts(kernels) if parts else []):
            chosen = np.arange(len(names)) if only is None else np.array([names.index(n) for n in only])
            if only is not None and bound.useless[chosen].all():
                continue  # they are zero or constant here, so that no model can be fitted to them alone
            one, Cs = options.replace(penalty=resolve_penalty(norm)), costs(norm, only)
            now = np.inf
            plain = only is not None and len(only) == 1 and kernels[only[0]].member.role == "linear"
            path = alone_path if only is not None and chosen.size == 1 else warm_path
            for C, results in path(one, bound.select(chosen), Cs):
                theta = np.zeros((len(results), len(names)))
                theta[:, chosen] = [result.weights for result in results]
                f = [decide(t, r.alpha) + offsets(r, Z) for t, r in zip(theta, results, strict=True)]
                weights = theta if len(results) > 1 else theta[0]
                active = int(theta.any(axis=0).sum())
                step = PathStep(norm, only, C, np.hstack(f), weights, active, gap_of(results), plain)
                yield step
                before, now = now, error(step.decision) if error else 0.0
                if now > _WORSE * before:
                    yield from (replace(step, C=more, gap=np.nan) for more in sorted(Cs) if more > C)
                    break


def offsets(result: Result, Z: Array | None) -> Array:
    """Return what is added to the part of the kernels: the intercept (k,), and covariates of the samples."""
    if result.covariates is None or Z is None:
        return result.intercept
    return np.asarray(result.intercept + Z @ result.covariates)


def warm_path(options: Options, bound: Listed, Cs: Sequence[float]) -> Iterator[tuple[float, list[Result]]]:
    """The solutions for rising C, each from the one before."""
    groups = options.groups(bound.Y.shape[1])
    if isinstance(bound.solver, GroupDescent) and isinstance(bound.space, FactorGram):
        yield from _group_path(options, bound, groups, sorted(Cs))
        return
    last: list[Result] = []
    before = 1.0
    for C in sorted(Cs):
        one, results = options.replace(C=C), []
        for g, group in enumerate(groups):
            start = (last[g].weights.copy(), last[g].alpha * min(C / before, _RISE)) if last else None
            results.append(solve(one, bound, group, start))
        last, before = results, C
        yield C, results


def _group_path(
    options: Options, bound: Listed, groups: list[list[int]], Cs: Sequence[float]
) -> Iterator[tuple[float, list[Result]]]:
    """Solve the path by a solver that keeps what it knows of its groups."""
    paths = []
    for group in groups:
        Y = np.ascontiguousarray(bound.Y[:, group])
        risk = bound.risk(options.replace(C=Cs[-1]), Y)
        run = Run(float(options.tol), int(options.max_iter), options.rng)
        scales = [C / Cs[-1] for C in Cs]
        paths.append((risk, bound.solver.run_path(bound.space, risk, options.penalty, scales, run)))
    for C in Cs:
        one, results = options.replace(C=C), []
        for risk, path in paths:
            result = bound.told_apart(risk, next(path))
            results.append(bound.settle(one, options.penalty, result))
        yield C, results


def alone_path(options: Options, bound: Listed, Cs: Sequence[float]) -> Iterator[tuple[float, list[Result]]]:
    """The solutions for rising C with one kernel of weight 1: only a machine is fitted."""
    gram, Y, tol = bound.space, bound.Y, float(options.tol)
    K, largest = gram.combine(np.ones(1)), gram.largest()
    alpha, before = np.zeros_like(Y), 1.0
    unit = bound.risk(options.replace(C=1.0), Y)
    for C in sorted(Cs):
        risk = unit.scaled(C)
        accuracy = 0.1 * tol * risk.constant_value()
        fit = risk.solve(K, risk.feasible(alpha * min(C / before, _RISE)), accuracy)
        value = risk.machine_value(fit)
        if fit.gap > tol * value:
            fit = risk.solve(K, fit.alpha, 0.5 * tol * value)
            value = risk.machine_value(fit)
        alpha, before = fit.alpha, C
        q = gram.quad(alpha).sum(axis=1)
        result = Result(
            atoms=[0],
            weights=np.where(bound.useless, 0.0, 1.0),
            alpha=alpha,
            intercept=fit.intercept,
            primal=risk.primal(Simplex(), np.ones(1), q, fit.f, alpha, largest),
            dual=risk.dual(alpha, q, Simplex(), largest),
            certified=True,
            converged=True,
            n_iter=1,
            history=History(),
        )
        yield C, [bound.told_apart(risk, result)]


class Decisions:
    """Σ_m θ_m K_m(new, training) α, with the matrices kept where there is room."""

    def __init__(self, bound: Listed, new: Any) -> None:
        kernels = self.kernels = bound.known.kernels
        samples: Samples = bound.samples
        self.rows, self.new = samples.rows, new
        self.support = None if samples.stack else samples.data
        size = (len(kernels) + 2) * _num_samples(new) * self.rows.owner.size  # two are for their sum
        self.stack: Array | None = None
        if size <= min(_STORED, bound.space.room // 8):
            width = int(new.shape[1]) if samples.stack else samples.n
            self.stack = np.empty((len(kernels), _num_samples(new), width))
            for _ in evaluate(kernels, new, self.support, out=self.stack):
                pass

    def __call__(self, theta: Array, alpha: Array) -> Array:
        if self.support is None:
            alpha = self.rows.spread(alpha)
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


# -- families that are too large to list ------------------------------------------------------------
def _over_family(
    options: Options, bound: Asked, new: Any, norms: Sequence[Any], Cs: Sequence[float], Z: Array | None
) -> Iterator[PathStep]:
    """Kernels differ from one C to the next."""
    groups, Cs = options.groups(bound.Y.shape[1]), sorted(Cs)
    for i, norm in enumerate(norms):
        one = options.replace(penalty=resolve_penalty(norm), C=Cs[-1])
        if i:
            again = bind(one, bound.samples)
            assert isinstance(again, Asked)
            bound = again
        decide = _FamilyDecisions(bound, new)
        columns: list[list[Array]] = [[] for _ in Cs]
        found: list[list[Result]] = [[] for _ in Cs]
        for group in groups:
            for c, result in enumerate(_family_results(one, bound, group, Cs)):
                columns[c].append(decide(result) + offsets(result, Z))
                found[c].append(result)
        for c, cost in enumerate(Cs):
            active = sum(len(result.atoms) for result in found[c])
            yield PathStep(norm, None, cost, np.hstack(columns[c]), None, active, gap_of(found[c]))


class _FamilyDecisions:
    """Σ_z θ_z K_z(new, training) α; what is known of a kernel is kept, since most occur all along a path."""

    def __init__(self, bound: Asked, new: Any) -> None:
        self.bound = bound
        self.new = new if bound.prepared is None else bound.prepared.transform(new, "scores")
        self.maps: dict[Any, tuple[Array, Array]] = {}

    def __call__(self, result: Result) -> Array:
        f = np.zeros((_num_samples(self.new), result.alpha.shape[1]))
        if isinstance(self.bound, Passed):
            return self.bound.decided(result, self.new)
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
    options: Options, bound: Asked, group: list[int], Cs: Sequence[float]
) -> Iterator[Result]:
    """The solutions for all C, by one path where the solver has one."""
    if not isinstance(bound.solver, Corrective) or bound.space is not bound.oracle:
        yield from (solve(options.replace(C=C), bound, group) for C in Cs)
        return
    risk = bound.risk(options.replace(C=Cs[-1]), np.ascontiguousarray(bound.Y[:, group]))
    run = Run(float(options.tol), int(options.max_iter), options.rng)
    scales = [cost / Cs[-1] for cost in Cs]
    for result in bound.solver.run_path(bound.space, risk, options.penalty, scales, run):
        yield bound.told_apart(risk, result)


# -- the model that was chosen ----------------------------------------------------------------------
def refit_path(
    options: Options, given: Given, Cs: Sequence[float], promise: Promise | None = None
) -> tuple[Model, dict[str, Any], Chosen]:
    """The model of these options on all samples; C, weights and gap of the path that leads to it; its C."""
    model, path, chosen = kept(current(), ("refit",), _refit_path, options, given, Cs, promise)
    proof = model.proof
    assert proof is not None
    if not proof.gap <= options.tol:
        warn_stopped(options, proof.n_iter, proof.gap)
    return model, path, chosen


def _refit_path(
    options: Options, given: Given, Cs: Sequence[float], promise: Promise | None
) -> tuple[Model, dict[str, Any], Chosen]:
    target = float(options.C)
    Cs = sorted({*Cs, target})
    weights, gaps, found = [], [], []
    with warnings.catch_warnings(), threads(options.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the path keeps its gap
        own = given.layout.of(options.kernels)  # some of them only, where these are best
        bound = bind(options, replace(given, layout=own).samples())
        assert isinstance(bound, Listed)
        for C, results in warm_path(options, bound, Cs):
            theta = np.stack([result.weights for result in results])
            weights.append(theta if len(results) > 1 else theta[0])
            gaps.append(max(result.gap for result in results))
            found.append((C, results))
        chosen = Chosen(target) if promise is None else promise.chosen(options, bound, found)
        model = bound.model(options.replace(C=chosen.C), dict(found)[chosen.C])
    return model, {"C": np.array(Cs), "weights": np.array(weights), "gap": np.array(gaps)}, chosen
