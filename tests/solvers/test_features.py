"""`ActiveSet` on explicit features: the answers of matrices, without matrices."""

import tracemalloc

import numpy as np
import pytest
from tests.helpers import featured, told

from manykernels.grams import FactorGram
from manykernels.grams.features import FeatureGram
from manykernels.losses import EpsilonInsensitive, Hinge, Huber, Logistic, Pinball, Squared, SquaredHinge
from manykernels.objectives import Separable
from manykernels.penalties import ElasticNet, LpBall, Simplex, resolve_penalty
from manykernels.solvers import ActiveSet, Alternating, Blockwise, Corrective, Greedy, Stochastic

PHI, PTR, SIGNS, COST = featured()
LOSSES = [Logistic(), SquaredHinge(), Hinge(), EpsilonInsensitive(0.2), Squared(), Pinball(0.3), Huber(0.5)]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    ("norm", "intercept"),
    [(1.0, False), (1.0, True), (2.0, True), (np.inf, False), (ElasticNet(0.3), True)],
    ids=str,
)
def test_the_optimum_is_that_of_matrices(loss, norm, intercept):
    penalty, risk = resolve_penalty(norm), Separable(loss, SIGNS, COST, intercept)
    found = ActiveSet().run(FeatureGram(PHI, PTR), risk, penalty, told(1e-4, 300))
    matrices = ActiveSet().run(FactorGram(PHI, PTR), risk, penalty, told(1e-4, 300))
    assert found.gap <= 1e-4
    assert found.primal == pytest.approx(matrices.primal, rel=1e-4)
    assert found.dual <= matrices.primal * (1 + 1e-9)
    if intercept:
        np.testing.assert_allclose(found.alpha.sum(axis=0), 0.0, atol=1e-8 * np.abs(found.alpha).sum())
    # both values are what they say, by matrices alone
    K = FactorGram(PHI, PTR).combine(found.weights)
    f = K @ found.alpha + found.intercept
    q = FactorGram(PHI, PTR).quad(found.alpha).sum(axis=1)
    primal = 0.5 * penalty.group_norm(found.weights * np.sqrt(q)) + risk.value(f)
    assert found.primal == pytest.approx(primal, rel=1e-8)
    assert found.dual >= risk.dual(found.alpha, q, penalty, 0.0) * (1 - 1e-9)


@pytest.mark.parametrize("loss", [EpsilonInsensitive(0.1), Hinge(), Logistic(), SquaredHinge()], ids=str)
@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_tolerances_that_rounding_does_not_allow_end_with_a_gap_that_holds(loss, C):
    """A machine whose gap is zero already has to end too: it made a smoothed loss of no width at all."""
    risk = Separable(loss, SIGNS[:60], np.full((60, 1), C), True)
    penalty, gram = resolve_penalty(1.0), FeatureGram(np.ascontiguousarray(PHI[:60]), PTR)
    with np.errstate(divide="raise", invalid="raise"):
        rough = ActiveSet().run(gram, risk, penalty, told(1e-3, 15))
        fine = ActiveSet().run(gram, risk, penalty, told(1e-12, 15))
    assert rough.gap <= 1e-3 and np.isfinite(fine.gap)
    assert fine.primal >= rough.dual * (1 - 1e-9) and rough.primal >= fine.dual * (1 - 1e-9)


@pytest.mark.parametrize("kind", [Alternating, Blockwise, Corrective, Greedy, Stochastic])
def test_other_solvers_say_that_they_need_matrices(kind):
    assert "features" in ActiveSet().serves.kernels and "features" not in kind().serves.kernels
    risk, penalty = Separable(Squared(), SIGNS, COST, True), LpBall(2.0)
    with pytest.raises(ValueError, match=r"needs matrices .*'active-set'"):
        kind().run(FeatureGram(PHI, PTR), risk, penalty, told(1e-3, 10))


def test_nothing_of_samples_by_samples_is_made():
    """Not even where the method would begin on a part of the samples."""
    Phi, Y, C = (np.tile(part, (8, 1)) for part in (PHI, SIGNS, COST))
    risk, gram = Separable(Logistic(), Y, C, True), FeatureGram(Phi, PTR)
    tracemalloc.start()
    found = ActiveSet().run(gram, risk, Simplex(), told(1e-3, 50))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.converged and found.K.Phi.shape[0] == len(Y) and peak < 8 * len(Y) ** 2
