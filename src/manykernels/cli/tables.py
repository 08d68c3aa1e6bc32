"""Facts about a model, and tables of them for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..fitting.model import Model
from ..plots.reading import weight_table

_SHOWN_KERNELS = 12
_WIDE = 24  # characters of the longest bar


def model_facts(model: Model, best: Mapping[str, Any] | None) -> dict[str, Any]:
    """Weights, certificate and views, as plain values; `best` is what a search took."""
    table, views, proof = weight_table(model), model.view_weights, model.proof
    size = np.abs(table.W).max(axis=0)
    order = [m for m in table.order if size[m] > 0]
    grouped = len(views) < len(table.names)
    return {
        "estimator": model.title,
        "chosen": _chosen(best),
        "weights": {table.names[m]: table.W[0, m] if table.rows is None else table.W[:, m] for m in order},
        "views": {name: np.asarray(w).tolist() for name, w in views.items()} if grouped else {},
        "kernels": len(table.names),
        "gap": proof.gap if proof is not None and np.isfinite(proof.gap) else None,
        "certified": None if proof is None else proof.certified,
        "certificate": model.sentence(),
    }


def facts_without_kernels(title: str) -> dict[str, Any]:
    """Of an estimator that learns none."""
    return {"estimator": title, "chosen": None, "weights": {}, "views": {}, "certificate": ""}


def _chosen(best: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What a search took, as plain values."""
    if best is None:
        return None
    simple = str | int | float | None
    return {key: value if isinstance(value, simple) else str(value) for key, value in best.items()}


def bar(share: float, width: int = _WIDE) -> str:
    """A bar in eighths of a character."""
    eighths = round(8 * width * min(max(share, 0.0), 1.0))
    return "█" * (eighths // 8) + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths % 8]


def weights_table(facts: dict[str, Any]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    shown = list(facts["weights"].items())[:_SHOWN_KERNELS]
    largest = max((float(np.max(np.abs(w))) for _, w in shown), default=1.0)
    for name, weight in shown:
        size = float(np.max(np.abs(weight)))
        text = " / ".join(f"{w:.3f}" for w in np.atleast_1d(weight)[:6])
        table.add_row(escape(_short(name)), text, bar(size / largest))
    rest = len(facts["weights"]) - len(shown)
    if rest > 0:
        table.add_row(f"and {rest} more", "", "")
    if facts["views"]:
        total = max(float(np.max(w)) for w in facts["views"].values()) or 1.0
        table.add_row("", "", "")
        for name, weight in facts["views"].items():
            text = " / ".join(f"{w:.3f}" for w in np.atleast_1d(weight)[:6])
            table.add_row(escape(f"view {_short(name)}"), text, bar(float(np.max(weight)) / total))
    return table


def _short(name: str, longest: int = 48) -> str:
    name = " ".join(str(name).split())
    return name if len(name) <= longest else name[: longest - 16] + "…" + name[-15:]
