"""Alignment over families; what the greedy one leaves open is chosen on held-out samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._fast.stopping import goes_on
from ..families import ARDGaussians
from ..families.base import unique
from ..grams import Gram
from ..grams.base import take
from ..kernels import Fitted
from ..objectives import Alignment
from ..oracles import Atom, Oracle, build_oracle
from . import base
from .base import Weighting
from .bound import alignment_bound
from .greedy import GreedyAlignment, Validate

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

_FOLDS = 5  # on which λ is chosen
_SHRINKAGE = (1e5, 1e2, 1e1, 1.0, 1e-1, 0.0)  # λ in units of `_unit`; the largest leaves one width
_STRONG = 1e6  # λ that leaves one width, whatever the data
_OTHERS = {  # what to do where a family does not answer
    "best_against": "Take a family of widths such as Gaussians(low, high)",
    "sample_against": "Take weighting='greedy', or Products without atom_scale",
}
_JUDGED = 1  # kernels that tell one λ from another; more of them overfit, which hides what λ does


@dataclass(frozen=True)
class FamilyOn:
    """A family and how it is bound to samples, be it to all of them or to a part."""

    family: Any
    normalize: Any
    names: Any
    memory_limit: Any

    def bind(self, X: Any) -> Oracle:
        return build_oracle(
            self.family,
            X,
            normalize=self.normalize,
            feature_names=self.names,
            memory_limit=self.memory_limit,
        )


@dataclass(frozen=True)
class Chosen:
    """The kernels with weight, their Gram on the training samples, and its alignment."""

    names: list[str]
    kernels: list[Fitted]
    theta: Array
    gram: Gram
    alignment: float
    certified: bool = False  # whether every kernel was proven to be the best of the family at its step
    bound: float | None = None  # no combination of the family has a larger alignment


def align_family(family: FamilyOn, X: Any, Y: Array, weighting: Weighting, center: bool) -> Chosen:
    """Kernels and weights for targets Y, and a bound on what all of the family could do."""
    oracle = family.bind(X)
    if not oracle.offers(weighting.asks):
        raise ValueError(
            f"{weighting!r} needs a family that answers {weighting.asks!r}, and {type(oracle).__name__} of "
            f"{family.family!r} does not. {_OTHERS[weighting.asks]}, or learn in one stage: MKLClassifier, "
            "MKLRegressor."
        )
    target = _centred(Y)
    if isinstance(weighting, GreedyAlignment):
        chosen = _choose_greedily(family, X, Y, oracle, weighting)
    else:
        chosen = weighting.choose(oracle, target)
    if not chosen.atoms:
        raise ValueError(
            "no kernel of the family is aligned with the target. Check that y belongs to these samples, or "
            "widen the range of the family."
        )
    found = _finish(oracle, chosen.atoms, chosen.theta, X, Y, center)
    bound = None
    if oracle.offers("best_against"):
        bound = alignment_bound(oracle, target, chosen.atoms, chosen.theta)
        bound = None if bound is None else max(bound, found.alignment)
    return replace(found, certified=chosen.certified, bound=bound)


def _choose_greedily(
    family: FamilyOn, X: Any, Y: Array, oracle: Oracle, weighting: GreedyAlignment
) -> base.Chosen:
    """Choose options on samples held out, then refit."""
    weighting._check()
    shrinkage = weighting.shrinkage
    if shrinkage is None:
        widths = isinstance(family.family, ARDGaussians) and oracle.dimensions > 1
        shrinkage = _shrinkage(family, X, Y) if widths else 0.0
    if weighting.validation is not None:
        count = _count(family, X, Y, weighting, shrinkage)
        weighting = clone(weighting).set_params(max_kernels=count)
    return weighting.choose(oracle, _centred(Y), shrinkage=float(shrinkage))


def _finish(oracle: Oracle, atoms: list[Atom], theta: Array, X: Any, Y: Array, center: bool) -> Chosen:
    gram = oracle.gram(atoms)
    alignment = Alignment(gram, Y).value(theta)
    kernels = [oracle.kernel(atom) for atom in atoms]
    if center:
        mean = np.full(gram.n, 1.0 / gram.n)
        rows = gram.products(mean[:, None])[:, :, 0]
        kernels = [_centred_function(kernel, X, r) for kernel, r in zip(kernels, rows, strict=True)]
        gram.mean = mean
    names = unique(map(oracle.name, atoms))  # the labels of many widths show the first few only
    return Chosen(names, kernels, theta, gram, alignment)


def _centred(Y: Array) -> Array:
    Y = Y - Y.mean(axis=0)
    return np.asarray(Y / np.abs(Y).max())


def _centred_function(fitted: Fitted, X: Any, r: Array) -> Fitted:
    """The kernel on new data, centred by its row means r, which the Gram gives without distances anew.

    Kernels of a family are normalised before they are centred.
    """
    scale, name = fitted.scale_, fitted.name
    fitted = Fitted.from_constants(fitted.kernel, scale, X, (r / scale, float(r.mean() / scale)))
    fitted.name = name
    return fitted


def _shrinkage(family: FamilyOn, X: Any, Y: Array) -> float:
    """λ of Eq. 6.2 by cross-validation, from one width for all features to no shrinkage at all.

    A fold is judged by the alignment of the block K(out, rest) with that of the target: the few pairs among
    the samples of a fold say little where there are few samples, those with all others say much more.
    """
    judged, units = GreedyAlignment(max_kernels=_JUDGED), []
    values: list[list[float]] = []
    for out, rest in _folds(Y):
        oracle, target = family.bind(take(X, rest)), _centred(Y[rest])
        unit = _unit(oracle, target)
        fold: list[float] = []
        for strength in _SHRINKAGE:
            if fold and not goes_on(0, 1):
                break
            atoms = judged.choose(oracle, target, shrinkage=strength * unit).atoms
            fold.append(_across(oracle, atoms[0], X, Y, out, rest) if atoms else 0.0)
        if not values or len(fold) == len(values[0]):  # else somebody stopped it
            units.append(unit)
            values.append(fold)
        if not goes_on(0, 1):
            break
    return float(_SHRINKAGE[int(np.argmax(np.sum(values, axis=0)))] * np.mean(units))


def _folds(Y: Array) -> list[tuple[Rows, Rows]]:
    """(out, rest) of every fold; targets are spread evenly over them, where two or more samples allow it."""
    n = len(Y)
    order = np.random.RandomState(0).permutation(n)
    order = order[np.argsort(Y[order, 0], kind="stable")]
    fold = np.empty(n, dtype=int)
    fold[order] = np.arange(n) % _FOLDS
    parts = [(np.flatnonzero(fold == k), np.flatnonzero(fold != k)) for k in range(_FOLDS)]
    parts = [
        (out, rest) for out, rest in parts if out.size and np.ptp(Y[rest], axis=0).max(initial=0.0) > 0.0
    ]
    if not parts:
        raise ValueError(
            f"{n} samples are too few to choose shrinkage= by cross-validation: what is left to learn from "
            "has equal targets. Give more samples, or shrinkage= a number."
        )
    return parts


def _across(oracle: Oracle, atom: Atom, X: Any, Y: Array, out: Rows, rest: Rows) -> float:
    """⟨B, T⟩/(‖B‖‖T‖) with B = K(out, rest), T = Y_out Y_restᵀ, both centred by the mean of `rest`."""
    kernel = oracle.kernel(atom)
    B, means = kernel(take(X, out), take(X, rest)), kernel(take(X, rest)).mean(axis=0)
    B = B - B.mean(axis=1)[:, None] - means + means.mean()
    left, right = (Y[rows] - Y[rest].mean(axis=0) for rows in (out, rest))
    size = np.linalg.norm(B) * np.sqrt(np.sum((left.T @ left) * (right.T @ right)))
    return float(np.sum(left * (B @ right)) / (size + 1e-300))


def _unit(oracle: Oracle, target: Array) -> float:
    """h/(rσ²) at the best kernel of one width σ: widths as far apart as they are large cost as much as h.

    One width is what is left of r widths where the shrinkage is so strong that nothing else matters.
    """
    S = target @ target.T
    found = oracle.best_against(S / np.linalg.norm(S), 1, shrinkage=_STRONG)
    sigma = np.asarray(found.atoms[0], dtype=float)
    return abs(float(found.values[0])) / float(sigma @ sigma + 1e-300)


def _count(family: FamilyOn, X: Any, Y: Array, weighting: GreedyAlignment, shrinkage: float) -> int:
    """The number of kernels with the largest alignment on a share of the samples held out."""
    n, share = len(Y), float(weighting.validation or 0.0)
    order = np.random.RandomState(0).permutation(n)
    out, rest = np.sort(order[: max(2, round(share * n))]), np.sort(order[max(2, round(share * n)) :])
    Y_out, Y_rest = Y[out], Y[rest]
    if rest.size < 2 or np.ptp(Y_out, axis=0).max() == 0.0 or np.ptp(Y_rest, axis=0).max() == 0.0:
        raise ValueError(
            f"{out.size} of {n} samples were to be held out, which leaves a part whose targets are all the "
            "same. Give more samples, another validation share, or validation=None."
        )
    oracle = family.bind(take(X, rest))
    validate = _held_out(oracle, take(X, out), Y_out)
    chosen = weighting.choose(oracle, _centred(Y_rest), validate, shrinkage)
    return max(1, len(chosen.path))


def _held_out(oracle: Oracle, X: Any, Y: Array) -> Validate:
    target = _centred(Y)
    tau = float(np.linalg.norm(target.T @ target))

    def validate(atoms: list[Atom], theta: Array) -> float:
        K = np.zeros((len(Y), len(Y)))
        for atom, weight in zip(atoms, theta, strict=True):
            if weight > 0.0:
                K += weight * oracle.kernel(atom)(X)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        return float(np.sum(target * (K @ target)) / (np.linalg.norm(K) * tau + 1e-300))

    return validate
