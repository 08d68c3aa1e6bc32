"""An upper bound on the alignment of all combinations of a family, from one look at all its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..grams.base import centred
from ..oracles import LowRank, Oracle
from ..oracles.base import Atom
from .base import Array

PROVEN = 1e-6  # relative: what a bound may be above the kernel that was found
_ROUNDS = 20
_NOTHING = 1e-11  # of ‖S‖ times the trace of a kernel: what rounding leaves of ⟨K, S⟩ = 0
_ABOVE = 1.0 + 1e-7  # times λ, for rounding


def feature_of(gram: Any) -> Array:
    """φ with K = φφᵀ, centred, of the first kernel of a Gram of rank-one kernels."""
    phi = np.asarray(gram.features)[:, 0] * np.sqrt(float(gram.scale[0]))
    return np.asarray(phi - phi.mean())


def residual(
    oracle: Oracle, Y: Array, features: Sequence[Array], theta: Array, S: Array, identity: float = 0.0
) -> Any:
    """S/‖S‖ as the oracle takes it, S = YYᵀ − Σ_i θ_i φ_i φ_iᵀ − ι (I − 11ᵀ/n), `identity` being ι.

    Of rank-one kernels it is the sum of few columns, of which the oracle remembers what it knows.
    """
    size = float(np.linalg.norm(S)) or 1.0
    if not oracle.rank_one:
        return S / size
    one = [np.full((oracle.n, 1), oracle.n**-0.5)] if identity else []
    U = np.column_stack([Y, *features, *one])
    w = np.concatenate([np.ones(Y.shape[1]), -theta, np.full(len(one), identity)])
    return LowRank(U, w / size, -identity / size)


def alignment_bound(oracle: Oracle, Y: Array, atoms: Sequence[Atom], theta: Array) -> float | None:
    """A bound on the alignment of all combinations of the family with T = YYᵀ, Y centred; None if unknown.

    With K = Σ_i θ_i K_ic, β = ⟨K, T⟩/‖K‖² and S = T − βK, let ⟨K_z, S⟩ ≤ λ tr K_zc for all z of the family.
    C = I − 11ᵀ/n has ⟨K_z, C⟩ = tr K_zc, so that for every combination K' = Σ_z μ_z K_zc with μ ≥ 0

        ⟨K', T⟩ = ⟨K', βK + S⟩ ≤ ⟨K', βK + λC⟩ ≤ ‖K'‖ ‖βK + λC‖,      and ρ̂(K') ≤ ‖βK + λC‖/‖T‖.

    λ = 0 proves K the best. The smallest λ = max_z ⟨K_z, S⟩/tr K_zc is found by Dinkelbach's iteration: look
    for the kernel of the largest ⟨K_z, S − λC⟩, and raise λ to its ratio until none is above 0.
    """
    gram = oracle.gram(atoms)
    mean = np.full(oracle.n, 1.0 / oracle.n)
    K = centred(gram.combine(theta), mean)
    T = Y @ Y.T
    scale = float(np.vdot(K, T) / np.vdot(K, K))
    K *= scale
    S = T - K
    features = [feature_of(oracle.gram([atom])) for atom in atoms] if oracle.rank_one else []
    lam, C, tau = 0.0, centred(np.eye(oracle.n), mean), float(np.linalg.norm(T))
    for _ in range(_ROUNDS):
        bound = float(np.linalg.norm(K + lam * C)) / tau
        if bound >= 1.0:  # which no alignment exceeds
            return 1.0
        left = S - lam * C
        found = oracle.best_against(residual(oracle, Y, features, scale * theta, left, lam), 1)
        value = float(found.values[0])
        if not found.upper <= max(value, 0.0) + PROVEN * abs(value):
            return None
        new = centred(oracle.gram(found.atoms[:1]).combine(np.ones(1)), mean)
        trace = float(np.trace(new))
        if value <= _NOTHING * max(trace, 1.0):
            return bound
        if not trace > 0.0:
            return None
        lam = max(lam, float(np.vdot(new, S)) / trace) * _ABOVE
    return None
