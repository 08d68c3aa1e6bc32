"""The first stage: weights, alignment and the learned kernel, against matrices that are multiplied out."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from manykernels import AlignMKLClassifier, KernelAligner
from manykernels.families import from_distances, rank_one
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns, Polynomial, Spectrum
from manykernels.weightings import Align, Alignf, AlignfLinear, Uniform

rng = np.random.RandomState(0)
X, X_NEW = rng.randn(40, 4), rng.randn(25, 4)
LABELS, LABELS_NEW = (np.where(Z[:, 0] + 0.5 * Z[:, 1] > 0.2, "yes", "no") for Z in (X, X_NEW))
CLASSES, CLASSES_NEW = (np.array(["a", "b", "c"])[np.digitize(Z[:, 0], [-0.5, 0.6])] for Z in (X, X_NEW))
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0), Polynomial(2)]
NORMALIZE = ["trace", "max", "cosine", "frobenius", None]


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def target_of(y):
    """The kernel of the target, written out."""
    y = np.asarray(y)
    if y.dtype.kind == "U":
        return (y[:, None] == y).astype(float)  # for two classes the same as of ±1, once centred
    return y @ y.T if y.ndim == 2 else np.outer(y, y)


def dense_alignment(K, K_Y):
    K, K_Y = centred(K), centred(K_Y)
    return np.vdot(K, K_Y) / (np.linalg.norm(K) * np.linalg.norm(K_Y))


def dense_kernel(kernel, normalize, center, Z=X_NEW, W=X_NEW, train=X):
    """k on Z and W with the constants of the training data, from the definitions."""
    K, L, T = kernel(Z, W), kernel(Z, train), kernel(train)
    d, e, t = (np.diag(kernel(P)) for P in (Z, W, train))
    if center:
        r, s, u, g = L.mean(axis=1), kernel(W, train).mean(axis=1), T.mean(axis=1), T.mean()
        K = K - r[:, None] - s + g
        d, e, t = d - 2 * r + g, e - 2 * s + g, t - 2 * u + g
        T = centred(T)
    if normalize == "cosine":
        return K / np.sqrt(np.outer(d, e))
    return K / {None: 1.0, "trace": t.mean(), "max": t.max(), "frobenius": np.linalg.norm(T)}[normalize]


# -- against dense formulas -----------------------------------------------------------------------
@pytest.mark.parametrize("normalize", NORMALIZE)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighting", ["uniform", "align", "alignf", AlignfLinear(allow_indefinite=True)])
def test_everything_about_the_learned_kernel(normalize, center, weighting):
    for y, y_new in ((LABELS, LABELS_NEW), (CLASSES, CLASSES_NEW), (X @ X.T[:, :2], X_NEW @ X.T[:, :2])):
        model = KernelAligner(KERNELS, weighting=weighting, normalize=normalize, center=center).fit(X, y)
        stack = np.array([dense_kernel(k, normalize, center, X, X) for k in KERNELS])
        K = np.einsum("m,mij->ij", model.weights_, stack)
        assert np.abs(model.weights_).sum() == pytest.approx(1.0)
        assert model.alignment_ == pytest.approx(dense_alignment(K, target_of(y)), abs=1e-10)
        np.testing.assert_allclose(model.transform(X), K, atol=1e-10)
        np.testing.assert_allclose(model.kernel_(X, model.X_fit_), K, atol=1e-10)
        between = [dense_kernel(k, normalize, center, X_NEW, X) for k in KERNELS]
        expected = np.einsum("m,mij->ij", model.weights_, between)
        np.testing.assert_allclose(model.transform(X_NEW), expected, atol=1e-10)
        new = np.einsum("m,mij->ij", model.weights_, [dense_kernel(k, normalize, center) for k in KERNELS])
        found = model.score_alignment(X_NEW, y_new)
        assert found == pytest.approx(dense_alignment(new, target_of(y_new)), abs=1e-10)
        assert model.score_alignment(X, y) == pytest.approx(model.alignment_, abs=1e-10)


@pytest.mark.parametrize("normalize", NORMALIZE)
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("weighting", ["uniform", "align", "alignf"])
def test_rank_one_kernels_sparse_and_dense_and_one_by_one(normalize, center, weighting):
    A, B = (np.where(np.abs(Z) > 0.4, Z, 0.0) for Z in (X, X_NEW))
    options = {"weighting": weighting, "normalize": normalize, "center": center}
    columns = [OnColumns(Linear(), [j]) for j in range(4)]
    alone = KernelAligner(columns, **options).fit(A, LABELS)
    for form in (np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.coo_array):
        model = KernelAligner(rank_one(), **options).fit(form(A), LABELS)
        np.testing.assert_allclose(model.weights_, alone.weights_, atol=1e-10)
        assert model.alignment_ == pytest.approx(alone.alignment_, abs=1e-10)
        found = model.score_alignment(form(B), LABELS_NEW)
        assert found == pytest.approx(alone.score_alignment(B, LABELS_NEW), abs=1e-10)
        np.testing.assert_allclose(model.transform(form(B)), alone.transform(B), atol=1e-10)
    y = target_of(LABELS_NEW)
    assert found == pytest.approx(dense_alignment(alone.kernel_(B), y), abs=1e-10)


def test_frames_items_and_stacks_are_the_arrays_they_stand_for():
    names = list("abcd")
    plain = KernelAligner(KERNELS).fit(X, LABELS)
    frame, frame_new = pd.DataFrame(X, columns=names), pd.DataFrame(X_NEW, columns=names)
    named = {"ab": OnColumns(Gaussian(1.0), ["a", "b"]), "d": OnColumns(Linear(), "d")}
    table = KernelAligner(named).fit(frame, LABELS)
    array = KernelAligner([OnColumns(Gaussian(1.0), [0, 1]), OnColumns(Linear(), [3])]).fit(X, LABELS)
    expected = array.score_alignment(X_NEW, LABELS_NEW)
    assert table.score_alignment(frame_new, LABELS_NEW) == pytest.approx(expected, abs=1e-12)
    assert table.score_alignment(frame_new[["d", "c", "b", "a"]], LABELS_NEW) == pytest.approx(expected)

    overlap = Callable(lambda a, b: np.minimum.outer([len(s) for s in a], [len(s) for s in b]))
    strings, strings_new = (["xy" * (1 + int(abs(v) * 4)) for v in Z[:, 0]] for Z in (X, X_NEW))
    items = KernelAligner([overlap, Spectrum(2)], normalize=None).fit(strings, LABELS)
    K = items.kernel_(np.array(strings_new, dtype=object))
    found = items.score_alignment(strings_new, LABELS_NEW)
    assert found == pytest.approx(dense_alignment(K, target_of(LABELS_NEW)), abs=1e-10)

    stack, stack_new = (np.stack([k(Z) for k in KERNELS], axis=2) for Z in (X, X_NEW))
    given = KernelAligner("precomputed").fit(stack, LABELS)
    np.testing.assert_allclose(given.weights_, plain.weights_, atol=1e-10)
    expected = plain.score_alignment(X_NEW, LABELS_NEW)
    assert given.score_alignment(stack_new, LABELS_NEW) == pytest.approx(expected, abs=1e-12)
    single = given.score_alignment(stack_new.astype(np.float32), LABELS_NEW)
    assert single == pytest.approx(expected, abs=1e-5)
    between = np.stack([k(X_NEW, X) for k in KERNELS], axis=2)
    np.testing.assert_allclose(given.transform(between), plain.transform(X_NEW), atol=1e-10)


@pytest.mark.parametrize("normalize", ["trace", "max", "frobenius", None])
@pytest.mark.parametrize("center", [False, True])
def test_stacks_of_distances(normalize, center):
    distances, distances_new = (np.abs(Z[:, None] - Z) for Z in (X, X_NEW))
    options = {"normalize": normalize, "center": center}
    model = KernelAligner(from_distances([0.3, 1.0]), **options).fit(distances, LABELS)
    stack, stack_new = (
        np.stack([np.exp(-g * D[:, :, j]) for j in range(4) for g in (0.3, 1.0)], axis=2)
        for D in (distances, distances_new)
    )
    given = KernelAligner("precomputed", **options).fit(stack, LABELS)
    np.testing.assert_allclose(model.weights_, given.weights_, atol=1e-9)
    expected = given.score_alignment(stack_new, LABELS_NEW)
    assert model.score_alignment(distances_new, LABELS_NEW) == pytest.approx(expected, abs=1e-10)


# -- the maximum ----------------------------------------------------------------------------------
@given(st.integers(0, 10_000), st.integers(1, 6), st.booleans())
@settings(max_examples=40)
def test_alignf_is_at_its_bound_and_above_the_rest(seed, M, duplicates):
    rng = np.random.RandomState(seed)
    Z, y = rng.randn(15, 3), rng.randint(2, size=15)
    y[:2] = 0, 1
    kernels = [Gaussian(float(w)) for w in rng.uniform(0.5, 5.0, M)]
    kernels += kernels[: 1 + seed % 3] if duplicates else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = KernelAligner(kernels).fit(Z, y)
        assert 0.0 <= model.alignment_bound_ - model.alignment_ <= 1e-10
        assert model.kkt_residual_ <= 1e-10
        assert model.unique_ or len(kernels) > 1
        for weighting in (Uniform(), Align(), Align(q=1), Align(q=3)):
            other = KernelAligner(kernels, weighting=weighting).fit(Z, y)
            assert other.alignment_ <= model.alignment_ + 1e-10
            assert other.alignment_bound_ is None and other.kkt_residual_ is None and other.unique_
        for kernel in kernels:
            assert KernelAligner(kernel).fit(Z, y).alignment_ <= model.alignment_ + 1e-10
        free = KernelAligner(kernels, weighting=AlignfLinear(allow_indefinite=True)).fit(Z, y)
        assert free.alignment_ >= model.alignment_ - 1e-8


def test_unique_or_with_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert KernelAligner(KERNELS).fit(X, LABELS).unique_
    for kernels in (
        [Linear(), Gaussian(1.0), Linear()],
        [OnColumns(Linear(), [0]), OnColumns(Linear(), [1]), OnColumns(Linear(), [0, 1])],
    ):
        with pytest.warns(UserWarning, match="linear combinations of others.*kernel_similarity"):
            model = KernelAligner(kernels, normalize=None).fit(X, LABELS)
        assert not model.unique_ and model.alignment_bound_ - model.alignment_ < 1e-12


def test_a_combination_with_negative_weights_is_handed_on_only_when_told_to():
    kernels = [OnColumns(Linear(), [0, 1]), OnColumns(Linear(), [1, 2]), OnColumns(Linear(), [2, 3])]
    options = {"normalize": None}
    with pytest.raises(ValueError, match=r"negative weight.*not a kernel.*weighting='alignf'"):
        KernelAligner(kernels, weighting="alignf-linear", **options).fit(X, X[:, 0])
    for center in (False, True):
        weighting = AlignfLinear(allow_indefinite=True)
        model = KernelAligner(kernels, weighting=weighting, center=center, **options).fit(X, X[:, 0])
        assert model.weights_.min() < -0.01
        K = sum(w * dense_kernel(k, None, center) for w, k in zip(model.weights_, kernels, strict=True))
        np.testing.assert_allclose(model.kernel_(X_NEW), K, atol=1e-10)
        assert np.linalg.eigvalsh(K).min() < -0.01
        np.testing.assert_allclose(model.kernel_.diag(X_NEW), np.diag(K), atol=1e-10)
    svm = AlignMKLClassifier(kernels, weighting=AlignfLinear(True), **options).fit(X, X[:, 0] > 0)
    K = svm.kernel_(X_NEW, X)
    np.testing.assert_array_equal(svm.predict(X_NEW), svm.estimator_.predict(K))
    definite = KernelAligner(
        [OnColumns(Linear(), [0, 1]), OnColumns(Linear(), [1])], weighting="alignf-linear"
    )
    assert definite.set_params(normalize=None).fit(X, X[:, 0]).weights_.min() < 0.0


def test_the_order_of_samples_does_not_matter():
    order = np.random.RandomState(3).permutation(40)
    for weighting in ("align", "alignf", AlignfLinear(True), Align(q=3)):
        for y in (LABELS, CLASSES, X[:, 0] * X[:, 1]):
            model = KernelAligner(KERNELS, weighting=weighting).fit(X, y)
            shuffled = KernelAligner(KERNELS, weighting=weighting).fit(X[order], y[order])
            np.testing.assert_allclose(shuffled.weights_, model.weights_, atol=1e-10)


def test_the_scale_of_kernels_does_not_matter_to_alignf():
    plain = KernelAligner(KERNELS, normalize=None).fit(X, LABELS)
    scaled = KernelAligner([3e4 * KERNELS[0], KERNELS[1], 1e-5 * KERNELS[2], 7 * KERNELS[3]], normalize=None)
    K, L = plain.transform(X), scaled.fit(X, LABELS).transform(X)
    np.testing.assert_allclose(L / np.linalg.norm(L), K / np.linalg.norm(K), atol=1e-12)


# -- memory, and fitting again --------------------------------------------------------------------
@pytest.mark.parametrize("weighting", ["align", "alignf"])
def test_many_sparse_rank_one_kernels_are_never_made_matrices(weighting):
    n, M = 400, 600
    S = sparse.random_array((n, M), density=0.05, rng=np.random.default_rng(0), format="csr")
    y = np.asarray(S[:, :30].sum(axis=1)).ravel() > 0.7
    model = KernelAligner(rank_one(), weighting=weighting)
    KernelAligner(rank_one(), weighting=weighting).fit(S[:, :9], y)  # compiles
    tracemalloc.start()
    model.fit(S, y)
    model.score_alignment(S[::-1], y[::-1])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * M * n * n * 8
    dense = KernelAligner(rank_one(), weighting=weighting).fit(S.toarray(), y)
    np.testing.assert_allclose(model.weights_, dense.weights_, atol=1e-10)
    assert model.alignment_ == pytest.approx(dense.alignment_, abs=1e-10)


@pytest.mark.parametrize("normalize", NORMALIZE)
@pytest.mark.parametrize("center", [False, True])
def test_kernels_that_do_not_fit_are_recomputed(normalize, center):
    Z = np.random.RandomState(1).randn(250, 3)
    y = np.digitize(Z[:, 0], [-0.5, 0.5])
    kernels = [Gaussian(float(w)) for w in np.logspace(-0.5, 0.5, 8)]
    kernels += [Linear(), Polynomial(2), OnColumns(Gaussian(1.0), [0, 1])]
    kernels += [Callable(lambda a, b: (a @ b.T) ** 2)]
    for weighting in ("align", "alignf"):
        options = {"weighting": weighting, "normalize": normalize, "center": center}
        whole = KernelAligner(kernels, **options).fit(Z, y)
        small = KernelAligner(kernels, memory_limit="1.4MB", **options).fit(Z, y)
        np.testing.assert_allclose(small.weights_, whole.weights_, atol=1e-7)
        assert small.alignment_ == pytest.approx(whole.alignment_, abs=1e-10)
        assert small.score_alignment(Z[::-1], y) == pytest.approx(whole.score_alignment(Z[::-1], y), abs=1e-9)
    with pytest.raises(MemoryError, match="memory_limit"):
        AlignMKLClassifier(kernels, memory_limit="1MB").fit(Z, y)


def test_fitting_again_leaves_nothing_of_the_first_time():
    frame = pd.DataFrame(X, columns=list("abcd"))
    strings = ["AB" if label == "yes" else "BAA" for label in LABELS]
    stack = np.stack([k(X) for k in KERNELS], axis=2)
    model = KernelAligner()
    steps = [
        (KERNELS, frame, CLASSES, "alignf"),
        ([Spectrum(1), Spectrum(2)], strings, LABELS, "align"),
        ("precomputed", stack, X[:, 0], Alignf()),
        (rank_one(), sparse.csr_array(X), X[:, :2], "uniform"),
    ]
    for kernels, data, y, weighting in [*steps, steps[0]]:
        model.set_params(kernels=kernels, weighting=weighting).fit(data, y)
        fresh = KernelAligner(kernels, weighting=weighting).fit(data, y)
        assert set(vars(model)) == set(vars(fresh))
        np.testing.assert_array_equal(model.weights_, fresh.weights_)
        np.testing.assert_array_equal(model.transform(data), fresh.transform(data))
        assert getattr(model, "n_features_in_", None) == getattr(fresh, "n_features_in_", None)
