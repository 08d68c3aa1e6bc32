"""`python -m experiments.cohorts --methods Coxnet forest --seeds 0 5`: runs ahead of the tables.

Results are kept as they come, so that several processes can share the work and any of them be stopped; then
`python -m experiments survival` has only the rest to do, and `python -m experiments.cohorts --record` writes
the tables of what there is.
"""

from __future__ import annotations

import argparse

from threadpoolctl import threadpool_limits

from .. import survival
from ..selection.resume import FOLDER
from ..tables import Report
from .known import keep, known


def main() -> None:
    parser = argparse.ArgumentParser("python -m experiments.cohorts", description=__doc__)
    parser.add_argument("--methods", nargs="+", default=list(survival.METHODS))
    parser.add_argument("--seeds", nargs=2, type=int, default=(0, survival.SEEDS), metavar=("FROM", "BEFORE"))
    parser.add_argument("--part", nargs=2, type=int, default=(0, 1), metavar=("K", "OF"), help="of the sets")
    parser.add_argument("--sets", nargs="+", help="default: all")
    parser.add_argument("--record", action="store_true", help="run nothing, write the tables")
    parser.add_argument("--again", action="store_true", help="also what is known")
    options = parser.parse_args()
    runs = known()
    if options.record:
        keep(runs)
        report = Report("survival", survival.TITLE)
        survival.tables(report, runs)
        report.write(FOLDER.parent)
        return
    first, step = options.part
    sets = (options.sets or survival.sets())[first::step]
    with threadpool_limits(1, "blas"):
        survival.collect(runs, sets, range(*options.seeds), options.methods, again=options.again)


if __name__ == "__main__":
    main()
