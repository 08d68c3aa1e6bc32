"""UFO-MKL: Alg. 1 against a plain transcription, norms, averages and dual bounds."""

import cvxpy as cp
import numpy as np
import pytest
from benchmarks.references import optimal_value
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.solvers import alg1

from manykernels.approx import OwnFeatures
from manykernels.grams import StackGram
from manykernels.grams.expansions import FeatureExpansion, KernelExpansion
from manykernels.kernels import FeatureMap, Linear, OnColumns
from manykernels.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    MulticlassHinge,
    MulticlassLogistic,
    OrdinalHinge,
    Pinball,
    Squared,
    SquaredHinge,
)
from manykernels.losses.structured import PerScore
from manykernels.solvers.ufo import UFO, GroupRegularizer, curvature, dual_exponent

# -- Alg. 1 -------------------------------------------------------------------------------------------
N, rng = 70, np.random.RandomState(0)
X = rng.randn(N, 4) / 2
KERNELS = [Linear(), OnColumns(Linear(), [1, 3]), OnColumns(Linear(), [0]), FeatureMap(np.square)]
MAPS = [X, X[:, [1, 3]], X[:, [0]], X**2]
SIGNAL = np.stack([X[:, 0] + X[:, 1] ** 2, X[:, 2] - X[:, 3], np.sin(3 * X[:, 1])], axis=1)
SCALAR = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "squared": Squared(),
    "epsilon_insensitive": EpsilonInsensitive(0.1),
    "pinball": Pinball(0.3),
    "huber": Huber(0.2),
}
SEVERAL = {"multiclass": MulticlassHinge(), "multinomial": MulticlassLogistic(), "ordinal": OrdinalHinge()}
CASES = [(name, k) for name in SCALAR for k in (1, 3)] + [(name, 3) for name in SEVERAL]
each_case = pytest.mark.parametrize(("name", "k"), CASES)


def task(name, k):
    """(loss, targets)."""
    if name in SEVERAL:
        return SEVERAL[name], SIGNAL.argmax(axis=1)[:, None].astype(float)
    loss = SCALAR[name]
    numbers = SIGNAL[:, :k] if loss.task == "regression" else np.sign(SIGNAL[:, :k] - 0.1)
    return PerScore(loss, k), numbers


def expansion(form, k, constant, averaging, maps=MAPS):
    options = {"constant": constant, "averaging": averaging}
    if form == "features":
        return FeatureExpansion(OwnFeatures().fit(KERNELS, X, rng=rng), k, **options)
    gram = StackGram(np.stack([Phi @ Phi.T for Phi in maps])) if form == "stored" else None
    return KernelExpansion(KERNELS, k, gram=gram, **options)


def learn(form, name, k, *, constant, alpha, lam=0.05, lag=0.0, average=False, epochs=2, block=None):
    """With this lag, or the lag that the loss needs."""
    loss, Y = task(name, k)
    made = expansion(form, k, constant, average)
    if block:
        type_ = type("Blocked", (type(made),), {"block_size": block})
        made.__class__ = type_
    r = GroupRegularizer(lam, alpha, dual_exponent(len(KERNELS)))
    state, rows = UFO(r, made.n_groups, lag, average, 0.0 if lag else curvature(loss)), made.enter(X)
    for part in orders(epochs):
        state.advance(made, loss, rows[part], Y[part])
    return state, made, rows, [*MAPS, np.ones((N, 1))][: made.n_groups]


def orders(epochs):
    return [np.random.RandomState(epoch).permutation(N) for epoch in range(epochs)]


def transcribed(name, k, state, maps):
    """(iterates, θ, lag) of Alg. 1 over the same samples."""
    order, r = np.concatenate(orders(state.t // N)), state.regularizer
    how = {"k": k, "order": order, "curvature": state.curvature, "lag": 0.0 if state.curvature else state.lag}
    return alg1.ufo(maps, task(name, k)[1], name, r.lam, r.alpha, r.q, **how)


def weights(state, made, maps):
    """w^j in the spaces of the features."""
    s, share = state.shares
    if isinstance(made, FeatureExpansion):
        parts = np.split(made.feature_coef(s, share), made.ptr[1:-1])
    else:
        parts = [Phi.T @ c for Phi, c in zip(maps, made.kernel_coef(s, share), strict=False)]
    return [*parts, made.intercept(s, share)[None]][: len(maps)]


@pytest.mark.parametrize(
    ("form", "constant", "alpha", "lag"),
    [
        ("stored", True, 0.02, 0.0),
        ("computed", False, 0.0, 0.0),
        ("computed", True, 0.05, 30.0),
        ("features", True, 0.03, 0.0),
        ("features", False, 0.0, 20.0),
    ],
)
@pytest.mark.parametrize("average", [False, True])
@each_case
def test_steps_are_those_of_the_paper(name, k, form, constant, alpha, lag, average):
    state, made, rows, maps = learn(form, name, k, constant=constant, alpha=alpha, lag=lag, average=average)
    iterates, theta, lag = transcribed(name, k, state, maps)
    assert state.lag == pytest.approx(lag, rel=1e-9)
    assert state.t == len(iterates) == 2 * N
    w = alg1.mean(iterates) if average else iterates[-1]
    for mine, true in zip(weights(state, made, maps), w, strict=True):
        np.testing.assert_allclose(mine, true, atol=1e-10)
    s, share = state.shares
    np.testing.assert_allclose(made.decide(rows, s, share), alg1.predict(maps, w), atol=1e-10)
    np.testing.assert_allclose(made.norms(s, share), [np.linalg.norm(part) for part in w], atol=1e-9)
    np.testing.assert_allclose(state.squares, [np.sum(part**2) for part in theta], rtol=1e-10, atol=1e-10)
    assert np.array_equal(state.s == 0.0, [not part.any() for part in iterates[-1]])


@pytest.mark.parametrize("form", ["stored", "computed", "features"])
def test_size_of_blocks_does_not_matter(form):
    for average in (False, True):
        options = {"constant": True, "alpha": 0.02, "average": average}
        results = [learn(form, "hinge", 1, block=block, **options) for block in (1, 7, 64, 1000)]
        for state, made, rows, _ in results[1:]:
            np.testing.assert_allclose(made.coef, results[0][1].coef, atol=0)
            np.testing.assert_allclose(state.s, results[0][0].s, rtol=1e-10)
            f = made.decide(rows, *state.shares)
            np.testing.assert_allclose(f, results[0][1].decide(rows, *results[0][0].shares), atol=1e-10)


@pytest.mark.parametrize("form", ["stored", "features"])
@pytest.mark.parametrize(("name", "k"), [("logistic", 1), ("multinomial", 3)])
def test_norms_stay_exact_over_thousands_of_steps(form, name, k):
    state, made, _, maps = learn(form, name, k, constant=True, alpha=0.0, lam=1e-3, epochs=60, average=False)
    assert state.t == 60 * N
    direct = [np.sum((Phi.T @ made.coef) ** 2) for Phi in maps]
    np.testing.assert_allclose(state.squares, direct, rtol=1e-9, atol=1e-9)


# -- what is known of the objective ---------------------------------------------------------------------
@settings(max_examples=40)
@given(
    case=st.sampled_from(CASES),
    lam=st.floats(1e-3, 3.0),
    alpha=st.floats(0.0, 0.3),
    constant=st.booleans(),
    average=st.booleans(),
    epochs=st.integers(1, 4),
)
def test_dual_never_exceeds_primal(case, lam, alpha, constant, average, epochs):
    name, k = case
    loss, Y = task(name, k)
    state, made, rows, maps = learn(
        "stored", name, k, constant=constant, alpha=alpha, lam=lam, average=average, epochs=epochs
    )
    iterates, *_ = transcribed(name, k, state, maps)
    primal, dual = state.primal(made, loss, rows, Y), state.dual(made, loss, Y)
    w = alg1.mean(iterates) if average else iterates[-1]
    norms = np.array([np.linalg.norm(part) for part in w])
    y = Y if isinstance(loss, PerScore) else Y[:, 0].astype(int)
    value = state.regularizer.value(norms) + loss.value(y, alg1.predict(maps, w)).mean()
    if name != "huber" or lam >= 0.02:  # below, its steps of size 1/λ make 1e-14 of the data 1e-5 of P
        assert primal == pytest.approx(value, rel=1e-9)
    assert np.isfinite(dual)
    assert primal - dual >= -1e-12 * (1 + abs(primal))


def optimum(name, k, maps, Y, lam, alpha, q):
    """min of the objective by cvxpy, in explicit features."""
    W = [cp.Variable((Phi.shape[1], k)) for Phi in maps]
    f = sum(Phi @ w for Phi, w in zip(maps, W, strict=True))
    norms = cp.hstack([cp.norm(w, "fro") for w in W])
    if name == "multiclass":
        E = np.eye(k)[Y[:, 0].astype(int)]
        own = cp.sum(cp.multiply(E, f), axis=1, keepdims=True)
        fit = cp.sum(cp.max(1 - E + f - own @ np.ones((1, k)), axis=1))
    elif name == "hinge":
        fit = cp.sum(cp.pos(1 - cp.multiply(Y, f)))
    elif name == "squared":
        fit = 0.5 * cp.sum_squares(Y - f)
    else:
        fit = cp.sum(cp.logistic(-cp.multiply(Y, f)))
    Omega = lam / 2 * cp.square(cp.pnorm(norms, q / (q - 1))) + alpha * cp.sum(norms)
    problem = cp.Problem(cp.Minimize(Omega + fit / len(Y)))
    return optimal_value(problem)


@pytest.mark.parametrize(
    ("name", "k", "alpha"),
    [
        ("hinge", 1, 0.05),
        ("logistic", 1, 0.03),
        ("multiclass", 3, 0.0),
        ("multiclass", 3, 0.04),
        ("squared", 2, 0.01),
    ],
)
def test_objective_reaches_the_minimum(name, k, alpha):
    lam, gaps = 0.05, []
    loss, Y = task(name, k)
    for epochs in (5, 200):
        state, made, rows, maps = learn(
            "stored", name, k, constant=True, alpha=alpha, lam=lam, average=True, epochs=epochs
        )
        gaps.append(state.primal(made, loss, rows, Y) - state.dual(made, loss, Y))
    minimum = optimum(name, k, maps, Y, lam, alpha, dual_exponent(4))
    primal, dual = state.primal(made, loss, rows, Y), state.dual(made, loss, Y)
    assert dual <= minimum * (1 + 1e-6) and minimum * (1 - 1e-6) <= primal
    assert primal <= 1.01 * minimum
    assert dual >= 0.98 * minimum
    assert gaps[1] < gaps[0] / 5


# -- the bound ------------------------------------------------------------------------------------------
def test_bound_is_that_of_the_theorem():
    for loss, L in ((PerScore(Hinge()), 1.0), (MulticlassHinge(), 2**0.5), (PerScore(Logistic(), 4), 2.0)):
        for F, lam, T in ((3, 0.1, 10), (50, 1e-3, 1000)):
            state = UFO(GroupRegularizer(lam, 0.3, dual_exponent(F)), F)
            assert state.bound(loss) == np.inf
            state.t = T
            expected = np.e * L**2 * (1 + np.log(T)) * np.log(F) / (lam * T)
            assert state.bound(loss) == pytest.approx(expected, rel=1e-12)
    assert state.bound(PerScore(Squared())) == np.inf


def test_mean_excess_is_below_the_bound():
    """The regret of Theorem 1 over the iterates w_1 … w_T, for samples drawn with replacement."""
    lam, alpha, q, T = 0.2, 0.02, dual_exponent(4), 400
    _, Y = task("hinge", 1)
    maps = [Phi / np.linalg.norm(Phi, axis=1).max() for Phi in MAPS]
    minimum = optimum("hinge", 1, maps, Y, lam, alpha, q)
    order = np.random.RandomState(3).randint(N, size=T)
    iterates, *_ = alg1.ufo(maps, Y, "hinge", lam, alpha, q, order=order)
    r, values = GroupRegularizer(lam, alpha, q), []
    for w in iterates[:-1]:
        fit = np.maximum(1 - Y * alg1.predict(maps, w), 0).mean()
        values.append(r.value(np.array([np.linalg.norm(part) for part in w])) + fit)
    state = UFO(r, 4)
    state.t = T
    assert 0 < np.mean(values) - minimum < state.bound(PerScore(Hinge()))


@pytest.mark.parametrize(("name", "k"), [("squared", 1), ("squared", 3), ("squared_hinge", 1)])
@pytest.mark.parametrize("lam", [1e-8, 1e-3, 1.0])
def test_lag_is_what_the_loss_needs(name, k, lam):
    """At most what theory says, whatever λ is; and none for losses of bounded slope."""
    state, made, rows, _ = learn("stored", name, k, constant=True, alpha=0.01, lam=lam, epochs=20)
    q, largest = dual_exponent(4), max(1.0, *(np.sum(Phi**2, axis=1).max() for Phi in MAPS))
    assert 0 < state.lag <= (q - 1) * 5 ** (2 / q) / lam * largest * (1 + 1e-9)
    loss, Y = task(name, k)
    assert state.primal(made, loss, rows, Y) < loss.value(Y, np.zeros((N, k))).mean()
    for bounded in (PerScore(Hinge()), PerScore(EpsilonInsensitive()), *SEVERAL.values()):
        assert curvature(bounded) == 0.0
    assert learn("stored", "hinge", 1, constant=True, alpha=0.01)[0].lag == 0.0


def test_kernels_that_disagree_do_not_explode():
    """Signs of single features: θ grows in one kernel and shrinks in another, the worst case of the link."""
    draw = np.random.RandomState(1)
    signs = np.sign(draw.randn(200, 30))
    y = (signs @ draw.randn(30) + draw.randn(200))[:, None]
    gram = StackGram(np.stack([np.outer(column, column) for column in signs.T]))
    made = KernelExpansion([Linear()] * 30, 1, constant=False, gram=gram)
    state = UFO(GroupRegularizer(1e-6, 0.0, dual_exponent(30)), 30, curvature=1.0)
    rows, loss = made.enter(signs), PerScore(Squared())
    for epoch in range(5):
        order = np.random.RandomState(epoch).permutation(200)
        state.advance(made, loss, rows[order], y[order])
    assert state.primal(made, loss, rows, y) < 0.1 * loss.value(y, np.zeros((200, 1))).mean()


def test_another_regularizer_goes_on_from_the_same_theta():
    state, *_ = learn("stored", "hinge", 1, constant=True, alpha=0.02)
    other = GroupRegularizer(0.5, 0.1, state.regularizer.q)
    state.regularize(other)
    theta = np.sqrt(state.squares) / state.t
    np.testing.assert_allclose(state.s * np.sqrt(state.squares), other.link(theta), rtol=1e-12)
