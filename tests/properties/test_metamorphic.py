"""Problems that are known to have the same optimum, or one on a known side, have answers that agree.

``python -m tests.properties.metamorphic --cases 1000 --seed 0`` draws more, and lists what it finds.
"""

from dataclasses import replace

import numpy as np
import pytest
from tests.properties.metamorphic import ALONE, check, compare, refit
from tests.properties.problems import draw
from tests.properties.relations import RELATIONS, Pair


def agree(seeds, share=None):
    wrong = [failure for seed in seeds for failure in check(seed, share)]
    assert not wrong, "\n".join(map(str, wrong))


def test_relations_hold():
    """One case of each relation."""
    agree(range(len(RELATIONS) + len(ALONE)), "natural")


@pytest.mark.slow
@pytest.mark.parametrize("block", range(12))
def test_relations_hold_on_many_problems(block):
    agree(range(1000 + 100 * block, 1100 + 100 * block))


@pytest.mark.parametrize("name", RELATIONS)
def test_every_relation_says_something(name):
    """Of some natural problem; one that never applies would hold for nothing."""
    rng = np.random.RandomState(0)
    assert any(RELATIONS[name](draw(seed, "natural"), rng) is not None for seed in range(60))


def test_a_model_answers_the_same_when_fitted_again_and_from_a_file():
    wrong = [failure for seed in range(3) for failure in refit(draw(seed, "natural"))]
    assert not wrong, "\n".join(map(str, wrong))


class TestOtherProblemsAreFound:
    """The comparison itself: pairs that are not what they say are reported."""

    def test_another_objective(self):
        seed = next(s for s in range(100) if draw(s, "natural").model.loss == "squared")  # never interpolates
        case = draw(seed, "natural")
        assert compare("costs", Pair(case, case.change(C=2.0 * case.model.C)))

    def test_other_decisions(self):
        seed = next(s for s in range(100) if draw(s, "natural").model.loss == "squared")
        case = draw(seed, "natural").change(tol=1e-6)
        assert not compare("itself", Pair(case, case))
        assert compare("moved", Pair(case, case, back=lambda f: f + 1.0))

    def test_a_refusal(self):
        case = draw(0, "natural")
        bad = replace(case, X=np.full_like(case.X, np.nan))
        assert [failure.kind for failure in compare("nan", Pair(case, bad))] == [
            "nan: only the second is refused"
        ]
