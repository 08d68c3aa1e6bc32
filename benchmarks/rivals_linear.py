"""Rivals on linear and given kernels: the group lasso of skglm and celer, himalaya's search for weights."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np

from .problems import Array


def load(module: str) -> Any | None:
    """A module, or None where it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None


# Before clocks start and threads are pinned: only libraries that are loaded can be told.
skglm, celer, himalaya = load("skglm"), load("celer"), load("himalaya.kernel_ridge")


def group_lasso(X: Array, y: Array, groups: list[list[int]], lams: list[float], tol: float) -> Array | None:
    """(len(lams), d): w of ½‖y − Xw‖² + λ Σ ‖w_g‖ for every λ, each from the one before.

    skglm divides the first term by n, so its α is λ/n, and its `tol` bounds ‖∂‖/n. Groups of one column are
    handed to its Lasso, which is made for them.
    """
    if skglm is None:
        return None
    options = {"tol": tol / len(y), "fit_intercept": False, "warm_start": True, "max_iter": 1000}
    single = all(len(group) == 1 for group in groups)
    model = skglm.Lasso(**options) if single else skglm.GroupLasso(groups, **options)
    X = np.asfortranarray(X)
    return np.array([model.set_params(alpha=lam / len(y)).fit(X, y).coef_.copy() for lam in lams])


def skglm_path(Z: Array, y: Array, ptr: Any, lams: list[float], tol: float) -> Array | None:
    """skglm's w (len(lams), D) of the group lasso, groups of columns ptr[g] : ptr[g + 1]."""
    return group_lasso(Z, y, [list(range(lo, hi)) for lo, hi in pairwise(ptr)], lams, tol)


def celer_path(Z: Array, y: Array, ptr: Any, lams: list[float], tol: float) -> Array | None:
    """celer's: the first term is divided by n there too, and `tol` bounds the gap relative to ‖y‖²/n."""
    if celer is None:
        return None
    groups = [list(range(lo, hi)) for lo, hi in pairwise(ptr)]
    model = celer.GroupLasso(groups, tol=tol, fit_intercept=False, warm_start=True, max_iter=1000)
    Z = np.asfortranarray(Z)
    return np.array([model.set_params(alpha=lam / len(y)).fit(Z, y).coef_.copy() for lam in lams])


def grouped_certificate(Z: Array, y: Array, ptr: Any, lam: float, w: Array) -> tuple[float, float]:
    """`certificate` where groups are columns beside each other, of which there may be many."""
    r = y - Z @ w
    primal = 0.5 * float(r @ r) + lam * float(np.sqrt(np.add.reduceat(w**2, ptr[:-1])).sum())
    u = r * min(1.0, lam / float(np.sqrt(np.add.reduceat((Z.T @ r) ** 2, ptr[:-1])).max()))
    dual = 0.5 * float(y @ y) - 0.5 * float((y - u) @ (y - u))
    return primal, (primal - dual) / primal


def certificate(X: Array, y: Array, groups: list[list[int]], lam: float, w: Array) -> tuple[float, float]:
    """Objective p of the group lasso at w, and its relative gap (p − d)/p, told by neither contender.

    p = ½‖r‖² + λ Σ ‖w_g‖, r = y − Xw;     d = ½‖y‖² − ½‖y − u‖², u = r · min(1, λ / max_g ‖X_gᵀr‖)
    """
    r = y - X @ w
    primal = 0.5 * float(r @ r) + lam * sum(float(np.linalg.norm(w[group])) for group in groups)
    u = r * min(1.0, lam / max(float(np.linalg.norm(X[:, group].T @ r)) for group in groups))
    dual = 0.5 * float(y @ y) - 0.5 * float((y - u) @ (y - u))
    return primal, (primal - dual) / primal


def ridge_search(stack: Array, y: Array, cv: Any, alphas: Array, n_iter: int) -> Any | None:
    """himalaya's MultipleKernelRidgeCV on kernels (M, n, n): random weights, each with every α, in folds."""
    if himalaya is None:
        return None
    options = {"n_iter": n_iter, "alphas": alphas, "progress_bar": False}
    model = himalaya.MultipleKernelRidgeCV(
        kernels="precomputed", solver_params=options, fit_intercept=True, cv=cv, random_state=0
    )
    return model.fit(stack, y)
