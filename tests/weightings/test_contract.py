"""What each weighting promises, on kernels Σ_j C_mj q_j q_jᵀ: alignment is then geometry of the rows of C.

With orthonormal, centred q_j and the target y = q_0, M = CCᵀ and a = C[:, 0]. Rows of small whole numbers are
often equal, dependent or orthogonal to the target, which is what there is to be afraid of.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from scipy.optimize import nnls as scipy_nnls
from sklearn.base import clone
from tests.helpers import problem

import manykernels as mk
from manykernels import weightings
from manykernels.grams import StackGram
from manykernels.kernels import Gaussian, Linear
from manykernels.objectives import Alignment
from manykernels.weightings import Align, Alignf, AlignfLinear, Uniform, Weighting, resolve_weighting

N = 12
coefficients = arrays(np.int64, st.tuples(st.integers(1, 6), st.just(4)), elements=st.integers(0, 3))


def alignment_of(C, scale=None):
    C = np.asarray(C, dtype=float)
    A = np.random.RandomState(0).randn(N, C.shape[1])
    Q = np.linalg.qr(A - A.mean(axis=0))[0]
    stack = np.einsum("ij,mj,kj->mik", Q, C, Q)
    return Alignment(StackGram(stack, scale), Q[:, :1])


def drawn(C):
    """Rows that are kernels, at least one of which is aligned with the target."""
    C = C[C.any(axis=1)]
    assume(len(C) and C[:, 0].any())
    return alignment_of(C)


def real(seed=0, M=6, n=22, outputs=1):
    stack, labels, targets = problem(seed, n=n, M=M, outputs=outputs)
    return Alignment(StackGram(stack), labels if seed % 2 else targets)


def values(alignment, W):
    """ρ̂ of each row of W."""
    return (W @ alignment.a) / np.sqrt(np.einsum("ik,kl,il->i", W, alignment.M, W)) / alignment.tau


# -- alignf ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("outputs", [1, 3])
def test_no_weights_exceed_the_bound_of_alignf(seed, outputs):
    alignment = real(seed, outputs=outputs)
    found = Alignf().weigh(alignment)
    assert found.residual <= 1e-12 and found.theta.min() >= 0.0
    value = alignment.value(found.theta)
    assert value <= found.bound + 1e-14 and found.bound - value <= 1e-10
    rng = np.random.RandomState(seed)
    M = found.theta.size
    far = rng.dirichlet(np.full(M, 0.3), 5000)
    near = [np.abs(found.theta + size * rng.randn(1000, M)) for size in (1e-1, 1e-2, 1e-4, 1e-6)]
    used = [found.theta * np.exp(size * rng.randn(1000, M)) for size in (1.0, 1e-1, 1e-3)]
    for W in (far, *near, *used):
        assert values(alignment, W / alignment.norms).max() <= found.bound + 1e-14
        assert values(alignment, W).max() <= found.bound + 1e-14


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_for_any_answer_of_the_solver(seed, monkeypatch):
    """It must not take the solver's word for it."""
    alignment = real(seed)
    best = Alignf().weigh(alignment)
    rng = np.random.RandomState(seed)
    for _ in range(50):
        wrong = rng.dirichlet(np.full(6, 0.3)) * rng.uniform(0.0, 2.0)
        monkeypatch.setattr("manykernels.weightings.alignf.nnls", lambda G, c, v=wrong: v)
        found = Alignf().weigh(alignment)
        assert found.bound >= min(best.bound, 1.0) - 1e-12
        w = alignment.each - alignment.cosines @ wrong
        assert found.residual == pytest.approx(max(w.max(), np.abs(w[wrong > 0]).max(), 0.0), abs=1e-14)


@given(coefficients)
def test_alignf_is_the_projection_of_the_target_on_the_cone(C):
    alignment = drawn(C)
    C = C[C.any(axis=1)]
    found = Alignf().weigh(alignment)
    B = (C / np.linalg.norm(C, axis=1, keepdims=True)).T
    v, _ = scipy_nnls(B, np.eye(4)[0])
    assert found.theta.sum() == pytest.approx(1.0) and found.theta.min() >= 0.0
    assert found.residual <= 1e-12
    learned = found.theta @ C
    np.testing.assert_allclose(learned / np.linalg.norm(learned), B @ v / np.linalg.norm(B @ v), atol=1e-7)
    value = alignment.value(found.theta)
    assert value == pytest.approx(np.linalg.norm(B @ v), abs=1e-12)
    assert abs(found.bound - value) <= 1e-12


@given(coefficients)
def test_alignf_is_never_below_the_others(C):
    alignment = drawn(C)
    best = alignment.value(Alignf().weigh(alignment).theta)
    for weighting in (Uniform(), Align(), Align(q=1), Align(q=1.5), Align(q=2), Align(q=8)):
        theta = weighting.weigh(alignment).theta
        assert theta.min() >= 0.0 and theta.sum() == pytest.approx(1.0)
        assert alignment.value(theta) <= best + 1e-12
    assert alignment.each.max() <= best + 1e-12
    linear = AlignfLinear(allow_indefinite=True).weigh(alignment)
    assert alignment.value(linear.theta) >= best - 1e-12
    assert linear.bound >= best - 1e-12


@given(st.integers(0, 500), st.floats(-6, 6), st.floats(-6, 6))
@settings(max_examples=25)
def test_the_scale_of_kernels_does_not_change_what_alignf_learns(seed, first, second):
    alignment = real(seed, n=12)
    scale = np.array([10.0**first, 10.0**second, 1.0, 5.0, 0.1, 1.0])
    scaled = Alignment(StackGram(alignment.gram.stack, scale), alignment.gram.stack[0][:, :1])
    plain = Alignment(StackGram(alignment.gram.stack), alignment.gram.stack[0][:, :1])
    a, b = Alignf().weigh(plain).theta, Alignf().weigh(scaled).theta * scale
    np.testing.assert_allclose(b / b.sum(), a / a.sum(), atol=1e-8)


# -- whether the weights are the only ones --------------------------------------------------------
A, B, WEAK = [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.1, 1.0, 0.0, 0.0]
ALMOST = [1.0, 0.1, 0.0, 0.0]


@pytest.mark.parametrize(
    ("C", "unique"),
    [
        ([A], True),
        ([A, B], True),
        ([A, B, [1, 0, 0, 1]], True),
        ([A, A], False),
        ([A, B, A, A], False),
        ([A, B, np.add(A, B)], False),
        ([A, B, np.add(A, np.multiply(0.3, B))], False),
        ([ALMOST, WEAK, np.add(ALMOST, WEAK)], True),  # dependent, and of no use
        ([ALMOST, WEAK, WEAK], True),
        ([ALMOST, ALMOST, WEAK], False),
        ([A, B, [1, 1, 1, 0], [1, 0, 0, 0]], True),  # A + B = C + D, but D alone is best and needs A + B − C
        ([A, B, [2, 1, 1, 1], [0, 0, 0, 1]], True),  # the sum of A and B, less something
        ([A, np.add(A, [0.0, 0.0, 1e-4, 0.0])], True),
        ([A, np.add(A, [0.0, 0.0, 1e-9, 0.0])], False),  # the same to all the digits that products have
    ],
)
def test_uniqueness(C, unique):
    for order in permutations(range(len(C))):
        found = Alignf().weigh(alignment_of([C[m] for m in order]))
        assert found.unique is unique
        assert found.residual <= 1e-12


@given(coefficients)
@settings(max_examples=60)
def test_uniqueness_by_the_range_of_every_weight(C):
    """Among all v' ≥ 0 with the same combination, no weight can be anything else."""
    found = Alignf().weigh(drawn(C))
    C = C[C.any(axis=1)].astype(float)
    combination = found.theta @ C
    free = 0.0
    for k, e in enumerate(np.eye(len(C))):
        other = linprog(-e, A_eq=C.T, b_eq=combination, method="highs")
        assert other.status in (0, 2)  # 2: none, to the digits of the solver
        if other.status == 0:
            free = max(free, abs(-other.fun - found.theta[k]))
    assert found.unique == (free < 1e-6)


# -- alignf-linear --------------------------------------------------------------------------------
def test_alignf_linear_is_the_closed_form():
    for seed in range(6):
        alignment = real(seed)
        found = AlignfLinear(allow_indefinite=True).weigh(alignment)
        mu = np.linalg.solve(alignment.M, alignment.a)
        np.testing.assert_allclose(found.theta, mu / np.abs(mu).sum(), atol=1e-7)
        assert found.unique and found.residual <= 1e-8
        assert alignment.value(found.theta) == pytest.approx(found.bound, abs=1e-9)
        W = np.random.RandomState(seed).randn(5000, 6)
        near = found.theta * (1.0 + 0.1 * np.random.RandomState(seed).randn(5000, 6))
        assert max(values(alignment, W).max(), values(alignment, near).max()) <= found.bound + 1e-9


def test_alignf_linear_goes_negative_although_the_text_says_it_does_not():
    """M = [[2, 1], [1, 2]], a = [1, 0]: μ ∝ [2, −1], 2yyᵀ + zzᵀ − uuᵀ (not Rostamizadeh 2010, Prop. 3.2)."""
    alignment = alignment_of([[1, 1, 0], [0, 1, 1]])
    with pytest.raises(
        ValueError, match=r"1 negative weight\(s\) of 2 .*not a kernel.*allow_indefinite=True"
    ):
        AlignfLinear().weigh(alignment)
    found = AlignfLinear(allow_indefinite=True).weigh(alignment)
    np.testing.assert_allclose(found.theta, [2 / 3, -1 / 3], atol=1e-12)
    assert alignment.value(found.theta) == pytest.approx(np.sqrt(2 / 3))
    non_negative = Alignf().weigh(alignment)
    np.testing.assert_allclose(non_negative.theta, [1.0, 0.0], atol=1e-12)
    assert alignment.value(non_negative.theta) == pytest.approx(np.sqrt(1 / 2))


def test_negative_weights_are_fine_where_the_combination_is_definite():
    """(yyᵀ + zzᵀ) − zzᵀ is a kernel."""
    found = AlignfLinear().weigh(alignment_of([[1, 1, 0], [0, 1, 0]]))
    np.testing.assert_allclose(found.theta, [0.5, -0.5], atol=1e-12)
    assert found.bound == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("C", "independent"), [([A, A], [A]), ([A, B, np.add(A, B)], [A, B]), ([A, B, B], [A, B])]
)
def test_alignf_linear_of_dependent_kernels(C, independent):
    alignment, fewer = alignment_of(C), alignment_of(independent)
    found = AlignfLinear().weigh(alignment)
    assert not found.unique and found.residual <= 1e-12
    best = fewer.value(AlignfLinear().weigh(fewer).theta)
    assert alignment.value(found.theta) == pytest.approx(best, abs=1e-12)
    assert found.bound == pytest.approx(best, abs=1e-12)


# -- align ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("q", [1.0, 1.1, 1.5, 2.0, 3.0, 10.0])
def test_align_maximises_the_unnormalised_alignment(q):
    """Rostamizadeh 2010, Prop. 3.1. The maximum of ⟨K_μc, K_Y⟩ = μᵀa over ‖μ‖_q ≤ 1 is the dual norm of a."""
    for seed in range(4):
        alignment = real(seed)
        theta = Align(q=q).weigh(alignment).theta
        mu = theta / np.linalg.norm(theta, q)
        dual = np.inf if q == 1 else q / (q - 1)
        assert mu @ alignment.a == pytest.approx(np.linalg.norm(alignment.a, dual), rel=1e-12)
        W = np.random.RandomState(seed).dirichlet(np.full(6, 0.3), 3000)
        W /= np.linalg.norm(W, q, axis=1, keepdims=True)
        assert (W @ alignment.a).max() <= mu @ alignment.a * (1 + 1e-12)
        if q > 1:
            stationary = alignment.a / (theta ** (q - 1))  # the gradient of ‖μ‖_q^q is in proportion to it
            np.testing.assert_allclose(stationary, stationary[0], rtol=1e-9)


def test_align_is_in_proportion_to_the_alignments():
    alignment = real(1)
    theta = Align().weigh(alignment).theta
    np.testing.assert_allclose(theta / theta[0], alignment.each / alignment.each[0], rtol=1e-12)


def test_q_of_two_is_no_q_only_for_kernels_of_norm_one():
    alignment = real(0)
    assert np.abs(Align(q=2).weigh(alignment).theta - Align().weigh(alignment).theta).max() > 0.01
    unit = Alignment(StackGram(alignment.gram.stack, 1.0 / alignment.norms), np.arange(22.0)[:, None])
    np.testing.assert_allclose(Align(q=2).weigh(unit).theta, Align().weigh(unit).theta, rtol=1e-12)
    np.testing.assert_allclose(unit.norms, 1.0, rtol=1e-12)


def test_limits_of_q():
    alignment = real(0)
    best = np.eye(6)[alignment.a.argmax()]
    np.testing.assert_array_equal(Align(q=1).weigh(alignment).theta, best)
    np.testing.assert_allclose(Align(q=1 + 1e-9).weigh(alignment).theta, best, atol=1e-12)
    np.testing.assert_allclose(Align(q=1e8).weigh(alignment).theta, 1 / 6, atol=1e-6)
    np.testing.assert_array_equal(Uniform().weigh(alignment).theta, np.full(6, 1 / 6))
    tied = alignment_of([[2, 0, 1], [2, 1, 0], [1, 0, 0]])
    assert Align(q=1).weigh(tied).theta[2] == 0.0 and Align(q=1).weigh(tied).theta.sum() == 1.0


def test_a_kernel_that_is_not_aligned_gets_nothing():
    alignment = alignment_of([[1, 1, 0], [0, 0, 1]])
    for weighting in (Align(), Align(q=1.5), Align(q=1), Alignf()):
        np.testing.assert_allclose(weighting.weigh(alignment).theta, [1.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("weighting", [Align(), Align(q=1), Align(q=2), Alignf(), AlignfLinear()])
def test_nothing_aligned_at_all(weighting):
    gram = StackGram(np.outer([1.0, -1, 1, -1], [1.0, -1, 1, -1])[None])
    alignment = Alignment(gram, np.array([[1.0], [1], [-1], [-1]]))
    with pytest.raises(ValueError, match=r"no kernel is aligned .*weighting='uniform'"):
        weighting.weigh(alignment)
    assert Uniform().weigh(alignment).theta == [1.0]


# -- names and parameters -------------------------------------------------------------------------
def test_names():
    for name, kind in {
        "uniform": Uniform,
        "align": Align,
        "alignf": Alignf,
        "alignf-linear": AlignfLinear,
    }.items():
        assert type(resolve_weighting(name)) is kind
    mine = Align(q=3)
    assert resolve_weighting(mine) is mine
    assert clone(mine).q == 3 and clone(AlignfLinear(True)).allow_indefinite
    for wrong in ("alignff", None, Align, 2, ["alignf"]):
        with pytest.raises(ValueError, match=r"weighting=.* was given; expected one of 'alignf', 'align'"):
            resolve_weighting(wrong)


@pytest.mark.parametrize("q", [0.99, 0, -2, np.inf, np.nan, "2", True, [2]])
def test_q_must_be_the_exponent_of_a_norm(q):
    with pytest.raises(ValueError, match=r"Align\(q=.*q ≥ 1"):
        Align(q=q).weigh(real(0))


# -- all of them ----------------------------------------------------------------------------------
PUBLIC = [getattr(weightings, name) for name in weightings.__all__]
KINDS = [kind for kind in PUBLIC if isinstance(kind, type) and issubclass(kind, Weighting)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Weighting], ids=lambda k: k.__name__)
def test_every_weighting_serves_what_it_says(kind):
    """Through the estimators, so that what it says of itself as data is true."""
    assert kind.__name__ in repr(clone(kind()))
    y = np.repeat([0, 1], 20)
    X = np.random.default_rng(1).standard_normal((40, 3)) + y[:, None]
    kernels = [Linear(), Gaussian(2.0), Gaussian(4.0)]
    model = mk.AlignMKLClassifier(kernels, weighting=kind()).fit(X, y)
    assert np.abs(model.weights_).sum() == pytest.approx(1.0) and model.score(X, y) > 0.7
    regressor = mk.AlignMKLRegressor([Linear()], weighting=kind())
    if kind.classes:
        with pytest.raises(ValueError, match="targets that are numbers"):
            regressor.fit(X, X[:, 0])
    else:
        assert regressor.fit(X, X[:, 0]).weights_ == pytest.approx([1.0])
