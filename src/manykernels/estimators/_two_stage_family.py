"""The first stage over families too large to list: kernels are found one after the other by alignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..grams import Gram
from ..kernels import Fitted
from ..objectives import Alignment
from ..oracles import Oracle, build_oracle
from ..oracles._base import Atom
from ..weightings import GreedyAlignment, Weighting
from ..weightings.greedy import Validate
from ._data import take
from ._explain import Array

_HELD_OUT = 0.2  # of the samples, where something must be chosen on others
_SHRINKAGE = 10.0 ** np.arange(-4.0, 3.0)  # of what makes the pull to the mean as strong as the alignment


@dataclass(frozen=True)
class Learned:
    """The kernels with weight, and their Gram on the training samples."""

    names: list[str]
    kernels: list[Fitted]
    theta: Array
    gram: Gram
    alignment: float


def learn_over_family(estimator: Any, X: Any, Y: Array, names_in: Any, weighting: Weighting) -> Learned:
    """Kernels and weights for targets Y; what must be chosen is chosen on samples held out, then refitted."""
    if not isinstance(weighting, GreedyAlignment):
        raise ValueError(
            f"weighting={estimator.weighting!r} needs a list of kernels, and kernels={estimator.kernels!r} "
            "stands for more than can be listed. Give a list such as gaussian_grid(low, high, n); for "
            "families of widths take weighting='greedy'; for products learn in one stage, with MKLClassifier "
            "or MKLRegressor."
        )
    oracle = _bind(estimator, X, names_in)
    if not oracle.offers("best_against"):
        raise ValueError(
            f"weighting='greedy' needs a family that answers 'best_against', and {type(oracle).__name__} "
            "does not. Take a family of widths such as Gaussians(low, high), or learn in one stage: "
            "MKLClassifier, MKLRegressor."
        )
    target = _centred(Y)
    shrinkage = weighting.shrinkage
    several = oracle.dimensions > 1
    if weighting.validation is not None or (several and shrinkage is None):
        shrinkage, count = _choose(estimator, X, Y, names_in, weighting, several)
        weighting = clone(weighting).set_params(
            max_kernels=count if weighting.validation is not None else weighting.max_kernels
        )
    chosen = weighting.choose(oracle, target, shrinkage=float(shrinkage or 0.0))
    if not chosen.atoms:
        raise ValueError(
            "no kernel of the family is aligned with the target. Check that y belongs to these samples, or "
            "widen the range of the family."
        )
    gram = oracle.gram(chosen.atoms)
    alignment = Alignment(gram, Y).value(chosen.theta)
    if estimator.center:
        gram.mean = np.full(gram.n, 1.0 / gram.n)
    kernels = [_function(estimator, oracle, atom, X) for atom in chosen.atoms]
    return Learned([oracle.name(atom) for atom in chosen.atoms], kernels, chosen.theta, gram, alignment)


def _bind(estimator: Any, X: Any, names_in: Any) -> Oracle:
    return build_oracle(
        estimator.kernels,
        X,
        normalize=estimator.normalize,
        feature_names=names_in,
        memory_limit=estimator.memory_limit,
    )


def _centred(Y: Array) -> Array:
    Y = Y - Y.mean(axis=0)
    return np.asarray(Y / np.abs(Y).max())


def _function(estimator: Any, oracle: Oracle, atom: Atom, X: Any) -> Fitted:
    """The kernel on new data. Kernels of a family are normalised before they are centred."""
    fitted = oracle.kernel(atom)
    if estimator.center:
        scale, name = fitted.scale_, fitted.name
        fitted = Fitted(fitted.kernel, center=True, name=name).fit(X)
        fitted.scale_ = scale
    return fitted


def _choose(
    estimator: Any, X: Any, Y: Array, names_in: Any, weighting: GreedyAlignment, several: bool
) -> tuple[float, int]:
    """λ and the number of kernels with the largest alignment on samples held out."""
    n = len(Y)
    share = _HELD_OUT if weighting.validation is None else float(weighting.validation)
    order = np.random.RandomState(0).permutation(n)
    out, rest = np.sort(order[: max(2, round(share * n))]), np.sort(order[max(2, round(share * n)) :])
    Y_out, Y_rest = Y[out], Y[rest]
    if rest.size < 2 or np.ptp(Y_out, axis=0).max() == 0.0 or np.ptp(Y_rest, axis=0).max() == 0.0:
        raise ValueError(
            f"{out.size} of {n} samples were to be held out, which leaves a part whose targets are all the "
            "same. Give more samples, another validation share, or shrinkage= and validation=None."
        )
    oracle, target = _bind(estimator, take(X, rest), names_in), _centred(Y_rest)
    validate = _held_out(oracle, take(X, out), Y_out)
    candidates = [0.0 if weighting.shrinkage is None else float(weighting.shrinkage)]
    if several and weighting.shrinkage is None:
        candidates += list(_SHRINKAGE * _unit(oracle, target))
    best = (-np.inf, 0.0, 1)
    for shrinkage in candidates:
        chosen = weighting.choose(oracle, target, validate, shrinkage)
        if chosen.atoms:
            value = validate(chosen.atoms, chosen.theta)
            best = max(best, (value, shrinkage, len(chosen.path)))
    return best[1], best[2]


def _unit(oracle: Oracle, target: Array) -> float:
    """λ at which λ‖σ − σ̄‖² of the best kernel without it is as large as what it is taken from."""
    S = target @ target.T
    found = oracle.best_against(S / np.linalg.norm(S), 1)
    sigma = np.asarray(found.atoms[0], dtype=float)
    spread = float(np.sum((sigma - sigma.mean()) ** 2))
    return abs(float(found.values[0])) / spread if spread > 0.0 else 1.0


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
