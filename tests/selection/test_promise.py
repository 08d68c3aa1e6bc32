"""Kernels that come out otherwise on all samples than in the folds, for which C was chosen."""

import numpy as np
import pytest

from manykernels import MKLClassifierCV, MKLRegressorCV
from manykernels.families import Family
from manykernels.kernels import Gaussian
from manykernels.selection.left_out import left_out

N = 120
CS = [0.01, 0.1, 1.0, 10.0, 1e4]
rng = np.random.RandomState(0)
X = rng.uniform(-2.0, 2.0, (N, 1))
Y = np.sin(2.0 * X[:, 0]) + 0.6 * rng.randn(N)


class Fickle(Family):
    """A wide Gaussian kernel for the samples of a fold, and one that can learn noise for all of them."""

    def resolve(self, X, sample_weight=None, feature_names=None):
        return {"one": Gaussian(4.0 if len(X) < N else 0.05)}


def options(**more):
    return {"strategy": "finite", "norms": (2.0,), "Cs": CS, "random_state": 0, **more}


def test_c_is_chosen_anew_by_leave_one_out():
    """The C of the model is the best of all by leave-one-out, which is computed here from matrices."""
    model = MKLRegressorCV(Fickle(), **options()).fit(X, Y)
    folds = model.comparison_["C"][0]
    K = model.kernels_[0](X)
    errors = {C: float(np.mean(left_out(K, Y[:, None], np.full(N, C), True) ** 2)) for C in CS}
    assert model.best_params_["C"] == model.best_estimator_.C == min(errors, key=errors.get) < folds
    assert errors[model.best_params_["C"]] < 0.8 * errors[folds]
    alpha = np.linalg.solve(
        np.block(
            [[K + np.eye(N) / model.best_params_["C"], np.ones((N, 1))], [np.ones((1, N)), np.zeros((1, 1))]]
        ),
        np.append(Y, 0.0),
    )
    np.testing.assert_allclose(model.dual_coef_, alpha[:-1], atol=1e-6)
    said = model.describe().splitlines()[0]
    assert f"the error of C={folds:g} by leave-one-out is {errors[folds]:.3g}" in said
    assert f"C={model.best_params_['C']:g} with {min(errors.values()):.3g} was taken" in said


def test_probabilities_are_those_of_the_new_c():
    """Without it the model is certain of what it learned by heart."""
    labels, Z = (Y > 0).astype(int), np.linspace(-2.0, 2.0, 500)[:, None]
    model = MKLClassifierCV(Fickle(), **options()).fit(X, labels)
    assert model.best_params_["C"] < model.comparison_["C"][0]
    chances = np.array([np.mean(np.sin(2.0 * z) + 0.6 * rng.randn(4000) > 0) for z in Z[:, 0]])
    p = model.predict_proba(Z)[:, 1]
    loss = -np.mean(chances * np.log(p) + (1 - chances) * np.log(1 - p))
    blind = -np.mean(chances * np.log(labels.mean()) + (1 - chances) * np.log(1 - labels.mean()))
    assert loss < blind


@pytest.mark.parametrize("weight", [None, rng.randint(0, 3, N).astype(float)])
def test_what_the_folds_promised_is_kept_elsewhere(weight):
    """Kernels that do not change keep their C, and nothing is said."""
    model = MKLRegressorCV([Gaussian(1.0)], **options()).fit(X, Y, sample_weight=weight)
    assert model.best_params_["C"] == model.comparison_["C"][0] and not hasattr(model, "stages_")
    several = MKLRegressorCV([Gaussian(1.0)], **options()).fit(X, np.stack([Y, X[:, 0]], axis=1))
    assert several.best_params_["C"] == several.comparison_["C"][0]


def test_other_losses_and_scores_are_left_as_they_are():
    """Leave-one-out is that of the squared loss, and of the error that the search itself chooses by."""
    for more in ({"loss": "huber"}, {"scoring": "r2"}):
        model = MKLRegressorCV(Fickle(), **options(**more)).fit(X, Y)
        assert model.best_params_["C"] == model.comparison_["C"][0]
