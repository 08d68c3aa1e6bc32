"""The risk of times to an event: the negative logarithm of Cox's partial likelihood (Cox 1972).

With the risk set R_l of the l-th event time, u_j = w_j e^{f_j}, S_l = Σ_{j∈R_l} u_j and costs c_i = C w_i of
events i,

    R(f) = Σ_l [d_l c̄_l log S_l − Σ_{i∈D_l} c_i f_i]
    ∇R_j = u_j Λ_j − c_j,      Λ_j = Σ_{l: j∈R_l} d_l c̄_l/S_l

over the d_l events D_l of each time, c̄_l their mean cost (Breslow 1974). Efron's (1977) ties have
c̄_l Σ_r log(S_l − (r/d_l)E_l), E_l the sum of u over D_l, in place of d_l c̄_l log S_l. Strata have risk sets
of their own. A constant that is added to f, in any stratum, changes nothing, so that there is no intercept.

**The conjugate** has a closed form where risk sets are nested. m = c − α is the mass that a sample takes of
the events; what is left of events before l for later samples, A_l = Σ_{t_j<l} α_j, must not be negative. At
∇R = −α the hazards follow from Λ_l/Λ_{l−1} = (A_l + d_l c̄_l)/A_l, and for Breslow's ties

    R*(−α) = Σ_j m_j log(m_j/w_j) − Σ_l [(A_l + d_l c̄_l) log(A_l + d_l c̄_l) − A_l log A_l],

for m ≥ 0, A ≥ 0 and Σα = 0 in every stratum. Efron's ties ask for the share ρ_l = E_l/S_l, a root of
ρ(A_l + c̄_l Σ_r (1 − r/d)/(1 − ρr/d)) = Σ_{D_l} m, at each time with several events. So D(α) is exact for
every α, and nothing has to be known of the f it came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ..machines.free import basis, residual
from ..machines.joint import Inverse, solve_joint
from ..penalties import Penalty
from .base import Fit, Risk
from .intervals import Intervals
from .risk_sets import RiskSets, Root, Suffixes
from .rounding import slack, unit

Array = NDArray[np.float64]
_WIDE = 10.0  # times the largest Zγ that was met: none that is optimal is larger
_STEPS = 60  # of Newton's method in γ
_UNFELT = 1e-11  # of the largest curvature in γ: directions that no sample feels


class Cox(Risk):
    """The negative logarithm of Cox's partial likelihood of survival times.

    The module has its formula, its dual bound and its risk sets.

    Parameters
    ----------
    event : ndarray of shape (n,)
        1 where the time is that of an event, 0 where it is censored.
    time : ndarray of shape (n,)
        Times.
    C : ndarray of shape (n,)
        Costs of the samples, positive.
    w : ndarray of shape (n,) or None, default=None
        Weights of the samples inside of the risk sets; None stands for 1.
    stratum : ndarray of shape (n,) or None, default=None
        Strata, each of which has risk sets of its own; None stands for one stratum.
    entry : ndarray of shape (n,) or None, default=None
        Times from which samples are observed (left truncation); None stands for all from the start.
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted, as for ``losses.PartialLikelihood``.
    Z : ndarray of shape (n, r) or None, default=None
        Orthonormal columns that span constant and covariates, where there are covariates.

    Attributes
    ----------
    sets : RiskSets
        The risk sets of all events.
    extent : float
        The largest ‖Zγ‖ so far.

    References
    ----------
    Cox (1972), "Regression models and life-tables", Journal of the Royal Statistical Society B 34.

    Efron (1977), "The efficiency of Cox's likelihood function for censored data", Journal of the American
    Statistical Association 72.

    Examples
    --------
    Of two samples the first has its event first, so that R(f) = log(e^{f_1} + e^{f_2}) − f_1:

    >>> import numpy as np
    >>> from manykernels.objectives import Cox
    >>> risk = Cox(np.array([1.0, 1.0]), np.array([1.0, 2.0]), np.ones(2))
    >>> f = np.zeros(2)
    >>> round(risk.value(f[:, None]), 6) == round(risk.joint_value(f), 6) == round(float(np.log(2)), 6)
    True
    >>> risk.joint_gradient(f).round(6).tolist()
    [-0.5, 0.5]
    >>> half = risk.joint_root(f).left(np.eye(2))
    >>> (half.T @ half).round(6).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]

    Without kernels f is 0, and the dual point −∇R(f) has no gap. Scores are centred, since a constant changes
    nothing:

    >>> points = risk.joint_points(np.array([0.5, -0.5]), f)
    >>> [point.round(6).tolist() for point in points]
    [[0.5, -0.5], [0.5, -0.5]]
    >>> round(abs(risk.joint_gap(points[1], np.zeros(2), f)), 6)
    0.0
    >>> risk.beside(np.array([1.0, 3.0]), 0.0).tolist()
    [-2.0, -2.0]
    """

    in_few_features = True

    def __init__(
        self,
        event: Array,
        time: Array,
        C: Array,
        *,
        w: Array | None = None,
        stratum: Array | None = None,
        entry: Array | None = None,
        ties: str = "breslow",
        Z: Array | None = None,
    ) -> None:
        n = event.size
        self.event, self.time, self.C, self.ties, self.Z = event, time, C, ties, Z
        self.w = np.ones(n) if w is None else w
        self.stratum = np.zeros(n) if stratum is None else stratum
        self.entry = entry
        self.fit_intercept = False
        self.shape = (n, 1)
        c = np.where(event > 0, C, 0.0)
        given = event, time, self.stratum, self.w, c, ties == "efron"
        late = entry is not None and bool(np.any(entry > _before_all(event, time, self.stratum)))
        self.sets: RiskSets = Intervals(*given, entry) if late and entry is not None else Suffixes(*given)
        self.cost = float(c.sum()) / n
        # the covariance of a distribution has no eigenvalue above ½
        self.smoothness = 0.5 * float(self.sets.total.max())
        self.extent = 0.0

    @property
    def label(self) -> str:
        return f"the partial likelihood with ties={self.ties!r}"

    # -- the function and its conjugate -----------------------------------------------------------
    def terms(self, f: Array) -> Array:
        return self.sets.terms(self._sorted(f))

    def gradient(self, f: Array) -> Array:
        return self.joint_gradient(f[:, 0])[:, None]

    def dual_terms(self, alpha: Array) -> Array:
        return -self.sets.conjugate(self._sorted(alpha))

    def feasible(self, alpha: Array) -> Array:
        """A point of the domain next to α, with Zᵀα = 0: −∇R(f + Zγ) at the f of α and the best γ."""
        inside = self.sets.inside(self._sorted(alpha))
        found = self.sets.given(inside)[:, None]
        if self.Z is None or residual(found[:, 0], self.Z) <= 1.0:
            return found
        f = self.sets.given(self.sets.decisions(inside))
        return -self.joint_gradient(f + self.beside(f, 0.0))[:, None]

    def intercepts(self, score: Array) -> Array:
        beside = self.beside(score[:, 0], 0.0)
        return beside[:, None] if self.Z is not None else beside[:1]

    def zero_value(self) -> float:
        return max(abs(self.value(self.zeros())), 1e-3 * float(self.sets.total.sum()), 1e-300)

    def reach(self, alpha: Array) -> float:
        """m = c − sα ≥ 0: what is left of events, sA, cannot become negative."""
        a, c = alpha[:, 0], np.where(self.event > 0, self.C, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            limits = np.where(a > 0.0, c / a, np.inf)
        limits[np.abs(a) <= 1e-14 * float(c.max())] = np.inf
        return max(float(limits.min()), 1.0)

    def leak(self, alpha: Array) -> float:
        if self.Z is None:
            return 0.0
        rounding = unit(alpha.shape[0]) * (np.abs(self.Z).T @ np.abs(alpha))
        return _WIDE * max(self.extent, 1.0) * float(np.linalg.norm(np.abs(self.Z.T @ alpha) + rounding))

    def dual(self, alpha: Array, q: Array, penalty: Penalty, largest: Array | float) -> float:
        """Bound R*, which has no closed form, by its values at α and at 0: R* is convex.

        D(sα) ≥ −sR*(−α) − (1 − s)R*(0) − ½h*(s²q), 0 ≤ s ≤ 1, which is exact at s = 1.
        """
        if self.sets.closed:
            return super().dual(alpha, q, penalty, largest)
        point, none = self.exact(alpha), -self.sets.at_zero
        sizes, moved = np.abs(point).sum(axis=0), np.abs(point - alpha).sum(axis=0)
        allowed = q + largest * (slack(point) + float((2.0 * sizes + moved) @ moved))
        whole = self.dual_fit(point) - self.leak(point)

        def negative(s: float) -> float:
            return 0.5 * penalty.conjugate(s * s * allowed)[0] - s * whole - (1.0 - s) * none

        if not np.isfinite(whole):
            return none
        found = minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10})
        return -min(negative(float(found.x)), negative(1.0), negative(0.0))

    def subset(self, rows: NDArray[np.intp]) -> Cox | None:
        """The risk of some samples, events of which cost as much as all did; None where there is none."""
        share = float(np.where(self.event > 0, self.C, 0.0)[rows].sum()) / max(
            float(self.sets.total.sum()), 1e-300
        )
        if not share > 0.0:
            return None
        entry = None if self.entry is None else self.entry[rows]
        Z = None if self.Z is None else basis(self.Z[rows])
        return Cox(
            self.event[rows],
            self.time[rows],
            self.C[rows] / share,
            w=self.w[rows],
            stratum=self.stratum[rows],
            entry=entry,
            ties=self.ties,
            Z=Z,
        )

    def scaled(self, factor: float) -> Cox:
        given: dict[str, Any] = {"w": self.w, "stratum": self.stratum, "entry": self.entry}
        given |= {"ties": self.ties, "Z": self.Z}
        found = Cox(self.event, self.time, factor * self.C, **given)
        found.extent = self.extent
        return found

    def in_features(self) -> Cox:
        return self  # the machine asks for products with features, where there are such

    def _sorted(self, x: Array) -> Array:
        return self.sets.sorted(x[:, 0])

    # -- the machine ------------------------------------------------------------------------------
    def solve(self, K: Any, alpha: Array, tol: float) -> Fit:
        found = solve_joint(self, K, self.feasible(alpha)[:, 0], tol)
        offset = found.offset[:, None] if self.Z is not None else found.offset[:1]
        return Fit(found.alpha[:, None], offset, found.f[:, None], found.gap, [found.inverse])

    def curvature(self, K: Any, fit: Fit, R: Array) -> Array:
        inverse: Inverse = fit.solutions[0]
        return inverse.half(R[:, :, 0].T)

    def move(self, fit: Fit, alpha: Array, Bd: Array) -> Array:
        inverse: Inverse = fit.solutions[0]
        return np.asarray(alpha + inverse.move(Bd)[:, None])

    def joint_value(self, f: Array) -> float:
        """Compute R(f).

        Parameters
        ----------
        f : ndarray of shape (n,)
            Decisions.

        Returns
        -------
        float
            The risk.
        """
        return float(self.sets.terms(self.sets.sorted(f)).sum())

    def joint_gradient(self, f: Array) -> Array:
        """Compute ∇R(f).

        Parameters
        ----------
        f : ndarray of shape (n,)
            Decisions.

        Returns
        -------
        ndarray of shape (n,)
            The gradient.
        """
        return self.sets.given(self.sets.gradient(self.sets.sorted(f)))

    def joint_root(self, f: Array) -> Root:
        """Compute a root of the Hessian of R at f.

        Parameters
        ----------
        f : ndarray of shape (n,)
            Decisions.

        Returns
        -------
        Root
            The root, with its products.
        """
        return self.sets.root(self.sets.sorted(f))

    def joint_points(self, alpha: Array, f: Array) -> list[Array]:
        """Return dual points that a gap may be measured at.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual point of the machine.
        f : ndarray of shape (n,)
            Decisions.

        Returns
        -------
        list of ndarray of shape (n,)
            Feasible points.
        """
        self.sets.expect(self.sets.sorted(f))
        return [self.feasible(alpha[:, None])[:, 0], -self.joint_gradient(f)]

    def joint_gap(self, alpha: Array, score: Array, f: Array) -> float:
        """Compute the duality gap of the machine.

        Parameters
        ----------
        alpha : ndarray of shape (n,)
            Dual point.
        score : ndarray of shape (n,)
            The product Kα.
        f : ndarray of shape (n,)
            Decisions.

        Returns
        -------
        float
            The gap.
        """
        gap = float(alpha @ score) + self.joint_value(f) - self.dual_fit(alpha[:, None])
        return gap + self.leak(alpha[:, None])

    def beside(self, score: Array, begin: Array | float) -> Array:
        """Find the Zγ that suits these scores best; without covariates a constant that centres them.

        Parameters
        ----------
        score : ndarray of shape (n,)
            Decisions of the kernels alone.
        begin : ndarray of shape (n,) or float
            The Zγ to start from.

        Returns
        -------
        ndarray of shape (n,)
            The values Zγ.
        """
        if self.Z is None:
            return np.full(score.size, -float(np.average(score, weights=self.w)))
        b = np.zeros(score.size) + begin
        value = self.joint_value(score + b)
        for _ in range(_STEPS):
            g = self.Z.T @ self.joint_gradient(score + b)
            half = self.joint_root(score + b).left(self.Z)
            values, E = np.linalg.eigh(half.T @ half)
            felt = values > _UNFELT * max(float(values[-1]), 1e-300)
            along = -self.Z @ (E[:, felt] @ ((E[:, felt].T @ g) / values[felt]))
            slope, t = float(along @ self.joint_gradient(score + b)), 1.0
            if not -slope > 1e-13 * abs(value):  # the last steps gain nothing that R could show
                b = b + along
                if not -slope > 1e-26 * abs(value):
                    break
                continue
            while (
                not (after := self.joint_value(score + b + t * along)) < value + 1e-4 * t * slope and t > 1e-6
            ):
                t *= 0.5
            if t <= 1e-6:
                break
            b, value = b + t * along, after
        self.extent = max(self.extent, float(np.linalg.norm(b)))
        return b


def _before_all(event: Array, time: Array, stratum: Array) -> Array:
    """(n,): a time before the first event of each sample's stratum; ∞ where there is none."""
    _, codes = np.unique(stratum, return_inverse=True)
    first = np.full(int(codes.max()) + 1, np.inf)
    np.minimum.at(first, codes[event > 0], time[event > 0])
    return np.asarray(np.nextafter(first, -np.inf)[codes])
