"""Similarity of the kernels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..estimators import model_of
from ._axes import axes, label_ticks, room, write_cells
from .reading import Array, similarity_table


class KernelSimilarityDisplay:
    """Centred alignments between the kernels: 1 for kernels that are the same up to a factor.

    Kernels in one dark block can replace each other: their single weights mean little, but the total of the
    block does.

    Parameters
    ----------
    names : list of str
        The names of the kernels.
    similarity : array-like of shape (n_kernels, n_kernels)
        The alignments.

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
    >>> from manykernels.plots import KernelSimilarityDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier(loss="squared").fit(X, y)
    >>> display = KernelSimilarityDisplay.from_estimator(model)
    >>> display.similarity.shape[0] == len(display.names)
    True
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
        """Build the display from the kernels of a fitted estimator with the largest weights.

        Parameters
        ----------
        estimator : estimator
            A fitted estimator of this package, or a pipeline or search that holds one.
        X : array-like, frame, sparse matrix, list or dict, default=None
            The samples. None takes the training samples.
        max_kernels : int, default=40
            The largest number of kernels.
        n_samples : int, default=400
            The largest number of samples.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``imshow``.

        Returns
        -------
        self : KernelSimilarityDisplay
            The display, drawn.

        Examples
        --------
        A very wide Gaussian kernel hardly differs from a linear one:

        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import Gaussian, Linear
        >>> from manykernels.plots import KernelSimilarityDisplay
        >>> X = np.arange(6.0).reshape(-1, 1)
        >>> model = MKLRegressor({"linear": Linear(), "wide": Gaussian(99.0)}).fit(X, X[:, 0])
        >>> display = KernelSimilarityDisplay.from_estimator(model)
        >>> display.similarity.round(2)
        array([[1., 1.],
               [1., 1.]])
        """
        table = similarity_table(*model_of(estimator, X), max_kernels, n_samples)
        return cls(table.names, table.S).plot(ax=ax, **kw)

    def plot(self, *, ax: Any = None, **kw: Any) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on. None makes a new figure.
        **kw : dict
            Keyword arguments for ``imshow``.

        Returns
        -------
        self : KernelSimilarityDisplay
            The display, drawn.

        Examples
        --------
        >>> from manykernels.plots import KernelSimilarityDisplay
        >>> display = KernelSimilarityDisplay(["linear", "wide"], [[1.0, 0.9], [0.9, 1.0]]).plot()
        >>> [text.get_text() for text in display.ax_.texts]
        ['1.00', '0.90', '0.90', '1.00']
        """
        M, S = len(self.names), self.similarity
        size = min(2.6 + 0.2 * M, 10.0)
        more = room(self.names)  # beside the rows, and below the columns, where names are slanted
        self.figure_, self.ax_ = figure, ax = axes(ax, size + 2.4 + more, size + 0.6 + 0.8 * more)
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
