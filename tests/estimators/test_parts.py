"""Samples in parts: a dict of views, and a dict or a list of kernel matrices, for every estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.times import times

import manykernels
from manykernels import (
    AlignMKLClassifier,
    HierarchicalMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    UFOMKLClassifier,
)
from manykernels.approx import RandomFeatures
from manykernels.families import Products, from_distances, gaussian_grid, views
from manykernels.fitting.stacks import name_layers
from manykernels.inspection import (
    certificate,
    importance,
    permutation_test,
    significance,
    weight_stability,
)
from manykernels.kernels import Gaussian, Linear, Spectrum
from manykernels.persistence import load, save
from manykernels.plots import ContributionDisplay
from manykernels.report import baselines, report_data

RNG = np.random.RandomState(0)
A, B = RNG.randn(40, 3), RNG.rand(40, 4)
Y = A[:, 0] + B[:, 1]
LABELS = np.where(A[:, 0] + B[:, 0] ** 2 > 0.5, "yes", "no")
IDS = [f"p{i}" for i in range(40)]
CLINICAL = pd.DataFrame(A, IDS, ["age", "bmi", "bp"]).assign(sex=RNG.choice(["f", "m"], 40))
GENES = pd.DataFrame(B, IDS, ["g1", "g2", "age", "g4"])
K = {"gene": Gaussian(2.0)(A), "image": Gaussian(1.0)(B)}
NEW = {"image": Gaussian(1.0)(B[:5] + 0.1, B), "gene": Gaussian(2.0)(A[:5] + 0.1, A)}
PERM = np.random.RandomState(1).permutation(40)
FACES = [name for name in manykernels.__all__ if isinstance(getattr(manykernels, name), type)]


def said(model, X):
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def target(name):
    return times(Y) if "Survival" in name else Y if "Regressor" in name else LABELS


# -- views ----------------------------------------------------------------------------------------
def test_a_dict_of_views_is_what_views_makes_of_one_table():
    model = MKLClassifier().fit({"a": A, "b": B}, LABELS)
    whole = np.hstack([A, B])
    reference = MKLClassifier(views({"a": slice(0, 3), "b": slice(3, 7)})).fit(whole, LABELS)
    assert model.kernel_names_ == reference.kernel_names_ and model.n_features_in_ == 7
    assert model.view_weights_ == reference.view_weights_ and set(model.view_weights_) == {"a", "b"}
    np.testing.assert_array_equal(
        model.decision_function({"b": B[:9], "a": A[:9]}), reference.decision_function(whole[:9])
    )
    np.testing.assert_array_equal(model.contributions({"a": A, "b": B}, by="view").shape, (40, 2))
    assert certificate(model, {"b": B, "a": A}, LABELS).gap <= model.tol


@pytest.mark.parametrize("name", [name for name in FACES if not name.startswith("Hierarchical")])
def test_every_estimator_takes_views_and_matrices(name):
    face = getattr(manykernels, name)
    model = face([Linear(), Gaussian(2.0)]).fit({"a": A, "b": B}, target(name))
    assert set(model.view_weights_) <= {"a", "b"}
    new = {"b": B[:5], "a": A[:5]}
    np.testing.assert_array_equal(said(model, new), said(model, {"a": A[:5], "b": B[:5]}))
    given = {**K, "both": K["gene"] * K["image"]}  # UFO warns of fewer than three
    model = face("precomputed").fit(given, target(name))
    assert set(model.kernel_names_) <= set(given)
    assert len(said(model, {**NEW, "both": NEW["gene"] * NEW["image"]})) == 5


def test_kernels_go_to_views_by_name():
    words = ["".join(RNG.choice(list("acgt"), 8)) for _ in range(40)]
    X = {"table": A, "text": words}
    model = MKLClassifier({"text": Spectrum(2), "table": [Linear(), lambda x, y: float(x @ y) ** 2]})
    model.fit(X, LABELS)
    assert model.kernel_names_ == ["table: Linear", "table: function", "text: Spectrum(k=2)"]
    same = {"text": pd.Series(words), "table": A}
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(same))
    grid = MKLClassifier(gaussian_grid(0.1, 10, 3)).fit({"a": A, "b": B}, LABELS)
    assert len(grid.kernel_names_) == 6
    with pytest.raises(ValueError, match="the views of X are 'table', 'text'"):
        MKLClassifier({"text": Spectrum(2)}).fit(X, LABELS)
    with pytest.raises(ValueError, match=r"kernels=views\(...\) was given"):
        MKLClassifier(views({"a": [0]})).fit({"a": A}, LABELS)
    with pytest.raises(ValueError, match="for view 'a'; expected a kernel"):
        MKLClassifier(3.0).fit({"a": A}, LABELS)


def test_families_that_are_more_than_lists_take_all_columns():
    X = {"a": A, "b": B}
    assert any("a__x0" in name for name in MKLRegressor(Products(degree=2)).fit(X, Y).kernel_names_)
    assert any("a__x0" in name for name in HierarchicalMKLRegressor().fit(X, Y).kernel_names_)


@pytest.mark.parametrize("polars", [False, True])
def test_frames_are_read_by_the_names_of_their_columns(polars):
    def frame(data):
        return pl.DataFrame(data.to_dict("list")) if polars else data

    X = {"clinical": frame(CLINICAL), "genes": frame(GENES), "array": B}
    model = MKLClassifier().fit(X, LABELS)
    assert "clinical__age" in model.feature_names_in_ and "bmi" in model.feature_names_in_
    other = {"array": B, "genes": frame(GENES[["age", "g4", "g2", "g1"]]), "clinical": frame(CLINICAL)}
    np.testing.assert_array_equal(model.decision_function(other), model.decision_function(X))
    with pytest.raises(ValueError, match="View 'genes' of X lacks the column 'g1'"):
        model.predict({**X, "genes": frame(GENES[["age", "g2", "g4"]])})
    with pytest.raises(ValueError, match="4 columns there, a frame with their names"):
        model.predict({**X, "genes": B})


def test_frames_are_matched_by_their_index_and_that_is_said():
    numbers = CLINICAL.drop(columns="sex")
    X = {"clinical": numbers, "genes": GENES}
    model = MKLClassifier().fit(X, LABELS)
    mixed = {"clinical": numbers, "genes": GENES.iloc[PERM]}
    with pytest.warns(UserWarning, match="rows of 'genes' were put in the order of 'clinical'"):
        again = MKLClassifier().fit(mixed, LABELS)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.warns(UserWarning, match="were put in the order"):
        search = MKLClassifierCV(Linear(), cv=3, strategy=["aligned"]).fit(mixed, LABELS)
    reference = MKLClassifierCV(Linear(), cv=3, strategy=["aligned"]).fit(X, LABELS)
    np.testing.assert_allclose(search.decision_function(X), reference.decision_function(X))
    with pytest.raises(ValueError, match="'p0' is missing in 'genes'"):
        MKLClassifier().fit({**X, "genes": GENES.reset_index(drop=True)}, LABELS)
    with pytest.raises(ValueError, match="holds 'q' twice"):
        MKLClassifier().fit({**X, "genes": GENES.set_axis(["q"] * 40)}, LABELS)
    with pytest.raises(ValueError, match=r"give y.loc\[X\['clinical'\].index\]"):
        MKLClassifier().fit(X, pd.Series(LABELS, IDS).iloc[PERM])
    assert MKLClassifier().fit(X, pd.Series(LABELS, IDS)).predict(X).shape == (40,)


def test_sparse_views():
    S = sparse.random(40, 30, 0.2, random_state=0, format="csc")
    X = {"text": S, "genes": GENES}
    model = MKLClassifier().fit(X, LABELS)
    assert sparse.issparse(model.X_fit_) and set(model.view_weights_) == {"text", "genes"}
    np.testing.assert_allclose(
        model.decision_function({"text": S.toarray(), "genes": GENES}), model.decision_function(X)
    )
    with pytest.raises(ValueError, match="View 'clinical' of X does not hold numbers"):
        MKLClassifier().fit({"text": S, "clinical": CLINICAL}, LABELS)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({}, "dict with nothing as keys"),
        ({0: A}, "dict with 0 as keys"),
        ({"a": A, "b": B[:30]}, "'a' has 40, 'b' has 30"),
        ({"a": A.reshape(40, 3, 1)}, r"Give it as X\['a'\].reshape\(40, -1\)"),
        ({"a": A[:, :0]}, r"shape \(40, 0\)"),
        ({"a": "text"}, "is of type str"),
        ({"a": {"b": A}}, "is of type dict"),
        ({"a": [[1.0], [2.0, 3.0]]}, "could not be read as a matrix"),
        ({"a": GENES.set_axis(["g"] * 4, axis=1)}, "several columns called 'g'"),
        ({"a": GENES, "b": pl.DataFrame(B)}, "pandas and of polars"),
        ([A, B], "as a dict, {name: matrix}"),
        ({"a": np.where(A > 2, np.nan, A)}, "NaN"),
    ],
)
def test_what_is_wrong_with_views_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(Linear()).fit(X, LABELS)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"a": A}, "X lacks 'b'; the model was fitted on the views 'a', 'b'"),
        ({"a": A, "c": B}, "X lacks 'b' and also holds 'c'"),
        ({"a": A, "b": B[:, :2]}, r"View 'b' of X has shape \(40, 2\)"),
        ({"a": A, "b": B[:, 0]}, r"View 'b' of X has shape \(40,\)"),
        (A, "X has 3 features"),
    ],
)
def test_what_is_wrong_with_new_views_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(Linear()).fit({"a": A, "b": B}, LABELS).predict(X)


def test_models_of_one_piece_refuse_a_dict():
    with pytest.raises(ValueError, match="fitted on samples in one piece"):
        MKLClassifier().fit(A, LABELS).predict({"a": A})


def test_searches_streams_and_files_keep_the_views(tmp_path):
    X = {"a": GENES, "b": B}
    search = MKLRegressorCV([Linear(), Gaussian(1.0)], cv=3).fit(X, Y)
    assert set(search.view_weights_) <= {"a", "b"} and list(search.comparison_["strategy"]) == ["finite"]
    weighted = clone(search).fit(X, Y, sample_weight=np.arange(40) % 3)
    assert weighted.predict({"b": B[:4], "a": GENES[:4]}).shape == (4,)
    sums = MKLRegressorCV(approx=RandomFeatures(20), cv=3).fit({"a": A, "b": B}, Y)
    assert set(sums.view_weights_) == {"a", "b"}
    stream = UFOMKLClassifier(Gaussian(1.0)).partial_fit(
        {"a": A, "b": B, "c": A + 1}, LABELS, classes=["no", "yes"]
    )
    assert stream.partial_fit({"c": A + 1, "b": B, "a": A}, LABELS).predict(
        {"a": A, "b": B, "c": A}
    ).shape == (40,)
    save(search, tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(search))):
        np.testing.assert_allclose(other.predict(X), search.predict(X))


# -- matrices -------------------------------------------------------------------------------------
def test_matrices_without_names_come_in_order():
    model = MKLClassifier("precomputed").fit(list(K.values()), LABELS)
    named = MKLClassifier("precomputed").fit(K, LABELS)
    assert model.kernel_names_ == ["kernel 0", "kernel 1"] and named.kernel_names_ == ["gene", "image"]
    new = [NEW["gene"], NEW["image"]]
    np.testing.assert_allclose(model.decision_function(new), named.decision_function(NEW), rtol=1e-6)
    stack = MKLClassifier("precomputed").fit(np.stack(list(K.values())).transpose(1, 2, 0), LABELS)
    given = np.stack(new, axis=2)
    np.testing.assert_allclose(stack.decision_function(given), named.decision_function(NEW), rtol=1e-6)
    np.testing.assert_array_equal(named.decision_function(given), named.decision_function(NEW))
    search = MKLClassifierCV("precomputed", cv=3).fit(list(K.values()), LABELS)
    assert search.predict([NEW["gene"], NEW["image"]]).shape == (5,)


def test_one_matrix_is_not_copied():
    X, layers = name_layers({"gene": K["gene"]})
    assert layers.names == ("gene",) and np.shares_memory(X, K["gene"])
    several, _ = name_layers(K)
    assert several.transpose(2, 0, 1).flags.c_contiguous  # as the engine takes it, without another copy


def test_distances_have_the_names_of_their_layers():
    D = {name: -np.log(matrix) for name, matrix in K.items()}
    model = MKLClassifier(from_distances([0.5, 1.0])).fit(D, LABELS)
    assert model.kernel_names_ == ["gene: γ=0.5", "gene: γ=1", "image: γ=0.5", "image: γ=1"]


def test_searches_cut_matrices_in_rows_and_columns():
    for strategy in ("finite", ["finite", "aligned"]):
        model = MKLClassifierCV("precomputed", cv=3, strategy=strategy).fit(K, LABELS)
        assert set(model.kernel_names_) <= set(K) and model.predict(NEW).shape == (5,)
    aligned = AlignMKLClassifier("precomputed").fit(K, LABELS)
    assert aligned.score_alignment(K, LABELS) == pytest.approx(aligned.alignment_)


def test_matrices_in_frames_are_matched_by_their_labels():
    frames = {name: pd.DataFrame(matrix, IDS, IDS) for name, matrix in K.items()}
    mixed = {**frames, "image": frames["image"].iloc[PERM, PERM]}
    reference = MKLClassifier("precomputed").fit(K, LABELS)
    with pytest.warns(UserWarning, match="'image'"):
        model = MKLClassifier("precomputed").fit(mixed, LABELS)
    new = {"gene": pd.DataFrame(NEW["gene"], columns=IDS), "image": pd.DataFrame(NEW["image"], columns=IDS)}
    np.testing.assert_allclose(model.decision_function(new), reference.decision_function(NEW))
    with pytest.warns(UserWarning, match="columns of matrix 'image'"):
        shuffled = model.decision_function({**new, "image": new["image"].iloc[:, PERM]})
    np.testing.assert_allclose(shuffled, reference.decision_function(NEW))
    with pytest.raises(ValueError, match="columns of matrix 'gene' of X are not the training samples"):
        model.predict({**new, "gene": new["gene"].rename(columns={"p3": "q"})})
    with pytest.warns(UserWarning, match="'image'"):
        search = MKLClassifierCV("precomputed", cv=3, strategy=["aligned"]).fit(mixed, LABELS)
    assert search.predict(NEW).shape == (5,)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ({"a": A}, "If these are features, give kernels='auto'"),
        ([K["gene"], B], "Matrix '1' of X has shape"),
        ({"a": K["gene"], "b": K["gene"][:30, :30]}, "'a' has 40, 'b' has 30"),
        ({"a": K["gene"] + np.triu(K["gene"])}, "kernel 'a' is not symmetric"),
        ({"a": np.where(K["gene"] == 1, np.nan, K["gene"])}, "kernel 'a' holds nan"),
        ({"a": sparse.csr_matrix(K["gene"])}, "Matrix 'a' of X is a sparse matrix"),
        ({0: K["gene"]}, "expected names"),
        ({"a": Y}, r"Matrix 'a' of X has shape \(40,\)"),
    ],
)
def test_what_is_wrong_with_matrices_is_said(X, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier("precomputed").fit(X, LABELS)


def test_what_is_wrong_with_new_matrices_is_said():
    model = MKLClassifier("precomputed").fit(K, LABELS)
    with pytest.raises(ValueError, match="X lacks 'image'; the model was fitted on the matrices"):
        model.predict({"gene": NEW["gene"]})
    with pytest.raises(ValueError, match=r"expected \(n_samples, 40, 2\)"):
        model.predict({name: matrix[:, :7] for name, matrix in NEW.items()})
    with pytest.raises(ValueError, match="in one piece"):
        MKLClassifier("precomputed").fit(list(K.values()), LABELS).predict(NEW)


def test_kernels_that_are_given_as_features_are_noticed():
    with pytest.warns(UserWarning, match="if they are kernels, give kernels='precomputed'"):
        MKLClassifier(Linear()).fit(K, LABELS)


# -- what is told of such models ------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["views", "matrices"])
def test_reports_stability_and_importance_take_the_same_dict(kind):
    X = {"a": CLINICAL[["age", "bmi"]], "b": B} if kind == "views" else K
    model = MKLClassifier([Linear(), Gaussian(2.0)] if kind == "views" else "precomputed").fit(X, LABELS)
    other = dict(reversed(X.items()))
    said = report_data(model, other, LABELS, fit_path=False, scores=baselines(model, other, LABELS, cv=2))
    assert said["model"] == repr(model) and not said["left_out"]
    assert not any(row["error"] for row in said["scores"]["rows"])
    stable = weight_stability(model, other, LABELS, n_resamples=2, random_state=0)
    assert stable.names == model.kernel_names_
    needed = importance(model, other, LABELS, cv=2, n_repeats=1, random_state=0)
    if kind == "views":
        assert stable.views.names == ["a", "b"] and set(needed.views.names) == {"a", "b"}
    else:
        assert set(needed.names) == set(K)
    assert ContributionDisplay.from_estimator(model, other, by="view").names == list(model.view_weights_)


# -- rows of X and y ----------------------------------------------------------------------------------
MOVED = pd.Series(Y, IDS)[::-1]


@pytest.mark.parametrize(
    "use",
    [
        lambda: MKLRegressor().fit(GENES, MOVED),
        lambda: MKLRegressor().fit(GENES, MOVED.to_frame()),
        lambda: MKLRegressorCV().fit(GENES, MOVED),
        lambda: importance(MKLRegressor(), GENES, MOVED),
        lambda: weight_stability(MKLRegressor(), GENES, MOVED),
        lambda: permutation_test(MKLRegressor(), GENES, MOVED),
        lambda: significance("auto", GENES, MOVED),
    ],
)
def test_targets_with_the_labels_of_a_frame_in_another_order_are_refused(use):
    with pytest.raises(ValueError, match=r"y has the labels of X in another order.*give y\.loc\[X\.index\]"):
        use()


def test_weights_and_covariates_in_another_order_are_refused_too():
    with pytest.raises(ValueError, match=r"give sample_weight\.loc\[X\.index\]"):
        MKLRegressor().fit(GENES, Y, sample_weight=pd.Series(1.0, IDS)[::-1])
    with pytest.raises(ValueError, match=r"give covariates\.loc\[X\.index\]"):
        significance("auto", GENES, Y, covariates=CLINICAL[["age"]][::-1])


@pytest.mark.parametrize("index", [range(40), [f"q{i}" for i in range(40)], ["same"] * 40, IDS])
def test_targets_with_other_labels_are_taken_by_their_place(index):
    found = MKLRegressor(Linear()).fit(GENES, pd.Series(Y, index)).predict(GENES)
    np.testing.assert_allclose(found, MKLRegressor(Linear()).fit(GENES, Y).predict(GENES))
