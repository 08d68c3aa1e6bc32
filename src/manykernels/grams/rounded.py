"""Kernels kept in single precision, with the exact ones behind them.

A stack in float32 takes half of the memory. An entry is off by at most 2⁻²⁴ of itself, |K̃_ij − K_ij| ≤
u |K_ij| ≤ u L with L the largest diagonal entry, so that for every z

    |zᵀ(K̃ − K)z| ≤ u L ‖z‖₁².

Solvers see K̃. Constants (scales, means, what samples without a view have) are those of K, and so is the
certificate (`fitting/restated.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._fast import stack as fast
from .base import Gram
from .blocks import BlockGram
from .stack import StackGram

ENTRY = 2.0**-24  # u: a number that is rounded to the nearest float32 is off by at most this share of itself


class RoundedGram(StackGram):
    """The kernels of another Gram, evaluated once and kept in float32.

    Parameters
    ----------
    whole : BlockGram
        The exact kernels, with their scales and means.
    stack : ndarray of shape (n_kernels, n, n) or None, default=None
        The same kernels in float32, raw; None evaluates them.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import BlockGram, RoundedGram
    >>> from manykernels.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0]])
    >>> gram = RoundedGram(BlockGram([Gaussian(1.0)], X, n=2, slots=0))
    >>> float(gram.combine(np.ones(1))[0, 1]), float(gram.exact().combine(np.ones(1))[0, 1])
    (0.3678794503211975, 0.36787944117144233)
    """

    entry = ENTRY

    def __init__(self, whole: BlockGram, stack: NDArray[np.float32] | None = None) -> None:
        super().__init__(evaluated(whole) if stack is None else stack, whole.scale, whole.mean)
        self.whole, self.names = whole, whole.names

    def exact(self) -> Gram:
        return self.whole.rescaled(self.scale)

    def subset(self, rows: NDArray[np.intp]) -> RoundedGram:
        part = np.ascontiguousarray(self.stack[:, rows[:, None], rows], dtype=np.float32)
        found = RoundedGram(self.whole.subset(rows), part)
        found.scale = self.scale
        return found


def evaluated(gram: Gram) -> NDArray[np.float32]:
    """All raw kernels of a Gram, (M, n, n), each entry rounded to float32."""
    stack = np.empty((gram.n_kernels, gram.n, gram.n), dtype=np.float32)
    with np.errstate(over="ignore"):  # the fit says which kernel is not finite
        for m, lo, hi, block in gram._blocks(gram._atoms(None)):
            stack[m, lo:hi, :hi] = block
    for K in stack:
        fast.mirror(K)
    return stack
