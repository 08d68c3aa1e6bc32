"""Every check has a page, a case that triggers it alone, and is silent about healthy models."""

from __future__ import annotations

import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests import fitted_models
from tests.checks.cases import (
    BAD,
    CASES,
    HEALTHY,
    SAME,
    WIDE_RANGE,
    X,
    classifier,
    kernels,
    labels,
    numbers,
    scores,
    search,
)
from tests.fitted_models import FITTED, fitted

import manykernels as mk
from manykernels._checks import RULES, Facts, judge
from manykernels.fitting.model import percent
from manykernels.inspection import Permuted, check
from manykernels.kernels import Gaussian, Linear

PAGE = Path(__file__).resolve().parents[2] / "docs" / "checks.md"
CODES = [rule.code for rule in RULES]


def found(case):
    model, X, y, *more = case
    return check(model, X, y, **(more[0] if more else {}))


def test_codes_are_in_order_and_each_has_a_case():
    assert sorted(set(CODES)) == CODES == list(CASES)


@pytest.mark.parametrize("code", CODES)
def test_each_case_triggers_its_check_and_no_other(code):
    triggered = found(CASES[code]())
    assert [one.code for one in triggered] == [code]
    (one,) = triggered
    assert one.page == f"docs/checks.md#{code.lower()}"
    assert re.search(r"\d", one.message) or code in ("MK301", "MK412")  # which have names in their place
    for text in (one.message, one.advice):
        assert text.endswith(".") and "np." not in text and "nan" not in text
    assert str(one).startswith(f"{code}: ") and one.as_dict()["title"] == one.title


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_models_trigger_none(name):
    assert found(HEALTHY[name]()) == []


def test_every_check_has_a_place_on_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for rule in RULES:
        place = text.index(f"({rule.code.lower()})=\n")
        heading, _, rest = text[place:].split("\n", 1)[1].partition("\n")
        assert heading == f"### {rule.code}: {rule.title}"
        section = re.split(r"\n\(mk\d+\)=|\n## ", rest)[0]
        for part in ("**What was found.**", "**Why it matters.**", "**What to do.**"):
            assert part in section, f"{rule.code} lacks {part}"
    assert set(re.findall(r"^### (MK\d+)", text, re.MULTILINE)) == set(CODES)


# -- on estimators --------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [name for name in FITTED if name != "pipeline"])
def test_every_fitted_model_has_checks_and_is_not_changed_by_them(name):
    model, _ = fitted(name)
    before = set(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        codes = [one.code for one in model.checks_]
    assert set(codes) <= set(CODES) and set(vars(model)) == before
    again = pickle.loads(pickle.dumps(model))
    assert [one.code for one in again.checks_] == codes
    assert not hasattr(clone(model), "checks_")


def test_a_model_that_is_not_fitted_says_so():
    for model in (mk.MKLClassifier(), mk.MKLClassifierCV()):
        with pytest.raises(NotFittedError):
            _ = model.checks_


def test_a_search_without_a_model_has_nothing_to_say():
    model = mk.MKLClassifierCV(kernels, Cs=[1.0], norms=[2.0], cv=2, refit=False).fit(X, labels)
    assert model.checks_ == []


def test_checks_survive_a_file(tmp_path):
    from manykernels.persistence import load, save

    model, *_ = CASES["MK201"]()
    save(model, tmp_path / "a.model")
    assert load(tmp_path / "a.model").checks_ == model.checks_


def test_pipelines_and_searches_of_scikit_learn_are_read():
    narrow, X, y = CASES["MK302"]()
    pipe = make_pipeline(StandardScaler(), clone(narrow)).fit(X, y)
    grid = GridSearchCV(pipe, {"mklclassifier__C": [1.0]}, cv=2).fit(X, y)
    for model in (pipe, grid):
        assert [one.code for one in check(model, X, y)] == ["MK302"]


def test_samples_in_parts_are_checked():
    parts = {"a": X[:, :2], "b": np.column_stack([X[:, 2:], labels == "yes"])}
    model = mk.MKLClassifier().fit(parts, labels)
    (one,) = check(model, parts, labels)
    assert one.code == "MK412" and "'x2'" in one.message  # the third column of its view


@pytest.mark.parametrize("name", ["stack", "strings"])
def test_stacks_and_items_are_checked(name):
    model, _ = fitted(name)
    assert check(model, getattr(fitted_models, name), fitted_models.y) == []


def test_times_to_an_event_are_checked():
    model, _ = fitted("survival, search")
    times = fitted_models.TIMES["survival, search"]
    assert [one.code for one in check(model, fitted_models.X, times)] == ["MK201"]


def test_the_model_alone_and_the_data_agree():
    model, X, y = CASES["MK201"]()
    assert model.checks_ == check(model, X, y)


# -- what single rules read -----------------------------------------------------------------------
def test_guessing_is_judged_by_permutations_where_there_are_any():
    model, X, y = classifier()
    chance = Permuted(0.5, [0.4, 0.6, 0.5, 0.55])
    codes = [one.code for one in check(model, X, y, permuted=chance, **scores(SAME, SAME, BAD))]
    assert codes == ["MK501"]  # and nothing about the plain sum of a model that is no better than guessing


def test_a_search_that_only_guesses_says_nothing_of_its_C():
    model, *_ = CASES["MK501"]()
    assert model.best_params_["C"] == model.path_["finite"]["C"].min()
    assert [one.code for one in model.checks_] == ["MK501"]


def test_groups_that_the_folds_keep_together_are_fine():
    model, X, y = search([0.01, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4])
    pairs = np.arange(len(y)) // 2
    assert [one.code for one in check(model, X, y, sample_groups=pairs)] == ["MK404"]
    assert check(model, X, y, sample_groups=pairs, cv=3) == []


def test_leave_one_out_splits_groups():
    model = mk.MKLRegressorCV(kernels, cv="loo", norms=[2.0], strategy="finite", Cs=WIDE_RANGE).fit(
        X, numbers
    )
    codes = [one.code for one in check(model, X, numbers, sample_groups=np.arange(len(X)) // 3)]
    assert codes == ["MK404"]


def test_rows_of_few_categories_may_be_equal_by_chance():
    draw = np.random.RandomState(0)
    table = draw.randint(0, 3, (200, 3)).astype(float)
    y = np.where(table[:, 0] + draw.randn(200) > 1.0, "a", "b")
    model = mk.MKLClassifier(kernels).fit(table, y)
    assert "MK403" not in [one.code for one in check(model, table, y)]


def test_a_number_that_orders_the_rows_gives_the_classes_away():
    order = np.argsort(labels, kind="stable")
    table = np.column_stack([X[order], np.arange(len(X))])
    model = mk.MKLClassifier(kernels).fit(table, labels[order])
    (one,) = check(model, table, labels[order])
    assert one.code == "MK412" and "'x4'" in one.message


def test_a_monotone_copy_gives_a_number_away():
    y = X[:, 0] + X[:, 1]
    table = np.column_stack([X, np.exp(y)])
    model = mk.MKLRegressor(kernels).fit(table, y)
    assert [one.code for one in check(model, table, y)] == ["MK412"]


def test_nothing_is_found_where_nothing_is_known():
    model, *_ = classifier()
    assert judge(Facts(model._model)) == []


def test_a_path_that_is_level_at_its_end_is_no_reason():
    """The last step along C lowers the error by next to nothing: the C at the end is as good as others."""
    model, X, y = search([0.01, 0.03])
    path = model.path_[model.best_params_["strategy"]]
    chosen = np.asarray(path["C"]) == model.best_params_["C"]
    path["loss"] = np.where(chosen, 0.4999, 0.5)
    assert check(model, X, y) == []


def test_narrow_kernels_of_the_package_count_only_if_they_rule():
    """The narrowest of a family is nearly the identity on wide tables; beside others it does no harm."""
    rng = np.random.default_rng(0)
    wide = rng.normal(size=(80, 30))
    for given, codes in (("auto", []), ([Gaussian(0.01), Linear()], ["MK302"])):
        model = mk.MKLClassifier(given, norm=2.0).fit(wide, np.sign(wide[:, 0] + 0.1))
        assert [one.code for one in model.checks_ if one.code == "MK302"] == codes


@pytest.mark.parametrize(("gap", "shown"), [(1.0, "100"), (12.34, "1234"), (0.0042, "0.42")])
def test_a_gap_in_percent_is_written_in_digits(gap, shown):
    assert percent(gap) == shown
