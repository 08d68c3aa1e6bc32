"""The work of the commands."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd
from rich.markup import escape

from .._arguments import number_of, rounded
from .._files import write_atomically
from ..comparison.methods import METHODS
from ..comparison.results import Comparison
from ..families.remarks import quiet_about_tables
from ..persistence import load, skops_io
from ._console import INTERRUPTED, UserError, Voice, require_known, unless_closed
from .careful import careful, careful_with, seen
from .chances import Chances, chances
from .comparing import compare as compare
from .data import Data, new_data, tell, training_data
from .importances import Needed, needed
from .kept import forget, keeping_scores, part_of, remember
from .learned import Learned
from .models import pipeline, reads_raw, sized
from .outcomes import said_of
from .outputs import model_output, predictions_output, report_output, require_safe
from .predictions import (
    CONFIDENCE,
    KINDS,
    RISK,
    beside_risks,
    confidence,
    ends_of_intervals,
    in_bytes,
    names_of_rows,
    neutralised,
)
from .scores import Judged, folds, judged
from .sources import Asked
from .tables import views_table, weights_table
from .work import jobs_for

_MANY_SAMPLES = 10_000  # samples from which kernel matrices take their time
_FEW_SAMPLES = 500  # samples from which something is learned at once


# -- fit ------------------------------------------------------------------------------------------
@quiet_about_tables()  # once they are read, all has been said of them
def fit(
    voice: Voice,
    asked: Asked,
    *,
    method: str,
    kernels: str,
    cv: int,
    score: bool,
    stability: bool,
    importance: bool,
    significance: bool | None,
    permutations: int,
    jobs: int | None,
    model_path: Path | None,
    report_path: Path | None,
    force: bool = False,
    intervals: bool = False,
    approx: str = "auto",
    time_budget: float | None = None,
    checkpoint: Path | None = None,
    given: dict[str, Any] | None = None,
) -> None:
    _require_sense(method, kernels, report_path)
    require_safe([model_output(model_path), report_output(report_path)], asked.paths, force)
    if model_path is not None:
        skops_io()  # before the work
    remember(checkpoint, given or {})
    data = training_data(asked, voice)
    whole = sized(
        pipeline(data, method, kernels, intervals=intervals), method, approx, time_budget, data.task
    )
    _say_size(voice, data.n, method, approx)
    tell(data, voice, text=reads_raw(method, kernels))
    learned = Learned(whole, data)
    splits = folds(data, cv) if score else None
    at_once = jobs_for(data, jobs)
    seconds = _learn(voice, learned, method, kernels, at_once, checkpoint)
    if model_path is not None:
        learned.save(model_path, _about(data, method, kernels), force)
    found = Judged(Comparison("", {}))
    if splits is not None:
        how: dict[str, Any] = {"rivals": report_path is not None, "permutations": permutations}
        with keeping_scores(checkpoint, data, method, kernels):
            found = judged(voice, learned, splits, seconds, jobs=at_once, **how)
    facts = learned.facts()
    _say(voice, data, facts, seconds)
    scored = found.say(voice, facts)
    need = Needed()
    if splits is not None and importance and not voice.stopped:
        need = needed(voice, learned, splits, at_once)
    _say_views(voice, data, facts, need)
    scored |= need.say(voice, data.called)
    tests = chances(voice, learned, significance if not voice.stopped else False)
    scored |= tests.say(voice, bool(significance))
    spread: dict[str, Any] = {}
    if report_path is not None:
        spread = learned.spread(voice, at_once) if stability and not voice.stopped else {}
        _chosen_again(voice, spread)
        _write_report(voice, learned, report_path, found, _for_report(need, tests) | spread, force)
    scored |= careful(voice, learned, found, spread, splits)
    written = {"model": model_path, "report": report_path}
    for what, path in written.items():
        if path is not None:
            voice.show(f"{what}: {escape(str(path))}")
    document = {"command": "fit", "target": data.target, "task": data.task, "samples": data.n, **facts}
    if data.outcome:
        document |= {"outcome": data.outcome, "events": int(data.y["event"].sum())}
    document |= {"method": method, "seconds": seconds, **scored}
    voice.answer(document | {what: str(path) if path else None for what, path in written.items()})
    if voice.stopped:
        raise SystemExit(INTERRUPTED)
    forget(checkpoint)


def _say_size(voice: Voice, n: int, method: str, approx: str) -> None:
    """Print what many samples mean for this method."""
    if n <= _MANY_SAMPLES or approx not in ("auto", "none"):
        return
    if method == "auto" and approx == "auto":
        voice.note(
            f"{n} samples: models are compared on some of them, and the best one is learned from all. "
            "--time-budget SECONDS ends it sooner."
        )
    else:
        voice.note(
            f"{n} samples: time and memory grow with the square of this number. --method auto, --approx "
            "nystroem:200 and --first N are faster."
        )


def _require_sense(method: str, kernels: str, report_path: Path | None) -> None:
    """Raise an error for options that do not go together."""
    require_known("--method", method, METHODS)
    if method == "single" and report_path is not None:
        raise UserError(
            "--method single learns no weights to report on: leave --report out, or take --method auto."
        )
    if METHODS[method].own and kernels != "auto":
        raise UserError(
            f"--kernels {kernels}: --method {method} has its own kernels; leave one of the two options out."
        )


def _learn(
    voice: Voice, learned: Learned, method: str, kernels: str, jobs: int, checkpoint: Path | None = None
) -> float:
    """Fit, and how many seconds that took; where it is stopped, the answer is what there is until then."""
    started = time.perf_counter()
    if METHODS[method].searches:
        try:
            learned.fit(voice, jobs, part_of(checkpoint, "search"))
        except KeyboardInterrupt:
            if method != "auto":
                raise
            _without_search(voice, learned.data, kernels)
    elif learned.fit_until_stopped(voice):
        _partial(voice, learned, time.perf_counter() - started)
    return time.perf_counter() - started


def _without_search(voice: Voice, data: Data, kernels: str) -> NoReturn:
    """A search that was stopped leaves the weights without it, which take one fit; and no files."""
    whole, data = data.n, data.some(_FEW_SAMPLES)
    of = f" of {data.n} of {whole} samples" if data.n < whole else ""
    voice.note(
        f"the search was stopped: these are weights{of} for C = 1, nothing was chosen, scored or written."
    )
    learned = Learned(pipeline(data, "sparse", kernels), data)
    started = time.perf_counter()
    learned.fit(voice)
    _partial(voice, learned, time.perf_counter() - started)


def _partial(voice: Voice, learned: Learned, seconds: float) -> NoReturn:
    """The answer of a fit that was stopped, and no files."""
    data, facts = learned.data, learned.facts()
    _say(voice, data, facts, seconds)
    _say_views(voice, data, facts, Needed())
    voice.answer({"command": "fit", "target": data.target, "task": data.task, "partial": True, **facts})
    raise SystemExit(INTERRUPTED)


def _about(data: Data, method: str, kernels: str) -> dict[str, Any]:
    """Return what `predict` must know of the data, to be kept in the model."""
    return {
        "target": data.target,
        "task": data.task,
        "columns": [] if data.kernels else list(data.X.columns),
        "used": [*data.used, *data.covariates],
        "views": list(data.views),
        "kernels": list(data.kernels),
        "id": data.id,
        "method": method,
        "kernels_given": kernels,
        "outcome": data.outcome,
        "seen": seen(data),
    }


def _say(voice: Voice, data: Data, facts: dict[str, Any], seconds: float) -> None:
    if not voice.talks:
        return
    width = data.X.shape[2] if data.kernels else len(data.used)
    things = "kernel" if data.kernels else "column"
    what = f"{len(set(data.y))} classes of " if data.task == "classification" else ""
    learned = said_of(data.y, data.outcome) if data.outcome else f"{what}{data.plainly(data.target)!r}"
    size = f"{number_of(data.n, 'sample')}, {number_of(width, things)}"
    voice.show(f"{size}, {escape(learned)}; learned in {seconds:.1f} s")
    voice.show(weights_table(facts))
    if facts.get("adjusted"):
        voice.show(escape(facts["adjusted"]))
    voice.show(facts["certificate"])
    if facts["chosen"]:
        named = {key: value for key, value in facts["chosen"].items() if key != "kernels"}  # shown above
        told = ", ".join(f"{key} {rounded(value)}" for key, value in named.items() if value is not None)
        end = f" (the {facts['end_of_path']} that was tried)" if facts["end_of_path"] else ""
        voice.show(f"chosen by cross-validation: {escape(told)}{end}")


def _say_views(voice: Voice, data: Data, facts: dict[str, Any], need: Needed) -> None:
    table = views_table(data.views, facts, None if need.found is None else need.found.views)
    if table is not None:
        voice.show(table)


def _chosen_again(voice: Voice, spread: dict[str, Any]) -> None:
    """Say how often a search chose the same once more."""
    choices = getattr(spread.get("stability"), "choices", None)
    if choices:
        name, count = next(iter(choices.items()))
        of = f"{count} of {sum(choices.values())} random halves of the data"
        voice.show(f"the search chose the same model again ({escape(name)}) in {of}")


def _for_report(need: Needed, tests: Chances) -> dict[str, Any]:
    """Return what a report needs of both, without omissions."""
    parts = need.for_report | tests.for_report
    return parts | {"left_out": need.for_report.get("left_out", {}) | tests.left_out}


def _write_report(
    voice: Voice,
    learned: Learned,
    path: Path,
    found: Judged,
    spread: dict[str, Any],
    force: bool,
) -> None:
    data = learned.data
    told: dict[str, Any] = {
        "title": f"What predicts {data.plainly(data.target)}",
        "call": shlex.join(["manykernels", *sys.argv[1:]]),
        "target": data.plainly(data.outcome.get("time", data.target)),
        "sample_names": data.ids,
        "set_aside": data.set_aside,
        "column_names": data.called,
        "sample_groups": data.sample_groups,
        "grouped_by": data.plainly(data.grouped_by),
    }
    if voice.stopped:  # a path is many fits
        told["fit_path"] = False
        spread = spread | {"left_out": {"Weights along C": "It was stopped."} | spread.get("left_out", {})}
    with voice.waiting("writing the report"):
        learned.write_report(path, told | found.for_report | spread, force)


# -- predict --------------------------------------------------------------------------------------
def predict(
    voice: Voice,
    asked: Asked,
    *,
    model_path: Path,
    out: Path | None,
    times: str | None = None,
    interval: float | None = None,
    force: bool = False,
    spreadsheet: bool = True,
) -> None:
    if out is not None and out.suffix.lower() not in KINDS:
        raise UserError(f"{out}: predictions are written to .csv, .parquet or .npy.")
    if out is not None and times is not None and out.suffix.lower() == ".npy":
        raise UserError(f"{out}: an .npy file holds risks alone; with --times, write to .csv or .parquet.")
    require_safe([predictions_output(out)], [model_path, *asked.paths], force)
    if not model_path.exists():
        raise UserError(
            f"{model_path}: there is no such file. `manykernels fit … --model {model_path}` writes it."
        )
    if model_path.is_dir():
        raise UserError(
            f"{model_path} is a folder, not a model; `manykernels fit … --model FILE` writes one."
        )
    if model_path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        raise UserError(
            f"{model_path} is a table, not a model; expected `manykernels predict MODEL DATA`. "
            "`manykernels fit … --model FILE` writes a model."
        )
    model = _load(model_path)
    about = getattr(model, "manykernels_", None)
    if about is None:
        raise UserError(f"{model_path} was not written by `manykernels fit`; use it from Python.")
    new = new_data(asked, about, voice)
    X, predicted = new.X, np.asarray(model.predict(new.X))
    called = RISK if about["task"] == "survival" else str(about["target"])
    columns = {**names_of_rows(new.ids, len(predicted), called), called: predicted}
    columns |= beside_risks(model, predicted, new, about, times, voice)
    columns |= ends_of_intervals(model, new.X, interval)
    method = next((method for method in CONFIDENCE if hasattr(model, method)), None)
    if method is not None and hasattr(model, "classes_"):
        columns.update(confidence(method, getattr(model, method)(X), model.classes_))
    frame, kind = pd.DataFrame(columns), ".csv" if out is None else out.suffix.lower()
    if spreadsheet and kind == ".csv" and (out is not None or not voice.json):
        frame = neutralised(frame, voice)
    checks = careful_with(voice, new.X, predicted, about["seen"]) if "seen" in about else []
    if voice.json:
        plain = {name: np.asarray(values).tolist() for name, values in columns.items()}
        found = {"command": "predict", "samples": len(predicted), "predictions": plain, "checks": checks}
        voice.answer(found)
    if out is not None:
        write_atomically(out, in_bytes(frame, predicted, kind))
        voice.show(f"{number_of(len(predicted), 'prediction')}: {escape(str(out))}")
    elif not voice.json:
        with unless_closed():
            sys.stdout.write(frame.to_csv(index=False))
            sys.stdout.flush()


def _load(path: Path) -> Any:
    """Read a model, or raise an error that says how to make it again with this command."""
    try:
        return load(path)
    except ValueError as error:
        again = f"Fit it again with `manykernels fit … --model {path}`."
        raise UserError(str(error).replace("Write it again by save(model, path).", again)) from error


# -- demo -----------------------------------------------------------------------------------------
def demo(voice: Voice, *, report_path: Path | None, force: bool = False) -> None:
    """The whole way on the breast cancer data: three views of each tumour."""
    from sklearn.datasets import load_breast_cancer

    path = report_path or Path("manykernels-demo.html")
    require_safe([report_output(path)], [], force)
    bunch = load_breast_cancer(as_frame=True)
    frame, names = bunch.data, list(bunch.data.columns)
    labels = np.where(bunch.target == 1, "benign", "malignant").astype(object)
    views = {"mean": names[:10], "error": names[10:20], "worst": names[20:]}
    data = Data(frame, labels, "diagnosis", "classification", used=names, views=views)
    learned = Learned(pipeline(data, "sparse"), data)
    jobs = jobs_for(data, None)
    started = time.perf_counter()
    learned.fit(voice)
    seconds = time.perf_counter() - started
    splits = folds(data, 5)
    found = judged(voice, learned, splits, seconds, rivals=True, jobs=jobs)
    facts = learned.facts()
    _say(voice, data, facts, seconds)
    need = needed(voice, learned, splits, jobs)
    scored = found.say(voice, facts)
    _say_views(voice, data, facts, need)
    scored |= need.say(voice, data.called)
    spread = learned.spread(voice, jobs)
    _write_report(voice, learned, path, found, need.for_report | spread, force)
    scored |= careful(voice, learned, found, spread, splits)
    voice.show(f"report: {escape(str(path.resolve()))}")
    document = {
        "command": "demo",
        "samples": data.n,
        "report": str(path),
        **facts,
        **scored,
    }
    voice.answer(document)
    if voice.stopped:
        raise SystemExit(INTERRUPTED)
