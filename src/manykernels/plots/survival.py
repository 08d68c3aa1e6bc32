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
    """Kaplan and Meier's survival curves of samples with low, medium and high predicted risk.

    The bands are pointwise intervals, the small ticks are samples that were observed until then and no longer
    (censored), and the table below counts those still observed. Give samples that the model has not learned
    from, or risks that were predicted in cross-validation: groups of training samples differ by more than
    new ones would.

    Parameters
    ----------
    curves : GroupCurves
        What ``manykernels.survival.curves_by_risk`` and ``group_curves`` return.
    time : what the times are, such as "months"

    Attributes
    ----------
    figure_, ax_ : matplotlib's
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
        """Of the risks that a fitted model predicts for X, and what happened to these samples, y."""
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
        """Of risks that are known, such as those of ``cross_val_predict``."""
        seen = read_survival(y)
        found = curves_by_risk(seen.event, seen.time, risk, groups, sample_weight, seen.entry, seen.stratum)
        return cls(found, time=time).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, bands: bool = True, table: bool = True, **kw: Any) -> Self:
        """Draw; ``kw`` goes to ``step`` of the curves."""
        found = self.curves
        self.figure_, self.ax_ = _, ax = axes(ax, 7.6, 4.2 + 0.2 * len(found.names) * table)
        end = max(float(seen.time.max()) for seen in found.samples) or 1.0
        for g, (name, curve) in enumerate(zip(found.names, found.curves, strict=True)):
            n, d = found.samples[g].weight.sum(), curve.events.sum()
            style = {"color": f"C{g % 10}", "lw": 1.7, "label": f"{short(name)} ({n:g}, {d:g} events)"}
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
        """Numbers at risk below the axis, at its ticks."""
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
    """A curve from 1 at the beginning to when the last sample of its group was observed."""
    x = np.concatenate([[0.0], curve.times, [end]])

    def ends(values: Array) -> Array:
        return np.concatenate([[1.0], values, values[-1:] if values.size else [1.0]])

    ax.step(x, ends(curve.survival), where="post", **style)
    if bands:
        shade = {"color": style["color"], "alpha": 0.15, "lw": 0}
        low, high = (np.repeat(ends(values), 2)[:-1] for values in (curve.lower, curve.upper))
        ax.fill_between(np.repeat(x, 2)[1:], low, high, **shade)


class SurvivalCurvesDisplay:
    """Survival as a model predicts it for single samples, from 1 down to the last time that was observed.

    Parameters
    ----------
    curves : StepFunctions
        A curve for each sample.
    samples : names of the samples
    time : what the times are, such as "months"

    Attributes
    ----------
    figure_, ax_ : matplotlib's
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
        """Of ``samples`` of X: positions, or the first five. ``stratum`` is for models with strata."""
        curves = survival_curves(estimator, X, stratum)
        chosen = list(range(len(curves)))[:5] if samples is None else [int(i) for i in samples]
        for i in chosen:
            if not -len(curves) <= i < len(curves):
                raise ValueError(f"sample {i} was given, and X holds {len(curves)} samples.")
        names = list(getattr(X, "index", range(len(curves))))
        shown = [str(names[i]) for i in chosen]
        return cls(curves[chosen], samples=shown, time=time).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw; the first ten have colours and names, the others are thin lines. ``kw`` goes to ``step``."""
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
