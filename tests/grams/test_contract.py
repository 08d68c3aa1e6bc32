"""Every way to hold kernels gives the answers of plain dense matrices."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers import risk_of, run

from manykernels import grams
from manykernels.grams import BlockGram, FactorGram, Gram, RoundedGram, SelectedGram, StackGram
from manykernels.kernels import Callable, Gaussian, Laplacian, Linear, OnColumns, Polynomial

N = 23
X = np.random.RandomState(0).randn(N, 5)
X[np.abs(X) < 0.4] = 0.0
KERNELS = [
    Gaussian(width=0.7),
    Gaussian(width=3.0),
    Linear(),
    Polynomial(degree=2),
    OnColumns(Laplacian(), [1, 3]),
    Callable(lambda A, B: (A @ B.T) ** 2),
]
STACK = np.array([kernel(X) for kernel in KERNELS])
PTR = np.array([0, 1, 3, 5])


def columns(ptr):
    return np.array([X[:, a:b] @ X[:, a:b].T for a, b in itertools.pairwise(ptr)])


def cases():
    """name -> (Gram with these options, its raw dense matrices, what holds of the data's precision)."""
    one = np.arange(6)
    sparse = sp.csr_array(X)
    return {
        "stack": (lambda **o: StackGram(STACK, **o), STACK, 1e-10),
        "float32": (lambda **o: StackGram(STACK.astype(np.float32), **o), STACK, 1e-4),
        "rounded": (lambda **o: RoundedGram(BlockGram(KERNELS, X, N, 0, **o)), STACK, 1e-4),
        "strided": (lambda **o: StackGram(np.repeat(STACK, 2, axis=0)[::2], **o), STACK, 1e-10),
        "blocks": (lambda **o: BlockGram(KERNELS, X, N, 0, **o), STACK, 1e-9),
        "blocks, 3 kept": (lambda **o: BlockGram(KERNELS, X, N, 3, **o), STACK, 1e-9),
        "blocks, all kept": (lambda **o: BlockGram(KERNELS, X, N, 6, **o), STACK, 1e-9),
        "rank one": (lambda **o: FactorGram(X, one, **o), columns(one), 1e-10),
        "rank one, sparse": (lambda **o: FactorGram(sparse, one, **o), columns(one), 1e-10),
        "selected": (
            lambda **o: SelectedGram(
                StackGram(
                    STACK[::-1],
                    **{k: v if k == "mean" else v[::-1] for k, v in o.items()},
                ),
                np.arange(6)[::-1],
            ),
            STACK,
            1e-10,
        ),
        "factors": (lambda **o: FactorGram(X, PTR, **o), columns(PTR), 1e-10),
        "factors, sparse": (lambda **o: FactorGram(sparse, PTR, **o), columns(PTR), 1e-10),
    }


CASES = cases()
each_case = pytest.mark.parametrize("case", list(CASES))
each_centring = pytest.mark.parametrize("center", [None, "plain", "weighted"])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 16 rows, the least there is, so that the samples need two."""
    monkeypatch.setattr("manykernels.grams.blocks._BLOCK_BYTES", 1)


def make(case, center=None):
    """A Gram with odd scales, and its dense reference with the same applied."""
    build, raw, exact = CASES[case]
    M = len(raw)
    scale = np.linspace(0.5, 2.0, M)
    weights = {None: None, "plain": np.ones(N), "weighted": np.arange(N) % 3.0}[center]
    if weights is None:
        return build(scale=scale), scale[:, None, None] * raw, exact * np.abs(raw).max()
    mean = weights / weights.sum()
    H = np.eye(N) - np.outer(np.ones(N), mean)
    dense = scale[:, None, None] * (H @ raw @ H.T)
    return build(scale=scale, mean=mean), dense, exact * np.abs(raw).max()


def test_every_exported_gram_is_covered():
    exported = [getattr(grams, name) for name in grams.__all__]
    kinds = {kind for kind in exported if isinstance(kind, type) and issubclass(kind, Gram)}
    assert kinds - {Gram} == {type(make(case)[0]) for case in CASES}


def close(a, b, exact):
    np.testing.assert_allclose(a, b, rtol=1e-5 if exact > 1e-6 else 1e-9, atol=exact * N)


@each_case
@each_centring
def test_combine(case, center):
    gram, dense, exact = make(case, center)
    theta = np.linspace(0.0, 1.0, len(dense))
    K = gram.combine(theta)
    close(K, np.einsum("m,mij->ij", theta, dense), exact)
    out = np.full((N, N), np.nan)
    assert gram.combine(theta[:2], np.array([2, 0]), out=out) is out
    close(out, theta[1] * dense[0], exact)
    assert not gram.combine(np.zeros(len(dense))).any()
    assert not gram.combine(np.zeros(0), np.empty(0, int)).any()


@each_case
@each_centring
@pytest.mark.parametrize("k", [1, 3, 6])
def test_products_and_quadratic_forms(case, center, k):
    gram, dense, exact = make(case, center)
    A = np.random.RandomState(k).randn(N, k)
    A[:5] = 0.0
    for atoms in (None, np.array([2, 0]), np.array([1]), np.empty(0, int)):
        chosen = dense if atoms is None else dense[atoms]
        close(gram.products(A, atoms), chosen @ A, exact)
        close(gram.quad(A, atoms), np.einsum("ik,mij,jk->mk", A, chosen, A), exact * N)
    assert not gram.quad(np.zeros((N, k))).any()
    close(gram.quad(A), np.einsum("nk,mnk->mk", A, gram.products(A)), exact * N)  # and asking changes nothing


@each_case
@each_centring
def test_exact_kernels_and_how_far_stored_ones_are_from_them(case, center):
    """Where nothing is rounded the Gram is exact; elsewhere no quadratic form is farther than it says."""
    gram, dense, _ = make(case, center)
    exact, rng = gram.exact(), np.random.RandomState(0)
    assert (exact is gram) == (gram.entry == 0.0)
    if exact is not gram:
        assert gram.entry > 0.0
        close(exact.combine(np.ones(len(dense))), dense.sum(axis=0), 1e-9)
    for size in (1e-3, 1.0, 1e3):
        A = size * rng.randn(N, 2) * rng.randint(0, 2, (N, 2))
        off = np.abs(gram.quad(A) - exact.quad(A)).sum(axis=1)
        assert np.all(off <= gram.doubt(A)) and (gram.entry > 0.0 or not gram.doubt(A).any())


@each_case
@each_centring
def test_frobenius_products(case, center, monkeypatch):
    """Of the kernels and of their combinations, centred whether or not the Gram centres."""
    monkeypatch.setattr(Gram, "_chunk_bytes", 3000)
    monkeypatch.setattr(BlockGram, "_chunk_bytes", 3000)
    gram, dense, exact = make(case, center)
    if center is None:
        H = np.eye(N) - 1.0 / N
        dense = H @ dense @ H
    expected = np.einsum("aij,bij->ab", dense, dense)
    exact = exact * np.sqrt(expected.max())
    close(gram.inner(), expected, exact)
    close(gram.norms(), np.sqrt(np.diag(expected)), exact)
    W = np.vstack([np.linspace(-1.0, 2.0, len(dense)), np.eye(len(dense))[1]])
    close(gram.inner(W), W @ expected @ W.T, exact)


@each_case
@each_centring
def test_against_a_matrix(case, center):
    gram, dense, exact = make(case, center)
    S = np.random.RandomState(3).randn(N, N)
    S += S.T
    close(gram.against(S), np.einsum("mij,ij->m", dense, S), exact * N)


@pytest.mark.parametrize("width", [1.0, 1e3, 1e6])
def test_frobenius_products_of_nearly_constant_kernels(width):
    """The kernel varies by 1/width² around 1: raw products would lose its fourth power."""
    kernels = [Gaussian(width), Gaussian(width / 2)]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    raw = np.array([np.expm1(-D / kernel.width**2) for kernel in kernels])  # K − 1, the same when centred
    H = np.eye(N) - 1.0 / N
    dense = H @ raw @ H
    expected = np.einsum("aij,bij->ab", dense, dense)
    stack = np.array([kernel(X) for kernel in kernels])
    digits = 1e-14 * width**2 * 100
    for gram in (StackGram(stack), BlockGram(kernels, X, N, 0)):
        np.testing.assert_allclose(gram.inner(), expected, rtol=digits)


@each_case
@each_centring
def test_subset(case, center):
    """Some samples, in any order; centring is by their own mean."""
    gram, dense, exact = make(case, center)
    rows = np.array([20, 3, 17, 8, 1, 12, 5])
    part = gram.subset(rows)
    raw = gram.scale[:, None, None] * CASES[case][1][:, rows[:, None], rows]
    if gram.mean is not None:
        mean = gram.mean[rows] / gram.mean[rows].sum()
        H = np.eye(rows.size) - np.outer(np.ones(rows.size), mean)
        raw = H @ raw @ H.T
    theta = np.linspace(0.2, 1.0, len(dense))
    assert part.n == rows.size and part.n_kernels == len(dense)
    close(part.combine(theta), np.einsum("m,mij->ij", theta, raw), exact)
    A = np.random.RandomState(0).randn(rows.size, 2)
    close(part.quad(A), np.einsum("ik,mij,jk->mk", A, raw, A), exact * N)


@each_case
def test_best_and_traces(case):
    gram, dense, exact = make(case)
    A = np.random.RandomState(1).randn(N, 2)
    q = np.einsum("ik,mij,jk->m", A, dense, A)
    order = np.argsort(-q)
    top, values = gram.best(A, 2, np.empty(0, np.intp))
    assert np.array_equal(top, order[:2])
    close(values, q, exact * N)
    assert np.array_equal(gram.best(A, 2, order[:1])[0], order[1:3])
    assert np.array_equal(gram.best(A, 100, order[:1])[0], order[1:])
    close(gram.traces(), np.einsum("mii->m", dense), exact)
    centred, dense, exact = make(case, "weighted")
    assert np.all(centred.traces() >= np.linalg.eigvalsh(dense)[:, -1] - exact * N)  # what screening needs


@each_case
def test_blocks_cover_the_lower_triangles(case):
    gram, _, exact = make(case)
    raw = CASES[case][1]
    atoms, seen = np.array([2, 0]), np.full((2, N, N), np.nan)
    for position, lo, hi, block in gram._blocks(atoms):
        seen[position, lo:hi, :hi] = block
    close(np.tril(seen), np.tril(raw[atoms]), exact)


def test_kept_kernels_are_evicted_and_come_back():
    gram = BlockGram(KERNELS, X, N, 3)
    rng = np.random.RandomState(0)
    for _ in range(30):
        atoms = rng.permutation(6)[: rng.randint(1, 5)]
        theta = rng.uniform(0.1, 1, atoms.size)
        close(gram.combine(theta, atoms), np.einsum("m,mij->ij", theta, STACK[atoms]), 1e-9)
        A = rng.randn(N, 1)
        close(gram.quad(A), np.einsum("ik,mij,jk->mk", A, STACK, A), 1e-7)
        assert len(gram._store) <= 3 and len(gram._slot_of) <= 3


def test_an_indefinite_kernel_is_met_with_an_error():
    bad = STACK[:2].copy()
    bad[1] -= 5.0 * np.eye(N)
    with pytest.raises(ValueError, match=r"kernel 1 is not positive semi-definite.*clip"):
        StackGram(bad).quad(np.random.RandomState(0).randn(N, 1))


@pytest.mark.parametrize("C", [1.0, 1e4])
def test_rounding_of_single_numbers_is_not_indefiniteness(C):
    """Ridge residuals are nearly orthogonal to a kernel of low rank: αᵀKα is rounding of float32 entries."""
    y = np.random.RandomState(1).randn(N, 1)
    from manykernels.losses import Squared
    from manykernels.penalties import Simplex
    from manykernels.solvers import ActiveSet

    stack = columns(PTR).astype(np.float32)
    result = run(ActiveSet(), StackGram(stack), risk_of(Squared(), y, y, C), Simplex(), tol=1e-3)
    assert result.converged
