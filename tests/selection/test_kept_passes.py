"""Passes over rows that are kept: interrupted after any piece, they go on to the same bits."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest
from tests.kills import KERNELS, MANY, TARGET

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, _pieces
from manykernels._pieces import Store, Thrift, gone_through, kept
from manykernels.approx import Nystroem
from manykernels.families import Products
from manykernels.grams import statistics
from manykernels.selection.checkpoint import Checkpoint

N = 2600
X, y = MANY[:N], TARGET[:N]
LABELS = np.array(["low", "middle", "high"])[np.digitize(y, [-0.5, 0.5])]
APPROX = {"approx": Nystroem(20), "random_state": 0}
FEW = {"kernels": KERNELS, "Cs": [0.1, 10.0], "norms": (1.0, 2.0), **APPROX}


class Killed(BaseException):
    """As a process that ends, nothing more is run."""


@pytest.fixture(autouse=True)
def _everything_is_kept(monkeypatch):
    monkeypatch.setattr(_pieces, "_SHARE", np.inf)
    monkeypatch.setattr(statistics, "_MOST", 700)
    monkeypatch.setattr(statistics, "_FEWEST", 700)
    monkeypatch.setattr("manykernels.fitting.lazy.MERGED", 0)


def blocks(*given, sizes=(700, 1, 0, 899, 500, 500)):
    da = pytest.importorskip("dask.array")
    return [da.from_array(A, chunks=(sizes, *((s,) for s in A.shape[1:]))) for A in given]


def of_unknown_sizes(*given):
    X, *others = blocks(*given)
    keep = X[:, 0] > -1.0
    return [A[keep] for A in (X, *others)]


def frames(X, y):
    pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"y": y, **dict(zip("abcd", X.T, strict=True))}), npartitions=4)
    return frame[list("abcd")], frame["y"]


FITS = {
    "rows": lambda folder: MKLRegressor(KERNELS, **APPROX, checkpoint=folder).fit(X, y),
    "weights": lambda folder: MKLClassifier(
        KERNELS, **APPROX, loss="squared", class_weight="balanced", checkpoint=folder
    ).fit(X, LABELS, 1.0 + np.arange(N) % 3),
    "products": lambda folder: MKLRegressor(
        Products(degree=2), approx="features", random_state=0, checkpoint=folder
    ).fit(X, y),
    "logistic products": lambda folder: MKLClassifier(
        Products(degree=2), approx="features", loss="logistic", random_state=0, checkpoint=folder
    ).fit(X, y > 0),
    "dask": lambda folder: MKLRegressor(KERNELS, **APPROX, checkpoint=folder).fit(*blocks(X, y)),
    "unknown sizes": lambda folder: MKLRegressor(KERNELS, **APPROX, checkpoint=folder).fit(
        *of_unknown_sizes(X, y)
    ),
    "frames": lambda folder: MKLRegressor(KERNELS, **APPROX, checkpoint=folder).fit(*frames(X, y)),
    "dask products": lambda folder: MKLRegressor(
        Products(degree=2), approx="features", random_state=0, checkpoint=folder
    ).fit(*blocks(X, y)),
    "search": lambda folder: MKLClassifierCV(**FEW, checkpoint=folder).fit(X, LABELS),
    "search on dask": lambda folder: MKLClassifierCV(**FEW, checkpoint=folder).fit(*blocks(X, LABELS)),
}


def learned(model):
    return [model.weights_, model.feature_coef_, model.intercept_, model.predict(X[:100])]


def interrupted(fit, folder, k, monkeypatch):
    """Fit until the k-th piece is written; whether it came to that. Gives how many were written."""
    count, write = 0, Store.write

    def counted(self, key, value):
        nonlocal count
        write(self, key, value)
        if not self.path(key).exists():  # rows of frames are not kept
            return
        count += 1
        if count == k:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Store, "write", counted)
        try:
            model = fit(folder)
        except Killed:
            model = None
    return model, count


FAST = ("rows", "products", "dask")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FAST else pytest.mark.slow) for name in FITS]
)
def test_interrupted_after_any_piece_it_goes_on(name, tmp_path, monkeypatch):
    expected = learned(FITS[name](None))
    model, whole = interrupted(FITS[name], tmp_path / "whole", 0, monkeypatch)
    assert whole > 1
    for found, known in zip(learned(model), expected, strict=True):
        np.testing.assert_array_equal(found, known)
    for k in sorted({1, whole // 2, whole - 1} - {0}):
        folder = tmp_path / str(k)
        assert interrupted(FITS[name], folder, k, monkeypatch) == (None, k)
        model, rest = interrupted(FITS[name], folder, 0, monkeypatch)
        assert k + rest == whole  # nothing is done twice
        for found, known in zip(learned(model), expected, strict=True):
            np.testing.assert_array_equal(found, known)


def test_other_samples_are_refused(tmp_path):
    model = MKLRegressor(KERNELS, **APPROX, checkpoint=tmp_path).fit(X, y)
    with pytest.raises(ValueError, match="X is not what it was"):
        model.fit(X + 1.0, y)
    with pytest.raises(ValueError, match="C is not what it was"):
        model.set_params(C=3.0).fit(X, y)
    with pytest.raises(ValueError, match="holds the work of MKLRegressor"):
        MKLClassifier(KERNELS, checkpoint=tmp_path).fit(X, LABELS)
    model.set_params(C=1.0, checkpoint=Checkpoint(tmp_path, remove=True)).fit(X, y)
    assert not tmp_path.exists()


def test_parts_of_a_killed_process_are_removed_too(tmp_path):
    folder = tmp_path / "kept"
    model = MKLRegressor(KERNELS, **APPROX, checkpoint=folder).fit(X, y)
    (folder / ".some.piece.manykernels-x.part").write_bytes(b"half of it")
    model.set_params(checkpoint=Checkpoint(folder, remove=True)).fit(X, y)
    assert not folder.exists()


def test_a_pass_goes_on_where_it_was(tmp_path):
    store, steps = Store(str(tmp_path), "run"), []

    def step(k, state):
        steps.append(k)
        if len(steps) == 4:
            raise Killed
        return [*state, k]

    with pytest.raises(Killed):
        gone_through(store, ("pass",), 5, [], step)
    assert gone_through(store, ("pass",), 5, [], step) == [0, 1, 2, 3, 4]
    assert steps == [0, 1, 2, 3, 3, 4]
    assert len(os.listdir(tmp_path)) == 1  # always in the same piece


def test_writing_takes_a_hundredth_of_the_time(tmp_path, monkeypatch):
    """Of any clock: what is written costs at most so much of what was spent since."""
    monkeypatch.setattr(_pieces, "_SHARE", 0.01)
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    store, write, spent = Store(str(tmp_path), "run"), Store.write, [0.0]

    def slow(self, key, value):
        write(self, key, value)
        now[0] += 0.3
        spent[0] += 0.3

    monkeypatch.setattr(Store, "write", slow)
    thrift, written = Thrift(), 0
    for k in range(1000):
        now[0] += 1.0
        before = spent[0]
        thrift.write(store, (k,), np.zeros(10))
        written += spent[0] > before
    assert 2 <= written <= 40 and spent[0] <= 0.011 * now[0]
    assert kept(store, (1000,), np.zeros, 3, thrift=thrift).size == 3


def test_parts_of_the_work_have_names_of_their_own(tmp_path):
    store = Store(str(tmp_path), "run")
    with _pieces.at(store):
        for part in ("a", "b"):
            with _pieces.part("intervals", part):
                assert kept(_pieces.current(), ("x",), str, part) == part
    assert len(os.listdir(tmp_path)) == 2


# -- searches over many rows ------------------------------------------------------------------------
SOME = {"norms": (1.0,), "Cs": [0.1, 10.0], "random_state": 0}


def searched(n, **options):
    return MKLRegressorCV(KERNELS, strategy="finite", **SOME, **options).fit(X[:n], y[:n])


LARGE = {
    "exact": lambda folder: searched(1600, checkpoint=folder),
    "landmarks": lambda folder: searched(N, checkpoint=folder),
    "intervals": lambda folder: searched(80, intervals=True, checkpoint=folder),
    "classes in dask": lambda folder: MKLClassifierCV(
        strategy=["finite", "continuous"], **SOME, checkpoint=folder
    ).fit(*blocks(X, LABELS)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_a_large_search_goes_on_from_any_stage(name, tmp_path, monkeypatch):
    def answers(model):
        found = [model.weights_, model.dual_coef_, model.intercept_, model.predict(X[:100])]
        return [*found, model.predict_interval(X[:100])] if name == "intervals" else found

    expected = answers(LARGE[name](None))
    model, whole = interrupted(LARGE[name], tmp_path / "whole", 0, monkeypatch)
    for found, known in zip(answers(model), expected, strict=True):
        np.testing.assert_array_equal(found, known)
    for k in sorted({2, whole - 2, whole - 1}):
        folder = tmp_path / str(k)
        assert interrupted(LARGE[name], folder, k, monkeypatch) == (None, k)
        model, rest = interrupted(LARGE[name], folder, 0, monkeypatch)
        assert k + rest == whole
        for found, known in zip(answers(model), expected, strict=True):
            np.testing.assert_array_equal(found, known)
