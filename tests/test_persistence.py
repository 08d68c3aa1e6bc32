"""Files of models: equal answers after loading, no code from a file, nothing half-written."""

from __future__ import annotations

import builtins
import io
import json
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io
from tests.fitted_models import FITTED, X, answers, fitted, new, y

import manykernels
from manykernels import MKLClassifier, load, save
from manykernels.families import views
from manykernels.kernels import Callable as CallableKernel
from manykernels.kernels import Linear, Spectrum
from manykernels.persistence import FORMAT, ModelFileError, _is_ours


def product(A, B):
    return A @ B.T


def same(a, b):
    assert len(a) == len(b) and len(a) > 0
    for left, right in zip(a, b, strict=True):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", FITTED)
def test_a_loaded_model_gives_the_same_answers(name, tmp_path):
    model, data = fitted(name)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded) is type(model)
    same(answers(loaded, data), answers(model, data))
    if hasattr(model, "X_fit_") and name != "ovr":
        samples = [None] if name == "stack" else [loaded.X_fit_, model.X_fit_]
        np.testing.assert_array_equal(loaded.kernel_(data, samples[0]), model.kernel_(data, samples[-1]))


@pytest.mark.parametrize("name", FITTED)
def test_pickle_works_too(name):
    model, data = fitted(name)
    same(answers(pickle.loads(pickle.dumps(model)), data), answers(model, data))


def test_a_loaded_model_can_be_fitted_again_and_cloned(tmp_path):
    from sklearn.base import clone

    model, _ = fitted("classifier")
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_allclose(clone(loaded).fit(X, y).weights_, model.weights_)


def test_training_stays_one_object(tmp_path):
    """Localized models know the gates of the training samples by identity."""
    model, _ = fitted("localized")
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert loaded.kernel_.gate.X is loaded.X_fit_
    assert loaded.kernel_.gate(loaded.X_fit_) is loaded.gates_


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_as_they_were(library, tmp_path):
    make = __import__(library).DataFrame
    table = make({"a": X[:, 0], "n": np.arange(len(X)), "word": ["x" if v > 0 else "yz" for v in X[:, 1]]})
    kernels = views({"numbers": (["a", "n"], [Linear()]), "text": ("word", [Spectrum(1)])})
    model = MKLClassifier(kernels, center=True).fit(table, y)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert type(loaded.X_fit_) is type(table) and list(loaded.X_fit_.columns) == ["a", "n", "word"]
    np.testing.assert_array_equal(loaded.decision_function(table[:9]), model.decision_function(table[:9]))


# -- what is not trusted --------------------------------------------------------------------------
def test_functions_are_loaded_only_when_named(tmp_path):
    model = MKLClassifier([CallableKernel(product), Linear()]).fit(X, y)
    path, name = tmp_path / "model", f"{product.__module__}.product"
    try:
        save(model, path)
    except ModelFileError:
        pytest.skip("this test module cannot be imported by its name here")
    with pytest.raises(ModelFileError, match=rf"{name}.*trusted=") as caught:
        load(path)
    assert "manykernels." not in str(caught.value).split("it holds")[1].split("and only")[0]
    np.testing.assert_array_equal(load(path, trusted=[name]).predict(X), model.predict(X))


def test_functions_without_a_name_are_refused_on_saving(tmp_path):
    model = MKLClassifier([CallableKernel(lambda A, B: A @ B.T), Linear()]).fit(X, y)
    with pytest.raises(ModelFileError, match="no other process can import"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


class Evil:
    def __reduce__(self):
        return (builtins.exec, ("raise SystemExit('code of a file was run')",))


def forged(tmp_path, schema):
    """A file with our mark and this description of objects."""
    buffer = io.BytesIO(skops.io.dumps([1]))
    with zipfile.ZipFile(buffer) as old:
        plain = json.loads(old.read("schema.json"))
    path = tmp_path / "forged"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({**plain, **schema}))
        archive.writestr("manykernels.json", json.dumps({"format": FORMAT, "version": "0.1.0"}))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "builtins.exec",
        "os.system",
        "manykernels.persistence.write_atomically",
        "manykernels.demo.main",
        "manykernels.persistence.os.system",
        "manykernels.estimators._data.validate_data",
        "manykernels_evil.Model",
        "manykernels.kernels.nothing",
        "manykernels.estimators.align_mkl.SVC",  # not defined there
    ],
)
def test_names_are_looked_up_and_not_believed(name, tmp_path):
    assert not _is_ours(name)
    module, _, attribute = name.rpartition(".")
    path = forged(tmp_path, {"__class__": attribute, "__module__": module, "__loader__": "FunctionNode"})
    with pytest.raises(ModelFileError, match="was not loaded: it holds"):
        load(path)


def test_our_classes_are_trusted():
    assert _is_ours("manykernels.estimators.mkl.MKLClassifier")
    assert _is_ours("manykernels.kernels._stationary.Gaussian")


def test_pickles_are_not_opened(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(pickle.dumps(Evil()))
    with pytest.raises(ModelFileError, match="cannot be read as a model"):
        load(path)


# -- damaged, newer, foreign ----------------------------------------------------------------------
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_truncated_file_is_said_to_be_one(share, tmp_path):
    path = tmp_path / "model"
    save(fitted("classifier")[0], path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(ModelFileError, match="cannot be read as a model: it is cut off"):
        load(path)


def test_a_damaged_file_never_loads_as_another_model(tmp_path):
    path = tmp_path / "model"
    save(fitted("classifier")[0], path)
    data = bytearray(path.read_bytes())
    rng = np.random.default_rng(0)
    expected = answers(*fitted("classifier"))
    for position in rng.integers(0, len(data), 40):
        broken = data.copy()
        broken[position] ^= 0xFF
        path.write_bytes(bytes(broken))
        try:
            loaded = load(path)
        except ModelFileError:
            continue
        same(answers(loaded, new), expected)  # the byte was one of no importance


@pytest.mark.parametrize(("format", "version"), [(FORMAT + 1, "0.1.0"), (FORMAT, "99.0.0")])
def test_a_newer_version_is_refused(format, version, tmp_path, monkeypatch):
    monkeypatch.setattr(manykernels, "__version__", version)
    monkeypatch.setattr(manykernels.persistence, "FORMAT", format)
    save(fitted("classifier")[0], tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=f"written by manykernels {version}.*Install that version"):
        load(tmp_path / "model")


def test_files_of_skops_itself_are_refused(tmp_path):
    skops.io.dump(Linear(), tmp_path / "model")
    with pytest.raises(ModelFileError, match="not a model of manykernels"):
        load(tmp_path / "model")


# -- writing --------------------------------------------------------------------------------------
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        save(fitted("classifier")[0], path)
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["model"]


def test_links_and_permissions_are_kept(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    save(fitted("classifier")[0], link)
    assert link.is_symlink() and real.stat().st_mode & 0o777 == 0o640
    load(real)


def test_folders_and_missing_folders(tmp_path):
    model = fitted("classifier")[0]
    with pytest.raises(IsADirectoryError):
        save(model, tmp_path)
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "none" / "model")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def test_without_skops_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "skops.io", None)
    with pytest.raises(ImportError, match="manykernels\\[cli\\]"):
        load("model")
