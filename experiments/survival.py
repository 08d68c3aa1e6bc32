"""Time to event: this package beside scikit-survival's methods on every static set of it and of SurvSet."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np
from scipy.stats import rankdata, wilcoxon

from .cohorts.known import known
from .cohorts.ours import ours
from .cohorts.rivals import RIVALS, Method
from .cohorts.splits import STAND_IN, drawn, figures, sets
from .data import Array, MissingData
from .selection.resume import Runs
from .tables import Facts, Report, Spread

TITLE = (__doc__ or "").splitlines()[0]
SEEDS = 5
METHODS: dict[str, Method] = {"ours": ours, **RIVALS}
LARGER_IS_BETTER = {"uno": True, "harrell": True, "brier": False}
CALLED = {"uno": "Uno's C", "harrell": "Harrell's C", "brier": "integrated Brier score"}
MEANS = (
    "Uno's C up to the 90 % quantile of training times, mean ± standard deviation over the splits (70 % to "
    "learn from) that all methods were run on. n and events: of the training part. Empty: the method "
    "failed on some split."
)
PAIRED = (
    "Difference of Uno's C ± its standard error over the splits, corrected for the samples that training "
    "parts share (Nadeau and Bengio 2003), and their ratio."
)
IN_SUM = (
    "No worse: the mean difference is at least minus two corrected standard errors; better: at least two; "
    "worse: at most minus two. p: Wilcoxon's signed ranks of the differences of all sets, not adjusted."
)
RANKS = (
    "1 is the best mean over the splits, equal ones share ranks, a method that failed is last. Each figure "
    "has a line with and one without ridge Cox. Brier scores: "
    "sets on which all methods with survival curves have them (forests of more than 1,500 samples keep none)."
)
SECONDS = (
    "Seconds of one processor for choosing, fitting and predicting, on a busy machine; mean over splits."
)


# -- runs -------------------------------------------------------------------------------------------
def trial(name: str, seed: int, method: str) -> Facts:
    """The figures of one method on one split, and seconds of one processor."""
    split = drawn(name, seed)
    facts: Facts = {"n": len(split.y), "d": split.X.shape[1], "events": int(split.y["event"].sum())}
    facts |= {"test": len(split.t), "test events": int(split.t["event"].sum())}
    before = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        risk, curves, chosen = METHODS[method](split.X, split.y, split.Z, split.times)
    facts["seconds"] = time.process_time() - before
    return facts | figures(split, risk, curves) | {"chosen": chosen}


def collect(
    runs: Runs, names: Iterable[str], seeds: Iterable[int], methods: Iterable[str], again: bool = False
) -> None:
    """Run what is not known yet; what fails is said, kept as failed, and the rest goes on."""
    for name in names:
        for seed in seeds:
            for method in methods:
                if (name, seed, method) in runs and not again:
                    continue
                try:
                    facts = trial(name, seed, method)
                except Exception as reason:
                    facts = {"failed": f"{type(reason).__name__}: {reason}".splitlines()[0]}
                runs.add((name, seed, method), facts)
                said = facts.get("failed") or f"C {facts['uno']}, {facts['seconds']:.1f} s"
                print(f"{name} {seed} {method}: {said}", file=sys.stderr, flush=True)


def run(report: Report) -> None:
    """All sets; a stand-in and two splits in a quick run."""
    if find_spec("sksurv") is None:
        missing = MissingData("The methods and figures of scikit-survival: pip install scikit-survival.")
        missing.short = "scikit-survival is not installed"
        raise missing
    if report.quick:
        runs = Runs()
        collect(runs, [STAND_IN], range(2), METHODS)
    else:
        runs = known()
        collect(runs, sets(), range(SEEDS), METHODS)
    tables(report, runs)


# -- figures ----------------------------------------------------------------------------------------
class Scores:
    """Figures of every method on the splits of every set that has all of them."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.methods = [m for m in METHODS if any(key[2] == m for key in runs.known)]
        seeds: dict[str, set[int]] = {}
        for name, seed, _ in runs.known:
            seeds.setdefault(name, set()).add(seed)
        complete = {n: [k for k in sorted(s) if self._complete(n, k)] for n, s in seeds.items()}
        self.seeds = {name: known for name, known in complete.items() if known}
        self.sets = sorted(self.seeds, key=lambda name: (self.facts(name)["n"] * self.facts(name)["d"], name))

    def _complete(self, name: str, seed: int) -> bool:
        """Whether all methods were run, and the test part has pairs to compare."""
        rows = [self.runs.known.get((name, seed, method)) for method in self.methods]
        return all(rows) and any(row and row.get("uno") is not None for row in rows)

    def facts(self, name: str) -> Facts:
        rows = (self.runs.known[name, self.seeds[name][0], method] for method in self.methods)
        return next(row for row in rows if "failed" not in row)

    def values(self, name: str, method: str, figure: str = "uno") -> Array:
        """Of every split; NaN where the method has none."""
        rows = [self.runs.known[name, seed, method] for seed in self.seeds[name]]
        return np.array([np.nan if row.get(figure) is None else row[figure] for row in rows], dtype=float)

    def means(self, method: str, figure: str = "uno") -> Array:
        """Of every set; NaN where a split has no figure."""
        return np.array([self.values(name, method, figure).mean() for name in self.sets])


def corrected(d: Array, share: float) -> tuple[float, float]:
    """The mean of differences in J splits and its standard error √((1/J + n_test/n_train) s²)."""
    return float(d.mean()), float(np.sqrt((1.0 / d.size + share) * d.var(ddof=1)))


def ratio(mean: float, error: float) -> float:
    return mean / error if error > 1e-12 else float(np.sign(mean)) * np.inf if abs(mean) > 1e-12 else 0.0


def compared(scores: Scores, name: str, rival: str) -> tuple[float, float] | None:
    """The mean of ours less the rival's, and its error; None where one of them has no figures."""
    d = scores.values(name, "ours") - scores.values(name, rival)
    facts = scores.facts(name)
    return None if np.isnan(d).any() or d.size < 2 else corrected(d, facts["test"] / facts["n"])


def mean_rows(scores: Scores) -> list[Facts]:
    means = {method: scores.means(method) for method in scores.methods}
    rows: list[Facts] = []
    for k, name in enumerate(scores.sets):
        facts = scores.facts(name)
        row: Facts = {"set": name, "n": facts["n"], "d": facts["d"], "events": facts["events"]}
        row["splits"] = len(scores.seeds[name])
        having = [method for method in scores.methods if not np.isnan(means[method][k])]
        empty = dict.fromkeys(scores.methods)
        rows.append(row | empty | {m: Spread(scores.values(name, m).tolist()) for m in having})
    return rows


def paired_rows(scores: Scores, rival: str) -> list[Facts]:
    rows = []
    for name in scores.sets:
        found = compared(scores, name, rival)
        row: Facts = {"set": name, "splits": len(scores.seeds[name])}
        if found:
            mean, error = found
            row |= {f"ours less {rival}": f"{mean:+.3f} ± {error:.3f}", "ratio": f"{ratio(mean, error):+.1f}"}
        rows.append(row)
    return rows


def sum_rows(scores: Scores) -> list[Facts]:
    rows = []
    for rival in scores.methods:
        pairs = [compared(scores, name, rival) for name in scores.sets]
        known = [pair for pair in pairs if pair]
        if rival == "ours" or not known:
            continue
        t, d = np.array([ratio(*pair) for pair in known]), np.array([mean for mean, _ in known])
        row: Facts = {"ours beside": rival, "sets": len(known), "ahead": int(np.sum(d > 0.0))}
        shares = {"no worse": t >= -2.0, "better": t >= 2.0, "worse": t < -2.0}
        row |= {key: f"{np.sum(true)} ({100.0 * np.mean(true):.0f} %)" for key, true in shares.items()}
        p = f"{wilcoxon(d).pvalue:.2g}" if np.any(d) else ""
        rows.append(row | {"mean difference": f"{d.mean():+.4f}", "median": f"{np.median(d):+.4f}", "p": p})
    return rows


def ranks(scores: Scores, figure: str, without: tuple[str, ...] = ()) -> tuple[list[str], Array]:
    """Methods that have the figure, and their ranks on every set: (sets, methods)."""
    means = {m: scores.means(m, figure) for m in scores.methods if m not in without}
    having = [m for m, values in means.items() if not np.isnan(values).all()]
    if not having:
        return [], np.empty((0, 0))
    M = np.round(np.column_stack([means[m] for m in having]), 9)
    if figure == "brier":
        M = M[~np.isnan(M).any(axis=1)]
    M = np.where(np.isnan(M), np.inf, -M if LARGER_IS_BETTER[figure] else M)
    return having, np.array([rankdata(row) for row in M]).reshape(-1, len(having))


def rank_rows(scores: Scores) -> list[Facts]:
    rows = []
    for figure, called in CALLED.items():
        for without in ((), ("ridge Cox",)):
            having, R = ranks(scores, figure, without)
            if len(R):
                row: Facts = {"by": called, "sets": len(R)}
                rows.append(row | dict(zip(having, map(float, R.mean(axis=0)), strict=True)))
    return rows


def second_rows(scores: Scores) -> list[Facts]:
    rows = []
    for method in scores.methods:
        s = scores.means(method, "seconds")
        s = s[~np.isnan(s)]
        if s.size:
            row: Facts = {"method": method, "median set": f"{np.median(s):.1f}"}
            rows.append(row | {"slowest set": f"{s.max():.1f}", "all sets, one split": f"{s.sum():.0f}"})
    return rows


def run_rows(scores: Scores) -> list[Facts]:
    rows = []
    for method in scores.methods:
        known = [facts for (_, _, tried), facts in scores.runs.known.items() if tried == method]
        failed = sorted({f["set"] for f in known if "failed" in f})
        code = ", ".join(scores.runs.commits(method)) if method == "ours" else _version("scikit-survival")
        row: Facts = {"method": method, "runs": len(known), "code": code}
        rows.append(row | {"failed on": ", ".join(failed) or "none"})
    return rows


def _version(package: str) -> str:
    return f"{package} {version(package)}"


def tables(report: Report, runs: Runs) -> None:
    """What there is of runs, on the splits that all methods have."""
    scores = Scores(runs)
    if "ours" in scores.methods:
        report.table("Beside each method, set by set", sum_rows(scores), IN_SUM)
    report.table("Mean ranks over sets", rank_rows(scores), RANKS)
    if "ours" in scores.methods and "Coxnet" in scores.methods:
        report.table("Beside Coxnet, split by split", paired_rows(scores, "Coxnet"), PAIRED)
    report.table("Uno's C", mean_rows(scores), MEANS)
    report.table("Seconds", second_rows(scores), SECONDS)
    report.table("What was run", run_rows(scores))
