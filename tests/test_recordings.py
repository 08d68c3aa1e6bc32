"""Delays within runs, and folds that keep a distance."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator, parametrize_with_checks

from manykernels import MKLRegressor, MKLRegressorCV, load, save
from manykernels.families import views
from manykernels.kernels import Linear
from manykernels.recordings import BlockFold, Delayer, run_labels

rng = np.random.RandomState(0)
X = rng.randn(60, 3)
RUNS = run_labels(60, [10, 20, 30])
ROWS = "a row depends on the rows before it: that is what a delay is"


def delayed(X, runs, delays, fill=0.0):
    """Row by row, as the docstring says it."""
    found = np.full((len(X), X.shape[1] * len(delays)), fill)
    for i in range(len(X)):
        for j in range(X.shape[1]):
            for k, delay in enumerate(delays):
                if 0 <= i - delay < len(X) and runs[i - delay] == runs[i]:
                    found[i, j * len(delays) + k] = X[i - delay, j]
    return found


# -- delays ------------------------------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore:.*no more rows than the largest delay")
def test_scikit_learns_checks_hold_but_those_that_take_rows_apart():
    apart = ("check_methods_subset_invariance", "check_methods_sample_order_invariance")
    told = check_estimator(Delayer(), expected_failed_checks=dict.fromkeys(apart, ROWS), on_skip=None)
    assert {check["check_name"] for check in told if check["status"] == "xfail"} == set(apart)


@parametrize_with_checks([Delayer([0])])
def test_without_a_lag_all_checks_hold(estimator, check):
    check(estimator)


@pytest.mark.parametrize("delays", [(1, 2, 3, 4), [0], (0, -1, 5), range(1, 3), np.array([2, 7])])
@pytest.mark.parametrize("fill", [0.0, -1.5])
def test_copies_come_from_the_same_run(delays, fill):
    found = Delayer(delays, fill=fill).fit_transform(X, groups=RUNS)
    np.testing.assert_array_equal(found, delayed(X, RUNS, list(delays), fill))


def test_without_runs_all_rows_are_one():
    np.testing.assert_array_equal(Delayer([2]).fit_transform(X), delayed(X, np.zeros(60), [2]))


def test_no_row_leaks_over_the_border_of_a_run():
    changed = X.copy()
    changed[RUNS == 1] += 100.0
    before, after = (Delayer((1, -2)).fit_transform(Z, groups=RUNS) for Z in (X, changed))
    np.testing.assert_array_equal(before[RUNS != 1], after[RUNS != 1])


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, lambda columns: pl.DataFrame(columns)], ids=["pandas", "polars"]
)
def test_the_run_may_be_a_column_and_names_are_kept(frame):
    table = frame({"a__x": X[:, 0], "run": [f"run {k}" for k in RUNS], "b__x": X[:, 1]})
    delayer = Delayer((1, -1), runs="run").fit(table)
    np.testing.assert_array_equal(delayer.transform(table), delayed(X[:, :2], RUNS, [1, -1]))
    names = ["a__x_lag1", "a__x_lead1", "b__x_lag1", "b__x_lead1"]
    assert list(delayer.get_feature_names_out()) == names
    found = delayer.set_output(transform="pandas").fit_transform(table)
    assert list(found.columns) == names


def test_the_run_may_be_a_column_by_position():
    Z = np.column_stack([RUNS, X])
    expected = delayed(X, RUNS, [1, 2])
    for position in (0, -4):
        delayer = Delayer((1, 2), runs=position)
        np.testing.assert_array_equal(delayer.fit_transform(Z), expected)
        assert list(delayer.get_feature_names_out())[:2] == ["x1_lag1", "x1_lag2"]
    np.testing.assert_array_equal(Delayer((1, 2), runs=0).fit_transform(Z.tolist()), expected)


def test_single_precision_stays_single():
    assert Delayer([1]).fit_transform(X.astype(np.float32)).dtype == np.float32


def test_in_a_pipeline_folds_of_whole_runs_are_as_if_delayed_before():
    """With the run as a column, and with runs routed as groups."""
    y = X[:, 0] + rng.randn(60)
    before = cross_val_score(
        Ridge(), Delayer((0, 1, 2)).fit_transform(X, groups=RUNS), y, groups=RUNS, cv=LeaveOneGroupOut()
    )
    column = make_pipeline(Delayer((0, 1, 2), runs=3), Ridge())
    within = cross_val_score(column, np.column_stack([X, RUNS]), y, groups=RUNS, cv=LeaveOneGroupOut())
    np.testing.assert_allclose(within, before, atol=1e-12)
    with sklearn.config_context(enable_metadata_routing=True):
        delayer = Delayer((0, 1, 2)).set_fit_request(groups=True).set_transform_request(groups=True)
        routed = make_pipeline(delayer, Ridge())
        scores = [
            clone(routed).fit(X[a], y[a], groups=RUNS[a]).score(X[b], y[b], groups=RUNS[b])
            for a, b in LeaveOneGroupOut().split(X, y, RUNS)
        ]
    np.testing.assert_allclose(scores, before, atol=1e-12)


def test_runs_shorter_than_a_delay_are_named():
    with pytest.warns(UserWarning, match=r"1 of 3 runs have no more rows than the largest delay, 10.*run 0"):
        Delayer((1, 10)).fit_transform(X, groups=RUNS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Delayer((1, 9)).fit_transform(X, groups=RUNS)


@pytest.mark.parametrize("delays", [4, (), (1, 1), (1.5,), ("a",), None])
def test_what_is_no_list_of_delays_is_refused(delays):
    with pytest.raises(ValueError, match=r"delays=.*expected a list of different whole numbers"):
        Delayer(delays).fit(X)


def test_wrong_runs_are_refused():
    with pytest.raises(ValueError, match="run 0 comes back at row 3, after run 1"):
        Delayer([1]).fit_transform(X[:4], groups=[0, 0, 1, 0])
    with pytest.raises(ValueError, match="missing labels"):
        Delayer([1]).fit_transform(X[:2], groups=[0.0, np.nan])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        Delayer([1]).fit_transform(X, groups=RUNS[:-1])
    with pytest.raises(ValueError, match="give one"):
        Delayer([1], runs=0).fit_transform(X, groups=RUNS)
    with pytest.raises(ValueError, match="runs='run' was given, and X has no names"):
        Delayer([1], runs="run").fit(X)
    with pytest.raises(ValueError, match="runs=3 was given; expected a column of X"):
        Delayer([1], runs=3).fit(X)
    with pytest.raises(ValueError, match=r"runs=array.*Give labels of the rows as groups"):
        Delayer([1], runs=RUNS).fit(X)
    with pytest.raises(ValueError, match="fill='x' was given; expected a number"):
        Delayer([1], fill="x").fit(X)


# -- runs --------------------------------------------------------------------------------------------
def test_runs_that_do_not_divide_are_told():
    with pytest.raises(ValueError, match="1003 samples are no whole number of runs of 100: 3 are left over"):
        run_labels(1003, 100)
    with pytest.raises(ValueError, match="the 2 runs have 900 samples together, and there are 1003"):
        run_labels(1003, [400, 500])
    for wrong in (0, -1, 1.5, "ten", [], [5, 0], None):
        with pytest.raises(ValueError, match="expected the length of every run"):
            run_labels(10, wrong)
    np.testing.assert_array_equal(run_labels(5, np.array([2, 3])), [0, 0, 1, 1, 1])


# -- folds -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("n", "splits", "gap"), [(7, 3, 1), (60, 5, 0), (61, 4, 6), (10, 2, 4)])
def test_blocks_cover_all_samples_and_keep_their_distance(n, splits, gap):
    folds = list(BlockFold(splits, gap=gap).split(np.zeros((n, 1))))
    assert len(folds) == BlockFold(splits).get_n_splits() == splits
    np.testing.assert_array_equal(np.concatenate([test for _, test in folds]), np.arange(n))
    for train, test in folds:
        assert np.ptp(test) == test.size - 1
        distance = np.abs(train[:, None] - test).min(axis=1)
        assert distance.min() == gap + 1 or train.size == 0
        assert train.size == n - test.size - np.sum((test[0] > 0, test[-1] < n - 1)) * gap
    sizes = [test.size for _, test in folds]
    assert max(sizes) - min(sizes) <= 1


def test_a_gap_ends_with_its_run():
    folds = list(BlockFold(3, gap=4).split(X, groups=RUNS))
    np.testing.assert_array_equal(folds[0][1], np.arange(20))
    np.testing.assert_array_equal(folds[0][0], np.arange(24, 60))  # rows 20 to 23 are of run 1, as row 19 is
    np.testing.assert_array_equal(folds[1][0], np.r_[0:16, 44:60])
    by_runs = list(BlockFold(2, gap=4).split(X, groups=run_labels(60, 30)))
    np.testing.assert_array_equal(by_runs[0][0], np.arange(30, 60))


def test_what_cannot_be_cut_is_told():
    with pytest.raises(ValueError, match="X holds 3 samples, and n_splits=5 was given"):
        list(BlockFold().split(X[:3]))
    with pytest.raises(ValueError, match=r"nothing is left to learn from in fold 0.*gap=40"):
        list(BlockFold(3, gap=40).split(X))
    with pytest.raises(ValueError, match="n_splits=1 was given"):
        list(BlockFold(1).split(X))
    with pytest.raises(ValueError, match="gap=-1 was given"):
        list(BlockFold(gap=-1).split(X))


BANDS = views({"one": ([0], Linear()), "two": ([1, 2], Linear())})


@pytest.mark.parametrize("cv", [GroupKFold(3), LeaveOneGroupOut(), BlockFold(4, gap=2)], ids=repr)
def test_searches_learn_in_the_folds_that_they_are_given(cv):
    """The same choice as from the splits themselves, handed over one by one."""
    y = X[:, 0] + 0.5 * rng.randn(60)
    options = {"strategy": "finite", "norms": (2.0,), "Cs": [0.1, 1.0]}
    found = MKLRegressorCV(BANDS, cv=cv, **options).fit(X, y, groups=RUNS)
    again = MKLRegressorCV(BANDS, cv=list(cv.split(X, y, RUNS)), **options).fit(X, y)
    assert found.best_params_ == again.best_params_
    assert found.best_score_ == pytest.approx(again.best_score_, abs=1e-12)
    np.testing.assert_allclose(found.predict(X), again.predict(X), atol=1e-12)
    grid = GridSearchCV(MKLRegressor(BANDS, norm=2.0), {"C": [0.1, 1.0]}, cv=cv).fit(X, y, groups=RUNS)
    assert len([key for key in grid.cv_results_ if key.startswith("split")]) == cv.get_n_splits(X, y, RUNS)


def test_neighbours_that_resemble_each_other_deceive_shuffled_folds():
    """Targets that drift, features that are noise which drifts: only blocks see that there is nothing."""
    draw = np.random.RandomState(3)
    drift = np.cumsum(draw.randn(300, 6), axis=0)
    Z, y = drift[:, :5], drift[:, 5]
    options = {"strategy": "finite", "norms": (2.0,), "Cs": [100.0]}
    kernels = {"all": Linear()}
    shuffled = MKLRegressorCV(kernels, **options).fit(Z, y).best_score_
    blocks = MKLRegressorCV(kernels, cv=BlockFold(5, gap=20), **options).fit(Z, y).best_score_
    assert shuffled > 0.2 and blocks < 0.0


def test_a_pipeline_with_delays_is_saved_and_loaded(tmp_path):
    Z, y = np.column_stack([X, RUNS]), X[:, 0]
    model = make_pipeline(Delayer((0, 1), runs=3), MKLRegressor({"all": Linear()})).fit(Z, y)
    save(model, tmp_path / "model.mk")
    np.testing.assert_allclose(load(tmp_path / "model.mk").predict(Z), model.predict(Z), atol=1e-12)
