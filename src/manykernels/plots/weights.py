"""Weights of the kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, ink, label_ticks, plain, room, write_cells
from .reading import Array, WeightTable, stability_columns, weight_table

_NAMED = 60  # rows of weights that have a name each in the picture


class WeightsDisplay:
    """The weights of the kernels: bars, or a heat map for classes, outputs or clusters.

    More than 60 rows are sorted by the kernel with the largest weight, and not named.

    Parameters
    ----------
    names : list of str
        The names of the kernels.
    weights : array-like of shape (n_kernels,) or (n_rows, n_kernels)
        The weights.
    rows : list of str or None, default=None
        The names of the rows, if there are several.
    stability : Stability, dict or None, default=None
        The means, intervals and frequencies over resamples of the data
        (:func:`manykernels.inspection.weight_stability`); for one row of weights.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.plots import WeightsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(loss="squared").fit(X, y)
    >>> display = WeightsDisplay.from_estimator(model, max_kernels=5)
    >>> len(display.names) == len(model.weights_)
    True
    """

    figure_: Any
    ax_: Any

    def __init__(
        self, names: list[str], weights: Any, *, rows: list[str] | None = None, stability: Any = None
    ) -> None:
        self.names, self.rows, self.stability = names, rows, stability
        self.weights: Array = np.atleast_2d(np.asarray(weights, dtype=np.float64))

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, stability: Any = None, max_kernels: int = 30, ax: Any = None, **kw: Any
    ) -> Self:
        """Build the display from a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        stability : Stability, dict or None, default=None
            The intervals over resamples of the data.
        max_kernels : int, default=30
            The largest number of kernels.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : WeightsDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> from manykernels.plots import WeightsDisplay
        >>> X = np.random.RandomState(0).randn(30, 2)
        >>> kernels = {"age": OnColumns(Linear(), [0]), "noise": OnColumns(Linear(), [1])}
        >>> model = MKLRegressor(kernels).fit(X, 2.0 * X[:, 0])
        >>> display = WeightsDisplay.from_estimator(model)
        >>> display.names, display.weights.round(1).tolist()
        (['age', 'noise'], [[1.0, 0.0]])
        """
        table = weight_table(model_of(estimator)[0])
        display = cls(table.names, table.W, rows=table.rows, stability=stability)
        return display.plot(ax=ax, max_kernels=max_kernels, **kw)

    def plot(self, *, ax: Any = None, max_kernels: int = 30, **kw: Any) -> Self:
        """Draw the largest weights, with a note on those that are left out.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_kernels : int, default=30
            The largest number of kernels.
        **kw : dict
            Keyword arguments for the artist.

        Returns
        -------
        self : WeightsDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import WeightsDisplay
        >>> display = WeightsDisplay(["linear", "wide", "narrow"], [0.6, 0.4, 0.0]).plot(max_kernels=1)
        >>> print(display.ax_.get_title(loc="left"))
        1 of 3 weights is exactly zero
        2 are not shown, the largest 0.4
        """
        table = WeightTable(list(self.names), self.weights, self.rows)
        order = table.order
        shown = order[:max_kernels]
        if len(self.weights) > 1:
            self._heat_map(ax, shown, kw)
        else:
            self._bars(ax, shown, kw)
        self.ax_.set_title(self._note(self.weights[:, order[max_kernels:]]), fontsize="medium", loc="left")
        return self

    def _note(self, rest: Array) -> str:
        """Return a note on what the picture leaves out."""
        zeros = int((~self.weights.any(axis=0)).sum())
        several = len(self.weights) > 1
        empty = f"weights {'is' if zeros == 1 else 'are'} exactly zero"
        if several:
            empty = f"kernels {'has' if zeros == 1 else 'have'} no weight at all\n(empty: exactly zero)"
        some = "kernels have weight" if several else "weights are above zero"
        note = f"{zeros} of {len(self.names)} {empty}" if zeros else f"all {len(self.names)} {some}"
        if rest.shape[1]:
            largest = f", the largest {np.abs(rest).max():.2g}" if rest.any() else ""
            note += f"\n{rest.shape[1]} are not shown{largest}"
        return note

    def _bars(self, ax: Any, shown: Any, kw: dict[str, Any]) -> None:
        values, names = self.weights[0, shown], [self.names[m] for m in shown]
        self.figure_, self.ax_ = _, ax = axes(ax, 7.0 + room(names), 1.1 + 0.26 * max(len(shown), 3))
        place = np.arange(len(shown))
        ax.barh(place, values, **{"height": 0.7, **kw})
        label_ticks(ax.yaxis, place, names)
        ax.set_ylim(len(shown) - 0.4, -0.6)
        ax.set_xlabel("weight")
        ax.axvline(0.0, color=ink(ax), lw=0.8)
        spread = stability_columns(self.stability, self.names)
        if spread is not None:
            self._intervals(ax, place, {key: column[..., shown] for key, column in spread.items()})
        right = ax.get_xlim()[1]
        for i, value in enumerate(values):
            if value == 0.0:
                ax.text(0.006 * right, i, "0", va="center", fontsize="small", alpha=0.6)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)

    def _intervals(self, ax: Any, place: Any, spread: dict[str, Array]) -> None:
        middle = spread.get("mean", 0.5 * (spread["low"] + spread["high"]))
        reach = [np.maximum(middle - spread["low"], 0.0), np.maximum(spread["high"] - middle, 0.0)]
        ax.errorbar(middle, place, xerr=reach, fmt="o", ms=3.5, capsize=3, color=ink(ax), lw=1.2)
        frequency = spread.get("frequency")
        if frequency is None:
            return
        right = float(np.nanmax([ax.get_xlim()[1], np.nanmax(spread["high"]) * 1.04]))
        ax.set_xlim(right=right * 1.16)
        for i, share in zip(place, frequency, strict=True):
            if np.isfinite(share):
                ax.text(right * 1.15, i, f"{share:.0%}", ha="right", va="center", fontsize="small")
        ax.text(
            right * 1.15, -0.75, "selected in", ha="right", va="bottom", fontsize="small", in_layout=False
        )

    def _heat_map(self, ax: Any, shown: Any, kw: dict[str, Any]) -> None:
        if self.stability is not None:
            raise ValueError("stability was given for a model with several rows of weights; one is expected.")
        W = self.weights[:, shown]
        rows = self.rows or [str(i) for i in range(len(W))]
        tall, wide = len(shown), len(W)
        many = wide > _NAMED
        if many:
            W = W[np.lexsort((-W.max(axis=1), W.argmax(axis=1)))]  # by the kernel that matters most
        self.figure_, self.ax_ = figure, ax = axes(ax, 3.6 + 0.62 * min(wide, 20), 1.4 + 0.26 * max(tall, 3))
        shade = np.where(W == 0.0, np.nan, W).T  # zero is empty, not dark
        high = np.nanmax(np.abs(shade)) if np.isfinite(shade).any() else 1.0
        low = -high if (W < 0).any() else 0.0
        style = {"cmap": "RdBu_r" if low < 0 else "viridis", "vmin": low, "vmax": high, "aspect": "auto"}
        image = ax.imshow(shade, **{**style, **kw})
        label_ticks(ax.yaxis, np.arange(tall), [self.names[m] for m in shown])
        if many:
            ax.set_xticks([])
            ax.set_xlabel(f"{wide:,} outputs or classes, by their largest weight")
        else:
            turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
            label_ticks(ax.xaxis, np.arange(wide), rows, **(turned if max(map(len, rows)) > 4 else {}))
        if wide <= 10 and tall <= 40:
            write_cells(ax, image, shade, "{:.2g}")
        figure.colorbar(image, ax=ax, label="weight")
        plain(ax.set_ylabel(""))
