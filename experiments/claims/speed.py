"""docs/speed.md: how fast things are, from the records of benchmarks and experiments."""

from __future__ import annotations

import json

from ..tables import Facts
from .figures import BENCHMARKS, Table, benchmark, expect, listed, mean, num, power, span, table
from .sections import Section
from .selection import bench, in_sum
from .ufo import streaming

section = Section("Figures", heads=("what", "figure"))
FIT = "MKLClassifier.fit"


@section.text
def about() -> str:
    facts = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(BENCHMARKS.glob("*.json"))]
    speeds = [one["limits"]["read_gb_s"] for one in facts if one["limits"]["threads"] == 2]
    expect({one["machine"]["processors"] for one in facts} == {2}, "two cores")
    return f"""Figures are medians. `make bench` measures them; `benchmarks/results/` keeps them, each with
    its date and its machine. The machine had two cores, which others may have shared, and read up to
    {num(max(speeds), 0)} GB/s from memory with both."""


def _small(norm: int) -> dict[str, Facts]:
    return benchmark("finite_small", f"norm={norm}").by("contender")


@section.row("200 given Gaussian kernels, 569 samples, hinge, norm = 1, certified gap ≤ 10⁻³")
def sparse() -> tuple[str, ...]:
    rows = _small(1)
    ours, wrapper = rows[FIT], rows["wrapper, 200 rounds"]
    expect(mean(ours["gap"]) <= 1e-3, "gap ≤ 10⁻³")
    return (
        f"""{num(ours["seconds"], 2)} s with all checks, {num(ours["× faster than wrapper, 200 rounds"])} ×
        faster than 200 rounds of libsvm and Kloft's update, which end at a gap of
        {_spaced(wrapper["gap"])}""",
    )


def _spaced(cell: object) -> str:
    return power(cell).replace("·", " · ")


@section.row("the same with norm = 2")
def dense() -> tuple[str, ...]:
    rows = _small(2)
    wrapper = rows["wrapper to gap 0.001"]
    expect(mean(wrapper["gap"]) <= 1e-3 and mean(rows[FIT]["gap"]) <= 1e-3, "the same gap")
    return (
        f"""{num(rows[FIT]["seconds"], 2)} s; the libsvm wrapper reaches the same gap in
        {num(wrapper["seconds"], 2)} s""",
    )


@section.row("50 given kernels, 2,000 samples, gap ≤ 10⁻³")
def medium() -> tuple[str, ...]:
    rows = benchmark("finite_medium", "gap 1e-3")
    solver, whole = (
        [row["libsvm fits"] for row in rows if row["contender"].endswith(end)] for end in ("alone", FIT)
    )
    expect(len(solver) == len(whole) == 3, "three norms")
    return (
        f"{span(solver, 0)} single libsvm fits for the solver, {span(whole, 0)} with all checks of the input",
    )


@section.row("793 kernels of every feature (Sonar), C from 0.1 to 100, norms 1, 4/3 and 2")
def per_feature() -> tuple[str, ...]:
    coarse, fine = (benchmark("per_feature", f"to gap {gap}") for gap in ("0.001", "1e-05"))
    expect(all(row["reached"] for row in [*coarse, *fine]), "at every C")
    return (
        f"""gap 10⁻³ in {span(coarse.column("seconds"))} s, 10⁻⁵ in {span(fine.column("seconds"))} s, at
        every C""",
    )


@section.row("1,000 Gaussian kernels, 2,000 samples (30 GB if stored) in 2 GB")
def memory() -> tuple[str, ...]:
    rows = benchmark("memory", "1000 kernels on 2000 points")
    one, two = (rows.row(norm=norm) for norm in (1, 2))
    expect(num(one["GB if stored"]) == "30" and one["GB above the start"] < 2, "30 GB if stored, in 2 GB")
    expect(one["certified"] and two["certified"], "certified")
    return (f"{num(one['seconds'])} s for norm 1, {num(two['seconds'])} s for norm 2, certified",)


@section.row("a pass over a stored stack")
def passes() -> tuple[str, ...]:
    rows = benchmark("bandwidth", "125 kernels").by("pass")
    combine, forms = (num(rows[name]["% of read, medians"]) for name in ("combine", "quadratic forms"))
    return (f"{combine} % (combination) and {forms} % (quadratic forms) of the read bandwidth",)


@section.row("10,000 rank-one kernels, 500 samples")
def rank_one() -> tuple[str, ...]:
    one, two = (
        num(benchmark("many", f"500 points, norm={norm}").row(kernels=10000)["seconds"]) for norm in (1, 2)
    )
    return (f"{one} s for norm 1 as for norm 2" if one == two else f"{one} s for norm 1, {two} s for norm 2",)


@section.row("alignf, 20 given kernels, 569 samples, with the SVC")
def alignf() -> tuple[str, ...]:
    row = benchmark("alignment", "alignf of 20 given").row(contender="AlignMKLClassifier.fit")
    return (
        f"{num(row['seconds'], 3)} s, {num(row['× faster than MKLpy CKA.fit'])} × faster than MKLpy's CKA",
    )


@section.row("all Frobenius products of 50 kernels, 2,000 samples")
def frobenius() -> tuple[str, ...]:
    row = benchmark("alignment", "products of 50 kernels").row(contender="inner")
    return (f"{num(row['GEMMs'], 2)} of the time of one matrix product of that size",)


@section.row("alignf, 20 Gaussian kernels, 20,000 samples")
def alignf_large() -> tuple[str, ...]:
    row = benchmark("alignment", "on 20000 points").row(weighting="alignf")
    return (f"{num(row['seconds'])} s and {num(row['GB above the start'], 2)} GB above the start",)


def beside_the_list() -> tuple[Table, Table]:
    """All products of 100 features at three costs: ours, and alternating updates over the list of them."""
    tables = [
        benchmark("products", f"1/C = {cost}, 60 rounds").by("contender") for cost in ("1", "0.1", "0.01")
    ]
    ours = Table(rows["MKLRegressor(Products)"] for rows in tables)
    expect(all(row["certified"] and row["gap"] <= 1e-3 for row in ours), "certified")
    return ours, Table(rows["alternating over the list"] for rows in tables)


def from_cvxpy() -> float:
    """The largest relative difference of an objective from that of cvxpy."""
    return float(max(benchmark("reference", "5 kernels on 60 points").column("relative difference")))


@section.row(
    """all 176,851 products of 100 features up to degree 3, 500 samples, squared loss, norm 1, certified"""
)
def products() -> tuple[str, ...]:
    ours, theirs = beside_the_list()
    faster = ours.column("× faster than alternating over the list")
    above = [100 * one for one in theirs.column("P above the optimum")]
    return (
        f"""{span(ours.column("seconds"), 2)} s, {span(faster, 0)} × faster than 60 rounds of alternating
        updates over the list of them, which end at a gap of {span(theirs.column("gap"))}, with the
        objective {span(above)} % above the optimum""",
    )


@section.row("the best of all Gaussian widths, certified to 10⁻⁷")
def widths() -> tuple[str, ...]:
    rows = benchmark("widths", "Gaussian widths")
    found = [rows.row(contender="S = aaᵀ", n=n, d=5) for n in (500, 1000, 2000)]
    expect(max(row["certificate"] for row in found) <= 1e-7, "certified to 10⁻⁷")
    before = rows.where(contender="preparation").column("evaluations")
    first, second, third = (num(1000 * mean(row["seconds"]), 1) for row in found)
    return (
        f"""{first} ms at 500 samples, {second} at 1,000, {third} at 2,000:
        {listed([num(row["evaluations"], 1) for row in found])} evaluations of the function that is
        searched, after a preparation that costs {span(before, 0)} and serves every later search""",
    )


@section.row(
    """a width searched (GCD-2s), or learned in one stage (corrective, certified), 500 digits of 784 pixels"""
)
def digits() -> tuple[str, ...]:
    rows = table("continuous_digits", "Seconds").by("method")
    found = [rows[name] for name in ("GCD-2s", "IKL")]
    return (
        f"""{listed([num(row["seconds"], 2) for row in found])} s,
        {listed([num(row["to uniform"], 1) for row in found])} times the uniform sum of 20 kernels""",
    )


@section.row("UFO-MKL on Sonar, 793 given kernels, 20 passes, hinge")
def ufo() -> tuple[str, ...]:
    rows = benchmark("ufo", "793 kernels")
    given = [row for row in rows if row["contender"].endswith("matrices given")]
    wrapper = rows.row(contender="wrapper, 200 rounds")
    return (
        f"""{span([row["seconds"] for row in given], 2)} s,
        {span([row["× faster than wrapper, 200 rounds"] for row in given], 0)} × faster than 200 rounds of
        the libsvm wrapper, but at a gap of {span([row["gap"] for row in given], 2)} where the wrapper ends
        at {num(wrapper["gap"], 2)}""",
    )


@section.row("a million rows streamed, 20 kernels × 256 random features")
def stream() -> tuple[str, ...]:
    found = streaming()
    expect(all(40 <= one <= 70 for one in found["seconds"]), "about a minute")
    (ring, wave), (ring_exact, wave_exact) = found["stream"], found["exact"]
    return (
        f"""about a minute of one processor and {found["MB"]} MB, as accurate as an exact fit on 5,000 rows
        (ringnorm {ring} against {ring_exact} % wrong, waveform {wave} against {wave_exact}:
        {found["apart"]} standard errors; one run each)""",
    )


@section.row("a million rows in memory, 20 kernels × 100 landmarks, squared loss, certified")
def scale() -> tuple[str, ...]:
    row = benchmark("scale", "20 kernels × 100 landmarks").row(rows=1000000)
    expect(max(row["gap"], row["largest gap of the search"]) <= 1e-3, "certified")
    return (
        f"""one fit {num(row["fit / SYRK"], 1)} × the time of the one matrix product inside
        ({num(row["SYRK s"])} s there), ten costs × three norms × five folds {num(row["search / SYRK"], 1)}
        ×, {num(row["peak GB, all"], 1)} GB""",
    )


@section.row(
    "the default search on 500 samples of 51 tables, ten splits each ([table](../experiments/README.md))"
)
def selection() -> tuple[str, ...]:
    row = in_sum("all")
    expect(row["count"] == 51, "51 tables")

    def pair(name: str) -> str:
        ours, grid, error = bench(name)
        expect(ours[error] > grid[error], "the grid search has smaller errors there")
        return f"{num(grid[error], 1)} against {num(ours[error], 1)} %"

    return (
        f"""no worse than a grid-searched SVC or kernel ridge by two paired standard errors on
        {num(row["no worse"])}, better on {num(row["better"])}, in as much time
        ({num(row["ours / grid"], 2)} ×, one thread); first by mean rank before MKLpy's EasyMKL and
        AverageMKL, himalaya, and a Gaussian process with a width per feature. Not on every set: in
        `bench_selection` (five splits) the grid search has smaller errors on breast cancer
        ({pair("breast cancer")}) and wine ({pair("wine")})""",
    )


@section.row(
    """linear kernels on groups of columns at norm 1 (a group lasso), a path at gaps of 10⁻⁴: 500 × 5,000 in
    100 groups, and 10,000 × 5,000 in 50 groups that overlap"""
)
def groups() -> tuple[str, ...]:
    paths = [benchmark("groups", title).by("contender") for title in ("500 × 5,000 in", "10,000 × 5,000 in")]
    worst = [row["worst gap"] for rows in paths for row in rows.values()]
    expect(max(worst) <= 1e-4, "gaps of 10⁻⁴")
    times = {name: [rows[name]["× the time of ours"] for rows in paths] for name in ("skglm", "celer")}
    seconds = [num(rows["ours"]["CPU s"], digits) for rows, digits in zip(paths, (2, 1), strict=True)]
    return (
        f"""{listed(seconds)} s of one processor; skglm {listed([num(one, 1) for one in times["skglm"]])}
        times, celer {listed([num(one, 1) for one in times["celer"]])} times as long""",
    )


@section.row("weights and what is not penalised, 20 covariates beside 20 kernels, 500 and 1,000 samples")
def covariates() -> tuple[str, ...]:
    rows = [benchmark("covariates", f"{n} samples").by("loss") for n in (500, 1000)]
    smooth = [one[loss]["× without"] for one in rows for loss in ("squared", "logistic")]
    hinge = [one["hinge"]["× without"] for one in rows]
    return (
        f"""{span(smooth, 2)} × the time without them (squared and logistic loss), {span(hinge)} × with the
        hinge""",
    )


@section.row("times to an event, 1,000 samples, 20 kernels, norm 1, certified gap ≤ 10⁻³")
def survival() -> tuple[str, ...]:
    rows = benchmark("survival", "1000 samples").where(norm=1.0).by("ties")
    expect(max(row["largest gap"] for row in rows.values()) <= 1e-3, "gap ≤ 10⁻³")
    exact, features = benchmark("survival", "Many samples")
    expect((exact["samples"], features["samples"], features["landmarks"]) == (5000, 100000, 100), "the sizes")
    return (
        f"""{num(rows["breslow"]["× logistic"], 1)} × the time of the logistic loss
        ({num(rows["efron"]["× logistic"], 1)} × with Efron's ties); 5,000 samples in
        {num(exact["seconds"])} s and {num(exact["GB above the start"], 1)} GB; 100,000 with 100 landmarks
        for each of five kernels in {num(features["seconds"])} s (one thread)""",
    )


@section.row("MNIST, 60,000 digits, ten kernels, five folds")
def mnist() -> tuple[str, ...]:
    few, many = benchmark("mnist", "60000 digits, 10 kernels")
    return (
        f"""{num(few["error %"], 1)} % errors in {num(few["seconds"])} s, {num(many["error %"], 2)} % in
        {num(many["seconds"])} s""",
    )


@section.row("every loss and norm on a small problem")
def reference() -> tuple[str, ...]:
    return (f"objective equal to cvxpy's within {_spaced(from_cvxpy())}",)
