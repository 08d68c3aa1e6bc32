"""From kernels or a given stack to a Gram: constants, checks, and the memory policy."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from tests.helpers import risk_of, run

from manykernels.grams import (
    BlockGram,
    FactorGram,
    RoundedGram,
    StackGram,
    build_from_stack,
    build_gram,
    is_definite,
    parse_memory,
)
from manykernels.kernels import Callable as CallableKernel
from manykernels.kernels import Constant, Gaussian, Linear, OnColumns
from manykernels.losses import Hinge, Squared
from manykernels.penalties import LpBall, Simplex
from manykernels.solvers import ActiveSet

N = 30
X = np.random.RandomState(0).randn(N, 4) + 0.3
DICTIONARY = {
    "g1": Gaussian(width=1.0),
    "g5": Gaussian(width=5.0),
    "lin": Linear(),
    "x2": OnColumns(Linear(), [2]),
}
WEIGHTS = np.random.RandomState(1).randint(0, 4, N).astype(float)
PLAIN = {"center": False, "normalize": None, "sample_weight": None, "memory_limit": None}
MATRIX = 8 * N * N
NORMALIZE = [None, "trace", "max", "cosine", "frobenius"]
each_option = pytest.mark.parametrize("center", [False, True])
each_normalize = pytest.mark.parametrize("normalize", NORMALIZE)


def reference(stack, center, normalize, w):
    """Centring and normalisation from their definitions, weights as repetition."""
    out = []
    mean = w / w.sum()
    H = np.eye(len(w)) - np.outer(np.ones(len(w)), mean)
    for K in stack:
        K = H @ K @ H.T if center else K
        if normalize == "trace":
            K = K / (mean @ K.diagonal())
        elif normalize == "max":
            K = K / K.diagonal()[w > 0].max()
        elif normalize == "cosine":
            root = np.sqrt(K.diagonal())
            K = K / np.outer(root, root)
        elif normalize == "frobenius":
            K = K / np.sqrt(w @ K**2 @ w)
        out.append(K)
    return np.array(out)


def dense(gram):
    return np.array([gram.combine(e) for e in np.eye(gram.n_kernels)])


@each_option
@each_normalize
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("way", ["stored", "blocks", "given", "factors", "sparse factors"])
def test_constants(center, normalize, weighted, way, monkeypatch):
    monkeypatch.setattr("manykernels.grams.blocks._BLOCK_BYTES", 1)
    w = WEIGHTS if weighted else None
    options = {"center": center, "normalize": normalize, "sample_weight": w}
    kernels = DICTIONARY
    if "factors" in way:
        kernels = {f"x{j}": OnColumns(Linear(), [j]) for j in range(4)}
    stack = np.array([kernel(X) for kernel in kernels.values()])
    if way == "given":
        given = stack.copy().transpose(1, 2, 0)
        names = list(kernels)
        gram, fitted = build_from_stack(given, names=names, memory_limit=None, **options)
        assert np.array_equal(given, stack.transpose(1, 2, 0))  # what the user gave is not written to
    else:
        data = sp.csr_array(X) if way == "sparse factors" else X
        limit = 8 * MATRIX if way == "blocks" else None
        gram, fitted = build_gram(kernels, data, memory_limit=limit, factors="factors" in way, **options)
    expected_kind = {"stored": StackGram, "blocks": BlockGram, "given": StackGram}.get(way, FactorGram)
    assert type(gram) is expected_kind
    expected = reference(stack, center, normalize, np.ones(N) if w is None else w)
    np.testing.assert_allclose(dense(gram), expected, rtol=1e-7, atol=1e-9)
    if "sparse" not in way:  # the kernels for new data carry the same constants
        for K, kernel in zip(expected, fitted, strict=True):
            source = given if way == "given" else X
            np.testing.assert_allclose(
                kernel(source) if way == "given" else kernel(X, X), K, rtol=1e-6, atol=1e-8
            )


@each_option
@each_normalize
def test_weights_are_repetition(center, normalize):
    rows = np.repeat(np.arange(N), WEIGHTS.astype(int))
    options = {"center": center, "normalize": normalize, "memory_limit": None}
    short = dense(build_gram(DICTIONARY, X, sample_weight=WEIGHTS, **options)[0])
    long = dense(build_gram(DICTIONARY, X[rows], sample_weight=None, **options)[0])
    np.testing.assert_allclose(short[:, rows[:, None], rows], long, rtol=1e-9, atol=1e-11)


@each_option
@each_normalize
def test_stored_and_recomputed_answers_agree(center, normalize):
    y = np.where(X[:, 0] * X[:, 1] > 0.1, 1.0, -1.0)[:, None]
    options = {"center": center, "normalize": normalize, "sample_weight": None}
    pair = [build_gram(DICTIONARY, X, memory_limit=limit, **options)[0] for limit in (None, 7 * MATRIX)]
    assert [type(gram) for gram in pair] == [StackGram, BlockGram]
    for penalty in (Simplex(), LpBall(2.0)):
        a, b = (run(ActiveSet(), gram, risk_of(Hinge(), y, y), penalty, tol=1e-9) for gram in pair)
        np.testing.assert_allclose(a.primal, b.primal, rtol=1e-8)
        np.testing.assert_allclose(a.weights, b.weights, atol=1e-4)


# -- memory ----------------------------------------------------------------------------------------
def test_memory_is_bounded():
    """Build and solve with 60 kernels where a dozen matrices are allowed."""
    n = 300
    A = np.random.RandomState(2).randn(n, 3)
    y = np.where(A[:, 0] * A[:, 1] > 0, 1.0, -1.0)[:, None]
    kernels = {f"g{j}": Gaussian(width=w) for j, w in enumerate(np.geomspace(0.3, 30, 60))}
    limit = 12 * 8 * n * n
    for penalty in (Simplex(), LpBall(2.0)):
        tracemalloc.start()
        gram, _ = build_gram(
            kernels, A, center=False, normalize="trace", sample_weight=None, memory_limit=limit
        )
        result = run(ActiveSet(), gram, risk_of(Hinge(), y, y), penalty, tol=1e-4)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert isinstance(gram, BlockGram) and result.converged
        assert peak <= limit


def test_the_limit_decides():
    M = len(DICTIONARY)
    kinds = [
        type(build_gram(DICTIONARY, X, **{**PLAIN, "memory_limit": k * MATRIX})[0]) for k in (M + 5, M + 4, 7)
    ]
    assert kinds == [StackGram, BlockGram, BlockGram]
    assert build_gram(DICTIONARY, X, **{**PLAIN, "memory_limit": 8 * MATRIX})[0].slots == 1
    with pytest.raises(MemoryError, match=r"4 kernels on 30 samples need at least .*or raise memory_limit"):
        build_gram(DICTIONARY, X, **{**PLAIN, "memory_limit": 6 * MATRIX})


def test_too_little_memory_for_a_stack_or_factors():
    stack = np.array([Gaussian()(X)] * 3).transpose(1, 2, 0)
    options = {"names": list("abc"), "center": False, "sample_weight": None}
    build_from_stack(stack, normalize=None, memory_limit=5 * MATRIX, **options)
    for given, normalize in [(np.ascontiguousarray(stack), None), (stack, "cosine")]:  # these need a copy
        with pytest.raises(MemoryError, match="3 kernels on 30 samples"):
            build_from_stack(given, normalize=normalize, memory_limit=7 * MATRIX, **options)
    with pytest.raises(MemoryError):
        build_gram(DICTIONARY, X, factors=True, **{**PLAIN, "memory_limit": "1KB"})


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (1000, 1000),
        (1e6, 10**6),
        ("2GB", 2 * 2**30),
        ("500MB", 500 * 2**20),
        ("500 MiB", 500 * 2**20),
        ("1.5g", 3 * 2**29),
        (" 10 kb ", 10 * 2**10),
        ("7", 7),
    ],
)
def test_parse_memory(given, expected):
    assert parse_memory(given) == expected


def test_default_memory_is_something():
    assert parse_memory(None) > 2**20


@pytest.mark.parametrize(
    "wrong", ["lots", "", "2XB", "GB", "-1GB", "1.2.3GB", 0, -5, True, float("nan"), [1]]
)
def test_parse_memory_errors(wrong):
    with pytest.raises(ValueError, match=r"memory_limit=.*'2GB'"):
        parse_memory(wrong)


# -- given stacks ----------------------------------------------------------------------------------
def give(stack, **options):
    names = [f"k{m}" for m in range(stack.shape[2])]
    return build_from_stack(stack, names=names, **{**PLAIN, **options})[0]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_contiguous_kernels_are_not_copied(dtype):
    kernels = np.array([kernel(X) for kernel in DICTIONARY.values()], dtype=dtype)
    for normalize in (None, "trace", "max", "frobenius"):
        for center in (False, True):
            gram = give(kernels.transpose(1, 2, 0), normalize=normalize, center=center)
            assert np.shares_memory(gram.stack, kernels) and gram.stack.dtype == dtype
    assert not np.shares_memory(give(np.ascontiguousarray(kernels.transpose(1, 2, 0))).stack, kernels)
    cosine = give(kernels.transpose(1, 2, 0), normalize="cosine")
    assert not np.shares_memory(cosine.stack, kernels)
    np.testing.assert_allclose(np.einsum("mii->mi", cosine.stack), 1.0, rtol=1e-6)


def test_integers_are_kernels_too():
    stack = np.stack([np.eye(5, dtype=int), np.ones((5, 5), dtype=int)], axis=2)
    np.testing.assert_array_equal(dense(give(stack)), np.array([np.eye(5), np.ones((5, 5))]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_good_kernels_pass_the_checks(dtype, scale):
    """Also singular ones, with all the rounding that their computation brings."""
    rng = np.random.RandomState(3)
    for n in (1, 2, 60):
        A = rng.randn(n, 3)
        ones, low = np.ones((n, n)), A @ A.T
        duplicates = np.repeat(A, 2, axis=0)[:n]
        stack = np.stack([low, ones, np.zeros((n, n)), duplicates @ duplicates.T, Gaussian()(A)], axis=2)
        give((scale * stack).astype(dtype))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_bad_kernels_are_named(dtype):
    good = np.array([Gaussian(width=w)(X) for w in (1.0, 2.0, 3.0)], dtype=dtype)

    def spoil(**entries):
        bad = good.copy()
        for place, value in entries.items():
            bad[(1, *(int(v) for v in place[1:].split("_")))] = value
        return bad.transpose(1, 2, 0)

    for value in (np.nan, np.inf, -np.inf):
        with pytest.raises(ValueError, match=r"'k1' holds -?(nan|inf) at row 3, column 7; expected finite"):
            give(spoil(_3_7=value))
    with pytest.raises(ValueError, match=r"'k1' is not symmetric: entry .*(3, 7|7, 3).*\(K \+ K.T\) / 2"):
        give(spoil(_3_7=0.75))
    with pytest.raises(ValueError, match=r"'k1' is not positive semi-definite: its diagonal entry 4 is -0.5"):
        give(spoil(_4_4=-0.5))
    with pytest.raises(
        ValueError, match=r"'k1' is not positive semi-definite: \|K\[(3, 7|7, 3)\]\| = 1.5 exceeds"
    ):
        give(spoil(_3_7=1.5, _7_3=1.5))


def test_is_definite():
    K = Gaussian()(X)
    low = X @ X.T
    assert is_definite(K) and is_definite(low) and is_definite(np.zeros((3, 3))) and is_definite(np.eye(1))
    values, vectors = np.linalg.eigh(K)
    values[0] = -1e-3
    kept = K.copy()
    assert not is_definite((vectors * values) @ vectors.T)
    assert np.array_equal(K, kept)


def test_kernels_that_cannot_be_normalised():
    kernels = {"fine": Linear(), "flat": Constant()}
    for normalize in ("trace", "max", "cosine", "frobenius"):
        gram, fitted = build_gram(kernels, X, **{**PLAIN, "center": True, "normalize": normalize})
        A = np.random.RandomState(0).randn(gram.n, 1)
        assert gram.quad(A)[1] == 0.0 < gram.quad(A)[0] and not np.any(np.abs(fitted[1](X)) > 1e-12)
        with pytest.raises(ValueError, match="'flat' is the same for all samples"):
            build_gram({"flat": Constant()}, X, **{**PLAIN, "center": True, "normalize": normalize})
        with pytest.raises(ValueError, match="'nought' is zero"):
            build_gram({"nought": Constant(value=0.0)}, X, **{**PLAIN, "normalize": normalize})
    build_gram(kernels, X, **{**PLAIN, "center": True})


def test_centring_makes_the_intercept_the_mean():
    """With centred kernels, ridge regression's intercept is the mean of the targets."""
    y = X[:, :1] + 5.0
    gram, _ = build_gram(DICTIONARY, X, **{**PLAIN, "center": True, "normalize": "trace"})
    result = run(ActiveSet(), gram, risk_of(Squared(), y, y), LpBall(2.0), tol=1e-9)
    np.testing.assert_allclose(result.intercept, y.mean())


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("function", [lambda A, B: -(A @ B.T), lambda A, B: cdist(A, B, "sqeuclidean")])
def test_kernels_without_a_positive_diagonal_are_not_taken_for_zero(function, center):
    X = np.random.RandomState(0).randn(12, 3)
    parts = {"own": CallableKernel(function), "linear": Linear()}
    with pytest.raises(ValueError, match=r"'own' is not positive semi-definite: .*its diagonal "):
        build_gram(parts, X, center=center, normalize="trace", sample_weight=None, memory_limit=None)


@each_option
@each_normalize
def test_single_precision_has_the_constants_of_the_kernels_themselves(center, normalize):
    given = {**PLAIN, "center": center, "normalize": normalize, "sample_weight": WEIGHTS}
    double, one = build_gram(DICTIONARY, X, **given)
    single, two = build_gram(DICTIONARY, X, **given, single=True)
    assert isinstance(single, RoundedGram) and single.stack.dtype == np.float32
    np.testing.assert_allclose(single.scale, double.scale, rtol=1e-12)
    theta = np.ones(len(DICTIONARY))
    np.testing.assert_allclose(single.combine(theta), double.combine(theta), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(single.exact().combine(theta), double.combine(theta), rtol=1e-9, atol=1e-9)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a(X[:3], X), b(X[:3], X), rtol=1e-9, atol=1e-9)


def test_single_precision_stores_what_half_of_the_memory_allows(monkeypatch):
    """With room for half of the matrices, twice as many are kept; with less, they are computed anew."""
    monkeypatch.setattr("manykernels.grams.memory.SMALL", 0)
    many = {f"g{width}": Gaussian(width) for width in range(1, 9)}
    M, needed = len(many), 5 * MATRIX + 8 * len(many) * N * 6 + 2 * MATRIX

    def kept(limit, single):
        return type(build_gram(many, X, **{**PLAIN, "memory_limit": limit}, single=single)[0])

    assert kept(needed + M * MATRIX // 2, single=False) is BlockGram
    assert kept(needed + M * MATRIX // 2, single=True) is RoundedGram
    assert kept(needed + M * MATRIX // 2 - 1, single=True) is BlockGram
    some = build_gram(many, X, **PLAIN, single=True)[0].subset(np.arange(7))
    assert isinstance(some, RoundedGram) and some.exact().n == 7 and some.stored == 4 * M * 49
