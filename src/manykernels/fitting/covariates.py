"""Covariates: columns that enter a model unpenalised beside its kernels, as numbers.

f(x) = Σ_m ⟨w_m, φ_m(x)⟩ + b + γᵀz(x). Numbers enter as they are, every other column as indicators of its
levels but the first. What the levels are, and which columns say the same as others, comes from the training
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from .._arguments import and_more
from .._warn import warn
from ..families.base import names_of
from ..kernels.cells import column_of, holds_numbers, is_time, numbers_of
from ..kernels.data import take_columns
from .matching import require_order

Array = NDArray[np.float64]
_CONSTANT = "constant"
_APART = 1e-9  # a margin that is more than rounding
_DEPENDENT = 1e-9  # of a column's size: what is left of it beside the columns before is rounding


def design(covariates: Any, X: Any, n: int) -> tuple[Array, list[str]]:
    """Z (n, 1 + covariates), whose first column is constant, and the names of its columns.

    ``covariates`` are columns of X, as OnColumns takes them, or an array or frame with n rows. A column
    that does not hold numbers becomes indicators of its levels but the first.
    """
    ones, names = np.ones((n, 1)), [_CONSTANT]
    if covariates is None:
        return ones, names
    table = as_covariates(covariates, X, n)
    known = Design.learn(table)
    return np.hstack([ones, (known.values(table) - known.means) / known.scales]), names + known.names


def as_covariates(covariates: Any, X: Any, n: int) -> Any:
    """The covariates as a table of two dimensions: given as one, or as columns of X."""
    shape = tuple(getattr(covariates, "shape", ()))
    if len(shape) == 2 or (shape == (n,) and getattr(covariates.dtype, "kind", "O") == "f"):
        if shape[0] != n:
            raise ValueError(
                f"covariates of shape {shape} were given for {n} samples; expected a row for each."
            )
        require_order(X, covariates, "covariates")
        return covariates if len(shape) == 2 else np.asarray(covariates)[:, None]
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(
            "covariates name columns of X, and X is no table; give an array or a frame of shape (n_samples, "
            "n_covariates)."
        )
    names = [covariates] if isinstance(covariates, str | int | np.integer) else covariates
    return take_columns(X, names)


@dataclass(frozen=True)
class Covariate:
    """One column of covariates, as it was in training: a number, or levels with their shares."""

    name: str
    mean: float = 0.0
    scale: float = 1.0
    levels: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()

    @classmethod
    def learn(cls, column: Any, name: str) -> Covariate:
        if _in_numbers(column):
            values = _numbers(column, name)
            scale = float(np.std(values))
            return cls(name, float(values.mean()), scale if scale > 0.0 else 1.0)
        labels = _labels(column, name)
        levels, counts = np.unique(labels, return_counts=True)
        return cls(name, levels=tuple(map(str, levels)), shares=tuple(map(float, counts / counts.sum())))

    @property
    def names(self) -> list[str]:
        return [f"{self.name}={level}" for level in self.levels[1:]] if self.levels else [self.name]

    def values(self, column: Any) -> Array:
        """Return the numbers, or the indicators, of shape (n, columns); a new level is an average one."""
        if not self.levels:
            if not _in_numbers(column):
                raise ValueError(
                    f"the covariate {self.name!r} held numbers in training, and holds other values now. "
                    "Give numbers."
                )
            return _numbers(column, self.name)[:, None]
        labels = _labels(column, self.name)
        found = (labels[:, None] == np.array(self.levels[1:], dtype=object)).astype(np.float64)
        new = ~np.isin(labels.astype(str), self.levels)
        if new.any():
            found[new] = self.shares[1:]
            warn(
                f"the covariate {self.name!r} is {and_more(sorted(set(labels[new])), 3)} in "
                f"{int(new.sum())} sample{'s' * (int(new.sum()) > 1)}, a level that the training samples did "
                "not have: nothing is known of its effect, and the average of the known levels is taken. Fit "
                "with samples of it, or leave these out."
            )
        return np.asarray(found)


def _in_numbers(column: Any) -> bool:
    """Tell whether a column holds numbers, or times, which are numbers of days."""
    return holds_numbers(column) or is_time(column)


def _numbers(column: Any, name: str) -> Array:
    values = numbers_of(column) if is_time(column) else np.asarray(column, dtype=np.float64)
    _require_whole(np.flatnonzero(~np.isfinite(values)), name)
    return values


def _labels(column: Any, name: str) -> NDArray[Any]:
    labels = np.asarray(column, dtype=object)
    _require_whole(np.flatnonzero([v is None or v != v for v in labels]), name)
    return np.array([str(label) for label in labels], dtype=object)


def _require_whole(gaps: Any, name: str) -> None:
    if len(gaps):
        rows = and_more([str(i) for i in gaps], 5)
        raise ValueError(
            f"the covariate {name!r} has missing or infinite values (rows {rows}); fill them, or leave these "
            "samples out."
        )


@dataclass(frozen=True)
class Design:
    """Covariates as numbers, in the way of the training samples."""

    columns: tuple[Covariate, ...]

    @classmethod
    def learn(cls, table: Any, names: list[str] | None = None) -> Design:
        names = names_of(table) if names is None else names
        return cls(tuple(Covariate.learn(column_of(table, j), str(name)) for j, name in enumerate(names)))

    @property
    def names(self) -> list[str]:
        """The names of the columns of numbers."""
        return [name for column in self.columns for name in column.names]

    @property
    def means(self) -> Array:
        """(c,): of numbers; 0 for indicators."""
        return np.array([column.mean for column in self.columns for _ in column.names])

    @property
    def scales(self) -> Array:
        return np.array([column.scale for column in self.columns for _ in column.names])

    def values(self, table: Any) -> Array:
        """(n, c): numbers as they are, and indicators; columns by name where they have names."""
        own = [column.name for column in self.columns]
        if hasattr(table, "columns") and all(isinstance(name, str) for name in table.columns):
            missing = [name for name in own if name not in set(map(str, names_of(table)))]
            if not missing:
                table = take_columns(table, own)
            elif table.shape[1] != len(own) or any(not name.startswith("x") for name in missing):
                raise ValueError(
                    f"the covariates lack the column{'s' * (len(missing) > 1)} {and_more(missing, 5)}, which "
                    f"the model was fitted with; expected {and_more(own, 10)}."
                )
        if table.shape[1] != len(own):
            raise ValueError(
                f"{table.shape[1]} covariates were given; the model was fitted with {len(own)}: "
                f"{and_more(own, 10)}."
            )
        parts = [column.values(column_of(table, j)) for j, column in enumerate(self.columns)]
        return np.hstack(parts)


@dataclass(frozen=True)
class Unpenalised:
    """The constant and covariates on the training samples: a basis, and the way to coefficients."""

    design: Design
    basis: Array  # (n, r), orthonormal
    back: Array  # (1 + c, r): from coordinates in the basis to those of the constant and the columns

    @classmethod
    def learn(cls, known: Design, values: Array, constant: bool, quiet: bool = False) -> Unpenalised:
        """Learn from values (n, c); columns that depend on those before are left out, with a warning."""
        means = known.means if constant else np.zeros_like(known.means)
        scaled = (values - means) / known.scales
        full = np.column_stack([np.full(len(values), float(constant)), scaled])
        basis, R, kept = _orthonormal(full)
        if basis.shape[1] >= len(values):
            raise ValueError(
                f"{len(known.names)} covariates were given for {len(values)} different samples; expected "
                "fewer than samples, beside the intercept: so many explain every target. Leave some out, or "
                "join levels of categories."
            )
        dropped = [name for j, name in enumerate(known.names, 1) if j not in kept]
        if dropped and not quiet:
            warn(
                f"the covariate{'s' * (len(dropped) > 1)} {and_more(dropped, 5)} "
                f"{'are' if len(dropped) > 1 else 'is'} constant, or linear in the covariates before: "
                f"{'their coefficients are' if len(dropped) > 1 else 'its coefficient is'} 0."
            )
        back = np.zeros((full.shape[1], basis.shape[1]))
        back[kept] = np.linalg.solve(R, np.eye(basis.shape[1]))
        back[1:] /= known.scales[:, None]
        back[0] -= means @ back[1:]
        return cls(known, basis, back)

    def coefficients(self, offsets: Array) -> tuple[Array, Array]:
        """(intercept (k,), coefficients (c, k)) of the part with values `offsets` (n, k) on the samples."""
        found = self.back @ (self.basis.T @ offsets)
        return found[0], found[1:]


def _orthonormal(full: Array) -> tuple[Array, Array, list[int]]:
    """Q, R and the columns of `full` they are made of: each has something that those before do not."""
    kept: list[int] = []
    Q, R = np.zeros((len(full), 0)), np.zeros((0, 0))
    for j, column in enumerate(full.T):
        size = float(np.linalg.norm(column))
        first = Q.T @ column
        rest = column - Q @ first
        again = Q.T @ rest  # twice is enough
        rest -= Q @ again
        left = float(np.linalg.norm(rest))
        if size > 0.0 and left > _DEPENDENT * size and Q.shape[1] < len(full):
            Q = np.column_stack([Q, rest / left])
            R = np.block([[R, (first + again)[:, None]], [np.zeros((1, len(R))), np.array([[left]])]])
            kept.append(j)
    return np.ascontiguousarray(Q), R, kept


@dataclass(frozen=True)
class CovariatePart:
    """γᵀz(x) of a model: how covariates are read, and their coefficients in the units that they came in."""

    design: Design
    coefficients: Array  # (c, outputs)

    def values(self, table: Any) -> Array:
        """Compute values of shape (n, outputs)."""
        return np.asarray(self.design.values(table) @ self.coefficients)


def require_minimiser(Y: Array, free: Unpenalised) -> None:
    """Raise an error if covariates alone separate the classes (±1), a warning where they do for some samples.

    For the logistic loss P then falls for ever as γ grows. A covariate that only samples of one class feel
    has an infinite coefficient at the optimum, and the kernels learn from the others.
    """
    Z = free.basis
    for y in Y.T:
        signed = y[:, None] * Z
        reach = largest_margin(signed)
        if reach is None:
            continue
        least, gamma = reach
        names = [_CONSTANT, *free.design.names]
        sizes = np.abs(free.back @ gamma)[1:] * np.std(free.basis @ gamma)
        worst = names[1 + int(np.argmax(sizes))] if sizes.size else _CONSTANT
        if least > _APART:
            raise ValueError(
                f"the covariates alone separate the classes ({worst} most of all), and with loss='logistic' "
                "their coefficients grow without end: there is no minimiser. Leave such covariates out, or "
                "take loss='hinge' or 'squared_hinge', which have one."
            )
        warn(
            f"the covariates predict the class of some samples without error ({worst} most of all): with "
            "loss='logistic' their coefficients have no finite optimum, and are as large as the tolerance "
            "asks for. Join rare levels, or take loss='hinge' or 'squared_hinge'."
        )
        return


def largest_margin(signed: Array) -> tuple[float, Array] | None:
    """(the least margin, γ) of γ with margins yzᵀγ ≥ 0, not all of them 0; None where there is none."""
    n, r = signed.shape
    box = [(-1.0, 1.0)] * r
    total = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(n), bounds=box, method="highs")
    if total.status != 0 or not -total.fun > _APART * n:
        return None
    # now the largest least margin
    A = np.column_stack([-signed, np.ones(n)])
    least = linprog([*np.zeros(r), -1.0], A_ub=A, b_ub=np.zeros(n), bounds=[*box, (0.0, 1.0)], method="highs")
    return (float(-least.fun) if least.status == 0 else 0.0), np.asarray(total.x)
