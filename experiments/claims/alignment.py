"""Claims of Rostamizadeh 2010 about alignment, bounds and learned kernels."""

from __future__ import annotations

from ..tables import Facts, Spread
from .figures import (
    Table,
    beyond,
    count,
    each,
    expect,
    less,
    mean,
    num,
    printed,
    sd,
    short,
    signed,
    span,
    table,
    trials,
    values,
    word,
)
from .sections import Section

section = Section("Rostamizadeh 2010: alignment and bounds")
SETS = ("kinematics", "ionosphere", "german", "spambase", "splice")


@section.row(
    "Table 2.1: centred alignment goes with the error (−0.94 … −1.00), uncentred fails on splice (+0.45)"
)
def correlation() -> tuple[str, str]:
    its, others = (table("alignment_correlation", title) for title in ("The sets of", "Sixteen other sets"))
    rows, rest = its.by("set"), others.by("set")
    centred = [mean(row["ρ"]) for row in its]
    better = count(row["centred better"] for row in others)
    failing = [name for name, row in rest.items() if min(row["ρ"], row["Â"]) > -0.3]
    expect(failing == ["liver_bupa", "banana"], "on banana and liver both fail")
    behind = [name for name, row in {**rows, **rest}.items() if row["Â"] < row["ρ"]]
    expect(behind == ["german", "breast_cancer", "abalone", "cpusmall"], "it is behind on four sets")
    expect(min(rest["liver_bupa"]["ρ"], rest["liver_bupa"]["Â"]) > 0.5, "wrong way round on liver")
    ours, theirs = (
        [rows["ionosphere"][f"{who}{what}"] for what in "ρÂ"] for who in ("", "Rostamizadeh 2010: ")
    )
    return (
        f"""its five sets: the error correlates with centred alignment by {num(max(centred), 2)} to
        {num(min(centred), 3)}, with uncentred alignment on splice by {signed(rows["splice"]["Â"], 2)}
        (ionosphere, rounded to three decimals: {num(ours[0], 3)} centred and {num(ours[1], 3)} uncentred,
        the thesis: {num(theirs[0], 3)} and {num(theirs[1], 3)}); on
        {word(len(others)) if len(others) < 13 else "sixteen"} other sets centred alignment is the better
        one in {better}, though on banana and liver both fail""",
        f"""**holds**, but is no law: uncentred alignment is ahead on german (by
        {short(rows["german"]["ρ"] - rows["german"]["Â"], 3)}), breast_cancer, abalone, cpusmall; wrong way
        round for both on liver""",
    )


def _gaussians(name: str) -> dict[str, Facts]:
    rows = table("alignment_gaussians", f"{name}: ")
    return {("one-stage" if row["method"].startswith("l") else row["method"]): row for row in rows}


@section.row("Table 3.1: alignf has the least error on every set")
def gaussians() -> tuple[str, str]:
    rows = {name: _gaussians(name) for name in SETS}
    first = {name: min(one, key=lambda method: mean(one[method]["error"])) for name, one in rows.items()}
    wanted = ("alignf", "align", "alignf", "align", "one-stage")
    expect(tuple(first.values()) == wanted, "which method has the least error")
    for one in rows.values():
        largest = max(one, key=lambda method: mean(one[method]["alignment, test"]))
        expect(largest == "alignf", "alignf has the largest alignment on all five")
    gains = {name: beyond(less(one["alignf"]["error"], one["unif"]["error"])) for name, one in rows.items()}
    expect(
        [name for name in SETS if gains[name] < -3] == ["kinematics"], "the gain is clear on kinematics only"
    )
    kinematics, ionosphere, german = (rows[name] for name in SETS[:3])
    ours, theirs = (
        ", ".join(short(ionosphere[m][what], 3) for m in ("unif", "one-stage", "align"))
        for what in ("error", "Rostamizadeh 2010: error")
    )
    return (
        f"""alignf has the least error on kinematics ({short(kinematics["alignf"]["error"], 3)} against
        {short(kinematics["unif"]["error"], 3)} uniform) and german ({num(german["alignf"]["error"], 1)}
        against {num(german["unif"]["error"], 1)}), align on ionosphere
        ({short(ionosphere["align"]["error"], 3)} against {short(ionosphere["alignf"]["error"], 3)}) and
        spambase, one-stage learning on splice. Uniform, one-stage and align have {ours} on ionosphere, in
        the thesis {theirs}""",
        "**in part**: clear on kinematics only; alignf has the largest alignment on all five",
    )


def _ensembles(name: str) -> tuple[Spread, Spread, str]:
    """The l2 ensemble of three folds and the best learned kernel, with its name."""
    rows = table("kernel_ensembles", f"{name}: ").by("method")
    best = min(("unif", "one-stage", "alignf"), key=lambda method: mean(rows[method]["error"]))
    return rows["l2 ensemble, three folds"]["error"], rows[best]["error"], best


LEARNED = {"plain sum": "the plain sum", "learned, norm 2": "norm 2", "learned, norm 1": "norm 1"}


FOUR = ("kinematics", "spambase", "splice", "german")


def _best(row: Facts) -> str:
    """The learned kernel of the least error."""
    return min(LEARNED, key=lambda name: mean(row[name]))


def beside_learned() -> tuple[list[str], list[str], list[str]]:
    """Sets where l2 ensembles are ahead of the best learned kernel, level, and behind.

    By two and a half standard errors; by a point where there is one draw.
    """
    away = {name: less(*_ensembles(name)[:2]) for name in FOUR}
    for row in table("kernel_ensembles", "Views"):
        away[row["set"]] = less(row["l2 ensemble"], row[_best(row)])
    ratios = {name: beyond(one) if len(one) > 1 else 2.5 * one[0] for name, one in away.items()}
    ahead, behind = ([name for name in ratios if sign * ratios[name] > 2.5] for sign in (-1, 1))
    return ahead, [name for name in ratios if name not in [*ahead, *behind]], behind


@section.row(
    """Eq. 3.6: how ensembles of kernel predictors compare with learned kernels (left open by the thesis)"""
)
def ensembles() -> tuple[str, str]:
    pairs, views = {name: _ensembles(name) for name in FOUR}, table("kernel_ensembles", "Views").by("set")
    best, folds = {name: _best(row) for name, row in views.items()}, views.pop("protein_fold")
    ahead, level, behind = beside_learned()
    expect(behind == ["protein_fold"], "behind on protein folds only")
    one = {row["set"]: mean(row["least"]) for row in table("alignment_correlation", "The sets of")}
    expect(one["spambase"] < mean(pairs["spambase"][0]), "on spambase one kernel alone does better")
    expect(one["kinematics"] < mean(pairs["kinematics"][0]) + 0.005, "on kinematics as well")
    shown = {
        name: f"{num(row['l2 ensemble'], 1)} against {num(row[best[name]], 1)}" for name, row in views.items()
    }
    kinematics, spambase, splice, german = pairs.values()
    return (
        f"""the same kernels and values of C: kinematics {short(kinematics[0], 3)} (l2, a fold less than the
        others have) against {short(kinematics[1], 3)} for {kinematics[2]}, spambase {num(spambase[0], 1)}
        against {num(spambase[1], 1)} %, splice {num(splice[0], 1)} against {num(splice[1], 1)}, german
        {num(german[0], 1)} against {num(german[1], 1)}; on views 3sources {shown["3sources"]} for
        {LEARNED[best["3sources"]]}, bbcsport {shown["bbcsport"]}, prokaryotic {shown["prokaryotic"]} for
        {LEARNED[best["prokaryotic"]]}, nutrimouse {shown["nutrimouse"]}, protein folds
        {num(folds["l2 ensemble"], 1)} against {num(folds[best["protein_fold"]], 1)} for
        {LEARNED[best["protein_fold"]]} (l1: {num(folds["l1 ensemble"], 1)}).
        {trials(kinematics[0], spambase[0], german[0]).capitalize()} trials,
        {trials(*(row["plain sum"] for row in views.values()))} draws of views. The best single kernel in
        hindsight (`alignment_correlation`, fifteen trials): kinematics {short(one["kinematics"], 3)},
        spambase {num(one["spambase"], 1)}, splice {num(one["splice"], 1)}, german {num(one["german"], 1)}
        ([how](../experiments/README.md))""",
        f"""ensembles are **ahead** of learned kernels on {word(len(ahead))} sets, level on
        {word(len(level))}, behind on protein folds; on kinematics and spambase one kernel alone does as
        well or better""",
    )


SENTIMENT = ("books", "dvd", "electronics", "kitchen")


@section.row("Table 3.2: align beats uniform and one-stage learning with 4,000 kernels")
def sentiment() -> tuple[str, str]:
    names = (*(f"{name}: " for name in SENTIMENT), "electronics, stars", "kitchen, stars")
    rows = [table("alignment_sentiment", name).by("method") for name in names]
    for one in rows:
        expect(
            min(one, key=lambda method: mean(one[method]["error"])) == "align",
            "align has the least error on all",
        )
    gains = {name: one["align"]["less unif's"] for name, one in zip(SENTIMENT, rows, strict=False)}
    one_stage = count(any(method.startswith("l") for method in one) for one in rows)
    clear = [-mean(gains[name]) for name in gains if name != "dvd"]
    return (
        f"""{word(len(rows))} of its eight problems, {word(len(values(gains["dvd"])))} folds (one-stage
        learning on {word(one_stage)} of them): align has the least error on all; it is {span(clear, 0)}
        points ahead of uniform on {word(len(clear))} of four classifications, nothing on dvd
        ({signed(gains["dvd"])} ± {num(sd(gains["dvd"]), 1)})""",
        "**holds**, except for dvd",
    )


@section.row(
    """§3.2.2, UCI sets, three kernels: learning (norm 1 or 2) is never worse than the best of them by
    cross-validation and never clearly better; 3, 8, 16 and 17 % wrong; Algorithm 1 takes 10 to 15
    iterations"""
)
def ridge() -> tuple[str, str]:
    rows = table("ridge_uci", "Per cent wrong")
    sets = list(dict.fromkeys(rows.column("set")))
    expect(sets == ["breast", "ionosphere", "sonar", "heart"], "the four sets")
    single, one, two = (rows.where(method=name) for name in ("best single", "norm 1", "norm 2 (Algorithm 1)"))
    apart = max(abs(mean(row["less best single's"])) for row in one)
    expect(apart < 0.15, "norm 1 within 0.1 points of it")
    behind = [
        beyond(less(a["per cent wrong"], b["per cent wrong"])) > 2 for a, b in zip(two, single, strict=True)
    ]
    expect(behind == [False, True, False, False], "norm 2 is behind on ionosphere only")
    counts = sorted({int(value) for row in two for value in values(row["iterations"])})
    return (
        f"""{len(values(single[0]["per cent wrong"]))} draws of breast, ionosphere, sonar, heart: best
        single {each(single.column("per cent wrong"))} %, norm 1 within {num(apart, 1)} points of it, norm 2
        less best single {", ".join(printed(row["less best single's"]) for row in two)} (standard errors);
        {counts[0]} to {counts[-1]} iterations to a gap of 10⁻³""",
        "**holds** for norm 1; norm 2 is a little behind on ionosphere",
    )


@section.row(
    """Fig. 2.1: the bound varies mildly with p up to m, that of Srebro and Ben-David is above 1 for m ≤
    15·10⁶"""
)
def bounds() -> tuple[str, str]:
    rows = table("alignment_bounds", "Fig. 2.1: bound")
    growth = [mean(row["p = m"]) / mean(row["p = 10"]) for row in rows]
    first = table("alignment_bounds", "Samples from which on").by("p")
    expect(first["m"]["Srebro and Ben-David"].startswith("never"), "theirs is never below 1 at p = m")
    last = rows.row(m="15,000,000")["S. and B.-D., p = 10"]
    expect(mean(last) > 1, "theirs is above 1 for m ≤ 15·10⁶")
    return (
        f"""from p = 10 to p = m it grows by a factor of {span(growth)}; below 1 from m =
        {num(first["10"]["norm 1"])} (p = 10) and {num(first["m"]["norm 1"])} (p = m). Theirs:
        {num(last, 2)} at m = 15·10⁶, below 1 from
        {num(mean(first["10"]["Srebro and Ben-David"]) / 1e6)}·10⁶, never at p = m""",
        "**holds**",
    )


@section.row("Fig. 2.3: norm 1 and 2 coincide at p = 20, norm 2 falls as m^(−1/4) at p = m")
def norms() -> tuple[str, str]:
    *rows, exponent = table("alignment_bounds", "Fig. 2.3")
    apart = [mean(row["norm 2, p = 20"]) / mean(row["norm 1, p = 20"]) - 1 for row in rows]
    return (
        f"""the bounds differ by at most {num(100 * max(map(abs, apart)))} % at p = 20; at p = m that of
        norm 2 falls with exponent {num(exponent["norm 2, p = m"], 2)} (norm 1:
        {num(exponent["norm 1, p = m"], 2)})""",
        "**holds**",
    )


@section.row("Fig. 2.2: the test error behaves in p as the bound does (MNIST, p = 200 … 800, m = 36,000)")
def digits() -> tuple[str, str]:
    rows = table("alignment_bounds", "Fig. 2.2")
    first, last = rows[0], rows[-1]
    wrong, bound = "norm 2: test error, %", "norm 2: bound"
    expect(
        mean(last[wrong]) < mean(first[wrong]) and mean(last[bound]) > mean(first[bound]),
        "opposite for norm 2",
    )
    flat = [[row[f"norm 1: {what}"] for row in rows] for what in ("test error, %", "bound")]
    for cells in flat:
        expect(
            max(map(mean, cells)) - min(map(mean, cells)) < 2 * max(map(sd, cells)), "norm 1: both are flat"
        )
    return (
        f"""even against odd, norm 2: error {num(first[wrong], 1)} → {num(last[wrong], 1)} % from p =
        {first["p"]} to {last["p"]}, bound {short(first[bound], 3)} → {short(last[bound], 3)}; norm 1: both
        flat within the spread ({span(flat[0], 0)} %,
        {" to ".join(short(f(map(mean, flat[1])), 2) for f in (min, max))}). The thesis names neither
        classes nor learner""",
        "**does not hold** for norm 2 in this reading; norm 1 does not tell",
    )


@section.row("Fig. 2.4: of separable classes ρ = 1 whatever their sizes, A = 0.71 at equal ones")
def separable() -> tuple[str, str]:
    rows = table("alignment_bounds", "Fig. 2.4").by("α")
    inside = [row for share, row in rows.items() if share not in ("0", "1")]
    expect(all(abs(mean(row["ρ measured"]) - 1) < 1e-4 for row in inside), "ρ = 1 for all 0 < α < 1")
    expect(num(rows["0.5"]["A measured"], 2) == "0.71", "A = 0.71 at equal sizes")
    expect({rows[end]["ρ measured"] for end in ("0", "1")} == {"refused"}, "ρ is 0/0 at the ends")
    return (
        "both hold up to rounding for all 0 < α < 1; at α = 0 and 1, where the thesis says 1 too, ρ is 0/0",
        "**holds** but for the ends",
    )


def _ratios(rows: Table, norm: str) -> list[float]:
    return [mean(row[f"{norm} / unif"]) for row in rows]


@section.row("Fig. 3.1: with many rank-one kernels norm 2 improves on uniform weights and norm 1 is worse")
def bigrams() -> tuple[str, str]:
    kitchen = table("alignment_bounds", "Fig. 3.1: kitchen")
    names = {"electronics": "electronics", "dvd": "dvd", "books": "books", "Reuters": "Reuters"}
    others = {name: table("alignment_bigrams", f"Fig. 3.1: {title}") for name, title in names.items()}
    two, one = ([ratio for rows in others.values() for ratio in _ratios(rows, norm)] for norm in ("l2", "l1"))
    gain = 100 * (1 - min([*two, *_ratios(kitchen, "l2")]))
    expect(max([*two, *_ratios(kitchen, "l2")]) < 1.0005, "norm 2 is nowhere behind uniform weights")
    dvd = [100 * (ratio - 1) for ratio in _ratios(others["dvd"], "l1")]
    reuters = 100 * (_ratios(others["Reuters"], "l1")[-1] - 1)
    quiet = [kitchen, others["electronics"], others["books"], others["Reuters"][:-1]]
    near = 100 * max(abs(ratio - 1) for rows in quiet for ratio in _ratios(Table(rows), "l1"))
    expect(min(dvd) > 1 and reuters > 3 and near < 1.5, "norm 1 is worse on dvd and on Reuters with 2,000")
    stars = [
        table("alignment_sentiment", f"{name}, stars").row(method="l2-krr")
        for name in ("electronics", "kitchen")
    ]
    saved = sorted(-mean(row["less unif's"]) for row in stars)
    spreads = [span([sd(row[f"{norm} / unif"]) for row in kitchen], 2) for norm in ("l2", "l1")]
    return (
        f"""kitchen reviews, 250 to 2,000 bigrams: norm 2 / uniform {each(_ratios(kitchen, "l2"), 3)} (±
        {spreads[0].replace("0.", ".")}), norm 1 / uniform {span(_ratios(kitchen, "l1"), 3)} (±
        {spreads[1].replace("0.", ".")}). Electronics, dvd, books and Reuters (`alignment_bigrams`,
        {trials(*(row["unif"] for rows in others.values() for row in rows))} draws): norm 2 / uniform
        {span(two, 3)}, norm 1 / uniform {span(one, 3)} (worse by {span(dvd, 0)} % on dvd, {num(reuters)} %
        on Reuters with 2,000). With 4,000 bigrams (Table 3.2) norm 2 gains
        {" to ".join(short(one, 3) for one in saved)} stars of {num(mean(stars[0]["error"]), 1)}""",
        f"""**in part**: norm 2 gains 0 to {num(gain, 1)} % on all five sets; norm 1 is worse on dvd and on
        Reuters with 2,000, within {num(near, 1)} % elsewhere""",
    )
