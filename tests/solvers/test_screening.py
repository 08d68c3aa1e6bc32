"""Safe screening: exactly those kernels go that the rule of the docstring proves to be zero."""

import numpy as np
import pytest

from manykernels.grams import StackGram
from manykernels.losses import Hinge, Squared
from manykernels.objectives import Separable
from manykernels.penalties import ElasticNet, LpBall, Simplex
from manykernels.solvers._screening import Screen

N, M = 12, 60


def setting(C, scale, loss=None, seed=0):
    """Kernels of rank one whose quadratic forms are graded, and a dual point."""
    rng = np.random.RandomState(seed)
    alpha = rng.randn(N, 1)
    alpha -= alpha.mean()
    features = rng.randn(M, N) + np.linspace(0.0, 3.0, M)[:, None] * alpha[:, 0]
    stack = scale * np.einsum("mi,mj->mij", features, features)
    risk = Separable(loss or Squared(), rng.randn(N, 1), np.full((N, 1), C), True)
    return StackGram(stack), risk, alpha


@pytest.mark.parametrize("C", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 100.0])
@pytest.mark.parametrize("penalty", [Simplex(), ElasticNet(0.5)], ids=repr)
def test_the_rule_is_that_of_the_docstring(C, scale, penalty):
    """r = √(2·gap·L) with L = C for the squared loss; λ_m is bounded by the trace."""
    gram, risk, alpha = setting(C, scale)
    q = gram.quad(alpha).sum(axis=1)
    dual = risk.dual_fit(alpha) - 0.5 * penalty.conjugate(q)[0]
    counts = set()
    for distance in 10.0 ** np.arange(-8.0, 3.0, 0.5):
        gap = distance * q.max() / (C * gram.traces().max())
        screen = Screen(gram, risk, penalty)
        screen.update(alpha, q, dual + gap)
        gap = dual + gap - dual  # as it is after rounding
        reach = np.sqrt(2.0 * gap * C * gram.traces())
        least = (np.sqrt(q) - reach).max() if isinstance(penalty, Simplex) else 0.5
        margin = np.sqrt(q) + reach - max(least, 0.0)
        clear = np.abs(margin) > 1e-4 * np.sqrt(q.max())
        np.testing.assert_array_equal(screen.alive[clear], (margin >= 0.0)[clear])
        assert screen.count == M - np.count_nonzero(screen.alive)
        counts.add(screen.count)
        forms = screen.quad(alpha)
        assert not forms[~screen.alive].any()
        np.testing.assert_allclose(forms[screen.alive, 0], q[screen.alive])
    assert len(counts) > 3 or isinstance(penalty, ElasticNet)


def test_kernels_that_are_gone_stay_so():
    gram, risk, alpha = setting(1.0, 1.0)
    q = gram.quad(alpha).sum(axis=1)
    dual = risk.dual_fit(alpha) - 0.5 * q.max()
    screen = Screen(gram, risk, Simplex())
    screen.update(alpha, q, dual + 1e-9)
    before = screen.alive.copy()
    screen.update(alpha, q, dual + 1e9)
    assert 0 < screen.count < M and np.array_equal(screen.alive, before)
    screen.update(alpha, q, np.inf)
    assert np.array_equal(screen.alive, before)


def test_nothing_is_screened_where_nothing_is_proven():
    """Without a strongly concave dual, or where every kernel has weight."""
    for penalty, loss in ((Simplex(), Hinge()), (LpBall(2.0), Squared())):
        gram, risk, alpha = setting(1.0, 1.0, loss)
        alpha = risk.feasible(alpha)
        screen = Screen(gram, risk, penalty)
        q = gram.quad(alpha).sum(axis=1)
        screen.update(alpha, q, risk.dual_fit(alpha) - 0.5 * penalty.conjugate(q)[0])
        assert screen.count == 0
