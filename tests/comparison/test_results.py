"""Comparisons: scores in the same folds, held against a constant and against each other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold
from tests.fitted_models import X, numbers, stack, three, y

from manykernels import MKLClassifier
from manykernels.comparison.folds import cross_validate, make_folds, task_of
from manykernels.comparison.results import Comparison, Permuted, chance, from_rows, said, share_of, verdict
from manykernels.comparison.scores import Fold, Scores
from manykernels.comparison.statistics import corrected_ttest


def scores(*values):
    return Scores([Fold(value) for value in values])


# -- folds ----------------------------------------------------------------------------------------
def test_folds_are_repeated_and_keep_the_shares_of_classes():
    splits = make_folds(three, classes=True, cv=3, n_repeats=2)
    assert len(splits) == 6 and share_of(splits) == pytest.approx(0.5, abs=0.03)
    for part in (splits[:3], splits[3:]):
        assert sorted(np.concatenate([test for _, test in part])) == list(range(len(three)))
    assert any(set(a[1]) != set(b[1]) for a, b in zip(splits[:3], splits[3:], strict=True))
    assert all(set(np.unique(three[test])) == set(np.unique(three)) for _, test in splits)


@pytest.mark.parametrize("classes", [True, False])
def test_groups_stay_together(classes):
    groups = np.arange(len(y)) // 4
    for train, test in make_folds(y, classes=classes, cv=3, n_repeats=2, groups=groups):
        assert not set(groups[train]) & set(groups[test])


def test_folds_that_are_given():
    cut = list(KFold(3).split(X))
    assert len(make_folds(y, classes=True, cv=KFold(3))) == len(make_folds(y, classes=True, cv=cut)) == 3
    with pytest.raises(ValueError, match="n_repeats=2 was given with cv"):
        make_folds(y, classes=True, cv=KFold(3), n_repeats=2)
    with pytest.raises(ValueError, match="cv='five' was given"):
        make_folds(y, classes=True, cv="five")
    with pytest.raises(ValueError, match="expected a number of folds from 2 to 48"):
        make_folds(y, classes=True, cv=100)
    with pytest.raises(ValueError, match="cv=5 was given for 2 groups"):
        make_folds(y, classes=True, groups=np.arange(len(y)) % 2)


def test_which_task_it_is():
    assert task_of(np.array(["a", "b"])) == task_of([0, 1, 2]) == task_of([True, False]) == "classification"
    assert task_of([0.5, 1.5]) == task_of(np.arange(30)) == task_of(np.zeros((5, 2))) == "regression"


# -- scores ---------------------------------------------------------------------------------------
class Broken(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("out of order")


class Loud(LogisticRegression):
    def fit(self, X, y):
        warnings.warn("this is slow", stacklevel=2)
        return super().fit(X, y)


def test_any_error_is_told_and_stops_nothing():
    splits = make_folds(y, classes=True, cv=3)
    found = cross_validate({"broken": Broken(), "loud": Loud()}, X, y, splits)
    assert found["broken"].error == "failed in 3 of 3 folds: RuntimeError: out of order"
    assert found["loud"].complete and found["loud"].warned == ["this is slow (in 3 of 3 folds)"]


def test_kernels_between_samples_are_cut_in_rows_and_columns():
    splits = make_folds(y, classes=True, cv=3)
    found = cross_validate({"stack": MKLClassifier("precomputed")}, stack, y, splits)["stack"]
    assert found.complete and all(fold.kernels >= 1 for fold in found.folds)


def test_scoring_is_that_of_scikit_learn():
    splits = make_folds(y, classes=True, cv=3)
    area = cross_validate({"": LogisticRegression()}, X, y, splits, scoring="roc_auc")[""]
    constant = chance(y, splits, task="classification", scoring="roc_auc")
    assert area.complete and constant.values == [0.5] * 3
    worse = chance(numbers, make_folds(numbers, classes=False, cv=3), task="regression")
    assert max(worse.values) <= 0.0


# -- comparisons ----------------------------------------------------------------------------------
def test_differences_pair_the_folds():
    table = Comparison("accuracy", {"a": scores(0.9, 0.8, 0.7), "b": scores(0.8, 0.8, 0.5)}, test_share=0.5)
    assert table.best == "a" and table.difference("a") is None and table.strongest_rival("a") == "b"
    found, by_hand = table.difference("b"), corrected_ttest([-0.1, 0.0, -0.2], 0.5)
    assert (found.mean, found.low, found.p_value) == pytest.approx(
        (by_hand.mean, by_hand.low, by_hand.p_value)
    )
    failed = Comparison("accuracy", {"a": scores(0.9), "b": Scores([Fold(error="no")])})
    assert failed.difference("b") is None and failed.strongest_rival("a") is None
    assert Comparison("accuracy", {}).best is None


def test_rows_and_back():
    table = Comparison("R²", {"a": scores(0.9, 0.8), "b": Scores([Fold(0.1), Fold(error="no kernel.")])})
    rows = table.as_rows()
    assert rows[1]["error"] == "failed in 1 of 2 folds: no kernel." and len(rows) == 2
    again = from_rows([*rows, {"name": "chance", "folds": [0.0, 0.0]}], "R²")
    assert again.as_rows()[:2] == rows and again.chance.mean == 0.0 and again.test_share == 1.0


# -- sentences ------------------------------------------------------------------------------------
def judged(own, constant, **how):
    return verdict(Comparison("accuracy", {"m": own}, constant, 0.25), "m", **how)


def test_a_model_that_guesses_is_called_so():
    constant = scores(0.6, 0.6, 0.6, 0.6, 0.6)
    good = judged(scores(0.9, 0.95, 0.9, 0.85, 0.9), constant)
    assert good.better and good.sentence.startswith(
        "Better than guessing (always the largest class): accuracy"
    )
    worse = judged(scores(0.55, 0.6, 0.5, 0.6, 0.6), constant)
    assert not worse.better and worse.sentence.startswith("No better than guessing")
    unclear = judged(scores(0.5, 0.8, 0.7, 0.6, 0.55), constant)
    assert not unclear.better and unclear.sentence.startswith("Not clearly better than guessing")
    shown = judged(scores(0.8, 0.8, 0.75, 0.65, 0.65), constant)  # by the p-value that is shown, 0.06
    assert not shown.better and shown.sentence.startswith("Not clearly better than guessing")
    null = Permuted(0.63, [0.5, 0.7, 0.65] * 7)
    told = judged(scores(0.5, 0.8, 0.7, 0.6, 0.55), constant, permuted=null)
    assert not told.better and told.sentence.startswith("No better than guessing")
    assert "by 21 permutations of the target)" in told.sentence and told.sentence.count("p = ") == 1
    least = judged(scores(0.9, 0.95, 0.9, 0.85, 0.9), constant, permuted=Permuted(0.9, [0.5] * 19))
    assert "p = 0.05 by 19 permutations of the target). With 19 permutations p cannot be" in least.sentence
    assert least.sentence.endswith("(in Python n_permutations=199) can show a smaller p.")
    wide = judged(scores(0.95, 0.5, 0.9, 0.45, 0.9), constant, permuted=Permuted(0.74, [0.5] * 199))
    assert wide.better and "(95 % interval −" in wide.sentence
    assert "The interval contains 0 because scores vary from fold to fold." in wide.sentence
    assert "contains 0" not in least.sentence
    assert Permuted(0.9, [0.5] * 199).limit == "" and Permuted(0.9, [0.5, 0.95]).limit == ""
    assert judged(Scores([Fold(error="no")]), constant) is None


def test_the_p_value_of_permutations_is_never_zero():
    """Phipson and Smyth (2010): (1 + b)/(1 + m)."""
    assert Permuted(0.9, [0.5] * 19).p_value == pytest.approx(1 / 20)
    assert repr(Permuted(0.9, [0.5] * 18 + [0.4])).startswith(
        "Score 0.900, on permuted targets from 0.400 to 0.500: p = 0.05 by 19 permutations"
    )
    assert Permuted(0.5, [0.5] * 19).p_value == 1.0
    assert Permuted(0.6, [0.5, 0.7, 0.6, 0.1]).p_value == pytest.approx(3 / 5)


def test_a_difference_is_said_with_its_numbers():
    d = corrected_ttest([-0.1, -0.05, -0.02, -0.15, 0.005], 0.25)
    text = said("The model", "tuned SVC", d)
    assert text.startswith("The model is 0.063 below tuned SVC (95 % interval −") and "noise" not in text
    assert "ahead in 1 and behind in 4 of 5 folds), which may be chance." in text
    clear = said("a", "b", corrected_ttest([0.1, 0.11, 0.09, 0.1, 0.1], 0.25))
    assert clear.startswith("a is 0.100 above b") and "chance" not in clear
    even = said("a", "b", corrected_ttest([0.02, -0.02, 0.01, -0.01], 0.25))
    assert even.startswith("a and b differ by less than 0.0005 on average (95 % interval −")
    assert said("a", "b", corrected_ttest([0.0, 0.0], 1.0)) == "a and b have the same score in every fold."


def test_several_outputs_have_a_constant_too():
    Y = X[:, :2]
    splits = make_folds(Y, classes=False, cv=3)
    assert chance(Y, splits, task="regression").complete
    assert cross_validate({"": Ridge()}, X, Y, splits)[""].complete
