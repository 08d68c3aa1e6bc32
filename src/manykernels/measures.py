"""Measures of a kernel against a target or another kernel, without training anything.

- ``centered_alignment`` is the one to start with: in [0, 1], blind to the kernels' scale and offset, it
  follows the error of the predictors that a kernel allows. ``kernel_similarity`` is the same between kernels.
- ``uncentered_alignment`` is there for comparison only: unbalanced classes mislead it (Rostamizadeh 2010,
  §2.5.1).
- ``unnormalized_alignment`` and ``hsic`` measure dependence in the units of the kernels, so compare them only
  between kernels of one scale. ``hsic(unbiased=True)`` is 0 on average where there is no dependence.
- ``fsm`` (classes only) and ``kl_measure`` are smaller for better kernels. ``fsm`` looks at nothing but the
  lines between the centres of classes; ``kl_measure`` at all directions, and at the kernel's scale.

A kernel is a matrix (n, n), or a ``Kernel`` with the samples X to evaluate it on.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular
from sklearn.utils.multiclass import type_of_target

from ._arguments import is_number, number_of
from ._fast.threads import threads
from .families import Family, resolve_kernels
from .grams import build_from_stack, build_gram
from .grams.checks import FLAT
from .kernels import Kernel
from .kernels.data import is_stack, rounding

Array = NDArray[np.float64]
_EPS = float(np.finfo(float).eps)
_KINDS = ("auto", "kernel", "classification", "regression")


# -- alignment and its relatives ------------------------------------------------------------------
def centered_alignment(K: Any, target: Any, *, X: Any = None, kind: str = "auto") -> float:
    """Compute the centred alignment of a kernel with a target, ρ = ⟨K_c, K'_c⟩ / (‖K_c‖ ‖K'_c‖).

    Products and norms are Frobenius. It is in [0, 1] for kernels K and K'; 1 where they are the same up to
    scale and offset.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    target : array-like or Kernel
        Another kernel K', or y with K' = YYᵀ as in `target_factor`.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.
    kind : {"auto", "kernel", "classification", "regression"}, default="auto"
        How `target` is read. "auto" takes a ``Kernel`` or an (n, n) array for a kernel and anything else for
        y; n outputs of n samples need "regression".

    Returns
    -------
    float
        The alignment.

    References
    ----------
    Cortes, Mohri & Rostamizadeh (2012), "Algorithms for learning kernels based on centered alignment",
    Journal of Machine Learning Research 13.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Def. 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Linear
    >>> from manykernels.measures import centered_alignment
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> round(centered_alignment(Linear(), [0, 0, 1, 1], X=X), 3)
    0.962
    """
    K, target, name = _read_pair(K, target, X, kind)
    K_c, target_c = _centre(K), target.centred()
    _require_varying(K_c, K, name)
    if not target.factored:
        _require_varying(target_c.values, target.values, "the target")
    return _cosine(K_c, target_c)


def uncentered_alignment(K: Any, target: Any, *, X: Any = None, kind: str = "auto") -> float:
    """Compute the alignment ⟨K, K'⟩ / (‖K‖ ‖K'‖) without centring, for comparison.

    Unbalanced classes mislead it: kernels that say nothing are aligned with the target too.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    target : array-like or Kernel
        Another kernel K', or y with K' = YYᵀ as in `target_factor`.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.
    kind : {"auto", "kernel", "classification", "regression"}, default="auto"
        How `target` is read, as in `centered_alignment`.

    Returns
    -------
    float
        The alignment.

    References
    ----------
    Cristianini, Shawe-Taylor, Elisseeff & Kandola (2001), "On kernel-target alignment", NeurIPS.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Eq. 2.41.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.measures import uncentered_alignment
    >>> round(uncentered_alignment(np.ones((4, 4)), [0, 1, 1, 1]), 3)
    0.25
    """
    K, target, name = _read_pair(K, target, X, kind)
    for values, what in ((K, name), (target.values, "the target")):
        if not values.any():
            raise ValueError(f"{what} is zero for all pairs of samples; expected a kernel that is not.")
    return _cosine(K, target)


def unnormalized_alignment(K: Any, target: Any, *, X: Any = None, kind: str = "auto") -> float:
    """Compute η = (1/n²) Σ_ij [K_c]_ij [K'_c]_ij, an estimate of E[K_c K'_c].

    It has the units of the kernels: compare it only between kernels of one scale.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    target : array-like or Kernel
        Another kernel K', or y with K' = YYᵀ as in `target_factor`.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.
    kind : {"auto", "kernel", "classification", "regression"}, default="auto"
        How `target` is read, as in `centered_alignment`.

    Returns
    -------
    float
        The estimate.

    Notes
    -----
    Rostamizadeh (2010), Def. 2.6 prints both ⟨K_c, K'_c⟩ and its mean over the n² entries for it: the mean is
    meant.

    References
    ----------
    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Def. 2.5.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.measures import unnormalized_alignment
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> unnormalized_alignment(2.0 * np.outer(y, y), [1, 1, 0, 0])
    2.0
    """
    K, target, _ = _read_pair(K, target, X, kind)
    return float(target.centred().inner(_centre(K)) / K.size)


def hsic(K: Any, target: Any, *, X: Any = None, kind: str = "auto", unbiased: bool = False) -> float:
    """Compute the Hilbert–Schmidt independence criterion tr(KHLH)/(n−1)², where L is the target's kernel.

    H centres. The criterion has the units of the kernels: compare it only between kernels of one scale.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    target : array-like or Kernel
        Another kernel L, or y with L = YYᵀ as in `target_factor`.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.
    kind : {"auto", "kernel", "classification", "regression"}, default="auto"
        How `target` is read, as in `centered_alignment`.
    unbiased : bool, default=False
        Whether to compute the U-statistic of Song et al. (2012), which is 0 on average where there is no
        dependence; it needs 4 samples.

    Returns
    -------
    float
        The criterion.

    Notes
    -----
    With K̃, L̃ without diagonals the U-statistic is

        [tr(K̃L̃) + 1ᵀK̃1 · 1ᵀL̃1 / ((n−1)(n−2)) − 2/(n−2) · 1ᵀK̃L̃1] / (n(n−3)) = ⟨K_u, L⟩ / (n(n−3)),

    where K_u is zero on the diagonal and K̃_ij − r_i − r_j + const elsewhere, such that its rows sum to zero:
    then neither the diagonal of L matters nor the part that centring takes from L.

    References
    ----------
    Gretton, Bousquet, Smola & Schölkopf (2005), "Measuring statistical dependence with Hilbert–Schmidt
    norms", ALT.

    Song, Smola, Gretton, Bedo & Borgwardt (2012), "Feature selection via dependence maximization", Journal of
    Machine Learning Research 13.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.measures import hsic
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> round(hsic(np.outer(y, y), [1, 1, 0, 0]), 3)
    1.778
    """
    K, target, _ = _read_pair(K, target, X, kind)
    n, need = len(K), 4 if unbiased else 2
    if n < need:
        raise ValueError(f"K has {number_of(n, 'sample')}; hsic(unbiased={unbiased}) needs at least {need}.")
    K_c, L_c = _centre(K), target.centred()
    if not unbiased:
        return float(L_c.inner(K_c) / (n - 1) ** 2)
    np.fill_diagonal(K_c, 0.0)
    r = K_c.sum(axis=1) / (n - 2)
    K_u = K_c - r[:, None] - r + r.sum() / (n - 1)
    np.fill_diagonal(K_u, 0.0)
    return float(L_c.inner(K_u) / (n * (n - 3)))


# -- measures that are smaller for better kernels -------------------------------------------------
def fsm(K: Any, y: Any, *, X: Any = None) -> float:
    """Compute the feature-space measure, the spread of classes over the distance of their centres.

    FSM = (std_+ + std_−) / ‖φ_− − φ_+‖, with std of ⟨φ(x_i), u⟩ within a class and
    u = (φ_− − φ_+)/‖φ_− − φ_+‖. Less is better. Several classes have the mean over all pairs. It is infinite
    where centres coincide.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    y : array-like of shape (n_samples,)
        Class labels, at least two samples of each class.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.

    Returns
    -------
    float
        The measure.

    References
    ----------
    Nguyen & Ho (2008), "An efficient kernel matrix evaluation measure", Pattern Recognition 41.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §2.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Linear
    >>> from manykernels.measures import fsm
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> round(fsm(Linear(), [0, 0, 1, 1], X=X), 3)
    0.283
    """
    if isinstance(y, Kernel):
        raise ValueError(f"fsm was given the kernel {y.label} as y; expected one class label per sample.")
    K, name = _read_kernel(K, X, "K")
    y = _read(y)
    _require_length(len(K), len(y))
    classes, codes = _labels(y)
    counts = np.bincount(codes)
    if counts.min() < 2:
        rare = str(classes[counts.argmin()])
        raise ValueError(f"Class {rare!r} of y has 1 sample; fsm needs at least 2 of each class.")
    K_c = _centre(K)
    _require_varying(K_c, K, name)
    F = K_c @ ((codes[:, None] == np.arange(classes.size)) / counts)  # ⟨φ(x_i), φ_c⟩
    rounding = 8.0 * _EPS * float(np.abs(K).max())
    values = []
    for a, b in combinations(range(classes.size), 2):
        f = F[:, a] - F[:, b]
        f_a, f_b = f[codes == a], f[codes == b]
        squared = float(f_a.mean() - f_b.mean())  # ‖φ_a − φ_b‖²
        values.append((f_a.std(ddof=1) + f_b.std(ddof=1)) / squared if squared > rounding else np.inf)
    return float(np.mean(values))


def kl_measure(K: Any, target: Any, *, epsilon: float = 1e-3, X: Any = None, kind: str = "auto") -> float:
    """Compute tr(K*(K + εI)⁻¹) + log|K + εI| with the target's kernel K*; less is better.

    This is 2 KL(N(0, K*) ‖ N(0, K + εI)) less the part that does not depend on K. The scale of K matters.

    Parameters
    ----------
    K : array-like of shape (n_samples, n_samples) or Kernel
        The kernel, as its matrix or with `X`.
    target : array-like or Kernel
        Another kernel K*, or y with K* = YYᵀ as in `target_factor`.
    epsilon : float, default=0.001
        The ε in units of the mean diagonal of K, positive. A larger value counts noise.
    X : array-like of shape (n_samples, n_features) or None, default=None
        Samples on which a ``Kernel`` is evaluated.
    kind : {"auto", "kernel", "classification", "regression"}, default="auto"
        How `target` is read, as in `centered_alignment`.

    Returns
    -------
    float
        The measure.

    References
    ----------
    Ying, Huang & Campbell (2009), "Enhanced protein fold recognition through a novel data integration
    approach", BMC Bioinformatics 10.

    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, §2.3.2.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.measures import kl_measure
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> good, bad = np.outer(y, y) + np.eye(4), np.ones((4, 4)) + np.eye(4)
    >>> bool(kl_measure(good, y) < kl_measure(bad, y))
    True
    """
    if not is_number(epsilon) or not 0.0 < epsilon < np.inf:
        raise ValueError(f"epsilon={epsilon!r} was given; expected a positive number.")
    K, target, name = _read_pair(K, target, X, kind)
    A = K.copy()
    A.flat[:: len(K) + 1] += epsilon * K.trace() / len(K)
    try:
        L = cholesky(A, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"{name} + εI is not positive definite at epsilon={epsilon:g}: {name} is zero, or has negative "
            "eigenvalues. Clip them (drop the negative part of the spectrum), or raise epsilon."
        ) from error
    if target.factored:
        fit = np.sum(solve_triangular(L, target.values, lower=True, check_finite=False) ** 2)
    else:
        fit = np.trace(cho_solve((L, True), target.values, check_finite=False))
    return float(fit + 2.0 * np.log(np.diagonal(L)).sum())


# -- many kernels ---------------------------------------------------------------------------------
def kernel_similarity(
    kernels: Any, X: Any, *, memory_limit: int | float | str | None = None, n_jobs: int | None = None
) -> Array:
    """Compute the centred alignments between all pairs of kernels.

    Parameters
    ----------
    kernels : str, Kernel, callable, Family, list or dict
        The kernels as estimators take them: a list, a dict, a family, "auto", or "precomputed".
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples, n_kernels)
        Samples, or the stack of matrices for "precomputed".
    memory_limit : int, float, str or None, default=None
        Memory that may be used: a number of bytes, a string such as "2GB", or None for half of the free
        memory.
    n_jobs : int or None, default=None
        Number of threads; −1 stands for all processors, and None leaves it as it is set.

    Returns
    -------
    ndarray of shape (n_kernels, n_kernels)
        The alignments, 1 on the diagonal.

    References
    ----------
    Cortes, Mohri & Rostamizadeh (2012), "Algorithms for learning kernels based on centered alignment",
    Journal of Machine Learning Research 13.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Gaussian, Linear
    >>> from manykernels.measures import kernel_similarity
    >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
    >>> kernel_similarity([Linear(), Gaussian(3.0)], X).round(2).tolist()
    [[1.0, 0.97], [0.97, 1.0]]
    """
    options: dict[str, Any] = {"center": False, "normalize": None, "sample_weight": None}
    options.update(memory_limit=memory_limit, work=0)
    if is_stack(X) and X.shape[0] != X.shape[1]:
        raise ValueError(f"X of shape {tuple(X.shape)} was given; expected a stack (n, n, n_kernels).")
    with threads(n_jobs), np.errstate(invalid="ignore"):
        named = resolve_kernels(kernels, X, None, None)
        if isinstance(kernels, str) and kernels == "precomputed":
            gram, _ = build_from_stack(np.asarray(X), names=list(named), **options)
        else:
            factors = isinstance(kernels, Family) and kernels.factors
            gram, _ = build_gram(named, X, factors=factors, **options)
        products, traces = gram.inner(), gram.traces()
    norms = np.sqrt(np.diagonal(products))
    for name, norm, trace in zip(named, norms, traces, strict=True):
        if not np.isfinite(norm + trace):
            raise ValueError(
                f"kernel {name!r} is not finite on X: X holds NaN, or the kernel overflows. Impute or scale "
                "the features, or change the kernel's parameters."
            )
        if norm <= FLAT * trace:  # a constant kernel has ‖K‖ = tr K
            raise _flat(f"kernel {name!r}")
    S = products / norms[:, None] / norms
    S = np.minimum(0.5 * (S + S.T), 1.0)
    S[(S < 0.0) & (S > -1e-9)] = 0.0  # kernels with negative eigenvalues may be further below
    np.fill_diagonal(S, 1.0)
    return np.asarray(S)


# -- kernels --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Target:
    """The kernel K' on the other side: its matrix, or Y with K' = YYᵀ, which is never multiplied out."""

    values: Array
    factored: bool

    def centred(self) -> _Target:
        Y = self.values
        return _Target(Y - Y.mean(axis=0) if self.factored else _centre(Y), self.factored)

    def inner(self, K: Array) -> float:
        """⟨K, K'⟩ = Σ_j y_jᵀ K y_j."""
        return float(np.vdot(self.values, K @ self.values if self.factored else K))

    def norm(self) -> float:
        """‖K'‖ = ‖YᵀY‖."""
        return float(np.linalg.norm(self.values.T @ self.values if self.factored else self.values))


def _cosine(K: Array, target: _Target) -> float:
    """⟨K, K'⟩ / (‖K‖ ‖K'‖), with entries of order one so that no power of them overflows."""
    K = K / np.abs(K).max()
    target = _Target(target.values / np.abs(target.values).max(), target.factored)
    return float(np.clip(target.inner(K) / (np.linalg.norm(K) * target.norm()), -1.0, 1.0))


def _centre(K: Array) -> Array:
    """Return the centred kernel, as a copy.

    [K_c]_ij = (K_ij − r_i) − (r_j − g), r the means of rows, g of all (Rostamizadeh 2010, Eq. 2.39). In this
    order differences of nearly equal numbers, which are exact,
    come first: a nearly constant kernel keeps the digits that its entries have.
    """
    r = K.mean(axis=1)
    K_c = K - r[:, None]
    K_c -= r - r.mean()
    return np.asarray(K_c)


def _require_varying(K_c: Array, K: Array, name: str) -> None:
    size = np.abs(K).max()  # divided by, so that no square overflows
    if size == 0.0 or np.linalg.norm(K_c / size) <= FLAT * np.linalg.norm(K / size):
        raise _flat(name)


def _flat(name: str) -> ValueError:
    return ValueError(
        f"{name} is constant (to within 1e-12 of its size): its centred norm is zero, so that nothing can be "
        "said of it. Leave it out; if features have a large offset, centre them (StandardScaler)."
    )


def _read_pair(K: Any, target: Any, X: Any, kind: str) -> tuple[Array, _Target, str]:
    """The matrix of K, the target on the same samples, and what to call K in messages."""
    if kind not in _KINDS:
        raise ValueError(f"kind={kind!r} was given; expected one of {', '.join(map(repr, _KINDS))}.")
    K, name = _read_kernel(K, X, "K")
    given = isinstance(target, Kernel)
    if given and kind not in ("auto", "kernel"):
        raise ValueError(f"kind={kind!r} was given with the kernel {target.label} as target; expected y.")
    if given or kind == "kernel" or (kind == "auto" and np.shape(target) == K.shape):
        read = _Target(_read_kernel(target, X, "the target")[0], False)
    else:
        read = _Target(target_factor(target, kind), True)
    _require_length(len(K), len(read.values))
    return K, read, name


def _require_length(n: int, n_target: int) -> None:
    if n != n_target:
        raise ValueError(f"K has {n} samples and the target {n_target}; expected the same samples in both.")


def _read_kernel(K: Any, X: Any, name: str) -> tuple[Array, str]:
    """A kernel's matrix, finite, square and symmetric, and what to call it."""
    if isinstance(K, Kernel):
        name = f"kernel {K.label}"
        if X is None:
            raise ValueError(f"{name} was given without samples; give X=, or the kernel's matrix.")
        slack, K = K.rounding(X), K(X)
    else:
        K = np.asarray(K)
        slack = rounding(K.dtype)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or K.size == 0 or K.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} of shape {K.shape} and type {K.dtype} was given; expected a Kernel, or a square matrix "
            "(n_samples, n_samples) of real numbers."
        )
    K = K.astype(float, copy=False)
    if not np.isfinite(K).all():
        i, j = (int(axis[0]) for axis in np.nonzero(~np.isfinite(K)))
        raise ValueError(f"{name} holds {K[i, j]} at row {i}, column {j}; expected finite numbers.")
    i, j = (int(v) for v in np.unravel_index(int(np.abs(K - K.T).argmax()), K.shape))
    if abs(K[i, j] - K[j, i]) > slack * np.abs(K).max():
        raise ValueError(
            f"{name} is not symmetric: entry ({i}, {j}) is {K[i, j]:.6g} and ({j}, {i}) is {K[j, i]:.6g}. If "
            "it is so up to noise, give (K + K.T) / 2; if it holds n outputs of n samples, kind='regression'."
        )
    return K, name


# -- targets --------------------------------------------------------------------------------------
def target_factor(y: Any, kind: str = "auto") -> Array:
    """Compute Y with K_Y = YYᵀ, the kernel of the targets themselves; nothing is centred.

    Two classes are y = ±1, +1 for the second in sorted order (Rostamizadeh 2010, §2.5.1). For more classes Y
    is one-hot, so that K_Y[i, j] is 1 where i and j are of the same class; for two classes that would be (1 +
    yyᵀ)/2, which is the same after centring and scaling. For numbers Y = y, one column for each output.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Labels or numbers.
    kind : {"auto", "classification", "regression"}, default="auto"
        How y is read. "auto" follows scikit-learn's ``type_of_target``: labels in one column are classes and
        everything else is numbers.

    Returns
    -------
    ndarray of shape (n_samples, k)
        The factor Y.

    Examples
    --------
    >>> from manykernels.measures import target_factor
    >>> target_factor(["no", "yes", "no"]).tolist()
    [[-1.0], [1.0], [-1.0]]
    """
    if kind not in ("auto", "classification", "regression"):
        raise ValueError(f"kind={kind!r} was given; expected 'auto', 'classification' or 'regression'.")
    A = _read(y)
    if kind == "regression" or (kind == "auto" and not _are_classes(A)):
        return _numbers(A)
    classes, codes = _labels(A)
    if classes.size == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.asarray(codes[:, None] == np.arange(classes.size), dtype=float)


def _read(y: Any) -> NDArray[Any]:
    """y as an array (n,) or (n, k), k ≥ 2, of finite numbers or of strings."""
    A = np.asarray(y)
    if A.dtype.kind == "c" or A.ndim not in (1, 2) or A.size == 0:
        raise ValueError(
            f"y of shape {A.shape} and type {A.dtype} was given; expected labels (n_samples,), or real "
            "numbers (n_samples,) or (n_samples, n_outputs), of at least one sample."
        )
    A = A[:, 0] if A.ndim == 2 and A.shape[1] == 1 else A
    if A.dtype.kind == "O" and not any(isinstance(v, str) for v in A.flat):
        try:
            A = A.astype(float)  # None becomes NaN
        except (TypeError, ValueError) as error:
            raise ValueError(f"y holds objects that are neither numbers nor strings ({error}).") from error
    numbers = A.dtype.kind in "biuf"
    bad = ~np.isfinite(A) if numbers else np.array([not isinstance(v, str) for v in A.flat]).reshape(A.shape)
    if bad.any():
        where = tuple(int(axis[0]) for axis in np.nonzero(bad))
        what = "finite numbers" if numbers else "strings throughout, or numbers throughout"
        raise ValueError(
            f"y holds {A[where]} for sample {where[0]}; expected {what}. Impute it, or leave it out."
        )
    return A


def _are_classes(A: NDArray[Any]) -> bool:
    """Tell whether y holds classes rather than numbers, as far as the values tell."""
    if _type(A) not in ("binary", "multiclass"):
        return False
    if A.dtype.kind in "iuf" and np.unique(A).size == A.size > 2:
        raise ValueError(
            f"y holds {A.size} whole numbers for {A.size} samples, each of them once: say by "
            "kind='regression' that they are quantities, or by kind='classification' that they are labels."
        )
    return True


def _type(A: NDArray[Any]) -> str:
    with np.errstate(invalid="ignore"):  # it casts to int, which numbers above 2⁶³ do not survive
        return str(type_of_target(A, input_name="y"))


def _labels(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in sorted order, and the number of each sample's class."""
    found = _type(A)
    if found not in ("binary", "multiclass"):
        raise ValueError(
            f"y of shape {A.shape} ({found}) was given; expected one class label per sample. Numbers that "
            "are quantities, or several outputs, need kind='regression' and a measure that takes them."
        )
    classes, codes = np.unique(A, return_inverse=True)
    if classes.size == 1:
        raise _constant(A)
    return classes, codes.ravel()


def _numbers(A: NDArray[Any]) -> Array:
    """Numbers (n, k), of which at least one column varies."""
    if A.dtype.kind not in "biuf":
        raise ValueError(
            f"y of shape {A.shape} holds text such as '{A.flat[0]}'; expected numbers. Labels need "
            "kind='classification', and one per sample."
        )
    Y = A.astype(float).reshape(A.shape[0], -1)
    if np.all(np.ptp(Y, axis=0) <= 4.0 * _EPS * np.abs(Y).max(axis=0)):
        raise _constant(A)
    return Y


def _constant(A: NDArray[Any]) -> ValueError:
    return ValueError(
        f"y is the same for all {number_of(A.shape[0], 'sample')}: {A[:1].tolist()[0]!r}. Alignment with "
        "a constant target is not defined; give samples of at least two classes, or numbers that differ."
    )
