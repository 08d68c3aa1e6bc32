"""Mutation testing: does some test notice a small change of the code?

`python -m tests.mutants folder` copies the tree into a folder, finds out which fast tests execute which
lines, draws mutations (`tests/mutations.py`) of the parts below by a seed, as many of each part as its share
of the lines, and runs for each the tests that execute the changed line, the nearest ones first. What was
found is kept in the folder, so that a run that was stopped goes on, and `--again` runs those that survived
with more of their tests. Every run is a fork of a process that has imported all but the package.

`drawn_mutants.csv` holds the mutations that were drawn once, by what stays the same when other lines of a
file change, and what became of them. `--listed` runs those in place of a new draw; where the code of some is
gone, others of their part are drawn in their place (`--seed`).
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.forked import (
    QUIET,
    ROOT,
    Chosen,
    Tracer,
    copy_tree,
    fork,
    import_all_but_the_package,
    restore,
    run_all,
)
from tests.mutations import Mutation, mutated, mutations

PACKAGE = Path("src") / "manykernels"
LIST = ROOT / "tests" / "drawn_mutants.csv"
# part -> its sources, and the beginnings of the names of its own tests
PARTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "losses": (("losses",), ("tests/losses/",)),
    "penalties": (("penalties",), ("tests/penalties/",)),
    "objectives": (("objectives",), ("tests/objectives/",)),
    "machines": (("machines",), ("tests/machines/",)),
    "persistence": (
        ("persistence",),
        ("tests/test_persistence", "tests/test_kept", "tests/properties/test_model"),
    ),
    "screening": (
        ("solvers/_screening.py",),
        ("tests/solvers/test_screening", "tests/solvers/test_behaviour"),
    ),
    "checkpoints": (("selection/checkpoint.py", "_pieces.py"), ("tests/selection/test_",)),
}
DRAWN = ["losses", "penalties", "objectives", "machines", "persistence", "screening"]
# Where the fast tests of these parts are: those that say most, and those that survivors are run with as well
NEAR = ["losses", "penalties", "objectives", "machines", "selection/test_checkpoint", "test_persistence"]
NEAR += ["test_kept_models", "test_certificates", "solvers/test_behaviour", "solvers/test_covariates"]
NEAR += [
    "solvers/test_screening",
    "selection/test_pieces",
    "selection/test_kept_passes",
    "test_persistence_parts",
]
FAR = [
    "solvers/test_optimum",
    "solvers/test_features",
    "estimators/test_covariates",
    "estimators/test_intervals",
]
SECONDS = 6.0, 40.0  # of tests for one mutation, at first and again


def sources(part: str, root: Path = ROOT) -> list[Path]:
    """The files of a part, by their names from the root of the repository."""
    places = [root / PACKAGE / name for name in PARTS[part][0]]
    files = [file for p in places for file in ([p] if p.is_file() else sorted(p.glob("*.py")))]
    return [file.relative_to(root) for file in files]


def test_files(far: bool = True) -> list[str]:
    places = [ROOT / "tests" / name for name in (NEAR + FAR if far else NEAR)]
    found = [sorted(p.glob("test_*.py")) if p.is_dir() else [p.with_suffix(".py")] for p in places]
    return [file.relative_to(ROOT).as_posix() for files in found for file in files]


Drawn = tuple[str, Path, Mutation]


def all_of(part: str) -> list[Drawn]:
    """All mutations of a part."""
    return [(part, file, m) for file in sources(part) for m in mutations((ROOT / file).read_text())]


def key_of(drawn: Drawn) -> str:
    """The name of a mutation in a file of results: what stays the same when other lines change."""
    return " | ".join(map(str, (drawn[1].as_posix(), *drawn[2].identity)))


def draw(number: int, seed: int, parts: list[str]) -> list[Drawn]:
    """Mutations of all parts by their shares of the lines, in an order that is itself drawn."""
    lines = {part: sum(len((ROOT / f).read_text().splitlines()) for f in sources(part)) for part in parts}
    chosen = []
    for part in parts:
        rng = random.Random(f"{seed} {part}")
        all_of_it, share = all_of(part), round(number * lines[part] / sum(lines.values()))
        chosen += rng.sample(all_of_it, min(share, len(all_of_it)))
    random.Random(seed).shuffle(chosen)
    return chosen


def listed(seed: int, rows: list[dict[str, str]]) -> list[Drawn]:
    """The mutations of a list, and in place of those whose code is gone others of their part, by a seed.

    Those that are noted as gone have been replaced before.
    """
    known = {part: {key_of(one): one for one in all_of(part)} for part in {row["part"]: 0 for row in rows}}
    keys = {row["key"] for row in rows}
    rows = [row for row in rows if row["outcome"] != "gone"]
    found = [known[row["part"]][row["key"]] for row in rows if row["key"] in known[row["part"]]]
    for part, those in known.items():
        gone = sum(row["part"] == part and row["key"] not in those for row in rows)
        others = sorted(those.keys() - keys)
        found += [those[key] for key in random.Random(f"{seed} {part} again").sample(others, gone)]
    return found


def kept_list() -> list[dict[str, str]]:
    """The rows of `drawn_mutants.csv`: part, key, outcome (killed, survived or gone), and why that is so."""
    with LIST.open(newline="") as file:
        return list(csv.DictReader(file))


# -- which tests execute which lines --------------------------------------------------------------------
def trace(tree: Path, test_file: str, files: list[Path], output: Path) -> int:
    tracer = Tracer(tree, files)
    chosen = Chosen(tracer=tracer)
    pytest.main([*QUIET, test_file], plugins=[chosen])
    record = {
        test: {"seconds": chosen.taken[test], "lines": sorted(lines)}
        for test, lines in tracer.lines.items()
        if lines and test not in chosen.failed
    }
    output.write_text(json.dumps(record))
    return 0


def trace_all(folder: Path, jobs: int, far: bool) -> dict[str, Any]:
    """test → seconds and lines; test files that have been traced before, and have not changed, are known."""
    files = [file for part in PARTS for file in sources(part)]
    known = hashlib.sha256(b"".join((ROOT / file).read_bytes() for file in files)).hexdigest()
    outputs = {}
    for name in test_files(far):
        digest = hashlib.sha256((known + name).encode() + (ROOT / name).read_bytes()).hexdigest()[:16]
        outputs[name] = folder / "lines" / f"{digest}.json"
    (folder / "lines").mkdir(exist_ok=True)
    todo = [name for name in outputs if not outputs[name].exists()]

    def work(name: str) -> Callable[[Path], int]:
        log = folder / "logs" / f"{name.replace('/', '-')}.txt"
        return lambda tree: fork(tree, log, 900.0, lambda: trace(tree, name, files, outputs[name]))

    def done(number: int, code: int, seconds: float) -> None:
        print(f"{todo[number]}: {seconds:.0f} s" + f", exit status {code}" * bool(code), flush=True)

    run_all(jobs, map(work, todo), folder, done)
    return {k: v for o in outputs.values() if o.exists() for k, v in json.loads(o.read_text()).items()}


def by_line(traced: dict[str, Any]) -> dict[str, dict[int, set[str]]]:
    """file → line → tests."""
    found: dict[str, dict[int, set[str]]] = {}
    for test, record in traced.items():
        for file, line in record["lines"]:
            found.setdefault(file, {}).setdefault(line, set()).add(test)
    return found


def tests_of(
    part: str, file: Path, mutation: Mutation, traced: dict[str, Any], lines: dict[int, set[str]]
) -> list[str]:
    """Tests that execute the statement (else the function, else the file), those that tell most first."""
    own, found = PARTS[part][1], list[str]()
    statement = (
        [(mutation.line, mutation.last_line)] if mutation.in_function else []
    )  # else it runs at import
    for first, last in [*statement, mutation.scope, (1, 10**9)]:
        found = sorted(set().union(*(lines[n] for n in lines if first <= n <= last)))
        if found:
            break
    found.sort(key=lambda test: traced[test]["seconds"])
    before, rank = Counter[str](), {}
    for test in found:  # a few cases of each test, and then more of them
        function = test.split("[")[0]
        rank[test] = before[function] // 3
        before[function] += 1
    return sorted(found, key=lambda t: (rank[t], not t.startswith(own), traced[t]["seconds"]))


# -- one mutation ---------------------------------------------------------------------------------------
def attempt(tree: Path, file: Path, mutation: Mutation, tests: list[str]) -> int:
    """Zero if all tests pass with the mutation."""
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    place = tree / file
    original = (ROOT / file).read_text()
    place.unlink()
    place.write_text(mutated(original, mutation))
    names = sorted({test.split("::")[0] for test in tests})
    return int(pytest.main([*QUIET, "-x", "--tb=line", *names], plugins=[Chosen(tests)]))


def cause(log: Path) -> str:
    lines = [
        line for line in log.read_text(errors="replace").splitlines() if line.startswith(("FAILED", "ERROR"))
    ]
    return lines[0][:200] if lines else ""


def run(folder: Path, drawn: list[Drawn], traced: dict[str, Any], asked: Any) -> None:
    results = folder / "results.jsonl"
    known = read(results)
    todo = []
    for part, file, mutation in drawn:
        key = key_of((part, file, mutation))
        if known.get(key, {}).get("killed") or (key in known and not asked.again):
            continue
        if asked.only and f"{file.as_posix()}:{mutation.line}" not in asked.only:
            continue
        todo.append((key, part, file, mutation))
    settled, lines = list[dict[str, Any]](), by_line(traced)

    def work(number: int) -> Callable[[Path], int]:
        key, part, file, mutation = todo[number]
        tests = tests_of(part, file, mutation, traced, lines.get(file.as_posix(), {}))
        limit, chosen, total = SECONDS[asked.again], list[str](), 0.0
        for test in tests:
            total += traced[test]["seconds"]
            if chosen and total > limit:
                break
            chosen.append(test)
        shown = f"{mutation.before} → {mutation.after}"
        settled.append(
            {"key": key, "part": part, "line": mutation.line, "change": shown, "tests": len(chosen)}
        )

        def start(tree: Path) -> int:
            settled[number]["tree"] = str(tree)
            restore(tree, file)
            log = folder / "logs" / f"{number % 50}.txt"
            settled[number]["log"] = str(log)
            if not chosen:
                return fork(tree, log, 5.0, lambda: 0)
            return fork(tree, log, 15.0 + 3.0 * total, lambda: attempt(tree, file, mutation, chosen))

        return start

    def done(number: int, code: int, seconds: float) -> None:
        key, _, file, _ = todo[number]
        one = settled[number]
        restore(Path(one.pop("tree")), file)
        one |= {"code": code, "killed": code != 0, "seconds": round(seconds, 1)}
        one["by"] = cause(Path(one.pop("log"))) or {-signal.SIGXCPU: "time"}.get(code, str(code))
        with results.open("a") as out:
            out.write(json.dumps(one, ensure_ascii=False) + "\n")
        word = "killed" if one["killed"] else "SURVIVED"
        where = f"{key.split()[0]}:{one['line']}"
        print(f"{number + 1}/{len(todo)} {word} {where} {one['change']!r} {seconds:.1f} s", flush=True)

    run_all(asked.jobs, map(work, range(len(todo))), folder, done)


def read(results: Path) -> dict[str, Any]:
    """What is known, the last run of each mutation."""
    lines = results.read_text().splitlines() if results.exists() else []
    return {one["key"]: one for one in map(json.loads, lines)}


def summary(known: dict[str, Any]) -> str:
    """A table of counts, and those that survived."""
    rows = ["| part | mutants | killed | share |", "|---|---|---|---|"]
    for part in [*PARTS, "all"]:
        those = [one for one in known.values() if part in (one["part"], "all")]
        if those:
            killed = sum(one["killed"] for one in those)
            rows.append(f"| {part} | {len(those)} | {killed} | {killed / len(those):.1%} |")
    survivors = sorted((one for one in known.values() if not one["killed"]), key=lambda one: one["key"])
    return "\n".join([*rows, "", *(f"{o['key'].split()[0]}:{o['line']} {o['change']}" for o in survivors)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=lambda given: Path(given).resolve())
    parser.add_argument("--number", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=DRAWN)
    parser.add_argument(
        "--again", action="store_true", help="run those that survived, with more of their tests"
    )
    parser.add_argument(
        "--only", nargs="+", help="files and lines, such as src/manykernels/losses/hinge.py:24"
    )
    parser.add_argument("--listed", action="store_true", help="those of drawn_mutants.csv, not a new draw")
    parser.add_argument("--summary", action="store_true", help="only tell what is known")
    asked = parser.parse_args()
    if not asked.summary:
        (asked.folder / "logs").mkdir(parents=True, exist_ok=True)
        copy_tree(asked.folder, asked.jobs)
        import_all_but_the_package()
        traced = trace_all(asked.folder, asked.jobs, asked.again)
        drawn = (
            listed(asked.seed, kept_list()) if asked.listed else draw(asked.number, asked.seed, asked.parts)
        )
        run(asked.folder, drawn, traced, asked)
    print(summary(read(asked.folder / "results.jsonl")))


if __name__ == "__main__":
    main()
