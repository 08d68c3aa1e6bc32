"""Ten common mistakes of a new user: each is answered in one line that says what to do."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels.cli import main
from manykernels.cli.app import app


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, parts of it that cannot be learned from, and files that are none."""
    where = tmp_path_factory.mktemp("mistakes")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["age", "dose", "weight"]).round(3)
    frame = frame.assign(outcome=np.where(frame["age"] > 0, "ill", "well"))
    frame.assign(note=[f"seen by nurse {k}, came back" for k in range(120)]).to_csv(
        where / "all.csv", index=False
    )
    frame.assign(outcome="ill").to_csv(where / "one.csv", index=False)
    frame.iloc[[0, 1, 2]].to_csv(where / "few.csv", index=False)
    frame[["age"]].to_csv(where / "view.csv", index=False)
    frame[["dose"]].head(30).to_csv(where / "short.csv", index=False)
    lone = frame.assign(outcome=np.where(np.arange(120) == 7, "unclear", frame["outcome"]))
    lone.to_csv(where / "lone.csv", index=False)
    written = frame["outcome"].where(np.arange(120) % 3 > 0, frame["outcome"] + " ")
    written[4:6], written[6:12] = ["?", "."], written[6:12].str.capitalize()
    frame.assign(outcome=written).to_csv(where / "written.csv", index=False)
    frame.assign(dose=frame["dose"].abs()).to_csv(where / "times.csv", index=False)
    (where / "picture.png").write_bytes(b"\x89PNG")
    (where / "old.model").write_bytes(b"not a model")
    (where / "binary.csv").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x01\xff\xfe" * 20)
    (where / "header.csv").write_text("age,outcome\n")
    return where


MISTAKES = {
    "wrong target": ("fit all.csv -t outcom", "Did you mean 'outcome'?"),
    "text column": ("fit all.csv -t note", "Is it the right column? Name another one by --target."),
    "binary file": ("fit binary.csv -t outcome", "it holds binary data. Save the table as CSV"),
    "no rows": ("fit header.csv -t outcome", "Add a row for each sample"),
    "groups of one": ("fit one.csv -t age --sample-groups outcome", "needs two. Name another column"),
    "unknown groups": ("fit all.csv -t age --sample-groups outcom", "Did you mean 'outcome'? There are"),
    "few groups": ("fit all.csv -t age --sample-groups outcome", "Give --cv 2 or less"),
    "missing view": ("fit --view a=view.csv --view b=short.csv -t age", "name it by --id NAME"),
    "one class": (
        "fit one.csv -t outcome",
        "Name another column by --target, or add rows",
    ),
    "too few rows": (
        "fit few.csv -t age -m sparse",
        "3 samples cannot be cut into 5 folds. Give fewer folds by --cv, add rows",
    ),
    "wrong file": ("fit picture.png -t outcome", "Save the table as CSV"),
    "no file": ("fit al.csv -t outcome", "Check its name"),
    "old model": ("predict old.model all.csv", "Fit it again with `manykernels fit … --model old.model`."),
    "table as model": ("predict all.csv view.csv", "expected `manykernels predict MODEL DATA`"),
    "no model": ("predict none.model all.csv", "`manykernels fit … --model none.model` writes it."),
    "unknown option": (
        "fit all.csv -t outcome --methd sparse",
        "`manykernels fit --help`",
    ),
    "report as PDF": ("fit all.csv -t outcome --report out.pdf", "expected .html or .md."),
    "budget beside times": (
        "fit times.csv --time dose --event outcome=ill --time-budget 5",
        "--time-budget does not work with times to an event; leave it out.",
    ),
    "budget beside a method": ("fit all.csv -t age -m lp --time-budget 5", "lp; take --method auto."),
    "no event": ("fit all.csv --time dose", "did it have the event then? Name the column by --event"),
    "unknown method": ("fit all.csv -t outcome --method spars", "Did you mean 'sparse'?"),
}


@pytest.mark.parametrize(("command", "advice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_in_one_line_that_says_what_to_do(command, advice, folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, command.split())
    (error,) = [line for line in said.output.splitlines() if line.startswith("error: ")]
    assert said.exit_code == 2 and advice in error and "Traceback" not in said.output
    assert "cv=" not in error and "--task regression" not in error and "latin-1" not in error


@pytest.mark.parametrize(
    ("command", "end"),
    [
        ("fit lone.csv -t outcome", "; leave that sample out, or join the class with another one."),
        ("compare few.csv -t age", "Give fewer folds by --cv, or add rows."),
    ],
)
def test_no_option_is_advised_that_does_not_help(command, end, folder, monkeypatch):
    """No number of folds helps a class of one sample, and `compare` has nothing but scores."""
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(app, command.split()).output.rstrip().endswith(end)


def test_classes_are_read_without_blanks_and_what_is_alike_is_said(folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, "fit written.csv -t outcome -m sparse --no-score".split())
    told = " ".join(said.output.split())
    assert said.exit_code == 0 and "118 samples, 3 columns, 4 classes of 'outcome'; learned in" in told
    assert "2 rows without a value of 'outcome' are left out" in told
    assert "the classes 'Ill' and 'ill', 'Well' and 'well' of the target 'outcome' are written alike" in told


def test_gaps_are_filled_and_said(folder, monkeypatch):
    monkeypatch.chdir(folder)
    frame = pd.read_csv("all.csv")
    frame.loc[3:8, "dose"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    said = CliRunner().invoke(app, "fit gaps.csv -t outcome -m sparse --no-score".split())
    assert said.exit_code == 0 and "missing values are filled with the median in 'dose'" in said.output


def test_a_missing_extra_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "manykernels.cli.app", None)
    with pytest.raises(SystemExit):
        main()
    assert "pip install 'manykernels[cli]'" in capsys.readouterr().err


def test_a_missing_package_is_no_bug(folder, monkeypatch):
    """Of all that is installed only skops is not there, which writes models."""
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "skops.io", None)
    said = CliRunner().invoke(
        app, "fit all.csv -t outcome --drop note -m sparse --no-score -o new.model".split()
    )
    assert said.exit_code == 2 and "pip install 'manykernels[cli]'" in said.output
    assert "a bug" not in said.output
