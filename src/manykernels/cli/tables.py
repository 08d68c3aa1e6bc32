"""Facts about a model, and tables of them for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rich.markup import escape
from rich.table import Table

from ..fitting.model import Model
from ..inspection import Importance
from ..plots.reading import weight_table

_SHOWN_KERNELS = 12
_WIDE, _NARROW = 24, 12  # characters of the longest bar, alone and beside other columns


def model_facts(model: Model, best: Mapping[str, Any] | None, end: str = "") -> dict[str, Any]:
    """Weights, certificate and views, as plain values.

    `best` is what a search took, and `end` that of its path in C, where the choice lies there.
    """
    table, views, proof = weight_table(model), model.view_weights, model.proof
    size = np.abs(table.W).max(axis=0)
    order = [m for m in table.order if size[m] > 0]
    grouped = len(views) < len(table.names)
    return {
        "estimator": model.title,
        "chosen": _chosen(best),
        "end_of_path": end,
        "weights": {table.names[m]: table.W[0, m] if table.rows is None else table.W[:, m] for m in order},
        "views": {name: np.asarray(w).tolist() for name, w in views.items()} if grouped else {},
        "view_shares": {name: np.asarray(share).tolist() for name, share in _shares(model).items()},
        "present": _lacked(model),
        "covariates": _coefficients(model),
        "adjusted": model.adjusted(),
        "kernels": len(table.names),
        "gap": proof.gap if proof is not None and np.isfinite(proof.gap) else None,
        "certified": None if proof is None else proof.certified,
        "certificate": model.sentence(),
    }


def facts_without_kernels(title: str) -> dict[str, Any]:
    """Return the facts about an estimator without kernels."""
    empty: dict[str, Any] = {"weights": {}, "views": {}, "view_shares": {}, "present": {}}
    return {"estimator": title, "chosen": None, "end_of_path": "", **empty, "certificate": ""}


def _coefficients(model: Model) -> dict[str, Any]:
    """Return the coefficients of covariates by name; empty without covariates."""
    if model.covariates is None:
        return {}
    values = model.single(model.covariates.coefficients)
    return {name: value.tolist() for name, value in zip(model.covariates.design.names, values, strict=True)}


def _shares(model: Model) -> dict[str, Any]:
    """The share of each view in the weight; none where no kernel belongs to one."""
    named = any(getattr(kernel.kernel, "view", None) for kernel in model.kernels)
    return model.view_shares if named else {}


def _lacked(model: Model) -> dict[str, int]:
    """Count how many samples have each view, where some lack one."""
    present, samples = model.layout.present or {}, model.layout.samples
    return dict(present) if any(count < samples for count in present.values()) else {}


def _chosen(best: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the choice of a search as plain values."""
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
    return table


def views_table(views: Iterable[str], facts: dict[str, Any], lost: Importance | None) -> Table | None:
    """Every view with its share of the weight, and what the score loses without it where that is known."""
    shares = facts["view_shares"]
    if len(shares) == 1:  # one kernel machine for all views: its weight is of none of them
        shares = {}
    names = list(dict.fromkeys([*views, *shares]))
    if len(names) < 2 or not (shares or lost):
        return None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="")
    table.add_column("view")
    present = facts["present"]
    if present:
        table.add_column("samples", justify="right")
    if shares:
        table.add_column("weight")
        table.add_column("")
    if lost is not None:
        table.add_column(f"{lost.metric} lost without it ({100 * lost.level:g} % interval)")
    for name in names:
        row, share = [escape(_short(name))], np.atleast_1d(shares.get(name, 0.0))
        if present:
            row += [str(present.get(name, ""))]
        if shares:
            row += [" / ".join(f"{100 * s:.0f} %" for s in share[:6]), bar(float(share.max()), _NARROW)]
        if lost is not None:
            row += [lost.shown(name)]
        table.add_row(*row)
    return table


def _short(name: str, longest: int = 48) -> str:
    name = " ".join(str(name).split())
    return name if len(name) <= longest else name[: longest - 16] + "…" + name[-15:]
