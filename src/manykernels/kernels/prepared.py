"""Kernels on what is made of a raw table: its prepared features, or one of its columns of text."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Self

from .._arguments import shown
from .base import Kernel
from .cells import column_of, texts_of
from .columns import OnColumns, Seen
from .data import Columns, Data, positions
from .preparation import PARTS, Part, Preparation


class Prepared(Seen):
    """A kernel on the prepared features of a raw table.

    Parameters
    ----------
    kernel : Kernel
        The kernel that is evaluated on the features.
    preparation : Preparation
        The fitted preparation, which several kernels may share.
    part : {"scaled", "scores", "both"}, default="scaled"
        The features that the kernel reads: scaled columns, the same with normal scores in place of
        heavy-tailed columns, or both.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Preparation : The constants of the training data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Linear, Preparation, Prepared
    >>> X = np.array([[1.0], [3.0]])
    >>> Prepared(Linear(), Preparation().fit(X))(X)
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(
        self, kernel: Kernel, preparation: Preparation, part: Part = "scaled", *, name: str | None = None
    ) -> None:
        self.kernel = kernel
        self.preparation = preparation
        self.part = part
        self.name = name

    def __sklearn_clone__(self) -> Self:
        """The preparation stays fitted: it is what makes this kernel the one it is."""
        return self._told(type(self)(self.kernel, self.preparation, self.part, name=self.name))

    def _select(self, X: Data) -> Data:
        self._check()
        return self.preparation.transform(X, self.part)

    def _key(self) -> Hashable | None:
        self._check()
        return ("prepared", self.part, self.preparation.key_)

    def _check(self) -> None:
        if not isinstance(self.preparation, Preparation) or "key_" not in self.preparation.__dict__:
            raise ValueError(
                f"preparation={shown(self.preparation)} was given to Prepared; expected a fitted "
                "Preparation: Preparation().fit(X)."
            )
        if not isinstance(self.part, str) or self.part not in PARTS:
            known = ", ".join(map(repr, PARTS))
            raise ValueError(f"part={shown(self.part)} was given to Prepared; expected one of {known}.")

    def _around(self, kernel: Kernel) -> Kernel:
        return Prepared(kernel, self.preparation, self.part)

    def _describe(self) -> str:
        self._check()
        return f"{self.kernel.label} of {PARTS[self.part]}"


class TextColumn(OnColumns):
    """``kernel`` on one column of text, in which missing cells are empty strings."""

    @property
    def _is_view(self) -> bool:
        return False

    def _select(self, X: Data) -> Data:
        return texts_of(column_of(X, _position(X, self.columns)))

    def _key(self) -> Hashable | None:
        return ("text", super()._key())

    def _around(self, kernel: Kernel) -> Kernel:
        return TextColumn(kernel, self.columns, view=self.view)


def _position(X: Data, column: Columns) -> int:
    where = positions(X, column)
    if not isinstance(where, int):
        raise ValueError(f"columns={shown(column)} was given to TextColumn; expected one column.")
    return where
