"""Views that some samples lack, on every road from samples to predictions."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    UFOMKLRegressor,
    bounds,
    load,
    save,
)
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import Subset, views
from manykernels.inspection import (
    certificate,
    explained_parts,
    importance,
    permutation_test,
    significance,
    weight_stability,
)
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.report import report_data

rng = np.random.RandomState(0)
N = 60
WHOLE = rng.standard_normal((N, 7))
TARGET = WHOLE[:, 0] + np.sin(WHOLE[:, 3]) + 0.1 * rng.standard_normal(N)
LABELS = np.where(TARGET > 0, "up", "down")
A = rng.uniform(size=N) < 0.6
B = (rng.uniform(size=N) < 0.7) | ~A
X = WHOLE.copy()
X[~A, :3], X[~B, 3:] = np.nan, np.nan
KERNELS = [
    OnColumns(Gaussian(2.0), [0, 1, 2], view="a"),
    OnColumns(Linear(), [0, 1, 2], view="a"),
    OnColumns(Gaussian(2.0), [3, 4, 5, 6], view="b"),
]
LINEAR = [OnColumns(Linear(), [0, 1, 2], view="a"), OnColumns(Linear(), [3, 4, 5, 6], view="b")]
TWO = views({"a": [0, 1, 2], "b": [3, 4, 5, 6]})
COUNTS = {"a": int(A.sum()), "b": int(B.sum())}


@pytest.mark.parametrize("center", [False, True])
def test_exact_and_approximate_kernels_and_stacks_agree(center):
    exact = MKLRegressor(KERNELS, C=3.0, tol=1e-8, center=center).fit(X, TARGET)
    f = exact.predict(X)
    assert exact.present_ == COUNTS and exact.dual_gap_ <= 1e-8
    np.testing.assert_allclose(exact.kernel_(X, exact.X_fit_) @ exact.dual_coef_ + exact.intercept_, f)
    np.testing.assert_allclose(exact.contributions(X).sum(axis=1) + exact.intercept_, f, atol=1e-10)
    with pytest.warns(UserWarning, match="more than"):
        features = MKLRegressor(KERNELS, C=3.0, tol=1e-8, center=center, approx=Nystroem(2 * N)).fit(
            X, TARGET
        )
    np.testing.assert_allclose(features.weights_, exact.weights_, atol=1e-3)
    np.testing.assert_allclose(features.predict(X), f, atol=1e-3)
    stack = np.stack([k.kernel(np.nan_to_num(X[:, k.columns])) for k in KERNELS], axis=2)
    for m, s in enumerate([A, A, B]):
        stack[~s, :, m] = stack[:, ~s, m] = np.nan
    given = MKLRegressor("precomputed", C=3.0, tol=1e-8, center=center).fit(stack, TARGET)
    np.testing.assert_allclose(given.weights_, exact.weights_, atol=1e-3)
    np.testing.assert_allclose(given.predict(stack[:9]), f[:9], atol=1e-3)


@pytest.mark.slow
def test_own_and_random_features_serve_absent_views():
    exact = MKLRegressor(LINEAR, C=3.0, tol=1e-6).fit(X, TARGET)
    own = MKLRegressor(LINEAR, C=3.0, tol=1e-6, approx="features").fit(X, TARGET)
    np.testing.assert_allclose(own.predict(X), exact.predict(X), atol=1e-3)
    drawn = MKLRegressor(KERNELS, C=3.0, approx=RandomFeatures(2000), random_state=0).fit(X, TARGET)
    np.testing.assert_allclose(
        drawn.predict(X), MKLRegressor(KERNELS, C=3.0).fit(X, TARGET).predict(X), atol=0.2
    )


@pytest.mark.parametrize("approx", [None, "features"])
def test_a_model_of_complete_samples_predicts_without_a_view(approx):
    model = MKLRegressor(LINEAR, C=3.0, approx=approx).fit(WHOLE, TARGET)
    new = WHOLE.copy()
    new[::2, 3:] = np.nan
    parts = model.contributions(WHOLE)
    b = list(model.active_).index(1)
    parts[::2, b] = parts[:, b].mean()  # as a sample has it on average
    np.testing.assert_allclose(model.predict(new), parts.sum(axis=1) + model.intercept_, atol=1e-8)
    np.testing.assert_allclose(model.predict(new[:1]), model.predict(new)[:1], atol=1e-8)


def test_groups_of_columns_and_their_coefficients():
    some = np.vstack([X, X[:, ::-1][:, [4, 5, 6, 0, 1, 2, 3]]])  # as many as group descent asks for
    y = np.concatenate([TARGET, -TARGET])
    groups = MKLRegressor(LINEAR, C=3.0, tol=1e-7, solver="group-descent").fit(some, y)
    exact = MKLRegressor(LINEAR, C=3.0, tol=1e-7, solver="active-set").fit(some, y)
    np.testing.assert_allclose(groups.predict(some), exact.predict(some), atol=1e-4)
    np.testing.assert_allclose(WHOLE @ exact.coef_ + exact.intercept_, exact.predict(WHOLE), atol=1e-8)


def test_what_looks_at_a_model_serves_absent_views():
    model = MKLRegressor(LINEAR, C=3.0).fit(X, TARGET)
    assert certificate(model, X, TARGET).certified
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no sample loses its last view
        found = importance(model, X, TARGET, cv=2, n_repeats=2, random_state=0)
    assert len(found.names) == 7 and found.views.names == ["a", "b"]
    three = [*LINEAR, OnColumns(Linear(), [3, 4], view="b")]
    stream = UFOMKLRegressor(three, approx="features", random_state=0).fit(X, TARGET)
    assert np.isfinite(stream.predict(X)).all()
    with pytest.raises(ValueError, match="some samples of X lack views, and bounds"):
        bounds.margin_bound(MKLClassifier(LINEAR).fit(X, LABELS), LABELS, accept_data_dependent=True)


def test_a_report_says_who_has_which_views():
    few = WHOLE.copy()
    few[6:, 3:] = np.nan
    section = report_data(MKLRegressor(LINEAR).fit(few, TARGET), few, TARGET)["data"]["presence"]
    assert section["views"] == ["a", "b"] and section["counts"] == [N, 6]
    assert section["patterns"][0] == {"has": [True, False], "samples": N - 6}
    assert section["remarks"] == [
        "Only 6 of 60 samples have 'b': its weight is learned from these alone, and says little about the "
        "others."
    ]
    whole = report_data(MKLRegressor(LINEAR).fit(WHOLE, TARGET), WHOLE, TARGET)
    assert "presence" not in whole["data"]


def test_views_by_the_names_of_columns():
    names = ["a__u", "a__v", "a__w", "b__c", "b__d", "b__e", "b__f"]
    assert MKLRegressor().fit(pd.DataFrame(X, columns=names), TARGET).present_ == COUNTS


def test_absence_itself_can_be_learned_from():
    absent = np.arange(N) % 2 == 0
    data = rng.standard_normal((N, 2))
    data[absent, 0] = np.nan
    model = MKLClassifier([OnColumns(Linear(), [0]), OnColumns(Linear(), [1])], C=100.0).fit(data, absent)
    assert model.score(data, absent) == 1.0


@pytest.mark.parametrize(
    "model",
    [AlignMKLClassifier(KERNELS), MKLClassifier(TWO), MKLClassifierCV(TWO, cv=2, refit=True)],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_serves_them(model, tmp_path):
    model.fit(X, LABELS)
    assert model.present_ == COUNTS
    assert model.score(X, LABELS) > 0.7
    save(model, tmp_path / "model.mkl")
    assert (load(tmp_path / "model.mkl").predict(X) == model.predict(X)).all()


def test_localized_learning_serves_them():
    model = LocalizedMKLRegressor(KERNELS, random_state=0).fit(X, TARGET)
    assert model.present_ == COUNTS and model.score(X, TARGET) > 0.3


def test_constants_come_from_the_samples_that_have_the_view():
    joined = MKLRegressor(TWO).fit(X, TARGET)
    alone = MKLRegressor(views({"a": [0, 1, 2]})).fit(X[A][:, :3], TARGET[A])
    a = [kernel for kernel in joined.kernels_ if kernel.view == "a"]
    for kernel, other in zip(a, alone.kernels_, strict=True):
        np.testing.assert_allclose(kernel.diag(X[A]), other.diag(X[A][:, :3]))


def test_frames_of_different_samples_are_matched_by_index():
    ids = np.array([f"p{i:03d}" for i in range(N)])
    a = pd.DataFrame(WHOLE[:, :3], index=ids, columns=list("uvw"))[A]
    b = pd.DataFrame(WHOLE[:, 3:], index=ids, columns=list("cdef"))[B].iloc[::-1]
    y = pd.Series(TARGET, index=ids)
    with pytest.warns(UserWarning, match=rf"'a' lacks {N - A.sum()}, 'b' lacks {N - B.sum()}.*order of y"):
        model = MKLRegressor().fit({"a": a, "b": b}, y)
    assert model.present_ == COUNTS
    new = {"a": a.reindex(ids), "b": b.reindex(ids)}
    table = MKLRegressor(TWO).fit(X, TARGET)
    np.testing.assert_allclose(model.predict(new), table.predict(X), atol=1e-6)
    with pytest.warns(UserWarning, match="order of 'a'"):
        found = model.predict({"a": a, "b": b})
    order = [*a.index, *b.index[~b.index.isin(a.index)]]
    np.testing.assert_allclose(found, model.predict({n: part.reindex(order) for n, part in new.items()}))
    given, least = {"a": a, "b": b}, {"cv": 2, "n_repeats": 1, "random_state": 0}
    for ask in (
        lambda X: model.score(X, y),
        lambda X: UFOMKLRegressor(random_state=0).fit(X, y).score(new, y),
        lambda X: AlignMKLRegressor().fit(X, y).score_alignment(X, y),
        lambda X: importance(model, X, y, max_columns=0, **least).views.mean,
        lambda X: weight_stability(model, X, y, n_resamples=2, random_state=0).mean,
        lambda X: explained_parts(model, X, y),
        lambda X: significance(model, X, y).p_value,
        lambda X: permutation_test(model, X, y, n_permutations=1, cv=2, random_state=0).score,
    ):  # the rows of X and y are the same samples wherever both are given
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(ask(given), ask(new), atol=1e-6)
    with pytest.raises(ValueError, match="every block of a stream"):
        UFOMKLRegressor().partial_fit(given, y)
    with pytest.raises(ValueError, match="'b' holds 'p059' twice"):
        MKLRegressor().fit({"a": a, "b": pd.concat([b, b.loc[["p059"]]])}, y)
    with pytest.warns(UserWarning), pytest.raises(ValueError, match=r"X holds 1 sample that y lacks.*'p059'"):
        MKLRegressor().fit({"a": a, "b": b}, y.iloc[:-1])
    with pytest.raises(ValueError, match="holds no label of the frames before it"):
        MKLRegressor().fit({"a": a, "b": b.set_axis([f"q{i}" for i in range(len(b))])}, y)
    with pytest.raises(ValueError, match="different numbers of samples"):
        MKLRegressor().fit({"a": a.reset_index(drop=True), "b": b.reset_index(drop=True)}, y)


def test_a_view_that_a_fold_lacks_has_no_weight_there():
    data = WHOLE.copy()
    data[5:, 3:] = np.nan
    for kernels in (TWO, Subset(TWO, ["a: Linear", "b: Linear"])):
        model = MKLRegressorCV(
            kernels, cv=[(np.arange(5, N), np.arange(5)), (np.arange(30), np.arange(30, N))]
        )
        model.fit(data, TARGET)
        assert model.present_ == {"a": N, "b": 5}


def test_a_view_that_nobody_has_and_a_sample_without_views_are_errors():
    data = X.copy()
    data[:, 3:] = np.nan
    with pytest.raises(ValueError, match=r"View 'b' is missing in all 60 samples"):
        MKLRegressor(KERNELS).fit(data, TARGET)
    data = X.copy()
    data[[4, 7]] = np.nan
    with pytest.raises(ValueError, match=r"2 samples of X lack every view \(rows 4, 7\)"):
        MKLRegressor(TWO).fit(data, TARGET)
    model = MKLRegressor(TWO).fit(X, TARGET)
    with pytest.warns(UserWarning, match=r"lack every view \(rows 4, 7\)"):
        f = model.predict(data)
    assert f[4] == pytest.approx(f[7])


def test_a_gap_in_a_view_is_an_error_for_kernels_that_read_numbers_and_is_filled_by_auto():
    data = X.copy()
    row = int(np.flatnonzero(A)[0])
    data[row, 1] = np.nan
    with pytest.raises(ValueError, match=rf"'x1' of X holds a missing value.*row {row}.*whole view"):
        MKLRegressor(KERNELS).fit(data, TARGET)
    model = MKLRegressor(TWO).fit(data, TARGET)
    assert model.present_ == COUNTS and np.isfinite(model.predict(data)).all()


def test_nan_in_a_part_of_a_layer_is_an_error():
    stack = np.stack([Linear()(WHOLE), Gaussian(2.0)(WHOLE)], axis=2)
    stack[2, :, 0] = stack[:, 2, 0] = np.nan
    model = MKLRegressor("precomputed").fit(stack, TARGET)
    assert model.present_ == {"kernel 0": N - 1, "kernel 1": N}
    bad = stack.copy()
    bad[3, 5, 0] = np.nan
    with pytest.raises(ValueError, match="kernel 'kernel 0' holds nan at row 3, column 5"):
        MKLRegressor("precomputed").fit(bad, TARGET)
    bad = stack.copy()
    bad[1, 2, 0] = 0.5
    with pytest.raises(ValueError, match=r"0.5 at \(1, 2\) of layer 0, whose row 2 is NaN"):
        MKLRegressor("precomputed").fit(bad, TARGET)
    bad = stack[:4].copy()
    bad[1, 5, 1] = np.nan
    with pytest.raises(ValueError, match=r"nan at \(1, 5\) of layer 1"):
        model.predict(bad)


@pytest.mark.parametrize("center", [False, True])
def test_classes_are_decided_alike_on_every_road(center):
    how = {"loss": "squared", "C": 3.0, "tol": 1e-8, "center": center}
    one_each = [KERNELS[0], KERNELS[2]]
    exact = MKLClassifier(one_each, **how).fit(X, LABELS)
    f = exact.decision_function(X)
    assert exact.dual_gap_ <= 1e-8 and certificate(exact, X, LABELS).certified
    np.testing.assert_allclose(exact.kernel_(X, exact.X_fit_) @ exact.dual_coef_ + exact.intercept_, f)
    np.testing.assert_allclose(exact.contributions(X).sum(axis=1) + exact.intercept_, f, atol=1e-10)
    np.testing.assert_allclose(exact.decision_function(X[4:5]), f[4:5], atol=1e-10)
    with pytest.warns(UserWarning, match="more than"):
        features = MKLClassifier(one_each, **how, approx=Nystroem(2 * N)).fit(X, LABELS)
    np.testing.assert_allclose(features.weights_, exact.weights_, atol=1e-3)
    np.testing.assert_allclose(features.decision_function(X), f, atol=1e-3)
    stack = np.stack([k.kernel(np.nan_to_num(X[:, k.columns])) for k in one_each], axis=2)
    for m, s in enumerate([A, B]):
        stack[~s, :, m] = stack[:, ~s, m] = np.nan
    given = MKLClassifier("precomputed", **how).fit(stack, LABELS)
    np.testing.assert_allclose(given.weights_, exact.weights_, atol=1e-3)
    np.testing.assert_allclose(given.decision_function(stack[:9]), f[:9], atol=1e-3)


def test_classes_by_features_blocks_and_files(tmp_path):
    exact = MKLClassifier(LINEAR, loss="logistic", C=3.0, tol=1e-7, solver="active-set").fit(X, LABELS)
    f = exact.decision_function(X)
    own = MKLClassifier(LINEAR, loss="logistic", C=3.0, tol=1e-7, approx="features").fit(X, LABELS)
    np.testing.assert_allclose(own.decision_function(X), f, atol=1e-3)
    groups = MKLClassifier(LINEAR, loss="logistic", C=3.0, tol=1e-7, solver="group-descent").fit(X, LABELS)
    np.testing.assert_allclose(groups.decision_function(X), f, atol=1e-3)
    hinge = MKLClassifier(KERNELS, C=3.0, tol=1e-6).fit(X, LABELS)
    few = MKLClassifier(KERNELS, C=3.0, tol=1e-6, memory_limit=30 * 8 * N * N).fit(X, LABELS)
    np.testing.assert_allclose(few.decision_function(X), hinge.decision_function(X), atol=1e-2)
    save(hinge, tmp_path / "m")
    assert np.array_equal(load(tmp_path / "m").decision_function(X), hinge.decision_function(X))
    alone = MKLClassifier(LINEAR, loss="squared", C=3.0).fit(WHOLE, LABELS)
    parts, new = alone.contributions(WHOLE), WHOLE.copy()
    new[:, 3:] = np.nan
    a = list(alone.active_).index(0)
    farther = parts.mean(axis=0).sum() + np.sqrt(2.0) * (parts[:, a] - parts[:, a].mean())
    np.testing.assert_allclose(alone.decision_function(new), farther + alone.intercept_, atol=1e-8)


@pytest.mark.parametrize("labels", [True, False])
def test_samples_in_an_array_that_is_used_again_are_read_anew(labels):
    model = (MKLClassifier if labels else MKLRegressor)(KERNELS).fit(X, LABELS if labels else TARGET)
    decide = model.decision_function if labels else model.predict
    block = X[:8].copy()
    decide(block)
    block[:] = WHOLE[20:28]
    block[3, 3:] = np.nan
    np.testing.assert_allclose(decide(block), decide(block.copy()), rtol=1e-12)


def test_views_that_no_new_sample_has_may_hold_missing_values_alone():
    parts = {"a": WHOLE[:, :3], "b": WHOLE[:, 3:]}
    model = MKLRegressor().fit(parts, TARGET)
    with pytest.raises(ValueError, match=r"lacks 'b'.* Where no sample has it, give it with missing values"):
        model.predict({"a": WHOLE[:5, :3]})
    assert np.isfinite(model.predict({"a": WHOLE[:5, :3], "b": np.full((5, 4), np.nan)})).all()
