"""What is said of samples and options that do not fit, in the words of whoever gave them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import Gaussian, Spectrum

rng = np.random.RandomState(0)
X = rng.randn(20, 2)
y = np.where(X[:, 0] > 0, "up", "down")
TEXTS = ["".join(rng.choice(list("CNO"), 5)) for _ in range(20)]
COLUMN = pd.DataFrame({"smiles": TEXTS})


@pytest.mark.parametrize("kernels", ["gauss", ["gauss"]])
def test_an_unknown_string_is_told_before_columns_are(kernels):
    with pytest.raises(ValueError, match=r"kernels='gauss' was given.*'auto'.*Gaussian\(width\)"):
        MKLClassifier(kernels).fit(COLUMN.assign(a=X[:, 0]), y)


@pytest.mark.parametrize("kernel", [Spectrum(2), lambda a, b: float(len(set(a) & set(b)))])
def test_a_frame_of_one_text_column_is_a_list(kernel):
    model, listed = (MKLClassifier([kernel]).fit(given, y) for given in (COLUMN, TEXTS))
    np.testing.assert_allclose(model.decision_function(COLUMN[:5]), listed.decision_function(TEXTS[:5]))


def test_strings_for_a_numeric_kernel_are_told_without_a_shape():
    with pytest.raises(ValueError, match="A numeric kernel expects numbers, got ndarray \\(could not"):
        MKLClassifier([Gaussian(1.0)]).fit([*TEXTS[:-1], TEXTS[0]], y)


def test_a_class_of_one_sample_is_named():
    with pytest.raises(ValueError, match="Class 'b' has one sample only"):
        MKLClassifierCV([Gaussian(1.0)]).fit(X, ["a"] * 19 + ["b"])


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("face", [MKLClassifier, MKLClassifierCV])
def test_labels_that_are_missing_are_named_by_their_rows(face, gap):
    labels = np.array(y, dtype=object)
    labels[[3, 5]] = gap
    with pytest.raises(ValueError, match=r"y has no label in 2 rows \(3, 5\)\. Leave these samples out"):
        face([Gaussian(1.0)]).fit(X, pd.Series(labels))


def test_a_target_of_dates_is_told_how_to_become_numbers():
    with pytest.raises(ValueError, match="give the days since the first one"):
        MKLRegressor([Gaussian(1.0)]).fit(X, pd.date_range("2024", periods=20))


def test_missing_values_point_to_what_reads_them():
    with pytest.raises(ValueError, match=r"Input X contains NaN, .*kernels='auto'") as caught:
        MKLClassifier([Gaussian(1.0)]).fit(np.where(X == X.max(), np.nan, X), y)
    assert "HistGradientBoosting" not in str(caught.value)
