"""The run that each sample belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length

from .._arguments import is_whole, shown

Index = NDArray[np.intp]


def run_labels(n_samples: int, length: int | Sequence[int]) -> Index:
    """Say which run each sample belongs to, from the lengths of the runs.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    length : int or list of int
        The length of every run, or of each run.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        0 for the samples of the first run, 1 for those of the second, and so on: for ``groups=`` of
        `Delayer`, `BlockFold`, and scikit-learn's GroupKFold and LeaveOneGroupOut.

    Examples
    --------
    >>> from manykernels.recordings import run_labels
    >>> run_labels(6, 3), run_labels(6, [2, 4])
    (array([0, 0, 0, 1, 1, 1]), array([0, 0, 1, 1, 1, 1]))
    """
    lengths = _lengths(length)
    if is_whole(length):
        count, left = divmod(n_samples, lengths[0])
        if left:
            raise ValueError(
                f"{n_samples} samples are no whole number of runs of {length}: {left} are left over. Give "
                "the length of each run as a list, or leave these samples out."
            )
        lengths = lengths * count
    elif sum(lengths) != n_samples:
        raise ValueError(
            f"the {len(lengths)} runs have {sum(lengths)} samples together, and there are {n_samples}. Give "
            "the length of each run."
        )
    return np.repeat(np.arange(len(lengths)), lengths)


def _lengths(given: Any) -> list[int]:
    listed = [given] if is_whole(given) else given
    listed = list(listed) if isinstance(listed, list | tuple | np.ndarray) else []
    if not listed or not all(is_whole(part) and part >= 1 for part in listed):
        raise ValueError(
            f"length={shown(given)} was given; expected the length of every run (a whole number, at least "
            "1), or a list with the length of each."
        )
    return [int(part) for part in listed]


def number_runs(labels: Any, n: int) -> Index:
    """(n,): 0 for the rows of the first run, 1 for those of the second; all 0 without labels.

    Rows of a run stand together: a label that comes back after another one is an error.
    """
    if labels is None:
        return np.zeros(n, dtype=np.intp)
    given = np.asarray(labels.to_numpy() if hasattr(labels, "to_numpy") else labels)
    if given.ndim != 1:
        raise ValueError(f"groups of shape {given.shape} was given; expected one label for each of {n} rows.")
    check_consistent_length(given, np.empty(n))
    values = given.tolist()
    if any(value is None or value != value for value in values):
        raise ValueError("groups holds missing labels; expected the run of every row.")
    run, seen = np.zeros(n, dtype=np.intp), dict.fromkeys(values[:1])
    for i in range(1, n):
        begins = values[i] != values[i - 1]
        if begins and values[i] in seen:
            raise ValueError(
                f"run {values[i]!r} comes back at row {i}, after run {values[i - 1]!r}; expected the rows of "
                "a run one after another, in the order of time. Sort the rows, or give the second part a "
                "label of its own."
            )
        run[i] = run[i - 1] + begins
        seen[values[i]] = None
    return run
