"""From kernels and data, or a given stack, to a Gram: decided once, from the memory there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._arguments import number_of
from ..kernels import Fitted, Kernel, Precomputed, evaluate
from ..kernels.data import Data, n_samples, numeric, rounding, take_rows
from ..kernels.presence import Mask, presences, write
from .absent import features_of, own_weights, put_rests
from .base import Array, Gram
from .blocks import BlockGram
from .checks import check_stack, require_diagonals
from .factors import FactorGram
from .memory import SOLVER, SWEEP, counted, parse_memory, require_memory, require_time
from .rounded import RoundedGram
from .stack import StackGram

_COPIED_ROWS = 16  # of a stack that are turned together
_NARROW = 4  # samples for each explicit feature of a kernel from which features are held, not matrices
_FEWEST = 20  # samples from which features are held
_FEW = 16  # features of a kernel, on average, up to which solvers copy those of kernels with weight
_VECTORS = 6  # of n numbers for each kernel: diagonals, means, products with dual points


def build_gram(
    kernels: dict[str, Kernel],
    X: Data,
    *,
    center: bool,
    normalize: str | None,
    sample_weight: Array | None,
    memory_limit: int | float | str | None,
    factors: bool = False,
    narrow: bool = False,
    work: int = SOLVER,
    beside: int = 0,
    pairs: int = 0,
    spread: bool = False,
    single: bool = False,
) -> tuple[Gram, list[Fitted]]:
    """Build the Gram of kernels on data, in the form that suits the memory there is.

    Parameters
    ----------
    kernels : dict of str to Kernel
        The kernels by name.
    X : array-like of shape (n, n_features)
        Training samples.
    center : bool
        Whether to centre kernels in feature space.
    normalize : {"trace", "max", "frobenius", "cosine"} or None
        How kernels are scaled, as for ``kernels.Fitted``.
    sample_weight : ndarray of shape (n,) or None
        Weights of the samples, which count as repetitions.
    memory_limit : int, float, str or None
        Memory that may be used, as for `parse_memory`.
    factors : bool, default=False
        Whether kernel m is column m of X alone (rank one), which is then never made n × n.
    narrow : bool, default=False
        Whether to do the same for kernels that all have far fewer explicit features than there are samples.
    work : int, default=5
        Number of matrices of n × n that the caller needs beside the kernels.
    beside : int, default=0
        Number of these matrices that are needed also with explicit features.
    pairs : int, default=0
        Number of matrices of kernels × kernels that the caller needs.
    spread : bool, default=False
        Whether samples that lack views are farther from the mean in the others (`kernels.presence`).
    single : bool, default=False
        Whether matrices are stored in float32 (`rounded.py`).

    Returns
    -------
    gram : Gram
        The Gram.
    fitted : list of Fitted
        The kernels with the constants of this training data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import build_gram
    >>> from manykernels.kernels import Linear
    >>> X = np.array([[1.0], [3.0]])
    >>> options = dict(center=False, normalize="trace", sample_weight=None, memory_limit="1GB")
    >>> gram, fitted = build_gram({"line": Linear()}, X, **options)
    >>> gram.combine(np.ones(1)).round(3).tolist()
    [[0.2, 0.6], [0.6, 1.8]]
    """
    n, parts = n_samples(X), list(kernels.values())
    having: list[Mask | None] = [None] * len(parts) if factors else presences(parts, X)
    limit = parse_memory(memory_limit)
    matrix = 8 * n * n
    vectors = counted(8 * len(parts) * (n * _VECTORS + len(parts) * pairs))
    needed = work * matrix + vectors
    gram: Gram
    ptr = _narrow(parts, X, n, having) if narrow and normalize != "cosine" else None
    if ptr is not None and _features_size(ptr, n) + beside * matrix + vectors <= limit:
        gram = FactorGram(features_of(parts, X, ptr, having, sample_weight), ptr)
        needed = _features_size(ptr, n) + beside * matrix + vectors
    elif factors:
        require_memory(needed, limit, *_who(n, len(parts)))
        gram = FactorGram(numeric(X), np.arange(len(parts) + 1))
    elif not single and len(parts) * matrix + needed <= limit:
        stack = np.empty((len(parts), n, n))
        for _ in evaluate(parts, X, out=stack):
            pass
        gram = StackGram(stack)
    else:
        needed += min(2 * matrix, SWEEP)
        require_memory(needed, limit, *_who(n, len(parts)))
        single = single and len(parts) * matrix // 2 + needed <= limit
        if not single:
            require_time(len(parts), n)
        slots = 0 if single else min(len(parts), (limit - needed) // matrix)
        gram = BlockGram(parts, X, n, slots, room=min(2 * matrix, SWEEP) // 2)
    room = max(limit - needed - gram.stored, 0)
    gram, fitted = _normalised(gram, kernels, X, having, center, normalize, sample_weight, spread)
    if single and isinstance(gram, BlockGram):
        gram = RoundedGram(gram)
        room = max(room - gram.stored, 0)
    gram.room = room
    return gram, fitted


def _narrow(kernels: list[Kernel], X: Data, n: int, having: list[Mask | None]) -> NDArray[np.intp] | None:
    """Return where the features of each kernel begin, if all have explicit dense ones, and few of them.

    Kernels of views that samples lack have one more (`kernels.presence`).
    """
    if n <= _FEWEST or not all(kernel.has_features for kernel in kernels):
        return None
    first = [kernel.features(take_rows(X, 0, 1)) for kernel in kernels]
    widths = [Phi.shape[1] + (mask is not None) for Phi, mask in zip(first, having, strict=True)]
    if any(map(sp.issparse, first)) or not 0 < max(widths) <= n // _NARROW or min(widths) == 0:
        return None
    return np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)


def _features_size(ptr: NDArray[np.intp], n: int) -> int:
    """Bytes of features and of what solvers hold of them: two copies of some, and a basis of each group."""
    widths = np.diff(ptr)
    few = widths.mean() < _FEW
    return 8 * int((3 if few else 1) * n * widths.sum() + 2 * n * widths.max() + (widths**2).sum())


def build_from_stack(
    stack: NDArray[Any],
    *,
    names: list[str],
    center: bool,
    normalize: str | None,
    sample_weight: Array | None,
    memory_limit: int | float | str | None,
    work: int = SOLVER,
    spread: bool = False,
) -> tuple[Gram, list[Fitted]]:
    """Build the Gram of a given stack of matrices, checked in one pass.

    The stack is copied only where its layout requires it.

    Parameters
    ----------
    stack : ndarray of shape (n, n, n_kernels)
        The kernel matrices.
    names : list of str
        Names of the kernels, for messages.
    center : bool
        Whether to centre kernels in feature space.
    normalize : {"trace", "max", "frobenius", "cosine"} or None
        How kernels are scaled, as for ``kernels.Fitted``.
    sample_weight : ndarray of shape (n,) or None
        Weights of the samples, which count as repetitions.
    memory_limit : int, float, str or None
        Memory that may be used, as for `parse_memory`.
    work : int, default=5
        Number of matrices of n × n that the caller needs beside the kernels.
    spread : bool, default=False
        Whether samples that lack views are farther from the mean in the others (`kernels.presence`).

    Returns
    -------
    gram : Gram
        The Gram.
    fitted : list of Fitted
        The kernels with the constants of this training data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import build_from_stack
    >>> stack = np.stack([2.0 * np.eye(3), np.ones((3, 3))], axis=2)
    >>> options = dict(center=False, normalize="trace", sample_weight=None, memory_limit="1GB")
    >>> gram, fitted = build_from_stack(stack, names=["a", "b"], **options)
    >>> gram.scale.tolist()
    [0.5, 1.0]
    """
    n, M = stack.shape[0], stack.shape[2]
    limit = parse_memory(memory_limit)
    kernels = np.moveaxis(stack, 2, 0)
    if kernels.dtype not in (np.float32, np.float64):
        kernels = kernels.astype(float)
    parts: dict[str, Kernel] = {name: Precomputed(m) for m, name in enumerate(names)}
    having = presences(list(parts.values()), stack)
    ready = kernels.strides[2] == kernels.itemsize
    written = normalize == "cosine" or any(mask is not None for mask in having)
    needed = (work + (0 if ready and not written else M)) * 8 * n * n
    require_memory(needed, limit, *_who(n, M))
    if not ready:
        kernels = _kernels_first(stack, kernels.dtype)
    if written and np.shares_memory(kernels, stack):
        kernels = kernels.copy()
    for m, mask in enumerate(having):
        if mask is not None:
            write(kernels[m], mask, mask, 0.0, 0.0, 0.0)
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    means = check_stack(kernels, names, rounding(stack.dtype), w / w.sum())
    gram = StackGram(kernels)
    gram.room = limit - needed
    known = None if written else means
    return _normalised(gram, parts, stack, having, center, normalize, sample_weight, spread, known)


def _kernels_first(stack: NDArray[Any], dtype: Any) -> NDArray[Any]:
    """A contiguous (M, n, n) of a stack (n, n, M), some rows at a time: ten times as fast as all at once,
    since what is read is still in cache when the next kernel is written."""
    n, _, M = stack.shape
    kernels = np.empty((M, n, n), dtype=dtype)
    for lo in range(0, n, _COPIED_ROWS):
        kernels[:, lo : lo + _COPIED_ROWS] = np.moveaxis(stack[lo : lo + _COPIED_ROWS], 2, 0)
    return kernels


def _who(n: int, M: int) -> tuple[str, str]:
    return f"{number_of(M, 'kernel')} on {n} samples need", f"several matrices of {n} × {n}"


def _normalised(
    gram: Gram,
    kernels: dict[str, Kernel],
    X: Data,
    having: list[Mask | None],
    center: bool,
    normalize: str | None,
    sample_weight: Array | None,
    spread: bool,
    known: Array | None = None,
) -> tuple[Gram, list[Fitted]]:
    """Find the constants of every kernel (weights are repetition) and put them into the Gram.

    `having` says which samples have the view of each kernel: sizes are measured on those. `known` are the
    means of all kernels over all samples, (M, n), where somebody has them already.
    """
    gram.names = list(kernels)
    w = np.ones(gram.n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    mean = w / w.sum()
    rests = put_rests(gram, list(kernels.values()), X, having, w, spread, known)
    own = own_weights(having, w)
    d = gram._diagonals()
    largest = np.abs(d).max(axis=1, initial=0.0)
    means, grand = np.zeros((gram.n_kernels, gram.n)), np.zeros(gram.n_kernels)
    if center:
        means = gram._products(mean[:, None], np.arange(gram.n_kernels))[:, :, 0] if known is None else known
        grand = means @ mean
        d = d - 2.0 * means + grand[:, None]
    scale = np.ones(gram.n_kernels)
    if normalize is not None:
        shares = mean if own is None else own / own.sum(axis=1, keepdims=True)
        gone = ~(_weighted(d, shares) > 1e-12 * largest)
        _check_diagonals(gram, list(kernels), gone, d, largest, mean, center)
        d[gone] = 1.0
        scale = _scales(gram, d, means, grand, w if own is None else own, normalize)
        d[gone], scale[gone] = 0.0, 0.0  # nothing to normalise: such a kernel stays zero
    if normalize == "cosine":
        gram = _cosine(gram, d, means, grand, mean if center else None)
        gram.names = list(kernels)
    else:
        gram.scale = scale
        gram.mean = mean if center else None
    fitted = [
        Fitted.from_constants(
            kernel,
            float(scale[m]),
            X if center else None,
            (means[m], float(grand[m])) if center else None,
            sample_weight=sample_weight,
            normalize=normalize,  # type: ignore[arg-type]
            rest=rests[m],
        )
        for m, kernel in enumerate(kernels.values())
    ]
    return gram, fitted


def _weighted(d: Array, w: Array) -> Array:
    """(M,): Σ w d, of weights (n,) of all kernels or (M, n) of each."""
    return np.asarray(d @ w if w.ndim == 1 else np.einsum("mn,mn->m", d, w))


def _check_diagonals(
    gram: Gram, names: list[str], gone: NDArray[np.bool_], d: Array, largest: Array, mean: Array, center: bool
) -> None:
    """An error where no kernel has a diagonal, or those `gone` are not zero (nor constant, where centred)."""
    if not gone.any():
        return
    if not np.isfinite(largest).all():
        raise ValueError(
            f"kernel {names[int(np.argmin(np.isfinite(largest)))]!r} is not finite on the training data: it "
            "overflows, or returns NaN. Scale the features (StandardScaler), or change its parameters."
        )
    which, used = np.flatnonzero(gone), mean > 0.0
    products = gram._products(mean[:, None], which)[:, used, 0]
    require_diagonals([names[m] for m in which], d[which][:, used], products, center)
    if gone.all():
        why = "is the same for all samples, so that centring leaves nothing of it" if center else "is zero"
        what = f"kernel {names[0]!r} {why}" + (", and so is every other one" if len(names) > 1 else "")
        raise ValueError(f"{what}: there is nothing to learn from. Give kernels that vary with the samples.")


def _scales(gram: Gram, d: Array, means: Array, grand: Array, w: Array, normalize: str) -> Array:
    """(M,): the factor of each kernel, whose samples count as w (n,), or its row of w (M, n), says."""
    if normalize == "trace":
        return np.asarray(w.sum(axis=-1) / _weighted(d, w))
    if normalize == "max":
        return np.asarray(1.0 / np.where(w > 0, d, 0.0).max(axis=1))
    if normalize == "cosine":
        return np.ones(gram.n_kernels)
    squares, w = np.zeros(gram.n_kernels), np.broadcast_to(w, d.shape)
    for m, lo, hi, block in gram._blocks(np.arange(gram.n_kernels)):
        K = (block - means[m, lo:hi, None] - means[m, :hi] + grand[m]) ** 2
        squares[m] += w[m, lo:hi] @ K @ w[m, :hi]
        if lo > 0:  # the part right of the diagonal block mirrors the one left of it
            squares[m] += w[m, lo:hi] @ K[:, :lo] @ w[m, :lo]
    return np.asarray(1.0 / np.sqrt(np.where(squares > 0.0, squares, 1.0)))


def _cosine(gram: Gram, d: Array, means: Array, grand: Array, mean: Array | None) -> Gram:
    """K_ij / √(K_ii K_jj) of the centred kernels: not linear in K, so it is applied rather than carried."""
    inverse = np.divide(1.0, np.sqrt(np.maximum(d, 0.0)), out=np.zeros_like(d), where=d > 0)
    if isinstance(gram, BlockGram):
        gram.cosine = (means, grand, inverse)
    elif isinstance(gram, StackGram):
        for m, K in enumerate(gram.stack):
            if mean is not None:
                K -= (means[m] - 0.5 * grand[m])[:, None] + (means[m] - 0.5 * grand[m])
            K *= inverse[m][:, None] * inverse[m]
    elif isinstance(gram, FactorGram):  # rank one: x/|x|, x less its mean where centred
        phi = gram.features.toarray() if sp.issparse(gram.features) and mean is not None else gram.features
        if mean is not None:
            phi = phi - mean @ phi
        signs = phi.sign() if sp.issparse(phi) else np.sign(phi)
        return FactorGram(signs, gram.ptr)
    return gram
