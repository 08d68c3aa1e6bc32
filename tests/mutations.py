"""Small changes of source code, each of which a test should notice.

A `Mutation` is one change of one place in the syntax tree of a file: another comparison, another operator,
another constant, a condition turned round, a value that is not returned, two arguments swapped, an argument
left out, a statement left out. Docstrings, annotations, imports and the text of messages are left alone.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

COMPARISONS: dict[type, list[type]] = {
    ast.Lt: [ast.LtE, ast.GtE],
    ast.LtE: [ast.Lt, ast.Gt],
    ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}
OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
_PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("any", "all"), ("floor", "ceil")]
NAMES = {a: b for pair in _PAIRS for a, b in (pair, pair[::-1])}
SYMMETRIC = {"np.logaddexp", "np.array_equal", "np.clip"}  # in their first two: a swap changes nothing
MESSAGES = {"warn", "warning", "ValueError", "TypeError"}  # calls whose strings are for people


@dataclass(frozen=True)
class Mutation:
    """Change number `change` of the node number `place` of a file."""

    place: int
    change: int
    line: int  # of the statement it is in
    last_line: int
    scope: tuple[int, int]  # lines of the function or class around it
    in_function: bool
    before: str
    after: str
    function: str  # by its whole name, "" outside of all
    statement: str  # its first line
    number: int  # among the same changes of the same statement of the same function

    @property
    def identity(self) -> tuple[str, str, str, str, int]:
        """What stays the same as long as the statement does, wherever it moves to."""
        return self.function, self.statement, self.before, self.after, self.number


@dataclass
class _Place:
    node: ast.AST
    holder: ast.AST
    field: str
    index: int | None
    statement: ast.stmt
    scope: ast.AST

    def put(self, new: ast.AST) -> None:
        if self.index is None:
            setattr(self.holder, self.field, new)
        else:
            getattr(self.holder, self.field)[self.index] = new


def mutations(source: str) -> list[Mutation]:
    """All changes of a file, in the order of its syntax tree."""
    found, tree = [], ast.parse(source)
    names, before = _names(tree), Counter[tuple[str, str, str, str]]()
    heads: dict[ast.AST, str] = {}
    for number, place in enumerate(_places(tree)):
        statement, scope = place.statement, place.scope
        # a compound statement is executed where its head is
        last = statement.body[0].lineno - 1 if hasattr(statement, "body") else statement.end_lineno
        if statement not in heads:
            heads[statement] = _head(statement)
        for change, new in enumerate(_changes(place.node)):
            what = names[scope], heads[statement], _shown(place.node), _shown(new)
            found.append(
                Mutation(
                    number,
                    change,
                    statement.lineno,
                    max(last or 0, statement.lineno),
                    (getattr(scope, "lineno", 1), getattr(scope, "end_lineno", 10**9)),
                    isinstance(scope, ast.FunctionDef),
                    what[2],
                    what[3],
                    what[0],
                    what[1],
                    before[what],
                )
            )
            before[what] += 1
    return found


def _head(statement: ast.stmt) -> str:
    lines = ast.unparse(statement).split("\n")
    return next(line for line in lines if not line.startswith("@"))


def _names(tree: ast.Module) -> dict[ast.AST, str]:
    """Of a file, its classes and functions."""
    names: dict[ast.AST, str] = {tree: ""}
    for node in ast.walk(tree):  # those around come first
        for inner in ast.walk(node) if node in names else ():
            if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and inner is not node:
                names[inner] = f"{names[node]}.{inner.name}".lstrip(".")
    return names


def mutated(source: str, mutation: Mutation) -> str:
    """The file with one change."""
    tree = ast.parse(source)
    place = list(_places(tree))[mutation.place]
    place.put(_changes(place.node)[mutation.change])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _shown(node: ast.AST) -> str:
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(node)))
    return text.split("\n")[0] if isinstance(node, (ast.If, ast.While)) else text


def _places(tree: ast.Module) -> Iterator[_Place]:
    yield from _walk(tree, tree.body[0], tree, False)


def _walk(holder: ast.AST, statement: ast.stmt, scope: ast.AST, message: bool) -> Iterator[_Place]:
    for field, value in ast.iter_fields(holder):
        if field in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or _left_alone(node):
                continue
            inner = node if isinstance(node, ast.stmt) else statement
            told = message or isinstance(node, (ast.Raise, ast.Assert)) or _tells(node)
            if not (told and _is_text(node)):
                yield _Place(node, holder, field, index, inner, scope)
            within = isinstance(node, (ast.FunctionDef, ast.ClassDef))
            yield from _walk(node, inner, node if within else scope, told)


def _left_alone(node: ast.AST) -> bool:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.expr_context, ast.alias)):
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # docstrings
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id == "__all__"
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _tells(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in MESSAGES


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _changes(node: Any) -> list[ast.AST]:
    """What a node may become."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return [_with(node, ops=[new()]) for new in COMPARISONS[type(node.ops[0])]]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return [_with(node, op=OPERATORS[type(node.op)]())]
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        return [_with(node, op=OPERATORS[type(node.op)]()), ast.Pass()]
    if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.UAdd):
        return [node.operand]
    if isinstance(node, ast.BoolOp):
        return [_with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())]
    if isinstance(node, (ast.If, ast.While, ast.IfExp)):
        if isinstance(node.test, (ast.UnaryOp, ast.Compare)):
            return []  # which is turned round itself
        return [_with(node, test=ast.UnaryOp(ast.Not(), node.test))]
    if isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
        return [_with(node, value=None)]
    if isinstance(node, ast.Constant):
        return _other_constants(node)
    if isinstance(node, ast.Call):
        return list(_other_calls(node))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return [ast.Pass()]
    if isinstance(node, (ast.Raise, ast.Break, ast.Continue)):
        return [ast.Pass()]
    if isinstance(node, ast.Assign) and not isinstance(node.targets[0], (ast.Name, ast.Tuple)):
        return [ast.Pass()]  # into an array or an attribute
    return []


def _with(node: ast.AST, **fields: Any) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _other_constants(node: ast.Constant) -> list[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        return [ast.Constant(not value)]
    if isinstance(value, int):
        return [ast.Constant(value + 1)]
    if isinstance(value, float):
        return [ast.Constant(2.0 * value if value else 1.0)]
    if isinstance(value, str):
        return [ast.Constant(value + "XX")]
    return []


def _other_calls(node: ast.Call) -> Iterator[ast.AST]:
    if len(node.args) >= 2 and not any(isinstance(arg, ast.Starred) for arg in node.args[:2]):
        first, second, *rest = node.args
        called = ast.unparse(node.func)
        symmetric = called.split(".")[-1] in NAMES or called in SYMMETRIC
        if ast.dump(first) != ast.dump(second) and not symmetric:
            yield _with(node, args=[second, first, *rest])
    for index, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            yield _with(node, keywords=node.keywords[:index] + node.keywords[index + 1 :])
    function = node.func
    if isinstance(function, ast.Name) and function.id in NAMES:
        yield _with(node, func=ast.Name(NAMES[function.id], ast.Load()))
    if isinstance(function, ast.Attribute) and function.attr in NAMES:
        yield _with(node, func=_with(function, attr=NAMES[function.attr]))
