"""The experiments of model selection: their splits, what is kept of runs, the figures, and quick runs."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import selection_tables, selection_views
from experiments.selection import methods, sizes
from experiments.selection.resume import Runs

from manykernels import MKLRegressor
from manykernels.families import Subset

RNG = np.random.RandomState(0)
X = RNG.randn(60, 3)
Y = np.sin(2.0 * X[:, 0]) + 0.1 * RNG.randn(60)


def known(errors: dict[tuple[str, str], list[float]], seconds: float = 1.0) -> Runs:
    """(set, method) -> errors of seeds 0, 1, ...; as if they had been run."""
    runs = Runs()
    for (name, method), values in errors.items():
        for seed, error in enumerate(values):
            facts = {"error": error, "seconds": seconds, "n": 10, "d": 2, "test": 5}
            runs.add((name, seed, method), facts)
    return runs


# -- splits -----------------------------------------------------------------------------------------
def test_incomplete_samples_and_small_classes_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    table = np.arange(1000.0).reshape(500, 2)
    y = np.repeat([0, 1, 2], [291, 200, 9])
    table[[0, 300], [0, 1]] = np.nan
    np.savez(tmp_path / "pima.npz", X=table, y=y)
    p, other = (selection_tables.drawn("pima", seed) for seed in (0, 1))
    assert (len(p.y), len(p.t)) == (293, 196)  # 60 % of 489
    assert set(p.y) == {0, 1} == set(p.t)
    rows = np.concatenate([p.X, p.Z])[:, 0]
    assert np.unique(rows).size == 489 and not np.isnan(rows).any()
    assert abs(np.mean(p.y == 0) - np.mean(p.t == 0)) < 0.01
    assert not np.array_equal(p.X, other.X)


def test_at_most_500_are_trained_on_and_2000_tested_on(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    np.savez(tmp_path / "abalone.npz", X=np.arange(3000.0)[:, None], y=np.arange(3000.0))
    p = selection_tables.drawn("abalone", 0)
    assert (len(p.y), len(p.t)) == (500, 2000)
    assert not set(p.y) & set(p.t) and np.array_equal(p.X[:, 0], p.y)


def test_proteins_have_the_split_of_their_paper_and_columns_their_views(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    parts = {f"V{v}": np.full((20, v + 1), float(v)) for v in range(12)}
    train, test = np.arange(0, 20, 2), np.arange(1, 20, 2)
    np.savez(tmp_path / "protein_fold.npz", y=np.arange(20), train=train, test=test, **parts)
    p = selection_views.drawn("protein_fold", 3)
    assert np.array_equal(p.y, train) and np.array_equal(p.t, test)
    assert [column for columns in p.columns.values() for column in columns] == list(range(p.X.shape[1]))
    for v, columns in enumerate(p.columns.values()):
        assert len(columns) == v + 1 and np.all(p.X[:, columns] == v)


# -- what is kept -----------------------------------------------------------------------------------
def test_the_last_line_about_a_run_counts(tmp_path):
    file = tmp_path / "cache" / "runs.jsonl"
    runs = Runs(file)
    runs.add(("a", 0, "ours"), {"error": 1.0})
    runs.add(("a", 3, "ours"), {"error": 2.0})
    runs.add(("a", 0, "ours"), {"error": 5.0})
    again = Runs(file)
    assert again.known == runs.known and len(file.read_text(encoding="utf-8").splitlines()) == 3
    assert again.seeds("a", "ours") == [0, 3] and again.values("a", "ours", [0, 3]) == [5.0, 2.0]
    assert ("a", 1, "ours") not in again


@pytest.mark.parametrize("module", [selection_tables, selection_views])
def test_what_is_known_is_not_run_again(module, tmp_path):
    name = list(module.QUICK)[-1]
    runs = Runs(tmp_path / "runs.jsonl")
    runs.add((name, 0, "ours"), {"error": -1.0})
    module.collect(runs, [name], [0], ["ours", "uniform"], quick=True)
    assert runs.known[name, 0, "ours"]["error"] == -1.0
    assert runs.known[name, 0, "uniform"]["error"] > 0.0
    module.collect(runs, [name], [0], ["ours"], quick=True, again=True)
    assert runs.known[name, 0, "ours"]["error"] >= 0.0


# -- methods ----------------------------------------------------------------------------------------
def test_errors_are_parts_of_all_labels_or_of_the_variance():
    assert methods.percent("classification", np.array([1, 2, 3, 3]), np.array([1, 2, 2, 3])) == 25.0
    assert methods.percent("regression", Y, np.full(60, Y.mean())) == pytest.approx(100.0)


def test_the_best_kernel_alone_is_the_one_of_least_loss():
    path = {
        "kernels": [None, ("a",), ("b",), ("a", "b"), ("b",)],
        "C": np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
        "loss": np.array([0.0, 0.3, 0.2, 0.0, 0.25]),
    }
    assert methods.alone(path) == {"kernel": "b", "C": 3.0}
    assert methods.alone({"kernels": [None], "C": np.ones(1), "loss": np.ones(1)}) is None
    assert methods.alone(None) is None


def test_single_and_uniform_are_plain_machines():
    Z = RNG.randn(7, 3)
    predicted, best = methods.single(X, Y, Z, "regression")
    model = MKLRegressor(Subset("auto", (best["kernel"],)), C=best["C"]).fit(X, Y)
    np.testing.assert_allclose(predicted, model.predict(Z), rtol=1e-6)
    given, _ = methods.single(X, Y, Z, "regression", best=best)
    np.testing.assert_allclose(given, predicted)
    predicted, facts = methods.uniform(X, Y, Z, "regression")
    model = MKLRegressor("auto", norm=np.inf, C=facts["C"]).fit(X, Y)
    np.testing.assert_allclose(predicted, model.predict(Z), rtol=1e-4, atol=1e-6)


# -- figures ----------------------------------------------------------------------------------------
def test_shares_of_sets_count_paired_standard_errors():
    """Differences −2 ± 0.58 (better), +1 ± 0.58 (no worse), +3 ± 0.29 (worse), and none at all."""
    base = [10.0, 20.0, 30.0]
    changes = {
        "pima": [-1.0, -2.0, -3.0],
        "sonar": [0.0, 1.0, 2.0],
        "wdbc": [3.0, 3.5, 2.5],
        "abalone": [0.0] * 3,
    }
    errors = {(name, "grid"): base for name in changes}
    errors |= {(n, "ours"): list(np.add(base, d)) for n, d in changes.items()}
    runs = known(errors, seconds=2.0)
    everything, classes, numbers = selection_tables.summary_rows(runs, list(changes))
    assert (everything["count"], everything["no worse"], everything["better"]) == (4, "3 (75 %)", "1 (25 %)")
    assert (classes["no worse"], numbers["no worse"]) == ("2 (67 %)", "1 (100 %)")
    assert everything["ours, s"] == "24" and everything["ours / grid"] == 1.0
    rows = {row["set"]: row for row in selection_tables.paired_rows(runs, list(changes))}
    assert rows["pima"]["less grid's"] == "-2.00 ± 0.58" and rows["pima"]["ratio"] == "-3.5"
    assert rows["abalone"]["ratio"] == "+0.0"


def test_ranks_are_over_seeds_that_all_methods_have():
    errors = {("pima", "ours"): [1.0, 9.0], ("pima", "grid"): [2.0, 3.0]}
    errors |= {("pima", method): [3.0] for method in ("single", "uniform")}
    rows = selection_tables.rank_rows(known(errors), ["pima"])
    pair, four = rows[0], rows[1]
    assert (pair["seeds"], pair["ours"], pair["grid"]) == ("2", 2.0, 1.0)
    assert (four["seeds"], four["ours"], four["grid"], four["single"], four["uniform"]) == (
        "1",
        1,
        2,
        3.5,
        3.5,
    )


# -- quick runs -------------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("module", [selection_tables, selection_views])
def test_the_quick_forms(module, tmp_path, quick_tables):
    tables = quick_tables(module.__name__.split(".")[-1])
    assert [row["set"] for row in tables[0]["rows"]] == list(module.QUICK)
    assert all(row["seeds"] == 2 for row in tables[0]["rows"])
    assert not (tmp_path / "cache").exists()


# -- by the number of rows --------------------------------------------------------------------------
def test_runs_by_rows_are_kept_line_by_line_and_losses_named(tmp_path):
    table, asked = tmp_path / "sizes.csv", []

    def run(*key):
        asked.append(key)
        if key[3] == "forest":
            return {"failed": "ImportError: no such package"}
        worse = 2.0 if (key[0] == "pima") == (key[3] == "ours") else 1.0
        return {"d": 3, "test": 9, "error": worse, "seconds": 0.5, "memory MB": 100.0}

    keys = [(name, 500, 0, method) for name in ("pima", "sonar") for method in ("ours", "catboost", "forest")]
    sizes.collect(keys[:2], run, table)
    sizes.collect(keys, run, table)
    assert asked == keys and len(table.read_text(encoding="utf-8").splitlines()) == 1 + len(keys)
    known = sizes.known(table)
    assert known[keys[0]]["error"] == 2.0 and known[keys[1]]["memory MB"] == 100.0
    said = sizes.page(known)
    assert "no more error on 1 of 2 sets; 1 against 1 s" in said and "Lost: pima (2 against 1)." in said
    assert "Mean rank by error on the 2 sets that all methods have: ours 1.50, catboost 1.50." in said
    assert "- sonar, 500 rows, seed 0, forest: ImportError: no such package" in said
    assert "standard errors" not in said  # one seed has none


def test_rivals_are_compared_seed_by_seed():
    errors = {"pima": ([3.0, 4.0, 5.0], [2.0, 3.0, 4.5]), "sonar": ([1.0, 1.0, 1.0], [2.0, 3.0, 2.5])}
    runs = {
        (name, 500, seed, method): {"error": one, "seconds": 1.0 + k, "memory MB": 9.0}
        for name, both in errors.items()
        for k, (method, found) in enumerate(zip(("ours", "catboost"), both, strict=True))
        for seed, one in enumerate(found)
    }
    less = sizes.differences(runs, "catboost")
    np.testing.assert_allclose(less["pima"], [1.0, 1.0, 0.5])
    assert sizes.beyond(less["pima"]) == pytest.approx((2.5 / 3) / (np.std([1, 1, 0.5], ddof=1) / 3**0.5))
    assert sizes.beyond(np.zeros(3)) == 0.0 and sizes.beyond(np.ones(3)) == np.inf
    assert sizes.costs(runs, "catboost", "seconds").sum(axis=1).tolist() == [6.0, 12.0]
    (said,) = (line for line in sizes.page(runs).splitlines() if line.startswith("- Beside"))
    assert (
        "of 2 with several seeds no worse by two paired standard errors on 1, better by as many on 1" in said
    )
    assert said.endswith("Lost: pima (4 against 3.17, clearly).")


def test_ranks_are_of_the_seeds_that_all_methods_have():
    runs = {
        ("pima", 500, seed, method): {"error": error, "seconds": 1.0, "memory MB": 9.0}
        for method, errors in {"ours": [1.0, 3.0], "catboost": [2.0, 4.0, 0.0]}.items()
        for seed, error in enumerate(errors)
    }
    assert sizes.ranks(runs, ["ours", "catboost"]) == {"ours": 1.0, "catboost": 2.0}
    runs["sonar", 500, 0, "catboost"] = runs["pima", 500, 0, "catboost"]  # which ours has no run of
    said = sizes.page(runs)
    assert "on the 1 sets that all methods have: ours 1.00, catboost 2.00." in said
    assert "| pima | 2 to 3 | 2 | 2 |" in said and "| pima | 2 to 3 | 1 | 1 | 9 | 9 |" in said


def test_made_tables_have_as_many_rows_as_are_asked_for():
    X, y, Z, t, task = sizes.drawn("made rings", 300, 0)
    assert X.shape == (300, 30) and len(t) == len(Z) == sizes.TEST and task == "classification"
    assert set(y) == {0.0, 1.0, 2.0, 3.0}
    facts = sizes.one_run("made friedman", 200, 0, "histogram")
    assert 0.0 < facts["error"] < 100.0 and facts["memory MB"] > 1.0
