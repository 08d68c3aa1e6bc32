"""How far a model can be trusted: how near to optimal it is, and what becomes of it on other samples."""

from .certificates import Certificate, certificate
from .stability import Stability, keep_trade_off, weight_stability

__all__ = ["Certificate", "Stability", "certificate", "keep_trade_off", "weight_stability"]
