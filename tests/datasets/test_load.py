"""`load` and `names`: bundled sets, every form of file, and what is said where something is missing."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier, datasets
from manykernels.datasets import BUNDLED, MissingDataset, load, names
from manykernels.families import views
from manykernels.kernels import Linear


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that MANYKERNELS_DATA names."""
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    return tmp_path


# -- bundled ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_sets_need_no_folder(name, monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    given, original = load(name), BUNDLED[name]()
    assert np.array_equal(given.X, original.data) and np.array_equal(given.y, original.target)
    assert given.data is given.X and given.target is given.y
    assert len(given.feature_names) == given.X.shape[1]
    assert given.description == original.DESCR
    assert given.target_names == tuple(map(str, getattr(original, "target_names", ())))


def test_names_without_a_folder_are_the_bundled_ones(monkeypatch, tmp_path):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    monkeypatch.setattr("manykernels.datasets._load.CARRIED", {})
    assert names() == sorted(BUNDLED)
    assert names(tmp_path / "nowhere") == sorted(BUNDLED)


def test_views_of_tumours_are_the_columns_of_their_names():
    tumours = load("breast_cancer")
    assert list(tumours.views) == ["mean", "error", "worst"]
    for view, columns in tumours.views.items():
        assert all(view in name for name in tumours.feature_names[columns])
        assert np.array_equal(tumours.view(view), tumours.X[:, columns])
    with pytest.raises(KeyError, match="no view 'best'; it has mean, error, worst"):
        tumours.view("best")


def test_views_are_what_the_families_take():
    tumours = load("breast_cancer")
    family = views({view: (columns, [Linear()]) for view, columns in tumours.views.items()})
    model = MKLClassifier(family, tol=1e-2).fit(tumours.X[:80], tumours.y[:80])
    assert list(model.view_weights_) == ["mean", "error", "worst"]


# -- files ------------------------------------------------------------------------------------------
def test_a_table(folder):
    X, y = np.arange(12, dtype=np.uint8).reshape(4, 3), np.array([1, -1, 1, -1], dtype=np.int8)
    np.savez(folder / "small.npz", X=X, y=y, classes=["no", "yes"], feature_names=list("abc"), when=[7])
    given = load("small")
    assert np.array_equal(given.X, X) and given.X.dtype == np.float64
    assert np.array_equal(given.y, y) and given.y.dtype == np.int8
    assert given.feature_names == ("a", "b", "c") and given.target_names == ("no", "yes")
    assert given.views == {} and given.splits == () and list(given.other) == ["when"]
    assert repr(given) == "<Dataset small: 4 × 3>"
    assert load("small", dtype=None).X.dtype == np.uint8
    assert {*BUNDLED, "small"} <= set(names())


def test_the_folder_can_be_given(tmp_path, monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    np.savez(tmp_path / "here.npz", X=np.zeros((2, 1)), y=[0, 1])
    assert load("here", tmp_path).X.shape == (2, 1)
    assert "here" in names(str(tmp_path)) and "here" not in names()


def test_views_stand_side_by_side(folder):
    rng = np.random.RandomState(0)
    blocks = [rng.randn(5, k) for k in (2, 1, 3)]
    np.savez(
        folder / "seen.npz",
        y=np.zeros(5),
        view_names=["a", "b", "c"],
        **{f"V{j}": V for j, V in enumerate(blocks)},
    )
    given = load("seen")
    assert given.X.shape == (5, 6) and list(given.views) == ["a", "b", "c"]
    for name, V in zip("abc", blocks, strict=True):
        assert np.array_equal(given.view(name), V)
    assert repr(given) == "<Dataset seen: 5 × 6, views a, b, c>"


def test_views_without_names_are_numbered(folder):
    np.savez(folder / "seen.npz", y=np.zeros(2), V0=np.ones((2, 1)), V1=np.ones((2, 2)))
    assert load("seen").views == {"V0": slice(0, 1), "V1": slice(1, 3)}


def test_counts_are_sparse_and_do_not_overflow(folder):
    counts = sp.random(6, 5, density=0.5, format="csr", random_state=0)
    counts.data = np.full(counts.nnz, 300, dtype=np.uint16)
    parts = {"X_data": counts.data, "X_indices": counts.indices, "X_indptr": counts.indptr}
    vocabulary = np.frombuffer("ein\ndöner\nund\nein_döner\nx".encode(), dtype=np.uint8)
    np.savez(folder / "words.npz", y=np.zeros(6), X_shape=counts.shape, vocab=vocabulary, **parts)
    given = load("words")
    assert sp.issparse(given.X) and given.X.format == "csr"
    exact = counts.toarray().astype(float)
    np.testing.assert_array_equal((given.X @ given.X.T).toarray(), exact @ exact.T)  # 300² > 2¹⁶
    assert given.feature_names == ("ein", "döner", "und", "ein_döner", "x")


def test_kernels_become_a_stack(folder):
    K = np.random.RandomState(0).randn(2, 4, 4)
    np.savez(folder / "kernels.npz", K=K, y=np.zeros(4))
    given = load("kernels")
    assert given.X.shape == (4, 4, 2)
    assert all(np.array_equal(given.X[:, :, m], K[m]) for m in range(2))


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        ({"train": [[0, 1], [2, 3]], "test": [[2, 3], [0, 1]]}, [([0, 1], [2, 3]), ([2, 3], [0, 1])]),
        ({"train": [0, 2, 3], "test": [1]}, [([0, 2, 3], [1])]),
        ({"is_train": [True, False, True, True]}, [([0, 2, 3], [1])]),
        ({"test_mask": [[1, 0], [0, 1], [0, 0], [1, 1]]}, [([1, 2], [0, 3]), ([0, 2], [1, 3])]),
        ({"n_train": 3}, [([0, 1, 2], [3])]),
        ({}, []),
    ],
)
def test_splits_in_every_form(folder, stored, expected):
    arrays = {key: np.asarray(value) for key, value in stored.items()}
    if "test_mask" in arrays:
        arrays["test_mask"] = arrays["test_mask"].astype(bool)
    np.savez(folder / "cut.npz", X=np.zeros((4, 1)), y=np.zeros(4), **arrays)
    given = load("cut")
    assert [(a.tolist(), b.tolist()) for a, b in given.splits] == expected
    assert given.other == {}


# -- errors -----------------------------------------------------------------------------------------
def test_a_missing_set_without_a_folder(monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    with pytest.raises(MissingDataset, match=r"'sonar' is not .*MANYKERNELS_DATA is not set.*fetch_openml"):
        load("sonar")


def test_a_missing_set_says_where_it_was_looked_for(folder):
    with pytest.raises(MissingDataset) as raised:
        load("moon")
    said = str(raised.value)
    assert f"no moon.npz in {folder}" in said
    assert "np.savez_compressed('FOLDER/moon.npz', X=X, y=y)" in said
    assert all(name in said for name in BUNDLED)


def test_what_the_message_says_works(folder):
    X, y = datasets.make_ringnorm(10, random_state=0)
    with pytest.raises(MissingDataset):
        load("rings")
    np.savez_compressed(folder / "rings.npz", X=X, y=y)
    assert np.array_equal(load("rings").X, X)


@pytest.mark.parametrize("name", ["", "../iris", "a/b", 3, None])
def test_a_name_is_no_path(folder, name):
    with pytest.raises(ValueError, match="expected a plain name"):
        load(name)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": np.zeros((2, 1))}, "holds X; expected the targets as y"),
        ({"y": np.zeros(2), "Z": np.zeros(2)}, "holds y, Z; expected X, views V0"),
        ({"y": np.zeros(2), "X_data": np.zeros(2)}, "holds y, X_data; expected X, views V0"),
        ({"y": np.zeros(3), "X": np.zeros((2, 1))}, r"holds 2 samples and y of shape \(3,\)"),
    ],
)
def test_files_that_hold_something_else(folder, arrays, said):
    np.savez(folder / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=said):
        load("odd")


def test_pickled_objects_are_refused(folder):
    np.savez(folder / "odd.npz", X=np.array([[{}], [{}]], dtype=object), y=np.zeros(2))
    with pytest.raises(ValueError, match="allow_pickle"):
        load("odd")
