"""50 given Gaussian kernels on 2,000 points: the cost of learning in fits of one SVM, uniform kernel."""

from __future__ import annotations

from typing import Any

from .bench_finite_small import ours
from .harness import Report, compare, ratio_rows
from .problems import classification, gaussians, stack_of, told
from .rivals import libsvm


def run(report: Report) -> None:
    """norm = 1, 4/3 and 2 to a gap of 1e-3."""
    X, y = classification(report.pick(2000, 500))
    stack = stack_of(gaussians(50), X)
    uniform = stack.mean(axis=0)
    rival = "libsvm, uniform kernel"
    contenders: dict[str, Any] = {rival: lambda: libsvm(uniform, y, 1.0)}
    for norm, name in ((1, "1"), (4 / 3, "4/3"), (2, "2")):
        contenders |= {f"norm={name}: {part}": call for part, call in ours(stack, y, norm).items()}
    timings = compare(contenders, repeats=report.pick(9, 3))
    pass_ = stack.nbytes / 1e9 / report.limits.read_gb_s

    def facts(name: str, result: Any) -> dict[str, Any]:
        reads = timings[name].median / pass_
        return {"stack reads": reads, **({} if name == rival else told(result))}

    goal = "at most 10 libsvm fits for norm = 1 and norm = 2"
    report.table("gap 1e-3", ratio_rows(timings, rival, facts, cost="libsvm fits"), goal)
