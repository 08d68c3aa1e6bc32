"""Scores of methods, fold by fold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..comparison import Comparison, Comparisons
from ._axes import axes, label_ticks, room


class ComparisonDisplay:
    """Scores of methods in the same folds: a dot for each fold, the mean, and a line for chance.

    For several datasets it draws the ranks of the methods.

    Parameters
    ----------
    names : list of str
        The methods, from the best to the worst.
    scores : list of list of float
        The scores of each method, one for each fold.
    metric : str
        The name of the score.
    chance : float or None
        The mean score of a constant. None draws no line.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from manykernels.plots import ComparisonDisplay
    >>> display = ComparisonDisplay(["a", "b"], [[0.9, 0.8], [0.7, 0.6]], "accuracy", 0.5).plot()
    >>> display.ax_.get_xlabel()
    'accuracy'
    """

    figure_: Any
    ax_: Any

    def __init__(
        self, names: list[str], scores: list[list[float]], metric: str, chance: float | None
    ) -> None:
        self.names = names
        self.scores = scores
        self.metric = metric
        self.chance = chance

    @classmethod
    def from_comparison(cls, comparison: Comparison | Comparisons, *, ax: Any = None, **kw: Any) -> Self:
        """Build the display from the result of ``manykernels.compare``.

        Parameters
        ----------
        comparison : Comparison or Comparisons
            The result. Methods that failed in some fold are left out. For several datasets the ranks are
            drawn, 1 is best: a dot for each dataset, and the mean.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``scatter`` of the folds.

        Returns
        -------
        self : ComparisonDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> from manykernels.plots import ComparisonDisplay
        >>> scores = {"tree": Scores([Fold(0.7), Fold(0.6)]), "line": Scores([Fold(0.9), Fold(0.8)])}
        >>> found = Comparison("accuracy", scores, Scores([Fold(0.5), Fold(0.5)]))
        >>> display = ComparisonDisplay.from_comparison(found)
        >>> display.names, display.chance
        (['line', 'tree'], 0.5)
        """
        if isinstance(comparison, Comparisons):
            return cls._of_ranks(comparison).plot(ax=ax, **kw)
        if not isinstance(comparison, Comparison):
            raise TypeError(
                f"{type(comparison).__name__} was given; expected what manykernels.compare returns."
            )
        ranks = comparison.ranks()
        names = sorted(ranks, key=lambda name: ranks[name])
        values = [comparison.scores[name].values for name in names]
        constant = comparison.chance.mean if comparison.chance.complete else None
        return cls(names, values, comparison.metric, constant).plot(ax=ax, **kw)

    @classmethod
    def _of_ranks(cls, found: Comparisons) -> Self:
        from scipy.stats import rankdata  # slow to import

        if found.ranking is None:
            raise ValueError("ranks need two methods with a mean on each of at least two datasets.")
        mean = found.ranking.mean_ranks
        names = sorted(mean, key=lambda name: mean[name])
        scores = np.array([[one.scores[name].mean for one in found.of.values()] for name in names])
        ranks = rankdata(-np.round(scores, 12), axis=0)
        return cls(names, ranks.tolist(), f"rank on each of {len(found.of)} datasets, 1 is best", None)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw the scores.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``scatter`` of the folds.

        Returns
        -------
        self : ComparisonDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import ComparisonDisplay
        >>> display = ComparisonDisplay(["line", "tree"], [[0.9, 0.8], [0.7, 0.6]], "accuracy", 0.5)
        >>> display = display.plot(color="C2")
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['line', 'tree']
        """
        self.figure_, self.ax_ = _, ax = axes(ax, 6.4 + room(self.names), 1.2 + 0.4 * len(self.names))
        for row, values in enumerate(self.scores):
            style = {"s": 18, "alpha": 0.45, "color": "C0", "linewidths": 0, **kw}
            ax.scatter(values, np.full(len(values), row), **style)
            ax.scatter([np.mean(values)], [row], s=60, color="C0", zorder=3)
        if self.chance is not None:
            ax.axvline(self.chance, color="C1", linestyle="--", label="guessing")
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False)  # covers nothing
        label_ticks(ax.yaxis, np.arange(len(self.names)), self.names)
        ax.set_ylim(len(self.names) - 0.5, -0.5)
        ax.set_xlabel(self.metric)
        return self
