"""The Tanimoto kernel: what two sets have in common, of what they have together."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._arguments import shown
from .._fast import similarity
from .base import Kernel, empty_matrix
from .data import Array, Data, dense_pair, n_samples, numeric_pair
from .inner import inner_products, squared_norms
from .stationary import manhattan

_WORD = 8  # bytes of the words whose bits are counted at a time


class Tanimoto(Kernel):
    """The Tanimoto (Jaccard) similarity of sets, |x ∩ x'| / |x ∪ x'|, and its forms for counts and numbers.

    The forms are

        form="minmax"    Σ_i min(x_i, x'_i) / Σ_i max(x_i, x'_i)              x ≥ 0: sets, counts, shares
        form="inner"     ⟨x, x'⟩ / (‖x‖² + ‖x'‖² − ⟨x, x'⟩)                   any numbers

    with k(0, 0) = 1. On vectors of 0 and 1 both are the same. X is dense or sparse.

    Parameters
    ----------
    form : {"minmax", "inner"}, default="minmax"
        The form for vectors that are not 0 and 1. "minmax" refuses negative entries, for which it is not
        positive semidefinite.
    packed : bool, default=False
        Whether each number of X holds eight bits, 0 to 255, as ``np.packbits(bits, axis=1)`` makes them of
        fingerprints. They take an eighth of the memory and are the fastest.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    Notes
    -----
    Both forms are positive semidefinite. For "minmax" on counts, which are sets with repetitions, see
    Ralaivola et al. (2005), on other non-negative numbers Ioffe (2010). For "inner" see Tripp et al. (2023):
    with s = ‖x‖² + ‖x'‖² it is Σ_{r≥1} (⟨x, x'⟩/s)^r, since |⟨x, x'⟩| ≤ s/2, and 1/s = ∫₀^∞ exp(−u‖x‖²)
    exp(−u‖x'‖²) du is a kernel, so that all terms are. A zero vector is similar to itself alone, which adds a
    kernel.

    References
    ----------
    Ralaivola, Swamidass, Saigo & Baldi (2005), "Graph kernels for chemical informatics", Neural Networks 18.

    Ioffe (2010), "Improved consistent sampling, weighted minhash and L1 sketching", ICDM.

    Tripp, Bacallado, Singh & Hernández-Lobato (2023), "Tanimoto random features for scalable molecular
    machine learning", NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Tanimoto
    >>> bits = np.array([[1, 1, 0, 0], [1, 0, 1, 0]])
    >>> Tanimoto()(bits).round(3)
    array([[1.   , 0.333],
           [0.333, 1.   ]])
    >>> bool(np.allclose(Tanimoto(packed=True)(np.packbits(bits, axis=1)), Tanimoto()(bits)))
    True
    """

    def __init__(
        self, form: Literal["minmax", "inner"] = "minmax", packed: bool = False, *, name: str | None = None
    ) -> None:
        self.form = form
        self.packed = packed
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        self._check()
        if self.packed:
            return _of_bits(X, Y, out)
        A, B, symmetric = numeric_pair(X, Y)
        if self.form == "minmax":
            for side in (A,) if symmetric else (A, B):
                _require_non_negative(side)
            if not (_is_binary(A) and (symmetric or _is_binary(B))):
                # With a = Σ x_i: Σ min(x_i, x'_i) = (a + a' − ‖x − x'‖₁)/2, and Σ max the same with a +.
                D = manhattan(A, None if symmetric else B, out)
                a = _sums(A)
                similarity.ratio_of_distances(D, a, a if symmetric else _sums(B))
                return _ones_on_diagonal(D, symmetric)
        G = inner_products(A, B, out)
        a = squared_norms(A)
        similarity.ratio_of_inner(G, a, a if symmetric else squared_norms(B))
        return _ones_on_diagonal(G, symmetric)

    def diag(self, X: Data) -> Array:
        return np.ones(n_samples(X))

    def _check(self) -> None:
        if not isinstance(self.form, str) or self.form not in ("minmax", "inner"):
            raise ValueError(
                f"form={shown(self.form)} was given to Tanimoto; expected 'minmax' for sets and counts, or "
                "'inner' for numbers that may be negative."
            )


def _ones_on_diagonal(K: Array, symmetric: bool) -> Array:
    """K with k(x, x) = 1 to the last digit."""
    if symmetric:
        np.fill_diagonal(K, 1.0)
    return K


def _sums(A: Any) -> Array:
    return np.asarray(A.sum(axis=1), dtype=np.float64).ravel()


def _is_binary(A: Any) -> bool:
    values = A.data if sparse.issparse(A) else A
    return bool(np.all((values == 0.0) | (values == 1.0)))


def _require_non_negative(A: Any) -> None:
    values = A.data if sparse.issparse(A) else A
    if values.size and values.min() < 0.0:
        raise ValueError(
            f"Tanimoto(form='minmax') was given a negative entry ({values.min():.4g}); it is a kernel for "
            "sets, counts and other numbers from 0 on. Take Tanimoto(form='inner') for vectors of any sign."
        )


def _of_bits(X: Data, Y: Data | None, out: Array | None) -> Array:
    """Bits that both have, of those that either has."""
    A, B, symmetric = dense_pair(X, Y, "Tanimoto(packed=True)")
    P = _words(A)
    Q = P if symmetric else _words(B)
    G = empty_matrix(A, B, out)
    similarity.common_bits(P, Q, G)
    a = _count(P)
    similarity.ratio_of_inner(G, a, a if symmetric else _count(Q))
    return G


def _words(A: Array) -> NDArray[np.uint64]:
    """Rows of bytes as words, with zeros at the end."""
    if A.size and not (A.min() >= 0.0 and A.max() <= 255.0 and np.all(A == np.floor(A))):
        raise ValueError(
            "Tanimoto(packed=True) was given numbers that are not bytes; expected whole numbers from 0 to "
            "255, eight bits each, as np.packbits(bits, axis=1) makes them."
        )
    width = -(-A.shape[1] // _WORD) * _WORD
    packed = np.zeros((A.shape[0], width), dtype=np.uint8)
    packed[:, : A.shape[1]] = A
    return packed.view(np.uint64)


def _count(P: NDArray[np.uint64]) -> Array:
    """Return how many bits of each row are 1."""
    return np.asarray(np.bitwise_count(P).sum(axis=1), dtype=np.float64)
