"""The harness of the benchmarks: turns, ratios, tables and JSON; and the rivals solve the same problem."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import cvxpy as cp
import numba
import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import bench_bandwidth, bench_selection, harness, limits
from benchmarks.harness import (
    MISSING,
    Contender,
    Report,
    Skip,
    Timing,
    compare,
    pinned,
    ratio_rows,
    render,
    split_rows,
)
from benchmarks.limits import Limits
from benchmarks.problems import breast_cancer, gaussians, load, risk_of, solve, stack_of
from benchmarks.references import optimal_value
from benchmarks.rivals import cvxpy_optimum, libsvm_wrapper

from manykernels.grams import StackGram
from manykernels.losses import Logistic

LIMITS = Limits(threads=2, read_gb_s=20.0, triad_gb_s=15.0, gemm_gflop_s=50.0)


def timing(*seconds: float) -> Timing:
    return Timing(list(seconds), list(seconds))


def test_contenders_run_in_turns_after_a_warm_up():
    calls: list[str] = []
    contenders = {
        "a": lambda: calls.append("a") or len(calls),
        "b": Contender(lambda: calls.append("b"), warm=lambda: calls.append("warm b")),
    }
    timings = compare(contenders, repeats=2)
    assert calls == ["a", "warm b", "a", "b", "a", "b"]
    assert [len(t.seconds) for t in timings.values()] == [2, 2]
    assert timings["a"].result == 5


def test_a_contender_that_used_its_budget_sits_out(monkeypatch):
    clock = [0.0]  # of the test's own: the machine's may stop anywhere

    def slow() -> None:
        clock[0] += 10.0

    monkeypatch.setattr(harness.time, "perf_counter", lambda: clock[0])
    timings = compare({"slow": slow, "fast": lambda: None}, repeats=4, budget=5.0)
    assert len(timings["slow"].seconds) == 1
    assert len(timings["fast"].seconds) == 4


def test_ratios_are_of_medians_and_go_both_ways():
    timings = {"ours": timing(1.0, 2.0, 9.0), "rival": timing(10.0)}
    faster = ratio_rows(timings, "rival", lambda name, _: {"name": name})
    assert [row["× faster than rival"] for row in faster] == [5.0, 1.0]
    assert faster[0]["name"] == "ours"
    assert ratio_rows(timings, "rival", cost="rivals")[0]["rivals"] == 0.2
    assert timing(1.0, 2.0, 3.0).as_dict() == {
        "median": 2.0,
        "q1": 1.5,
        "q3": 2.5,
        "best": 1.0,
        "cpu": 2.0,
        "runs": 3,
    }


def test_a_table_aligns_its_columns():
    lines = render(
        [{"name": "a", "value": 1.23456}, {"name": "long", "value": 12345.6, "ok": True}]
    ).splitlines()
    assert lines == ["  name   value   ok", "  a       1.23", "  long  12,346  yes"]


def test_the_json_holds_every_table_and_nothing_of_one_machine(tmp_path, capsys):
    report = Report("some", LIMITS)
    report.table(
        "first", [{"seconds": timing(0.123456), "gap": np.float64(np.inf), "n": np.int64(3)}], "a goal"
    )
    file = report.write(tmp_path)
    assert "first  (goal: a goal)" in capsys.readouterr().out
    text = file.read_text(encoding="utf-8")
    content = json.loads(text)
    (table,) = content["tables"]
    assert table["rows"] == [{"seconds": {**timing(0.1235).as_dict()}, "gap": "inf", "n": 3}]
    assert content["limits"]["read_gb_s"] == 20.0
    assert str(Path.home()) + "/" not in text
    assert len(platform.node()) < 4 or platform.node() not in text


def test_threads_are_pinned_and_given_back():
    before = numba.get_num_threads()
    with pinned(1):
        assert numba.get_num_threads() == 1
    assert numba.get_num_threads() == before


def test_limits_are_measured():
    with pinned(1):
        measured = limits.measure(quick=True)
    assert 0.1 < measured.read_gb_s < 1e4
    assert 0.1 < measured.gemm_gflop_s < 1e6
    assert "1 thread:" in str(measured)


def test_every_benchmark_says_what_it_is_and_can_run():
    assert {
        "finite_small",
        "finite_medium",
        "per_feature",
        "many",
        "bandwidth",
        "memory",
        "reference",
    } <= set(command.names())
    for name in command.names():
        module = command._module(name)
        assert module.__doc__ and callable(module.run), name


@pytest.mark.slow
def test_the_command_runs_one_skips_one_and_refuses_unknown_names(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "measure", lambda quick: LIMITS)
    monkeypatch.setattr(Report, "pick", lambda self, full, quick: (4, 50) if quick == (20, 500) else quick)
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    command.main(["bandwidth", "per_feature", "--quick", "--output", str(tmp_path)])
    assert "skipped per_feature: MANYKERNELS_DATA is not set" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["bandwidth.json"]
    with pytest.raises(SystemExit):
        command.main(["nothing"])


def test_missing_data_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    with pytest.raises(Skip, match=r"sonar\.npz"):
        load("sonar")


def test_every_pass_and_its_blas_rival_compute_the_same():
    rng = np.random.RandomState(0)
    A = rng.randn(3, 20, 20)
    stack = A @ A.transpose(0, 2, 1)
    ours = bench_bandwidth.passes(stack, np.random.RandomState(1))
    theirs = bench_bandwidth.blas(stack, np.random.RandomState(1))
    for name in ("combine", "quadratic forms", "products"):
        np.testing.assert_allclose(np.ravel(ours[name][0]()), np.ravel(theirs["BLAS " + name]()), rtol=1e-9)


def test_the_wrapper_and_cvxpy_solve_our_problem():
    X, y = breast_cancer()
    stack, y = stack_of(gaussians(4), X[:60]), y[:60]
    wrapped = libsvm_wrapper(stack, y, 1.0, 2.0, rounds=200, tol=1e-3)
    ours = solve(StackGram(stack), risk_of(y, 1.0), 2.0, 1e-6)
    assert -1e-9 <= wrapped.gap <= 1e-3 and wrapped.n_iter < 200
    np.testing.assert_allclose(wrapped.weights, ours.weights, atol=0.05)
    reference = cvxpy_optimum(stack, y, 1.0, Logistic(), 4 / 3)
    ours = solve(StackGram(stack), risk_of(y, 1.0, Logistic()), 4 / 3, 1e-7)
    assert abs(ours.primal - reference) <= 1e-5 * reference


def test_a_reference_falls_back_to_a_second_solver(monkeypatch):
    x, solve_with, failing, asked = cp.Variable(3), cp.Problem.solve, {cp.CLARABEL}, []

    def solve(problem, solver, **options):
        asked.append(solver)
        if solver in failing:
            raise cp.SolverError(f"Solver {solver} failed.")
        return solve_with(problem, solver=solver, **options)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - np.arange(3.0)) + cp.sum(x)), [x >= 1])
    assert optimal_value(problem) == pytest.approx(4.75, rel=1e-6)  # at (1, 1, 3/2)
    assert asked[0] == cp.CLARABEL and asked[-1] != cp.CLARABEL
    failing.add(asked[-1])
    with pytest.raises(AssertionError, match="No convex solver has a reference"):
        optimal_value(problem)


# -- several splits ---------------------------------------------------------------------------------
@pytest.mark.slow
def test_splits_are_paired_and_what_is_missing_is_said():
    answers = {"ours": [1.0, 3.0], "rival": [2.0, 1.0], "absent": [None, None]}
    splits = [
        ({name: Contender(lambda v=values[k]: v) for name, values in answers.items()}, lambda _, v: 10.0 * v)
        for k in (0, 1)
    ]
    ours, rival, absent = split_rows(splits, "ours", "error")
    assert ours["error"] == 20.0 and ours["worst split"] == 30.0 and len(ours["seconds"].seconds) == 2
    assert rival["error"] == 15.0 and rival["splits with a smaller error than ours"] == 1
    assert absent == {"contender": "absent", "seconds": MISSING}


@pytest.mark.slow
def test_the_searches_stand_beside_a_grid_search():
    X, y, task = bench_selection.sets(60)["wine"]
    (contenders, error), *rest = bench_selection.splits(X, y, task, 2)
    assert len(rest) == 1 and list(contenders) == [bench_selection.OURS, bench_selection.RIVAL]
    assert all(error(name, entry.call()) <= 20.0 for name, entry in contenders.items())
    assert {task for _, _, task in bench_selection.sets(60).values()} == {"classification", "regression"}
