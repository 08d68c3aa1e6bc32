"""Groups of samples in the folds of a search that is repeated within a fold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LassoCV, Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import MKLClassifierCV, MKLRegressorCV, MKLSurvivalCV, compare
from manykernels.comparison.folds import cross_validate, make_folds, times_of
from manykernels.comparison.grouped import keep_together
from manykernels.comparison.scores import score_fold
from manykernels.estimators import opened
from manykernels.inspection import importance, permutation_test
from manykernels.kernels import Gaussian
from manykernels.recordings import BlockFold
from manykernels.report import baselines
from manykernels.report.baselines import baseline_models

rng = np.random.default_rng(0)
GROUPS = np.tile(np.arange(30), 4)  # in no order, as rows of files often are
OWN = rng.normal(size=(30, 3))[GROUPS]
X = OWN + 1e-3 * rng.normal(size=OWN.shape)  # samples of one group are nearly equal
Y = OWN[:, 0] + rng.normal(size=30)[GROUPS]  # half of it can only be known from the same group
LABELS = np.where(Y > 0, "high", "low")
TWO = {"narrow": Gaussian(0.02), "wide": Gaussian(20.0)}


def search(cls=MKLRegressorCV, **more):
    """A search over a kernel that knows samples of the same group again, and one that does not."""
    single = [type(cls()._own(TWO))({name: kernel}) for name, kernel in TWO.items()]
    return cls(TWO, strategy=single, Cs=[1.0], **more)


def chosen(learner, X, y):
    return list(opened(learner).last.kernel_names_)


def within(learner, groups):
    """The kernels that a search chooses within each fold that keeps groups together."""
    splits = make_folds(Y, classes=False, cv=3, groups=GROUPS)
    found = cross_validate({"": learner}, X, Y, splits, groups=groups, keep={"": chosen})[""]
    assert not found.error
    return [fold.kept for fold in found.folds]


@pytest.mark.parametrize("cv", [None, 3, KFold(3, shuffle=True, random_state=0), GroupKFold(3)], ids=str)
def test_a_search_within_a_fold_does_not_choose_what_knows_the_group(cv):
    assert within(search(cv=cv), GROUPS) == [["wide"]] * 3
    assert within(make_pipeline(StandardScaler(), search(cv=cv)), GROUPS) == [["wide"]] * 3
    if not isinstance(cv, GroupKFold):
        assert within(search(cv=cv), None) == [["narrow"]] * 3  # which samples of the same group favour


CUTTERS = {
    "MKLClassifierCV": (MKLClassifierCV(), LABELS),
    "MKLSurvivalCV": (MKLSurvivalCV(), times_of(np.column_stack([rng.random(120) < 0.5, rng.random(120)]))),
    "GridSearchCV": (GridSearchCV(SVC(), {"C": [1.0, 10.0]}), LABELS),
    "pipeline in a pipeline": (make_pipeline(make_pipeline(StandardScaler(), LassoCV(cv=3))), Y),
    "leave one group out": (MKLRegressorCV(cv=LeaveOneGroupOut()), Y),
    "several outputs": (MKLRegressorCV(multi_output="own"), np.column_stack([Y, Y])),
}


@pytest.mark.parametrize("name", CUTTERS)
def test_folds_of_all_searches_hold_whole_groups(name):
    learner, y = CUTTERS[name]
    last = keep_together(learner, y, GROUPS)
    while opened(last).last is not last:
        last = opened(last).last
    scored = np.concatenate([test for _, test in last.cv])
    assert np.array_equal(np.sort(scored), np.arange(len(y)))
    for train, test in last.cv:
        assert not set(GROUPS[train]) & set(GROUPS[test])


@pytest.mark.parametrize("cv", ["loo", TimeSeriesSplit(3), [(np.arange(60), np.arange(60, 120))]], ids=str)
def test_folds_of_another_kind_stay(cv):
    assert keep_together(MKLRegressorCV(cv=cv), Y, GROUPS).cv is cv


def test_learners_without_folds_and_samples_without_groups_stay():
    assert keep_together(Ridge(), Y, GROUPS).get_params() == Ridge().get_params()
    assert keep_together(MKLRegressorCV(cv=3), Y, None).cv == 3


def test_too_few_groups_are_told_and_the_fold_is_scored():
    few = np.where(LABELS == "high", "a", "b")  # a group for each class: none can be held out
    fold = score_fold(search(MKLClassifierCV), X, LABELS, *[np.arange(120)] * 2, groups=few)
    assert not fold.error
    assert any("chose by folds of single samples" in text for text in fold.warnings)


@pytest.fixture
def cut(monkeypatch):
    """The pairs of targets to learn from and to score, of every search that is fitted."""
    seen, plain = [], MKLRegressorCV._compare

    def recorded(self, X, y, *others):
        seen.extend((np.asarray(y)[train], np.asarray(y)[test]) for train, test in self.cv)
        return plain(self, X, y, *others)

    monkeypatch.setattr(MKLRegressorCV, "_compare", recorded)
    return seen


def _apart(cut):
    """Whether no group (each has a target of its own) is on both sides of a fold."""
    return bool(cut) and not any(set(train) & set(test) for train, test in cut)


CALLS = {
    "compare": lambda: compare({"search": search()}, X, Y, cv=2, groups=GROUPS),
    "permutation_test": lambda: permutation_test(search(), X, Y, cv=2, groups=GROUPS, n_permutations=1),
    "importance": lambda: importance(
        search(), X, Y, cv=2, sample_groups=GROUPS, n_repeats=1, searched="anew"
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_that_take_groups_hand_them_to_searches(cut, name):
    CALLS[name]()
    assert _apart(cut)


def test_models_that_a_report_compares_with_keep_groups_together():
    fitted = search(cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    for one in baseline_models(fitted, X).values():
        keep_together(one, Y, GROUPS)
        assert isinstance(opened(one).last.cv, list)
    with pytest.raises(ValueError, match="Give sample_groups="):
        baselines(fitted, X, Y)
    rows = baselines(fitted, X, Y, sample_groups=pd.Series(GROUPS % 3, index=[f"r{i}" for i in range(120)]))
    assert len(rows[0]["folds"]) == 3  # as many as groups


SINGLE = [ShuffleSplit(3), RepeatedKFold(n_splits=3, n_repeats=2), StratifiedShuffleSplit(3), LeaveOneOut()]


@pytest.mark.parametrize("cv", [*SINGLE, KFold(3)], ids=str)
def test_splitters_of_single_samples_are_replaced(cv):
    for train, test in keep_together(MKLRegressorCV(cv=cv), Y, GROUPS).cv:
        assert not set(GROUPS[train]) & set(GROUPS[test])


def test_splitters_of_other_packages_get_the_groups():
    class Needy:
        def split(self, X, y=None, groups=None):
            if groups is None:
                raise ValueError("The 'groups' parameter should not be None.")
            yield np.flatnonzero(groups < 20), np.flatnonzero(groups >= 20)

    ((train, test),) = keep_together(MKLRegressorCV(cv=Needy()), Y, GROUPS).cv
    assert set(GROUPS[train]) == set(range(20)) and set(GROUPS[test]) == set(range(20, 30))
    runs = np.repeat([0, 1], 60)
    folds = keep_together(MKLRegressorCV(cv=BlockFold(2, gap=3)), Y, runs).cv
    expected = list(BlockFold(2, gap=3).split(X, Y, runs))
    assert all(np.array_equal(a[0], b[0]) for a, b in zip(folds, expected, strict=True))


def test_a_splitter_of_other_packages_that_fails_stays_and_says_so():
    class Broken:
        def split(self, X, y=None, groups=None):
            raise ValueError("no folds on Mondays")

    cv = Broken()
    assert keep_together(MKLRegressorCV(cv=cv), Y, GROUPS).cv is cv


def test_fewer_groups_or_members_than_folds_make_fewer_folds():
    few = GROUPS % 4
    assert len(keep_together(MKLRegressorCV(cv=GroupKFold(5)), Y, few).cv) == 4
    labels = np.repeat(list("abcd"), 3)
    assert len(keep_together(MKLClassifierCV(cv=5), labels, np.arange(12)).cv) == 3


def test_a_ridge_that_keeps_what_it_left_out_stays():
    model = RidgeCV(store_cv_results=True)
    assert keep_together(model, Y, GROUPS).cv is None


def test_many_times_to_an_event_are_thinned_as_without_groups():
    rng = np.random.default_rng(0)
    times = times_of(np.column_stack([rng.random(2000) < 0.5, rng.random(2000)]))
    folds = keep_together(MKLSurvivalCV(), times, np.arange(2000) // 4).cv
    assert {train.size for train, _ in folds} == {1000}


@pytest.mark.parametrize("gap", [None, np.nan])
def test_samples_without_a_group_are_named(gap):
    labels = np.array([*map(str, GROUPS)], dtype=object)
    labels[7] = gap
    with pytest.raises(ValueError, match="no label for 1 sample, the first in row 7"):
        compare({"ridge": Ridge()}, X, Y, groups=labels)


def test_groups_of_a_wrong_length_are_refused():
    with pytest.raises(ValueError, match=r"groups of shape \(119,\) .* expected a label for each of 120"):
        cross_validate({"": Ridge()}, X, Y, [(np.arange(60), np.arange(60, 120))], groups=GROUPS[1:])
