"""The tool that compares what two versions learn: it finds what changed, and nothing where nothing did."""

from __future__ import annotations

import pickle
from copy import deepcopy

import numpy as np
import pytest
from benchmarks.same_fits.__main__ import main
from benchmarks.same_fits.compare import distance, report
from benchmarks.same_fits.problems import chosen, problems
from benchmarks.same_fits.record import record

SPARSE = "MKLClassifier | two | loss='hinge', norm=1"
SEARCH = "MKLRegressorCV | numbers | groups"
REFUSED = "MKLClassifier | two | norm=0.5"
NAMES = [SPARSE, SEARCH, REFUSED, "KernelAligner | three | weighting='align'"]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    found = tmp_path_factory.mktemp("same_fits") / "record.pickle"
    record([problems()[name] for name in NAMES], found)
    return found


@pytest.fixture
def results(file):
    return pickle.loads(file.read_bytes())["results"]


def compared(old, new, tol=1e-10):
    text, code = report(old, new, tol)
    return text.splitlines(), code


def test_a_record_is_like_itself(file, results, capsys):
    assert main([str(file), str(file)]) == 0
    assert capsys.readouterr().out.startswith(
        "4 problems: 4 the same to 1e-10\nseconds of the processor: old "
    )
    values = results[SPARSE]["values"]
    assert values["weights_"].shape == (4,) and values["decision_function"].shape == (15,)
    assert values["dual"] <= values["objective_"] and results[SPARSE]["tol"] == 1e-3
    assert "path_/finite/score" in results[SEARCH]["values"]
    assert results[REFUSED]["values"]["error"].startswith("ValueError: norm=0.5")
    assert not any(result["unexpected"] for result in results.values())


def test_a_changed_weight_is_found(results):
    new = deepcopy(results)
    new[SPARSE]["values"]["weights_"][1] += 1e-6
    lines, code = compared(results, new)
    assert code == 1 and lines[0] == f"{SPARSE}: weights_ by 1.0e-06 [P within tol=0.001, D ≤ P]"
    assert lines[1].startswith("4 problems: 3 the same to 1e-10, 1 differ (1 of these")
    assert compared(results, new, tol=1e-5)[1] == 0


def test_the_verdict_looks_at_both_bounds(results):
    P = results[SPARSE]["values"]["objective_"]
    for changed, said in (({"objective_": 1.1 * P}, "above tol"), ({"dual": 1.1 * P}, "a bound is above")):
        new = deepcopy(results)
        new[SPARSE]["values"] |= changed
        lines, code = compared(results, new)
        assert code == 1 and said in lines[0] and "(0 of these" in lines[1]


def test_texts_errors_and_missing_problems_differ(results):
    for name, key, value in (
        (SPARSE, "warnings", ["UserWarning: beware"]),
        (SPARSE, "kernel_names_", ["a", "b", "c", "d"]),
        (REFUSED, "error", "TypeError: no"),
        (SEARCH, "error", "RuntimeError: lost"),
    ):
        new = deepcopy(results)
        new[name]["values"][key] = value
        lines, code = compared(results, new)
        assert code == 1 and lines[0].startswith(f"{name}: {key} ")
    fewer = {name: results[name] for name in NAMES[1:]}
    assert compared(results, fewer)[0][0].startswith(f"{SPARSE}: only in old")


def test_distances():
    a = np.array([1.0, 100.0, np.nan, np.inf])
    assert distance(a, a.copy()) == 0.0
    assert distance(a, np.array([1.0, 101.0, np.nan, np.inf])) == pytest.approx(0.01)
    assert distance(a, np.array([1.0, 100.0, 0.0, np.inf])) == np.inf
    assert distance(a, np.array([1.0, 100.0, np.nan, -np.inf])) == np.inf


def test_problems_are_chosen_by_name():
    assert len(problems()) > 200 and len(chosen(["Localized"])) > 10
    with pytest.raises(SystemExit, match="no problem"):
        chosen(["nothing of the kind"])
