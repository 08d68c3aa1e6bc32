"""Sets, splits and figures of the survival experiment.

Every set is cut five times, 70 % to learn from and 30 % to test on, with as many events in both; rows of one
subject stay together. Nothing of the test part is used before the figures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from manykernels.datasets import load_survival, survival_names

from ..data import Array
from ..tables import Facts

LARGEST, LEAST_EVENTS = 5000, 10
# The same patients, with the same end point, as a set of scikit-survival.
TWICE = ("survset_GBSG2", "survset_veteran", "survset_whas500", "survset_actg")
STAND_IN = "made"
Endpoint = NDArray[np.void]


@dataclass(frozen=True)
class Split:
    """Samples to learn from (X, y) and to test on (Z, t), and where test times end."""

    X: Any
    y: Endpoint
    Z: Any
    t: Endpoint

    @property
    def tau(self) -> float:
        """The 90 % quantile of training times: later ones have too few at risk to weigh by."""
        return float(np.quantile(self.y["time"], 0.9))

    @property
    def times(self) -> Array:
        """Where the Brier score is taken: fifty quantiles of the times of both parts before tau."""
        both = np.concatenate([self.y["time"], self.t["time"]])
        low = max(self.y["time"].min(), self.t["time"].min())
        high = min(self.tau, np.max(self.t["time"]))
        inside = np.unique(both[(both > low) & (both < high)])
        if inside.size < 2:
            return np.empty(0)
        return np.unique(np.quantile(inside, np.linspace(0.05, 0.95, 50), method="nearest"))


def sets() -> list[str]:
    """All of scikit-survival and SurvSet that can be loaded here and are small enough, small ones first."""
    sizes = {}
    for name in survival_names():
        if name.startswith(("sksurv_", "survset_")) and name not in TWICE:
            given = load_survival(name)
            if len(given.y) <= LARGEST and given.y["event"].sum() >= LEAST_EVENTS:
                sizes[name] = given.X.size
    return sorted(sizes, key=lambda name: (sizes[name], name))


def drawn(name: str, seed: int) -> Split:
    """70 and 30 % of the subjects, by whether one had the event."""
    X, y, subject = _made() if name == STAND_IN else _loaded(name)
    ids, first = np.unique(subject, return_index=True)
    event = y["event"][first]
    least = min(np.sum(event), np.sum(~event))
    train, _ = train_test_split(ids, test_size=0.3, random_state=seed, stratify=event if least > 1 else None)
    rows = np.isin(subject, train)
    return Split(X[rows].reset_index(drop=True), y[rows], X[~rows].reset_index(drop=True), y[~rows])


def _loaded(name: str) -> tuple[Any, Endpoint, NDArray[np.intp]]:
    given = load_survival(name)
    return given.X, given.y, given.other.get("subject", np.arange(len(given.y)))


def _made(n: int = 90) -> tuple[Any, Endpoint, NDArray[np.intp]]:
    """A stand-in for quick runs: numbers, a category, missing cells, half of the times censored."""
    import pandas as pd

    rng = np.random.RandomState(0)
    X = pd.DataFrame(rng.randn(n, 3), columns=["a", "b", "c"])
    X["group"] = pd.Categorical(np.array(["x", "y", "z"])[rng.randint(3, size=n)])
    time = rng.exponential(np.exp(-X["a"] - (X["group"] == "x")))
    ends = rng.exponential(1.0, size=n)
    y = np.empty(n, dtype=[("event", np.bool_), ("time", np.float64)])
    y["event"], y["time"] = time <= ends, np.minimum(time, ends)
    X.loc[rng.rand(n) < 0.1, "b"] = np.nan
    return X, y, np.arange(n)


# -- figures ----------------------------------------------------------------------------------------
def figures(split: Split, risk: Array, curves: Array | None) -> Facts:
    """Uno's C up to tau, Harrell's C, and the integrated Brier score where there are survival curves.

    By scikit-survival, for all methods alike; None where the test part has no pair to compare.
    """
    from sksurv import metrics

    if not np.all(np.isfinite(risk)):
        raise ValueError("risks are not finite")
    found: Facts = {"uno": None, "harrell": None, "brier": None}
    y, t, times = split.y, split.t, split.times
    try:
        found["uno"] = float(metrics.concordance_index_ipcw(y, t, risk, tau=split.tau)[0])
        found["harrell"] = float(metrics.concordance_index_censored(t["event"], t["time"], risk)[0])
    except (metrics.NoComparablePairException, ZeroDivisionError):
        return found
    if curves is not None and times.size > 1:
        ended = [_until(split.tau, part) for part in (y, t)]
        found["brier"] = float(metrics.integrated_brier_score(*ended, curves, times))
    return found


def _until(tau: float, y: Endpoint) -> Endpoint:
    """As if observation had ended at tau, so that censoring is known wherever it is asked for."""
    y = y.copy()
    y["event"] &= y["time"] <= tau
    y["time"] = np.minimum(y["time"], tau)
    return y
