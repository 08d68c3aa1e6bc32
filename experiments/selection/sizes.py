"""`python -m experiments.selection.sizes`: the default beside boosting, from 500 to a million rows.

Every run (set, rows, seed, method) is a process of its own on one thread. Its errors, processor seconds and
peak memory are added to results/selection_sizes.csv as it ends, and what is there is not run again, so that
any number of hours can be stopped and gone on with, on other machines too. `--record` writes the page.

    export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
    python -m experiments.selection.sizes --rows 2000 --seeds 0 2 --methods ours catboost --sets abalone
    python -m experiments.selection.sizes --record

The rivals run with their defaults. CatBoost and LightGBM are in the extra `rivals-tables`, xRFM in
`rivals-xrfm`, since it needs torch. What is missing leaves a gap.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from ..data import Array, Task, _read
from ..records import commit
from ..tables import Facts

TABLE = Path(__file__).parent.parent / "results" / "selection_sizes.csv"
NAMES = "set,rows,seed,method,d,test,error,log loss,seconds,predict seconds,memory MB,failed,commit".split(
    ","
)
ROWS = (500, 2000, 10_000, 100_000)
TEST, LEAST_TEST, LEAST = 5000, 200, 10  # rows to test on, at most and at least; members of a class
MADE: dict[str, Task] = {"made friedman": "regression", "made rings": "classification"}
MANY: dict[str, Task] = {"mnist": "classification"}  # run from 10,000 rows on, as made problems are
ERRORS = {"error": "", "log loss": ", log loss"}  # columns of the page
COSTS = {"seconds": ", s", "memory MB": ", MB"}
COSTS_NOTE = "Seconds of one processor for a fit, and the peak memory of its process, with data and packages:"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
Key = tuple[str, int, int, str]


# -- data -------------------------------------------------------------------------------------------
def made(name: str, n: int, seed: int) -> tuple[Array, Array]:
    """Friedman's first function in 30 columns with noise of deviation 1, or four classes by two radii."""
    rng = np.random.RandomState(seed)
    X = rng.rand(n, 30)
    if name == "made friedman":
        f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
        return X, f + rng.randn(n)
    radii = [np.hypot(X[:, a] - 0.5, X[:, b] - 0.5) + 0.03 * rng.randn(n) for a, b in ((0, 1), (2, 3))]
    return X, np.asarray(2 * (radii[0] > 0.38) + (radii[1] > 0.38), dtype=float)


def drawn(name: str, rows: int, seed: int) -> tuple[Array, Array, Array, Array, Task]:
    """So many rows to learn from and others to test on; ValueError where a set has too few.

    Of sets too small for the smallest number of rows, 60 % are learned from, as in `selection_tables`.
    """
    from ..selection_tables import TASKS

    if name in MADE:
        X, y = made(name, rows + TEST, seed)
        return X[:rows], y[:rows], X[rows:], y[rows:], MADE[name]
    task = (TASKS | MANY)[name]
    X, y = _read(name, "X", "y")
    X = X.astype(float)
    kept = ~np.isnan(X).any(axis=1)
    if task == "classification":
        labels, counts = np.unique(y[kept], return_counts=True)
        kept &= np.isin(y, labels[counts >= LEAST])
    X, y = X[kept], y[kept]
    if task == "classification":
        y = np.unique(y, return_inverse=True)[1]  # xRFM takes no other labels
    if rows == ROWS[0] and len(y) < rows + LEAST_TEST:
        rows = int(0.6 * len(y))
    test = min(TEST, len(y) - rows)
    if rows > ROWS[0] and test < LEAST_TEST:
        raise ValueError(f"{name} has {len(y)} rows, too few for {rows} and a test")
    classes = y if task == "classification" else None
    one, two = train_test_split(
        np.arange(len(y)), train_size=rows, test_size=test, random_state=seed, stratify=classes
    )
    return X[one], y[one], X[two], y[two], task


# -- methods ----------------------------------------------------------------------------------------
def ours(task: Task) -> Any:
    from manykernels import MKLClassifierCV, MKLRegressorCV

    return (MKLClassifierCV if task == "classification" else MKLRegressorCV)()


def catboost(task: Task) -> Any:
    import catboost as package

    kind = package.CatBoostClassifier if task == "classification" else package.CatBoostRegressor
    return kind(verbose=0, thread_count=1, random_seed=0, allow_writing_files=False)


def lightgbm(task: Task) -> Any:
    import lightgbm as package

    kind = package.LGBMClassifier if task == "classification" else package.LGBMRegressor
    return kind(n_jobs=1, verbose=-1, random_state=0)


def histogram(task: Task) -> Any:
    from sklearn import ensemble

    kind: Any = ensemble.HistGradientBoostingClassifier
    kind = kind if task == "classification" else ensemble.HistGradientBoostingRegressor
    return kind(random_state=0)


def forest(task: Task) -> Any:
    from sklearn import ensemble

    kind: Any = ensemble.RandomForestClassifier if task == "classification" else None
    return (kind or ensemble.RandomForestRegressor)(random_state=0)


def xrfm(task: Task) -> Any:
    from xrfm import xRFM

    return xRFM(device="cpu", tuning_metric="mse" if task == "regression" else "brier")


METHODS: dict[str, Callable[[Task], Any]] = {
    "ours": ours,
    "catboost": catboost,
    "lightgbm": lightgbm,
    "histogram": histogram,
    "forest": forest,
    "xrfm": xrfm,
}


def _fit(model: Any, method: str, X: Array, y: Array) -> None:
    if method != "xrfm":
        model.fit(X, y)
        return
    held = np.random.RandomState(0).rand(len(y)) < 0.2  # it chooses on samples of its own
    model.fit(X[~held], y[~held], X[held], y[held])


def one_run(name: str, rows: int, seed: int, method: str) -> Facts:
    """Errors, processor seconds of fit and predict, and the peak memory of this process."""
    X, y, Z, t, task = drawn(name, rows, seed)
    facts: Facts = {"d": X.shape[1], "test": len(t)}
    warnings.simplefilter("ignore")
    try:
        model = METHODS[method](task)
        clock = [time.process_time()]
        _fit(model, method, X, y)
        clock.append(time.process_time())
        predicted = np.ravel(model.predict(Z))
        clock.append(time.process_time())
        if task == "classification":
            facts["error"] = 100.0 * float(np.mean(predicted != t))
            facts["log loss"] = float(log_loss(t, model.predict_proba(Z), labels=np.unique(y)))
        else:
            facts["error"] = 100.0 * float(np.mean((predicted - t) ** 2) / np.var(t))
        facts |= {"seconds": clock[1] - clock[0], "predict seconds": clock[2] - clock[1]}
    except (ImportError, ValueError, MemoryError, RuntimeError, ArithmeticError) as reason:
        facts["failed"] = f"{type(reason).__name__}: {reason}"[:200]
    facts["memory MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return facts


def _child(pipe: Any, *key: Any) -> None:
    pipe.send(one_run(*key))


def apart(name: str, rows: int, seed: int, method: str) -> Facts:
    """One run in a process of its own, which has this one's packages and compiled code."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_child, args=(there, name, rows, seed, method))
    process.start()
    there.close()
    try:
        facts: Facts = here.recv()
    except EOFError:
        facts = {"failed": "the process ended without a word, as one does that memory ran out for"}
    process.join()
    return facts


# -- what is known ----------------------------------------------------------------------------------
def known(table: Path = TABLE) -> dict[Key, Facts]:
    """The runs in the table, the last one of each."""
    found: dict[Key, Facts] = {}
    if table.is_file():
        with table.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                facts = {name: _value(name, text) for name, text in row.items() if text}
                found[facts["set"], facts["rows"], facts["seed"], facts["method"]] = facts
    return found


def _value(name: str, text: str) -> Any:
    return text if name in ("set", "method", "failed", "commit") else json.loads(text)


def add(key: Key, facts: Facts, table: Path = TABLE) -> None:
    """One more line."""
    fresh = not table.is_file()
    with table.open("a", encoding="utf-8", newline="") as stream:
        lines = csv.DictWriter(stream, NAMES, extrasaction="ignore", lineterminator="\n")
        if fresh:
            lines.writeheader()
        rounded = {n: round(v, 5) if isinstance(v, float) else v for n, v in facts.items()}
        lines.writerow(dict(zip(NAMES[:4], key, strict=True)) | rounded | {"commit": commit()})


def collect(keys: Iterable[Key], run: Callable[..., Facts] = apart, table: Path = TABLE) -> None:
    """Run what is not known yet."""
    there = known(table)
    for key in keys:
        if key in there:
            continue
        try:
            add(key, run(*key), table)
        except FileNotFoundError as reason:
            print(f"{key[0]}: {reason}", flush=True)


# -- the page ---------------------------------------------------------------------------------------
def page(runs: dict[Key, Facts]) -> str:
    """What there is: errors and costs by set, sums by number of rows, and every loss by name."""
    about = __doc__.split("\n\n")[1].replace("\n", " ")
    lines = ["# The default beside boosting, by the number of rows", "", about]
    lines += ["", "The same sets beside a grid search, at 500 rows: [selection_tables](selection_tables.md)."]
    for rows in sorted({key[1] for key in runs}):
        own = {key: facts for key, facts in runs.items() if key[1] == rows and "failed" not in facts}
        methods = [m for m in METHODS if any(key[3] == m for key in own)]
        lines += ["", f"## {rows} rows", "", *_by_set(own, methods, ERRORS), "", *_ranks(own, methods)]
        lines += [*_sums(own, methods), "", COSTS_NOTE, "", *_by_set(own, methods, COSTS)]
    bad = [facts for facts in runs.values() if "failed" in facts]
    failed = [f"- {f['set']}, {f['rows']} rows, seed {f['seed']}, {f['method']}: {f['failed']}" for f in bad]
    return "\n".join([*lines, *(["", "## Failed", "", *failed] if failed else [])]) + "\n"


def _mean(runs: dict[Key, Facts], name: str, method: str, column: str) -> float:
    found = [f[column] for k, f in runs.items() if (k[0], k[3]) == (name, method) and column in f]
    return float(np.mean(found)) if found else np.nan


def _by_set(runs: dict[Key, Facts], methods: list[str], columns: dict[str, str]) -> list[str]:
    """A line for each set: the mean over seeds of some columns, each with its unit."""
    head = ["set", "seeds"] + [f"{m}{unit}" for unit in columns.values() for m in methods]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name in sorted({key[0] for key in runs}):
        counts = sorted({len(_seeds(runs, name, m)) for m in methods} - {0})
        seeds = " to ".join(dict.fromkeys(str(n) for n in (counts[0], counts[-1])))
        cells = [(column, _mean(runs, name, m, column)) for column in columns for m in methods]
        words = ["–" if np.isnan(v) else f"{v:.0f}" if c == "memory MB" else f"{v:.3g}" for c, v in cells]
        lines.append("| " + " | ".join([name, seeds, *words]) + " |")
    return lines


def _seeds(runs: dict[Key, Facts], name: str, method: str) -> list[int]:
    return [key[2] for key in runs if (key[0], key[3]) == (name, method)]


def ranks(runs: dict[Key, Facts], methods: list[str]) -> dict[str, float]:
    """The mean rank by error of the methods on the sets that all of them have, the best first."""
    errors = _common(runs, methods)
    if not len(errors):
        return dict.fromkeys(methods, np.nan)
    found = dict(zip(methods, rankdata(errors, axis=1).mean(axis=0).tolist(), strict=True))
    return dict(sorted(found.items(), key=lambda item: item[1]))


def _common(runs: dict[Key, Facts], methods: list[str]) -> Array:
    """(sets, methods): mean errors over the seeds that all of these methods have, of sets with such seeds."""
    lines = []
    for name in sorted({key[0] for key in runs}):
        seeds = set.intersection(*(set(_seeds(runs, name, method)) for method in methods))
        own = {key: facts for key, facts in runs.items() if key[0] == name and key[2] in seeds}
        if own:
            lines.append([_mean(own, name, method, "error") for method in methods])
    return np.array(lines).reshape(-1, len(methods))


def _ranks(runs: dict[Key, Facts], methods: list[str]) -> list[str]:
    common = len(_common(runs, methods))
    if len(methods) < 2 or not common:
        return []
    words = ", ".join(f"{method} {rank:.2f}" for method, rank in ranks(runs, methods).items())
    return [f"- Mean rank by error on the {common} sets that all methods have: {words}."]


def differences(runs: dict[Key, Facts], rival: str) -> dict[str, Array]:
    """Errors of ours less those of a rival, seed by seed, of the sets that both have."""
    keys = sorted(k for k in runs if k[3] == "ours" and (*k[:3], rival) in runs)
    found: dict[str, list[float]] = {}
    for key in keys:
        less = float(runs[key]["error"]) - float(runs[*key[:3], rival]["error"])
        found.setdefault(key[0], []).append(less)
    return {name: np.array(less) for name, less in found.items()}


def beyond(less: Array) -> float:
    """The mean over its standard error; 0 for a single seed, which has none."""
    spread = less.std(ddof=1) / np.sqrt(less.size) if less.size > 1 else np.inf
    mean = float(less.mean())
    return mean / spread if spread > 0.0 else float(np.sign(mean)) * np.inf if mean else 0.0


def costs(runs: dict[Key, Facts], rival: str, column: str) -> Array:
    """(2, runs): what ours and a rival took, where both were run; in turns, of one commit, if some were."""
    keys = [k for k in runs if k[3] == "ours" and (*k[:3], rival) in runs]
    turns = [k for k in keys if runs[k].get("commit") == runs[*k[:3], rival].get("commit")]
    keys = turns or keys
    return np.array([[float(runs[k][column]), float(runs[*k[:3], rival][column])] for k in keys]).T


def _sums(runs: dict[Key, Facts], methods: list[str]) -> list[str]:
    """Each rival beside ours, over the sets and seeds that both have."""
    lines = []
    for rival in [m for m in methods if m != "ours"]:
        less = differences(runs, rival)
        if not less:
            continue
        behind = [name for name, one in less.items() if beyond(one) > 2.0]
        paired = {name: one for name, one in less.items() if one.size > 1}
        ahead = sum(beyond(one) < -2.0 for one in paired.values())
        errors = f"no more error on {sum(one.mean() <= 0.0 for one in less.values())} of {len(less)} sets"
        if paired:
            errors += (
                f"; of {len(paired)} with several seeds no worse by two paired standard errors on "
                f"{len(paired) - len(behind)}, better by as many on {ahead}"
            )
        lost = [
            f"{name} ({_mean(runs, name, 'ours', 'error'):.3g} against "
            f"{_mean(runs, name, rival, 'error'):.3g}{', clearly' if name in behind else ''})"
            for name, one in less.items()
            if one.mean() > 0.0
        ]
        seconds = costs(runs, rival, "seconds").sum(axis=1)
        memory = costs(runs, rival, "memory MB").max(axis=1)
        lines.append(
            f"- Beside {rival}: {errors}; {seconds[0]:.0f} against {seconds[1]:.0f} s of a processor; at "
            f"most {memory[0]:.0f} against {memory[1]:.0f} MB. Lost: {', '.join(lost) or 'none'}."
        )
    return lines


def main() -> None:
    from ..selection_tables import TASKS, warm_up

    parser = argparse.ArgumentParser("python -m experiments.selection.sizes", description=__doc__)
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 10), metavar=("FROM", "BEFORE"))
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--sets", nargs="+", default=[*TASKS, *MANY, *MADE])
    parser.add_argument("--record", action="store_true", help="run nothing, write the page")
    options = parser.parse_args()
    if options.record:
        TABLE.with_suffix(".md").write_text(page(known()), encoding="utf-8")
        return
    if any(os.environ.get(name) != "1" for name in THREADS):
        parser.error(f"set {' '.join(f'{name}=1' for name in THREADS)} first: processes are forked")
    warm_up()
    seeds = range(*options.seeds)
    keys = [(n, r, s, m) for r in options.rows for s in seeds for n in options.sets for m in options.methods]
    collect(key for key in keys if _has_rows(key[0], key[1]))


def _has_rows(name: str, rows: int) -> bool:
    """Whether a set has so many rows, and is run with so many; made problems have any number."""
    if name in MADE | MANY and rows < 10_000:
        return False
    try:
        drawn(name, rows, 0)
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    main()
