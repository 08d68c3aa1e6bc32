"""Claims of the slides of Lei et al. about localized weights."""

from __future__ import annotations

from .figures import (
    benchmark,
    beyond,
    count,
    each,
    expect,
    less,
    listed,
    mean,
    num,
    printed,
    span,
    table,
    trials,
    values,
    word,
)
from .sections import Section

section = Section("Lei et al., slides on convex localized learning: localized weights")


@section.text
def without_numbers() -> str:
    return "The slides print no numbers."


def _real() -> tuple[dict[str, dict[str, list[float]]], dict[str, str]]:
    """Differences from global learning by set and method, and their mean over sets as printed."""
    rows = table("localized_regions", "Real sets, per cent wrong")
    names = ("CLMKL", "HLMKL", "CLMKL or global")
    away = {row["set"]: {name: less(row[name], row["global"]) for name in names} for row in rows}
    means = table("localized_regions", "Real sets, less the errors").row(set="mean")
    return away, {name: printed(means[name].split(" (")[0]) for name in names}


def _beyond_three(method: str) -> tuple[int, int]:
    """Sets that are worse, and better, by more than three standard errors."""
    ratios = [beyond(one[method]) for one in _real()[0].values()]
    return count(ratio > 3 for ratio in ratios), count(ratio < -3 for ratio in ratios)


@section.row("more accurate than global and than non-convex local learning, on biology and vision data")
def real_sets() -> tuple[str, str]:
    away, means = _real()
    worse, better = _beyond_three("CLMKL")
    expect(worse == 0 and better < len(away) / 2, "it does not hold on these sets")
    return (
        f"""those data are not named. {word(len(away)).capitalize()} real sets: {means["CLMKL"]} points
        (standard error) from global learning, {word(better)} better by more than three standard errors;
        beside gates that are not convex see the next row""",
        "**does not hold** on these sets",
    )


@section.row("the same on sets with views, a kernel for each view")
def views() -> tuple[str, str]:
    rows, names = table("localized_views", "Per cent wrong"), ("CLMKL", "HLMKL", "LMKL", "LMKL, sigmoid")
    means = table("localized_views", "Less the errors").row(set="mean")
    away = {name: printed(means[name].split(" (")[0]) for name in names}
    behind = [row["set"] for row in rows if beyond(less(row["CLMKL"], row["global"])) > 2]
    for row in rows:
        expect(beyond(less(row["CLMKL"], row["global"])) > -2, "CLMKL is ahead of global learning on no set")
        for gates in ("LMKL", "LMKL, sigmoid"):
            expect(mean(row["CLMKL"]) < mean(row[gates]), "ahead of gates that are not convex on every set")
    expect(0 < len(behind) < len(rows), "CLMKL is behind on some sets and level on the others")
    shown = [f"{row['set']} {each([row['global'], *(row[name] for name in names)])}" for row in rows]
    return (
        f"""{trials(*rows.column("global"))} draws, per cent wrong of global learning, CLMKL, hard clusters,
        softmax and sigmoid gates: {"; ".join(shown)}. Less global learning, mean of the sets (standard
        error): {away["CLMKL"]}, {away["HLMKL"]}, {away["LMKL"]}, {away["LMKL, sigmoid"]}""",
        f"""**holds** beside gates that are not convex; **not** beside global learning, with which it is level
        on {word(len(rows) - len(behind))} sets and behind which it is on {listed(behind)}""",
    )


@section.row("localized weights help where the right kernel differs by region")
def regions() -> tuple[str, str]:
    rows = table("localized_regions", "The right kernel differs").by("method")
    ours, everywhere, hard, gates = (rows[name] for name in ("CLMKL", "global", "HLMKL", "LMKL"))
    draws = len(values(ours["views"]))
    for problem in ("views", "widths"):
        expect(ours[f"{problem}, better in"] == f"{draws} of {draws}", f"better in {draws} of {draws}")
        expect(mean(ours[problem]) < mean(gates[problem]), "ahead of gates that are not convex")
        expect(abs(beyond(less(ours[problem], hard[problem]))) < 2, "level with hard clusters")
    return (
        f"""made problems, {draws} draws: {num(everywhere["views"], 1)} → {num(ours["views"], 1)} % wrong,
        {num(everywhere["widths"], 1)} → {num(ours["widths"], 1)} % of the variance, better in {draws} of
        {draws}; ahead of gates that are not convex ({num(gates["views"], 1)}, {num(gates["widths"], 1)}),
        level with hard clusters""",
        "**holds**",
    )


@section.row("and do no harm elsewhere (asked for here)")
def no_harm() -> tuple[str, str]:
    away, means = _real()
    worse, better = _beyond_three("CLMKL")
    expect(worse == 0, "none worse by three standard errors")
    return (
        f"""{word(len(away))} real sets, two or three clusters: none worse by three standard errors,
        {word(better)} better by more; mean {means["CLMKL"]} (standard error). With one cluster among the
        choices {means["CLMKL or global"]}. Hard clusters: worse on {word(_beyond_three("HLMKL")[0])} sets""",
        "**in part**",
    )


@section.row("an iteration costs O(n²ML), and what the machine takes")
def cost() -> tuple[str, str]:
    kernels = benchmark("localized", "K of all weights").column("ns by n²Ml")
    whole = benchmark("localized", "Whole fits").column("ns by n²Ml")
    return (
        f"""the kernels' part {span(kernels)} ns by n²Ml for n = 500 … 2,000 and one to eight clusters;
        whole iterations, the machine among them, {span(whole)} ns ([benchmark](benchmarks.md))""",
        "**holds** for the kernels' part",
    )
