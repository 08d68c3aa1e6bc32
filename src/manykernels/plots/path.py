"""Weights of the kernels along the regularisation path."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._arguments import rounded
from ..estimators import copies_of, face_of, model_of, opened
from ._axes import axes, ink, legend_beside, room, short
from .paths import path_of_fits, path_of_search
from .reading import Array


class PathDisplay:
    """Weights of the kernels against C, and the score of every C if it is known.

    Parameters
    ----------
    C : array-like of shape (n_steps,)
        The values of C.
    weights : array-like of shape (n_steps, n_kernels)
        The weights at each C.
    names : list of str
        The names of the kernels.
    score : array-like of shape (n_steps,) or None, default=None
        The score at each C.
    chosen : float or None, default=None
        The C that a search chose.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    score_ax_ : matplotlib Axes or None
        The axes of the score.

    Examples
    --------
    >>> from manykernels.plots import PathDisplay
    >>> weights = [[1.0, 0.0], [0.7, 0.3], [0.5, 0.5]]
    >>> display = PathDisplay([0.1, 1.0, 10.0], weights, ["linear", "narrow"]).plot()
    >>> display.ax_.get_xscale()
    'log'
    """

    figure_: Any
    ax_: Any
    score_ax_: Any

    def __init__(
        self, C: Any, weights: Any, names: list[str], *, score: Any = None, chosen: float | None = None
    ) -> None:
        order = np.argsort(np.asarray(C, dtype=np.float64), kind="stable")
        self.C: Array = np.asarray(C, dtype=np.float64)[order]
        self.weights: Array = np.asarray(weights, dtype=np.float64)[order]
        self.score = None if score is None else np.asarray(score, dtype=np.float64)[order]
        self.names, self.chosen = names, chosen

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        Cs: Any = None,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from the path of a search, or from a model that is fitted for each C.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict, default=None
            The samples, for a model without a path.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The targets, for a model without a path.
        Cs : array-like or None, default=None
            The values of C, for a model without a path.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : PathDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> from manykernels.plots import PathDisplay
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = MKLRegressor({"linear": Linear(), "narrow": Gaussian(1.0)}).fit(X, X[:, 0])
        >>> display = PathDisplay.from_estimator(model, X, X[:, 0], Cs=[0.1, 1.0, 10.0])
        >>> display.C.tolist(), display.weights.shape
        ([0.1, 1.0, 10.0], (3, 2))
        """
        model, inner = model_of(estimator, X)
        searched = opened(estimator).searched
        if searched is not None:
            table = path_of_search(searched, model.names)
        elif X is None or y is None:
            raise ValueError(
                f"{type(estimator).__name__} keeps no path over C. Give X and y, and a copy of it is fitted "
                "for every C; or give a fitted search such as MKLClassifierCV."
            )
        else:
            copies = copies_of(face_of(estimator)[0])
            Cs = copies.C * np.logspace(-3, 3, 13) if Cs is None else np.asarray(Cs, dtype=np.float64)
            table = path_of_fits(lambda C: copies.learn(inner, y, C=C), Cs, copies.C)
        display = cls(table.C, table.weights, table.names, score=table.score, chosen=table.chosen)
        return display.plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, max_kernels: int = 9, **kw: Any) -> Self:
        """Draw the weights.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        max_kernels : int, default=9
            The number of kernels with colours and names; the others are thin lines.
        **kw : dict
            Keyword arguments for the lines.

        Returns
        -------
        self : PathDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import PathDisplay
        >>> names, weights = ["linear", "narrow"], [[1.0, 0.0], [0.7, 0.3], [0.5, 0.5]]
        >>> display = PathDisplay([0.1, 1.0, 10.0], weights, names, score=[0.6, 0.9, 0.8], chosen=1.0).plot()
        >>> display.ax_.texts[0].get_text(), display.score_ax_.get_ylabel()
        ('C = 1', 'cross-validated score (dashed)')
        """
        self.figure_, self.ax_ = _, ax = axes(ax, 8.0 + room(self.names), 4.2)
        order = np.argsort(-np.abs(self.weights).max(axis=0), kind="stable")
        for m in order[max_kernels:]:
            if self.weights[:, m].any():
                ax.plot(self.C, self.weights[:, m], color=ink(ax), alpha=0.25, lw=0.8)
        for c, m in enumerate(m for m in order[:max_kernels] if self.weights[:, m].any()):
            style = {"color": f"C{c % 10}", "marker": "o", "ms": 3, "lw": 1.7, "label": short(self.names[m])}
            ax.plot(self.C, self.weights[:, m], **{**style, **kw})
        ax.set_xscale("log")
        ax.set_xlabel("C (larger fits the data more closely)")
        ax.set_ylabel("weight")
        self.score_ax_ = None
        if self.score is not None:
            self.score_ax_ = twin = ax.twinx()
            twin.plot(self.C, self.score, color=ink(ax), ls="--", marker="s", ms=3, lw=1.2, alpha=0.8)
            twin.set_ylabel("cross-validated score (dashed)")
        if self.chosen is not None:
            ax.axvline(self.chosen, color=ink(ax), lw=1.0, ls=":", alpha=0.8)
            place = {"xy": (self.chosen, 1.0), "xycoords": ("data", "axes fraction"), "ha": "center"}
            ax.annotate(f"C = {rounded(self.chosen)}", va="bottom", fontsize="small", **place)
        legend_beside(ax, self.score_ax_)
        ax.grid(alpha=0.25)
        return self
