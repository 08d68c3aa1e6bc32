"""Leave-one-out along a path of the squared loss, at the weights of all samples: one factorisation a step.

With (K_θ + diag(1/C))α + b1 = y and 1ᵀα = 0, let P be the inverse of the bordered matrix, cut to the samples:
P = A⁻¹ − A⁻¹11ᵀA⁻¹/(1ᵀA⁻¹1), A = K_θ + diag(1/C). The error of the machine that is fitted without sample i is
α_i/P_ii. The weights θ have seen that sample, so this is optimistic, the more so the more kernels there are:
it can choose C, and says nothing about kernels, norms or strategies.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._fast.linalg import factor
from .._fast.threads import threads
from ..families import Family
from ..grams.memory import LEFT_OUT
from ..losses import Squared
from ._base import BaseMKL
from ._cv import Data, DecidedClassifier, DecidedRegressor, Row, Table, Trial, score_of, smooth_error
from ._cv_path import warm_path
from ._params import check_parameters
from ._strategies import Strategy

Array = NDArray[np.float64]


def left_out(K: Array, Y: Array, cost: Array, fit_intercept: bool) -> Array:
    """(n, outputs): what each machine that was fitted without a sample says of that sample, less Y."""
    A = K.copy()
    A.flat[:: len(A) + 1] += 1.0 / cost
    L = factor(A)
    inverse_root = solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    half = inverse_root @ Y
    P = np.einsum("ij,ij->j", inverse_root, inverse_root)
    if fit_intercept:
        v = inverse_root.sum(axis=1)
        size = float(v @ v)
        half -= np.outer(v, (v @ half) / size)
        P = P - (inverse_root.T @ v) ** 2 / size
    return np.asarray(-(inverse_root.T @ half) / P[:, None])


def loo_table(strategy: Strategy, data: Data) -> Table:
    """The strategy along its path on all samples, scored by leave-one-out."""
    started = time.perf_counter()
    model = clone(strategy.template)
    _check(model, strategy, data)
    model.set_params(C=1.0, norm=strategy.norms[0])
    check_parameters(model)
    table, loss = Table(strategy), model._loss()
    with warnings.catch_warnings(), threads(model.n_jobs):
        warnings.simplefilter("ignore", ConvergenceWarning)  # rows keep their gap
        posed = model._pose(data.X, data.y, data.weight)
        problem = model._problem(posed, loss, more=LEFT_OUT)
        trial: Trial = {}
        cost = data.cost(np.arange(len(data.y)))
        for C, (result, *_) in warm_path(model, problem, strategy.Cs):
            K = problem.dictionary.gram.combine(result.weights)
            error = left_out(K, posed.Y, C * posed.C[:, 0], bool(model.fit_intercept))
            f = (posed.Y + error)[posed.rows.owner]
            stand_in: Any = DecidedRegressor(f)
            if data.classes is not None:
                stand_in = DecidedClassifier(f, data.classes)
            score = score_of(stand_in.predict(None), data.y, data.weight, data.classes)
            smooth = smooth_error(stand_in, None, data.y, cost, data.classes)
            row = Row(score, smooth, float(result.gap), int(np.count_nonzero(result.weights)))
            trial[strategy.norms[0], None, float(C)] = row
    table.trials.append(trial)
    table.seconds = time.perf_counter() - started
    return table


def _check(model: Any, strategy: Strategy, data: Data) -> None:
    listed = not (isinstance(getattr(model, "kernels", None), Family) and not model.kernels.listed)
    if not isinstance(model, BaseMKL) or not listed or model.approx is not None:
        raise ValueError(
            f"cv='loo' was given with strategy {strategy.name!r}; leave-one-out from one factorisation needs "
            "kernels that can be listed, and approx=None. Take cv=5."
        )
    if not isinstance(model._loss(), Squared) or model._separate() or data.scorer is not None:
        raise ValueError(
            "cv='loo' needs loss='squared', multi_class='shared' and scoring=None; take cv=5 for others."
        )
    if len(strategy.norms) > 1:
        raise ValueError(
            f"cv='loo' was given with norms={list(strategy.norms)!r}; at weights that have seen the sample "
            "it is optimistic and can choose C only. Give one norm, such as norms=[1.0], or take cv=5."
        )
