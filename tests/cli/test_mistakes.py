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
    "unknown method": ("fit all.csv -t outcome --method spars", "Did you mean 'sparse'?"),
}


@pytest.mark.parametrize(("command", "advice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_in_one_line_that_says_what_to_do(command, advice, folder, monkeypatch):
    monkeypatch.chdir(folder)
    said = CliRunner().invoke(app, command.split())
    (error,) = [line for line in said.output.splitlines() if line.startswith("error: ")]
    assert said.exit_code == 2 and advice in error and "Traceback" not in said.output
    assert "cv=" not in error and "--task regression" not in error and "latin-1" not in error


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
