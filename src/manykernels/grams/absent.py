"""Grams of samples that lack views: what stands in their rows, and whose sizes count (`kernels.presence`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels import Kernel
from ..kernels.data import Data, is_stack, n_samples
from ..kernels.presence import TOLD, Mask, Rest, Roster, rescale, write
from .base import Array, Gram
from .blocks import BlockGram
from .factors import FactorGram
from .stack import StackGram


def features_of(
    kernels: list[Kernel],
    X: Data,
    ptr: NDArray[np.intp],
    having: list[Mask | None],
    sample_weight: Array | None,
) -> Array:
    """The features of all kernels; samples that lack a view have the mean of the others, and one more."""
    n = n_samples(X)
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    Phi = np.empty((n, int(ptr[-1])), order="F")
    for m, (kernel, mask) in enumerate(zip(kernels, having, strict=True)):
        own, last = slice(ptr[m], ptr[m + 1] - (mask is not None)), ptr[m + 1] - 1
        Phi[:, own] = kernel.features(X)
        if mask is not None:
            share = w * mask / max(float(w @ mask), 1e-300)
            mean = share @ Phi[:, own]
            apart = float(share @ np.square(Phi[:, own]).sum(axis=1)) - float(mean @ mean)
            Phi[:, last] = np.where(mask, 0.0, np.sqrt(TOLD * max(apart, 0.0)))
            Phi[~mask, own] = mean
    return Phi


def put_rests(
    gram: Gram,
    kernels: list[Kernel],
    X: Data,
    having: list[Mask | None],
    w: Array,
    spread: bool,
    means: Array | None = None,
) -> list[Rest | None]:
    """Tell the Gram the values of each kernel for samples that lack its view (`kernels.presence`).

    A stack is not kept with a model, so that its means are found in any case, unless they are given: (M, n),
    over all samples.
    """
    rests: list[Rest | None] = []
    stack, views = is_stack(X), list(zip(kernels, having, strict=True))
    if isinstance(gram, FactorGram) and gram.features.shape[1] == X.shape[1] == len(kernels):
        return [None] * len(kernels)  # columns of X, which are no views
    roster = Roster(kernels) if spread else None
    a = None if roster is None else roster.spread(X)
    asked = [k.absence is not None and (mask is not None or a is not None or stack) for k, mask in views]
    whole = np.array([m for m, (_, mask) in enumerate(views) if asked[m] and mask is None], dtype=np.intp)
    known = _means(gram, whole, w) if means is None else dict(zip(whole.tolist(), means[whole], strict=True))
    diagonals = gram._diagonals() if any(asked) else np.empty(0)
    for m, (kernel, mask) in enumerate(views):
        if not asked[m]:
            rests.append(None if kernel.absence is None else Rest(X, w, roster=roster))
            continue
        everyone = np.ones(gram.n, dtype=bool)
        if isinstance(gram, BlockGram) and mask is not None:
            gram.lack(m, mask, np.zeros(gram.n), 0.0)
        v = w if mask is None else w * mask
        r = known[m] if m in known else _means(gram, np.array([m]), v)[m]
        rest = Rest.known(None if stack else X, v, everyone if mask is None else mask, r, diagonals[m])
        rest.roster, rest.spread = roster, a
        if mask is None:
            rest.having, rest.own = None, 0.0
        elif isinstance(gram, BlockGram):
            gram.lack(m, mask, rest.training, rest.own)
        elif isinstance(gram, StackGram):
            write(gram.stack[m], mask, mask, rest.training, rest.training, rest.own)
        if a is not None:
            _spread(gram, m, rest, a, everyone if mask is None else mask)
        rests.append(rest)
    return rests


def _means(gram: Gram, atoms: NDArray[np.intp], v: Array) -> dict[int, Array]:
    """The means of the rows of some kernels, over samples of weight v."""
    if not atoms.size:
        return {}
    r = gram._products((v / max(float(v.sum()), 1e-300))[:, None], atoms)[:, :, 0]
    return dict(zip(atoms.tolist(), r, strict=True))


def _spread(gram: Gram, m: int, rest: Rest, a: Array, having: Mask) -> None:
    """Put samples that lack views farther from the mean in kernel m (`kernels.presence`)."""
    r, g = rest.training, float(rest.grand or 0.0)
    if isinstance(gram, BlockGram):
        gram.lack(m, having, r, rest.own, (a, g))
    elif isinstance(gram, StackGram):
        rescale(gram.stack[m], a, a, r, r, g)
    elif isinstance(gram, FactorGram):
        Phi = gram.features[:, gram.ptr[m] : gram.ptr[m + 1]]
        mean = rest.weight / max(float(rest.weight.sum()), 1e-300) @ Phi
        Phi[...] = mean + a[:, None] * (Phi - mean)


def own_weights(having: list[Mask | None], w: Array) -> Array | None:
    """(M, n): the weights of the samples that have the view of each kernel; None where all have all.

    A kernel whose view nobody has is zero, whatever the weights.
    """
    if all(mask is None for mask in having):
        return None
    return np.array([w if mask is None or not (w * mask).any() else w * mask for mask in having])
