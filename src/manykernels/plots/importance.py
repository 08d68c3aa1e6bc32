"""Importance of columns and views."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..inspection import Importance, importance
from ._axes import axes, ink, label_ticks, room


class ImportanceDisplay:
    """Losses of score on held-out samples when columns or views are permuted, with intervals.

    Parameters
    ----------
    importance : Importance
        The result of :func:`manykernels.inspection.importance`.
    by : {"auto", "column", "view"}, default="auto"
        What is drawn. "auto" draws views if there are any.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Importance
    >>> from manykernels.plots import ImportanceDisplay
    >>> drops = np.array([[[0.3], [0.5]], [[0.0], [0.1]]])
    >>> found = Importance(["age", "site"], drops, np.array([0.9, 0.8]), "R²", 0.95, 1.0, 2)
    >>> [label.get_text() for label in ImportanceDisplay(found).plot().ax_.get_yticklabels()]
    ['age', 'site']
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
        """Compute the importance of a model, and draw it.

        Parameters
        ----------
        estimator : estimator
            An estimator, a pipeline or a search, fitted or not.
        X : array-like, frame, sparse matrix, list or dict
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        by : {"auto", "column", "view"}, default="auto"
            What is drawn. "auto" draws views if there are any.
        max_names : int, default=30
            The largest number of names.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        random_state : int, RandomState or None, default=None
            The seed of the folds and of the permutations.
        **options : dict
            The other arguments of :func:`manykernels.inspection.importance`.

        Returns
        -------
        self : ImportanceDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> import pandas as pd
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear
        >>> from manykernels.plots import ImportanceDisplay
        >>> X = pd.DataFrame(np.random.RandomState(0).randn(20, 2), columns=["noise", "age"])
        >>> model = MKLRegressor(Linear())
        >>> display = ImportanceDisplay.from_estimator(model, X, X["age"], cv=2, n_repeats=1, random_state=0)
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['age', 'noise']
        """
        found = importance(estimator, X, y, random_state=random_state, **options)
        return cls(found, by=by).plot(ax=ax, max_names=max_names)

    def plot(self, *, ax: Any = None, max_names: int = 30, **kw: Any) -> Self:
        """Draw the most important names, with a note on those that are left out.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_names : int, default=30
            The largest number of names.
        **kw : dict
            Keyword arguments for the artist.

        Returns
        -------
        self : ImportanceDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.inspection import Importance
        >>> from manykernels.plots import ImportanceDisplay
        >>> drops = np.array([[[0.0], [0.1]], [[0.3], [0.5]]])
        >>> found = Importance(["site", "age"], drops, np.array([0.9, 0.8]), "R²", 0.95, 1.0, 2)
        >>> display = ImportanceDisplay(found).plot(max_names=1)
        >>> print(display.ax_.get_title(loc="left"))
        R² 0.850 on held-out samples
        lines: 95% intervals over 2 folds
        1 of 2 are not shown
        """
        found = self._shown()
        order = found.order[:max_names]
        names = [found.names[j] for j in order]
        self.figure_, self.ax_ = _, ax = axes(ax, 7.0 + room(names), 1.3 + 0.26 * max(len(order), 3))
        place, mean = np.arange(len(order)), found.mean[order]
        reach = np.nan_to_num(found.high[order] - mean)
        style = {"fmt": "o", "ms": 4.5, "capsize": 3, "lw": 1.4, **kw}
        ax.errorbar(mean, place, xerr=reach, **style)
        label_ticks(ax.yaxis, place, names)
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.axvline(0.0, color=ink(ax), lw=0.8)
        ax.set_xlabel(f"loss of {found.metric} when permuted")
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
        """Return a note on the score before, and on names that are left out."""
        note = f"{found.metric} {found.scores.mean():.3f} on held-out samples"
        if found.drops.shape[1] > 1:
            note += f"\nlines: {found.level:.0%} intervals over {found.drops.shape[1]} folds"
        total = len(found.names) if found is self.importance.views else found.of
        return note + (f"\n{total - shown} of {total} are not shown" if shown < total else "")
