"""Some of the kernels that another family lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..kernels import Kernel
from ..kernels.data import Data
from .auto import without_scores
from .base import Family


class Subset(Family):
    """Of the kernels that ``kernels`` means for the data, those with these names, in that order.

    ``"auto"`` has kernels on normal scores only for data with heavy tails. Without those a kernel on normal
    scores is the same as the one on the features themselves, which then takes its place: names that were
    chosen on all samples mean the same in a fold of them.
    """

    supervised: ClassVar[bool] = True  # where ``kernels`` is

    def __init__(self, kernels: Any = "auto", names: Sequence[str] = ("Linear",)) -> None:
        self.kernels = kernels
        self.names = names

    def resolve(
        self, X: Data, sample_weight: Any = None, feature_names: Any = None, target: Any = None
    ) -> dict[str, Kernel]:
        from ._resolve import resolve_kernels

        found = resolve_kernels(self.kernels, X, sample_weight, feature_names, target)
        meant = {name: name if name in found else without_scores(name) for name in self.names}
        if not meant or any(name not in found for name in meant.values()):
            raise ValueError(
                f"names={list(self.names)!r} was given to Subset; expected one or more of "
                f"{', '.join(map(repr, found))}."
            )
        chosen = {}
        for name, own in meant.items():
            if name == own or own not in meant:  # one kernel is there once
                chosen[name] = found[own]
        return chosen
