"""Fit problems with the package that is imported, and keep what was learned as plain arrays and strings."""

from __future__ import annotations

import pickle
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import event
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import manykernels

from .problem import Problem

LEARNED = (
    "objective_ dual_gap_ certified_ weights_ view_weights_ n_iter_ intercept_ active_ alignment_ "
    "alignment_bound_ kkt_residual_ unique_ spread_ t_ bound_ gates_ classes_ kernel_names_ n_features_in_"
).split()
METHODS = ("decision_function", "predict", "predict_proba", "transform", "gate", "contributions")
TIMES = ("seconds", "time")  # columns of tables that differ in every run
Values = dict[str, Any]


def record(problems: Iterable[Problem], file: Path) -> None:
    """Fit the problems, and write what they learned with the folder that the package is from."""
    results = {problem.name: outcome(problem) for problem in problems}
    folder = str(Path(manykernels.__file__).resolve().parent)
    file.write_bytes(pickle.dumps({"package": folder, "results": results}))


class Compiling(event.Listener):
    """Seconds of the processor that numba spends compiling; it compiles functions inside functions."""

    def __init__(self) -> None:
        self.seconds, self.depth, self.started = 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.started = time.process_time()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0:
            self.seconds += time.process_time() - self.started


def outcome(problem: Problem) -> Values:
    """{"values", "seconds", "compiling", "tol", "unexpected"} of one problem."""
    compiling = Compiling()
    error, model, values = None, None, {}
    with warnings.catch_warnings(record=True) as seen, event.install_listener("numba:compile", compiling):
        warnings.simplefilter("always")
        started = time.process_time()
        try:
            model, new, more = problem.run()
            seconds = time.process_time() - started
            values = facts(model, new, problem.ask) | more
        except Exception as raised:  # what an unexpected error means is for the comparison to say
            seconds = time.process_time() - started
            error = f"{type(raised).__name__}: {raised}"
    values["warnings"] = sorted(f"{given.category.__name__}: {given.message}" for given in seen)
    values["error"] = error or ""
    return {
        "values": plain(values),
        "seconds": max(seconds - compiling.seconds, 0.0),
        "compiling": compiling.seconds,
        "tol": getattr(innermost(model), "tol", None),
        "unexpected": (error is not None) != problem.fails,
    }


def facts(model: Any, new: Any, ask: Mapping[str, Any]) -> Values:
    """All that a fitted model learned, and what it says of new samples."""
    inner = innermost(model)
    values = {name: getattr(inner, name) for name in LEARNED if hasattr(inner, name)}
    if isinstance(values.get("view_weights_"), Mapping):
        values["view_weights_"] = list(values["view_weights_"].values())
    if "objective_" in values and "dual_gap_" in values:
        primal = values["objective_"]
        values["dual"] = primal - values["dual_gap_"] * abs(primal)
    for holder in (model, inner):
        values |= searched(holder)
    for method in METHODS:
        if hasattr(model, method) and (asked := _asked(model, method, new, ask)) is not None:
            values[method] = asked
    return values


def _asked(model: Any, method: str, new: Any, ask: Mapping[str, Any]) -> Any:
    """What a method says of new samples; where a model has no parts, that it says so."""
    if method == "gate" and ask:
        return None
    try:
        return getattr(model, method)(new, **ask)
    except AttributeError as error:
        if method != "contributions":
            raise
        return f"AttributeError: {error}"


def searched(model: Any) -> Values:
    """What a search compared and chose."""
    values: Values = {}
    for name in ("best_params_", "best_score_", "comparison_", "path_", "starts_"):
        if hasattr(model, name):
            values[name] = getattr(model, name)
    if isinstance(model, GridSearchCV):
        values["scores"] = model.cv_results_["mean_test_score"]
    return values


def innermost(model: Any) -> Any:
    """The estimator inside pipelines and scikit-learn's searches."""
    while isinstance(model, GridSearchCV | Pipeline):
        model = model.best_estimator_ if isinstance(model, GridSearchCV) else model[-1]
    return model


def plain(values: Mapping[str, Any], within: str = "") -> Values:
    """Numbers as arrays, other things as lists of strings; tables inside tables by path/to/the/column."""
    found: Values = {}
    for key, value in values.items():
        name = f"{within}{key}"
        if isinstance(value, Mapping):
            found |= plain(value, f"{name}/")
        elif key not in TIMES:
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    value = value.compute() if hasattr(value, "compute") else value
    array = _as_array(value)
    if array is not None and array.dtype.kind in "biuf" and not (isinstance(value, list) and not value):
        return array.astype(np.float64)
    many = isinstance(value, list | tuple | np.ndarray)
    return [str(part) for part in (np.ravel(array) if array is not None else value)] if many else str(value)


def _as_array(value: Any) -> Any:
    """None for lists of lists of several lengths, and for what holds objects."""
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return None if array.dtype.kind == "O" else array
