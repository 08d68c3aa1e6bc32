"""Kernels behind gates, never stored, give the answers of the dense matrices diag(c_j) K_m diag(c_j)."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from tests.helpers import risk_of, run

from manykernels.grams import BlockGram, FactorGram, Gram, RoundedGram, StackGram, build_gram
from manykernels.grams.gated import GatedGram
from manykernels.kernels import Gaussian, Linear, Polynomial
from manykernels.losses import Hinge, Squared
from manykernels.penalties import BallProduct
from manykernels.solvers import ActiveSet, Alternating

N, L = 21, 3
rng = np.random.RandomState(0)
X = rng.randn(N, 4)
X[np.abs(X) < 0.3] = 0.0
KERNELS = [Gaussian(0.7), Linear(), Polynomial(degree=2), Gaussian(3.0)]
STACK = np.array([kernel(X) for kernel in KERNELS])
COLUMNS = np.array([np.outer(x, x) for x in X.T])
WHOLES = {
    "stack": (lambda **o: StackGram(STACK, **o), STACK),
    "blocks": (lambda **o: BlockGram(KERNELS, X, N, 0, **o), STACK),
    "blocks, 2 kept": (lambda **o: BlockGram(KERNELS, X, N, 2, **o), STACK),
    "rank one": (lambda **o: FactorGram(X, np.arange(5), **o), COLUMNS),
    "factors, sparse": (
        lambda **o: FactorGram(sp.csr_array(X), np.array([0, 1, 3, 4]), **o),
        np.array([COLUMNS[a:b].sum(axis=0) for a, b in itertools.pairwise([0, 1, 3, 4])]),
    ),
}
SOFT = rng.dirichlet(np.ones(L), N)
HARD = np.eye(L)[np.arange(N) % L]
GATES = {"soft": SOFT, "hard": HARD}
each_whole = pytest.mark.parametrize("whole", list(WHOLES))
each_gate = pytest.mark.parametrize("gate", list(GATES))
each_centring = pytest.mark.parametrize("center", [False, True])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of 16 rows, so that the samples need two."""
    monkeypatch.setattr("manykernels.grams.blocks._BLOCK_BYTES", 1)


def make(whole, gate, center):
    """A gated Gram over scaled (and by weights centred) kernels, and all its matrices."""
    build, raw = WHOLES[whole]
    scale = np.linspace(0.5, 2.0, len(raw))
    options, dense = {"scale": scale}, scale[:, None, None] * raw
    if center:
        options["mean"] = (np.arange(N) % 3.0) / (np.arange(N) % 3.0).sum()
        H = np.eye(N) - np.outer(np.ones(N), options["mean"])
        dense = H @ dense @ H.T
    c = GATES[gate]
    gated = np.array([dense[m] * np.outer(c[:, j], c[:, j]) for j in range(L) for m in range(len(raw))])
    return GatedGram(build(**options), c), gated


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-9 * np.abs(b).max(initial=1.0))


@each_whole
@each_gate
@each_centring
def test_every_answer_is_that_of_dense_matrices(whole, gate, center, monkeypatch):
    monkeypatch.setattr(Gram, "_chunk_bytes", 3000)
    gram, dense = make(whole, gate, center)
    M = len(dense)
    gram.scale = np.linspace(1.0, 3.0, M)  # a scale of its own, on top of those of the kernels
    dense = gram.scale[:, None, None] * dense
    assert (gram.n, gram.n_kernels) == (N, M) and gram.mean is None
    theta = np.linspace(0.0, 1.0, M)
    close(gram.combine(theta), np.einsum("m,mij->ij", theta, dense))
    out = np.full((N, N), np.nan)
    assert gram.combine(np.array([0.5, 2.0]), np.array([M - 1, 1]), out=out) is out
    close(out, 0.5 * dense[M - 1] + 2.0 * dense[1])
    assert not gram.combine(np.zeros(M)).any()
    A = np.random.RandomState(1).randn(N, 2)
    for atoms in (None, np.array([M - 1, 0, 2]), np.empty(0, int)):
        chosen = dense if atoms is None else dense[atoms]
        close(gram.products(A, atoms), chosen @ A)
        close(gram.quad(A, atoms), np.einsum("ik,mij,jk->mk", A, chosen, A))
    S = A @ A.T - np.diag(A[:, 0])
    close(gram.against(S), np.einsum("mij,ij->m", dense, S))
    close(gram.traces(), np.einsum("mii->m", dense))
    H = np.eye(N) - 1.0 / N
    centred = H @ dense @ H
    close(gram.inner(), np.einsum("aij,bij->ab", centred, centred))
    close(gram.norms(), np.sqrt(np.einsum("mij,mij->m", centred, centred)))
    q = np.einsum("ik,mij,jk->m", A, dense, A)
    top, values = gram.best(A, 2, np.array([int(q.argmax())]))
    close(values, q)
    assert np.array_equal(top, np.argsort(-q)[1:3])


@each_whole
@each_gate
def test_some_of_the_samples(whole, gate):
    gram, dense = make(whole, gate, False)
    rows = np.array([17, 2, 9, 4, 12, 0])
    part = gram.subset(rows)
    theta = np.linspace(0.2, 1.0, len(dense))
    close(part.combine(theta), np.einsum("m,mij->ij", theta, dense[:, rows[:, None], rows]))


@pytest.mark.parametrize("normalize", ["trace", "max", "cosine", "frobenius"])
@each_centring
def test_kernels_are_normalised_before_they_are_gated(normalize, center):
    kernels = {kernel.label: kernel for kernel in KERNELS}
    options = {"center": center, "normalize": normalize, "sample_weight": None, "memory_limit": None}
    whole, fitted = build_gram(kernels, X, **options)
    gram = GatedGram(whole, SOFT)
    K = gram.combine(np.eye(12)[5])
    close(K, fitted[1](X) * np.outer(SOFT[:, 1], SOFT[:, 1]))
    assert gram.names is not None and gram.names[5] == f"{Linear().label}, cluster 1"


def test_an_indefinite_kernel_is_named():
    whole = StackGram(np.array([STACK[0], STACK[1] - 9.0 * np.eye(N)]))
    whole.names = ["good", "bad"]
    with pytest.raises(ValueError, match="'bad' is not positive semi-definite"):
        GatedGram(whole, SOFT).quad(np.linalg.eigh(whole.stack[1])[1][:, :1] / SOFT[:, :1])


@pytest.mark.parametrize("loss", [Hinge(), Squared()], ids=repr)
@pytest.mark.parametrize("p", [1.0, 2.0])
def test_solvers_cannot_tell_it_from_a_stored_stack(loss, p):
    gram, dense = make("blocks", "soft", True)
    y = np.where(X[:, :1] * X[:, 1:2] > 0, 1.0, -1.0)
    risk, penalty = risk_of(loss, y, X[:, :1], 3.0), BallProduct(p, L)
    gated = run(ActiveSet(), gram, risk, penalty, tol=1e-6)
    stored = run(ActiveSet(), StackGram(dense), risk, penalty, tol=1e-6)
    other = run(Alternating(), gram, risk, BallProduct(2.0, L), tol=1e-5, max_iter=3000)
    assert gated.converged and gated.gap <= 1e-6
    assert gated.primal == pytest.approx(stored.primal, rel=3e-6)
    if p == 2.0:
        assert gated.primal == pytest.approx(other.primal, rel=3e-5)


def test_gates_pass_on_what_rounding_of_stored_kernels_may_hide():
    """Behind gates too: the exact kernels, and a bound that no quadratic form exceeds."""
    rng = np.random.RandomState(0)
    X, gates = rng.randn(20, 3), rng.rand(20, 2)
    whole = BlockGram([Gaussian(1.0), Linear()], X, 20, 0, mean=np.full(20, 0.05))
    gram = GatedGram(RoundedGram(whole), gates)
    exact, A = gram.exact(), rng.randn(20, 2)
    np.testing.assert_allclose(exact.quad(A), GatedGram(whole, gates).quad(A), rtol=1e-12)
    off = np.abs(gram.quad(A) - exact.quad(A)).sum(axis=1)
    assert np.all(off <= gram.doubt(A)) and np.all(gram.doubt(A) > 0.0)
    plain = GatedGram(whole, gates)
    assert plain.exact() is plain and not plain.doubt(A).any()
