"""Which kernels say the same."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, label_ticks, write_cells
from .reading import Array, similarity_table


class KernelSimilarityDisplay:
    """Centred alignments between the kernels, like beside like: 1 where two are the same but for a factor.

    Kernels in one dark block stand for each other: their single weights mean little, the total of the block
    does.

    Parameters
    ----------
    names : the kernels
    similarity : (n_kernels, n_kernels)

    Attributes
    ----------
    figure_, ax_ : matplotlib's
    """

    figure_: Any
    ax_: Any

    def __init__(self, names: list[str], similarity: Any) -> None:
        self.names = names
        self.similarity: Array = np.asarray(similarity, dtype=np.float64)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_kernels: int = 40,
        n_samples: int = 400,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Of the kernels with the largest weights, on X (``n_samples`` of it) or the training samples."""
        table = similarity_table(*model_of(estimator, X), max_kernels, n_samples)
        return cls(table.names, table.S).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw; ``kw`` goes to ``imshow``."""
        M, S = len(self.names), self.similarity
        size = min(2.6 + 0.2 * M, 10.0)
        self.figure_, self.ax_ = figure, ax = axes(ax, size + 2.4, size + 0.6)
        low = min(0.0, float(S.min()))
        image = ax.imshow(S, **{"cmap": "viridis", "vmin": low, "vmax": 1.0, **kw})
        fit: dict[str, Any] = {"fontsize": 9 if M <= 25 else 7}
        label_ticks(ax.yaxis, np.arange(M), self.names, **fit)
        label_ticks(
            ax.xaxis, np.arange(M), self.names, rotation=55, ha="right", rotation_mode="anchor", **fit
        )
        if M <= 12:
            write_cells(ax, image, S, "{:.2f}")
        figure.colorbar(image, ax=ax, label="centred alignment", shrink=0.8)
        return self
