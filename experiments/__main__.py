"""`python -m experiments [names] [--quick]`: run experiments, print and save their tables."""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

from threadpoolctl import threadpool_limits

from .data import MissingData
from .tables import Report

HERE = Path(__file__).parent
SHARED = {"__init__", "__main__", "common", "data", "tables"}


def names() -> list[str]:
    """Every other file of this folder is an experiment."""
    return sorted(file.stem for file in HERE.glob("*.py") if file.stem not in SHARED)


def main(argv: list[str] | None = None) -> None:
    """Run what was asked for; everything by default."""
    parser = argparse.ArgumentParser("python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names())}; default: all")
    parser.add_argument("--quick", action="store_true", help="synthetic data; saved only with --output")
    parser.add_argument("--output", type=Path, help="folder for what is saved (default: experiments/results)")
    parser.add_argument("--list", action="store_true", help="say what there is")
    options = parser.parse_args(argv)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"no experiment is called {', '.join(unknown)}; there are {', '.join(names())}")
    chosen = {name: _module(name) for name in options.names or names()}
    if options.list:
        print("\n".join(f"{name:<24}{_title(module)}" for name, module in chosen.items()))
        return
    folder = options.output or (None if options.quick else HERE / "results")
    for name, module in chosen.items():
        try:
            _run(name, module, options.quick, folder)
        except MissingData as reason:
            parser.exit(2, f"{name}: {reason}\n")


def _module(name: str) -> ModuleType:
    return import_module(f"experiments.{name}")


def _title(module: ModuleType) -> str:
    return (module.__doc__ or "").splitlines()[0]


def _run(name: str, module: ModuleType, quick: bool, folder: Path | None) -> None:
    print(f"\n== {name}: {_title(module)}", flush=True)
    report, started = Report(name, _title(module), quick), time.perf_counter()
    with threadpool_limits(1, "blas"):  # matrices of 600 × 600 gain nothing from threads that wait
        module.run(report)
    print(f"({time.perf_counter() - started:.0f} s)")
    if folder is not None:
        report.write(folder)


if __name__ == "__main__":
    main()
