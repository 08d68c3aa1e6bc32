"""The data fit of times to an event, which is no sum over samples."""

from __future__ import annotations

from typing import ClassVar

from .._arguments import shown
from .base import Criterion, Task

TIES = ("breslow", "efron")


class PartialLikelihood(Criterion):
    """The negative logarithm of Cox's partial likelihood; `objectives/cox.py` has its formula.

    ties : "breslow" or "efron"
        How events at the same time are counted: as if all samples were at risk at each of them, or as if the
        tied ones left the risk set one after the other, on average.
    """

    task: ClassVar[Task] = "survival"
    separable: ClassVar[bool] = False

    def __init__(self, ties: str = "breslow") -> None:
        self.ties = ties

    def checked(self) -> PartialLikelihood:
        """The same, or an error where nobody knows what it is to do."""
        if not isinstance(self.ties, str) or self.ties not in TIES:
            raise ValueError(f"ties={shown(self.ties)} was given; expected 'breslow' or 'efron'.")
        return self
