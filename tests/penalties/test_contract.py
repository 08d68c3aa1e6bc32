"""What every exported penalty promises, checked against cvxpy and against the definitions."""

import inspect
import pickle

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from sklearn.base import clone

from manykernels import penalties
from manykernels.penalties import BallProduct, ElasticNet, L2Ball, LpBall, Penalty, Simplex

M = 6
MU0 = np.array([0.3, 0.0, 2.0, 0.1, 0.0, 1.0])

INSTANCES = [
    Simplex(),
    LpBall(1),
    LpBall(1.0001),
    LpBall(4 / 3),
    LpBall(),
    LpBall(3),
    LpBall(1e6),
    LpBall(np.inf),
    BallProduct(2.0, groups=2),
    BallProduct(4 / 3, groups=3),
    BallProduct(1.0, groups=2),
    BallProduct(np.inf, groups=2),
    L2Ball(),
    L2Ball(mu0=1.0, radius=0.5),
    L2Ball(mu0=MU0, radius=0.8),
    L2Ball(mu0=MU0, radius=30.0),
    L2Ball(mu0=0.2, radius=0.0),
    ElasticNet(),
    ElasticNet(lam=0.01),
    ElasticNet(lam=0.99),
    ElasticNet(lam=1.0),
]
each_penalty = pytest.mark.parametrize("penalty", INSTANCES, ids=repr)
# cvxpy writes norms with cones of small rational exponents
each_for_cvxpy = pytest.mark.parametrize(
    "penalty", [x for x in INSTANCES if getattr(x, "p", 2) not in (1.0001, 1e6)], ids=repr
)
each_seed = pytest.mark.parametrize("seed", range(2))


def test_every_exported_penalty_is_covered():
    exported = {kind for name in penalties.__all__ if inspect.isclass(kind := getattr(penalties, name))}
    assert exported - {Penalty} == {type(penalty) for penalty in INSTANCES}


def h(penalty, theta):
    """The definition of the penalty, in NumPy."""
    if np.any(theta < -1e-12):
        return np.inf
    if isinstance(penalty, LpBall):
        with np.errstate(over="ignore"):
            return 0.0 if np.linalg.norm(theta, penalty.p) <= 1 + 1e-12 else np.inf
    if isinstance(penalty, BallProduct):
        return max(h(LpBall(penalty.p), part) for part in np.split(theta, penalty.groups))
    if isinstance(penalty, L2Ball):
        return 0.0 if np.linalg.norm(theta - penalty.mu0) <= penalty.radius + 1e-12 else np.inf
    lam = penalty.lam
    if lam == 1.0:
        return 0.0 if np.all(theta <= 1) else np.inf
    return np.sum((1 - lam) ** 2 * theta / (1 - lam * theta)) if np.all(lam * theta < 1) else np.inf


def h_cvxpy(penalty, theta):
    """The same in cvxpy: an expression and constraints."""
    if isinstance(penalty, LpBall):
        return 0.0, [theta >= 0, cp.norm(theta, "inf" if penalty.p == np.inf else penalty.p) <= 1]
    if isinstance(penalty, BallProduct):
        size, ball = M // penalty.groups, LpBall(penalty.p)
        parts = [theta[j * size : (j + 1) * size] for j in range(penalty.groups)]
        return 0.0, [condition for part in parts for condition in h_cvxpy(ball, part)[1]]
    if isinstance(penalty, L2Ball):
        return 0.0, [theta >= 0, cp.norm(theta - penalty.mu0) <= penalty.radius]
    lam = penalty.lam
    if lam == 1.0:
        return 0.0, [theta >= 0, theta <= 1]
    return (1 - lam) ** 2 / lam * (cp.sum(cp.inv_pos(1 - lam * theta)) - theta.size), [theta >= 0]


def minimum(penalty, objective):
    """min over θ of objective(θ) + h(θ), and where it is."""
    theta = cp.Variable(M)
    value, constraints = h_cvxpy(penalty, theta)
    problem = cp.Problem(cp.Minimize(objective(theta) + value), constraints)
    return optimal_value(problem, 1e-10), theta.value


def feasible_points(penalty, n=200, seed=9):
    rng = np.random.default_rng(seed)
    points = [
        penalty.project(scale * rng.normal(size=M)) for scale in (0.1, 1.0, 10.0) for _ in range(n // 4)
    ]
    points += [penalty.conjugate(rng.exponential(size=M))[1] for _ in range(n // 4)]
    return [*points, penalty.start(M)]


@each_penalty
def test_value_is_the_definition(penalty):
    rng = np.random.default_rng(0)
    for theta in [
        *feasible_points(penalty, 20),
        *rng.exponential(size=(20, M)),
        -np.ones(M),
        np.full(M, 1e3),
    ]:
        assert penalty.value(theta) == pytest.approx(h(penalty, theta), rel=1e-12)
    for theta in feasible_points(penalty, 20):
        assert np.isfinite(h(penalty, theta)) and np.all(theta >= 0)
        assert np.all(theta <= penalty.upper)


@each_penalty
def test_conjugate_attains_its_value(penalty):
    rng = np.random.default_rng(1)
    points = feasible_points(penalty)
    for q in [*rng.exponential(size=(5, M)) ** 3, np.eye(M)[2], np.ones(M)]:
        value, theta = penalty.conjugate(q)
        assert theta @ q - h(penalty, theta) == pytest.approx(value, rel=1e-12, abs=1e-12)
        assert max(point @ q - h(penalty, point) for point in points) <= value * (1 + 1e-12) + 1e-12


@each_for_cvxpy
@each_seed
def test_conjugate_against_cvxpy(penalty, seed):
    q = np.random.default_rng(seed).exponential(size=M) ** 2
    value, theta = penalty.conjugate(q)
    reference, theta_reference = minimum(penalty, lambda theta: -q @ theta)
    assert value == pytest.approx(-reference, rel=1e-6)
    np.testing.assert_allclose(theta, theta_reference, rtol=5e-3, atol=1e-3)


@each_penalty
def test_conjugate_reads_negative_entries_as_zero(penalty):
    q = np.array([1.0, -1e-18, 0.5, -1.0, 0.0, 2.0])
    value, theta = penalty.conjugate(q)
    value_positive, theta_positive = penalty.conjugate(np.maximum(q, 0.0))
    assert value == value_positive and np.array_equal(theta, theta_positive)
    value, theta = penalty.conjugate(np.zeros(M))
    assert value == 0.0 and h(penalty, theta) == 0.0


@each_penalty
@each_seed
def test_projection_is_the_nearest_point(penalty, seed):
    """t = project(v) iff (v − t)ᵀ(θ − t) ≤ ½h(θ) − ½h(t) for every θ."""
    rng = np.random.default_rng(seed)
    points = feasible_points(penalty)
    for scale in (0.1, 1.0, 100.0):
        v = scale * rng.normal(size=M)
        t = penalty.project(v)
        assert np.isfinite(h(penalty, t))
        for theta in points:
            assert (v - t) @ (theta - t) <= 0.5 * (h(penalty, theta) - h(penalty, t)) + 1e-12 * (1 + scale)


@each_for_cvxpy
@each_seed
def test_projection_against_cvxpy(penalty, seed):
    v = 2.0 * np.random.default_rng(seed).normal(size=M)
    reference, theta = minimum(penalty, lambda theta: cp.sum_squares(theta - v))
    t = penalty.project(v)
    assert np.sum((t - v) ** 2) + h(penalty, t) == pytest.approx(reference, rel=1e-6)
    np.testing.assert_allclose(t, theta, atol=1e-3)


@pytest.mark.parametrize("penalty", [x for x in INSTANCES if x.homogeneous], ids=repr)
def test_projection_on_a_set_is_idempotent(penalty):
    for theta in feasible_points(penalty, 40):
        np.testing.assert_allclose(penalty.project(theta), theta, atol=1e-14)


def mirror(theta, p):
    """∇Ψ(θ) for θ ≥ 0."""
    norm = np.linalg.norm(theta, p)
    return norm ** (2.0 - p) * theta ** (p - 1.0) if norm > 0 else theta


@pytest.mark.parametrize("penalty", [x for x in INSTANCES if x.homogeneous], ids=repr)
@each_seed
@pytest.mark.parametrize("eta", [1e-3, 0.3, 100.0])
def test_mirror_step_is_the_minimum(penalty, seed, eta):
    """t is the step iff ⟨ηg + ∇Ψ(t) − ∇Ψ(θ), θ' − t⟩ ≥ 0 for every θ' in the set."""
    rng = np.random.default_rng(seed)
    points, p = feasible_points(penalty, 80), penalty.potential
    assert p == (4 / 3 if isinstance(penalty, LpBall) and penalty.p == 4 / 3 else 2.0)
    for theta in [*points[:3], points[-1], penalty.project(np.zeros(M))]:
        for g in (-rng.exponential(size=M), rng.normal(size=M), -np.eye(M)[2], np.zeros(M)):
            t = penalty.mirror_step(theta, g, eta)
            assert np.isfinite(h(penalty, t)) and np.all(t >= 0)
            slope = eta * g + mirror(t, p) - mirror(theta, p)
            assert min(slope @ (point - t) for point in points) >= -1e-11 * (1 + eta * np.abs(g).sum())
            if not g.any():
                np.testing.assert_allclose(t, theta, atol=1e-12)


@pytest.mark.parametrize("p", [1.1, 4 / 3, 1.9])
def test_mirror_step_against_numerical_minimisation(p):
    """Not only stationary: no feasible point has a smaller η⟨g, θ'⟩ + D_Ψ(θ', θ)."""
    penalty, rng = LpBall(p), np.random.default_rng(0)
    theta, g = penalty.stretch(rng.exponential(size=M)), rng.normal(size=M)

    def objective(x):
        return 0.3 * g @ x + 0.5 * np.linalg.norm(x, p) ** 2 - mirror(theta, p) @ x

    best = objective(penalty.mirror_step(theta, g, 0.3))
    near = [penalty.mirror_step(theta, g + 1e-2 * rng.normal(size=M), 0.3) for _ in range(100)]
    assert min(objective(x) for x in [*feasible_points(penalty), *near]) >= best - 1e-14


def test_mirror_step_leaves_kernels_without_weight_and_gradient_alone():
    """So that steps over an endless family touch only the kernels that were drawn."""
    theta, g = np.array([0.5, 0.0, 0.2, 0.0, 0.0, 0.0]), -np.array([0.0, 0.0, 3.0, 1.0, 0.0, 0.0])
    for penalty in INSTANCES:
        if isinstance(penalty, LpBall):
            step = penalty.mirror_step(theta, g, 0.1)
            used = np.array([0, 2, 3])
            assert not np.delete(step, used).any()
            np.testing.assert_allclose(step[used], penalty.mirror_step(theta[used], g[used], 0.1), atol=1e-14)


def test_mirror_step_needs_a_set():
    with pytest.raises(ValueError, match="indicator"):
        ElasticNet(0.5).mirror_step(np.ones(M), np.ones(M), 0.1)


def cost(penalty, a, theta):
    used = a > 0
    with np.errstate(divide="ignore", over="ignore"):
        return np.sum(a[used] ** 2 / theta[used]) + h(penalty, theta)


@each_penalty
@each_seed
def test_closed_form_is_the_minimum(penalty, seed):
    a = np.random.default_rng(seed).exponential(size=M) ** 2
    a[1] = 0.0
    theta = penalty.closed_form(a)
    best = cost(penalty, a, theta)
    assert penalty.group_norm(a) == pytest.approx(best, rel=1e-12)
    assert all(cost(penalty, a, point) >= best * (1 - 1e-12) for point in feasible_points(penalty))
    # and no small feasible step improves it
    rng = np.random.default_rng(2)
    for _ in range(50):
        other = penalty.closed_form(np.maximum(a * (1 + 1e-3 * rng.normal(size=M)), 0.0))
        assert cost(penalty, a, other) >= best * (1 - 1e-14)


@each_for_cvxpy
@each_seed
def test_closed_form_against_cvxpy(penalty, seed):
    a = np.random.default_rng(seed).uniform(0.1, 2.0, size=M)
    reference, theta = minimum(penalty, lambda theta: cp.sum(cp.multiply(a**2, cp.inv_pos(theta))))
    assert penalty.group_norm(a) == pytest.approx(reference, rel=1e-6)
    np.testing.assert_allclose(penalty.closed_form(a), theta, atol=2e-3)


@each_penalty
def test_closed_form_where_nothing_is_used(penalty):
    a = np.array([0.0, 1.0, 0.0, 2.0, 3.0, 0.0])
    theta = penalty.closed_form(a)
    if isinstance(penalty, L2Ball):
        np.testing.assert_array_equal(theta[a == 0], np.broadcast_to(penalty.mu0, M)[a == 0])
    else:
        np.testing.assert_array_equal(theta[a == 0], 1.0 if penalty.fixed else 0.0)
    assert np.isfinite(h(penalty, penalty.closed_form(np.zeros(M))))
    assert penalty.group_norm(np.zeros(M)) == 0.0


@each_penalty
def test_start_is_inside_and_even(penalty):
    theta = penalty.start(M)
    assert theta.shape == (M,) and np.isfinite(h(penalty, theta)) and np.all(theta > 0)
    constraint = penalty.constraint(theta)
    if constraint is not None:
        assert np.all(np.abs(constraint[0]) <= 1e-9), "weights that could be larger"


def check_derivatives(function, theta):
    """Value, gradient and diagonal of the Hessian agree, by central differences."""
    _, gradient, curvature = function(theta)
    for m, step in enumerate(1e-6 * np.eye(theta.size)):
        (up, gradient_up, _), (down, gradient_down, _) = function(theta + step), function(theta - step)
        assert gradient[m] == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-6)
        assert curvature[m] == pytest.approx((gradient_up[m] - gradient_down[m]) / 2e-6, rel=1e-5, abs=1e-6)


@each_penalty
def test_constraint_describes_the_set(penalty):
    rng = np.random.default_rng(3)
    if penalty.constraint(np.ones(M)) is None:
        assert np.isfinite(penalty.upper)
        return
    assert penalty.smooth(np.ones(M)) is None
    for theta in rng.exponential(scale=0.5, size=(30, M)):
        assert np.all(penalty.constraint(theta)[0] <= 0) == (h(penalty, theta) == 0.0)
    if getattr(penalty, "p", 2) < 1e6:  # else differences are too coarse
        theta = rng.uniform(0.3, 0.9, size=M)
        for j in range(penalty.constraint(theta)[0].size):
            check_derivatives(lambda x, j=j: [part[j] for part in penalty.constraint(x)], theta)


@each_penalty
def test_smooth_is_half_of_h(penalty):
    theta = np.random.default_rng(4).uniform(0.1, 0.9, size=M)
    if penalty.smooth(theta) is None:
        assert penalty.homogeneous
        return
    assert penalty.smooth(theta)[0] == pytest.approx(0.5 * h(penalty, theta), rel=1e-12)
    check_derivatives(penalty.smooth, theta)


@each_penalty
def test_sparse_means_zero_weight_where_q_is_positive(penalty):
    """`entry` is the q_m from which on a kernel gets weight: none at a little less, some at a little more."""
    q = np.array([0.2, 0.7, 0.5, 0.6, 0.1, 0.65])
    threshold = penalty.entry(q)
    if not penalty.sparse:
        assert threshold == 0.0 and (penalty.fixed or np.all(penalty.conjugate(q)[1] > 0) or penalty.p < 1.1)
        return
    for factor, joins in ((0.999, False), (1.001, True)):
        theta = penalty.conjugate(np.append(q, factor * threshold))[1]
        assert (theta[-1] > 0) == joins


@each_penalty
def test_homogeneous_and_fixed(penalty):
    rng = np.random.default_rng(5)
    q, a = rng.exponential(size=(2, M))
    value = penalty.conjugate(q)[0]
    assert (penalty.conjugate(3.0 * q)[0] == pytest.approx(3.0 * value, rel=1e-12)) == penalty.homogeneous
    fixed = np.array_equal(penalty.closed_form(a), penalty.start(M)) and np.array_equal(
        penalty.conjugate(q)[1], penalty.start(M)
    )
    assert fixed == penalty.fixed


@each_penalty
def test_interior_is_strictly_inside(penalty):
    for theta in [*feasible_points(penalty, 40), penalty.closed_form(np.zeros(M))]:
        inner = penalty.interior(theta)
        assert np.all(inner > 0) and np.isfinite(h(penalty, inner))
        if not penalty.fixed:
            assert np.all(inner < penalty.upper)
            constraint = penalty.constraint(inner)
            assert constraint is None or np.all(constraint[0] < 0)


@each_penalty
def test_stretch_takes_no_weight_away(penalty):
    for theta in feasible_points(penalty, 40):
        wide = penalty.stretch(theta)
        assert np.all(wide >= theta - 1e-14) and np.isfinite(h(penalty, wide))
        constraint = penalty.constraint(wide)
        if constraint is not None and np.any(wide > getattr(penalty, "mu0", 0.0)):
            assert np.all(np.abs(constraint[0]) <= 1e-9)


@each_penalty
def test_is_a_plain_parameter_object(penalty):
    for copy in (clone(penalty), pickle.loads(pickle.dumps(penalty))):
        assert repr(copy) == repr(penalty) and str(copy.get_params()) == str(penalty.get_params())
        np.testing.assert_array_equal(copy.start(M), penalty.start(M))
