"""UFO-MKL on streams: one pass is the same in batches of any size, and warm starts go on where fits ended."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.estimators.ufo_models import (
    FORMS,
    GAUSSIANS,
    NAMES,
    THREE,
    TWO,
    X_NEW,
    X,
    Y,
    each_form,
    each_model,
    labels,
    make,
    same,
)

from manykernels import UFOMKLClassifier, UFOMKLRegressor
from manykernels.approx import RandomFeatures
from manykernels.kernels import Gaussian, OnColumns, Spectrum


def stream(model, data, y, size):
    """partial_fit in batches of this size."""
    first = {"classes": np.unique(y)} if hasattr(model, "decision_function") else {}
    for lo in range(0, len(y), size):
        rows = data.iloc[lo : lo + size] if hasattr(data, "iloc") else data[lo : lo + size]
        model.partial_fit(rows, y[lo : lo + size], **(first if lo == 0 else {}))
    return model


# -- streams --------------------------------------------------------------------------------------------
def data_of(kind):
    """(data, kernels whose parameters do not depend on data and whose k(x, x) is 1)."""
    frame = {name: X[:, j] for j, name in enumerate(NAMES)}
    named = [
        OnColumns(Gaussian(1.0), ["a", "b"]),
        OnColumns(Gaussian(3.0), ["c"]),
        OnColumns(Gaussian(2.0), "b"),
    ]
    text = [
        "".join(np.random.RandomState(i).choice(list("ACG" if c == "u" else "CGT"), 9))
        for i, c in enumerate(TWO)
    ]
    return {
        "array": (X, GAUSSIANS),
        "csr": (sparse.csr_array(X * (np.abs(X) > 0.5)), GAUSSIANS),
        "pandas": (pd.DataFrame(frame), named),
        "polars": (pl.DataFrame(frame), named),
        "strings": (text, [Spectrum(1), Spectrum(2), Spectrum(3)]),
    }[kind]


@pytest.mark.parametrize("kind", ["array", "csr", "pandas", "polars", "strings"])
@pytest.mark.parametrize("average", [False, True])
def test_one_pass_is_a_stream(kind, average):
    data, kernels = data_of(kind)
    normalize = "cosine" if kind == "strings" else "max"
    options = {"kernels": kernels, "epochs": 1, "shuffle": False, "average": average, "normalize": normalize}
    for model, y in ((UFOMKLClassifier(), TWO), (UFOMKLClassifier(loss="logistic"), THREE)):
        whole = make(model, **options).fit(data, y)
        for size in (7, 90) if kind != "array" else (1, 13, 90):
            same(stream(make(model, **options), data, y, size), whole, data)
    target = Y - Y.mean(axis=0)
    whole = make(UFOMKLRegressor(), fit_intercept=False, **options).fit(data, target)
    same(stream(make(UFOMKLRegressor(), fit_intercept=False, **options), data, target, 17), whole, data)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("kind", ["array", "csr", "pandas", "polars"])
def test_one_pass_is_a_stream_in_features(kind, average):
    data, kernels = data_of(kind)
    options = {
        "kernels": kernels,
        "epochs": 1,
        "shuffle": False,
        "average": average,
        "approx": RandomFeatures(26),
    }
    for model, y in ((UFOMKLClassifier(), TWO), (UFOMKLClassifier(), THREE)):
        whole = make(model, **options).fit(data, y)
        for size in (13, 90):
            same(stream(make(model, **options), data, y, size), whole, data)


def test_streams_drop_samples_without_coefficients():
    model = stream(make(UFOMKLClassifier(), lam=0.1), X, TWO, 10)
    assert np.all(model.dual_coef_[:-10] != 0) and len(model.X_fit_) == len(model.dual_coef_) < 90
    assert np.isnan(model.objective_) and not model.certified_ and model.t_ == 90


def test_fit_begins_anew_and_streams_go_on():
    model = make(UFOMKLClassifier(), shuffle=False, epochs=1)
    whole = clone(model).fit(np.r_[X, X_NEW], np.r_[TWO, labels(X_NEW)])
    same(model.fit(X, TWO).partial_fit(X_NEW, labels(X_NEW)), whole)
    assert model.fit(X, TWO).t_ == 90


# -- warm starts ----------------------------------------------------------------------------------------
@each_form
@each_model
def test_warm_start_goes_on(model, y, form):
    options = {"shuffle": False, **form}
    whole = make(model, epochs=4, **options).fit(X, y)
    twice = make(model, epochs=2, warm_start=True, **options).fit(X, y)
    first = twice.t_
    twice.fit(X, y)
    same(twice, whole)
    assert first == 180 and twice.t_ == 360
    assert twice.objective_ == pytest.approx(whole.objective_, rel=1e-9)
    assert twice.dual_gap_ <= whole.dual_gap_ * (1 + 1e-6) + 1e-9 or twice.dual_gap_ == pytest.approx(
        whole.dual_gap_
    )


@pytest.mark.parametrize("form", FORMS[:3], ids=repr)
def test_warm_start_on_other_data_is_a_stream(form):
    y_new = labels(X_NEW)
    model = make(UFOMKLClassifier(), epochs=1, shuffle=False, warm_start=True, **form)
    streamed = clone(model).fit(X, TWO).partial_fit(X_NEW, y_new).partial_fit(X_NEW, y_new)
    model.fit(X, TWO).fit(X_NEW, y_new).fit(X_NEW, y_new)  # the second time the samples are known
    same(model, streamed, X)
    assert not model.certified_
    assert model.objective_ == pytest.approx(model.objective(X_NEW, y_new), rel=1e-9)


def test_warm_start_with_another_regulariser():
    model = make(UFOMKLClassifier(), warm_start=True, alpha=0.0).fit(X, TWO)
    assert model.active_.size == 4
    with pytest.warns(UserWarning, match="leaves no kernel"):
        model.set_params(alpha=50.0).fit(X, TWO)
    assert model.active_.size == 0 and model.t_ == 360
