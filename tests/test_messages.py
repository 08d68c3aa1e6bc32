"""The messages that docs/troubleshooting.md quotes are messages of the package."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest
from tests.test_docs import DOCS, ROOT, blocks

PAGE = DOCS / "troubleshooting.md"
QUOTED = [" ".join(block.split()) for block in blocks(PAGE, "text")]


def literal(node: ast.AST) -> str | None:
    """A string of the code, with … for each value that is put into it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "…" for part in node.values)
    return None


@cache
def strings() -> str:
    """All strings of the package, one a line."""
    found = []
    for file in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if (text := literal(node)) is not None:
                found.append(" ".join(text.split()))
    return "\n".join(found)


def is_said(message: str) -> bool:
    """Whether the pieces between … stand in one string of the package, in this order."""
    pieces = [re.escape(piece) for piece in message.split("…") if piece]
    return re.search("[^\\n]*".join(pieces), strings()) is not None


@pytest.mark.parametrize("message", QUOTED)
def test_a_quoted_message_is_one_of_the_package(message):
    assert len(message.replace("…", "").strip()) > 12, "quote more of it"
    assert is_said(message)


def test_a_message_that_nobody_says_is_found():
    assert len(QUOTED) >= 15
    assert not is_said("the target … is of the wrong colour")
