"""Localized learning (Lei et al. 2016): an iteration costs n²Ml, and kernels behind gates are not stored."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from manykernels import LocalizedMKLClassifier
from manykernels.grams import Gram, StackGram
from manykernels.grams.gated import GatedGram
from manykernels.penalties import BallProduct
from manykernels.solvers import ActiveSet, Result, Run

from .bench_memory import ROOT
from .harness import Contender, Facts, Report, compare, pinned
from .limits import memory
from .problems import Array, classification, gaussians, risk_of, stack_of

SIZES = ((500, 8, 4), (1000, 8, 4), (2000, 8, 4))  # n, M, l: one of them changes at a time
KERNELS = ((1000, 4, 4), (1000, 16, 4))
CLUSTERS = ((1000, 8, 1), (1000, 8, 2), (1000, 8, 8))
QUICK = ((100, 3, 2), (200, 3, 2), (200, 6, 2), (200, 3, 4))


def run(report: Report) -> None:
    """Passes, whole fits, kernels behind gates stored for comparison, and memory."""
    plan = report.pick((*SIZES, *KERNELS, *CLUSTERS), QUICK)
    passes = {size: partial(_pass, *_gated(*size)) for size in plan}
    goal = "the same ns per n²Ml everywhere"
    report.table(
        "K of all weights and all quadratic forms: what an iteration does with kernels", _rows(passes), goal
    )
    fits = {size: partial(_fit, *size) for size in plan}
    report.table(
        "Whole fits with kernels, clusters and machines (hinge, norm 2), by iteration",
        _rows(fits, 1, _told),
    )

    n, M, l = report.pick((1000, 8, 4), (100, 3, 2))
    report.table(f"{M} kernels behind {l} gates on {n} points", _both_ways(n, M, l), "the same P")

    n, M, l = report.pick((2000, 16, 8), (200, 3, 4))
    rows = [_in_a_process(n, M, j, report.limits.threads) for j in (1, l)]
    report.table(f"Memory of a fit, {M} kernels on {n} points", rows, "the same for any number of clusters")


def _gates(n: int, l: int) -> Array:
    """Shares of l soft clusters."""
    c = np.random.RandomState(0).rand(n, l) ** 2
    return np.asarray(c / c.sum(axis=1, keepdims=True))


def _gated(n: int, M: int, l: int) -> tuple[Gram, Array, Array]:
    """The family, weights of all its kernels, and dual variables."""
    X, y = classification(n)
    gram = GatedGram(StackGram(stack_of(gaussians(M), X)), _gates(n, l))
    return gram, np.full(M * l, 1.0 / M), y[:, None] * np.random.RandomState(1).rand(n, 1)


def _pass(gram: Gram, weights: Array, alpha: Array) -> Array:
    """Lei et al. 2016, Algorithm 1, but for the machine: Eq. 6, then the norms of Eq. 8."""
    gram.combine(weights)
    return gram.quad(alpha)


def _fit(n: int, M: int, l: int) -> LocalizedMKLClassifier:
    X, y = classification(n)
    return LocalizedMKLClassifier(gaussians(M), n_clusters=l, random_state=0).fit(X, y)


def _told(model: LocalizedMKLClassifier) -> Facts:
    return {"iterations": model.n_iter_, "gap": model.dual_gap_}


def _rows(
    calls: dict[tuple[int, int, int], Callable[[], Any]],
    repeats: int = 7,
    told: Callable[[Any], Facts] | None = None,
) -> list[Facts]:
    """Seconds, and nanoseconds of one processor by n²Ml; of one iteration where there are several."""
    first = min(calls)
    contenders = {
        str(s): Contender(c, warm=None if s == first or repeats > 1 else int) for s, c in calls.items()
    }
    timings, rows = compare(contenders, repeats), []
    for (n, M, l), timing in zip(calls, timings.values(), strict=True):
        facts = told(timing.result) if told else {}
        each = float(np.median(timing.cpu)) / max(facts.get("iterations", 1), 1)
        row: Facts = {"n": n, "M": M, "l": l, "seconds": timing, **facts}
        rows.append(row | {"CPU ms each": 1e3 * each, "ns by n²Ml": 1e9 * each / (n * n * M * l)})
    return rows


def _both_ways(n: int, M: int, l: int) -> list[Facts]:
    """The same problem with gates, and with every kernel behind its gate stored."""
    X, y = classification(n)
    stack, gates, risk = stack_of(gaussians(M), X), _gates(n, l), risk_of(y, 1.0)
    stored = np.concatenate([stack * np.outer(c, c) for c in gates.T])
    grams: dict[str, Gram] = {"gated": GatedGram(StackGram(stack), gates), "stored": StackGram(stored)}

    def learn(gram: Gram) -> Result:
        run = Run(tol=1e-3, max_iter=1000, rng=np.random.RandomState(0))
        return ActiveSet().run(gram, risk, BallProduct(2.0, l), run)

    timings = compare({name: partial(learn, gram) for name, gram in grams.items()})
    megabytes = {"gated": stack.nbytes / 2**20, "stored": stored.nbytes / 2**20}
    return [
        {"kernels": name, "seconds": timing, "MB of kernels": megabytes[name], "P": timing.result.primal}
        | {"gap": timing.result.gap, "iterations": timing.result.n_iter}
        for name, timing in timings.items()
    ]


def _in_a_process(n: int, M: int, l: int, threads: int) -> Facts:
    command = [sys.executable, "-m", "benchmarks.bench_localized", json.dumps([n, M, l, threads])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {n}, {M}, {l} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(n: int, M: int, l: int, threads: int) -> Facts:
    """A small fit first, to load and compile everything; then the memory that another takes above that."""
    with pinned(threads):
        _fit(100, 3, 2)
        before = memory("VmRSS")
        model = _fit(n, M, l)
    facts: Facts = {"clusters": l, "gap": model.dual_gap_, "iterations": model.n_iter_}
    facts["MB above the start"] = (memory("VmHWM") - before) / 2**20
    facts |= {
        "MB of the M kernels": 8 * M * n * n / 2**20,
        "MB if gated ones were stored": 8 * M * l * n * n / 2**20,
    }
    return facts


if __name__ == "__main__":
    print(json.dumps(_child(*json.loads(sys.argv[1]))))
