"""A short form of the long life of one process (`tests/soak.py`)."""

import os

import pytest
from tests.soak import NAMES, growth, soak


def test_growth_is_that_of_the_end():
    assert growth([1.0, 5.0, 9.0] + [10.0] * 6) == 0.0
    assert growth([10.0] * 6 + [11.0] * 3) == pytest.approx(0.1)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is not known here")
def test_a_minute_of_a_long_life():
    """Answers to the bit; memory of so short a time within a tenth."""
    life = soak(0.5, names=NAMES[:12])
    assert sum(life.done.values()) >= 9 * 40
    assert growth(life.sizes) < 0.1
