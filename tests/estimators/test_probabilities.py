"""Probabilities of a search: calibrated on what was held out, for every loss and strategy."""

import pickle

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from manykernels import MKLClassifierCV, load, save
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear
from manykernels.selection.calibration import Calibration, crossed

rng = np.random.RandomState(0)
N = 240
X = rng.randn(2 * N, 3)
TWO = np.where(rng.uniform(size=2 * N) < expit(2.0 * X[:, 0] - 1.0), "yes", "no")
THREE = np.array([rng.choice(3, p=p) for p in softmax(1.5 * X, axis=1)])
KERNELS = [Linear(), Gaussian(2.0)]
FAST = {"strategy": "finite", "norms": [1.0], "Cs": [0.1, 1.0], "cv": 3}


# -- the calibration itself ---------------------------------------------------------------------------
def test_the_slope_is_found_again():
    f = 0.3 * rng.randn(20000, 3)
    y = np.array([rng.choice(3, p=p) for p in softmax(4.0 * f, axis=1)])
    found = Calibration.fit(f, y, np.arange(3))
    assert found.slope == pytest.approx(4.0, rel=0.1)
    np.testing.assert_allclose(found.log_probabilities(f), log_softmax(found.slope * f, axis=1), atol=1e-12)


def test_one_decision_is_a_sigmoid_and_the_predicted_class_the_most_probable():
    f = rng.randn(20000, 1)
    y = (rng.uniform(size=20000) < expit(1.7 * f[:, 0])).astype(int)
    p = np.exp(Calibration.fit(f, y, np.arange(2)).log_probabilities(f))
    np.testing.assert_allclose(p[:, 1], expit(1.7 * f[:, 0]), atol=0.03)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.array_equal(p[:, 1] > 0.5, f[:, 0] > 0)


def test_decisions_without_an_error_stay_finite_and_those_that_say_nothing_give_shares():
    y = np.arange(40) % 2
    sure = Calibration.fit(np.where(y == 1, 1.0, -1.0)[:, None], y, np.arange(2))
    p = np.exp(sure.log_probabilities(np.array([[-1.0], [1.0]])))
    assert 0.9 < p[1, 1] < 1.0 and 0.0 < p[0, 1] < 0.1
    wrong = Calibration.fit(np.where(y == 1, -1.0, 1.0)[:, None], y, np.arange(2))
    assert wrong.slope == 0.0  # larger decisions never mean smaller probabilities
    assert Calibration.fit(np.zeros((40, 1)), y, np.arange(2)).slope == 0.0


def test_weights_are_repetitions():
    f, y, w = rng.randn(60, 1), rng.randint(0, 2, 60), rng.randint(0, 4, 60).astype(float)
    f += 0.5 * y[:, None]
    rows = np.repeat(np.arange(60), w.astype(int))
    weighted, repeated = (
        Calibration.fit(f, y, np.arange(2), w),
        Calibration.fit(f[rows], y[rows], np.arange(2)),
    )
    assert weighted.slope == pytest.approx(repeated.slope, rel=1e-9)


def test_many_classes_do_not_make_sure_decisions_unsure():
    y = np.arange(520) % 26  # twenty of each
    f = np.where(y[:, None] == np.arange(26), 1.0, -1.0)
    p = np.exp(Calibration.fit(f, y, np.arange(26)).log_probabilities(f))
    assert p[np.arange(520), y] == pytest.approx(1 - 2 / 26 / 22)  # two samples in all, as for two classes


def test_a_label_does_not_make_its_own_probability():
    f, y = 0.5 * rng.randn(200, 3), rng.randint(0, 3, 200)
    f[np.arange(200), y] += 0.7
    before, changed = crossed(f, y, np.arange(3)), y.copy()
    changed[7] = (y[7] + 1) % 3
    after = crossed(f, changed, np.arange(3))
    same = np.arange(200) % 5 == 7 % 5
    np.testing.assert_array_equal(after[same], before[same])
    assert not np.allclose(after[~same], before[~same])


# -- of a search ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize(
    "options",
    [
        {"kernels": KERNELS},
        {"kernels": KERNELS, "loss": "hinge"},
        {"kernels": KERNELS, "approx": Nystroem(20), "random_state": 0},
        {"kernels": KERNELS, "cv": "loo"},
        {"kernels": KERNELS, "strategy": [LinearSVC()]},
        {"kernels": KERNELS, "strategy": [RandomForestClassifier(20, min_samples_leaf=5, random_state=0)]},
    ],
    ids=["squared", "hinge", "features", "leave-one-out", "own estimator", "own probabilities"],
)
def test_new_samples_get_probabilities_that_mean_something(options, y, request):
    train, new = slice(0, N), slice(N, None)
    search = MKLClassifierCV(**(FAST | options)).fit(X[train], y[train])
    p = search.predict_proba(X[new])
    assert p.shape == (N, search.classes_.size) and np.all(p > 0.0 if "strategy" not in options else p >= 0)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    if "own" not in request.node.callspec.id:  # scikit-learn warns of the logarithm of its own zeros
        np.testing.assert_allclose(np.exp(search.predict_log_proba(X[new])), p, atol=1e-12)
    shares = np.array([np.mean(y[train] == c) for c in search.classes_])
    guess = log_loss(y[new], np.repeat(shares[None], N, axis=0), labels=search.classes_)
    assert log_loss(y[new], p, labels=search.classes_) < guess
    means = np.array([np.mean(y[new] == c) for c in search.classes_])
    np.testing.assert_allclose(p.mean(axis=0), means, atol=0.1)


def test_as_good_as_a_calibration_that_fits_again():
    train, new = slice(0, N), slice(N, None)
    search = MKLClassifierCV(KERNELS, **FAST).fit(X[train], TWO[train])
    again = CalibratedClassifierCV(search.best_estimator_, cv=5).fit(X[train], TWO[train])
    ours, theirs = (log_loss(TWO[new], one.predict_proba(X[new])) for one in (search, again))
    assert ours < theirs + 0.03


def test_samples_without_weight_do_not_count_and_files_keep_it(tmp_path):
    weight = np.where(np.arange(N) < 200, 1.0, 0.0)
    y = TWO[:N].copy()
    y[200:] = np.where(y[200:] == "yes", "no", "yes")
    search = MKLClassifierCV(KERNELS, **FAST).fit(X[:N], y, sample_weight=weight)
    p = search.predict_proba(X[N:])
    assert log_loss(TWO[N:], p) < 0.62
    save(search, tmp_path / "search.model")
    for other in (load(tmp_path / "search.model"), pickle.loads(pickle.dumps(search))):
        np.testing.assert_allclose(other.predict_proba(X[N:]), p)


def test_nothing_is_there_without_a_model():
    search = MKLClassifierCV(KERNELS, **FAST, refit=False)
    assert not hasattr(search, "predict_proba")


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two classes", "three"])
@pytest.mark.parametrize("given", [{}, {"loss": "hinge"}, {"strategy": [LinearSVC()]}], ids=str)
def test_probabilities_can_be_chosen_by(given, y):
    search = MKLClassifierCV(KERNELS, **(FAST | given), scoring="neg_log_loss").fit(X[:N], y[:N])
    shares = np.array([np.mean(y[:N] == c) for c in search.classes_])
    guess = -log_loss(y[:N], np.repeat(shares[None], N, axis=0), labels=search.classes_)
    assert guess < search.best_score_ < 0.0
    assert search.best_score_ == max(max(path["score"]) for path in search.path_.values())
    found = -log_loss(y[N:], search.predict_proba(X[N:]), labels=search.classes_)
    assert search.best_score_ == pytest.approx(found, abs=0.12)


def test_a_class_of_one_member_has_a_log_loss():
    y = THREE[:N].copy()
    y[5] = 9
    search = MKLClassifierCV(KERNELS, **FAST, scoring="neg_log_loss").fit(X[:N], y)
    assert np.isfinite(search.best_score_) and search.predict_proba(X[N:]).shape == (N, 4)
    auc = MKLClassifierCV(KERNELS, **FAST, scoring="roc_auc_ovr").fit(X[:N], THREE[:N])
    assert 0.6 < auc.best_score_ < 1.0
    two = MKLClassifierCV(KERNELS, **FAST, scoring="roc_auc").fit(X[:N], TWO[:N])
    assert 0.6 < two.best_score_ < 1.0
    with pytest.raises(ValueError, match=r"for two classes, and y has 3\. Take 'roc_auc_ovr'"):
        MKLClassifierCV(KERNELS, **FAST, scoring="roc_auc").fit(X[:N], THREE[:N])
