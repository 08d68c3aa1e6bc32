"""Warnings point at the line of whoever called the package."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import AlignMKLClassifier, MKLClassifier, MKLRegressor, UFOMKLClassifier
from manykernels.approx import Nystroem
from manykernels.families import Products
from manykernels.kernels import Gaussian, Linear

X = np.random.RandomState(0).randn(30, 3)
y = (X[:, 0] > 0).astype(int)
TWICE = [Linear(), Linear(), Gaussian(2.0)]

MODELS = {
    "duplicates": MKLClassifier(TWICE),
    "features": MKLClassifier(TWICE, loss="squared", approx=Nystroem(5)),
    "a family": MKLRegressor(Products(degree=2), C=1e3, max_iter=1, tol=1e-14),
    "two stages": AlignMKLClassifier(TWICE),
    "online": UFOMKLClassifier([Linear()]),
    "a pipeline": make_pipeline(StandardScaler(), MKLClassifier(TWICE)),
    "a search": GridSearchCV(MKLClassifier(TWICE), {"C": [1.0, 2.0]}, cv=2),
}


@pytest.mark.parametrize("name", MODELS)
def test_warnings_name_the_line_of_the_user(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        MODELS[name].fit(X, y)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
