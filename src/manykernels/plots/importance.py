"""Which columns, or which views, a model needs."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..inspection import Importance, importance
from ._axes import axes, ink, label_ticks


class ImportanceDisplay:
    """What the score loses on held-out samples when columns or views are permuted: dots with intervals.

    Parameters
    ----------
    importance : Importance
        From :func:`manykernels.inspection.importance`.
    by : "auto", "column" or "view"
        "auto" shows views where there are any.

    Attributes
    ----------
    figure_, ax_ : matplotlib's

    Examples
    --------
    >>> ImportanceDisplay(importance(model, X, y)).plot()  # doctest: +SKIP
    """

    figure_: Any
    ax_: Any

    def __init__(self, importance: Importance, *, by: str = "auto") -> None:
        self.importance, self.by = importance, by

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        by: str = "auto",
        max_names: int = 30,
        ax: Any = None,
        random_state: Any = None,
        **options: Any,
    ) -> Self:
        """Measure and draw; ``options`` are those of :func:`manykernels.inspection.importance`."""
        found = importance(estimator, X, y, random_state=random_state, **options)
        return cls(found, by=by).plot(ax=ax, max_names=max_names)

    def plot(self, *, ax: Any = None, max_names: int = 30, **kw: Any) -> Self:
        """Draw the ``max_names`` most important; what is left out is said. ``kw`` goes to the artist."""
        found = self._shown()
        order = found.order[:max_names]
        self.figure_, self.ax_ = _, ax = axes(ax, 7.0, 1.3 + 0.26 * max(len(order), 3))
        place, mean = np.arange(len(order)), found.mean[order]
        reach = np.nan_to_num(found.high[order] - mean)
        style = {"fmt": "o", "ms": 4.5, "capsize": 3, "lw": 1.4, **kw}
        ax.errorbar(mean, place, xerr=reach, **style)
        label_ticks(ax.yaxis, place, [found.names[j] for j in order])
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.axvline(0.0, color=ink(ax), lw=0.8)
        ax.set_xlabel(f"what {found.metric} loses when permuted")
        ax.set_title(self._note(found, len(order)), fontsize="medium", loc="left")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return self

    def _shown(self) -> Importance:
        if self.by not in ("auto", "column", "view"):
            raise ValueError(f"by={self.by!r} was given; expected 'auto', 'column' or 'view'.")
        views = self.importance.views
        if self.by == "view" and views is None:
            raise ValueError("by='view' was given, and no views are known: give groups to importance.")
        return self.importance if views is None or self.by == "column" else views

    def _note(self, found: Importance, shown: int) -> str:
        """The score before, and what the picture leaves out."""
        note = f"{found.metric} {found.scores.mean():.3f} on held-out samples"
        if found.drops.shape[1] > 1:
            note += f"; lines: {found.level:.0%} intervals over {found.drops.shape[1]} folds"
        total = len(found.names) if found is self.importance.views else found.of
        return note + (f"\n{total - shown} of {total} are not shown" if shown < total else "")
