"""Learning over families too large to list: the family is bound to the data and asked by a solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._warn import warn
from ..families import Products
from ..families.base import names_of
from ..families.tables import read_columns
from ..grams.memory import machine_matrices
from ..kernels import Fitted, Preparation, Prepared
from ..kernels.monomial import Monomial
from ..losses import Loss, Squared
from ..objectives import Risk
from ..oracles import Oracle, build_oracle
from ..penalties import Penalty, resolve_penalty
from ..solvers import FamilySolver, Result, Run, resolve_solver
from ._data import take
from ._progress import watched
from ._rows import Rows

Array = NDArray[np.float64]
_TINY = float(np.finfo(float).tiny)


@dataclass(frozen=True)
class Found:
    """The kernels that got weight in some problem, and θ (problems, kernels) over them."""

    atoms: list[Any]
    names: list[str]
    kernels: list[Fitted]
    theta: Array
    results: list[Result]


@dataclass(frozen=True)
class Bound:
    """A family that was asked for on the merged rows: who answers, who asks, and what was made of X."""

    oracle: Oracle
    solver: FamilySolver
    penalty: Penalty
    X: Any
    prepared: Preparation | None

    def kernel(self, z: Any) -> Fitted:
        """One kernel of the family, as a function of samples as they were given."""
        name, kernel = self.oracle.name(z), self.oracle.kernel(z)
        _require_range(name, kernel, self.X)
        if self.prepared is not None:
            seen = Prepared(kernel.kernel, self.prepared, "scores")
            kernel = Fitted.from_constants(seen, kernel.scale_, normalize=kernel.normalize)
        kernel.name = name
        return kernel


def bind_family(
    estimator: Any, X: Any, rows: Rows, names_in: Any, loss: Loss, groups: list[list[int]]
) -> Bound:
    """The family on the merged rows, with everything checked; `groups` are the outputs that share weights."""
    family = estimator.kernels
    if estimator.center:
        raise ValueError(
            f"center=True was given with kernels={family!r}; centring every kernel of a family by "
            "itself would change what the family is. Leave center=False: the intercept does the same."
        )
    if rows.first.size == 1 and isinstance(family, Products):
        raise ValueError(
            f"X holds 1 sample, or several that are all the same, and kernels={family!r} needs "
            "columns that vary. Give at least two samples that differ."
        )
    penalty = resolve_penalty(estimator.norm)
    solver = _solver(estimator.solver, penalty)
    data, w, prepared = take(X, rows.first), None if np.all(rows.weight == 1.0) else rows.weight, None
    if isinstance(family, Products) and family.scale:
        names = names_of(data, names_in)
        prepared = read_columns(data, names).preparation(data, w)
        if prepared is None:
            raise ValueError(f"No column of X varies, and kernels={family!r} multiplies columns that do.")
        data, names_in = prepared.transform(data, "scores"), prepared.names(names)
    oracle = build_oracle(
        family,
        data,
        normalize=estimator.normalize,
        sample_weight=w,
        feature_names=names_in,
        memory_limit=estimator.memory_limit,
        norm=penalty,
        work=solver.matrices + machine_matrices(max(map(len, groups)), isinstance(loss, Squared)),
    )
    return Bound(oracle, solver, penalty, data, prepared)


def learn_over_family(
    estimator: Any,
    X: Any,
    rows: Rows,
    names_in: Any,
    loss: Loss,
    Y: Array,
    C: Array,
    groups: list[list[int]],
) -> Found:
    """One problem for each group of outputs, over all kernels of the family on the merged rows."""
    bound = bind_family(estimator, X, rows, names_in, loss, groups)
    oracle, solver, penalty = bound.oracle, bound.solver, bound.penalty
    results = [_solve(estimator, oracle, solver, penalty, loss, Y[:, group], C[:, group]) for group in groups]
    atoms = list(dict.fromkeys(z for result in results for z in result.atoms))
    atoms = atoms or [oracle.best(np.ones((oracle.n, 1)), 1).atoms[0]]  # of weight zero: nothing to learn
    place = {z: m for m, z in enumerate(atoms)}
    theta = np.zeros((len(results), len(atoms)))
    for row, result in zip(theta, results, strict=True):
        row[[place[z] for z in result.atoms]] = result.weights
    names = [oracle.name(z) for z in atoms]
    kernels = [bound.kernel(z) for z in atoms]
    return Found(atoms, names, kernels, theta, results)


def _require_range(name: str, kernel: Fitted, X: Any) -> None:
    """An error where a product of columns as given is out of range, though that of scaled ones is not."""
    if not isinstance(kernel.kernel, Monomial):
        return
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        raw = kernel.kernel.diag(X)
        fits = np.isfinite(kernel.scale_ * raw).all() and (kernel.scale_ >= _TINY or not raw.any())
    if not fits:
        raise ValueError(
            f"The product {name!r} overflows: its factors are too large, or too small, to be multiplied as "
            "they are. Scale the data (StandardScaler), or lower the degree."
        )


def _solver(given: Any, penalty: Penalty) -> FamilySolver:
    auto = isinstance(given, str) and given == "auto"
    solver = resolve_solver(("corrective" if penalty.sparse else "stochastic") if auto else given)
    if not isinstance(solver, FamilySolver):
        raise ValueError(
            f"solver={given!r} needs a list of kernels, and this family is too large for one. Take "
            "'corrective' or 'greedy' (norm=1), or 'stochastic'."
        )
    return solver


def _solve(
    estimator: Any, oracle: Oracle, solver: FamilySolver, penalty: Penalty, loss: Loss, Y: Array, C: Array
) -> Result:
    # the dual bound holds up to rounding errors of Σα times the intercept: that must not be large for nothing
    shift = np.median(Y, axis=0) if loss.translates and estimator.fit_intercept else 0.0
    with watched(estimator) as history:
        result = solver.run(
            oracle,
            Risk(loss, Y - shift, C, bool(estimator.fit_intercept), shift),
            penalty,
            Run(
                tol=float(estimator.tol),
                max_iter=int(estimator.max_iter),
                rng=check_random_state(estimator.random_state),
                history=history,
            ),
        )
    # without any bound on the family, as where kernels are drawn and never looked at, there is no gap to miss
    if not result.gap <= estimator.tol and np.isfinite(result.gap):
        count = f"all {oracle.size:.3g}" if np.isfinite(oracle.size) else "all"
        whole = f"over {count} kernels" if result.certified else "over the kernels that it found"
        advice = f"Raise max_iter (now {estimator.max_iter}) or tol."
        if result.reason:
            advice = f"{result.reason.value}. Raise tol."
        warn(
            f"{type(estimator).__name__} stopped after {result.n_iter} iterations at a relative duality gap "
            f"of {result.gap:.1e} {whole}, above tol={estimator.tol:g}. {advice}",
            ConvergenceWarning,
        )
    return replace(result, intercept=result.intercept + shift)
