"""Reports of several models side by side: against what was compared, in Markdown and in a browser."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from tests.fitted_models import X, numbers, y
from tests.report.reports import MADE, NASTY, survival
from tests.report.test_browser import browser, open_page  # noqa: F401 - fixtures

from manykernels import MKLClassifier, MKLSurvival
from manykernels.comparison.comparing import in_folds
from manykernels.comparison.folds import make_folds, times_of
from manykernels.kernels import Gaussian, Linear
from manykernels.report import comparison_data, markdown
from manykernels.report.held import Look, gathered


class Fails(Ridge):
    def fit(self, X, y):
        raise ValueError("there is nothing to learn.")


def compared(learners, X, y, task):
    splits = make_folds(y, classes=task == "classification", cv=3)
    keep = {name: Look(explain=False) for name in learners}
    results = in_folds(learners, X, y, splits, task=task, keep=keep)
    held = {name: gathered(scores, splits) for name, scores in results.scores.items()}
    return results, comparison_data(results, X, y, task=task, held_out=held, target=NASTY[1], made=MADE)


@cache
def classes():
    learners = {NASTY[0]: LogisticRegression(), "kernels": MKLClassifier([Linear(), Gaussian(2.0)])}
    return compared(learners, X, y, "classification")


@cache
def of_numbers():
    return compared({"ridge": Ridge(), "none": Fails()}, X, numbers, "regression")


@cache
def times():
    draw = np.random.default_rng(0)
    time = draw.exponential(np.exp(-X[:, 0]))
    target = times_of(pd.DataFrame({"event": time < 3.0, "time": np.minimum(time, 3.0)}))
    return compared(
        {"linear": MKLSurvival([Linear()]), "wide": MKLSurvival([Gaussian(5.0)])}, X, target, "survival"
    )


def test_models_stand_in_the_order_of_their_scores_with_their_own_predictions():
    results, found = classes()
    means = [row["mean"] for row in found["table"]]
    assert means == sorted(means, reverse=True) and found["against"] == results.best
    assert [one["name"] for one in found["models"]] == [row["method"] for row in found["table"]]
    for one in found["models"]:
        quality, scores = one["quality"], results.scores[one["name"]]
        assert quality["samples"] == len(y)
        share = np.average(scores.values, weights=[len(f.kept.predicted) for f in scores.folds])
        assert quality["right"] == round(share * len(y))
    known = {one["name"]: one["quality"]["calibration"] for one in found["models"]}
    assert known[NASTY[0]] is not None and known["kernels"] is None  # which gives no probabilities


def test_the_verdict_names_the_best_and_what_may_be_chance():
    results, found = classes()
    said = " ".join(one["text"] for one in found["verdict"])
    assert f"{results.best} predicts best" in said and "guessing" in said
    other = next(name for name in results.scores if name != results.best)
    assert other in said and "found on these folds" in said


def test_a_model_that_failed_is_named_with_its_reason():
    _, found = of_numbers()
    assert found["models"][1]["quality"] is None and found["models"][0]["quality"]["kind"] == "numbers"
    assert "there is nothing to learn" in found["left_out"]["none"]
    assert any("none is not compared" in one["text"] for one in found["verdict"])


def test_risk_groups_of_each_model():
    _, found = times()
    assert found["data"]["target"]["task"] == "survival" and len(found["models"]) == 2
    for one in found["models"]:
        assert one["survival"]["held_out"] and sum(g["samples"] for g in one["survival"]["groups"]) == len(X)
        assert "predicted" not in one["survival"] and "predicted" in survival()["survival"]


@pytest.mark.parametrize("kind", [classes, of_numbers, times])
def test_side_by_side_in_markdown(kind):
    results, document = kind()
    found = markdown(document)
    assert "## Side by side" in found and "None" not in found and "<script>" not in found
    assert found.count("\n### ") >= sum(one.complete for one in results.scores.values())


@pytest.mark.parametrize("kind", [classes, pytest.param(of_numbers, marks=pytest.mark.slow), times])
def test_side_by_side_in_a_browser(kind, open_page):  # noqa: F811
    _, document = kind()
    page = open_page(document)
    chapters = page.evaluate("[...document.querySelectorAll('main > section')].map(s => s.id)")
    assert chapters == ["verdict", "quality", "models", "made"]
    assert page.evaluate("[...document.querySelectorAll('.chart')].every(c => c.querySelector('svg *'))")
    assert page.locator("#table tbody tr").count() == 2
    assert "undefined" not in page.inner_text("main") and "NaN" not in page.content()
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_timeout(150)
    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    assert page.evaluate("window.hacked") is None
