"""What the first stage takes as a target, and what it says of input that it cannot use."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from manykernels import AlignMKLClassifier, KernelAligner
from manykernels.families import from_distances, rank_one
from manykernels.kernels import Constant, Gaussian, Linear, Polynomial
from manykernels.measures import centered_alignment
from manykernels.weightings import Alignf

rng = np.random.RandomState(0)
X, X_NEW = rng.randn(40, 4), rng.randn(25, 4)
LABELS, LABELS_NEW = (np.where(Z[:, 0] + 0.5 * Z[:, 1] > 0.2, "yes", "no") for Z in (X, X_NEW))
CLASSES, CLASSES_NEW = (np.array(["a", "b", "c"])[np.digitize(Z[:, 0], [-0.5, 0.6])] for Z in (X, X_NEW))
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0), Polynomial(2)]


def dense_alignment(K, K_Y):
    return centered_alignment(K, K_Y, kind="kernel")


# -- targets --------------------------------------------------------------------------------------
def test_targets():
    fit = KernelAligner(KERNELS).fit
    one_hot = (CLASSES[:, None] == np.unique(CLASSES)).astype(float)
    codes = np.unique(CLASSES, return_inverse=True)[1]
    expected = fit(X, CLASSES)
    for same in (codes, codes + 7, CLASSES.tolist(), pd.Series(CLASSES), CLASSES.astype(object), one_hot):
        np.testing.assert_allclose(fit(X, same).weights_, expected.weights_, atol=1e-12)
    np.testing.assert_allclose(fit(X, codes[:, None]).weights_, expected.weights_, atol=1e-12)
    numbers = KernelAligner(KERNELS, target="regression").fit(X, codes)
    K = numbers.transform(X)
    assert numbers.alignment_ == pytest.approx(dense_alignment(K, np.outer(codes, codes)), abs=1e-12)
    assert np.abs(numbers.weights_ - expected.weights_).max() > 1e-3
    multilabel = np.stack([X[:, 0] > 0, X[:, 1] > 0.3], axis=1).astype(int)
    several = fit(X, multilabel)
    assert several.alignment_ == pytest.approx(
        dense_alignment(several.transform(X), multilabel @ multilabel.T), abs=1e-12
    )
    assert fit(X, LABELS).score_alignment(X_NEW, LABELS_NEW) == pytest.approx(
        fit(X, LABELS == "yes").score_alignment(X_NEW, LABELS_NEW == "yes"), abs=1e-12
    )
    part = np.flatnonzero(CLASSES_NEW != "b")  # new data may lack a class
    assert 0 < expected.score_alignment(X_NEW[part], CLASSES_NEW[part]) <= 1


def test_whole_numbers_may_be_quantities():
    counts = np.arange(40) // 2
    with pytest.warns(UserWarning, match="20 different whole numbers in 40 samples.*target='regression'"):
        guessed = KernelAligner(KERNELS).fit(X, counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes = KernelAligner(KERNELS, target="classification").fit(X, counts)
        np.testing.assert_array_equal(classes.weights_, guessed.weights_)
        KernelAligner(KERNELS, target="regression").fit(X, counts)
        KernelAligner(KERNELS).fit(X, counts + 0.5)
        KernelAligner(KERNELS).fit(X, counts.astype(str))
        KernelAligner([Linear()]).fit(X[:5], [0, 1, 0, 1, 1])  # two values are the same as either


def test_units_of_the_target():
    y = X[:, 0] + X[:, 1] ** 2
    expected = KernelAligner(KERNELS).fit(X, y)
    for size in (1e-200, 1e-9, 1e200):
        model = KernelAligner(KERNELS).fit(X, size * y)
        np.testing.assert_allclose(model.weights_, expected.weights_, atol=1e-10)
        assert model.score_alignment(X, size * y) == pytest.approx(expected.alignment_, abs=1e-10)


# -- bad input ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "data", "y", "words"),
    [
        ({"weighting": "alignff"}, X, LABELS, "weighting='alignff' .*'alignf'"),
        ({"weighting": Alignf}, X, LABELS, "weighting=<class"),
        ({"target": "classes"}, X, LABELS, "target='classes' .*'regression'"),
        ({"normalize": "l2"}, X, LABELS, "normalize='l2' .*'frobenius'"),
        ({"center": 1}, X, LABELS, "center=1 .*True or False"),
        ({"n_jobs": 0}, X, LABELS, "n_jobs=0"),
        ({}, X, None, "requires y"),
        ({}, X, LABELS[:39], "40 samples and y has 39"),
        ({}, X, 3, "one value per sample"),
        ({}, X, np.ones((40, 2, 2)), r"y of shape \(40, 2, 2\)"),
        ({}, X, ["yes"] * 40, "same for all 40 .*'yes'"),
        ({}, X, np.full(40, 0.1), "same for all 40"),
        ({}, X, np.where(np.arange(40) == 7, np.nan, X[:, 0]), "y.*NaN"),
        ({}, X[:1], LABELS[:1], "1 sample"),
        ({"target": "regression"}, X, LABELS, "holds text"),
        ({"target": "classification"}, X, X[:, 0], "class label"),
        ({"kernels": [Linear(), Constant(2.0)]}, X, LABELS, "Constant.*centred norm is zero.*Leave it out"),
        ({"kernels": {"wide": Gaussian(1e9), "l": Linear()}}, X, LABELS, "kernel 'wide' .*norm is zero"),
        ({"kernels": rank_one()}, X * [1, 1, 0, 1], LABELS, "kernel 'x2' .*centred norm is zero"),
        ({"kernels": "precomputed"}, X, LABELS, "n_kernels"),
        ({"kernels": "precomputed", "normalize": "cosine"}, (X @ X.T)[:, :, None], LABELS, "needs k"),
    ],
)
def test_bad_input(options, data, y, words):
    for center in (False, True) if "center" not in options else (1,):
        with pytest.raises(ValueError, match=words):
            KernelAligner(**{"kernels": KERNELS, "center": center, **options}).fit(data, y)


def test_indefinite_kernels_are_refused():
    Q = np.linalg.qr(np.random.RandomState(0).randn(40, 40))[0]
    y = np.sign(Q[:, 0])
    hidden = 0.05 * np.eye(40) + 0.5 * np.outer(y, y) / 40 - 0.1 * np.outer(Q[:, 5], Q[:, 5])
    assert np.linalg.eigvalsh(hidden)[0] < -0.01
    for estimator in (KernelAligner, AlignMKLClassifier):
        for weighting in ("alignf", "align", "uniform"):
            stack = np.stack([hidden, np.eye(40)], axis=2)
            with pytest.raises(ValueError, match="'kernel 0' is not positive semi-definite"):
                estimator("precomputed", weighting=weighting).fit(stack, y)


def test_new_data_of_the_wrong_form():
    stack = np.stack([k(X) for k in KERNELS], axis=2)
    given = KernelAligner("precomputed").fit(stack, LABELS)
    for wrong in (stack[:, :, :3], stack[:30], stack[:, :, 0], X, sparse.csr_array(X), "stack"):
        with pytest.raises(ValueError, match=r"expected the kernels of the new .*samples, n_samples, 4\)"):
            given.score_alignment(wrong, LABELS)
    with pytest.raises(ValueError, match=r"expected \(n_samples, 40, 4\)"):
        given.transform(stack[:, :30])
    with pytest.raises(ValueError, match="25 samples and y has 40"):
        KernelAligner(KERNELS).fit(X, LABELS).score_alignment(X_NEW, LABELS)
    with pytest.raises(ValueError, match="requires y"):
        given.score_alignment(stack, None)
    with pytest.raises(ValueError, match="one value per sample"):
        given.score_alignment(stack, 1.0)
    with pytest.raises(ValueError, match="same for all 40"):
        given.score_alignment(stack, ["yes"] * 40)
    distances = np.abs(X[:, None] - X)
    far = KernelAligner(from_distances([1.0])).fit(distances, LABELS)
    for value, words in ((np.nan, "nan at"), (-1.0, "not symmetric")):
        broken = distances.copy()
        broken[3, 4, :] = value
        with pytest.raises(ValueError, match=words):
            far.score_alignment(broken, LABELS)
