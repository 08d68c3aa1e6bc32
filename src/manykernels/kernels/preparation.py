"""Raw tables as numbers: features of one scale, heavy tails tamed, gaps filled, categories as indicators."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .cells import DATES, Format, column_of, labels_of, numbers_of, numeric_type
from .cycles import CYCLES, comes_back, wave_of
from .data import Array, Data, numeric, take_columns

Part = Literal["scaled", "scores", "both", "profiles", "roots", "levels"]
PARTS: dict[Part, str] = {  # and what they are called
    "scaled": "scaled features",
    "scores": "normal scores features",
    "both": "both features",
    "profiles": "profiles",
    "roots": "roots of profiles",
    "levels": "levels",
}
_HEAVY = 3.0  # excess kurtosis from which a column also comes as normal scores: that of the Laplace law
_BEYOND = 1.0  # deviations that new samples may lie beyond the training ones before they are held there
_VARIES = 1e-9  # of the largest size: a column whose deviation is less is constant up to rounding
_RARE = 0.3  # the least deviation that indicators of gaps are divided by: that of one row in ten
_ROUNDING = 1e-9  # relative, of sums of weights
_LEVELS = 0.5  # of the columns of numbers: where more have few different values, these are levels too
_FEW_VALUES = (3, 12)  # different numbers of a column that may be levels


class Preparation(BaseEstimator):
    """Columns of a table made comparable, with the constants of the training data.

    The features come in one of six parts:

    - ``"scaled"``: numbers less their mean over their standard deviation; an indicator of the gaps of each
      column that had some, centred; a categorical column as indicators of its levels, centred, with a total
      variance of 1. Levels that were never seen have no indicator.
    - ``"scores"``: the same, with heavy-tailed columns (excess kurtosis above 3) replaced by their normal
      scores Φ⁻¹((rank − ½)/n), interpolated between the training samples and constant beyond them.
    - ``"both"``: scaled, followed by the scores of the heavy-tailed columns.
    - ``"profiles"``: the numbers in the units of the table, with each row divided by its length. A row then
      says how its columns relate, and not how large they are. This suits many columns of one unit, such as
      counts of words or intensities.
    - ``"roots"``: the same of the square roots of the numbers, with their signs.
    - ``"levels"``: scaled, with every column of 3 to 12 different numbers replaced by indicators of the rows
      above each of them, centred, with a total variance of 1. A linear function of these is any function of
      the column, as trees have it: codes of categories, grades and small counts.

    Dates are numbers of days. Dates that span two or more years, weeks or days come in the first three parts
    also as cosine and sine of the time of the year, of the week or of the day.

    Missing numbers are filled with the weighted median of the training samples. Columns whose gaps are in the
    same rows share one indicator. New samples more than one deviation beyond the range of the training ones
    are held there: a linear trend may go on a little, and one outlier is not raised to a power. A row of
    weight w counts as w rows. Constant columns are left out.

    Parameters
    ----------
    columns : list of int or None, default=None
        The positions of the columns with numbers; None reads all columns as numbers.
    levels : dict of int to list or None, default=None
        The levels of the categorical columns, by position. A level is a text, None for missing cells, or a
        tuple of texts that share one indicator, called "other".
    formats : dict of int to str or None, default=None
        How columns of text are read as numbers, by position (``kernels.cells``): "text", "decimal comma",
        "span", "date", "d.m.y", "d/m/y" or "m/d/y".
    ordered : list of int or None, default=None
        The positions of the categorical columns whose levels are in their order. A level then has the
        indicators of all levels up to it, so that neighbours are nearer than others.

    Attributes
    ----------
    kept_ : ndarray of int
        The columns of numbers that vary.
    mean_ : ndarray of shape (n_kept,)
        Weighted means of the kept columns.
    spread_ : ndarray of shape (n_kept,)
        Weighted standard deviations of the kept columns.
    low_ : ndarray of shape (n_kept,)
        Smallest scaled value that new samples may have.
    high_ : ndarray of shape (n_kept,)
        Largest scaled value that new samples may have.
    heavy_ : ndarray of int
        The kept columns with heavy tails.
    knots_ : list of tuple of ndarray
        Scaled values and their normal scores for each heavy-tailed column.
    indicators_ : list of tuple of ndarray
        Shares of the levels, and what they are divided by, for each categorical column.
    fill_ : ndarray of shape (n_columns,)
        The medians that fill gaps; 0 for columns without gaps.
    gaps_ : ndarray of int
        The columns whose gaps have an indicator.
    gap_share_ : ndarray of shape (n_gaps,)
        The share of samples with a gap in these columns.
    gap_spread_ : ndarray of shape (n_gaps,)
        Standard deviations of the indicators of gaps.
    cycles_ : list of tuple of int and str
        The columns of dates that come back to the same time, and of what: "time of year", "day of week" or
        "time of day".
    wave_mean_ : ndarray of shape (n_cycles, 2)
        The means of their cosines and sines.
    steps_ : list of tuple of int and ndarray
        The kept columns of few different numbers, each with the scaled values between them.
    above_ : list of tuple of ndarray
        Shares of the rows above these values, and what the indicators are divided by, for each such column.
    key_ : str
        A digest, equal for preparations that make the same features of any table.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Preparation
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 5.0], [7.0, 6.0]])
    >>> made = Preparation().fit(X)
    >>> made.names(["height", "age"])
    ['height', 'age', 'age missing']
    >>> made.transform(X).shape
    (4, 3)
    """

    def __init__(
        self,
        columns: Sequence[int] | None = None,
        levels: Mapping[int, Sequence[Any]] | None = None,
        formats: Mapping[int, Format] | None = None,
        ordered: Sequence[int] | None = None,
    ) -> None:
        self.columns = columns
        self.levels = levels
        self.formats = formats
        self.ordered = ordered

    def fit(self, X: Data, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn medians, means, deviations, ranks and shares from the training samples.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_columns)
            Training samples.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples: a sample of weight 2 counts as two samples.

        Returns
        -------
        Preparation
            The preparation itself.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.kernels import Preparation
        >>> X = np.array([[1.0, 5.0], [3.0, np.nan], [5.0, 5.0], [7.0, 6.0]])
        >>> made = Preparation().fit(X)
        >>> made.mean_.round(3).tolist(), made.fill_.tolist()
        ([4.0, 5.25], [0.0, 5.0])
        """
        if sample_weight is not None:
            kept = np.flatnonzero(np.asarray(sample_weight) > 0)
            X, sample_weight = _safe_indexing(X, kept), np.asarray(sample_weight, dtype=np.float64)[kept]
        A = self._numbers(X)
        w = np.full(len(A), 1.0 / len(A)) if sample_weight is None else sample_weight / sample_weight.sum()
        A = self._fit_gaps(A, w)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = w @ A
            spread = np.sqrt(w @ (A - mean) ** 2)
        varies = (spread > _VARIES * np.abs(A).max(axis=0)) & np.isfinite(spread)
        self.kept_ = np.flatnonzero(varies)
        self.mean_, self.spread_ = mean[self.kept_], spread[self.kept_]
        Z = (A[:, self.kept_] - self.mean_) / self.spread_
        self.low_ = Z.min(axis=0, initial=np.inf) - _BEYOND
        self.high_ = Z.max(axis=0, initial=-np.inf) + _BEYOND
        self.heavy_ = np.flatnonzero(w @ Z**4 - 3.0 > _HEAVY)
        self.knots_ = [_scores(Z[:, j], w) for j in self.heavy_]
        self.indicators_ = [self._shares(X, j, w) for j in self._levels]
        self._fit_cycles(self._numbers(X), w)
        self.steps_ = [(j, cuts) for j in range(Z.shape[1]) if (cuts := _between(Z[:, j])).size]
        self.above_ = [_shares(Z[:, [j]] > cuts, w) for j, cuts in self.steps_]
        self.key_ = self._identity()
        return self

    def _fit_gaps(self, A: Array, w: Array) -> Array:
        """A with its gaps filled, once the medians and what tells of gaps are known."""
        gaps = np.isnan(A)
        having = np.flatnonzero(gaps.any(axis=0))
        self.fill_ = np.zeros(A.shape[1])
        self.fill_[having] = _medians(A[:, having], w)
        partial = having[~gaps[:, having].all(axis=0)]
        patterns = np.ascontiguousarray(np.packbits(gaps[:, partial], axis=0).T)
        rows = patterns.view(np.dtype((np.void, patterns.shape[1]))).ravel()
        self.gaps_ = np.sort(partial[np.unique(rows, return_index=True)[1]])
        self.gap_share_ = np.asarray(w @ gaps[:, self.gaps_])
        self.gap_spread_ = np.maximum(np.sqrt(self.gap_share_ * (1.0 - self.gap_share_)), _RARE)
        return self._filled(A, gaps)

    def _fit_cycles(self, A: Array, w: Array) -> None:
        """Learn which dates come back to a time of a year, a week or a day, and the means of their waves."""
        formats, columns = self.formats or {}, range(A.shape[1]) if self.columns is None else self.columns
        dates = [k for k, j in enumerate(columns) if formats.get(j, "") in DATES]
        self.cycles_ = [(k, name) for k in dates for name in CYCLES if comes_back(A[:, k], name)]
        known = w[:, None] * ~np.isnan(A)
        waves = [np.nan_to_num(wave_of(A[:, k], name)) for k, name in self.cycles_]
        means = [
            known[:, k] @ wave / known[:, k].sum() for (k, _), wave in zip(self.cycles_, waves, strict=True)
        ]
        self.wave_mean_ = np.array(means)

    def _waves(self, A: Array) -> Array:
        """Cosine and sine of every cycle, less their means; 0 where the date is missing."""
        waves = [wave_of(A[:, k], name) for k, name in self._cycles]
        centred = [wave - mean for wave, mean in zip(waves, self.wave_mean_, strict=True)]
        return np.asarray(np.nan_to_num(np.hstack(centred)))

    @property
    def _cycles(self) -> list[tuple[int, str]]:
        return getattr(self, "cycles_", [])  # models of older files have none

    def _filled(self, A: Array, gaps: NDArray[np.bool_]) -> Array:
        return np.where(gaps, self.fill_, A) if gaps.any() else A

    def _identity(self) -> str:
        """Equal for preparations that make the same of any table: a digest, since columns may be many."""
        columns = None if self.columns is None else list(map(int, self.columns))
        levels = [(int(j), list(map(str, levels))) for j, levels in self._levels.items()]
        whole = sha256(
            repr((columns, sorted((self.formats or {}).items()), levels, list(self._ordered))).encode()
        )
        arrays = [self.kept_, self.mean_, self.spread_, self.low_, self.high_, self.fill_, self.gaps_]
        arrays += [self.gap_share_, *(x for pair in self.knots_ for x in pair)]
        arrays += [share for share, _ in self.indicators_]
        arrays += [np.array([[k, CYCLES[name]] for k, name in self.cycles_]), self.wave_mean_]
        arrays += [cuts for _, cuts in self.steps_]
        for array in arrays:
            whole.update(len(array).to_bytes(8, "little") + array.tobytes())
        return whole.hexdigest()

    def transform(self, X: Data, part: Part = "scaled") -> Array:
        """Compute the features of the rows of X.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_columns)
            Samples.
        part : {"scaled", "scores", "both", "profiles", "roots", "levels"}, default="scaled"
            The features to compute, as described for the class.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The features.

        Examples
        --------
        The numbers 1 and 7 have the mean 4 and the standard deviation 3:

        >>> import numpy as np
        >>> from manykernels.kernels import Preparation
        >>> made = Preparation().fit(np.array([[1.0, 0.0], [7.0, 2.0]]))
        >>> made.transform(np.array([[7.0, 0.0]])).tolist()
        [[1.0, -1.0]]

        Profiles are rows divided by their length:

        >>> made.transform(np.array([[3.0, 4.0]]), part="profiles").round(3).tolist()
        [[0.6, 0.8]]
        """
        A = self._numbers(X)
        gaps = np.isnan(A)
        if part in ("profiles", "roots"):
            return _profiles(self._filled(A, gaps)[:, self.kept_], part == "roots")
        Z = (self._filled(A, gaps)[:, self.kept_] - self.mean_) / self.spread_
        np.clip(Z, self.low_, self.high_, out=Z)
        heavy = zip(self.heavy_, self.knots_, strict=True) if part in ("scores", "both") else ()
        scores = [np.interp(Z[:, j], x, z) for j, (x, z) in heavy]
        if part == "scores" and scores:
            Z[:, self.heavy_] = np.column_stack(scores)
        blocks = [Z] if part != "levels" else self._above(Z)
        if self.gaps_.size:
            blocks.append((gaps[:, self.gaps_] - self.gap_share_) / self.gap_spread_)
        for j, (share, spread) in zip(self._levels, self.indicators_, strict=True):
            blocks.append((self._is_level(X, j) - share) / spread)
        if self._cycles:
            blocks.append(self._waves(A))
        if part == "both" and scores:
            blocks.append(np.column_stack(scores))
        return blocks[0] if len(blocks) == 1 else np.hstack(blocks)

    def _above(self, Z: Array) -> list[Array]:
        """Columns of few numbers as indicators of the rows above each of them, after the other columns."""
        few = [j for j, _ in self.steps_]
        if not few:
            return [Z]
        sizes = [cuts.size for _, cuts in self.steps_]
        above = Z[:, np.repeat(few, sizes)] > np.concatenate([cuts for _, cuts in self.steps_])
        share = np.concatenate([share for share, _ in self.above_])
        spread = np.repeat([spread for _, spread in self.above_], sizes)
        return [np.delete(Z, few, axis=1), (above - share) / spread]

    # -- what the features are --------------------------------------------------------------------
    def names(self, names: Sequence[str], part: Part = "scaled") -> list[str]:
        """Return the names of the features.

        Parameters
        ----------
        names : sequence of str
            Names of all columns of the table.
        part : {"scaled", "scores", "both", "profiles", "roots", "levels"}, default="scaled"
            The features to name, as described for the class.

        Returns
        -------
        list of str
            One name for each feature.

        Examples
        --------
        >>> import pandas as pd
        >>> from manykernels.kernels import Preparation
        >>> table = pd.DataFrame({"age": [30, None, 50, 70], "site": ["A", "B", "A", "B"]})
        >>> made = Preparation(columns=[0], levels={1: ["A", "B"]}).fit(table)
        >>> made.names(["age", "site"])
        ['age', 'age missing', 'site=A', 'site=B']
        """
        given = range(len(names)) if self.columns is None else self.columns
        numbers = [str(names[given[int(k)]]) for k in self.kept_]
        if part in ("profiles", "roots"):
            return numbers
        scores = [f"{numbers[j]} (normal scores)" for j in self.heavy_] if part == "both" else []
        if part == "levels":
            numbers = self._names_of_levels(numbers)
        gaps = [f"{names[given[int(k)]]} missing" for k in self.gaps_]
        levels = [
            f"{names[j]}{'≥' if j in self._ordered and i and level is not None else '='}{_called(level)}"
            for j, chosen in self._levels.items()
            for i, level in enumerate(chosen)
        ]
        waves = [f"{names[given[k]]} {name}, {wave}" for k, name in self._cycles for wave in ("cos", "sin")]
        return numbers + gaps + levels + waves + scores

    def _names_of_levels(self, numbers: list[str]) -> list[str]:
        few = {j for j, _ in self.steps_}
        steps = [
            f"{numbers[j]} > {value:.4g}"
            for j, cuts in self.steps_
            for value in cuts * self.spread_[j] + self.mean_[j]
        ]
        return [name for j, name in enumerate(numbers) if j not in few] + steps

    @property
    def n_numbers(self) -> int:
        """Return how many columns with numbers vary."""
        return int(self.kept_.size)

    @property
    def has_levels(self) -> bool:
        """True if more than half of the columns with numbers have few different ones."""
        return len(self.steps_) > _LEVELS * self.n_numbers

    @property
    def n_features(self) -> int:
        """Return how many features there are ("scaled" or "scores")."""
        indicators = int(self.gaps_.size) + sum(map(len, self._levels.values()))
        return self.n_numbers + indicators + 2 * len(self._cycles)

    @property
    def places_of_levels(self) -> dict[int, list[int]]:
        """The features that belong to each column of categories, by their places."""
        sizes = [len(levels) for levels in self._levels.values()]
        ends = self.n_numbers + int(self.gaps_.size) + np.cumsum([0, *sizes])
        pairs = itertools.pairwise(ends.tolist())
        return {j: list(range(lo, hi)) for j, (lo, hi) in zip(self._levels, pairs, strict=True)}

    @property
    def places_of_steps(self) -> dict[int, list[int]]:
        """The features of part "levels" that belong to each kept column of few numbers, by their places."""
        ends = self.n_numbers - len(self.steps_) + np.cumsum([0, *(cuts.size for _, cuts in self.steps_)])
        pairs = itertools.pairwise(ends.tolist())
        return {j: list(range(lo, hi)) for (j, _), (lo, hi) in zip(self.steps_, pairs, strict=True)}

    @property
    def groups(self) -> NDArray[np.intp]:
        """(n_features,): −1 for numbers; the same number for all indicators of one column, or one cycle."""
        sizes = [1] * int(self.gaps_.size) + [len(levels) for levels in self._levels.values()]
        sizes += [2] * len(self._cycles)
        return np.concatenate([np.full(self.n_numbers, -1), np.repeat(np.arange(len(sizes)), sizes)])

    # -- reading ----------------------------------------------------------------------------------
    def _numbers(self, X: Data) -> Array:
        if sparse.issparse(X):
            raise ValueError(
                "Prepared features need a dense table, got a sparse matrix: call X.toarray() first."
            )
        if self.columns is None and not self.formats:
            return np.asarray(numeric(X))
        columns = range(X.shape[1]) if self.columns is None else self.columns
        return number_matrix(X, columns, self.formats or {})

    @property
    def _levels(self) -> Mapping[int, Sequence[Any]]:
        return {} if self.levels is None else self.levels

    def _shares(self, X: Data, j: int, w: Array) -> tuple[Array, float]:
        """The mean of each level's indicator, and the deviation of all of them together."""
        return _shares(self._is_level(X, j), w)

    def _is_level(self, X: Data, j: int) -> Array:
        levels = self._levels[j]
        place = level_places(levels)
        labels = labels_of(column_of(X, int(j)))
        codes = np.fromiter((place.get(label, -1) for label in labels), dtype=np.intp, count=len(labels))
        found = codes[:, None] == np.arange(len(levels))
        if j in self._ordered:
            known = len(levels) - (None in levels)
            found[:, 1:known] |= (codes < known)[:, None] & (codes[:, None] > np.arange(1, known))
        return np.asarray(found, dtype=np.float64)

    @property
    def _ordered(self) -> Sequence[int]:
        return getattr(self, "ordered", None) or ()  # models of older files have none


def _shares(indicators: NDArray[Any], w: Array) -> tuple[Array, float]:
    share = np.asarray(w @ indicators)
    return share, max(float(share @ (1.0 - share)), 1e-12) ** 0.5


def _between(z: Array) -> Array:
    """The values half way between the different numbers of a column; none where these are too many."""
    least, most = _FEW_VALUES
    values = np.unique(z[: 100 * most])  # a column of many shows it in few rows
    values = values if values.size > most else np.unique(z)
    return (values[1:] + values[:-1]) / 2.0 if least <= values.size <= most else np.empty(0)


def _profiles(A: Array, roots: bool) -> Array:
    """Rows of length 1 in the units of the table; of the roots of its numbers, with their signs."""
    if roots:
        A = np.sign(A) * np.sqrt(np.abs(A))
    length = np.linalg.norm(A, axis=1, keepdims=True)
    return np.asarray(A / np.where(length > 0.0, length, 1.0))


def level_places(levels: Sequence[Any]) -> dict[str | None, int]:
    """The indicator of each label; those of one tuple share theirs, None stands for missing cells."""
    place: dict[str | None, int] = {}
    for k, level in enumerate(levels):
        for one in level if isinstance(level, tuple) else (level,):
            place[None if one is None else str(one)] = k
    return place


def number_matrix(X: Data, columns: Sequence[int], formats: Mapping[int, Format]) -> Array:
    """Some columns of a table as numbers (n, len(columns)), NaN where there are none."""
    if not len(columns):
        return np.empty((X.shape[0], 0))
    if isinstance(X, np.ndarray) and X.dtype.kind in "biuf":
        return quiet(np.asarray(X[:, list(columns)], dtype=np.float64))
    types = list(X.dtypes) if hasattr(X, "dtypes") else []
    plain = [k for k, j in enumerate(columns) if types and numeric_type(types[j])]
    A = np.empty((X.shape[0], len(columns)))
    for lo, hi in _runs([columns[k] for k in plain]):
        A[:, plain[lo:hi]] = plain_matrix(
            take_columns(X, slice(columns[plain[lo]], columns[plain[hi - 1]] + 1))
        )
    for k in sorted(set(range(len(columns))) - set(plain)):
        A[:, k] = numbers_of(column_of(X, columns[k]), formats.get(columns[k], ""))
    return quiet(A)


def quiet(A: Array) -> Array:
    """A with every NaN the same: R's NA is one that signals, which `np.fmax` does not pass over."""
    holes = np.isnan(A)
    return np.where(holes, np.nan, A) if holes.any() else A


def _runs(positions: Sequence[int]) -> list[tuple[int, int]]:
    """Cut columns into runs of neighbours: pandas takes a list one by one, and a slice at once."""
    ends = np.flatnonzero(np.diff(positions) != 1) + 1 if len(positions) else np.empty(0, dtype=int)
    edges = [0, *ends.tolist(), len(positions)]
    return [(lo, hi) for lo, hi in itertools.pairwise(edges) if hi > lo]


def plain_matrix(frame: Any) -> Array:
    """A frame whose columns are all of numeric types as numbers, NaN for what is missing."""
    if hasattr(frame, "cast"):  # polars
        return np.asarray(frame.cast(float).to_numpy(), dtype=np.float64)
    return np.asarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))


def _called(level: Any) -> str:
    return "missing" if level is None else "other" if isinstance(level, tuple) else str(level)


def _medians(A: Array, w: Array) -> Array:
    """The weighted median of what each column of A holds; 0 where it holds nothing.

    Where the weights are cut in two halves between two values it is their mean, as for repeated samples.
    """
    order = np.argsort(A, axis=0)  # NaN last
    values = np.take_along_axis(A, order, axis=0)
    mass = np.cumsum(np.where(np.isnan(values), 0.0, w[order]), axis=0)
    half = 0.5 * mass[-1]
    slack = _ROUNDING * half
    low = np.argmax(mass >= half - slack, axis=0)
    high = np.minimum(np.argmax(mass > half + slack, axis=0), (~np.isnan(values)).sum(axis=0) - 1)
    columns = np.arange(A.shape[1])
    return np.asarray(np.nan_to_num(0.5 * (values[low, columns] + values[np.maximum(high, low), columns])))


def _scores(z: Array, w: Array) -> tuple[Array, Array]:
    """The distinct values of z, and the normal score of each: Φ⁻¹ of the middle of its step of the ranks.

    They are scaled to mean 0 and deviation 1, ties included.
    """
    x, place = np.unique(z, return_inverse=True)
    mass = np.bincount(place, w)
    score = ndtri(np.cumsum(mass) - 0.5 * mass)
    score = score - mass @ score
    return x, score / np.sqrt(mass @ score**2)
