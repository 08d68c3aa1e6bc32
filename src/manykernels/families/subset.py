"""Some of the kernels that another family lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from manykernels.families._base import Family
from manykernels.kernels import Kernel
from manykernels.kernels._data import Data


class Subset(Family):
    """Of the kernels that ``kernels`` means for the data, those with these names, in that order."""

    supervised: ClassVar[bool] = True  # where ``kernels`` is

    def __init__(self, kernels: Any = "auto", names: Sequence[str] = ("Linear",)) -> None:
        self.kernels = kernels
        self.names = names

    def resolve(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None, target: Any = None
    ) -> dict[str, Kernel]:
        from manykernels.families._resolve import resolve_kernels

        found = resolve_kernels(self.kernels, X, sample_weight, feature_names, target)
        missing = [name for name in self.names if name not in found]
        if missing or not len(self.names):
            raise ValueError(
                f"names={list(self.names)!r} was given to Subset; expected one or more of "
                f"{', '.join(map(repr, found))}."
            )
        return {name: found[name] for name in self.names}
