"""What fits claim holds: P in extended precision, and no other solver gets below the bound.

``python -m tests.properties.certificates --cases 2000 --seed 0`` draws more, and lists what it finds.
"""

import numpy as np
import pytest
from tests.properties.certificates import Check, Fitted, fit
from tests.properties.exact import Grams, primal
from tests.properties.problems import SHARES, draw
from tests.properties.reference import cvxpy_primal


def claims(seeds, share, every=5):
    """One of `every` cases is also held against another tolerance and cvxpy."""
    wrong = []
    for seed in seeds:
        wrong += Check(draw(seed, share)).run(seed % every == 0)
    assert not wrong, "\n".join(map(str, wrong))


FEW = {"natural": 20, "hard": 12, "far": 8, "family": 3, "grid": 2, "other": 4}
HUNDREDS = {"natural": 12, "hard": 12, "far": 5, "family": 1, "grid": 2, "other": 2}


@pytest.mark.parametrize("share", SHARES)
def test_claims_hold(share):
    claims(range(FEW[share]), share)


@pytest.mark.slow
@pytest.mark.parametrize("share, block", [(share, k) for share in SHARES for k in range(HUNDREDS[share])])
def test_claims_hold_on_many_problems(share, block):
    claims(range(1000 + 100 * block, 1100 + 100 * block), share, every=10)


@pytest.mark.parametrize("seed", range(5))
def test_the_references_agree_with_each_other(seed):
    """Extended precision, cvxpy's point and a close fit find one value, so that a failure means something."""
    case = draw(seed, "natural").change(tol=1e-7, max_iter=1000, solver="auto")
    model = fit(case).model
    Ks = Grams(case, model)
    found = primal(case, model, Ks).primal
    np.testing.assert_allclose(found, model.objective_, rtol=1e-6)
    np.testing.assert_allclose(found, cvxpy_primal(case, model, Ks), rtol=1e-5)


class TestWrongClaimsAreFound:
    """The check itself: each claim, made false by hand, is reported."""

    def wrong(self, change):
        case = draw(0, "natural")
        fitted = fit(case)
        change(fitted.model)
        check = Check(case)
        check._claims(Fitted(fitted.model, None, [], 0.0), Grams(case, fitted.model))
        return {failure.kind for failure in check.failures}

    def test_nothing_is_wrong_by_itself(self):
        assert not self.wrong(lambda model: None)

    def test_a_wrong_objective(self):
        found = self.wrong(lambda model: setattr(model, "objective_", 0.97 * model.objective_))
        assert "true P above the claim" in found

    def test_wrong_coefficients(self):
        def change(model):
            model.dual_coef_ = 1.2 * model.dual_coef_

        assert "inconsistent" in self.wrong(change)

    def test_a_gap_above_the_tolerance(self):
        assert "silent" in self.wrong(lambda model: setattr(model, "dual_gap_", 0.5))

    def test_a_bound_above_the_optimum(self):
        case = draw(0, "natural")
        model = fit(case).model
        value = primal(case, model)
        model.objective_, model.dual_gap_ = 1.01 * model.objective_, 0.0
        check = Check(case)
        check._others(model, value, Grams(case, model))
        assert {failure.kind for failure in check.failures} == {"bound above a P"}
