"""Samples in Dask collections: the same estimators, and the answers of samples in memory."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    KernelAligner,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
)
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import gaussian_grid
from manykernels.kernels import Gaussian, Linear, OnColumns

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

RNG = np.random.RandomState(0)
N = 3000
X = RNG.randn(N, 5)
y = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.randn(N)
Y = np.column_stack([y, X[:, 3]])
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
WEIGHT = RNG.randint(0, 3, N).astype(float)
KERNELS = [*gaussian_grid(1.0, 8.0, 3), Linear()]
APPROX = Nystroem(30)


@pytest.fixture(autouse=True)
def _nothing_is_small(monkeypatch):
    """A few samples are taken into memory and merged there; here they are to stay where they are."""
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 0)
    monkeypatch.setattr("manykernels.estimators._two_stage.MERGED", 0)


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": None, "processes": True, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=2, **options) as cluster, distributed.Client(cluster) as found:
        yield found


def fitted(kind, data, target, weight=None, **options):
    options = {"approx": APPROX, "random_state": 0, "norm": 2.0, **options}
    return kind(options.pop("kernels", KERNELS), **options).fit(data, target, weight)


def chunked(A, sizes=(700, 1, 1299, 0, 1000)):
    return da.from_array(A, chunks=(sizes, *((s,) for s in A.shape[1:])))


def equal(model, other):
    np.testing.assert_allclose(model.weights_, other.weights_, atol=1e-8)
    np.testing.assert_allclose(model.feature_coef_, other.feature_coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.objective_, other.objective_, rtol=1e-10)


@pytest.mark.parametrize("approx", [APPROX, Nystroem(30, "uniform"), RandomFeatures(30)], ids=str)
@pytest.mark.parametrize(
    "options", [{}, {"center": True, "fit_intercept": False}, {"normalize": "max"}], ids=str
)
def test_answers_do_not_depend_on_chunks_or_place(approx, options):
    kernels = [*gaussian_grid(1.0, 8.0, 3), OnColumns(Linear(), [0, 1])]
    options = {"approx": approx, "kernels": kernels, **options}
    memory = fitted(MKLRegressor, X, Y, **options)
    for data, target in ((chunked(X), chunked(Y)), (da.from_array(X, chunks=(100, 2)), Y)):
        model = fitted(MKLRegressor, data, target, **options)
        equal(model, memory)
        lazy = model.predict(chunked(X))
        assert isinstance(lazy, da.Array) and lazy.chunks[0] == (700, 1, 1299, 0, 1000)
        np.testing.assert_allclose(lazy.compute(), memory.predict(X), atol=1e-8)


def test_classes_weights_and_costs():
    options = {"loss": "squared", "class_weight": "balanced", "tol": 1e-6}
    memory = fitted(MKLClassifier, X, LABELS, WEIGHT, **options)
    model = fitted(MKLClassifier, chunked(X), chunked(LABELS), chunked(WEIGHT), **options)
    np.testing.assert_array_equal(model.classes_, memory.classes_)
    equal(model, memory)
    decided, labels = model.decision_function(chunked(X)), model.predict(chunked(X))
    assert decided.shape == (N, 3) and labels.dtype == LABELS.dtype
    np.testing.assert_allclose(decided.compute(), memory.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(labels.compute(), memory.predict(X))
    assert model.score(chunked(X), chunked(LABELS)) == pytest.approx(memory.score(X, LABELS))


def test_frames():
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["target"] = y
    lazy = dd.from_pandas(frame, npartitions=4)
    named = [Gaussian(2.0), OnColumns(Linear(), ["a", "b"])]
    for kernels in (KERNELS, named):
        memory = fitted(MKLRegressor, frame[list("abcde")], y, kernels=kernels)
        model = fitted(MKLRegressor, lazy[list("abcde")], lazy["target"], kernels=kernels)
        equal(model, memory)
        assert list(model.feature_names_in_) == list("abcde")
        found = model.predict(lazy[list("abcde")])
        np.testing.assert_allclose(found.compute(), memory.predict(frame[list("abcde")]), atol=1e-8)


def test_unknown_chunk_sizes_are_computed():
    known = fitted(MKLRegressor, X[X[:, 0] > 0], y[X[:, 0] > 0])
    data, target = chunked(X), chunked(y)
    keep = data[:, 0] > 0
    model = fitted(MKLRegressor, data[keep], target[keep])
    equal(model, known)
    np.testing.assert_allclose(model.predict(data[keep]).compute(), known.predict(X[X[:, 0] > 0]), atol=1e-8)


def test_few_samples_are_merged_in_memory(monkeypatch):
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", N)
    equal(fitted(MKLRegressor, chunked(X), chunked(y)), fitted(MKLRegressor, X, y))


def test_auto_kernels_are_those_of_memory():
    equal(
        fitted(MKLRegressor, chunked(X), chunked(y), kernels="auto"),
        fitted(MKLRegressor, X, y, kernels="auto"),
    )


@pytest.mark.parametrize("weighting", ["uniform", "align", "alignf"])
@pytest.mark.parametrize("target", [y, Y, LABELS, LABELS == "low"], ids=["y", "Y", "labels", "two"])
def test_alignment_from_sums_over_blocks(weighting, target):
    kind = AlignMKLRegressor if target.dtype == float else AlignMKLClassifier
    lazy, local = (
        kind(KERNELS, weighting=weighting, approx=APPROX, random_state=0).fit(*given)
        for given in [(chunked(X), chunked(target)), (X, target)]
    )
    np.testing.assert_allclose(lazy.weights_, local.weights_, atol=1e-8)
    np.testing.assert_allclose(lazy.alignment_, local.alignment_, atol=1e-10)
    np.testing.assert_allclose(lazy.feature_coef_, local.feature_coef_, rtol=1e-6, atol=1e-8)
    found, expected = lazy.predict(chunked(X)), local.predict(X)
    assert isinstance(found, da.Array)
    if target.dtype == float:
        np.testing.assert_allclose(found.compute(), expected, atol=1e-8)
    else:
        assert np.mean(found.compute() == expected) > 0.999
    new = lazy.score_alignment(chunked(X[:200], (50, 150)), target[:200])
    np.testing.assert_allclose(new, local.score_alignment(X[:200], target[:200]), atol=1e-9)


def test_an_aligner_transforms_blocks():
    lazy, local = (
        KernelAligner(KERNELS, approx=APPROX, random_state=0).fit(*given)
        for given in [(chunked(X), chunked(LABELS)), (X, LABELS)]
    )
    Z = lazy.transform(chunked(X))
    assert Z.shape == (N, lazy.transform(X[:1]).shape[1])
    np.testing.assert_allclose(Z.compute(), local.transform(X), atol=1e-7)
    with pytest.raises(ValueError, match="X in a Dask collection: such a learner needs the features"):
        AlignMKLClassifier(KERNELS, approx=APPROX, estimator=LinearSVC()).fit(chunked(X), LABELS)
    with pytest.raises(ValueError, match=r"Dask collection \(Array\).*approx"):
        KernelAligner(KERNELS).fit(chunked(X), LABELS)


@pytest.mark.parametrize("frame", [False, True], ids=["array", "frame"])
@pytest.mark.parametrize("target", [y, Y, LABELS], ids=["y", "Y", "labels"])
def test_a_search_over_blocks_is_the_search_in_memory(target, frame):
    kind = MKLRegressorCV if target.dtype == float else MKLClassifierCV
    names = list("abcde")
    data = pd.DataFrame(X, columns=names) if frame else X
    blocks = dd.from_pandas(data, npartitions=3) if frame else chunked(X)
    options = {"approx": APPROX, "random_state": 0, "Cs": [0.1, 10.0], "norms": (1.0, 2.0)}
    lazy, local = (kind(KERNELS, **options).fit(d, t, WEIGHT) for d, t in [(blocks, target), (data, target)])
    assert lazy.best_params_ == local.best_params_
    for column in ("score", "loss"):
        np.testing.assert_allclose(
            lazy.path_["finite"][column], local.path_["finite"][column], rtol=1e-7, atol=1e-9
        )
    np.testing.assert_allclose(lazy.weights_, local.weights_, atol=1e-7)
    found = lazy.predict(blocks)
    assert isinstance(found, da.Array) and len(found.compute()) == N


def test_a_search_over_blocks_says_what_it_cannot_do():
    for options in [
        {"loss": "hinge"},
        {"scoring": "f1_macro"},
        {"cv": "loo"},
        {"strategy": ["finite", "aligned"]},
    ]:
        with pytest.raises(ValueError, match="X is a Dask collection, and this search needs"):
            MKLClassifierCV(KERNELS, approx=APPROX, **options).fit(chunked(X), LABELS)
    with pytest.raises(ValueError, match=r"Dask collection \(Array\).*approx"):
        MKLClassifierCV(KERNELS, approx=None).fit(chunked(X), LABELS)


def test_bad_input():
    bad = X.copy()
    bad[1500, 2] = np.nan
    with pytest.raises(
        ValueError, match=r"X contains NaN or infinity in row 1500 \(of the block of rows 701"
    ):
        fitted(MKLRegressor, chunked(bad), chunked(y))
    with pytest.raises(
        ValueError, match=r"y contains NaN or infinity in row 2000 \(of the block of rows 2000"
    ):
        fitted(MKLRegressor, chunked(X), chunked(np.where(np.arange(N) == 2000, np.nan, y)))
    with pytest.raises(ValueError, match=r"Dask collection \(Array\).*approx"):
        fitted(MKLRegressor, chunked(X), chunked(y), approx=None)
    with pytest.raises(ValueError, match="not in memory; only loss='squared'"):
        fitted(MKLClassifier, chunked(X), chunked(LABELS), loss="hinge")
    with pytest.raises(ValueError, match="X has 3000 samples and y has 2999"):
        fitted(MKLRegressor, chunked(X), y[1:])
    with pytest.raises(ValueError, match="3 dimensions"):
        fitted(MKLRegressor, da.zeros((30, 2, 2)), y[:30])
    with pytest.raises(ValueError, match="zero for all samples"):
        fitted(MKLRegressor, chunked(X), chunked(y), np.zeros(N))
    with pytest.raises(ValueError, match="only one class"):
        fitted(MKLClassifier, chunked(X), np.zeros(N), loss="squared")
    with pytest.raises(ValueError, match="requires y"):
        fitted(MKLRegressor, chunked(X), None)


@pytest.mark.slow
def test_dask_is_not_imported_for_samples_in_memory():
    code = (
        "import sys, numpy as np; from manykernels import MKLRegressor, approx;"
        "X = np.random.RandomState(0).randn(50, 2); MKLRegressor(approx=approx.Nystroem(5)).fit(X, X[:, 0]);"
        "assert 'dask' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_two_processes_give_the_answer_of_memory(client):
    model = fitted(MKLRegressor, da.from_array(X, chunks=(300, 5)), da.from_array(Y, chunks=(300, 2)))
    equal(model, fitted(MKLRegressor, X, Y))
    np.testing.assert_allclose(
        model.predict(da.from_array(X, chunks=(1000, 5))).compute(), model.predict(X), atol=1e-10
    )
