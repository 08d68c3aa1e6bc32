"""How far a model can be trusted: how near to optimal it is, and what becomes of it on other samples."""

from .certificates import Certificate, certificate
from .stability import Stability, weight_stability

__all__ = ["Certificate", "Stability", "certificate", "weight_stability"]
