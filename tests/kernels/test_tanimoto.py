"""The Tanimoto kernel on sets, counts and numbers: what it is, and where it is a kernel."""

import numpy as np
import pytest
from scipy import sparse

from manykernels import MKLClassifier
from manykernels.approx import Nystroem
from manykernels.kernels import OnColumns, Tanimoto

RNG = np.random.default_rng(1)
BITS = (RNG.random((40, 37)) < 0.3).astype(float)
COUNTS = RNG.poisson(0.7, size=(40, 37)).astype(float)
SIGNED = RNG.normal(size=(40, 5))
Y = np.where(BITS[:, :9].sum(axis=1) > 2.5, 1, -1)
PACKED = np.packbits(BITS.astype(bool), axis=1)


def naive(X, value):
    return np.array([[value(x, y) for y in X] for x in X])


def jaccard(x, y):
    a, b = set(np.flatnonzero(x)), set(np.flatnonzero(y))
    return len(a & b) / len(a | b) if a | b else 1.0


def minmax(x, y):
    return np.minimum(x, y).sum() / np.maximum(x, y).sum() if np.any(x) or np.any(y) else 1.0


def bags(x, y):
    """Counts as sets: the third of three equal elements is another one than the second."""
    a, b = ({(i, r) for i, count in enumerate(z) for r in range(int(count))} for z in (x, y))
    return len(a & b) / len(a | b)


@pytest.mark.parametrize("form", ["minmax", "inner"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda A: A.astype(np.uint8)])
def test_sets(form, kind):
    np.testing.assert_allclose(Tanimoto(form)(kind(BITS)), naive(BITS, jaccard), rtol=1e-14)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_counts_are_sets_with_repetitions(kind):
    np.testing.assert_allclose(Tanimoto()(kind(COUNTS)), naive(COUNTS, bags), rtol=1e-13)
    np.testing.assert_allclose(Tanimoto()(kind(COUNTS), kind(BITS)), Tanimoto()(COUNTS, BITS), rtol=1e-13)


@pytest.mark.parametrize("bits", [1, 8, 37, 64, 130])
def test_packed_bits_are_the_bits(bits):
    B = RNG.random((20, bits)) < 0.4
    B[0] = False
    P = np.packbits(B, axis=1)
    for packed in (P, P.astype(float), np.asfortranarray(P)):
        np.testing.assert_allclose(Tanimoto(packed=True)(packed), naive(B, jaccard), rtol=1e-14)
    np.testing.assert_array_equal(Tanimoto(packed=True)(P[:5], P), Tanimoto(packed=True)(P)[:5])


@pytest.mark.parametrize("kernel", [Tanimoto(), Tanimoto("inner"), Tanimoto(packed=True)])
def test_a_zero_vector_is_like_itself_alone(kernel):
    """k(0, 0) = 1 by definition: two empty sets are equal, and nothing else is like them."""
    Z = np.array([[0, 0, 0], [0, 0, 0], [3, 0, 1]])
    np.testing.assert_array_equal(kernel(Z), [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(kernel(Z, Z[:1].copy()), [[1], [1], [0]])
    np.testing.assert_array_equal(kernel.diag(Z), 1.0)
    if not kernel.packed:
        np.testing.assert_array_equal(kernel(sparse.csr_array(Z)), kernel(Z))


def definite(K):
    return np.linalg.eigvalsh(K).min() > -1e-12 * len(K)


@pytest.mark.parametrize("seed", range(20))
def test_where_it_is_positive_semidefinite(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    signed = rng.normal(size=(60, d)) * 10.0 ** rng.integers(-3, 4, size=(60, 1))
    signed[0] = 0.0
    assert definite(Tanimoto("inner")(signed)) and definite(Tanimoto("inner")(np.abs(signed)))
    assert definite(Tanimoto()(np.abs(signed))) and definite(Tanimoto()(np.floor(np.abs(signed))))
    assert definite(Tanimoto()((signed > 0).astype(float)))


def test_minmax_of_negative_numbers_is_no_kernel_and_refused():
    X = np.array([[1.0, -2.0], [-2.0, 1.0]])
    K = naive(X, minmax)
    assert np.linalg.eigvalsh(K).min() < 0.0
    for bad in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=r"negative entry \(-2\).*Tanimoto\(form='inner'\)"):
            Tanimoto()(bad)
        with pytest.raises(ValueError, match="negative entry"):
            Tanimoto()(np.abs(X), bad)
        np.testing.assert_allclose(Tanimoto("inner")(bad), [[1.0, -4.0 / 14.0], [-4.0 / 14.0, 1.0]])


@pytest.mark.parametrize("bad", [PACKED + 0.5, PACKED - 256.0, 300.0 * BITS])
def test_packed_takes_bytes(bad):
    with pytest.raises(ValueError, match=r"whole numbers from 0 to 255.*packbits"):
        Tanimoto(packed=True)(bad)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="form='jaccard' was given to Tanimoto; expected 'minmax'"):
        Tanimoto("jaccard")(BITS)
    with pytest.raises(ValueError, match=r"packed=True.*dense"):
        Tanimoto(packed=True)(sparse.csr_array(PACKED))


@pytest.mark.parametrize(
    "given", [{}, {"memory_limit": "200kB"}, {"approx": Nystroem(30), "random_state": 0}]
)
def test_in_models(given):
    halves = [OnColumns(Tanimoto(form), slice(0, 18)) for form in ("minmax", "inner")]
    for X in (BITS, COUNTS * BITS, sparse.csr_array(BITS)):
        model = MKLClassifier([Tanimoto(), Tanimoto("inner") ** 2, *halves], C=10.0, **given).fit(X, Y)
        assert model.score(X, Y) > 0.8 and model.dual_gap_ <= model.tol
    kernels = [Tanimoto(packed=True), OnColumns(Tanimoto(packed=True), [0, 1])]
    packed = MKLClassifier(kernels, C=10.0, **given).fit(PACKED, Y)
    assert packed.score(PACKED, Y) > 0.8
    if "approx" not in given:
        bits = MKLClassifier([Tanimoto(), OnColumns(Tanimoto(), slice(0, 16))], C=10.0, **given).fit(BITS, Y)
        np.testing.assert_allclose(packed.decision_function(PACKED), bits.decision_function(BITS), atol=1e-2)
