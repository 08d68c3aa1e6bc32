"""--time and --event: survival analysis from a file, as a clinician has it."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels.cli.app import app

RNG = np.random.RandomState(0)
N = 80
AGE, MARKER = RNG.randint(30, 85, N), RNG.randn(N)
DEATH, LAST = RNG.exponential(30.0 * np.exp(-1.2 * MARKER)), RNG.uniform(3.0, 80.0, N)
TABLE = pd.DataFrame(
    {
        "patient_id": [f"P{i:03d}" for i in range(N)],
        "seen": pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.randint(0, 900, N), "D"),
        "age": AGE,
        "marker": np.where(np.arange(N) % 11 == 0, np.nan, MARKER),
        "crp": ["<0.5" if v < 0.5 else f"{v:.2f}" for v in RNG.exponential(2.0, N)],
        "stage": RNG.choice(["I", "II"], N),
        "site": RNG.choice(["north", "south"], N),
        "months": np.round(np.minimum(DEATH, LAST), 2) + 0.1,
        "died": np.where(DEATH <= LAST, "yes", "no"),
    }
)
TABLE["start"] = 0.1 * TABLE.months
TABLE.loc[3, "months"] = np.nan
TABLE.loc[5, "died"] = None
QUICK = ["-m", "sparse", "--no-score", "--no-significance", "--json", "--quiet"]
TIMES = ["--time", "months", "--event", "died"]


@pytest.fixture
def csv(tmp_path):
    TABLE.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def run(*args, code=0):
    result = CliRunner().invoke(app, [str(arg) for arg in args])
    assert result.exit_code == code, result.output
    return result


def words(result):
    return " ".join(result.output.split())


def test_from_a_table_to_survival(csv, tmp_path):
    model = tmp_path / "model"
    facts = json.loads(run("fit", csv, *TIMES, "--drop", "start", "--model", model, *QUICK).stdout)
    assert (facts["task"], facts["estimator"], facts["samples"]) == ("survival", "MKLSurvival", N - 2)
    assert facts["events"] == int((TABLE.died == "yes").sum() - (TABLE.died[3] == "yes"))
    assert facts["outcome"] == {"time": "months", "event": "died"}
    assert facts["gap"] <= 1e-3
    assert not any("months" in name or "died" in name for name in facts["weights"])
    assert "2 rows without a value of 'months', 'died' are left out." in facts["notes"]
    told = json.loads(run("predict", model, csv, "--times", "6,24", "--json").stdout)["predictions"]
    assert list(told) == ["patient_id", "risk", "median time", "survival at 6", "survival at 24"]
    assert np.corrcoef(told["risk"], MARKER)[0, 1] > 0.6
    assert all(
        late < early for early, late in zip(told["survival at 6"], told["survival at 24"], strict=True)
    )
    without = TABLE.drop(columns=["months", "died"])
    without.to_csv(tmp_path / "new.csv", index=False)
    again = json.loads(run("predict", model, tmp_path / "new.csv", "--json").stdout)["predictions"]
    assert again["risk"] == told["risk"]
    out = tmp_path / "answers.csv"
    for _ in range(2):  # answers replace answers
        run("predict", model, csv, "--times", "6", "--out", out)
    assert list(pd.read_csv(out).columns) == ["patient_id", "risk", "median time", "survival at 6"]


def test_strata_entries_and_covariates(csv, tmp_path):
    model = tmp_path / "model"
    more = ["--strata", "site", "--entry", "start", "--covariates", "age"]
    facts = json.loads(run("fit", csv, *TIMES, *more, "--model", model, *QUICK).stdout)
    assert list(facts["covariates"]) == ["age"]
    assert not any("site" in name or "start" in name for name in facts["weights"])
    told = json.loads(run("predict", model, csv, "--times", "6", "--json").stdout)["predictions"]
    assert np.isfinite(told["survival at 6"]).all()
    TABLE.drop(columns="site").to_csv(tmp_path / "new.csv", index=False)
    assert "the column 'site'" in words(run("predict", model, tmp_path / "new.csv", "--times", "6", code=2))
    assert run("predict", model, tmp_path / "new.csv").stdout.startswith("patient_id,risk\n")
    TABLE.assign(site="west").to_csv(tmp_path / "west.csv", index=False)
    said = words(run("predict", model, tmp_path / "west.csv", "--times", "6", code=2))
    assert "'site' is not a stratum of the model" in said and "expected one of north, south" in said


def test_score_importance_report_and_comparison(csv, tmp_path):
    more = ["--drop", "start", "--drop", "seen", "-m", "uniform", "-k", "linear", "--cv", "3"]
    report = tmp_path / "report.html"
    said = words(run("fit", csv, *TIMES, *more, "--permutations", "2", "--no-stability", "--report", report))
    assert "C index" in said and "events ('died' by 'months')" in said and "marker" in said
    assert "Survival by predicted risk" in report.read_text()
    methods = ["--method", "sparse", "--method", "uniform"]
    found = run("compare", csv, *TIMES, "-k", "linear", "--drop", "start", *methods, "--cv", "3", "--no-tune")
    assert "C index" in found.stdout


def test_absent_views_and_groups(csv, tmp_path):
    genes = pd.DataFrame({"patient_id": TABLE.patient_id[:60], "g1": MARKER[:60], "g2": RNG.randn(60)})
    genes.assign(died="yes").to_csv(tmp_path / "genes.csv", index=False)
    view = ["--view", f"gene={tmp_path / 'genes.csv'}", "--rows", "outer", "--id", "patient_id"]
    facts = json.loads(run("fit", csv, *TIMES, "--drop", "start", *view, *QUICK).stdout)
    assert facts["present"]["gene"] == 58
    assert any("'gene__died' in a view is left out" in note for note in facts["notes"])
    (tmp_path / "sets.gmt").write_text("body\t-\tage\tmarker\nblood\t-\tcrp\n")
    facts = json.loads(run("fit", csv, *TIMES, "--groups", tmp_path / "sets.gmt", *QUICK).stdout)
    assert set(facts["view_shares"]) <= {"body", "blood"}


def test_kernels_computed_elsewhere(tmp_path):
    K = np.outer(MARKER, MARKER)
    happened = np.where(DEATH <= LAST, 2, 1)
    np.savez(tmp_path / "k.npz", line=K, square=K**2, t=np.minimum(DEATH, LAST), status=happened)
    given = ["--precomputed", "--time", "t", "--event", "status=2"]
    facts = json.loads(run("fit", tmp_path / "k.npz", *given, "--model", tmp_path / "m", *QUICK).stdout)
    assert set(facts["weights"]) <= {"line", "square"}
    told = json.loads(run("predict", tmp_path / "m", tmp_path / "k.npz", "--json").stdout)
    assert np.corrcoef(told["predictions"]["risk"], MARKER)[0, 1] > 0.8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--time", "months"], "was given without --event"),
        (["--event", "died"], "was given without --time"),
        (["--strata", "site"], "was given without --time"),
        (["--task", "survival"], "needs --time"),
        ([*TIMES, "-t", "age"], "both say what is to be predicted"),
        ([*TIMES, "--task", "regression"], "leave one of them out"),
        ([*TIMES, "-m", "alignf"], "not for times to an event; expected auto, sparse, lp, uniform"),
        (["--time", "month", "--event", "died"], "Did you mean 'months'?"),
        (["--time", "months", "--event", "dead"], "--event dead: there is no such column"),
        (["--time", "seen", "--event", "died"], "expected numbers, such as the days or months"),
        (["--time", "stage", "--event", "died"], "expected numbers"),
        (
            ["--time", "months", "--event", "stage"],
            "which of them says that the event was observed?",
        ),
        (["--time", "months", "--event", "died=maybe"], "no row holds 'maybe'; expected one of 'no', 'yes'"),
        (["--time", "months", "--event", "died=yes,no", "--strata", "died"], "the same column twice"),
        (["--time", "marker", "--event", "died"], "negative or infinite in row"),
        ([*TIMES, "--entry", "age"], "--entry age: not before 'months' in row"),
    ],
)
def test_what_is_wrong_is_said(csv, given, said):
    assert said in words(run("fit", csv, *given, code=2))


def test_columns_that_give_the_outcome_away_are_named(csv, tmp_path):
    copies = TABLE.assign(days=30.4 * TABLE.months, fate=np.where(TABLE.died == "yes", "buried", "lost"))
    copies.to_csv(tmp_path / "copies.csv", index=False)
    facts = json.loads(run("fit", tmp_path / "copies.csv", *TIMES, *QUICK).stdout)
    notes = " ".join(facts["notes"])
    assert "the values of 'start', 'days' order the samples as 'months' does" in notes
    assert "the values of 'fate' tell who had 'died'" in notes


def test_events_by_value_and_censoring(tmp_path):
    """R's 1 and 2, several causes, and a column that says who is censored."""
    coded = TABLE.dropna(subset=["months", "died"]).assign(
        status=lambda t: np.where(t.died == "yes", 2, 1),
        cause=lambda t: np.where(t.died == "no", "none yet", np.where(t.age > 60, "heart", "cancer")),
        censored=lambda t: (t.died == "no").astype(int),
    )
    coded.drop(columns=["died", "start"]).to_csv(tmp_path / "coded.csv", index=False)
    expected = int((coded.died == "yes").sum())
    for event in ("status=2", "cause=heart,cancer", "censored=0"):
        drop = [f"--drop={c}" for c in ("status", "cause", "censored") if not event.startswith(c)]
        facts = json.loads(
            run("fit", tmp_path / "coded.csv", "--time", "months", "--event", event, *drop, *QUICK).stdout
        )
        assert facts["events"] == expected
    said = words(run("fit", tmp_path / "coded.csv", "--time", "months", "--event", "censored", code=2))
    assert "does '1' mean that a sample is censored" in said and "--event censored=0" in said


def test_times_are_for_survival_models(csv, tmp_path):
    model = tmp_path / "model"
    run("fit", csv, "-t", "stage", "--model", model, *QUICK)
    said = words(run("predict", model, csv, "--times", "6", code=2))
    assert "predicts 'stage', not the time to an event" in said
    run("fit", csv, *TIMES, "--drop", "start", "--model", model, "--force", *QUICK)
    assert "expected numbers from 0 on" in words(run("predict", model, csv, "--times", "soon", code=2))
    array = ["--out", tmp_path / "risk.npy"]
    assert "holds risks alone" in words(run("predict", model, csv, "--times", "6", *array, code=2))
    run("predict", model, csv, *array)
    assert np.load(tmp_path / "risk.npy").shape == (N,)
