"""Files of models: equal answers after loading, no code from a file, nothing half-written."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tracemalloc
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.model_selection import RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.preprocessing import StandardScaler
from tests.fitted_models import FITTED, X, answers, fitted, new, y
from tests.model_files import ABOUT, array, members, objects, packed, sealed, with_objects

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, _files, load, save
from manykernels._archives import ArchiveError
from manykernels._files import _open_part, write_atomically
from manykernels.families import views
from manykernels.kernels import Callable as CallableKernel
from manykernels.kernels import Gaussian, Linear, OnColumns, Spectrum
from manykernels.persistence import FORMAT, ModelFileError
from manykernels.persistence._contents import _about
from manykernels.persistence._frames import as_frame, frame_of
from manykernels.persistence._schema import require_tree
from manykernels.persistence._trust import our_class


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


def test_a_file_says_of_itself_what_the_page_of_the_format_says(tmp_path):
    """With a checksum that is computed as the page has it, not as the package does."""
    save(MKLClassifier(kernels=[Linear(), Gaussian(1.0)]).fit(X, y), tmp_path / "model")
    parts = members((tmp_path / "model").read_bytes())
    about = json.loads(parts.pop(ABOUT))
    found = about.pop("sha256")
    version = manykernels.__version__
    assert about == {"format": FORMAT, "version": version, "model": "MKLClassifier"}
    whole = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name in sorted(parts):
        whole.update(json.dumps([name, hashlib.sha256(parts[name]).hexdigest()]).encode())
    assert found == whole.hexdigest()
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert {info.compress_type for info in archive.infolist()} <= {
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        }
        assert archive.getinfo("schema.json").compress_size < archive.getinfo("schema.json").file_size


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
        with pytest.warns(UserWarning, match=rf"holds {name}, .*load\(path, trusted=\['{name}'\]\)"):
            save(model, path)
    except ModelFileError:
        pytest.skip("this test module cannot be imported by its name here")
    with pytest.raises(ModelFileError, match=rf"{name}.*trusted=") as caught:
        load(path)
    assert "manykernels." not in str(caught.value).split("it holds")[1].split("Types of")[0]
    np.testing.assert_array_equal(load(path, trusted=[name]).predict(X), model.predict(X))


def test_functions_without_a_name_are_refused_on_saving(tmp_path):
    model = MKLClassifier([CallableKernel(lambda A, B: A @ B.T), Linear()]).fit(X, y)
    with pytest.raises(ModelFileError, match="no other process can import"):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "cv", [StratifiedKFold(2), RepeatedKFold(n_splits=2), ShuffleSplit(2), TimeSeriesSplit(2)], ids=str
)
def test_splitters_of_scikit_learn_are_trusted(cv, tmp_path):
    save(MKLClassifierCV("single", cv=cv), tmp_path / "model")
    assert type(load(tmp_path / "model").cv) is type(cv)


class Evil:
    def __reduce__(self):
        return (builtins.exec, ("raise SystemExit('code of a file was run')",))


def forged(tmp_path, schema):
    """A file with our mark, a checksum that matches, and this description of objects."""
    plain = json.loads(members(skops.io.dumps([1]))["schema.json"])
    path = tmp_path / "forged"
    path.write_bytes(sealed({"schema.json": json.dumps({**plain, **schema}).encode()}))
    return path


@pytest.mark.parametrize(
    "name",
    [
        "builtins.exec",
        "os.system",
        "manykernels.persistence.write_atomically",
        "manykernels.demo.main",
        "manykernels.persistence.os.system",
        "manykernels.fitting.layout.validate_data",
        "manykernels_evil.Model",
        "manykernels.kernels.nothing",
        "manykernels.estimators.align_mkl.SVC",  # not defined there
        "sklearn.model_selection._split.os.KFold",
        "sklearn.model_selection._search.HalvingGridSearchCV",  # skops trusts it only once it is enabled
    ],
)
def test_names_are_looked_up_and_not_believed(name, tmp_path):
    assert our_class(name) is None
    module, _, attribute = name.rpartition(".")
    path = forged(tmp_path, {"__class__": attribute, "__module__": module, "__loader__": "FunctionNode"})
    with pytest.raises(ModelFileError, match="it holds "):
        load(path)


def test_our_classes_are_trusted():
    assert our_class("manykernels.estimators.mkl.MKLClassifier") is MKLClassifier
    assert our_class("manykernels.kernels.stationary.Gaussian") is Gaussian


@pytest.mark.parametrize("library", ["evil_library", "os", "manykernels.demo"])
def test_no_module_that_a_file_names_is_imported(library, tmp_path, monkeypatch):
    """The library of a frame is one of two, and the working directory is not searched for it."""
    (tmp_path / "evil_library.py").write_text("raise SystemExit('code beside a file was run')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    save(fitted("views of a frame")[0], tmp_path / "model")
    parts = members((tmp_path / "model").read_bytes())
    tables = [node[2] for node in objects(parts)[1]["nodes"] if node[0] == "object" and "library" in node[2]]
    assert {table["library"] for table in tables} == {"pandas"}

    def renamed(described):
        return json.loads(json.dumps(described).replace('"pandas"', json.dumps(library)))

    (tmp_path / "model").write_bytes(sealed(with_objects(parts, renamed)))
    with pytest.raises(ModelFileError, match="neither of pandas nor of polars"):
        load(tmp_path / "model")
    assert "evil_library" not in sys.modules


def test_a_library_that_is_not_installed_is_named(tmp_path, monkeypatch):
    save(fitted("views of a frame")[0], tmp_path / "model")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        ModelFileError, match=r"table of pandas, which is not installed .* pip install pandas\.$"
    ):
        load(tmp_path / "model")


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


def test_an_altered_array_does_not_match_the_checksum(tmp_path):
    """Also where the archive is whole, with the checks of its own."""
    save(fitted("classifier")[0], tmp_path / "model")
    parts = members((tmp_path / "model").read_bytes())
    for name in [name for name in parts if name != ABOUT]:
        part = bytearray(parts[name])
        part[-1] ^= 1
        (tmp_path / "model").write_bytes(packed({**parts, name: bytes(part)}))
        with pytest.raises(ModelFileError, match="checksum does not match"):
            load(tmp_path / "model")
    (tmp_path / "model").write_bytes(packed({**parts, "more": b""}))
    with pytest.raises(ModelFileError, match="checksum does not match"):
        load(tmp_path / "model")


def test_files_of_early_versions_are_not_read_any_more(tmp_path):
    save(fitted("classifier")[0], tmp_path / "model")
    parts = members((tmp_path / "model").read_bytes())
    parts[ABOUT] = json.dumps({"format": 1, "version": "0.1.0", "model": "MKLClassifier"}).encode()
    (tmp_path / "model").write_bytes(packed(parts))
    with pytest.raises(ModelFileError, match=r"early version .*Fit the model again"):
        load(tmp_path / "model")
    parts[ABOUT] = json.dumps({"format": FORMAT, "version": "0.1.0", "model": "MKLClassifier"}).encode()
    (tmp_path / "model").write_bytes(packed(parts))
    with pytest.raises(ModelFileError, match="checksum does not match"):
        load(tmp_path / "model")


def peak(call):
    """The most memory that Python and NumPy held while it ran."""
    tracemalloc.start()
    try:
        with contextlib.suppress(ModelFileError):
            call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def bomb(n=1 << 23):
    """A small file whose array unpacks to 64 MB."""
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(array, {"descr": "<f8", "fortran_order": False, "shape": (n,)})
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
    schema = {**node, "__id__": 7, "type": "numpy", "file": "7.npy", "protocol": 2}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("schema.json", json.dumps(schema))
        archive.writestr(ABOUT, json.dumps({"format": FORMAT, "version": "0.1.0", "sha256": "0"}))
        with archive.open("7.npy", "w", force_zip64=True) as member:
            member.write(array.getvalue())
            for _ in range(8 * n >> 20):
                member.write(bytes(1 << 20))
    return buffer.getvalue()


def test_the_sizes_in_an_archive_are_looked_at_before_it_is_unpacked(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(bomb())
    with pytest.raises(ModelFileError, match=r"unpacks from .* KB to 64 MB .*'7.npy'.* 200 MB are allowed"):
        load(path, memory_limit="200MB")
    assert peak(lambda: load(path, memory_limit="200MB")) < 5 * path.stat().st_size
    save(fitted("classifier")[0], path)
    with pytest.raises(ModelFileError, match="memory_limit="):
        load(path, memory_limit=1000)
    assert load(path, memory_limit="50MB").classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="memory_limit='much' was given"):
        load(path, memory_limit="much")


@pytest.mark.parametrize("declared", [1, 1000, 1 << 40])
def test_declared_sizes_are_not_believed(declared, tmp_path):
    """Neither those of the archive nor the shape in the header of an array."""
    path = tmp_path / "model"
    header = io.BytesIO()
    shape = {"descr": "<f8", "fortran_order": False, "shape": (declared,)}
    np.lib.format.write_array_header_1_0(header, shape)
    node = {"__class__": "ndarray", "__module__": "numpy", "__loader__": "NdArrayNode"}
    schema = {**node, "__id__": 7, "type": "numpy", "file": "7.npy", "protocol": 2}
    parts = {"schema.json": json.dumps(schema).encode(), "7.npy": header.getvalue() + bytes(80)}
    path.write_bytes(sealed(parts))
    with pytest.raises(ModelFileError, match=f"declares shape \\({declared},\\).*and has 80"):
        load(path)
    assert peak(lambda: load(path)) < 1 << 22


def node(module, name, loader, id=1, **more):
    return {"__module__": module, "__class__": name, "__loader__": f"{loader}Node", "__id__": id, **more}


def number(kind, id=1):
    return node("numpy", kind, "NdArray", id, type="numpy", file=f"{id}.npy")


def references():
    """Each object holds the one before twice: 2⁶⁰ of them, in a file of a few kilobytes."""
    schema = node("builtins", "list", "List", content=[])
    for i in range(2, 60):
        schema = node("builtins", "list", "List", i, content=[schema, {**schema, "content": []}])
    return schema, {}


def one_array_many_times():
    content = [{**number("ndarray"), "__id__": i} for i in range(1, 1000)]
    return node("builtins", "list", "List", 1001, content=content), {"1.npy": array(np.zeros(10**5))}


def one_array_without_a_number():
    content = [{**number("ndarray"), "__id__": None}] * 1000
    return node("builtins", "list", "List", 1001, content=content), {"1.npy": array(np.zeros(10**5))}


def an_array_of_another_name():
    header = array(np.zeros(1 << 24))[:128]
    return {**number("ndarray"), "file": "1.bin"}, {"1.bin": header}


def arrays_within_an_array():
    """A sparse matrix is an archive in the archive."""
    inner = io.BytesIO()
    np.savez_compressed(
        inner, data=np.zeros(1 << 24), format=b"csr", shape=(1, 1), indices=[0], indptr=[0, 1]
    )
    matrix = node("scipy.sparse._csr", "csr_matrix", "SparseMatrix", type="scipy", file="1.bin")
    return matrix, {"1.bin": inner.getvalue()}


def flat(described, pool=b"", leaves=(), **parts):
    """A record of objects of this package, with this description of them."""
    text = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    held = {"1.npy": array(text), "2.npy": array(np.frombuffer(pool, dtype=np.uint8)), **parts}
    content = {"text": number("ndarray", 1), "pool": number("ndarray", 2)}
    content["leaves"] = node("builtins", "list", "List", 60, content=list(leaves))
    types = node("builtins", "list", "List", 70, content=[node("builtins", "str", "Type", 71)] * 3)
    state = node("builtins", "dict", "Dict", 80, content=content, key_types=types)
    return node("manykernels.persistence._flat", "Flat", "Object", 90, content=state), held


def a_table_of_one_number():
    """The number would be repeated for each row of the other column."""
    state = {"library": "pandas", "names": [0], "places": [1], "numbers": [2], "text": [3]}
    names, places, table = ["list", ["a", "b"]], ["list", [0]], ["array", "<f8", [1, 1000], "C"]
    nodes = [names, places, table, ["list", ["1"]], ["object", 0, state]]
    return flat({"classes": ["Frame"], "nodes": nodes, "root": [4]}, bytes(8000))


GROWING = {
    "references": (references, "refers to its objects"),
    "one array many times": (one_array_many_times, "refers to its arrays"),
    "one array without a number": (one_array_without_a_number, "refers to its arrays"),
    "a number of bytes": (lambda: (number("bytes_"), {"1.npy": array(1 << 27)}), "numpy.bytes_"),
    "void": (lambda: (number("void"), {"1.npy": array(1 << 27)}), "numpy.void"),
    "a generator": (lambda: (node("numpy.random", "Generator", "RandomGenerator"), {}), "Generator"),
    "an array of another name": (an_array_of_another_name, "declares shape"),
    "arrays within an array": (arrays_within_an_array, "unpacks from"),
    "a table of one number": (a_table_of_one_number, "different lengths"),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_would_grow_while_it_is_read_is_refused(name, tmp_path):
    make, words = GROWING[name]
    schema, parts = make()
    path = tmp_path / "model"
    path.write_bytes(sealed({"schema.json": json.dumps({**schema, "protocol": 2}).encode(), **parts}))
    with pytest.raises(ModelFileError, match=words):
        load(path, memory_limit="100MB")
    assert peak(lambda: load(path, memory_limit="100MB")) < 20 << 20


LINEAR = "manykernels.kernels.inner.Linear"
ODD = {
    "a class of others": ([["object", 0, {}]], ["builtins.exec"], "builtins.exec"),
    "a function": ([["object", 0, {}]], ["manykernels.persistence.load"], "is not a class that models hold"),
    "a class without a name": ([["object", 0, {}]], [None], "is not a class that models hold"),
    "itself": ([["list", [[0]]]], [], "refers to its objects"),
    "a later one": ([["list", [[1]]], ["list", []]], [], "refers to its objects"),
    "the last one": ([["list", []], ["list", [[-1]]]], [], "refers to its objects"),
    "more bytes than there are": ([["bytes", 9]], [], "refers to its objects"),
    "bytes twice": ([["bytes", 8], ["bytes", 8]], [], "refers to its objects"),
    "less than nothing": ([["bytes", -1]], [], "refers to its objects"),
    "a large array": ([["array", "<f8", [1 << 40], "C"]], [], "refers to its objects"),
    "an array of nothing": ([["array", "<U0", [1 << 40], "C"]], [], "refers to its objects"),
    "an array of objects": ([["array", "|O", [1], "C"]], [], "refers to its objects"),
    "an unknown kind": ([["exec", "1"]], [], "refers to its objects"),
    "nothing at all": ([None], [], "refers to its objects"),
    "a leaf that is not there": ([["leaf", 0]], [], "refers to its objects"),
    "a key that refers": ([["tuple", []], ["dict", [[{"a": 1}, 0]]]], [], "refers to its objects"),
}


@pytest.mark.parametrize("name", ODD)
def test_a_record_of_objects_that_save_never_writes_is_refused(name, tmp_path):
    nodes, classes, words = ODD[name]
    schema, parts = flat({"classes": classes, "nodes": nodes, "root": [len(nodes) - 1]}, bytes(8))
    path = tmp_path / "model"
    path.write_bytes(sealed({"schema.json": json.dumps({**schema, "protocol": 2}).encode(), **parts}))
    with pytest.raises(ModelFileError, match=words):
        load(path)
    good, parts = flat({"classes": [LINEAR], "nodes": [["object", 0, {"name": "a"}]], "root": [0]})
    path.write_bytes(sealed({"schema.json": json.dumps({**good, "protocol": 2}).encode(), **parts}))
    assert load(path).name == "a"


# -- many objects ---------------------------------------------------------------------------------
def kernels_in_common(count):
    return [OnColumns(Gaussian(width), [0, 1]) for width in np.linspace(1.0, 9.0, count)]


def test_what_many_kernels_have_in_common_is_written_once(tmp_path):
    """Nodes grow with the kernels, members of the archive do not: skops looks at all of them for each."""
    sizes, held = [], []
    for count in (20, 80):
        save(MKLClassifier(kernels_in_common(count)).fit(X, y), tmp_path / "model")
        parts = members((tmp_path / "model").read_bytes())
        sizes.append(len(objects(parts)[1]["nodes"]))
        held.append(len(parts))
    assert held[0] == held[1] < 10
    assert sizes[1] < 4.2 * sizes[0] and sizes[1] < 20 * 80


def test_a_wide_table_is_one_array(tmp_path):
    """Members and nodes do not grow with the columns."""
    held = []
    for width in (100, 400):  # both above what small arrays share
        table = pd.DataFrame(np.tile(X, (1, width)), columns=[f"c{j}" for j in range(width * X.shape[1])])
        table["word"] = ["x" if v > 0 else "yz" for v in X[:, 1]]
        model = MKLClassifier([OnColumns(Linear(), ["c0", "c1"]), OnColumns(Spectrum(1), "word")])
        save(model.fit(table, y), tmp_path / "model")
        parts = members((tmp_path / "model").read_bytes())
        held.append((len(parts), len(objects(parts)[1]["nodes"])))
        kept = load(tmp_path / "model").X_fit_
        pd.testing.assert_frame_equal(kept, table, check_dtype=False)
    assert held[0] == held[1]


def test_values_of_every_kind_come_back(tmp_path):
    """With their types, their order in memory, and what is one object in two places."""
    shared = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    values = {
        "plain": [None, True, 3, 10**30, -0.0, float("inf"), "é\ud800"],
        ("a", (1, 2)): (shared, shared, shared[:, ::2]),
        3: {"set": {1, "b", (2, 3)}, "frozen": frozenset({1.5})},
        "arrays": [np.zeros((0, 3)), np.array(["é", "bc"]), np.array([True]), np.array(2, dtype=np.int8)],
        "scalars": [np.float32(0.1), np.int64(-3), np.bool_(True), np.str_("x")],
        "objects": np.array([["a", None], [1, (2, 3)]], dtype=object),
        "others": [b"\x00\xff", slice(1, None, 2), np.zeros(20_000), np.dtype("f4"), StandardScaler()],
    }
    kernel = Linear()
    kernel.held = values
    save(kernel, tmp_path / "model")
    found = load(tmp_path / "model").held
    assert list(found) == list(values) and repr(found["plain"]) == repr(values["plain"])
    first, second, third = found["a", (1, 2)]
    assert first is second and first.flags.f_contiguous and first.flags.writeable
    np.testing.assert_array_equal(third, shared[:, ::2])
    assert found[3] == values[3]
    for key in ("arrays", "scalars"):
        for a, b in zip(found[key], values[key], strict=True):
            assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape
            np.testing.assert_array_equal(a, b)
    assert found["objects"].tolist() == values["objects"].tolist()
    assert found["others"][:2] == values["others"][:2] and found["others"][2].shape == (20_000,)
    assert isinstance(found["others"][4], StandardScaler)


def test_cycles_are_refused(tmp_path):
    kernel = Linear()
    kernel.held = [kernel]
    with pytest.raises(ModelFileError, match="cannot be saved safely"):
        save(kernel, tmp_path / "model")


@pytest.mark.parametrize(("format", "version"), [(FORMAT + 1, "0.1.0"), (FORMAT, "99.0.0")])
def test_a_newer_version_is_refused(format, version, tmp_path, monkeypatch):
    monkeypatch.setattr(manykernels, "__version__", version)
    monkeypatch.setattr(manykernels.persistence._contents, "FORMAT", format)
    save(fitted("classifier")[0], tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match=f"written by manykernels {version}.*Install that version"):
        load(tmp_path / "model")


def test_files_of_skops_itself_are_refused(tmp_path):
    skops.io.dump(Linear(), tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"cannot be read as a model: .* something else"):
        load(tmp_path / "model")


# -- writing --------------------------------------------------------------------------------------
@pytest.fixture
def old(tmp_path):
    """A path with an earlier model."""
    save(fitted("regressor")[0], tmp_path / "model")
    return tmp_path / "model"


def test_a_failed_write_leaves_the_old_file_and_names_it(old, tmp_path, monkeypatch):
    before = old.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space") as caught:
        save(fitted("classifier")[0], old)
    assert caught.value.filename == str(old)
    assert old.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["model"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_device_is_named():
    with pytest.raises(OSError, match=r"No space.*/dev/full"):
        save(fitted("classifier")[0], "/dev/full")


def test_a_file_of_another_kind_is_not_replaced_unless_asked(tmp_path):
    model, path = fitted("classifier")[0], tmp_path / "table.csv"
    for other in (b"a,b\n1,2\n", packed({"word/document.xml": b"<w/>"}), pickle.dumps([1])):
        path.write_bytes(other)
        with pytest.raises(FileExistsError, match=r"table.csv exists and is not a model.*overwrite=True"):
            save(model, path)
        assert path.read_bytes() == other
    save(model, path, overwrite=True)
    save(model, path)  # which is a model now
    (tmp_path / "empty").touch()
    save(model, tmp_path / "empty")
    load(tmp_path / "empty")


def test_links_and_permissions_are_kept(old, tmp_path):
    link = tmp_path / "link"
    old.chmod(0o640)
    link.symlink_to(old)
    save(fitted("classifier")[0], link)
    assert link.is_symlink() and old.stat().st_mode & 0o777 == 0o640
    load(old)


KILLED = """
import os, runpy, signal, sys
os.fsync = lambda handle: os.kill(os.getpid(), signal.SIGKILL)
runpy.run_path(sys.argv[1])["write_atomically"](sys.argv[2], b"half")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no locks that tell who lives")
def test_the_next_write_removes_what_a_killed_one_left(tmp_path):
    path = tmp_path / "a[1]*.csv"
    mine = tmp_path / f".{path.name}.mine.part"
    mine.write_bytes(b"a user's")
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, _files.__file__, str(path)], check=False, timeout=120
    )
    assert ended.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    write_atomically(tmp_path / "another", b"")
    assert len(list(tmp_path.iterdir())) == 3
    write_atomically(path, b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([path, mine, tmp_path / "another"])


def test_a_part_that_is_being_written_is_left_alone(tmp_path):
    """Two processes at once: each has its own part, and the last one to finish wins."""
    path = tmp_path / "model"
    handle, name = _open_part(path)
    write_atomically(path, b"theirs")
    assert os.path.exists(name) and path.read_bytes() == b"theirs"
    os.close(handle)
    write_atomically(path, b"ours")
    assert not os.path.exists(name)


def test_many_writers_at_once(tmp_path):
    path = tmp_path / "model"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: write_atomically(path, bytes([i]) * 1000), range(64)))
    assert len(set(path.read_bytes())) == 1 and list(tmp_path.iterdir()) == [path]


def test_the_longest_name_that_a_file_may_have(tmp_path):
    path = tmp_path / ("é" * 127)
    write_atomically(path, b"whole")
    assert list(tmp_path.iterdir()) == [path]


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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_a_frame_come_back_in_their_order(library):
    frames = pytest.importorskip(library)
    columns = {
        "site": ["a", None, "b"],
        "age": [1.5, 2.0, np.nan],
        "name": ["x", "y", "z"],
        "dose": [3.0, 0.0, 1.0],
    }
    for names in (list(columns), ["age", "dose"], ["site", "name"], ["dose", "site", "age", "name"]):
        given = frames.DataFrame({name: columns[name] for name in names})
        back = as_frame(frame_of(given))
        assert type(back) is type(given) and list(back.columns) == names
        for name in names:
            for a, b in zip(columns[name], list(back[name]), strict=True):
                assert a == b or ((a is None or a != a) and (b is None or b != b))


def test_objects_that_are_not_named_are_refused():
    named = {"__module__": "numpy", "__class__": "ndarray", "__loader__": "NdArrayNode", "__id__": 1}
    require_tree(named)
    for key in ("__module__", "__class__", "__loader__"):
        with pytest.raises(ArchiveError, match="list of objects is missing or damaged"):
            require_tree({**named, key: 5})
    with pytest.raises(ArchiveError, match="list of objects is missing or damaged"):
        require_tree([named])
    with pytest.raises(ArchiveError, match="which models never hold"):
        require_tree({**named, "__module__": "manykernels.kernels.base", "__class__": "Kernel"})


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"null", b"{", b"{}", b'{"format": "3", "version": "0.1.0"}', b'{"format": 3, "version": 1}',
     b'{"format": true, "version": "0.1.0"}', b'{"format": 3, "version": "' + b"1" * 50 + b'"}'],
)  # fmt: skip
def test_a_description_that_is_damaged_is_refused_as_such(text):
    with pytest.raises(ArchiveError, match="its note of the version that wrote it is damaged"):
        _about(text)
    about = _about(b'{"format": 3, "version": "0.1.0"}')
    assert about == {"format": 3, "version": "0.1.0", "sha256": None}


def test_one_trusted_name_in_place_of_a_list_is_an_error(tmp_path):
    with pytest.raises(TypeError, match=r"expected a list of full names: trusted=\['mine\.kernel'\]"):
        load(tmp_path / "model", trusted="mine.kernel")
