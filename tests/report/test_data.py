"""What a report says: checked against the model, and against a snapshot."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import TimeSeriesSplit
from tests.fitted_models import FITTED, X, fitted, kernels, numbers, stack, y
from tests.report.reports import (
    NASTY,
    by_chance,
    document,
    every_type,
    many_targets,
    many_widths,
    nasty,
    one_width,
    products,
    stable_views,
)

import manykernels as mk
from manykernels.estimators import model_of
from manykernels.families import views
from manykernels.inspection import importance, significance
from manykernels.kernels import Constant, Gaussian, Linear, OnColumns
from manykernels.plots.reading import histories
from manykernels.recordings import BlockFold
from manykernels.report import anew, baseline_models, baselines, data, report, report_data, settled
from manykernels.report.chances import TITLE, chance_tests
from manykernels.report.widths import nearest_widths

SNAPSHOT = Path(__file__).with_name("snapshot.json")
# Sections that a model may lack; all others are there whatever it is.
LACKS = {
    "contributions": {"aligner", "strings"},  # one kernel, and no columns
    "convergence": {"align", "align regressor", "aligner", "ensemble", "ensemble of numbers"},
    "path": {
        *("align", "align regressor", "aligner", "ufo", "ufo warm", "ufo features", "ufo landmarks"),
        "widths",  # every C has widths of its own
    },
    "similarity": {"centred frame", "anova"},
}
SLOW_PATHS = {
    "many widths",
    "per feature",
    "hard",
    "kmeans",
    "powers",
    "learned gates",
}  # of many fits each; not done


def compares_nothing(section, model):
    """Whether a chart would show one kernel, or one step."""
    if section == "convergence" and model.proof is not None:
        return all(len(table["active"]) < 2 for table in histories(model).values())
    return section == "path" and model.active.size < 2 and model.listed


@pytest.mark.parametrize("name", FITTED)
def test_every_model_has_a_report(name):
    found = document(name, fit_path=name not in SLOW_PATHS)
    json.dumps(found, allow_nan=False)
    learned = model_of(fitted(name)[0])[0]
    for section, without in LACKS.items():
        lacks = name in without | (SLOW_PATHS if section == "path" else set())
        if section == "path" and learned.active.size < 2 and found["path"] is not None:
            assert len(found["path"]["names"]) > 1  # others have weight for another C
            continue
        assert (found[section] is None) == (lacks or compares_nothing(section, learned))
        told = {"path": "Weights along C", "convergence": "How the fit converged"}.get(section)
        assert (told in found["left_out"]) == (told is not None and name in without - {"widths"})
    assert (found["interactions"] is not None) == (name in ("products", "polynomials"))
    assert (found["gates"] is not None) == (name in ("localized", "hard", "kmeans", "learned gates"))
    mkl = fitted(name)[0][-1] if name == "pipeline" else fitted(name)[0]
    np.testing.assert_allclose(found["weights"]["values"], np.atleast_2d(mkl.weights_), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("name", ["products", "ovr", "pipeline", "search", "survival, strata", "approximate"])
def test_the_certificate_is_computed_anew(name):
    told, proof = document(name, fit_path=False)["recomputed"], model_of(fitted(name)[0])[0].proof
    assert told["certified"] and told["dual"] <= told["primal"]
    assert told["primal"] == pytest.approx(proof.primal, rel=1e-5)
    assert told["gap"] <= max(10.0 * proof.gap, 1e-3)  # features have another dual point


def test_a_certificate_of_other_samples_is_not_shown():
    model = mk.MKLRegressor(kernels).fit(X, numbers, sample_weight=1.0 + (numbers > 0.0))
    told = report_data(model, X, numbers, fit_path=False)
    assert told["recomputed"] is None and "weights" in told["left_out"]["The certificate, computed anew"]
    assert document("ufo", fit_path=False)["recomputed"] is None  # its problem is another one


@pytest.mark.parametrize("name", [name for name in FITTED if name not in LACKS["contributions"]])
def test_parts_add_up_to_the_decision(name):
    found = document(name, fit_path=False)["contributions"]
    if compares_nothing("contributions", model_of(fitted(name)[0])[0]):
        assert found is None
        return
    assert found["samples"]
    for one in found["samples"]:
        if one["parts"] is None:  # one kernel decides, or a power of a sum
            assert one["columns"]
            continue
        total = sum(one["parts"]) + one["intercept"]
        assert total == pytest.approx(one["decision"], rel=1e-3, abs=1e-4)
        assert len(one["parts"]) == len(found["names"])


def test_importance_is_told_as_it_was_measured():
    found = importance(fitted("classifier")[0], X, y, groups={"a": [0, 1], "b": [2, 3]}, cv=2, random_state=0)
    told = document("classifier", importance=found, fit_path=False)["importance"]
    assert told["columns"]["names"] == found.columns()["name"] and told["views"]["names"][0] in ("a", "b")
    np.testing.assert_allclose(told["columns"]["mean"], found.columns()["mean"], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(told["views"]["high"], found.views.columns()["high"], rtol=1e-5, atol=1e-12)
    assert (told["metric"], told["folds"], told["repeats"], told["of"]) == ("accuracy", 2, 5, 4)
    assert document("classifier", fit_path=False)["importance"] is None


def test_tests_and_what_halves_select_are_told_as_they_were_found():
    told = by_chance()["chance"]
    model = mk.MKLClassifier(views({"a": [0, 1], "b": [2, 3]})).fit(X, y)
    found = significance(model, X, y, by="view")
    np.testing.assert_allclose(told["tests"]["views"]["p_value"], np.sort(found.p_value), rtol=1e-5)
    assert told["tests"]["kernels"]["p_adjusted"] == sorted(told["tests"]["kernels"]["p_adjusted"])
    stable = told["stable"]["views"]
    assert stable["n_pairs"] == 2 and stable["expected_false"] == pytest.approx(1.0)
    assert stable["frequency"][0] >= stable["frequency"][1] and sum(stable["frequency"]) <= 1.0
    assert document("classifier", fit_path=False)["chance"] is None


def test_what_cannot_be_tested_is_left_out_with_a_reason():
    three = np.arange(len(y)) % 3
    model = mk.MKLClassifier({"a": Linear(), "b": Gaussian(2.0)}).fit(X, three)
    assert "this target has 3" in chance_tests(model, X, three)["left_out"][TITLE]
    many = chance_tests(model, X, three, most=10.0)["left_out"][TITLE]
    assert (
        many == f"Tests of 2 kernels on {len(y)} samples would take long. In Python: inspection.significance."
    )


def test_one_kernel_has_no_sections_that_compare_kernels():
    model = mk.MKLClassifierCV({"only": Gaussian(2.0)}, Cs=[0.1, 1.0, 10.0], norms=[1.0], cv=2).fit(X, y)
    found = report_data(model, X, y)
    assert all(found[section] is None for section in ("similarity", "widths"))
    assert all(one["parts"] is None and one["columns"] for one in found["contributions"]["samples"])
    assert found["path"]["names"] == [] and len(found["path"]["score"]) == 3
    assert report_data(mk.MKLClassifier([Gaussian(2.0)]).fit(X, y), X, y)["path"] is None


def test_chosen_samples_are_what_they_are_called():
    found = document("three classes")["contributions"]["samples"]
    model = fitted("three classes")[0]
    for one in found:
        assert one["predicted"] == str(model.predict(X[[one["row"]]])[0])
        decisions = model.decision_function(X[[one["row"]]])[0]
        assert one["decision"] == pytest.approx(decisions.max(), rel=1e-4)
        if one["why"].startswith("surely"):
            assert one["truth"] == one["predicted"] == one["why"].split()[1]
        if one["why"] == "wrong":
            assert one["truth"] != one["predicted"]


def test_interactions_name_columns_and_sum_weights():
    found = products()["interactions"]
    weights = {row["name"]: row["weight"] for row in found["products"]}
    pair = next(edge for edge in found["edges"] if set(edge["between"]) == {"age", "bmi"})
    both = [row["weight"] for row in found["products"] if {"age", "bmi"} <= set(row["features"])]
    assert pair["weight"] == pytest.approx(sum(both), rel=1e-4)
    assert len(weights) == len(found["products"])


def test_stability_belongs_to_its_kernels():
    model = fitted("classifier")[0]
    names = model.kernel_names_[::-1]
    stability = {
        "names": names,
        "low": [1.0, 2.0, 3.0],
        "high": [4.0, 5.0, 6.0],
        "frequency": [0.1, 0.2, 0.3],
    }
    found = document("classifier", stability=stability)["weights"]
    assert found["stability"]["low"] == [3.0, 2.0, 1.0] and found["stability"]["frequency"] == [0.3, 0.2, 0.1]


def test_a_search_tells_what_it_tried():
    search = mk.MKLClassifierCV(kernels, Cs=[0.1, 1.0], cv=2).fit(X, y)
    found = report_data(search, X, y)
    assert found["selection"]["chosen"] == search.best_params_["strategy"]
    assert found["path"]["C"] == [0.1, 1.0] and len(found["path"]["score"]) == 2
    assert found["estimator"] == "MKLClassifier"


def test_the_call_is_complete():
    model = mk.MKLClassifier({f"kernel {i}": Gaussian(1.0 + i) for i in range(60)}).fit(X, y)
    text = report_data(model, X, y, fit_path=False)["model"]
    assert "..." not in text and "kernel 59" in text


def test_names_are_kept_as_they_are():
    found = nasty()
    assert found["title"] == NASTY[0] and found["data"]["target"]["name"] == NASTY[1]
    assert [column["name"] for column in found["data"]["columns"]] == NASTY


@pytest.mark.parametrize("name", ["polynomials", "anova"])
def test_the_empty_product_is_called_a_constant(name):
    found = document(name)
    assert found["weights"]["constant"] == [fitted(name)[0].kernel_names_.index("1")]
    for section in ("weights", "path", "contributions"):
        assert "1 (constant)" in found[section]["names"] and "1" not in found[section]["names"]
    assert document("classifier", fit_path=False)["weights"]["constant"] == []


@pytest.mark.parametrize(("name", "converged"), [("ufo", False), ("classifier", True), ("powers", None)])
def test_a_gap_that_was_not_closed_is_told(name, converged):
    found = document(name, fit_path=False)
    assert found["weights"]["converged"] is converged
    assert ("not converged" in found["certificate"]) == (converged is False)


def test_widths_without_weight_are_not_shown():
    columns = {"first": OnColumns(Linear(), 0), "narrow": Gaussian(1e-3)}
    model = mk.MKLRegressor(columns, C=0.1).fit(X, X[:, 0])
    assert model.weights_[1] == 0.0
    assert report_data(model, X, X[:, 0], fit_path=False)["widths"] is None


def test_a_path_on_some_samples_has_the_costs_of_all(monkeypatch):
    """Each sample twice, of which the path sees one: the same weights at the same C."""
    model = mk.MKLRegressor(kernels, norm=2.0, tol=1e-6).fit(np.repeat(X, 2, axis=0), np.repeat(numbers, 2))
    whole = report_data(model, np.repeat(X, 2, axis=0), np.repeat(numbers, 2))["path"]
    monkeypatch.setattr(data, "_path_samples", lambda n: np.arange(0, n, 2))
    some = report_data(model, np.repeat(X, 2, axis=0), np.repeat(numbers, 2))["path"]
    assert some["C"] == whole["C"] and some["chosen"] == whole["chosen"] == 1.0
    weights = dict(zip(some["names"], some["weights"], strict=True))
    for name, row in zip(whole["names"], whole["weights"], strict=True):
        np.testing.assert_allclose(weights[name], row, atol=1e-3)


# -- comparison -----------------------------------------------------------------------------------
def test_baselines_are_tried_on_the_same_folds():
    model = mk.MKLClassifier([Linear(), Gaussian(2.0)]).fit(X, y)
    rows = baselines(model, X, y, cv=3)
    expected = ["learned", "plain sum of the kernels", "best single kernel", "tuned SVC", "chance"]
    assert [row["name"] for row in rows] == expected
    assert all(len(row["folds"]) == 3 and 0 <= row["mean"] <= 1 for row in rows)
    np.testing.assert_allclose(rows[0]["mean"], np.mean(rows[0]["folds"]))


def test_baselines_suit_the_model():
    assert "tuned SVC" not in baseline_models(fitted("stack")[0], stack)
    assert set(baseline_models(fitted("widths")[0], X)) == {"tuned kernel ridge"}
    models = baseline_models(fitted("pipeline")[0], X)
    assert all(next(iter(model.named_steps)) == "standardscaler" for model in models.values())


def test_a_search_is_scored_by_what_it_chose():
    search = mk.MKLRegressorCV(kernels, Cs=[0.1, 1.0], norms=[2.0], cv=2).fit(X, numbers)
    one = settled(search)
    assert isinstance(one, mk.MKLRegressor) and one.C == search.best_params_["C"] and one.norm == 2.0
    assert not hasattr(one, "weights_")


@pytest.mark.slow
def test_a_search_chooses_anew_within_what_it_is_given():
    search = mk.MKLClassifierCV(kernels, Cs=[0.1, 1.0], norms=[2.0], n_jobs=2).fit(X, y)
    one = anew(search)
    assert isinstance(one, mk.MKLClassifierCV) and not hasattr(one, "best_params_")
    assert one.cv.get_n_splits() == 3 and one.n_jobs is None and set(one.kernels) == set(kernels)
    plain = anew(search.best_estimator_)
    assert plain.C == search.best_params_["C"] and not hasattr(plain, "weights_")


@pytest.mark.parametrize("folds", [BlockFold(3, gap=2), TimeSeriesSplit(3)], ids=["blocks", "series"])
def test_a_search_over_samples_in_time_keeps_its_folds(folds):
    search = mk.MKLRegressorCV(kernels, Cs=[1.0], norms=[2.0], cv=folds).fit(X, numbers)
    again = anew(search).cv
    assert type(again) is type(folds) and vars(again) == vars(folds)


def test_the_best_single_kernel_is_chosen_by_what_it_is_given():
    noise = np.random.default_rng(0).standard_normal((len(X), 2))
    table = np.hstack([np.where(y == y[0], 1.0, -1.0)[:, None], noise])
    columns = {f"column {j}": OnColumns(Linear(), j) for j in range(3)}
    single = baseline_models(mk.MKLClassifier(columns).fit(table, y), table)["best single kernel"]
    assert single.fit(table, y).score(table, y) == 1.0
    assert single.search_.kernel_names_ == ["column 0"]


def test_a_report_in_one_call(tmp_path):
    model = mk.MKLClassifier([Linear(), Gaussian(2.0)]).fit(X, y)
    report(model, X, y, tmp_path / "report.html", cv=None, title="One call")
    assert "<title>One call</title>" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_what_was_chosen_has_the_least_error():
    search = mk.MKLRegressorCV(kernels, strategy=["finite", "aligned"], Cs=[0.1, 1.0], cv=2).fit(X, numbers)
    found = report_data(search, X, numbers, fit_path=False)["selection"]
    assert found["by"] == "error" and found["folds"] == [2, 2]
    assert found["strategy"][int(np.argmin(found["error"]))] == found["chosen"]


# -- stability ------------------------------------------------------------------------------------
def test_intervals_of_views_are_of_their_own_weights():
    found = stable_views()["weights"]["views"]
    for low, high in zip(found["stability"]["low"], found["stability"]["high"], strict=True):
        assert 0.0 <= low <= high <= 1.0 + 1e-6
    # the views share one unit of weight, so what one may have the other must lack
    assert found["stability"]["low"][0] == pytest.approx(1.0 - found["stability"]["high"][1], abs=1e-3)
    model = mk.MKLClassifier(views({"left": [0, 1], "right": [2, 3]}), norm=2.0).fit(X, y)
    shares = report_data(model, X, y, fit_path=False)["weights"]["views"]["values"]
    assert np.sum(shares) == pytest.approx(1.0, abs=1e-5) and sum(model.view_weights_.values()) > 1.1


def test_widths_that_halves_find_are_told_beside_those_of_all_samples():
    found = one_width()["widths"]
    spread, used = found["stability"], np.array(found["weights"]) > 0
    assert len(spread["low"]) == len(found["values"]) and spread["resamples"] == 4
    assert any(0 < share <= 1 for share in spread["frequency"])
    assert all(low is None for low, use in zip(spread["low"], used, strict=True) if not use)
    found = many_widths()["widths"]
    ends = np.array([found["stability"]["low"], found["stability"]["high"]])
    assert ends.shape == (2, len(found["features"])) and (ends[0] <= ends[1]).all()


def test_widths_belong_to_the_nearest_by_logarithm():
    own, theta = np.array([1.0, 5.0, 10.0]), np.array([0.5, 0.0, 0.5])
    found = nearest_widths(own, theta, np.array([2.0, 8.0, 4.0]), np.array([1.0, 0.5, 0.5]))
    assert found[0] == pytest.approx(2.0) and np.isnan(found[1])  # which has no weight
    assert found[2] == pytest.approx(np.sqrt(8.0 * 4.0))
    assert np.isnan(nearest_widths(own, theta, np.array([2.0]), np.array([1.0]))[2])


# -- snapshot -------------------------------------------------------------------------------------
def without_times(value):
    """The shape of what differs from run to run, and all else as it is."""
    value["convergence"] = sorted(value["convergence"]["lines"][0])
    value["version"] = "x"
    value["methods"] = sorted(value["methods"])
    return value


def close(new, old, where=""):
    """Equal but for the last digits of numbers."""
    if isinstance(old, dict):
        assert list(new) == list(old), where
        for key in old:
            close(new[key], old[key], f"{where}.{key}")
    elif isinstance(old, list):
        assert len(new) == len(old), where
        for i, (a, b) in enumerate(zip(new, old, strict=True)):
            close(a, b, f"{where}[{i}]")
    elif isinstance(old, float):
        assert new == pytest.approx(old, rel=0.02, abs=2e-3), where
    else:
        assert new == old, where


class Fussy(mk.MKLClassifier):
    """Refuses training parts that lack a certain sample."""

    def fit(self, X, y, sample_weight=None):
        if not (X == FIRST).all(axis=1).any():
            raise ValueError("the first sample is missing.")
        return super().fit(X, y, sample_weight)


FIRST = X[0]


def test_a_method_that_fails_in_a_fold_has_no_mean_and_says_why():
    model = Fussy(kernels).fit(X, y)
    rows = {row["name"]: row for row in baselines(model, X, y, cv=3)}
    own, rival = rows["learned"], rows["plain sum of the kernels"]
    assert own["mean"] is None and own["std"] is None
    assert own["error"] == "failed in 1 of 3 folds: the first sample is missing."
    assert [value is None for value in own["folds"]].count(True) == 1
    assert rival["error"] is None and rival["mean"] == pytest.approx(np.mean(rival["folds"]))
    shown = report_data(model, X, y, scores=list(rows.values()), fit_path=False)["scores"]["rows"]
    assert shown[0]["error"] == own["error"] and shown[0]["mean"] is None


def test_the_best_single_kernel_of_data_with_heavy_tails_in_some_folds(tmp_path):
    """Its name may be one that only some of the folds have."""
    table = np.random.default_rng(3).standard_normal((60, 3))
    table[:2, 1] *= 6.0  # heavy tails that hang on two samples
    target = (table[:, 0] > 0).astype(int)
    model = mk.MKLClassifier().fit(table, target)
    assert any("normal scores" in name for name in model.kernel_names_)
    assert not any(
        "normal scores" in name for name in mk.MKLClassifier().fit(table[2:], target[2:]).kernel_names_
    )
    assert [row["error"] for row in baselines(model, table, target, cv=3)] == [None] * 5


def test_the_best_single_kernel_of_sparse_data():
    """Widths differ from fold to fold; the kernels go by their quantiles."""
    draw = np.random.default_rng(3)
    words = sparse.random_array((60, 20), density=0.2, rng=draw, format="csr")
    target = (words.sum(axis=1) > np.median(words.sum(axis=1))).astype(int)
    rows = {row["name"]: row for row in baselines(mk.MKLClassifier().fit(words, target), words, target, cv=3)}
    assert rows["best single kernel"]["error"] is None
    assert rows["best single kernel"]["mean"] > 0.5


@pytest.mark.filterwarnings("ignore:kernel .constant. is constant")
def test_a_column_that_is_called_1_is_not_the_empty_product():
    table = pd.DataFrame({"1": X[:, 0], "b": X[:, 1]})
    model = mk.MKLRegressor({"1": OnColumns(Linear(), "1"), "constant": Constant()}).fit(table, numbers)
    found = report_data(model, table, numbers, fit_path=False)["weights"]["names"]
    assert found == ["1", "constant"]


def test_columns_are_called_what_the_preparation_found():
    found = {c["name"]: c for c in every_type()["data"]["columns"]}
    kinds = {"float": "numbers", "bool": "numbers", "span": "numbers", "date": "date", "text": "text"}
    kinds |= {"category": "categories", "identifier": "left out", "constant": "left out"}
    assert {name: found[name]["kind"] for name in kinds} == kinds
    assert "identifier" in found["identifier"]["why"] and "the same" in found["constant"]["why"]


def test_columns_that_were_left_out_have_no_importance():
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "same": np.ones(len(X))})
    model = mk.MKLRegressor().fit(table, numbers)
    found = importance(model, table, numbers, cv=2, n_repeats=1, random_state=0)
    assert "same" in found.names
    section = report_data(model, table, numbers, fit_path=False, importance=found)["importance"]
    assert sorted(section["columns"]["names"]) == ["a", "b"] and section["of"] == 2


def test_many_targets_are_told_together():
    told = many_targets()
    target, weights = told["data"]["target"], told["weights"]
    assert target["outputs"] == 20 == sum(target["scores"]["counts"]) and "mean" not in target
    assert target["scores"]["low"] <= target["scores"]["median"] <= target["scores"]["high"] <= 1.0
    assert weights["targets"] == 20 and weights["rows"] is None and len(weights["values"]) == 1
    assert sum(weights["values"][0]) == pytest.approx(1.0, rel=1e-4)
    assert told["contributions"] is None and "20 targets" in told["left_out"]["Single samples"]
    assert "samples left out" in told["left_out"]["How the fit converged"]
    assert "partial_fit" not in told["left_out"]["How the fit converged"]


def test_the_snapshot():
    """MANYKERNELS_SNAPSHOT=1 writes it anew; read what changed before it is committed."""
    found = without_times(document("logistic", call="manykernels fit data.csv"))
    found["weights"]["gap"] = found["recomputed"]["gap"] = found["recomputed"]["dual"] = None
    found["certificate"] = found["certificate"].split(";")[0]
    if os.environ.get("MANYKERNELS_SNAPSHOT"):
        SNAPSHOT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    close(found, json.loads(SNAPSHOT.read_text(encoding="utf-8")))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_path_of_fits_that_stopped_early_says_so():
    model = mk.MKLClassifier([Linear(), Gaussian(2.0), Gaussian(4.0)], max_iter=1, tol=1e-9).fit(X, y)
    told = report_data(model, X, y)["left_out"]["Weights along C: the last digits"]
    assert re.match(r"\d+ fits? stopped before the tolerance was reached", told)


def test_single_samples_are_called_by_their_names():
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"P{i}" for i in range(len(X))])
    model = mk.MKLClassifier({"a": Gaussian(1.0), "b": Linear()}, norm=2.0).fit(frame, y)
    named = {"P": report_data(model, frame, y, fit_path=False)}
    named["Q"] = report_data(model, X, y, fit_path=False, sample_names=[f"Q{i}" for i in range(len(X))])
    for letter, found in named.items():
        samples = found["contributions"]["samples"]
        assert [one["name"] for one in samples] == [f"{letter}{one['row']}" for one in samples]
    assert report_data(model, X, y, fit_path=False)["contributions"]["samples"][0]["name"] is None


def test_a_report_has_one_bar_and_the_models_in_it_have_none(tmp_path, capfd):
    model = mk.MKLClassifier({"a": Gaussian(1.0), "b": Linear()}, verbose=1).fit(X, y)
    capfd.readouterr()
    report(model, X, y, tmp_path / "quiet.html", cv=2, n_permutations=0)
    assert capfd.readouterr().err == ""
    report(model, X, y, tmp_path / "bar.html", cv=2, n_permutations=0, verbose=1)
    assert {line.split()[0] for line in capfd.readouterr().err.split("\r") if line.strip()} == {"report"}


def test_wide_tables_have_a_sparse_linear_rival():
    rng = np.random.RandomState(0)
    wide = rng.randn(30, 40)
    model = mk.MKLRegressor([Linear()]).fit(wide, wide[:, 0])
    assert list(baseline_models(model, wide))[-1] == "lasso"
    rows = {row["name"]: row["mean"] for row in baselines(model, wide, wide[:, 0], cv=3)}
    assert rows["lasso"] > 0.5 > rows["tuned kernel ridge"]
    labels = (wide[:, 0] > 0).astype(int)
    model = mk.MKLClassifier([Linear()]).fit(wide, labels)
    assert list(baseline_models(model, wide))[-1] == "sparse linear SVM"
    assert "sparse linear SVM" not in baseline_models(mk.MKLClassifier([Linear()]).fit(X, y), X)
