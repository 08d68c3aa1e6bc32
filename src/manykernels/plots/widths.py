"""Learned widths of the kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, ink, label_ticks, log_axis, room
from .reading import Array, width_table


class WidthsDisplay:
    """Weights of the kernels at their widths (or frequencies), on a logarithmic axis.

    Kernels with a width for every feature have one row for each feature: a small width means that the feature
    matters.

    Parameters
    ----------
    values : array-like of shape (n_kernels, n_parameters)
        The widths, which are positive.
    weights : array-like of shape (n_kernels,)
        The weights.
    parameter : str, default="width"
        The name of the axis.
    features : list of str or None, default=None
        The names of the parameters, if there are several.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from manykernels.plots import WidthsDisplay
    >>> WidthsDisplay([[0.5], [2.0]], [0.3, 0.7]).plot().ax_.get_xscale()
    'log'
    """

    figure_: Any
    ax_: Any

    def __init__(
        self, values: Any, weights: Any, *, parameter: str = "width", features: list[str] | None = None
    ) -> None:
        self.weights: Array = np.asarray(weights, dtype=np.float64)
        self.values: Array = np.asarray(values, dtype=np.float64).reshape(self.weights.size, -1)
        self.parameter, self.features = parameter, features

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kw: Any) -> Self:
        """Build the display from a model with Gaussian, Laplacian or Dirichlet kernels.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for the artist.

        Returns
        -------
        self : WidthsDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Gaussian
        >>> from manykernels.plots import WidthsDisplay
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = MKLRegressor([Gaussian(1.0), Gaussian(4.0)]).fit(X, X[:, 0])
        >>> display = WidthsDisplay.from_estimator(model)
        >>> display.values.tolist(), display.parameter
        ([[1.0], [4.0]], 'width')
        """
        table = width_table(model_of(estimator)[0])
        display = cls(table.values, table.weights, parameter=table.parameter, features=table.features)
        return display.plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, max_features: int = 40, **kw: Any) -> Self:
        """Draw the weights.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_features : int, default=40
            The largest number of features: those with the smallest widths.
        **kw : dict
            Keyword arguments for the artist.

        Returns
        -------
        self : WidthsDisplay
            The display, drawn.

        Examples
        --------
        Kernels with a width for each feature; age matters more:

        >>> from manykernels.plots import WidthsDisplay
        >>> display = WidthsDisplay([[0.5, 9.0]], [1.0], features=["age", "site"]).plot()
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['age', 'site']
        """
        if self.features is None:
            self._stems(ax, kw)
        else:
            self._rows(ax, max_features, kw)
        log_axis(self.ax_, self.values)
        self.ax_.grid(alpha=0.25, axis="x")
        for side in ("top", "right"):
            self.ax_.spines[side].set_visible(False)
        return self

    def _stems(self, ax: Any, kw: dict[str, Any]) -> None:
        self.figure_, self.ax_ = _, ax = axes(ax, 6.4, 3.4)
        x, used = self.values[:, 0], self.weights > 0
        ax.vlines(x[used], 0.0, self.weights[used], **{"color": "C0", "lw": 2.0, **kw})
        ax.plot(x[used], self.weights[used], "o", color="C0", ms=6)
        if (~used).any():
            style = {
                "color": ink(ax),
                "ms": 5,
                "mfc": "none",
                "alpha": 0.7,
                "clip_on": False,
                "label": "weight zero",
            }
            ax.plot(x[~used], np.zeros((~used).sum()), "o", **style)
            ax.legend(frameon=False, loc="best")
        ax.set_ylim(bottom=0.0)
        ax.set_xlabel(self.parameter)
        ax.set_ylabel("weight")

    def _rows(self, ax: Any, max_features: int, kw: dict[str, Any]) -> None:
        assert self.features is not None
        used = np.flatnonzero(self.weights > 0)
        nearest = self.values[used].min(axis=0) if used.size else self.values.min(axis=0)
        shown = np.sort(np.argsort(nearest, kind="stable")[:max_features])
        names = [self.features[i] for i in shown]
        self.figure_, self.ax_ = _, ax = axes(ax, 6.8 + room(names), 1.4 + 0.28 * max(shown.size, 3))
        largest = self.weights.max() or 1.0
        for c, m in enumerate(used[np.argsort(-self.weights[used], kind="stable")]):
            label = f"weight {self.weights[m]:.3g}" if c < 8 else None
            size = 25.0 + 120.0 * self.weights[m] / largest
            style = {"s": size, "color": f"C{c % 10}", "alpha": 0.75, "label": label}
            ax.scatter(self.values[m, shown], np.arange(shown.size), **{**style, **kw})
        label_ticks(ax.yaxis, np.arange(shown.size), names)
        ax.set_ylim(shown.size - 0.5, -0.5)
        ax.set_xlabel("width of each feature (small: the feature matters)")
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.01, 0.5), title="kernels")
