"""Models of many targets: the score of each, and its parts by kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from ..estimators import model_of
from ..inspection import correlations, explained_parts, r2_scores
from ._axes import axes, ink, plain, short
from .reading import Array

_BINS = (8, 40)  # at least and at most
_POINTS = 3000  # targets up to which each is a point
_WORDS = {"r2": "R²", "correlation": "correlation"}


class TargetScoresDisplay:
    """The distribution of a score over the targets, as a histogram for each model.

    Parameters
    ----------
    scores : array-like of shape (n_targets,) or dict
        The scores, or those of several models by name. Targets without a score (NaN) are left out and
        counted.
    score : str, default="R²"
        The name of the score.
    ceiling : array-like of shape (n_targets,) or None, default=None
        The best possible scores, given the noise (``noise_ceiling(repeats).r2``).

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from manykernels.plots import TargetScoresDisplay
    >>> TargetScoresDisplay([0.1, 0.2, 0.4, 0.3], score="R²").plot().ax_.get_xlabel()
    'R² of a target'
    """

    figure_: Any
    ax_: Any

    def __init__(self, scores: Any, *, score: str = "R²", ceiling: Any = None) -> None:
        given = scores if isinstance(scores, Mapping) else {"": scores}
        self.scores: dict[str, Array] = {
            str(name): np.asarray(values, dtype=np.float64).ravel() for name, values in given.items()
        }
        self.score = score
        self.ceiling = None if ceiling is None else np.asarray(ceiling, dtype=np.float64).ravel()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        score: Literal["r2", "correlation"] = "r2",
        ceiling: Any = None,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Build the display from the predictions of a fitted model.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict
            The samples.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        score : {"r2", "correlation"}, default="r2"
            The score.
        ceiling : array-like of shape (n_targets,) or None, default=None
            The best possible scores, given the noise.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : TargetScoresDisplay
            The display, drawn.

        Examples
        --------
        The first target is a line, the second noise:

        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear
        >>> from manykernels.plots import TargetScoresDisplay
        >>> rng = np.random.RandomState(0)
        >>> X = rng.randn(40, 1)
        >>> Y = np.column_stack([X[:, 0], rng.randn(40)])
        >>> model = MKLRegressor(Linear(), C=100.0).fit(X[:20], Y[:20])
        >>> display = TargetScoresDisplay.from_estimator(model, X[20:], Y[20:])
        >>> display.scores[""] > 0.5
        array([ True, False])
        """
        if score not in _WORDS:
            raise ValueError(f"score={score!r} was given; expected 'r2' or 'correlation'.")
        measure = r2_scores if score == "r2" else correlations
        return cls(measure(y, estimator.predict(X)), score=_WORDS[score], ceiling=ceiling).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, bins: int | None = None, **kw: Any) -> Self:
        """Draw the histograms; scores below the lowest percent are in the first bin.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        bins : int or None, default=None
            The number of bins. None takes the root of the number of targets, between 8 and 40.
        **kw : dict
            Keyword arguments for ``hist``.

        Returns
        -------
        self : TargetScoresDisplay
            The display, drawn.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.plots import TargetScoresDisplay
        >>> display = TargetScoresDisplay([0.1, 0.2, 0.4, np.nan]).plot(bins=4)
        >>> display.ax_.get_title(loc="left")
        '4 targets, 1 without a score'
        """
        self.figure_, self.ax_ = _, ax = axes(ax, 6.4, 3.6)
        found = {name: values[np.isfinite(values)] for name, values in self.scores.items()}
        ceiling = self.ceiling if self.ceiling is None else self.ceiling[np.isfinite(self.ceiling)]
        everything = np.concatenate([*found.values(), *([] if ceiling is None else [ceiling])])
        if not everything.size:
            raise ValueError("no target has a score, so that there is nothing to draw.")
        low, high = float(np.quantile(everything, 0.01)), float(everything.max())
        low, high = (low, high) if high > low else (low - 0.5, high + 0.5)
        targets = max(values.size for values in found.values())
        bins = int(np.clip(np.sqrt(targets), *_BINS)) if bins is None else bins
        edges = np.linspace(min(low, 0.0), high, bins + 1)
        several = len(found) > 1
        for c, (name, values) in enumerate(found.items()):
            middle = f"median {np.median(values):.3f}" if values.size else "none"
            label = f"{short(name)}: {middle}" if name else middle
            style = {"histtype": "step" if several else "stepfilled", "color": f"C{c}", "lw": 1.6}
            own = {"label": label} if several or not values.size else {}  # else the dashed line has it
            ax.hist(values.clip(edges[0], None), bins=edges, **{**style, **own, **kw})
            if values.size:
                dashed = {"ls": "--", "lw": 1.2, "color": f"C{c}" if several else ink(ax)}
                ax.axvline(float(np.median(values)), label=None if several else label, **dashed)
        if ceiling is not None:
            style = {"histtype": "step", "color": ink(ax), "alpha": 0.7, "label": "noise ceiling"}
            ax.hist(ceiling.clip(edges[0], None), bins=edges, **style)
        for text in ax.legend(frameon=False, fontsize="small").get_texts():
            plain(text)
        ax.set_xlabel(f"{self.score} of a target")
        ax.set_ylabel("targets")
        ax.yaxis.get_major_locator().set_params(integer=True)  # targets are counted
        ax.set_title(self._note(edges[0]), fontsize="medium", loc="left")
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        return self

    def _note(self, lowest: float) -> str:
        """Return a note on the number of targets, and on what the picture does not show."""
        values = np.stack(list(self.scores.values()))
        note = f"{values.shape[1]:,} targets"
        missing, below = int(np.isnan(values).any(axis=0).sum()), int((values < lowest).any(axis=0).sum())
        note += f", {missing:,} without a score" if missing else ""
        return note + (f", {below:,} below {lowest:.2g}" if below else "")


class PartsDisplay:
    """Parts of R² of two kernels (or views) against each other, with a point for each target.

    Targets that only the first explains lie on the horizontal axis, targets that need both on the diagonal.
    If targets are very many, cells of a grid show their mean R².

    Parameters
    ----------
    x : array-like of shape (n_targets,)
        The parts of the first kernel.
    y : array-like of shape (n_targets,)
        The parts of the second kernel.
    total : array-like of shape (n_targets,)
        The score that they are parts of, which gives the colour.
    names : sequence of str
        The names of the two.
    score : str, default="R²"
        The name of the score.
    among : str, default=""
        The number of kernels (or views) that the two were taken from, such as "3 kernels".

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.

    Examples
    --------
    >>> from manykernels.plots import PartsDisplay
    >>> display = PartsDisplay([0.1, 0.3], [0.2, 0.0], [0.3, 0.3], ["sound", "text"]).plot()
    >>> display.names
    ['sound', 'text']
    """

    figure_: Any
    ax_: Any

    def __init__(
        self, x: Any, y: Any, total: Any, names: Sequence[str], *, score: str = "R²", among: str = ""
    ) -> None:
        self.x: Array = np.asarray(x, dtype=np.float64)
        self.y: Array = np.asarray(y, dtype=np.float64)
        self.total: Array = np.asarray(total, dtype=np.float64)
        self.names, self.score, self.among = [str(name) for name in names], score, among

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        kernels: Sequence[str] | None = None,
        by: Literal["kernel", "view"] = "kernel",
        score: Literal["r2", "correlation"] = "r2",
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
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The targets.
        kernels : sequence of str or None, default=None
            The names of the two. None takes those that explain most.
        by : {"kernel", "view"}, default="kernel"
            What is compared.
        score : {"r2", "correlation"}, default="r2"
            The score.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``plot``.

        Returns
        -------
        self : PartsDisplay
            The display, drawn.

        Examples
        --------
        Each of the two targets is explained by one of the two columns:

        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Linear, OnColumns
        >>> from manykernels.plots import PartsDisplay
        >>> X = np.random.RandomState(0).randn(40, 2)
        >>> kernels = {"sound": OnColumns(Linear(), [0]), "text": OnColumns(Linear(), [1])}
        >>> model = MKLRegressor(kernels, C=1000.0).fit(X, X)
        >>> display = PartsDisplay.from_estimator(model, X, X, kernels=["sound", "text"])
        >>> np.abs(display.x).round(1), np.abs(display.y).round(1)
        (array([1., 0.]), array([0., 1.]))
        """
        parts = explained_parts(estimator, X, y, by=by, score=score)
        parts = parts[:, None] if parts.ndim == 1 else parts
        model = model_of(estimator)[0]
        names = list(model.names) if by == "kernel" else list(model.view_weights)
        first, second = _two(names, parts[:-1], kernels, by)
        display = cls(
            parts[first],
            parts[second],
            parts.sum(axis=0),
            [names[first], names[second]],
            score=_WORDS[score],
            among=f"{len(names)} {by}s" if len(names) > 2 else "",
        )
        return display.plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw the points; cells of a grid from some thousand targets on.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``scatter`` or ``hexbin``.

        Returns
        -------
        self : PartsDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import PartsDisplay
        >>> display = PartsDisplay([0.1, 0.3], [0.2, 0.0], [0.3, 0.3], ["sound", "text"]).plot(s=40)
        >>> display.ax_.get_xlabel(), display.ax_.get_title(loc="left")
        ('part of R² by sound', '2 targets')
        """
        shown = np.isfinite(self.total)
        x, y, total = self.x[shown], self.y[shown], self.total[shown]
        if not total.size:
            raise ValueError("no target has a score, so that there is nothing to draw.")
        self.figure_, self.ax_ = figure, ax = axes(ax, 6.0, 5.0)
        low = min(0.0, *(float(np.quantile(part, 0.001)) for part in (x, y)))
        high = max(0.05, *(float(np.quantile(part, 0.999)) for part in (x, y)))
        edge = 0.04 * (high - low)
        limits = low - edge, high + edge
        inside = (np.minimum(x, y) >= limits[0]) & (np.maximum(x, y) <= limits[1])
        colours = {"cmap": "viridis", "vmin": 0.0, "vmax": max(float(np.quantile(total, 0.995)), 1e-3)}
        if inside.sum() <= _POINTS:
            painted = ax.scatter(x[inside], y[inside], c=total[inside], **{"s": 12, **colours, **kw})
            label = f"{self.score} of the target"
        else:
            grid = {"gridsize": 45, "extent": (*limits, *limits), "mincnt": 1, "linewidths": 0.1}
            painted = ax.hexbin(x[inside], y[inside], C=total[inside], **{**grid, **colours, **kw})
            label = f"mean {self.score} of the targets in a cell"
        ax.axline((0.0, 0.0), slope=1.0, color=ink(ax), lw=0.8, ls=":", alpha=0.6)
        ax.axhline(0.0, color=ink(ax), lw=0.8)
        ax.axvline(0.0, color=ink(ax), lw=0.8)
        ax.set(xlim=limits, ylim=limits, aspect="equal")
        plain(ax.set_xlabel(f"part of {self.score} by {short(self.names[0])}"))
        plain(ax.set_ylabel(f"part of {self.score} by {short(self.names[1])}"))
        left = int(self.total.size - inside.sum())
        note = f"{self.total.size:,} targets" + (f", {left:,} not shown" if left else "")
        note += f"; two of {self.among}" if self.among else ""
        ax.set_title(note, fontsize="medium", loc="left")
        figure.colorbar(painted, ax=ax, label=label, extend="max")
        return self


def _two(names: list[str], parts: Array, asked: Sequence[str] | None, by: str) -> tuple[int, int]:
    """Return the two to draw: the given ones, or those with the largest parts on average."""
    if len(names) < 2:
        raise ValueError(f"the model has {len(names)} {by}; a map of parts needs two.")
    if asked is None:
        first, second = np.argsort(-np.nanmean(parts, axis=1), kind="stable")[:2]
        return int(first), int(second)
    given = [asked] if isinstance(asked, str) else list(asked)
    if len(given) != 2 or not set(given) <= set(names):
        known = ", ".join(short(name) for name in names[:10])
        raise ValueError(f"kernels={given!r} was given; expected two names of {by}s, such as {known}.")
    return names.index(given[0]), names.index(given[1])
