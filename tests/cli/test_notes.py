"""Notes of one kind are one line, and none of them is lost."""

from __future__ import annotations

import json
import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from tests.cli.test_bad_files import GOOD
from typer.testing import CliRunner

from manykernels import MKLClassifier
from manykernels.cli import comparing
from manykernels.cli._console import plainly
from manykernels.cli.app import app
from manykernels.cli.notes import Notes, kind_of


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("column 'x' is left out: text with 120 values.", "column 'y z' is left out: text with 7 values."),
        ("kernel 'a' is zero: weight zero.", "kernels 'a', \"b's\" and 3 more are zero: weight zero."),
        (
            "MKLClassifier stopped after 10 iterations at a gap of 2.1e-03, above tol=0.001.",
            "LocalizedMKLRegressor stopped after 999 iterations at a gap of 1e+01, above tol=1e-05.",
        ),
    ],
)
def test_what_one_kind_is(a, b):
    assert kind_of(a) == kind_of(b)


def test_other_sentences_are_other_kinds():
    texts = [
        "column 'x' is left out: it has no values.",
        "column 'x' is left out: it has no name.",
        "3 rows.",
    ]
    assert len({kind_of(text) for text in texts}) == 3


def test_a_line_for_each_kind():
    notes = Notes()
    for method in ("sparse", "lp"):
        for gap in (0.1, 0.2):
            assert notes.add(f"stopped at a gap of {gap}. Raise tol, or scale the features.", of=method)
    assert not notes.add("stopped at a gap of 0.1. Raise tol, or scale the features.", of="lp")
    notes.add("column 'a' is left out. It has no values.")
    assert list(notes.lines()) == [
        "sparse: stopped at a gap of 0.1. 4 such notes (sparse, lp); --debug shows each.",
        "column 'a' is left out. It has no values.",
    ]
    notes.add("column 'b' is left out. It has no values.")
    assert not list(notes.lines())
    assert list(notes.lines(last=True)) == ["1 more note such as those above; --debug shows each."]
    assert not list(notes.lines(last=True)) and len(notes.texts) == 6


def test_what_notes_of_a_kind_are_about():
    notes = Notes()
    for name in "abcdef":
        notes.add(f"column {name!r} is left out: it has no values.")
    (line,) = notes.lines()
    assert line == (
        "column 'a' is left out: it has no values. 6 such notes ('a', 'b', 'c', 'd' and 2 more); "
        "--debug shows each."
    )


def spoken(capsys, **how):
    def command(voice):
        for n in (3, 4):
            warnings.warn(f"{n} kernels are one.", UserWarning, stacklevel=1)
        voice.show("the answer")
        warnings.warn("5 kernels are one.", UserWarning, stacklevel=1)
        raise SystemExit(130)

    with pytest.raises(SystemExit), warnings.catch_warnings():
        warnings.simplefilter("always")
        plainly(command)(**{"json_": False, "quiet": False, "debug": False, **how})
    return capsys.readouterr()


def test_notes_come_before_the_answer_and_are_whole_with_debug(capsys):
    said = spoken(capsys)
    assert said.out == "the answer\n"
    assert said.err.splitlines() == [
        "note: 3 kernels are one. 2 such notes; --debug shows each.",
        "note: 1 more note such as those above; --debug shows each.",
    ]
    assert spoken(capsys, debug=True).err.count("kernels are one.") == 3
    assert spoken(capsys, quiet=True).err == ""


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_warnings_in_folds_are_one_line(tmp_path, jobs):
    """Of 2 methods in 3 folds each; in other processes too."""
    (tmp_path / "t.csv").write_text(GOOD)
    asked = ["compare", tmp_path / "t.csv", "-t", "t", "-m", "sparse", "-m", "lp", "--cv", 3, "--no-tune"]
    asked += ["--jobs", jobs]
    few = {"sparse": {"max_iter": 1, "tol": 1e-12}, "lp": {"max_iter": 1, "tol": 1e-12, "norm": 2.0}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "pipeline", lambda data, name, *_, **__: MKLClassifier(**few[name]))
        whole = CliRunner().invoke(app, [str(a) for a in [*asked, "--json"]])
        short = CliRunner().invoke(app, [str(a) for a in asked])
    notes = [note for note in json.loads(whole.stdout)["notes"] if "above tol" in note]
    assert len(notes) >= 2
    lines = [line for line in short.stderr.splitlines() if "above tol" in line]
    assert len(lines) == 1 and f"{len(notes)} such notes (sparse, lp)" in lines[0]
    assert "UserWarning" not in short.stderr and ConvergenceWarning.__name__ not in short.stderr
