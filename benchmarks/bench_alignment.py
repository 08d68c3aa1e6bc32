"""Two-stage learning: alignf against MKLpy's CKA, products of kernels against GEMM, 20,000 points."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numba
import numpy as np

from manykernels import AlignMKLClassifier, KernelAligner, MKLRegressor
from manykernels.families import Products, rank_one
from manykernels.grams import StackGram
from manykernels.objectives import Alignment
from manykernels.weightings import Alignf, GreedyAlignment

from .bench_memory import ROOT
from .harness import Facts, Report, compare, pinned, ratio_rows
from .limits import memory
from .problems import Array, breast_cancer, classification, gaussians, stack_of, word_counts
from .rivals import mklpy_cka

CKA = "MKLpy CKA.fit"


def run(report: Report) -> None:
    """The four tables; the last two fit in processes of their own, to see what memory they take."""
    _against_cka(report)
    _against_gemm(report)
    _over_products(report)
    n, limit = report.pick((20_000, "2GB"), (1500, "300MB"))
    facts = _in_a_process(report, task="gaussians", n=n, M=20, limit=limit)
    report.table(f"20 Gaussian kernels on {n} points, alignf, memory_limit={limit}", [facts], "under 3 GB")
    n, M = report.pick((2000, 4000), (200, 300))
    rows = [_in_a_process(report, task="rank_one", n=n, M=M, weighting=w) for w in ("align", "alignf")]
    report.table(f"{M} rank-one kernels, the columns of sparse counts in {n} documents", rows)


def _over_products(report: Report) -> None:
    """Greedy alignment over all products of columns beside one-stage learning over the same, by step."""
    n, r, degree = report.pick((500, 100, 3), (80, 10, 2))
    rng = np.random.RandomState(0)
    X = rng.randn(n, r)
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] + 0.3 * rng.randn(n)
    family, options = Products(degree=degree), {"max_kernels": 20, "tol": -1.0}
    contenders = {"one-stage, corrective": MKLRegressor(family, solver="corrective")}
    for method in ("stagewise", "distance"):
        weighting = GreedyAlignment(method, **options)
        contenders[f"greedy, {method}"] = KernelAligner(family, weighting=weighting, target="regression")
    timings = compare({name: partial(model.fit, X, y) for name, model in contenders.items()}, repeats=5)
    rows: list[Facts] = []
    for name, timing in timings.items():
        model = timing.result
        steps = getattr(model, "n_iter_", 20)
        row: Facts = {
            "learner": name,
            "seconds": timing,
            "steps": steps,
            "CPU ms a step": 1e3 * float(np.median(timing.cpu)) / steps,
        }
        rows.append(row | {"certified": bool(model.certified_), "kernels": len(model.weights_)})
    for row in rows:
        row["times corrective's"] = row["CPU ms a step"] / rows[0]["CPU ms a step"]
    title = f"All products of {r} columns up to degree {degree} on {n} points, a step"
    report.table(title, rows, "a step of greedy alignment within 3 times one of the corrective solver")


def _against_cka(report: Report) -> None:
    """20 given Gaussian kernels on breast cancer, with C = 1 in the second stage of all."""
    X, y = breast_cancer()
    if report.quick:
        X, y = X[:200], y[:200]
    stack = stack_of(gaussians(20), X)
    given = stack.transpose(1, 2, 0)
    contenders: dict[str, Any] = {
        "AlignMKLClassifier.fit": partial(AlignMKLClassifier("precomputed").fit, given, y),
        "KernelAligner.fit": partial(KernelAligner("precomputed").fit, given, y),
        "solver alone": lambda: Alignf().weigh(Alignment(StackGram(stack), y[:, None])),
    }
    rival = mklpy_cka(stack, y, C=1.0, threads=numba.get_num_threads())
    if rival is not None:
        contenders[CKA] = rival
    timings = compare(contenders, repeats=report.pick(9, 3))
    alignment = Alignment(StackGram(stack), y[:, None])

    def facts(name: str, result: Any) -> Facts:
        weights = result.solution.weights.numpy() if name == CKA else None
        if weights is None:
            weights = result.theta if name == "solver alone" else result.weights_ * _scales(result)
        found = {"alignment": alignment.value(weights), "negative weights": int(np.sum(weights < 0))}
        machine = getattr(result, "learner" if name == CKA else "estimator_", None)
        return found | ({"training accuracy": _accuracy(result, machine, stack, y)} if machine else {})

    base = CKA if rival else "AlignMKLClassifier.fit"
    rows = ratio_rows(timings, base, facts)
    if rival is None:
        rows.append({"contender": CKA, "seconds": "not installed"})
    title = f"alignf of 20 given kernels on {len(y)} points"
    report.table(title, rows, "whole fit 50 × faster than CKA's, solver alone 300 ×")


def _scales(model: Any) -> Array:
    """The weights of a model are of normalised kernels; these factors make them those of the given ones."""
    return np.array([kernel.scale_ for kernel in model.kernels_])


def _accuracy(model: Any, machine: Any, stack: Array, y: Array) -> float:
    if hasattr(model, "weights_"):
        return float(model.score(stack.transpose(1, 2, 0), y))
    K = np.tensordot(model.solution.weights.numpy(), stack, 1)
    return float(machine.score(K, y))


def _against_gemm(report: Report) -> None:
    """All ⟨K_k, K_l⟩ of centred kernels, and the products of the raw stack by BLAS, which centres nothing.

    GEMM is given a copy, since NumPy takes the product of a matrix with itself to SYRK: half the work, which
    the lower triangles of the kernels halve once more for us.
    """
    n, M = report.pick((2000, 50), (400, 20))
    X, _ = classification(n)
    stack = stack_of(gaussians(M), X)
    gram, flat = StackGram(stack), stack.reshape(M, n * n)
    copy = flat.copy()
    gemm = "GEMM, M × n² by n² × M"
    contenders = {"inner": gram.inner, gemm: lambda: flat @ copy.T, "SYRK": lambda: flat @ flat.T}
    timings = compare(contenders, repeats=report.pick(7, 3))
    pass_ = stack.nbytes / 1e9 / report.limits.read_gb_s
    rows = ratio_rows(timings, gemm, cost="GEMMs")
    for row in rows:
        row["stack reads"] = timings[row["contender"]].median / pass_
    report.table(f"products of {M} kernels on {n} points", rows, "within 3 GEMMs")


def _in_a_process(report: Report, **task: Any) -> Facts:
    text = json.dumps({**task, "threads": report.limits.threads})
    command = [sys.executable, "-m", "benchmarks.bench_alignment", text]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process that fits {text} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _child(task: str, threads: int, n: int, M: int, **options: Any) -> Facts:
    """Fit once, small, to load and compile everything; then for real, with the memory it takes above that."""
    fit = {"gaussians": _fit_gaussians, "rank_one": _fit_rank_one}[task]
    with pinned(threads):
        fit(100, 10, **({"limit": 400_000} if "limit" in options else options))
        seconds, model, before = fit(n, M, **options)
    row: Facts = {
        "weighting": model.weighting,
        "kernels": len(model.kernels_),
        "seconds": seconds,
        "alignment": model.alignment_,
    }
    row |= {"active": len(model.active_), "KKT residual": model.kkt_residual_}
    return {
        **row,
        "GB above the start": (memory("VmHWM") - before) / 2**30,
        "GB if stored": 8 * M * n * n / 2**30,
    }


def _fit_gaussians(n: int, M: int, limit: Any) -> tuple[float, KernelAligner, float]:
    X, y = classification(n, d=20)
    return _timed(KernelAligner(gaussians(M), memory_limit=limit), X, y)


def _fit_rank_one(n: int, M: int, weighting: str) -> tuple[float, KernelAligner, float]:
    X, y = word_counts(n, M)
    return _timed(KernelAligner(rank_one(), weighting=weighting), X, y)


def _timed(model: KernelAligner, X: Any, y: Array) -> tuple[float, KernelAligner, float]:
    before, started = memory("VmRSS"), time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - started, model, before


if __name__ == "__main__":
    print(json.dumps(_child(**json.loads(sys.argv[1]))))
