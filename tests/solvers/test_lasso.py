"""The lasso with its norm squared: its optimality conditions, cvxpy's value, and every way to come to it."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value

from manykernels.grams import FactorGram
from manykernels.losses import Squared
from manykernels.objectives import Separable
from manykernels.solvers._lasso import Lasso


class Columns:
    """The columns of F as a family; atoms are their positions, some with a scale of the Gram's own."""

    def __init__(self, F, scale=None):
        self.F, self.scale = F, np.ones(F.shape[1]) if scale is None else scale
        self.n = len(F)

    def gram(self, atoms):
        z = np.array(atoms, dtype=np.intp)
        gram = FactorGram(self.F[:, z] / np.sqrt(self.scale[z]), np.arange(z.size + 1))
        gram.scale = self.scale[z].copy()
        return gram


def data(n=40, m=15, seed=0):
    rng = np.random.RandomState(seed)
    F = rng.randn(n, m) * np.linspace(0.3, 3.0, m) + rng.randn(m)
    y = 2.0 * F[:, 0] - F[:, m // 2] + 0.5 * F[:, -1] + rng.randn(n) + 4.0
    return F, y, rng.uniform(0.2, 3.0, n)


def lasso_of(F, y, C, fit_intercept=True, scale=None):
    risk = Separable(Squared(), y[:, None], C[:, None], fit_intercept)
    return Lasso(Columns(F, scale), risk, risk.least_squares())


def solved(F, y, C, fit_intercept=True, scale=1.0):
    lasso = lasso_of(F, y, C, fit_intercept)
    lasso.add(range(F.shape[1]))
    return lasso, lasso.solve(scale, 0.0)


def assert_optimal(F, y, C, lasso, answer, scale=1.0, rtol=1e-8):
    """The conditions of the module's docstring, from the data as they were given, and no gap of duality."""
    alpha, primal, q = answer
    w = np.zeros(F.shape[1])
    np.add.at(w, lasso.atoms, lasso.w)
    size, b = np.abs(w).sum(), float(lasso.machine()[1][0])
    pull = F.T @ alpha[:, 0]
    assert np.all(np.abs(pull) <= size * (1 + rtol) + 1e-12)
    used = w != 0.0
    np.testing.assert_allclose(pull[used], np.sign(w[used]) * size, rtol=rtol)
    residual = y - F @ w - b
    np.testing.assert_allclose(alpha[:, 0], scale * C * residual, rtol=1e-7, atol=1e-9 * np.abs(alpha).max())
    value = 0.5 * size**2 + 0.5 * scale * np.sum(C * residual**2)
    np.testing.assert_allclose(primal, value, rtol=1e-6)  # from above: with what rounding may do at large C
    assert primal >= value * (1 - 1e-12)
    np.testing.assert_allclose(q, size**2, rtol=1e-12)
    if lasso.risk.fit_intercept:
        assert abs(alpha.sum()) <= 1e-9 * np.abs(alpha).sum() + 1e-12
    else:
        assert b == 0.0
    a = alpha[:, 0]
    dual = a @ y - 0.5 * np.sum(a**2 / (scale * C)) - 0.5 * np.max(np.abs(pull)) ** 2
    np.testing.assert_allclose(dual, primal, rtol=1e-6)
    atoms, theta = lasso.weights()
    assert np.all(theta > 0.0) and (theta.sum() == pytest.approx(1.0, rel=1e-12) if atoms else size == 0.0)


def cvxpy_value(F, y, C, fit_intercept):
    w, b = cp.Variable(F.shape[1]), cp.Variable() if fit_intercept else 0.0
    fit = cp.sum_squares(cp.multiply(np.sqrt(C), y - F @ w - b))
    task = cp.Problem(cp.Minimize(0.5 * cp.square(cp.norm1(w)) + 0.5 * fit))
    return optimal_value(task, 1e-10)


def columns_of(kind):
    F, y, C = data()
    if kind == "doubled":
        F = np.hstack([F, F[:, :6], -F[:, 4:10]])
    elif kind == "wide":
        F, y, C = data(12, 40)
    elif kind == "nearly the same":
        F = np.hstack([F, F[:, :5] * (1 + 1e-9), F[:, :5] + 1e-6 * F[:, 5:10]])
    elif kind == "constant and zero":
        F = np.hstack([F, np.ones((40, 1)), np.zeros((40, 1)), -np.ones((40, 1))])
    return F, y, C


KINDS = ["plain", "doubled", "wide", "nearly the same", "constant and zero"]


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_against_cvxpy(kind, weighted, fit_intercept):
    F, y, C = columns_of(kind)
    C = C if weighted else np.full(y.size, 0.7)
    lasso, answer = solved(F, y, C, fit_intercept)
    assert_optimal(F, y, C, lasso, answer)
    np.testing.assert_allclose(answer[1], cvxpy_value(F, y, C, fit_intercept), rtol=1e-6)
    assert 0 < np.count_nonzero(lasso.w) <= y.size


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [1e-8, 1e-3, 10.0, 1e4])
@pytest.mark.parametrize("kind", ["plain", "wide", "doubled"])
def test_hardly_anything_is_fitted_and_nearly_everything(kind, C, fit_intercept):
    F, y, weight = columns_of(kind)
    lasso, answer = solved(F, y, C * weight, fit_intercept)
    assert_optimal(F, y, C * weight, lasso, answer, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-6, 1e5])
def test_units_of_columns_and_target_change_nothing(unit):
    """P of (F u, y v) at costs C/v² u² … : w scales by v/u, so C must by u⁻² for the same balance."""
    F, y, C = data()
    lasso, (_, primal, _) = solved(F, y, C)
    for u, v in [(unit, 1.0), (1.0, unit)]:
        other, (_, value, _) = solved(F * u, y * v, C / u**2)
        np.testing.assert_allclose(value, primal * v**2 / u**2, rtol=1e-9)
        np.testing.assert_allclose(other.w * u / v, lasso.w, atol=1e-8 * np.abs(lasso.w).max())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_warm_starts_and_other_scales_end_where_a_fresh_start_does(fit_intercept):
    """Columns join a few at a time, the scale goes up and down, and unused columns leave."""
    F, y, C = columns_of("doubled")
    lasso, m = lasso_of(F, y, C, fit_intercept), F.shape[1]
    parts = np.array_split(np.random.RandomState(3).permutation(m), 7)
    for atoms, scale in zip(parts, [0.01, 0.1, 1.0, 30.0, 0.3, 0.001, 1.0], strict=True):
        kept = [z for z, w in zip(lasso.atoms, lasso.w, strict=True) if w != 0.0]
        lasso.add([int(z) for z in atoms if z not in kept])
        present = list(lasso.atoms)
        assert set(kept) <= set(present) and len(set(present)) == len(present)
        answer = lasso.solve(scale, 0.0)
        _, expected = solved(F[:, present], y, C, fit_intercept, scale)
        np.testing.assert_allclose(answer[1], expected[1], rtol=1e-9)
        np.testing.assert_allclose(answer[0], expected[0], atol=1e-7 * np.abs(expected[0]).max())
        for other in (0.2 * scale, scale):
            again = lasso.solve(other, 0.0)
            _, expected = solved(F[:, present], y, C, fit_intercept, other)
            np.testing.assert_allclose(again[1], expected[1], rtol=1e-9)


def test_atoms_without_weight_stay_for_a_while_and_then_leave():
    """They may be wanted again; a family of millions would otherwise have to be searched for them."""
    F, y, C = data(m=30)
    F[:, 0] = y  # at small costs nothing else has weight
    lasso = lasso_of(F, y, C)
    lasso.add(range(25))
    present = []
    for atom in range(25, 30):
        lasso.solve(1e-6, 0.0)
        assert np.count_nonzero(lasso.w) == 1
        lasso.add([atom])
        present.append(set(range(25)) <= set(lasso.atoms))
    assert present == [True, True, True, False, False]
    assert lasso.atoms == [0, *range(26, 30)]
    lasso.add(range(1, 26))
    answer = lasso.solve(1.0, 0.0)
    assert_optimal(F, y, C, lasso, answer)


def test_signs_change_along_the_way():
    """A column that helps with one sign alone needs the other once its twin is there."""
    rng = np.random.RandomState(0)
    x, e = rng.randn(30), rng.randn(30)
    F = np.column_stack([x + 0.4 * e, x])
    y, C = x - 0.8 * e, np.full(30, 100.0)
    lasso = lasso_of(F, y, C, False)
    lasso.add([0])
    lasso.solve(1.0, 0.0)
    first = np.sign(lasso.w[0])
    lasso.add([1])
    answer = lasso.solve(1.0, 0.0)
    assert first == 1.0 and lasso.w[0] < 0.0 < lasso.w[1]
    assert_optimal(F, y, C, lasso, answer)


def test_the_scale_of_the_gram_is_part_of_the_feature():
    F, y, C = data()
    _, plain = solved(F, y, C)
    lasso = lasso_of(F, y, C, True, np.geomspace(1e-4, 1e4, F.shape[1]))
    lasso.add(range(F.shape[1]))
    np.testing.assert_allclose(lasso.solve(1.0, 0.0)[1], plain[1], rtol=1e-10)


@pytest.mark.parametrize(("fit_intercept", "level"), [(True, 3.0), (True, 0.0), (False, 0.0)])
def test_nothing_to_learn(fit_intercept, level):
    """A constant target is the intercept's: no weight, α = 0, P = 0; what joins later changes nothing."""
    F, _, C = data()
    lasso, (alpha, primal, q) = solved(F, np.full(40, level), C, fit_intercept)
    assert primal <= 1e-25 and q <= 1e-25 and np.abs(alpha).max() <= 1e-12
    assert float(lasso.machine()[1][0]) == pytest.approx(level, abs=1e-12)
    lasso.add([0])
    assert lasso.solve(1.0, 0.0)[1] <= 1e-25


def test_one_sample_one_column():
    """½w² + ½C(y − φw)² has its minimum at w = Cφy/(1 + Cφ²)."""
    lasso, (alpha, primal, q) = solved(np.array([[2.0]]), np.array([3.0]), np.array([0.5]), False)
    np.testing.assert_allclose(lasso.w, 0.5 * 2.0 * 3.0 / (1 + 0.5 * 4.0))
    np.testing.assert_allclose([q, primal], [1.0, 0.5 + 0.25 * (3.0 - 2.0) ** 2])
    np.testing.assert_allclose(alpha, [[0.5]])
