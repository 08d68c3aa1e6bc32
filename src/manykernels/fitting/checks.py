"""Checks of kernels: useless, duplicate, not finite, asymmetric, indefinite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._warn import warn
from ..grams import Gram, StackGram, is_definite
from ..grams.checks import FLAT
from ..kernels import Fitted, Kernel, Precomputed
from ..kernels.data import rounding
from ..objectives.rounding import slack
from ..penalties import Penalty
from ..solvers import Result
from .layout import evenly, take
from .spec import may_be_indefinite, needs_stack, signatures

Array = NDArray[np.float64]
_DIRECTIONS = 3  # in which a kernel must vanish to count as constant
_PROBE = 32  # samples on which kernels are looked at before a whole pass is spent on them
_AFFORDABLE = 1e9  # operations, about ten milliseconds
_CONSTANT = "constant (to within 1e-12 of its size), and adds nothing beside the intercept"
_CLIP = "Clip them (drop the negative part of the spectrum), or leave it out."


def check_values(gram: Gram, kernels: dict[str, Kernel], X: Any) -> None:
    """Check that kernels have finite traces, and that the user's functions are finite and symmetric."""
    names = list(kernels)
    bad = ~np.isfinite(gram.traces())
    for m, kernel in enumerate(kernels.values()):
        if not may_be_indefinite(kernel):
            continue
        bad[m] |= not np.isfinite(gram.products(np.ones((gram.n, 1)), np.array([m]))).all()
        if not bad[m] and not needs_stack(kernel):  # stacks are looked at as a whole
            K = kernel(take(X, evenly(gram.n, _PROBE)))
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


# -- duplicates -----------------------------------------------------------------------------------
def warn_duplicates(kernels: dict[str, Kernel], gram: Gram) -> None:
    """Warn if two kernels are the same: by their parameters, or as layers of a stack."""
    if all(isinstance(kernel, Precomputed) for kernel in kernels.values()) and isinstance(gram, StackGram):
        some = evenly(gram.n, _PROBE)
        part = np.ascontiguousarray(gram.stack[:, some[:, None], some])
        keys: list[Any] = [layer.tobytes() for layer in part]
    else:
        keys = signatures(kernels.values())
    first: dict[Any, int] = {}
    for m, (name, key) in enumerate(zip(kernels, keys, strict=True)):
        twin = first.setdefault(key, m)
        if twin == m or (isinstance(key, bytes) and not _equal_layers(gram, twin, m)):
            continue
        warn(
            f"kernels {list(kernels)[twin]!r} and {name!r} are the same; at norm=1 only the total of their "
            "weights is determined. Leave one out, or take norm > 1, where duplicates get equal weights."
        )
        return


def _equal_layers(gram: Gram, a: int, b: int) -> bool:
    return isinstance(gram, StackGram) and bool(np.array_equal(gram.stack[a], gram.stack[b]))


# -- useless kernels ------------------------------------------------------------------------------
def find_useless(
    gram: Gram, names: list[str], constants: bool, absent: Sequence[bool] = ()
) -> NDArray[np.bool_]:
    """Find kernels that cannot change a decision, with a warning: zero ones, and constants if useless.

    Nothing is said of kernels that stand for an `absent` view.
    """
    useless, flat = np.zeros(gram.n_kernels, dtype=bool), constant_kernels(gram)
    zero = gram.traces()[flat] <= 0.0
    if gram.mean is not None:
        zero[:] = True
    hint = " If features have a large offset, centre them (StandardScaler)."
    said = [m for m in flat[zero] if not (len(absent) and absent[m])]
    warn_useless([names[m] for m in said], "zero for all samples")
    if constants:
        warn_useless([names[m] for m in flat[~zero]], _CONSTANT, hint)
    useless[flat[zero | constants]] = True
    return useless


def constant_kernels(gram: Gram) -> NDArray[np.intp]:
    """Kernels that are the same for all pairs of samples, or zero.

    zᵀKz with Σz = 0 vanishes for a constant kernel and, for a random z, hardly for another one. Of thousands
    of kernels with rank one, a single z is orthogonal to some by chance, so that several are drawn. A few
    samples rule out nearly all kernels, and only the rest is looked at in full.
    """
    rng, some = np.random.RandomState(0), evenly(gram.n, _PROBE)
    suspects = _flat(gram if some.size == gram.n else gram.subset(some), np.arange(gram.n_kernels), rng)
    return _flat(gram, suspects, rng) if suspects.size else suspects


def _flat(gram: Gram, atoms: NDArray[np.intp], rng: np.random.RandomState) -> NDArray[np.intp]:
    for _ in range(_DIRECTIONS):
        if not atoms.size:
            break
        z = rng.uniform(0.5, 1.5, (gram.n, 1))
        z -= z.mean()
        atoms = atoms[gram.quad(z, atoms)[:, 0] <= FLAT * gram.traces()[atoms] * float(np.sum(z * z))]
    return atoms


def useless_features(
    zero: NDArray[np.bool_], flat: NDArray[np.bool_], names: list[str], constants: bool
) -> NDArray[np.bool_]:
    """Find useless kernels if explicit features have shown which kernels are zero or flat."""
    if zero.all():
        raise ValueError(
            f"kernel {names[0]!r} is zero on the training data (once centred), and so is every other one: "
            "there is nothing to learn from. Give kernels that vary with the samples."
        )
    constant = flat & ~zero & constants
    for which, why in ((zero, "zero for all samples"), (constant, _CONSTANT)):
        warn_useless([name for name, gone in zip(names, which, strict=True) if gone], why)
    return np.asarray(zero | constant)


def warn_useless(names: list[str], why: str, hint: str = "") -> None:
    if not names:
        return
    shown = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    many = len(names) > 1
    warn(f"kernel{'s' if many else ''} {shown} {'are' if many else 'is'} {why}: weight zero.{hint}")


def without_useless(
    gram: Gram,
    kernels: list[Fitted],
    names: list[str],
    useless: NDArray[np.bool_],
    penalty: Penalty,
    result: Result,
    tol: float,
) -> Result:
    """Return the result with a bound that also holds for kernels that were left out.

    A kernel that is constant to within its rounding errors has nothing to offer if its values are moderate.
    If they are enormous, what is lost in their last digits may still be large beside the target.
    """
    left_out = np.flatnonzero(useless)
    alpha = result.alpha if result.dual_alpha is None else result.dual_alpha
    if not left_out.size or not alpha.any():
        return result
    scale = np.zeros(gram.n_kernels)
    scale[left_out] = [kernels[m % len(kernels)].scale_ for m in left_out]  # gates repeat them
    gram = gram.rescaled(scale)
    q = np.zeros(gram.n_kernels)
    q[left_out] = gram.quad(alpha, left_out).sum(axis=1)
    lost = 0.5 * penalty.conjugate(q + gram.largest() * slack(alpha))[0]
    if lost > tol * abs(result.primal):
        worst = int(np.argmax(gram.largest()))
        raise ValueError(
            f"kernel {names[worst]!r} takes values as large as {gram.largest()[worst]:.1e}, and "
            "differences between samples are lost in rounding errors: no answer could be trusted. Subtract "
            "the mean of each feature or scale the features (StandardScaler), or take normalize='trace' and "
            "a moderate C."
        )
    return replace(result, dual=result.dual - lost)


# -- indefinite kernels ---------------------------------------------------------------------------
def affordable(matrices: int, n: int) -> bool:
    """Tell whether so many matrices can be factored quickly."""
    return matrices * n**3 <= _AFFORDABLE


def require_definite(
    gram: Gram, names: list[str], slacks: list[float], theta: Array, K: Array | None = None
) -> None:
    """Raise an error if a kernel with weight, or at least the learned mixture, has negative eigenvalues.

    Each kernel with weight is factored where that is cheap; where there are many of them on many samples,
    only the mixture is, and single kernels have passed the tests of their diagonal and 2 × 2 minors.
    `slacks` is the rounding of each kernel; kernels behind gates repeat.
    """
    active, slacks = np.flatnonzero(theta), slacks or [rounding(np.float64)]
    if gram.entry > 0.0:  # rounding of what is stored makes eigenvalues negative
        gram, K = gram.exact(), None
    if affordable(active.size, gram.n):
        for m in active:
            require_kernel(gram.combine(np.ones(1), np.array([m])), names[m], slacks[m % len(slacks)])
    elif not is_definite(gram.combine(theta) if K is None else K, max(slacks)):
        order = np.argsort(-theta)[: min(5, active.size)]
        raise ValueError(
            "the learned combination of kernels is not positive semi-definite, so at least one of the "
            f"kernels with weight is not: {', '.join(repr(names[m]) for m in order)}. Clip "
            "the negative eigenvalues of each kernel, or leave those that have them out."
        )


def require_kernel(K: Array, name: str, slack: float, why: str = "") -> None:
    """Raise an error unless this matrix of a kernel has no negative eigenvalues; `why` that matters."""
    if not is_definite(K, slack):
        raise ValueError(
            f"kernel {name!r} is not positive semi-definite: it has negative eigenvalues{why}. {_CLIP}"
        )
