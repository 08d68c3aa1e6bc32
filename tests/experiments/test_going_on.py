"""Experiments that take hours are gone on with: what is kept is not run again, and time is bounded."""

from __future__ import annotations

import pytest
from experiments import (
    continuous_relevance_nd,
    continuous_seconds,
    products_methods,
    products_squared,
    ufo_silp,
)
from experiments.selection.resume import Runs, go_on, kept

KEPT = (continuous_relevance_nd, continuous_seconds, products_methods, products_squared, ufo_silp)


def test_what_is_known_is_not_run_again(tmp_path, monkeypatch):
    keys = [("a", seed, "ours") for seed in range(3)]
    runs = Runs(tmp_path / "runs.jsonl")
    runs.add(keys[1], {"error": 0.5})
    asked = []

    def trial(name, seed, method):
        asked.append((name, seed, method))
        return {"error": float(seed)}

    monkeypatch.setenv("MANYKERNELS_MINUTES", "0")
    assert go_on(runs, keys, trial) == 2 and not asked
    monkeypatch.delenv("MANYKERNELS_MINUTES")
    assert go_on(runs, keys, trial) == 0 and asked == [keys[0], keys[2]]
    again = Runs(tmp_path / "runs.jsonl")
    assert again.values("a", "ours", again.seeds("a", "ours")) == [0.0, 0.5, 2.0]


@pytest.mark.parametrize("module", KEPT, ids=lambda module: module.__name__)
def test_what_is_kept_are_runs_of_the_experiment(module):
    name = module.__name__.split(".")[-1]
    runs = kept(name)
    assert runs.known and set(runs.known) <= set(module.keys())
    assert all(facts["commit"] for facts in runs.known.values())


def test_both_errors_choose_for_themselves(quick):
    tables = quick("products_squared")
    wrong, squared = (tables[title] for title in (products_squared.WRONG, products_squared.SQUARED))
    assert [row["method"] for row in wrong] == [row["method"] for row in squared]
    assert all(0.0 <= row["german"].mean <= 100.0 and row["draws"] == 2 for row in wrong)
    assert all(0.0 < row["german"].mean < 2.0 for row in squared)


def test_silp_beside_ufo_in_a_quick_run(quick):
    (rows,) = quick("ufo_silp").values()
    assert [row["method"] for row in rows] == list(ufo_silp.METHODS)
    assert all(row["machines"].mean <= ufo_silp.LIMIT for row in rows if row["method"] in ufo_silp.BATCH)


@pytest.mark.slow
def test_widths_for_each_feature_in_a_quick_run(quick):
    wrong, seconds, alignment, paired = quick("continuous_relevance_nd").values()
    assert [row["method"] for row in wrong] == [row["method"] for row in seconds]
    rows = {row["method"]: row for row in alignment}
    assert rows["CKL (nD)"]["γ = 40"].mean > rows["CKL (1D)"]["γ = 40"].mean + 0.1
    assert len(paired) == 3


@pytest.mark.slow
def test_seconds_of_letters_in_a_quick_run(quick):
    (rows,) = quick("continuous_seconds").values()
    assert set(continuous_seconds.PAPER) < {row["method"] for row in rows}
    assert all(row["seconds"].mean > 0.0 and row["draws"] == 2 for row in rows)
