"""Ten common mistakes in Python: each is answered in a message that says what to do."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import manykernels as mk
from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import Gaussian

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
y = np.where(X[:, 0] > 0, "ill", "well")
gaps = np.where(np.arange(120).reshape(40, 3) == 7, np.nan, X)
table = pd.DataFrame(X, columns=["age", "dose", "weight"]).assign(note=y)


def model_file(tmp_path):
    (tmp_path / "old.model").write_bytes(b"not a model")
    return tmp_path / "old.model"


MISTAKES = {
    "numbers for a classifier": (lambda _: MKLClassifier().fit(X, X[:, 0]), "Use the regressor"),
    "text for a regressor": (lambda _: MKLRegressor().fit(X, y), "Use the classifier"),
    "target of another length": (lambda _: MKLClassifier().fit(X, y[:9]), "Give one target for each sample"),
    "text column": (lambda _: MKLClassifier([Gaussian()]).fit(table, y), "Give it one, such as OnColumns"),
    "missing view": (
        lambda _: MKLClassifier().fit({"a": X, "b": X}, y).predict({"a": X}),
        "Give each of them by its name",
    ),
    "short view": (lambda _: MKLClassifier().fit({"a": X, "b": X[:9]}, y), "give it a row of NaN"),
    "one class": (lambda _: MKLClassifierCV().fit(X, ["ill"] * 40), "Name another target, or add samples"),
    "too few rows": (
        lambda _: MKLClassifierCV().fit(X[:3], [*"aba"]),
        "Give at least 2 samples of each class",
    ),
    "a name in place of a table": (lambda _: MKLClassifier().fit("a.csv", y), "pandas.read_csv"),
    "wrong file": (lambda path: mk.load(model_file(path)), "Write it again by save"),
    "NaN": (lambda _: MKLClassifier([Gaussian()]).fit(gaps, y), "take kernels='auto'"),
    "NaN in the target": (lambda _: MKLRegressor().fit(X, gaps[:, 1]), "Leave these samples out"),
    "unknown option": (
        lambda _: MKLClassifier(solver="smo").fit(X, y),
        "expected one of 'auto', 'active-set'",
    ),
    "unknown kernel": (lambda _: MKLClassifier("kernel").fit(X, y), "a kernel such as Gaussian"),
}


@pytest.mark.parametrize(("mistake", "advice"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_answered_by_what_to_do(mistake, advice, tmp_path):
    with pytest.raises((ValueError, TypeError), match=advice) as caught:
        mistake(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'manykernels\[plots\]'"):
        mk.plots.WeightsDisplay.from_estimator(MKLClassifier().fit(X, y))
