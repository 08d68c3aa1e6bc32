"""Holds pairs of fits against each other: the intervals of D to P that they claim must meet.

Decisions are compared where the problem is strongly convex. With the squared loss
½ Σ C (f − f*)² ≤ P(f) − P*, and with the plain sum of kernels ½ ‖w − w*‖² ≤ P − P*, so that gaps bound how
far two answers to one problem can be apart.
"""

from __future__ import annotations

import argparse
import collections
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from tests.properties import relations_given  # noqa: F401 (more of them)
from tests.properties.certificates import LONGEST, Failure, Fitted, TooLong, decisions, fit, limited
from tests.properties.exact import costs
from tests.properties.problems import SHARES, Case, draw
from tests.properties.relations import RELATIONS, Pair

from manykernels import MKLClassifier, load, save

SLACK = 1e-6  # of P
_GAP = 1e-9  # below which a gap says nothing


def compare(name: str, pair: Pair) -> list[Failure]:
    """What is wrong about a pair."""
    first, second = fit(pair.first), fit(pair.second)
    if first.error is not None or second.error is not None:
        return _refusals(name, pair, first, second)
    a, b = first.model, second.model
    P, Q = a.objective_, b.objective_ / pair.factor
    D, E = P * (1.0 - a.dual_gap_), Q * (1.0 - b.dual_gap_)
    slack, wrong = SLACK * max(abs(P), abs(Q)), []
    if E > P + slack or (pair.equal and D > Q + slack):
        text = f"[{D:.8g}, {P:.8g}] against [{E:.8g}, {Q:.8g}]"
        wrong.append(_failure(name, pair, "objective", text))
    elif pair.back is not None and pair.equal:
        wrong += _decisions(name, pair, a, b, max(P, Q) - min(D, E))
    return wrong


def _failure(name: str, pair: Pair, what: str, text: str) -> Failure:
    return Failure(pair.first.seed, f"{name}: {what}", text, f"{pair.first}\n    {pair.second}")


def _refusals(name: str, pair: Pair, first: Fitted, second: Fitted) -> list[Failure]:
    """What is refused once must be refused again."""
    if first.error is not None and second.error is not None:
        return []
    one = "first" if first.error is not None else "second"
    return [_failure(name, pair, f"only the {one} is refused", f"{first.error or second.error}")]


def _decisions(name: str, pair: Pair, a: Any, b: Any, apart: float) -> list[Failure]:
    """Both are within `apart` of one optimum, in P."""
    assert pair.back is not None
    f, g = decisions(pair.first, a), pair.back(decisions(pair.second, b))
    if not (np.isfinite(f).all() and np.isfinite(g).all()):
        return [_failure(name, pair, "decisions", "not finite")]
    far = 2.0 * np.sqrt(2.0 * (apart + _GAP * abs(a.objective_)))
    cost = costs(pair.first, a).astype(float)[:, None]
    if pair.first.model.loss == "squared":
        distance = float(np.sqrt(np.sum(cost * (f - g) ** 2)))
    elif pair.first.model.norm == np.inf and np.ndim(a.weights_) == 1:
        kept = cost[:, 0] > 0.0
        root = np.sqrt(np.maximum(a.kernel_.diag(pair.first.X)[kept], 0.0))
        move = (f - g)[kept] - (np.median((f - g)[kept], axis=0) if a.fit_intercept else 0.0)
        far, distance = far * 2.0 * float(root.max(initial=0.0)), float(np.abs(move).max(initial=0.0))
    else:
        return []
    size = float(np.sqrt(np.sum(cost * f**2))) + float(np.abs(f).max())
    if distance > far + 1e-7 * size:
        return [_failure(name, pair, "decisions", f"{distance:.3g} apart, {far:.3g} by the gaps")]
    return []


# -- the same model -----------------------------------------------------------------------------
def _same(name: str, case: Case, f: np.ndarray, g: np.ndarray) -> list[Failure]:
    if np.allclose(f, g, rtol=1e-9, atol=1e-9 * (np.abs(f).max() + 1e-300)):
        return []
    return [Failure(case.seed, name, f"decisions differ by {np.abs(f - g).max():.3g}", str(case))]


def refit(case: Case) -> list[Failure]:
    """An estimator that was fitted before answers as a new one does, and so does its copy in a file."""
    first = fit(case)
    if first.error is not None:
        return []
    used = clone(case.model)
    half = np.arange(len(case.y)) % 3 > 0
    other = case.X[half][:, half] if case.X.ndim == 3 else case.X[half]
    fit_quietly(used, other, case.y[half], None)
    fit_quietly(used, case.X, case.y, case.weight)
    wrong = _same("refit", case, decisions(case, first.model), decisions(case, used))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.mkl"
        save(used, path)
        wrong += _same("save and load", case, decisions(case, used), decisions(case, load(path)))
    return wrong


def warm_start(case: Case) -> list[Failure]:
    """Where a fit starts does not change where it may end."""
    cold = fit(case)
    if cold.error is not None:
        return []
    model = clone(case.model).set_params(warm_start=True, C=3.0 * case.model.C)
    fit_quietly(model, case.X, case.y, case.weight)
    model.set_params(C=case.model.C)
    with limited(LONGEST), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(case.X, case.y, sample_weight=case.weight)
    P, Q = cold.model.objective_, model.objective_
    D, E = P * (1.0 - cold.model.dual_gap_), Q * (1.0 - model.dual_gap_)
    if max(D, E) > min(P, Q) + SLACK * abs(P):
        text = f"[{D:.8g}, {P:.8g}] cold, [{E:.8g}, {Q:.8g}] warm"
        return [Failure(case.seed, "warm start", text, str(case))]
    return []


def fit_quietly(model: Any, X: Any, y: Any, weight: Any) -> None:
    """Fit without a word; a refusal leaves the model as it was."""
    quiet = fit(Case(0, "natural", model, X, y, weight))
    if quiet.error is None:
        model.__dict__.update(quiet.model.__dict__)


def one_class_at_a_time(case: Case) -> list[Failure]:
    """``multi_class="ovr"`` is one problem for each class."""
    if not isinstance(case.model, MKLClassifier) or case.model.class_weight is not None:
        return []
    case = case.change(multi_class="ovr")
    whole = fit(case)
    if whole.error is not None or len(whole.model.classes_) < 3:
        return []
    parts = [
        fit(Case(case.seed, case.share, case.model, case.X, case.y == c, case.weight))
        for c in whole.model.classes_
    ]
    if any(part.error is not None for part in parts):
        return []
    P = whole.model.objective_
    Q = sum(part.model.objective_ for part in parts)
    E = sum(part.model.objective_ * (1.0 - part.model.dual_gap_) for part in parts)
    if E > P * (1.0 + SLACK) or P * (1.0 - whole.model.dual_gap_) > Q * (1.0 + SLACK):
        return [Failure(case.seed, "one class at a time", f"P {P:.8g}, {Q:.8g} one by one", str(case))]
    return []


ALONE = {"refit": refit, "warm_start": warm_start, "one_class_at_a_time": one_class_at_a_time}


def check(seed: int, share: str | None = None, only: str | None = None) -> list[Failure]:
    """One relation, drawn from the seed, on a case of it."""
    rng = np.random.RandomState(seed)
    names = [*RELATIONS, *ALONE]
    name = only or names[seed % len(names)]
    case = draw(10_000_000 + seed, share or str(rng.choice(["natural", "hard"], p=[0.75, 0.25])))
    try:
        if name in RELATIONS:
            pair = RELATIONS[name](case, rng)
            return [] if pair is None else compare(name, pair)
        return ALONE[name](case)
    except TooLong:
        return [Failure(case.seed, "hang", name, str(case))]
    except Exception as error:
        return [Failure(case.seed, f"crash {type(error).__name__}", f"{name}: {error}", str(case))]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", choices=SHARES)
    parser.add_argument("--only", help="the name of one relation")
    given = parser.parse_args(arguments)
    kinds: dict[str, list[Failure]] = collections.defaultdict(list)
    for seed in range(given.seed, given.seed + given.cases):
        for failure in check(seed, given.share, given.only):
            kinds[failure.kind].append(failure)
            print(f"seed {seed}", failure, flush=True)
    for kind, found in sorted(kinds.items()):
        print(f"{kind}: {len(found)}, smallest seed {min(f.seed for f in found) - 10_000_000}")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
