"""Results of methods in the same folds, compared with each other and with a constant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor

from ..fitting.survival import read_survival
from ..selection.survival import ConcordanceScorer
from ..survival import breslow, censoring_curve
from .folds import Splits, cross_validate
from .scores import Fold, Scores
from .statistics import ALPHA, Difference, corrected_ttest, holm, p_shown, signed
from .tables import Table, Tabled

METRIC = {"classification": "accuracy", "regression": "R²", "survival": "C index"}
PLAIN_SUM = ("plain sum of the kernels", "uniform")  # what it is called in a report, and among METHODS
CHANCE = "chance"  # the row of a constant, in values
GUESSING = "guessing"  # the same for people
_ENOUGH = 199  # permutations from which a p-value is small enough for most
CONSTANT = {"accuracy": "always the largest class", "R²": "the mean", "C index": "the same risk for all"}


class SameRisk(BaseEstimator):
    """An estimator that predicts the same risk for all samples: every pair is tied, so that C is one half."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        seen = read_survival(y)
        self.censoring_ = censoring_curve(seen.event, seen.time, sample_weight)
        self.baseline_ = breslow(seen.event, seen.time, np.zeros(seen.time.size), sample_weight)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X))

    def predict_survival_function(self, X: Any) -> Any:
        return self.baseline_.survival(self.predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        return ConcordanceScorer()(self, X, y, sample_weight)


def chance(y: Any, splits: Splits, *, task: str, scoring: Any = None, weight: Any = None) -> Scores:
    """Score a constant in the same folds: the shares of classes, the mean of targets, the same risk."""
    kinds: dict[str, Any] = {"classification": DummyClassifier(strategy="prior"), "survival": SameRisk()}
    constant = kinds.get(task, DummyRegressor())
    nothing = np.zeros((len(y), 1))
    return cross_validate({"": constant}, nothing, y, splits, scoring=scoring, weight=weight)[""]


def share_of(splits: Splits) -> float:
    """Compute the mean of n_test/n_train over the folds."""
    return float(np.mean([len(test) / len(train) for train, test in splits]))


def between(first: Scores, second: Scores, test_share: float) -> Difference | None:
    """Test how far the first is above the second; None if one has no scores."""
    J = min(len(first.folds), len(second.folds))  # they differ where the comparison was stopped
    if not (first.complete and second.complete and J):
        return None
    pairs = zip(first.values[:J], second.values[:J], strict=True)
    return corrected_ttest([a - b for a, b in pairs], test_share)


@dataclass(frozen=True, repr=False)
class Permuted:
    """The score of a model beside its scores on permuted targets.

    Parameters
    ----------
    score : float
        The score on the true targets.
    null : sequence of float
        The scores on permuted targets.

    Attributes
    ----------
    p_value : float
        The p-value (1 + the number of orders that score as well as the true one) / (1 + their number).
    shown : str
        The p-value in words.
    limit : str
        A sentence about the number of permutations, if no smaller p-value is possible with them.

    See Also
    --------
    manykernels.inspection.permutation_test : Computes these scores.

    References
    ----------
    - Phipson and Smyth (2010), Permutation p-values should never be zero, Statistical Applications in
      Genetics and Molecular Biology 9.

    Examples
    --------
    >>> from manykernels.comparison.results import Permuted
    >>> found = Permuted(0.9, [0.5, 0.6, 0.4])
    >>> found.p_value
    0.25
    """

    score: float
    null: Sequence[float]

    def __repr__(self) -> str:
        low, high = min(self.null, default=math.nan), max(self.null, default=math.nan)
        told = f"Score {minus(self.score)}, on permuted targets from {minus(low)} to {minus(high)}"
        return f"{told}: {self.shown}. {self.limit}".rstrip()

    @property
    def p_value(self) -> float:
        """The p-value by Phipson and Smyth (2010): never 0, since the true order is a possible one."""
        null = np.asarray(self.null, dtype=np.float64)
        reached = np.count_nonzero(null >= self.score - 1e-12 * max(1.0, abs(self.score)))
        return (1.0 + float(reached)) / (1.0 + null.size)

    @property
    def shown(self) -> str:
        """The p-value in words, with the number of permutations."""
        return f"{p_shown(self.p_value)} by {len(self.null)} permutations of the target"

    @property
    def limit(self) -> str:
        """A sentence about the number of permutations, if no smaller p-value is possible with them."""
        count = len(self.null)
        if self.p_value * (count + 1) > 1.5 or count >= _ENOUGH:
            return ""
        return (
            f"With {count} permutations p cannot be smaller than that; --permutations {_ENOUGH} (in Python "
            f"n_permutations={_ENOUGH}) can show a smaller p."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the scores and the p-value as plain values.

        Returns
        -------
        dict
            With the keys ``score``, ``null`` and ``p_value``.

        Examples
        --------
        >>> from manykernels.comparison.results import Permuted
        >>> Permuted(0.9, [0.5, 0.6, 0.4]).as_dict()
        {'score': 0.9, 'null': [0.5, 0.6, 0.4], 'p_value': 0.25}
        """
        return {"score": self.score, "null": list(self.null), "p_value": self.p_value}


@dataclass(frozen=True, repr=False)
class Comparison(Tabled):
    """Scores of methods in the same folds, compared with one of them.

    ``to_frame``, ``to_csv``, ``to_latex`` and ``to_html`` write the table, and
    :class:`manykernels.plots.ComparisonDisplay` draws it.

    Parameters
    ----------
    metric : str
        The name of the score.
    scores : dict
        The :class:`Scores` of each method, by its name.
    chance : Scores, default=Scores()
        The scores of a constant.
    test_share : float, default=nan
        The ratio n_test/n_train, for the corrected t-test.
    reference : str or None, default=None
        The method that others are compared with. None is the best one.

    Attributes
    ----------
    best : str or None
        The method with the largest mean, the first of equals. None if no method has a mean.
    against : str or None
        The method that the others are compared with.

    Examples
    --------
    >>> import manykernels as mk
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = mk.compare([GaussianNB(), DummyClassifier()], X, y)
    >>> found.best, found.ranks()
    ('GaussianNB', {'GaussianNB': 1, 'DummyClassifier': 2})
    >>> found.difference("DummyClassifier").clear
    True
    """

    metric: str
    scores: Mapping[str, Scores]
    chance: Scores = field(default_factory=Scores)
    test_share: float = math.nan
    reference: str | None = None

    @property
    def best(self) -> str | None:
        """The method with the largest mean, the first of equals; None if no method has a mean."""
        known = {name: scores.mean for name, scores in self.scores.items() if scores.complete}
        return max(known, key=lambda name: known[name]) if known else None

    @property
    def against(self) -> str | None:
        """The method that the others are compared with."""
        return self.best if self.reference is None else self.reference

    def difference(self, name: str, other: str | None = None) -> Difference | None:
        """Test how far a method is above another one.

        Parameters
        ----------
        name : str
            The name of the method.
        other : str or None, default=None
            The other method. None is the reference.

        Returns
        -------
        Difference or None
            The mean difference with its test. None for the reference itself, and if one of them has no mean.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> old, new = Scores([Fold(0.7), Fold(0.8), Fold(0.6)]), Scores([Fold(0.8), Fold(0.9), Fold(0.8)])
        >>> found = Comparison("accuracy", {"old": old, "new": new}, test_share=0.5).difference("old")
        >>> round(found.mean, 3), found.ahead, found.behind
        (-0.133, 0, 3)
        """
        other = self.against if other is None else other
        if other is None or other == name:
            return None
        return between(self.scores[name], self.scores[other], self.test_share)

    def above_chance(self, name: str) -> Difference | None:
        """Test how far a method is above the score of a constant.

        Parameters
        ----------
        name : str
            The name of the method.

        Returns
        -------
        Difference or None
            The mean difference with its test. None if one of them has no mean.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> own, constant = Scores([Fold(0.9), Fold(0.8), Fold(0.85)]), Scores([Fold(0.5)] * 3)
        >>> found = Comparison("accuracy", {"forest": own}, constant, test_share=0.5).above_chance("forest")
        >>> round(found.mean, 3), found.clear
        (0.35, True)
        """
        return between(self.scores[name], self.chance, self.test_share)

    def above_others(self, name: str) -> dict[str, Difference]:
        """Test how far a method is above each of the others.

        Parameters
        ----------
        name : str
            The name of the method.

        Returns
        -------
        dict
            A :class:`Difference` for each other method that has a mean. If there are several, each has a
            p-value that is adjusted for their number by Holm's method.

        Examples
        --------
        Two tests are made, so that the smaller p-value is doubled:

        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> values = {"a": [0.8, 0.9, 0.8], "b": [0.7, 0.8, 0.6], "c": [0.4, 0.4, 0.4]}
        >>> scores = {name: Scores([Fold(value) for value in row]) for name, row in values.items()}
        >>> found = Comparison("accuracy", scores, test_share=0.5).above_others("a")
        >>> {other: round(one.p_adjusted / one.p_value, 3) for other, one in found.items()}
        {'b': 1.0, 'c': 2.0}
        """
        found = {other: self.difference(name, other) for other in self.scores}
        known = {other: one for other, one in found.items() if one is not None}
        if len(known) < 2:
            return known
        adjusted = holm([one.p_value for one in known.values()])
        pairs = zip(known.items(), adjusted, strict=True)
        return {other: replace(one, p_adjusted=float(p)) for (other, one), p in pairs}

    def strongest_rival(self, name: str) -> str | None:
        """Find the best of the other methods that have a mean.

        Parameters
        ----------
        name : str
            The name of the method.

        Returns
        -------
        str or None
            The name of that method. None if there is none.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> scores = {name: Scores([Fold(value)]) for name, value in [("a", 0.8), ("b", 0.7), ("c", 0.9)]}
        >>> found = Comparison("accuracy", scores)
        >>> found.strongest_rival("c"), found.strongest_rival("b")
        ('a', 'c')
        """
        others = {o: s.mean for o, s in self.scores.items() if o != name and s.complete}
        return max(others, key=lambda other: others[other]) if others else None

    def as_rows(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each method; the last row is the constant.

        Returns
        -------
        list of dict
            Each row has ``name``, ``mean``, ``std``, ``folds`` and ``error``.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> own, constant = Scores([Fold(0.75), Fold(1.0)]), Scores([Fold(0.5), Fold(0.5)])
        >>> found = Comparison("accuracy", {"forest": own}, constant)
        >>> for row in found.as_rows():
        ...     print(row["name"], row["mean"], row["folds"])
        forest 0.875 [0.75, 1.0]
        chance 0.5 [0.5, 0.5]
        """
        keys, constant = ("mean", "std", "folds", "error"), {CHANCE: self.chance} if self.chance.folds else {}
        facts = {name: scores.as_dict() for name, scores in {**self.scores, **constant}.items()}
        return [{"name": name, **{key: found[key] for key in keys}} for name, found in facts.items()]

    def ranks(self) -> dict[str, int]:
        """Rank the methods by their means.

        Returns
        -------
        dict
            The rank of each method that has a mean, 1 for the largest. Equal means share a rank.

        Examples
        --------
        Equal means share a rank:

        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> scores = {name: Scores([Fold(value)]) for name, value in [("a", 0.8), ("b", 0.9), ("c", 0.9)]}
        >>> Comparison("accuracy", scores).ranks()
        {'a': 3, 'b': 1, 'c': 1}
        """
        means = {name: round(scores.mean, 12) for name, scores in self.scores.items() if scores.complete}
        return {name: 1 + sum(other > mean for other in means.values()) for name, mean in means.items()}

    def differences(self) -> dict[str, tuple[Difference, float]]:
        """Test how far all methods are above the reference.

        Returns
        -------
        dict
            For each method that has a mean its :class:`Difference`, and its p-value adjusted by Holm's
            method.

        Examples
        --------
        >>> from manykernels.comparison import Comparison, Scores
        >>> from manykernels.comparison.scores import Fold
        >>> values = {"a": [0.8, 0.9, 0.8], "b": [0.7, 0.8, 0.6], "c": [0.4, 0.4, 0.4]}
        >>> scores = {name: Scores([Fold(value) for value in row]) for name, row in values.items()}
        >>> found = Comparison("accuracy", scores, test_share=0.5).differences()
        >>> {name: (round(one.mean, 3), p <= 0.05) for name, (one, p) in found.items()}
        {'b': (-0.133, False), 'c': (-0.433, True)}
        """
        found = {name: self.difference(name) for name in self.scores}
        known = {name: one for name, one in found.items() if one is not None}
        adjusted = holm([one.p_value for one in known.values()])
        return {name: (one, float(p)) for (name, one), p in zip(known.items(), adjusted, strict=True)}

    def table(self) -> Table:
        """Make a table with a row for each method, the best first, and one for chance.

        Returns
        -------
        Table
            The rows, as values and as text.
        """
        ranks, differences = self.ranks(), self.differences()
        order = sorted(self.scores, key=lambda name: ranks.get(name, len(self.scores) + 1))
        values = [_values(name, self.scores[name], ranks.get(name), differences.get(name)) for name in order]
        cells = [_cells(name, self.scores[name], ranks.get(name), differences.get(name)) for name in order]
        if self.chance.folds:
            values.append(_values(CHANCE, self.chance, None, None))
            cells.append([*_cells(GUESSING, self.chance, None, None)[:-1], ""])
        difference = "difference" if self.against is None else f"from {self.against}"
        p = "adjusted p" if len(differences) > 1 else "p"
        titles = ["method", self.metric, "rank", difference, p, "kernels", "seconds"]
        best = [i for i, name in enumerate(order) if ranks.get(name) == 1]
        return Table(values, titles, cells, best, self._notes())

    def _notes(self) -> list[str]:
        J = max((len(scores.folds) for scores in self.scores.values()), default=0)
        told = (
            f"Mean ± standard deviation over {J} folds, the same for all. Guessing always predicts the same. "
            "Each difference has its own 95 % interval, by the corrected t-test of Nadeau and Bengio; "
            "p is adjusted for the number of differences by Holm's method. Seconds are those of all folds "
            "together."
        )
        every = {**self.scores, GUESSING: self.chance}
        failed = [f"{name} {scores.error}" for name, scores in every.items() if scores.failed]
        warned = [f"{name}: {text}" for name, scores in self.scores.items() for text in scores.warned]
        return [told, *failed, *warned]


def _values(
    name: str, scores: Scores, rank: int | None, found: tuple[Difference, float] | None
) -> dict[str, Any]:
    facts, (one, adjusted) = scores.as_dict(), (None, None) if found is None else found
    return {
        "method": name,
        "rank": rank,
        "mean": facts["mean"],
        "std": facts["std"],
        "difference": None if one is None else one.mean,
        "low": None if one is None else one.low,
        "high": None if one is None else one.high,
        "p_value": None if one is None else one.p_value,
        "p_adjusted": adjusted,
        "folds": len(scores.values),
        "kernels": facts["kernels"],
        "seconds": facts["seconds"],
        "error": facts["error"],
    }


def _cells(name: str, scores: Scores, rank: int | None, found: tuple[Difference, float] | None) -> list[str]:
    kernels = scores.as_dict()["kernels"]
    missing = f"failed in {scores.failed}/{len(scores.folds)}" if scores.values else "failed"
    shown = scores.shown if scores.complete else missing if scores.failed else "–"
    told, p_text = "", ""
    if found is not None:
        one, p = found
        told = (
            f"{signed(one.mean)} [{signed(one.low)}, {signed(one.high)}]"
            if one.folds > 1
            else signed(one.mean)
        )
        p_text = "–" if math.isnan(p) else p_shown(p).removeprefix("p = ").removeprefix("p ")
    return [
        name,
        shown,
        "" if rank is None else str(rank),
        told,
        p_text,
        "" if kernels is None else f"{kernels:.0f}",
        f"{sum(fold.seconds for fold in scores.folds):.1f}",
    ]


def from_rows(rows: Sequence[Mapping[str, Any]], metric: str) -> Comparison:
    """Make a comparison from the rows of ``as_rows``, whose folds count as one cross-validation."""
    scores = {str(row["name"]): _scores(row) for row in rows}
    J = max((len(one.folds) for one in scores.values()), default=0)
    constant = scores.pop(CHANCE, Scores())
    return Comparison(metric, scores, constant, 1.0 / max(J - 1, 1))


def _scores(row: Mapping[str, Any]) -> Scores:
    """Return the folds of one row."""
    missing = sum(value is None for value in row["folds"])
    reason = str(row.get("error") or "it has no score.")
    reason = reason.removeprefix(f"failed in {missing} of {len(row['folds'])} folds: ")
    folds = [Fold(error=reason) if value is None else Fold(float(value)) for value in row["folds"]]
    return Scores(folds)


# -- sentences ------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Verdict:
    """A verdict on whether a model is better than guessing, with a sentence that says so in numbers."""

    better: bool
    sentence: str


def verdict(comparison: Comparison, name: str, permuted: Permuted | None = None) -> Verdict | None:
    """Decide whether a method is better than guessing; None if one of them has no scores.

    It is better if its mean is above that of a constant, and the p-value (of the permutations, where there
    are any, else of the corrected t-test, as it is shown) is at most 0.05. The t-test alone has few folds to
    go by, so that what it misses is "not clearly better".
    """
    found = comparison.above_chance(name)
    if found is None:
        return None
    metric, own, constant = comparison.metric, comparison.scores[name], comparison.chance
    p = found.p_value if permuted is None else permuted.p_value
    better = found.mean > 0.0 and (p <= ALPHA or math.isnan(p))
    unclear = "Not clearly" if permuted is None and found.mean > 0.0 else "No"
    numbers = f"{metric} {own.shown} against {minus(constant.mean)}, difference {signed(found.mean)}"
    tests = found.shown
    if permuted is not None:  # one p-value: that which decides
        tests = permuted.shown if math.isnan(found.p_value) else f"{found.interval}; {permuted.shown}"
    guess = f"guessing ({CONSTANT.get(metric, 'a constant')})"
    sentence = f"{'B' if better else f'{unclear} b'}etter than {guess}: {numbers} ({tests})."
    more = [] if permuted is None else [permuted.limit]
    if better and found.low <= 0.0:  # the permutations are the sharper test
        more = [
            "The interval contains 0 because scores vary from fold to fold. The permutations decide, since "
            "they compare the mean score with chance directly.",
            *more,
        ]
    return Verdict(better, " ".join(filter(None, [sentence, *more])))


def minus(value: float) -> str:
    """Format a score with three digits and a minus sign."""
    return f"{value:.3f}".replace("-", "−")


def said(name: str, rival: str, found: Difference) -> str:
    """Describe the difference between two methods in words."""
    if found.mean == 0.0 and found.ahead == found.behind == 0:
        return f"{name} and {rival} have the same score in every fold."
    word = "above" if found.mean > 0 else "below"
    folds = f"ahead in {found.ahead} and behind in {found.behind} of {found.folds} folds"
    doubt = "" if found.clear else ", which may be chance"
    if abs(found.mean) < 5e-4:
        return f"{name} and {rival} differ by less than 0.0005 on average ({found.shown}; {folds})."
    return f"{name} is {abs(found.mean):.3f} {word} {rival} ({found.shown}; {folds}){doubt}."
