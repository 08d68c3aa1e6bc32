"""More than memory should hold: stacks in files that are mapped, kernels recomputed block by block."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from manykernels import KernelAligner, MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.families import gaussian_grid
from manykernels.fitting.lazy import pose
from manykernels.grams import BlockGram, build_from_stack, build_gram

RNG = np.random.RandomState(0)
X = RNG.randn(300, 4)
y = np.sign(X[:, 0] * X[:, 1] + 0.1 * RNG.randn(300))
KERNELS = gaussian_grid(0.5, 8.0, 12)
OPTIONS = {"center": False, "normalize": "trace", "sample_weight": None}


@pytest.fixture
def stack(tmp_path):
    """Kernels first in the file, as they are read; a view of it has them last, as X must be."""
    np.save(tmp_path / "stack.npy", np.array([kernel(X) for kernel in KERNELS]))
    return np.moveaxis(np.load(tmp_path / "stack.npy", mmap_mode="c"), 0, 2)


def test_a_mapped_stack_is_read_where_it_is(stack):
    gram, _ = build_from_stack(stack, names=list("abcdefghijkl"), memory_limit=None, **OPTIONS)
    assert np.shares_memory(gram.stack, stack)
    tracemalloc.start()
    model = MKLClassifier("precomputed", norm=2.0).fit(stack, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.75 * stack.nbytes
    memory = MKLClassifier("precomputed", norm=2.0).fit(np.array(stack), y)
    np.testing.assert_allclose(model.weights_, memory.weights_, atol=1e-8)
    np.testing.assert_allclose(model.dual_coef_, memory.dual_coef_, atol=1e-8)


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_recomputed_kernels_give_the_answers_of_stored_ones(norm):
    limit = (
        8 * 8 * len(X) ** 2
    )  # of the twelve kernels and what solvers need there is room for eight matrices
    kernels = {str(m): kernel for m, kernel in enumerate(KERNELS)}
    assert isinstance(build_gram(kernels, X, memory_limit=limit, **OPTIONS)[0], BlockGram)
    blocks = MKLClassifier(KERNELS, norm=norm, tol=1e-6, memory_limit=limit).fit(X, y)
    stored = MKLClassifier(KERNELS, norm=norm, tol=1e-6).fit(X, y)
    assert blocks.dual_gap_ <= 1e-6
    assert blocks.objective_ == pytest.approx(stored.objective_, rel=2e-6)
    np.testing.assert_allclose(blocks.decision_function(X), stored.decision_function(X), atol=1e-2)


def test_alignment_needs_no_matrix_at_all():
    small = KernelAligner(KERNELS, memory_limit=3 * 8 * len(X) ** 2).fit(X, y)
    np.testing.assert_allclose(small.weights_, KernelAligner(KERNELS).fit(X, y).weights_, atol=1e-6)


def test_large_mapped_samples_are_neither_copied_nor_converted(tmp_path, monkeypatch):
    """Numbers of single precision stay in their file; blocks of them are converted as they are read."""
    monkeypatch.setattr("manykernels.fitting.samples.MERGED", 100)
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 100)
    monkeypatch.setattr("manykernels.fitting.outside.MANY", 100)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = MKLRegressor(KERNELS, approx=Nystroem(10), random_state=0, norm=2.0)
    samples = pose(model._options(), mapped, y, None, model._target())
    assert samples.data is mapped and samples.layout.kind == "array" and samples.layout.n_features_in == 4
    reference = MKLRegressor(KERNELS, approx=Nystroem(10), random_state=0, norm=2.0)
    reference.fit(X.astype(np.float32).astype(float), y)
    np.testing.assert_allclose(model.fit(mapped, y).predict(X), reference.predict(X), atol=1e-8)


def test_a_row_of_a_mapped_file_that_is_not_finite_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("manykernels.fitting.samples.MERGED", 100)
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 100)
    monkeypatch.setattr("manykernels.fitting.outside.MANY", 100)
    bad = X.copy()
    bad[211, 1] = np.inf
    np.save(tmp_path / "X.npy", bad)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="NaN or infinity in row 211"):
        MKLRegressor(KERNELS[:2], approx=Nystroem(10), random_state=0).fit(mapped, y)
    with pytest.raises(ValueError, match="Column 'x1' has infinite values"):  # by the preparation of tables
        MKLRegressor(approx=Nystroem(10), random_state=0).fit(mapped, y)
