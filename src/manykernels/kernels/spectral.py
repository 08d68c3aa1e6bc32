"""Spectral densities of stationary kernels, as the kernels say them and random features draw from them."""

from __future__ import annotations

from dataclasses import dataclass

from .data import Array


class Radial:
    """A law of frequencies ω that favours no direction, for kernels of the Euclidean distance."""

    def lengths(self, u: Array, d: int) -> Array:
        """The quantiles u of ‖ω‖ in d ≥ 1 dimensions: rising in u, and finite for u < 1."""
        raise NotImplementedError(f"{type(self).__name__} must define lengths(u, d).")


class Independent:
    """A law of frequencies ω whose coordinates are independent and alike, for products over coordinates."""

    def coordinates(self, u: Array) -> Array:
        """The quantiles u of one coordinate ω_j: rising in u, and finite for 0 < u < 1."""
        raise NotImplementedError(f"{type(self).__name__} must define coordinates(u).")


@dataclass(frozen=True)
class Spectral:
    """k(x, x') = E cos Σ_j scale ω_j (x_j − x'_j)/widths_j, ω drawn from ``law`` (Bochner's theorem).

    The law is that of width 1. Laws are compared by ==, so write them as frozen dataclasses: all kernels of
    one law, whatever their scale, share one draw of frequencies.
    """

    law: Radial | Independent
    scale: float = 1.0
    widths: tuple[float, ...] | None = None  # one for each feature; None for all 1
