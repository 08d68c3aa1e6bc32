"""Bounds on the steps of the algorithms of Afkanpour (2013): Theorem 4.1, Corollary 4.3 and Theorem 5.1
as numbers.

They bound J(θ) − min J for the optimal value J of the machine at K_θ, with ∂J/∂θ_z = −½q_z(α(θ)), before a
step is taken. A gap that a fit reports is of the fit itself, and mostly far smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._common import Readable, count, number, probability


@dataclass(frozen=True, repr=False)
class MirrorDescent(Readable):
    """The bounds of `mirror_descent`.

    Attributes
    ----------
    step : float
        The constant step η.
    expected : float
        E J(mean of θ) − min J is at most that.
    tail : float or None
        J(mean of θ) − min J is at most that with probability 1 − ε; None without ε.

    Examples
    --------
    >>> from manykernels.bounds import mirror_descent
    >>> mirror_descent(100, B=1.0, delta=0.5).expected
    0.1
    """

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
    """Bound the error of stochastic mirror descent after T steps.

        η = √(2αδ/(BT)),      E J(θ̄) − min J ≤ √(2Bδ/(αT)),      θ̄ = (1/T) Σ_k θ^(k−1)

    It assumes a potential Ψ that is α-strongly convex in some norm, δ = max Ψ − min Ψ over the set, and
    unbiased estimates of the gradient with E‖ĝ‖_*² ≤ B in the dual norm. If even ‖ĝ‖_*² ≤ B always, then with
    probability at least 1 − ε

        J(θ̄) − min J ≤ √(2Bδ/(αT)) + 2D √(2B log(1/ε)/T),      D ≥ ‖θ − θ'‖ for all θ, θ' of the set.

    Parameters
    ----------
    T : int
        Number of steps.
    B : float
        Bound on the second moment of the estimates of the gradient.
    delta : float
        Range δ of the potential over the set.
    alpha : float, default=1.0
        Modulus α of strong convexity of the potential.
    epsilon : float or None, default=None
        Probability ε that the second bound fails; None computes the first alone.
    diameter : float or None, default=None
        The diameter D of the set. None stands for 2√(2δ/α), by ½α‖θ − θ^(0)‖² ≤ Ψ(θ) − Ψ(θ^(0)) ≤ δ and the
        triangle inequality: the last term is then 8√(Bδ log(1/ε)/(αT)). For Ψ = ½‖·‖₂² on the positive part
        of the unit ball D = √2.

    Returns
    -------
    MirrorDescent
        The step and the bounds.

    Notes
    -----
    Afkanpour (2013), Eq. 4.6 prints 4 for 8. Its proof has ½α‖θ − θ*‖² ≤ Ψ(θ) − Ψ(θ*), which is false in
    general (Ψ = ½‖·‖², θ and θ* of the same length), and true of θ* = θ^(0).

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Thm
    4.1.

    Examples
    --------
    >>> from manykernels.bounds import mirror_descent
    >>> found = mirror_descent(100, B=1.0, delta=0.5, epsilon=0.05)
    >>> found.expected, bool(found.tail > found.expected)
    (0.1, True)
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
    """Bound the error of SGD-1s after T steps on weights ‖θ‖₂ ≤ 1, θ ≥ 0, one kernel drawn in each.

        η = 1/√(BT),      E J(θ̄) − min J ≤ √(B/T),      B = C² max_z p_z/s_z

    with p_z = |g_z|/‖g‖₁ and s_z the probability of drawing z.

    Parameters
    ----------
    T : int
        Number of steps.
    gradient : float
        The bound C ≥ ‖∇J(θ)‖₁ = ½ Σ_z q_z(α(θ)) for all θ of the set.
    ratio : float, default=1.0
        The largest p_z/s_z, at least 1: 1 for draws by the gradient, however many kernels there are, and up
        to their number for uniform draws.
    epsilon : float or None, default=None
        With a number there is also the bound of `mirror_descent` with probability 1 − ε (D = √2), and
        B = (C max_z p_z/s_z)² ≥ ‖ĝ‖₂² for both.

    Returns
    -------
    MirrorDescent
        The step and the bounds.

    Notes
    -----
    Afkanpour (2013), Cor. 4.3 prints B = ½C² max (p/s). That contradicts Theorem 4.1 there: with α = 1 and δ
    = ½ the bound √(2Bδ/(αT)) is √(B/T) for the B of the theorem, E‖ĝ‖₂² = C² Σ_z p_z²/s_z ≤ C² max (p/s),
    without ½.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Cor.
    4.3.

    Afkanpour, György, Szepesvári & Bowling (2013), "A Randomized Mirror Descent Algorithm for Large Scale
    Multiple Kernel Learning", ICML, Cor. 3.3.

    Examples
    --------
    >>> from manykernels.bounds import stochastic_gradient
    >>> stochastic_gradient(100, gradient=1.0).expected
    0.1
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
    """Bound the error of greedy coordinate descent after k steps, J(θ^(k)) − min J ≤ 2C_J/(k + 2) + ε.

    It assumes that J is convex on the simplex Θ, and that J((1 − η)x + ηz) ≤ J(x) + η⟨∇J(x), z − x⟩ + ½C_J η²
    there. Steps go towards the kernel of the largest −∂J/∂θ_z, by η_k = 2/(k + 1) or by exact line search.
    For the squared distance ½‖Σ_z θ_z K_z − T‖² of two-stage learning C_J = max_{x, z} ‖K_x − K_z‖_F².

    Parameters
    ----------
    k : int
        Number of steps, at least 1.
    curvature : float
        The curvature C_J of J on the simplex.
    error : float, default=0.0
        The ε by which −∂J/∂θ_z of the kernel that is taken may be below the largest.

    Returns
    -------
    float
        The bound.

    Notes
    -----
    In h_k ≤ (1 − η_k) h_{k−1} + η_k ε + ½C_J η_k² the number h = 2C_J/(k + 2) + ε reproduces itself, so that
    ε enters once; Afkanpour (2013) has 2ε.

    References
    ----------
    Afkanpour (2013), "Multiple Kernel Learning with Many Kernels", PhD thesis, University of Alberta, Thm
    5.1.

    Examples
    --------
    >>> from manykernels.bounds import greedy_bound
    >>> greedy_bound(8, curvature=5.0)
    1.0
    """
    k = count("k", k, 1, "steps")
    C = number("curvature", curvature, "C_J, the curvature of J on the simplex", zero=True)
    return 2.0 * C / (k + 2.0) + number("error", error, "how far the search may be off", zero=True)
