"""MK1xx: did learning end where it should?"""

from __future__ import annotations

import numpy as np

from ..fitting.model import Proof, percent
from .base import Facts, Rule


def _unfinished(facts: Facts) -> Proof | None:
    """The certificate of a fit that stopped above its tolerance."""
    proof = facts.model.proof
    return proof if proof is not None and np.isfinite(proof.gap) and not proof.converged else None


def _all_used(facts: Facts, proof: Proof) -> bool:
    return facts.max_iter is not None and proof.n_iter >= facts.max_iter


def _gap(facts: Facts) -> str | None:
    proof = _unfinished(facts)
    if proof is None or _all_used(facts, proof):
        return None
    asked = "online learning aims at 1 %" if proof.tol is None else f"tol = {proof.tol:g} was asked for"
    lower = f"the optimum of the objective may be {percent(proof.gap)} % lower"
    return f"The relative duality gap is {proof.gap:.1e}, and {asked}: {lower}."


def _iterations(facts: Facts) -> str | None:
    proof = _unfinished(facts)
    if proof is None or not _all_used(facts, proof):
        return None
    return (
        f"The fit ended at max_iter = {facts.max_iter}: the relative duality gap is {proof.gap:.1e}, and "
        f"tol = {proof.tol:g} was asked for."
    )


LEARNING = (
    Rule(
        "MK101",
        "The fit stopped before its tolerance",
        "Scale the columns, lower C, take more epochs of UFO, or accept a larger tol.",
        _gap,
    ),
    Rule(
        "MK102",
        "The iterations ended",
        "Raise max_iter, or accept a larger tol.",
        _iterations,
    ),
)
