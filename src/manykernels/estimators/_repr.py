"""The HTML of a fitted model in a notebook: scikit-learn's diagram, and below it what was learned.

It is plain HTML without a script. Colours are inherited or see-through, so that it fits light and dark pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import rounded
from .._checks import PAGE
from ..fitting.model import Model
from ._checked import Checked

Array = NDArray[np.float64]
_SHOWN = 10  # kernels or views
_OUTPUTS = 6  # weights of one kernel
_LONGEST = 60  # characters of a name
_WIDTH = 110  # pixels of the longest bar
_METRICS = {"classification": "accuracy", "regression": "R²", "survival": "C index"}
_STYLE = "font: 0.85em/1.5 system-ui, sans-serif; margin: 0.4em 0 0.6em 0.2em; color: inherit"
_CELL = "padding: 0.1em 1em 0.1em 0; border: none; text-align: {}; color: inherit; background: none"
_TRACK = f"display: block; width: {_WIDTH}px; background: rgba(127, 127, 127, 0.18); border-radius: 2px"
_BAR = "display: block; height: 0.75em; background: #3a7ebf; border-radius: 2px"
_TABLE = "border-collapse: collapse; margin: 0.3em 0"
_FOLD = "margin: 0.3em 0; color: inherit; background: none"


class HTMLSummary(Checked):
    """Adds weights, certificate, choices and checks to scikit-learn's diagram."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + summary(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += summary(self)
        return bundle


def summary(face: Checked) -> str:
    """Small tables in HTML, with names escaped; nothing before a fit."""
    chosen = vars(face).get("best_estimator_", face)
    model: Model | None = vars(chosen).get("_model")
    if model is None:
        return ""
    lines = [_sentence(line) for line in (_choices(face, chosen, model), model.sentence(), model.adjusted())]
    parts = [*filter(None, lines), _weights(model), _checks(face)]
    return f'<div class="manykernels-summary" style="{_STYLE}">{"".join(parts)}</div>'


def _sentence(text: str) -> str:
    return f"<div>{escape(text)}</div>" if text else ""


def _choices(face: Any, chosen: Any, model: Model) -> str:
    """C and the norm, and of a search its score."""
    given = chosen.get_params(deep=False)
    told = [f"{name} = {_short(given[name])}" for name in ("C", "lam", "norm", "weighting") if name in given]
    if face is not chosen:
        own = face.scoring if isinstance(face.scoring, str) else None
        task = str(getattr(model.target, "task", ""))
        metric = own or (_METRICS.get(task, "score") if face.scoring is None else "score")
        told = [*_scored(face, metric), *told]
    return f"{', '.join(told)}." if told else ""


def _scored(search: Any, metric: str) -> list[str]:
    own = vars(search)
    score, best = own.get("best_score_"), own.get("best_params_")
    told = [] if score is None or np.ndim(score) else [f"Cross-validated {metric} {float(score):.3f}"]
    return told + (
        [f"strategy {best['strategy']}"] if isinstance(best, Mapping) and "strategy" in best else []
    )


def _short(value: Any) -> str:
    """Numbers in few digits; parts by their repr, cut where it is long."""
    if np.ndim(value):
        return "one for each output"
    return _cut(" ".join(rounded(value).split()) if isinstance(value, float) else str(value))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 21] + "…" + text[-20:]


# -- weights --------------------------------------------------------------------------------------
def _weights(model: Model) -> str:
    """Shares of views, with kernels to unfold; kernels alone where there are no views."""
    W = np.atleast_2d(np.asarray(model.weights, dtype=np.float64))
    kernels = _table([str(name) for name in model.names], W)
    views = model.view_shares
    if len(views) == len(model.names) or not kernels:
        return kernels
    shares = _table(list(views), np.atleast_2d(np.array(list(views.values())).T), " %", 100.0)
    fold = f'<details style="{_FOLD}"><summary>Weights of kernels</summary>{kernels}</details>'
    return f'<div style="{_FOLD}">Share of each view in the weight</div>{shares}{fold}'


def _table(names: list[str], W: Array, unit: str = "", factor: float = 1.0) -> str:
    """A row for each of the largest weights, with a bar."""
    size = np.abs(W).max(axis=0)
    order = [int(m) for m in np.argsort(-size, kind="stable") if size[m] > 0]
    largest = 1.0 if unit else size.max(initial=0.0) or 1.0  # the whole bar of a share is 100 %
    rows = [_row(names[m], factor * W[:, m], size[m] / largest, unit) for m in order[:_SHOWN]]
    if len(order) > _SHOWN:
        more = f"and {len(order) - _SHOWN} more"
        rows.append(f'<tr style="background: none"><td style="{_CELL.format("left")}">{more}</td></tr>')
    return (
        f'<table style="border-collapse: collapse; margin: 0.3em 0">{"".join(rows)}</table>' if rows else ""
    )


def _row(name: str, weights: Array, share: float, unit: str) -> str:
    digits = "{:.0f}" if unit else "{:.3g}"
    shown = " / ".join(digits.format(w) for w in weights[:_OUTPUTS]) + unit
    shown += " / …" if len(weights) > _OUTPUTS else ""
    bar = f'<span style="{_TRACK}"><span style="{_BAR}; width: {max(_WIDTH * share, 1):.0f}px"></span></span>'
    left, right = _CELL.format("left"), _CELL.format("right")
    return (
        f'<tr style="background: none"><td style="{left}" title="{escape(name)}">{escape(_cut(name))}</td>'
        f'<td style="{right}">{escape(shown)}</td><td style="{left}; vertical-align: middle">{bar}</td></tr>'
    )


def _checks(face: Checked) -> str:
    """Return what to be careful about, if there is anything."""
    rows = [
        f'<li style="color: inherit"><b>{one.code}</b> {escape(one.message)}</li>' for one in face.checks_
    ]
    if not rows:
        return ""
    head = f"<summary>Be careful ({PAGE} says what to do)</summary>"
    items = f'<ul style="margin: 0.2em 0; padding-left: 1.4em">{"".join(rows)}</ul>'
    return f'<details open style="{_FOLD}">{head}{items}</details>'
