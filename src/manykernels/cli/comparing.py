"""The command `compare`: methods in the same folds, as a table and as a report of all of them."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

from rich.markup import escape

from .._arguments import number_of
from .._files import write_atomically
from ..comparison.folds import Splits
from ..comparison.methods import METHODS
from ..comparison.results import Comparison
from ..families.remarks import quiet_about_tables
from ..report import comparison_data, write_report
from ..report.held import Look, gathered
from ._console import INTERRUPTED, Voice, require_known
from .data import Data, tell, training_data
from .models import adjusts, pipeline
from .outputs import FORMS, report_output, require_safe, table_output
from .scores import compared, folds
from .sources import Asked
from .work import jobs_for


@quiet_about_tables()
def compare(
    voice: Voice,
    asked: Asked,
    *,
    kernels: str,
    cv: int,
    repeats: int,
    tune: bool,
    methods: list[str],
    jobs: int | None,
    out: Path | None,
    report_path: Path | None = None,
    force: bool = False,
) -> None:
    for name in methods:
        require_known("--method", name, METHODS)
    require_safe([table_output(out), report_output(report_path)], asked.paths, force)
    data = training_data(asked, voice)
    tell(data, voice, text=kernels == "auto")
    chosen = methods or [m for m in METHODS if METHODS[m].serves(data.task, bool(data.kernels))]
    if data.covariates and not methods:
        able = [name for name in chosen if adjusts(data, name, kernels)]
        left = ", ".join(name for name in chosen if name not in able)
        voice.note(f"these methods cannot adjust for covariates, and are left out: {left}.")
        chosen = able
    models = {name: pipeline(data, name, kernels, tune=tune) for name in chosen}
    splits = folds(data, cv, repeats, only_scores=True)
    keep = {name: Look(explain=False) for name in models} if report_path is not None else None
    results = compared(voice, models, data, splits, jobs_for(data, jobs), keep)
    table = results.table()
    voice.show(f"{number_of(data.n, 'sample')}, {data.task}")
    voice.show(escape(replace(table, notes=table.notes[:1]).text()))
    for name, scores in results.scores.items():
        if scores.failed:
            voice.note(f"{name} {scores.error}")
    if out is not None:
        write_atomically(out, FORMS[out.suffix.lower()](table).encode())
        voice.show(f"table: {escape(str(out))}")
    if report_path is not None:
        _write_comparison(data, results, splits, report_path, force)
        voice.show(f"report: {escape(str(report_path))}")
    rows = [row | results.scores[row["method"]].as_dict() for row in table.values if row["method"] in chosen]
    document = {"command": "compare", "task": data.task, "metric": results.metric, "results": rows}
    written = {"out": out, "report": report_path}
    files = {what: str(path) if path else None for what, path in written.items()}
    voice.answer(document | {"chance": results.chance.as_dict()} | files)
    if voice.stopped:
        raise SystemExit(INTERRUPTED)


def _write_comparison(data: Data, results: Comparison, splits: Splits, path: Path, force: bool) -> None:
    """Write all methods side by side, with what they say of held-out samples."""
    target = data.outcome.get("time", data.target)
    told = comparison_data(
        results,
        data.X,
        data.y,
        task=data.task,
        held_out={name: gathered(scores, splits) for name, scores in results.scores.items()},
        title=f"Which model predicts {data.target} best",
        target=target,
        call=shlex.join(["manykernels", *sys.argv[1:]]),
    )
    write_report(told, path, overwrite=force)
