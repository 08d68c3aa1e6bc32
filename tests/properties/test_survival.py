"""Drawn problems of times to an event: what fits claim of P and of the bound holds."""

import pytest
from tests.properties.survival import failures


@pytest.mark.parametrize("seed", range(15))
def test_claims_hold(seed):
    assert not failures(seed)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_claims_hold_on_many_problems(block):
    wrong = {seed: found for seed in range(100 + 40 * block, 140 + 40 * block) if (found := failures(seed))}
    assert not wrong
