"""`python -m experiments.selection tables --methods ours grid --seeds 0 5`: runs ahead of the tables.

Results are kept, so that several processes can share the work and any of them be stopped; then
`python -m experiments selection_tables` has only the rest to do, and `python -m experiments.selection tables
--record` writes the tables of what there is.
"""

from __future__ import annotations

import argparse
from importlib import import_module

from threadpoolctl import threadpool_limits

from ..tables import Report
from .resume import FOLDER, Runs


def main() -> None:
    parser = argparse.ArgumentParser("python -m experiments.selection", description=__doc__)
    parser.add_argument("experiment", choices=["tables", "views"])
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, 10), metavar=("FROM", "BEFORE"))
    parser.add_argument("--part", nargs=2, type=int, default=(0, 1), metavar=("K", "OF"), help="of the sets")
    parser.add_argument("--sets", nargs="+", help="default: all")
    parser.add_argument("--record", action="store_true", help="run nothing, write the tables")
    parser.add_argument("--again", action="store_true", help="also what is known")
    options = parser.parse_args()
    name = f"selection_{options.experiment}"
    file = FOLDER.parent / f"{name}_runs.jsonl" if options.experiment == "views" else FOLDER / f"{name}.jsonl"
    module = import_module(f"experiments.{name}")
    if options.record:
        report = Report(name, module.__doc__.splitlines()[0])
        module.tables(report, Runs(file), list(module.TASKS))
        report.write(FOLDER.parent)
        return
    first, step = options.part
    sets = list(options.sets or module.TASKS)[first::step]
    with threadpool_limits(1, "blas"):
        module.warm_up()
        runs = Runs(file)
        seeds = range(*options.seeds)
        module.collect(runs, sets, seeds, options.methods or list(module.METHODS), again=options.again)


if __name__ == "__main__":
    main()
