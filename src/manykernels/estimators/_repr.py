"""What a notebook shows of a fitted model: scikit-learn's diagram, and below it what was learned."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..fitting.model import Model

_SHOWN = 8  # kernels
_STYLE = "font: 0.85em/1.5 system-ui, sans-serif; margin: 0.4em 0 0.6em 0.2em; color: inherit"
_BAR = "display: inline-block; height: 0.7em; background: #3a7ebf; vertical-align: baseline"


class HTMLSummary(BaseEstimator):
    """Adds a table of the largest weights and the certificate to scikit-learn's diagram."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + summary(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += summary(self)
        return bundle


def summary(face: BaseEstimator) -> str:
    """A small table in HTML, with names escaped; nothing before a fit."""
    own = vars(face)
    model: Model | None = vars(own["best_estimator_"] if "best_estimator_" in own else face).get("_model")
    if model is None:
        return ""
    W = np.atleast_2d(np.asarray(model.weights, dtype=np.float64))
    size = np.abs(W).max(axis=0)
    order = [m for m in np.argsort(-size, kind="stable")[:_SHOWN] if size[m] > 0]
    largest = size.max(initial=0.0) or 1.0
    rows = "".join(_row(str(model.names[m]), W[:, m], size[m] / largest) for m in order)
    text = escape(model.sentence()) + _table(rows)
    return f'<div class="manykernels-summary" style="{_STYLE}">{text}</div>'


def _table(rows: str) -> str:
    return f'<table style="border-collapse: collapse; margin-top: 0.3em">{rows}</table>' if rows else ""


def _row(name: str, weights: Any, share: float) -> str:
    cell = "padding: 0 0.8em 0 0; border: none; text-align: left; color: inherit; background: none"
    shown = " / ".join(f"{w:.3g}" for w in weights[:6]) + (" / …" if len(weights) > 6 else "")
    bar = f'<span style="{_BAR}; width: {max(90 * share, 1):.0f}px"></span>'
    short = name if len(name) <= 60 else name[:39] + "…" + name[-20:]
    return (
        f'<tr style="background: none"><td style="{cell}" title="{escape(name)}">{escape(short)}</td>'
        f'<td style="{cell}">{escape(shown)}</td><td style="{cell}">{bar}</td></tr>'
    )
