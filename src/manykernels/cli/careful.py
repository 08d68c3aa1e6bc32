"""What to be careful about in a model: its coded checks."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from .._checks import PAGE, RULES
from ..comparison.results import Permuted
from ..estimators import model_of
from ..inspection import Check, Stability, check
from ._console import Voice, require_known
from .learned import Learned
from .scores import Judged


def careful(voice: Voice, learned: Learned, found: Judged, spread: dict[str, Any]) -> dict[str, Any]:
    """Print what to be careful about, if there is anything; also as values."""
    checks = _checks(learned, found, spread.get("stability"))
    if checks:
        voice.show(f"Be careful (`manykernels checks` and {PAGE} say what to do):")
    for one in checks:
        voice.show(f"  {one.code}  {escape(one.message)}")
    return {"checks": [one.as_dict() for one in checks]}


def explain(voice: Voice, code: str | None) -> None:
    """Say what each check looks for, and what to do; of one check, or of all."""
    rules = {rule.code: rule for rule in RULES}
    if code is not None:
        require_known("CODE", code.upper(), rules)
        rules = {code.upper(): rules[code.upper()]}
    for rule in rules.values():
        voice.show(f"{rule.code}  {escape(rule.title)}. {escape(rule.advice)}")
    voice.show(f"{PAGE} says more.")
    told = [{"code": r.code, "title": r.title, "advice": r.advice, "page": r.page} for r in rules.values()]
    voice.answer({"command": "checks", "checks": told})


def _checks(learned: Learned, found: Judged, stability: Any) -> list[Check]:
    """Return the checks of a model by all that is known; none for a model of another package."""
    try:
        model_of(learned.whole)
    except TypeError:
        return []
    permuted = found.permuted if isinstance(found.permuted, Permuted) else None
    known = stability if isinstance(stability, Stability) else None
    data = learned.data
    return check(learned.whole, data.X, data.y, comparison=found.results, permuted=permuted, stability=known)
