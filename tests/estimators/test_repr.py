"""What notebooks show of a model."""

from __future__ import annotations

import warnings
from html import escape

import pytest
from sklearn import config_context
from tests.fitted_models import FITTED, X, fitted, y

from manykernels import MKLClassifier, MKLClassifierCV
from manykernels.estimators._repr import _WIDTH, summary
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
    text = summary(model)
    names = [name for m, name in enumerate(model.kernel_names_) if m in model.active_]
    assert sum(f'title="{escape(name)}"' in text for name in names) == min(10, len(names))
    assert ("more</td>" in text) == (len(names) > 10)
    assert "<script" not in text and "nan" not in text
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
    text = summary(search)
    assert f"Cross-validated accuracy {search.best_score_:.3f}" in text and "C = 1," in text
    assert "Cross-validated" not in summary(search.best_estimator_)
    search.set_params(scoring="roc_auc").fit(X, y)
    assert f"Cross-validated roc_auc {search.best_score_:.3f}" in summary(search)


def test_views_are_shown_first_and_their_kernels_can_be_unfolded():
    model, _ = fitted("views of a frame")
    text = summary(model)
    assert text.index("Share of each view") < text.index("<details") < text.index("Weights of kernels")
    share = 100 * model.view_weights_["n"] / sum(model.view_weights_.values())
    assert f"{share:.0f} %" in text
    assert f"width: {_WIDTH * share / 100:.0f}px" in text.split("<details")[0]  # the whole bar is 100 %


def test_checks_are_shown_where_there_are_any():
    assert "Be careful" not in summary(fitted("classifier")[0])
    model = MKLClassifier({"<i>": Gaussian(0.001), "b": Linear()}, norm=2.0).fit(X, y)
    text = summary(model)
    assert "<b>MK302</b>" in text and "<i>" not in text


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
