"""What was asked of the package for samples that lack views."""

from __future__ import annotations

from typing import Any

from .figures import beyond, count, expect, less, mean, num, se, span, table, values, word
from .sections import Section

section = Section("Samples that lack views")


@section.text
def protocol() -> str:
    rows = table("absent_views", "Per cent wrong")
    sets, shares = len({row["set"] for row in rows}), sorted({row["removed"] for row in rows})
    expect(
        shares == ["30%", "60%"] and {row["by"] for row in rows} == {"chance", "class"},
        "how blocks are removed",
    )
    return f"""Not of the papers, but asked of this package ([how](../experiments/README.md),
    `absent_views`): {word(sets)} sets with 30 and 60 % of the blocks removed, by chance and by class,
    {word(len(values(rows[0]["rescaled"])))} draws."""


def _behind(method: str) -> list[tuple[dict[str, Any], list[float]]]:
    """Errors of a method less those of the package, case by case."""
    return [(row, less(row[method], row["rescaled"])) for row in table("absent_views", "Per cent wrong")]


@section.row("no worse than medians or complete cases by two paired standard errors on any set")
def no_worse() -> tuple[str, str]:
    medians, complete = (_behind(method) for method in ("medians", "complete cases"))
    worst = min(beyond(one) for _, one in [*medians, *complete])
    expect(worst > -2, "no worse by two standard errors")
    ahead = count(beyond(one) > 2 for _, one in medians)
    return (
        f"""{len(medians)} cases, the worst {num(worst, 1)} standard errors, and more than two ahead of
        medians in {ahead}; the weight of absence itself, a tenth, was chosen among five on earlier draws of
        the same sets, and rescaling on these""",
        "**holds**",
    )


@section.row("better than complete cases on at least half")
def complete_cases() -> tuple[str, str]:
    away = [one for _, one in _behind("complete cases")]
    expect(min(map(mean, away)) > 0, "better on all")
    return f"on all, by {span(away, 0)} points", "**holds**"


@section.row("gap at most 1e-3")
def gap() -> tuple[str, str]:
    expect(max(table("absent_views", "Per cent wrong").column("gap")) <= 1e-3, "gap at most 1e-3")
    return "on all", "**holds**"


@section.row("test samples without a view are predicted without a new fit")
def without_protein() -> tuple[str, str]:
    whole, never = table("absent_views", "Test samples without protein")
    expect(abs(whole["% wrong"] - never["% wrong"]) < 1e-9, "as a model that never saw protein")
    return (
        f"""breast_tcga's {whole["test"]} without protein: {num(whole["% wrong"], 1)} % wrong, as a model
        that never saw protein""",
        "**holds**",
    )


@section.row("the default is the best of what was compared")
def default() -> tuple[str, str]:
    names = ("mean", "zero", "mean + kernel of presence", "mean + covariates of presence")
    fewer = [count(mean(one) > 0 for _, one in _behind(name)) for name in names]
    behind = count(beyond(one) < -2 for _, one in _behind("mean"))
    silent = _behind("mean, silent")
    clear = [(row, one) for row, one in silent if beyond(one) < -2 and row["by"] == "chance"]
    expect([row["set"] for row, _ in clear] == ["protein_fold"], "clearly better in one case, protein folds")
    expect(
        not any(beyond(one) < -2 for row, one in silent if row["by"] == "class"), "nowhere where it is not"
    )
    worse = max(mean(one) for row, one in silent if row["by"] == "class")
    every, new = (
        table("absent_views", "R² where").row(lacking=who) for who in ("all samples", "test samples")
    )
    expect(abs(beyond(less(every["mean"], every["rescaled"]))) < 2, "level where all samples lack views")
    gain = less(clear[0][0]["rescaled"], clear[0][0]["mean, silent"])
    return (
        f"""of classes it has fewer errors than the mean without rescaling in {fewer[0]} of {len(silent)}
        cases (behind by more than two standard errors in {word(behind)}), than zeros in {fewer[1]}, than a
        kernel of presence in {fewer[2]}, than presence as covariates in {fewer[3]}; leaving absence out
        altogether is clearly better in one case where absence is chance (protein folds, {_points(gain)}
        points) and up to {num(worse)} points worse where it is not. Of numbers, which are not rescaled, on
        a made problem only: R² {num(new["mean"], 2)} against {num(new["rescaled"], 2)} where new samples
        lack views, level where all do""",
        "**holds**, but for one case where absence is chance",
    )


def _points(cell: list[float]) -> str:
    return f"{num(cell, 1)} ± {num(se(cell), 1)}"
