"""The scikit-learn face."""

from .mkl import MKLClassifier, MKLRegressor

__all__ = ["MKLClassifier", "MKLRegressor"]
