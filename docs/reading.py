"""Reading ease of README, pages and docstrings: `python docs/reading.py [file ...]`.

Flesch's reading ease is 206.8 − 1.015 × words a sentence − 84.6 × syllables a word (Flesch 1948). Larger is
easier: 60 is plain English, 30 is a scientific article. Code, tables, formulas, headings and lists of papers
are left out. A name in code counts as one word of one syllable.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from inspect import cleandoc
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GENERATED = {"_build", "gallery", "generated"}
SKIPPED = {"benchmarks.md", "mutants.md"}  # tables that programs write
SHORTEST = 12  # words of a sentence that can be among the worst


def pages() -> list[Path]:
    """README and its neighbours, and the pages of the documentation."""
    docs = [p for p in sorted((ROOT / "docs").rglob("*.md")) if not GENERATED & set(p.parts)]
    return [
        *(ROOT / n for n in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *(p for p in docs if p.name not in SKIPPED),
    ]


def docstrings(file: Path) -> Iterator[str]:
    """The prose of public docstrings: no names of parameters, no examples, no references."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if getattr(node, "name", "").startswith("_") or not (text := ast.get_docstring(node, clean=False)):
            continue
        text = re.split(r"\n(?:References|Examples?)\n-+\n", cleandoc(text))[0]
        text = re.sub(r"^[\w*, ]+ : .*$|^.*\n-{3,}$", ".", text, flags=re.M)
        yield re.sub(r"^(?: {4})(?=\S)", "", text, flags=re.M) if "\n." in text else text


def prose(text: str) -> str:
    """What is left of Markdown without code, tables, formulas, headings and lists of papers."""
    text = re.sub(r"^## Papers\n.*?(?=^## |\Z)", "", text, flags=re.S | re.M)
    text = re.sub(r"^(```|:::).*?^\1$|<svg.*?</svg>|^---\n.*?^---$", "", text, flags=re.S | re.M)
    text = re.sub(r"^(#|\||    |>>>|\.\.\.).*$", "", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|<[^>\n]+>", r"\1", text)
    text = re.sub(r"``[^`]+``|`[^`\n]+`", "code", text)
    return re.sub(r"^\s*([-*]|\d+\.) ", "\n\n", text, flags=re.M)


def sentences(text: str) -> list[str]:
    """Sentences, paragraph by paragraph; a heading or an item of a list ends one too."""
    found = []
    for paragraph in re.split(r"\n\s*\n", prose(text)):
        flat = re.sub(
            r"\b(et al|e\.g|i\.e|Eqs?|Thms?|Cors?|Props?|Figs?|Algs?)\.", r"\1", " ".join(paragraph.split())
        )
        found += re.split(r"(?<=[.!?])\s+(?=\S)", flat)
    return [one for one in found if len(words(one)) > 1]


def words(sentence: str) -> list[str]:
    """Words of Latin letters; letters of formulas are none."""
    return re.findall(r"(?<![\w^])[A-Za-z][a-z]*(?:['’-][A-Za-z]+)*[a-z]\b|\b(?:I|a|A|C|K)\b", sentence)


def syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end."""
    small = re.sub(r"(?<=[a-z][^aeiouyl])e$|(?<=[^aeioudt])ed$|(?<=[^aeiouscxzg])es$", "", word.lower())
    return max(1, len(re.findall(r"[aeiouy]+", small)))


def ease(found: list[str]) -> float:
    """Flesch's reading ease of sentences."""
    count = sum(len(words(one)) for one in found)
    parts = sum(syllables(word) for one in found for word in words(one))
    return 206.835 - 1.015 * count / len(found) - 84.6 * parts / count if count else 100.0


def measured(files: list[Path]) -> dict[str, list[str]]:
    """The sentences of every page, and those of the docstrings of every part of the package."""
    found: dict[str, list[str]] = {}
    for file in files:
        texts = list(docstrings(file)) if file.suffix == ".py" else [file.read_text(encoding="utf-8")]
        parts = file.relative_to(ROOT).parts if file.is_relative_to(ROOT) else (file.name,)
        name = "/".join(parts[:3]) if file.suffix == ".py" else "/".join(parts)
        found.setdefault(name, []).extend(one for text in texts for one in sentences(text))
    return {name: some for name, some in found.items() if some}


def worst(found: dict[str, list[str]], number: int = 20) -> list[tuple[float, str, str]]:
    """The hardest sentences: their ease, where they stand, and what they say."""
    ranked = [
        (ease([one]), name, one)
        for name, some in found.items()
        for one in some
        if len(words(one)) >= SHORTEST
    ]
    return sorted(ranked)[:number]


def main(names: list[str]) -> None:
    """Print the ease of each page, of all pages and docstrings, and the worst twenty sentences."""
    files = [Path(name).resolve() for name in names]
    found = measured(files or [*pages(), *sorted((ROOT / "src").rglob("*.py"))])
    for name, some in found.items():
        print(f"{ease(some):6.1f}  {sum(len(words(one)) for one in some):6d} words  {name}")
    for title, code in (("pages", False), ("docstrings", True)):
        some = [one for name, each in found.items() if name.startswith("src/") == code for one in each]
        if some:
            length = len(words(" ".join(some))) / len(some)
            print(f"{ease(some):6.1f}  {length:6.1f} words a sentence  all {title}")
    for score, name, one in worst(found):
        print(f"{score:6.0f}  {name}: {one}")


if __name__ == "__main__":
    main(sys.argv[1:])
