"""A learned function as a member of the class that bounds are about, and how rich that class is.

The class is {f = (⟨w_k, φ_K⟩)_k : K = Σ_z μ_z K_z, μ ≥ 0, ‖μ‖_q ≤ 1, Σ_k ‖w_k‖² ≤ 1} over kernels fixed in
advance, with k outputs or classes. With a_zk = ‖f_zk‖ in the space of kernel z, f is ‖f‖ times a member,

    ‖f‖² = min_{‖μ‖_q ≤ 1} Σ_z Σ_k a_zk²/μ_z = (Σ_z (Σ_k a_zk²)^{q/(q+1)})^{(q+1)/q}.

The class does not depend on the sample, so it does not matter how f was found, nor with which norm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators import model_of
from ..families import Parametric, Products
from ..fitting.model import Model
from ..grams import build_gram
from ..kernels import Fitted
from ..kernels.data import Data, is_stack, n_samples
from ..oracles import Oracle
from ..penalties import LpBall
from ._common import Array, conjugate, integer_conjugate, is_real, number
from ._forms import Forms, ListForms, ask, forms_of, is_asked
from ._raw import machine, raw_function, raw_kernel
from ._spec import chosen_from_data
from .rademacher import draw, rademacher_bound

_DRAWS = 1000  # of signs, for a family
_SHARE = 0.1  # of δ that draws may take
_UNBOUNDED = "the search of this family bounds no kernel but those it met, so that its complexity is a guess"


@dataclass(frozen=True)
class Asked:
    """The arguments that fix the class and its complexity; see `margin_bound`."""

    norm: float | None
    intercept_scale: float
    accept_data_dependent: bool
    sharp: bool
    n_draws: int | None
    random_state: Any


@dataclass(frozen=True)
class Member:
    """f on the sample, ‖f‖, and a bound on the Rademacher complexity of its class."""

    model: Model
    values: Array  # (n, k)
    norm: float
    rademacher: float
    delta: float  # what is left of δ
    n_kernels: int | float
    caveat: str

    @property
    def outputs(self) -> int:
        return int(self.values.shape[1])


def member_of(estimator: Any, X: Any, asked: Asked, delta: float) -> Member:
    """The function of a fitted estimator, whose training set X is where the estimator keeps none."""
    number("intercept_scale", asked.intercept_scale, "R_b, what a typical √k(x, x) is")
    model, _ = model_of(estimator)
    _require_linear(model, getattr(estimator, "approx", None))
    spec = model.layout.seen(estimator.kernels)
    draws = asked.n_draws if asked.n_draws is not None or not is_asked(spec) else _DRAWS
    q = _class_norm(model.title, getattr(estimator, "norm", 1.0) if asked.norm is None else asked.norm, draws)
    caveat = chosen_from_data(spec) or ""
    if caveat and not asked.accept_data_dependent:
        raise ValueError(
            f"{caveat}; expected kernels fixed in advance, of which alone the bound holds. Give them with "
            "their parameters, such as kernels=gaussian_grid(0.5, 5, 8), or set accept_data_dependent=True "
            "for a number without a guarantee."
        )
    X = _training_samples(model, X)
    kernels = _kernels(model, spec, X, q)
    function, f, norms = raw_function(model, X, kernels.members)
    a = np.sqrt(np.square(norms).sum(axis=1))
    constant = 0.0
    if getattr(estimator, "fit_intercept", True) or getattr(estimator, "center", False):
        constant = float(asked.intercept_scale) ** 2
        a = np.append(a, float(np.linalg.norm(function.intercept)) / asked.intercept_scale)
    size, k, doubt = kernels.size + bool(constant), f.shape[1], kernels.doubt
    if draws is None:
        traces = np.array([raw_kernel(kernel).diag(X).sum() for kernel in model.kernels])
        traces = k * np.append(traces, [len(f) * constant] if constant else [])
        rademacher = rademacher_bound(traces, len(f), norm=q, sharp=asked.sharp)
    else:
        found = draw(kernels.forms(), conjugate(q), k, draws, asked.random_state, constant)
        rademacher = found.bound(_SHARE * delta)
        if not math.isfinite(rademacher):
            doubt = doubt or _UNBOUNDED
            rademacher = found.value
    return Member(
        model,
        f,
        math.sqrt(LpBall(q).group_norm(a)),
        rademacher,
        delta if draws is None else (1.0 - _SHARE) * delta,
        int(size) if math.isfinite(size) else size,
        "; ".join(filter(None, (caveat, doubt))),
    )


@dataclass(frozen=True)
class _Kernels:
    """All kernels of the class on the sample, and the active ones as it has them."""

    forms: Callable[[], Forms]
    size: float
    members: list[Fitted] | None = None
    doubt: str = ""  # why they are not all that the class has


def _kernels(model: Model, spec: Any, X: Data, q: float) -> _Kernels:
    if not is_asked(spec):
        kernels = {name: raw_kernel(kernel) for name, kernel in zip(model.names, model.kernels, strict=True)}
        options: dict[str, Any] = {"normalize": None, "sample_weight": None, "memory_limit": None}
        return _Kernels(lambda: ListForms(build_gram(kernels, X, center=False, **options)[0]), len(kernels))
    cosine = any(kernel.normalize == "cosine" for kernel in model.kernels)
    oracle = ask(spec, X, q, cosine=cosine, names=model.layout.names)
    doubt = _left_out(oracle, spec, X, model.layout.names)
    return _Kernels(lambda: forms_of(oracle, spec), oracle.size, _members(model, oracle, spec), doubt)


def _members(model: Model, oracle: Oracle, spec: Any) -> list[Fitted]:
    """The active kernels as the class has them."""
    if model.atoms is not None:
        return [oracle.kernel(model.atoms[m]) for m in model.active]
    if isinstance(spec, Parametric) and not spec.has_prior:
        return [Fitted.from_constants(model.kernels[m].kernel, 1.0) for m in model.active]
    raise ValueError(
        f"{model.title} was fitted to {spec!r} as a plain list of its kernels; expected a list of kernels, "
        "or this family with MKLClassifier or MKLRegressor, which keep what its kernels are."
    )


def _left_out(oracle: Oracle, spec: Any, X: Data, names: Any) -> str:
    """Return why the kernels on this sample are not all that the class has."""
    base = getattr(getattr(oracle, "parts", None), "r", None)
    if not isinstance(spec, Products) or base is None or base == len(spec.base_kernels(X, None, names)[0]):
        return ""
    return "columns or base kernels that are the same for all samples were left out of the products"


def _require_linear(model: Model, approx: Any) -> None:
    name = model.title
    if approx is not None:
        raise ValueError(
            f"approx={approx!r} was given to {name}; expected approx=None, since the bound is of the kernels "
            "as they were given."
        )
    if model.covariates is not None:
        raise ValueError(
            f"{name} was fitted with covariates, whose coefficients are not penalised: no norm bounds what "
            "they add, and no complexity does. Fit without them, or give their columns a kernel."
        )
    if machine(model) is None:
        raise ValueError(
            f"{name} has no dual_coef_ of machines that share a kernel; expected a decision that is linear "
            "in the kernels, such as that of SVC(kernel='precomputed') for two classes in the second stage."
        )
    if any(kernel.normalize == "cosine" and kernel.row_means_ is not None for kernel in model.kernels):
        raise ValueError(
            "normalize='cosine' with center=True was given: the cosine of a centred kernel is not linear in "
            "it, so that it cannot be written in kernels fixed in advance. Take center=False, or "
            "normalize='trace', 'max', 'frobenius' or None."
        )


def _class_norm(name: str, given: Any, draws: int | None) -> float:
    """q, from a norm; bounds by traces need a whole conjugate exponent."""
    q = given.p if isinstance(given, LpBall) else given
    if not is_real(q):
        raise ValueError(
            f"{name} was fitted with norm={given!r}; expected a number or LpBall, ‖θ‖_q ≤ 1. Give the norm "
            "of a class fixed in advance, such as norm=2: the bound holds for any function."
        )
    if conjugate(q) < np.inf and draws is None:
        integer_conjugate(q)
    return float(q)


def _training_samples(model: Model, X: Any) -> Data:
    """Return the samples that the model keeps, or the stack in X, which it does not."""
    n = n_samples(model.X_fit)
    if model.layout.kind != "stack":
        if X is not None:
            raise ValueError(
                "X was given, and the estimator keeps its training samples; expected X only where kernels or "
                "distances were precomputed. Leave it out."
            )
        return model.X_fit
    if X is None or not is_stack(X) or tuple(X.shape[:2]) != (n, n):
        raise ValueError(
            f"X={'None' if X is None else f'of shape {np.shape(X)}'} was given; expected the stack that the "
            f"estimator was fitted to, of shape ({n}, {n}, n_layers), which it does not keep. Give it as X=."
        )
    return np.asarray(X)
