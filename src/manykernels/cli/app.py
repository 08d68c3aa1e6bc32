"""The commands and their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import manykernels

from ..comparison.methods import METHODS
from . import commands
from ._console import BAD_INPUT, one_line, plainly
from .data import TASKS
from .files import Reading
from .ids import ROWS, Joining
from .models import KERNELS
from .sources import Asked

UsageError: Any = typer.BadParameter.__base__  # Typer brings its own Click, or uses the installed one


class OneLine(TyperGroup):
    """Options and commands that do not exist are bad input as any other: one line, and exit code 2."""

    def main(self, args: Any = None, *, standalone_mode: bool = True, **kwargs: Any) -> Any:  # type: ignore[override]
        try:
            code = super().main(args, standalone_mode=False, **kwargs)
        except UsageError as error:
            if not standalone_mode:
                raise
            where = error.ctx.command_path if error.ctx is not None else "manykernels"
            said = one_line(error.format_message()).rstrip(".")
            typer.echo(f"error: {said}; `{where} --help` says what there is.", err=True)
            raise SystemExit(BAD_INPUT) from None
        return sys.exit(code if isinstance(code, int) else 0) if standalone_mode else code


app = typer.Typer(
    name="manykernels",
    cls=OneLine,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def manykernels_(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="say which version this is")] = False,
) -> None:
    """Learn which kernels, and which views of your data, matter."""
    if version:
        typer.echo(f"manykernels {manykernels.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        return
    raise typer.Exit()


DataFile = Annotated[Path | None, typer.Argument(help="CSV, TSV, Parquet, .npy or .npz", show_default=False)]
Views = Annotated[list[str] | None, typer.Option("--view", help="NAME=FILE, once for each view")]
Target = Annotated[str | None, typer.Option("--target", "-t", help="the column to predict")]
TaskName = Annotated[str, typer.Option("--task", help=", ".join(TASKS))]
MethodName = Annotated[str, typer.Option("--method", "-m", help=", ".join(METHODS))]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="a column to leave out; may be repeated")]
Given = Annotated[bool, typer.Option("--precomputed", help="DATA is an .npz file of kernels (n × n) and y")]
Encoding = Annotated[str, typer.Option("--encoding", help="of text files")]
First = Annotated[int | None, typer.Option("--first", min=1, help="read only the first N rows")]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", help="the column that names the samples, by which files are joined", show_default=False
    ),
]
NoId = Annotated[bool, typer.Option("--no-id", help="no column names the samples: rows are taken in order")]
Rows = Annotated[
    str | None,
    typer.Option("--rows", help="inner: leave out rows that some file lacks; outer: keep them, with gaps"),
]
Kernels = Annotated[str, typer.Option("--kernels", "-k", help=KERNELS)]
Folds = Annotated[int, typer.Option("--cv", min=2, help="folds of the cross-validation")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", "-j", min=1, help="processes at a time; one for each processor, if it pays"),
]
Force = Annotated[
    bool, typer.Option("--force", help="replace files that exist, even if this command did not write them")
]
Json = Annotated[bool, typer.Option("--json", help="answer with a JSON document on stdout")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="say nothing but errors")]
Debug = Annotated[bool, typer.Option("--debug", help="show where an error comes from")]


@app.command()
def fit(
    data: DataFile = None,
    target: Target = None,
    view: Views = None,
    method: MethodName = "auto",
    kernels: Kernels = "auto",
    task: TaskName = "auto",
    drop: Drop = None,
    precomputed: Given = False,
    encoding: Encoding = "utf-8",
    id_: Id = None,
    no_id: NoId = False,
    rows: Rows = None,
    first: First = None,
    cv: Folds = 5,
    score: Annotated[bool, typer.Option(help="whether to cross-validate the model")] = True,
    stability: Annotated[
        bool, typer.Option(help="whether the report says how weights vary over resamples of the data")
    ] = True,
    jobs: Jobs = None,
    model: Annotated[Path | None, typer.Option("--model", "-o", help="write the model to this file")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="write a report to this .html file")] = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn a model from a table, say what it learned, and write it and a report to files."""
    how, join = _reading(encoding, rows, first), _joining(id_, no_id, rows)
    asked = Asked(data, view or [], target, task, tuple(drop or ()), precomputed, how, join)
    options = {"method": method, "kernels": kernels, "cv": cv, "score": score, "stability": stability}
    options |= {"jobs": jobs, "force": force}
    _run(commands.fit, json_, quiet, debug, asked, model_path=model, report_path=report, **options)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="a file that `fit --model` wrote", show_default=False)],
    data: DataFile = None,
    view: Views = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=".csv, .parquet or .npy; without it, CSV on stdout")
    ] = None,
    force: Force = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet/--verbatim",
            help="in CSV, put ' before text that spreadsheets would run as a formula",
        ),
    ] = True,
    encoding: Encoding = "utf-8",
    id_: Id = None,
    no_id: NoId = False,
    rows: Rows = None,
    first: First = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict with a model; columns are found by name, others (the target too) are ignored."""
    how, join = _reading(encoding, rows, first), _joining(id_, no_id, rows)
    asked = Asked(data, view or [], how=how, join=join)
    options = {"force": force, "spreadsheet": spreadsheet}
    _run(commands.predict, json_, quiet, debug, asked, model_path=model, out=out, **options)


@app.command()
def compare(
    data: DataFile = None,
    target: Target = None,
    view: Views = None,
    kernels: Kernels = "auto",
    method: Annotated[
        list[str] | None, typer.Option("--method", "-m", help="only these; may be repeated")
    ] = None,
    task: TaskName = "auto",
    drop: Drop = None,
    precomputed: Given = False,
    encoding: Encoding = "utf-8",
    id_: Id = None,
    no_id: NoId = False,
    rows: Rows = None,
    first: First = None,
    cv: Folds = 5,
    tune: Annotated[bool, typer.Option(help="choose C by cross-validation within the folds")] = True,
    jobs: Jobs = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cross-validate every method that applies, as a table and a chart."""
    how, join = _reading(encoding, rows, first), _joining(id_, no_id, rows)
    asked = Asked(data, view or [], target, task, tuple(drop or ()), precomputed, how, join)
    _run(
        commands.compare,
        json_,
        quiet,
        debug,
        asked,
        kernels=kernels,
        cv=cv,
        tune=tune,
        methods=list(method or []),
        jobs=jobs,
    )


@app.command()
def demo(
    report: Annotated[Path | None, typer.Option("--report", help="where to write the report")] = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn from a dataset that comes with scikit-learn, and write a report about it."""
    _run(commands.demo, json_, quiet, debug, report_path=report, force=force)


def _reading(encoding: str, rows: str | None, first: int | None) -> Reading:
    if rows is None or rows in ROWS:
        return Reading(encoding, first)
    if not rows.isdecimal() or not int(rows):
        raise typer.BadParameter(f"--rows {rows}: expected {' or '.join(ROWS)}")
    if first is not None:
        raise typer.BadParameter(f"--rows {rows} and --first {first} were given: leave one of them out")
    return Reading(encoding, int(rows))  # as --first was called


def _joining(id_: str | None, no_id: bool, rows: str | None) -> Joining:
    return Joining(id_, rows if rows in ROWS else None, no_id)


def _run(command: Any, json_: bool, quiet: bool, debug: bool, *args: Any, **options: Any) -> None:
    plainly(command)(*args, json_=json_, quiet=quiet, debug=debug, **options)


def run() -> None:
    """The command line, as a process."""
    app()
