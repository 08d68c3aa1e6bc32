"""A look at `kernels` of an estimator: were they fixed before the sample was seen?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..families import (
    Auto,
    Family,
    FromDistances,
    Parametric,
    PerFeature,
    PolynomialDAG,
    Products,
    RankOne,
    Views,
)
from ..families.views import columns_and_kernels
from ..fitting.spec import leaves, needs_stack
from ..kernels import Callable as CallableKernel
from ..kernels import FromDistance, Kernel

_FIXED = (FromDistances, PerFeature, RankOne, PolynomialDAG)  # they read no more of X than its columns


def chosen_from_data(spec: Any) -> str | None:
    """Return why the kernels depend on the sample, or None if they do not as far as can be seen."""
    if spec == "auto" if isinstance(spec, str) else isinstance(spec, Auto):
        return "kernels='auto' takes its widths from the distances between the training samples"
    if isinstance(spec, str | Kernel) or isinstance(spec, _FIXED):
        return None
    if isinstance(spec, Products):
        return _products(spec)
    if isinstance(spec, Parametric) and type(spec).box is Parametric.box:
        return None  # its bounds are the user's
    if isinstance(spec, Parametric) and hasattr(spec, "low"):
        name = f"{type(spec).__name__}(low={spec.low!r}, high={spec.high!r})"
        unknown = spec.low is None or getattr(spec, "high", None) is None
        return f"{name} takes its range from the distances between the training samples" if unknown else None
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        spec = [columns_and_kernels(given)[1] for given in spec.views.values()]
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return next((why for part in spec if (why := chosen_from_data(part))), None)
    if isinstance(spec, Family):
        return f"{type(spec).__name__} may choose kernels from the training samples"
    return None


def _products(family: Products) -> str | None:
    if family.atom_scale is not None:
        return f"Products(atom_scale={family.atom_scale!r}) scales every product by the training samples"
    if family.scale:
        return "Products(scale=True) prepares columns by what the training samples tell"
    return chosen_from_data(family.base)


def assumptions_of(spec: Any, given: str = "") -> tuple[str, ...]:
    """List the assumptions that the package cannot check; `given` was an argument of the bound."""
    lines = [
        "the training samples are independent draws of the distribution of new ones",
        "kernels, their parameters, norm and intercept_scale were chosen without these samples",
        "features were not scaled, selected or otherwise transformed by what these samples told",
    ]
    if given:
        lines.append(f"{given} was chosen without these samples")
    if needs_stack(spec):
        lines.append("the given matrices are values of functions k(x, x') fixed in advance, PSD on all x")
    elif any(isinstance(part, CallableKernel | FromDistance) for part in leaves(spec)):
        lines.append("given functions and distances are fixed in advance and make PSD kernels")
    return tuple(lines)
