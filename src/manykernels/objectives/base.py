"""Risks, which one-stage methods minimise: convex functions of the decisions, their duals and gaps.

    P = ½ Σ_m ‖w_m‖²/θ_m + ½h(θ) + R(f),   f = K_θα + b,   D = −R*(−α) − ½h*(q),   q_m = Σ_k α_kᵀK_mα_k

R*(u) = sup_f ⟨u, f⟩ − R(f), and Σ_i α_ik = 0 for every output k where b is fitted. Nothing here takes R for a
sum over samples (`Separable` is), its curvature for diagonal, or the domain of R* for a box.

With covariates Z (n, r), among them a constant where there is an intercept, f = K_θα + Zγ and Zᵀα_k = 0: for
any α, P ≥ D(α) − αᵀZγ, whose last term has no lower bound in γ unless it vanishes. What rounding leaves of
Zᵀα is charged at ten times the largest Zγ that was met (`leak`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ..losses.scalar import EPS
from ..penalties import Penalty
from .rounding import slack, unit, zero_sum

Array = NDArray[np.float64]


@dataclass
class Fit:
    """The machines of all outputs at one kernel.

    Attributes
    ----------
    alpha : ndarray of shape (n_samples, n_outputs)
        Dual variables α.
    intercept : ndarray of shape (n_outputs,) or (n_samples, n_outputs)
        The intercepts b, or Zγ with covariates.
    f : ndarray of shape (n_samples, n_outputs)
        Decisions on the training samples.
    gap : float
        The duality gap.
    solutions : list
        Solutions of the machines, which `curvature` and `move` need.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.objectives import Separable
    >>> y = np.array([[1.0], [2.0], [3.0]])
    >>> risk = Separable(Squared(), y, np.ones((3, 1)), fit_intercept=True)
    >>> risk.solve(np.eye(3), risk.zeros(), tol=1e-9).intercept.round(6).tolist()
    [2.0]
    """

    alpha: Array
    intercept: Array
    f: Array
    gap: float
    solutions: list[Any] = field(default_factory=list, repr=False)  # what `curvature` and `move` need of them


@dataclass(frozen=True)
class Box:
    """A piecewise linear risk as a box: −R*(−α) = ⟨target, α⟩ − tube·‖α‖₁ for lo ≤ α ≤ hi.

    Attributes
    ----------
    target : ndarray of shape (n_samples, n_outputs)
        Coefficients of the linear part.
    lo : ndarray of shape (n_samples, n_outputs)
        Lower bounds.
    hi : ndarray of shape (n_samples, n_outputs)
        Upper bounds.
    tube : float
        Coefficient of the sum of absolute values.
    rows : bool
        Whether this is so only where Σ_k α_ik = 0 for every sample i as well.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Hinge
    >>> from manykernels.objectives import Separable
    >>> y = np.array([[1.0], [-1.0]])
    >>> box = Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True).box()
    >>> box.lo.tolist(), box.hi.tolist()
    ([[0.0], [-1.0]], [[1.0], [0.0]])
    """

    target: Array
    lo: Array
    hi: Array
    tube: float
    rows: bool = False


@dataclass(frozen=True)
class LeastSquares:
    """A risk as least squares: R(f) = ½ Σ_ik cost_i (targets_ik − f_ik)².

    Attributes
    ----------
    targets : ndarray of shape (n_samples, n_outputs)
        Targets.
    cost : ndarray of shape (n_samples,)
        Costs of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.objectives import Separable
    >>> y = np.array([[1.0], [2.0]])
    >>> Separable(Squared(), y, np.full((2, 1), 3.0), fit_intercept=True).least_squares().cost.tolist()
    [3.0, 3.0]
    """

    targets: Array
    cost: Array


class Risk(ABC):
    """Base class of risks: the data fit R(f) of decisions f (n, k), and how it is fitted with one kernel.

    A risk of your own sets `shape`, `fit_intercept` and `smoothness`, and defines what is abstract here. The
    rest follows, and can be overridden by something faster. `solve` is the machine: from it `curvature` and
    `move` know how α moves with the kernel, J(θ) = min_α,b ½αᵀK_θα + R(K_θα + b).

    Attributes
    ----------
    shape : (int, int)
        Numbers n of samples and k of outputs.
    fit_intercept : bool
        Whether each output has an intercept.
    Z : ndarray of shape (n, r) or None
        Orthonormal basis of constant and covariates; None without covariates.
    shift : ndarray or float
        The part that was taken off the targets. Predictions add it again, and round as numbers of its size
        do.
    smoothness : float
        A Lipschitz constant of ∇R, so that R* is strongly convex with modulus 1/smoothness.
    in_few_features : bool
        Whether a fit with few features of all samples is faster than one with a matrix of n × n.
    separable : bool
        Whether R is a sum of losses, one for each sample and output.
    cost : float
        The mean cost of a sample: paths in C begin where n·cost·scale = 1.

    See Also
    --------
    Separable : A sum of losses.
    Cox : The partial likelihood of survival times.

    Examples
    --------
    Half the sum of squared errors at f = 0, and its gradient:

    >>> import numpy as np
    >>> from manykernels.losses import Squared
    >>> from manykernels.objectives import Separable
    >>> y = np.array([[1.0], [3.0]])
    >>> risk = Separable(Squared(), y, np.ones((2, 1)), fit_intercept=True)
    >>> f = risk.zeros()
    >>> risk.terms(f).tolist(), risk.value(f), risk.zero_value(), risk.gradient(f).tolist()
    ([[0.5], [4.5]], 5.0, 5.0, [[-1.0], [-3.0]])

    The best constant function has the dual point α = −∇R. Its entries add up to 0 because an intercept is
    fitted, and both ways to make a point feasible lead back to it:

    >>> risk.constant().tolist(), risk.intercepts(f).tolist(), risk.constant_value()
    ([2.0], [2.0], 1.0)
    >>> alpha = risk.constant_alpha()
    >>> alpha.tolist(), risk.feasible(alpha + 1.0).tolist(), risk.exact(alpha + 1.0).tolist()
    ([[-1.0], [1.0]], [[-1.0], [1.0]], [[-1.0], [1.0]])

    For squared errors −R*(−α) = yᵀα − ½‖α‖². It is 1 at this point, which proves that no constant is better:

    >>> risk.dual_terms(alpha).tolist(), risk.dual_fit(alpha), risk.ray(alpha)
    ([[-1.5], [2.5]], 1.0, (2.0, 2.0))

    With the kernel K = I, α = (y − b)/2:

    >>> fit = risk.solve(np.eye(2), risk.zeros(), tol=1e-9)
    >>> fit.intercept.round(6).tolist(), fit.alpha.round(6).tolist(), round(risk.machine_value(fit), 6)
    ([2.0], [[-0.5], [0.5]], 0.5)

    If decisions are wrong by up to 0.1, R is at most ½(1.1² + 1.1²). Rounding errors change next to nothing:

    >>> f = risk.zeros() + risk.constant()
    >>> round(risk.worst(f, np.full((2, 1), 0.1)), 6)
    1.21
    >>> round(risk.worst_value(f, alpha, largest=1.0), 6), risk.leak(alpha)
    (1.0, 0.0)
    >>> risk.scaled(2.0).value(f), risk.least_squares().cost.tolist()
    (2.0, [1.0, 1.0])
    """

    shape: tuple[int, int]
    fit_intercept: bool
    Z: Array | None = None
    shift: Array | float = 0.0
    smoothness: float = np.inf
    in_few_features: bool = False
    separable: bool = False
    cost: float = 1.0

    # -- the function and its conjugate -----------------------------------------------------------
    @abstractmethod
    def terms(self, f: Array) -> Array:
        """Return numbers that add up to R(f), as many as are added: rounding is judged by their sizes.

        Parameters
        ----------
        f : ndarray of shape (n, k)
            Decisions.

        Returns
        -------
        ndarray
            The numbers.
        """

    @abstractmethod
    def gradient(self, f: Array) -> Array:
        """Compute an element of ∂R(f); −∇R is a dual point.

        Parameters
        ----------
        f : ndarray of shape (n, k)
            Decisions.

        Returns
        -------
        ndarray of shape (n, k)
            A subgradient.
        """

    @abstractmethod
    def dual_terms(self, alpha: Array) -> Array:
        """Return numbers that add up to −R*(−α), or to less where it has no closed form.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        ndarray
            The numbers; −inf outside of the domain.
        """

    @abstractmethod
    def feasible(self, alpha: Array) -> Array:
        """Return a point near α in the domain of R*(−·), with Σα = 0 for each output where b is fitted.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            Any point.

        Returns
        -------
        ndarray of shape (n, k)
            The feasible point.
        """

    @abstractmethod
    def intercepts(self, score: Array) -> Array:
        """Return the b that minimise R(score + b), zero where none is fitted; Zγ with covariates.

        Parameters
        ----------
        score : ndarray of shape (n, k)
            Decisions without intercept.

        Returns
        -------
        ndarray of shape (k,) or (n, k)
            Intercepts, or Zγ.
        """

    # -- the machine ------------------------------------------------------------------------------
    @abstractmethod
    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        """Minimise ½αᵀKα + R(Kα + b) over α and b to a gap of at most `tol`.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            Kernel matrix.
        alpha : ndarray of shape (n, k)
            Dual point to start from.
        tol : float
            The gap that is small enough.

        Returns
        -------
        Fit
            The machines of all outputs.
        """

    @abstractmethod
    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        """Compute B with BᵀB the second derivative of J, and keep what `move` needs.

        Where R has a Hessian W at f, it is RᵀPR with P = (K + W⁻¹)⁻¹, projected against the intercept.

        Parameters
        ----------
        K : ndarray of shape (n, n)
            The combined kernel.
        fit : Fit
            The machines at this kernel.
        R : ndarray of shape (m, n, k)
            Products K_mα of the kernels.

        Returns
        -------
        ndarray
            The matrix B.

        Examples
        --------
        With K = θI, J(θ) = 1/(1 + θ), whose second derivative at θ = 1 is 2/(1 + θ)³ = ¼:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [3.0]])
        >>> risk = Separable(Squared(), y, np.ones((2, 1)), fit_intercept=True)
        >>> fit = risk.solve(np.eye(2), risk.zeros(), tol=1e-9)
        >>> B = risk.curvature(np.eye(2), fit, fit.alpha[None])
        >>> (B.T @ B).round(6).tolist()
        [[0.25]]
        """

    @abstractmethod
    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        """Move α as the machines of `fit` move after a step d of θ: α − P(Σ_m d_m K_mα).

        Parameters
        ----------
        fit : Fit
            The machines at one kernel.
        alpha : ndarray of shape (n, k)
            A dual point.
        Bd : ndarray
            The product B d, where B is that of `curvature`.

        Returns
        -------
        ndarray of shape (n, k)
            The moved point.

        Examples
        --------
        With K = θI, α = (y − b)/(1 + θ). At θ = 1 its derivative is −(y − b)/4:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [3.0]])
        >>> risk = Separable(Squared(), y, np.ones((2, 1)), fit_intercept=True)
        >>> fit = risk.solve(np.eye(2), risk.zeros(), tol=1e-9)
        >>> B = risk.curvature(np.eye(2), fit, fit.alpha[None])
        >>> risk.move(fit, fit.alpha, B @ np.array([0.1])).round(6).tolist()
        [[-0.475], [0.475]]
        """

    # -- other risks ------------------------------------------------------------------------------
    @abstractmethod
    def scaled(self, factor: float) -> Risk:
        """Return the risk factor · R.

        Parameters
        ----------
        factor : float
            The factor.

        Returns
        -------
        Risk
            The scaled risk.
        """

    def subset(self, rows: NDArray[np.intp]) -> Risk | None:
        """Return the risk of some samples, weighing as much as all.

        Parameters
        ----------
        rows : ndarray of int
            Positions of the samples.

        Returns
        -------
        Risk or None
            The risk; None where weights cannot be learned from it.

        Examples
        --------
        Two of four samples cost twice as much each. One sample alone has only one target:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [3.0], [2.0], [5.0]])
        >>> risk = Separable(Squared(), y, np.ones((4, 1)), fit_intercept=True)
        >>> part = risk.subset(np.array([0, 1]))
        >>> part.shape, part.C.tolist(), risk.subset(np.array([0])) is None
        ((2, 1), [[2.0], [2.0]], True)
        """
        return None

    # -- what some methods ask for ----------------------------------------------------------------
    @property
    def label(self) -> str:
        """The name of the risk in messages."""
        return type(self).__name__

    def in_features(self) -> Risk:
        """Return the same risk for kernels whose combinations stay in features.

        Returns
        -------
        Risk
            The risk.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.objectives import Cox
        >>> risk = Cox(np.array([1.0, 1.0]), np.array([1.0, 2.0]), np.ones(2))
        >>> risk.in_features() is risk
        True
        """
        raise TypeError(
            f"{self.label} was given with explicit features, which its machine does not take; expected "
            "kernels as matrices: take approx=None."
        )

    def box(self) -> Box | None:
        """Return the form that the joint interior-point method solves, where this risk has it.

        Returns
        -------
        Box or None
            The box; None where the risk is no piecewise linear one.

        Examples
        --------
        Dual variables of the hinge loss lie in the box 0 ≤ yα ≤ C:

        >>> import numpy as np
        >>> from manykernels.losses import Hinge
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [-1.0]])
        >>> risk = Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True)
        >>> box = risk.box()
        >>> box.lo.tolist(), box.hi.tolist()
        ([[0.0], [-1.0]], [[1.0], [0.0]])
        """
        return None

    def least_squares(self) -> LeastSquares | None:
        """Return the form that methods for least squares solve, where this risk has it.

        Returns
        -------
        LeastSquares or None
            The form; None where the risk is no least squares.
        """
        return None

    def ray(self, alpha: Array) -> tuple[float, float] | None:
        """Return the conjugate along a ray as a parabola, where it is one.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        tuple of (float, float) or None
            The pair (lin, quad) with −R*(−sα) = s·lin − ½s²·quad for 0 ≤ s ≤ `reach`; None where it is no
            parabola.
        """
        return None

    def reach(self, alpha: Array) -> float:
        """Return the largest s with sα in the domain of R*(−·); inf where that is not known.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        float
            The largest factor.

        Examples
        --------
        Dual variables of the hinge loss lie in the box 0 ≤ yα ≤ C:

        >>> import numpy as np
        >>> from manykernels.losses import Hinge
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [-1.0]])
        >>> risk = Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True)
        >>> risk.reach(np.array([[0.5], [-0.5]]))
        2.0
        """
        return np.inf

    @property
    def piecewise_linear(self) -> bool:
        """True if α(θ) jumps from one corner to another, so that steps in θ alone may stall."""
        return False

    @property
    def has_interior(self) -> bool:
        """True if some α with Σα = 0 is strictly inside the box."""
        return True

    # -- what follows -----------------------------------------------------------------------------
    def zeros(self) -> Array:
        """Return decisions and dual points to start from.

        Returns
        -------
        ndarray of shape (n, k)
            Zeros.
        """
        return np.zeros(self.shape)

    def value(self, f: Array) -> float:
        """Compute R(f).

        Parameters
        ----------
        f : ndarray of shape (n, k)
            Decisions.

        Returns
        -------
        float
            The risk.
        """
        return float(np.sum(self.terms(f)))

    def dual_fit(self, alpha: Array) -> float:
        """Compute −R*(−α), from below.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        float
            The value.
        """
        return float(np.sum(self.dual_terms(alpha)))

    def machine_value(self, fit: Fit) -> float:
        """Compute ½ αᵀKα + R(f), the primal value of the machines of a fit.

        Parameters
        ----------
        fit : Fit
            The machines at one kernel.

        Returns
        -------
        float
            The value.
        """
        return 0.5 * float(np.sum(fit.alpha * (fit.f - fit.intercept))) + self.value(fit.f)

    def zero_value(self) -> float:
        """Return R(0), at least a number that can be divided by: objectives are measured against it at first.

        Returns
        -------
        float
            The value.
        """
        return max(self.value(self.zeros()), 1e-300)

    def constant(self) -> Array:
        """Return the best constant function, 0 without an intercept; the best Zγ with covariates.

        Returns
        -------
        ndarray of shape (k,) or (n, k)
            Constants of the outputs, or Zγ.
        """
        return self.intercepts(self.zeros())

    def constant_value(self) -> float:
        """Return the primal value of the best constant function: an upper bound on the optimum.

        Returns
        -------
        float
            The value.
        """
        return self.value(self.zeros() + self.constant())

    def constant_alpha(self) -> Array:
        """Return α = −∇R at the best constant function, made feasible: the solution without any kernel.

        Returns
        -------
        ndarray of shape (n, k)
            The dual point.
        """
        return self.feasible(-self.gradient(self.zeros() + self.constant()))

    def exact(self, alpha: Array) -> Array:
        """Return a feasible point next to α, with Σα = 0 exactly for each output where b is fitted.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        ndarray of shape (n, k)
            The feasible point.
        """
        alpha = self.feasible(alpha)
        if not self.fit_intercept:
            return alpha
        free, ones = np.full(alpha.shape[0], np.inf), np.ones(alpha.shape[0])
        return np.stack([zero_sum(column, -free, free, ones) for column in alpha.T], axis=1)

    def interior(self, alpha: Array) -> Array:
        """Return a point inside of the box with Zᵀα = 0, near α if there is one; with covariates.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            Any point.

        Returns
        -------
        ndarray of shape (n, k)
            The point inside.

        Examples
        --------
        The constant is the only covariate here, so that the entries of α add up to 0:

        >>> import numpy as np
        >>> from manykernels.losses import Hinge
        >>> from manykernels.objectives import Separable
        >>> y = np.array([[1.0], [-1.0]])
        >>> Z = np.full((2, 1), np.sqrt(0.5))
        >>> risk = Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True, Z=Z)
        >>> risk.interior(risk.zeros()).round(6).tolist()
        [[0.05], [-0.05]]
        """
        raise NotImplementedError(f"{self.label} has no box, and no point inside of one.")

    def leak(self, alpha: Array) -> float:
        """Bound what rounding may have left of αᵀZγ over all outputs: 0 without covariates.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.

        Returns
        -------
        float
            The bound.
        """
        return 0.0

    def worst(self, f: Array, off: Array) -> float:
        """Bound R(f + δ) from above for every |δ| ≤ off; risks without `smoothness` have their own bound.

        Parameters
        ----------
        f : ndarray of shape (n, k)
            Decisions.
        off : ndarray of shape (n, k)
            Largest errors of the decisions.

        Returns
        -------
        float
            The bound.
        """
        if not off.any():
            return self.value(f)
        first = float(np.sum(np.abs(self.gradient(f)) * off))
        return self.value(f) + first + 0.5 * self.smoothness * float(np.sum(off * off))

    def worst_value(self, f: Array, alpha: Array, largest: float) -> float:
        """Compute R(f) at the worst that rounding may do to f = K_θα + b.

        Parameters
        ----------
        f : ndarray of shape (n, k)
            Decisions.
        alpha : ndarray of shape (n, k)
            Dual variables.
        largest : float
            The largest value of K_θ.

        Returns
        -------
        float
            An upper bound on R(f).
        """
        off = unit(f.shape[0]) * largest * np.abs(alpha).sum(axis=0) + EPS * (np.abs(f) + np.abs(self.shift))
        return self.worst(f, off)

    def primal(
        self, penalty: Penalty, theta: Array, q: Array, f: Array, alpha: Array, largest: Array | float
    ) -> float:
        """Compute the primal value of w_m = θ_m Φ_mα at the weights that suit it best.

        This is ½ min_θ' Σ‖w_m‖²/θ'_m + h(θ') + R(f). The value is from above: at the worst that rounding may
        have done to f and q (see `rounding`). Where a constant function leaves nothing but rounding errors (a
        constant target, say), they are zero.

        Parameters
        ----------
        penalty : Penalty
            The penalty on the weights.
        theta : ndarray of shape (n_kernels,)
            Weights.
        q : ndarray of shape (n_kernels,)
            The values q(α).
        f : ndarray of shape (n, k)
            Decisions.
        alpha : ndarray of shape (n, k)
            Dual variables.
        largest : ndarray or float
            The largest value of each kernel.

        Returns
        -------
        float
            An upper bound on the optimum.

        Examples
        --------
        At the optimum of one kernel K = I, q = αᵀα = ½:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> from manykernels.penalties import Simplex
        >>> y = np.array([[1.0], [3.0]])
        >>> risk = Separable(Squared(), y, np.ones((2, 1)), fit_intercept=True)
        >>> fit, q = risk.solve(np.eye(2), risk.zeros(), tol=1e-9), np.array([0.5])
        >>> round(risk.primal(Simplex(), np.ones(1), q, fit.f, fit.alpha, largest=1.0), 6)
        0.5
        """
        noise = 1e-25 * self.value(np.zeros_like(f))
        plain = 0.5 * penalty.group_norm(theta * np.sqrt(q)) + self.value(f)
        if plain <= noise and self.constant_value() <= noise:
            return 0.0
        norm = penalty.group_norm(theta * np.sqrt(q + largest * slack(alpha)))
        upper = 0.5 * norm + self.worst_value(f, alpha, float(np.sum(theta * largest)))
        return (1.0 + unit(f.shape[0])) * upper

    def dual(self, alpha: Array, q: Array, penalty: Penalty, largest: Array | float) -> float:
        """Compute the best dual value along the ray sα, s ≥ 0 inside of the domain.

        The value is from below: at a point next to sα that is feasible to the last digit, and the largest q
        that rounding allows for. √q is a seminorm, of which a move δ changes √L ‖δ‖₁ at most.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.
        q : ndarray
            The values q(α) over the whole family.
        penalty : Penalty
            The penalty on the weights.
        largest : ndarray or float
            The largest value L of each kernel.

        Returns
        -------
        float
            A lower bound on the optimum.

        Examples
        --------
        At the optimum of one kernel K = I the value is that of `primal`, also from another point of the ray:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> from manykernels.penalties import Simplex
        >>> y = np.array([[1.0], [3.0]])
        >>> risk = Separable(Squared(), y, np.ones((2, 1)), fit_intercept=True)
        >>> fit, q = risk.solve(np.eye(2), risk.zeros(), tol=1e-9), np.array([0.5])
        >>> round(risk.dual(fit.alpha, q, Simplex(), largest=1.0), 6)
        0.5
        >>> round(risk.dual(2.0 * fit.alpha, 4.0 * q, Simplex(), largest=1.0), 6)
        0.5
        """
        s = self.best_scale(alpha, q, penalty)
        point = self.exact(s * alpha)
        moved = float(np.linalg.norm(np.abs(point - s * alpha).sum(axis=0)))
        there = np.square(s * np.sqrt(np.maximum(q, 0.0)) + np.sqrt(largest) * moved)
        conjugate = penalty.conjugate(there + np.asarray(largest) * slack(point))[0]
        terms = self.dual_terms(point)
        value = float(np.sum(terms)) - 0.5 * conjugate
        value -= unit(alpha.shape[0]) * (float(np.sum(np.abs(terms))) + 0.5 * abs(conjugate))
        value -= self.leak(point)
        return max(value, self.dual_fit(np.zeros_like(alpha)))  # α = 0 needs no kernel

    def best_scale(self, alpha: Array, q: Array, penalty: Penalty) -> float:
        """Find the s ≥ 0 with the largest D(sα), inside of the domain.

        Parameters
        ----------
        alpha : ndarray of shape (n, k)
            A dual point.
        q : ndarray
            The values q(α) of the whole family.
        penalty : Penalty
            The penalty on the weights.

        Returns
        -------
        float
            The factor s.

        Examples
        --------
        For the hinge loss D(sα) = s·yᵀα − ½s²q, which is largest at s = yᵀα/q:

        >>> import numpy as np
        >>> from manykernels.losses import Hinge
        >>> from manykernels.objectives import Separable
        >>> from manykernels.penalties import Simplex
        >>> y = np.array([[1.0], [-1.0]])
        >>> risk = Separable(Hinge(), y, np.ones((2, 1)), fit_intercept=True)
        >>> round(risk.best_scale(np.array([[0.5], [-0.5]]), np.array([0.8]), Simplex()), 6)
        1.25
        """
        longest, ray = self.reach(alpha), self.ray(alpha)
        if ray is not None and penalty.homogeneous:
            linear, quadratic = ray
            curvature = quadratic + penalty.conjugate(q)[0]
            s = min(linear / curvature if curvature > 0 else longest, longest)
            return max(s, 0.0) if np.isfinite(s) else 1.0

        def negative(s: float) -> float:
            return 0.5 * penalty.conjugate(s * s * q)[0] - self.dual_fit(s * alpha)

        top = min(longest, 4.0)
        best = minimize_scalar(negative, bounds=(0.0, top), method="bounded", options={"xatol": 1e-10})
        values = {s: negative(s) for s in (min(1.0, top), float(best.x))}
        return min((s for s in values if np.isfinite(values[s])), key=lambda s: values[s], default=0.0)
