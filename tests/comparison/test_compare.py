"""``manykernels.compare``: methods by name and of other packages, as a table for a paper."""

from __future__ import annotations

import csv
import io
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.fitted_models import X, numbers, stack, strings, y

import manykernels as mk
from manykernels.comparison import METHODS, Comparison, Comparisons, compare, corrected_ttest
from manykernels.inspection import permutation_test
from manykernels.kernels import Gaussian, Linear, Spectrum
from manykernels.plots import ComparisonDisplay

QUICK = {"a": NearestCentroid(), "b": LogisticRegression(), "c": DummyClassifier()}


@pytest.fixture(scope="module")
def found():
    return compare(QUICK, X, y, cv=3, n_repeats=2, reference="a")


# -- what is compared -----------------------------------------------------------------------------
def test_names_and_estimators_stand_side_by_side():
    both = mk.compare({"own": "uniform", "other": NearestCentroid()}, X, y, kernels=[Gaussian(2.0)], cv=2)
    assert list(both.scores) == ["own", "other"] and both.metric == "accuracy"
    assert both.scores["own"].folds[0].kernels == 1 and both.scores["other"].folds[0].kernels is None
    listed = compare(["uniform", Ridge()], X, numbers, kernels=[Linear()], tune=False, cv=2)
    assert list(listed.scores) == ["uniform", "Ridge"] and listed.metric == "R²"


@pytest.mark.parametrize("name", [name for name in METHODS if name != "auto"])
def test_every_name_runs(name):
    kernels = "auto" if METHODS[name].own else [Gaussian(1.0), Gaussian(3.0)]
    assert compare(name, X, y, kernels=kernels, tune=False, cv=2).scores[name].complete
    assert f'"{name}"' in compare.__doc__


def test_samples_of_every_kind():
    kernels = mk.MKLClassifier("precomputed")
    assert compare({"stack": kernels}, stack, y, cv=2).scores["stack"].complete
    words = mk.MKLClassifier([Spectrum(2)])
    assert compare({"text": words}, strings, y, cv=2).scores["text"].complete
    views = mk.MKLClassifier({"l": Linear(), "g": Gaussian(2.0)})
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert compare({"frame": views}, frame, y, cv=2).scores["frame"].complete


def test_the_tuned_rival_reads_raw_tables_too():
    """On the terms of the others: columns of words and gaps, and sparse ones."""
    table = pd.DataFrame({"a": X[:, 0], "word": np.where(X[:, 1] > 0, "up", "down"), "gap": X[:, 2]})
    table.loc[::9, "gap"] = np.nan
    assert compare("single", table, y, cv=2).scores["single"].complete
    assert compare("single", csr_array(X), y, cv=2).scores["single"].complete


def test_samples_in_parts():
    """A dict of views, and a list of kernel matrices, for names and for estimators."""
    views = {"left": X[:, :2], "right": X[:, 2:]}
    parts = compare({"own": mk.MKLClassifier(), "sum": "uniform"}, views, y, cv=2, tune=True)
    assert parts.scores["own"].complete and parts.scores["sum"].complete, repr(parts)
    matrices = [np.ascontiguousarray(stack[:, :, m]) for m in range(stack.shape[2])]
    given = compare(["uniform", "align"], matrices, y, kernels="precomputed", cv=2)
    assert all(one.complete for one in given.scores.values()), repr(given)
    own = compare({"given": mk.MKLClassifier("precomputed")}, matrices, y, cv=2)
    assert own.scores["given"].complete, repr(own)
    assert len(permutation_test(mk.MKLClassifier(), views, y, cv=2, n_permutations=1).null) == 1


def test_what_is_refused():
    for methods, text in (
        ("svm", "method 'svm' was given; expected one of auto"),
        ([], "no methods were given"),
        ([Ridge(), Ridge()], "two methods are called 'Ridge'"),
        ([3], "expected a name or an estimator"),
    ):
        with pytest.raises(ValueError, match=text):
            compare(methods, X, y)
    with pytest.raises(ValueError, match="reference='d' was given; expected one of 'a', 'b', 'c'"):
        compare(QUICK, X, y, reference="d")
    with pytest.raises(ValueError, match="y is missing"):
        compare(QUICK, X)
    with pytest.raises(ValueError, match="X has 48 samples and y has 3"):
        compare(QUICK, X, y[:3])
    with pytest.raises(ValueError, match="task='rank' was given"):
        compare("uniform", X, y, task="rank")
    with pytest.raises(ValueError, match="groups= was given for several datasets"):
        compare(QUICK, {"one": (X, y)}, groups=y)


# -- what it says ---------------------------------------------------------------------------------
def test_differences_are_those_of_the_corrected_test(found):
    assert all(len(scores.values) == 6 for scores in found.scores.values())
    for name, (difference, adjusted) in found.differences().items():
        d = np.subtract(found.scores[name].values, found.scores["a"].values)
        assert difference.p_value == pytest.approx(corrected_ttest(d, 0.5).p_value)
        assert adjusted >= difference.p_value
    assert set(found.differences()) == {"b", "c"} and found.against == "a"
    assert compare(QUICK, X, y, cv=3).against != "c"


def test_a_constant_is_the_line_of_chance(found):
    assert found.chance.values == pytest.approx(found.scores["c"].values)
    frame = found.to_frame()
    assert list(frame.index[-1:]) == ["chance"] and np.isnan(frame.loc["chance", "p_value"])
    assert frame.loc["chance", "mean"] == pytest.approx(frame.loc["c", "mean"])


def test_the_same_values_in_every_form(found, tmp_path):
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    frame = found.to_frame()
    assert [row["method"] for row in rows] == list(frame.index)
    assert [float(row["mean"]) for row in rows] == pytest.approx(list(frame["mean"]))
    text, latex, page = repr(found), found.to_latex(), found.to_html()
    for row in frame.itertuples():
        assert f"{row.mean:.3f}" in text and f"{row.mean:.3f}" in page and f"{row.mean:.3f} $\\pm$" in latex
    assert latex.count(r"\\") == 5 and latex.count("&") == 5 * 6 and "<b>" in page
    assert page.count("text-align:left") == 5 and page.count("text-align:right") == 5 * 6
    assert page == found._repr_html_()
    found.to_csv(tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text("utf-8") == found.to_csv()
    with pytest.raises(FileExistsError, match="exists and is not empty"):
        found.to_latex(tmp_path / "t.csv")
    found.to_latex(tmp_path / "t.csv", overwrite=True)


def test_names_are_no_markup():
    odd = compare({"a_b & <i>%": NearestCentroid()}, X, y, cv=2)
    assert r"a\_b \& $<$i$>$\%" in odd.to_latex() and "a_b &amp; &lt;i&gt;%" in odd.to_html()


class Broken(LogisticRegression):
    def fit(self, X, y):
        raise RuntimeError("out of order")


def test_a_method_that_fails_is_told_and_ranks_last():
    table = compare({"broken": Broken(), **QUICK}, X, y, cv=2)
    assert "broken failed in 2 of 2 folds: RuntimeError: out of order" in repr(table)
    assert re.search(r"broken +failed  ", repr(table)) and list(table.to_frame().index)[-2] == "broken"
    assert "broken" not in table.ranks() and "broken" not in table.differences()


def test_a_method_that_needs_numbers_is_told_what_makes_them():
    raw = pd.DataFrame({"a": ["<0.5", *map(str, X[1:, 0])]})
    assert "TablePreparer() before it" in compare({"a": NearestCentroid()}, raw, y, cv=2).scores["a"].error


def test_where_all_methods_fail_the_header_names_none():
    assert "from None" not in repr(compare({"broken": Broken()}, X, y, cv=2))


@pytest.mark.parametrize("methods", [{"r": Ridge(), **QUICK}, {**QUICK, "r": Ridge()}, {"r": Ridge()}])
def test_a_regressor_among_classes_is_named(methods):
    with pytest.raises(ValueError, match=r"'r' is for regression, and the task is classification.*'(a|b)'"):
        compare(methods, X, np.where(y == y[0], "a", "b"), cv=2)


def odd_score(model, X, y):
    """Of models that have neighbours only."""
    return float(model.centroids_.shape[0])


def test_a_score_that_a_constant_has_not_is_told():
    found = compare({"a": NearestCentroid()}, X, y[:, None], cv=2, scoring=odd_score)
    assert found.metric == "odd_score" and found.scores["a"].values == [2.0, 2.0]
    assert "guessing failed in 2 of 2 folds: AttributeError" in repr(found)
    assert found.above_chance("a") is None


def test_weights_of_samples_count_in_fits_and_scores():
    """A sample of weight 2 is two samples; fits without weights say so."""
    models = {
        "svc": make_pipeline(StandardScaler(), SVC()),
        "mkl": mk.MKLClassifier([Linear()], loss="squared"),
        "search": make_pipeline(StandardScaler(), GridSearchCV(SVC(), {"C": [1.0]}, cv=2)),
        "neighbours": KNeighborsClassifier(),
    }
    weight, rows = 1.0 + (np.arange(len(y)) % 2), np.repeat(np.arange(len(y)), 1 + np.arange(len(y)) % 2)
    half = np.isin(np.arange(len(y)), np.random.RandomState(0).permutation(len(y))[: len(y) // 2])
    cv = [(np.flatnonzero(half), np.flatnonzero(~half))]
    again = [(np.flatnonzero(half[rows]), np.flatnonzero(~half[rows]))]
    found = compare(models, X, y, cv=cv, sample_weight=weight)
    twice = compare({name: models[name] for name in ("mkl", "svc")}, X[rows], y[rows], cv=again)
    assert found.scores["mkl"].mean == pytest.approx(twice.scores["mkl"].mean)
    assert found.chance.mean == pytest.approx(twice.chance.mean)
    assert found.scores["svc"].complete and found.scores["search"].complete
    assert "KNeighborsClassifier.fit takes no sample_weight" in found.scores["neighbours"].error


# -- several datasets -----------------------------------------------------------------------------
def test_ranks_over_datasets():
    sets = {"all": (X, y), "some": (X[:, :2], y), "few": (X[:, 2:], y), "noise": (X[::-1], y)}
    found = compare(QUICK, sets, cv=2)
    assert isinstance(found, Comparisons) and set(found.of) == set(sets)
    ranks = found.ranking.mean_ranks
    assert sum(ranks.values()) == pytest.approx(6.0) and isinstance(found.of["all"], Comparison)
    frame = found.to_frame()
    assert frame.loc["a", "some"] == pytest.approx(found.of["some"].scores["a"].mean)
    assert (
        "Friedman's test" in repr(found) and "Nemenyi" in found.to_latex() and "guessing" in found.to_html()
    )
    alone = compare({"a": NearestCentroid(), "broken": Broken()}, {"one": (X, y), "two": (X, y)}, cv=2)
    assert alone.ranking is None and "Ranks need two methods" in repr(alone)
    assert "broken on one failed in 2 of 2 folds" in repr(alone)
    display = ComparisonDisplay.from_comparison(found)
    assert [len(one) for one in display.scores] == [4, 4, 4] and "rank" in display.ax_.get_xlabel()
    assert {n: np.mean(s) for n, s in zip(display.names, display.scores, strict=True)} == pytest.approx(ranks)
    with pytest.raises(ValueError, match="ranks need two methods"):
        ComparisonDisplay.from_comparison(alone)
    with pytest.raises(ValueError, match="sample_weight= was given for several datasets"):
        compare(QUICK, sets, sample_weight=np.ones(len(y)))


# -- the picture ----------------------------------------------------------------------------------
def test_the_picture_has_every_fold(found):
    display = ComparisonDisplay.from_comparison(found)
    dots = [len(one.get_offsets()) for one in display.ax_.collections]
    assert sorted(dots) == [1, 1, 1, 6, 6, 6] and display.ax_.get_xlabel() == "accuracy"
    with pytest.raises(TypeError, match="Ridge was given"):
        ComparisonDisplay.from_comparison(Ridge())
