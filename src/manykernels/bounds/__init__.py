"""Bounds: what can be said of new data, with the assumptions under which it can."""

from .margin import MarginBound, margin_bound
from .rademacher import (
    RademacherEstimate,
    empirical_rademacher,
    linear_rademacher_bound,
    rademacher_bound,
    rademacher_bound_uniform,
)

__all__ = [
    "MarginBound",
    "margin_bound",
    "RademacherEstimate",
    "empirical_rademacher",
    "linear_rademacher_bound",
    "rademacher_bound",
    "rademacher_bound_uniform",
]
