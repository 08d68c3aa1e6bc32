"""Inline code of README and pages, sorted by what it is, so that all of it can be run.

What counts as Python is decided by rule. A *call* is an expression such as ``Products(degree=3)``;
*arguments* are those of an estimator, ``norm=2.0``; a *signature* says which arguments a method takes,
``diag(X)``. Three dots, and names such as ``low``, stand for values of the reader's, which `Values` has.
Everything else is prose: names, strings, files, options of commands, and what tables say of other packages.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

FOREIGN = (
    "MKLpy",
    "himalaya",
    "scikit-survival, lifelines",
    "change",  # of the package's own code, in a mutant
)  # columns of tables that show code of others
FILES = re.compile(r"^[\w*./-]*(/|\.(py|md|csv|npy|npz|txt|html|css|js))$")


@dataclass
class Place:
    """The inline code of one cell of a table, or of one line of text, in its order."""

    page: str
    text: str
    codes: list[str] = field(default_factory=list)
    cell: bool = False


def places(page: str, text: str) -> list[Place]:
    """Where inline code may stand: cells of tables, and lines outside of blocks."""
    found = []
    foreign: list[int] = []
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M).splitlines():
        if not line.startswith("|"):
            foreign = []
            found.append(Place(page, line, re.findall(r"`([^`]+)`", line)))
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if any(cell in FOREIGN for cell in cells):
            foreign = [j for j, cell in enumerate(cells) if cell in FOREIGN]
        found += [
            Place(page, cell, re.findall(r"`([^`]+)`", cell), cell=True)
            for j, cell in enumerate(cells)
            if j not in foreign
        ]
    return [place for place in found if place.codes]


def arguments(code: str) -> dict[str, ast.expr] | None:
    """``norm=2.0, solver="greedy"`` by name; None if it is something else."""
    tree = _parsed(f"f({code})")
    if not isinstance(tree, ast.Call) or tree.args or not tree.keywords:
        return None
    return {word.arg: word.value for word in tree.keywords if word.arg is not None}


def call(code: str) -> ast.expr | None:
    """An expression with a call in it, or None."""
    tree = _parsed(code)
    has_call = tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))
    return tree if has_call else None


def looks_like_python(code: str) -> bool:
    """Whether a reader would take it for Python: brackets after a name, or a name with a value."""
    if FILES.match(code) or code.startswith(("--", "make ", "pip ", "python", "manykernels ", "@", "=")):
        return False
    return bool(re.search(r"\w\(|^\w+ ?=", code))


def called_name(tree: ast.expr) -> str:
    """The name of the outermost function that is called: ``fit`` of ``fit(X, y)``, else empty."""
    return tree.func.id if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) else ""


def _parsed(code: str) -> ast.expr | None:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


class Values(ast.NodeTransformer):
    """Put values in the place of three dots: by the argument, or by the function, that they stand for."""

    def __init__(self, by_argument: dict[str, str], by_function: dict[str, str]) -> None:
        self.by_argument = by_argument
        self.by_function = by_function

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for word in node.keywords:
            if _is_dots(word.value):
                word.value = _value(self.by_argument, word.arg or "")
        if len(node.args) == 1 and _is_dots(node.args[0]):
            node.args = _value(self.by_function, function, "f({})").args
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        """``[...]`` stands for the names of columns."""
        self.generic_visit(node)
        return _value({"": '["x1", "x2"]'}, "") if len(node.elts) == 1 and _is_dots(node.elts[0]) else node

    def of(self, name: str, tree: ast.expr) -> ast.expr:
        """The value of an argument."""
        return _value(self.by_argument, name) if _is_dots(tree) else self.visit(tree)


def _is_dots(node: ast.expr) -> bool:
    inner = node.elts[0] if isinstance(node, ast.Set) and len(node.elts) == 1 else node
    return isinstance(inner, ast.Constant) and inner.value is ...


def _value(known: dict[str, str], name: str, around: str = "{}") -> Any:
    assert name in known, f"three dots stand for {name}, of which no value is known: add one"
    return ast.parse(around.format(known[name]), mode="eval").body
