"""Which samples have which views: the patterns, and what is said where few have one."""

from __future__ import annotations

from typing import Any

from ..fitting.absence import few_have, patterns
from ..fitting.model import Model

_PATTERNS = 12  # that are shown, the commonest


def presence_section(model: Model, X: Any) -> dict[str, Any]:
    """Views, how many samples have each and which have them together; nothing where all samples have all."""
    layout = model.layout
    if not layout.present or all(count == layout.samples for count in layout.present.values()):
        return {}
    views, found = patterns(layout.kernels, X, layout.names)
    shown = found[:_PATTERNS]
    section: dict[str, Any] = {
        "views": views,
        "counts": [layout.present[view] for view in views],
        "patterns": [{"has": list(has), "samples": count} for has, count in shown],
        "others": sum(count for _, count in found[_PATTERNS:]),
        "remarks": few_have(layout.present, layout.samples),
    }
    return {"presence": section}
