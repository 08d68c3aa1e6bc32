"""No command destroys a file: not what it reads, not what it writes, not what somebody else made."""

from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_bad_files import GOOD, refused
from typer.testing import CliRunner

from manykernels import load
from manykernels.cli._console import Voice
from manykernels.cli.app import app
from manykernels.cli.outputs import _same
from manykernels.cli.predictions import is_predictions, neutralised


def run(*args):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a table, which nothing may change."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(GOOD)
    yield tmp_path
    assert (tmp_path / "t.csv").read_text() == GOOD


FIT = ["fit", "t.csv", "-t", "t", "-m", "sparse", "--no-score", "-q"]


@pytest.fixture
def model(here):
    run(*FIT, "--model", "m")
    return here / "m"


@pytest.mark.parametrize("option", ["--model", "--report"])
def test_an_output_that_is_read(option, here):
    (here / "link.csv").symlink_to("t.csv")
    os.link("t.csv", "hard.csv")
    (here / "sub").mkdir()
    for name in ("t.csv", "./sub/../t.csv", here / "t.csv", "link.csv", "hard.csv", "T.CSV"):
        line = refused(*FIT, option, name, "--force")
        assert f"{option} " in line and "is also read by this command" in line
    line = refused("fit", "--view", "one=t.csv", "-t", "t", option, "t.csv")
    assert "is also read by this command" in line


def test_predictions_that_would_replace_what_is_read(model, here):
    assert "is also read" in refused("predict", "m", "t.csv", "--out", "t.csv", "--force")
    model.rename(here / "m.csv")
    before = (here / "m.csv").read_bytes()
    assert "is also read" in refused("predict", "m.csv", "t.csv", "--out", "m.csv", "--force")
    assert (here / "m.csv").read_bytes() == before


def test_two_outputs_in_one_file(here):
    for other in ("a", "./a", here / "a", "A"):
        line = refused(*FIT, "--model", "a", "--report", other, "--force")
        assert "--model a and --report" in line and "the same file" in line
    assert sorted(os.listdir(here)) == ["t.csv"]
    (here / "b").symlink_to("a")
    assert "the same file" in refused(*FIT, "--model", "a", "--report", "b")


def test_devices_are_no_files(here):
    assert not _same(here / "t.csv", here)
    run(*FIT, "--model", os.devnull)


def test_files_of_another_kind_need_force(model, here):
    for name, text in (
        ("notes.txt", b"my notes"),
        ("a.docx", b"PK\x03\x04 and more"),
        ("r.html", b"<html>mine"),
    ):
        (here / name).write_bytes(text)
        for option, kind in (("--model", "a model"), ("--report", "a report")):
            line = refused(*FIT, option, name)
            assert f"is not {kind}" in line and "--force" in line
        assert (here / name).read_bytes() == text
    assert "is not a report" in refused("demo", "--report", "notes.txt")
    assert "is not a report" in refused(*FIT, "--report", "m")  # a model is not a report either
    load(model)
    run(*FIT, "--model", "notes.txt", "--force")
    load(here / "notes.txt")
    run(*FIT, "--model", "notes.txt")  # what the command wrote itself it may replace
    (here / "empty").touch()
    run(*FIT, "--model", "empty")


def test_predictions_replace_only_predictions(model, here):
    run("predict", "m", "t.csv", "--out", "p.csv")
    run("predict", "m", "t.csv", "--out", "p.csv", "--first", "3")
    assert len(pd.read_csv(here / "p.csv")) == 3
    run("predict", "m", "t.csv", "--out", "p.parquet")
    run("predict", "m", "t.csv", "--out", "p.parquet")
    for name, text in (
        ("truth.csv", "t\nx\ny\n"),
        ("table.csv", "a,b,c,decision of y\n1,2,3,4\n"),
        ("x.npy", "x"),
    ):
        (here / name).write_text(text)
        assert "not known to be predictions" in refused("predict", "m", "t.csv", "--out", name)
        assert (here / name).read_text() == text
        run("predict", "m", "t.csv", "--out", name, "--force")


def test_what_is_taken_for_predictions(tmp_path):
    path = tmp_path / "p.csv"
    for text, known in (
        ("row,t,probability of a,probability of b\n", True),
        ('"id, or so","t, u",decision of a\n', True),
        ("t\n1\n", False),
        ("decision of a\n1\n", False),
        ("row,t,decision of a,note\n", False),
        ("", False),
        ("\xff\xfe", False),
    ):
        path.write_bytes(text.encode("latin-1"))
        assert is_predictions(path) == known, text


# -- spreadsheets ---------------------------------------------------------------------------------
def test_formulas_are_neutralised_in_csv_only(here):
    label = '=HYPERLINK("http://x")'
    rows = [f"{i + i // 19},{i * i % 7},{['-', label][i % 2]}" for i in range(20)]
    cells = [
        ",".join([*row.split(",")[:2], '"' + row.split(",", 2)[2].replace('"', '""') + '"']) for row in rows
    ]
    (here / "f.csv").write_text("a,b,=t\n" + "\n".join(cells) + "\n")
    run("fit", "f.csv", "-t", "=t", "-m", "sparse", "--no-score", "-q", "--model", "m")
    result = run("predict", "m", "f.csv", "--out", "p.csv")
    assert "--verbatim" in result.stderr
    safe = pd.read_csv(here / "p.csv")
    assert safe.columns[1] == "'=t" and set(safe["'=t"]) == {f"'{label}", "-"}
    run("predict", "m", "f.csv", "--out", "p.csv", "--verbatim")
    assert set(pd.read_csv(here / "p.csv")["=t"]) == {label, "-"}
    assert f"'{label}" not in run("predict", "m", "f.csv", "--json").stdout
    run("predict", "m", "f.csv", "--out", "p.parquet")
    assert set(pd.read_parquet(here / "p.parquet")["=t"]) == {label, "-"}


def test_what_is_a_formula():
    texts = ["=1+1", "+cmd|'/C calc'!A0", "-2+3", "@SUM(A1)", " =1", "\t=1", "＝1+1", "-x"]
    plain = ["+", "-", "-1", "+2.5", "-1e3", "x=1", "", "a-b", "-inf"]
    frame = pd.DataFrame({"t": texts + plain, "n": -np.arange(len(texts + plain), dtype=float)})
    new = neutralised(frame, Voice(quiet=True))
    assert list(new["t"]) == [f"'{text}" for text in texts] + plain
    np.testing.assert_array_equal(new["n"], frame["n"])
    assert list(frame["t"]) == texts + plain
