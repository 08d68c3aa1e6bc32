"""The habits of the repository: imports go one way, files stay small, nothing of one machine is committed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import manykernels

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "manykernels"

# Each part may import what stands to its left and nothing else; parts in one tuple do not know each other.
ORDER = [
    ("_arguments", "_warn", "_files", "_lazy"),
    ("_fast",),
    ("_pieces",),
    ("kernels", "survival"),
    ("approx",),
    ("losses", "penalties"),
    ("families",),
    ("grams",),
    ("oracles",),
    ("measures", "clusters"),
    ("machines",),
    ("objectives",),
    ("weightings",),
    ("solvers",),
    ("fitting",),
    ("selection",),
    ("_checks",),
    ("estimators",),
    ("_archives",),
    ("comparison",),
    ("inspection", "bounds", "persistence", "datasets", "recordings"),
    ("plots",),
    ("report",),
    ("cli", "demo"),
]
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}
# scikit-learn below its estimators: parameter handling, validation, exceptions, distances.
PLAIN_SKLEARN = ("sklearn.base", "sklearn.utils", "sklearn.exceptions", "sklearn.metrics.pairwise")
BINARY = {".model", ".png", ".npz", ".npy", ".gz", ".ico", ".parquet"}


def sources() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def name_of(file: Path) -> str:
    """The dotted name of a module of the package."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports(file: Path) -> tuple[tuple[str, int], ...]:
    """(absolute dotted name, line) of everything a file imports, wherever in the file it does so.

    `from a import b` gives `a.b`: be b a module or a name in one, its beginning says which part it is from.
    """
    package = name_of(file).split(".")
    if file.name != "__init__.py":
        package = package[:-1]
    return tuple(_imports(ast.parse(file.read_text(encoding="utf-8")), package))


def _imports(tree: ast.AST, package: list[str]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            yield from ((".".join([*base, alias.name]), node.lineno) for alias in node.names)


def below(name: str, module: str) -> bool:
    return name == module or name.startswith(module + ".")


def part_of(name: str) -> str:
    """The folder or file of the package that a dotted name belongs to; "" for the package itself."""
    return [*name.split("."), ""][1]


def offences(allowed: Callable[[Path, str], bool]) -> list[str]:
    """Every import that `allowed(file, name)` refuses, as lines a reader can click."""
    return [
        f"{file.relative_to(ROOT)}:{line} imports {name}"
        for file in sources()
        for name, line in imports(file)
        if not allowed(file, name)
    ]


def test_relative_imports_are_resolved():
    tree = ast.parse(
        "from ..kernels import Linear\nfrom . import base\nimport numba.core\nfrom manykernels import grams"
    )
    names = [name for name, _ in _imports(tree, ["manykernels", "solvers"])]
    assert names == [
        "manykernels.kernels.Linear",
        "manykernels.solvers.base",
        "numba.core",
        "manykernels.grams",
    ]


def test_every_part_has_a_place_in_the_order():
    parts = {part_of(name_of(file)) for file in sources()} - {""}
    assert parts <= set(RANK), f"put {sorted(parts - set(RANK))} into ORDER and into docs/architecture.md"


def test_imports_go_one_way():
    def allowed(file: Path, name: str) -> bool:
        if not below(name, "manykernels"):
            return True
        here, there = part_of(name_of(file)), part_of(name)
        if here == "" or here == there:  # the package's own __init__ gathers from everywhere
            return True
        if there not in RANK:  # a name of the package itself, e.g. `from manykernels import MKLClassifier`
            return RANK[here] > RANK["estimators"]
        return RANK[here] > RANK[there]

    assert not offences(allowed=allowed)


def test_no_part_imports_a_private_name_of_another():
    def allowed(file: Path, name: str) -> bool:
        there = part_of(name)
        if not below(name, "manykernels") or there not in RANK or there == part_of(name_of(file)):
            return True
        return not any(piece.startswith("_") for piece in name.split(".")[2:])

    assert not offences(allowed=allowed)


def test_the_package_imports_itself_by_relative_names():
    """`from manykernels import …` inside of the package would depend on what its `__init__` gathers."""
    found = [
        f"{file.relative_to(ROOT)}:{node.lineno}"
        for file in sources()
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and not node.level and below(node.module or "", "manykernels")
    ]
    assert not found


def test_only_fast_imports_numba():
    assert not offences(
        allowed=lambda file, name: (
            not (below(name, "numba") or below(name, "llvmlite")) or part_of(name_of(file)) == "_fast"
        )
    )


def test_two_files_import_dask():
    assert not offences(
        allowed=lambda file, name: (
            not (below(name, "dask") or below(name, "distributed"))
            or name_of(file) in ("manykernels.grams.dask", "manykernels.grams.cluster")
        )
    )


def test_nothing_below_the_estimators_imports_scikit_learns_estimators():
    assert not offences(
        allowed=lambda file, name: (
            not below(name, "sklearn")
            or RANK.get(part_of(name_of(file)), len(ORDER)) >= RANK["selection"]
            or any(below(name, plain) for plain in PLAIN_SKLEARN)
        )
    )


def test_whatever_the_package_imports_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    core, extras = project["dependencies"], project["optional-dependencies"]
    optional = {
        "plots": "plots",
        "report": "plots",
        "persistence": "cli",
        "comparison": "cli",
        "datasets": "cli",  # frames of survival sets
        "cli": "cli",
        "fitting": "cli",  # Parquet files
        "grams": "dask",
    }  # part -> the extra it may use
    distributions = packages_distributions()

    def allowed(file: Path, name: str) -> bool:
        top = name.split(".")[0]
        if top in sys.stdlib_module_names or top == "manykernels":
            return True
        lines = core + extras.get(optional.get(part_of(name_of(file)), ""), [])
        declared = {re.split(r"[^\w-]", line)[0].lower() for line in lines}
        return any(distribution.lower() in declared for distribution in distributions.get(top, [top]))

    assert not offences(allowed=allowed)


def tracked() -> list[Path]:
    """The text files that git knows (those of the working tree that it does not ignore)."""
    try:
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    files = (ROOT / line for line in listing.splitlines())
    return [file for file in files if file.is_file() and file.suffix not in BINARY]


# Written in pieces, so that this file does not find itself.
MACHINE_PATH = re.compile(
    r"(?<![\w./~*-])/(?:" + "|".join(["work", "root", "home", "tmp", "Users", "opt"]) + r")/\w"
)
NEIGHBOUR = re.compile(r"\.\./" + "shared")
REGISTRY = re.compile(
    "|".join(
        [
            "pypi" + r"\.(?:org|python)",
            "python" + "hosted",
            "deb" + r"\.debian",
            "npm" + r"js\.",
            "index" + "-url",
        ]
    )
)


@pytest.mark.parametrize(
    "pattern", [MACHINE_PATH, NEIGHBOUR, REGISTRY], ids=["machine path", "neighbour", "registry"]
)
def test_nothing_of_one_machine_is_committed(pattern):
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in tracked()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found


def test_the_constraints_are_plain_pins():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert pins
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", line)] == []


def test_files_stay_readable():
    """About 300 lines a file and 40 a function is the habit; this is the limit (without docstrings)."""
    long = [f"{file.relative_to(ROOT)}: {n} lines" for file in sources() if (n := _lines(file)) > 400]
    for file in sources():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and (n := _body_lines(node)) > 60:
                long.append(f"{file.relative_to(ROOT)}:{node.lineno}: {node.name} has {n} lines")
    assert not long


def _lines(file: Path) -> int:
    """Lines of a file; docstrings count as one line each, since they document every parameter."""
    text = file.read_text(encoding="utf-8")
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]
    docs = [node.body[0] for node in nodes if ast.get_docstring(node, clean=False) is not None]
    return len(text.splitlines()) - sum((doc.end_lineno or doc.lineno) - doc.lineno for doc in docs)


def _body_lines(node: ast.FunctionDef) -> int:
    first = node.body[1] if ast.get_docstring(node) is not None and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or first.lineno) - first.lineno + 1


def test_no_large_file_is_committed():
    assert [str(file) for file in tracked() if file.stat().st_size > 500_000] == []


def test_the_version_is_the_same_everywhere():
    assert f"\nversion: {manykernels.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## {manykernels.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_types(tmp_path):
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-q",
        "-w",
        str(tmp_path),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    from zipfile import ZipFile

    (wheel,) = tmp_path.glob("*.whl")
    names = set(ZipFile(wheel).namelist())
    expected = {str(file.relative_to(PACKAGE.parent)) for file in [*sources(), PACKAGE / "py.typed"]}
    assert expected <= names
    assert not [name for name in names if name.startswith(("tests", "benchmarks"))]
