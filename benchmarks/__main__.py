"""`python -m benchmarks [names] [--quick | --render]`: run benchmarks, write their JSON, or the page."""

from __future__ import annotations

import argparse
import os
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

from .harness import Report, Skip, pinned
from .limits import Limits, machine, measure
from .page import write

HERE = Path(__file__).parent


def names() -> list[str]:
    """Every bench_<name>.py of this folder is a benchmark."""
    return sorted(file.stem.removeprefix("bench_") for file in HERE.glob("bench_*.py"))


def main(argv: list[str] | None = None) -> None:
    """Run what was asked for; everything by default."""
    options = _options(argv)
    if options.list:
        print("\n".join(f"{name:<16}{(_module(name).__doc__ or '').splitlines()[0]}" for name in names()))
        return
    if options.render:
        print(write(*([options.output] if options.output else [])))
        return
    folder = options.output or (None if options.quick else HERE / "results")
    modules = {
        name: _module(name) for name in options.names or names()
    }  # first: only loaded libraries are pinned
    with pinned(options.threads):
        limits = measure(options.quick)
        facts = machine()
        print(f"{facts['processor']}, {facts['processors']} processors, load {facts['load']}; {limits}")
        for name, module in modules.items():
            _run(name, module, limits, options.quick, folder)


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names())}; default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes; written only where --output says")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="for every contender alike")
    parser.add_argument("--output", type=Path, help="folder for the JSON (default: benchmarks/results)")
    parser.add_argument("--list", action="store_true", help="say what there is")
    parser.add_argument(
        "--render", action="store_true", help="write docs/benchmarks.md from the JSON, run nothing"
    )
    options = parser.parse_args(argv)
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(names())}")
    return options


def _module(name: str) -> ModuleType:
    return import_module(f"benchmarks.bench_{name}")


def _run(name: str, module: ModuleType, limits: Limits, quick: bool, folder: Path | None) -> None:
    print(f"\n== {name}: {(module.__doc__ or '').splitlines()[0]}", flush=True)
    report, started = Report(name, limits, quick), time.perf_counter()
    try:
        module.run(report)
    except Skip as reason:
        print(f"skipped {name}: {reason}")
        return
    print(f"({time.perf_counter() - started:.0f} s in all)")
    if folder is not None:
        report.write(folder)


if __name__ == "__main__":
    main()
