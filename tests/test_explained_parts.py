"""Parts of R², scores of each target, and the noise ceiling."""

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import (
    AlignMKLRegressor,
    KernelAligner,
    MKLClassifier,
    MKLRegressor,
    MKLRegressorCV,
    NonlinearMKLRegressor,
    UFOMKLRegressor,
)
from manykernels.approx import Nystroem
from manykernels.families import Products, gaussian_grid, views
from manykernels.fitting.model import Model
from manykernels.inspection import correlations, explained_parts, noise_ceiling, r2_scores
from manykernels.kernels import Gaussian, Linear

rng = np.random.RandomState(0)
X = 3.0 + rng.randn(160, 6)
Y = np.stack(
    [X[:, 0] + X[:, 3], X[:, 0] - X[:, 1] + 2.0 * rng.randn(160), 40.0 + np.sin(X[:, 4]), rng.randn(160)],
    axis=1,
)
A, B, a, b = X[:100], X[100:], Y[:100], Y[100:]
BANDS = views({"one": ([0, 1, 2], Linear()), "two": ([3, 4, 5], [Linear(), Gaussian(2.0)])})


@pytest.fixture(scope="module")
def model():
    return MKLRegressor(BANDS, C=10.0, norm=2.0).fit(A, a)


MODELS = {
    "sparse": MKLRegressor(BANDS, C=1.0),
    "no intercept": MKLRegressor(BANDS, fit_intercept=False),
    "features": MKLRegressor(BANDS, approx=Nystroem(40), random_state=0),
    "family": MKLRegressor(Products(degree=2), C=0.1),
    "own weights": MKLRegressor(BANDS, norm=2.0, multi_output="own"),
    "own search": MKLRegressorCV(BANDS, multi_output="own", random_state=0),
    "search": MKLRegressorCV(gaussian_grid(0.5, 8.0, 3), strategy="finite", cv=3),
    "two stages": AlignMKLRegressor(BANDS),
    "pipeline": make_pipeline(StandardScaler(), MKLRegressor(gaussian_grid(0.5, 8.0, 3))),
}


@pytest.mark.filterwarnings("ignore:.*the best C at the")  # of the target that is noise
@pytest.mark.parametrize("name", MODELS)
def test_parts_add_up_to_the_score_of_each_target(name):
    fitted = MODELS[name].fit(A, a)
    parts, predicted = explained_parts(fitted, B, b), fitted.predict(B)
    np.testing.assert_allclose(
        parts.sum(axis=0), r2_score(b, predicted, multioutput="raw_values"), atol=1e-10
    )
    assert np.all(parts[-1] <= 0.0)
    last = fitted[-1] if name == "pipeline" else fitted
    assert parts.shape == (len(last.kernel_names_) + 1, 4)
    unused = np.setdiff1d(np.arange(len(parts) - 1), last.active_)
    assert not parts[unused].any()
    parts = explained_parts(fitted, B, b, score="correlation")
    expected = [np.corrcoef(b[:, k], predicted[:, k])[0, 1] for k in range(4)]
    np.testing.assert_allclose(parts.sum(axis=0), expected, atol=1e-10)
    assert not parts[-1].any()


def test_parts_are_those_of_the_product_measure(model):
    """Against the formula for centred targets and predictions, written out."""
    parts = explained_parts(model, B, b)
    f = np.moveaxis(model.contributions(B), 1, 0)
    f, t = f - f.mean(axis=1, keepdims=True), b - b.mean(axis=0)
    expected = (f * (2.0 * t - f.sum(axis=0))).sum(axis=1) / (t**2).sum(axis=0)
    np.testing.assert_allclose(parts[:-1], expected, atol=1e-12)


def test_parts_follow_the_truth():
    """Two independent bands of known shares, and enough samples to learn them."""
    draw = np.random.RandomState(1)
    Z = draw.randn(600, 20)
    share = np.array([1.0, 0.75, 0.5, 0.25, 0.0])
    sides = [Z[:, :10] @ draw.randn(10, 5), Z[:, 10:] @ draw.randn(10, 5)]
    sides = [side / side.std(axis=0) for side in sides]
    T = sides[0] * np.sqrt(share) + sides[1] * np.sqrt(1.0 - share) + 0.5 * draw.randn(600, 5)
    bands = views({"one": (slice(0, 10), Linear()), "two": (slice(10, 20), Linear())})
    parts = explained_parts(MKLRegressor(bands, norm=2.0).fit(Z[:400], T[:400]), Z[400:], T[400:])
    np.testing.assert_allclose(parts[:2], 0.8 * np.stack([share, 1.0 - share]), atol=0.1)


@pytest.mark.filterwarnings("ignore:.*the best C at the")
@pytest.mark.parametrize("name", ["sparse", "own weights", "own search", "features", "two stages"])
def test_contributions_of_some_outputs_are_those_among_all(name):
    fitted = MODELS[name].fit(A, a)
    whole = fitted.contributions(B)
    for outputs in ([2, 0], slice(1, 3), np.array([True, False, False, True])):
        np.testing.assert_allclose(fitted.contributions(B, outputs=outputs), whole[..., outputs], atol=1e-12)
    assert fitted.contributions(B, by="view", outputs=[1]).shape == (60, 2, 1)
    for wrong in ([4], 1, "a"):
        with pytest.raises(ValueError, match=r"outputs=.*expected"):
            fitted.contributions(B, outputs=wrong)


def test_views_add_up_their_kernels(model):
    parts, of_views = explained_parts(model, B, b), explained_parts(model, B, b, by="view")
    assert list(model.view_weights_) == ["one", "two"] and of_views.shape == (3, 4)
    np.testing.assert_allclose(of_views, [parts[0], parts[1] + parts[2], parts[3]], atol=1e-12)


def test_one_output_has_no_axis():
    fitted = MKLRegressor(BANDS).fit(A, a[:, 0])
    parts = explained_parts(fitted, B, b[:, 0])
    assert parts.shape == (4,)
    assert abs(parts.sum() - fitted.score(B, b[:, 0])) < 1e-10
    assert explained_parts(MKLRegressor(BANDS).fit(A, a[:, :1]), B, b[:, :1]).shape == (4, 1)


def test_a_constant_that_moves_to_the_intercept_changes_nothing():
    """Uncentred kernels and centred ones with the same function have the same parts."""
    parts = [
        explained_parts(
            MKLRegressor(BANDS, C=10.0, norm=np.inf, normalize=None, center=center).fit(A, a), B, b
        )
        for center in (False, True)
    ]
    np.testing.assert_allclose(parts[0], parts[1], atol=1e-7)


def test_blocks_of_samples_change_nothing(model, monkeypatch):
    whole = explained_parts(model, B, b)
    blocks = Model.contribution_blocks
    sizes = []

    def small(self, X, by="kernel"):
        for rows, parts in blocks(self, X, by, 7 * 3 * 4):
            sizes.append(len(parts))
            yield rows, parts

    monkeypatch.setattr(Model, "contribution_blocks", small)
    np.testing.assert_allclose(explained_parts(model, B, b), whole, atol=1e-12)
    assert sizes == [7] * 8 + [4]


def test_a_weight_of_two_is_a_repetition(model):
    weight = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weight)
    for score in ("r2", "correlation"):
        found = explained_parts(model, B, b, score=score, sample_weight=weight)
        np.testing.assert_allclose(found, explained_parts(model, B[rows], b[rows], score=score), atol=1e-12)


def test_targets_without_a_score_are_named(model):
    t = b.copy()
    t[:, 2] = 5.0
    with pytest.warns(UndefinedMetricWarning, match=r"1 of 4 targets.*target 2\)"):
        parts = explained_parts(model, B, t)
    assert np.isnan(parts[:, 2]).all() and np.isfinite(parts[:, [0, 1, 3]]).all()
    flat = MKLRegressor(BANDS, C=1.0).fit(A, np.zeros_like(a))
    with pytest.warns(UndefinedMetricWarning, match="4 of 4 targets"):
        assert np.isnan(explained_parts(flat, B, b, score="correlation")).all()


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (KernelAligner(BANDS), a[:, 0]),
        (MKLClassifier(BANDS), a[:, 0] > 6.0),
        (NonlinearMKLRegressor(BANDS), a[:, 0]),
    ],
    ids=["transformer", "classes", "a power"],
)
def test_models_without_parts_are_refused(estimator, target):
    with pytest.raises((TypeError, AttributeError), match=r"sum over its kernels|no contributions"):
        explained_parts(estimator.fit(A, target), B, b[:, 0])


def test_wrong_arguments_are_named(model):
    with pytest.raises(ValueError, match="y has 3 outputs, and the model was fitted on 4"):
        explained_parts(model, B, b[:, :3])
    with pytest.raises(ValueError, match="score='r3' was given"):
        explained_parts(model, B, b, score="r3")
    with pytest.raises(ValueError, match="by='x' was given"):
        explained_parts(model, B, b, by="x")
    with pytest.raises(ValueError, match="samples"):
        explained_parts(model, B[:-1], b)


def test_online_models_have_parts():
    fitted = UFOMKLRegressor(BANDS, epochs=3, random_state=0).fit(A, a[:, 0])
    assert abs(explained_parts(fitted, B, b[:, 0]).sum() - fitted.score(B, b[:, 0])) < 1e-10


# -- scores ------------------------------------------------------------------------------------------
def test_scores_are_those_of_each_target():
    F = b + rng.randn(*b.shape)
    np.testing.assert_allclose(r2_scores(b, F), r2_score(b, F, multioutput="raw_values"), atol=1e-12)
    np.testing.assert_allclose(correlations(b, F), [np.corrcoef(b[:, k], F[:, k])[0, 1] for k in range(4)])
    assert r2_scores(b[:, 0], F[:, 0]) == pytest.approx(r2_score(b[:, 0], F[:, 0]))


def test_single_precision_is_summed_in_double():
    y = (1e4 + rng.randn(500, 3)).astype(np.float32)
    F = (y + 0.5 * rng.randn(500, 3)).astype(np.float32)
    exact = r2_score(y.astype(float), F.astype(float), multioutput="raw_values")
    np.testing.assert_allclose(r2_scores(y, F), exact, atol=1e-9)


def test_blocks_of_targets_change_nothing(monkeypatch):
    F = b + rng.randn(*b.shape)
    whole = r2_scores(b, F), correlations(b, F), noise_ceiling(np.stack([b, F])).r2
    monkeypatch.setattr("manykernels.inspection.scores._BLOCK", 1)
    blocks = r2_scores(b, F), correlations(b, F), noise_ceiling(np.stack([b, F])).r2
    np.testing.assert_allclose(whole, blocks, atol=1e-12)


def test_scores_refuse_what_they_cannot_score():
    with pytest.raises(ValueError, match=r"y of shape \(60, 4\) and predicted of shape \(60, 3\)"):
        r2_scores(b, b[:, :3])
    t = b.copy()
    t[0, [1, 3]] = np.nan
    with pytest.raises(ValueError, match="NaN or infinite values in target 1, 3"):
        correlations(t, b)
    with pytest.warns(UndefinedMetricWarning, match=r"1 of 4 targets.*constant.*target 0\)"):
        assert np.isnan(correlations(b, b * [0.0, 1.0, 1.0, 1.0])[0])


# -- the noise ceiling -------------------------------------------------------------------------------
def test_the_noise_ceiling_is_what_the_perfect_model_reaches():
    """Over many targets: the estimates are unbiased, and the truth itself scores the ceiling on average."""
    draw = np.random.RandomState(0)
    samples, targets, R = 300, 400, 3
    power = np.repeat([0.25, 1.0], targets // 2)
    signal = np.sqrt(power) * draw.randn(samples, targets)
    repeats = signal + draw.randn(R, samples, targets)
    found = noise_ceiling(repeats)
    for group in (power < 0.5, power > 0.5):
        s = signal[:, group].var(axis=0, ddof=1).mean()
        error = found.signal[group].std() / np.sqrt(group.sum())
        assert abs(found.signal[group].mean() - s) < 4.0 * error
        assert abs(found.noise[group].mean() - 1.0) < 0.01
        reached = r2_scores(repeats.mean(axis=0), signal)[group]
        assert abs(reached.mean() - found.r2[group].mean()) < 0.01
        one = r2_scores(repeats[0], signal)[group]
        assert abs(one.mean() - found.r2_single[group].mean()) < 0.01
        seen = correlations(repeats.mean(axis=0), signal)[group]
        assert abs(seen.mean() - found.correlation[group].mean()) < 0.01
    perfect = found.normalize(r2_scores(repeats.mean(axis=0), signal))
    assert abs(np.nanmedian(perfect) - 1.0) < 0.02


def test_without_signal_there_is_no_ceiling_to_divide_by():
    found = noise_ceiling(np.random.RandomState(0).randn(2, 400, 200))
    assert abs(found.signal.mean()) < 0.02 and found.r2.min() == 0.0 and found.r2.max() < 0.3
    share = found.normalize(np.full(200, 0.1), least=0.3)
    assert np.isnan(share).all()
    constant = noise_ceiling(np.ones((2, 10)))
    assert np.isnan(constant.r2)


def test_one_measurement_has_no_ceiling():
    with pytest.raises(ValueError, match=r"shape \(1, 60, 4\).*at least two repeats"):
        noise_ceiling(b[None])
    with pytest.raises(ValueError, match="NaN or infinite values in target 2"):
        noise_ceiling(np.stack([b, b * [1.0, 1.0, np.nan, 1.0]]))
