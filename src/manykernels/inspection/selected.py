"""Stability selection: kernels or views that a model takes again and again, with a bound on false ones.

A model is learned on B pairs of halves of the data that share no sample (Shah & Samworth 2013), and on each
half the q kernels of p with the largest weights are taken. Let Π be the share of the 2B halves that take a
kernel, and Π₂ the share of the pairs in which both halves do: 2Π − 1 ≤ Π₂. The halves of a pair are
independent, so that E Π₂ = π² for a kernel that a half takes with probability π, and by Markov's inequality

    P(Π ≥ τ) ≤ P(Π₂ ≥ 2τ − 1) ≤ π²/(2τ − 1)

The sum over the kernels with π ≤ q/p, those that are taken no more often than by guessing, is at most

    E(false ones with Π ≥ τ) ≤ q²/((2τ − 1) p)

for every B, since Σπ ≤ q. Meinshausen and Bühlmann (2010, Theorem 1) have the same bound for all kernels
without effect, if these are alike and the model is no worse than guessing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from .._arguments import is_number, is_whole, number_of, shown
from ..fitting.options import Options
from ._shown import Shown
from .stability import Stability, weight_stability

Array = NDArray[np.float64]
THRESHOLD, MAX_FALSE = 0.75, 1.0


@dataclass(frozen=True, repr=False)
class Selection(Shown):
    """The kernels or views that most halves of the data select, with a bound on the false ones.

    It prints as a table, the most frequent first, and ``to_frame()`` has all of it.

    Attributes
    ----------
    names : list of str
        The kernels, or the views.
    frequency : array of shape (n_names,)
        The share of the halves that take each.
    selected : array of bool of shape (n_names,)
        Whether that is at least the threshold.
    threshold : float
        The share of the halves from which a kernel is selected.
    n_selected : int
        The largest number that a half takes.
    n_pairs : int
        The number of pairs of halves.
    expected_false : float
        The bound on the expected number of selected kernels that are not taken more often than by guessing.

    See Also
    --------
    stability_selection : Computes the frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Selection
    >>> found = Selection(["a", "b"], np.array([1.0, 0.2]), np.array([True, False]), 0.75, 1, 50, 1.0)
    >>> found.columns()["selected"].tolist()
    [True, False]
    """

    names: list[str]
    frequency: Array
    selected: NDArray[np.bool_]
    threshold: float
    n_selected: int
    n_pairs: int
    expected_false: float

    def columns(self) -> dict[str, Any]:
        """Return the columns name, frequency and selected."""
        return {"name": self.names, "frequency": self.frequency, "selected": self.selected}

    def _first(self) -> NDArray[np.intp]:
        return np.argsort(-self.frequency, kind="stable")

    def _said(self) -> list[str]:
        halves, q = f"{2 * self.n_pairs} halves of the data", self.n_selected
        which = "the largest weight" if q == 1 else f"one of the {q} largest weights"
        return [
            f"Selected: {which} in {self.threshold:.0%} or more of {halves}. At most "
            f"{self.expected_false:.2g} of these are expected to be chosen by a half no more often than by "
            "chance."
        ]


def stability_selection(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    by: str = "kernel",
    threshold: float = THRESHOLD,
    max_false: float = MAX_FALSE,
    n_selected: int | None = None,
    n_pairs: int = 50,
    searched: str = "anew",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    sample_groups: Any = None,
) -> Selection:
    """Select kernels or views that get weight again and again, with a bound on how many are false.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package with weights. It is cloned, never changed. Its kernels must be a list,
        so that their number is known.
    X : array-like, frame, sparse matrix, list or dict
        The samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    by : {"kernel", "view"}, default="kernel"
        With "view" the weights of the kernels of a view are added up.
    threshold : float, default=0.75
        The share of the halves, above 1/2, from which a kernel is selected.
    max_false : float, default=1.0
        The expected number of false ones among the selected that is allowed. It decides how many kernels a
        half may take. Ignored if ``n_selected`` is given.
    n_selected : int or None, default=None
        The largest number of kernels that a half takes: those with the largest weights.
    n_pairs : int, default=50
        The number of pairs of halves. The model is fitted twice as often.
    searched : {"anew", "before"}, default="anew"
        How the choice of a search is treated, as in :func:`weight_stability`. Its finalists were found on
        all samples, which the bound does not know of: for a proof give an estimator whose C was not chosen
        on these samples.
    random_state : int, RandomState or None, default=None
        The seed of the halves.
    n_jobs : int or None, default=None
        The number of fits at the same time.
    verbose : int, default=0
        With 1 a progress bar shows the time left.
    sample_groups : array-like of shape (n_samples,) or None, default=None
        Groups of samples (patients, sites), which are drawn as a whole.

    Returns
    -------
    Selection
        With ``names``, ``frequency``, ``selected`` and ``expected_false``.

    Notes
    -----
    Of p kernels, of which a half takes at most q, the expected number of selected ones that a half takes with
    a probability of at most q/p is at most q²/((2τ − 1) p), τ the threshold. This needs no assumption on the
    model or the kernels but that samples are independent (Shah & Samworth 2013, Theorem 1). That all kernels
    without effect are among those is an assumption: that the model does not prefer one of them to others
    (Meinshausen & Bühlmann 2010). It fails where weights reward memory: narrow kernels of noise can fit the
    samples of every half, and are then selected. A smaller C helps, and :func:`significance` tells whether a
    kernel is related to y at all. Of two kernels that are nearly the same a half may take either, so that
    neither is selected: give such kernels as one view.

    References
    ----------
    - Meinshausen and Bühlmann (2010), Stability selection, Journal of the Royal Statistical Society B 72.
    - Shah and Samworth (2013), Variable selection with error control: another look at stability selection,
      Journal of the Royal Statistical Society B 75.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> from manykernels.inspection import stability_selection
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> found = stability_selection(MKLRegressor(rank_one()), X, y, n_pairs=10, random_state=0)
    >>> found.n_selected, found.expected_false, bool(found.selected[found.names.index("s5")])
    (2, 0.8, True)
    """
    _check(by, threshold, max_false, n_selected, n_pairs)
    kernels = getattr(estimator, "kernels", None)
    if kernels is not None and not Options("stability_selection", kernels=kernels).listed:
        _refuse(f"kernels={shown(kernels)} stands")
    found = weight_stability(
        estimator,
        X,
        y,
        method="pairs",
        n_resamples=2 * int(n_pairs),
        searched=searched,
        random_state=random_state,
        n_jobs=n_jobs,
        verbose=verbose,
        sample_groups=sample_groups,
    )
    if not found.listed:  # 'auto' of some estimators
        _refuse(f"the kernels of {type(estimator).__name__} stand")
    if by == "view":
        if found.views is None:
            raise ValueError(
                "by='view' was given, and no kernel belongs to a view. Give kernels=views({name: columns, "
                "...}), or by='kernel'."
            )
        found = Stability(found.views.names, found.views.weights, found.level, pairs=True)
    return selection_of(found, threshold, max_false, n_selected, random_state)


def selection_of(
    found: Stability,
    threshold: float = THRESHOLD,
    max_false: float = MAX_FALSE,
    n_selected: int | None = None,
    random_state: Any = None,
) -> Selection:
    """Select from weights that were learned on pairs of halves; raise an error if no bound is that small."""
    p, scale = len(found.names), 2.0 * threshold - 1.0
    q = math.floor(math.sqrt(max_false * scale * p) + 1e-9) if n_selected is None else int(n_selected)
    if p < 2 or q < 1:
        raise ValueError(
            f"there are {number_of(p, 'kernel')} (or views) to choose from, and even one in each half bounds "
            f"the expected number of false ones by {1.0 / (scale * p):.2g}, more than max_false={max_false:g}"
            ". Raise max_false or the threshold, or give more kernels."
            if p > 1
            else "there is one kernel (or view) only: nothing to choose from. See inspection.significance."
        )
    q = min(q, p)
    rng = check_random_state(random_state)
    taken = np.array([_largest(row, q, rng) for row in np.abs(found.weights)])
    frequency = taken.mean(axis=0)
    bound = q * q / (scale * p)
    halves = len(found.weights)
    kept = frequency >= threshold - 1e-12
    return Selection(found.names, frequency, kept, threshold, q, halves // 2, bound)


def _largest(weights: Array, q: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """The q largest of the weights that are not zero; among equal ones it is left to chance."""
    order = np.lexsort((rng.uniform(size=weights.size), -weights))[:q]
    taken = np.zeros(weights.size, dtype=bool)
    taken[order] = True
    return np.asarray(taken & (weights > 0.0))


def _refuse(what: str) -> NoReturn:
    raise ValueError(
        f"{what} for more kernels than can be listed, so that no bound says how many are selected by chance; "
        "give a list."
    )


def _check(by: Any, threshold: Any, max_false: Any, n_selected: Any, n_pairs: Any) -> None:
    if by not in ("kernel", "view"):
        raise ValueError(f"by={shown(by)} was given; expected 'kernel' or 'view'.")
    if not is_number(threshold) or not 0.5 < threshold <= 1.0:
        raise ValueError(
            f"threshold={shown(threshold)} was given; expected a number above 0.5 and at most 1: the share "
            "of halves from which a kernel is selected."
        )
    if not is_number(max_false) or not 0.0 < max_false < math.inf:
        raise ValueError(f"max_false={shown(max_false)} was given; expected a positive number.")
    for name, value, least in (("n_selected", n_selected, 1), ("n_pairs", n_pairs, 2)):
        if not (value is None and name == "n_selected") and (not is_whole(value) or value < least):
            raise ValueError(f"{name}={shown(value)} was given; expected a whole number from {least} on.")
