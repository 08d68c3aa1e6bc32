"""The three figures of README.md: accuracy, speed and correctness, from the records."""

from __future__ import annotations

from .figures import expect, num, power, span
from .sections import Section
from .selection import in_sum
from .speed import beside_the_list, from_cvxpy

section = Section("Why believe it", heads=("what was measured", "figure"))


@section.row("accuracy of `MKLClassifierCV` and `MKLRegressorCV` on [51 tables](docs/experiments.md)")
def accuracy() -> tuple[str, ...]:
    row = in_sum("all")
    expect(row["count"] == 51, "51 tables")
    expect(row["ours / grid"] <= 1.05, "in the same time")
    return (
        f"""no worse than a grid-searched SVC or kernel ridge on {num(row["no worse"])}, better on
        {num(row["better"])}, in the same time""",
    )


@section.row("time to weigh [all 176,851 products](docs/speed.md) of 100 features, with the certificate")
def speed() -> tuple[str, ...]:
    ours, _ = beside_the_list()
    faster = ours.column("× faster than alternating over the list")
    return (
        f"""{span(ours.column("seconds"), 2)} s, {span(faster, 0)} × faster than alternating updates over the
        list of them""",
    )


@section.row("objective beside [the solver cvxpy](docs/benchmarks.md), for every loss and norm")
def correctness() -> tuple[str, ...]:
    return (f"equal to {power(from_cvxpy())}",)
