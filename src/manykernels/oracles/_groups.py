"""Columns of which at most one is not zero, such as the indicators of one category: none of their products
says anything that the columns do not say, nor does a power of one of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Groups = NDArray[np.intp]  # (r,): columns of one group share a number; −1 stands for columns of none


def excluded(groups: Groups, prefixes: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.bool_]:
    """(p, len(columns)): whether a product of a prefix (p, d) with a column has two factors of one group."""
    given, more = groups[prefixes], groups[columns]
    found = np.zeros((len(prefixes), len(columns)), dtype=bool)
    for i in range(prefixes.shape[1]):
        found |= (given[:, i, None] == more) & (more >= 0)
        for j in range(i):
            found |= ((given[:, i] == given[:, j]) & (given[:, i] >= 0))[:, None]
    return found


def is_excluded(groups: Groups | None, product: tuple[int, ...]) -> bool:
    """Tell whether a single product has two factors of one group."""
    if groups is None or len(product) < 2:
        return False
    known = [int(g) for g in groups[list(product)] if g >= 0]
    return len(set(known)) < len(known)
