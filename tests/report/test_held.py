"""What a report says of held-out samples: against the predictions of the folds, and in sentences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, confusion_matrix, roc_auc_score
from tests.fitted_models import X, numbers, y
from tests.report.reports import MADE, SCORES, document

import manykernels as mk
from manykernels._checks import RULES
from manykernels.comparison.folds import cross_validate, make_folds
from manykernels.families import views
from manykernels.inspection import importance
from manykernels.inspection.effects import curve, grid_of, nearest_rows, swaps
from manykernels.kernels import Gaussian, Linear
from manykernels.report import markdown, report_data
from manykernels.report.baselines import compared
from manykernels.report.held import Look, gathered
from manykernels.report.methods import methods_section
from manykernels.report.names import number_shown, readable
from manykernels.report.quality import quality_section
from manykernels.report.samples import chosen_samples
from manykernels.report.verdict import NAMES, verdict_section, with_checks


def held_of(model, X, y, classes=True, cv=3):
    splits = make_folds(y, classes=classes, cv=cv)
    return gathered(cross_validate({"": model}, X, y, splits, keep={"": Look()})[""], splits)


@cache
def probable():
    """A model of another package, which has probabilities, and what is said of it."""
    held = held_of(LogisticRegression(C=0.1), X, y)
    return held, quality_section(held, y, "classification")


def test_classes_are_counted_as_they_were_predicted_when_held_out():
    held, found = probable()
    assert sorted(held.rows) == list(range(len(y)))
    truth, labels = np.asarray(y)[held.rows].astype(str), list(found["labels"])
    np.testing.assert_array_equal(
        found["counts"], confusion_matrix(truth, held.predicted.astype(str), labels=labels)
    )
    assert found["right"] == (truth == held.predicted.astype(str)).sum() and found["samples"] == len(y)
    fold = held.fold == 0
    expected = roc_auc_score(truth[fold] == labels[1], held.probability[fold, 1])
    assert found["curves"][0]["auc"]["folds"][0] == pytest.approx(expected)
    assert found["curves"][0]["roc"]["x"][0] == 0.0 and found["curves"][0]["roc"]["y"][-1] == 1.0


def test_calibration_is_what_happened_beside_what_was_said():
    held, found = probable()
    told = found["calibration"]
    happened = np.asarray(y)[held.rows] == held.classes[1]
    assert sum(told["samples"]) == len(y)
    weighted = np.dot(told["samples"], told["happened"]) / len(y)
    assert weighted == pytest.approx(happened.mean())
    assert told["said"] == sorted(told["said"])
    for share, low, high in zip(told["happened"], told["low"], told["high"], strict=True):
        assert 0.0 <= low <= share <= high <= 1.0
    assert told["brier"] == pytest.approx(brier_score_loss(happened, held.probability[:, 1]))
    constant = np.full(happened.size, happened.mean())
    assert told["brier_constant"] == pytest.approx(brier_score_loss(happened, constant))


def test_several_classes_have_a_curve_each():
    iris, three = load_iris(return_X_y=True)
    found = quality_section(held_of(mk.MKLClassifier([Linear()]), iris, three), three, "classification")
    assert [one["label"] for one in found["curves"]] == ["0", "1", "2"] and found["calibration"] is None
    assert np.sum(found["counts"]) == 150 and found["balanced"] == pytest.approx(np.mean(found["recall"]))


def test_errors_of_numbers_are_those_of_held_out_predictions():
    held = held_of(mk.MKLRegressor([Linear(), Gaussian(2.0)]), X, numbers, classes=False)
    found = quality_section(held, numbers, "regression")
    error = numbers[held.rows] - held.predicted
    assert found["mean_error"] == pytest.approx(np.abs(error).mean())
    assert found["rmse"] == pytest.approx(np.sqrt(np.mean(error**2))) and sum(found["counts"]) == len(X)
    train, test = held.splits[0]
    guess = np.abs(numbers[test] - numbers[train].mean()).sum()
    assert found["constant_error"] * len(X) > guess  # which is one fold's part of it
    two = np.column_stack([numbers, -numbers])
    held = held_of(mk.MKLRegressor([Linear()]), X, two, classes=False)
    told = quality_section(held, two, "regression")
    assert told["kind"] == "outputs" and told["R2"][0] == pytest.approx(told["R2"][1], abs=1e-3)


def test_what_failed_or_was_not_kept_has_no_quality():
    splits = make_folds(y, classes=True, cv=3)
    assert gathered(cross_validate({"": LogisticRegression()}, X, y, splits)[""], splits) is None
    assert quality_section(None, y, "classification") is None
    assert document("classifier", fit_path=False)["quality"] is None


# -- single samples -------------------------------------------------------------------------------
@cache
def told():
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"P{i}" for i in range(len(X))])
    model = mk.MKLClassifier([Linear(), Gaussian(2.0)], norm=2.0).fit(frame, y)
    found = compared(model, frame, y, cv=3)
    return found["held_out"], report_data(model, frame, y, made=MADE, fit_path=False, **found)


def test_single_samples_are_those_that_their_model_did_not_learn_from():
    held, document = told()
    found = document["contributions"]
    assert found["held_out"]
    predicted = dict(zip(held.rows, held.predicted.astype(str), strict=True))
    for one in found["samples"]:
        assert one["name"] == f"P{one['row']}" and one["predicted"] == predicted[one["row"]]
        assert one["truth"] == str(np.asarray(y)[one["row"]])
        assert sum(one["parts"]) + one["intercept"] == pytest.approx(one["decision"], rel=1e-3, abs=1e-4)
        assert {part["name"] for part in one["columns"]} <= set("abcd")
        assert one["why"] != "wrong" or one["truth"] != one["predicted"]
    kinds = [one["why"] for one in found["samples"]]
    assert all(kinds.count(kind) <= 2 for kind in kinds)


def test_a_value_in_place_of_others_changes_a_linear_decision_by_its_part():
    model = mk.MKLRegressor([Linear()], center=False, normalize=None).fit(X, X @ [1.0, -2.0, 0.0, 3.0])
    change = swaps(model, X, 4, [[j] for j in range(4)])[:, 0]
    slope = np.array([model.predict(np.eye(4)[[j]]) - model.predict(np.zeros((1, 4))) for j in range(4)])[
        :, 0
    ]
    others = np.setdiff1d(np.unique(np.linspace(0, len(X) - 1, 11).astype(int)), [4])[:10]
    np.testing.assert_allclose(change, slope * (X[4] - X[others].mean(axis=0)), atol=1e-8)


def test_a_sample_of_a_raw_table_is_told_with_its_values():
    table = pd.DataFrame({"number": X[:, 0], "group": np.where(X[:, 1] > 0, "u", "v")})
    table.loc[3, "number"] = np.nan
    model = mk.MKLClassifier().fit(table, y)
    found = chosen_samples(model, table, y)["samples"]
    for one in found:
        for part in one["columns"]:
            cell = table[part["name"]].iloc[one["row"]]
            assert part["value"] == (
                "missing" if pd.isna(cell) else f"{cell:.4g}" if part["name"] == "number" else cell
            )


# -- effects --------------------------------------------------------------------------------------
def test_effects_are_means_over_samples_that_were_given_a_value():
    grid = grid_of(X, 1)
    rows = nearest_rows(X, 1, grid)
    np.testing.assert_allclose(X[rows, 1], grid, atol=0.5)
    model = mk.MKLRegressor([Linear(), Gaussian(2.0)]).fit(X, numbers)
    found = curve(model, X[:20], X[rows], 1)
    for k, row in enumerate(rows):
        changed = X[:20].copy()
        changed[:, 1] = X[row, 1]
        assert found[k, 0] == pytest.approx(model.predict(changed).mean(), abs=1e-9)


def test_effects_of_the_leading_columns_come_with_their_importance():
    table = pd.DataFrame({"a": X[:, 0], "group": np.where(X[:, 1] > 0, "u", "v"), "b": X[:, 2]})
    target = np.where(X[:, 0] + 2.0 * (X[:, 1] > 0) > 1.0, "yes", "no")
    found = importance(mk.MKLClassifier(), table, target, cv=3, n_repeats=2, random_state=0, n_effects=2)
    assert [one.name for one in found.effects] == [found.names[j] for j in found.order[:2]]
    group = next(one for one in found.effects if one.name == "group")
    assert group.values == ["u", "v"] and group.outputs == ["no", "yes"] and not group.numeric
    means = group.means.mean(axis=0)
    np.testing.assert_allclose(means.sum(axis=1), 1.0)
    assert means[0, 1] > means[1, 1]
    with pytest.raises(ValueError, match="n_effects=-1 was given"):
        importance(mk.MKLClassifier(), table, target, n_effects=-1)
    assert importance(mk.MKLClassifier(), table, target, cv=2, n_repeats=1).effects == ()
    dates = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=9)})
    assert grid_of(dates, 0) == [] and grid_of(np.ones((5, 1)), 0) == []


# -- sentences ------------------------------------------------------------------------------------
def said(document, about):
    return " ".join(one["text"] for one in document["verdict"] if one["about"] == about)


def test_the_verdict_has_the_numbers_of_the_sections():
    _, document = told()
    quality, own = document["quality"], document["scores"]["rows"][0]
    text = said(document, "quality")
    assert f"{quality['right']} of {quality['samples']} samples that it did not learn from" in text
    assert f"{own['mean']:.3f} ± {own['std']:.3f} over 3 folds" in text
    rivals = [row["name"] for row in document["scores"]["rows"][1:]]
    assert all(name in said(document, "alternatives") for name in rivals)
    assert "There are only" in said(document, "care") or len(y) >= 100


def test_an_alternative_that_is_clearly_better_is_named():
    folds = [0.6, 0.61, 0.62, 0.6, 0.61]
    scores = [
        {"name": "learned", "folds": folds},
        {"name": "lasso", "folds": [f + 0.2 for f in folds]},
        {"name": "worse", "folds": [f - 0.2 for f in folds]},
        {"name": "like it", "folds": [0.61, 0.6, 0.62, 0.61, 0.6]},
    ]
    told = document("classifier", scores=scores, fit_path=False)["verdict"]
    tones = {one["tone"]: one["text"] for one in told if one["about"] == "alternatives"}
    assert "better in the same folds: the lasso (−0.200" in tones["bad"] and "use it" in tones["bad"]
    assert "worse (+0.200" in tones["good"] and "like it" in tones["plain"]


def test_the_same_score_in_every_fold_is_said_so():
    scores = [{**SCORES[0], "name": name} for name in ("learned", "plain sum of the kernels")]
    text = said(document("classifier", scores=scores, fit_path=False), "alternatives")
    assert text == "The model has the same score as the plain sum of the kernels in every fold."


def test_checks_of_columns_come_first_and_those_of_kernels_are_named():
    verdict = [
        {"about": "quality", "tone": "plain", "text": "a"},
        {"about": "care", "tone": "care", "text": "b"},
    ]
    rules = {rule.code: {"code": rule.code, "title": rule.title, "advice": "Do."} for rule in RULES}
    checks = [rules[code] | {"message": "So."} for code in ("MK201", "MK302", "MK412", "MK502")]
    assert [one["text"] for one in with_checks(verdict, checks)] == [
        "a",
        "So. Do. (MK412)",
        "b",
        "The checks below say what to do about this: C is at the end of its range (MK201); a kernel is "
        "nearly the identity (MK302); the weights are no better than the plain sum (MK502).",
    ]
    assert with_checks(verdict, []) == verdict


def test_a_loss_that_is_not_clear_is_said_with_its_interval():
    columns = {"names": ["age", "sex"], "mean": [0.1, 0.0], "low": [-0.02, -0.1], "high": [0.22, 0.1]}
    found = told()[1] | {"importance": {"metric": "C index", "views": None, "columns": columns}}
    (text,) = [one["text"] for one in verdict_section(found) if one["about"] == "columns"]
    assert "the C index falls by 0.100 on held-out samples, but the 95 % interval is −0.020 to 0.220" in text


def test_the_largest_loss_of_all_is_named_where_it_is_not_clear():
    columns = {"names": ["age", "stage"], "mean": [0.1, 0.04], "low": [-0.02, 0.01], "high": [0.22, 0.07]}
    found = told()[1] | {"importance": {"metric": "C index", "views": None, "columns": columns}}
    (text,) = [one["text"] for one in verdict_section(found) if one["about"] == "columns"]
    assert text.startswith("The predictions need the column stage: without it, the C index falls by 0.040")
    assert "No other column clearly matters (without age the mean loss is 0.100, but" in text
    columns |= {"mean": [0.01, 0.04]}
    (text,) = [one["text"] for one in verdict_section(found) if one["about"] == "columns"]
    assert text.endswith("No other column clearly matters.")


def test_numbers_for_people_have_no_power_of_ten_and_thousands_apart():
    shown = [number_shown(v) for v in (20876.4, 1950.0, 0.00012, 3.2e9, -76000.0, 0.0, 99.96)]
    assert shown == ["20,900", "1950", "0.00012", "3.2e+09", "-76,000", "0", "100"]
    assert number_shown(405123.0, 4, grouped=False) == "405100" and number_shown(float("nan")) == "nan"


def test_columns_of_a_view_with_the_same_gaps_are_one_row():
    """Joined views have hundreds of columns, and a sample that lacks a view lacks all of them."""
    table = pd.DataFrame(np.tile(X[:, :1], 5), columns=["g__a", "g__b", "h__a", "h__b", "age"])
    table.loc[:9, ["g__a", "g__b"]] = np.nan
    table.loc[:4, "h__a"] = np.nan
    names = {"g__a": "a (g)", "g__b": "b (g)", "h__a": "a (h)", "h__b": "b (h)"}
    model = mk.MKLRegressor().fit(table, numbers)
    found = report_data(model, table, numbers, fit_path=False, column_names=names)
    rows = [(row["name"], row["missing"], row["columns"]) for row in found["data"]["missing"]]
    assert rows == [("all 2 columns of g", 10, 2), ("a (h)", 5, 1)]
    assert "At least 5 % of the values are missing in 3 columns: all 2 columns of g (" in said(found, "care")
    assert found["weights"]["views"] is None


def test_samples_that_lack_a_view_are_counted_by_views():
    found = told()[1]
    n = found["data"]["samples"]
    missing = (("g__a", 9), ("g__b", 9), ("c", 12))
    gaps = [{"name": name, "missing": k, "share": k / n, "columns": 1} for name, k in missing]
    data = found["data"] | {"missing": gaps, "presence": {"views": ["g", "h"], "counts": [n - 9, n]}}
    text = " ".join(one["text"] for one in verdict_section(found | {"data": data}) if one["tone"] == "care")
    assert f"Not all of the {n} samples have every view: 9 lack g." in text
    assert "At least 5 % of the values are missing in 1 column: c" in text
    paragraph = methods_section(found | {"data": data}, "MKLClassifier", {})["text"]
    assert "Not all samples have every view: 9 lack g. Values are missing in 1 column." in paragraph


def test_the_paragraph_names_what_was_permuted():
    found = told()[1]
    rows = {"names": ["a", "b"], "mean": [0.1, 0.0]}
    for what, columns, blocks in (
        ("column", rows, None),
        ("column or view", rows, rows),
        ("view", None, rows),
    ):
        told_ = {"metric": "accuracy", "folds": 3, "repeats": 1, "columns": columns, "views": blocks}
        text = methods_section(found | {"importance": told_}, "MKLClassifier", {})["text"]
        assert f"The importance of a {what} is what accuracy loses" in text


def test_five_columns_that_matter_are_all_named():
    found = told()[1]
    names = list("abcdef")
    rows = {"names": names, "mean": [0.1] * 6, "low": [0.05] * 5 + [-0.1], "high": [0.2] * 6}
    told_ = {"metric": "accuracy", "columns": rows, "views": None}
    text = said({"verdict": verdict_section(found | {"importance": told_})}, "columns")
    assert "need the columns a, b, c, d and e: without each of them" in text and "more" not in text


def test_one_comparison_has_one_p_value():
    """The sentence, the tile, the verdict and the check say the same p, adjusted for all alternatives."""
    rng = np.random.default_rng(0)
    own = rng.normal(0.6, 0.02, 5)
    names = ("plain sum of the kernels", "best single kernel", "tuned SVC")
    rows = [{"name": "learned", "folds": own.tolist()}]
    rows += [{"name": name, "folds": (own + rng.normal(-0.01, 0.02, 5)).tolist()} for name in names]
    found = document("classifier", scores=rows, fit_path=False)
    above = {row["name"]: row["above"] for row in found["scores"]["rows"][1:]}
    assert above[names[0]]["p_adjusted"] >= above[names[0]]["p_value"]
    text, rival = said(found, "alternatives"), found["scores"]["rival"]
    assert all(one["shown"] in text and "adjusted p" in one["shown"] for one in above.values())
    assert rival["shown"] in rival["sentence"] and rival["shown"] == above[rival["name"]]["shown"]
    (check,) = [one for one in found["checks"] if one["code"] == "MK502"]
    assert above[names[0]]["shown"] in check["message"] and "adjusted p" in markdown(found)
    alone = document("classifier", scores=rows[:2], fit_path=False)["scores"]["rival"]
    assert alone["p_adjusted"] is None and ", p = " in alone["shown"]


def test_columns_that_were_set_aside_are_listed_and_no_reason_to_be_careful():
    found = document("classifier", fit_path=False, set_aside={"patient": NAMES, "site": "it is a name"})
    assert [one["name"] for one in found["data"]["dropped"]][:2] == ["patient", "site"]
    assert "patient" not in said(found, "care") and "site (it is a name)" in said(found, "care")


def test_columns_of_views_are_written_for_people():
    names = {"body__bmi": "bmi (body)", "body__s1": "s1 (body)", "body__s10": "s10 (body)"}
    given = {
        "names": ["body__bmi", "x"],
        "text": "In 'body__s10', body__s1 and body__s1x.",
        "call": "body__s1",
    }
    made = readable(given, names)
    assert made["names"] == ["bmi (body)", "x"] and made["call"] == "body__s1"
    assert made["text"] == "In 's10 (body)', s1 (body) and body__s1x."
    table = pd.DataFrame(X[:, :4], columns=["body__a", "body__b", "blood__a", "blood__c"])
    kernels = views({"body": ["body__a", "body__b"], "blood": ["blood__a", "blood__c"]})
    model = mk.MKLRegressor(kernels).fit(table, numbers)
    found = report_data(model, table, numbers, fit_path=False)
    assert [one["name"] for one in found["data"]["columns"]] == [
        "a (body)",
        "b (body)",
        "a (blood)",
        "c (blood)",
    ]


def test_groups_that_folds_split_are_found():
    groups = np.repeat(np.arange(len(X) // 4), 4)
    told = document("classifier", fit_path=False, sample_groups=groups, grouped_by="site")
    assert told["data"]["groups"] == {"name": "site", "count": len(X) // 4}
    model = mk.MKLClassifier([Linear()]).fit(X, y)
    found = compared(model, X, y, cv=2)
    report = report_data(model, X, y, fit_path=False, sample_groups=groups, **found)
    assert "MK404" in [one["code"] for one in report["checks"]]
    assert "MK404" in " ".join(one["text"] for one in report["verdict"])


def test_without_scores_the_verdict_says_so():
    told = document("classifier", scores=(), fit_path=False)
    assert "is not known: it was not scored" in said(told, "quality")
    failed = [{**SCORES[0], "mean": None, "folds": [0.5, None], "error": "failed in 1 of 2 folds: x."}]
    assert "it failed in 1 of 2 folds" in said(
        document("classifier", scores=failed, fit_path=False), "quality"
    )


def test_gaps_and_dropped_columns_are_listed_and_cautioned_of():
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "same": np.ones(len(X))})
    table.loc[:9, "b"] = np.nan
    model = mk.MKLRegressor().fit(table, numbers)
    found = report_data(model, table, numbers, fit_path=False)
    assert found["data"]["missing"] == [
        {"name": "b", "missing": 10, "share": pytest.approx(10 / len(X), rel=1e-4), "columns": 1}
    ]
    assert [one["name"] for one in found["data"]["dropped"]] == ["same"]
    assert "missing in 1 column: b (" in said(found, "care") and "same (" in said(found, "care")
    assert "'b'" in found["methods"]["text"]


def test_a_search_that_chooses_otherwise_on_halves_is_not_sure():
    found = told()[1]
    selection = {"again": {"names": ["a", "b"], "counts": [2, 18]}, "end": "largest"}
    text = [one["text"] for one in verdict_section(found | {"selection": selection}) if one["tone"] == "care"]
    assert any("in 2 of 20 random halves" in one for one in text)


def test_the_paragraph_about_methods_has_what_a_paper_needs():
    _, document = told()
    text, own = document["methods"]["text"], document["scores"]["rows"][0]
    for part in (
        f"{len(y)} samples",
        "4 columns",
        "norm = 2.0",
        "C = 1.0",
        "2 kernels",
        "in 3 folds",
        "Nadeau and Bengio 2003",
    ):
        assert part in text
    assert f"accuracy {own['mean']:.3f}" in text and f"manykernels {mk.__version__}" in text
    assert any("manykernels developers" in one for one in document["methods"]["references"])


def test_checks_are_listed_where_there_are_any():
    model = mk.MKLClassifier([Linear()]).fit(X, y)
    assert report_data(model, X, y, fit_path=False)["checks"] == []
    leaky = np.column_stack([X, y])
    model = mk.MKLClassifier([Linear()]).fit(leaky, y)
    (one,) = report_data(model, leaky, y, fit_path=False)["checks"]
    assert one["code"] == "MK412" and one["page"] == "docs/checks.md#mk412"
    assert list(one) == ["code", "title", "message", "advice", "page"] and all(one.values())
