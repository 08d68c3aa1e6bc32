"""What to be careful about in a model: its coded checks."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from .._checks import PAGE, RULES, outside, predicted_outside, ranges
from ..comparison.results import Permuted
from ..estimators import model_of
from ..inspection import Check, Stability, check
from ..report.names import readable
from ._console import Voice, require_known
from .data import Data
from .learned import Learned
from .scores import Judged


def careful(
    voice: Voice, learned: Learned, found: Judged, spread: dict[str, Any], splits: Any = None
) -> dict[str, Any]:
    """Print what to be careful about, if there is anything; also as values."""
    checks = _checks(learned, found, spread.get("stability"), splits)
    if checks:
        voice.show("Be careful (`manykernels checks CODE` says what to do):")
    for one in checks:
        voice.show(f"  {one.code}  {escape(readable(one.message, learned.data.called))}")
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


def seen(data: Data) -> dict[str, Any]:
    """The ranges of columns and of the target, by which predictions are checked."""
    columns = {} if data.kernels else {data.X.columns[j]: list(ends) for j, ends in ranges(data.X).items()}
    target = [float(data.y.min()), float(data.y.max())] if data.task == "regression" else None
    return {"columns": columns, "target": target}


def careful_with(voice: Voice, new: Any, predicted: Any, known: dict[str, Any]) -> list[dict[str, str]]:
    """Say where new samples, or what is predicted for them, lie outside of what the model has seen."""
    found: dict[str, str | None] = {}
    if known["columns"]:
        names = list(map(str, new.columns))
        places = {names.index(name): (low, high) for name, (low, high) in known["columns"].items()}
        found["MK416"] = outside(places, new, names)
    if known["target"] is not None:
        low, high = known["target"]
        found["MK503"] = predicted_outside(low, high, predicted)
    rules = {rule.code: rule for rule in RULES}
    told = []
    for code, message in found.items():
        if message is not None:
            voice.note(f"{code}: {message} {rules[code].advice}")
            told.append({"code": code, "title": rules[code].title, "message": message})
    return told


def _checks(learned: Learned, found: Judged, stability: Any, splits: Any) -> list[Check]:
    """Return the checks of a model by all that is known; none for a model of another package."""
    try:
        model_of(learned.whole)
    except TypeError:
        return []
    permuted = found.permuted if isinstance(found.permuted, Permuted) else None
    known = stability if isinstance(stability, Stability) else None
    data = learned.data
    about: dict[str, Any] = {"comparison": found.results, "permuted": permuted, "stability": known}
    about |= {"sample_groups": data.sample_groups, "cv": splits}
    return check(learned.whole, data.X, data.y, **about)
