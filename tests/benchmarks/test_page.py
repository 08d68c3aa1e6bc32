"""The page of the benchmarks is what their JSON says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from benchmarks import page

pytest.importorskip("matplotlib")
TIME = {"median": 0.5, "q1": 0.4, "q3": 0.61}


def test_the_committed_page_is_what_the_json_says(tmp_path):
    made = page.write(tmp_path).read_text(encoding="utf-8")
    assert made == (page.DOCS / "benchmarks.md").read_text(encoding="utf-8"), "run `make bench BENCH=--list`"
    shown = set(re.findall(r"\]\((images/\S+)\)", made))
    kept = {str(file.relative_to(page.DOCS)) for file in (page.DOCS / page.IMAGES).glob("*.png")}
    assert shown == kept and all((tmp_path / name).stat().st_size > 1000 for name in shown)


def test_every_result_has_its_section():
    text = (page.DOCS / "benchmarks.md").read_text(encoding="utf-8")
    for file in (page.HERE / "results").glob("*.json"):
        assert f"\n## {file.stem.replace('_', ' ')}\n" in text


def test_the_summary_names_every_benchmark_and_its_largest_ratio():
    rows = [{"contender": "a", "× faster than b": 3.0}, {"contender": "c", "× faster than b": 12.5}]
    content = {"benchmark": "finite_small", "tables": [{"rows": rows}, {"rows": [{"seconds": TIME}]}]}
    line = page.summary([content])[-1]
    assert line.startswith("| [finite small](#finite-small) | ") and line.endswith("| 12.5 × faster than b |")
    assert page.largest([{"rows": [{"seconds": TIME}]}]) == ""


def test_a_table_escapes_bars_and_tells_times_with_quartiles():
    lines = page.markdown([{"a|b": "x", "seconds": TIME, "n": 3}, {"a|b": "y_z", "ok": True, "n": 1234.5}])
    assert lines == [
        "| a\\|b | seconds | n | ok |",
        "| :--- | ---: | ---: | ---: |",
        "| x | 0.5 [0.4, 0.61] | 3 |  |",
        "| y\\_z |  | 1,234 | yes |",
    ]


def test_curves_need_two_sizes_of_one_contender():
    rows = [{"contender": c, "n": n, "M": 2, "seconds": TIME} for c in ("a", "b") for n in (10, 20)]
    assert [(label, xs) for label, xs, _ in page.curves(rows, "n")] == [
        ("a, M=2", [10.0, 20.0]),
        ("b, M=2", [10.0, 20.0]),
    ]
    assert page.curves(rows, "M") == []
    assert page.curves([{"kernels": 2, "contender": c, "seconds": TIME} for c in "ab"], "kernels") == []


def test_a_column_of_seconds_is_a_curve_and_other_numbers_are_not():
    rows = [{"rows": n, "fit s": 0.1 * n, "gap": 0.1, "seconds": "not installed"} for n in (1, 2)]
    assert page.curves(rows, "rows") == [("fit", [1.0, 2.0], [0.1, 0.2])]


def test_a_picture_is_drawn(tmp_path: Path):
    file = tmp_path / "some" / "picture.png"
    page.draw({"n": [("a", [1.0, 2.0], [3.0, 4.0])], "M": [("", [2.0, 1.0], [1.0, 2.0])]}, file)
    assert file.read_bytes().startswith(b"\x89PNG")
