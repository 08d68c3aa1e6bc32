"""Fitted models: kernels and weights, the decision function, and its distance from the optimum.

Faces publish it as fitted attributes; plots, reports and the command line read it and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from .._arguments import and_more
from .._fast.threads import threads
from ..kernels import Fitted, Mixture
from ..kernels.data import take_rows
from ..solvers.base import relative
from .covariates import CovariatePart
from .functions import FeatureFunction, Function
from .layout import Layout, require_finite
from .targets import Target

Array = NDArray[np.float64]
_ONLINE = 1e-2  # the relative gap above which online learning is far from done
_FEW = 15  # samples below which nothing is said of a fit without a warning
_COVARIATES = 12  # that a sentence names
_PARTS = 1 << 23  # numbers in a block of contributions


@dataclass(frozen=True)
class Proof:
    """The objective P of a model, a bound D below the optimum, and the progress of the fit."""

    primal: float
    dual: float  # NaN where there is none
    certified: bool  # whether D holds for the whole family
    n_iter: int
    history: Any  # columns by name, or a list of such for problems that were solved apart
    tol: float | None = None
    each: Array | None = None  # (problems, 2): P and D of every problem, where several were solved apart

    @property
    def gap(self) -> float:
        """(P − D)/|P|; NaN where nothing bounds the optimum."""
        return float("nan") if np.isnan(self.dual) else float(relative(self.primal, self.dual))

    @property
    def gaps(self) -> Array:
        """The gap of every problem, where several were solved apart."""
        assert self.each is not None
        return np.array([relative(primal, dual) for primal, dual in self.each])

    @property
    def converged(self) -> bool:
        """True if the gap is what was asked for; online learning has no tolerance, so 1 % is."""
        return bool(self.gap <= (_ONLINE if self.tol is None else self.tol))


def percent(gap: float) -> str:
    """Return a relative gap in percent, in digits: 100, never 1e+02."""
    return f"{100 * gap:.0f}" if gap >= 0.1 else f"{100 * gap:.2g}"


def mixture(kernels: list[Any], weights: Array) -> Mixture:
    """The kernel that these weights mean."""
    used = np.flatnonzero(weights)
    return Mixture([kernels[m] for m in used], weights[used])


@dataclass(frozen=True)
class Model:
    """A fitted model: weighted kernels, and its decisions on samples."""

    title: str  # the estimator's name
    layout: Layout
    names: list[str]
    kernels: list[Fitted]
    weights: Array  # (M,), or a row for each class, output or cluster
    kernel: Any  # the learned kernel, or a list with one for each class; None: `mixtures` makes them
    target: Target | None = None
    function: Function | None = None  # None where the model only transforms
    covariates: CovariatePart | None = None  # what is added to the function, beside kernels
    listed: bool = True  # whether `names` are all kernels that there were
    rows: Literal["", "class", "output", "cluster"] = ""  # what rows of weights stand for
    proof: Proof | None = None
    alignment: float | None = None
    atoms: list[Any] | None = None  # of families that are not listed
    X_fit: Any = None  # training samples as given
    dual: Array | None = None  # (given samples, outputs): coefficients of the training samples
    dual_point: Array | None = None  # the same for the point that certifies
    sizes: Array | None = (
        None  # (M,): RMS of each part of the decision in training, where no samples are kept
    )
    extra: dict[str, Any] = field(default_factory=dict)  # fitted attributes that one method alone has
    n_jobs: int | None = None

    @cached_property
    def active(self) -> NDArray[np.intp]:
        """The kernels with weight."""
        return np.flatnonzero(np.atleast_2d(self.weights).any(axis=0))

    @property
    def validated(self) -> bool:
        """True if weights and C were chosen by validation, so that they are the optimum of no problem."""
        return "best_C_" in self.extra

    @property
    def mixtures(self) -> Any:
        """The learned kernel, or a list with one for each class or output, which may be many."""
        if self.kernel is not None:
            return self.kernel
        return [mixture(self.kernels, weights) for weights in self.weights]

    @property
    def shared_kernel(self) -> list[Any]:
        """The learned kernel of all outputs; none where they have weights of their own."""
        return [] if self.kernel is None or isinstance(self.kernel, list) else [self.kernel]

    @property
    def views(self) -> list[str]:
        """The view of each kernel; one that belongs to none is its own."""
        given = [getattr(kernel.kernel, "view", None) for kernel in self.kernels]
        return [name if view is None else view for name, view in zip(self.names, given, strict=True)]

    @property
    def view_weights(self) -> dict[str, Any]:
        """The total weight of each view."""
        totals: dict[str, Any] = {}
        for m, view in enumerate(self.views):
            totals[view] = totals.get(view, 0.0) + self.weights[..., m]
        return {view: total if np.ndim(total) else float(total) for view, total in totals.items()}

    @property
    def view_shares(self) -> dict[str, Any]:
        """The share of each view in the total weight; of each row of weights by itself."""
        totals = self.view_weights
        every = np.sum(list(totals.values()), axis=0)
        whole = np.where(every == 0.0, 1.0, every)
        return {view: np.asarray(total / whole)[()] for view, total in totals.items()}

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels, for a classifier."""
        return getattr(self.target, "classes", None)

    # -- deciding -------------------------------------------------------------------------------
    def decide(self, X: Any, function: Function | None = None, covariates: Any = None) -> Array:
        """Compute decisions (n, outputs) for samples in the user's form, optionally by another function."""
        beside = self.beside(X, covariates)
        X, chosen = self.layout.read(X), function or self.function
        assert chosen is not None
        with threads(self.n_jobs):
            f = chosen.decide(X)
        return require_finite(f if beside is None else f + beside, "decision")

    def beside(self, X: Any, covariates: Any = None) -> Array | None:
        """Compute what covariates add to the decision, (n, outputs); None without covariates."""
        table = self.layout.beside(X, covariates)
        return None if table is None or self.covariates is None else self.covariates.values(table)

    def contributions(self, X: Any, by: str = "kernel", function: Function | None = None) -> Array:
        """Compute contributions to the decision, of shape (n, active kernels or views, outputs)."""
        return self._contributions(self.layout.read(X), by, function or self.function)

    def contribution_blocks(
        self, X: Any, by: str = "kernel", size: int = _PARTS
    ) -> Iterator[tuple[slice, Array]]:
        """Compute contributions in blocks of rows of limited size, for models of very many outputs."""
        assert self.function is not None
        X, columns = self.layout.read(X), max(self.active.size, 1) * self.function.intercept.size
        n, step = _num_samples(X), max(size // columns, 1)
        for lo in range(0, n, step):
            hi = min(lo + step, n)
            yield slice(lo, hi), self._contributions(take_rows(X, lo, hi), by, self.function)

    def _contributions(self, X: Any, by: str, function: Function | None) -> Array:
        """Compute contributions for samples as kernels read them."""
        if by not in ("kernel", "view"):
            raise ValueError(f"by={by!r} was given; expected 'kernel' or 'view'.")
        assert function is not None
        with threads(self.n_jobs):
            parts = function.parts(X)
        if by == "view":
            order = {view: v for v, view in enumerate(dict.fromkeys(self.views))}
            total = np.zeros((parts.shape[0], len(order), parts.shape[2]))
            for i, m in enumerate(self.active):
                total[:, order[self.views[m]]] += parts[:, i]
            parts = total
        return require_finite(parts, "contributions")

    def single(self, f: Array) -> Array:
        """Drop the last axis of decisions (…, outputs) if y had none.

        Of two scores for two classes it is the second less the first.
        """
        if f.shape[-1] == 1 and (self.target is None or self.target.flat):
            return f[..., 0]
        two = self.classes is not None and len(self.classes) == f.shape[-1] == 2
        return f[..., 1] - f[..., 0] if two else f

    def coef(self) -> Array:
        """Return coefficients (outputs, n_features), if all active kernels are linear."""
        assert self.function is not None
        if self.layout.kind != "array" and not isinstance(self.function, FeatureFunction):
            raise AttributeError(
                "coef_ needs X to be an array or a frame of numbers; explain decisions by contributions(X)."
            )
        return self.function.coef(self.names)

    # -- words ----------------------------------------------------------------------------------
    def sentence(self) -> str:
        """Describe how many kernels have weight, and what is proven."""
        used, count = self.active.size, len(self.names)
        listed = used < count or self.listed
        found = "1 kernel was found" if used == 1 else f"{used} kernels were found"
        text = f"{used} of {count} kernels {'has' if used == 1 else 'have'} weight" if listed else found
        text = text if count > 1 or not listed else "1 kernel"
        if self.proof is not None and np.isfinite(self.proof.gap):
            text += f"; {self._proven(self.proof)}"
        elif self.proof is not None:
            text += "; no certificate"
        elif self.alignment is not None:
            text += f"; alignment with the target {self.alignment:.3f}"
        n = _FEW if self.dual is None else len(self.dual)
        few = f" That is about {n} samples, which are too few to say much of others." if n < _FEW else ""
        return text + "." + few

    def adjusted(self) -> str:
        """Describe the covariates and their coefficients; empty without covariates."""
        if self.covariates is None:
            return ""
        values = np.atleast_2d(self.single(self.covariates.coefficients).T)  # (outputs, c)
        told = [
            " / ".join(f"{v:.3g}" for v in column[:3]) + " / …" * (len(column) > 3) for column in values.T
        ]
        words = [f"{name} {value}" for name, value in zip(self.covariates.design.names, told, strict=True)]
        return f"Adjusted for covariates, with the coefficients {and_more(words, _COVARIATES)}."

    def _proven(self, proof: Proof) -> str:
        """Describe what the gap proves, and for which kernels."""
        certified = "certified" if self.listed else "certified over the whole family"
        of, gap = certified if proof.certified else "over the kernels looked at", proof.gap
        if proof.converged:
            return f"relative duality gap {gap:.1e}, {of}"
        worst = f"the optimum is at most {percent(gap)} % lower" + ("" if proof.certified else f", {of}")
        return f"not converged: relative duality gap {gap:.1e}, so that {worst}"
