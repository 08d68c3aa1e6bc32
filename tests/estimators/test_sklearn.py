"""Every check that scikit-learn has for estimators, with no expected failures."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import Gaussian, Linear

ESTIMATORS = [
    MKLClassifier(),
    MKLRegressor(),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MKLClassifier(
            {"linear": Linear(), "wide": Gaussian(3.0)}, norm=2.0, loss="logistic", multi_class="ovr"
        ),
        MKLClassifier(norm=1.5, loss="squared_hinge", center=True, normalize="cosine"),
        MKLRegressor([Linear(), Gaussian(2.0)], loss="epsilon_insensitive", center=True, normalize="max"),
    ]
)
def test_scikit_learns_checks_with_other_parts(estimator, check):
    check(estimator)
