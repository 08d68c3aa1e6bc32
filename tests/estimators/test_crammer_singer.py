"""MKLClassifier(multi_class="crammer-singer"): the road from samples to one problem for all classes."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from manykernels import MKLClassifier, MKLClassifierCV, load, save
from manykernels.families import Gaussians, Products
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.selection.scoring import margins

X, y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
KERNELS = {"linear": Linear(), "narrow": Gaussian(1.0), "wide": Gaussian(5.0)}


def joint(kernels=KERNELS, **options):
    return MKLClassifier(kernels, multi_class="crammer-singer", **options)


def objective(model, data, codes, C):
    """P as the docstring writes it, from decisions and contributions alone; norm 1."""
    f = model.decision_function(data)
    rivals = 1.0 - np.eye(f.shape[1])[codes] + f
    loss = C @ (rivals.max(axis=1) - f[np.arange(len(f)), codes])
    theta, alpha = model.weights_, model.dual_coef_
    norms = [
        t * np.sqrt(max(np.sum(alpha * (k(data) @ alpha)), 0.0))
        for t, k in zip(theta, model.kernels_, strict=True)
    ]
    return 0.5 * sum(norms) ** 2 + loss


def test_a_fit_is_certified_and_means_what_it_says():
    model = joint(tol=1e-5, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, C=3.0).fit(X, y)
    assert model.certified_ and 0.0 <= model.dual_gap_ <= 1e-5
    assert model.weights_.shape == (3,) and model.dual_coef_.shape == (150, 3)
    C = 3.0 * np.array([1.0, 2.0, 0.5])[y]
    assert model.objective_ == pytest.approx(objective(model, X, y, C), rel=1e-6)
    anew = certificate(model, X, y)
    assert anew.gap == pytest.approx(model.dual_gap_, abs=1e-7) and anew.certified
    f = model.decision_function(X)
    np.testing.assert_allclose(f.sum(axis=1), 0.0, atol=1e-8)
    np.testing.assert_allclose(model.contributions(X).sum(axis=1) + model.intercept_, f, atol=1e-8)
    assert model.score(X, y) > 0.94


def test_two_classes_are_the_hinge():
    two = y > 0
    one, other = joint(tol=1e-8).fit(X, two), MKLClassifier(KERNELS, tol=1e-8).fit(X, two)
    assert one.objective_ == other.objective_
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def test_weights_of_samples_are_repetitions():
    w = np.random.RandomState(0).randint(0, 3, 150)
    weighted = joint(tol=1e-7).fit(X, y, sample_weight=w)
    repeated = joint(tol=1e-7).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-6)
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-4)


def test_stacks_files_and_warm_starts(tmp_path):
    kernels = list(KERNELS.values())
    stack = np.stack([k(X) for k in kernels], axis=2)
    given, made = joint("precomputed", tol=1e-6).fit(stack, y), joint(tol=1e-6).fit(X, y)
    assert given.objective_ == pytest.approx(made.objective_, rel=2e-6)
    path = tmp_path / "model.mk"
    save(made, path)
    np.testing.assert_array_equal(load(path).decision_function(X), made.decision_function(X))
    again = joint(tol=1e-6, warm_start=True).fit(X, y).set_params(C=1.1).fit(X, y)
    assert again.objective_ == pytest.approx(joint(C=1.1, tol=1e-6).fit(X, y).objective_, rel=2e-6)


@pytest.mark.parametrize(
    ("kernels", "options"),
    [
        (Products(degree=2), {}),
        (Gaussians(0.3, 30.0), {"tol": 1e-2}),
        (KERNELS, {"solver": "alternating", "norm": 2.0}),
        (KERNELS, {"norm": float("inf")}),
        ({"petals": OnColumns(Linear(), [2, 3]), "all": Linear()}, {"fit_intercept": False, "center": True}),
        ([Gaussian(2.0)], {"C": 100.0}),
    ],
    ids=["products", "widths", "alternating", "sum", "columns", "one"],
)
def test_families_norms_and_solvers(kernels, options):
    model = joint(kernels, **options).fit(X, y)
    assert model.certified_ and model.dual_gap_ <= model.tol
    assert model.score(X, y) > 0.8


def test_searches_choose_among_margins():
    data, target = X[::2], y[::2]
    model = MKLClassifierCV(KERNELS, multi_class="crammer-singer", loss="hinge", cv=2).fit(data, target)
    assert model.best_estimator_.multi_class == "crammer-singer"
    assert model.score(data, target) > 0.95
    np.testing.assert_allclose(model.predict_proba(data).sum(axis=1), 1.0)
    f = np.array([[3.0, 1.0, -4.0], [0.0, 0.5, 0.5]])
    np.testing.assert_array_equal(margins(f), [[2.0, -2.0, -7.0], [-0.5, 0.0, 0.0]])


def test_a_class_of_one_sample_and_equal_samples():
    few, codes = np.vstack([X[:3], X[:1], X[60:63]]), np.array([0, 0, 1, 2, 2, 3, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = joint(C=1e3, tol=1e-4).fit(few, codes)
    assert model.dual_gap_ <= 1e-4


def test_covariates_beside_x_are_refused():
    with pytest.raises(ValueError, match=r"covariates .*'crammer-singer'.*'shared' or 'ovr'"):
        joint().fit(X, y, covariates=X[:, :1])
