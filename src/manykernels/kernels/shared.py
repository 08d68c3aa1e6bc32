"""Many kernels on the same data: shared statistics, one buffer, stacked feature maps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from .._fast import elementwise
from .._fast.threads import split
from .base import Kernel, empty_matrix
from .columns import OnColumns
from .data import Array, Data, is_stack, numeric, same, take_columns
from .fitted import Fitted
from .inner import Linear, inner_products
from .presence import Spreads, presences

Term: TypeAlias = tuple[float, Kernel]

_BLOCK = 1 << 15  # elements of a block of rows that stays in cache while all kernels are added
_STACK = 1024  # columns of stacked features that are worth a GEMM of their own


def evaluate(
    kernels: Iterable[Kernel], X: Data, Y: Data | None = None, out: Array | None = None
) -> Iterator[tuple[int, Array]]:
    """Yield the matrices of many kernels, which share distances and inner products.

    Kernels are grouped by statistic, so that they do not come in the order of the list. A matrix is valid
    until the next step and may be overwritten: two arrays of shape (n_X, n_Y) serve all kernels. Centred and
    cosine-normalised kernels share the statistic of their base.

    Parameters
    ----------
    kernels : iterable of Kernel
        The kernels.
    X : array-like of shape (n_X, n_features)
        Samples.
    Y : array-like of shape (n_Y, n_features) or None, default=None
        Other samples; None stands for X.
    out : ndarray of shape (n_kernels, n_X, n_Y) or None, default=None
        Memory for all matrices; matrix m is then ``out[m]``, and stays valid.

    Yields
    ------
    tuple of (int, ndarray)
        The number m of the kernel and its matrix.

    Examples
    --------
    >>> from manykernels.kernels import Gaussian, Linear, evaluate
    >>> kernels = [Gaussian(1.0), Linear(), Gaussian(2.0)]
    >>> sorted((m, round(float(K[0, 1]), 3)) for m, K in evaluate(kernels, [[1.0], [2.0]]))
    [(0, 0.368), (1, 2.0), (2, 0.779)]
    """
    if Y is not None and same(X, Y):
        Y = None
    groups: dict[Hashable, list[tuple[int, Kernel]]] = defaultdict(list)
    for m, kernel in enumerate(kernels):
        key = _base(kernel).statistic
        groups[m if key is None else ("shared", key)].append((m, kernel))
    S: Array | None = None
    buffer: Array | None = None
    asked: dict[int, Spreads] = {}
    for key, members in groups.items():
        if isinstance(key, int):
            buffer = members[0][1](X, Y, out=buffer if out is None else out[key])
            yield key, buffer
            continue
        S = _base(members[0][1]).compute_statistic(X, Y, S)
        for m, kernel in members:
            if out is not None:
                K = out[m]
            elif m == members[-1][0]:
                K = S
            else:
                K = buffer = np.empty_like(S) if buffer is None else buffer
            _base(kernel).fill(S, K)
            if isinstance(kernel, Fitted):
                kernel.finish(K, X, Y, _spreads(kernel, X, Y, asked))
            else:
                kernel.mask(K, X, Y)
            yield m, K


def combine(
    kernels: Iterable[Kernel],
    weights: Iterable[float],
    X: Data,
    Y: Data | None = None,
    out: Array | None = None,
) -> Array:
    """Compute the weighted sum Σ_m w_m k_m(X, Y) with few matrices in memory.

    At most about three arrays of shape (n_X, n_Y) are held. Sums are opened up first, so that all terms with
    one statistic are added block by block while it is in cache. Linear terms become one product of stacked
    features. Centred terms are centred once, together. Kernels of a view that some sample lacks are added one
    by one.

    Parameters
    ----------
    kernels : iterable of Kernel
        The kernels k_m.
    weights : iterable of float
        The weights w_m; kernels of weight 0 are not evaluated.
    X : array-like of shape (n_X, n_features)
        Samples.
    Y : array-like of shape (n_Y, n_features) or None, default=None
        Other samples; None stands for X.
    out : ndarray of shape (n_X, n_Y) or None, default=None
        Memory that the sum is written to.

    Returns
    -------
    ndarray of shape (n_X, n_Y)
        The weighted sum.

    Examples
    --------
    >>> from manykernels.kernels import Constant, Linear, combine
    >>> combine([Linear(), Constant()], [2.0, 0.5], [[1.0], [3.0]])
    array([[ 2.5,  6.5],
           [ 6.5, 18.5]])
    """
    if Y is not None and same(X, Y):
        Y = None
    whole, lacking = _apart([(w, k) for k, w in zip(kernels, weights, strict=True) if w != 0], X, Y)
    terms = _merge_centred([(w * c, k) for w, kernel in whole for c, k in kernel.terms()])
    featured, shared, alone = _sort(terms)
    out = empty_matrix(X, Y, out)
    buffer: Array | None = None
    empty = True
    for A, B in _feature_pairs(featured, X, Y):
        if empty:
            inner_products(A, B, out)
        else:
            buffer = inner_products(A, B, buffer)
            elementwise.add(buffer, 1.0, out)
        empty = False
    if empty:
        out.fill(0.0)
    for members in shared.values():
        buffer = members[0][1].compute_statistic(X, Y, buffer)
        _add_group(members, buffer, out)
    for c, kernel in alone:
        buffer = kernel(X, Y, out=buffer)
        elementwise.add(buffer, c, out)
    for m, K in evaluate([kernel for _, kernel in lacking], X, Y):
        elementwise.add(K, lacking[m][0], out)
    return out


def _apart(given: list[Term], X: Data, Y: Data | None) -> tuple[list[Term], list[Term]]:
    """Kernels of views that all samples have, and those of views that some sample lacks."""
    kernels = [kernel for _, kernel in given]
    sides = [presences(kernels, Z) for Z in ((X,) if Y is None or is_stack(X) else (X, Y))]
    asked: dict[int, Spreads] = {}
    gone = [
        any(side[m] is not None for side in sides) or _lacked(kernel, X, _spreads(kernel, X, Y, asked))
        for m, kernel in enumerate(kernels)
    ]
    parts = [
        [term for term, absent in zip(given, gone, strict=True) if absent is kind] for kind in (False, True)
    ]
    return parts[0], parts[1]


def _spreads(kernel: Kernel, X: Data, Y: Data | None, asked: dict[int, Spreads]) -> Spreads | None:
    """Return how far samples that lack views are from the mean; kernels of one roster ask once."""
    rest = kernel.rest_ if isinstance(kernel, Fitted) else None
    if rest is None or rest.roster is None:
        return None
    if id(rest.roster) not in asked:
        asked[id(rest.roster)] = rest.spreads(X, Y)
    return asked[id(rest.roster)]


def _lacked(kernel: Kernel, X: Data, spreads: Spreads | None) -> bool:
    """Tell whether samples lack a view of a kernel, such as the layer of a stack in training."""
    rest = kernel.rest_ if isinstance(kernel, Fitted) else None
    if rest is None:
        return False
    spread = spreads is not None and any(part is not None for part in spreads)
    return spread or (is_stack(X) and rest.having is not None)


def _base(kernel: Kernel) -> Kernel:
    return kernel.kernel if isinstance(kernel, Fitted) else kernel


def _sort(terms: list[Term]) -> tuple[list[Term], dict[Hashable, list[Term]], list[Term]]:
    """Terms to add by their features, by a shared statistic, and one by one."""
    needed = {k.statistic for _, k in terms if not k.has_features}
    featured: list[Term] = []
    alone: list[Term] = []
    shared: dict[Hashable, list[Term]] = defaultdict(list)
    for c, kernel in terms:
        key = kernel.statistic
        if kernel.has_features and c > 0 and (key is None or key not in needed):
            featured.append((c, kernel))
        elif key is not None:
            shared[key].append((c, kernel))
        else:
            alone.append((c, kernel))
    return featured, shared, alone


def _add_group(members: list[Term], S: Array, out: Array) -> None:
    """out += Σ c k(S) for kernels of the same statistic S, in blocks of rows that stay in cache."""
    n, m = S.shape
    step = max(1, _BLOCK // max(m, 1))

    def rows(lo: int, hi: int) -> None:
        buffer = np.empty((step, m))
        for i in range(lo, hi, step):
            j = min(i + step, hi)
            for c, kernel in members:
                kernel.fill(S[i:j], buffer[: j - i])
                elementwise.add(buffer[: j - i], c, out[i:j])

    split(n, S.size * len(members), rows)


def _merge_centred(terms: list[Term]) -> list[Term]:
    """Σ c_m centred(k_m) = centred(Σ c_m k_m): one centring for all terms with the same training points."""
    groups: dict[Hashable, list[tuple[float, Fitted]]] = defaultdict(list)
    rest: list[Term] = []
    for c, kernel in terms:
        if isinstance(kernel, Fitted) and kernel.row_means_ is not None and kernel.normalize != "cosine":
            weight = kernel.weight_
            groups[id(kernel.X_fit_), None if weight is None else weight.tobytes()].append((c, kernel))
        else:
            rest.append((c, kernel))
    for members in groups.values():
        rest.append(members[0] if len(members) == 1 else (1.0, _centred_sum(members)))
    return rest


def _centred_sum(members: list[tuple[float, Fitted]]) -> Fitted:
    from .mixture import Mixture

    c = np.array([coefficient * fitted.scale_ for coefficient, fitted in members])
    fits = [fitted for _, fitted in members]
    r = c @ np.array([fitted.row_means_ for fitted in fits])
    g = float(c @ np.array([fitted.grand_mean_ for fitted in fits]))
    base = Mixture([fitted.kernel for fitted in fits], c)
    return Fitted.from_constants(base, 1.0, fits[0].X_fit_, (r, g), sample_weight=fits[0].weight_)


def _feature_pairs(terms: list[Term], X: Data, Y: Data | None) -> Iterator[tuple[Any, Any]]:
    """(A, B) such that Σ c Φ_X Φ_Yᵀ over the terms is the sum of all A Bᵀ; B is A when Y is None."""
    sets = (X,) if Y is None else (X, Y)
    columns, others = _linear_columns(terms)
    for weights in columns:
        root = np.sqrt(np.fromiter(weights.values(), dtype=np.float64))
        maps = [_times(numeric(take_columns(Z, list(weights))), root) for Z in sets]
        yield maps[0], maps[-1]
    waiting: list[list[Array]] = []
    for c, kernel in others:
        maps = [np.sqrt(c) * Phi for Phi in kernel.feature_maps(*sets)]
        if sparse.issparse(maps[0]) or sparse.issparse(maps[-1]) or maps[0].shape[1] >= _STACK:
            yield maps[0], maps[-1]
            continue
        waiting.append(maps)
        if sum(Phis[0].shape[1] for Phis in waiting) >= _STACK:
            yield _stacked(waiting)
            waiting = []
    if waiting:
        yield _stacked(waiting)


def _linear_columns(terms: list[Term]) -> tuple[list[dict[Any, float]], list[Term]]:
    """Linear kernels on columns, as total weights per column (by position, by name); and the other terms.

    Σ_m c_m ⟨x, x'⟩ on columns J_m is Σ_j v_j x_j x'_j with v_j = Σ_{m: j ∈ J_m} c_m: rank-one dictionaries of
    any size cost one product.
    """
    by_position: dict[Any, float] = defaultdict(float)
    by_name: dict[Any, float] = defaultdict(float)
    others: list[Term] = []
    for c, kernel in terms:
        if isinstance(kernel, OnColumns) and type(kernel.kernel) is Linear:
            chosen = kernel.columns
            chosen = [chosen] if isinstance(chosen, int | np.integer | str) else chosen
            kinds = {type(j) for j in chosen} if isinstance(chosen, list | tuple | np.ndarray) else set()
            if kinds == {str} or (
                kinds and all(issubclass(t, int | np.integer) and t is not bool for t in kinds)
            ):
                for j in chosen:
                    (by_name if kinds == {str} else by_position)[j] += c
                continue
        others.append((c, kernel))
    return [weights for weights in (by_position, by_name) if weights], others


def _times(Phi: Any, root: Array) -> Any:
    """The columns of Φ times root."""
    return (Phi @ sparse.diags_array(root)).tocsr() if sparse.issparse(Phi) else Phi * root


def _stacked(waiting: list[list[Array]]) -> tuple[Array, Array]:
    left = np.hstack([Phis[0] for Phis in waiting])
    return left, left if len(waiting[0]) == 1 else np.hstack([Phis[-1] for Phis in waiting])
