"""Sets of columns from a file are views: of one table, or of those of its views that have them."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels.cli._console import UserError, Voice
from manykernels.cli.app import app
from manykernels.cli.groups import grouped


@pytest.fixture
def sets(tmp_path):
    path = tmp_path / "sets.gmt"
    path.write_text("A\tx\tg0\tg1\nB\tx\tg1\tg2\nC\tx\tzz\n")
    return path


def test_one_table(sets):
    voice = Voice(quiet=True)
    assert grouped(sets, {"": ["age", "g0", "g1", "g2"]}, voice) == {"A": ["g0", "g1"], "B": ["g1", "g2"]}
    (said,) = voice.notes
    assert "'zz'" in said and "'C'" in said and "'age'" in said


def test_views(sets):
    """Each view with such columns has sets of its own; others stay whole, and nothing is said of them."""
    clinic, rna = ["clinic__age", "clinic__sex"], ["rna__g0", "rna__g1"]
    voice = Voice(quiet=True)
    found = grouped(sets, {"clinic": clinic, "rna": rna}, voice)
    assert found == {"clinic": clinic, "A": rna, "B": ["rna__g1"]}
    assert not any("age" in note for note in voice.notes)
    found = grouped(sets, {"rna": rna, "cnv": ["cnv__g2"]}, voice)
    assert found == {"rna: A": rna, "rna: B": ["rna__g1"], "cnv: B": ["cnv__g2"]}


def test_bad_files(sets, tmp_path):
    with pytest.raises(UserError, match="no such file"):
        grouped(tmp_path / "none.gmt", {"": ["g0"]}, Voice(quiet=True))
    with pytest.raises(UserError, match="No gene of"):
        grouped(sets, {"": ["age"]}, Voice(quiet=True))


def test_fit_learns_the_weights_of_sets(sets, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["g0", "g1", "g2"]).assign(age=50)
    frame["y"] = frame["g0"] + 0.1 * rng.normal(size=60)
    frame.to_csv(tmp_path / "t.csv", index=False)
    command = ["fit", str(tmp_path / "t.csv"), "-t", "y", "--groups", str(sets), "-m", "sparse", "--json"]
    done = CliRunner().invoke(app, [*command, "--kernels", "linear", "--no-score", "--no-importance"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert set(told["weights"]) <= {"A: Linear", "B: Linear"} and told["weights"]["A: Linear"] > 0.5
    refused = CliRunner().invoke(app, [*command, "--kernels", "widths"])
    assert refused.exit_code == 2 and "--groups; expected auto or linear" in refused.output
