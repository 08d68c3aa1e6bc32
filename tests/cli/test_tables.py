"""Raw tables in files: the command line makes the model that Python makes of the same table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.cli.test_commands import run
from tests.estimators.test_tables import QUIET, raw

from manykernels import MKLClassifierCV, load
from manykernels.families import views


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tables")
    frame, y = raw(60)
    frame["visit"] = frame["visit"].dt.strftime("%Y-%m-%d")
    frame["sick"] = np.where(y > 0, "yes", "no")
    frame.to_csv(path / "t.csv", index=False)
    frame[["age", "place", "sick"]].to_csv(path / "a.csv", index=False)
    frame[["crp", "visit", "smiles"]].to_csv(path / "b.csv", index=False)
    wide = frame[["age", "place", "crp", "visit", "sick"]]
    wide.columns = ["a__age", "a__place", "b__crp", "b__visit", "sick"]
    wide.to_csv(path / "wide.csv", index=False)
    return path


def fitted(folder, *asked):
    run("fit", *asked, "--target", "sick", "--no-score", "--model", folder / "m", "--force", "--jobs", 1)
    return load(folder / "m")


def same(model, other, X):
    assert model.best_params_ == other.best_params_
    assert model.kernel_names_ == other.kernel_names_
    chosen = X.reindex(columns=model.feature_names_in_)
    np.testing.assert_allclose(model.decision_function(chosen), other.decision_function(X), atol=1e-8)


@QUIET
@pytest.mark.parametrize("name", ["t.csv", pytest.param("wide.csv", marks=pytest.mark.slow)])
def test_a_file_gives_the_model_of_its_frame(folder, name):
    frame = pd.read_csv(folder / name)
    X = frame.drop(columns="sick")
    same(fitted(folder, folder / name), MKLClassifierCV().fit(X, frame["sick"]), X)


@QUIET
@pytest.mark.slow
def test_views_in_files_give_the_model_of_views(folder):
    one, other = pd.read_csv(folder / "a.csv"), pd.read_csv(folder / "b.csv")
    other.columns = [f"b__{name}" for name in other.columns]
    X = pd.concat([one.drop(columns="sick"), other], axis=1)
    python = MKLClassifierCV(views({"data": ["age", "place"], "b": list(other.columns)})).fit(X, one["sick"])
    same(fitted(folder, folder / "a.csv", "--view", f"b={folder / 'b.csv'}"), python, X)


@pytest.mark.parametrize("kernels", ["gaussians:1,4,2", "per-feature", "columns", "products:2", "widths"])
def test_kernels_of_numbers_see_prepared_columns(folder, kernels):
    asked = ["fit", folder / "t.csv", "-t", "sick", "-m", "sparse", "-k", kernels, "--no-score", "--force"]
    said = run(*asked, "--model", folder / "n").stderr
    assert "column 'smiles' is left out: text has no numbers" in said
    new = pd.read_csv(folder / "t.csv").head(5).drop(columns=["id", "sick", "unit"]).assign(place="moon")
    new.to_csv(folder / "new.csv", index=False)
    answer = run("predict", folder / "n", folder / "new.csv")
    assert len(answer.stdout.splitlines()) == 6 and "not seen: 'moon', in 'place'" in answer.stderr


def test_views_of_kernels_of_numbers(folder):
    asked = ["fit", folder / "a.csv", "--view", f"b={folder / 'b.csv'}", "-t", "sick", "-m", "sparse"]
    run(*asked, "-k", "gaussians:1,4,2", "--no-score", "--model", folder / "v", "--force")
    model = load(folder / "v")
    assert set(model[-1].view_weights_) == {"data", "b"}
    made = list(model[0].get_feature_names_out())
    assert "place=a" in made and "b__crp" in made and "age missing" in made


@pytest.mark.slow
def test_rivals_get_prepared_numbers(folder):
    said = run(
        "fit", folder / "t.csv", "-t", "sick", "-m", "sparse", "--cv", 2, "--report", folder / "r.html"
    )
    assert "is not scored" not in said.stderr
    assert "tuned SVC" in (folder / "r.html").read_text()
