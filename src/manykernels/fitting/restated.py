"""P and D of the exact kernels, where a solver saw kernels that are stored in single precision.

P belongs to the function that will predict: f = Σ θ_m K_m α + b with the exact kernels, of which only those
with weight are evaluated again. D is that of the solver's dual point z, with the largest q(z) that rounding
allows, |q̃_m(z) − q_m(z)| ≤ u L_m ‖z‖₁² (`Gram.doubt`). Both are bounds, so the gap stays a proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..grams import Gram
from ..objectives import Risk
from ..penalties import Penalty
from ..solvers import Reason, Result

SHARE = 0.5  # of the tolerance, which the solver is given: the rest is for rounding


def for_exact(gram: Gram, risk: Risk, penalty: Penalty, tol: float, result: Result) -> Result:
    """Return the result with P and D of the exact kernels; as it is where nothing stored is rounded."""
    exact = gram.exact()
    if exact is gram:
        return result
    theta, alpha, largest = result.weights, result.alpha, gram.largest()
    active = np.flatnonzero(theta)
    R, q = exact.products(alpha, active), np.zeros(theta.size)
    q[active] = np.maximum(np.einsum("nk,mnk->m", alpha, R), 0.0)
    f = np.einsum("m,mnk->nk", theta[active], R) + result.intercept
    primal = risk.primal(penalty, theta, q, f, alpha, largest)
    z = alpha if result.dual_alpha is None else result.dual_alpha
    met = gram.quad(z).sum(axis=1) + gram.doubt(z)
    found = replace(result, primal=primal, dual=risk.dual(z, met, penalty, largest))
    reached = found.gap <= tol
    rounded = result.converged and not reached
    return replace(found, converged=reached, reason=Reason.SINGLE if rounded else result.reason)
