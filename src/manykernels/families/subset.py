"""Some of the kernels that another family lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..kernels import Kernel
from ..kernels.data import Data
from .base import Family


class Subset(Family):
    """Some of the kernels that ``kernels`` means for the data, chosen by name.

    Some kernels of a family are one and the same in some data: on normal scores, where no column has heavy
    tails, and on the columns themselves; at two quantiles of distances that are equal. There the one that is
    listed goes by the names of all of them (``Member.also``), so that names that were chosen on all samples
    mean the same in a fold of them.

    Parameters
    ----------
    kernels : str, Kernel, callable, Family, list or dict, default="auto"
        The kernels, as estimators take them.
    names : sequence of str, default=("Linear",)
        Names of the kernels to take, in this order.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import Subset
    >>> from manykernels.kernels import Gaussian, Linear
    >>> given = {"line": Linear(), "bumps": Gaussian(1.0)}
    >>> list(Subset(given, ["bumps"]).resolve(np.random.RandomState(0).randn(10, 2)))
    ['bumps']
    """

    supervised: ClassVar[bool] = True  # where ``kernels`` is
    holds_others: ClassVar[bool] = True

    def __init__(self, kernels: Any = "auto", names: Sequence[str] = ("Linear",)) -> None:
        self.kernels = kernels
        self.names = names

    def resolve(
        self,
        X: Data,
        sample_weight: Any = None,
        feature_names: Any = None,
        target: Any = None,
        approx: Any = None,
    ) -> dict[str, Kernel]:
        """List the chosen kernels, in the order in which they were named.

        Parameters
        ----------
        target : array-like of shape (n_samples, n_outputs), default=None
            Training targets, for families among ``kernels`` that learn from them.
        approx : Approximation, default=None
            With an approximation, "auto" offers only kernels that it serves.
        """
        from ._resolve import resolve_kernels

        found = resolve_kernels(self.kernels, X, sample_weight, feature_names, target, approx)
        called = {other: name for name, kernel in found.items() for other in kernel.member.also}
        absent = {name.removesuffix("absent"): name for name, k in found.items() if k.member.role == "absent"}
        called |= {name: own for name in self.names for view, own in absent.items() if name.startswith(view)}
        meant = {name: name if name in found else called.get(name) for name in self.names}
        if not meant or None in meant.values():
            raise ValueError(
                f"names={list(self.names)!r} was given to Subset; expected one or more of "
                f"{', '.join(map(repr, found))}."
            )
        chosen: dict[str, Kernel] = {}
        taken = {name for name, own in meant.items() if name == own}
        for name, own in meant.items():
            if own is not None and (name == own or own not in taken):  # one kernel is there once
                chosen[name] = found[own]
                taken.add(own)
        return chosen
