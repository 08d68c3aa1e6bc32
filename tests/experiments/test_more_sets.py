"""Experiments on further sets: kernels of several views by their number, bigrams of sequences of words."""

from __future__ import annotations

import numpy as np
import pytest
from experiments import alignment_bigrams, ufo_kernels
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


def test_bigrams_are_counted_within_documents_and_chosen_in_training_documents():
    """Documents "0 1 0 1", "1 0 2", "2 2 2 2 2" of which the last is not trained on."""
    tokens, ends = np.array([0, 1, 0, 1, 1, 0, 2, 2, 2, 2, 2, 2], dtype=np.uint16), np.array([0, 4, 7, 12])
    counts = alignment_bigrams.pair_counts(tokens, ends, np.array([True, True, False]), 2)
    assert counts.toarray().tolist() == [[2.0, 1.0], [0.0, 1.0], [0.0, 0.0]]  # (0, 1) and (1, 0)
    everything = alignment_bigrams.pair_counts(tokens, ends, np.array([True, True, True]), 100)
    assert everything.sum() == 3 + 2 + 4 and everything.shape == (3, 4)


def test_halves_of_reviews_have_nothing_in_common(monkeypatch):
    monkeypatch.delenv("MANYKERNELS_DATA", raising=False)
    for data, split in alignment_bigrams.trials("reuters21578_acq", 20, quick=True):
        rows = np.concatenate([split.train, split.validation, split.test])
        assert np.array_equal(np.sort(rows), np.arange(data.y.size))


@pytest.mark.slow
def test_a_quick_run_of_bigrams(tables):
    found = tables(alignment_bigrams)
    assert len(found) == len(alignment_bigrams.SETS)
    assert all([row["bigrams"] for row in rows] == [20, 40] for rows in found.values())


def test_a_quick_run_by_kernels_and_by_alpha(tables):
    found = tables(ufo_kernels)
    assert len(found) == 2 * len(ufo_kernels.SETS)
    rows = found["mfeat: by the number of kernels"]
    assert [row["kernels"] for row in rows] == [3, 6]  # three views
    assert all(row["OBSCURE: used"].mean == row["kernels"] for row in rows)  # which has no zeros
    used = [row["UFO-MKL: used"].mean for row in found["mfeat: by α"]]
    assert used == sorted(used, reverse=True)
