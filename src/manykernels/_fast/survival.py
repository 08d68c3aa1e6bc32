"""Sums over risk sets, and pairs of samples whose order in time is known: compiled, O(n log n)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .compiled import inner

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@njit(cache=True)
def cover_sums(first: Index, last: Index, values: Array, k: int, logs: bool) -> Array:
    """s_i = Σ_j values_j over the j with first_j ≤ i < last_j; of logarithms, the logarithm of the sum.

    A binary tree over the k places: a range is O(log k) of its nodes, and a place is below O(log k) of them.
    Nothing is subtracted, so that small sums beside large ones keep their digits.
    """
    nothing = -np.inf if logs else 0.0
    tree = np.full(2 * k, nothing)
    for j in range(first.size):
        low, high = first[j] + k, last[j] + k
        while low < high:
            if low & 1:
                tree[low] = _plus(tree[low], values[j], logs)
                low += 1
            if high & 1:
                high -= 1
                tree[high] = _plus(tree[high], values[j], logs)
            low >>= 1
            high >>= 1
    sums = np.full(k, nothing)
    for i in range(k):
        node = i + k
        while node > 0:
            sums[i] = _plus(sums[i], tree[node], logs)
            node >>= 1
    return sums


@inner()
def _plus(a: float, b: float, logs: bool) -> float:
    """a + b, or log(e^a + e^b)."""
    if not logs:
        return a + b
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + np.log1p(np.exp(low - high))


@njit(cache=True)
def count_pairs(
    time: Array,
    event: NDArray[np.bool_],
    entry: Array,
    low: Index,
    high: Index,
    rank: Index,
    w: Array,
    v: Array,
) -> Array:
    """The weights Σ w_i v_j of pairs in which i had its event first: concordant, discordant, tied in risk.

    i had its event before j where t_i < t_j, or where t_i = t_j and j is censored; and j was already observed
    then, entry_j < t_i. `rank` has the places of samples by growing risk; those at places low_i … high_i − 1
    are tied with i. Times fall, and a Fenwick tree holds the weights v of those that i is compared with.
    """
    n = time.size
    order, by_entry = np.argsort(-time), np.argsort(-entry)
    tree = np.zeros(n + 1)
    total, start, gone = 0.0, 0, 0
    found = np.zeros(3)
    while start < n:
        t, end = time[order[start]], start
        while end < n and time[order[end]] == t:
            end += 1
        for j in order[start:end]:
            if not event[j]:
                total += _insert(tree, rank[j], v[j])
        while gone < n and entry[by_entry[gone]] >= t:
            total += _insert(tree, rank[by_entry[gone]], -v[by_entry[gone]])
            gone += 1
        for i in order[start:end]:
            if event[i] and w[i] > 0.0:
                below, within = _before(tree, low[i]), _before(tree, high[i])
                found[0] += w[i] * below
                found[1] += w[i] * (total - within)
                found[2] += w[i] * (within - below)
        for j in order[start:end]:
            if event[j]:
                total += _insert(tree, rank[j], v[j])
        start = end
    return found


@inner()
def _insert(tree: Array, place: int, value: float) -> float:
    """Add a value at a place, and give it back."""
    node = place + 1
    while node < tree.size:
        tree[node] += value
        node += node & -node
    return value


@njit(cache=True)
def _before(tree: Array, place: int) -> float:
    """The sum of what was inserted at places 0 … place − 1."""
    total, node = 0.0, place
    while node > 0:
        total += tree[node]
        node -= node & -node
    return total
