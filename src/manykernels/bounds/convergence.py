"""How many steps of the algorithms of 000 are enough: Theorem 4.1, Corollary 4.3 and Theorem 5.1 as numbers.

They bound J(θ) − min J for the optimal value J of the machine at K_θ, with ∂J/∂θ_z = −½q_z(α(θ)), before a
step is taken. A gap that a fit reports is of the fit itself, and mostly far smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._common import Readable, count, number, probability


@dataclass(frozen=True, repr=False)
class MirrorDescent(Readable):
    """E J(mean of θ) − min J ≤ expected with the constant `step` η; `tail` with probability 1 − epsilon."""

    step: float
    expected: float
    tail: float | None


def mirror_descent(
    T: int,
    *,
    B: float,
    delta: float,
    alpha: float = 1.0,
    epsilon: float | None = None,
    diameter: float | None = None,
) -> MirrorDescent:
    """Stochastic mirror descent after T steps (000 Thm 4.1).

        η = √(2αδ/(BT)),      E J(θ̄) − min J ≤ √(2Bδ/(αT)),      θ̄ = (1/T) Σ_k θ^(k−1)

    Assumes a potential Ψ that is α-strongly convex in some norm, δ = max Ψ − min Ψ over the set, and unbiased
    estimates of the gradient with E‖ĝ‖_*² ≤ B in the dual norm. If even ‖ĝ‖_*² ≤ B always, then with
    probability at least 1 − ε

        J(θ̄) − min J ≤ √(2Bδ/(αT)) + 2D √(2B log(1/ε)/T),      D ≥ ‖θ − θ'‖ for all θ, θ' of the set.

    `diameter` is D. Without it, D = 2√(2δ/α), by ½α‖θ − θ^(0)‖² ≤ Ψ(θ) − Ψ(θ^(0)) ≤ δ and the triangle
    inequality: the last term is 8√(Bδ log(1/ε)/(αT)). 000 Eq. 4.6 prints 4 for 8. Its proof has ½α‖θ − θ*‖² ≤
    Ψ(θ) − Ψ(θ*), which is false in general (Ψ = ½‖·‖², θ and θ* of the same length), and true of θ* = θ^(0).
    For Ψ = ½‖·‖₂² on the positive part of the unit ball D = √2.
    """
    T, B = count("T", T, 1, "steps"), number("B", B, "E‖ĝ‖_*² is at most B", zero=True)
    delta = number("delta", delta, "max Ψ − min Ψ over the set", zero=True)
    alpha = number("alpha", alpha, "how strongly convex the potential is")
    step = math.sqrt(2.0 * alpha * delta / (B * T)) if B > 0.0 else math.inf
    expected = math.sqrt(2.0 * B * delta / (alpha * T))
    if epsilon is None:
        return MirrorDescent(step, expected, None)
    D = 2.0 * math.sqrt(2.0 * delta / alpha) if diameter is None else diameter
    D = number("diameter", D, "‖θ − θ'‖ is at most that", zero=True)
    deviation = 2.0 * D * math.sqrt(2.0 * B * math.log(1.0 / probability(epsilon, "epsilon")) / T)
    return MirrorDescent(step, expected, expected + deviation)


def stochastic_gradient(
    T: int, *, gradient: float, ratio: float = 1.0, epsilon: float | None = None
) -> MirrorDescent:
    """SGD-1s after T steps on weights ‖θ‖₂ ≤ 1, θ ≥ 0, one kernel drawn in each (000 Cor. 4.3; 001 Cor. 3.3).

        η = 1/√(BT),      E J(θ̄) − min J ≤ √(B/T),      B = C² max_z p_z/s_z

    `gradient` is C ≥ ‖∇J(θ)‖₁ = ½ Σ_z q_z(α(θ)) for all θ of the set, p_z = |g_z|/‖g‖₁, s_z the probability
    of drawing z, and `ratio` the largest p_z/s_z: 1 for draws by the gradient, however many kernels there
    are, and up to their number for uniform draws. With `epsilon` there is also the bound of
    :func:`mirror_descent` with probability 1 − ε (D = √2), and B = (C max_z p_z/s_z)² ≥ ‖ĝ‖₂² for both.

    The text prints B = ½C² max (p/s). That contradicts its Theorem 4.1: with α = 1 and δ = ½ the bound
    √(2Bδ/(αT)) is √(B/T) for the B of the theorem, E‖ĝ‖₂² = C² Σ_z p_z²/s_z ≤ C² max (p/s), without ½.
    """
    C = number("gradient", gradient, "‖∇J(θ)‖₁ is at most that for all θ", zero=True)
    ratio = number("ratio", ratio, "the largest p_z/s_z, at least 1")
    if ratio < 1.0:
        raise ValueError(
            f"ratio={ratio!r} was given; expected at least 1: both p and s sum to one, so that p_z/s_z "
            "cannot be below 1 for all z."
        )
    if epsilon is None:
        return mirror_descent(T, B=C * C * ratio, delta=0.5)
    return mirror_descent(T, B=(C * ratio) ** 2, delta=0.5, epsilon=epsilon, diameter=math.sqrt(2.0))


def greedy_bound(k: int, *, curvature: float, error: float = 0.0) -> float:
    """J(θ^(k)) − min J ≤ 2C_J/(k + 2) + ε after k ≥ 1 steps of greedy coordinate descent (000 Thm 5.1).

    Assumes J convex on the simplex Θ, steps of η_k = 2/(k + 1) or by exact line search towards the kernel of
    the largest −∂J/∂θ_z, and J((1 − η)x + ηz) ≤ J(x) + η⟨∇J(x), z − x⟩ + ½C_J η² on Θ: `curvature` is C_J.
    For the squared distance ½‖Σ_z θ_z K_z − T‖² of two-stage learning C_J = max_{x, z} ‖K_x − K_z‖_F².

    `error` is ε, by which −∂J/∂θ_z of the kernel that is taken may be below the largest. In
    h_k ≤ (1 − η_k) h_{k−1} + η_k ε + ½C_J η_k² the number h = 2C_J/(k + 2) + ε reproduces itself, so that ε
    enters once; the text has 2ε.
    """
    k = count("k", k, 1, "steps")
    C = number("curvature", curvature, "C_J, the curvature of J on the simplex", zero=True)
    return 2.0 * C / (k + 2.0) + number("error", error, "how far the search may be off", zero=True)
