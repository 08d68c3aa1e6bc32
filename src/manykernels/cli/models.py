"""Models for data from files: what is done to columns, which kernels, which method."""

from __future__ import annotations

from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from ..comparison.methods import METHODS
from ..families import Gaussians, Products, gaussian_grid, per_feature, rank_one, views
from ..kernels import Precomputed
from ._console import UserError
from .choices import KERNELS
from .data import Data


def pipeline(data: Data, method: str, kernels: str = "auto", *, tune: bool = False) -> Any:
    """Columns made ready, and the method behind them; with `tune`, C by cross-validation."""
    chosen = METHODS[method]
    stack = bool(data.kernels)
    if stack and not chosen.stack:
        raise UserError(f"--method {method} makes its own kernels, and takes no precomputed ones.")
    model = chosen.estimator(data.task, _kernels(data, kernels), tune=tune)
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
