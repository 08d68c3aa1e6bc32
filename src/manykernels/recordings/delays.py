"""Lagged copies of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, _safe_indexing, check_array
from sklearn.utils.validation import _check_feature_names_in, _num_samples, check_is_fitted, validate_data

from .._arguments import and_more, is_number, is_whole, shown
from .._warn import warn
from .runs import Index, number_runs

_NAMED = 5  # runs or columns that a message names


class Delayer(TransformerMixin, BaseEstimator):
    """Append lagged copies of the features, within runs.

    A response that follows a stimulus after some time (the blood flow of a brain area: 4 to 8 s) is
    predicted from the stimulus at several delays, and the weights of the delays are its shape. Copies come
    from rows of the same run; where a run has no row so much earlier, they hold `fill`.

    Parameters
    ----------
    delays : sequence of int, default=(1, 2, 3, 4)
        Delays in rows. 2 is the row two rows earlier, 0 the row itself, −1 the next one.
    runs : str, int or None, default=None
        The column of X, by name or position, that says which run a row belongs to. It is used, and left out
        of the output. With None runs are given as ``groups``, or all rows are one run.
    fill : float, default=0.0
        The value of rows that do not exist. 0 is the mean of features that were centred before.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has such names.

    Notes
    -----
    All copies of the first feature come first, then those of the second: columns 3 to 5 of X at D delays are
    columns 3 D to 6 D − 1 of the output, so that feature spaces stay together.

    Nothing is learned and no target is seen, so that features may be delayed once, before any folds are cut:
    ``Delayer().fit_transform(X, groups=runs)``. That is best, since a fold that ends within a run then knows
    what came before. As a step of a Pipeline it sees the rows of a fold only. It is right there for folds of
    whole runs (GroupKFold, LeaveOneGroupOut), with the run as a column of X (``runs=``), or with ``groups``
    requested by metadata routing (``set_fit_request(groups=True)``, ``set_transform_request(groups=True)``).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.recordings import Delayer
    >>> X = np.array([[1.0], [2.0], [3.0], [7.0], [8.0]])
    >>> Delayer([0, 1]).fit_transform(X, groups=["a", "a", "a", "b", "b"])
    array([[1., 0.],
           [2., 1.],
           [3., 2.],
           [7., 0.],
           [8., 7.]])
    """

    n_features_in_: int

    def __init__(self, delays: Any = (1, 2, 3, 4), *, runs: Any = None, fill: float = 0.0) -> None:
        self.delays = delays
        self.runs = runs
        self.fill = fill

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Check the parameters, and remember the columns of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time.
        y : object, default=None
            Ignored.
        groups : array-like of shape (n_samples,) or None, default=None
            The run of each row.

        Returns
        -------
        Delayer
            The transformer itself.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.recordings import Delayer
        >>> Delayer([1, 2]).fit(np.zeros((6, 3))).n_features_in_
        3
        """
        self._delays()
        if not is_number(self.fill):
            raise ValueError(f"fill={shown(self.fill)} was given; expected a number.")
        self._read(X, groups, reset=True)
        return self

    def transform(self, X: Any, groups: Any = None) -> NDArray[Any]:
        """Compute the delayed features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time.
        groups : array-like of shape (n_samples,) or None, default=None
            The run of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features × n_delays)
            The delayed features.

        Examples
        --------
        The row before each row, within its run:

        >>> import numpy as np
        >>> from manykernels.recordings import Delayer
        >>> X = np.array([[1.0], [2.0], [3.0], [4.0]])
        >>> Delayer([1]).fit(X).transform(X, groups=["a", "a", "b", "b"]).ravel()
        array([0., 1., 0., 3.])
        """
        check_is_fitted(self)
        X, run = self._read(X, groups, reset=False)
        delays, (n, d) = self._delays(), X.shape
        _warn_of_short_runs(run, max(abs(delay) for delay in delays))
        copies = np.full((n, d, len(delays)), self.fill, dtype=X.dtype)
        rows = np.arange(n)
        for k, delay in enumerate(delays):
            there = (rows - delay >= 0) & (rows - delay < n)
            there[there] = run[rows[there] - delay] == run[there]
            copies[there, :, k] = X[rows[there] - delay]
        return copies.reshape(n, d * len(delays))

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> NDArray[Any]:
        """Append the copies; the same as ``fit(X).transform(X, groups)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order of time.
        y : object, default=None
            Ignored.
        groups : array-like of shape (n_samples,) or None, default=None
            The run of each row.

        Returns
        -------
        ndarray of shape (n_samples, n_features × n_delays)
            The delayed features.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.recordings import Delayer
        >>> sound = np.array([[1.0], [2.0], [3.0]])
        >>> Delayer([0, 1, 2]).fit_transform(sound)
        array([[1., 0., 0.],
               [2., 1., 0.],
               [3., 2., 1.]])
        """
        return self.fit(X, y, groups).transform(X, groups)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the delayed features.

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Names of the columns of X; None takes those that were seen.

        Returns
        -------
        ndarray of str
            Names: ``x_lag2`` is feature x two rows earlier, ``x_lead1`` one row later.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels.recordings import Delayer
        >>> delayer = Delayer([2, -1]).fit(np.zeros((6, 2)))
        >>> delayer.get_feature_names_out(["sound", "light"]).tolist()
        ['sound_lag2', 'sound_lead1', 'light_lag2', 'light_lead1']
        """
        check_is_fitted(self)
        names = list(_check_feature_names_in(self, input_features))
        if self.runs is not None:
            del names[self._position()]
        words = [f"lag{delay}" if delay >= 0 else f"lead{-delay}" for delay in self._delays()]
        return np.array([f"{name}_{word}" for name in names for word in words], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- reading --------------------------------------------------------------------------------
    def _delays(self) -> list[int]:
        given = self.delays
        listed = list(given) if isinstance(given, list | tuple | range | np.ndarray) else []
        if not listed or not all(is_whole(delay) for delay in listed) or len(set(listed)) < len(listed):
            raise ValueError(
                f"delays={shown(given)} was given; expected a list of different whole numbers of rows, "
                "such as (1, 2, 3, 4)."
            )
        return [int(delay) for delay in listed]

    def _position(self) -> int:
        """Return the position of the column that says the run."""
        names = list(getattr(self, "feature_names_in_", ()))
        if isinstance(self.runs, str):
            if self.runs not in names:
                known = f"the columns of X are {and_more(names, _NAMED)}" if names else "X has no names"
                raise ValueError(f"runs={self.runs!r} was given, and {known}; expected a column of X.")
            return names.index(self.runs)
        if not is_whole(self.runs) or not -self.n_features_in_ <= self.runs < self.n_features_in_:
            raise ValueError(
                f"runs={shown(self.runs)} was given; expected a column of X, by name or position (X has "
                f"{self.n_features_in_}). Give labels of the rows as groups: "
                "fit_transform(X, groups=labels)."
            )
        return int(self.runs) % self.n_features_in_

    def _read(self, X: Any, groups: Any, reset: bool) -> tuple[NDArray[Any], Index]:
        """Features (n, d), and the run of each row as a number."""
        how = {"dtype": (np.float64, np.float32), "ensure_all_finite": "allow-nan"}
        if self.runs is None:
            X = validate_data(self, X, reset=reset, **how)
            return X, number_runs(groups, len(X))
        if groups is not None:
            raise ValueError("groups= was given, and runs= names a column of X that says the same; give one.")
        validate_data(self, X, reset=reset, skip_check_array=True)
        X = X if hasattr(X, "shape") else np.asarray(X)
        column = self._position()
        others = [j for j in range(self.n_features_in_) if j != column]
        run = number_runs(_safe_indexing(X, column, axis=1), _num_samples(X))
        return check_array(_safe_indexing(X, others, axis=1), estimator=self, **how), run


def _warn_of_short_runs(run: Index, longest: int) -> None:
    """Say which runs have no row so much earlier."""
    lengths = np.bincount(run)
    short = np.flatnonzero(lengths <= longest)
    if short.size:
        which = and_more([str(k) for k in short], _NAMED)
        warn(
            f"{short.size} of {lengths.size} runs have no more rows than the largest delay, {longest}: its "
            f"copies hold nothing but fill there (run {which}, counted from 0)."
        )
