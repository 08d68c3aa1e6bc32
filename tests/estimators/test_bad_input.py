"""Bad input gets an error (or a warning, where it can be handled) that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from manykernels import (
    AlignMKLClassifier,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLRegressor,
    NonlinearMKLClassifier,
    UFOMKLClassifier,
)
from manykernels.approx import Nystroem
from manykernels.families import Products, from_distances, rank_one
from manykernels.kernels import Callable, Constant, Gaussian, Linear, OnColumns, Polynomial, Spectrum
from manykernels.losses import Logistic

rng = np.random.RandomState(0)
X = rng.randn(40, 3)
y = (X[:, 0] + 0.3 * rng.randn(40) > 0).astype(int)
STACK = np.stack([X @ X.T, Gaussian(1.0)(X)], axis=2)
FRAME = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text=["AB", "BA"] * 20)


def with_value(A, value, where=(3, 2)):
    A = A.copy()
    A[where] = value
    return A


def hidden():
    """Indefinite although no diagonal entry and no 2 × 2 minor shows it."""
    return np.kron(np.eye(20), np.zeros((2, 2))) + np.eye(40) * 1.0 - 0.9 * (np.ones((40, 40)) - np.eye(40))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"C": 0}, "C=0 .*positive"),
        ({"C": -1.0}, "C=-1.0 .*positive"),
        ({"C": np.nan}, "C=nan .*positive"),
        ({"C": "1"}, "C='1' .*positive"),
        ({"norm": 0.5}, "norm=0.5 .*from 1"),
        ({"norm": np.nan}, "norm=nan"),
        ({"norm": "one"}, "norm='one'"),
        ({"tol": 0.0}, "tol=0.0 .*positive"),
        ({"max_iter": 0}, "max_iter=0 .*at least 1"),
        ({"loss": Logistic}, "is a class"),
        ({"max_iter": 1.5}, "max_iter=1.5"),
        ({"loss": "hige"}, "loss='hige' .*'hinge'"),
        ({"loss": "epsilon_insensitive"}, "regression loss.*'hinge'.*'squared'"),
        ({"solver": "simplex"}, "solver='simplex' .*'active-set'"),
        ({"kernels": "rbf"}, "kernels='rbf' .*'auto'"),
        ({"kernels": []}, "holds no kernel"),
        ({"kernels": [3]}, r"3 \(int\); expected a kernel"),
        ({"kernels": Gaussian}, "Call it"),
        ({"kernels": [Gaussian(-1.0)]}, "width=-1.0"),
        ({"kernels": [OnColumns(Linear(), 7)]}, "Column 7 .*3 columns"),
        ({"kernels": [OnColumns(Linear(), "a")]}, "no column names"),
        ({"multi_class": "crammer"}, "multi_class='crammer' .*'shared', 'ovr' or 'crammer-singer'"),
        ({"multi_class": ["ovr"]}, "multi_class=.*expected a string"),
        (
            {"multi_class": "crammer-singer", "loss": "logistic"},
            "loss='logistic' .*expected loss='hinge'.*multi_class='shared'",
        ),
        ({"multi_class": "crammer-singer", "approx": "features"}, "approx='features' .*expected approx=None"),
        ({"multi_class": "crammer-singer", "covariates": [0]}, "covariates=.*expected covariates=None"),
        ({"normalize": "l2"}, "normalize='l2' .*'trace'"),
        ({"class_weight": "even"}, "class_weight='even' .*'balanced'"),
        ({"class_weight": {0: -1.0}}, "non-negative"),
        ({"approx": "nystroem"}, "approx='nystroem' is unknown"),
        ({"memory_limit": "much"}, "memory_limit='much'"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"center": "yes"}, "center='yes' .*True or False"),
    ],
)
def test_parameters(options, words):
    with pytest.raises((ValueError, TypeError), match=words):
        MKLClassifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("kernels", "data", "words"),
    [
        ([Gaussian()], with_value(X, np.nan), "NaN"),
        ([Gaussian()], with_value(X, np.inf), "infinity"),
        (["auto", Gaussian()], with_value(X, np.nan), "Column 'x.' of X holds .*NaN.*Impute"),
        ("auto", with_value(X, np.inf), "Column 'x.' has infinite values; .*leave the column out"),
        ("auto", with_value(X, 1e200), r"Column 'x.' has values as large as 1e\+200"),
        ("auto", X[:0], "0 sample"),
        ("auto", X[:, :0], "0 feature"),
        ("auto", X[:, 0], "2D array"),
        ("auto", STACK, "kernels='precomputed'"),
        ("auto", ["AB", "BA"] * 20, r"Spectrum\(k=3\)"),
        ([Gaussian()], FRAME, "Column 'text'"),
        ([OnColumns(Linear(), "a"), Gaussian()], FRAME, "expects numbers"),
        ([OnColumns(Linear(), "z")], FRAME, "'z' is not in X, whose columns are 'a', 'b', 'c', 'text'"),
        (
            [OnColumns(Linear(), "b")],
            FRAME.assign(b=pd.array([None, *[1] * 39], dtype="Int64")),
            "missing value",
        ),
        (
            [OnColumns(Linear(), "a") + OnColumns(Linear(), "b")],
            FRAME.assign(b=np.nan),
            "View 'b' is missing in all",
        ),
        (
            [OnColumns(Spectrum(2), "text")],
            FRAME.assign(text=[None, *["AB"] * 39]),
            r"lacks every view \(row 0\).*missing values",
        ),
        ("precomputed", X, r"shape \(40, 3\) .*n_kernels"),
        ("precomputed", STACK[:, :, 0], r"K\[:, :, None\]"),
        ("precomputed", sparse.csr_array(X), "sparse"),
        ("precomputed", np.moveaxis(STACK, 2, 0), "kernels first"),
        ("precomputed", STACK[:30], "pairwise tag"),
        ("precomputed", STACK[:, :, :0], "0 sample"),
        ("precomputed", with_value(STACK, np.nan, (3, 2, 1)), "'kernel 1' holds nan"),
        ("precomputed", with_value(STACK, 9.0, (3, 2, 0)), "'kernel 0' is not symmetric"),
        ("precomputed", with_value(STACK, -1.0, (3, 3, 1)), "'kernel 1' is not positive"),
        ("precomputed", hidden()[:, :, None], "not positive semi-definite"),
        ("precomputed", STACK.astype(complex), "Complex"),
        (from_distances([1.0]), X, "n_train"),
        (from_distances([1.0]), -np.abs(STACK), "negative distance"),
        (from_distances([1.0]), with_value(STACK, np.nan, (0, 0, 1)), "nan at"),
        (from_distances([1.0]), with_value(np.abs(STACK), 9.0, (3, 2, 1)), "Layer 1 .*symmetric"),
        ([Callable(lambda a, b: a[:, :1] - b[:, 0])], X, "is zero"),
        (
            [Linear(), Callable(lambda a, b: np.full((len(a), len(b)), np.nan), name="f")],
            X,
            "'f' is not finite",
        ),
        ([Linear(), Callable(lambda a, b: 9 + a[:, :1] + 2 * b[:, 0], name="f")], X, "'f' is not symmetric"),
        ([Callable(lambda a, b: 3 - np.abs(a[:, :1] - b[:, 0]) ** 3)], X, "positive semi-definite"),
        ([Linear(), Polynomial(400)], 1e3 * X, "Polynomial.* is not finite"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore:overflow")
def test_data(kernels, data, words):
    with pytest.raises(ValueError, match=words):
        MKLClassifier(kernels).fit(data, y[: np.shape(data)[0]])


@pytest.mark.parametrize(
    ("model", "target", "words"),
    [
        (MKLClassifier(), np.zeros(40), "only one class"),
        (MKLClassifier(), np.arange(40), "as many classes as samples"),
        (MKLClassifier(), X[:, 0], "[cC]ontinuous"),
        (MKLClassifier(), np.where(y == 0, np.nan, 1.0), "NaN"),
        (MKLClassifier(), y[:30], "40 samples and y has 30"),
        (MKLClassifier(), None, "y is None"),
        (MKLRegressor(), with_value(X[:, 0], np.nan, 3), "NaN"),
        (MKLRegressor(), with_value(X[:, 0], np.inf, 3), "infinity"),
        (MKLRegressor(), ["a", "b"] * 20, "could not convert"),
        (MKLRegressor(), np.zeros((40, 2, 2)), "dim 3"),
        (MKLRegressor(loss="hinge"), X[:, 0], "classification loss.*'squared'"),
    ],
)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_targets(model, target, words):
    with pytest.raises(ValueError, match=words):
        model.fit(X, target)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-np.ones(40), "[Nn]egative"),
        (np.zeros(40), "non-zero|zero for all"),
        (np.ones(30), "sample_weight"),
        (np.where(y == 0, 0.0, 1.0), "only one class"),
        (with_value(np.ones(40), np.nan, 3), "NaN"),
    ],
)
def test_sample_weights(weight, words):
    with pytest.raises(ValueError, match=words):
        MKLClassifier().fit(X, y, weight)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (STACK[:7].transpose(1, 0, 2), r"looks transposed.*transpose\(1, 0, 2\)"),
        (STACK[:7, :, :1], "number of kernels differs: 1 instead of 2"),
        (STACK[:7, :30], "exactly the samples"),
        (np.moveaxis(STACK[:7], 2, 0).transpose(0, 1, 2), "kernels first"),
        (STACK[:7, :, 0], "expects a stack"),
        (STACK[:0], "0 sample"),
        (with_value(STACK[:7], np.nan, (0, 1, 1)), "nan at"),
    ],
)
def test_stacks_of_new_samples(data, words):
    model = MKLClassifier("precomputed").fit(STACK, y)
    with pytest.raises(ValueError, match=words):
        model.predict(data)


def test_a_stack_behind_a_transformer_is_cut_wrongly_and_the_error_says_why():
    pipe = make_pipeline(FunctionTransformer(), MKLClassifier("precomputed"))
    with pytest.raises(ValueError, match="behind a transformer in a Pipeline"):
        cross_val_score(pipe, STACK, y, error_score="raise")


def test_new_samples_of_another_kind():
    model = MKLClassifier([Spectrum(1)]).fit(["AB", "BB", "BA", "AA"], [0, 1, 0, 1])
    with pytest.raises(ValueError, match="list of strings"):
        model.predict(X)
    model = MKLClassifier().fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(X[:, :2])


def test_a_stack_cannot_be_cosine_normalised_on_new_samples():
    with pytest.raises(ValueError, match=r"k\(x, x\) of new samples"):
        MKLClassifier("precomputed", normalize="cosine").fit(STACK, y)


def test_too_little_memory_says_how_much_is_needed():
    with pytest.raises(MemoryError, match="memory_limit"):
        MKLClassifier(memory_limit=1000).fit(X, y)


# -- kernels that cannot help ---------------------------------------------------------------------
ZERO, FLAT = np.c_[X, np.zeros(40)], np.c_[X, np.full(40, 2.0)]
PAIR = {"all": Linear(), "last": OnColumns(Linear(), 3)}


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_a_zero_kernel(norm):
    for normalize in (None, "trace", "max", "cosine", "frobenius"):
        with pytest.warns(UserWarning, match="'last' is zero"):
            model = MKLClassifier(PAIR, norm=norm, normalize=normalize).fit(ZERO, y)
        alone = MKLClassifier(Linear(), norm=norm, normalize=normalize).fit(ZERO, y)
        np.testing.assert_allclose(model.weights_, [1.0, 0.0], atol=1e-6)
        assert model.objective_ == pytest.approx(alone.objective_, rel=1e-3)


def test_a_column_of_zeros_among_rank_one_kernels():
    with pytest.warns(UserWarning, match="'x3' is zero"):
        model = MKLClassifier(rank_one()).fit(np.c_[X[:, :3], np.zeros(len(X))], y)
    assert model.weights_[3] == 0.0 and model.dual_gap_ <= 1e-3


def test_an_indefinite_kernel_behind_a_definite_mixture():
    A = np.where(np.add.outer(np.arange(40), np.arange(40)) % 2 == 0, 0.9, -0.3)
    np.fill_diagonal(A, 1.0)
    A[:5, 5:10] = A[5:10, :5] = -0.9
    assert np.linalg.eigvalsh(A)[0] < -0.5 and np.linalg.eigvalsh(A + 30.0 * np.eye(40))[0] > 0
    with pytest.raises(ValueError, match=r"'kernel 0' is not positive semi-definite"):
        MKLClassifier("precomputed", norm=2.0, normalize=None).fit(np.stack([A, 30.0 * np.eye(40)], 2), y)


def test_duplicated_layers_of_a_stack():
    K = Gaussian(2.0)(X)
    with pytest.warns(UserWarning, match="'kernel 0' and 'kernel 2' are the same"):
        MKLClassifier("precomputed").fit(np.stack([K, Linear()(X), K.copy()], 2), y)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
def test_a_constant_kernel_is_the_intercepts(norm, loss):
    with pytest.warns(UserWarning, match="'last' is constant"):
        model = MKLClassifier(PAIR, norm=norm, loss=loss, tol=1e-6).fit(FLAT, y)
    alone = MKLClassifier(Linear(), norm=norm, loss=loss, tol=1e-6).fit(FLAT, y)
    np.testing.assert_allclose(model.weights_, [1.0, 0.0])
    np.testing.assert_allclose(model.decision_function(FLAT), alone.decision_function(FLAT), atol=1e-2)
    with pytest.warns(UserWarning, match="'last' is zero"):  # after centring
        centred = MKLClassifier(PAIR, norm=norm, loss=loss, center=True).fit(FLAT, y)
    np.testing.assert_allclose(centred.weights_, [1.0, 0.0], atol=1e-6)
    free = MKLClassifier(PAIR, norm=norm, loss=loss, fit_intercept=False).fit(FLAT, y)
    assert free.dual_gap_ <= 1e-3 and free.intercept_ == 0.0


@pytest.mark.parametrize("model", [MKLClassifier([Constant()]), MKLClassifier(), MKLRegressor()])
def test_nothing_but_constants_predicts_a_constant(model):
    with pytest.warns(UserWarning, match="constant"):
        model.fit(np.zeros((40, 3)), y)
    assert np.unique(model.predict(X)).size == 1 and model.active_.size == 0
    assert model.contributions(X).shape == (40, 0)


def test_duplicated_kernels():
    kernels = [Gaussian(1.0), Gaussian(1.0, name="again"), Linear()]
    with pytest.warns(UserWarning, match="'again' are the same"):
        model = MKLClassifier(kernels, tol=1e-6).fit(X, y)
    single = MKLClassifier(kernels[1:], tol=1e-6).fit(X, y)
    assert model.weights_[:2].sum() == pytest.approx(single.weights_[0], abs=1e-2)
    model = MKLClassifier(kernels, norm=2.0, tol=1e-8).fit(X, y)
    assert model.weights_[0] == pytest.approx(model.weights_[1], abs=1e-4)


def half(A, B):
    return single(A, B).astype(np.float16)


def single(A, B):
    A, B = np.asarray(A, dtype=np.float32), np.asarray(B, dtype=np.float32)
    return np.exp(-((A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T) / 50)


def of_rank_two(A, B):
    return np.asarray(A, dtype=np.float32)[:, :2] @ np.asarray(B, dtype=np.float32)[:, :2].T


@pytest.mark.parametrize("function", [single, of_rank_two, half])
@pytest.mark.parametrize(
    "wrap", [lambda k: k, lambda k: OnColumns(k, [0, 1, 2]), lambda k: 2.0 * k**2 + Linear()]
)
@pytest.mark.filterwarnings("ignore:2 kernels were given")
def test_functions_are_judged_by_the_precision_of_what_they_return(function, wrap):
    kernels = [wrap(Callable(function, name="f")), Gaussian(2.0)]
    for model in (
        MKLClassifier(kernels, norm=2.0),
        AlignMKLClassifier(kernels),
        NonlinearMKLClassifier(kernels, n_starts=1),
        LocalizedMKLClassifier(kernels, random_state=0),
        UFOMKLClassifier(kernels),
        MKLRegressor(kernels, approx=Nystroem(20)),
        MKLRegressor(Products(degree=2, base=kernels)),
    ):
        assert np.isfinite(model.fit(X, y).predict(X)).all()
    stack = np.stack([function(X, X)], axis=2)
    assert MKLClassifier("precomputed").fit(stack, y).score(stack, y) > 0.5
    with pytest.raises(ValueError, match="positive semi-definite"):
        few = function(X, X).dtype
        MKLClassifier([Callable(lambda A, B: (3 - np.abs(A[:, :1] - B[:, 0]) ** 3).astype(few))]).fit(X, y)
    with pytest.raises(ValueError, match="not symmetric"):
        MKLClassifier([Callable(lambda A, B: function(A, B) * (1.2 + A[:, :1]))]).fit(X, y)


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (lambda K: K * (1 + 0j), "type complex128; expected .* real numbers"),
        (lambda K: np.ma.masked_less(K, 0.5), "masked"),
        (lambda K: sparse.csr_array(K), "sparse matrix"),
        (lambda K: "text", "type <U4"),
        (lambda K: [[1], [2, 3]], "list, which holds no numbers"),
        (lambda K: None, "returned values of type object"),
        (lambda K: K[:-1], "returned shape"),
    ],
)
def test_functions_that_return_no_matrix_of_real_numbers(result, words):
    kernel = Callable(lambda A, B: result(A @ B.T), name="f")
    with pytest.raises(ValueError, match=words):
        MKLClassifier([kernel]).fit(X, y)
