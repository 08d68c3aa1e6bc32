"""Displays show what the model holds, for every kind of model, and say plainly where there is nothing."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.fitted_models import FITTED, X, fitted, kernels, new, stack, y

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.estimators import model_of
from manykernels.families import Products, Relevance
from manykernels.kernels import Gaussian
from manykernels.measures import kernel_similarity
from manykernels.plots import (
    ContributionDisplay,
    ConvergenceDisplay,
    ImportanceDisplay,
    KernelSimilarityDisplay,
    PathDisplay,
    WeightsDisplay,
    WidthsDisplay,
)
from manykernels.plots._axes import short
from manykernels.plots.reading import width_table

NO_HISTORY = {"align", "align regressor", "aligner", "ensemble", "ensemble of numbers"}
NO_PARTS = {"aligner", "powers"}
NO_WIDTHS = {
    "rank one",
    "tanimoto",
    "stack",
    "strings",
    "products",
    "polynomials",
    "views of a frame",
    "centred frame",
}
PAINTED = {"classifier", "ovr", "many widths"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def draw(display, name="classifier"):
    """Everything is laid out and painted, so that a label which cannot be drawn fails; of some models."""
    if name in PAINTED:
        display.figure_.canvas.draw()
    return display


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


# -- all models -----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FITTED)
def test_weights_of_every_model(name):
    model, _ = fitted(name)
    display = draw(WeightsDisplay.from_estimator(model), name)
    mkl = model[-1] if name == "pipeline" else model
    if mkl.weights_.ndim == 1:
        drawn = [bar.get_width() for bar in display.ax_.containers[0]]
        expected = mkl.weights_[np.argsort(-np.abs(mkl.weights_), kind="stable")][:30]
        np.testing.assert_array_equal(drawn, expected)
        assert ticks(display.ax_.yaxis)[0] == short(mkl.kernel_names_[np.argmax(np.abs(mkl.weights_))])
    else:
        image = display.ax_.images[0].get_array()
        assert image.shape == mkl.weights_.T.shape
        np.testing.assert_array_equal(np.sort(image.filled(0.0).ravel()), np.sort(mkl.weights_.ravel()))


@pytest.mark.parametrize("name", FITTED)
def test_convergence_of_every_model(name):
    model, _ = fitted(name)
    if name in NO_HISTORY:
        with pytest.raises(ValueError, match="keeps no history"):
            ConvergenceDisplay.from_estimator(model)
        return
    display = draw(ConvergenceDisplay.from_estimator(model, against="steps"), name)
    mkl = model[-1] if name == "pipeline" else model
    history = mkl.history_[0] if isinstance(mkl.history_, list) else mkl.history_
    expected = {"gap": "gap", "objective": "objective", "bound": "dual"}[display.quantity_]
    np.testing.assert_allclose(display.ax_.lines[0].get_ydata(), history[expected])
    uncertified = dict.fromkeys(("powers", "learned gates"), "objective")
    assert display.quantity_ == uncertified.get(name, "bound" if "ufo" in name else "gap")


@pytest.mark.parametrize("name", FITTED)
def test_similarity_of_every_model(name):
    model, _ = fitted(name)
    given = {"stack": stack, "ufo features": new, "ufo landmarks": new, "approximate": new}.get(name)
    if given is not None:
        with pytest.raises(ValueError, match="give X"):
            KernelSimilarityDisplay.from_estimator(model)
    display = draw(KernelSimilarityDisplay.from_estimator(model, given), name)
    S = display.similarity
    np.testing.assert_allclose(np.diag(S), 1.0)
    np.testing.assert_allclose(S, S.T)
    assert len(display.names) == len(S)


@pytest.mark.parametrize("name", FITTED)
def test_contributions_of_every_model(name):
    model, data = fitted(name)
    if name in NO_PARTS:
        with pytest.raises(ValueError, match="no contributions"):
            ContributionDisplay.from_estimator(model, data)
        return
    several = draw(ContributionDisplay.from_estimator(model, data, samples=[2, 5]), name)
    image = np.asarray(several.ax_.images[0].get_array())
    np.testing.assert_allclose(image[:, :-1].sum(axis=1), image[:, -1])
    one = draw(ContributionDisplay.from_estimator(model, data, samples=[5], max_kernels=1), name)
    ask = model.decision_function if hasattr(model, "decision_function") else model.predict
    decision = np.atleast_1d(ask(data[:6])[5])[0]  # of the first class or output
    assert one.ax_.containers[-1][0].get_width() == pytest.approx(decision)
    assert several.samples == ["2", "5"]


@pytest.mark.parametrize("name", FITTED)
def test_widths_of_every_model(name):
    model, _ = fitted(name)
    if name in NO_WIDTHS or name == "anova":
        with pytest.raises(ValueError, match="width or a frequency"):
            WidthsDisplay.from_estimator(model)
        return
    display = draw(WidthsDisplay.from_estimator(model), name)
    assert display.ax_.get_xscale() == "log" and np.all(display.values > 0)


# -- single displays ------------------------------------------------------------------------------
def test_similarity_is_the_centred_alignment():
    display = KernelSimilarityDisplay.from_estimator(fitted("classifier")[0])
    order = [list(kernels).index(name) for name in display.names]
    np.testing.assert_allclose(display.similarity, kernel_similarity(kernels, X)[np.ix_(order, order)])


def test_many_kernels_with_odd_names_are_shown_as_they_are():
    odd = {f"{'long ' * 30}$\\frac{{{i}}}$ <b>_^ \n %": Gaussian(1.0 + 0.1 * i) for i in range(200)}
    model = MKLClassifier(odd, norm=1.1).fit(X, y)
    for display in (
        WeightsDisplay.from_estimator(model),
        ContributionDisplay.from_estimator(model, X),
        ContributionDisplay.from_estimator(model, X, samples=[0]),
        KernelSimilarityDisplay.from_estimator(model),
        PathDisplay([0.1, 1.0], np.stack([model.weights_] * 2), list(odd)).plot(),
    ):
        draw(display)
    display = WeightsDisplay.from_estimator(model, max_kernels=20)
    assert len(display.ax_.containers[0]) == 20 and "180 are not shown" in display.ax_.get_title("left")
    labels = ticks(display.ax_.yaxis)
    assert all(len(label) <= 38 and "$" in label for label in labels)


@pytest.mark.parametrize("shape", [dict, lambda **kw: SimpleNamespace(**kw)])
def test_intervals_belong_to_their_kernels(shape):
    model, _ = fitted("classifier")
    names = list(reversed(model.kernel_names_))
    stability = shape(
        names=names,
        mean=[0.3, 0.2, 0.1],
        low=[0.2, 0.1, 0.0],
        high=[0.4, 0.3, 0.2],
        frequency=[1.0, 0.5, 0.25],
    )
    display = draw(WeightsDisplay.from_estimator(model, stability=stability))
    labels = ticks(display.ax_.yaxis)
    line = next(line for line in display.ax_.lines if line.get_marker() == "o")
    shown = dict(zip(labels, line.get_xdata(), strict=True))
    assert shown == {"wide": 0.3, "narrow": 0.2, "linear": 0.1}
    texts = {round(t.get_position()[1]): t.get_text() for t in display.ax_.texts if "%" in t.get_text()}
    assert texts[labels.index("narrow")] == "50%"


def test_intervals_need_one_row_of_weights():
    stability = {"names": ["a"], "low": [0.0], "high": [1.0]}
    with pytest.raises(ValueError, match="several rows"):
        WeightsDisplay.from_estimator(fitted("ovr")[0], stability=stability)
    with pytest.raises(ValueError, match="needs names"):
        WeightsDisplay.from_estimator(fitted("classifier")[0], stability={"names": ["a"]})


def test_the_path_is_that_of_single_fits():
    model = MKLClassifier(kernels).fit(X, y)
    display = draw(PathDisplay.from_estimator(model, X, y, Cs=[10.0, 0.1]))
    np.testing.assert_array_equal(display.C, [0.1, 10.0])
    for C, weights in zip(display.C, display.weights, strict=True):
        np.testing.assert_array_equal(weights, MKLClassifier(kernels, C=C).fit(X, y).weights_)


def test_the_path_of_a_search():
    search = MKLClassifierCV(kernels, Cs=[0.1, 1.0, 10.0], norms=[1.0, 2.0], cv=3).fit(X, y)
    display = draw(PathDisplay.from_estimator(make_pipeline(search)))
    np.testing.assert_array_equal(display.C, [0.1, 1.0, 10.0])
    chosen = list(display.C).index(display.chosen)
    np.testing.assert_array_equal(display.weights[chosen], search.weights_)
    assert np.nanmax(display.score) == display.score[chosen] == search.best_score_
    search = MKLClassifierCV(Products(), Cs=[0.1, 1.0], cv=3).fit(X, y)
    with pytest.raises(ValueError, match="keeps no weights"):
        PathDisplay.from_estimator(search)


def test_views_and_classes_can_be_chosen():
    model, data = fitted("views of a frame")
    assert ContributionDisplay.from_estimator(model, data, by="view").names == ["n", "w"]
    model, data = fitted("ovr")
    display = draw(ContributionDisplay.from_estimator(model, data, samples=[0], output=2))
    total = display.parts.sum() + display.intercept
    assert total == pytest.approx(model.decision_function(data)[0, 2])
    with pytest.raises(ValueError, match="expected one of 0, 1, 2"):
        ContributionDisplay.from_estimator(model, data, output=7)


def test_searches_and_pipelines_are_opened():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), MKLClassifier(kernels)), {"mklclassifier__C": [1, 2]}
    )
    search.fit(3.0 * X, y)
    display = ContributionDisplay.from_estimator(search, 3.0 * X, samples=[1])
    assert display.parts.sum() + display.intercept == pytest.approx(search.decision_function(3.0 * X)[1])
    draw(WeightsDisplay.from_estimator(search))


def test_importance_of_columns_and_views():
    groups = {"first $a$": [0, 1], "rest": [2, 3]}
    how = {"groups": groups, "cv": 2, "n_repeats": 1, "random_state": 0}
    display = draw(ImportanceDisplay.from_estimator(fitted("classifier")[0], X, y, **how))
    found = display.importance
    order = found.views.order
    assert ticks(display.ax_.yaxis) == [found.views.names[j] for j in order]
    np.testing.assert_allclose(display.ax_.lines[0].get_xdata(), found.views.mean[order])
    columns = draw(ImportanceDisplay(found, by="column").plot(max_names=3))
    assert ticks(columns.ax_.yaxis) == [found.names[j] for j in found.order[:3]]
    assert "1 of 4 are not shown" in columns.ax_.get_title("left")
    with pytest.raises(ValueError, match="expected 'auto', 'column' or 'view'"):
        ImportanceDisplay(found, by="kernel").plot()
    with pytest.raises(ValueError, match="no views are known"):
        ImportanceDisplay(found.views, by="view").plot()


def test_axes_and_options_are_passed_on():
    figure, ax = plt.subplots()
    display = WeightsDisplay.from_estimator(fitted("classifier")[0], ax=ax, color="red")
    assert display.ax_ is ax and display.figure_ is figure
    assert ax.containers[0][0].get_facecolor() == (1.0, 0.0, 0.0, 1.0)


def test_writing_suits_dark_backgrounds():
    with plt.style.context("dark_background"):
        display = WeightsDisplay.from_estimator(fitted("classifier")[0])
        assert display.ax_.lines[0].get_color() == "white"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda: WeightsDisplay.from_estimator(LogisticRegression()),
            TypeError,
            "LogisticRegression was given",
        ),
        (lambda: WeightsDisplay.from_estimator(MKLClassifier()), NotFittedError, "not fitted"),
        (lambda: PathDisplay.from_estimator(fitted("classifier")[0]), ValueError, "Give X and y"),
        (lambda: PathDisplay.from_estimator(fitted("ufo")[0], X, y), ValueError, "no parameter C"),
        (
            lambda: ContributionDisplay.from_estimator(fitted("classifier")[0], X, samples=[99]),
            ValueError,
            "sample 99",
        ),
        (
            lambda: ConvergenceDisplay.from_estimator(fitted("classifier")[0], against="x"),
            ValueError,
            "'seconds' or 'steps'",
        ),
    ],
)
def test_errors_say_what_to_do(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, manykernels.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="manykernels\\[plots\\]"):
        WeightsDisplay.from_estimator(fitted("classifier")[0])


def test_widths_are_named_by_the_features_that_a_preparation_makes():
    """A constant column has no feature, and a heavy tail has two: names must not move to others."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"same": 1.0, "heavy": np.exp(2.0 * rng.standard_normal(60)), "plain": rng.random(60)}
    )
    model = MKLRegressor(Relevance()).fit(table, np.log(table["heavy"]))
    found = width_table(model_of(model)[0])
    assert found.features == ["heavy", "plain", "heavy (normal scores)"]
    assert found.values.shape[1] == 3
    assert found.values[0].argmax() == 1  # the target does not depend on it


# -- legends --------------------------------------------------------------------------------------
NAMES = [f"a kernel with a rather long name that nobody would want to read, number {i}" for i in range(9)]


def covered(legend, *artists):
    """Whether a legend lies over any of these, in pixels."""
    box = legend.get_window_extent()
    return [artist for artist in artists if artist.get_window_extent().overlaps(box)]


@pytest.mark.parametrize("width", [7.0, 14.0])
@pytest.mark.parametrize("score", [None, np.linspace(0.5, 0.9, 5)])
def test_the_legend_of_a_path_covers_nothing(width, score):
    figure, ax = plt.subplots(figsize=(width, 4.0), layout="constrained")
    display = PathDisplay(np.logspace(-2, 2, 5), np.ones((5, 9)), NAMES, score=score, chosen=100.0)
    twin = display.plot(ax=ax).score_ax_
    figure.canvas.draw()
    written = [] if twin is None else [twin.yaxis.label, *twin.get_yticklabels()]
    assert not covered(ax.get_legend(), ax.patch, *written)
    assert "C = 100" in [text.get_text() for text in ax.texts]


def test_the_legend_of_many_histories_covers_nothing():
    table = {"gap": np.logspace(0, -3, 6), "seconds": np.arange(6.0), "active": np.arange(6)}
    display = ConvergenceDisplay(dict.fromkeys(NAMES, table), tol=1e-3).plot()
    display.figure_.canvas.draw()
    ax, twin = display.ax_, display.active_ax_
    assert len(ax.get_legend().get_texts()) == len(NAMES) + 1
    assert not covered(ax.get_legend(), ax.patch, twin.yaxis.label, *twin.get_yticklabels())


def _drawn(names):
    """Inches of the axes of each display with kernels of these names, and whether its title fits."""
    S = np.eye(3)
    displays = [
        KernelSimilarityDisplay(names, S).plot(),
        WeightsDisplay(names, np.ones(3)).plot(),
        PathDisplay(np.array([0.1, 1.0]), np.ones((2, 3)), names).plot(),
        ContributionDisplay(names, np.ones((2, 3)), 0.0).plot(),
    ]
    sizes = []
    for display in displays:
        display.figure_.draw_without_rendering()
        place = display.ax_.get_window_extent()
        title = display.ax_.title.get_window_extent()
        assert title.x1 <= display.figure_.bbox.x1
        sizes.append(min(place.width, place.height) / display.figure_.dpi)
        plt.close(display.figure_)
    return np.array(sizes)


def test_long_names_do_not_squeeze_the_axes():
    ends = ("first", "second", "third")
    usual, long = _drawn([f"kernel {end}" for end in ends]), _drawn([f"{'long ' * 12}{end}" for end in ends])
    assert np.all(long > 0.75 * usual), (usual, long)
