"""Draws problems of times to an event, and holds fits to what they claim: P by loops, and other points' P.

``python -m tests.properties.survival --cases 2000`` lists the seeds whose claims are wrong.
"""

from __future__ import annotations

import argparse
import collections
import warnings
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLSurvival
from manykernels.kernels import Gaussian, Linear, Polynomial

TOL = 1e-3
SLACK = 1e-7  # of P: what a claim may be wrong by beside its gap


def draw(seed: int) -> dict[str, Any]:
    """A problem: samples, targets and what is asked of a fit."""
    rng = np.random.RandomState(seed)
    n, d = rng.randint(6, 40), rng.randint(1, 4)
    X = rng.randn(n, d) * 10.0 ** rng.uniform(-1, 1)
    f = rng.choice([0.0, 1.0, 5.0]) * X[:, 0] / np.abs(X[:, 0]).max()
    death, last = rng.exponential(np.exp(-f)), rng.exponential(rng.choice([0.3, 2.0, 50.0]), n)
    event, time = death <= last, 0.01 + np.minimum(death, last)
    if rng.rand() < 0.5:
        time = np.ceil(rng.choice([1.0, 4.0]) * time)
    event[np.argmin(time)] = True
    y = pd.DataFrame({"event": event, "time": time})
    if rng.rand() < 0.3:
        y["stratum"] = rng.randint(0, 2, n)
    if rng.rand() < 0.3:
        y["entry"] = time * rng.uniform(-1.0, 0.9, n)
    kernels = [Linear(), Gaussian(1.0), Gaussian(10.0), Polynomial(2), Gaussian(0.1)][: rng.randint(1, 6)]
    return {
        "X": X,
        "y": y,
        "kernels": kernels,
        "norm": [1.0, 1.0, 1.3, 2.0, np.inf][rng.randint(5)],
        "ties": ["breslow", "efron"][rng.randint(2)],
        "C": 10.0 ** rng.uniform(-4, 4),
        "weight": rng.randint(1, 4, n).astype(float) if rng.rand() < 0.3 else None,
    }


def minus_log(f: Any, y: Any, w: Any, ties: str) -> float:
    """Minus the logarithm of the partial likelihood, at C = 1, by loops over risk sets."""
    event, time = y["event"].to_numpy(), y["time"].to_numpy()
    stratum = y["stratum"].to_numpy() if "stratum" in y else np.zeros(len(y))
    entry = y["entry"].to_numpy() if "entry" in y else np.full(len(y), -np.inf)
    total = 0.0
    for s in np.unique(stratum):
        for t in np.unique(time[event & (stratum == s)]):
            tied = event & (stratum == s) & (time == t)
            at_risk = (stratum == s) & (time >= t) & (entry < t)
            top, d = f[at_risk].max(), int(tied.sum())
            u = w * np.exp(f - top)
            for r in range(d):
                lighter = r / d if ties == "efron" else 0.0
                total += w[tied].mean() * (top + np.log(u[at_risk].sum() - lighter * u[tied].sum()))
            total -= (w * f)[tied].sum()
    return float(total)


def group_norm(sizes: Any, p: float) -> float:
    """min_θ Σ ‖w_m‖²/θ_m over ‖θ‖_p ≤ 1."""
    power = 2.0 if np.isinf(p) else 2.0 * p / (p + 1.0)
    return float(np.sum(sizes**power) ** (2.0 / power))


def failures(seed: int) -> list[str]:
    """What is wrong with the fit of a drawn problem."""
    given = draw(seed)
    X, y, ties, p, C = (given[key] for key in ("X", "y", "ties", "norm", "C"))
    w = np.ones(len(X)) if given["weight"] is None else given["weight"]
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            model = MKLSurvival(given["kernels"], norm=p, C=C, ties=ties, tol=TOL)
            model.fit(X, y, sample_weight=given["weight"])
        except ValueError as error:
            return [] if "no order of events" in str(error) else [f"refused: {error}"]
    warned = any(issubclass(one.category, ConvergenceWarning) for one in seen)
    found = []
    if not 0.0 <= model.dual_gap_ <= (np.inf if warned else TOL):
        found.append(f"gap {model.dual_gap_:.2e}")
    if warned:
        found.append(f"stopped at {model.dual_gap_:.2e}")
    K = [
        np.asarray(kernel(X)) * (w.sum() / (w @ np.diag(np.asarray(kernel(X)))))
        for kernel in given["kernels"]
    ]
    q = np.array([max(model.dual_coef_ @ k @ model.dual_coef_, 0.0) for k in K])
    f = sum(t * (k @ model.dual_coef_) for t, k in zip(model.weights_, K, strict=True))
    primal = 0.5 * group_norm(model.weights_ * np.sqrt(q), p) + C * minus_log(f, y, w, ties)
    scale = max(abs(primal), 1e-12)
    if abs(primal - model.objective_) > max(SLACK, 2.0 * model.dual_gap_) * scale:
        found.append(f"P is {primal:.8g}, and {model.objective_:.8g} was claimed")
    bound = model.objective_ - model.dual_gap_ * abs(model.objective_)
    for other in _others(np.random.RandomState(seed), model, K, y, w, ties, p, C):
        if other < bound - SLACK * scale:
            found.append(f"a point has P {other:.8g} below the bound {bound:.8g}")
    return found


def _others(rng: Any, model: Any, K: Any, y: Any, w: Any, ties: str, p: float, C: float) -> Any:
    """P of points near the solution and far from it."""
    for size in (0.0, 0.1, 0.5):
        theta = np.abs(model.weights_ + size * rng.rand(len(K)))
        theta /= np.linalg.norm(theta, p if np.isfinite(p) else np.inf)
        for step in (0.0, 0.01, 0.3):
            alpha = model.dual_coef_ * (1.0 + step * rng.randn())
            q = np.array([max(alpha @ k @ alpha, 0.0) for k in K])
            f = sum(t * (k @ alpha) for t, k in zip(theta, K, strict=True))
            yield 0.5 * group_norm(theta * np.sqrt(q), p) + C * minus_log(f, y, w, ties)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(options.first, options.first + options.cases):
        for text in failures(seed):
            counts[text.split()[0]] += 1
            print(seed, text, flush=True)
    print(f"{options.cases} cases: {dict(counts) or 'nothing is wrong'}")


if __name__ == "__main__":
    main()
