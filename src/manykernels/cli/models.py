"""Models for data from files: what is done to columns, which kernels, which method."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import manykernels as mk

from ..families import Gaussians, PolynomialDAG, Products, gaussian_grid, per_feature, rank_one, views
from ..kernels import Precomputed
from ..report.baselines import rival
from ._console import UserError
from .data import Data

TUNED = [0.1, 1.0, 10.0]  # C of the methods that are compared


@dataclass(frozen=True)
class Method:
    """A way to learn; `make(task, kernels)` gives an estimator that is not fitted."""

    says: str
    make: Callable[[str, Any], Any]
    tune: str | None = "C"
    stack: bool = True  # whether it takes precomputed kernels
    own: bool = False  # whether it chooses its kernels itself
    searches: bool = False  # whether it fits many models, and none that could be stopped half-way


def _pair(name: str, **options: Any) -> Callable[[str, Any], Any]:
    def make(task: str, kernels: Any) -> Any:
        kind: Any = getattr(mk, name + ("Classifier" if task == "classification" else "Regressor"))
        return kind(kernels, **options)

    return make


def default_model(task: str, kernels: Any = "auto") -> Any:
    """What `fit` takes when nobody says which: with model selection, where the package has it."""
    kind = "Classifier" if task == "classification" else "Regressor"
    found: Any = getattr(mk, f"MKL{kind}CV", None) or getattr(mk, f"MKL{kind}")
    return found(kernels)


def _single(task: str, kernels: Any) -> Any:
    return rival(task == "classification")


def _hierarchical(task: str, kernels: Any) -> Any:
    return _pair("HierarchicalMKL")(task, PolynomialDAG(degree=2))


METHODS = {
    "auto": Method("what the package takes by itself", default_model, tune=None, searches=True),
    "sparse": Method("norm 1: few kernels", _pair("MKL")),
    "lp": Method("norm 2: all, unequally", _pair("MKL", norm=2.0)),
    "uniform": Method("the plain sum", _pair("MKL", norm=math.inf)),
    "alignf": Method("alignment, together", _pair("AlignMKL", weighting="alignf"), tune=None),
    "align": Method("alignment, one by one", _pair("AlignMKL", weighting="align"), tune=None),
    "localized": Method("weights by region", _pair("LocalizedMKL", random_state=0)),
    "nonlinear": Method("a power of the sum", _pair("NonlinearMKL", n_starts=2, random_state=0)),
    "ufo": Method("online, in the primal", _pair("UFOMKL", random_state=0), tune=None),
    "hierarchical": Method("products of columns", _hierarchical, stack=False, own=True),
    "single": Method("a tuned Gaussian", _single, tune=None, stack=False, own=True, searches=True),
}


def pipeline(data: Data, method: str, kernels: str = "auto", *, tune: bool = False) -> Any:
    """Columns made ready, and the method behind them; with `tune`, C by cross-validation."""
    chosen = METHODS[method]
    stack = bool(data.kernels)
    if stack and not chosen.stack:
        raise UserError(f"--method {method} makes its own kernels, and takes no precomputed ones.")
    model = chosen.make(data.task, _kernels(data, kernels))
    if tune and chosen.tune is not None:
        model = GridSearchCV(model, {chosen.tune: TUNED}, cv=3)
    return model if stack else Pipeline([("columns", _columns(data)), ("model", model)])


def _columns(data: Data) -> ColumnTransformer:
    """Numbers: gaps filled, standardised. Categories: indicators. In the order of the views."""
    parts = []
    for view, columns in (data.views or {"data": [*data.numbers, *data.categories]}).items():
        numbers = [name for name in columns if name in data.numbers]
        categories = [name for name in columns if name in data.categories]
        if numbers:
            ready = make_pipeline(
                SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
            )
            parts.append((f"{view} numbers", ready, numbers))
        if categories:
            values = [data.categories[name] for name in categories]
            coder = OneHotEncoder(categories=values, handle_unknown="ignore", sparse_output=False)
            parts.append((f"{view} categories", coder, categories))
    made = ColumnTransformer(parts, verbose_feature_names_out=False)
    return made.set_output(transform="pandas")


def _outputs(data: Data, columns: list[str]) -> list[str]:
    """What columns are called behind `_columns`."""
    names: list[str] = []
    for name in columns:
        names += [name] if name in data.numbers else [f"{name}_{value}" for value in data.categories[name]]
    return names


def _kernels(data: Data, given: str) -> Any:
    if data.kernels:
        if given != "auto":
            raise UserError("--kernels was given with --precomputed, which brings the kernels along.")
        return {name: Precomputed(m) for m, name in enumerate(data.kernels)}
    spec = _parse(given)
    if not data.views:
        return spec
    listed = spec == "auto" or getattr(spec, "listed", True)
    if not listed:
        raise UserError(f"--kernels {given} stands for too many kernels to list, and views need lists.")
    return views({view: (_outputs(data, columns), spec) for view, columns in data.views.items()})


KERNELS = "auto, gaussians:LOW,HIGH,N, per-feature, columns, products:DEGREE or widths"


def _parse(given: str) -> Any:
    name, _, rest = given.partition(":")
    try:
        if name == "auto" and not rest:
            return "auto"
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
