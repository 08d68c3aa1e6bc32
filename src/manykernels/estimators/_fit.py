"""From validated data to a solved problem: kernels, their Gram, and the solver's answer."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._warn import warn
from ..families import Family, resolve_kernels
from ..grams import Gram, StackGram, build_from_stack, build_gram, is_definite
from ..grams.memory import SOLVER
from ..kernels import Fitted, Kernel, Precomputed
from ..kernels.data import rounding
from ..losses import Loss
from ..objectives import Risk
from ..objectives.rounding import slack
from ..penalties import Penalty, resolve_penalty
from ..solvers import Result, Run, Solver, resolve_solver
from ._data import Kind, take
from ._progress import watched
from ._rows import Rows
from ._spec import may_be_indefinite, needs_stack, signature

Array = NDArray[np.float64]
_PROBE = 32  # samples on which kernels are looked at before a whole pass is spent on them
_AFFORDABLE = 1e9  # operations, about ten milliseconds
_FLAT = 1e-12  # of the trace: a kernel that varies less does not vary


@dataclass(frozen=True)
class Dictionary:
    """The kernels on the training data: their names, their Gram on the merged rows, and as functions."""

    names: list[str]
    gram: Gram
    kernels: list[Fitted]
    X: Any  # the merged rows; a stack as it was given


def build_dictionary(
    estimator: Any,
    X: Any,
    kind: Kind,
    rows: Rows,
    weight: Array,
    names_in: Any,
    work: int = SOLVER,
    target: Array | None = None,
    pairs: int = 0,
) -> Dictionary:
    """Resolve `kernels` on the merged rows and evaluate them there.

    `work` is how many matrices of n × n are needed beside the kernels themselves, and `pairs` how many of
    kernels × kernels; `target` (merged, outputs) is for families that learn from it.
    """
    options: dict[str, Any] = {
        "center": bool(estimator.center),
        "normalize": estimator.normalize,
        "memory_limit": estimator.memory_limit,
        "work": work,
    }
    spec = estimator.kernels
    if kind == "stack":
        return _from_stack(estimator, X, rows, weight, options)
    if estimator.center and rows.first.size == 1:
        raise ValueError(
            "X holds 1 sample (or copies of one), and center=True leaves nothing of it; give more samples."
        )
    everyone = rows.first.size == rows.owner.size and np.array_equal(rows.first, np.arange(rows.first.size))
    merged = X if everyone else take(X, rows.first)
    w = None if np.all(rows.weight == 1.0) else rows.weight
    kernels = resolve_kernels(spec, merged, w, names_in, target)
    factors = isinstance(spec, Family) and spec.factors
    gram, fitted = build_gram(kernels, merged, sample_weight=w, factors=factors, pairs=pairs, **options)
    return _finish(estimator, kernels, gram, fitted, merged)


def _from_stack(estimator: Any, X: Any, rows: Rows, weight: Array, options: dict[str, Any]) -> Dictionary:
    """Samples of weight zero stay in the stack, whose columns new data must have, and leave the Gram."""
    if estimator.normalize == "cosine":
        raise ValueError(
            "normalize='cosine' was given with a stack: it needs k(x, x) of new samples x, which a stack of "
            "new against training samples does not hold. Divide each kernel by the square roots of both "
            "diagonals beforehand, or take normalize='trace'."
        )
    weight = np.where(rows.owner >= 0, weight, 0.0)  # classes that cost nothing are left out too
    w = None if np.all(weight == 1.0) else weight
    kernels = resolve_kernels(estimator.kernels, X, w)
    if rows.first.size < X.shape[0]:
        options["work"] += len(kernels)  # of the samples that stay
    if isinstance(estimator.kernels, str):
        gram, fitted = build_from_stack(X, names=list(kernels), sample_weight=w, **options)
    else:
        gram, fitted = build_gram(kernels, X, sample_weight=w, **options)
    for kernel in fitted:
        kernel.X_fit_ = None  # new stacks bring the training points along
    if rows.first.size < X.shape[0]:
        gram = gram.subset(rows.first)
    return _finish(estimator, kernels, gram, fitted, X)


def _finish(
    estimator: Any, kernels: dict[str, Kernel], gram: Gram, fitted: list[Fitted], X: Any
) -> Dictionary:
    names = list(kernels)
    for name, kernel in zip(names, fitted, strict=True):
        kernel.name = name
    if not isinstance(estimator.kernels, str):
        _check_values(gram, kernels, X)
    return Dictionary(names, gram, fitted, X)


def find_useless(estimator: Any, dictionary: Dictionary) -> NDArray[np.bool_]:
    """Kernels that are zero, or constant where an intercept does the same for free; warns of duplicates too.

    The solver will see nothing in them.
    """
    gram, names = dictionary.gram, dictionary.names
    penalty = resolve_penalty(estimator.norm)
    if penalty.sparse and penalty.homogeneous:  # elsewhere duplicates get equal weights
        _warn_duplicates({kernel.name or "": kernel.kernel for kernel in dictionary.kernels}, gram)
    useless = _useless(gram, names, estimator.fit_intercept)
    gram.scale = np.where(useless, 0.0, gram.scale)
    return useless


def _check_values(gram: Gram, kernels: dict[str, Kernel], X: Any) -> None:
    """Every kernel has a finite trace; functions of the user's are finite, and symmetric on some samples."""
    names = list(kernels)
    bad = ~np.isfinite(gram.traces())
    for m, kernel in enumerate(kernels.values()):
        if not may_be_indefinite(kernel):
            continue
        bad[m] |= not np.isfinite(gram.products(np.ones((gram.n, 1)), np.array([m]))).all()
        if not bad[m] and not needs_stack(kernel):  # stacks are looked at as a whole
            K = kernel(take(X, _some(gram.n)))
            if np.abs(K - K.T).max() > kernel.rounding(X) * np.abs(K).max():
                raise ValueError(
                    f"kernel {names[m]!r} is not symmetric on the training data: k(x, x') differs from "
                    "k(x', x). Multiple kernel learning needs symmetric, positive semi-definite kernels."
                )
    if bad.any():
        raise ValueError(
            f"kernel {names[int(np.argmax(bad))]!r} is not finite on the training data: it overflows, or "
            "returns NaN. Scale the features (StandardScaler), or change its parameters."
        )


def _some(n: int) -> NDArray[np.intp]:
    """A few samples, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(_PROBE, n)).astype(np.intp))


def _warn_duplicates(kernels: dict[str, Kernel], gram: Gram) -> None:
    """Say so where two kernels are the same: by their parameters, or as layers of a stack."""
    if all(isinstance(kernel, Precomputed) for kernel in kernels.values()) and isinstance(gram, StackGram):
        some = _some(gram.n)
        part = np.ascontiguousarray(gram.stack[:, some[:, None], some])
        signatures: list[Any] = [layer.tobytes() for layer in part]
    else:
        signatures = [signature(kernel) for kernel in kernels.values()]
    first: dict[Any, int] = {}
    for m, (name, key) in enumerate(zip(kernels, signatures, strict=True)):
        twin = first.setdefault(key, m)
        if twin == m or (isinstance(key, bytes) and not _equal_layers(gram, twin, m)):
            continue
        warn(
            f"kernels {list(kernels)[twin]!r} and {name!r} are the same; at norm=1 only the total of their "
            "weights is determined. Leave one out, or take norm > 1, where duplicates get equal weights.",
            UserWarning,
        )
        return


def _equal_layers(gram: Gram, a: int, b: int) -> bool:
    return isinstance(gram, StackGram) and bool(np.array_equal(gram.stack[a], gram.stack[b]))


def _useless(gram: Gram, names: list[str], fit_intercept: bool) -> NDArray[np.bool_]:
    """Kernels that cannot change a decision, with a warning.

    zᵀKz with Σz = 0 vanishes for a constant kernel and, for a random z, for no other. A few samples rule out
    nearly all kernels, and only the rest is looked at in full.
    """
    useless = np.zeros(gram.n_kernels, dtype=bool)
    rng = np.random.RandomState(0)
    some = _some(gram.n)
    suspects = _flat(gram if some.size == gram.n else gram.subset(some), np.arange(gram.n_kernels), rng)
    flat = _flat(gram, suspects, rng) if suspects.size else suspects
    zero = gram.traces()[flat] <= 0.0
    if gram.mean is not None:
        zero[:] = True
    if zero.any():
        _warn_useless([names[m] for m in flat[zero]], "zero for all samples")
    if fit_intercept and not zero.all():
        why = "constant to within 1e-12 of the size, which the intercept offers at no cost"
        hint = " If features have a large offset, centre them (StandardScaler)."
        _warn_useless([names[m] for m in flat[~zero]], why, hint)
    useless[flat[zero | fit_intercept]] = True
    return useless


def _flat(gram: Gram, atoms: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[np.intp]:
    z = rng.uniform(0.5, 1.5, (gram.n, 1))
    z -= z.mean()
    return atoms[gram.quad(z, atoms)[:, 0] <= _FLAT * gram.traces()[atoms] * float(np.sum(z * z))]


def _warn_useless(names: list[str], why: str, hint: str = "") -> None:
    shown = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    many = len(names) > 1
    warn(
        f"kernel{'s' if many else ''} {shown} {'are' if many else 'is'} {why}: weight zero.{hint}",
        UserWarning,
    )


@dataclass(frozen=True)
class Problem:
    """What a solver is asked: one or several outputs that share the weights of the kernels."""

    dictionary: Dictionary
    useless: NDArray[np.bool_]  # kernels that get no weight
    loss: Loss
    Y: Array
    C: Array
    penalty: Penalty | None = None  # where it is not what `norm` says


def solve(estimator: Any, problem: Problem, start: tuple[Array, Array] | None) -> Result:
    """Run the estimator's solver, and say so if it stopped early."""
    penalty = problem.penalty or resolve_penalty(estimator.norm)
    solver: Solver = resolve_solver(estimator.solver)
    gram = problem.dictionary.gram
    # the dual bound holds up to rounding errors of Σα times the intercept: that must not be large for nothing
    shift = np.median(problem.Y, axis=0) if problem.loss.translates and estimator.fit_intercept else 0.0
    foreign = may_be_indefinite(estimator.kernels) and bool(problem.dictionary.kernels)  # not of features
    everything = np.ones(gram.n_kernels)
    if foreign and gram.n_kernels * gram.n**3 <= _AFFORDABLE:
        require_definite(problem.dictionary, everything)  # a solver may take very long on other kernels
        foreign = False
    with watched(estimator) as history:
        result = solver.run(
            gram,
            Risk(problem.loss, problem.Y - shift, problem.C, bool(estimator.fit_intercept), shift),
            penalty,
            Run(
                tol=float(estimator.tol),
                max_iter=int(estimator.max_iter),
                rng=check_random_state(estimator.random_state),
                start=_usable(start, penalty),
                history=history,
            ),
        )
    result = replace(result, intercept=result.intercept + shift)
    result.weights[problem.useless] = 0.0
    result = _without_useless(problem, penalty, result, float(estimator.tol))
    if foreign:
        require_definite(problem.dictionary, result.weights, result.K)
    if not result.gap <= estimator.tol:
        warn_stopped(estimator, result.n_iter, result.gap, result.reason.value)
    return replace(result, K=None)  # paths keep results, and nobody needs it


def _without_useless(problem: Problem, penalty: Penalty, result: Result, tol: float) -> Result:
    """The result with a bound that holds for kernels that were left out as well, or an error.

    A kernel that is constant to within its rounding errors has nothing to offer if its values are moderate.
    If they are enormous, what is lost in their last digits may still be large beside the target.
    """
    left_out = np.flatnonzero(problem.useless)
    dictionary, alpha = problem.dictionary, result.alpha if result.dual_alpha is None else result.dual_alpha
    if not left_out.size or not dictionary.kernels or not alpha.any():
        return result
    gram = copy(dictionary.gram)
    gram.scale = np.zeros(gram.n_kernels)
    gram.scale[left_out] = [dictionary.kernels[m % len(dictionary.kernels)].scale_ for m in left_out]
    q = np.zeros(gram.n_kernels)
    q[left_out] = gram.quad(alpha, left_out).sum(axis=1)
    lost = 0.5 * penalty.conjugate(q + gram.largest() * slack(alpha))[0]
    if lost > tol * abs(result.primal):
        worst = int(np.argmax(gram.largest()))
        raise ValueError(
            f"kernel {dictionary.names[worst]!r} takes values as large as {gram.largest()[worst]:.1e}, and "
            "what tells samples apart is lost in their last digits: no answer could be trusted. Subtract the "
            "mean of each feature or scale the features (StandardScaler), or take normalize='trace' and a "
            "moderate C."
        )
    return replace(result, dual=result.dual - lost)


def warn_stopped(estimator: Any, n_iter: int, gap: float, reason: str = "") -> None:
    """Say that a fit stopped above its tolerance; `reason` is why more iterations would not help."""
    advice = f"{reason}: raise tol" if reason else f"Raise max_iter (now {estimator.max_iter}) or tol"
    warn(
        f"{type(estimator).__name__} stopped after {n_iter} iterations at a relative duality gap "
        f"of {gap:.1e}, above tol={estimator.tol:g}. {advice}; scaling the features, normalize='trace' or "
        "a smaller C make the problem easier.",
        ConvergenceWarning,
    )


def require_definite(dictionary: Dictionary, theta: Array, K: Array | None = None) -> None:
    """An error if a kernel with weight, or at least the learned mixture, has negative eigenvalues.

    Each kernel with weight is factored where that is cheap; where there are many of them on many samples,
    only the mixture is, and single kernels have passed the tests of their diagonal and 2 × 2 minors.
    """
    gram, active = dictionary.gram, np.flatnonzero(theta)
    slacks = [kernel.rounding(dictionary.X) for kernel in dictionary.kernels] or [rounding(np.float64)]
    if active.size * gram.n**3 <= _AFFORDABLE:
        for m in active:
            slack = slacks[m % len(slacks)]  # gates repeat the kernels
            if not is_definite(gram.combine(np.ones(1), np.array([m])), slack):
                raise ValueError(
                    f"kernel {dictionary.names[m]!r} is not positive semi-definite: it has negative "
                    "eigenvalues. Clip them (drop the negative part of the spectrum), or leave it out."
                )
    elif not is_definite(gram.combine(theta) if K is None else K, max(slacks)):
        raise ValueError(
            "the learned combination of kernels is not positive semi-definite, so at least one of the "
            f"kernels with weight is not: {_weighted_names(dictionary.names, theta)}. Clip "
            "the negative eigenvalues of each kernel, or leave those that have them out."
        )


def _usable(start: tuple[Array, Array] | None, penalty: Penalty) -> tuple[Array, Array] | None:
    """A start with weights that the penalty allows."""
    if start is None:
        return None
    theta, alpha = start
    if not np.isfinite(penalty.value(theta)):
        theta = penalty.project(theta)
    return (theta, alpha) if np.any(theta > 0) else None


def _weighted_names(names: list[str], theta: Array) -> str:
    order = np.argsort(-theta)[: min(5, int(np.count_nonzero(theta)))]
    return ", ".join(repr(names[m]) for m in order)
