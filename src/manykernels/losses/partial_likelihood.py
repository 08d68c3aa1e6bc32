"""The data fit of times to an event, which is no sum over samples."""

from __future__ import annotations

from typing import ClassVar

from .._arguments import shown
from .base import Criterion, Task

TIES = ("breslow", "efron")


class PartialLikelihood(Criterion):
    """The negative logarithm of Cox's partial likelihood; `objectives/cox.py` has its formula.

    Parameters
    ----------
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted. "breslow" counts them as if all samples were at risk at each
        of them. "efron" counts them as if the tied ones left the risk set one after the other, on average.

    References
    ----------
    Cox (1972), "Regression models and life-tables", Journal of the Royal Statistical Society B 34.

    Breslow (1974), "Covariance analysis of censored survival data", Biometrics 30.

    Efron (1977), "The efficiency of Cox's likelihood function for censored data", Journal of the American
    Statistical Association 72.

    Examples
    --------
    >>> from manykernels.losses import PartialLikelihood
    >>> PartialLikelihood(ties="efron").checked()
    PartialLikelihood(ties='efron')
    """

    task: ClassVar[Task] = "survival"
    separable: ClassVar[bool] = False

    def __init__(self, ties: str = "breslow") -> None:
        self.ties = ties

    def checked(self) -> PartialLikelihood:
        """Return the criterion itself, or raise an error for unknown ties.

        Returns
        -------
        PartialLikelihood
            The criterion itself.
        """
        if not isinstance(self.ties, str) or self.ties not in TIES:
            raise ValueError(f"ties={shown(self.ties)} was given; expected 'breslow' or 'efron'.")
        return self
