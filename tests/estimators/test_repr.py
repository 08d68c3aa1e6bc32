"""What notebooks show of a model."""

from __future__ import annotations

import warnings

import pytest
from sklearn import config_context
from tests.fitted_models import FITTED, X, fitted, y

from manykernels import MKLClassifier, MKLClassifierCV
from manykernels.estimators._repr import summary
from manykernels.kernels import Gaussian, Linear

UNLISTED = {"products", "widths", "many widths", "polynomials", "anova"}
UNCERTIFIED = {"powers", "learned gates"}


def shown(model):
    """As a notebook asks for it, both ways."""
    html = model._repr_mimebundle_()["text/html"]
    assert summary(model) in model._repr_html_() and summary(model) in html
    return html


@pytest.mark.parametrize("name", [name for name in FITTED if name != "pipeline"])
def test_every_fitted_model_shows_its_largest_kernels(name):
    model, _ = fitted(name)
    html = shown(model)
    assert html.count("manykernels-summary") == 1
    rows = summary(model).count("<tr")
    assert rows == min(8, len(model.active_))
    if hasattr(model, "dual_gap_") and name not in UNCERTIFIED:
        assert f"gap {model.dual_gap_:.1e}" in html
        text = summary(model)
        assert ("certified" in text) == (model.certified_ and "not converged" not in text)
        assert ("certified over the whole family" in text) == (model.certified_ and name in UNLISTED)
    if name in UNCERTIFIED:
        assert "no certificate" in html


def test_a_search_shows_what_it_chose():
    search = MKLClassifierCV([Linear(), Gaussian(2.0)], Cs=[1.0], cv=2).fit(X, y)
    assert shown(search).count("manykernels-summary") == 1
    assert summary(search) == summary(search.best_estimator_)


def test_the_count_says_what_there_was_to_choose_from():
    assert "2 of 3 kernels have weight" in summary(fitted("classifier")[0])
    assert "3 kernels were found" in summary(fitted("products")[0])


def test_what_is_not_proven_is_not_called_certified():
    table = summary(fitted("ufo")[0])
    assert "not converged: relative duality gap" in table and "% lower" in table and "certified" not in table
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stopped = MKLClassifier([Linear(), Gaussian(2.0), Gaussian(0.5)], max_iter=1, tol=1e-9).fit(X, y)
    assert ("not converged" in summary(stopped)) == (stopped.dual_gap_ > 1e-9)


def test_an_unfitted_model_shows_the_diagram_only():
    assert "manykernels-summary" not in MKLClassifier()._repr_mimebundle_()["text/html"]
    with config_context(display="text"):
        assert "text/html" not in fitted("classifier")[0]._repr_mimebundle_()


def test_names_are_shown_and_not_run():
    name = """<script>alert("x")</script>'&"""
    model = MKLClassifier({name: Linear(), "<b>" * 40: Gaussian(2.0)}, norm=2.0).fit(X, y)
    table = summary(model)
    assert "<script" not in table and "<b>" not in table
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#x27;&amp;" in table
