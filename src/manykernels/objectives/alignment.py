"""The objective of two-stage learning: how well a combination of kernels is aligned with the target."""

from __future__ import annotations

from copy import copy
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..grams import Gram

Array = NDArray[np.float64]
_NOTHING = 1e-12  # of the trace: a kernel whose centred norm is smaller does not vary


class Alignment:
    """Centred alignment of K_θ = Σ θ_m K_m with the target kernel K_Y = YYᵀ.

    The alignment is

        ρ̂(θ) = θᵀa / (√(θᵀMθ) τ),      a_m = ⟨K_mc, K_Y⟩_F,      M_kl = ⟨K_kc, K_lc⟩_F,      τ = ‖K_Yc‖_F

    K_Y is never formed: with the columns ỹ_j of Y less their means, a_m = Σ_j ỹ_jᵀ K_m ỹ_j and τ = ‖ỸᵀỸ‖_F.
    Samples that count w_i times (``gram.weight``) have w_i w_j in every sum over pairs, and weighted means. M
    costs a product of all pairs of kernels and is computed only when asked for. Ỹ is scaled to entries of at
    most one, which neither ρ̂ nor its maximum feels, so that no power overflows.

    Parameters
    ----------
    gram : Gram
        The kernels on the training samples.
    Y : ndarray of shape (n_samples, k)
        The factor of the target kernel, as ``measures.target_factor`` makes it.
    center : bool, default=True
        Whether to centre kernels and target.

    Attributes
    ----------
    a : ndarray of shape (n_kernels,)
        The products a_m = ⟨K_mc, K_Y⟩_F.
    tau : float
        The norm τ = ‖K_Yc‖_F of the centred target kernel.
    given : ndarray of shape (n_samples, k)
        The factor of the target kernel as it was given. `Y` is the same, centred and scaled.

    References
    ----------
    Cortes, Mohri & Rostamizadeh (2012), "Algorithms for learning kernels based on centered alignment",
    Journal of Machine Learning Research 13.

    Rostamizadeh (2010), "Theoretical Foundations and Algorithms for Learning with Multiple Kernels", PhD
    thesis, New York University, Def. 2.4.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.objectives import Alignment
    >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> gram = StackGram(np.stack([y @ y.T, np.eye(4)]))
    >>> round(Alignment(gram, y).value(np.array([1.0, 0.0])), 6)
    1.0
    """

    def __init__(self, gram: Gram, Y: Array, *, center: bool = True) -> None:
        self.gram, self.given, self.center = gram, Y, center
        weight = np.ones(len(Y)) if gram.weight is None else gram.weight
        centred = Y - np.average(Y, axis=0, weights=weight) if center else Y
        centred = centred / np.abs(centred).max()
        heavy = weight[:, None] * centred
        self.Y = centred
        self.a = np.asarray(gram.quad(heavy).sum(axis=1))
        self.tau = float(np.linalg.norm(centred.T @ heavy))

    @cached_property
    def uncentred(self) -> Alignment:
        """The alignment of Cristianini et al. (2001): K_m and Y as they are, also where the Gram centres."""
        gram = copy(self.gram)
        gram.mean = None
        return Alignment(gram, self.given, center=False)

    @property
    def codes(self) -> NDArray[np.intp]:
        """(n,): the class of each sample, where the columns of Y are labels ±1 or indicators."""
        Y = self.Y
        return np.asarray(Y.argmax(axis=1) if Y.shape[1] > 1 else Y[:, 0] > 0.0, dtype=np.intp)

    @cached_property
    def M(self) -> Array:
        """Products M_kl of all pairs of kernels, computed when they are first asked for.

        Without centring, the part that centring takes off is added again: with the weighted means r_k of the
        rows of K_k, g_k the mean of these and N = Σw,

            ⟨K_k, K_l⟩ = ⟨K_kc, K_lc⟩ + 2N Σ_i w_i (r_ki − g_k)(r_li − g_l) + N² g_k g_l
        """
        M = self.gram.inner()
        if self.center:
            return M
        mean = self.gram.mean_weight()
        w = np.ones(self.gram.n) if self.gram.weight is None else self.gram.weight
        r = self.gram.products(mean[:, None])[:, :, 0]
        g = r @ mean
        r = (r - g[:, None]) * np.sqrt(w)
        return np.asarray(M + 2.0 * w.sum() * (r @ r.T) + w.sum() ** 2 * np.outer(g, g))

    @cached_property
    def norms(self) -> Array:
        """Norms ‖K_mc‖_F of the kernels."""
        known = "M" in self.__dict__ or not self.center
        norms = np.sqrt(np.diag(self.M)) if known else self.gram.norms()
        flat = np.flatnonzero(~(norms > _NOTHING * self.gram.traces()))
        if flat.size:
            names = self.gram.names or list(map(str, range(self.gram.n_kernels)))
            more = f" (and {flat.size - 1} more)" if flat.size > 1 else ""
            raise ValueError(
                f"kernel {names[flat[0]]!r}{more} is the same for all pairs of samples: its centred norm is "
                "zero, and its alignment is not defined. Leave it out, or change its parameters (a narrower "
                "width, say)."
            )
        return norms

    @property
    def each(self) -> Array:
        """(M,): the alignment of every kernel by itself, in [0, 1]."""
        return np.asarray(np.minimum(self.a / (self.norms * self.tau), 1.0))

    @property
    def cosines(self) -> Array:
        """(M, M): the alignments between kernels, with ones on the diagonal."""
        G = self.M / np.outer(self.norms, self.norms)
        np.fill_diagonal(G, 1.0)
        return np.asarray(G)

    def value(self, theta: Array) -> float:
        """Compute ρ̂(θ), in [−1, 1]; 0 where K_θ does not vary but for rounding.

        Parameters
        ----------
        theta : ndarray of shape (n_kernels,)
            Weights.

        Returns
        -------
        float
            The alignment.
        """
        known = "M" in self.__dict__ or not self.center
        square = theta @ self.M @ theta if known else self.gram.inner(theta[None])[0, 0]
        norm = np.sqrt(max(float(square), 0.0))
        if not norm > _NOTHING * float(np.abs(theta) @ self.gram.traces()):
            return 0.0
        return float(np.clip(theta @ self.a / (norm * self.tau), -1.0, 1.0))
