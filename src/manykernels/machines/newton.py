"""Newton's method for the smooth losses; for the squared loss its first step is the Cholesky solution."""

from __future__ import annotations

import numpy as np

from .._fast.linalg import factor, solve
from ..losses import Loss
from .base import Array, Machine, Sensitivity, Solution, direction, feasible
from .free import FAR, absorbed, balanced, leak, offset, residual

_IDLE = 3  # steps in a row after which P and the gap are as they were: rounding has the last word
_ROUNDING = 1e-15  # of P


class Newton(Machine):
    """Newton's method for smooth losses.

    At f, with g = Cℓ'(f) and W = Cℓ''(f), α = −g − W(Kα + b − f), solved on the support of W. There
    (K + W⁻¹)α + b1 = f − g/W, and the symmetric form I + W^½KW^½ is factored because it stays well
    conditioned when W vanishes. Steps are halved until the primal decreases, and end where rounding leaves
    nothing to gain. With covariates Z in place of the constant 1, b is Zγ and Σα = 0 is Zᵀα = 0.

    Parameters
    ----------
    loss : Loss
        A smooth loss.
    fit_intercept : bool
        Whether there is an intercept.
    max_iter : int, default=100
        Largest number of steps.
    Z : ndarray of shape (n_samples, n_covariates) or None, default=None
        Covariates in place of the intercept.
    begin : float, ndarray or None, default=None
        The b to start from, where one is known.

    References
    ----------
    Chapelle (2007), "Training a support vector machine in the primal", Neural Computation 19.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import Logistic
    >>> from manykernels.machines import Newton
    >>> K, y, C = np.eye(4), np.array([1.0, 1.0, -1.0, -1.0]), np.ones(4)
    >>> found = Newton(Logistic(), fit_intercept=True).solve(K, y, C, np.zeros(4), tol=1e-9)
    >>> bool(found.gap <= 1e-9)
    True
    """

    def __init__(
        self,
        loss: Loss,
        fit_intercept: bool,
        max_iter: int = 100,
        Z: Array | None = None,
        begin: float | Array | None = None,
    ) -> None:
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.Z = Z
        self.begin = begin  # b to start from, where one is known

    def solve(
        self, K: Array, y: Array, C: Array, alpha: Array, tol: float, previous: Sensitivity | None = None
    ) -> Solution:
        alpha = self._feasible(y, C, alpha)
        score = K @ alpha
        b = self._best(y, score, C) if self.begin is None else self.begin
        best: Solution | None = None
        sensitivity, idle = previous, 0
        for _ in range(self.max_iter):
            sensitivity = self._factor(K, y, C, score + b, sensitivity)
            target, b_target = self._target(K, y, C, score + b, sensitivity, b)
            alpha, b, score, gain = self._line_search(K, y, C, (alpha, b, score), (target, b_target))
            if self.Z is not None and residual(alpha, self.Z) > FAR:  # no sample on the support feels γ
                b = offset(self.loss, y, score, C, self.Z, begin=b)
            solution = self.judged(y, C, alpha, b, score, sensitivity)
            idle = 0 if best is None or gain > 0.0 or solution.gap < 0.5 * best.gap else idle + 1
            if best is None or solution.gap <= best.gap:
                best = solution
            if best.gap <= tol or gain < 0.0 or idle >= _IDLE:
                break
        assert best is not None
        return best

    def _feasible(self, y: Array, C: Array, alpha: Array) -> Array:
        """Σα = 0, or Zᵀα = 0, from the first: else nothing below bounds the optimum."""
        if not self.fit_intercept and self.Z is None and self.loss.smooth:
            return alpha
        lo, hi = (bound * C for bound in self.loss.bounds(y))
        if not self.fit_intercept and self.Z is None:
            return np.clip(alpha, lo, hi)
        return feasible(alpha, lo, hi) if self.Z is None else balanced(alpha, lo, hi, C, self.Z)

    def _best(self, y: Array, score: Array, C: Array) -> float | Array:
        """The b, or Zγ, that suits these scores best."""
        if self.Z is not None:
            return offset(self.loss, y, score, C, self.Z)
        return self.loss.intercept(y, score, C) if self.fit_intercept else 0.0

    def solve_together(self, K: Array, Y: Array, C: Array) -> list[Solution]:
        """Solve the squared loss exactly for all columns of Y: one factorisation serves them all.

        (K + diag(1/C))α + b1 = y, and Σα = 0 where there is an intercept; Zγ for b1 with covariates.

        Parameters
        ----------
        K : ndarray of shape (n_samples, n_samples)
            Kernel matrix.
        Y : ndarray of shape (n_samples, n_outputs)
            Targets.
        C : ndarray of shape (n_samples,)
            Costs of the samples.

        Returns
        -------
        list of Solution
            One solution for each output.

        Examples
        --------
        With K = I, C = 1 and b = 2, α = (y − b)/2 for each column of Y:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.machines import Newton
        >>> Y = np.array([[1.0, 0.0], [3.0, 4.0]])
        >>> both = Newton(Squared(), fit_intercept=True).solve_together(np.eye(2), Y, np.ones(2))
        >>> [found.alpha.round(6).tolist() for found in both], [round(found.intercept, 6) for found in both]
        ([[-0.5, 0.5], [-1.0, 1.0]], [2.0, 2.0])
        """
        P = self._factor(K, Y[:, 0], C, Y[:, 0], None)
        u, b = solve(P.factor, P.root[:, None] * Y), np.zeros(Y.shape[1])
        if self.Z is not None:
            V = solve(P.factor, P.root[:, None] * self.Z)
            gamma = absorbed(V, P.root, self.Z, self.Z.T @ (P.root[:, None] * u))
            u -= V @ gamma
            b = self.Z @ gamma
        elif self.fit_intercept:
            v = solve(P.factor, P.root)
            b = (P.root @ u) / (P.root @ v)
            u -= np.outer(v, b)
        alpha = P.root[:, None] * u
        score = K @ alpha
        offsets = [float(v) for v in b] if b.ndim == 1 else list(b.T)
        return [self.judged(Y[:, k], C, alpha[:, k], offsets[k], score[:, k], P) for k in range(Y.shape[1])]

    def sensitivity(self, K: Array, y: Array, C: Array, solution: Solution) -> Sensitivity:
        assert solution.sensitivity is not None
        return solution.sensitivity

    def _factor(self, K: Array, y: Array, C: Array, f: Array, previous: Sensitivity | None) -> Sensitivity:
        W = C * self.loss.hessian(y, f)
        support = np.flatnonzero(W > 0.0)
        root = np.sqrt(W[support])
        if (
            previous is not None
            and np.array_equal(previous.root, root)
            and np.array_equal(previous.support, support)
        ):
            return previous
        A = K if support.size == K.shape[0] else K[np.ix_(support, support)]
        A = A * root
        A *= root[:, None]
        A.flat[:: support.size + 1] += 1.0
        L = factor(A)
        Z = None if self.Z is None else self.Z[support]
        return Sensitivity(support, L, root, direction(L, root, self.fit_intercept, Z))

    def _target(
        self, K: Array, y: Array, C: Array, f: Array, P: Sensitivity, b: float | Array
    ) -> tuple[Array, float | Array]:
        """The full Newton step's α and b; `b` is what it is now."""
        S, D = P.support, P.root
        g = C * self.loss.gradient(y, f)
        alpha = -g
        z = f[S] - g[S] / D**2
        if S.size < f.size:
            rest = alpha.copy()
            rest[S] = 0.0
            if rest.any():
                z -= K[S] @ rest
        u = solve(P.factor, D * z)
        if self.Z is not None:
            V = solve(P.factor, D[:, None] * self.Z[S]) if S.size else np.zeros((0, self.Z.shape[1]))
            gamma = self.Z.T @ b  # and Zᵀα there, which the rest of the step takes away
            u -= V @ gamma
            alpha[S] = D * u
            step = absorbed(V, D, self.Z[S], self.Z.T @ alpha)
            alpha[S] -= D * (V @ step)
            return alpha, self.Z @ (gamma + step)
        b = 0.0
        if self.fit_intercept:
            v = solve(P.factor, D)
            # Σα = 0 over the support and what the linear parts of the loss pull
            b = float((D @ u + (alpha.sum() - alpha[S].sum())) / (D @ v)) if S.size else 0.0
            u -= b * v
        alpha[S] = D * u
        return alpha, b

    def _line_search(
        self,
        K: Array,
        y: Array,
        C: Array,
        now: tuple[Array, float | Array, Array],
        target: tuple[Array, float | Array],
    ) -> tuple[Array, float | Array, Array, float]:
        """The point after the step, and by how much P fell: 0 up to rounding, −∞ where no step was taken."""
        alpha, b, score = now
        da, db = target[0] - alpha, target[1] - b
        ds = K @ da

        def primal(t: float) -> float:
            fit = C @ self.loss.value(y, score + t * ds + b + t * db)
            return float(0.5 * (alpha + t * da) @ (score + t * ds) + fit)

        start, t = primal(0.0), 1.0
        while not (after := primal(t)) <= start + 1e-12 * abs(start) and t > 1e-10:
            t *= 0.5
        if t <= 1e-10:
            return alpha, b, score, -np.inf
        gain = start - after if start - after > _ROUNDING * abs(start) else 0.0
        return alpha + t * da, b + t * db, score + t * ds, gain

    def judged(
        self,
        y: Array,
        C: Array,
        alpha: Array,
        b: float | Array,
        score: Array,
        sensitivity: Sensitivity | None = None,
    ) -> Solution:
        """Return α and b as a solution, with the gap of the loss at them.

        Parameters
        ----------
        y : ndarray of shape (n_samples,)
            Targets.
        C : ndarray of shape (n_samples,)
            Costs of the samples.
        alpha : ndarray of shape (n_samples,)
            Dual variables α.
        b : float or ndarray of shape (n_samples,)
            The intercept, or Zγ with covariates.
        score : ndarray of shape (n_samples,)
            The product Kα.
        sensitivity : Sensitivity or None, default=None
            How the solution moves with the kernel, if it is known.

        Returns
        -------
        Solution
            The solution.

        Examples
        --------
        With K = I the optimum has no gap. That of α = 0, ½(1 + 1), is the whole risk of the constant:

        >>> import numpy as np
        >>> from manykernels.losses import Squared
        >>> from manykernels.machines import Newton
        >>> machine, y, C = Newton(Squared(), fit_intercept=True), np.array([1.0, 3.0]), np.ones(2)
        >>> alpha, none = np.array([-0.5, 0.5]), np.zeros(2)
        >>> machine.judged(y, C, alpha, 2.0, alpha).gap, machine.judged(y, C, none, 2.0, none).gap
        (0.0, 1.0)
        """
        f = score + b
        conjugate = C @ self.loss.conjugate(y, -alpha / C)
        gap = float(alpha @ score) + float(C @ self.loss.value(y, f)) + float(conjugate)
        gap += 0.0 if self.Z is None else leak(alpha, np.asarray(b), self.Z)
        return Solution(alpha, b, f, max(gap, 0.0), sensitivity)
