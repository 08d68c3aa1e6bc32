"""Plots of fitted models, in the form of scikit-learn's displays: ``WeightsDisplay.from_estimator(model)``.

They need matplotlib (``pip install 'manykernels[plots]'``), which is imported when something is drawn.
"""

from .comparison import ComparisonDisplay
from .contribution import ContributionDisplay
from .convergence import ConvergenceDisplay
from .importance import ImportanceDisplay
from .path import PathDisplay
from .similarity import KernelSimilarityDisplay
from .survival import RiskGroupsDisplay, SurvivalCurvesDisplay
from .targets import PartsDisplay, TargetScoresDisplay
from .weights import WeightsDisplay
from .widths import WidthsDisplay

__all__ = [
    "ComparisonDisplay",
    "ContributionDisplay",
    "ConvergenceDisplay",
    "ImportanceDisplay",
    "KernelSimilarityDisplay",
    "PartsDisplay",
    "PathDisplay",
    "RiskGroupsDisplay",
    "SurvivalCurvesDisplay",
    "TargetScoresDisplay",
    "WeightsDisplay",
    "WidthsDisplay",
]
