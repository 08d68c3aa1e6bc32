"""The commands and their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import manykernels

from .choices import PERMUTATIONS, ROWS
from .options import (
    Approx,
    Covariates,
    DataFile,
    Debug,
    Drop,
    Encoding,
    Entry,
    Event,
    First,
    Folds,
    Force,
    Given,
    Groups,
    Id,
    Jobs,
    Json,
    Kernels,
    MethodName,
    NoId,
    Quiet,
    Rows,
    SampleGroups,
    Strata,
    Target,
    TaskName,
    Time,
    TimeBudget,
    Views,
)

UsageError: Any = typer.BadParameter.__base__  # Typer brings its own Click, or uses the installed one


class OneLine(TyperGroup):
    """Options and commands that do not exist are bad input as any other: one line, and exit code 2."""

    def main(self, args: Any = None, *, standalone_mode: bool = True, **kwargs: Any) -> Any:  # type: ignore[override]
        try:
            code = super().main(args, standalone_mode=False, **kwargs)
        except UsageError as error:
            if not standalone_mode:
                raise
            from ._console import BAD_INPUT, one_line

            where = error.ctx.command_path if error.ctx is not None else "manykernels"
            said = one_line(error.format_message()).rstrip(".")
            typer.echo(f"error: {said}; `{where} --help` lists the commands and options.", err=True)
            raise SystemExit(BAD_INPUT) from None
        except MemoryError:  # while options are read; what comes after them says more
            if not standalone_mode:
                raise
            typer.echo("error: there is not enough memory to read the options.", err=True)
            raise SystemExit(2) from None
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
    version: Annotated[bool, typer.Option("--version", help="print the version")] = False,
) -> None:
    """Learn which kernels, and which views of your data, matter."""
    if version:
        typer.echo(f"manykernels {manykernels.__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
    else:
        return
    raise typer.Exit()


@app.command(short_help="Learn a model from a table, and say what it learned.")
def fit(
    data: DataFile = None,
    target: Target = None,
    time: Time = None,
    event: Event = None,
    entry: Entry = None,
    strata: Strata = None,
    view: Views = None,
    method: MethodName = "auto",
    kernels: Kernels = "auto",
    task: TaskName = "auto",
    drop: Drop = None,
    precomputed: Given = False,
    groups: Groups = None,
    sample_groups: SampleGroups = None,
    covariates: Covariates = None,
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
    importance: Annotated[
        bool, typer.Option(help="whether to permute columns of held-out samples, to see which of them matter")
    ] = True,
    significance: Annotated[
        bool | None,
        typer.Option(
            "--significance/--no-significance",
            help="whether to test each view and kernel for a relation to the target; default: if quick",
            show_default=False,
        ),
    ] = None,
    permutations: Annotated[
        int,
        typer.Option(min=0, help="how often the model learns from permuted targets, as a test; 0 for never"),
    ] = PERMUTATIONS,
    intervals: Annotated[
        bool,
        typer.Option(
            "--intervals",
            help="also learn how far off predictions of numbers may be, for predict --interval; takes longer",
        ),
    ] = False,
    approx: Approx = "auto",
    time_budget: TimeBudget = None,
    jobs: Jobs = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-o", metavar="FILE", help="write the model to this file")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="write a report to this .html or .md file")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FOLDER",
            help="keep finished work here, to go on after a crash; removed when all is done",
        ),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume", metavar="FOLDER", help="go on with the command that keeps its work in this folder"
        ),
    ] = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn a model from a table, say what it learned, and write it and a report to files.

    Times to an event: manykernels fit patients.csv --time months --event died
    """
    given = dict(locals())
    if resume is not None:
        return _resume(resume, json_, quiet, debug)
    how = {"rows": rows, "first": first, "id_": id_, "no_id": no_id, "encoding": encoding}
    what: dict[str, Any] = {"target": target, "task": task, "drop": tuple(drop or ())}
    what |= {"precomputed": precomputed, "groups": groups, "covariates": _names(covariates)}
    what["sample_groups"] = sample_groups
    what["outcome"] = _given(time=time, event=event, entry=entry, stratum=strata)
    asked = _asked(data, view, how, **what)
    options = {"method": method, "kernels": kernels, "cv": cv, "score": score, "stability": stability}
    options |= {"importance": importance, "significance": significance}
    options |= {"jobs": jobs, "force": force, "permutations": permutations, "intervals": intervals}
    options |= {"approx": approx, "time_budget": time_budget}
    options |= {"checkpoint": checkpoint, "given": given}
    _run("fit", json_, quiet, debug, asked, model_path=model, report_path=report, **options)


@app.command(short_help="Predict with a model for the rows of a table.")
def predict(
    model: Annotated[Path, typer.Argument(help="a file that `fit --model` wrote", show_default=False)],
    data: DataFile = None,
    view: Views = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help=".csv, .parquet or .npy; without it, CSV on stdout"),
    ] = None,
    times: Annotated[
        str | None,
        typer.Option(
            "--times",
            metavar="LIST",
            help="for survival models: predict the chance of no event until these times, such as 12,24,60",
            show_default=False,
        ),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            help="for models of fit --intervals: predict a range that holds this share of targets, as 0.9",
            show_default=False,
        ),
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
    how = {"rows": rows, "first": first, "id_": id_, "no_id": no_id, "encoding": encoding}
    asked = _asked(data, view, how)
    options = {"force": force, "spreadsheet": spreadsheet, "times": times, "interval": interval}
    _run("predict", json_, quiet, debug, asked, model_path=model, out=out, **options)


@app.command(short_help="Cross-validate methods side by side.")
def compare(
    data: DataFile = None,
    target: Target = None,
    time: Time = None,
    event: Event = None,
    entry: Entry = None,
    strata: Strata = None,
    view: Views = None,
    kernels: Kernels = "auto",
    method: Annotated[
        list[str] | None,
        typer.Option("--method", "-m", metavar="METHOD", help="compare only this; may be repeated"),
    ] = None,
    task: TaskName = "auto",
    drop: Drop = None,
    precomputed: Given = False,
    groups: Groups = None,
    sample_groups: SampleGroups = None,
    covariates: Covariates = None,
    encoding: Encoding = "utf-8",
    id_: Id = None,
    no_id: NoId = False,
    rows: Rows = None,
    first: First = None,
    cv: Folds = 5,
    tune: Annotated[bool, typer.Option(help="choose C by cross-validation within the folds")] = True,
    repeats: Annotated[int, typer.Option(min=1, help="how often to repeat this with new folds")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="write the table to this .csv, .tex or .html file"),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="FILE", help="write all methods side by side to this .html or .md file"
        ),
    ] = None,
    jobs: Jobs = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Cross-validate every method that applies, and test how they differ."""
    how = {"rows": rows, "first": first, "id_": id_, "no_id": no_id, "encoding": encoding}
    what: dict[str, Any] = {"target": target, "task": task, "drop": tuple(drop or ())}
    what |= {"precomputed": precomputed, "groups": groups, "covariates": _names(covariates)}
    what["sample_groups"] = sample_groups
    what["outcome"] = _given(time=time, event=event, entry=entry, stratum=strata)
    asked = _asked(data, view, how, **what)
    _run(
        "compare",
        json_,
        quiet,
        debug,
        asked,
        kernels=kernels,
        cv=cv,
        repeats=repeats,
        tune=tune,
        methods=list(method or []),
        jobs=jobs,
        out=out,
        report_path=report,
        force=force,
    )


@app.command(short_help="Learn from an example, and write a report about it.")
def demo(
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="where to write the report")
    ] = None,
    force: Force = False,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn from a dataset that comes with scikit-learn, and write a report about it."""
    _run("demo", json_, quiet, debug, report_path=report, force=force)


@app.command(short_help="List the checks of models by code, with advice.")
def checks(
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="show only this check, such as MK201")
    ] = None,
    json_: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """List the checks that `fit` makes on every model, with what to do about each."""
    from ._console import plainly
    from .careful import explain

    plainly(explain)(code, json_=json_, quiet=quiet, debug=debug)


@app.command("warm-up", short_help="Compile the code that fits need, once after installing.")
def warm_up(json_: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """Compile what fits need and keep it on disk, so that no first fit waits for it.

    Useful once after installing, in the image of a container, or before times are measured.
    """
    from ._console import plainly
    from .warm_up import say_compiled

    plainly(say_compiled)(json_=json_, quiet=quiet, debug=debug)


def _given(**options: str | None) -> dict[str, str]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value}


def _names(given: list[str] | None) -> tuple[str, ...]:
    """Names of columns, given one by one or with commas between them."""
    return tuple(name.strip() for part in given or () for name in part.split(",") if name.strip())


def _asked(data: Path | None, view: list[str] | None, how: dict[str, Any], **what: Any) -> Any:
    """Return the options about data: files, how they are read and joined, and what is in them."""
    from .files import Reading
    from .ids import Joining
    from .sources import Asked

    rows, first = how["rows"], how["first"]
    if rows is not None and rows not in ROWS:  # a number means what --first means
        if not rows.isdecimal() or not int(rows):
            raise typer.BadParameter(f"--rows {rows}: expected {' or '.join(ROWS)}")
        if first is not None:
            raise typer.BadParameter(f"--rows {rows} and --first {first} were given: leave one of them out")
        first, rows = int(rows), None
    joining = Joining(how["id_"], rows, how["no_id"])
    return Asked(data, view or [], **what, how=Reading(how["encoding"], first), join=joining)


def _run(command: str, json_: bool, quiet: bool, debug: bool, *args: Any, **options: Any) -> None:
    """Import and run a command; the import takes seconds, so that it comes this late."""
    from . import commands
    from ._console import plainly

    plainly(getattr(commands, command))(*args, json_=json_, quiet=quiet, debug=debug, **options)


def _resume(folder: Path, json_: bool, quiet: bool, debug: bool) -> None:
    """The command that was begun, with its own options; how its answer is shown may be another one."""
    from ._console import plainly
    from .kept import remembered

    found: dict[str, Any] = {}
    plainly(lambda voice: found.update(remembered(folder)))(json_=json_, quiet=quiet, debug=debug)
    shown = {"json_": json_, "quiet": quiet, "debug": debug}
    fit(**found | {name: True for name, asked in shown.items() if asked})


def run() -> None:
    """The command line, as a process."""
    app()
