"""--covariates: columns that the model is adjusted for, and that no kernel sees."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels.cli.app import app

RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(RNG.randn(60, 2), columns=["a", "b"]).assign(
    age=RNG.randint(20, 80, 60), site=RNG.choice(["A", "B"], 60)
)
TABLE["size"] = TABLE.a + 0.1 * TABLE.age + 2.0 * (TABLE.site == "B") + 0.1 * RNG.randn(60)


@pytest.fixture
def csv(tmp_path):
    TABLE.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def test_fit_and_predict(csv, tmp_path):
    model = tmp_path / "model"
    quick = ["-m", "sparse", "--no-score", "--json", "--quiet"]
    said = run("fit", csv, "-t", "size", "--covariates", "age,site", "--model", model, *quick)
    facts = json.loads(said.stdout)
    assert facts["covariates"]["age"] == pytest.approx(0.1, abs=0.05)
    assert list(facts["covariates"]) == ["age", "site=B"]
    assert not any("age" in name for name in facts["weights"])
    predicted = json.loads(run("predict", model, csv, "--json").stdout)["predictions"]["size"]
    assert np.corrcoef(predicted, TABLE["size"])[0, 1] > 0.95


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--covariates", "agee"], "Did you mean 'age'?"),
        (["--covariates", "age", "-m", "ufo"], "cannot adjust for them"),
        (["--covariates", "age", "-k", "gaussians"], "--kernels auto or linear"),
        (["--covariates", "a,b,age,site"], "all columns are --covariates"),
    ],
)
def test_what_is_wrong_is_said(csv, more, said):
    assert said in " ".join(run("fit", csv, "-t", "size", *more, code=2).output.split())
