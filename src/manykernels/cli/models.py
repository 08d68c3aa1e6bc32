"""Models for data from files: what is done to columns, which kernels, which method."""

from __future__ import annotations

from functools import partial
from typing import Any

from sklearn.pipeline import Pipeline

from ..approx import Nystroem, RandomFeatures
from ..comparison.methods import METHODS
from ..estimators import TablePreparer
from ..families import Gaussians, Products, Subset, gaussian_grid, per_feature, rank_one, views
from ..families.views import ViewColumns
from ..kernels import Precomputed
from ._console import UserError
from .choices import APPROX, KERNELS
from .data import Data

_NAMES = {"survival": "times to an event"}  # of tasks, in messages
_OF_TABLES = ("auto", "linear")  # kernels that prepare the columns of raw tables themselves


def reads_raw(method: str, kernels: str) -> bool:
    """Whether the method takes raw tables, or numbers that are made of them first."""
    return kernels in _OF_TABLES and not METHODS[method].own


def pipeline(
    data: Data, method: str, kernels: str = "auto", *, tune: bool = False, intervals: bool = False
) -> Any:
    """Columns made ready, and the method behind them; with `tune`, C by cross-validation."""
    chosen = METHODS[method]
    stack = bool(data.kernels)
    if not chosen.serves(data.task, False):
        able = [name for name in METHODS if METHODS[name].serves(data.task, stack)]
        what = _NAMES.get(data.task, data.task)
        raise UserError(f"--method {method} is not for {what}; expected {', '.join(able)}.")
    if stack and not chosen.stack:
        able = [name for name in METHODS if METHODS[name].serves(data.task, True)]
        raise UserError(
            f"--method {method} makes its own kernels and cannot use those of --precomputed; expected "
            f"{', '.join(able)}."
        )
    model = chosen.estimator(data.task, _kernels(data, kernels), tune=tune)
    if data.covariates:
        model = _adjusted(model, data, method, kernels)
    if intervals:
        model = _with_intervals(model, data, method)
    if stack or reads_raw(method, kernels):
        return model
    ready = TablePreparer().set_output(transform="pandas")
    return Pipeline([("columns", ready), ("model", model)])


def sized(model: Any, method: str, approx: str, time_budget: float | None, task: str) -> Any:
    """The model with explicit features and the time that were asked for."""
    params = model.get_params()
    if time_budget is not None:
        model.set_params(**{_own(params, "time_budget", method, "--time-budget", task): time_budget})
    if approx != "auto":
        model.set_params(**{_own(params, "approx", method, "--approx", task): _approximation(approx)})
    return model


def _own(params: dict[str, Any], name: str, method: str, option: str, task: str) -> str:
    """Return the name of a parameter in a model that may be the last step of a pipeline."""
    found = [key for key in params if key in (name, f"model__{name}")]
    if not found:
        searched = METHODS["auto"].estimator(task, "auto", tune=False).get_params()
        if name not in searched:
            raise UserError(f"{option} does not work with {_NAMES.get(task, task)}; leave it out.")
        raise UserError(f"{option} does not work with --method {method}; take --method auto.")
    return found[0]


def _approximation(given: str) -> Any:
    name, _, rest = given.partition(":")
    kinds: dict[str, Any] = {"nystroem": partial(Nystroem, landmarks="uniform"), "random": RandomFeatures}
    if given in ("none", "features"):
        return None if given == "none" else "features"
    if name in kinds and (not rest or (rest.isdecimal() and int(rest) > 0)):
        return kinds[name](int(rest or 200))
    raise UserError(f"--approx {given}: expected {APPROX}.")


def adjusts(data: Data, method: str, kernels: str) -> bool:
    """Whether the method can have covariates beside these kernels."""
    if not METHODS[method].serves(data.task, False):
        return False
    params = METHODS[method].estimator(data.task, "auto").get_params()
    one_stage = "weighting" not in params
    return reads_raw(method, kernels) and one_stage and "covariates" in params


def _adjusted(model: Any, data: Data, method: str, kernels: str) -> Any:
    """The model with the covariates of the data."""
    if not reads_raw(method, kernels):
        raise UserError(
            f"--covariates was given with --method {method} --kernels {kernels}, whose kernels read all "
            f"columns, covariates too; expected --kernels {' or '.join(_OF_TABLES)}, and a method without "
            "kernels of its own."
        )
    own = [name for name in model.get_params() if name.split("__")[-1] == "covariates"]
    if not own or not adjusts(data, method, kernels):
        able = [name for name in METHODS if adjusts(data, name, kernels)]
        raise UserError(
            f"--covariates: --method {method} cannot adjust for them; expected {', '.join(able)}."
        )
    return model.set_params(**{min(own, key=len): list(data.covariates)})


def _with_intervals(model: Any, data: Data, method: str) -> Any:
    """The model, which will keep what intervals are made of."""
    if "intervals" not in model.get_params(deep=False):
        raise UserError(
            f"--intervals was given with --method {method} and a target for {data.task}; expected --method "
            "auto, and numbers to predict."
        )
    return model.set_params(intervals=True)


def _kernels(data: Data, given: str) -> Any:
    if data.kernels:
        if given != "auto":
            raise UserError(
                "--kernels was given with --precomputed, whose file holds the kernels: leave --kernels out."
            )
        return {name: Precomputed(m) for m, name in enumerate(data.kernels)}
    spec = _parse(given)
    if not data.views:
        return spec
    listed = spec == "auto" or getattr(spec, "listed", True)
    if data.groups and given not in _OF_TABLES:
        raise UserError(f"--kernels {given} was given with --groups; expected {' or '.join(_OF_TABLES)}.")
    if not listed:
        raise UserError(f"--kernels {given} has too many kernels for views; take --kernels auto.")
    if given in _OF_TABLES:
        return views({view: (columns, spec) for view, columns in data.views.items()})
    others = tuple(f"{view}__" for view in data.views)
    return views({view: (ViewColumns(view, others), spec) for view in data.views})


def _parse(given: str) -> Any:
    name, _, rest = given.partition(":")
    try:
        if name == "auto" and not rest:
            return "auto"
        if name == "linear" and not rest:
            return Subset("auto", ("Linear",))
        if name == "gaussians":
            low, high, n = (rest or "0.5,50,10").split(",")
            return gaussian_grid(float(low), float(high), int(n))
        if name == "per-feature" and not rest:
            return per_feature()
        if name == "columns" and not rest:
            return rank_one()
        if name == "products":
            return Products(degree=int(rest or 2))
        if name == "widths" and not rest:
            return Gaussians()
    except ValueError as error:
        raise UserError(f"--kernels {given}: expected {KERNELS}.") from error
    raise UserError(f"--kernels {given}: expected {KERNELS}.")
