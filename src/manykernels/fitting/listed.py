"""Kernels that are listed one by one, as Gram matrices on the merged samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..families import Family, resolve_kernels
from ..grams import Gram, SelectedGram, build_from_stack, build_gram
from ..grams.memory import DESCENT, SOLVER, machine_matrices
from ..kernels import Fitted, Kernel
from ..objectives import Risk
from ..penalties import Penalty
from ..solvers import Result, Solver
from .bound import Bound, proof_of, warn_stopped, weighed, weights_of
from .checks import (
    affordable,
    check_values,
    find_useless,
    require_definite,
    warn_duplicates,
    without_useless,
)
from .covariates import CovariatePart
from .functions import Function, KernelFunction
from .layout import take
from .model import Model
from .options import Options
from .restated import SHARE, for_exact
from .samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Kernels:
    """The kernels on the training data: their names, their Gram on the merged rows, and as functions."""

    names: list[str]
    kernels: list[Fitted]
    gram: Gram
    X: Any  # the merged rows; a stack as it was given

    @property
    def slacks(self) -> list[float]:
        """The rounding of each kernel, below which an eigenvalue is not negative."""
        return [kernel.rounding(self.X) for kernel in self.kernels]


@dataclass(frozen=True)
class Listed(Bound):
    """Kernels as a list."""

    space: Gram
    known: Kernels
    useless: NDArray[np.bool_]  # kernels that get no weight
    foreign: bool  # whether nothing guarantees that they are kernels

    def select(self, chosen: NDArray[np.intp]) -> Listed:
        """The problem over some of the kernels."""
        whole = self.known
        if chosen.size == len(whole.names):
            return self
        names, kernels = [whole.names[m] for m in chosen], [whole.kernels[m] for m in chosen]
        gram = SelectedGram(whole.gram, chosen)
        known = Kernels(names, kernels, gram, whole.X)
        return replace(self, space=gram, known=known, useless=self.useless[chosen])

    def resume(self, previous: Model, g: int, group: list[int], problems: int) -> tuple[Array, Array] | None:
        theta = weights_of(previous, g, problems, self.space.n_kernels)
        rows, dual = self.samples.rows, previous.dual
        if theta is None or dual is None or dual.shape != (rows.owner.size, self.Y.shape[1]):
            return None
        return theta, rows.gather(dual[:, group])

    def start(self, start: Any, penalty: Penalty, Y: Array) -> tuple[Array, Array] | None:
        """(θ, α) with weights that the penalty allows."""
        if start is None:
            return None
        theta, alpha = start
        if not np.isfinite(penalty.value(theta)):
            theta = penalty.project(theta)
        return (theta, alpha) if np.any(theta > 0) else None

    def tolerance(self, tol: float) -> float:
        return SHARE * tol if self.space.entry > 0.0 else tol

    def restated(self, risk: Risk, penalty: Penalty, tol: float, result: Result) -> Result:
        return for_exact(self.space, risk, penalty, tol, result)

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        known = self.known
        result.weights[self.useless] = 0.0
        if self.useless.any():
            result = without_useless(
                self.space, known.kernels, self.names, self.useless, penalty, result, float(options.tol)
            )
        if self.foreign:
            require_definite(self.space, self.names, known.slacks, result.weights, result.K)
        if not result.gap <= options.tol:
            warn_stopped(options, result.n_iter, result.gap, result.reason.value)
        return replace(result, K=None)  # n × n: paths that keep many results stay small

    @property
    def names(self) -> list[str]:
        """The names of what the solver weighs."""
        return self.known.names

    # -- what was learned -----------------------------------------------------------------------
    def model(self, options: Options, results: list[Result]) -> Model:
        theta = np.stack([result.weights for result in results])
        said = weighed(options, self.samples.target, self.known.kernels, theta)
        return finish(self.samples, self.describe(options, said, results), results, theta)

    def describe(self, options: Options, said: dict[str, Any], results: list[Result]) -> Model:
        """Make the model without its function; `said` has the fields about weights."""
        samples: Samples = self.samples
        return Model(
            options.title,
            samples.layout,
            self.known.names,
            self.known.kernels,
            **said,
            target=samples.target,
            proof=proof_of(results, float(options.tol)),
            n_jobs=options.n_jobs,
        )


def finish(samples: Samples, model: Model, results: list[Result], theta: Array) -> Model:
    """Return the model with its function, from weights θ (problems, M) and the machines."""
    alpha = np.concatenate([result.alpha for result in results], axis=1)
    proofs = [r.alpha if r.dual_alpha is None else r.dual_alpha for r in results]
    intercept = np.concatenate([np.atleast_1d(result.intercept) for result in results])
    covariates = covariate_part(samples, results)
    support, coefficients = support_of(samples, model.kernels, alpha)
    active = np.flatnonzero(theta.any(axis=0))
    function: Function = KernelFunction(
        model.kernels, theta, active, model.shared_kernel, support, coefficients, intercept
    )
    return replace(
        model,
        function=function,
        covariates=covariates,
        X_fit=np.arange(len(samples.X)) if samples.stack else samples.X,
        dual=samples.rows.spread(alpha),
        dual_point=samples.rows.spread(np.concatenate(proofs, axis=1)),
    )


def covariate_part(samples: Any, results: list[Result]) -> CovariatePart | None:
    """γᵀz of all problems, where there are covariates."""
    free = getattr(samples, "free", None)
    if free is None:
        return None
    found = [result.covariates for result in results if result.covariates is not None]
    return CovariatePart(free.design, np.concatenate(found, axis=1))


def support_of(samples: Samples, kernels: list[Fitted], alpha: Array) -> tuple[Any, Array]:
    """The training samples that decisions need, as that is fastest, and their coefficients.

    Samples without a coefficient are left out, except where kernels are centred: those know the products
    of all (merged) training samples with their mean already. A stack brings its samples along.
    """
    if samples.stack:
        return np.arange(len(samples.X)), samples.rows.spread(alpha)
    if kernels[0].X_fit_ is not None:
        return kernels[0].X_fit_, alpha
    used = used_rows(alpha)
    return take(samples.X, samples.rows.first[used]), alpha[used]


def used_rows(alpha: Array) -> NDArray[np.intp]:
    """The samples with a coefficient, at least one."""
    used = np.flatnonzero(alpha.any(axis=1))
    return used if used.size else np.arange(1)


# -- binding --------------------------------------------------------------------------------------
def list_kernels(
    options: Options,
    samples: Samples,
    work: int,
    pairs: int = 0,
    supervised: bool = True,
    factored: bool = False,
    beside: int = 0,
) -> Kernels:
    """Resolve `kernels` on the merged rows and evaluate them there.

    `work` is how many matrices of n × n are needed beside the kernels themselves, and `pairs` how many of
    kernels × kernels. With `factored`, kernels that all have few explicit features are held as such, and only
    `beside` matrices are needed.
    """
    given: dict[str, Any] = {
        "center": bool(options.center),
        "normalize": options.normalize,
        "memory_limit": options.memory_limit,
        "work": work,
        "spread": samples.target.task == "classification",
    }
    if samples.stack:
        return _from_stack(options, samples, given)
    if options.center and samples.n == 1:
        raise ValueError(
            "X holds 1 sample (or copies of one), and center=True leaves nothing of it; give more samples."
        )
    spec, data = options.kernels, samples.data
    target = samples.unexplained if supervised else None
    kernels = resolve_kernels(spec, data, samples.weight, samples.layout.names, target)
    given |= {"factors": isinstance(spec, Family) and spec.factors, "narrow": factored, "beside": beside}
    given["single"] = options.storage == "float32"
    gram, fitted = build_gram(kernels, data, sample_weight=samples.weight, pairs=pairs, **given)
    return _named(options, kernels, gram, fitted, data)


def _from_stack(options: Options, samples: Samples, given: dict[str, Any]) -> Kernels:
    """Samples of weight zero stay in the stack, whose columns new data must have, and leave the Gram."""
    if options.normalize == "cosine":
        raise ValueError(
            "normalize='cosine' was given with a stack: it needs k(x, x) of new samples x, which a stack of "
            "new against training samples does not hold. Divide each kernel by the square roots of both "
            "diagonals beforehand, or take normalize='trace'."
        )
    X, rows = samples.X, samples.rows
    weight = np.where(rows.owner >= 0, samples.weights, 0.0)  # classes that cost nothing are left out too
    w = None if np.all(weight == 1.0) else weight
    kernels = resolve_kernels(options.kernels, X, w, samples.layout.names)
    fewer = rows.first.size < X.shape[0]
    if fewer:
        given["work"] += len(kernels)  # of the samples that stay
    if isinstance(options.kernels, str):
        gram, fitted = build_from_stack(X, names=list(kernels), sample_weight=w, **given)
    else:
        single = options.storage == "float32"
        gram, fitted = build_gram(kernels, X, sample_weight=w, single=single, **given)
    for kernel in fitted:
        kernel.X_fit_ = None  # new stacks bring the training points along
    return _named(options, kernels, gram.subset(rows.first) if fewer else gram, fitted, X)


def _named(options: Options, kernels: dict[str, Kernel], gram: Gram, fitted: list[Fitted], X: Any) -> Kernels:
    names = list(kernels)
    for name, kernel in zip(names, fitted, strict=True):
        kernel.name = name
    gram.names = names
    if not isinstance(options.kernels, str):
        check_values(gram, kernels, X)
    return Kernels(names, fitted, gram, X)


def bind_listed(
    options: Options, samples: Samples, solver: Solver, more: int = 0, factored: bool = False
) -> Listed:
    """The kernels as a list, without those that cannot change a decision."""
    shared = options.loss.quadratic or options.own_weights
    work = solver.matrices + machine_matrices(samples.Y.shape[1], shared) + more
    gates = options.gating
    if gates is not None:
        work += DESCENT - SOLVER
    known = list_kernels(options, samples, work, factored=factored, beside=more)
    if options.penalty.sparse and options.penalty.homogeneous:  # elsewhere duplicates get equal weights
        warn_duplicates({kernel.name or "": kernel.kernel for kernel in known.kernels}, known.gram)
    local = gates is not None and not gates.alone
    constants = options.fit_intercept and not solver.uses_constants and not local
    absent = [kernel.member.role == "absent" for kernel in known.kernels]
    useless = find_useless(known.gram, known.names, bool(constants), absent)
    known.gram.scale = np.where(useless, 0.0, known.gram.scale)
    foreign = options.foreign
    if foreign and affordable(known.gram.n_kernels, known.gram.n):
        # a solver may take very long on other kernels
        require_definite(known.gram, known.names, known.slacks, np.ones(known.gram.n_kernels))
        foreign = False
    intercept = bool(options.fit_intercept)
    return Listed(samples, solver, known.gram, samples.Y, samples.costs, intercept, known, useless, foreign)
