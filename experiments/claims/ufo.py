"""Claims of Orabona & Jie 2011 about UFO-MKL on small sets and streams."""

from __future__ import annotations

import math
from typing import Any

from .figures import (
    Table,
    each,
    expect,
    listed,
    mean,
    median,
    num,
    pm,
    sd,
    span,
    table,
    values,
    word,
)
from .sections import Section

section = Section("Orabona & Jie 2011: UFO-MKL on small sets and streams")
UFO = "UFO-MKL"
TEST_ROWS = 100_000  # on which the streams were tested


LIVER = "Liver: 241 samples, 91 kernels, 10 epochs, λ = 1/"
TITLES = {"Liver": f"{LIVER}(100 · 241) as printed", "Ionosphere": "Ionosphere", "Sonar": "Sonar"}


def _rows(name: str) -> Table:
    """Those of UFO-MKL in Table 1."""
    return Table(row for row in table("ufo_table", TITLES.get(name, name)) if row["loss"][0] == "ℓ")


def _norm_one(name: str) -> dict[str, Any]:
    return table("ufo_table", TITLES[name]).row(loss="norm 1 (for SILP)")


def _near(row: dict[str, Any]) -> bool:
    """Within one standard deviation of the paper's, which is ours or theirs, the larger one."""
    theirs, spread = (float(part) for part in str(row["Orabona & Jie 2011: accuracy"]).split(" ± "))
    return abs(mean(row["accuracy"]) - theirs) <= max(spread, sd(row["accuracy"]))


@section.row("Table 1, Sonar: accuracy 74 to 80 % with 29 to 793 kernels")
def sonar() -> tuple[str, str]:
    rows = _rows("Sonar")
    hinge = [row for row in rows if row["loss"] == "ℓHL"][:2]
    expect(all(map(_near, hinge)), "hinge within a standard deviation at the two smaller α")
    better = [
        mean(row["accuracy"]) - mean(row["Orabona & Jie 2011: accuracy"]) for row in rows if row not in hinge
    ]
    expect(min(better) > 0, "the rest is better")
    kernels = [mean(row["kernels"]) / mean(row["Orabona & Jie 2011: kernels"]) for row in rows]
    return (
        f"""hinge within a standard deviation at α = 10⁻³ and 2.5·10⁻³
        ({each([row["accuracy"] for row in hinge])}), the rest up to {num(max(better), 1)} points better;
        kernels {span(kernels)} times as many""",
        "**in part**: as accurate or more so",
    )


@section.row("Table 1, Liver: 71.8 ± 3.8 at α = 10⁻³, 64.5 to 68.7 in the other rows")
def liver() -> tuple[str, str]:
    first, *others = _rows("Liver")
    expect(
        not _near(first) and all(map(_near, others)), "the other three rows are within a standard deviation"
    )
    other = _rows(f"{LIVER}100")
    expect(all(map(_near, other)), "at λ = 1/100 all four are within a standard deviation")
    ours, theirs = (span(other.column(name), 0) for name in ("kernels", "Orabona & Jie 2011: kernels"))
    return (
        f"""{pm(first["accuracy"])} at λ as printed, where the other three rows are within a standard
        deviation of the paper's; {pm(other[0]["accuracy"])} at λ = 1/100, where all four are, but with
        {ours} kernels and not {theirs}""",
        "**in part**",
    )


@section.row("Table 1, Ionosphere: accuracy 86 to 92 % with 2 to 442 kernels")
def ionosphere() -> tuple[str, str]:
    rows = _rows("Ionosphere")
    hinge, logistic = (rows.where(loss=loss) for loss in ("ℓHL", "ℓLL"))
    behind = [mean(row["Orabona & Jie 2011: accuracy"]) - mean(row["accuracy"]) for row in rows]
    expect(max(behind) < 0.5, "as accurate or more so")
    theirs = {name: [row[f"Orabona & Jie 2011: {name}"] for row in rows] for name in ("accuracy", "kernels")}
    return (
        f"""a copy rounded to three decimals, {len(values(rows[0]["accuracy"]))} splits: hinge
        {each(hinge.column("accuracy"))} (the paper: {each(theirs["accuracy"][:3])}), logistic
        {each(logistic.column("accuracy"))} ({each(theirs["accuracy"][3:])}); kernels
        {each(hinge.column("kernels"), 0)} ({each(theirs["kernels"][:3], 0)}) and
        {each(logistic.column("kernels"), 0)} ({each(theirs["kernels"][3:], 0)})""",
        "**in part**: as accurate or more so, less sparse",
    )


@section.row("Table 1: faster than SILP: 2.7, 6 to 8 and 10 to 12 s against 3, 42 and 191")
def seconds() -> tuple[str, str]:
    tables = {name: table("ufo_silp", f"{name}: seconds").by("method") for name in TITLES}
    online = {
        name: [median(row["seconds"]) for method, row in rows.items() if method.startswith(UFO)]
        for name, rows in tables.items()
    }
    silp, ours = (
        {name: median(rows[method]["seconds"]) for name, rows in tables.items()}
        for method in ("SILP", "active set")
    )
    ratios = {name: silp[name] / max(online[name]) for name in TITLES}
    expect(all(0.6 < ours[name] / max(online[name]) < 2 for name in TITLES), "level with the active set")
    expect(ratios["Liver"] > 1 and min(ratios["Ionosphere"], ratios["Sonar"]) > 10, "faster than SILP")
    for name in TITLES:
        expect(mean(tables[name]["SILP"]["largest gap"]) <= 0.0101, "SILP ends at a gap of 1 %")
    shown = [
        f"{name} {span(online[name], 2)}, {num(silp[name], 1)} and {num(ours[name], 2)}" for name in TITLES
    ]
    splits = [tables[name]["SILP"]["splits"] for name in TITLES]
    gaps = [row["largest gap"] for rows in tables.values() for m, row in rows.items() if m.startswith(UFO)]
    return (
        f"""hinge, medians of {listed([word(n) for n in splits])} splits. Seconds of UFO-MKL over its α, of
        SILP to a gap of 1 %, and of the package's own solver of the same problem to that gap:
        {"; ".join(shown)}. UFO-MKL ends at gaps of
        {span(gaps, 2)}, SILP after {span([rows["SILP"]["machines"] for rows in tables.values()], 0)}
        machines""",
        f"""**holds** beside SILP: {num(ratios["Ionosphere"])} and {num(ratios["Sonar"])} times on the two
        sets with many kernels; **not** beside the package's own solver, which is level""",
    )


@section.row(
    "Table 1: with α tuned more accurate than SILP (Sonar 80.3 against 78.7), which is mostly sparser"
)
def against_norm_one() -> tuple[str, str]:
    best = {name: max(mean(row["accuracy"]) for row in _rows(name)) for name in TITLES}
    ours = {name: _norm_one(name) for name in TITLES}
    pairs = [f"{name} {num(best[name], 1)} and {num(ours[name]['accuracy'], 1)}" for name in TITLES]
    expect(all(abs(best[name] - mean(ours[name]["accuracy"])) < 2 for name in TITLES), "level in accuracy")
    online = [mean(row["kernels"]) for name in TITLES for row in _rows(name)]
    kept = [mean(ours[name]["kernels"]) for name in TITLES]
    expect(max(kept) < min(online), "norm 1 is sparser")
    return (
        f"""best row against norm 1: {", ".join(pairs)}; norm 1 keeps {listed([num(one) for one in kept])}
        kernels, UFO-MKL {span(online, 0)}""",
        "**in part**: sparser, as said; level in accuracy",
    )


@section.row(
    """Fig. 1: the multiclass loss selects the one kernel that tells all classes apart, each class against
    the rest selects two"""
)
def multiclass() -> tuple[str, str]:
    clean, noisy = (table("ufo_multiclass", f"noise {noise},").by("learned") for noise in ("0.1", "0.15"))
    rest = [row["kernels"] for name, row in clean.items() if "against the rest" in name]
    expect(set(rest) == {"2"}, "each class against the rest selects two")
    alone = [int(mean(clean[f"multiclass, α = {alpha}"]["only the fourth"])) for alpha in ("0.05", "0.02")]
    return (
        f"""clean data: the fourth only in {alone[0]} of 10 seeds at α = 0.05, {alone[1]} at 0.02; each
        against the rest two. More noise: {noisy["multiclass, α = 0.05"]["kernels"]} kernels""",
        "**in part**: on clean data",
    )


def streaming() -> dict[str, Any]:
    """Errors on ringnorm and waveform, processor seconds, memory, and how far from the exact method."""
    sets = {name: table("ufo_stream", f"{name}: 20 kernels") for name in ("ringnorm", "waveform")}
    stream, exact, best = ([mean(rows[k]["per cent wrong"]) for rows in sets.values()] for k in range(3))
    apart = [(b - a) / _spread(a, b) for a, b in zip(stream, exact, strict=True)]
    expect(max(map(abs, apart)) < 2, "level in accuracy")
    found = {"stream": stream, "exact": exact, "best": best}
    shown: dict[str, Any] = {name: [num(one, 2) for one in wrong] for name, wrong in found.items()}
    seconds = [mean(rows[0]["of one processor"]) for rows in sets.values()]
    memory = {num(rows[0]["MB at most"]) for rows in sets.values()}
    expect(len(memory) == 1, "both take the same memory")
    return shown | {"seconds": seconds, "MB": memory.pop(), "apart": listed([num(one, 1) for one in apart])}


@section.row("fit for streams")
def streams() -> tuple[str, str]:
    found = streaming()
    stream, best = found["stream"], found["best"]
    return (
        f"""a million rows in {listed([num(one) for one in found["seconds"]])} s of one processor,
        {found["MB"]} MB; ringnorm {stream[0]} % (best possible {best[0]}), waveform {stream[1]}
        ({best[1]}); the exact method on 5,000 rows has {listed(found["exact"])}, which is {found["apart"]}
        standard errors more; one run each""",
        "**holds** for time and memory; level in accuracy with an exact fit on 5,000 rows",
    )


def _spread(*wrong: float) -> float:
    """Standard error of a difference of two shares, in points, each counted on the test rows."""
    return math.sqrt(math.fsum(one * (100 - one) for one in wrong) / TEST_ROWS)
