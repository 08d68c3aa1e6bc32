"""Stability of the weights of a model on other samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from .._fast.threads import processes
from .._pieces import Store, kept
from ..comparison.folds import as_cut, has_fields
from ..comparison.grouped import sample_labels
from ..estimators import (
    Copies,
    Finalists,
    copies_of,
    finalists_of,
    fitted_search,
    in_one_piece,
    model_of,
)
from ..fitting.matching import require_order
from ..fitting.model import Model
from ..fitting.progress import Progress
from ..fitting.survival import read_survival
from ..selection.checkpoint import keeping, require_number
from ._inputs import require_groups
from ._kept import estimator_prints
from ._shown import Shown

Array = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Stability(Shown):
    """Weights of kernels (or views) over resamples of the data.

    It prints as a table, the largest weights first, and ``to_frame()`` has all of it.

    Parameters
    ----------
    names : list of str
        The names of the kernels, or of the views.
    weights : ndarray of shape (n_resamples, n_names)
        The weights in each resample.
    level : float
        The level of the intervals.
    views : Stability or None, default=None
        The same for the total weight of each view. None if no kernel belongs to a view.
    choices : dict or None, default=None
        For a search, how often each of its finalists was chosen, the choice of all samples first. None if no
        choice was repeated.
    pairs : bool, default=False
        Whether resamples 0 and 1, 2 and 3, and so on are two halves of the data.
    listed : bool, default=True
        Whether these are all kernels that there are to choose from.

    Attributes
    ----------
    mean : ndarray of shape (n_names,)
        The mean weight over the resamples.
    low : ndarray of shape (n_names,)
        The lower end of the central interval that holds ``level`` of the resamples.
    high : ndarray of shape (n_names,)
        The upper end of that interval.
    frequency : ndarray of shape (n_names,)
        The share of the resamples in which the weight is not zero.

    See Also
    --------
    weight_stability : Learns the weights in resamples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Stability
    >>> found = Stability(["linear", "narrow"], np.array([[0.8, 0.2], [1.0, 0.0]]), level=0.95)
    >>> found.mean.tolist(), found.frequency.tolist()
    ([0.9, 0.1], [1.0, 0.5])
    """

    names: list[str]
    weights: Array  # (resamples, names)
    level: float
    views: Stability | None = None
    choices: dict[str, int] | None = None
    pairs: bool = False  # whether resamples 0 and 1, 2 and 3, … are two halves of the data
    listed: bool = True  # whether there are no other kernels than these to choose from

    @property
    def mean(self) -> Array:
        """The mean weight over the resamples."""
        return np.asarray(self.weights.mean(axis=0))

    @property
    def low(self) -> Array:
        """The lower end of the central interval that holds ``level`` of the resamples."""
        return np.asarray(np.quantile(self.weights, 0.5 - 0.5 * self.level, axis=0))

    @property
    def high(self) -> Array:
        """The upper end of the central interval that holds ``level`` of the resamples."""
        return np.asarray(np.quantile(self.weights, 0.5 + 0.5 * self.level, axis=0))

    @property
    def frequency(self) -> Array:
        """The share of the resamples in which the weight is not zero."""
        return np.asarray(np.mean(self.weights > 0.0, axis=0))

    def _first(self) -> NDArray[np.intp]:
        return np.argsort(-self.mean, kind="stable")

    def _said(self) -> list[str]:
        said = [f"Weights in {len(self.weights)} resamples, with {100 * self.level:g} % intervals."]
        if self.choices is not None:
            said.append(
                "Chosen: " + "; ".join(f"{n} × {name}" for name, n in self.choices.items() if n) + "."
            )
        return said if self.views is None else [*said, "The attribute views has the same for views."]

    def columns(self) -> dict[str, Any]:
        """Return the columns name, mean, low, high and frequency."""
        return {"name": self.names} | {k: getattr(self, k) for k in ("mean", "low", "high", "frequency")}


def weight_stability(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    method: str = "subsample",
    n_resamples: int = 50,
    fraction: float = 0.5,
    level: float = 0.95,
    searched: str = "anew",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    sample_groups: Any = None,
    checkpoint: Any = None,
) -> Stability:
    """Learn the weights anew on resampled data, and measure how they vary.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package with weights. It is cloned, never changed. A search such as
        MKLClassifierCV is fitted first if it is not; see ``searched``. In a pipeline the last step is
        learned anew; the steps before it are learned once, from all samples.
    X : array-like, frame, sparse matrix, list or dict
        The samples.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The targets.
    method : {"subsample", "bootstrap", "pairs"}, default="subsample"
        How the samples are drawn: a ``fraction`` of them without replacement, as many with replacement, or
        pairs of halves that share no sample, as :func:`stability_selection` needs them. Classes keep their
        shares. Samples that occur twice look like measurements without noise: if widths are learned, the
        intervals of a bootstrap miss the weights of all samples. Costs of errors are adapted, see the notes.
    n_resamples : int, default=50
        The number of resamples; for "pairs" the number of halves, which is even.
    fraction : float, default=0.5
        The share of the samples that "subsample" draws.
    level : float, default=0.95
        The level of the central intervals.
    searched : {"anew", "before"}, default="anew"
        How the choice of a search is treated. "anew" chooses in each resample among its ``finalists_``: the
        models that its folds could not tell from the best one, each at its C. They are learned from the
        resample and compared on the samples that it leaves out, by what the search chose by. "before" learns
        anew what was chosen on all samples, so that nothing says how sure that choice was.
    random_state : int, RandomState or None, default=None
        The seed of the draws.
    n_jobs : int or None, default=None
        The number of resamples that are learned at the same time.
    verbose : int, default=0
        With 1 a progress bar shows the time left.
    sample_groups : array-like of shape (n_samples,) or None, default=None
        Groups of samples (patients, sites), which are drawn as a whole. A search that is not fitted gets
        them too. Classes keep their shares if no group has samples of two classes.
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished resamples, so that the same call goes on after a crash. ``random_state``
        must then be a whole number.

    Returns
    -------
    Stability
        The weights in every resample, with means, intervals and frequencies.

    See Also
    --------
    stability_selection : Selects kernels with a bound on the number of false ones.

    Notes
    -----
    Estimators minimise ½‖w‖² + C Σ_i ℓ_i, whose second term is C n times the mean loss. A share f of the
    samples with the same C would be regularised 1/f times as strongly, and have other weights for that
    reason alone; with C/f it has the same problem in expectation, and that is what is fitted. UFO* minimise
    a mean of losses, but their weights fall with the number of steps: passes are multiplied by 1/f instead,
    to the next whole number. Parameters of a kernel or of ``approx`` stay as they are.

    What is left is what fewer samples do to any estimate. Smooth ones vary about that of all samples by
    √(1/f − 1) times its standard error, for halves by all of it. But weights also move with n: more samples
    support narrower kernels, which a half cannot tell from noise. Where that is more than the spread (norm 2
    and more, many samples), an interval misses the weight that all samples give.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> from manykernels.inspection import weight_stability
    >>> X = np.random.RandomState(0).randn(60, 3)
    >>> found = weight_stability(MKLRegressor(rank_one()), X, X[:, 1], n_resamples=10, random_state=0)
    >>> int(found.mean.argmax()), float(found.frequency[1])
    (1, 1.0)
    """
    if method not in ("bootstrap", "subsample", "pairs"):
        raise ValueError(f"method={method!r} was given; expected 'subsample', 'bootstrap' or 'pairs'.")
    if not isinstance(n_resamples, int | np.integer) or n_resamples < 2:
        raise ValueError(f"n_resamples={n_resamples!r} was given; expected a whole number, at least 2.")
    if method == "pairs" and (n_resamples % 2 or fraction != 0.5):
        raise ValueError(
            f"method='pairs' was given with n_resamples={n_resamples} and fraction={fraction!r}; expected an "
            "even number of halves, fraction=0.5."
        )
    for name, value in (("fraction", fraction), ("level", level)):
        if not isinstance(value, int | float) or not 0.0 < value < 1.0:
            raise ValueError(f"{name}={value!r} was given; expected a number between 0 and 1.")
    if searched not in ("anew", "before"):
        raise ValueError(f"searched={searched!r} was given; expected 'anew' or 'before'.")
    require_order(X, y, "y")
    estimator, X = in_one_piece(estimator, X, y)
    y = np.asarray(as_cut(estimator, y))
    if _num_samples(X) != len(y):
        raise ValueError(f"X has {_num_samples(X)} samples and y has {len(y)}.")
    sample_groups = sample_labels(sample_groups, len(y))
    require_groups(estimator, sample_groups, None, "Give sample_groups=, the groups that fit was given.")
    estimator, X = _last_step(estimator, X, y)
    estimator = fitted_search(estimator, X, y, sample_groups)
    copies = copies_of(estimator)
    finalists = finalists_of(estimator, X, y) if searched == "anew" else None
    rng, units = check_random_state(random_state), _units(y, sample_groups)
    times = has_fields(y)  # until an event, of which every draw has its share
    strata = _strata(copies.classifies or times, read_survival(y).event if times else y, units)
    if method == "pairs":
        drawn = [half for _ in range(n_resamples // 2) for half in _halves(strata, rng)]
    else:
        drawn = [_draw(strata, method, fraction, rng) for _ in range(n_resamples)]
    draws = [np.sort(np.concatenate([units[u] for u in chosen])) for chosen in drawn]
    told = {"X": X, "y": y, "random_state": random_state, "searched": searched}
    require_number(checkpoint, random_state)
    with keeping(checkpoint, "weight_stability", lambda: estimator_prints(estimator, told)) as store:
        found = _resamples(store, (copies, finalists, X, y), draws, n_jobs, verbose)
    # The kernels of all samples are in the table too, if they were never chosen again.
    own = ({}, {}) if finalists is None else _parts_of(model_of(estimator)[0])
    kernels = _stability([weights for _, weights, _, _ in found], level, own[0])
    named = any(view is not None for _, _, views, _ in found for view in views.values())
    views = _stability([_totals(*pair) for _, *pair, _ in found], level, _totals(*own)) if named else None
    choices = None
    if finalists is not None:
        chosen = Counter(name for name, *_ in found)
        choices = {one.name: chosen[one.name] for one in finalists.models}
    listed = all(one for *_, one in found)
    return Stability(kernels.names, kernels.weights, level, views, choices, method == "pairs", listed)


def _resamples(
    store: Store | None, given: tuple[Any, ...], draws: list[Any], n_jobs: int | None, verbose: int
) -> list[Any]:
    """Learn from each draw; results of an earlier run are read."""
    run = Parallel(n_jobs=processes(n_jobs, len(draws)), return_as="generator")
    shown, found = Progress("resamples", verbose, total=len(draws)), []
    try:
        names = [("resample", joblib.hash(rows, hash_name="sha1")) for rows in draws]
        tasks = (delayed(kept)(store, n, _learned, *given, d) for n, d in zip(names, draws, strict=True))
        for one in run(tasks):
            found.append(one)
            shown.step("")
    finally:
        shown.close()
    return found


def _last_step(estimator: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline, and X in the form in which it gets there."""
    if not isinstance(estimator, Pipeline) or len(estimator) < 2:
        return (estimator[-1] if isinstance(estimator, Pipeline) else estimator), X
    front, last = estimator[:-1], estimator[-1]
    try:
        return last, front.transform(X)
    except NotFittedError:
        return last, clone(front).fit_transform(X, y)


def _units(y: NDArray[Any], groups: Any) -> list[NDArray[np.intp]]:
    """Return the rows of each unit that is drawn as a whole: a sample, or a group of samples."""
    if groups is None:
        return [np.array([i]) for i in range(len(y))]
    return [np.flatnonzero(groups == label) for label in np.unique(groups)]


def _strata(classes: bool, y: NDArray[Any], units: list[NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Return strata of units: those of each class, if no unit has samples of two classes."""
    first = y[[rows[0] for rows in units]]
    if not classes or any((y[rows] != label).any() for rows, label in zip(units, first, strict=True)):
        return [np.arange(len(units))]
    return [np.flatnonzero(first == label) for label in np.unique(first)]


def _draw(
    groups: list[NDArray[np.intp]], method: str, fraction: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    if method == "bootstrap":
        return np.concatenate([rng.choice(group, group.size) for group in groups])
    sizes = [max(2 if group.size > 1 else 1, round(fraction * group.size)) for group in groups]
    return np.concatenate([rng.permutation(g)[:k] for g, k in zip(groups, sizes, strict=True)])


def _halves(
    groups: list[NDArray[np.intp]], rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Draw two halves of each group without common units; one unit of an odd number is left out."""
    if min(group.size for group in groups) < 2:
        raise ValueError(
            "a class has one sample (or one group of samples), and halves of the data that share none need "
            "two of each. Leave this class out, or join it with another."
        )
    mixed = [rng.permutation(group) for group in groups]
    first = np.concatenate([g[: g.size // 2] for g in mixed])
    return first, np.concatenate([g[g.size // 2 : 2 * (g.size // 2)] for g in mixed])


def _learned(
    copies: Copies, finalists: Finalists | None, X: Any, y: NDArray[Any], rows: NDArray[np.intp]
) -> tuple[str, dict[str, float], dict[str, str | None], bool]:
    """Learn from these rows; return the choice, its weights and views, and whether all kernels are listed."""
    name, model = ("", copies.relearn(X, y, rows)) if finalists is None else finalists.choose(X, y, rows)
    if model is None:  # of another package
        return name, {}, {}, True
    return name, *_parts_of(model), model.listed


def _parts_of(model: Model) -> tuple[dict[str, float], dict[str, str | None]]:
    """Return the weight of each kernel, and the view that it belongs to."""
    weights = np.reshape(model.weights, (-1, len(model.names))).mean(axis=0)
    views = [getattr(kernel.kernel, "view", None) for kernel in model.kernels]
    pairs = zip(model.names, map(float, weights), strict=True)
    return dict(pairs), dict(zip(model.names, views, strict=True))


def _totals(weights: dict[str, float], views: dict[str, str | None]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for name, weight in weights.items():
        view = views[name]
        key = name if view is None else view
        totals[key] = totals.get(key, 0.0) + weight
    return totals


def _stability(found: list[dict[str, float]], level: float, known: Iterable[str] = ()) -> Stability:
    """Collect the weights; a kernel that a resample lacks has weight 0 there."""
    names = list(dict.fromkeys([*known, *(name for weights in found for name in weights)]))
    table = np.array([[weights.get(name, 0.0) for name in names] for weights in found])
    return Stability(names, table, level)
