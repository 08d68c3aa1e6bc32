"""The base class of weightings."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..objectives import Alignment
from ..oracles import Oracle
from ..oracles.base import Atom

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Weighted:
    """Weights of the kernels, Σ|θ| = 1, and what is known about them.

    Attributes
    ----------
    theta : ndarray of shape (n_kernels,)
        The weights θ.
    bound : float or None
        No weights that the method allows have a larger alignment.
    residual : float or None
        Residual of the optimality conditions, where the weights solve a problem.
    unique : bool
        Whether the problem has no other solution.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.grams import StackGram
    >>> from manykernels.objectives import Alignment
    >>> from manykernels.weightings import Alignf
    >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    >>> found = Alignf().weigh(Alignment(StackGram(np.stack([y @ y.T, np.eye(4)])), y))
    >>> found.theta.round(6).tolist(), round(float(found.bound), 6)
    ([1.0, 0.0], 1.0)
    """

    theta: Array
    bound: float | None = None  # no weights that the method allows have a larger alignment
    residual: float | None = None  # of the optimality conditions, where the weights solve a problem
    unique: bool = True  # whether the problem has no other solution


@dataclass
class Chosen:
    """Kernels of a family in the order they were found, their weights, and the alignment after each step."""

    atoms: list[Atom] = field(default_factory=list)
    theta: Array = field(default_factory=lambda: np.empty(0))
    path: list[float] = field(default_factory=list)
    certified: bool = True  # whether every kernel was proven to be the best of the family at its step


class Weighting(BaseEstimator):
    """Base class of weightings: how two-stage learning weighs kernels by the target, before any machine.

    A weighting of your own defines `weigh`, and `choose` if it can do without a list of kernels.

    Attributes
    ----------
    pairs : int
        Number of matrices of kernels × kernels that the weighting holds at once.
    squares : int
        Number of matrices of samples × samples that the weighting holds at once.
    classes : bool
        Whether targets must be classes.
    sums : bool
        Whether the weighting needs only sums over the samples, so that explicit features serve it.
    asks : str
        The question that the weighting asks the oracle of a family that cannot be listed; empty if it needs a
        list.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import AlignMKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.weightings import Weighted, Weighting
    >>> class Best(Weighting):
    ...     def weigh(self, alignment):
    ...         theta = np.zeros(len(alignment.a))
    ...         theta[np.argmax(alignment.a / alignment.norms)] = 1.0
    ...         return Weighted(theta)
    >>> X, y = make_classification(60, random_state=0)
    >>> model = AlignMKLClassifier(gaussian_grid(1.0, 20.0, 5), weighting=Best()).fit(X, y)
    >>> int((model.weights_ > 0.0).sum())
    1
    """

    pairs = 0
    squares = 0
    classes = False
    sums = True
    asks = ""

    @abstractmethod
    def weigh(self, alignment: Alignment) -> Weighted:
        """Compute the weights for these kernels and this target.

        Parameters
        ----------
        alignment : Alignment
            The kernels and the target.

        Returns
        -------
        Weighted
            The weights, and what is known about them.

        Examples
        --------
        The first kernel is the target itself, and `Alignf` gives it all of the weight. `Align` weighs each
        kernel in proportion to its own alignment, which is 1 and 1/√3 here:

        >>> import numpy as np
        >>> from manykernels.grams import StackGram
        >>> from manykernels.objectives import Alignment
        >>> from manykernels.weightings import Align, Alignf
        >>> y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
        >>> alignment = Alignment(StackGram(np.stack([y @ y.T, np.eye(4)])), y)
        >>> Alignf().weigh(alignment).theta.round(3).tolist()
        [1.0, 0.0]
        >>> alignment.each.round(3).tolist(), Align().weigh(alignment).theta.round(3).tolist()
        ([1.0, 0.577], [0.634, 0.366])
        """
        raise NotImplementedError(f"{type(self).__name__} must define weigh(alignment).")

    def choose(self, oracle: Oracle, Y: Array) -> Chosen:
        """Choose kernels of a family and their weights, where no list is needed.

        Parameters
        ----------
        oracle : Oracle
            The family on the training samples.
        Y : ndarray of shape (n_samples, k)
            Centred targets.

        Returns
        -------
        Chosen
            The kernels and their weights, which add up to 1.

        Examples
        --------
        The target x0 · x1 is one of the products of two columns:

        >>> import numpy as np
        >>> from manykernels.families import Products
        >>> from manykernels.oracles import build_oracle
        >>> from manykernels.weightings import GreedyAlignment
        >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
        >>> oracle = build_oracle(Products(degree=2, interactions_only=True), X, normalize=None)
        >>> chosen = GreedyAlignment().choose(oracle, X[:, :1] * X[:, 1:])
        >>> chosen.atoms[0], round(float(chosen.theta[0]), 6)
        ((0, 1), 1.0)
        """
        raise NotImplementedError(f"{type(self).__name__} needs a list of kernels.")


def shares(theta: Array) -> Array:
    """θ / Σ|θ|. Alignment does not depend on the scale of the weights; kernels of trace n then mix to one."""
    total = float(np.abs(theta).sum())
    if not total > 0.0:
        raise ValueError(
            "no kernel is aligned with the target at all: every ⟨K_c, K_Y⟩ is zero, so alignment has nothing "
            "to weigh kernels by. Check that y belongs to these samples, or take weighting='uniform'."
        )
    return theta / total
