"""Wide tables: 200 samples with 10 to 50,000 columns, from a fit to a report, and the exponents of growth."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from manykernels import MKLClassifier, MKLClassifierCV, load, save
from manykernels.families import per_feature, views
from manykernels.report import report as write_page

from .harness import Report

GOAL = "exponent ≤ 1.15: linear in the columns, up to the noise of the clock"
_ROWS = 200
Facts = dict[str, Any]


def run(report: Report) -> None:
    """Tables of numbers, with categories, in views by name; then kernels in thousands."""
    sizes = report.pick((10, 1000, 50_000), (10, 100))
    warnings.simplefilter("ignore")
    _measure(_numbers(10), "auto", Path(tempfile.mkdtemp()), search=True)  # loads and compiles
    _scaling(report, "a frame of numbers", _numbers, lambda d: "auto", sizes, search=True)
    _scaling(
        report, "a frame of numbers, some with heavy tails, and a category", _mixed, lambda d: "auto", sizes
    )
    _scaling(report, "a frame in 10 views, selected by names", _numbers, _views, sizes)
    _scaling(
        report,
        "categories of 6 levels",
        _categories,
        lambda d: "auto",
        report.pick((10, 100, 1000), (10, 40)),
    )
    counts = report.pick((10, 60, 240), (2, 8))
    _scaling(report, "13 kernels of each column", _numbers, lambda d: per_feature(), counts)


def _scaling(
    report: Report,
    what: str,
    table: Callable[[int], tuple[Any, Any]],
    kernels: Callable[[int], Any],
    sizes: tuple[int, ...],
    search: bool = False,
) -> None:
    """A row for each number of columns, and one with the exponents between the last two."""
    rows: list[Facts] = []
    with tempfile.TemporaryDirectory() as folder:
        for d in sizes:
            rows.append({"d": d, **_measure(table(d), kernels(d), Path(folder), search)})
    (small, large), (before, after) = sizes[-2:], rows[-2:]
    grown = np.log(large / small)
    exponents = {
        key: float(np.log(after[key] / before[key]) / grown)
        for key in after
        if key.endswith(" s") or key == "MB"
    }
    report.table(f"{what}, {_ROWS} samples; processor seconds", rows)
    report.table(f"{what}: exponents from {small:,} to {large:,} columns", [exponents], GOAL)


def _measure(data: tuple[Any, Any], kernels: Any, folder: Path, search: bool) -> Facts:
    X, y = data
    file, page = folder / "model", folder / "page.html"
    model, facts = MKLClassifier(kernels), Facts()

    def clock(name: str, call: Callable[[], Any]) -> Any:
        started = time.process_time()
        result = call()
        facts[f"{name} s"] = time.process_time() - started
        return result

    clock("fit", lambda: model.fit(X, y))
    clock("predict 5", lambda: model.predict(X[:5]))
    if search:
        clock("search", lambda: MKLClassifierCV(kernels).fit(X, y))
    clock("save", lambda: save(model, file))
    loaded = clock("load", lambda: load(file))
    clock("report", lambda: write_page(model, X, y, page, cv=None))
    same = np.array_equal(loaded.decision_function(X[:5]), model.decision_function(X[:5]))
    facts |= {"MB": file.stat().st_size / 1e6, "page KB": page.stat().st_size / 1e3, "same": same}
    return {**facts, "gap": float(model.dual_gap_)}


# -- tables -----------------------------------------------------------------------------------------
def _numbers(d: int) -> tuple[Any, Any]:
    rng = np.random.RandomState(0)
    X = rng.randn(_ROWS, d)
    y = np.where(X[:, :5].sum(axis=1) + rng.randn(_ROWS) > 0, "case", "control")
    return pd.DataFrame(X, columns=[f"gene {j}" for j in range(d)]), y


def _mixed(d: int) -> tuple[Any, Any]:
    X, y = _numbers(d)
    heavy = X.columns[::10]
    X[heavy] = np.sinh(2.0 * X[heavy])
    sex = pd.Series(np.random.RandomState(1).choice(["f", "m"], _ROWS), name="sex")
    return pd.concat([X, sex], axis=1), y


def _categories(d: int) -> tuple[Any, Any]:
    rng = np.random.RandomState(0)
    codes = rng.randint(0, 6, (_ROWS, d))
    y = np.where(codes[:, :5].sum(axis=1) + rng.randn(_ROWS) > 12, "case", "control")
    return pd.DataFrame(np.array(list("uvwxyz"))[codes], columns=[f"c{j}" for j in range(d)]), y


def _views(d: int) -> Any:
    names = [f"gene {j}" for j in range(d)]
    return views({f"view {k}": names[k * d // 10 : (k + 1) * d // 10] for k in range(10)})
