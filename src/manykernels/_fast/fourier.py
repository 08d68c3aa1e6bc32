"""cos and sin of many angles at once, for random Fourier features.

NumPy's double ``cos`` and ``sin`` are scalar on AVX2 (about 35 ns for both of an element; 3 ns in single
precision, where the angle has lost its digits); the loops here vectorise (2 ns, or 1.7 ns with single
results). Angles are in quarter turns: t = q + f with q whole and |f| ≤ ½ is an exact split, which radians do
not have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .threads import split

Array = NDArray[np.float64]

_ROUND = 6755399441055744.0  # 1.5 · 2⁵²: adding it rounds to an integer, which is left in the low bits
_LARGEST = 2.0**40  # quarter turns up to which a fraction of some digits is left
_COST = 8  # operations of `split` that one angle is worth


@njit(cache=True, nogil=True, fastmath={"contract"})
def _double(P: Array, scale: Array, root: Array, start: NDArray[np.intp], out: Array) -> None:
    """Near-minimax polynomials in f² for sin(πf/2)/f and cos(πf/2): errors 5e-18 and 5e-17."""
    D = P.shape[1]
    for i in range(P.shape[0]):
        for m in range(scale.size):
            a, c = scale[m], root[m]
            cosines = out[i, start[m] : start[m] + D]
            sines = out[i, start[m] + D : start[m] + 2 * D]
            for j in range(D):
                t = a * P[i, j]
                z = t + _ROUND
                f = t - (z - _ROUND)
                q = np.float64(z).view(np.int64)
                u = f * f
                s = 5.6338886912889947e-08
                s = s * u - 3.5986430080868076e-06
                s = s * u + 0.00016044115064067988
                s = s * u - 0.004681754132326592
                s = s * u + 0.07969262624604201
                s = s * u - 0.6459640975062443
                s = (s * u + 1.5707963267948966) * (c * f)
                k = 4.6552965528371637e-07
                k = k * u - 2.5200135294902878e-05
                k = k * u + 0.0009192599500518881
                k = k * u - 0.020863480734948255
                k = k * u + 0.25366950789986487
                k = k * u - 1.2337005501361513
                k = (k * u + 1.0) * c
                odd = (q & 1) == 1
                x = s if odd else k
                y = k if odd else s
                cosines[j] = -x if ((q + 1) & 2) != 0 else x
                sines[j] = -y if (q & 2) != 0 else y


@njit(cache=True, nogil=True, fastmath={"contract"})
def _single(P: Array, scale: Array, root: Array, start: NDArray[np.intp], out: NDArray[np.float32]) -> None:
    """Compute the same with f in single precision once the whole turns are gone: errors 5e-9 and 3e-8."""
    D = P.shape[1]
    one = np.float32(1.0)
    for i in range(P.shape[0]):
        for m in range(scale.size):
            a, c = scale[m], np.float32(root[m])
            cosines = out[i, start[m] : start[m] + D]
            sines = out[i, start[m] + D : start[m] + 2 * D]
            for j in range(D):
                t = a * P[i, j]
                z = t + _ROUND
                f = np.float32(t - (z - _ROUND))
                q = np.int32(np.float64(z).view(np.int64))
                u = f * f
                s = np.float32(-0.00460214921281431)
                s = s * u + np.float32(0.07968021764775546)
                s = s * u - np.float32(0.6459634776648118)
                s = (s * u + np.float32(1.5707963219532366)) * (c * f)
                k = np.float32(-0.020408158392998366)
                k = k * u + np.float32(0.25359857130254576)
                k = k * u - np.float32(1.2336970074214912)
                k = (k * u + one) * c
                odd = (q & np.int32(1)) == np.int32(1)
                x = s if odd else k
                y = k if odd else s
                cosines[j] = -x if ((q + np.int32(1)) & np.int32(2)) != np.int32(0) else x
                sines[j] = -y if (q & np.int32(2)) != np.int32(0) else y


def fourier(P: Array, scale: Array, root: Array, start: NDArray[np.intp], out: Any) -> None:
    """For every m: out[:, start_m:] = root_m (cos(scale_m P), sin(scale_m P)), P (n, D) in quarter turns.

    ``out`` is C-contiguous, of float64 (errors about 1e-16) or float32 (1e-7); each m writes 2D columns.
    """
    fill = _single if out.dtype == np.float32 else _double

    def rows(lo: int, hi: int) -> None:
        fill(P[lo:hi], scale, root, start, out[lo:hi])

    split(P.shape[0], _COST * P.size * scale.size, rows)
    if P.size and scale.size and np.max(scale) * max(P.max(), -P.min()) > _LARGEST:
        for m in range(scale.size):
            _fill_huge(P, scale[m], root[m], out[:, start[m] : start[m] + 2 * P.shape[1]])


def _fill_huge(P: Array, scale: float, root: float, out: Any) -> None:
    """Angles that are whole numbers of quarter turns for want of digits, which would all be alike.

    In radians they are still spread over the circle, as those of a kernel that is very narrow should be.
    """
    with np.errstate(over="ignore"):
        huge = np.abs(scale * P) > _LARGEST
        angle = np.nan_to_num(scale * P[huge] * (0.5 * np.pi))
    D = P.shape[1]
    out[:, :D][huge] = root * np.cos(angle)
    out[:, D:][huge] = root * np.sin(angle)
