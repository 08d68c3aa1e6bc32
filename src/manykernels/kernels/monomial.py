"""Products of single features: kernels of rank one, with a monomial as their feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .base import Kernel, into
from .data import Array, Data, n_samples, numeric, take_columns


class Monomial(Kernel):
    """The product of powers of columns, k(x, x') = φ(x) φ(x') with φ(x) = Π_j x_{columns_j}^{powers_j}.

    The kernel has one feature. Without columns it is the constant 1.

    Parameters
    ----------
    columns : sequence of int or str
        Positions or names of the columns.
    powers : sequence of int or None, default=None
        One whole power for each column, at least 1. None stands for 1 throughout.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    manykernels.families.Products : All of these kernels up to a degree.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Monomial
    >>> Monomial([0, 1], [2, 1])(np.array([[1.0, 2.0], [2.0, 1.0]]))
    array([[ 4.,  8.],
           [ 8., 16.]])
    """

    def __init__(
        self, columns: Sequence[Any], powers: Sequence[int] | None = None, *, name: str | None = None
    ) -> None:
        self.columns = columns
        self.powers = powers
        self.name = name

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        maps = self.feature_maps(X) if Y is None else self.feature_maps(X, Y)
        return into(out, maps[0] * maps[-1].T)

    def diag(self, X: Data) -> Array:
        return np.asarray(self.feature_maps(X)[0][:, 0] ** 2)

    @property
    def has_features(self) -> bool:
        return True

    def feature_maps(self, *sets: Data) -> list[Any]:
        powers = self.whole_powers()
        maps = []
        for X in sets:
            phi = np.ones((n_samples(X), 1))
            for column, power in zip(self.columns, powers, strict=True):
                x = numeric(take_columns(X, column))
                x = (x.toarray() if sparse.issparse(x) else x).reshape(-1, 1)
                phi *= x if power == 1 else x**power
            maps.append(phi)
        return maps

    def whole_powers(self) -> list[int]:
        """Return the power of each column, or raise an error where one is not whole.

        Returns
        -------
        list of int
            The powers.

        Examples
        --------
        >>> from manykernels.kernels import Monomial
        >>> Monomial(["age", "dose"]).whole_powers()
        [1, 1]
        >>> Monomial(["age", "dose"], [2, 1]).whole_powers()
        [2, 1]
        """
        powers = [1] * len(self.columns) if self.powers is None else list(self.powers)
        if len(powers) != len(self.columns) or any(power != power // 1 or power < 1 for power in powers):
            raise ValueError(
                f"powers={self.powers!r} was given to Monomial with {len(self.columns)} column(s); expected "
                "as many whole numbers, at least 1."
            )
        return [int(power) for power in powers]
