"""The Matérn kernels: stationary, with as many derivatives as one asks for."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, gammaln, kve

from .._arguments import is_number, shown
from .._fast import elementwise, similarity
from .base import Kernel
from .data import Array, Data, n_samples
from .spectral import Radial, Spectral
from .stationary import Normal, squared_distances

_LARGEST = 1e300  # of 2ν/width²: finite, so that the narrowest kernel is still 1 at distance 0
_FAR = 1e4  # of t: k is 0 from there on, for all ν that are taken
_RAREST = 1e-200  # so that frequencies stay finite
_SMOOTHEST = 100.0  # ν beyond which the Bessel function overflows where it matters
_CLOSED = {0.5: (0.0, 0.0), 1.5: (1.0, 0.0), 2.5: (1.0, 1.0 / 3.0)}  # ν: (a, b) in (1 + a t + b t²) exp(−t)


@dataclass(frozen=True)
class Student(Radial):
    """ω ~ t with 2ν degrees of freedom in d dimensions, density ∝ (1 + ‖ω‖²/2ν)^{−ν−d/2}.

    ω = z √(2ν/g) with z ~ N(0, I) and g ~ χ²(2ν), so that 1/(1 + ‖ω‖²/2ν) = g/(g + ‖z‖²) =: c is
    Beta(ν, d/2).
    """

    nu: float

    def lengths(self, u: Array, d: int) -> Array:
        c = np.maximum(betaincinv(self.nu, 0.5 * d, 1.0 - u), _RAREST)  # falls as ‖ω‖ rises
        return np.asarray(np.sqrt(2.0 * self.nu * (1.0 - c) / c))


class Matern(Kernel):
    """The Matérn kernel, k(x, x') = 2^{1−ν}/Γ(ν) t^ν K_ν(t) with t = √(2ν) r, r = ‖x − x'‖ / width.

    K_ν is the modified Bessel function of the second kind, and k is 1 at r = 0. Functions with this kernel
    have ⌈ν⌉ − 1 derivatives in mean square, so that a small ν suits rough targets:

        ν = ½   exp(−r)                        ν = 5/2   (1 + √5 r + 5r²/3) exp(−√5 r)
        ν = 3/2 (1 + √3 r) exp(−√3 r)          ν = ∞     exp(−r²/2)

    These four are fast. Other ν, up to 100, call SciPy's Bessel function, which takes hundreds of times as
    long.

    Parameters
    ----------
    nu : float, default=1.5
        Smoothness ν, positive, up to 100, or infinite. A larger value learns smoother functions.
    width : float, default=1.0
        Length scale, positive: the length scale ℓ of Gaussian processes. The limit ν = ∞ is
        ``Gaussian(√2 · width)``, since ``Gaussian(width)`` has no factor ½.
    name : str or None, default=None
        Name shown in results and plots. None lets the kernel describe itself.

    See Also
    --------
    Gaussian : The limit of smooth functions.

    References
    ----------
    Rasmussen & Williams (2006), "Gaussian Processes for Machine Learning", MIT Press, Eq. 4.14.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Matern
    >>> Matern(nu=0.5)(np.array([[0.0], [1.0]])).round(3)
    array([[1.   , 0.368],
           [0.368, 1.   ]])
    """

    def __init__(self, nu: float = 1.5, width: float = 1.0, *, name: str | None = None) -> None:
        self.nu = nu
        self.width = width
        self.name = name

    @property
    def statistic(self) -> Hashable | None:
        return ("sqeuclidean",)

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        return squared_distances(X, Y, out)

    @property
    def rate(self) -> float | None:
        return -0.5 * self._inverse_square() if self._nu() == np.inf else None

    def fill(self, S: Array, out: Array) -> None:
        nu = self._nu()
        if nu == np.inf:
            elementwise.exp(S, -0.5 * self._inverse_square(), out)
            return
        c = min(2.0 * nu * self._inverse_square(), _LARGEST)  # t² = c S
        if nu in _CLOSED:
            similarity.matern(S, c, *_CLOSED[nu], out)
        else:
            out[...] = _bessel_form(nu, np.minimum(np.sqrt(c * S), _FAR))

    def spectral(self) -> Spectral:
        """A t distribution (Rasmussen & Williams 2006, Eq. 4.15), and its limit, a normal one."""
        nu, inverse = self._nu(), float(np.sqrt(self._inverse_square()))
        return Spectral(Normal(), np.sqrt(0.5) * inverse) if nu == np.inf else Spectral(Student(nu), inverse)

    def diag(self, X: Data) -> Array:
        return np.ones(n_samples(X))

    def _inverse_square(self) -> float:
        width = self._number("width")
        return min(1.0 / width / width, _LARGEST)

    def _nu(self) -> float:
        nu = self.nu
        if not is_number(nu) or not (0.0 < nu <= _SMOOTHEST or nu == np.inf):
            raise ValueError(
                f"nu={shown(nu)} was given to Matern; expected a positive number up to {_SMOOTHEST:g} (0.5, "
                "1.5 and 2.5 are fast), or inf, the Gaussian limit."
            )
        return float(nu)


def _bessel_form(nu: float, t: Array) -> Array:
    """2^{1−ν}/Γ(ν) t^ν K_ν(t), in logarithms, since the factors overflow long before the product does.

    Where K_ν(t) itself overflows, t is so small that the first terms of the series around 0 are exact:
    1 − z/(ν−1) + z²/(2(ν−1)(ν−2)) − …, z = t²/4; up to ν = 3 it is 1 there.
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        K = kve(nu, t)  # K_ν(t) exp(t)
        k = np.exp((1.0 - nu) * np.log(2.0) - gammaln(nu) + nu * np.log(t) + np.log(K) - t)
    z = 0.25 * t * t
    near = 1.0 - z / (nu - 1.0) * (1.0 - 0.5 * z / (nu - 2.0)) if nu > 3.0 else np.ones_like(t)
    return np.minimum(np.where(K == np.inf, near, k), 1.0)
