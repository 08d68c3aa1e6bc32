"""What solvers promise besides the optimum: honest early stops, starts, screening, and odd data."""

from functools import partial

import numpy as np
import pytest
from tests.helpers import LOSSES, PENALTIES, gaussians, problem, risk_of, run, told

from manykernels.grams import FactorGram, StackGram
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared, SquaredHinge
from manykernels.objectives import Separable
from manykernels.oracles import FiniteOracle
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.solvers import (
    SILP,
    ActiveSet,
    Alternating,
    Blockwise,
    Corrective,
    FamilySolver,
    Greedy,
    Held,
    HessianMKL,
    Hierarchical,
    History,
    Reason,
    SimpleMKL,
    Stochastic,
    resolve_solver,
    why_not,
)
from manykernels.solvers._screening import Screen
from manykernels.solvers.nonlinear import ProjectedGradient

RIVALS = [SILP(), SimpleMKL(), HessianMKL()]
SOLVERS = [ActiveSet(), Alternating(), *RIVALS]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=repr)
each_loss = pytest.mark.parametrize("loss", LOSSES, ids=repr)
THREE = [Simplex(), LpBall(2.0), ElasticNet(0.4)]


def served(solver, penalty):
    return why_not(solver, Held("list"), Squared(), penalty) is None


def each_served(penalties=PENALTIES):
    """Every solver with every penalty that it serves."""
    pairs = [(solver, penalty) for solver in SOLVERS for penalty in penalties if served(solver, penalty)]
    return pytest.mark.parametrize(("solver", "penalty"), pairs, ids=repr)


# -- early stops -----------------------------------------------------------------------------------
@each_served(THREE)
@each_loss
def test_stopping_early_is_said_and_the_gap_is_true(solver, loss, penalty):
    stack, labels, targets = problem(0, 40, 8)
    risk = risk_of(loss, labels, targets, 10.0)
    early = run(solver, stack, risk, penalty, tol=1e-10, max_iter=1)
    best = run(ActiveSet(), stack, risk, penalty, tol=1e-8)
    assert not early.converged and early.gap > 1e-10
    assert early.dual <= best.primal and early.primal >= best.dual
    assert early.primal - best.primal <= early.gap * early.primal


def test_no_iteration_at_all_is_refused():
    stack, labels, targets = problem(0, 10)
    with pytest.raises(ValueError, match="max_iter=0"):
        run(Alternating(), stack, risk_of(Hinge(), labels, targets), LpBall(2.0), max_iter=0)


@each_served([LpBall(4 / 3), Simplex()])
def test_history_goes_down_to_the_result(solver, penalty):
    stack, labels, targets = problem(1, 40, 8)
    lines = []
    history = History(report=lines.append)
    risk = risk_of(Hinge(), labels, targets, 5.0)
    result = run(solver, stack, risk, penalty, tol=1e-3, history=history)
    assert result.history is history and len(lines) == len(history.gap) > 0
    assert history.gap[-1] == result.gap and history.objective[-1] == result.primal
    assert history.active[-1] == np.count_nonzero(result.weights)
    assert np.all(np.diff(history.gap) <= 1e-12) and np.all(np.diff(history.seconds) >= 0)
    assert set(history.as_dict()) == {"objective", "gap", "seconds", "active"}


# -- starts ----------------------------------------------------------------------------------------
@each_served()
@each_loss
def test_a_start_at_the_solution_ends_there_at_once(solver, loss, penalty):
    stack, labels, targets = problem(2, 25)
    risk = risk_of(loss, labels, targets, 3.0)
    best = run(ActiveSet(), stack, risk, penalty, tol=1e-9)
    theta, alpha = best.weights.copy(), best.alpha.copy()
    again = run(solver, stack, risk, penalty, tol=1e-5, start=(theta, alpha))
    assert again.converged and again.n_iter <= 3
    np.testing.assert_allclose(again.primal, best.primal, rtol=1e-5)
    assert np.array_equal(theta, best.weights) and np.array_equal(
        alpha, best.alpha
    )  # a start is not written to


@each_served(THREE)
@each_loss
def test_a_bad_start_changes_nothing(solver, loss, penalty):
    """All weight on one kernel (zeros must be able to grow), α of another problem and with Σα ≠ 0."""
    if isinstance(solver, Alternating):
        pytest.skip("multiplicative updates cannot leave zero")
    stack, labels, targets = problem(2, 25)
    risk = risk_of(loss, labels, targets, 3.0)
    theta = np.array([1.0, 0.0, 0.0, 0.0])
    alpha = 100 * np.random.RandomState(0).randn(25, 1) + 50
    result = run(solver, stack, risk, penalty, tol=1e-6, start=(theta, alpha))
    best = run(solver, stack, risk, penalty, tol=1e-6)
    assert result.converged
    np.testing.assert_allclose(result.primal, best.primal, rtol=2e-6)


def test_larger_problems_start_from_a_part():
    stack, labels, targets = problem(3, 130, 6)
    risk = risk_of(Hinge(), labels, targets)
    results = [run(ActiveSet(warm_size=size), stack, risk, Simplex(), tol=1e-5) for size in (0, 20)]
    assert all(result.converged for result in results)
    np.testing.assert_allclose(results[0].primal, results[1].primal, rtol=1e-5)


def test_a_part_with_one_class_only_is_no_start():
    stack, labels, targets = problem(3, 60, 3)
    labels = np.ones_like(labels)
    labels[0] = -1
    assert run(
        ActiveSet(warm_size=8), stack, risk_of(Hinge(), labels, targets), Simplex(), tol=1e-4
    ).converged


@pytest.mark.parametrize("options", [{"add": 1}, {"add": 2, "cuts": 2}, {"add": 100}])
@each_loss
def test_options_change_the_way_but_not_the_answer(options, loss):
    stack, labels, targets = problem(4, 30, 15)
    risk = risk_of(loss, labels, targets, 2.0)
    a, b = (run(s, stack, risk, Simplex(), tol=1e-6) for s in (ActiveSet(), ActiveSet(**options)))
    assert b.converged
    np.testing.assert_allclose(a.primal, b.primal, rtol=2e-6)


# -- many kernels, degenerate ----------------------------------------------------------------------
def per_feature(n=60, d=7, seed=0):
    """Many kernels of single features and few free support vectors: α(θ) jumps between sets of bounds."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, d)
    y = np.where(X[:, 0] - X[:, 1] ** 2 + 0.5 * rng.randn(n) > 0, 1.0, -1.0)[:, None]
    parts = [X] + [X[:, [j]] for j in range(d)]
    stack = np.concatenate(
        [
            np.concatenate([gaussians(A, [2.0, 0.5, 0.02, 0.005]), [(1 + A @ A.T) ** k for k in (1, 2, 3)]])
            for A in parts
        ]
    )
    return stack * (n / np.einsum("mii->m", stack))[:, None, None], y


@pytest.mark.parametrize("C", [0.01, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("penalty", [Simplex(), LpBall(4 / 3), ElasticNet(0.5)], ids=repr)
def test_per_feature_dictionaries_do_not_stall(C, penalty):
    stack, y = per_feature()
    result = run(ActiveSet(), stack, risk_of(Hinge(), y, y, C), penalty, tol=1e-6, max_iter=300)
    assert result.converged and result.gap <= 1e-6


def test_kernels_of_very_different_size():
    stack, labels, targets = problem(5, 25)
    stack = stack * np.array([1e-3, 1.0, 1e2, 1e4])[:, None, None]
    for loss in LOSSES:
        for penalty in (Simplex(), LpBall(2.0), L2Ball(0.3, 0.7)):
            result = run(ActiveSet(), stack, risk_of(loss, labels, targets), penalty, tol=1e-4)
            assert result.converged, (loss, penalty, result.gap)


@each_served()
@each_loss
def test_zero_kernels_get_in_nobodys_way(solver, loss, penalty):
    if isinstance(solver, Alternating) and penalty.sparse:
        pytest.skip("too slow for 1e-5 where weights are sparse")
    stack, labels, targets = problem(6, 20)
    risk = risk_of(loss, labels, targets, 2.0)
    with_zero = run(solver, np.concatenate([stack, 0 * stack[:1]]), risk, penalty, tol=1e-5)
    assert with_zero.converged
    if not isinstance(penalty, L2Ball):
        np.testing.assert_allclose(
            with_zero.primal, run(solver, stack, risk, penalty, tol=1e-5).primal, rtol=2e-5
        )


@each_served()
def test_only_zero_kernels(solver, penalty):
    _, labels, targets = problem(6, 12)
    for loss in LOSSES:
        result = run(solver, np.zeros((2, 12, 12)), risk_of(loss, labels, targets), penalty, tol=1e-6)
        assert result.converged, loss


@each_served()
@pytest.mark.parametrize("loss", [Squared(), EpsilonInsensitive(0.0), EpsilonInsensitive(0.1)], ids=repr)
def test_constant_target(solver, penalty, loss):
    """The intercept explains it all: P is zero but for rounding, and that is a solution."""
    if isinstance(loss, Squared) and isinstance(penalty, ElasticNet):
        pytest.skip("its penalty is linear in α, which is rounding: P is small but not negligible")
    stack, labels, targets = problem(6, 13)
    risk = risk_of(loss, labels, np.full_like(targets, 0.1))
    result = run(solver, stack, risk, penalty, tol=1e-6, max_iter=20)
    assert result.converged and result.gap == 0.0 and result.primal < 1e-20
    np.testing.assert_allclose(result.intercept, 0.1)


@each_solver
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("M", [1, 2])
def test_tiny_problems(solver, n, M):
    stack, labels, targets = problem(7, n, max(M, 2))
    labels[0] = -1.0
    for loss in LOSSES:
        for penalty in filter(partial(served, solver), (Simplex(), LpBall(2.0), LpBall(np.inf))):
            result = run(solver, stack[:M], risk_of(loss, labels, targets), penalty, tol=1e-6)
            assert result.converged, (loss, penalty)


def test_squared_hinge_with_a_margin_of_exactly_one():
    """α_3 = 0 at yf = 1: rounding may leave it below its bound, which must not void the certificate."""
    y = np.array([[1.0], [-1.0], [1.0]])
    F = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    for C in (0.1, 1.0, 7.0):
        alpha = 1.0 / (2.0 + 1.0 / C)  # of samples 1 and 2, whose margins are 2α
        F[2, 0] = 1.0 / (2.0 * alpha)
        for stack in (np.array([F @ F.T]), np.array([F @ F.T, 0.5 * F @ F.T])):
            risk = Separable(SquaredHinge(), y, np.full((3, 1), C), False)
            assert run(ActiveSet(), stack, risk, Simplex(), tol=1e-9).converged


# -- screening -------------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic(), Squared()], ids=repr)
@pytest.mark.parametrize("penalty", [Simplex(), ElasticNet(0.3)], ids=repr)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_screening_is_safe_and_works(loss, penalty, fit_intercept):
    """No kernel with weight at the optimum is removed from any dual point; from good ones, others are."""
    removed = 0
    for seed in range(4):
        stack, labels, targets = problem(seed, 24, 10)
        rng = np.random.RandomState(seed)
        risk = risk_of(loss, labels, targets, rng.uniform(0.2, 2.0, labels.shape), fit_intercept)
        best = run(ActiveSet(), stack, risk, penalty, tol=1e-10)
        for noise in (1.0, 1e-2, 1e-4, 0.0):
            alpha = risk.feasible(best.alpha + noise * rng.randn(*best.alpha.shape))
            screen = Screen(StackGram(stack), risk, penalty)
            q = screen.quad(alpha).sum(axis=1)
            screen.update(alpha, q, best.primal)
            assert np.all(screen.alive[best.weights > 1e-4])
            assert np.array_equal(screen.quad(alpha).sum(axis=1), np.where(screen.alive, q, 0.0))
            removed += screen.count if noise == 0.0 else 0
    assert removed > 0


def test_screening_knows_where_it_does_not_apply():
    stack, labels, targets = problem(0, 20)
    for loss, penalty in [(Hinge(), Simplex()), (Squared(), LpBall(2.0))]:
        risk = risk_of(loss, labels, targets)
        result = run(ActiveSet(), stack, risk, penalty, tol=1e-8)
        screen = Screen(StackGram(stack), risk, penalty)
        screen.update(result.alpha, screen.quad(result.alpha).sum(axis=1), result.primal)
        assert screen.count == 0 and result.screened == 0


def test_a_run_screens_and_still_finds_the_optimum():
    stack, labels, targets = problem(0, 60, 30)
    risk = risk_of(Squared(), labels, targets, 1.0)
    result = run(ActiveSet(add=2), stack, risk, Simplex(), tol=1e-9)
    q = np.einsum("ik,mij,jk->m", result.alpha, stack, result.alpha)
    assert result.screened > 0 and result.converged
    assert np.all(q <= q[result.weights > 0].max() * (1 + 1e-6))


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_kernels_without_weight_that_bind_are_not_dropped_for_ever(seed):
    """Few words in few texts: many α are optimal, and kernels without weight decide which is feasible.

    A working set that drops those lets them in again at the next look, and the bound never rises.
    """
    rng = np.random.RandomState(seed)
    X = (rng.rand(60, 120) < 0.08).astype(float)
    X[rng.randint(60, size=120), np.arange(120)] = 1.0
    y = np.where(rng.rand(60) < 0.5, 1.0, -1.0)[:, None]
    gram = FactorGram(X / np.sqrt((X**2).mean(axis=0)), np.arange(121))
    risk = Separable(Hinge(), y, np.full_like(y, 0.3), True)
    result = ActiveSet().run(gram, risk, Simplex(), told(1e-3, 60))
    assert result.converged and result.gap <= 1e-3


def test_thousands_of_words_and_a_large_cost_do_not_stall():
    """P falls by orders of magnitude while (P − D)/P stays at 1: that is progress."""
    rng = np.random.RandomState(1)
    X = rng.poisson(0.03, (80, 700)).astype(float)
    X[rng.randint(80, size=700), np.arange(700)] = 1.0
    y = np.where(rng.rand(80) < 0.5, 1.0, -1.0)[:, None]
    gram = FactorGram(X / np.sqrt((X**2).mean(axis=0)), np.arange(701))
    result = ActiveSet().run(
        gram, Separable(Hinge(), y, np.full_like(y, 1e4), True), Simplex(), told(1e-3, 60)
    )
    assert result.converged and result.primal < 1e-3 * 80 * 1e4
    assert -1e-9 * result.primal <= result.primal - result.dual <= 1e-3 * result.primal


def test_kernels_that_the_joint_method_used_are_known_after_the_working_set_changed():
    """Its turns alternate with steps in θ: what it used last may be of an older working set."""
    rng = np.random.RandomState(29)
    n, M = rng.randint(20, 60), rng.randint(60, 200)
    X = (rng.rand(n, M) < rng.choice([0.05, 0.1, 0.3])).astype(float)
    X[rng.randint(n, size=M), np.arange(M)] = 1.0
    y = np.where(rng.rand(n) < 0.5, 1.0, -1.0)[:, None]
    gram = FactorGram(X / np.sqrt((X**2).mean(axis=0)), np.arange(M + 1))
    risk = Separable(EpsilonInsensitive(0.1), y, np.full_like(y, 10.0 ** rng.uniform(-2, 3)), True)
    solver = ActiveSet(add=int(rng.choice([1, 2, 5])))
    rough, fine = (solver.run(gram, risk, Simplex(), told(tol, 200)) for tol in (1e-4, 1e-13))
    assert rough.gap <= 1e-4 and fine.gap <= 1e-8 and fine.reason in (Reason.NONE, Reason.STALLED)
    assert fine.primal <= rough.primal * (1 + 1e-9) and fine.dual <= rough.primal


@pytest.mark.parametrize("solver", [ActiveSet(), Alternating(), Blockwise(), ProjectedGradient()], ids=str)
def test_solvers_of_lists_refuse_families(solver):
    stack, labels, targets = problem(0)
    with pytest.raises(ValueError, match=r"needs a list of kernels.*Take solver='stochastic'\."):
        solver.run(
            FiniteOracle(StackGram(stack)), risk_of(Squared(), labels, targets), L2Ball(0.0, 1.0), told()
        )


def test_graphs_and_powers_are_problems_of_their_own():
    stack, labels, targets = problem(0)
    risk = risk_of(Squared(), labels, targets)
    with pytest.raises(ValueError, match="needs a graph of kernels"):
        run(Hierarchical(), stack, risk, Simplex())
    with pytest.raises(ValueError, match=r"needs L2Ball\(mu0, radius\)"):
        run(ProjectedGradient(), stack, risk, Simplex())
    for solver in (Hierarchical(), ProjectedGradient()):
        with pytest.raises(ValueError, match="expected one of 'auto'"):
            resolve_solver(solver)


@pytest.mark.parametrize(
    "solver", [ActiveSet(), Alternating(), Corrective(), Greedy(), Stochastic()], ids=str
)
def test_a_list_has_a_weight_for_every_kernel_and_a_family_for_those_it_used(solver):
    stack, labels, targets = problem(0)
    risk, penalty = risk_of(Squared(), labels, targets), Simplex()
    found = run(solver, stack, risk, penalty, tol=1e-3, max_iter=50)
    assert found.atoms == [0, 1, 2, 3] and found.weights.shape == (4,) and found.certified
    if isinstance(solver, FamilySolver):
        family = solver.run(FiniteOracle(StackGram(stack)), risk, penalty, told(1e-3, 50))
        assert np.array_equal(found.weights[family.atoms], family.weights)
        assert family.primal == found.primal and family.dual == found.dual


def test_only_reasons_that_say_something_are_true():
    assert not Reason.NONE and Reason.NONE.value == ""
    assert all(reason and reason.value for reason in Reason if reason is not Reason.NONE)
