"""`python -m benchmarks.same_fits OLD [NEW]`: whether two versions of the package learn the same.

OLD and NEW are git revisions, or records that `--record FILE` wrote; without NEW, the working tree.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
import tarfile
import tempfile
from io import BytesIO
from pathlib import Path
from typing import Any

from .compare import report

ROOT = Path(__file__).resolve().parents[2]
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main(argv: list[str] | None = None) -> int:
    """Record both versions and compare, or record the one that this process imports."""
    parser = argparse.ArgumentParser("python -m benchmarks.same_fits", description=__doc__)
    parser.add_argument("old", nargs="?", metavar="OLD", help="a git revision, or the file of a record")
    parser.add_argument("new", nargs="?", metavar="NEW", help="the same; without it, the working tree")
    parser.add_argument(
        "--tol", type=float, default=1e-10, help="numbers agree if |a − b| ≤ tol · max(1, |a|)"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="problems whose name has it"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what this package learns, and end")
    parser.add_argument("--list", action="store_true", help="say what the problems are")
    options = parser.parse_args(argv)
    if options.list or options.record:
        return _alone(options)
    if options.old is None:
        parser.error("which revision is to be compared? For example: python -m benchmarks.same_fits HEAD")
    with tempfile.TemporaryDirectory(prefix="same_fits-") as folder:
        sides = [
            results(given, Path(folder) / side, options.only)
            for side, given in (("old", options.old), ("new", options.new))
        ]
    text, code = report(*sides, options.tol)
    print(text)
    return code


def _alone(options: argparse.Namespace) -> int:
    """What needs no other version: the names of the problems, or a record."""
    from .problems import chosen  # only here: the comparison itself imports no version of the package
    from .record import record

    problems = chosen(options.only)
    if options.list:
        print("\n".join(problem.name for problem in problems))
    else:
        record(problems, options.record)
    return 0


def results(given: str | None, folder: Path, only: list[str]) -> dict[str, Any]:
    """What a revision learns, from a process of its own; or what a record says."""
    if given is not None and Path(given).is_file():
        return dict(pickle.loads(Path(given).read_bytes())["results"])
    source = ROOT / "src" if given is None else checkout(given, folder)
    print(f"fitting with {'the working tree' if given is None else given}", file=sys.stderr, flush=True)
    file = folder.with_suffix(".pickle")
    command = [sys.executable, "-m", "benchmarks.same_fits", "--record", str(file)]
    command += [f"--only={text}" for text in only]
    environment = {
        **os.environ,
        **dict.fromkeys(THREADS, "1"),
        "PYTHONPATH": str(source),
        "PYTHONHASHSEED": "0",
    }
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    record = pickle.loads(file.read_bytes())
    if not Path(record["package"]).is_relative_to(source.resolve()):
        raise RuntimeError(f"the package came from {record['package']}, not from {source}")
    return dict(record["results"])


def checkout(revision: str, folder: Path) -> Path:
    """The sources of a revision, in a folder of their own."""
    command = ["git", "archive", "--format=tar", revision, "src"]
    packed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


if __name__ == "__main__":
    sys.exit(main())
