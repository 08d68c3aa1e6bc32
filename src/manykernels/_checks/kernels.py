"""MK3xx: are kernels what their weights suggest?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import and_more
from ..fitting.functions import FeatureFunction
from ..grams.checks import FLAT
from ..kernels import Fitted, evaluate
from .base import Array, Facts, Rule

_MOST = 60  # kernels that are looked at, by their weights
_SOME = 0.1  # of the weight, from which a kernel matters
_COPY = 1e-6  # below 1: alignments of kernels that are the same but for rounding
_MOSTLY = 0.5  # of the weight, from which narrow kernels that the package chose itself are worth a word
_ALONE = 0.05  # similarity to the nearest other sample, below which a kernel knows none
_FLAT = 1e-3  # part of k(x, x) that tells samples apart, below which a kernel is nearly constant
_COARSE = 0.25  # relative error of features, from which they are another kernel
_MOVES = 0.5  # of the weight, from which halves of the data disagree
_DROP, _LESS = 0.1, 0.75  # of alignment on other samples: lower by so much, and below so many times it
_NAMED = 3


@dataclass(frozen=True)
class Seen:
    """The values of a kernel on some training samples."""

    m: int
    share: float  # of the weight
    direction: Array  # the centred matrix, of norm 1; empty where it is flat
    nearest: float  # median similarity to the most similar other sample
    varied: float  # the part of k(x, x) that is left beside the mean


def _seen(facts: Facts) -> list[Seen]:
    """Kernels with the largest weights, on the samples that have their view."""
    known = facts.__dict__.get("_seen")
    if known is None:
        known = facts.__dict__["_seen"] = list(_look(facts))
    return list(known)


def _look(facts: Facts) -> Iterator[Seen]:
    X, shares = facts.samples, facts.shares
    if X is None:
        return
    chosen = np.argsort(-shares, kind="stable")[:_MOST]
    kernels = [facts.model.kernels[m].kernel for m in chosen]
    for i, K in evaluate(kernels, X, None):
        having = kernels[i].present(X)
        K = np.array(K if having is None else K[np.ix_(having, having)])
        d = np.diagonal(K).copy()
        if len(K) < 3 or not np.all(np.isfinite(K)) or not d.mean() > 0.0:
            continue
        share = float(shares[chosen[i]])
        varied = 1.0 - float(K.mean() / d.mean())
        yield Seen(int(chosen[i]), share, _direction(K, d), _nearest(K, d), varied)


def _direction(K: Array, d: Array) -> Array:
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    norm = float(np.linalg.norm(centred))
    return centred.ravel() / norm if norm > FLAT * float(np.abs(d).max()) * len(K) else np.empty(0)


def _nearest(K: Array, d: Array) -> float:
    """Median over samples of the largest k(x, x')/√(k(x, x) k(x', x'))."""
    size = np.sqrt(np.where(d > 0.0, d, 1.0))
    similar = np.abs(K) / (size[:, None] * size)
    np.fill_diagonal(similar, 0.0)
    return float(np.median(similar.max(axis=1)))


def _copies(facts: Facts) -> str | None:
    seen = [one for one in _seen(facts) if one.direction.size]
    sizes: dict[int, list[Seen]] = {}
    for one in seen:  # kernels of views that other samples have are not compared
        sizes.setdefault(one.direction.size, []).append(one)
    pairs = [pair for group in sizes.values() for pair in _equal(group)]
    if not pairs:
        return None
    names = facts.model.names
    shown = and_more([f"{names[a]!r} and {names[b]!r}" for a, b in pairs], _NAMED)
    many = len(pairs) > 1
    return (
        f"{shown} are the same {'kernels' if many else 'kernel'} on these samples, up to a constant and a "
        "factor: how the weight is split between them has no meaning."
    )


def _equal(group: list[Seen]) -> Iterator[tuple[int, int]]:
    rows = np.array([one.direction for one in group])
    S = rows @ rows.T
    taken: set[int] = set()
    for i, j in zip(*np.triu_indices(len(group), 1), strict=True):
        if S[i, j] > 1.0 - _COPY and int(j) not in taken and group[i].share + group[j].share > 0.0:
            taken.add(int(j))
            yield group[i].m, group[j].m


def _told(facts: Facts, found: list[Seen]) -> str:
    names = [f"{facts.model.names[one.m]!r} ({100 * one.share:.0f} % of the weight)" for one in found]
    return and_more(names, _NAMED)


def _narrow(facts: Facts) -> str | None:
    kernels = facts.model.kernels
    found = [one for one in _seen(facts) if one.share >= _SOME and one.nearest < _ALONE]
    found = [one for one in found if not kernels[one.m].kernel.has_features]
    # Families measure widths by the data, and their narrowest kernel is nearly the identity on any table with
    # many columns. Beside wider kernels it acts as a ridge, which is harmless; it is not if it rules.
    if sum(one.share for one in found) < _MOSTLY:
        found = [one for one in found if kernels[one.m].member.scale is None]
    if not found:
        return None
    return (
        f"{_told(facts, found)}: the most similar other sample has a similarity of {found[0].nearest:.2g} "
        "(median), so that no sample helps to predict another."
    )


def _wide(facts: Facts) -> str | None:
    kernels = facts.model.kernels
    found = [one for one in _seen(facts) if one.share >= _SOME and one.varied < _FLAT]
    found = [one for one in found if not kernels[one.m].center and one.direction.size]
    if not found:
        return None
    return (
        f"{_told(facts, found)}: only {100 * found[0].varied:.1g} % of k(x, x) tells samples apart, and the "
        "rest is a constant."
    )


def _coarse(facts: Facts) -> str | None:
    function, X = facts.model.function, facts.samples
    if not isinstance(function, FeatureFunction) or X is None or not facts.model.active.size:
        return None
    model, features = facts.model, function.features
    if features.n_kernels != len(model.names):
        return None
    errors = _errors(features.transform(X), features.ptr, model.kernels, X)
    share: NDArray[np.float64] = facts.shares
    bad = [m for m in np.argsort(-share, kind="stable") if share[m] >= _SOME and errors[m] > _COARSE]
    if not bad:
        return None
    shown = and_more([f"{model.names[m]!r} by {100 * errors[m]:.0f} %" for m in bad], _NAMED)
    return f"The explicit features are far from the exact kernel matrix (relative error): {shown}."


def _errors(Phi: Array, ptr: Any, kernels: list[Fitted], X: Any) -> Array:
    """‖H(Φ_m Φ_mᵀ − K_m)H‖_F / ‖HK_mH‖_F of every kernel, with H = I − 11ᵀ/n.

    Only what is left after centring matters beside an intercept, and features may be centred already.
    """
    errors = np.zeros(len(kernels))
    for m, K in evaluate([one.kernel for one in kernels], X, None):
        F = Phi[:, ptr[m] : ptr[m + 1]]
        F, K = F - F.mean(axis=0), K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        errors[m] = np.linalg.norm(F @ F.T - K) / (np.linalg.norm(K) or 1.0)
    return errors


def _moving(facts: Facts) -> str | None:
    W = facts.halves
    if W is None or len(W) < 2 or W.shape[1] < 2:
        return None
    total = np.abs(W).sum(axis=1, keepdims=True)
    P = np.abs(W) / np.where(total > 0.0, total, 1.0)
    moved = [0.5 * np.abs(P[i] - P[j]).sum() for i, j in zip(*np.triu_indices(len(P), 1), strict=True)]
    share = float(np.mean(moved))
    if share <= _MOVES:
        return None
    return (
        f"{100 * share:.0f} % of the weight goes to another {facts.of} when the model is learned from "
        f"another random part of the data (mean over {len(W)} parts)."
    )


def _overfitted(facts: Facts) -> str | None:
    if facts.alignments is None:
        return None
    own, other = facts.alignments
    if not (own - other > _DROP and other < _LESS * own):
        return None
    return (
        f"Learned from half of the data, the kernel has an alignment of {own:.3f} with the target there and "
        f"of {other:.3f} on the other half."
    )


KERNELS = (
    Rule(
        "MK301",
        "Kernels are copies of each other",
        "Leave all but one out, or read the sum of their weights.",
        _copies,
    ),
    Rule("MK302", "A kernel is nearly the identity", "Take wider kernels, or fewer columns.", _narrow),
    Rule(
        "MK303",
        "A kernel is nearly constant",
        "Take narrower kernels, centre the columns, or set center=True.",
        _wide,
    ),
    Rule(
        "MK304",
        "The approximation is coarse",
        "Take more landmarks or features in approx, or wider kernels.",
        _coarse,
    ),
    Rule(
        "MK305",
        "Weights change from half to half",
        "Read groups of kernels or views instead of single weights, or take norm=2 or more samples.",
        _moving,
    ),
    Rule(
        "MK306",
        "The alignment is overfitted",
        "Take fewer kernels, weighting='align', or more samples.",
        _overfitted,
    ),
)
