"""The regularised risk and its dual: bounds that must hold at every point, not only at the optimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import LOSSES, PENALTIES, problem, risk_of

from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared, SquaredHinge
from manykernels.machines import feasible
from manykernels.objectives import Cox, CrammerSinger, Separable
from manykernels.objectives.rounding import zero_sum
from manykernels.penalties import LpBall, Simplex

each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
each_intercept = pytest.mark.parametrize("fit_intercept", [True, False], ids=["b", "no b"])


def energies(stack, alpha):
    return np.einsum("ik,mij,jk->m", alpha, stack, alpha)


def plain_dual(risk, alpha, q, penalty):
    """D(α) with no scaling."""
    return -np.sum(risk.C * risk.loss.conjugate(risk.Y, -alpha / risk.C)) - 0.5 * penalty.conjugate(q)[0]


@each_loss
@each_penalty
@each_intercept
@pytest.mark.parametrize("outputs", [1, 3])
def test_weak_duality_and_the_best_scaling(loss, penalty, fit_intercept, outputs):
    """D(sα) ≤ dual(α) ≤ P(θ, w, b) for random feasible α, θ, w, b and s."""
    rng = np.random.RandomState(0)
    stack, labels, targets = problem(0, 14, outputs=outputs)
    risk = risk_of(loss, labels, targets, 10 ** rng.uniform(-1, 1, labels.shape), fit_intercept)
    duals, primals = [], []
    for _ in range(6):
        alpha = risk.feasible(10 ** rng.uniform(-3, 1) * rng.randn(*labels.shape))
        q = energies(stack, alpha)
        best = risk.dual(alpha, q, penalty, 0.0)
        for s in (1.0, 0.5, 0.9, 0.0):
            assert plain_dual(risk, s * alpha, s * s * q, penalty) <= best + 1e-9 * (1 + abs(best))
        theta = penalty.closed_form(rng.uniform(size=4))
        beta = rng.randn(*labels.shape)
        f = np.einsum("m,mij,jk->ik", theta, stack, beta) + (rng.randn() if fit_intercept else 0.0)
        size = theta @ energies(stack, beta) + penalty.value(theta)
        duals.append(best)
        primals.append(0.5 * size + risk.value(f))
    assert max(duals) <= min(primals)


@each_loss
@each_intercept
def test_solutions_close_the_gap_at_one_kernel(loss, fit_intercept):
    """At the plain sum of kernels nothing is learned: the dual of the machine is the dual of the problem."""
    stack, labels, targets = problem(2, 18, outputs=2)
    risk = risk_of(loss, labels, targets, 2.0, fit_intercept)
    fit = risk.solve(stack.sum(axis=0), np.zeros_like(labels), 1e-9)
    q = energies(stack, fit.alpha)
    P = 0.5 * q.sum() + risk.value(fit.f)
    assert fit.gap <= 1e-9
    np.testing.assert_allclose(risk.dual(fit.alpha, q, LpBall(np.inf), 0.0), P, rtol=1e-8)
    np.testing.assert_allclose(risk.dual_fit(fit.alpha) - 0.5 * q.sum(), P, rtol=1e-8)


@each_loss
@each_intercept
@given(seed=st.integers(0, 10_000), n=st.integers(1, 9), size=st.sampled_from([0.0, 1e-3, 1.0, 1e6]))
def test_feasible(loss, fit_intercept, seed, n, size):
    rng = np.random.RandomState(seed)
    labels = rng.choice([-1.0, 1.0], (n, 2))
    risk = risk_of(loss, labels, rng.randn(n, 2), 10 ** rng.uniform(-3, 3, (n, 2)), fit_intercept)
    given = size * rng.randn(n, 2)
    alpha = risk.feasible(given)
    lo, hi = (bound * risk.C for bound in loss.bounds(risk.Y))
    assert np.all(alpha >= lo) and np.all(alpha <= hi)
    if fit_intercept:
        rounding = 1e-12 * (np.abs(alpha) + np.abs(given)).sum(axis=0)  # large α may cancel to small ones
        assert np.all(np.abs(alpha.sum(axis=0)) <= rounding + 1e-300)
    assert np.isfinite(risk.dual_fit(alpha))


def test_feasible_keeps_what_is_feasible():
    alpha = np.array([0.5, -0.25, -0.25, 0.0])
    assert np.array_equal(feasible(alpha, np.full(4, -1.0), np.ones(4)), alpha)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_a_bound_passed_by_rounding_does_not_void_the_dual(loss, sign):
    """α_3 = −1e-17 where 0 is the bound is zero, and the ray goes on."""
    y = np.array([[1.0], [-1.0], [sign]])
    risk = Separable(loss, y, np.ones((3, 1)), True)
    alpha, q = np.array([[0.5], [-0.5], [0.0]]), np.array([0.25])
    rounded = alpha.copy()
    rounded[2] = -sign * 1e-17
    np.testing.assert_allclose(
        risk.dual(rounded, q, Simplex(), 0.0), risk.dual(alpha, q, Simplex(), 0.0), rtol=1e-9
    )


def test_zero_is_a_dual_point():
    _, labels, targets = problem(0, 10)
    for loss in LOSSES:
        for penalty in PENALTIES:
            value = risk_of(loss, labels, targets).dual(np.zeros((10, 1)), np.zeros(4), penalty, 0.0)
            assert value == pytest.approx(0.0, abs=1e-12)


def test_a_dual_point_outside_the_box_is_no_bound():
    """Scaled back into the box where a scaling does that, and never above the optimum."""
    stack, labels, targets = problem(0, 12)
    for loss in LOSSES:
        risk = risk_of(loss, labels, targets, 0.5)
        best = risk.solve(stack[0], np.zeros((12, 1)), 1e-10)
        optimum = 0.5 * float(energies(stack[:1], best.alpha)[0]) + risk.value(best.f)
        for scale in (-1.0, 3.0, 100.0):
            alpha = scale * best.alpha
            value = risk.dual(alpha, energies(stack[:1], alpha), Simplex(), 0.0)
            assert value <= optimum * (1 + 1e-8)


@pytest.mark.parametrize("loss", [Squared(), EpsilonInsensitive(0.1)])
def test_several_outputs_are_a_sum(loss):
    stack, labels, targets = problem(0, 15, outputs=3)
    K = stack[1] + stack[3]
    risk = risk_of(loss, labels, targets, 1.5)
    fit = risk.solve(K, np.zeros((15, 3)), 1e-10)
    for k in range(3):
        one = risk_of(loss, labels[:, [k]], targets[:, [k]], 1.5).solve(K, np.zeros((15, 1)), 1e-10)
        np.testing.assert_allclose(fit.f[:, [k]], one.f, atol=1e-4)
    assert fit.gap <= 1e-10 and fit.intercept.shape == (3,)


def test_subset_weighs_as_much():
    _, labels, targets = problem(0, 20)
    risk = risk_of(Hinge(), labels, targets, np.linspace(1, 3, 20)[:, None])
    part = risk.subset(np.array([3, 5, 11]))
    assert np.array_equal(part.Y, labels[[3, 5, 11]])
    np.testing.assert_allclose(part.C.sum(), risk.C.sum())
    np.testing.assert_allclose(part.C / part.C[0], risk.C[[3, 5, 11]] / risk.C[3])


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_dual_finds_the_best_scale_wherever_it_begins(loss, penalty, scale):
    """A solution that is made shorter, or longer, gives the bound of the solution itself."""
    stack, labels, targets = problem(4, 12)
    risk = risk_of(loss, labels, targets, 1.5)
    alpha = risk.solve(np.einsum("m,mij->ij", penalty.start(4), stack), np.zeros((12, 1)), 1e-10).alpha
    best, other = (risk.dual(a, energies(stack, a), penalty, 0.0) for a in (alpha, scale * alpha))
    s = risk.best_scale(alpha, energies(stack, alpha), penalty)
    assert 0.0 <= s <= risk.reach(alpha) * (1 + 1e-12)
    if scale < 1.0:
        assert other == pytest.approx(best, rel=1e-6)
    else:
        assert other <= best + 1e-9 * abs(best)


def test_no_room_for_an_exact_sum_is_zero():
    assert not zero_sum(np.array([1.0, 0.0]), np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.ones(2)).any()
    assert not zero_sum(np.array([np.inf, 0.0]), np.zeros(2), np.ones(2), np.ones(2)).any()


def test_an_exact_sum_is_taken_from_those_who_cost_most():
    alpha, cost = np.array([0.3, 0.2, -0.5 + 1e-9]), np.array([1.0, 5.0, 2.0])
    found = zero_sum(alpha, np.full(3, -1.0), np.ones(3), cost)
    assert float(found.sum()) == 0.0
    np.testing.assert_allclose(found - alpha, [0.0, -1e-9, 0.0], atol=1e-14)


class OneSided(Squared):
    """No end below, and one above for some of the samples."""

    def bounds(self, y):
        return np.full_like(y, -np.inf), np.where(y > 0, np.inf, 1.0)


def test_a_box_that_is_open_for_some_samples_only_is_kept():
    y = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    risk = Separable(OneSided(), y, np.ones((4, 1)), True)
    alpha = risk.feasible(np.array([[-3.0], [2.5], [-1.0], [0.5]]))
    assert np.all(alpha <= risk.loss.bounds(y)[1]) and alpha.sum() == pytest.approx(0.0, abs=1e-12)


def test_what_is_left_of_covariates_is_charged():
    """Of a risk that has met no Zγ yet too: the charge is ten times the best one, at least."""
    _, labels, targets = problem(0, 14)
    Z = np.linalg.qr(np.column_stack([np.ones(14), np.linspace(-1, 1, 14) ** 2]))[0]
    alpha = np.random.RandomState(0).randn(14, 1)
    for loss in LOSSES:
        y = (labels if loss.task == "classification" else targets)[:, :1]
        risk, other = (Separable(loss, y, np.ones((14, 1)), True, Z=Z) for _ in range(2))
        met = np.linalg.norm(other.constant())
        assert met > 0.0 and risk.leak(alpha) >= 10.0 * met * np.abs(Z.T @ alpha).max()
        assert risk.leak(alpha - Z @ (Z.T @ alpha)) <= 1e-12 * risk.leak(alpha)
        assert risk.scaled(2.0).leak(alpha) == risk.leak(alpha)
        assert Separable(loss, y, np.ones((14, 1)), True).leak(alpha) == 0.0


def test_what_risks_say_of_themselves():
    assert Separable.separable and not Cox.separable and not CrammerSinger.separable
    assert Cox.in_few_features and not Separable.in_few_features and not CrammerSinger.in_few_features
    _, labels, _ = problem(0, 6)
    assert "Hinge" in risk_of(Hinge(), labels, labels).label
    assert CrammerSinger(np.array([0, 1, 2]), np.ones(3), 3, True).label == "multi_class='crammer-singer'"


def test_a_part_in_which_some_output_is_constant_teaches_nothing():
    _, labels, targets = problem(0, 12, outputs=2)
    targets[:5, 1] = 3.0
    risk = risk_of(Squared(), labels, targets)
    assert risk.subset(np.arange(5)) is None and risk.subset(np.arange(6)) is not None


def test_feasible_takes_an_excess_of_one_away():
    alpha = feasible(np.array([1.0, 0.5, -0.5, 0.0]), np.full(4, -1.0), np.ones(4))
    assert alpha.sum() == pytest.approx(0.0, abs=1e-15)


def test_a_ray_of_which_no_point_is_in_the_domain_is_left_at_zero(monkeypatch):
    _, labels, targets = problem(0, 10)
    risk = risk_of(Logistic(), labels, targets)
    monkeypatch.setattr(risk, "reach", lambda alpha: np.inf)
    assert risk.best_scale(1e30 * np.ones((10, 1)), np.ones(4), Simplex()) == 0.0


@each_loss
def test_the_dual_along_a_ray_is_its_parabola(loss):
    _, labels, targets = problem(5, 12, outputs=2)
    risk = risk_of(loss, labels, targets, np.linspace(0.5, 3.0, 24).reshape(12, 2))
    alpha = risk.feasible(np.random.RandomState(0).randn(12, 2))
    ray = risk.ray(alpha)
    if ray is None:
        assert isinstance(loss, Logistic)
        return
    for s in (0.0, 0.4, min(1.0, risk.reach(alpha))):
        assert risk.dual_fit(s * alpha) == pytest.approx(s * ray[0] - 0.5 * s * s * ray[1], abs=1e-10)
