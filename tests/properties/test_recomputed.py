"""`inspection.certificate` against what fits claim, on drawn problems: both bounds hold in floating point."""

import numpy as np
import pytest
from tests.properties.certificates import fit
from tests.properties.problems import draw

from manykernels.inspection import certificate

ROUNDING = 1e-12  # of P: of the last sums
BOUNDED = 1e-7  # of P: families bound their quadratic forms in float64, each time with its own rounding


def disagreements(seeds, share):
    """P recomputed is at most objective_, D recomputed at least what the gap says, and D at most P."""
    wrong, seen = [], 0
    for seed in seeds:
        case = draw(seed, share)
        fitted = fit(case)
        if fitted.error is not None or case.model.approx is not None:
            continue
        model, seen = fitted.model, seen + 1
        found = certificate(model, case.X, case.y, sample_weight=case.weight)
        size = abs(model.objective_) + 1e-300
        claim = model.objective_ * (1.0 - model.dual_gap_)
        if not found.primal <= model.objective_ + ROUNDING * size:
            wrong.append(f"{share} {seed}: P = {found.primal!r} above objective_ = {model.objective_!r}")
        if not found.dual >= claim - (BOUNDED if share == "family" else ROUNDING) * size:
            wrong.append(f"{share} {seed}: D = {found.dual!r} below the claim {claim!r}, {case}")
        if not found.dual <= found.primal + ROUNDING * size:
            wrong.append(f"{share} {seed}: D = {found.dual!r} above P = {found.primal!r}, {case}")
        if found.certified and not model.certified_:
            wrong.append(f"{share} {seed}: certified, but not by the fit")
    assert seen > 0.5 * len(seeds)
    return wrong


@pytest.mark.parametrize("share, cases", [("natural", 12), ("hard", 6)])
def test_what_is_computed_anew_agrees_with_the_claim(share, cases):
    wrong = disagreements(range(cases), share)
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("share", ["natural", "hard", "far", "family"])
@pytest.mark.parametrize("block", range(5))
def test_on_many_more(share, block):
    wrong = disagreements(range(5000 + 60 * block, 5060 + 60 * block), share)
    assert not wrong, "\n".join(wrong)


def test_models_without_a_fit_are_refused():
    with pytest.raises(TypeError, match="float"):
        certificate(1.5, np.zeros((3, 1)), np.zeros(3))
