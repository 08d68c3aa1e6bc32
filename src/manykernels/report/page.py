"""The report as one file that needs nothing else: no network, no fonts, no other files."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from typing import Any

from .._files import is_report, require_replaceable, write_atomically


def render(data: dict[str, Any]) -> str:
    """The page for what ``report_data`` gives, with styles, script and data inside."""
    parts = {name: _resource(f"page.{name}") for name in ("css", "js")}
    parts["data"] = _inert(json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")))
    page = _resource("page.html")
    for name, text in parts.items():
        page = page.replace(f"/*{name}*/", text)
    return page.replace("<!--title-->", _escaped(str(data["title"])))


def write_report(data: dict[str, Any], path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """Write the page to a file, whole or not at all; ``overwrite`` replaces files that are no reports too."""
    require_report(path, overwrite)
    write_atomically(path, render(data).encode())


def require_report(path: str | os.PathLike[str], overwrite: bool) -> None:
    """An error where a report would destroy a file of another kind."""
    require_replaceable(path, is_report, "a report that this package wrote", overwrite)


def _resource(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _inert(text: str) -> str:
    """JSON that cannot end the script element which holds it, nor start another: names come from users."""
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
