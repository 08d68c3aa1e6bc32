"""Runs of the survival experiment: those of this machine, and those that are kept in git.

All of them take many hours, so that a comparison is gone on with elsewhere: `--record` writes what is known
into a table of text, and what is in it is not run again.
"""

from __future__ import annotations

import csv
import json

from ..selection.resume import FOLDER, Runs

KEPT = FOLDER.parent / "survival_runs.csv"
NAMES = "set,seed,method,n,d,events,test,test events,seconds,uno,harrell,brier,failed,commit".split(",")


def known() -> Runs:
    """What was run here or is kept; the last run here counts."""
    runs = Runs(FOLDER / "survival.jsonl")
    if KEPT.is_file():
        with KEPT.open(encoding="utf-8", newline="") as stream:
            for row in csv.DictReader(stream):
                facts = {name: _value(name, text) for name, text in row.items() if text != ""}
                runs.known.setdefault((facts["set"], facts["seed"], facts["method"]), facts)
    return runs


def keep(runs: Runs) -> None:
    """Write what is known, in order."""
    with KEPT.open("w", encoding="utf-8", newline="") as stream:
        table = csv.DictWriter(stream, NAMES, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(runs.known[key] for key in sorted(runs.known))


def _value(name: str, text: str) -> str | int | float:
    return text if name in ("set", "method", "failed", "commit") else json.loads(text)
