"""Reports of every kind, for tests of their data and of the page."""

from __future__ import annotations

import warnings
from datetime import date
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from tests.fitted_models import TIMES, X, bits, fitted, frame, numbers, stack, strings, three, y

from manykernels import (
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvival,
)
from manykernels.families import ARDGaussians, Gaussians, Products, views
from manykernels.families.remarks import quiet_about_tables
from manykernels.inspection import importance, weight_stability
from manykernels.kernels import Gaussian, Linear
from manykernels.report import report_data, width_stability
from manykernels.report.baselines import compared
from manykernels.report.chances import chance_tests

MADE = date(2024, 2, 29)
SCORES = [
    {"name": "learned", "mean": 0.9, "std": 0.05, "folds": [0.85, 0.95]},
    {"name": "plain sum", "mean": 0.8, "std": 0.1, "folds": [0.7, 0.9]},
]
NASTY = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    "<img src=x onerror='window.hacked = 3'>",
    "\"quotes\" and 'more' & <!-- a comment",
    "a very long name " * 8,
]


def target_of(name: str) -> Any:
    if name in ("three classes", "ovr", "ufo"):
        return three
    if name == "two outputs":
        return X[:, :2] ** 2
    if name in TIMES:
        return TIMES[name]
    return y if hasattr(fitted(name)[0], "classes_") or name == "aligner" else numbers


def data_of(name: str) -> Any:
    return {"stack": stack, "strings": strings, "tanimoto": bits}.get(name, frame() if "frame" in name else X)


def document(name: str, **options: Any) -> dict[str, Any]:
    """The data of the report of a fitted model."""
    options = {"made": MADE, "scores": SCORES, **options}
    return report_data(fitted(name)[0], data_of(name), target_of(name), **options)


def nasty() -> dict[str, Any]:
    """All that users can name is a trap."""
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 5)), columns=NASTY)
    labels = np.where(table.iloc[:, 0] > 0, NASTY[0], NASTY[3]).astype(object)
    kernels = views({NASTY[2]: NASTY[:2], "other": NASTY[2:]})
    model = LocalizedMKLClassifier(kernels, random_state=0).fit(table, labels)
    told = {"title": NASTY[0], "target": NASTY[1], "call": NASTY[2]}
    scores = [{**row, "name": NASTY[i]} for i, row in enumerate(SCORES)]
    return report_data(model, table, labels, made=MADE, scores=scores, **told)


def every_type() -> dict[str, Any]:
    """A raw table with a column of every type."""
    n = 40
    draw = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "float": np.where(np.arange(n) % 9 == 0, np.nan, draw.standard_normal(n)),
            "bool": draw.random(n) < 0.5,
            "boolean": pd.array([True, None, False, True] * (n // 4), dtype="boolean"),
            "int": np.arange(n) % 7,
            "date": pd.date_range("2024-01-01", periods=n),
            "span": pd.to_timedelta(np.arange(n) % 9, unit="D"),
            "category": pd.Categorical(["u", "v"] * (n // 2)),
            "identifier": [f"p{i:03d}" for i in range(n)],
            "text": [f"word{i % 5} of word{i % 7} and word{i % 3} {i}" for i in range(n)],
            "constant": np.ones(n),
            "no numbers": np.full(n, np.nan),
            "nothing": [None] * n,
        }
    )
    target = np.arange(n) % 7 > 3
    with quiet_about_tables():
        model = MKLClassifier().fit(table, target)
    return report_data(model, table, target, made=MADE, fit_path=False)


def many_targets() -> dict[str, Any]:
    """A search with weights of their own for more targets than are told one by one."""
    Y = np.tanh(X @ np.random.default_rng(0).standard_normal((X.shape[1], 20)))
    search = MKLRegressorCV({"a": Linear(), "b": Gaussian(2.0)}, multi_output="own", Cs=[0.1, 1.0, 10.0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* have the best C at the")
        search.fit(X, Y)
    return report_data(search, X, Y, made=MADE)


def products() -> dict[str, Any]:
    table = pd.DataFrame(X, columns=["age", "bmi", NASTY[0], "dose"])
    model = MKLRegressor(Products(degree=2), C=10.0).fit(table, numbers)
    return report_data(model, table, numbers, made=MADE)


def many_widths() -> dict[str, Any]:
    model = MKLRegressor(ARDGaussians(), tol=0.3, random_state=0).fit(X, numbers)
    spread = width_stability(model, X, numbers, n_resamples=3)
    return report_data(model, X, numbers, made=MADE, fit_path=False, widths=spread)


def one_width() -> dict[str, Any]:
    model = MKLRegressor(Gaussians(), tol=1e-2, random_state=0).fit(X, numbers)
    spread = width_stability(model, X, numbers, n_resamples=4)
    return report_data(model, X, numbers, made=MADE, fit_path=False, widths=spread)


def stable_views() -> dict[str, Any]:
    model = MKLClassifier(views({"left": [0, 1], "right": [2, 3]})).fit(X, y)
    spread = weight_stability(model, X, y, n_resamples=4, random_state=0)
    return report_data(model, X, y, made=MADE, fit_path=False, stability=spread)


def by_chance() -> dict[str, Any]:
    """Tests of views and kernels with traps for names, and what halves of the data select."""
    model = MKLClassifier(views({NASTY[0]: [0, 1], NASTY[4]: [2, 3]})).fit(X, y)
    spread = weight_stability(model, X, y, method="pairs", n_resamples=4, random_state=0)
    tests = chance_tests(model, X, y)
    return report_data(model, X, y, made=MADE, fit_path=False, stability=spread, **tests)


def important() -> dict[str, Any]:
    """One kernel on a table of views with traps for names, and more columns than a chart shows."""
    names = [f"{NASTY[j % 5]} {j}" for j in range(25)]
    table = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 25)), columns=names)
    target = table.iloc[:, 0] + table.iloc[:, 1]
    model = MKLRegressor({NASTY[0]: Linear()}).fit(table, target)
    groups = {NASTY[1]: names[:2], "other": names[2:]}
    found = importance(model, table, target, groups=groups, cv=3, n_repeats=2, random_state=0)
    return report_data(model, table, target, made=MADE, importance=found)


def chosen_again() -> dict[str, Any]:
    """A search whose choice is repeated on halves of the data."""
    search = MKLClassifierCV({"a": Linear(), NASTY[0]: Gaussian(2.0)}, Cs=[1.0], cv=3).fit(X, y)
    spread = weight_stability(search, X, y, n_resamples=4, random_state=0)
    return report_data(search, X, y, made=MADE, stability=spread)


def survival() -> dict[str, Any]:
    """Times to an event, with strata whose names are traps."""
    draw = np.random.default_rng(0)
    time, limit = draw.exponential(np.exp(-X[:, 0])), draw.exponential(3.0, len(X))
    times = pd.DataFrame({"event": time <= limit, "time": np.minimum(time, limit)})
    times["stratum"] = np.where(np.arange(len(X)) % 2, NASTY[0], NASTY[4])
    model = MKLSurvival({"a": Linear(), "b": Gaussian(2.0)}).fit(X, times)
    return report_data(model, X, times, made=MADE, scores=SCORES, target=NASTY[1])


def stable() -> dict[str, Any]:
    model = fitted("per feature")[0]
    spread = {"mean": model.weights_, "low": 0.5 * model.weights_, "high": 1.5 * model.weights_}
    names = model.kernel_names_
    stability = {"names": names, "frequency": np.linspace(0, 1, len(names)), **spread}
    return document("per feature", stability=stability)


@cache
def held_out() -> dict[str, Any]:
    """Classes of a raw table with gaps: all that folds say, with traps for names."""
    draw = np.random.default_rng(0)
    table = pd.DataFrame({"a": X[:, 0], NASTY[0]: np.where(X[:, 1] > 0, NASTY[1], "v"), NASTY[4]: X[:, 2]})
    table.loc[draw.random(len(X)) < 0.2, "a"] = np.nan
    target = np.where(X[:, 0] + (X[:, 1] > 0) > 0.5, NASTY[2], "no").astype(object)
    with quiet_about_tables():
        model = MKLClassifier(loss="logistic").fit(table, target)
        found = compared(model, table, target, cv=3)
        needed = importance(model, table, target, cv=3, n_repeats=2, random_state=0, n_effects=3)
    return report_data(model, table, target, made=MADE, fit_path=False, importance=needed, **found)


def held_out_numbers() -> dict[str, Any]:
    model = MKLRegressor({"g": Gaussian(2.0), "l": Linear()}).fit(X, numbers)
    found = compared(model, X, numbers, cv=2, n_permutations=3)
    return report_data(model, X, numbers, made=MADE, fit_path=False, **found)
