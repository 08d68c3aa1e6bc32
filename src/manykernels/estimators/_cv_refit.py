"""The model that was chosen, fitted on all samples, and its path in C on the way there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._fast.threads import threads
from ..families import Family
from ._base import BaseMKL
from ._cv_path import warm_path
from ._fit import warn_stopped
from ._params import check_parameters
from ._strategies import Strategy


def refit_path(
    model: Any, chosen: Strategy, X: Any, y: Any, weight: Any
) -> tuple[Any, dict[str, Any] | None]:
    """`model` fitted; and C, weights and gap of the whole path, where its kernels can be listed."""
    unlisted = isinstance(model, BaseMKL) and isinstance(model.kernels, Family) and not model.kernels.listed
    if not isinstance(model, BaseMKL) or unlisted or model.approx is not None or chosen.keys != ("C", "norm"):
        return (model.fit(X, y) if weight is None else model.fit(X, y, sample_weight=weight)), None
    target = float(model.C)
    Cs = sorted({*chosen.Cs, target})
    check_parameters(model)
    loss = model._loss()
    weights, gaps = [], []
    with warnings.catch_warnings(), threads(model.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the path keeps its gap
        model.set_params(C=1.0)
        posed = model._pose(X, y, weight)
        problem = model._problem(posed, loss)
        for C, results in warm_path(model, problem, Cs):
            theta = np.stack([result.weights for result in results])
            weights.append(theta if len(results) > 1 else theta[0])
            gaps.append(max(result.gap for result in results))
            if target == C:
                model.kernels_, model.kernel_names_ = problem.dictionary.kernels, problem.dictionary.names
                model._store(posed.X, posed.rows, theta, results)
        model.set_params(C=target)
    if not model.dual_gap_ <= model.tol:
        warn_stopped(model, model.n_iter_, model.dual_gap_)
    return model, {"C": np.array(Cs), "weights": np.array(weights), "gap": np.array(gaps)}
