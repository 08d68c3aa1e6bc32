"""Hierarchical estimators: scikit-learn's checks, the contract of fitted models, and bad input."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import HierarchicalMKLClassifier, HierarchicalMKLRegressor


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([HierarchicalMKLClassifier(), HierarchicalMKLRegressor()])
def test_scikit_learns_checks(estimator, check):
    check(estimator)
