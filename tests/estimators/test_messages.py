"""What is said of samples and options that do not fit, in the words of whoever gave them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, compare
from manykernels.inspection import importance, permutation_test
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


WEIGHTS = {
    "negative": (np.r_[-1.0, np.ones(19)], r"negative, NaN or infinite in 1 row \(0\); .* a weight of 0"),
    "NaN": (np.r_[np.ones(18), np.nan, np.inf], r"in 2 rows \(18, 19\)"),
    "short": (np.ones(7), r"shape \(7,\) was given; expected \(20,\): one number"),
    "all zero": (np.zeros(20), "expected at least one positive weight"),
}


@pytest.mark.parametrize(("weight", "said"), WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("face", [MKLClassifier, MKLClassifierCV])
def test_a_sample_weight_that_is_none_is_named_by_its_row(face, weight, said):
    with pytest.raises(ValueError, match=f"sample_weight .*{said}"):
        face([Gaussian(1.0)]).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("rows", [20, 1600])  # as few as are searched at once, and more
def test_groups_that_no_fold_keeps_together_are_told(rows):
    search = MKLClassifierCV([Gaussian(1.0)], cv=3, Cs=[1.0], norms=[1.0], strategy="finite")
    with pytest.warns(UserWarning, match=r"cv=3 does not keep them together.*Give cv=GroupKFold\(\)") as told:
        search.fit(np.resize(X, (rows, 2)), np.resize(y, rows), groups=np.arange(rows) % 5)
    assert not any("is ignored" in str(one.message) for one in told)
    with pytest.raises(ValueError, match="groups holds 4 labels, and X has 20 samples"):
        search.set_params(cv=GroupKFold(2)).fit(X, y, groups=np.arange(4))


SCORED = {
    "search": lambda scoring: MKLClassifierCV([Gaussian(1.0)], scoring=scoring).fit(X, y),
    "compare": lambda scoring: compare([MKLClassifier([Gaussian(1.0)])], X, y, scoring=scoring),
    "importance": lambda scoring: importance(MKLClassifier([Gaussian(1.0)]).fit(X, y), X, y, scoring=scoring),
    "permutations": lambda scoring: permutation_test(MKLClassifier([Gaussian(1.0)]), X, y, scoring=scoring),
}


@pytest.mark.parametrize("use", SCORED.values(), ids=SCORED)
def test_an_unknown_score_is_told_in_one_line_before_any_fit(use):
    with pytest.raises(ValueError, match=r"scoring='roc_au' was given.* Did you mean 'roc_auc'\?") as caught:
        use("roc_au")
    assert len(str(caught.value)) < 300


def test_missing_values_point_to_what_reads_them():
    with pytest.raises(ValueError, match=r"Input X contains NaN, .*kernels='auto'") as caught:
        MKLClassifier([Gaussian(1.0)]).fit(np.where(X == X.max(), np.nan, X), y)
    assert "HistGradientBoosting" not in str(caught.value)
