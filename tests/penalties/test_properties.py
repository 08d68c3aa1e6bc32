"""Laws that hold for any numbers at any scale (hypothesis)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manykernels.penalties import BallProduct, ElasticNet, L2Ball, LpBall, Simplex

BALLS = [
    Simplex(),
    LpBall(1.0001),
    LpBall(4 / 3),
    LpBall(2.0),
    LpBall(7.0),
    LpBall(1e6),
    LpBall(np.inf),
    L2Ball(),
]
INSTANCES = [*BALLS, L2Ball(mu0=0.5, radius=2.0), ElasticNet(0.3), ElasticNet(1.0)]
each_penalty = pytest.mark.parametrize("penalty", INSTANCES, ids=repr)
each_ball = pytest.mark.parametrize("penalty", BALLS, ids=repr)

few = settings(max_examples=30)
scales = st.sampled_from([1e-150, 1e-20, 1.0, 1e20, 1e150])
vectors = arrays(
    np.float64, st.integers(1, 8), elements=st.floats(0.0, 1.0).map(lambda x: x if x > 1e-9 else 0.0)
)


@each_penalty
@few
@given(x=vectors, scale=scales)
def test_every_oracle_is_feasible_at_any_scale(penalty, x, scale):
    value, theta = penalty.conjugate(scale * x)
    assert np.isfinite(value) and value >= 0
    for point in (theta, penalty.closed_form(scale * x), penalty.project(scale * (2 * x - 1))):
        assert point.shape == x.shape and np.isfinite(penalty.value(point)) and np.all(point >= 0)
    assert np.isfinite(penalty.group_norm(scale * x))


@each_penalty
@few
@given(x=vectors, v=arrays(np.float64, 8, elements=st.floats(-10, 10)))
def test_fenchel_inequality(penalty, x, v):
    theta = penalty.project(v[: x.size])
    assert theta @ x <= penalty.value(theta) + penalty.conjugate(x)[0] + 1e-12


@each_ball
@few
@given(x=vectors, scale=scales)
def test_balls_do_not_see_the_scale(penalty, x, scale):
    np.testing.assert_allclose(penalty.closed_form(scale * x), penalty.closed_form(x), rtol=1e-9)
    assert penalty.conjugate(scale * x)[0] == pytest.approx(scale * penalty.conjugate(x)[0], rel=1e-12)
    assert penalty.group_norm(scale * x) == pytest.approx(scale * (scale * penalty.group_norm(x)), rel=1e-9)


@each_penalty
@few
@given(v=arrays(np.float64, (2, 6), elements=st.floats(-100, 100)))
def test_projection_does_not_expand(penalty, v):
    s, t = (penalty.project(x) for x in v)
    assert np.linalg.norm(s - t) <= np.linalg.norm(v[0] - v[1]) + 1e-12


@each_penalty
@few
@given(x=vectors, order=st.randoms(use_true_random=False))
def test_kernels_may_come_in_any_order(penalty, x, order):
    permutation = np.array(order.sample(range(x.size), x.size))
    np.testing.assert_allclose(
        penalty.closed_form(x[permutation]), penalty.closed_form(x)[permutation], rtol=1e-9
    )
    np.testing.assert_allclose(
        penalty.project(3 * x[permutation]), penalty.project(3 * x)[permutation], atol=1e-12
    )


@each_penalty
@few
@given(x=vectors)
def test_weights_grow_with_the_norms(penalty, x):
    order = np.argsort(x)
    assert np.all(np.diff(penalty.closed_form(x)[order]) >= -1e-12)


def test_lp_ball_is_continuous_in_p():
    x = np.array([0.3, 1.2, 0.7])
    for p, limit in ((1 + 1e-12, 1.0), (1e12, np.inf)):
        near, far = LpBall(p), LpBall(limit)
        np.testing.assert_allclose(near.closed_form(x), far.closed_form(x), atol=1e-10)
        np.testing.assert_allclose(near.project(x), far.project(x), atol=1e-9)
        assert near.conjugate(x)[0] == pytest.approx(far.conjugate(x)[0], rel=1e-10)
        assert near.group_norm(x) == pytest.approx(far.group_norm(x), rel=1e-10)


def test_p_next_to_one_does_not_break_the_conjugate():
    value, theta = LpBall(np.nextafter(1.0, 2.0)).conjugate(np.array([1.0, 1.0, 0.999]))
    assert value == pytest.approx(1.0) and theta == pytest.approx([0.5, 0.5, 0.0])


def test_centred_ball_is_the_2_norm():
    a = np.array([0.3, 0.0, 2.0, 1e-8])
    ball, lp = L2Ball(radius=3.0), LpBall(2.0)
    np.testing.assert_allclose(ball.closed_form(a), 3.0 * lp.closed_form(a), rtol=1e-12)
    assert ball.group_norm(a) == pytest.approx(lp.group_norm(a) / 3.0, rel=1e-12)


def test_elastic_net_keeps_h_finite_where_the_weight_rounds_to_its_limit():
    penalty = ElasticNet(0.3)
    for theta in (penalty.closed_form(np.array([1e150])), penalty.project(np.array([1e150]))):
        assert np.isfinite(penalty.value(theta)) and all(
            np.all(np.isfinite(part)) for part in penalty.smooth(theta)
        )


def test_centred_ball_with_radius_zero_has_no_weight_to_give():
    assert L2Ball(radius=0.0).group_norm(np.array([1.0])) == np.inf


def test_one_group_is_the_ball_itself():
    x = np.array([0.3, 1.2, 0.7, 0.0])
    for p in (1.0, 4 / 3, 2.0, np.inf):
        one, ball = BallProduct(p, groups=1), LpBall(p)
        for name in ("closed_form", "project", "interior", "stretch"):
            np.testing.assert_array_equal(getattr(one, name)(x), getattr(ball, name)(x))
        assert one.conjugate(x)[0] == ball.conjugate(x)[0] and one.group_norm(x) == ball.group_norm(x)
    with pytest.raises(ValueError, match="at least 1"):
        BallProduct(2.0, groups=0).project(x)
    with pytest.raises(ValueError, match="a multiple of 3"):
        BallProduct(2.0, groups=3).project(x)


def test_a_group_without_weight_is_stretched_to_equal_weights():
    wide = BallProduct(2.0, groups=2).stretch(np.array([0.0, 0.0, 0.3, 0.4]))
    np.testing.assert_allclose(wide, [0.5**0.5, 0.5**0.5, 0.6, 0.8])


def test_projection_onto_a_ball_around_a_prior_ends_on_its_sphere():
    """(μ₀ + τ(v − μ₀))₊ at distance Λ, with some entries at 0 and others on the way there."""
    rng, cut = np.random.default_rng(0), 0
    for _ in range(300):
        mu0, radius = rng.exponential(size=6), rng.exponential() + 0.1
        v = mu0 + 3.0 * rng.normal(size=6)
        if np.linalg.norm(np.maximum(v, 0.0) - mu0) <= radius:
            continue
        t = L2Ball(mu0, radius).project(v)
        assert np.linalg.norm(t - mu0) == pytest.approx(radius, rel=1e-12)
        moved = t > 1e-12  # an end at 0 is met up to rounding
        share = (t - mu0)[moved] / (v - mu0)[moved]
        np.testing.assert_allclose(share, share[0], rtol=1e-9)
        assert np.all(mu0[~moved] + share[0] * (v - mu0)[~moved] <= 1e-12)
        cut += int(np.count_nonzero(~moved) > 1)
    assert cut > 20
