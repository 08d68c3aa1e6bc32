"""What `kernels` says about whether kernels were fixed before the sample was seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..families import Auto, Family, FromDistances, PerFeature, RankOne, Views
from ..families.views import columns_and_kernels
from ..fitting.spec import leaves, needs_stack
from ..kernels import Callable as CallableKernel
from ..kernels import FromDistance, Kernel

_FIXED = (FromDistances, PerFeature, RankOne)  # families that read no more of X than its columns


def chosen_from_data(spec: Any) -> str | None:
    """Why the kernels depend on the sample, or None if they do not as far as can be seen."""
    if spec == "auto" if isinstance(spec, str) else isinstance(spec, Auto):
        return "kernels='auto' takes its widths from the distances between the training samples"
    if isinstance(spec, str | Kernel) or isinstance(spec, _FIXED):
        return None
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        spec = [columns_and_kernels(given)[1] for given in spec.views.values()]
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return next((why for part in spec if (why := chosen_from_data(part))), None)
    if isinstance(spec, Family):
        return f"{type(spec).__name__} may choose kernels from the training samples"
    return None


def assumptions_of(spec: Any, margin_given: bool) -> tuple[str, ...]:
    """What the user has to know, since the package cannot see it."""
    lines = [
        "the training samples are independent draws of the distribution of new ones",
        "kernels, their parameters, norm and intercept_scale were chosen without these samples",
        "features were not scaled, selected or otherwise transformed by what these samples told",
    ]
    if margin_given:
        lines.append("margin was chosen without these samples")
    if needs_stack(spec):
        lines.append("the given matrices are values of functions k(x, x') fixed in advance, PSD on all x")
    elif any(isinstance(part, CallableKernel | FromDistance) for part in leaves(spec)):
        lines.append("given functions and distances are fixed in advance and make PSD kernels")
    return tuple(lines)
