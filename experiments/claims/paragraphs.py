"""Paragraphs of other pages whose figures are computed from records.

A page keeps its text; the one line that starts with the first words of a paragraph is replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .alignment import beside_learned
from .figures import Drift, benchmark, expect, less, mean, num, span, table, word
from .sections import flowing

START = 25  # letters that a paragraph is known by


@dataclass(frozen=True)
class Paragraph:
    """A line of a page, and what computes it."""

    page: str
    compute: Callable[[], str]

    def put_into(self, page: str) -> str:
        """The page with this paragraph in the place of the one that starts with the same words."""
        text, lines = flowing(self.compute()), page.split("\n")
        found = [k for k, line in enumerate(lines) if line.startswith(text[:START])]
        if len(found) != 1:
            raise Drift(f"{len(found)} lines of {self.page} start with “{text[:START]}”, expected one")
        lines[found[0]] = text
        return "\n".join(lines)


PARAGRAPHS: list[Paragraph] = []


def paragraph(page: str) -> Callable[[Callable[[], str]], Callable[[], str]]:
    """Add a paragraph of docs/PAGE."""

    def add(function: Callable[[], str]) -> Callable[[], str]:
        PARAGRAPHS.append(Paragraph(page, function))
        return function

    return add


@paragraph("methods/targets.md")
def targets() -> str:
    ours, theirs = benchmark("targets", "10,000 targets of 5 spaces")
    sizes = benchmark("targets", "more and more targets").by("targets")
    few, many = (sizes[n]["CPU ms a target"] for n in (100, 10000))
    return f"""On 10,000 targets of five feature spaces and 1,000 samples, on one thread, the search took
    {num(ours["CPU s"])} s of processor time. himalaya's random search with 100 draws in single precision
    took {num(theirs["CPU s"])} s. The median R² on new samples was {num(ours["median R²"], 3)} and
    {num(theirs["median R²"], 3)} (`python -m benchmarks targets`). The cost of a target falls with their
    number: {num(few)} ms for each of 100, {num(many, 1)} ms for each of 10,000."""


@paragraph("methods/significance.md")
def significance() -> str:
    rows = benchmark("significance", "in 5,000 draws without effect")
    shares = [cell for row in rows for cell in row.values() if isinstance(cell, float)]
    power = benchmark("significance", "with an effect of one column")
    for row in power:
        for name in ("linear", "Gaussian, width 3", "width 1"):
            apart = row[f"{name}: score"] - row[f"{name}: permutation"]
            expect(abs(apart) < 5, "the power is that of draws from the null model")
    return f"""On 5,000 draws without effect, 100 samples, {span(shares)} % of the p-values are below 0.05.
    This holds for all {word(len({row["target"] for row in rows}))} kinds of targets, with and without
    covariates, for linear, wide and narrow kernels. The power is that of 999 draws from the null model
    (`python -m benchmarks significance`)."""


@paragraph("absent.md")
def absence() -> str:
    rows = table("absent_views", "Per cent wrong")
    silent = {
        how: [mean(less(row["mean, silent"], row["rescaled"])) for row in rows if row["by"] == how]
        for how in ("chance", "class")
    }
    return f"""The direction e is orthogonal to all samples that have the view. It lets a model learn from
    absence itself, since patients too ill for a scan have something in common. Its squared length c is a
    tenth of the mean square of samples about their mean. On the sets of [an experiment](experiments.md)
    this costs up to {num(-min(silent["chance"]))} points of accuracy if absence is pure chance, and gains
    up to {num(max(silent["class"]))} if it depends on the class."""


@paragraph("cost-model.md")
def million_rows() -> str:
    row = benchmark("scale", "20 kernels × 100 landmarks").row(rows=1000000)
    few, many = benchmark("mnist", "60000 digits")
    return f"""The model adds 0.7 s for factor and machines to the pass (1.26 SYRK), and 18 s for the
    search. From 100,000 rows on it is right within a tenth: a fit takes a constant number of SYRKs, so its
    time is linear in n. By the clock on two processors a million rows took
    {num(row["fit s"])} s ({num(row["fit / SYRK"], 1)} SYRK) and the search {num(row["search s"])} s
    ({num(row["search / SYRK"], 1)}). The SYRKs themselves varied by half from one size to the next.
    On MNIST (60,000 rows, ten classes, ten kernels, five folds, three costs; `python -m benchmarks mnist`)
    {few["landmarks"]} landmarks take {num(few["seconds"])} s and have {num(few["error %"], 1)} % errors,
    {many["landmarks"]} landmarks {num(many["seconds"])} s and {num(many["error %"], 2)} %."""


@paragraph("cost-model.md")
def workers() -> str:
    one, two = benchmark("dask", "200000 rows, 10 kernels × 100")
    worst = max(one["difference from memory"], two["difference from memory"])
    expect(worst < 1.5e-11, "agree with a fit in memory to 1e-11")
    return f"""Two Dask workers of one thread each take 1/{num(two["× faster than one worker"], 2)} of the
    time of one (200,000 rows, p = 1,000), and agree with a fit in memory to 1e-11."""


@paragraph("methods/ensembles.md")
def ensembles() -> str:
    ahead, level, behind = beside_learned()
    expect(behind == ["protein_fold"], "behind on the one with many kernels and few samples a class")
    return f"""On four sets of Rostamizadeh 2010 and five with views, with the same kernels, ensembles are
    clearly better than the best learned kernel on {word(len(ahead))} ({", ".join(ahead)}), equal on
    {word(len(level))}, and worse on the one with many kernels and few samples a class. On kinematics and
    spambase the best single kernel is as good or better, so look at `cv_errors_` too. On views the
    combination is better than each kernel ([experiments](../experiments.md))."""
