"""What absent_views draws and compares, on few samples."""

import numpy as np
import pytest
from experiments import absent_views as experiment


@pytest.mark.parametrize("by_class", [False, True])
def test_blocks_are_removed_at_the_rate_and_every_sample_keeps_a_view(by_class):
    y = np.arange(4000) % 4
    having = experiment.removed(y, 3, 0.3, by_class, np.random.RandomState(0))
    assert having.any(axis=1).all()
    assert 1.0 - having.mean() == pytest.approx(0.3, abs=0.03)
    rates = np.array([1.0 - having[y == c].mean(axis=0) for c in range(4)])
    assert (np.ptp(rates, axis=0) > 0.2).all() == by_class


def test_the_package_is_what_its_formula_says():
    p = experiment.drawn("synthetic", 0.3, False, 0, quick=True)
    K = experiment.raw(p, p.X, p.train)
    assert K.shape == (80, 80, 6)
    c = np.sqrt(2.0 / p.having.sum(axis=1))
    by_formula = experiment.score(experiment.centred(p, K, experiment.TOLD) * np.outer(c, c)[:, :, None], p)
    assert experiment.rescaled(p, K)[0] == pytest.approx(by_formula[0], abs=5.0)
    row = experiment.paired_row(
        ("synthetic", 0.3, False), [experiment.trial("synthetic", 0.3, False, s, True) for s in (0, 1)]
    )
    assert row["by"] == "chance" and "complete cases" in row
