"""What a notebook shows of a fitted model: scikit-learn's diagram, and below it what was learned."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

_SHOWN = 8  # kernels
_ONLINE = 1e-2  # the relative gap above which online learning is far from done
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


def summary(model: Any) -> str:
    """A small table in HTML, with names escaped; nothing before a fit."""
    model = getattr(model, "__dict__", {}).get("best_estimator_", model)
    if "weights_" not in getattr(model, "__dict__", {}):
        return ""
    W = np.atleast_2d(np.asarray(model.weights_, dtype=np.float64))
    size = np.abs(W).max(axis=0)
    order = [m for m in np.argsort(-size, kind="stable")[:_SHOWN] if size[m] > 0]
    largest = size.max(initial=0.0) or 1.0
    rows = "".join(_row(str(model.kernel_names_[m]), W[:, m], size[m] / largest) for m in order)
    text = escape(_sentence(model, size)) + _table(rows)
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


def _sentence(model: Any, size: Any) -> str:
    """How many kernels have weight, and what is proven of it."""
    used, several = int(np.count_nonzero(size)), len(size) > 1
    listed = used < len(size) or not _unlisted(model)
    found = "1 kernel was found" if used == 1 else f"{used} kernels were found"
    count = f"{used} of {len(size)} kernels have weight" if listed else found
    text = count if several or not listed else "1 kernel"
    gap = getattr(model, "dual_gap_", None)
    if gap is not None and np.isfinite(gap):
        text += f"; {_proof(model, float(gap))}"
    elif gap is not None:
        text += "; no certificate"
    elif hasattr(model, "alignment_"):
        text += f"; alignment with the target {model.alignment_:.3f}"
    return text + "."


def _proof(model: Any, gap: float) -> str:
    """What the gap proves, and of which kernels; a large one only bounds how far the fit is from done."""
    certified = "certified over the whole family" if _unlisted(model) else "certified"
    of = certified if model.certified_ else "over the kernels looked at"
    if _converged(model, gap):
        return f"relative duality gap {gap:.1e}, {of}"
    percent = f"{100 * gap:.0f}" if gap >= 0.1 else f"{100 * gap:.2g}"
    worst = f"the optimum is at most {percent} % lower" + ("" if model.certified_ else f", {of}")
    return f"not converged: relative duality gap {gap:.1e}, so that {worst}"


def _converged(model: Any, gap: float) -> bool:
    """Whether the gap is what was asked for; online learning has no tolerance, so 1 % is."""
    return gap <= getattr(model, "tol", _ONLINE)


def _unlisted(model: Any) -> bool:
    """Whether the family is too large to list, so that only the kernels that it gave are known."""
    return not getattr(model.kernels, "listed", True) or hasattr(model, "hull_")
