"""Bounds: what can be said of new data, with the assumptions under which it can."""

from .rademacher import (
    RademacherEstimate,
    empirical_rademacher,
    linear_rademacher_bound,
    rademacher_bound,
    rademacher_bound_uniform,
)

__all__ = [
    "RademacherEstimate",
    "empirical_rademacher",
    "linear_rademacher_bound",
    "rademacher_bound",
    "rademacher_bound_uniform",
]
