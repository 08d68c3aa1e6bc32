"""Measures against their definitions, written out densely or in explicit features."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import inv
from tests.helpers import gaussians

from manykernels.families import from_distances, rank_one
from manykernels.grams import BlockGram, build_gram
from manykernels.kernels import Callable, Gaussian, Linear, Polynomial
from manykernels.measures import (
    centered_alignment,
    fsm,
    hsic,
    kernel_similarity,
    kl_measure,
    target_factor,
    uncentered_alignment,
    unnormalized_alignment,
)

MEASURES = [centered_alignment, uncentered_alignment, unnormalized_alignment, hsic, kl_measure]


def centre(K):
    """U K U, in extended precision."""
    U = np.eye(len(K), dtype=np.longdouble) - np.longdouble(1) / len(K)
    return U @ np.asarray(K, dtype=np.longdouble) @ U


def alignment(K, L):
    return float(np.sum(K * L) / np.sqrt(np.sum(K * K) * np.sum(L * L)))


def samples(seed=0, n=25):
    """X, a kernel matrix, another one, labels of two and of three classes, numbers (n,) and (n, 2)."""
    rng = np.random.RandomState(seed)
    X = rng.randn(n, 3)
    K, L = gaussians(X, [0.3])[0], (X @ X.T + 0.5) ** 2
    score = X[:, 0] + 0.5 * rng.randn(n)
    two, three = np.where(score > 0.2, "yes", "no"), np.digitize(score, [-0.4, 0.6])
    numbers = np.stack([score, X[:, 1] ** 2 + 3.0], axis=1)
    return X, K, L, two, three, numbers


# -- alignment ------------------------------------------------------------------------------------
def test_centring_one_side_is_enough():
    """Rostamizadeh 2010, Lemma A.3: ⟨K_c, K'_c⟩ = ⟨K, K'_c⟩ = ⟨K_c, K'⟩ (A.13 has ⟨K, K'⟩ in the middle)."""
    _, K, L, *_ = samples()
    n = len(K)
    expected = float(np.sum(centre(K) * centre(L))) / n**2
    for one, other in ((K, L), (centre(K), L), (K, centre(L)), (centre(K), centre(L))):
        found = unnormalized_alignment(np.asarray(one, dtype=float), np.asarray(other, dtype=float))
        assert found == pytest.approx(expected, rel=1e-12)
    assert abs(np.sum(K * L) / n**2 - expected) > 0.1 * expected


def test_class_balance_misleads_only_the_uncentred_alignment():
    """Two points, K = x·x' + 1; a share a at (−1, 0) is of class −1 (Rostamizadeh 2010, §2.5.1)."""
    for percent in range(1, 100):
        a = percent / 100
        y = np.where(np.arange(100) < percent, -1, 1)
        X = np.stack([y, np.zeros(100)], axis=1)
        K = X @ X.T + 1.0
        assert centered_alignment(K, y) == pytest.approx(1.0, abs=1e-12)
        assert uncentered_alignment(K, y) == pytest.approx(np.sqrt((1 + (1 - 2 * a) ** 2) / 2), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 1000),
    scale=st.floats(1e-6, 1e6),
    shift=st.floats(-100.0, 100.0),
    which=st.sampled_from(["kernel", "two", "three", "numbers"]),
)
def test_alignment_ignores_scale_shift_and_order(seed, scale, shift, which):
    _, K, L, two, three, numbers = samples(seed, n=12)
    target = {"kernel": L, "two": two, "three": three, "numbers": numbers}[which]
    order = np.random.RandomState(seed).permutation(12)
    rho = centered_alignment(K, target)
    assert 0.0 <= rho <= 1.0
    assert centered_alignment(scale * (K + shift), target) == pytest.approx(rho, abs=1e-10)
    moved = target[np.ix_(order, order)] if which == "kernel" else target[order]
    assert centered_alignment(K[np.ix_(order, order)], moved) == pytest.approx(rho, abs=1e-12)
    if which == "numbers":
        assert centered_alignment(K, scale * (target + shift)) == pytest.approx(rho, abs=1e-8)
    if which == "kernel":
        assert centered_alignment(L, K) == pytest.approx(rho, abs=1e-12)
        assert centered_alignment(K, K) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("which", ["two", "three", "one output", "two outputs", "indicator", "kernel"])
def test_measures_are_those_of_the_dense_target_kernel(which):
    _, K, L, two, three, numbers = samples()
    sign = np.where(two == "yes", 1.0, -1.0)
    indicator = np.stack([three > 0, three > 1], axis=1).astype(int)
    target, dense = {
        "two": (two, np.outer(sign, sign)),
        "three": (three, 1.0 * (three[:, None] == three)),
        "one output": (numbers[:, 0], np.outer(numbers[:, 0], numbers[:, 0])),
        "two outputs": (numbers, numbers @ numbers.T),
        "indicator": (indicator, indicator @ indicator.T),
        "kernel": (L, L),
    }[which]
    K_c, L_c, n = centre(K), centre(dense), len(K)
    assert centered_alignment(K, target) == pytest.approx(alignment(K_c, L_c), rel=1e-12)
    assert uncentered_alignment(K, target) == pytest.approx(alignment(K, dense), rel=1e-12)
    assert unnormalized_alignment(K, target) == pytest.approx(float(np.mean(K_c * L_c)), rel=1e-12)
    assert hsic(K, target) == pytest.approx(float(np.trace(K_c @ L_c)) / (n - 1) ** 2, rel=1e-12)
    assert hsic(K, target, unbiased=True) == pytest.approx(hsic(K, dense, unbiased=True), rel=1e-10)
    assert kl_measure(K, target) == pytest.approx(kl_measure(K, dense, kind="kernel"), rel=1e-10)


def test_kernels_may_be_objects():
    X, _, _, two, *_ = samples()
    k, l = Gaussian(1.5), Polynomial(2)
    for measure in MEASURES:
        expected = measure(k(X), l(X))
        for K, L in ((k, l), (k(X), l), (k, l(X))):
            assert measure(K, L, X=X) == expected
        assert measure(k, two, X=X) == measure(k(X), two)
    assert fsm(k, two, X=X) == fsm(k(X), two)


def test_kind_decides_where_there_are_as_many_outputs_as_samples():
    rng = np.random.RandomState(0)
    K, Y = gaussians(rng.randn(6, 2), [0.5])[0], rng.randn(6, 6)
    Y = Y + Y.T
    assert centered_alignment(K, Y) == centered_alignment(K, Y, kind="kernel")
    assert centered_alignment(K, Y, kind="regression") == pytest.approx(centered_alignment(K, Y @ Y.T))
    labels = [0, 1, 2, 0, 1, 2]
    as_numbers = np.outer(labels, labels)
    assert centered_alignment(K, labels, kind="regression") == pytest.approx(
        centered_alignment(K, as_numbers)
    )
    assert centered_alignment(K, labels, kind="classification") == centered_alignment(K, labels)


def test_nearly_constant_kernels_keep_their_digits():
    """A Gaussian 1e5 times as wide as the data is 1 − 1e-10 …; exp(t) − 1 without the 1 is its exact form."""
    rng = np.random.RandomState(0)
    X = rng.randn(60, 3).astype(np.longdouble)
    y = np.sign(X[:, 0] + 0.3 * rng.randn(60))
    width = 1e5 * np.sqrt(X.var(axis=0).sum())
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K_c = centre(np.expm1(-squares / width**2))
    data, wide = np.asarray(X, dtype=float), Gaussian(float(width))
    exact = alignment(K_c, centre(np.outer(y, y)))
    assert centered_alignment(wide, np.asarray(y, dtype=float), X=data) == pytest.approx(exact, rel=1e-5)
    exact = alignment(K_c, centre(X @ X.T))
    assert centered_alignment(wide, Linear(), X=data) == pytest.approx(exact, rel=1e-5)
    assert kernel_similarity([wide, Linear()], data)[0, 1] == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_alignment_does_not_overflow(size):
    _, K, _, _, _, numbers = samples()
    assert centered_alignment(size * K, size * numbers) == pytest.approx(centered_alignment(K, numbers))
    assert uncentered_alignment(size * K, size * numbers) == pytest.approx(uncentered_alignment(K, numbers))


# -- HSIC, FSM, KL --------------------------------------------------------------------------------
def test_unbiased_hsic_is_the_sum_over_distinct_samples():
    """Song et al.: means of K_ij L_ij, K_ij L_qr and K_ij L_iq over distinct i, j, q, r."""
    _, K, L, *_ = samples(n=6)
    pairs = np.mean([K[i, j] * L[i, j] for i, j in permutations(range(6), 2)])
    apart = np.mean([K[i, j] * L[q, r] for i, j, q, r in permutations(range(6), 4)])
    joint = np.mean([K[i, j] * L[i, q] for i, j, q in permutations(range(6), 3)])
    expected = pairs + apart - 2 * joint
    assert hsic(K, L, unbiased=True) == pytest.approx(expected, rel=1e-10)
    assert hsic(L, K, unbiased=True) == pytest.approx(expected, rel=1e-10)
    assert abs(hsic(K, L) - expected) > 1e-3 * abs(expected)


def test_a_constant_kernel_depends_on_nothing():
    y = [0, 1, 0, 1, 1]
    assert hsic(np.full((5, 5), 2.0), y) == pytest.approx(0.0, abs=1e-15)
    assert unnormalized_alignment(np.full((5, 5), 2.0), y) == pytest.approx(0.0, abs=1e-15)


def direct_fsm(Z, y):
    """The definition, in explicit features Z, for two classes."""
    A, B = (Z[y == c] for c in np.unique(y))
    gap = A.mean(axis=0) - B.mean(axis=0)
    u = gap / np.linalg.norm(gap)
    return ((A @ u).std(ddof=1) + (B @ u).std(ddof=1)) / np.linalg.norm(gap)


def test_fsm_is_that_of_explicit_features():
    X, _, _, two, three, _ = samples()
    Z = X + 10.0
    assert fsm(Linear(), two, X=Z) == pytest.approx(direct_fsm(Z, two), rel=1e-10)
    assert fsm(7.0 * Z @ Z.T, two) == pytest.approx(direct_fsm(Z, two), rel=1e-10)
    pairs = [(0, 1), (0, 2), (1, 2)]
    each = [direct_fsm(Z[np.isin(three, pair)], three[np.isin(three, pair)]) for pair in pairs]
    assert fsm(Z @ Z.T, three) == pytest.approx(np.mean(each), rel=1e-10)


def test_fsm_of_classes_with_one_centre_is_infinite():
    Z = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    assert fsm(Z @ Z.T, [0, 0, 1, 1]) == np.inf


@pytest.mark.parametrize("epsilon", [1e-3, 0.5])
def test_kl_measure_is_its_formula(epsilon):
    _, K, L, two, *_ = samples()
    A = 3.0 * K + epsilon * 3.0 * np.mean(np.diag(K)) * np.eye(len(K))
    y = np.where(two == "yes", 1.0, -1.0)
    for target, dense in ((two, np.outer(y, y)), (L, L)):
        expected = np.trace(dense @ inv(A)) + np.linalg.slogdet(A)[1]
        assert kl_measure(3.0 * K, target, epsilon=epsilon) == pytest.approx(expected, rel=1e-8)


def test_kl_measure_is_smallest_at_the_target():
    """Over the scale of K, and over every other direction that keeps K positive definite."""
    rng = np.random.RandomState(0)
    Z = rng.randn(8, 12)
    best = Z @ Z.T
    least = kl_measure(best, best, epsilon=1e-13)
    h = 1e-4
    up, down = (kl_measure((1 + s) * best, best, epsilon=1e-13) for s in (h, -h))
    assert abs(up - down) / (2 * h) < 1e-5
    assert (up - 2 * least + down) / h**2 == pytest.approx(8.0, rel=1e-3)  # of 8/c + 8 log c at c = 1
    for _ in range(20):
        E = 0.01 * rng.randn(8, 8)
        assert kl_measure(best + E + E.T, best, epsilon=1e-13) > least


# -- targets --------------------------------------------------------------------------------------
def test_two_classes_are_signs_and_more_are_indicators():
    assert_allclose(target_factor(["b", "a", "b"]), [[1.0], [-1.0], [1.0]])
    assert_allclose(target_factor([False, True]), [[-1.0], [1.0]])
    assert_allclose(target_factor([[3], [7], [3]]), [[-1.0], [1.0], [-1.0]])
    assert_allclose(target_factor(np.array(["c", "a", "b", "a"], dtype=object)), np.eye(3)[[2, 0, 1, 0]])
    assert_allclose(target_factor([5, 6, 7], kind="classification"), np.eye(3))


def test_two_classes_as_indicators_have_the_same_alignment():
    _, K, _, two, *_ = samples()
    same_class = 1.0 * (two[:, None] == two)
    y = target_factor(two)
    assert_allclose(same_class, (1.0 + y @ y.T) / 2.0)
    assert centered_alignment(K, two) == pytest.approx(centered_alignment(K, same_class), rel=1e-12)


def test_numbers_are_taken_as_they_are():
    Y = np.array([[1.0, 2.5], [1.0, 0.5], [1.0, 0.5]])
    assert_allclose(target_factor(Y), Y)  # one constant column is no harm
    assert_allclose(target_factor(Y[:, 1]), Y[:, 1:])
    assert_allclose(target_factor([0, 1, 2, 1], kind="regression"), [[0.0], [1.0], [2.0], [1.0]])
    assert_allclose(target_factor([[1, 0], [1, 1]]), [[1.0, 0.0], [1.0, 1.0]])
    assert_allclose(target_factor([[1, 2], [3, 1]]), [[1.0, 2.0], [3.0, 1.0]])


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        ([1, 1, 1], "auto", r"the same for all 3 samples: 1\. Alignment with a constant target"),
        (["a", "a"], "classification", r"the same for all 2 samples: 'a'"),
        ([0.1, 0.1, 0.1], "regression", r"the same for all 3 samples: 0\.1"),
        ([[1.0, 2.5], [1.0, 2.5]], "auto", r"the same for all 2 samples: \[1\.0, 2\.5\]"),
        ([0.3, np.nan, 1.0], "auto", "holds nan for sample 1"),
        ([[0.3, np.inf], [0.0, 1.0]], "regression", "holds inf for sample 0"),
        (["a", None, "b"], "auto", "holds None for sample 1"),
        ([object(), object()], "auto", "neither numbers nor strings"),
        ([1j, 2.0], "auto", "complex"),
        (np.zeros((2, 2, 2)), "auto", r"shape \(2, 2, 2\)"),
        ([], "auto", r"shape \(0,\)"),
        (None, "auto", r"shape \(\)"),
        ([3, 1, 2], "auto", "each of them once: say by kind='regression'"),
        ([0.1, 0.2], "classification", "continuous.*one class label per sample"),
        ([[1, 2], [3, 1]], "classification", "one class label per sample"),
        (["a", "b"], "regression", "text such as 'a'; expected numbers"),
        ([["a", "b"], ["b", "c"]], "auto", "text such as 'a'; expected numbers"),
        ([0, 1], "kernel", "kind='kernel' was given; expected 'auto', 'classification' or 'regression'"),
    ],
)
def test_bad_targets_are_refused(y, kind, message):
    with pytest.raises(ValueError, match=message):
        target_factor(y, kind)


# -- similarity of kernels ------------------------------------------------------------------------
def dense_similarity(stack):
    K = [centre(layer) for layer in stack]
    return np.array([[alignment(a, b) for b in K] for a in K])


def check_similarity(found, expected):
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert np.all(np.diag(found) == 1.0)
    assert np.array_equal(found, found.T)
    assert found.min() >= 0.0 and found.max() <= 1.0


def test_similarity_of_kernels_by_any_description():
    X, *_ = samples(n=30)
    kernels = [Gaussian(0.5), Gaussian(3.0), Polynomial(2), Linear()]
    stack = np.array([k(X) for k in kernels])
    expected = dense_similarity(stack)
    check_similarity(kernel_similarity(kernels, X), expected)
    check_similarity(kernel_similarity(kernels, X, n_jobs=2), expected)
    check_similarity(kernel_similarity(dict(zip("abcd", kernels, strict=True)), X), expected)
    check_similarity(kernel_similarity("precomputed", np.moveaxis(stack, 0, 2)), expected)
    check_similarity(kernel_similarity(kernels, X.tolist()), expected)
    assert kernel_similarity("auto", X).shape[0] > 2
    assert centered_alignment(kernels[0], kernels[2], X=X) == pytest.approx(expected[0, 2], rel=1e-12)


def test_similarity_of_distances_in_a_stack():
    X, *_ = samples(n=20)
    D = np.stack([np.abs(X[:, None, j] - X[None, :, j]) for j in range(3)], axis=2)
    expected = dense_similarity([np.exp(-2.0 * D[:, :, j]) for j in range(3)])
    check_similarity(kernel_similarity(from_distances([2.0]), D), expected)


def test_similarity_of_kernels_that_do_not_fit_in_memory():
    X, *_ = samples(n=40)
    kernels = [Gaussian(w) for w in np.logspace(-0.5, 1, 9)] + [Linear()]
    limit = 8 * 40 * 40 * 8
    options = {"center": False, "normalize": None, "sample_weight": None, "memory_limit": limit}
    gram, _ = build_gram({str(m): k for m, k in enumerate(kernels)}, X, **options)
    assert isinstance(gram, BlockGram)
    check_similarity(
        kernel_similarity(kernels, X, memory_limit=limit), dense_similarity([k(X) for k in kernels])
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_similarity_of_rank_one_kernels_is_squared_correlation(kind):
    rng = np.random.RandomState(0)
    X = rng.poisson(0.7, (30, 6)) * rng.uniform(0.5, 2.0, (30, 6))
    found = kernel_similarity(rank_one(), kind(X))
    check_similarity(found, np.corrcoef(X.T) ** 2)
    check_similarity(found, dense_similarity([np.outer(x, x) for x in X.T]))


def test_similarity_may_be_negative_only_for_indefinite_kernels():
    X, *_ = samples(n=20)
    found = kernel_similarity([Linear(), Callable(lambda A, B: -(A @ B.T))], X)
    assert_allclose(found, [[1.0, -1.0], [-1.0, 1.0]])


# -- bad input ------------------------------------------------------------------------------------
@pytest.mark.parametrize("measure", [*MEASURES, fsm])
@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((4, 3)), r"K of shape \(4, 3\).*square matrix"),
        (np.ones(4), r"K of shape \(4,\).*square matrix"),
        (np.full((4, 4), "a"), "square matrix .* of real numbers"),
        (np.zeros((0, 0)), r"K of shape \(0, 0\)"),
        (np.eye(4) + 1e-6 * np.eye(4, k=1), r"K is not symmetric: entry \(0, 1\) is 1e-06 and \(1, 0\) is 0"),
        (np.diag([1.0, 1.0, np.nan, 1.0]), "K holds nan at row 2, column 2"),
        (np.eye(5), "K has 5 samples and the target 4"),
        (Gaussian(2.0), r"kernel Gaussian\(width=2\) was given without samples; give X="),
    ],
)
def test_bad_kernels_are_refused(measure, K, message):
    with pytest.raises(ValueError, match=message):
        measure(K, [0, 1, 0, 1])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("target", "kind", "message"),
    [
        (np.triu(np.ones((4, 4))), "auto", "the target is not symmetric.*kind='regression'"),
        (np.full((4, 4), np.inf), "kernel", "the target holds inf at row 0, column 0"),
        ([0, 1, 0, 1], "kernel", r"the target of shape \(4,\).*square matrix"),
        (np.eye(5), "kernel", "K has 4 samples and the target 5"),
        ([0, 1, 0], "auto", "K has 4 samples and the target 3"),
        (Linear(), "auto", "kernel Linear.* was given without samples"),
        (Linear(), "classification", "kind='classification' was given with the kernel Linear"),
        ([0, 1, 0, 1], "labels", "kind='labels' was given; expected one of 'auto', 'kernel'"),
        ([1, 1, 1, 1], "auto", "the same for all 4"),
    ],
)
def test_bad_targets_of_measures_are_refused(measure, target, kind, message):
    with pytest.raises(ValueError, match=message):
        measure(np.diag([1.0, 2.0, 3.0, 4.0]), target, kind=kind)


def test_asymmetry_of_rounding_is_no_error():
    K = np.eye(4) + 1e-9 * np.eye(4, k=1)
    assert centered_alignment(K, [0, 1, 0, 1]) == pytest.approx(centered_alignment(np.eye(4), [0, 1, 0, 1]))


def test_constant_kernels_are_refused_where_nothing_can_be_said():
    y, flat = [0, 1, 0, 1], np.full((4, 4), 0.3)
    for call in (
        lambda: centered_alignment(flat, y),
        lambda: centered_alignment(np.zeros((4, 4)), y),
        lambda: fsm(flat, y),
    ):
        with pytest.raises(ValueError, match=r"K is constant .* centred norm is zero"):
            call()
    with pytest.raises(ValueError, match="the target is constant"):
        centered_alignment(np.eye(4), flat)
    with pytest.raises(ValueError, match=r"kernel Gaussian\(width=1e\+08\) is constant"):
        centered_alignment(Gaussian(1e8), y, X=np.arange(4.0)[:, None])
    for zero in ((np.zeros((4, 4)), y), (np.eye(4), np.zeros((4, 4)))):
        with pytest.raises(ValueError, match="is zero for all pairs"):
            uncentered_alignment(*zero)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Linear(), "the kernel Linear.* as y; expected one class label"),
        (np.eye(4), "expected one class label per sample"),
        ([0.1, 0.2, 0.3, 0.4], "continuous.*expected one class label per sample"),
        (["a", "b", "b", "b"], "Class 'a' of y has 1 sample; fsm needs at least 2"),
        ([2, 2, 2, 2], r"the same for all 4 samples: 2"),
    ],
)
def test_fsm_needs_labels(y, message):
    with pytest.raises(ValueError, match=message):
        fsm(np.eye(4), y)


def test_hsic_needs_enough_samples():
    with pytest.raises(ValueError, match=r"3 samples; hsic\(unbiased=True\) needs at least 4"):
        hsic(np.eye(3), [0, 1, 1], unbiased=True)
    with pytest.raises(ValueError, match="at least 2"):
        hsic([[1.0]], [[1.0]])


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.nan, np.inf, "small"])
def test_kl_measure_needs_a_positive_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"epsilon=.*expected a positive number"):
        kl_measure(np.eye(4), [0, 1, 0, 1], epsilon=epsilon)


@pytest.mark.parametrize("K", [np.zeros((4, 4)), np.diag([1.0, 1.0, 1.0, -0.1]), -np.eye(4)])
def test_kl_measure_refuses_indefinite_kernels(K):
    with pytest.raises(ValueError, match="K is zero, or has negative eigenvalues"):
        kl_measure(K, [0, 1, 0, 1])


def test_similarity_names_the_kernel_that_is_wrong():
    X, *_ = samples(n=10)
    kernels = {"good": Linear(), "flat": Gaussian(1e9)}
    with pytest.raises(ValueError, match=r"kernel 'flat' is constant .* centred norm is zero"):
        kernel_similarity(kernels, X)
    X_flat = np.column_stack([X[:, 0], np.full(10, 0.1)])
    for Z in (X_flat, sparse.csr_array(X_flat)):
        with pytest.raises(ValueError, match="kernel 'x1' is constant"):
            kernel_similarity(rank_one(), Z)
    stack = np.stack([np.eye(4), np.ones((4, 4))], axis=2)
    with pytest.raises(ValueError, match="kernel 'kernel 1' is constant"):
        kernel_similarity("precomputed", stack)
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="kernel 'a' is not finite"):
        kernel_similarity({"a": Gaussian(2.0)}, X)
    with pytest.raises(ValueError, match=r"X of shape \(4, 3, 2\).*\(n, n, n_kernels\)"):
        kernel_similarity("precomputed", np.ones((4, 3, 2)))
    with pytest.raises(ValueError, match="kernels='precomputed' expects X of shape"):
        kernel_similarity("precomputed", X)
