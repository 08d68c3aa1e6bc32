"""What bounds are charged for, not less and not much more; how searches for dual points begin and end."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from tests.objectives.test_cox import problem

from manykernels.losses import Hinge, Pinball, Squared
from manykernels.machines import free
from manykernels.machines.free import basis
from manykernels.objectives import Cox, Separable, base
from manykernels.objectives.intervals import Intervals, _lifted
from manykernels.objectives.rounding import unit
from manykernels.objectives.separable import _shared
from manykernels.penalties import Simplex

EPS = np.finfo(float).eps


@pytest.mark.parametrize("n", [1, 100, 10_000, 1_000_000])
def test_a_sum_is_charged_a_few_ulps_that_grow_as_the_root_of_its_terms(n):
    assert np.sqrt(n) * EPS <= unit(n) <= (np.sqrt(n) + 5.0) * EPS


def test_a_dual_value_is_charged_for_each_of_its_terms(monkeypatch):
    """With an ulp of a tenth the charge can be seen: a tenth of Σ|terms| + ½h*(q)."""
    rng = np.random.RandomState(0)
    X, y = rng.randn(8, 8), rng.randn(8, 1)
    K = X @ X.T
    risk = Separable(Squared(), y, np.ones((8, 1)), False)
    q = np.array([float(y[:, 0] @ K @ y[:, 0])])
    values = {}
    for share in (0.0, 0.1):
        monkeypatch.setattr(base, "unit", lambda n, share=share: share)
        values[share] = risk.dual(y, q, Simplex(), 0.0)
    s = risk.best_scale(y, q, Simplex())
    terms, conjugate = risk.dual_terms(s * y), Simplex().conjugate(s * s * q)[0]
    assert values[0.0] == pytest.approx(terms.sum() - 0.5 * conjugate) and 0.5 * conjugate > 0.2 * terms.sum()
    charge = 0.1 * (np.abs(terms).sum() + 0.5 * conjugate)
    assert values[0.0] - values[0.1] == pytest.approx(charge) and values[0.1] > 0.0


def test_decisions_are_judged_at_the_worst_that_rounding_may_do(monkeypatch):
    """u_n L ‖α‖₁ for each output, and an ulp of the decision and of what was taken from the targets."""
    rng = np.random.RandomState(0)
    f, alpha, found = 1e3 * rng.randn(9, 2), rng.randn(9, 2), []
    risk = Separable(Squared(), rng.randn(9, 2), np.ones((9, 2)), True, shift=1e5)
    monkeypatch.setattr(risk, "worst", lambda f, off: found.append(off) or 0.0)
    for largest in (0.0, 1.0, 1e6):
        risk.worst_value(f, alpha, largest)
        expected = unit(9) * largest * np.abs(alpha).sum(axis=0) + EPS * (np.abs(f) + 1e5)
        np.testing.assert_allclose(found[-1], expected, rtol=1e-9)


@pytest.mark.parametrize(("share", "none"), [(0.5e-25, True), (1.5e-25, False), (1e-20, False)])
def test_what_is_nothing_beside_the_targets_is_zero(monkeypatch, share, none):
    """Where a constant leaves nothing, 1e-25 of R(0) is rounding; here R(f) is a share of R(0)."""
    y, zero = np.ones((4, 1)), np.zeros((4, 1))
    risk = Separable(Squared(), y, np.ones((4, 1)), True)
    monkeypatch.setattr(risk, "value", lambda f: 2.0 * share if f.any() else 2.0)
    monkeypatch.setattr(risk, "constant_value", lambda: 0.0)
    found = risk.primal(Simplex(), np.ones(1), np.zeros(1), 2.0 * y, zero, 0.0)
    assert (found == 0.0) is none


# -- covariates -----------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_bounds_are_charged_by_the_largest_offset_that_was_met(size):
    n = 20
    Z = basis(np.ones((n, 1)))
    risk = Separable(Squared(), np.random.RandomState(0).randn(n, 1), np.ones((n, 1)), True, Z=Z)
    risk._met(np.full((n, 1), size / np.sqrt(n)))
    assert risk.extent == pytest.approx(size)
    assert risk.leak(0.1 * Z) == pytest.approx(10.0 * size * 0.1, rel=1e-6)
    risk._met(np.zeros((n, 1)))
    assert risk.extent == pytest.approx(size)


def test_a_point_inside_is_found_where_the_room_is_a_thousandth():
    """600 samples of one class stand against one of the other: all are inside by a 601st of C at most."""
    y, one = np.ones((601, 1)), np.ones((601, 1))
    y[0] = -1.0
    risk = Separable(Hinge(), y, one, True, Z=basis(one))
    assert risk.has_interior
    inside = risk.interior(risk.zeros())
    assert np.all(np.abs(inside) > 0.5e-3) and abs(inside.sum()) < 1e-9


@pytest.mark.parametrize("loss", [Hinge(), Pinball(0.3)], ids=repr)
def test_a_feasible_point_stays_where_it_is_beside_covariates(loss):
    rng = np.random.RandomState(0)
    n = 20
    y, C = np.sign(rng.randn(n, 1)), rng.uniform(0.5, 2.0, (n, 1))
    Z = basis(np.column_stack([np.ones(n), rng.randn(n)]))
    risk = Separable(loss, y, C, True, Z=Z)
    point = risk.feasible(0.3 * C * y)
    lo, hi = risk.box().lo, risk.box().hi
    assert np.abs(point).max() > 0.1 and np.all((point >= lo) & (point <= hi))
    assert np.abs(Z.T @ point).max() < 1e-9
    np.testing.assert_allclose(risk.feasible(point), point, atol=1e-9)


def test_corners_are_as_sharp_as_what_the_offset_is_for(monkeypatch):
    """A thousandth of the targets where only its size is asked for, 1e-8 where the bound is made from it."""
    levels, Smoothed = [], free.Smoothed
    monkeypatch.setattr(free, "Smoothed", lambda loss, mu: levels.append(mu) or Smoothed(loss, mu))
    y = 7.0 * np.random.RandomState(0).rand(20, 1)
    y[0] = 7.0
    risk = Separable(Pinball(0.3), y, np.ones((20, 1)), True, Z=basis(np.ones((20, 1))))
    risk.constant()
    assert 0.5e-3 < levels[-1] / 7.0 < 1.9e-3
    risk.intercepts(risk.zeros())
    assert 0.5e-8 < levels[-1] / 7.0 < 1.9e-7
    levels.clear()
    free.offset(Pinball(0.3), 0.0 * y[:, 0], y[:, 0], np.ones(20), basis(np.ones((20, 1))))
    assert levels[0] == 1.0  # where all targets are zero


def test_outputs_share_a_factor_where_their_costs_are_equal():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(12, 3), rng.randn(12, 2)
    K = X @ X.T
    for C, together in [(np.ones((12, 2)), True), (np.ones((12, 2)) * [1.0, 2.0], False)]:
        risk = Separable(Squared(), Y, C, True)
        fit = risk.solve(K, risk.zeros(), 1e-9)
        risk.curvature(K, fit, (K @ fit.alpha)[None])
        assert (_shared(fit) is not None) is together
        assert not together or _shared(fit) is fit.solutions[0].sensitivity


def test_the_partial_likelihood_is_charged_for_what_rounding_leaves_of_a_balance():
    """10 ‖Zγ‖ times |Zᵀα| and its rounding, with ‖Zγ‖ taken for at least 1."""
    given = problem(0)
    n = given["time"].size
    Z = basis(np.column_stack([np.ones(n), np.arange(n)]))
    risk = Cox(**given, Z=Z)
    rng = np.random.RandomState(0)
    for alpha in (rng.randn(n, 1), rng.randn(n, 1)):
        alpha = alpha - Z @ (Z.T @ alpha)
        rounding = unit(n) * (np.abs(Z).T @ np.abs(alpha))
        for extent in (0.0, 1.0, 50.0):
            risk.extent = extent
            least = 10.0 * max(extent, 1.0) * np.linalg.norm(rounding)
            assert least <= risk.leak(alpha) <= 3.0 * least
    assert risk.leak(Z[:, :1]) == pytest.approx(500.0)


# -- the partial likelihood -----------------------------------------------------------------------
def late(seed=0, n=13):
    risk = Cox(**problem(seed, tied=True, late=True, n=n))
    assert isinstance(risk.sets, Intervals)
    return risk


def test_a_dual_point_that_was_moved_is_charged_for_all_it_moved(monkeypatch):
    """√q grows by √L ‖δ‖₁ at most, and does so where a kernel of rank one has the signs of δ."""
    risk = late()
    n = risk.shape[0]
    alpha = risk.zeros()
    point = risk.feasible(-risk.gradient(np.random.RandomState(0).randn(n, 1)))
    monkeypatch.setattr(risk, "exact", lambda alpha: point)
    found = risk.dual(alpha, np.zeros(1), Simplex(), 1.0)
    v = np.sign(point)
    q, whole, none = float((v * point).sum()) ** 2, risk.dual_fit(point), -risk.sets.at_zero
    assert q == pytest.approx(np.abs(point).sum() ** 2)

    def allowed(times):
        def negative(s):
            return 0.5 * times * s * s * q - s * whole - (1.0 - s) * none

        return -minimize_scalar(negative, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-10}).fun

    # at least the move itself; at most (2‖point‖ + ‖δ‖)‖δ‖, three times as much
    assert allowed(3.001) <= found <= allowed(1.0) + 1e-9 * abs(none)


def test_dual_points_beside_a_step_are_in_the_domain():
    risk = late()
    f = np.random.RandomState(1).randn(risk.shape[0])
    for point in risk.joint_points(-risk.joint_gradient(f), f):
        assert np.isfinite(risk.dual_fit(point[:, None]))
        np.testing.assert_allclose(point, -risk.joint_gradient(f), atol=1e-6)


def test_a_conjugate_is_searched_for_from_the_decisions_at_hand(monkeypatch):
    risk = late()
    f = np.random.RandomState(1).randn(risk.shape[0])
    asked, gradient = [], risk.sets.gradient
    alpha = -risk.joint_gradient(f)
    monkeypatch.setattr(risk.sets, "gradient", lambda f: asked.append(f) or gradient(f))
    risk.joint_points(alpha, f)
    first = risk.sets.sorted(f)
    first = first - first.mean()
    assert any(np.allclose(x, first, atol=1e-12) for x in asked[:2])
    assert len(asked) <= 5  # where α is −∇R(f), it is found at once


class Parabola(Cox):
    """R(f) = height + ½‖f − top‖², whose steps in γ are `share` of the way; counts its values."""

    def __init__(self, height, top, share=1.0):
        n = top.size
        super().__init__(np.ones(n), np.arange(1.0, n + 1), np.ones(n), Z=basis(np.ones((n, 1))))
        self.height, self.top, self.share, self.values = height, top, share, 0

    def joint_value(self, f):
        self.values += 1
        return self.height + 0.5 * float(np.sum((f - self.top) ** 2))

    def joint_gradient(self, f):
        return f - self.top

    def joint_root(self, f):
        root = type("Root", (), {})()
        root.left = lambda X: X / np.sqrt(self.share)
        return root


@pytest.mark.parametrize("height", [1e-3, 1e3])
@pytest.mark.parametrize(("gain", "judged"), [(0.5e-13, False), (1.5e-13, True), (1e-6, True)])
def test_a_step_whose_gain_could_be_seen_is_judged_by_it(height, gain, judged):
    """A gain of 1e-13 of R is the least that R could show."""
    n = 4
    risk = Parabola(height, np.full(n, np.sqrt(gain * height / n)))
    b = risk.beside(np.zeros(n), 0.0)
    np.testing.assert_allclose(b, risk.top, atol=1e-9 * np.abs(risk.top).max())
    assert (risk.values > 1) is judged


def test_steps_whose_gain_cannot_be_seen_go_on_until_none_is_left():
    """Each takes half of what is left; what a step may gain falls from 1e-14 to 1e-26 of R."""
    n = 4
    risk = Parabola(1.0, np.full(n, 0.5e-7), share=0.5)
    b = risk.beside(np.zeros(n), 0.0)
    assert 0.0 < np.linalg.norm(b - risk.top) < 3e-13


# -- risk sets that are not nested ----------------------------------------------------------------
def test_a_singular_curvature_is_lifted_by_what_its_size_allows():
    for size in (1e-3, 1e3):
        np.testing.assert_allclose(_lifted(np.diag([size, 0.0])), np.diag([size, 1e-12 * size]), rtol=1e-9)


@pytest.mark.parametrize(("share", "outside"), [(0.1, False), (0.6, False), (1.5, True), (10.0, True)])
def test_a_gradient_that_stays_a_ten_millionth_away_is_that_of_a_point_outside(monkeypatch, share, outside):
    sets = late().sets
    f = np.zeros(sets.n)
    monkeypatch.setattr(sets, "_search", lambda alpha: (f, share * 1e-7 * float(sets.total.sum()), 0.0))
    assert np.isinf(sets.conjugate(f).sum()) == outside


class Endless:
    """A search whose gradient stays what it is, and whose value does not move."""

    def __init__(self, monkeypatch, sets, off):
        self.asked, self.off, self.sets = 0, off, sets
        monkeypatch.setattr(sets, "gradient", self.gradient)
        monkeypatch.setattr(sets, "curvature", lambda f: 1e3 * np.eye(sets.n))
        monkeypatch.setattr(sets, "terms", lambda f: np.zeros(1))

    def gradient(self, f):
        self.asked += 1
        return self.off * np.sign(np.arange(self.sets.n) % 2 - 0.5)


def test_a_search_for_decisions_takes_sixty_steps_at_most(monkeypatch):
    sets = late(n=12).sets
    endless = Endless(monkeypatch, sets, 1.0)
    f, off, gain = sets._search(np.zeros(sets.n))
    assert endless.asked == 60 and off == 1.0
    assert gain == pytest.approx(0.5 * 12 * 1e-3)  # what one more step would gain: ½ rᵀW⁻¹r
    assert np.abs(f).max() == pytest.approx(0.06, rel=0.1)


def test_a_gradient_is_exact_beside_the_dearest_event(monkeypatch):
    given = problem(0, late=True, n=12)
    given["C"] = np.where(np.arange(12) == 0, 1e6, 1.0)
    sets = Cox(**given).sets
    assert sets.cost.max() == 1e6 and sets.cost.min() == 1.0
    for off, exact in [(1e-10, True), (1e-6, False)]:
        Endless(monkeypatch, sets, off)
        gain = sets._search(np.zeros(12))[2]
        assert gain == pytest.approx(12.0 * off if exact else 0.5 * 12.0 * off**2 / 1e3)


def test_who_enters_after_the_last_event_is_never_at_risk():
    given = problem(0, late=True, n=12)
    given["time"][3], given["event"][3] = 9.0, 0.0
    given["entry"][3] = 8.0
    risk = Cox(**given)
    assert risk.sets.given(risk.sets._ever).tolist() == [k != 3 for k in range(12)]
