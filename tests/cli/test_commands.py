"""The commands: from files to models, predictions and comparisons."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from tests.fitted_models import X, kernels, numbers, three, y
from typer.testing import CliRunner

from manykernels import MKLClassifierCV, load
from manykernels._checks import RULES
from manykernels.cli import commands, importances, learned, resamples, scores, work
from manykernels.cli._console import Voice
from manykernels.cli.app import app
from manykernels.comparison import folds
from manykernels.report import data
from manykernels.solvers import History

COMMAND = Path(sys.executable).with_name("manykernels")


def run(*args, code=0):
    """The answer on stdout, and what is said on stderr; no traceback, whatever happens."""
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert "Traceback" not in result.output
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def table():
    frame = pd.DataFrame(X, columns=["age", "bmi", "dose", "time"])
    frame["group"] = np.where(X[:, 3] > 0, "left", "right")
    return frame.assign(sick=np.where(y == 1, "yes", "no"), size=numbers)


@pytest.fixture
def csv(table, tmp_path):
    table.drop(columns="size").to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


# -- fit and predict ------------------------------------------------------------------------------
def test_fit_writes_a_model_that_predict_uses(csv, table, tmp_path):
    model, out = tmp_path / "model", tmp_path / "answer.csv"
    result = run("fit", csv, "--target", "sick", "-m", "sparse", "--model", model, "--cv", 3)
    assert "kernels have weight" in result.stdout and "cross-validated (3 folds)" in result.stdout
    run("predict", model, csv, "--out", out)
    answer = pd.read_csv(out)
    assert list(answer.columns) == ["row", "sick", "decision of yes"]
    assert (answer["sick"] == table["sick"]).mean() > 0.9
    assert list(answer["decision of yes"] > 0) == list(answer["sick"] == "yes")


def test_the_default_searches_and_says_what_it_took(csv, tmp_path):
    asked = [
        "fit",
        csv,
        "--target",
        "sick",
        "--cv",
        2,
        "-k",
        "gaussians:1,8,3",
        "--model",
        tmp_path / "model",
    ]
    document = json.loads(run(*asked, "--json").stdout)
    assert document["chosen"]["strategy"] == "finite" and document["chosen"]["C"] > 0
    assert document["method"] == "auto" and 0.5 < document["score"]["mean"] <= 1.0
    assert hasattr(load(tmp_path / "model")[-1], "best_params_")


def test_many_rows_are_raced_and_features_asked_for(csv, tmp_path, monkeypatch):
    from manykernels.selection import plan

    sizes = {"WHOLE": 20, "EXACT": 30, "FEW": 8, "_RACE": (20, 30), "_SECOND": 30, "_FEWEST": 5}
    for name, value in sizes.items():
        monkeypatch.setattr(plan, name, value)
    monkeypatch.setattr(commands, "_MANY_SAMPLES", 40)
    quick = ("fit", csv, "--target", "sick", "--no-score", "--no-importance", "--jobs", 1)
    result = run(*quick, "--time-budget", 60, "--model", tmp_path / "model")
    assert (
        "models are compared on some of them" in result.stderr
        and "chosen by cross-validation: strategy" in result.stdout
    )
    run("predict", tmp_path / "model", csv)
    assert "--method auto, --approx nystroem:200" in run(*quick, "-m", "sparse").stderr
    features = run(*quick, "-m", "sparse", "--approx", "nystroem:30")
    assert "raced" not in features.stderr and "certified" in features.stdout
    assert "--approx wide: expected auto, none" in run(*quick, "--approx", "wide", code=2).stderr
    assert "take --method auto" in run(*quick, "-m", "ufo", "--time-budget", 1, code=2).stderr


@pytest.mark.slow
def test_a_model_of_noise_is_no_better_than_guessing(tmp_path):
    """By the first sentence of the page, too; certified or not."""
    draw = np.random.default_rng(1)
    frame = pd.DataFrame(draw.standard_normal((40, 3)), columns=list("abc"))
    frame.assign(t=draw.permutation(np.repeat(["no", "yes"], 20))).to_csv(tmp_path / "n.csv", index=False)
    asked = ["fit", tmp_path / "n.csv", "-t", "t", "-m", "sparse", "-k", "columns", "--cv", 3]
    document = json.loads(run(*asked, "--json").stdout)
    assert document["better_than_chance"] is False and document["chance"]["mean"] == pytest.approx(
        0.5, abs=0.1
    )
    assert len(document["permutation"]["null"]) == 19 and document["permutation"]["p_value"] > 0.05
    shown = run(*asked, "--permutations", 0).stdout
    assert "better than guessing (always the largest class)" in shown and "permutations" not in shown


def test_fit_lists_what_to_be_careful_about_and_nothing_where_all_is_well(csv, table, tmp_path):
    asked = ("--target", "sick", "-m", "sparse", "--no-score", "--no-significance")
    assert "MK" not in run("fit", csv, *asked).stdout
    leaky = tmp_path / "leaky.csv"
    table.assign(treated=np.where(y == 1, 2.5, 0.0)).drop(columns="size").to_csv(leaky, index=False)
    shown = run("fit", leaky, *asked).stdout
    assert "`manykernels checks CODE` says what to do" in shown and "MK412  Column 'treated' alone" in shown
    answer = json.loads(run("fit", leaky, *asked, "--json").stdout)
    assert [check["code"] for check in answer["checks"]] == ["MK412"]


def test_checks_are_explained_by_code():
    shown = run("checks").stdout
    assert all(rule.code in shown and rule.advice.split()[0] in shown for rule in RULES)
    answer = json.loads(run("checks", "mk412", "--json").stdout)
    assert [check["code"] for check in answer["checks"]] == ["MK412"]
    assert "MK999" in run("checks", "MK999", code=2).stderr


def test_fit_names_the_columns_and_views_that_matter(csv, table, tmp_path):
    """By raw columns, also where one kernel reads all of them, and by views where there are any."""
    asked = ["-k", "gaussians:4,4,1", "-m", "sparse", "--cv", 3, "--permutations", 0]
    document = json.loads(run("fit", csv, "-t", "sick", *asked, "--json").stdout)
    columns = document["importance"]["columns"]
    assert set(columns) == {"age", "bmi", "dose", "time", "group"} and document["importance"]["views"] is None
    assert list(columns) == sorted(columns, key=lambda name: -columns[name]["loss"])
    assert all(one["low"] <= one["loss"] <= one["high"] for one in columns.values())
    table[["age", "bmi"]].to_csv(tmp_path / "a.csv", index=False)
    table[["dose", "time"]].assign(sick=table["sick"]).to_csv(tmp_path / "b.csv", index=False)
    seen = [f"--view={name}={tmp_path / name}.csv" for name in ("a", "b")]
    shown = run("fit", *seen, "-t", "sick", *asked).stdout
    assert re.search(r"^columns.* matter", shown, re.M)
    for name in ("a", "b"):  # each with its share, its bar, and what is lost without it, with an interval
        assert re.search(rf"^{name} +\d+ % .* −?\d\.\d{{3}} \(−?\d\.\d{{3}} to −?\d\.\d{{3}}\)", shown, re.M)
    assert re.search(r"of 2 views .* related to the target \(each tested by itself, with adjusted p", shown)
    document = json.loads(run("fit", *seen, "-t", "sick", *asked, "--no-importance", "--json").stdout)
    assert document["importance"] is None and sum(document["view_shares"].values()) == pytest.approx(1.0)
    p = document["significance"]["views"]
    assert set(p) == {"a", "b"} and all(one["p"] <= one["p_adjusted"] <= 1.0 for one in p.values())


def test_tests_are_left_out_where_nobody_asks_for_them_or_they_do_not_apply(table, tmp_path):
    path = tmp_path / "three.csv"
    table.assign(stage=np.array(["i", "ii", "iii"])[np.arange(len(table)) % 3]).to_csv(path, index=False)
    asked = ["fit", path, "-m", "sparse", "--no-score", "-k", "columns"]
    document = json.loads(run(*asked, "-t", "sick", "--no-significance", "--json").stdout)
    assert document["significance"] is None
    result = run(*asked, "-t", "stage", "--significance")
    assert "the significance tests were skipped. The tests take two classes" in result.stderr
    assert "tests were skipped" not in run(*asked, "-t", "stage").stderr


@pytest.mark.slow
def test_importance_that_would_take_too_long_is_left_out(csv, tmp_path, monkeypatch):
    monkeypatch.setattr(importances, "_SECONDS", 0.0)
    page = tmp_path / "report.html"
    asked = ["-m", "sparse", "--cv", 2, "--permutations", 0, "--no-stability", "--report", page]
    result = run("fit", csv, "-t", "sick", *asked)
    assert "columns that matter" not in result.stdout
    assert "the importance of columns was skipped. It would take more than 0 s" in result.stderr
    assert "It would take more than 0 s" in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_report_says_that_only_views_were_shuffled(table, tmp_path, monkeypatch):
    monkeypatch.setattr(importances, "_COLUMNS", (0, 0, 0))
    table[["age", "bmi"]].to_csv(tmp_path / "a.csv", index=False)
    table[["dose", "time"]].assign(sick=table["sick"]).to_csv(tmp_path / "b.csv", index=False)
    seen, page = [f"--view={name}={tmp_path / name}.csv" for name in ("a", "b")], tmp_path / "report.html"
    asked = ["-m", "sparse", "--cv", 2, "--permutations", 0, "--no-stability", "--report", page]
    run("fit", *seen, "-t", "sick", *asked)
    told = page.read_text(encoding="utf-8")
    assert "To shuffle single columns would take more than 30 s" in told
    assert "The importance of a view is what accuracy loses" in told


def test_the_rival_can_be_fitted_too(csv, tmp_path):
    document = json.loads(run("fit", csv, "-t", "sick", "-m", "single", "--cv", 2, "--json").stdout)
    assert document["weights"] == {} and document["score"]["mean"] > 0.5
    assert "cross-validated" in run("fit", csv, "-t", "sick", "-m", "single", "--cv", 2).stdout


def test_a_model_is_an_ordinary_pipeline_in_python(csv, table, tmp_path):
    run("fit", csv, "-t", "sick", "-m", "sparse", "--no-score", "--model", tmp_path / "model", "-q")
    out = run("predict", tmp_path / "model", csv).stdout.splitlines()[1:]
    assert [line.split(",")[1] for line in out] == list(load(tmp_path / "model").predict(table))


def test_predict_finds_columns_by_name(csv, table, tmp_path):
    model = tmp_path / "model"
    run("fit", csv, "-t", "sick", "-m", "sparse", "--no-score", "--model", model)
    expected = run("predict", model, csv).stdout
    shuffled = table[table.columns[::-1]].drop(columns="sick").assign(extra="?")
    shuffled.to_parquet(tmp_path / "new.parquet")
    assert run("predict", model, tmp_path / "new.parquet").stdout == expected
    table.drop(columns="bmi").to_csv(tmp_path / "less.csv", index=False)
    result = run("predict", model, tmp_path / "less.csv", code=2)
    assert "needs the column 'bmi', which is not there" in result.stderr and "Rename" not in result.stderr
    table.rename(columns={"bmi": "BMI ", "age": "aeg"}).to_csv(tmp_path / "other.csv", index=False)
    result = run("predict", model, tmp_path / "other.csv", code=2)
    assert "needs the columns 'age', 'bmi', which are" in result.stderr
    assert "Rename 'aeg' to 'age', 'BMI ' to 'bmi' if these are meant." in result.stderr
    assert "Did you mean 'sick'?" in run("fit", csv, "-t", "Sik", code=2).stderr
    assert "Did you mean 'sparse'?" in run("fit", csv, "-t", "sick", "-m", "spars", code=2).stderr
    table.assign(bmi="tall").to_csv(tmp_path / "text.csv", index=False)
    assert "'bmi' holds 'tall'" in run("predict", model, tmp_path / "text.csv", code=2).stderr


def test_regression_and_every_way_to_write_predictions(table, tmp_path):
    table.drop(columns="sick").to_parquet(tmp_path / "data.parquet")
    model = tmp_path / "model"
    document = json.loads(
        run("fit", tmp_path / "data.parquet", "-t", "size", "-m", "lp", "--model", model, "--json").stdout
    )
    assert document["task"] == "regression" and document["samples"] == len(table)
    answers = []
    for name in ("a.csv", "a.parquet", "a.npy"):
        run("predict", model, tmp_path / "data.parquet", "--out", tmp_path / name, "-q")
    answers.append(pd.read_csv(tmp_path / "a.csv")["size"].to_numpy())
    answers.append(pd.read_parquet(tmp_path / "a.parquet")["size"].to_numpy())
    answers.append(np.load(tmp_path / "a.npy"))
    plain = json.loads(run("predict", model, tmp_path / "data.parquet", "--json").stdout)
    answers.append(np.array(plain["predictions"]["size"]))
    for answer in answers[1:]:
        np.testing.assert_allclose(answer, answers[0])
    assert (
        "written to .csv" in run("predict", model, tmp_path / "data.parquet", "--out", "a.xls", code=2).stderr
    )


def test_the_first_half_that_is_learned_from_shows_a_sign_of_life():
    """It says how long the others take, and may itself take many seconds."""
    shown = []

    class Shown(Voice):
        def waiting(self, text):
            shown.append(text)
            return nullcontext()

    again = resamples.Again(
        lambda: time.sleep(0.01) or shown.append("half"), lambda **_: None, lambda **_: {}
    )
    resamples.resampled(Shown(quiet=True), SimpleNamespace(weights=np.ones(2)), [], again)
    assert shown == ["learning from half of the data", "half"]


def test_several_files_are_several_views(table, tmp_path):
    table[["age", "bmi"]].to_csv(tmp_path / "a.csv", index=False)
    np.save(tmp_path / "b.npy", X[:, 2:])
    table[["sick"]].to_csv(tmp_path / "y.csv", index=False)
    both = ["--view", f"gene={tmp_path / 'a.csv'}", "--view", f"image={tmp_path / 'b.npy'}"]
    model = tmp_path / "model"
    result = run(
        "fit",
        tmp_path / "y.csv",
        *both,
        "-t",
        "sick",
        "-m",
        "sparse",
        "--model",
        model,
        "--json",
        "--no-score",
    )
    views = json.loads(result.stdout)["views"]
    assert list(views) == ["gene", "image"] and sum(views.values()) == pytest.approx(1.0, abs=1e-6)
    assert len(run("predict", model, *both).stdout.splitlines()) == len(table) + 1
    result = run("predict", model, *both[:2], code=2)
    assert "needs the view 'image', which was not given: add --view image=FILE." in result.stderr
    table.iloc[:9][["sick"]].to_csv(tmp_path / "y.csv", index=False)
    result = run("fit", tmp_path / "y.csv", *both, "-t", "sick", code=2)
    assert "DATA 9, gene 48, image 48" in result.stderr
    assert "expected NAME=FILE" in run("fit", "--view", "a.csv", "-t", "sick", code=2).stderr


def test_arrays_of_an_npz_file_are_columns_and_views(tmp_path):
    np.savez(tmp_path / "d.npz", a=X[:, :2], b=X[:, 2:], label=three)
    result = run("fit", tmp_path / "d.npz", "-t", "label", "-m", "sparse", "--json", "--no-score")
    assert list(json.loads(result.stdout)["views"]) == ["a", "b"]
    np.savez(tmp_path / "d.npz", a=X, label=three)
    result = run("fit", tmp_path / "d.npz", "-t", "label", "-m", "uniform", "--json", "--no-score")
    assert json.loads(result.stdout)["views"] == {}


def test_precomputed_kernels(tmp_path):
    train, new = np.arange(30), np.arange(30, 48)
    matrices = {name: kernel(X) for name, kernel in kernels.items()}
    np.savez(tmp_path / "k.npz", y=y[train], **{k: K[np.ix_(train, train)] for k, K in matrices.items()})
    np.savez(tmp_path / "n.npz", **{k: K[np.ix_(new, train)] for k, K in matrices.items()})
    model = tmp_path / "model"
    given = ["fit", tmp_path / "k.npz", "--precomputed", "-t", "y"]
    document = json.loads(run(*given, "--model", model, "--json", "--cv", 3, "-m", "sparse").stdout)
    assert set(document["weights"]) <= set(kernels)
    predicted = [
        int(line.split(",")[1]) for line in run("predict", model, tmp_path / "n.npz").stdout.splitlines()[1:]
    ]
    assert predicted == list(
        load(model).predict(np.stack([K[np.ix_(new, train)] for K in matrices.values()], -1))
    )
    assert "leave --kernels out" in run(*given, "-k", "widths", code=2).stderr
    assert "makes its own kernels" in run(*given, "-m", "hierarchical", code=2).stderr
    np.savez(tmp_path / "k.npz", y=y[:5], **matrices)
    assert "5 targets" in run(*given, code=2).stderr


@pytest.mark.parametrize("spec", ["gaussians:0.5,8,4", "per-feature", "columns", "products:2", "widths"])
def test_kernels_by_name(spec, csv):
    document = json.loads(
        run("fit", csv, "-t", "sick", "-m", "sparse", "-k", spec, "--no-score", "--json").stdout
    )
    assert document["weights"]


def test_gaps_and_categories_are_dealt_with_and_told(table, tmp_path):
    table.loc[3, "age"] = np.nan
    table.loc[4, "group"] = None
    table["note"] = [f"free text {i}" for i in range(len(table))][::-1]
    table["word"] = [f"w{i % 60}" for i in range(len(table))]
    wide = pd.concat([table] * 2)
    wide["note"] = [f"free text {i}" for i in range(len(wide))]
    wide.to_csv(tmp_path / "d.csv")
    model = tmp_path / "model"
    result = run(
        "fit",
        tmp_path / "d.csv",
        "-t",
        "sick",
        "--drop",
        "size",
        "-m",
        "sparse",
        "--model",
        model,
        "--no-score",
    )
    assert "median in 'age'" in result.stderr and "compared by its substrings in 'note'" in result.stderr
    assert "'Unnamed: 0' is left out" in result.stderr
    unseen = table.assign(group="never seen", note="", word="w0")
    unseen.to_csv(tmp_path / "new.csv", index=False)
    assert len(run("predict", model, tmp_path / "new.csv").stdout.splitlines()) == len(table) + 1


# -- compare --------------------------------------------------------------------------------------
def test_compare_ranks_methods_on_the_same_folds(csv):
    chosen = ["-m", "sparse", "-m", "uniform", "-m", "alignf", "-m", "single", "-k", "columns"]
    result = run("compare", csv, "-t", "sick", "--cv", 3, "--no-tune", "--json", *chosen)
    rows = json.loads(result.stdout)["results"]
    assert sorted(row["method"] for row in rows) == ["alignf", "single", "sparse", "uniform"]
    means = [row["mean"] for row in rows]
    assert means == sorted(means, reverse=True) and all(len(row["folds"]) == 3 for row in rows)
    shown = run("compare", csv, "-t", "sick", "--cv", 3, "--no-tune", *chosen).stdout
    assert "sparse" in shown and "guessing" in shown and "corrected t-test" in shown


@pytest.mark.parametrize("ending", ["csv", "tex", "html"])
def test_compare_writes_a_table(csv, tmp_path, ending):
    out, chosen = tmp_path / f"table.{ending}", ["-m", "uniform", "-m", "align", "-k", "columns"]
    asked = ["compare", csv, "-t", "sick", "--cv", 2, "--repeats", 2, "--no-tune", *chosen, "--out", out]
    run(*asked)
    text = out.read_text(encoding="utf-8")
    assert "uniform" in text and ("chance" if ending == "csv" else "guessing") in text
    assert text.startswith({"csv": "method,rank,mean", "tex": "% Mean", "html": "<table "}[ending])
    if ending == "csv":
        assert "is not empty" in run(*asked, code=2).stderr
        run(*asked, "--force", "-q")


def test_compare_writes_a_report_of_all_methods(csv, tmp_path):
    chosen = ["-m", "uniform", "-m", "align", "-k", "columns"]
    asked = ["compare", csv, "-t", "sick", "--cv", 2, "--no-tune", "--quiet", *chosen]
    page, text = tmp_path / "side.html", tmp_path / "side.md"
    run(*asked, "--report", page)
    assert "<title>Which model predicts sick best</title>" in page.read_text(encoding="utf-8")
    assert json.loads(run(*asked, "--report", text, "--json").stdout)["report"] == str(text)
    assert "## Side by side" in text.read_text(encoding="utf-8")


def test_tables_are_written_in_known_forms(csv):
    said = run("compare", csv, "-t", "sick", "--out", "table.docx", code=2).stderr
    assert "tables are written to .csv, .tex, .html." in said


@pytest.mark.slow
def test_every_method_runs_on_both_tasks(csv, table, tmp_path):
    table.drop(columns="sick").to_csv(tmp_path / "r.csv", index=False)
    for path, target in ((csv, "sick"), (tmp_path / "r.csv", "size")):
        rows = json.loads(run("compare", path, "-t", target, "--cv", 2, "--json", "--no-tune").stdout)[
            "results"
        ]
        assert len(rows) == (12 if path == csv else 11) and not [row for row in rows if row["error"]]


@pytest.mark.slow
def test_processes_change_no_score(csv):
    asked = ["compare", csv, "-t", "sick", "--cv", 2, "--no-tune", "--json", "-m", "sparse", "-m", "uniform"]
    one, two = (json.loads(run(*asked, "--jobs", n).stdout)["results"] for n in (1, 2))
    assert [row["folds"] for row in one] == [row["folds"] for row in two]


def test_a_search_is_scored_anew_in_each_fold_or_says_that_it_is_not(csv, monkeypatch):
    asked = ["fit", csv, "-t", "sick", "-k", "gaussians:1,8,2", "--cv", 2]
    assert "searched anew in each" in run(*asked).stdout
    monkeypatch.setattr(work, "_SECONDS", 0.0)
    monkeypatch.setattr(work, "INNER", 1e6)
    result = run(*asked)
    assert "chosen on all samples" in result.stdout and "a little too good" in result.stderr


# -- stopping -------------------------------------------------------------------------------------
def stop(monkeypatch, at):
    """Ctrl-C while this fold is scored."""
    calls, score = [], folds.score_fold

    def interrupt(*args, **how):
        calls.append(args)
        if len(calls) == at:
            raise KeyboardInterrupt
        return score(*args, **how)

    monkeypatch.setattr(folds, "score_fold", interrupt)


def test_ctrl_c_leaves_a_partial_comparison(csv, monkeypatch):
    stop(monkeypatch, at=3)
    chosen = ["-m", "sparse", "-m", "uniform"]
    result = run("compare", csv, "-t", "sick", "--cv", 3, "--no-tune", "--json", *chosen, code=130)
    rows = json.loads(result.stdout)["results"]
    assert [len(row["folds"]) for row in rows] == [1, 1] and "Stopped by Ctrl-C" in result.stderr


def test_ctrl_c_while_learning_leaves_nothing_behind(csv, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "pipeline", interrupted)
    before = sorted(tmp_path.iterdir())
    result = run("fit", csv, "-t", "sick", "--model", tmp_path / "model", code=130)
    assert "nothing was written" in result.stderr and sorted(tmp_path.iterdir()) == before


def test_ctrl_c_while_searching_leaves_weights_and_no_files(csv, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(MKLClassifierCV, "fit", interrupted)
    before = sorted(tmp_path.iterdir())
    asked = ["fit", csv, "-t", "sick", "-k", "columns", "--model", tmp_path / "model", "--json"]
    result = run(*asked, code=130)
    document = json.loads(result.stdout)
    assert document["partial"] and document["weights"] and document["chosen"] is None
    assert "search was stopped" in result.stderr and sorted(tmp_path.iterdir()) == before
    monkeypatch.setattr(commands, "_FEW_SAMPLES", 20)  # many samples would take long
    result = run(*asked, code=130)
    assert "weights of 20 of 48 samples" in result.stderr and json.loads(result.stdout)["weights"]


def test_ctrl_c_while_scoring_keeps_the_model(csv, tmp_path, monkeypatch):
    stop(monkeypatch, at=1)
    result = run("fit", csv, "-t", "sick", "-m", "sparse", "--model", tmp_path / "model", code=130)
    assert "Stopped by Ctrl-C; only the folds until then have scores." in result.stderr
    load(tmp_path / "model")


@pytest.mark.parametrize("stage", ["permuted", "importance"])
def test_ctrl_c_after_scoring_begins_nothing_more(csv, tmp_path, monkeypatch, stage):
    """No importance, no resamples and no path in C, each of which takes many fits."""

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    def never(*_, **__):
        raise AssertionError("more work was begun")

    monkeypatch.setattr(scores if stage == "permuted" else importances, stage, interrupted)
    for place, name in ((learned, "weight_stability"), (data, "_fitted_path")):
        monkeypatch.setattr(place, name, never)
    if stage == "permuted":
        monkeypatch.setattr(importances, "importance", never)
    page = tmp_path / "r.html"
    asked = ["fit", csv, "-t", "sick", "-m", "sparse", "-k", "gaussians:1,8,3", "--cv", 2, "--report", page]
    assert "Stopped by Ctrl-C" in run(*asked, code=130).stderr
    assert "Weights along C" in page.read_text(encoding="utf-8")


# -- the installed command ------------------------------------------------------------------------
def test_the_installed_command(csv, tmp_path):
    def shell(*args):
        return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, cwd=tmp_path)

    done = shell("fit", csv, "--target", "sick", "-m", "sparse", "--model", "m", "--no-score", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("predict", tmp_path / "m", csv, "--first", 2).stdout.count("\n") == 3
    done = shell("fit", csv, "--target", "nothing")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("error: there is no column 'nothing'")


def test_debug_shows_where(csv):
    result = CliRunner().invoke(app, ["fit", str(csv), "-t", "nothing", "--debug"])
    assert result.exit_code == 2 and "Traceback" in result.stderr


# -- reports --------------------------------------------------------------------------------------
def test_fit_writes_a_report(csv, tmp_path):
    asked = ["fit", csv, "-t", "sick", "-k", "columns", "--report", tmp_path / "r.html"]
    run(*asked, "-m", "sparse", "--cv", 2)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    text = re.search(r'id="data">(.*?)</script>', page, flags=re.DOTALL).group(1)
    document = json.loads(text)
    names = [row["name"] for row in document["scores"]["rows"]]
    assert names == ["learned", "plain sum of the kernels", "best single kernel", "tuned SVC"]
    assert [column["name"] for column in document["data"]["columns"]] == [
        "age",
        "bmi",
        "dose",
        "time",
        "group",
    ]
    assert document["call"].startswith("manykernels")
    spread = document["weights"]["stability"]
    assert len(spread["low"]) == len(document["weights"]["names"])
    assert all(a <= b for a, b in zip(spread["low"], spread["high"], strict=True))
    assert any(0.0 < share <= 1.0 for share in spread["frequency"])
    assert "learns no weights" in run(*asked, "-m", "single", code=2).stderr


def test_devices_are_written_to_and_never_replaced(csv, tmp_path):
    link = tmp_path / "nowhere"
    link.symlink_to(os.devnull)
    run("fit", csv, "-t", "sick", "-m", "sparse", "--no-score", "--model", link)
    assert link.is_char_device()


def test_columns_that_cannot_help_are_named(table, tmp_path):
    frame = table.drop(columns="size").assign(
        id=range(5, 5 + len(table)), number=range(len(table)), unit="mg"
    )
    frame.loc[3, "group"] = None
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = run("fit", tmp_path / "d.csv", "-t", "sick", "-m", "sparse", "--no-score").stderr
    assert "column 'id' names the rows" in said and "'number' is left out: it numbers the rows" in said
    assert "'unit' is left out: all its values are the same" in said
    assert "a category of their own, 'missing', in 'group'" in said


def test_the_target_in_a_view_is_no_feature(csv, table, tmp_path):
    table[["age", "sick"]].to_csv(tmp_path / "b.csv", index=False)
    asked = ["fit", csv, "-t", "sick", "--view", f"b={tmp_path / 'b.csv'}", "-m", "sparse", "--no-score"]
    assert "'b__sick' in a view is left out" in run(*asked).stderr


def test_cells_that_are_no_numbers_are_told(table, tmp_path):
    frame = table.drop(columns="size").astype({"age": object})
    frame.loc[:3, "sick"] = None
    frame.loc[7, "age"] = "old"
    frame.to_csv(tmp_path / "d.csv", index=False)
    said = run("fit", tmp_path / "d.csv", "-t", "sick", "-m", "sparse", "--no-score").stderr
    assert "1 cell such as 'old' is taken as missing in 'age'" in said


def test_predict_says_what_it_has_not_seen(csv, table, tmp_path):
    run("fit", csv, "-t", "sick", "-m", "sparse", "--no-score", "--model", tmp_path / "m")
    table.assign(group="middle").to_csv(tmp_path / "new.csv", index=False)
    assert "not seen: 'middle'" in run("predict", tmp_path / "m", tmp_path / "new.csv").stderr
    table.assign(age=np.inf).to_csv(tmp_path / "new.csv", index=False)
    assert "'age' has infinite values" in run("predict", tmp_path / "m", tmp_path / "new.csv", code=2).stderr


def test_a_stack_predicts_its_own_file(tmp_path):
    K = np.stack([X @ X.T, np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))], axis=-1)
    np.savez(tmp_path / "k.npz", K=K, y=y)
    asked = ["fit", tmp_path / "k.npz", "--precomputed", "-t", "y", "-m", "sparse", "--no-score"]
    run(*asked, "--model", tmp_path / "m")
    answer = json.loads(run("predict", tmp_path / "m", tmp_path / "k.npz", "--json", "--rows", 7).stdout)
    assert answer["samples"] == 7
    assert json.loads(run(*asked, "--rows", 30, "--json").stdout)["samples"] == 30


@pytest.mark.slow
def test_a_reader_that_has_seen_enough_stops_nothing(csv, tmp_path):
    asked = [
        COMMAND,
        "fit",
        csv,
        "-t",
        "sick",
        "-m",
        "sparse",
        "-k",
        "columns",
        "--cv",
        "2",
        "--no-stability",
    ]
    started = subprocess.Popen(
        [*asked, "--report", tmp_path / "r.html"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    started.stdout.close()
    said = started.stderr.read()
    assert started.wait(timeout=200) == 0 and "Traceback" not in said
    assert (tmp_path / "r.html").is_file()


def weights_of(path):
    page = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', page, flags=re.DOTALL).group(1))["weights"]


def test_stability_can_be_left_out_and_is_where_it_takes_too_long(csv, tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    asked = ["fit", csv, "-t", "sick", "-k", "columns", "-m", "sparse", "--no-score", "--report", path]
    assert "stable" not in run(*asked, "--no-stability").stderr
    assert weights_of(path)["stability"] is None
    monkeypatch.setattr(resamples, "SECONDS", 0.0)
    assert "20 more fits would take" in run(*asked).stderr
    assert weights_of(path)["stability"] is None


def test_ctrl_c_while_resampling_leaves_a_report(csv, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(learned, "weight_stability", interrupted)
    path = tmp_path / "r.html"
    asked = ["fit", csv, "-t", "sick", "-k", "columns", "-m", "sparse", "--no-score", "--report", path]
    assert "Stopped by Ctrl-C" in run(*asked, code=130).stderr
    assert weights_of(path)["stability"] is None


@pytest.mark.parametrize("method", ["sparse", "localized"])
def test_ctrl_c_while_learning_leaves_what_was_learned(csv, tmp_path, monkeypatch, method):
    add = History.add

    def interrupted(self, *args):
        add(self, *args)
        if len(self.gap) == 1:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(History, "add", interrupted)
    asked = ["fit", csv, "-t", "sick", "-m", method, "--model", tmp_path / "m", "--report", tmp_path / "r"]
    result = run(*asked, code=130)
    assert "Stopped by Ctrl-C" in result.stderr and "max_iter" not in result.stderr
    assert "relative duality gap" in result.stdout and "cross-validated" not in result.stdout
    document = json.loads(run(*asked, "--json", code=130).stdout)
    assert document["partial"] is True and document["weights"]
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


def test_a_second_ctrl_c_leaves_at_once(csv, tmp_path, monkeypatch):
    def impatient(self, *args):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(History, "add", impatient)
    result = run("fit", csv, "-t", "sick", "-m", "sparse", "--model", tmp_path / "m", code=130)
    assert result.stdout == "" and "stopped; nothing was written." in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.slow
def test_the_demo_writes_a_report(tmp_path):
    result = run("demo", "--report", tmp_path / "r.html")
    assert re.search("^worst +\\d+ %", result.stdout, re.M) and str(
        tmp_path / "r.html"
    ) in result.stdout.replace("\n", "")
    assert (tmp_path / "r.html").stat().st_size > 20_000


def settled(process, seconds):
    """Whether it has workers, and all of them have been there for so long."""
    family = [process, *process.children(recursive=True)]
    return len(family) > 2 and all(time.time() - one.create_time() > seconds for one in family)


@pytest.mark.slow
def test_a_real_interrupt(tmp_path):
    psutil = pytest.importorskip("psutil")  # comes with dask
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((2000, 40))).assign(t=rng.integers(0, 2, 2000))
    frame.to_csv(tmp_path / "d.csv", index=False)
    command = [COMMAND, "fit", tmp_path / "d.csv", "-t", "t", "--model", tmp_path / "m", "--jobs", "2"]
    piped = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    heard = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # tests in the background of a shell ignore it
    started = subprocess.Popen(command, **piped, start_new_session=True, preexec_fn=heard)
    while not settled(psutil.Process(started.pid), 5.0):  # workers that just start would print where they are
        time.sleep(0.5)
    os.killpg(started.pid, signal.SIGINT)  # as a terminal does: to the processes that help, too
    answer, said = started.communicate(timeout=200)
    assert started.returncode == 130 and "Traceback" not in said
    assert said.count("\n") == 1 and "search was stopped" in said
    assert re.search("kernels ha(s|ve) weight", answer)
    assert [p.name for p in tmp_path.iterdir()] == ["d.csv"]
