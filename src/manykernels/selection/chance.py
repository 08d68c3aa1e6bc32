"""Differences of errors on the same held-out samples, and whether chance explains them."""

from __future__ import annotations

from typing import Any

import numpy as np

NEAR = 2.0  # standard errors of the paired difference within which a model may be as good


def may_be_best(errors: Any, best: Any) -> bool:
    """Tell whether a model may be as good as the best one, by the errors of both on the same samples.

    With d_i the difference of their errors on sample i of n it may, if d̄ ≤ 2 s, where s² = Σ_i (d_i − d̄)² /
    (n (n − 1)) is the square of the standard error. Without errors, or with one sample, nothing is known, and
    it may.
    """
    if errors is None or best is None or len(best) < 2:
        return True
    d = np.asarray(errors, dtype=np.float64) - best
    return bool(d.mean() <= NEAR * d.std(ddof=1) / np.sqrt(d.size))
