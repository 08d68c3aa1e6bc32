"""Dictionaries made of the single features: SimpleMKL's protocol, and one rank-one kernel per column."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..kernels import Gaussian, Kernel, Linear, OnColumns, Polynomial
from ..kernels.data import Data
from .base import Family, names_of, numbers, unique

SIMPLEMKL_WIDTHS = (0.5, 1.0, 2.0, 5.0, 7.0, 10.0, 12.0, 15.0, 17.0, 20.0)


def per_feature(widths: Sequence[float] = SIMPLEMKL_WIDTHS, degrees: Sequence[int] = (1, 2, 3)) -> PerFeature:
    """Make Gaussian and polynomial kernels on all features and on each one: 13(d + 1) by default.

    Parameters
    ----------
    widths : sequence of float, default=SIMPLEMKL_WIDTHS
        The σ of exp(−‖x − x'‖²/2σ²), which is ``Gaussian(width=σ√2)``: 0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20 by
        default.
    degrees : sequence of int, default=(1, 2, 3)
        Degrees of the polynomials (1 + ⟨x, x'⟩)^degree.

    Returns
    -------
    PerFeature
        The family.

    References
    ----------
    Rakotomamonjy, Bach, Canu & Grandvalet (2008), "SimpleMKL", Journal of Machine Learning Research 9.

    Orabona & Jie (2011), "Ultra-Fast Optimization Algorithm for Sparse Multi Kernel Learning", ICML, §5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import per_feature
    >>> len(per_feature().resolve(np.random.RandomState(0).randn(20, 3)))
    52
    """
    return PerFeature(widths, degrees)


def rank_one() -> RankOne:
    """Make one linear kernel for each column of X, dense or sparse.

    Matrices of n × n are never stored. With ``norm=1.0`` the model selects columns, as the lasso does.

    Returns
    -------
    RankOne
        The family.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> X = np.random.RandomState(0).randn(50, 4)
    >>> model = MKLRegressor(rank_one()).fit(X, X[:, 2])
    >>> int(model.weights_.argmax())
    2
    """
    return RankOne()


class PerFeature(Family):
    """Gaussian and polynomial kernels on all features and on each one; see `per_feature`.

    Parameters
    ----------
    widths : sequence of float, default=SIMPLEMKL_WIDTHS
        The σ of exp(−‖x − x'‖²/2σ²): 0.5, 1, 2, 5, 7, 10, 12, 15, 17, 20 by default.
    degrees : sequence of int, default=(1, 2, 3)
        Degrees of the polynomials (1 + ⟨x, x'⟩)^degree.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import PerFeature
    >>> len(PerFeature(widths=[1.0], degrees=[2]).resolve(np.random.RandomState(0).randn(20, 3)))
    8
    """

    def __init__(
        self, widths: Sequence[float] = SIMPLEMKL_WIDTHS, degrees: Sequence[int] = (1, 2, 3)
    ) -> None:
        self.widths = widths
        self.degrees = degrees

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        numbers(X, feature_names)
        base: list[Kernel] = [Gaussian(float(sigma * np.sqrt(2.0))) for sigma in self.widths]
        base += [Polynomial(degree) for degree in self.degrees]
        single = [kernel.as_member(role="column") for kernel in base]
        labels = [f"Gaussian(σ={sigma:.6g})" for sigma in self.widths]
        labels = unique([*labels, *(f"Polynomial(degree={degree})" for degree in self.degrees)])
        features = unique(["all", *names_of(X, feature_names)])
        kernels: dict[str, Kernel] = {}
        for j, feature in enumerate(features):
            for label, kernel, one in zip(labels, base, single, strict=True):
                kernels[f"{feature}: {label}"] = kernel if j == 0 else OnColumns(one, j - 1)
        return kernels


class RankOne(Family):
    """One linear kernel for each column of X; see `rank_one`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import RankOne
    >>> list(RankOne().resolve(np.eye(3)))
    ['x0', 'x1', 'x2']
    """

    factors: ClassVar[bool] = True

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        numbers(X, feature_names)
        linear = Linear().as_member(role="column")
        return {name: OnColumns(linear, j) for j, name in enumerate(unique(names_of(X, feature_names)))}
