"""Contributions of the kernels to single decisions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, ink, label_ticks, plain, room, short, write_cells
from .reading import Array, contribution_table


class ContributionDisplay:
    """Contributions of the kernels to decisions: bars for one sample, a heat map for several.

    Parameters
    ----------
    names : list of str
        The names of the kernels or views.
    parts : array-like of shape (n_samples, n_kernels)
        The contributions.
    intercept : float
        The constant of the decision.
    samples : list of str or None, default=None
        The names of the samples.
    output : str, default=""
        The class or output of the decision. Empty if there is only one.

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
    >>> from manykernels.plots import ContributionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(loss="squared").fit(X, y)
    >>> display = ContributionDisplay.from_estimator(model, X, samples=[0])
    >>> len(display.names) == len(model.active_)
    True
    """

    figure_: Any
    ax_: Any

    def __init__(
        self,
        names: list[str],
        parts: Any,
        intercept: float,
        *,
        samples: list[str] | None = None,
        output: str = "",
    ) -> None:
        self.parts: Array = np.atleast_2d(np.asarray(parts, dtype=np.float64))
        self.names, self.intercept, self.output = names, float(intercept), output
        self.samples = samples or [str(i) for i in range(len(self.parts))]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        samples: Sequence[int] | None = None,
        by: Literal["kernel", "view"] = "kernel",
        output: Any = None,
        max_kernels: int = 15,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from a fitted estimator.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict
            The samples.
        samples : list of int or None, default=None
            The positions of the samples. None takes the first ten.
        by : {"kernel", "view"}, default="kernel"
            With "view" the kernels of a view are added up.
        output : class, int or None, default=None
            The class or output to explain. None takes the first one.
        max_kernels : int, default=15
            The largest number of kernels; the others are added up.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : ContributionDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> from manykernels.plots import ContributionDisplay
        >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]])
        >>> kernels = {"age": OnColumns(Linear(), [0]), "dose": OnColumns(Linear(), [1])}
        >>> model = MKLRegressor(kernels, C=100.0).fit(X, X[:, 0] + X[:, 1])
        >>> display = ContributionDisplay.from_estimator(model, X, samples=[0, 2])
        >>> display.names, display.parts.shape
        (['age', 'dose'], (2, 2))
        >>> np.allclose(display.parts.sum(axis=1) + display.intercept, model.predict(X[[0, 2]]))
        True
        """
        table = contribution_table(*model_of(estimator, X), samples, by=by, output=output)
        display = cls(table.names, table.parts, table.intercept, samples=table.samples, output=table.output)
        return display.plot(ax=ax, max_kernels=max_kernels, **kw)

    def plot(self, *, ax: Any = None, max_kernels: int = 15, **kw: Any) -> Self:
        """Draw the contributions, the intercept and the decision.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_kernels : int, default=15
            The largest number of kernels; the others are added up.
        **kw : dict
            Keyword arguments for the artist.

        Returns
        -------
        self : ContributionDisplay
            The display, drawn.

        Examples
        --------
        The bars of one sample add up to its decision:

        >>> from manykernels.plots import ContributionDisplay
        >>> display = ContributionDisplay(["genes", "clinic"], [[0.5, -0.2]], intercept=0.1).plot()
        >>> [label.get_text() for label in display.ax_.get_yticklabels()]
        ['genes', 'clinic', 'intercept', 'decision']
        >>> [text.get_text() for text in display.ax_.texts]
        ['+0.5', '-0.2', '+0.1', '+0.4']
        """
        order = (
            np.argsort(-np.abs(self.parts).max(axis=0), kind="stable") if self.parts.size else np.arange(0)
        )
        shown, rest = order[:max_kernels], order[max_kernels:]
        columns = [self.parts[:, m] for m in shown]
        names = [self.names[m] for m in shown]
        if rest.size:
            columns.append(self.parts[:, rest].sum(axis=1))
            names.append(f"{rest.size} other{'s' if rest.size > 1 else ''}")
        columns.append(np.full(len(self.parts), self.intercept))
        names.append("intercept")
        M = np.stack(columns, axis=1)
        if len(M) == 1:
            self._waterfall(ax, names, M[0], kw)
        else:
            self._heat_map(ax, names, M, kw)
        return self

    def _decision(self) -> str:
        return f"decision for {short(self.output)}" if self.output else "decision"

    def _waterfall(self, ax: Any, names: list[str], values: Array, kw: dict[str, Any]) -> None:
        self.figure_, self.ax_ = _, ax = axes(ax, 7.0 + room(names), 1.3 + 0.3 * (len(values) + 1))
        place, ends = np.arange(len(values)), np.cumsum(values)
        colours = np.where(values >= 0, "C0", "C1")
        ax.barh(place, values, left=ends - values, **{"color": colours, "height": 0.7, **kw})
        total = float(ends[-1])
        ax.barh([len(values)], [total], color=ink(ax), alpha=0.55, height=0.7)
        for i, end in enumerate(ends):
            ax.plot([end, end], [i - 0.35, i + 1.35], color=ink(ax), lw=0.7, alpha=0.6)
        span = float(np.ptp([0.0, *ends, *(ends - values)])) or 1.0
        for i, (end, value) in enumerate([*zip(ends, values, strict=True), (total, total)]):
            side = 1 if value >= 0 else -1
            style = {"ha": "left" if side > 0 else "right", "va": "center", "fontsize": "small"}
            ax.text(end + side * 0.012 * span, i, f"{value:+.3g}", **style)
        label_ticks(ax.yaxis, np.arange(len(values) + 1), [*names, self._decision()])
        ax.set_ylim(len(values) + 0.6, -0.6)
        ax.margins(x=0.12)
        ax.axvline(0.0, color=ink(ax), lw=0.8)
        plain(ax.set_xlabel(f"sample {self.samples[0]}: what each adds to the decision"))
        for edge in ("top", "right"):
            ax.spines[edge].set_visible(False)

    def _heat_map(self, ax: Any, names: list[str], M: Array, kw: dict[str, Any]) -> None:
        M = np.concatenate([M, M.sum(axis=1, keepdims=True)], axis=1)
        names = [*names, self._decision()]
        tall, wide = M.shape
        size = (3.0 + 0.6 * min(wide, 24), 2.6 + 0.28 * min(tall, 40) + 0.8 * room(names))
        self.figure_, self.ax_ = figure, ax = axes(ax, *size)
        high = float(np.abs(M).max()) or 1.0
        style = {"cmap": "RdBu_r", "vmin": -high, "vmax": high, "aspect": "auto"}
        image = ax.imshow(M, **{**style, **kw})
        label_ticks(ax.xaxis, np.arange(wide), names, rotation=50, ha="right", rotation_mode="anchor")
        if tall <= 60:
            label_ticks(ax.yaxis, np.arange(tall), self.samples)
        ax.set_ylabel("sample")
        ax.axvline(wide - 1.5, color=ink(ax), lw=1.5)
        if wide <= 14 and tall <= 25:
            write_cells(ax, image, M, "{:.2g}")
        figure.colorbar(image, ax=ax, label="added to the decision")
