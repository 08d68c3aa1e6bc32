"""Convergence of a fit to its optimum."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, ink, legend_beside, short
from .reading import Array, histories


class ConvergenceDisplay:
    """The duality gap of a fit against time or steps, and the number of kernels with weight.

    If there is no gap (a problem that is not convex, online learning), it draws the objective or the lower
    bound on it.

    Parameters
    ----------
    histories : dict
        For each label a dict of arrays ``seconds``, ``active`` and ``gap``, ``objective`` or ``bound``.
    tol : float or None, default=None
        The gap at which the fit was to stop.
    objective : float or None, default=None
        The objective that was reached, for histories of a lower bound.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    active_ax_ : matplotlib Axes or None
        The axes of the number of kernels.
    quantity_ : str
        The quantity that was drawn: "gap", "objective" or "bound".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.plots import ConvergenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(loss="squared").fit(X, y)
    >>> ConvergenceDisplay.from_estimator(model).quantity_
    'gap'
    """

    figure_: Any
    ax_: Any
    active_ax_: Any
    quantity_: str

    def __init__(
        self,
        histories: dict[str, dict[str, Array]],
        *,
        tol: float | None = None,
        objective: float | None = None,
    ) -> None:
        self.histories, self.tol, self.objective = histories, tol, objective

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, against: Literal["seconds", "steps"] = "seconds", ax: Any = None, **kw: Any
    ) -> Self:
        """Build the display from a fitted estimator that has a ``history_``.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        against : {"seconds", "steps"}, default="seconds"
            The horizontal axis.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : ConvergenceDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> from manykernels.plots import ConvergenceDisplay
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = MKLRegressor([Linear(), Gaussian(1.0)], tol=1e-3).fit(X, X[:, 0])
        >>> display = ConvergenceDisplay.from_estimator(model, against="steps")
        >>> display.ax_.get_xlabel(), display.ax_.get_ylabel(), display.tol
        ('step', 'relative duality gap', 0.001)
        """
        model, _ = model_of(estimator)
        tables, proof = histories(model), model.proof
        assert proof is not None  # which has the histories
        display = cls(tables, tol=proof.tol, objective=proof.primal)
        return display.plot(against=against, ax=ax, **kw)

    def plot(
        self,
        *,
        against: Literal["seconds", "steps"] = "seconds",
        ax: Any = None,
        active: bool = True,
        **kw: Any,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        against : {"seconds", "steps"}, default="seconds"
            The horizontal axis.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        active : bool, default=True
            Whether the number of kernels is drawn.
        **kw : dict
            Keyword arguments for the lines.

        Returns
        -------
        self : ConvergenceDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.plots import ConvergenceDisplay
        >>> steps = {"seconds": [0.1, 0.2], "active": [3, 2], "gap": [0.5, 1e-4]}
        >>> seen = {name: np.array(values) for name, values in steps.items()}
        >>> display = ConvergenceDisplay({"": seen}, tol=1e-3).plot(active=False)
        >>> display.quantity_, display.ax_.get_yscale()
        ('gap', 'log')
        """
        if against not in ("seconds", "steps"):
            raise ValueError(f"against={against!r} was given; expected 'seconds' or 'steps'.")
        self.figure_, self.ax_ = _, ax = axes(ax, 6.4 if len(self.histories) == 1 else 9.0, 4.0)
        self.quantity_ = quantity = self._quantity()
        self.active_ax_ = ax.twinx() if active else None
        for c, (label, table) in enumerate(self.histories.items()):
            y = table[quantity]
            x = table["seconds"] if against == "seconds" else np.arange(1, y.size + 1)
            if quantity == "gap":
                y = np.where(np.isfinite(y), np.maximum(y, 1e-16), np.nan)
            style = {
                "color": f"C{c % 10}",
                "marker": "o",
                "ms": 3.5,
                "lw": 1.6,
                "label": short(label) if label else None,
            }
            ax.plot(x, y, **{**style, **kw})
            if self.active_ax_ is not None:
                self.active_ax_.step(x, table["active"], where="post", color=f"C{c % 10}", alpha=0.35, lw=1.2)
        self._finish(ax, quantity, against)
        return self

    def _quantity(self) -> str:
        tables = self.histories.values()
        if all("gap" in table and np.isfinite(table["gap"]).any() for table in tables):
            return "gap"
        return "objective" if all("objective" in table for table in tables) else "bound"

    def _finish(self, ax: Any, quantity: str, against: str) -> None:
        names = {"gap": "relative duality gap", "objective": "objective", "bound": "lower bound"}
        ax.set_ylabel(names[quantity])
        ax.set_xlabel("seconds" if against == "seconds" else "step")
        legend = False
        if quantity == "gap":
            ax.set_yscale("log")
            if self.tol:
                ax.axhline(self.tol, color=ink(ax), ls="--", lw=1.0, alpha=0.7, label=f"tol = {self.tol:g}")
                legend = True
        if quantity == "bound" and self.objective is not None and np.isfinite(self.objective):
            label = f"objective {self.objective:.4g}"
            ax.axhline(self.objective, color=ink(ax), ls="--", lw=1.0, alpha=0.7, label=label)
            legend = True
        if len(self.histories) > 1:
            legend_beside(ax, self.active_ax_)
        elif legend:
            ax.legend(loc="best", frameon=False)
        ax.grid(alpha=0.25)
        ax.spines["top"].set_visible(False)
        if self.active_ax_ is not None:
            self.active_ax_.set_ylabel("kernels with weight (faint)", alpha=0.7)
            most = max(float(np.max(table["active"])) for table in self.histories.values())
            self.active_ax_.set_ylim(0.0, 1.15 * max(most, 1.0))  # below the legend and the edge
            self.active_ax_.yaxis.get_major_locator().set_params(integer=True)
            self.active_ax_.spines["top"].set_visible(False)
