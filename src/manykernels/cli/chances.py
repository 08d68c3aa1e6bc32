"""Whether each view and kernel is related to the target at all, where that does not take too long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.markup import escape

from .._arguments import and_more, number_of
from ..comparison.statistics import ALPHA, p_shown
from ..inspection import Significance
from ..report.chances import AFFORDABLE, TITLE, chance_tests
from ._console import Voice
from .learned import Learned

_TOLD = 5  # views or kernels that are named


@dataclass(frozen=True)
class Chances:
    """Tests by "view" and by "kernel", or why there are none."""

    found: Mapping[str, Significance] = field(default_factory=dict)
    why: str = ""

    @property
    def for_report(self) -> dict[str, Any]:
        return {"significance": self.found} if self.found else {}

    @property
    def left_out(self) -> dict[str, str]:
        return {TITLE: self.why} if self.why else {}

    def say(self, voice: Voice, asked: bool) -> dict[str, Any]:
        """Name what is related to the target, and give all of it as values; why not, if it was asked for."""
        if self.why and asked:
            voice.note(f"the significance tests were skipped. {self.why}")
        if self.found:
            by = next(iter(self.found))  # views, where there are any; kernels are many
            voice.show(escape(_sentence(by, self.found[by])))
        values = {f"{by}s": _values(one) for by, one in self.found.items()}
        return {"significance": values or None}


def chances(voice: Voice, learned: Learned, asked: bool | None) -> Chances:
    """Run the tests; if they were not asked for, only if they are quick."""
    if asked is False:
        return Chances()
    try:
        with voice.waiting("testing views and kernels"):
            data = learned.data
            found = chance_tests(learned.whole, data.X, data.y, most=None if asked else AFFORDABLE)
    except TypeError:  # of another package, without kernels
        return Chances(why="The model has no kernels.")
    except KeyboardInterrupt:
        voice.stopped = True
        voice.note("Stopped by Ctrl-C; the significance tests were skipped.")
        return Chances(why="It was stopped.")
    return Chances(found.get("significance", {}), found.get("left_out", {}).get(TITLE, ""))


def _sentence(by: str, found: Significance) -> str:
    """1 of 3 views is related to the target (each tested by itself, …): blood (p < 0.001)."""
    order = np.argsort(found.p_adjusted, kind="stable")
    related = [int(j) for j in order if found.p_adjusted[j] <= ALPHA]
    named = [f"{found.names[j]} ({p_shown(found.p_adjusted[j])})" for j in related or order[:1]]
    count, how = number_of(len(found.names), by), "each tested by itself, with adjusted p"
    if by == "kernel":  # of which the model may have some only
        how = "each of those to choose from is tested by itself, with adjusted p"
    if not related:
        return f"none of {count} is clearly related to the target ({how}); the closest is {named[0]}"
    verb = "is" if len(related) == 1 else "are"
    return f"{len(related)} of {count} {verb} related to the target ({how}): {and_more(named, _TOLD)}"


def _values(found: Significance) -> dict[str, dict[str, float]]:
    rows = zip(found.names, found.p_value, found.p_adjusted, strict=True)
    return {name: {"p": float(p), "p_adjusted": float(adjusted)} for name, p, adjusted in rows}
