"""Helpers of the displays: axes to draw on, names that fit, colours that suit any background."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

LONGEST = 38  # characters of a name that an axis has room for
_USUAL = 14  # characters that figures have room for anyway
_LETTER = 0.075  # inches
_SECOND_AXIS = 6.0  # sizes of letters that ticks, numbers and the label of an axis take


def pyplot() -> Any:
    """Return matplotlib.pyplot, or raise an error that says what to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'manykernels[plots]'.") from error
    return plt


def axes(ax: Any, width: float, height: float) -> tuple[Any, Any]:
    """Return figure and axes: the given ones, or new ones of this size in inches."""
    plt = pyplot()
    if ax is not None:
        return ax.figure, ax
    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return figure, ax


def short(name: str, longest: int = LONGEST) -> str:
    """Shorten a long name in its middle, since beginnings and ends tell kernels apart."""
    name = " ".join(str(name).split())
    if len(name) <= longest:
        return name
    head = (longest - 1) * 2 // 3
    return f"{name[:head]}…{name[len(name) - (longest - 1 - head) :]}"


def room(names: Iterable[str], usual: int = _USUAL) -> float:
    """Return the inches that names take beyond those of usual length, so that axes are not squeezed."""
    longest = max((len(short(name)) for name in names), default=0)
    return _LETTER * max(longest - usual, 0)


def label_ticks(axis: Any, positions: Any, names: list[str], **style: Any) -> None:
    """Write names at ticks as they are: a $ in a column's name starts no formula."""
    axis.set_ticks(positions)
    axis.set_ticklabels([short(name) for name in names], parse_math=False, **style)


def plain(text: Any) -> Any:
    """Make a text artist show its string as it is."""
    text.set_parse_math(False)
    return text


def legend_beside(ax: Any, twin: Any = None) -> Any:
    """Draw a legend to the right of the axes and of a second axis, so that it covers nothing."""
    from matplotlib.transforms import ScaledTranslation

    size = ax.xaxis.label.get_fontsize() / 72.0  # in inches, so that it fits axes of any width
    away = ScaledTranslation((0.8 if twin is None else _SECOND_AXIS) * size, 0.0, ax.figure.dpi_scale_trans)
    place = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.0}
    legend = ax.legend(**place, bbox_transform=ax.transAxes + away, frameon=False)
    for text in legend.get_texts():
        plain(text)
    return legend


def ink(ax: Any) -> Any:
    """Return the colour of text on these axes."""
    return ax.xaxis.label.get_color()


def log_axis(ax: Any, values: NDArray[np.float64]) -> None:
    """Set a logarithmic x axis around these values, with plain numbers at few ticks."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = float(values.min()) / 1.6, float(values.max()) * 1.6
    ax.set_xscale("log")
    ax.set_xlim(low, high)
    decades = np.log10(high / low)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 3 else (1.0,), numticks=12))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def write_cells(ax: Any, image: Any, M: NDArray[np.float64], form: str) -> None:
    """Write the numbers of a heat map into its cells, dark on light and light on dark; NaN stays empty."""
    for (i, j), value in np.ndenumerate(M):
        if np.isfinite(value):
            red, green, blue, _ = image.cmap(image.norm(value))
            colour = "w" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "k"
            style = {"ha": "center", "va": "center", "fontsize": 8, "color": colour}
            ax.text(j, i, form.format(value), **style)
