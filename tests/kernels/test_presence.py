"""Kernels of views that some samples lack, against the features that define them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manykernels.grams.build import build_from_stack, build_gram
from manykernels.kernels import (
    Fitted,
    FromDistance,
    Gaussian,
    Linear,
    Mixture,
    OnColumns,
    Polynomial,
    Precomputed,
    combine,
    evaluate,
)
from manykernels.kernels.presence import TOLD, rows_having

rng = np.random.default_rng(3)
N = 30
X = rng.normal(size=(N, 5))
HAVE = {"a": np.arange(N) % 3 > 0, "b": np.arange(N) % 4 > 0}
X[~HAVE["a"], :2] = np.nan
X[~HAVE["b"], 2:] = np.nan
WEIGHT = np.where(np.arange(N) % 5 == 1, 2.0, 1.0)
KERNELS = {
    "gauss": OnColumns(Gaussian(2.0), [0, 1], view="a"),
    "narrow": OnColumns(Gaussian(0.7), [0, 1], view="a"),
    "linear": OnColumns(Linear(), slice(2, 5), view="b"),
    "power": 2.0 * OnColumns(Polynomial(2), slice(2, 5), view="b"),
}


def reference(kernel, X, weight, center):
    """K̂ of all samples by the formula, with a trace of 1 over those that have the view."""
    s = kernel.present(X)
    p = np.flatnonzero(s)
    w = weight[p] / weight[p].sum()
    K = np.zeros((len(X), len(X)))
    K[np.ix_(p, p)] = kernel(X[p])
    r = K[:, p] @ w
    g = w @ r[p]
    c = TOLD * (w @ np.diag(K)[p] - g)
    rho = np.where(s, r, g)
    K[~s], K[:, ~s] = rho, rho[:, None]
    K[np.ix_(~s, ~s)] += c
    if center:
        H = np.eye(len(X)) - weight / weight.sum()
        K = H @ K @ H.T
    return K / (w @ np.diag(K)[p])


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("memory", [None, 8 * N * N * 7])
def test_grams_and_fitted_kernels_follow_the_formula(center, memory):
    work = {"work": 4, "memory_limit": memory, "center": center, "normalize": "trace"}
    gram, fitted = build_gram(KERNELS, X, sample_weight=WEIGHT, **work)
    assert type(gram).__name__ == ("StackGram" if memory is None else "BlockGram")
    for m, (name, kernel) in enumerate(KERNELS.items()):
        K = reference(kernel, X, WEIGHT, center)
        one = np.zeros(len(KERNELS))
        one[m] = 1.0
        np.testing.assert_allclose(gram.combine(one), K, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(fitted[m](X), K, atol=1e-12)
        np.testing.assert_allclose(fitted[m](X[:7], X), K[:7], atol=1e-12)
        np.testing.assert_allclose(fitted[m](X[3:4], X[10:]), K[3:4, 10:], atol=1e-12)
        np.testing.assert_allclose(fitted[m].diag(X), np.diag(K), atol=1e-12)
        again = Fitted(kernel, center=center, normalize="trace").fit(X, sample_weight=WEIGHT)
        np.testing.assert_allclose(again(X), K, atol=1e-12)
        assert np.linalg.eigvalsh(K).min() > -1e-10
    alpha = rng.normal(size=(N, 2))
    np.testing.assert_allclose(gram.products(alpha), [f(X) @ alpha for f in fitted], atol=1e-10)
    theta = np.arange(1.0, 5.0)
    total = sum(t * f(X) for t, f in zip(theta, fitted, strict=True))
    np.testing.assert_allclose(Mixture(fitted, theta)(X), total, atol=1e-10)
    np.testing.assert_allclose(combine(fitted, theta, X[:5], X[9:]), total[:5, 9:], atol=1e-10)
    for m, K in evaluate(fitted, X, X[:3]):
        np.testing.assert_allclose(K, fitted[m](X, X[:3]), atol=1e-12)


@pytest.mark.parametrize("center", [False, True])
def test_centring_leaves_the_masked_kernel_that_is_centred_over_those_that_have_the_view(center):
    fitted = Fitted(KERNELS["gauss"], center=center).fit(X)
    fitted.rest_.own = 0.0
    s = HAVE["a"]
    K = KERNELS["gauss"](X)
    r = K[:, s].mean(axis=1)
    masked = (K - r[:, None] - r + r[s].mean()) * s[:, None] * s
    alpha = rng.normal(size=N)
    alpha -= alpha.mean()  # as with an intercept
    assert alpha @ fitted(X) @ alpha == pytest.approx(alpha @ masked @ alpha, abs=1e-10)


def test_a_kernel_by_itself_is_zero_where_its_view_is_absent():
    K = KERNELS["power"](X)
    assert not K[~HAVE["b"]].any() and not K[:, ~HAVE["b"]].any()
    here = np.flatnonzero(HAVE["b"])
    np.testing.assert_allclose(K[np.ix_(here, here)], 2.0 * (X[here, 2:] @ X[here, 2:].T + 1.0) ** 2)
    both = (KERNELS["gauss"] * KERNELS["linear"]).present(X)
    assert both.tolist() == (HAVE["a"] & HAVE["b"]).tolist()
    either = (KERNELS["gauss"] + KERNELS["linear"]).present(X)
    assert either.tolist() == (HAVE["a"] | HAVE["b"]).tolist()


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_layers_of_a_stack_are_as_the_kernels_they_hold(distances, center):
    a, b = np.nan_to_num(X[:, :2]), np.nan_to_num(X[:, 2:])
    layers = [((u[:, None] - u) ** 2).sum(axis=2) for u in (a, b)]
    if not distances:
        layers = [np.exp(-D / 4.0) for D in layers]
    stack = np.stack(layers, axis=2)
    for m, s in enumerate(HAVE.values()):
        stack[~s, :, m] = stack[:, ~s, m] = np.nan
    given = {"center": center, "normalize": "trace", "sample_weight": None, "memory_limit": None}
    if distances:
        found, kernels = build_gram({"a": FromDistance(0.25, 0), "b": FromDistance(0.25, 1)}, stack, **given)
    else:
        found, kernels = build_from_stack(stack, names=["a", "b"], **given)
        assert isinstance(kernels[0].kernel, Precomputed)
    same = {"a": OnColumns(Gaussian(2.0), [0, 1]), "b": OnColumns(Gaussian(2.0), [2, 3, 4])}
    expected, fitted = build_gram(same, X, **given)
    theta = np.array([0.3, 0.7])
    np.testing.assert_allclose(found.combine(theta), expected.combine(theta), atol=1e-12)
    for kernel, other in zip(kernels, fitted, strict=True):
        kernel.X_fit_ = None
        np.testing.assert_allclose(kernel(stack[4:9]), other(X[4:9], X), atol=1e-12)


def test_rows_that_hold_nothing_are_found_in_every_kind_of_table():
    A = np.array([[1.0, np.nan], [np.nan, np.nan], [np.nan, 2.0]])
    for table in (A, pd.DataFrame(A), pl.DataFrame(A, schema=["u", "v"]), A.astype(object)):
        assert rows_having(table).tolist() == [True, False, True]
    assert rows_having(A[[0, 0]]) is None
    assert rows_having(pd.Series(["x", None])).tolist() == [True, False]
    mixed = pd.DataFrame({"u": ["x", None, None], "v": [1.0, np.nan, 2.0]})
    assert rows_having(mixed).tolist() == [True, False, True]
    assert rows_having(pl.from_pandas(mixed)).tolist() == [True, False, True]


def farther(kernel, Z, weight, center, a):
    """k̂ of samples that are farther from the mean by a, from its definition: φ̂ = M φ, and √c a e."""
    s = np.ones(len(Z), dtype=bool) if kernel.present(Z) is None else kernel.present(Z)
    w = np.where(s, weight, 0.0) / weight[s].sum()
    K = kernel(Z)
    own = TOLD * (w @ np.diag(K) - w @ K @ w)
    M = w + a[:, None] * (np.where(s[:, None], np.eye(len(Z)), w) - w)
    K = M @ K @ M.T + own * np.outer(a * ~s, a * ~s)
    if center:
        H = np.eye(len(Z)) - weight / weight.sum()
        K = H @ K @ H.T
    return K / (w @ np.diag(K))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("memory", [None, 8 * N * N * 8])
def test_samples_that_lack_views_are_farther_from_the_mean_in_the_others(center, memory):
    Z = np.hstack([X, rng.normal(size=(N, 1))])
    a = np.sqrt(3.0 / (1 + HAVE["a"] + HAVE["b"]))
    kernels = {**KERNELS, "whole": OnColumns(Gaussian(1.0), [5], view="c")}
    work = {"work": 4, "memory_limit": memory, "center": center, "normalize": "trace", "spread": True}
    gram, fitted = build_gram(kernels, Z, sample_weight=WEIGHT, **work)
    assert type(gram).__name__ == ("StackGram" if memory is None else "BlockGram")
    for m, (name, kernel) in enumerate(kernels.items()):
        K = farther(kernel, Z, WEIGHT, center, a)
        one = np.eye(len(kernels))[m]
        np.testing.assert_allclose(gram.combine(one), K, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(gram.columns(one, np.array([0, 4, 7])), K[:, [0, 4, 7]], atol=1e-12)
        np.testing.assert_allclose(fitted[m](Z), K, atol=1e-12)
        np.testing.assert_allclose(fitted[m](Z[:7], Z), K[:7], atol=1e-12)
        np.testing.assert_allclose(fitted[m](Z[3:4], Z[10:]), K[3:4, 10:], atol=1e-12)
        np.testing.assert_allclose(fitted[m].diag(Z), np.diag(K), atol=1e-12)
        assert np.array_equal(fitted[m](Z), fitted[m](Z).T) and np.linalg.eigvalsh(K).min() > -1e-10
    theta = np.arange(1.0, 6.0)
    total = sum(t * f(Z) for t, f in zip(theta, fitted, strict=True))
    np.testing.assert_allclose(Mixture(fitted, theta)(Z[:5], Z), total[:5], atol=1e-10)
    some = np.flatnonzero(HAVE["a"] & HAVE["b"])
    plain = build_gram(kernels, Z[some], sample_weight=WEIGHT[some], **work | {"spread": False})[0]
    same = build_gram(kernels, Z[some], sample_weight=WEIGHT[some], **work)[0]
    assert np.array_equal(plain.combine(theta), same.combine(theta))
