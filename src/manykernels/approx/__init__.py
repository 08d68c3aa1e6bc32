"""Approximations: explicit features for kernels, so that n samples cost n rows and not n² entries."""

from __future__ import annotations

from .base import Approximation, Features
from .diagnostics import approximation_error
from .nystroem import Nystroem
from .own import OwnFeatures
from .random_features import RandomFeatures

__all__ = [
    "Approximation",
    "Features",
    "Nystroem",
    "OwnFeatures",
    "RandomFeatures",
    "approximation_error",
    "resolve_approx",
]


def resolve_approx(spec: object) -> Approximation | None:
    """Return the approximation that the argument ``approx`` of an estimator means.

    Parameters
    ----------
    spec : None, "features" or Approximation
        None stands for exact kernels, "features" for the maps that kernels have themselves.

    Returns
    -------
    Approximation or None
        The approximation; None for exact kernels.

    Raises
    ------
    ValueError
        If the argument is another string than "features".
    TypeError
        If the argument is neither None, a string nor an approximation.

    Examples
    --------
    >>> from manykernels.approx import resolve_approx
    >>> resolve_approx("features")
    OwnFeatures()
    """
    if spec is None or isinstance(spec, Approximation):
        return spec
    expected = (
        "expected None (exact kernels), 'features' (kernels with a finite map of their own), or an object "
        "such as manykernels.approx.Nystroem(n_components=100)"
    )
    if isinstance(spec, type) and issubclass(spec, Approximation):
        name = spec.__name__
        raise TypeError(f"approx={name} is a class; {expected}. Give an object: approx={name}().")
    if isinstance(spec, str):
        if spec == "features":
            return OwnFeatures()
        raise ValueError(f"approx={spec!r} is unknown; {expected}.")
    raise TypeError(f"approx={spec!r} of type {type(spec).__name__} was given; {expected}.")
