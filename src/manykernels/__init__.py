"""Multiple kernel learning: learn the kernel, with a certificate of how close to optimal it is."""

from .estimators import MKLClassifier, MKLRegressor

__version__ = "0.1.0"

__all__ = ["MKLClassifier", "MKLRegressor", "__version__"]
