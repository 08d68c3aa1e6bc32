"""`python -m benchmarks.composition [ROOT]`: how tangled the composition layer of a checkout is, in numbers.

The composition layer is what puts kernels, losses, penalties and solvers together to an estimator: the parts
`estimators`, `fitting` and `selection` of the package (those of them that there are). ROOT is a checkout, by
default the one that holds this file. What is counted:

untyped models
    Parameters called estimator, model or search whose annotation is Any, and parameters of any name whose
    annotation names BaseEstimator: functions that take a whole model and may reach for anything in it.
    Functions that users call are left out (PUBLIC below), and in `estimators` the methods of the public
    estimators and of the classes that these are made of. The raw count is that of a regular expression over
    all files.
entries
    How often control enters a composition file during three fits on scikit-learn's breast cancer data. An
    entry is a call, as `sys.setprofile` sees it, of a function of a composition file from a frame of any
    other file. A generator that goes on is no call, and the same function entered from the same file several
    times in a row (a loop) is one entry. Returns do not count. The plain number counts every event: each turn
    of a loop, and each time a generator goes on. The model is fitted once before, so that what is done only
    once (imports, compilation) has no part in it.
code lines
    Of the composition files, without docstrings, comments and blank lines: logical lines, a statement that is
    spread over several lines being one; and in brackets the lines of the files that these take.
private imports
    Names imported from another part of the package that have, below the part's name, a component that
    begins with an underscore.
"""

from __future__ import annotations

import argparse
import ast
import dis
import io
import json
import os
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

HERE = Path(__file__).resolve().parents[1]
COMPOSITION = ("estimators", "fitting", "selection")
MODELS = ("estimator", "model", "search")
RAW = re.compile(r"(estimator|model|search): Any")
FITS = ("MKLClassifier()", "MKLClassifier(squared, Nystroem(30))", "MKLClassifierCV()")
# Functions that users call with a model, by part: those may take any estimator. They read it, in their first
# lines, with those of `estimators`, and pass on what these give.
PUBLIC = {
    "estimators": ("copies_of", "face_of", "model_of", "opened"),
    "bounds": ("alignment_predictor", "margin_bound", "lkrr_stability_of"),
    "inspection": ("certificate", "weight_stability"),
    "persistence": ("save",),
    "plots": ("from_estimator",),
    "report": (
        "anew",
        "baseline_models",
        "baselines",
        "learns_widths",
        "report",
        "report_data",
        "settled",
        "width_stability",
        "write_report",
    ),
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main(argv: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser("python -m benchmarks.composition", description=__doc__.splitlines()[0])
    parser.add_argument("root", nargs="?", type=Path, default=HERE, metavar="ROOT", help="a checkout")
    parser.add_argument("--list", action="store_true", help="also say where untyped models and imports are")
    parser.add_argument("--fits", action="store_true", help=argparse.SUPPRESS)  # for the subprocess
    options = parser.parse_args(argv)
    if options.fits:
        print(json.dumps(entries_of_fits()))
        return
    package = options.root.resolve() / "src" / "manykernels"
    if not package.is_dir():
        parser.error(f"there is no {package}")
    show(package, options.list)


def show(package: Path, listed: bool) -> None:
    """The table."""
    models, imports = untyped_models(package), private_imports(package)
    within = [place for place in models if place.startswith(COMPOSITION)]
    row = "{:<58}{:>8}".format
    print(row("untyped models in " + ", ".join(COMPOSITION), len(within)))
    print(row("untyped models elsewhere", len(models) - len(within)))
    print(row(f"  raw count of {RAW.pattern}", raw_models(package)))
    for name, (count, plain) in run_fits(package).items():
        print(row(f"entries in {name}.fit", count) + f"  (plain: {plain})")
    texts = [file.read_text(encoding="utf-8") for file in sources(package, COMPOSITION)]
    logical, physical = (sum(counts) for counts in zip(*map(code_lines, texts), strict=True))
    print(row("code lines of " + ", ".join(COMPOSITION), logical) + f"  (physical: {physical})")
    print(row("private imports across parts", len(imports)))
    if listed:
        print("\n".join(["", "untyped models:", *models, "", "private imports:", *imports]))


# -- reading ----------------------------------------------------------------------------------------
def sources(package: Path, parts: tuple[str, ...] | None = None) -> list[Path]:
    """The files of the package, or of some of its parts."""
    files = sorted(package.rglob("*.py"))
    return files if parts is None else [file for file in files if part_of(package, file) in parts]


def part_of(package: Path, file: Path) -> str:
    """The folder or file below the package."""
    return file.relative_to(package).with_suffix("").parts[0]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def raw_models(package: Path) -> int:
    return sum(len(RAW.findall(file.read_text(encoding="utf-8"))) for file in sources(package))


def untyped_models(package: Path) -> list[str]:
    """Where a function takes a whole model, as lines a reader can click."""
    found, faces = [], public_faces(package)
    for file in sources(package):
        part = part_of(package, file)
        for owner, function in functions(tree_of(file)):
            if function.name in PUBLIC.get(part, ()) or (part == "estimators" and owner in faces):
                continue
            for parameter in parameters(function):
                if takes_a_model(parameter):
                    place = f"{file.relative_to(package)}:{parameter.lineno}"
                    found.append(f"{place} {function.name}({parameter.arg})")
    return found


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, Function]]:
    """(name of its class or "", function) for all functions, also those inside others."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield owner, child
            yield from functions(child)
        else:
            yield from functions(child, child.name if isinstance(child, ast.ClassDef) else owner)


def parameters(function: Function) -> list[ast.arg]:
    given = function.args
    return [*given.posonlyargs, *given.args, *given.kwonlyargs]


def takes_a_model(parameter: ast.arg) -> bool:
    if parameter.annotation is None:
        return False
    annotation = ast.unparse(parameter.annotation).strip("'\"")
    return "BaseEstimator" in annotation or (parameter.arg in MODELS and annotation == "Any")


def public_faces(package: Path) -> set[str]:
    """The classes that the package exports, and those of `estimators` that they are made of."""
    bases = {
        node.name: [ast.unparse(base).split(".")[-1] for base in node.bases]
        for file in sources(package, COMPOSITION)
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.ClassDef)
    }
    top = ast.walk(tree_of(package / "__init__.py"))
    exported = [alias.name for node in top if isinstance(node, ast.ImportFrom) for alias in node.names]
    faces: set[str] = set()
    waiting = [name for name in exported if name in bases]
    while waiting:
        name = waiting.pop()
        faces.add(name)
        waiting += [base for base in bases[name] if base in bases and base not in faces]
    return faces


def code_lines(text: str) -> tuple[int, int]:
    """Logical and physical lines that hold anything but docstrings, comments and space."""
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    used: set[int] = set()
    logical = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        logical += token.type == tokenize.NEWLINE
        if token.type not in (*blank, tokenize.ENDMARKER):
            used.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node) is not None:
            first = node.body[0]
            logical -= 1
            used.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return logical, len(used)


def private_imports(package: Path) -> list[str]:
    """Imports of what another part keeps for itself."""
    found = []
    for file in sources(package):
        here = [package.name, *file.relative_to(package).parts[:-1]]
        for name, line in imports(tree_of(file), here):
            top, part, *below = [*name.split("."), ""]
            private = any(component.startswith("_") and component[:2] != "__" for component in below)
            if top == package.name and part != part_of(package, file) and private:
                found.append(f"{file.relative_to(package)}:{line} {name}")
    return found


def imports(tree: ast.AST, here: list[str]) -> Iterator[tuple[str, int]]:
    """(absolute dotted name, line) of all that is imported; `from a import b` gives a.b."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            yield from ((".".join([*base, alias.name]), node.lineno) for alias in node.names)


# -- running ----------------------------------------------------------------------------------------
def run_fits(package: Path) -> dict[str, tuple[int, int]]:
    """The entries of the fits, in a process that imports this package."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "benchmarks.composition", "--fits"]
    environment = {**os.environ, **one, "PYTHONPATH": str(package.parent)}
    done = subprocess.run(command, cwd=HERE, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return {name: (int(count), int(plain)) for name, (count, plain) in json.loads(done.stdout).items()}


def entries_of_fits() -> dict[str, tuple[int, int]]:
    """(entries, plain number) by model."""
    from sklearn.datasets import load_breast_cancer

    import manykernels
    from manykernels.approx import Nystroem

    X, y = load_breast_cancer(return_X_y=True)
    folder = Path(manykernels.__file__).parent
    models = (
        manykernels.MKLClassifier(),
        manykernels.MKLClassifier(loss="squared", approx=Nystroem(30), random_state=0),
        manykernels.MKLClassifierCV(),
    )
    found = {}
    for name, model in zip(FITS, models, strict=True):
        model.fit(X, y)
        found[name] = entries(partial(model.fit, X, y), folder)
    return found


def entries(work: Callable[[], Any], package: Path) -> tuple[int, int]:
    """How often `work` enters a composition file, and the plain number; see the top of this file."""
    inside = tuple(f"{package / part}{os.sep}" for part in COMPOSITION)
    events: list[tuple[str, CodeType, bool]] = []  # the file it is from, the function, whether it begins

    def look(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(inside):
            return
        back = frame.f_back.f_code.co_filename if frame.f_back else ""
        if back != file:
            events.append((back, frame.f_code, frame.f_lasti < first_yield(frame.f_code)))

    sys.setprofile(look)
    try:
        work()
    finally:
        sys.setprofile(None)
    calls = ((back, code) for back, code, begins in events if begins)
    return sum(1 for _ in groupby(calls)), len(events)


@cache
def first_yield(code: CodeType) -> float:
    """Where a generator first gives something: its frame is behind that when it goes on."""
    offsets = (step.offset for step in dis.get_instructions(code) if step.opname == "YIELD_VALUE")
    return next(offsets, float("inf"))


if __name__ == "__main__":
    main()
