"""UFO-MKL's regulariser: the link (Orabona & Jie 2011, Theorem 3) is an argmax, with exact zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from manykernels.solvers.ufo import GroupRegularizer, dual_exponent

regularizers = st.builds(
    GroupRegularizer, lam=st.floats(1e-4, 10.0), alpha=st.floats(0.0, 2.0), q=st.floats(2.0, 15.0)
)
sizes = arrays(float, 5, elements=st.floats(0.0, 10.0).map(lambda v: round(v, 8)))


@pytest.mark.parametrize("F", [3, 6, 20])
@pytest.mark.parametrize(("lam", "alpha"), [(1.0, 0.0), (0.1, 0.3), (3.0, 0.6), (1e-3, 0.2)])
def test_link_is_the_argmax(F, lam, alpha):
    """c = argmax_{c ≥ 0} c·a − α‖c‖₁ − λ/2 ‖c‖_p²; in x with c = x^q, numbers of any size are in reach."""
    q = dual_exponent(F)
    assert q == pytest.approx(2 * np.log(F))
    p, a = q / (q - 1), np.random.RandomState(F).uniform(0, 1, F)
    r = GroupRegularizer(lam, alpha, q)

    def loss(x):
        c = np.abs(x) ** q / lam
        return -lam * (c @ (a - alpha) - lam / 2 * (c**p).sum() ** (2 / p))

    found = min(
        (minimize(loss, np.full(F, start), tol=1e-14, options={"maxiter": 5000}) for start in (0.5, 0.9)),
        key=lambda result: result.fun,
    )
    c = r.link(a)
    at = -lam * (c @ a - r.value(c))
    assert at <= found.fun + 1e-9
    np.testing.assert_allclose(np.abs(found.x) ** q / lam, c, atol=2e-3 * c.max())
    assert -at / lam == pytest.approx(r.conjugate(a), rel=1e-10)
    np.testing.assert_array_equal(c == 0.0, a <= alpha)


@given(r=regularizers, a=sizes, other=sizes)
def test_fenchel_young(r, a, other):
    c = r.link(a)
    assert np.all(c >= 0)
    scale = 1.0 + r.value(c)
    assert r.value(c) + r.conjugate(a) == pytest.approx(c @ a, abs=1e-9 * scale)
    assert r.value(other) + r.conjugate(a) >= other @ a - 1e-9 * (1.0 + r.value(other) + r.conjugate(a))
    np.testing.assert_array_equal(c[a <= r.alpha], 0.0)


@settings(max_examples=30)
@given(r=regularizers, a=sizes)
def test_link_is_the_gradient_of_the_conjugate(r, a):
    a = np.where(np.abs(a - r.alpha) < 1e-3, a + 0.01, a)
    for j in range(a.size):
        h = 1e-5 * np.eye(a.size)[j]
        slope = (r.conjugate(a + h) - r.conjugate(np.maximum(a - h, 0.0))) / (
            (a + h - np.maximum(a - h, 0.0))[j]
        )
        assert r.link(a)[j] == pytest.approx(slope, rel=1e-3, abs=2e-3 * (1 / r.lam))


def test_exponent_of_few_kernels():
    assert [dual_exponent(F) for F in (1, 2)] == [2.0, 2.0]
    assert dual_exponent(3) == pytest.approx(2 * np.log(3))


def test_link_neither_overflows_nor_underflows():
    r = GroupRegularizer(1e-6, 0.0, 14.0)
    for size in (1e-150, 1.0, 1e150):
        c = r.link(size * np.array([1.0, 0.5, 1e-3]))
        np.testing.assert_allclose(c / size, r.link(np.array([1.0, 0.5, 1e-3])), rtol=1e-10)
