"""Files of models that were changed: each is refused in a sentence, or gives the answers of the original.

What happens to a file by accident must never load as another model. What somebody forges, with a checksum
that matches, may well be another model; it must not fail in another way, import what it names, or take much
memory.
"""

from __future__ import annotations

import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from tests.fitted_models import FITTED, answers, fitted
from tests.properties.altered_files import FOREIGN, by_accident, forged

from manykernels import load, save
from manykernels.persistence import ModelFileError

ROOM = 32 << 20  # bytes: many times what any of these models takes
FEW = ["classifier", "views of a frame"]


class Spy:
    """Notes what is imported, and finds nothing."""

    def __init__(self):
        self.seen = []

    def find_spec(self, name, path=None, target=None):
        self.seen.append(name)


@pytest.fixture
def tried(tmp_path, monkeypatch):
    """Loads a file that was changed: the model, or None where it was refused."""
    path, spy = tmp_path / "model", Spy()
    for name in FOREIGN:  # beside the file, in the place where Python looks first
        (tmp_path / f"{name}.py").write_text("raise SystemExit('foreign code was run')")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [spy, *sys.meta_path])

    def run(data, told, measure=True):
        path.write_bytes(data)
        if measure:  # takes several times as long
            tracemalloc.start()
        try:
            return load(path)
        except ModelFileError as error:
            text = str(error)
            assert text.startswith(str(path)) and text.endswith(".") and len(text) < 1500, (told, text)
            assert text.isprintable() and " at 0x" not in text, (told, text)
            return None
        except BaseException as error:
            raise AssertionError(f"{told}: {type(error).__name__}: {error}") from error
        finally:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < ROOM, (told, peak)
            assert not set(FOREIGN) & set(spy.seen), (told, spy.seen)

    return run


def check(name, count, seed, tried, tmp_path):
    model, data = fitted(name)
    save(model, tmp_path / "whole")
    whole, expected = (tmp_path / "whole").read_bytes(), answers(model, data)
    assert tried(whole, name) is not None
    refused = 0
    for case in range(count):
        rng = np.random.default_rng([seed, case])
        change = forged if case % 3 == 0 else by_accident
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # two members of a name; a version of scikit-learn that was changed
            done, altered = change(rng, whole)
            loaded = tried(
                altered, (name, change.__name__, done, seed, case), "forge" in done or case % 5 == 0
            )
        if loaded is None:
            refused += 1
        elif change is by_accident:
            for a, b in zip(answers(loaded, data), expected, strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"{name}, {done}, {seed}, {case}")
    assert refused > count // 2


@pytest.mark.parametrize("name", FEW)
def test_changed_files(name, tried, tmp_path):
    check(name, 40, 0, tried, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FITTED)
def test_changed_files_of_every_kind(name, tried, tmp_path):
    check(name, 150, 1, tried, tmp_path)
