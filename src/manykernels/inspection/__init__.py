"""How far a model can be trusted: how near to optimal it is, and what becomes of it on other samples."""

from .certificates import Certificate, certificate
from .stability import Stability, weight_stability
from .stability import keep_trade_off as keep_trade_off  # for reports; not a part of the public names

__all__ = ["Certificate", "Stability", "certificate", "weight_stability"]
