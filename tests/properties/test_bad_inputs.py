"""No bad input ends in a cryptic error, in another library's words, in numbers that are none, or never."""

from __future__ import annotations

from itertools import islice

import numba
import numpy as np
import pytest
from tests.properties.bad_cases import ESTIMATORS, SECTIONS, Case, defect
from tests.properties.bad_values import X, y

from manykernels import MKLClassifier
from manykernels._fast import threads

_FAST = 200  # of which one case is taken
_SLOW = 2


def sample(section: str, step: int) -> list[Case]:
    """Every step-th case, beginning at one that depends on the section."""
    first = sum(map(ord, section)) % step
    return list(islice(SECTIONS[section](), first, None, step))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """Text is a path to some parameters, and what they write goes nowhere near the repository."""
    monkeypatch.chdir(tmp_path)


def test_the_judge_knows_good_from_bad():
    assert defect(Case("fine", lambda: [np.ones(2)])) is None
    assert "not finite" in str(defect(Case("nan", lambda: [np.array([np.nan])])))
    assert "TypeError" in str(defect(Case("cryptic", lambda: threads.processes(2, None))))
    assert defect(Case("in our words", lambda: MKLClassifier(C=-1.0).fit(X, y))) is None
    assert defect(Case("in scikit-learn's words", lambda: MKLClassifier().fit(X * np.nan, y))) is None


def test_a_share_of_all_bad_inputs():
    before = numba.get_num_threads(), threads._controller().info()
    found = [defect(case) for section in SECTIONS for case in sample(section, _FAST)]
    assert len(found) > len(SECTIONS) and [words for words in found if words] == []
    assert (numba.get_num_threads(), threads._controller().info()) == before
    assert np.isfinite(MKLClassifier().fit(X, y).decision_function(X)).all()


@pytest.mark.slow
@pytest.mark.parametrize("section", SECTIONS)
def test_bad_inputs(section):
    found = [defect(case) for case in sample(section, _SLOW)]
    assert [words for words in found if words] == []


@pytest.mark.slow
def test_there_are_many_cases():
    assert sum(len(sample(section, _SLOW)) for section in SECTIONS) > 9_000
    assert {section.rpartition(" of ")[2] for section in SECTIONS} >= set(ESTIMATORS)
