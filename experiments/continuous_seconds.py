"""Afkanpour 2013, Table 6.4: seconds on letters, of widths that are searched or listed."""

from __future__ import annotations

import numpy as np

from .continuous_digits import draw, timed_trial
from .continuous_ranks import COSTS, LETTERS, costs, grid_methods, searching_methods
from .data import Source, stand_in, three_parts
from .selection.resume import Key, Runs, go_on, kept
from .tables import Facts, Report, Spread

DRAWS = 10
ALL = "all methods"
PAPER = {
    "GCD-2s (1D)": "9 ± 1",
    "GCD-2s (nD)": "770 ± 80",
    "CKL (1D)": "590 ± 21",
    "CKL (nD)": "1550 ± 200",
    "alignf": "11 ± 1",
    "LPMKL, p = 1": "21 ± 1",
    "LPMKL, p = 2": "22 ± 1",
    "uniform": "5 ± 1",
}


def run(report: Report) -> None:
    """Seconds of one fit at the chosen C, beside the uniform combination in the same draw."""
    runs = Runs() if report.quick else kept("continuous_seconds")
    with report.leaving_out("letter"):
        left = go_on(runs, keys(report.quick), quick_trial if report.quick else trial)
        if left:
            report.left_out["draws"] = f"{left} of {len(keys())} are not done"
        report.table("Letters, seconds of one fit at the chosen C", rows(runs), NOTE)


NOTE = (
    "Of one processor (process time), with the computation of kernels, on a machine that others used: mean ± "
    "standard deviation over the pairs (Afkanpour 2013: standard error) of the mean over the draws of a "
    "pair; the ratio "
    "to uniform in the same draw is a median. Pairs, sizes, widths and C as in continuous_ranks: 300 points "
    "to train on; nD in one stage takes the C of its 1D form and 20 iterations at most. Draws: of all pairs."
)


def keys(quick: bool = False) -> list[Key]:
    """(pair, draw, all methods)."""
    pairs, draws = (LETTERS[:1], range(2)) if quick else (LETTERS, range(DRAWS))
    return [(pair, seed, ALL) for seed in draws for pair in pairs]


def quick_trial(pair: str, seed: int, method: str) -> Facts:
    return trial(pair, seed, method, quick=True)


def trial(pair: str, seed: int, _: str, quick: bool = False) -> Facts:
    """C, error, kernels and seconds of every method on one draw."""
    first, second = (ord(letter) - ord("A") for letter in pair)
    classes = ((0,), (1,)) if stand_in(quick) else ((first,), (second,))
    data = Source("letter", "classification", "raw", classes=classes).load(m=100_000, quick=quick)
    parts = draw(data.X, data.y, three_parts(data) if quick else (300, 200, 1000), seed)
    methods = searching_methods(1.0, 200.0, "classification", quick) | grid_methods(
        np.linspace(1.0, 200.0, 20)
    )
    found = timed_trial(parts, methods, costs(COSTS, quick))
    return {"found": {name: {key: float(facts[key]) for key in facts} for name, facts in found.items()}}


def rows(runs: Runs) -> list[Facts]:
    """A row a method; seconds are a value for each pair."""
    pairs = [pair for pair in LETTERS if runs.seeds(pair, ALL)]
    found = {pair: [runs.known[pair, seed, ALL]["found"] for seed in runs.seeds(pair, ALL)] for pair in pairs}
    trials = [t for several in found.values() for t in several]
    table: list[Facts] = []
    for name in trials[0]:
        means = [float(np.mean([t[name]["seconds"] for t in several])) for several in found.values()]
        row: Facts = {"method": name, "seconds": Spread(means, 3)}
        row["to uniform"] = f"{np.median([t[name]['seconds'] / t['uniform']['seconds'] for t in trials]):.1f}"
        row["kernels"] = Spread([t[name]["kernels"] for t in trials], 1)
        row["per cent wrong"] = Spread([t[name]["error"] for t in trials], 1)
        table.append(row | {"draws": len(trials), "Afkanpour 2013: seconds": PAPER.get(name)})
    return table
