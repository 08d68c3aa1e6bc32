"""Comparisons on several datasets, by the ranks of the methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .results import CHANCE, GUESSING, Comparison, minus
from .statistics import ALPHA, Ranking, p_shown, ranking
from .tables import Table, Tabled


@dataclass(frozen=True, repr=False)
class Comparisons(Tabled):
    """Comparisons of the same methods on several datasets, by their ranks (Demšar 2006).

    ``to_frame``, ``to_csv``, ``to_latex`` and ``to_html`` write the table.

    Parameters
    ----------
    of : dict
        The comparison on each dataset, by the name of the dataset.

    Attributes
    ----------
    methods : list of str
        The names of all methods, in the order in which they were given.
    ranking : Ranking or None
        The mean ranks with the tests of Friedman, Nemenyi and Wilcoxon. None if fewer than two methods have a
        mean on each of at least two datasets.

    References
    ----------
    - Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of Machine
      Learning Research 7.

    Examples
    --------
    >>> import manykernels as mk
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> found = mk.compare([GaussianNB(), DummyClassifier()], data)
    >>> found.ranking.mean_ranks
    {'GaussianNB': 1.0, 'DummyClassifier': 2.0}
    """

    of: Mapping[str, Comparison]

    @property
    def methods(self) -> list[str]:
        """The names of all methods, in the order in which they were given."""
        return list(dict.fromkeys(name for one in self.of.values() for name in one.scores))

    @cached_property
    def ranking(self) -> Ranking | None:
        """The ranks of the methods that have a mean on every dataset."""
        means = {name: self._means(name) for name in self.methods}
        whole = {name: np.array(values) for name, values in means.items() if None not in values}
        return ranking(whole) if len(whole) > 1 and len(self.of) > 1 else None

    def _means(self, method: str) -> list[float | None]:
        scores = [one.scores.get(method) for one in self.of.values()]
        return [one.mean if one is not None and one.complete else None for one in scores]

    def table(self) -> Table:
        """Make a table with a row for each method, by mean rank, and a column for each dataset.

        Returns
        -------
        Table
            The rows, as values and as text.
        """
        found = self.ranking
        ranks = {} if found is None else found.mean_ranks
        adjusted = {} if found is None else found.p_adjusted
        order = sorted(self.methods, key=lambda name: ranks.get(name, float("inf")))
        values, cells = [], []
        for name in order:
            means, rank, p = self._means(name), ranks.get(name), adjusted.get(name)
            row: dict[str, Any] = {"method": name, "mean_rank": rank, "p_adjusted": p}
            values.append(row | dict(zip(self.of, means, strict=True)))
            told = ["–" if mean is None else minus(mean) for mean in means]
            p_text = "" if p is None else p_shown(p).removeprefix("p = ").removeprefix("p ")
            cells.append([name, "–" if rank is None else f"{rank:.2f}", *told, p_text])
        constants = [one.chance.mean if one.chance.complete else None for one in self.of.values()]
        if any(mean is not None for mean in constants):
            empty: dict[str, Any] = {"method": CHANCE, "mean_rank": None, "p_adjusted": None}
            values.append(empty | dict(zip(self.of, constants, strict=True)))
            cells.append([GUESSING, "", *("–" if mean is None else minus(mean) for mean in constants), ""])
        titles = ["method", "mean rank", *self.of, "adjusted p"]
        return Table(values, titles, cells, [0] if found is not None else [], self._notes())

    def _notes(self) -> list[str]:
        found = self.ranking
        failed = [
            f"{name} on {dataset} {scores.error}"
            for dataset, one in self.of.items()
            for name, scores in one.scores.items()
            if scores.failed
        ]
        if found is None:
            return ["Ranks need two methods with a mean on each of at least two datasets.", *failed]
        test = "Friedman's" if len(found.mean_ranks) > 2 else "Wilcoxon's"
        told = (
            f"Mean ranks over {found.datasets} datasets, 1 is best. {test} test that all are alike: "
            f"{p_shown(found.p_value)}. Nemenyi's test at {ALPHA:g}: mean ranks that are less than "
            f"{found.critical_difference:.2f} apart do not differ. p: Wilcoxon's signed-rank test against "
            f"{found.against}, adjusted by Holm's method."
        )
        return [told, *failed]
