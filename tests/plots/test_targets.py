"""Pictures of models of many targets show what is in the scores and parts, and say what they leave out."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from manykernels import MKLRegressor
from manykernels.families import views
from manykernels.inspection import correlations, explained_parts, r2_scores
from manykernels.kernels import Gaussian, Linear
from manykernels.plots import PartsDisplay, TargetScoresDisplay, WeightsDisplay

rng = np.random.RandomState(0)
X = rng.randn(120, 6)
Y = X @ rng.randn(6, 25) + rng.randn(120, 25)
BANDS = views(
    {
        "little": ([5], Gaussian(9.0)),
        "co$t": ([0, 1, 2], Linear()),
        "words": ([3, 4], [Linear(), Gaussian(2.0)]),
    }
)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return MKLRegressor(BANDS, norm=2.0).fit(X[:80], Y[:80])


@pytest.mark.parametrize(("score", "measure"), [("r2", r2_scores), ("correlation", correlations)])
def test_the_histogram_counts_every_target(model, score, measure):
    display = TargetScoresDisplay.from_estimator(model, X[80:], Y[80:], score=score, ceiling=np.full(25, 0.9))
    display.figure_.canvas.draw()
    expected = measure(Y[80:], model.predict(X[80:]))
    np.testing.assert_allclose(display.scores[""], expected)
    heights = [patch.get_xy()[1:16:2, 1].sum() for patch in display.ax_.patches]  # of 8 bins
    np.testing.assert_allclose(heights, [25, 25])
    assert display.ax_.get_legend().get_texts()[0].get_text() == f"median {np.median(expected):.3f}"
    assert display.ax_.get_legend().get_lines()[0].get_linestyle() == "--"  # the mark of the median
    assert display.ax_.get_title(loc="left").startswith("25 targets")


def test_models_are_compared_and_what_is_left_out_is_counted():
    good, bad = rng.rand(300), rng.rand(300) - 0.5
    good[0], bad[1] = np.nan, -40.0
    display = TargetScoresDisplay({"good": good, "b$d": bad}).plot(bins=10)
    display.figure_.canvas.draw()
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == [f"good: median {np.nanmedian(good):.3f}", f"b$d: median {np.median(bad):.3f}"]
    title = display.ax_.get_title(loc="left")
    assert title.startswith("300 targets, 1 without a score, ") and " below -0." in title
    assert display.ax_.get_xlim()[0] > -1.0


def test_a_map_shows_the_parts_of_two(model):
    parts = explained_parts(model, X[80:], Y[80:], by="view")
    display = PartsDisplay.from_estimator(model, X[80:], Y[80:], by="view")
    display.figure_.canvas.draw()
    assert sorted(display.names) == ["co$t", "words"]  # those that explain most
    np.testing.assert_allclose(display.total, r2_scores(Y[80:], model.predict(X[80:])), atol=1e-10)
    assert display.ax_.get_title(loc="left").endswith("; two of 3 views")
    asked = PartsDisplay.from_estimator(model, X[80:], Y[80:], by="view", kernels=["little", "words"])
    np.testing.assert_allclose([asked.x, asked.y], parts[[0, 2]], atol=1e-12)
    (points,) = asked.ax_.collections
    assert len(points.get_offsets()) <= 25
    assert "part of R² by little" in asked.ax_.get_xlabel()


def test_very_many_targets_are_binned():
    x, y = rng.rand(2, 20_000)
    display = PartsDisplay(x, y, x + y, ["a", "b"]).plot()
    display.figure_.canvas.draw()
    (cells,) = display.ax_.collections
    assert 500 < len(cells.get_array()) < 5000
    assert "20,000 targets" in display.ax_.get_title(loc="left")


def test_weights_of_very_many_targets_are_sorted_and_not_named():
    W = rng.dirichlet(np.ones(3), 500)
    display = WeightsDisplay(["a", "b", "c"], W).plot()
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel().startswith("500 outputs") and not len(display.ax_.get_xticks())
    (image,) = display.ax_.images
    drawn = np.asarray(image.get_array())
    order = [["a", "b", "c"].index(text.get_text()) for text in display.ax_.get_yticklabels()]
    assert np.all(np.diff(drawn.argmax(axis=0)) >= 0)  # one kernel after another
    np.testing.assert_allclose(np.sort(drawn[order.index(0)]), np.sort(W[:, 0]))


def test_what_cannot_be_drawn_is_told(model):
    with pytest.raises(
        ValueError, match=r"kernels=\['words'\] was given; expected two names of views, such as"
    ):
        PartsDisplay.from_estimator(model, X[80:], Y[80:], by="view", kernels="words")
    alone = MKLRegressor({"one": Linear()}).fit(X[:80], Y[:80])
    with pytest.raises(ValueError, match="the model has 1 kernel; a map of parts needs two"):
        PartsDisplay.from_estimator(alone, X[80:], Y[80:])
    with pytest.raises(ValueError, match="score='mse' was given"):
        TargetScoresDisplay.from_estimator(model, X[80:], Y[80:], score="mse")
    with pytest.raises(ValueError, match="no target has a score"):
        TargetScoresDisplay([np.nan, np.nan]).plot()
    with pytest.raises(ValueError, match="no target has a score"):
        PartsDisplay([np.nan], [np.nan], [np.nan], ["a", "b"]).plot()
