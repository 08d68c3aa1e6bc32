"""The harness: parts without common samples, honest choices, what is kept, left out, saved and drawn."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from experiments import __main__ as command
from experiments import (
    alignment_bounds,
    common,
    continuous_digits,
    localized_regions,
    nonlinear_real,
    pages,
    products_real,
    records,
    trials,
)
from experiments.data import Dataset, Source
from experiments.plots import Lines, number
from experiments.tables import Report, Spread

from manykernels.kernels import Gaussian

ROOT = Path(command.__file__).parents[1]


# -- parts ------------------------------------------------------------------------------------------
def two_classes(n: int = 60, d: int = 3) -> tuple[Any, Any]:
    rng = np.random.RandomState(0)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def rows_of_parts() -> dict[str, list[Any]]:
    """Every way samples are divided, with the rows of each part."""
    n, sizes = 60, (30, 15, 15)
    X, y = np.arange(float(n))[:, None] @ np.ones((1, 2)), np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    folds = common.splits(Dataset(X, y, "classification"), rounds=2)
    found = {f"fold {k}": [s.train, s.validation, s.test] for k, s in enumerate(folds)}
    half = alignment_bounds.halves(n, 1)
    found["halves"] = [half.train, half.validation, half.test]
    found["draw"] = [part[:, 0] for part, _ in continuous_digits.draw(X, y, sizes, 3)]
    scaled = [part[:, 0] for part, _ in products_real.drawn(X, y, sizes, 3)]  # standardised, in order
    found["drawn"] = [np.round(part, 6) for part in scaled]
    return found


def test_no_sample_is_in_two_parts():
    for name, parts in rows_of_parts().items():
        rows = np.concatenate(parts)
        assert len(parts) == 3 and all(len(part) >= 7 for part in parts), name
        assert len(np.unique(rows)) == len(rows) == 60, name


def by_folds(X, y, flip):
    """What two stages and one stage find."""
    data = Dataset(X, y, "classification")
    split, kernels = common.splits(data)[0], [Gaussian(1.0), Gaussian(4.0)]
    data.y[split.test] *= flip
    found = {"two": common.two_stage(data, split, kernels, "alignf")}
    found["one"] = common.one_stage(data, split, kernels, norm=1)
    return {
        name: {key: facts[key] for key in ("error", "alignment", "active")} for name, facts in found.items()
    }


def by_draw(trial):
    def run(X, y, flip):
        order = np.random.RandomState(0).permutation(y.size)
        y[order[45:]] *= flip  # the third part of what `drawn` takes
        (_, *_, (_, tested)) = products_real.drawn(X, y, (30, 15, 15), 0)
        assert np.array_equal(tested, y[order[45:]])
        found = trial(X, y, (30, 15, 15), 0, True)
        return {name: facts if isinstance(facts, dict) else {"error": facts} for name, facts in found.items()}

    return run


def by_parts(trial):
    def run(X, y, flip):
        parts = continuous_digits.draw(X, y, (30, 15, 15), 0)
        return trial([*parts[:2], (parts[2][0], flip * parts[2][1])])

    return run


HONEST = {
    "folds": by_folds,
    "products": by_draw(products_real.trial),
    "nonlinear": by_draw(nonlinear_real.trial),
    "widths": by_parts(
        lambda parts: continuous_digits.trial(parts, continuous_digits.methods(0.5, 5.0, 3), [0.1, 1.0, 10.0])
    ),
    "localized": by_parts(lambda parts: localized_regions.real_trial(parts, True)),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_chosen_does_not_depend_on_test_labels(name):
    """All test labels turned round: the same choices and predictions, so 100 − e per cent are wrong."""
    (X, y), (_, other) = two_classes(), two_classes()
    found, poisoned = HONEST[name](X, y, 1.0), HONEST[name](X, other, -1.0)
    assert found.keys() == poisoned.keys() and len(found) >= 2
    looked_at = {"error", "alignment"} if name == "widths" else {"error"}  # its alignment is that of the test
    looked_at |= {"seconds"}
    for method, facts in found.items():
        assert poisoned[method]["error"] == pytest.approx(100.0 - facts["error"])
        for key in facts.keys() - looked_at:
            assert poisoned[method][key] == facts[key] or facts[key] != facts[key], (method, key)


# -- trials that are kept ---------------------------------------------------------------------------
CALLS: list[int] = []


def squared(k: int, X: Any) -> dict[str, float]:
    if k == STOP_AT:
        raise KeyboardInterrupt
    CALLS.append(k)
    return {"value": float(k * X.sum())}


STOP_AT = -1


@pytest.fixture
def stopped(monkeypatch):
    CALLS.clear()
    return lambda k: monkeypatch.setattr(sys.modules[squared.__module__], "STOP_AT", k)


def test_finished_trials_are_not_run_again(tmp_path, stopped):
    jobs = [(k, np.ones(3)) for k in range(5)]
    stopped(3)
    with pytest.raises(KeyboardInterrupt), trials.keeping(tmp_path, Path(__file__)):
        trials.in_parallel(squared, jobs, True)
    stopped(-1)
    assert [0, 1, 2] == CALLS
    for calls in ([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]):
        with trials.keeping(tmp_path, Path(__file__)) as store:
            found = trials.in_parallel(squared, jobs, True)
        assert calls == CALLS and [one["value"] for one in found] == [0.0, 3.0, 6.0, 9.0, 12.0]
    assert (store.run, store.kept) == (0, 5)
    with trials.keeping(tmp_path, Path(__file__), fresh=True):
        trials.in_parallel(squared, jobs, True)
    assert [0, 1, 2, 3, 4] * 2 == CALLS


def test_other_arguments_are_other_trials(tmp_path, stopped):
    with trials.keeping(tmp_path, Path(__file__)):
        for X in (np.ones(3), np.ones(4), np.ones(3)):
            trials.in_parallel(squared, [(2, X)], True)
    assert [2, 2] == CALLS
    trials.in_parallel(squared, [(2, np.ones(3))], True)  # nobody asked for it to be kept
    assert [2, 2, 2] == CALLS


@pytest.mark.slow
def test_trials_of_several_processes_are_kept(tmp_path):
    jobs = [(np.arange(3.0), k) for k in range(3)]
    for expected in ((3, 0), (0, 3)):
        with trials.keeping(tmp_path, Path(common.__file__)) as store:
            found = trials.in_parallel(np.roll, jobs)
        assert (store.run, store.kept) == expected and found[1].tolist() == [2.0, 0.0, 1.0]


def test_changed_code_is_other_code(tmp_path):
    """Of the file, and of what it imports from its folder, but not of files beside it."""
    (tmp_path / "parts").mkdir()
    texts = {"one": "from .two import f\nfrom .parts import three\n", "two": "f = 1\n", "beside": "g = 1\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
    three = tmp_path / "parts" / "three.py"
    three.write_text("from ..two import f\n")

    def code() -> str:
        trials.code_of.cache_clear()
        return trials.code_of(tmp_path / "one.py")

    known = [code()]
    (tmp_path / "beside.py").write_text("g = 2\n")
    assert code() == known[0]
    for file, text in ((tmp_path / "two.py", "f = 2\n"), (three, "h = 1\n"), (tmp_path / "one.py", "")):
        file.write_text(text)
        known.append(code())
    assert len(set(known)) == 4


def test_stale_trials_are_run_again(tmp_path, stopped):
    script = tmp_path / "script.py"
    for text, calls in (("a = 1", 1), ("a = 1", 1), ("a = 2", 2)):
        script.write_text(text)
        trials.code_of.cache_clear()
        with trials.keeping(tmp_path / "kept", script):
            trials.in_parallel(squared, [(1, np.ones(2))], True)
        assert len(CALLS) == calls


def test_a_changed_file_of_data_is_another_trial(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    store, source, files = trials.Store(tmp_path, "code"), Source("some", "regression"), []
    for y in (np.ones(3), np.ones(4)):
        np.savez(tmp_path / "some.npz", X=np.ones((len(y), 1)), y=y)
        files += [store.file(common.splits, (source,), False), store.file(common.splits, ("some",), False)]
    assert len(set(files)) == 4


# -- the command ------------------------------------------------------------------------------------
@pytest.fixture
def scripts(tmp_path, monkeypatch):
    """Experiments that are nothing but these functions."""

    def make(**runs: Any) -> Path:
        modules = {}
        for name, run in runs.items():
            modules[name] = ModuleType(name, "A small one.")
            modules[name].run, modules[name].__file__ = run, __file__
        monkeypatch.setattr(command, "names", lambda: list(runs))
        monkeypatch.setattr(command, "_module", modules.__getitem__)
        return tmp_path / "saved"

    return make


def test_an_experiment_that_fails_does_not_stop_the_others(scripts, capsys):
    def broken(report: Report) -> None:
        raise ZeroDivisionError("on purpose")

    folder = scripts(broken=broken, sound=lambda report: report.table("T", [{"a": 1}]))
    with pytest.raises(SystemExit) as ended:
        command.main(["--output", str(folder)])
    printed = capsys.readouterr()
    assert ended.value.code == 1 and "Traceback" in printed.err and "on purpose" in printed.err
    assert "| broken     | failed" in printed.out and "| sound      | run" in printed.out
    assert sorted(file.name for file in folder.iterdir()) == ["README.md", "sound.md", "sound.parquet"]


def test_a_record_of_the_same_code_is_kept(scripts, capsys):
    ran = []
    folder = scripts(one=lambda report: ran.append(0) or report.table("T", [{"a": 1}]))
    for options in ([], [], ["--fresh"], ["--quick"]):
        command.main(["one", "--output", str(folder), *options])
    assert len(ran) == 3 and capsys.readouterr().out.count("| one        | kept") == 1


def test_missing_sets_are_left_out_by_name(tmp_path, monkeypatch, capsys):
    """One of five sets is there: that one is used, the report says which are not; others go on."""
    X, y = two_classes(60, 24)
    np.savez(tmp_path / "german_numeric.npz", X=X, y=y)
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    folder = tmp_path / "saved"
    command.main(
        ["products_real", "continuous_digits", "alignment_gaussians", "--quick", "--output", str(folder)]
    )
    printed = capsys.readouterr()
    assert "alignment_gaussians: left out: splice (not in MANYKERNELS_DATA)" in printed.err
    assert "continuous_digits: skipped: 'mnist'" in printed.err
    assert "| products_real       | skipped" in printed.out and "left out: german" in printed.out
    record = records.read(folder / "alignment_gaussians.parquet")
    assert list(record.facts["left out"]) == ["kinematics", "ionosphere", "spambase", "splice"]
    assert [table["title"][:19] for table in record.tables] == ["german: per cent wr"]
    assert "Left out: kinematics (not in" in (folder / "alignment_gaussians.md").read_text(encoding="utf-8")
    assert not (folder / "products_real.parquet").exists()


def test_one_experiment_from_end_to_end(quick_tables, tmp_path):
    tables = quick_tables("ufo_multiclass")
    assert [len(table["rows"]) for table in tables] == [6, 6]
    facts = records.facts_of(tmp_path / "ufo_multiclass.parquet")
    assert facts["quick"] and facts["synthetic"] and (facts["trials"], facts["kept"]) == (4, 0)
    assert len(list((tmp_path / "cache" / "trials" / "ufo_multiclass").iterdir())) == 4


def test_a_quick_run_takes_few_samples_of_real_sets(tmp_path, monkeypatch):
    X = np.arange(500.0)[:, None]
    np.savez(tmp_path / "some.npz", X=X, y=X[:, 0])
    monkeypatch.setenv("MANYKERNELS_DATA", str(tmp_path))
    data = Source("some", "regression", "raw").load(quick=True)
    assert data.y.size == 200 == len(set(data.y)) and np.array_equal(data.X[:, 0], data.y)
    monkeypatch.delenv("MANYKERNELS_DATA")
    assert Source("some", "regression", "raw").load(quick=True).X.shape == (60, 8)


@pytest.mark.slow
def test_one_experiment_from_the_shell(tmp_path):
    """Run, saved, drawn; a second time there is nothing to do."""
    environment = {key: value for key, value in os.environ.items() if key != "MANYKERNELS_DATA"}
    call = [sys.executable, "-m", "experiments", "coordinate_descent", "--quick", "--output", str(tmp_path)]
    for outcome in ("run", "kept"):
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        assert f"| coordinate_descent | {outcome}" in done.stdout
    facts = records.facts_of(tmp_path / "coordinate_descent.parquet")
    assert facts["quick"] and facts["seconds"] > 0.0 and {"commit", "date", "numpy", "python"} <= facts.keys()
    text = (tmp_path / "coordinate_descent.md").read_text(encoding="utf-8")
    assert text.count("## f(x)") == 3 and "A quick run" in text and "coordinate_descent_curves.png" in text
    assert (tmp_path / "coordinate_descent_curves.png").stat().st_size > 10_000
    assert "## [coordinate_descent](coordinate_descent.md)" in (tmp_path / "README.md").read_text("utf-8")


# -- what is saved ----------------------------------------------------------------------------------
def test_a_saved_report_has_the_same_values_and_the_same_text(tmp_path, capsys):
    rows: list[dict[str, Any]] = [
        {"a": 1, "b": Spread([1.0, 2.0 / 3.0], 1), "c": None, "d": True},
        {"a": np.float64(0.12345), "e": "1.2e-3", "d": np.bool_(False), "b": np.int64(7), "f": float("nan")},
    ]
    report = Report("some", "A title.", left_out={"x": "not there"})
    report.table("First", rows, "A note | with a bar.")
    report.table("Second", [{"α": "é"}])
    report.table("Nothing", [])
    report.write(tmp_path, seconds=1.0, cpu=2.0)
    record = records.read(tmp_path / "some.parquet")
    first, second = (table["rows"] for table in record.tables)
    assert second == [{"α": "é"}] and first[0] == rows[0] | {"b": Spread([1.0, 2.0 / 3.0])}
    assert list(first[1]) == list(rows[1]) and first[1]["a"] == 0.12345 and np.isnan(first[1]["f"])
    assert type(first[0]["a"]) is int and first[1]["d"] is False and type(first[1]["b"]) is int
    printed = capsys.readouterr().out.strip()
    text = (tmp_path / "some.md").read_text(encoding="utf-8")
    assert text.startswith("# A title.\n\nLeft out: x (not there).\n\n" + printed.replace("\n\n\n", "\n\n"))
    assert "1 s, 2 s of processors." in text.splitlines()[-1]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "00{0} Fig. 6.3, 00{1} Fig. 2: times",
            "Afkanpour 2013, Fig. 6.3, Afkanpour et al. 2013, Fig. 2: times",
        ),
        ("among 00{0}'s", "among Afkanpour's"),
        ("00{2}: seconds", "Orabona & Jie 2011: seconds"),
        ("1,000 samples, 10 000 rows, 0.001", "1,000 samples, 10 000 rows, 0.001"),
    ],
)
def test_old_records_name_papers_when_they_are_read(old, new):
    assert records.named(old.format(*range(5))) == new


RECORDED = sorted((ROOT / "experiments" / "results").glob("*.parquet"))


@pytest.mark.parametrize("file", RECORDED, ids=lambda file: file.stem)
def test_pages_are_those_of_the_records(file):
    record = records.read(file)
    text = pages.page(record, pages.pictures(file.parent, file.stem))
    assert text == file.with_suffix(".md").read_text(encoding="utf-8")
    assert not record.facts["quick"] and record.facts["name"] == file.stem
    for one in getattr(import_module(f"experiments.{file.stem}"), "PLOTS", []):
        assert any(table["title"].startswith(one.table) for table in record.tables)


def test_numbers_are_found_in_cells():
    cells = ["1,024", "42 of 48", "27.5 ± 12.0", "refused", "-1.5e-03", None, 3, Spread([1.0, 2.0])]
    assert [number(cell) for cell in cells] == [1024.0, 42.0, 27.5, None, -1.5e-3, None, 3.0, 1.5]
    assert number("42 of 48", last=True) == 48.0
    assert [number(key, whole=True) for key in ("γ = 5", "2,048", "to 1 %", "method")] == [
        5.0,
        2048.0,
        None,
        None,
    ]


def test_curves_go_down_a_column_or_along_a_row():
    down = {
        "title": "T",
        "rows": [{"m": "1,000", "p": "1.5", "q": "no"}, {"m": "2,000", "p": Spread([1.0, 3.0])}],
    }
    assert Lines("f", "T", "", "", x="m").curves(down) == {"p": ([1e3, 2e3], [1.5, 2.0], [0.0, 2.0**0.5])}
    along = {"title": "T", "rows": [{"method": "a", "16": "0.5", "32": "< 1e-14", "to 1 %": "7"}]}
    assert Lines("f", "T", "", "", across="method").curves(along) == {"a": ([16.0], [0.5], [0.0])}
