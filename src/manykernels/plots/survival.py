"""Survival: of groups at quantiles of the predicted risk, and as predicted for single samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..comparison.statistics import p_shown
from ..fitting.survival import read_survival
from ..selection.survival import survival_curves
from ..survival import GroupCurves, KaplanMeier, StepFunctions, curves_by_risk, median_time
from ._axes import axes, ink, legend_beside, plain, short
from .reading import Array

_LINE = 1.25  # the height of a row of the table, in sizes of letters
_NAMED = 10  # curves of single samples that have colours and names


class RiskGroupsDisplay:
    """Kaplan-Meier survival curves of samples with low, medium and high predicted risk.

    The bands are pointwise intervals. The small ticks are samples that were observed until then and no longer
    (censored), and the table below counts those still observed. Give samples that the model has not learned
    from, or risks that were predicted in cross-validation: groups of training samples differ by more than new
    ones would.

    Parameters
    ----------
    curves : GroupCurves
        The result of ``manykernels.survival.curves_by_risk`` or ``group_curves``.
    time : str, default="time"
        The name of the time axis, such as "months".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.plots import RiskGroupsDisplay
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.column_stack([np.ones(60), rng.exponential(np.exp(-2 * X[:, 0]))])
    >>> model = MKLSurvival().fit(X[:40], y[:40])
    >>> display = RiskGroupsDisplay.from_estimator(model, X[40:], y[40:], groups=2, time="months")
    >>> display.ax_.get_xlabel()
    'months'
    """

    figure_: Any
    ax_: Any

    def __init__(self, curves: GroupCurves, *, time: str = "time") -> None:
        self.curves = curves
        self.time = time

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        groups: int = 3,
        sample_weight: Any = None,
        time: str = "time",
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from the risks that a fitted model predicts.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict
            The samples.
        y : structured array, frame or array-like of shape (n_samples, 2)
            The events and times of the samples.
        groups : int, default=3
            The number of groups, at quantiles of the risk.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.
        time : str, default="time"
            The name of the time axis, such as "months".
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : RiskGroupsDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> from manykernels.plots import RiskGroupsDisplay
        >>> X = np.arange(12.0).reshape(-1, 1)
        >>> y = np.column_stack([np.ones(12), 13.0 - X[:, 0]])
        >>> model = MKLSurvival(Linear()).fit(X[::2], y[::2])
        >>> display = RiskGroupsDisplay.from_estimator(model, X[1::2], y[1::2], groups=2)
        >>> display.curves.names, [curve.times.tolist() for curve in display.curves.curves]
        (['low risk', 'high risk'], [[8.0, 10.0, 12.0], [2.0, 4.0, 6.0]])
        """
        risk = estimator.predict(X)
        return cls.from_predictions(
            y, risk, groups=groups, sample_weight=sample_weight, time=time, ax=ax, **kw
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        risk: Any,
        *,
        groups: int = 3,
        sample_weight: Any = None,
        time: str = "time",
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from known risks, such as those of ``cross_val_predict``.

        Parameters
        ----------
        y : structured array, frame or array-like of shape (n_samples, 2)
            The events and times of the samples.
        risk : array-like of shape (n_samples,)
            The risks.
        groups : int, default=3
            The number of groups, at quantiles of the risk.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights of the samples.
        time : str, default="time"
            The name of the time axis, such as "months".
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : RiskGroupsDisplay
            The display, drawn.

        Examples
        --------
        The two samples with the larger risks had the event first:

        >>> from manykernels.plots import RiskGroupsDisplay
        >>> y = [[1, 2.0], [1, 1.0], [1, 7.0], [0, 9.0]]
        >>> display = RiskGroupsDisplay.from_predictions(y, [0.9, 0.8, 0.1, 0.2], groups=2)
        >>> display.curves.names, [curve.times.tolist() for curve in display.curves.curves]
        (['low risk', 'high risk'], [[7.0], [1.0, 2.0]])
        """
        seen = read_survival(y)
        found = curves_by_risk(seen.event, seen.time, risk, groups, sample_weight, seen.entry, seen.stratum)
        return cls(found, time=time).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, bands: bool = True, table: bool = True, **kw: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        bands : bool, default=True
            Whether intervals are drawn.
        table : bool, default=True
            Whether the numbers at risk are written below the axis.
        **kw : dict
            Keyword arguments for ``step`` of the curves.

        Returns
        -------
        self : RiskGroupsDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import RiskGroupsDisplay
        >>> from manykernels.survival import group_curves
        >>> found = group_curves([1, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], ["old", "old", "new", "new"])
        >>> display = RiskGroupsDisplay(found, time="months").plot(bands=False, table=False)
        >>> display.ax_.get_legend_handles_labels()[1]
        ['new (2, 1 event)', 'old (2, 2 events)']
        """
        found = self.curves
        self.figure_, self.ax_ = _, ax = axes(ax, 7.6, 4.2 + 0.2 * len(found.names) * table)
        end = max(float(seen.time.max()) for seen in found.samples) or 1.0
        for g, (name, curve) in enumerate(zip(found.names, found.curves, strict=True)):
            n, d = found.samples[g].weight.sum(), curve.events.sum()
            label = f"{short(name)} ({n:g}, {d:g} event{'' if d == 1 else 's'})"
            style = {"color": f"C{g % 10}", "lw": 1.7, "label": label}
            _draw_curve(ax, curve, float(found.samples[g].time.max()), bands, {**style, **kw})
            ticks = found.censored(g)
            marks = {"ls": "", "marker": "|", "ms": 6, "mew": 1.0, "color": f"C{g % 10}"}
            ax.plot(ticks, curve.curve.at(ticks), **marks)
        ax.set_ylim(0.0, 1.03)
        ax.set_xlim(0.0, 1.03 * end)
        plain(ax.set_xlabel(self.time))
        ax.set_ylabel("share without the event")
        if found.test is not None:
            ax.set_title(f"log-rank test: {p_shown(found.test.p_value)}", fontsize="medium", loc="left")
        legend_beside(ax)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        if table:
            self._table(ax, end)
        return self

    def _table(self, ax: Any, end: float) -> None:
        """Write the numbers at risk below the axis, at its ticks."""
        ticks = np.array([t for t in ax.get_xticks() if 0.0 <= t <= end])
        ax.set_xticks(ticks)
        size = ax.xaxis.label.get_fontsize()
        here = {"textcoords": "offset points", "fontsize": "small", "va": "top", "annotation_clip": False}
        down = -4.0 * size  # below the ticks and the label of the axis
        plain(
            ax.annotate(
                "at risk", (0, 0), (-1.5 * size, down), "axes fraction", ha="right", alpha=0.8, **here
            )
        )
        for g, (name, counts) in enumerate(zip(self.curves.names, self.curves.at_risk(ticks), strict=True)):
            down -= _LINE * size
            place = {"xycoords": "axes fraction", "ha": "right", "color": f"C{g % 10}", **here}
            plain(ax.annotate(short(name, 20), (0, 0), (-1.5 * size, down), **place))
            for t, count in zip(ticks, counts, strict=True):
                at = {"xycoords": ("data", "axes fraction"), "ha": "center", **here}
                ax.annotate(f"{count:.0f}", (t, 0), (0, down), **at)


def _draw_curve(ax: Any, curve: KaplanMeier, end: float, bands: bool, style: dict[str, Any]) -> None:
    """Draw a curve from 1 at the beginning to when the last sample of its group was observed."""
    x = np.concatenate([[0.0], curve.times, [end]])

    def ends(values: Array) -> Array:
        return np.concatenate([[1.0], values, values[-1:] if values.size else [1.0]])

    ax.step(x, ends(curve.survival), where="post", **style)
    if bands:
        shade = {"color": style["color"], "alpha": 0.15, "lw": 0}
        low, high = (np.repeat(ends(values), 2)[:-1] for values in (curve.lower, curve.upper))
        ax.fill_between(np.repeat(x, 2)[1:], low, high, **shade)


class SurvivalCurvesDisplay:
    """Predicted survival curves of single samples.

    The curves begin at 1 and end at the last time that was observed.

    Parameters
    ----------
    curves : StepFunctions
        A curve for each sample.
    samples : list of str or None, default=None
        The names of the samples.
    time : str, default="time"
        The name of the time axis, such as "months".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvival
    >>> from manykernels.plots import SurvivalCurvesDisplay
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(60, 2)
    >>> y = np.column_stack([np.ones(60), rng.exponential(np.exp(-2 * X[:, 0]))])
    >>> model = MKLSurvival().fit(X[:40], y[:40])
    >>> display = SurvivalCurvesDisplay.from_estimator(model, X[40:], samples=[0, 1])
    >>> display.ax_.get_xlabel()
    'time'
    """

    figure_: Any
    ax_: Any

    def __init__(
        self, curves: StepFunctions, *, samples: list[str] | None = None, time: str = "time"
    ) -> None:
        self.curves = curves
        self.samples = samples or [str(i) for i in range(len(curves))]
        self.time = time

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        samples: Sequence[int] | None = None,
        stratum: Any = None,
        time: str = "time",
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict
            The samples.
        samples : list of int or None, default=None
            The positions of the samples. None takes the first five.
        stratum : array-like of shape (n_samples,) or None, default=None
            The strata of the samples, for models with strata.
        time : str, default="time"
            The name of the time axis, such as "months".
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : SurvivalCurvesDisplay
            The display, drawn.

        Examples
        --------
        The first sample has the event last, and is more likely to survive the time 6:

        >>> import numpy as np
        >>> from manykernels import MKLSurvival
        >>> from manykernels.kernels import Linear
        >>> from manykernels.plots import SurvivalCurvesDisplay
        >>> X = np.arange(12.0).reshape(-1, 1)
        >>> y = np.column_stack([np.ones(12), 13.0 - X[:, 0]])
        >>> model = MKLSurvival(Linear()).fit(X, y)
        >>> display = SurvivalCurvesDisplay.from_estimator(model, X, samples=[0, 11])
        >>> first, last = display.curves(6.0)
        >>> display.samples, bool(first > last)
        (['0', '11'], True)
        """
        curves = survival_curves(estimator, X, stratum)
        chosen = list(range(len(curves)))[:5] if samples is None else [int(i) for i in samples]
        for i in chosen:
            if not -len(curves) <= i < len(curves):
                raise ValueError(f"sample {i} was given, and X holds {len(curves)} samples.")
        names = list(getattr(X, "index", range(len(curves))))
        shown = [str(names[i]) for i in chosen]
        return cls(curves[chosen], samples=shown, time=time).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw the curves; the first ten have colours and names, the others are thin lines.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``step``.

        Returns
        -------
        self : SurvivalCurvesDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.plots import SurvivalCurvesDisplay
        >>> from manykernels.survival import StepFunctions
        >>> curves = StepFunctions(np.array([1.0, 2.0]), np.array([[0.8, 0.4], [0.9, 0.7]]), last=3.0)
        >>> display = SurvivalCurvesDisplay(curves, samples=["Ann", "Bob"]).plot()
        >>> [line.get_label() for line in display.ax_.lines[:2]]
        ['Ann: median 2', 'Bob: median not reached']
        """
        self.figure_, self.ax_ = _, ax = axes(ax, 7.6, 4.0)
        ends = np.broadcast_to(np.asarray(self.curves.last, dtype=np.float64), len(self.curves))
        medians = median_time(self.curves)
        for i, one in enumerate(self.curves):
            known = one.times <= ends[i]
            end = ends[i] if np.isfinite(ends[i]) else one.times[-1:].max(initial=0.0)
            x = np.concatenate([[0.0], one.times[known], [end]])
            style = {"color": ink(ax), "lw": 0.8, "alpha": 0.3}
            if i < _NAMED:
                middle = f"median {medians[i]:.3g}" if np.isfinite(medians[i]) else "median not reached"
                style = {"color": f"C{i}", "lw": 1.7, "label": f"{short(self.samples[i], 20)}: {middle}"}
            ax.step(x, one.at(x), where="post", **{**style, **kw})
        ax.axhline(0.5, color=ink(ax), lw=0.8, ls=":", alpha=0.6)
        ax.set_ylim(0.0, 1.03)
        ax.set_xlim(left=0.0)
        plain(ax.set_xlabel(self.time))
        ax.set_ylabel("predicted survival")
        legend_beside(ax)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return self
