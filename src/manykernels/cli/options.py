"""The options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .choices import APPROX, KERNELS, METHODS, TASKS

DataFile = Annotated[
    Path | None, typer.Argument(help="CSV, TSV, Parquet, .npy, .npz, .h5ad or .h5mu", show_default=False)
]
Views = Annotated[
    list[str] | None,
    typer.Option("--view", metavar="NAME=FILE", help="a file with more columns; once for each view"),
]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COLUMN", help="the column to predict")]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="for survival analysis: how long each sample was seen, until the event or until it was lost",
        show_default=False,
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="COLUMN[=VALUE]",
        help="with --time: whether the event happened then; died=yes says which value is the event",
        show_default=False,
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        "--entry",
        metavar="COLUMN",
        help="with --time: from when on each sample was seen (left truncation)",
        show_default=False,
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata",
        metavar="COLUMN",
        help="with --time: samples are only compared with others of their stratum, such as a site",
        show_default=False,
    ),
]
TaskName = Annotated[str, typer.Option("--task", metavar="TASK", help=", ".join(TASKS))]
MethodName = Annotated[str, typer.Option("--method", "-m", metavar="METHOD", help=", ".join(METHODS))]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COLUMN", help="a column to leave out; may be repeated")
]
Given = Annotated[bool, typer.Option("--precomputed", help="DATA is an .npz file of kernels (n × n) and y")]
Groups = Annotated[
    Path | None,
    typer.Option(
        "--groups", metavar="FILE", help="a .gmt file of sets of columns, such as gene sets: each is a view"
    ),
]
SampleGroups = Annotated[
    str | None,
    typer.Option(
        "--sample-groups",
        metavar="COLUMN",
        help="the column that says which rows belong together, such as patient or site: folds do not split "
        "them, and nothing is learned from it",
        show_default=False,
    ),
]
Covariates = Annotated[
    list[str] | None,
    typer.Option(
        "--covariates",
        metavar="COLUMNS",
        help="columns to adjust for, such as age,sex,site: they enter unpenalised, and no kernel sees them",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="of text files")]
First = Annotated[int | None, typer.Option("--first", metavar="N", min=1, help="read only the first N rows")]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="the column that names the samples, by which files are joined",
        show_default=False,
    ),
]
NoId = Annotated[bool, typer.Option("--no-id", help="no column names the samples: rows are taken in order")]
Rows = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar="HOW",
        help="inner: leave out rows that some file lacks; outer: keep them, with gaps",
    ),
]
Kernels = Annotated[str, typer.Option("--kernels", "-k", metavar="KERNELS", help=KERNELS)]
Folds = Annotated[int, typer.Option("--cv", metavar="N", min=2, help="folds of the cross-validation")]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", metavar="N", min=1, help="number of processes; default: all processors if faster"
    ),
]
Approx = Annotated[
    str,
    typer.Option(
        "--approx",
        metavar="FEATURES",
        help=f"{APPROX}: how kernels are held; auto decides by the number of rows, none is exact",
    ),
]
TimeBudget = Annotated[
    float | None,
    typer.Option(
        "--time-budget",
        metavar="SECONDS",
        min=0.0,
        help="seconds after which --method auto stops with the best model so far",
        show_default=False,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="replace files that exist, even if this command did not write them")
]
Json = Annotated[bool, typer.Option("--json", help="answer with a JSON document on stdout")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="say nothing but errors")]
Debug = Annotated[bool, typer.Option("--debug", help="show where an error comes from")]
