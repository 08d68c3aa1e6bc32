"""Checkpoints line by line: what is worth writing, what may be read, whose folder it is, and who is in it."""

import io
import json
import os
import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from manykernels import _pieces
from manykernels._pieces import Store, Thrift, _bytes, _dumped, _Reader, at, current, kept, names_in
from manykernels.kernels import Linear
from manykernels.selection import checkpoint
from manykernels.selection.checkpoint import (
    FREE,
    Checkpoint,
    _folder,
    _lives,
    _require_same,
    is_folder,
    keeping,
    print_of,
    prints_of,
)


class Held:
    def __init__(self, *values):
        self.values, self.one = list(values), np.zeros(3)


def own_function():
    return 3


# -- what is worth writing ------------------------------------------------------------------------
def test_about_how_many_bytes_a_value_has():
    assert _bytes(np.zeros((3, 4))) == 96.0 and _bytes(np.zeros(5, dtype=np.float32)) == 20.0
    assert _bytes(1.5) == 8.0 == _bytes("text") and _bytes(None) == 8.0
    assert _bytes([np.zeros(2), (1, 2.0), []]) == 32.0 == _bytes((np.zeros(2), [1, 2.0]))
    assert _bytes(Held(np.zeros(2), 1)) == 16.0 + 8.0 + 24.0


class Clock:
    """A clock that stands still, and writes that take as long as they are told to."""

    def __init__(self, monkeypatch):
        self.now, self.takes, self.written = 100.0, 0.0, []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)

    def write(self, key, value):
        self.written.append(key)
        self.now += self.takes


def test_a_hundredth_of_the_time_since_it_was_made(monkeypatch):
    """A write costs 5 ms and one second for 2e8 bytes, until it is known better."""
    clock = Clock(monkeypatch)
    thrift = Thrift()
    large = np.broadcast_to(0.0, 25_000_000)  # 2e8 bytes: one second
    for value, least in [(0.0, 0.5), (large, 100.5)]:
        clock.now = 100.0 + 0.9 * least
        assert not thrift.affords(value)
        clock.now = 100.0 + 1.1 * least
        assert thrift.affords(value)


def test_what_was_spent_is_counted_and_speed_is_learned(monkeypatch):
    clock = Clock(monkeypatch)
    thrift, value = Thrift(), np.zeros(125_000)  # 1e6 bytes: 5 ms by the first guess
    thrift.write(clock, "early", value)
    assert clock.written == []
    clock.now, clock.takes = 102.0, 0.055
    thrift.write(clock, "first", value)
    assert clock.written == ["first"]
    # 55 ms are spent; 50 of them were for 1e6 bytes, so that the next write costs 55 ms again: 11 seconds
    for seconds, affords in [(9.9, False), (12.1, True)]:
        clock.now = 100.0 + seconds
        assert thrift.affords(value) is affords
    clock.now, clock.takes = 200.0, 0.005  # a fast one is luck
    thrift.write(clock, "second", value)
    for seconds, affords in [(10.4, False), (12.6, True)]:
        clock.now = 100.0 + seconds
        assert thrift.affords(value) is affords


# -- what pieces may hold -------------------------------------------------------------------------
def test_objects_of_the_package_and_what_was_trusted_are_kept(tmp_path):
    store = Store(str(tmp_path), "run")
    values = {"kernel": Linear(), "numbers": (np.arange(3), 1.5, {2}, slice(1, 2), 1j, np.float64(2.0))}
    for name, value in values.items():
        store.write((name,), value)
        assert store.path((name,)).exists()
        assert repr(store.read((name,))) == repr(value)
    store.write(("own",), Held())
    assert not store.path(("own",)).exists()  # which no file may name
    trusting = Store(str(tmp_path), "run", names_in([Held(), own_function]))
    trusting.write(("own",), [Held(1), own_function])
    held, function = trusting.read(("own",))
    assert held.values == [1] and function is own_function
    with pytest.warns(UserWarning, match="is not read, since it holds"), pytest.raises(KeyError):
        store.read(("own",))


def test_functions_of_the_package_are_not_run():
    """Only classes of it, and only where they are: not what its modules import."""
    for named in ("manykernels._pieces fingerprint", "manykernels._pieces Path", "manykernelsevil x"):
        module, name = named.split()
        with pytest.raises(pickle.UnpicklingError, match="it holds"):
            _Reader(b"", frozenset()).find_class(module, name)
    assert _Reader(b"", frozenset()).find_class("manykernels._pieces", "Store") is Store


def test_what_cannot_be_written_is_said_so():
    for value in (io.BytesIO, lambda: 0, memoryview(b"bytes")):
        with pytest.raises(pickle.PicklingError):
            _dumped(value, frozenset())
    assert names_in([lambda: 0, Held()]) >= {(Held.__module__, "Held")}


def test_a_damaged_piece_is_told_and_an_absent_one_is_not(tmp_path):
    store = Store(str(tmp_path), "run")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KeyError):
            store.read(("a",))
    store.write(("a",), 3)
    whole = store.path(("a",)).read_bytes()
    for damaged in (whole[:-1], b"x" + whole[1:], whole[:25] + b"?" + whole[26:], b""):
        store.path(("a",)).write_bytes(damaged)
        with pytest.warns(UserWarning, match="is damaged; what it held is computed anew"):
            assert kept(store, ("a",), lambda: 4) == 4
        assert store.read(("a",)) == 4


def test_work_within_a_piece_is_not_kept_by_itself(tmp_path):
    store = Store(str(tmp_path), "run")
    with at(store):
        assert kept(current(), ("a",), lambda: current()) is None
        assert current() is store
    assert current() is None and len(os.listdir(tmp_path)) == 1
    assert kept(None, ("a",), lambda x: x + 1, 2) == 3


def test_work_that_was_stopped_is_not_kept(tmp_path, monkeypatch):
    store = Store(str(tmp_path), "run")
    monkeypatch.setattr(_pieces, "goes_on", lambda *_: False)
    assert kept(store, ("a",), lambda: 3) == 3 and os.listdir(tmp_path) == []


# -- what a call is given -------------------------------------------------------------------------
def test_what_says_where_work_is_kept(tmp_path):
    for given in ("a", tmp_path, Checkpoint("a")):
        assert is_folder(given) is True
    for given in (None, 3, b"a", ["a"]):
        assert is_folder(given) is False
    for given in (3, "", Checkpoint(""), Checkpoint(3), ["a"]):
        with pytest.raises(TypeError, match="expected the path of a folder"), keeping(given, "t", dict):
            pass


def test_things_are_known_by_what_they_hold(tmp_path):
    file = tmp_path / "x.npy"
    file.write_bytes(b"one")
    first = print_of("X", str(file)), print_of("X", file)
    other = print_of("y", str(file))  # a text, and no file
    assert first[0] == first[1]
    file.write_bytes(b"two")
    assert print_of("X", str(file)) != first[0] and print_of("y", str(file)) == other
    assert print_of("X", np.arange(3)) == print_of("X", np.arange(3)) != print_of("X", np.arange(4))
    for drawn in (np.random.RandomState(0), np.random.default_rng(0)):
        with pytest.raises(ValueError, match=r"random_state=.*Give a whole number"):
            print_of("random_state", drawn)
    with pytest.raises(ValueError, match=r"kernels=.*top of a module"):
        print_of("kernels", lambda: 0)


def test_collections_are_known_by_their_graph():
    da = pytest.importorskip("dask.array")
    X = da.from_array(np.arange(6.0), chunks=3)
    assert print_of("X", X) == X.name != print_of("X", X + 1.0)


def test_parameters_are_told_by_the_names_that_were_given():
    model = make_pipeline(Ridge())
    names = prints_of(model, {"X": 1, "y": 2}).keys()
    assert names == {"X", "y", *model.get_params(deep=False)} - set(FREE)


# -- the folder -----------------------------------------------------------------------------------
def test_folders_are_made_and_those_of_others_are_refused(tmp_path):
    deep = tmp_path / "a" / "b" / "c"
    assert _folder(deep) == deep / "lock" == _folder(deep) and deep.is_dir()
    for own in ("lock", ".about.json.x.part"):
        (deep / own).touch()
        assert _folder(deep) == deep / "lock"
    (deep / "mine.txt").touch()
    with pytest.raises(FileExistsError, match="holds other files, and no work"):
        _folder(deep)
    (deep / "about.json").touch()
    assert _folder(deep) == deep / "lock"
    with pytest.raises(NotADirectoryError, match="is a file"):
        _folder(deep / "mine.txt")


def test_work_of_something_else_is_refused_with_all_that_differs(tmp_path):
    _require_same(tmp_path, "Model", {"X": "1", "y": "2", "C": "3"})
    _require_same(tmp_path, "Model", {"X": "1", "y": "2", "C": "3"})
    for known, told in [
        ({"X": "1", "y": "2", "C": "4"}, r"something else: C is not what it was\. Give"),
        ({"X": "1", "y": "2"}, r"something else: C is not what it was\. Give"),
        ({"X": "1", "y": "0", "D": "3"}, r"something else: y, D, C are not what they were\. Give"),
    ]:
        with pytest.raises(ValueError, match=told):
            _require_same(tmp_path, "Model", known)
    with pytest.raises(ValueError, match=r"the work of Model \(format 1\), and this is Other \(format 1\)"):
        _require_same(tmp_path, "Other", {"X": "1", "y": "2", "C": "3"})
    about = json.loads((tmp_path / "about.json").read_text())
    for damaged in ({**about, "prints": 3}, {"format": 1}, [1], {**about, "format": "x"}):
        (tmp_path / "about.json").write_text(json.dumps(damaged))
        with pytest.raises(ValueError, match=r"about\.json is damaged"):
            _require_same(tmp_path, "Model", {})
    (tmp_path / "about.json").write_text(json.dumps({**about, "format": 2}))
    with pytest.raises(ValueError, match=r"\(format 2\), and this is Model \(format 1\)"):
        _require_same(tmp_path, "Model", about["prints"])


@pytest.mark.skipif(checkpoint.fcntl is None, reason="files cannot be locked")
def test_the_lock_says_who_is_there_and_then_nobody(tmp_path):
    lock = tmp_path / "lock"
    lock.write_text("x" * 200)
    with keeping(tmp_path, "t", dict) as store:
        assert json.loads(lock.read_text())["pid"] == os.getpid() and current() is store
        assert Path(store.folder) == tmp_path
        with pytest.raises(BlockingIOError, match="is in use by process"), keeping(tmp_path, "t", dict):
            pass
    assert lock.read_text() == "" and current() is None
    with keeping(Checkpoint(tmp_path, remove=True), "t", dict):
        pass
    assert not tmp_path.exists()


def test_joined_work_is_kept_with_that_around_it(tmp_path):
    with keeping(tmp_path, "t", dict) as store:
        with keeping(None, "u", dict, joined=True) as inner:
            assert inner is store is current()
        with keeping(None, "u", dict) as inner:
            assert inner is None is current()


@pytest.mark.skipif(os.name != "posix", reason="processes are asked by signals")
def test_who_lives(monkeypatch):
    here = checkpoint.socket.gethostname()
    waits = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); print(flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    other.stdout.readline()
    assert _lives(other.pid, here) is True and _lives(other.pid, "elsewhere") is True
    other.communicate(b"\n")
    assert other.returncode == 0  # it was only looked at
    assert _lives(other.pid, here) is False
    assert _lives(0, "elsewhere") is False and _lives(os.getpid(), "elsewhere") is False

    def refused(*_):
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)  # of another user's process
    assert _lives(other.pid, here) is True
