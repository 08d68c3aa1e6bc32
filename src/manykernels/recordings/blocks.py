"""Folds of samples that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples

from .._arguments import is_whole, shown
from .runs import Index, number_runs


class BlockFold(BaseCrossValidator):
    """Folds of neighbouring samples, with a gap around them that nothing is learned from.

    Samples that follow each other in time resemble each other. Where training samples are neighbours of test
    samples, as in shuffled folds, a model is rewarded for remembering them. Here the test samples of a fold
    are a block, and `gap` samples on either side of it belong to neither part. Where there are several
    runs, folds of whole runs (GroupKFold, LeaveOneGroupOut) are safer still.

    Parameters
    ----------
    n_splits : int, default=5
        Number of blocks, at least 2. Where they do not divide the samples, the first ones have one sample
        more.
    gap : int, default=0
        Number of samples between training and test. It should be at least the largest delay of the features
        plus the time that the noise remembers.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.recordings import BlockFold
    >>> for train, test in BlockFold(3, gap=1).split(np.zeros((7, 1))):
    ...     print(train, test)
    [4 5 6] [0 1 2]
    [0 1 6] [3 4]
    [0 1 2 3] [5 6]
    """

    __metadata_request__split = {"groups": True}

    def __init__(self, n_splits: int = 5, *, gap: int = 0) -> None:
        self.n_splits = n_splits
        self.gap = gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of blocks.

        Parameters
        ----------
        X : object, default=None
            Ignored.
        y : object, default=None
            Ignored.
        groups : object, default=None
            Ignored.

        Returns
        -------
        int
            The number of blocks.

        Examples
        --------
        >>> from manykernels.recordings import BlockFold
        >>> BlockFold(4).get_n_splits()
        4
        """
        if not is_whole(self.n_splits) or self.n_splits < 2:
            raise ValueError(
                f"n_splits={shown(self.n_splits)} was given; expected a whole number, at least 2."
            )
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Index, Index]]:
        """Generate the training and the test samples of each fold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in the order of time.
        y : object, default=None
            Ignored.
        groups : array-like of shape (n_samples,) or None, default=None
            The run of each sample. A gap ends where a run does, since samples of two runs are no neighbours.

        Yields
        ------
        train : ndarray of int
            Positions of the training samples.
        test : ndarray of int
            Positions of the test samples.

        Examples
        --------
        Sample 3 is in the gap after the first block, unless it belongs to another run:

        >>> import numpy as np
        >>> from manykernels.recordings import BlockFold
        >>> X, folds = np.zeros((6, 1)), BlockFold(2, gap=1)
        >>> next(folds.split(X))
        (array([4, 5]), array([0, 1, 2]))
        >>> next(folds.split(X, groups=["a", "a", "a", "b", "b", "b"]))
        (array([3, 4, 5]), array([0, 1, 2]))
        """
        n, splits = _num_samples(X), self.get_n_splits()
        if not is_whole(self.gap) or self.gap < 0:
            raise ValueError(
                f"gap={shown(self.gap)} was given; expected a whole number of samples, at least 0."
            )
        if n < splits:
            raise ValueError(
                f"X holds {n} samples, and n_splits={splits} was given; expected as many samples."
            )
        run, rows = number_runs(groups, n), np.arange(n)
        for k, test in enumerate(np.array_split(rows, splits)):
            first, last = test[0], test[-1]
            before = (rows >= first - self.gap) & (rows < first) & (run == run[first])
            after = (rows > last) & (rows <= last + self.gap) & (run == run[last])
            train = rows[(rows < first) | (rows > last)]
            train = train[~(before | after)[train]]
            if not train.size:
                raise ValueError(
                    f"nothing is left to learn from in fold {k}: it has {test.size} of {n} samples, and "
                    f"gap={self.gap} takes all others. Take a smaller gap or more folds."
                )
            yield train, test
