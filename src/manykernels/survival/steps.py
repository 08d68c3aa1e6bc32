"""Functions of time that are constant between jumps: survival curves and cumulative hazards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import as_numbers
from .._warn import warn
from .observed import at_least_zero, share

Array = NDArray[np.float64]
_ROUNDING = 1e-12  # of a probability: a curve that reaches one half but for rounding has its median there


@dataclass(frozen=True)
class StepFunctions:
    """One function of time, or several that jump at the same times.

    f(t) is `before` for t < times[0] and values[..., i] for times[i] ≤ t < times[i + 1]: the functions are
    continuous from the right. After `last`, the last time at which a sample was observed, nothing is known:
    f(t) is NaN there, and calling f warns. ``f(t)`` has the shape of the functions and then that of t;
    ``f[3]`` is one function of several.

    Attributes
    ----------
    times : ndarray of shape (k,)
        Times of the jumps, growing.
    values : ndarray of shape (k,) or (m, k)
        Values from these times on, of one function or of several.
    before : float
        The value before the first jump.
    last : float or ndarray of shape (m,)
        The time after which nothing is known.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.survival import StepFunctions
    >>> f = StepFunctions(np.array([1.0, 2.0]), np.array([0.5, 0.25]))
    >>> f([0.5, 1.0, 5.0]).tolist()
    [1.0, 0.5, 0.25]
    """

    times: Array  # (k,), growing
    values: Array  # (k,) for one function, (m, k) for several
    before: float = 1.0
    last: Any = np.inf  # a number, or (m,)

    def __call__(self, times: Any) -> Any:
        """Return the values at any times, with a warning after the last observed time.

        Parameters
        ----------
        times : array-like
            Times.

        Returns
        -------
        ndarray or float
            Values, of the shape of the functions and then that of `times`.

        Examples
        --------
        Two functions that jump at the same times:

        >>> import numpy as np
        >>> from manykernels.survival import StepFunctions
        >>> both = StepFunctions(np.array([1.0, 2.0]), np.array([[0.5, 0.2], [0.9, 0.8]]))
        >>> both([0.0, 1.5])
        array([[1. , 0.5],
               [1. , 0.9]])
        >>> both[1](2.0)
        0.8
        """
        t = read_times(times)
        warn_of_end(t, np.asarray(self.last))
        found = self.at(t)
        return float(found) if found.ndim == 0 else found

    def at(self, times: Array) -> Array:
        """Return the values at any times, NaN after the last observed time, and no warning.

        Parameters
        ----------
        times : ndarray
            Times.

        Returns
        -------
        ndarray
            Values, of the shape of the functions and then that of `times`.

        Examples
        --------
        Nobody was observed after the time 3:

        >>> import numpy as np
        >>> from manykernels.survival import StepFunctions
        >>> curve = StepFunctions(np.array([1.0, 2.0]), np.array([0.5, 0.2]), last=3.0)
        >>> curve.at(np.array([0.5, 2.0, 4.0]))
        array([1. , 0.2, nan])
        """
        t = np.asarray(times, dtype=np.float64)
        start = np.full((*self.values.shape[:-1], 1), self.before)
        known = np.concatenate([start, self.values], axis=-1)
        found = known[..., np.searchsorted(self.times, t.ravel(), "right")]
        found = np.where(t.ravel() > np.asarray(self.last)[..., None], np.nan, found)
        return found.reshape((*self.values.shape[:-1], *t.shape))

    @property
    def x(self) -> Array:
        """The times, as scikit-survival's functions call them."""
        return self.times

    @property
    def y(self) -> Array:
        """The values, as scikit-survival's functions call them."""
        return self.values

    @property
    def domain(self) -> tuple[float, Any]:
        """From 0 to the last time that is known, as scikit-survival's functions say it."""
        return 0.0, self.last

    def __len__(self) -> int:
        if self.values.ndim == 1:
            raise TypeError("this is one function of time, which has no length.")
        return len(self.values)

    def __getitem__(self, rows: Any) -> StepFunctions:
        if self.values.ndim == 1:
            raise TypeError("this is one function of time: call it with the times to know its values.")
        last = np.broadcast_to(self.last, self.values.shape[:-1])[rows]
        return StepFunctions(self.times, self.values[rows], self.before, last)

    def __iter__(self) -> Iterator[StepFunctions]:
        return (self[i] for i in range(len(self)))


def read_times(times: Any) -> Array:
    """Times to evaluate at, of any shape."""
    t = as_numbers(times, "times", "numbers").astype(np.float64)
    if not np.isfinite(t).all():
        raise ValueError("times holds missing or infinite numbers; expected finite ones.")
    return t


def warn_of_end(times: Array, last: Array) -> None:
    """Say that curves are asked for after the last time that they are known at."""
    if not (times.size and last.size) or times.max() <= last.min():
        return
    until = f"{last.max():g}" if last.min() == last.max() else f"{last.min():g} to {last.max():g}, by stratum"
    warn(
        f"a curve was asked for at the time {times.max():g}, and nobody was observed after {until}: it is "
        "NaN there. Ask for earlier times."
    )


def median_time(survival: StepFunctions, level: float = 0.5) -> Any:
    """Return the first time at which survival is `level` or less.

    Parameters
    ----------
    survival : StepFunctions
        Survival curves.
    level : float, default=0.5
        The level; 0.5 stands for the median.

    Returns
    -------
    float or ndarray
        Times of all curves; ∞ where a curve stays above as long as it is known.

    Examples
    --------
    >>> from manykernels.survival import kaplan_meier, median_time
    >>> median_time(kaplan_meier([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0]).curve)
    2.0
    """
    level = share(level, "level", 0.5)
    if not survival.times.size:
        return np.full(survival.values.shape[:-1], np.inf)[()]
    fallen = survival.values <= level + _ROUNDING  # NaN, where a curve has ended, has not fallen
    fallen &= survival.times <= np.asarray(survival.last)[..., None]
    times = np.append(survival.times, np.inf)
    first = np.where(fallen.any(axis=-1), fallen.argmax(axis=-1), times.size - 1)
    found = times[first]
    return float(found) if found.ndim == 0 else found


def restricted_mean(survival: StepFunctions, until: float) -> Any:
    """Compute ∫₀^until S(t) dt, the mean time without the event within the first `until`.

    Parameters
    ----------
    survival : StepFunctions
        Survival curves.
    until : float
        The time up to which the mean is taken.

    Returns
    -------
    float or ndarray
        Means of all curves; NaN where a curve has ended before.

    Examples
    --------
    >>> from manykernels.survival import kaplan_meier, restricted_mean
    >>> restricted_mean(kaplan_meier([1, 1, 1, 1], [1.0, 2.0, 3.0, 4.0]).curve, until=2.0)
    1.75
    """
    until = at_least_zero(until, "until")
    if not np.isfinite(until):
        raise ValueError("until is infinite; expected a time up to which the mean is taken.")
    edges = np.append(survival.times[survival.times < until], until)
    starts = np.append(0.0, edges[:-1])
    known = survival.at(starts) * (edges - starts)
    found = np.where(np.asarray(survival.last) < until, np.nan, known.sum(axis=-1))
    return float(found) if found.ndim == 0 else found
