"""Learning with nothing of n × n: the answers of stored matrices, and what the method cannot do."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import gaussian_grid
from manykernels.grams import blocks
from manykernels.kernels import Laplacian, Linear
from manykernels.penalties import ElasticNet
from manykernels.solvers import Blockwise

RNG = np.random.RandomState(0)
N = 250
X = RNG.randn(N, 4)
y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.randn(N)
Y = np.column_stack([y, X[:, 3] ** 2])
LABELS = np.digitize(y, [-0.5, 0.5])
KERNELS = [*gaussian_grid(0.5, 8.0, 4), Linear(), Laplacian(2.0)]


def both(kind, target, tol=1e-5, solver="blockwise", **options):
    """Blockwise with memory for no kernel at all, and the stored matrices of the active set method."""
    options = {"loss": "squared", "tol": tol, "random_state": 0, **options}
    lean = kind(KERNELS, solver=solver, memory_limit=1_500_000, **options).fit(X, target)
    return lean, kind(KERNELS, **options).fit(X, target)


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, ElasticNet(0.5)], ids=str)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_optimum_is_that_of_stored_matrices(norm, C):
    lean, stored = both(MKLRegressor, y, norm=norm, C=C)
    assert lean.dual_gap_ <= 1e-5 and lean.certified_
    np.testing.assert_allclose(lean.objective_, stored.objective_, rtol=3e-5)
    np.testing.assert_allclose(lean.predict(X), stored.predict(X), atol=0.02 * np.std(y))


@pytest.mark.parametrize(
    "options",
    [
        {"center": True},
        {"fit_intercept": False},
        {"normalize": "cosine"},
        {"center": True, "fit_intercept": False},
    ],
    ids=str,
)
def test_centring_intercept_and_normalisation(options):
    lean, stored = both(MKLRegressor, Y, norm=2.0, **options)
    np.testing.assert_allclose(lean.objective_, stored.objective_, rtol=3e-5)
    np.testing.assert_allclose(lean.weights_, stored.weights_, atol=2e-2)
    np.testing.assert_allclose(lean.predict(X), stored.predict(X), atol=0.05)


def test_classes_with_costs():
    lean, stored = both(MKLClassifier, LABELS, class_weight="balanced", norm=1.5)
    np.testing.assert_allclose(lean.decision_function(X), stored.decision_function(X), atol=0.02)


def test_no_matrix_of_samples_by_samples_is_made(monkeypatch):
    """The largest block is what fits a cache, and nobody combines kernels."""
    seen = []
    inner = blocks.BlockGram._rows

    def rows(self, lo, hi):
        seen.append((hi - lo) * hi)
        return inner(self, lo, hi)

    monkeypatch.setattr(blocks, "_BLOCK_BYTES", 8 * N * 20)
    monkeypatch.setattr(blocks.BlockGram, "_rows", rows)
    monkeypatch.setattr(blocks.BlockGram, "_combine", None)
    both_ways = MKLRegressor(KERNELS, solver="blockwise", memory_limit=1_500_000).fit(X, y)
    assert both_ways.dual_gap_ <= 1e-3 and max(seen) <= 20 * N


def test_more_landmarks_take_fewer_passes(monkeypatch):
    passes = []
    inner = blocks.BlockGram._products
    monkeypatch.setattr(
        blocks.BlockGram, "_products", lambda self, A, atoms: passes.append(1) or inner(self, A, atoms)
    )
    counts = []
    for landmarks in (1, 25):
        passes.clear()
        both(MKLRegressor, y, solver=Blockwise(landmarks), norm=2.0, C=10.0)
        counts.append(len(passes))
    assert counts[1] < counts[0]


def test_what_it_cannot_do():
    with pytest.raises(
        ValueError, match=r"'blockwise' is for loss='squared'.*loss=Hinge.*'active-set'.*Nystroem"
    ):
        MKLClassifier(KERNELS, loss="hinge", solver="blockwise").fit(X, LABELS > 0)
    with pytest.raises(ValueError, match="landmarks=0"):
        MKLRegressor(KERNELS, solver=Blockwise(0)).fit(X, y)
    with pytest.raises(MemoryError, match=r"approx=Nystroem\(200\).*solver='blockwise'"):
        MKLRegressor(KERNELS, memory_limit=150_000).fit(X, y)


def test_a_constant_target():
    model = MKLRegressor(KERNELS, solver="blockwise").fit(X, np.full(N, 3.0))
    np.testing.assert_allclose(model.predict(X[:5]), 3.0, atol=1e-6)
