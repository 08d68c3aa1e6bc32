"""Afkanpour 2013, Figs 3.2 and 6.8: single frequencies and pairs, and times by samples and kernels."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import continuous_frequencies, continuous_scaling
from experiments.tables import Report


@pytest.fixture
def tables(monkeypatch):
    """The tables of a quick run of a module, by their titles."""

    def run(module):
        monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
        report = Report(module.__name__, "", quick=True)
        module.run(report)
        return {table["title"]: table["rows"] for table in report.tables}

    return run


# -- frequencies ------------------------------------------------------------------------------------
def test_minima_are_sorted_and_include_the_ends():
    sigma = np.arange(6.0)
    assert continuous_frequencies.minima(sigma, np.array([3.0, 5.0, 1.0, 4.0, 4.5, 2.0])) == [2.0, 5.0, 0.0]


def test_a_frequency_that_is_in_the_labels_tells_them_apart():
    """sign(sin 3x) is learned with σ = 3 and not with σ = 5."""
    rng = np.random.RandomState(0)
    parts = []
    for n in (150, 80, 200):
        x = rng.uniform(-10.0, 10.0, (n, 1))
        parts.append((x, np.sign(np.sin(3.0 * x[:, 0]))))
    right, wrong = (continuous_frequencies.error([sigma], parts, [1.0, 10.0]) for sigma in (3.0, 5.0))
    assert right < 3.0 and 30.0 < wrong < 70.0


def test_the_right_frequencies_are_better_together(tables):
    found = tables(continuous_frequencies)
    rows = {
        row["frequencies"]: row["error"].mean for row in found["Per cent wrong with the right frequencies"]
    }
    assert len(rows) == 7 and min(rows, key=rows.get) == "√2, √12, √60"
    assert len(found["Per cent wrong by one frequency"]) == 5 + 3


# -- samples and kernels ----------------------------------------------------------------------------
@pytest.mark.slow
def test_all_methods_have_errors_and_seconds_for_all_sizes(tables):
    found = tables(continuous_scaling)
    assert list(found) == [
        f"{what}, by {by}" for by in ("samples", "kernels") for what in ("Per cent wrong", "Seconds")
    ]
    errors = {row["method"]: row for row in found["Per cent wrong, by samples"]}
    assert len(errors) == 9 and len(found["Seconds, by kernels"]) == 5
    assert all(0.0 < row["40"].mean < 60.0 for row in errors.values())
    assert all(row["10"].mean > 0.0 for row in found["Seconds, by kernels"])


def test_shrinkage_takes_the_model_of_the_largest_alignment():
    parts, _, _ = continuous_scaling.given(0, (40, 60, 80), quick=True)
    models = continuous_scaling.searched(parts, quick=True)
    alignments = {name: continuous_scaling.aligned(model, parts[1]) for name, (model, _) in models.items()}
    assert alignments["GCD-2s (nD)"] == max(alignments.values())
    assert models["GCD-2s (nD)"][1] >= sum(models[name][1] for name in list(models)[:2])
