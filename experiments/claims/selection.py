"""What was asked of the defaults of the package, with nothing set."""

from __future__ import annotations

from typing import Any

from ..selection import sizes
from .figures import (
    benchmark,
    beyond,
    by_rows,
    count,
    expect,
    less,
    listed,
    mean,
    median,
    num,
    span,
    table,
    values,
    word,
)
from .sections import Section

section = Section("Model selection")
RIVALS = {
    "ours": "ours",
    "catboost": "CatBoost",
    "forest": "random forest",
    "lightgbm": "LightGBM",
    "histogram": "histogram boosting",
    "xrfm": "xRFM",
}
KNOWN = ("set", "n", "d", "ours")
RIVALS_OF_REPORT = (
    "plain sum",
    "best single kernel",
    "tuned one kernel",
    "histogram boosting",
    "sparse linear",
)
SETS = ("breast cancer", "wine", "digits", "diabetes", "Friedman 1")


@section.text
def about() -> str:
    return """Not of the papers, but asked of this package: its defaults, with nothing set, beside what
    people do today ([how](../experiments/README.md))."""


def in_sum(sets: str) -> dict[str, Any]:
    return table("selection_tables", "In sum").row(sets=sets)


def bench(name: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Ours, the grid search, and the name of their error, in bench_selection."""
    rows = benchmark("selection", f"{name}: ").by("contender")
    ours = rows["ours, nothing set"]
    return ours, rows["grid search"], next(name for name in ours if name.startswith("per cent"))


def _errors(name: str, digits: int = 1) -> str:
    ours, grid, error = bench(name)
    return f"{num(ours[error], digits)} against {num(grid[error], digits)}"


@section.row(
    "no worse than a grid-searched SVC or kernel ridge by two paired standard errors on 90 % of tables"
)
def no_worse() -> tuple[str, str]:
    row, seeds = in_sum("all"), {one["seeds"] for one in table("selection_tables", "Beside the grid search")}
    expect(mean(row["no worse"]) >= 0.9 * row["count"], "no worse on 90 % of tables")
    missed = [name for name in SETS if bench(name)[0][bench(name)[2]] > bench(name)[1][bench(name)[2]]]
    expect(missed == ["breast cancer", "wine", "digits", "diabetes"], "the goal is missed on four of five")
    return (
        f"""{word(seeds.pop())} seeds: {num(row["no worse"])} of {row["count"]} tables. In the
        [benchmark](benchmarks.md) of five sets of scikit-learn (five splits) its goal, no worse an error in
        no more time, is missed on breast cancer ({_errors("breast cancer")} % wrong) and wine
        ({_errors("wine")}), on digits ({_errors("digits")}) and diabetes ({_errors("diabetes")} % of the
        variance) by little""",
        "**holds** on the tables; not on breast cancer and wine",
    )


@section.row("better by more than two on 30 %")
def better() -> tuple[str, str]:
    row = in_sum("all")
    expect(mean(row["better"]) >= 0.3 * row["count"], "better on 30 %")
    return f"{num(row['better'])} of {row['count']} tables", "**holds**"


@section.row("never slower in total")
def seconds() -> tuple[str, str]:
    row, classes, numbers = (in_sum(sets) for sets in ("all", "classes", "numbers"))
    times = [mean(bench(name)[0]["seconds"]) / mean(bench(name)[1]["seconds"]) for name in SETS]
    faster, slower = 100 * (1 - classes["ours / grid"]), 100 * (numbers["ours / grid"] - 1)
    return (
        f"""one thread: {num(row["ours / grid"], 2)} of the grid's time (of one processor, on a busy
        machine: {row["ours, s"]} and {row["grid, s"]} s); clock time with two threads, five sets of
        scikit-learn: {span(times[:3], 2)} with classes, {listed([num(one, 2) for one in times[3:]])} with
        numbers ([benchmark](benchmarks.md))""",
        f"""level; on one thread {num(faster)} % faster on tables with classes, {num(slower)} % slower on
        tables with numbers""",
    )


def _ranks(sets: str, *rivals: str) -> dict[str, Any]:
    """The line of ranks with all of these methods."""
    rows = [
        row
        for row in table("selection_tables", "Mean ranks").where(sets=sets)
        if {name for name, cell in row.items() if cell is not None} >= set(rivals)
    ]
    return rows[-1]


@section.row("first by mean rank")
def ranks() -> tuple[str, str]:
    every = _ranks("all", "single", "uniform", "grid")
    classes, numbers = _ranks("classes", "AverageMKL", "EasyMKL"), _ranks("numbers", "GP", "himalaya")
    for row in (every, classes, numbers):
        rivals = [cell for name, cell in row.items() if isinstance(cell, float) and name != "ours"]
        expect(row["ours"] < min(rivals), "first by mean rank")
    return (
        f"""ten seeds of every method: {num(every["ours"], 2)} of four (best single kernel
        {num(every["single"], 2)}, grid {num(every["grid"], 2)}, plain sum {num(every["uniform"], 2)});
        classes {num(classes["ours"], 2)} of six (AverageMKL {num(classes["AverageMKL"], 2)}, EasyMKL
        {num(classes["EasyMKL"], 2)}); numbers {num(numbers["ours"], 2)} of six (Gaussian process
        {num(numbers["GP"], 2)}, himalaya {num(numbers["himalaya"], 2)})""",
        "**holds**",
    )


@section.row("as accurate as a Gaussian process with a width per feature, in a tenth of its time")
def gaussian_process() -> tuple[str, str]:
    rows = table("selection_tables", "Beside a Gaussian process")
    errors, widths = (
        [mean(row[f"error, {who}"]) / mean(row["error, GP"]) for row in rows] for who in ("ours", "widths")
    )
    many, few = ([row for row in rows if low <= row["d"] <= high] for low, high in ((32, 32), (8, 12)))
    middle = [next(row for row in rows if row["d"] == d) for d in (16, 21)]
    expect(len(many) + len(few) + len(middle) == len(rows), "features are 8 to 12, 16, 21 or 32")

    def time(some: list[dict[str, Any]], who: str, digits: int) -> str:
        return span([row[f"seconds, {who} / GP"] for row in some], digits)

    expect(
        max(mean(row["seconds, widths / GP"]) for row in [*many, *middle]) <= 0.105,
        "a tenth from 16 features on",
    )
    ahead, behind = count(one < 0.98 for one in errors), count(one > 1.02 for one in errors)
    return (
        f"""ten seeds, {len(rows)} sets: errors of ours / GP {span(errors, 2)}, median
        {num(median(errors), 2)} (more than 2 % ahead on {word(ahead)} sets, behind on {word(behind)}), in
        {time(many, "ours", 2)} of its time with 32 features and {time(few, "ours", 1)} with 8 to 12. The
        search over widths alone: errors {span(widths, 2)}, median {num(median(widths), 2)}, in
        {time(many, "widths", 2)} of its time with 32 features,
        {listed([num(row["seconds, widths / GP"], 2) for row in middle])} with 16 and 21,
        {time(few, "widths", 2)} with 8 to 12""",
        "**holds** for accuracy; the time from 16 features on, by asking for widths alone",
    )


@section.row("at 500 and 2,000 rows: before boosting, random forests and xRFM with their defaults")
def boosting() -> tuple[str, str]:
    said = []
    for rows in (500, 2000):
        own = by_rows(rows)
        less = {name: one for name, one in sizes.differences(own, "catboost").items() if one.size > 1}
        splits = {one.size for one in less.values()}
        expect(len(splits) == 1, "all sets have the same number of splits")
        ranks = sizes.ranks(own, list(RIVALS))
        expect(min(ranks, key=lambda method: ranks[method]) == "ours", "ours has the best mean rank")
        worse = [name for name, one in less.items() if sizes.beyond(one) > 2]
        better = count(sizes.beyond(one) < -2 for one in less.values())
        times = sizes.costs(own, "catboost", "seconds")
        turns = len(times.T) // len(less)
        share = f"{times[0].sum() / times[1].sum():.2f} of its processor time"
        if turns < next(iter(splits)):
            share += f" ({word(turns)} splits, in turns)"
        said.append(
            f"""{rows:,} rows, {word(next(iter(splits)))} splits of {len(less)} sets: mean rank
            {listed([f"{RIVALS[method]} {rank:.2f}" for method, rank in ranks.items()])}; no worse than
            CatBoost by two paired standard errors on {len(less) - len(worse)}, better by as many on
            {better}, behind on {listed(worse)}, in {share}"""
        )
    return (
        f"""{". ".join(said)}. Kernels and rules of the search were made while looking at these sets""",
        "**holds**",
    )


@section.row("at 10,000 rows: the same, in at most twice CatBoost's processor time")
def ten_thousand() -> tuple[str, str]:
    own, methods = by_rows(10_000), [method for method in RIVALS if method != "xrfm"]
    less, ranks, every = (
        sizes.differences(own, "catboost"),
        sizes.ranks(own, methods),
        sizes.ranks(own, list(RIVALS)),
    )
    made = [name for name in less if name in sizes.MADE]
    worse = [name for name, one in less.items() if sizes.beyond(one) > 2]
    better = count(sizes.beyond(one) < -2 for one in less.values())
    shares = [_time(own), _time({key: one for key, one in own.items() if key[0] not in sizes.MANY})]
    memory = max(one["memory MB"] for key, one in own.items() if key[3] == "ours") / 1024
    splits = [one.size for one in less.values()]
    xrfm = {name: one.mean() for name, one in sizes.differences(own, "xrfm").items()}
    behind = [name for name, one in xrfm.items() if one > 0]
    first = all(min(found, key=lambda method: found[method]) == "ours" for found in (ranks, every))
    return (
        f"""{len(less)} sets, of which {word(len(made))} are made problems, {span(splits, 0)} splits: mean
        rank {listed([f"{RIVALS[method]} {rank:.2f}" for method, rank in ranks.items()])}; no worse than
        CatBoost by two paired standard errors on {len(less) - len(worse)}, better by as many on {better},
        behind on {listed(worse) or "none"}, in {shares[0]:.2f} of its processor time ({shares[1]:.2f} without
        mnist), with at most {num(memory, 1)} GB. xRFM was run on one split of {word(len(xrfm))} sets, and has
        less error on {listed(behind) or "none"}; on that split the mean ranks are
        {listed([f"{RIVALS[method]} {rank:.2f}" for method, rank in every.items()])}""",
        "**holds**" if first and not worse and max(shares) <= 2 else "**in part**",
    )


def _time(runs: dict[sizes.Key, Any]) -> float:
    """The processor time of ours over that of CatBoost."""
    time, rival = sizes.costs(runs, "catboost", "seconds").sum(axis=1)
    return float(time / rival)


@section.row(
    "100,000 rows × 30 in 5 minutes within 4 GB, a million in 30 minutes, time at most linear in rows"
)
def many_rows() -> tuple[str, str]:
    said, good = [], []
    for name in sizes.MADE:
        seconds = {}
        for rows in (10_000, 100_000, 1_000_000):
            runs = [one for key, one in by_rows(rows).items() if (key[0], key[3]) == (name, "ours")]
            if runs:
                seconds[rows] = mean([one["seconds"] for one in runs])
                good.append(max(one["memory MB"] for one in runs) < 4096)
        last = max(seconds)
        good += [seconds[100_000] <= 300, seconds[last] <= 1800]
        good.append(seconds[last] / seconds[10_000] <= last / 10_000)
        said.append(f"{name} {', '.join(f'{num(one)} s at {rows:,}' for rows, one in seconds.items())}")
    own = by_rows(100_000)
    methods = [method for method in RIVALS if any(key[3] == method for key in own)]
    errors = [
        f"{name} {listed([f'{RIVALS[m]} {num(_error(own, name, m), 2)}' for m in methods])}"
        for name in sizes.MADE
    ]
    memory = max(one["memory MB"] for key, one in own.items() if key[3] == "ours") / 1024
    return (
        f"""made problems, as no table at hand has so many rows; seconds of one processor: {"; ".join(said)}.
        {num(memory, 1)} GB at 100,000. Errors there in per cent: {"; ".join(errors)}""",
        "**holds**" if all(good) else "**in part**",
    )


def _error(runs: dict[sizes.Key, Any], name: str, method: str) -> float:
    return mean([one["error"] for key, one in runs.items() if (key[0], key[3]) == (name, method)])


@section.row("on views: ahead of the best view, the plain sum and one table")
def views() -> tuple[str, str]:
    rows = table("selection_views", "Per cent wrong").by("set")
    rivals = ("best view", "uniform", "concatenated")
    first = [
        name for name, row in rows.items() if mean(row["ours"]) <= min(mean(row[rival]) for rival in rivals)
    ]
    splits = {name: len(values(row["ours"])) for name, row in rows.items()}
    expect(splits.pop("protein_fold") == 1 and set(splits.values()) == {10}, "ten splits, one of folds")
    several = [row for name, row in rows.items() if name != "protein_fold"]
    behind = [rival for row in several for rival in rivals if beyond(less(row["ours"], row[rival])) > 2]
    expect(not behind, "ours is behind none of them by more than two standard errors")

    def shown(name: str) -> str:
        row = rows[name]
        digits = 0 if mean(row["ours"]) == 0 else 1
        return f"{num(row['ours'], digits)} ({', '.join(num(row[rival], digits) for rival in rivals)})"

    folds = rows["protein_fold"]
    return (
        f"""protein folds {num(folds["ours"], 1)} % (best view {num(folds["best view"], 1)}, plain sum
        {num(folds["uniform"], 1)}, one table {num(folds["concatenated"], 1)}), bbcsport
        {shown("bbcsport")}, mfeat {shown("mfeat")}, prokaryotic {shown("prokaryotic")}, nutrimouse
        {shown("nutrimouse")}, 3sources {shown("3sources")}; ten splits, protein folds its own one""",
        f"""**in part**: first or level on {word(len(first))} of {word(len(rows))}, and on the others not
        behind the first by two standard errors""",
    )


@section.row("on small tables as clinics have them: never behind the rivals of its own report")
def clinics() -> tuple[str, str]:
    rows = table("selection_clinics", "Ours less the rival")
    made = count(row["set"].startswith("clinic") for row in rows)
    draws = {row["draws"] for row in rows}
    expect(len(draws) == 1, "all sets have the same number of draws")
    expect(all(row["behind"] == "none" for row in rows), "behind no rival by the adjusted p-value")
    single = [
        f"{row['set']} ({row['behind one by one']})" for row in rows if row["behind one by one"] != "none"
    ]
    tests = count(cell is not None for row in rows for name, cell in row.items() if name in RIVALS_OF_REPORT)
    scores = table("selection_clinics", "Scores")
    first = count(
        mean(row["ours"]) >= max(mean(cell) for name, cell in row.items() if name not in KNOWN and cell)
        for row in scores
    )
    plain = count(mean(row["ours"]) < mean(row["plain sum"]) for row in scores)
    return (
        f"""{word(made)} made tables of 200 rows and {word(len(rows) - made)} sets of at most 700 samples,
        five folds drawn {word(draws.pop())} times: behind none of five rivals by the corrected paired test,
        adjusted for five rivals as in a report; without that, behind on {listed(single) or "none"}, in
        {tests} tests. First or level by the mean on {first} of {len(rows)}, and behind the plain sum of the
        kernels on {plain}""",
        "**holds**" if len(rows) == 18 else f"**begun**: {word(len(rows))} of 18 tables",
    )


@section.row(
    "intervals of 90 %: at least 88 % inside on each table, 89.5 % over all, no wider than MAPIE's CV+"
)
def intervals() -> tuple[str, str]:
    rows = table("selection_trust", "Intervals")
    every = rows.row(set="all")
    sets = [row for row in rows if row["set"] != "all" and row["coverage, MAPIE"] is not None]
    low = [f"{row['set']} {num(row['coverage, ours'], 1)}" for row in sets if row["coverage, ours"] < 88.0]
    expect(every["coverage, ours"] >= 89.5, "89.5 % over all")
    splits = f"{word(every['seeds'])} split{'' if every['seeds'] == 1 else 's'}"
    return (
        f"""{splits} of {word(len(sets))} tables of 500 rows: {num(every["coverage, ours"], 1)} % inside
        (MAPIE {num(every["coverage, MAPIE"], 1)}), below 88 on {listed(low) if low else "none"}; width
        {num(every["width"], 3)} of MAPIE's, in {num(every["seconds, ours"] / every["seconds, MAPIE"], 2)} of
        its processor time""",
        ("**in part**" if low else "**holds**") + ("" if len(sets) == 27 else f": {len(sets)} of 27 tables"),
    )


@section.row("log loss no worse than CalibratedClassifierCV of the same search, in a fraction of its time")
def probabilities() -> tuple[str, str]:
    rows = table("selection_trust", "Log loss")
    every = rows.row(set="all")
    sets = [row for row in rows if row["set"] != "all" and row["loss, calibrated"] is not None]
    ahead = [row for row in sets if row["less"] <= 0.0]
    behind = [f"{row['set']} by {num(row['less'], 3)}" for row in sets if row["less"] > 0.0]
    expect(every["less"] < 0.0, "no worse in the mean")
    splits = f"{word(every['seeds'])} split{'' if every['seeds'] == 1 else 's'}"
    return (
        f"""{splits} of {word(len(sets))} tables with classes, at most 500 rows: in the mean
        {num(every["loss, ours"], 3)} against {num(every["loss, calibrated"], 3)}, no more on {len(ahead)},
        behind on {listed(behind) if behind else "none"}; {num(every["seconds, ours"], 1)} against
        {num(every["seconds, calibrated"], 1)} s of one processor""",
        "**holds**" + ("" if len(sets) == 24 else f": {len(sets)} of 24 tables"),
    )
