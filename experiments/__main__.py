"""`python -m experiments [names] [--quick]`: run experiments, print and save their tables.

What is finished is kept: an interrupted run goes on where it stopped, and an experiment whose record was made
by the same code from all its sets is not run again. `--fresh` starts anew, `--render` only writes the pages,
`--claims` only docs/experiments.md and parts of other pages, whose figures are computed from the records.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import traceback
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType

from threadpoolctl import threadpool_limits

from . import pages, records, trials
from .data import MissingData, stand_in
from .tables import Facts, Report, markdown

HERE = Path(__file__).parent
SHARED = trials.HARNESS | {"common", "data"}


def names() -> list[str]:
    """Every other file of this folder is an experiment."""
    return sorted(file.stem for file in HERE.glob("*.py") if file.stem not in SHARED)


def main(argv: list[str] | None = None) -> None:
    """Run what was asked for; everything by default. Ends with status 1 if an experiment failed."""
    options = _options(argv)
    chosen = options.names or names()
    folder = options.output or (None if options.quick else HERE / "results")
    if options.list:
        print("\n".join(f"{name:<24}{_title(_module(name))}" for name in chosen))
    elif options.claims:
        _write_claims()
    elif options.render:
        folder = folder or HERE / "results" / "quick"
        pages.render(folder, [name for name in chosen if (folder / f"{name}.parquet").is_file()])
    else:
        rows = [_outcome(name, options.quick, folder, options.fresh) for name in chosen]
        print("\n" + markdown(rows), flush=True)
        if any(row["outcome"] == "failed" for row in rows):
            sys.exit(1)


def _write_claims() -> None:
    from . import claims

    try:
        print("\n".join(claims.write()) or "all pages say what the records say")
    except claims.Drift as reason:
        sys.exit(str(reason))


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names())}; default: all")
    parser.add_argument(
        "--quick", action="store_true", help="few samples and trials, synthetic ones without MANYKERNELS_DATA"
    )
    parser.add_argument(
        "--output", type=Path, help="folder for what is saved (default: experiments/results; quick: nothing)"
    )
    parser.add_argument("--fresh", action="store_true", help="take nothing that was kept")
    parser.add_argument("--render", action="store_true", help="run nothing, write the pages of what is saved")
    parser.add_argument(
        "--claims", action="store_true", help="run nothing, write the figures of docs and README.md anew"
    )
    parser.add_argument("--list", action="store_true", help="say what there is")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"no experiment is called {', '.join(unknown)}; there are {', '.join(names())}")
    return options


def _module(name: str) -> ModuleType:
    return import_module(f"experiments.{name}")


def _title(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


def _outcome(name: str, quick: bool, folder: Path | None, fresh: bool) -> Facts:
    """Run one experiment, whatever becomes of it: a row of the summary."""
    started = time.perf_counter()
    try:
        outcome, why = _run(name, quick, folder, fresh)
    except MissingData as reason:
        outcome, why = "skipped", reason.short
        print(f"{name}: skipped: {reason}", file=sys.stderr, flush=True)
    except Exception as reason:
        outcome, why = "failed", f"{type(reason).__name__}: {reason}".splitlines()[0]
        traceback.print_exc()
    seconds = round(time.perf_counter() - started, 1)
    return {"experiment": name, "outcome": outcome, "seconds": f"{seconds:.1f}", "": why}


def _run(name: str, quick: bool, folder: Path | None, fresh: bool) -> tuple[str, str]:
    """The outcome and what there is to say of it."""
    module = _module(name)
    print(f"\n== {name}: {_title(module)}", flush=True)
    code = trials.code_of(Path(module.__file__ or ""))
    facts: Facts = {"code": code, "quick": quick, "synthetic": stand_in(quick), "left out": {}}
    known = records.facts_of(folder / f"{name}.parquet") if folder else {}
    if not fresh and all(known.get(key) == value for key, value in facts.items()):
        return "kept", f"the record of {known['date']} is of the same code"
    report, started, before = Report(name, _title(module), quick), time.perf_counter(), _cpu()
    here = Path(module.__file__ or "")
    keep = trials.keeping(folder / "cache" / "trials" / name, here, fresh) if folder else nullcontext()
    with keep as store, threadpool_limits(1, "blas"):  # 600 × 600 gains nothing from threads that wait
        module.run(report)
    missing = ", ".join(f"{key} ({why})" for key, why in report.left_out.items())
    if not report.tables:
        return "skipped", f"left out: {missing}" if missing else "it has no tables"
    if folder is not None and store is not None:
        spent = {"seconds": time.perf_counter() - started, "cpu": _cpu() - before + store.seconds}
        of_trials = {"trials": store.run + store.kept, "kept": store.kept}
        report.write(folder, code=code, synthetic=stand_in(quick), **spent, **of_trials)
    return "run", f"left out: {missing}" if missing else ""


def _cpu() -> float:
    """Seconds of all processors, of this process and of those it has waited for."""
    return sum(
        use.ru_utime + use.ru_stime
        for use in (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    )


if __name__ == "__main__":
    main()
