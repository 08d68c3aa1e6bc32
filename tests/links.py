"""Dead links of the pages, as they are written and as they are built. Nothing is asked of the network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DEEPEST = 3  # headings that have anchors: myst_heading_anchors of docs/conf.py


def slug(title: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    plain = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[^\w\- ]", "", plain.strip().lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> frozenset[str]:
    """The anchors of a page of Markdown."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return frozenset(slug(title) for title in re.findall(rf"^#{{1,{DEEPEST}}} (.+)$", text, re.M))


def links(page: Path) -> list[str]:
    """Links of Markdown outside of code, and those of a picture that the page includes."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    found = re.findall(r"\]\(([^)\s]+)\)", text)
    for picture in re.findall(r"^:file: (\S+)$", text, re.M):
        shown = (page.parent / picture).read_text(encoding="utf-8")
        found += [link.replace(".html", ".md") for link in re.findall(r'href="([^"]+)"', shown)]
    return found


def dead(page: Path, examples: Path) -> Iterator[str]:
    """Links of a page of Markdown that lead nowhere. Pages of the gallery are made from `examples`."""
    for link in links(page):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)) if parts.path else page
        if target.parent.name == "gallery":
            if target.name != "index" and not (examples / f"{target.name}.py").exists():
                yield link
        elif not target.exists():
            yield link
        elif parts.fragment and target.suffix == ".md" and parts.fragment not in anchors(target.resolve()):
            yield f"{link} (no such heading)"


class _Page(HTMLParser):
    """The links and the anchors of a page of HTML."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.anchors |= {named[key] or "" for key in ("id", "name") if named.get(key)}
        self.links += [named[key] or "" for key in ("href", "src") if named.get(key)]


@cache
def built(file: Path) -> _Page:
    """A page of HTML, read."""
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def dead_in_site(folder: Path) -> list[str]:
    """Links between the pages of a built site that lead nowhere."""
    found = []
    for file in sorted(set(folder.rglob("*.html")) - set((folder / "_static").rglob("*"))):
        for link in built(file).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or (link.startswith("#") and not parts.fragment):
                continue
            target = (file.parent / unquote(parts.path)) if parts.path else file
            target = target / "index.html" if target.is_dir() else target
            missing = not target.exists()
            if not missing and parts.fragment and target.suffix == ".html":
                missing = unquote(parts.fragment) not in built(target.resolve()).anchors
            if missing:
                found.append(f"{file.relative_to(folder)}: {link}")
    return found
