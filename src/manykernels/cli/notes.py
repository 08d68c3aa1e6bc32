"""Notes of one kind as one line: what a warning says of one kernel it says of the next one, in every fold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .._arguments import and_more

_QUOTED = r"(?:'[^']*'|\"[^\"]*\")"
_QUOTES = re.compile(rf"{_QUOTED}(?:(?:, | and ){_QUOTED})*(?: and \d+ more)?")
_NUMBER = re.compile(r"[-+]?\b\d+(?:\.\d+)?(?:e[-+]?\d+)?\b")
_CLASS = re.compile(r"\b\w*[A-Z]\w*[A-Z]\w*\b")  # MKLClassifier
_PLURAL = re.compile(r"\b(?:are|were)\b|(?<=\w)s\b(?= ')")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z'(])")
_NAMED = 4  # things that a line names, of those that notes of one kind are about


def kind_of(text: str) -> str:
    """A note without what differs between notes of one kind: names, numbers, and one or several."""
    text = _QUOTES.sub("'", text)
    text = _PLURAL.sub(lambda found: {"are": "is", "were": "was"}.get(found[0], ""), text)
    return _NUMBER.sub("#", _CLASS.sub("Class", text))


@dataclass
class _Kind:
    texts: list[str] = field(default_factory=list)
    about: list[str] = field(default_factory=list)  # the methods, or what is named first in each note
    told: int = 0  # the number of texts that a line was about


@dataclass
class Notes:
    """Notes in the order that they come, each once; `lines` are those that are to be said."""

    texts: list[str] = field(default_factory=list)
    _kinds: dict[str, _Kind] = field(default_factory=dict)

    def add(self, text: str, of: str = "") -> bool:
        """Whether it is new. `of` is what it is about, such as a method, where others may say the same."""
        whole = f"{of}: {text}" if of else text
        if whole in self.texts:
            return False
        self.texts.append(whole)
        kind = self._kinds.setdefault(kind_of(text), _Kind())
        kind.texts.append(text if kind.texts else whole)
        named = re.search(_QUOTED, text)
        kind.about.append(of or (named[0] if named else ""))
        return True

    def lines(self, last: bool = False) -> Iterator[str]:
        """One for each kind since the last time; what came later of a kind is only counted, at the end."""
        late = 0
        for kind in self._kinds.values():
            if not kind.told:
                yield _line(kind)
                kind.told = len(kind.texts)
            elif last:
                late += len(kind.texts) - kind.told
                kind.told = len(kind.texts)
        if late:
            yield f"{late} more {'notes' if late > 1 else 'note'} such as those above; --debug shows each."


def _line(kind: _Kind) -> str:
    count = len(kind.texts)
    if count == 1:
        return kind.texts[0]
    about = [name for name in dict.fromkeys(kind.about) if name]
    named = f" ({and_more(about, _NAMED)})" if len(about) > 1 else ""
    return f"{_SENTENCE.split(kind.texts[0])[0]} {count} such notes{named}; --debug shows each."
