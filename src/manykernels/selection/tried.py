"""Records of a search: what it tried, and its choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .text import end_of_path


@dataclass(frozen=True)
class Searched:
    """The models that a search of this package tried, and its choice."""

    title: str
    kernels: Any  # that it began with
    comparison: dict[str, list[Any]]
    path: dict[str, dict[str, Any]]  # of each strategy
    best: dict[str, Any]
    by: Literal["error", "score"]  # what it chose by
    folds: Any  # as given

    @property
    def whole(self) -> dict[str, Any] | None:
        """The path of the chosen strategy on all samples, or None."""
        return self.path[self.best["strategy"]].get("all samples")

    @property
    def end_of_path(self) -> str:
        """The word "largest" or "smallest" if the chosen C is the last one that was tried; else empty."""
        return end_of_path(self.path, self.best)
