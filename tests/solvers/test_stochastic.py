"""SGD-1s: the direction is unbiased, the bookkeeping is that of dense mirror descent, and it converges."""

import warnings
from itertools import combinations_with_replacement

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from tests.helpers import problem, risk_of, run, told

from manykernels import MKLRegressor
from manykernels.families import Products
from manykernels.grams import FactorGram, StackGram
from manykernels.kernels import Gaussian, OnColumns
from manykernels.losses import Hinge, Logistic, Squared
from manykernels.objectives import Separable
from manykernels.oracles import Draws, FiniteOracle, build_oracle
from manykernels.oracles.descent import ProjectedIterate, ScaledIterate, combined, iterate_for, quads
from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex
from manykernels.penalties.steps import Steps
from manykernels.solvers import ActiveSet, Alternating, History, Stochastic, resolve_solver
from manykernels.solvers._ridge_updates import RidgePath


def monomials(seed, n=60, r=6, degree=3):
    """Products of uniform features, of rank one: sizes fall with the degree (Afkanpour 2013, Eq. 6.1)."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(-1.0, 1.0, (n, r))
    products = [z for d in range(degree + 1) for z in combinations_with_replacement(range(r), d)]
    F = np.stack([np.prod(X[:, list(z)], axis=1) for z in products], axis=1)
    chosen = [2, r, len(products) // 3, 2 * len(products) // 3]
    y = F[:, chosen] @ np.array([1.0, -2.0, 1.5, 3.0]) + 0.1 * rng.randn(n)
    y = (y - y.mean()) / y.std()
    return FactorGram(F, np.arange(F.shape[1] + 1)), np.where(y > 0, 1.0, -1.0)[:, None], y[:, None]


def stack_of(gram):
    return np.einsum("im,jm->mij", gram.features, gram.features)


def solve_with(solver, gram, risk, penalty, seed=0, tol=1e-12, max_iter=200, **options):
    return solver.run(gram, risk, penalty, told(tol, max_iter, seed, **options))


# -- the optimum -----------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [Squared(), Hinge(), Logistic()], ids=repr)
@pytest.mark.parametrize(
    ("penalty", "tol"),
    [
        (LpBall(2.0), 5e-3),
        (LpBall(4 / 3), 5e-3),
        (LpBall(3.0), 1e-2),
        (Simplex(), 2e-2),
        (L2Ball(0.0, 2.0), 5e-3),
    ],
    ids=repr,
)
def test_converges_to_the_optimum(loss, penalty, tol):
    """The certified gap falls below tol, and both its values are on their sides of the exact optimum."""
    stack, labels, targets = problem(1, 40, 8)
    risk = risk_of(loss, labels, targets, 3.0)
    result = run(Stochastic(), stack, risk, penalty, tol, 1500)
    exact = run(ActiveSet(), stack, risk, penalty, 1e-7)
    assert result.converged and result.gap <= tol
    assert result.dual <= exact.primal * (1 + 1e-9) and result.primal >= exact.dual * (1 - 1e-9)
    assert np.all(result.weights >= 0) and np.isfinite(penalty.value(result.weights))
    K = np.einsum("m,mij->ij", result.weights, stack)
    fit = risk.solve(K, np.zeros_like(result.alpha), 1e-9)
    value = 0.5 * np.sum(result.alpha * (K @ result.alpha)) + risk.value(K @ result.alpha + result.intercept)
    assert value == pytest.approx(risk.machine_value(fit), rel=0.02 * tol), (
        "α is that of the weights returned"
    )


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_automatic_steps_do_not_see_units(C, unit):
    """The unit of y changes nothing, and neither small nor huge C is in the way."""
    gram, labels, targets = monomials(0)
    penalty = LpBall(2.0)
    risk, other = (risk_of(Squared(), labels, u * targets, C) for u in (1.0, unit))
    one, two = (solve_with(Stochastic(), gram, r, penalty, max_iter=128) for r in (risk, other))
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-4)
    exact = solve_with(ActiveSet(), gram, risk, penalty, tol=1e-6)
    assert one.primal <= 1.01 * exact.primal


def test_several_outputs_and_no_intercept():
    stack, labels, targets = problem(2, 40, 6, outputs=3)
    for fit_intercept in (True, False):
        risk = risk_of(Squared(), labels, targets, 3.0, fit_intercept)
        result = run(Stochastic(), stack, risk, LpBall(2.0), 5e-3, 1000)
        assert result.converged and result.alpha.shape == (40, 3)
        assert fit_intercept or not result.intercept.any()
        exact = run(Alternating(), stack, risk, LpBall(2.0), 1e-6)
        np.testing.assert_allclose(result.primal, exact.primal, rtol=5e-3)


# -- the direction ---------------------------------------------------------------------------------
class Fixed(FiniteOracle):
    """Draws every kernel in turn, with the probabilities of the real oracle."""

    def sample(self, A, size, rng):
        q = self.whole.quad(A).sum(axis=1)
        return Draws([self.turn], np.array([q[self.turn] / q.sum()]))


def test_direction_is_unbiased_by_enumeration():
    """Σ_z s_z ĝ(z) = ∇J, with ∇J by finite differences of the machine's optimal value."""
    stack, labels, targets = problem(3, 25, 5)
    risk = risk_of(Squared(), labels, targets, 2.0)
    theta = np.array([0.1, 0.4, 0.2, 0.3, 0.5])

    def J(theta):
        return risk.machine_value(risk.solve(np.einsum("m,mij->ij", theta, stack), 0 * risk.Y, 1e-14))

    fit = risk.solve(np.einsum("m,mij->ij", theta, stack), 0 * risk.Y, 1e-14)
    oracle, mean = Fixed(StackGram(stack)), np.zeros(5)
    q = oracle.whole.quad(fit.alpha).sum(axis=1)
    for z in range(5):
        oracle.turn = z
        atoms, g, ratio = Stochastic(batch=1).estimate(oracle, fit.alpha, None)
        assert atoms == [z] and ratio == pytest.approx(0.5 * q.sum())
        mean[z] += q[z] / q.sum() * g[0]
    differences = [(J(theta + h) - J(theta - h)) / 2e-5 for h in 1e-5 * np.eye(5)]
    np.testing.assert_allclose(mean, differences, rtol=1e-5)


@pytest.mark.parametrize("sampling", ["gradient", "uniform"])
def test_direction_is_unbiased_by_drawing(sampling):
    gram, _, targets = monomials(0, 30, 3, 2)
    oracle, rng, M = FiniteOracle(gram), np.random.RandomState(0), gram.n_kernels
    draws = np.zeros((2000, M))
    for row in draws:
        atoms, g, _ = Stochastic(sampling, batch=5).estimate(oracle, targets, rng)
        row[atoms] = g
    error = draws.mean(axis=0) + 0.5 * gram.quad(targets).sum(axis=1)
    assert np.all(np.abs(error) <= 4.5 * draws.std(axis=0) / np.sqrt(2000) + 1e-12)


# -- the bookkeeping -------------------------------------------------------------------------------
class Recorded(FiniteOracle):
    """Remembers its draws."""

    def sample(self, A, size, rng):
        draws = super().sample(A, size, rng)
        self.__dict__.setdefault("record", []).append(draws)
        return draws


@pytest.mark.parametrize(
    ("penalty", "potential"),
    [
        (LpBall(2.0), "auto"),
        (LpBall(4 / 3), "auto"),
        (LpBall(4 / 3), "euclidean"),
        (LpBall(1.06), "auto"),
        (Simplex(), "auto"),
        (LpBall(3.0), "auto"),
        (L2Ball(0.0, 3.0), "auto"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("step", ["auto", "theorem"])
def test_sparse_bookkeeping_is_dense_mirror_descent(penalty, potential, step, monkeypatch):
    """The same draws, all weights moved densely, each machine solved afresh: the same weights to 1e-10."""
    gram, labels, targets = monomials(1, 25, 4, 2)
    risk = risk_of(Squared(), labels, targets, 5.0)
    T, M, oracle = 60, gram.n_kernels, Recorded(gram)
    solver = Stochastic(batch=3, step=step, potential=potential, inner_tol=1e-26)
    monkeypatch.setattr(oracle, "total", lambda A, r: None)
    kept = {}
    monkeypatch.setattr(
        "manykernels.solvers.stochastic.iterate_for", lambda *a: kept.setdefault("i", iterate_for(*a))
    )
    solver.run(oracle, risk, penalty, told(0.0, T))
    iterate = kept["i"]

    stack, theta, total, weight = stack_of(gram), np.zeros(M), np.zeros(M), 0.0
    p = 2.0 if potential == "euclidean" else penalty.potential
    steps = Steps(step, penalty, p, M, T)
    for k, draws in enumerate(oracle.record):
        fit = risk.solve(np.einsum("m,mij->ij", theta, stack), np.zeros_like(risk.Y), 1e-14)
        a = 1.0 if step == "theorem" else float(k) ** 2
        total, weight = total + a * theta, weight + a
        q, g = np.einsum("ik,mij,jk->m", fit.alpha, stack, fit.alpha), np.zeros(M)
        np.add.at(g, draws.atoms, -0.5 * q[draws.atoms] / draws.probabilities / 3)
        eta = steps.next(g, 0.5 * q[draws.atoms] / draws.probabilities)
        if potential == "euclidean":
            theta = penalty.project(theta - eta * g)
        else:
            theta = penalty.mirror_step(theta, g, eta)
    assert len(oracle.record) == T

    def scatter(weights):
        full = np.zeros(M)
        full[iterate.atoms] = weights
        return full

    average, K = iterate.average()
    np.testing.assert_allclose(scatter(iterate.weights()), theta, atol=1e-10)
    np.testing.assert_allclose(scatter(average), total / weight, atol=1e-10)
    np.testing.assert_allclose(iterate.s * iterate.K, np.einsum("m,mij->ij", theta, stack), atol=1e-9)
    np.testing.assert_allclose(K, np.einsum("m,mij->ij", total / weight, stack), atol=1e-9)


@pytest.mark.parametrize("p", [2.0, 4 / 3, 1.05])
def test_the_average_stays_exact_when_weights_are_put_back_to_scale(p):
    """Large steps shrink all other weights by orders of magnitude in a few iterations."""
    gram, _, _ = monomials(2, 20, 3, 2)
    rng, M = np.random.RandomState(0), gram.n_kernels
    sparse, dense = ScaledIterate(FiniteOracle(gram), p, 1.0), np.zeros(M)
    total, weight, rescaled = np.zeros(M), 0.0, 0
    for k in range(300):
        z, g = rng.choice(M, 2, replace=False), -rng.exponential(size=2)
        before = sparse.c
        sparse.step(list(z), g, 0.3)
        rescaled += sparse.c > before
        full = np.zeros(M)
        full[z] = g
        dense = LpBall(p).mirror_step(dense, full, 0.3)
        sparse.count(float(k))
        total, weight = total + k * dense, weight + k
    assert rescaled >= 3
    average, K = sparse.average()
    np.testing.assert_allclose(sparse.weights(), dense[sparse.atoms], atol=1e-12)
    np.testing.assert_allclose(average, (total / weight)[sparse.atoms], atol=1e-12)
    np.testing.assert_allclose(K, gram.combine(total / weight), atol=1e-11)


@pytest.mark.parametrize("entries", [1, 2000, 1 << 23])
def test_kernels_are_added_a_few_at_a_time(entries, monkeypatch):
    """However few that is, the sum is that of all; without any kernel it is zero."""
    gram, _, _ = monomials(0, 20, 3, 2)
    monkeypatch.setattr("manykernels.oracles.base._ENTRIES", entries)
    atoms, weights = [4, 0, 7, 2, 9, 1], np.arange(1.0, 7.0)
    expected = np.einsum("m,mij->ij", weights, stack_of(gram)[atoms])
    np.testing.assert_allclose(combined(FiniteOracle(gram), atoms, weights), expected, atol=1e-13)
    assert not combined(FiniteOracle(gram), [], np.zeros(0)).any()
    A = np.random.RandomState(1).randn(20, 2)
    q = quads(FiniteOracle(gram), A, atoms)
    np.testing.assert_allclose(q, np.einsum("ik,mij,jk->m", A, stack_of(gram)[atoms], A), rtol=1e-10)


def test_norms_between_1_and_2_touch_only_what_is_drawn():
    gram, _, _ = monomials(0, 20, 3, 2)
    oracle = FiniteOracle(gram)
    assert all(isinstance(iterate_for(oracle, LpBall(p), "auto"), ScaledIterate) for p in (1.1, 1.5, 2.0))
    for penalty, potential in [
        (Simplex(), "auto"),
        (LpBall(3.0), "auto"),
        (LpBall(1.5), "euclidean"),
        (LpBall(1.01), "auto"),
    ]:
        assert isinstance(iterate_for(oracle, penalty, potential), ProjectedIterate)


# -- the machine -----------------------------------------------------------------------------------
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-2, 1e6])
def test_ridge_path_is_the_exact_solution(fit_intercept, C):
    """Along a path of kernels with few fresh factors, targets far from zero included."""
    rng = np.random.RandomState(0)
    F, Y = rng.randn(40, 60), rng.randn(40, 2) + 1e4 * fit_intercept
    risk = Separable(Squared(), Y, np.repeat(C * rng.uniform(0.5, 2.0, (40, 1)), 2, axis=1), fit_intercept)
    path, alpha, w = RidgePath(risk.least_squares(), fit_intercept), np.zeros_like(Y), rng.uniform(size=60)
    for k in range(40):
        w[rng.choice(60, 3)] *= 1.2
        K, s = (F * w) @ F.T, 1.0 / (1.0 + k)
        alpha = path.solve(K, s, alpha, 1e-22)
        border = np.ones((40, int(fit_intercept)))
        A = np.block(
            [[s * K + np.diag(1.0 / risk.C[:, 0]), border], [border.T, np.zeros(border.shape[1:] * 2)]]
        )
        exact = np.linalg.solve(A, np.vstack([Y, np.zeros((border.shape[1], 2))]))[:40]
        np.testing.assert_allclose(alpha, exact, atol=1e-7 * np.abs(exact).max())
        assert not fit_intercept or np.abs(alpha.sum(axis=0)).max() <= 1e-9 * np.abs(alpha).sum()
    assert 1 <= path.factors < 40


def test_ridge_path_serves_what_it_can_solve():
    stack, labels, targets = problem(0, 12, 3, outputs=2)
    assert risk_of(Squared(), labels, targets, np.linspace(1, 2, 12)[:, None]).least_squares() is not None
    assert risk_of(Squared(), labels, targets, np.array([[1.0, 2.0]])).least_squares() is None
    assert risk_of(Logistic(), labels, targets).least_squares() is None
    risk = risk_of(Squared(), labels, targets, np.array([[1.0, 2.0]]))
    assert run(Stochastic(), stack, risk, LpBall(2.0), 1e-2, 500).converged


# -- theory ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("penalty", [LpBall(2.0), LpBall(4 / 3), Simplex()], ids=repr)
@pytest.mark.parametrize("batch", [1, 4])
def test_the_theorems_step_keeps_its_promise(penalty, batch):
    """E J(average) − min J ≤ √(2Bδ/(αT)), with B the largest ‖∇J‖₁² met, that of θ = 0 but for a little."""
    gram, labels, targets = monomials(3, 30, 4, 2)
    risk = risk_of(Squared(), labels, targets, 0.05)
    T, oracle, zero = 50, FiniteOracle(gram), np.zeros_like(risk.Y)
    optimum = solve_with(ActiveSet(), gram, risk, penalty, tol=1e-8).primal
    start = (0.5 * gram.quad(risk.solve(np.zeros((30, 30)), zero, 1e-12).alpha).sum()) ** 2
    strong = penalty.p - 1.0 if 1 < penalty.p < 2 else 1.0
    excess, B = [], start
    for seed in range(4):
        iterate, steps = iterate_for(oracle, penalty, "auto"), Steps("theorem", penalty, 1 + strong, 15, T)
        rng = np.random.RandomState(seed)
        for _ in range(T):
            fit = risk.solve(iterate.s * iterate.K, zero, 1e-10)
            iterate.count(1.0)
            atoms, g, ratio = Stochastic(batch=batch).estimate(oracle, fit.alpha, rng)
            eta, B = steps.next(g, ratio), max(B, steps.B)
            assert eta == pytest.approx(np.sqrt(2 * strong * 0.5 / (steps.B * T)))
            iterate.step(atoms, g, eta)
        fit = risk.solve(iterate.average()[1], zero, 1e-10)
        excess.append(risk.machine_value(fit) - optimum)
    assert B <= 1.1 * start
    assert -1e-6 <= np.mean(excess) <= np.sqrt(B / (strong * T))


def test_a_huge_first_gradient_is_forgotten():
    """At C = 10⁴ and 10⁶ as near to the optimum after 64 iterations as at C = 1, but for a small factor."""
    gram, labels, targets = monomials(0, 60, 5)
    excess = []
    for C in (1.0, 1e4, 1e6):
        risk = risk_of(Squared(), labels, targets, C)
        optimum = solve_with(ActiveSet(), gram, risk, LpBall(2.0), tol=1e-6).primal
        found = solve_with(Stochastic(batch=32), gram, risk, LpBall(2.0), 0, max_iter=64)
        excess.append(found.primal / optimum - 1.0)
    assert max(excess) < 0.05


def test_automatic_steps():
    """Their length is that of 1/(2√k) whatever the scale of the gradient, if draws coincide alike."""
    steps, rng = Steps("auto", LpBall(2.0), 2.0, 50, 100), np.random.RandomState(0)
    for k in range(1, 20):
        scale = 10.0 ** rng.uniform(-8, 8)
        eta = steps.next(np.full(4, -scale / 4), np.full(8, scale))
        assert eta * scale / 2 == pytest.approx(0.5 / np.sqrt(k))
    assert steps.next(np.zeros(4), np.zeros(8)) == 0.0


def test_averaging_helps():
    gram, labels, targets = monomials(0, 30, 5)
    risk = risk_of(Squared(), labels, targets, 10.0)
    optimum = solve_with(ActiveSet(), gram, risk, LpBall(2.0), tol=1e-7).primal
    last, average = (
        np.mean(
            [
                solve_with(Stochastic(averaging=on), gram, risk, LpBall(2.0), seed, max_iter=200).primal
                for seed in range(3)
            ]
        )
        for on in (False, True)
    )
    assert average - optimum < 0.6 * (last - optimum)


def test_drawing_by_the_gradient_beats_drawing_uniformly():
    """Afkanpour 2013, Fig. 6.1: at equal iterations, where the kernels differ much in size."""
    gram, labels, targets = monomials(4)
    risk = risk_of(Squared(), labels, targets, 10.0)
    optimum = solve_with(ActiveSet(), gram, risk, LpBall(2.0), tol=1e-7).primal
    excess = {
        sampling: np.mean(
            [
                solve_with(Stochastic(sampling, batch=8), gram, risk, LpBall(2.0), seed, max_iter=64).primal
                - optimum
                for seed in range(5)
            ]
        )
        for sampling in ("gradient", "uniform")
    }
    assert excess["gradient"] < 0.5 * excess["uniform"]


# -- promises --------------------------------------------------------------------------------------
@pytest.mark.parametrize("loss", [Squared(), Hinge()], ids=repr)
def test_same_seed_same_answer(loss):
    gram, labels, targets = monomials(5, 40)
    risk = risk_of(loss, labels, targets)
    one, two, other = (
        solve_with(Stochastic(), gram, risk, LpBall(2.0), seed, max_iter=20) for seed in (7, 7, 8)
    )
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.alpha, two.alpha)
    assert np.any(one.weights != other.weights)


def test_looks_are_on_a_doubling_schedule_and_never_go_up():
    gram, labels, targets = monomials(6, 40)
    history = History()
    risk = risk_of(Squared(), labels, targets)
    result = solve_with(Stochastic(), gram, risk, LpBall(2.0), max_iter=50, history=history)
    assert result.history is history and len(history.gap) == 7 and result.n_iter == 50  # 1 2 4 8 16 32 50
    assert np.all(np.diff(history.objective) <= 0) and history.objective[-1] == result.primal
    assert history.gap[-1] == pytest.approx(result.gap) and not result.converged
    assert history.active[-1] == np.count_nonzero(result.weights)


def test_without_a_sum_over_the_family_nothing_is_certified(monkeypatch):
    gram, labels, targets = monomials(7, 30)
    oracle = FiniteOracle(gram)
    monkeypatch.setattr(oracle, "total", lambda A, r: None)
    risk = risk_of(Squared(), labels, targets)
    result = Stochastic().run(oracle, risk, LpBall(2.0), told(1e-3, 10))
    assert not result.certified and not result.converged and result.dual == -np.inf and result.n_iter == 10
    assert np.isfinite(result.primal)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_target_without_anything_to_learn(fit_intercept):
    gram, _, targets = monomials(8, 30)
    Y = np.full_like(targets, 2.0) if fit_intercept else np.zeros_like(targets)
    result = solve_with(
        Stochastic(), gram, risk_of(Squared(), Y, Y, 1.0, fit_intercept), LpBall(2.0), tol=1e-3
    )
    assert result.converged and result.primal == pytest.approx(0.0, abs=1e-20)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "best"}, "sampling='best'.*'uniform'"),
        ({"potential": "energy"}, "potential='energy'.*'euclidean' or 'entropy'"),
        ({"potential": "entropy"}, "needs norm=1"),
        ({"spread": 0.0}, "spread=0.0"),
        ({"spread": -1.0}, "spread=-1.0"),
        ({"spread": np.inf}, "spread=inf"),
        ({"spread": "wide"}, "spread='wide'"),
        ({"batch": 0}, "batch=0"),
        ({"batch": 2.5}, "batch=2.5"),
        ({"step": "small"}, "step='small'"),
        ({"step": 0.0}, "step=0.0"),
        ({"step": True}, "step=True"),
    ],
)
def test_options_that_make_no_sense(options, message):
    stack, labels, targets = problem(0, 12)
    with pytest.raises(ValueError, match=message):
        run(Stochastic(**options), stack, risk_of(Squared(), labels, targets), LpBall(2.0))


@pytest.mark.parametrize(
    "penalty", [ElasticNet(0.4), LpBall(np.inf), L2Ball(0.3, 1.0), L2Ball(0.0, 0.0)], ids=repr
)
def test_penalties_that_need_weight_everywhere_are_refused(penalty):
    stack, labels, targets = problem(0, 12)
    with pytest.raises(ValueError, match="active-set"):
        run(Stochastic(), stack, risk_of(Squared(), labels, targets), penalty)


def test_no_iteration_and_no_sampler_are_refused(monkeypatch):
    stack, labels, targets = problem(0, 12)
    risk = risk_of(Squared(), labels, targets)
    with pytest.raises(ValueError, match="max_iter=0"):
        run(Stochastic(), stack, risk, LpBall(2.0), max_iter=0)
    oracle = FiniteOracle(StackGram(stack))
    monkeypatch.setattr(oracle, "offers", lambda question: question != "sample")
    with pytest.raises(ValueError, match=r"'sample'.*Take norm=1 with solver='corrective' or 'greedy'"):
        Stochastic().run(oracle, risk, LpBall(2.0), told(1e-3, 3))
    assert Stochastic("uniform").run(oracle, risk, LpBall(2.0), told(1e-3, 3)).n_iter <= 3


def test_constant_step_and_name():
    stack, labels, targets = problem(0, 20)
    risk = risk_of(Squared(), labels, targets, 0.1)
    assert isinstance(resolve_solver("stochastic"), Stochastic)
    assert run(Stochastic(step=0.05), stack, risk, LpBall(2.0), 2e-2, 500).converged


# -- products --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "base", ["features", [OnColumns(Gaussian(width=1.0), [j]) for j in range(3)]], ids=str
)
@pytest.mark.parametrize("multiplicity", ["distinct", "paper"])
@pytest.mark.parametrize("sampling", ["gradient", "uniform"])
def test_products_reach_the_optimum_of_the_listed_family(base, multiplicity, sampling):
    """Draws by Alg. 3 count orders, which the probabilities undo: the same optimum, certified."""
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, (40, 3))
    Y = (X[:, 0] * X[:, 1] + X[:, 2] ** 2)[:, None]
    family = Products(base=base, degree=2, rho=[2.0, 1.0, 0.7], multiplicity=multiplicity)
    oracle = build_oracle(family, X, normalize="trace", norm=2.0)
    risk, penalty = risk_of(Squared(), Y, Y, 2.0), LpBall(2.0)
    listed = oracle.gram(list(oracle.atoms()))
    exact = solve_with(ActiveSet(), listed, risk, penalty, tol=1e-7)
    result = Stochastic(sampling).run(oracle, risk, penalty, told(5e-3, 1000, 1))
    assert result.converged and result.certified and result.gap <= 5e-3
    assert result.dual <= exact.primal * (1 + 1e-9) and exact.dual * (1 - 1e-9) <= result.primal
    K = oracle.gram(result.atoms).combine(result.weights)
    fit = risk.solve(K, np.zeros_like(Y), 1e-12)
    np.testing.assert_allclose(result.alpha, fit.alpha, atol=1e-6 * np.abs(fit.alpha).max())


def test_products_too_many_to_list():
    """3·10¹¹ products: nothing is certified, the answer holds only what was drawn, and it fits."""
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, (60, 100))
    y = X[:, 0] + X[:, 1]
    solver = Stochastic(batch=8)
    model = MKLRegressor(Products(degree=8), norm=2.0, C=1.0, solver=solver, max_iter=16, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y)
    assert not model.certified_ and len(model.weights_) <= 16 * 8
    assert model.objective_ < 0.5 * 0.5 * np.sum((y - y.mean()) ** 2)
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(model.weights_, again.weights_)
