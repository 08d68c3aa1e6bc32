"""The survival experiment: its splits, the figures that are made of runs, and a quick run."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import survival
from experiments.cohorts import splits
from experiments.selection.resume import Runs

pytest.importorskip("pandas")


def known(scores: dict[tuple[str, str], list[float | None]]) -> Runs:
    """(set, method) -> Uno's C of seeds 0, 1, …, None where the fit failed; as if they had been run."""
    runs = Runs()
    for (name, method), values in scores.items():
        for seed, c in enumerate(values):
            facts = {"n": 70, "d": 2, "events": 20, "test": 30, "seconds": 1.0, "uno": c, "harrell": c}
            runs.add((name, seed, method), {"failed": "it did"} if c is None else facts | {"brier": None})
    return runs


def test_parts_share_no_subject_and_have_as_many_events(monkeypatch):
    X, y, _ = splits._made(200)
    monkeypatch.setattr(splits, "_made", lambda: (X.assign(row=np.arange(200.0)), y, np.arange(200) // 2))
    p, other = splits.drawn(splits.STAND_IN, 0), splits.drawn(splits.STAND_IN, 1)
    train, test = (set(part["row"].to_numpy() // 2) for part in (p.X, p.Z))
    assert not train & test and len(train) == 70 and len(test) == 30
    assert abs(p.y["event"].mean() - p.t["event"].mean()) < 0.2
    assert not np.array_equal(p.X["row"], other.X["row"])
    assert p.times.size > 10 and p.times.max() < p.tau and p.times.min() > p.t["time"].min()


def test_all_events_and_one_time_can_be_split(monkeypatch):
    X, y, subject = splits._made()
    y["event"], y["time"] = True, 1.0
    monkeypatch.setattr(splits, "_made", lambda: (X, y, subject))
    p = splits.drawn(splits.STAND_IN, 0)
    assert len(p.y) == 63 and p.times.size == 0


def test_standard_errors_are_corrected_for_shared_samples():
    d = np.array([0.01, 0.03, 0.02, 0.02, 0.02])
    mean, error = survival.corrected(d, 3.0 / 7.0)
    assert mean == pytest.approx(0.02) and error == pytest.approx(np.sqrt((0.2 + 3.0 / 7.0) * 0.5e-4))
    assert survival.ratio(0.0, 0.0) == 0.0 and survival.ratio(-0.1, 0.0) == -np.inf


def test_ranks_and_shares_of_sets():
    runs = known(
        {
            ("a", "ours"): [0.8, 0.81, 0.82],
            ("a", "Coxnet"): [0.7, 0.72, 0.71],
            ("b", "ours"): [0.5, 0.51, 0.5],
            ("b", "Coxnet"): [0.6, 0.61, 0.61],
            ("a", "forest"): [0.8, 0.81, 0.82],
            ("b", "forest"): [0.9, None, 0.9],
        }
    )
    scores = survival.Scores(runs)
    assert scores.sets == ["a", "b"]
    uno, _, harrell, _ = survival.rank_rows(scores)  # nobody has survival curves, or is ridge Cox
    assert (uno["sets"], uno["ours"], uno["Coxnet"], uno["forest"]) == (2, 1.75, 2.0, 2.25)
    assert harrell["by"] == "Harrell's C"
    beside = {row["ours beside"]: row for row in survival.sum_rows(scores)}
    assert (beside["Coxnet"]["no worse"], beside["Coxnet"]["better"]) == ("1 (50 %)", "1 (50 %)")
    assert (beside["forest"]["sets"], beside["forest"]["no worse"]) == (1, "1 (100 %)")
    assert survival.mean_rows(scores)[1]["forest"] is None


def test_splits_that_some_method_has_not_seen_are_left_out():
    runs = known({("a", "ours"): [0.8, 0.7], ("a", "Coxnet"): [0.7], ("b", "Coxnet"): [0.7]})
    assert survival.Scores(runs).seeds == {"a": [0]}


def test_without_scikit_survival_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(survival, "find_spec", lambda name: None)
    with pytest.raises(survival.MissingData, match="pip install scikit-survival"):
        survival.run(survival.Report("survival", "", quick=True))


def test_the_figures_are_those_of_scikit_survival():
    metrics = pytest.importorskip("sksurv.metrics")
    p = splits.drawn(splits.STAND_IN, 0)
    risk = p.Z["a"].to_numpy()
    found = splits.figures(p, risk, np.full((len(p.t), p.times.size), 0.5))
    assert found["harrell"] == metrics.concordance_index_censored(p.t["event"], p.t["time"], risk)[0]
    assert 0.6 < found["uno"] < 1.0
    assert found["brier"] == pytest.approx(0.25, abs=0.05)  # a half for everyone: (1 − ½)² whatever happens


@pytest.mark.slow
def test_a_quick_run(quick):
    pytest.importorskip("sksurv")
    assert quick("survival")["Uno's C"][0]["set"] == splits.STAND_IN
