"""Checks, their rules, and the facts that rules read."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..families.base import names_of
from ..fitting.layout import evenly, take
from ..fitting.model import Model
from ..selection.tried import Searched

Array = NDArray[np.float64]
PAGE = "docs/checks.md"
_SAMPLES = 300  # on which kernels are looked at


@dataclass(frozen=True)
class Check:
    """A reason to be careful with a model, with the numbers of this model.

    Parameters
    ----------
    code : str
        The code of the check, such as "MK201". It stays the same from version to version.
    title : str
        A few words about the kind of problem.
    message : str
        A sentence with the numbers of this model.
    advice : str
        A sentence that says what to do.
    page : str
        The page of the documentation, and the place on it.

    See Also
    --------
    manykernels.inspection.check : Find all checks that a model and its data trigger.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([Linear(), Gaussian(width=0.01)], norm=2.0).fit(X, y)
    >>> model.checks_[0].title
    'A kernel is nearly the identity'
    >>> model.checks_[0].page
    'docs/checks.md#mk302'
    """

    code: str
    title: str
    message: str
    advice: str
    page: str

    def __str__(self) -> str:
        return f"{self.code}: {self.message} {self.advice} See {self.page}."

    def as_dict(self) -> dict[str, str]:
        """Return the fields as a dictionary.

        Returns
        -------
        dict of str to str
            The values of ``code``, ``title``, ``message``, ``advice`` and ``page``.

        Examples
        --------
        >>> from manykernels.inspection import Check
        >>> check = Check("MK000", "Few samples", "There are 5 samples.", "Find more.", "docs/checks.md")
        >>> list(check.as_dict()), check.as_dict()["advice"]
        (['code', 'title', 'message', 'advice', 'page'], 'Find more.')
        """
        return asdict(self)


@dataclass(frozen=True)
class Compared:
    """A comparison by cross-validated scores: whether the model is better than another one, in a sentence."""

    better: bool
    sentence: str


@dataclass(frozen=True)
class Facts:
    """All that rules may read. What is not known is None, and rules about it find nothing.

    Attributes
    ----------
    model : what was learned
    max_iter : the most iterations that were allowed
    searched : what a search tried
    X, y : the training samples as they reach the model, and their targets as they were read
    table, names : the training samples as they were given, before a pipeline prepared them, and what their
        columns are called
    costed : whether classes have costs of their own
    groups, folds : the group of each sample, and which samples are learned from and held out together
    new, predicted : other samples as they were given, and what is predicted for them
    halves : (resamples, kernels or views): weights learned from random halves of the data
    of : what the columns of `halves` are, "kernel" or "view"
    alignments : of a kernel learned from half of the data, on this half and on the other one
    guessing, plain_sum : the model beside a constant, and beside the plain sum of its kernels
    """

    model: Model
    max_iter: int | None = None
    searched: Searched | None = None
    X: Any = None
    y: Any = None
    table: Any = None
    names: Sequence[str] | None = None
    costed: bool = False
    groups: Any = None
    folds: Any = None
    new: Any = None
    predicted: Any = None
    halves: Array | None = None
    of: str = "kernel"
    alignments: tuple[float, float] | None = None
    guessing: Compared | None = None
    plain_sum: Compared | None = None

    @property
    def task(self) -> str:
        """ "classification", "regression" or "survival"."""
        told = getattr(self.model.target, "task", None)
        return str(told) if told else "regression" if self.model.classes is None else "classification"

    @property
    def columns(self) -> list[str]:
        """Return what the columns of `table` are called."""
        return names_of(self.table, self.names)

    @property
    def shares(self) -> Array:
        """(M,): the share of each kernel in the weight; where rows have their own weights, their mean."""
        W = np.abs(np.atleast_2d(np.asarray(self.model.weights, dtype=np.float64)))
        total = W.sum(axis=1, keepdims=True)
        return np.asarray((W / np.where(total > 0.0, total, 1.0)).mean(axis=0))

    @cached_property
    def read(self) -> Any:
        """All training samples that are at hand, as kernels read them; None without any."""
        model = self.model
        if model.layout.kind != "stack" and model.X_fit is not None:
            return model.X_fit
        if self.X is None:
            return None
        with warnings.catch_warnings():  # fit has said what there is to say
            warnings.simplefilter("ignore")
            return model.layout.read(self.X)

    @cached_property
    def samples(self) -> Any:
        """Some of them, evenly spread; a stack has their columns alone."""
        if self.read is None:
            return None
        rows = evenly(_num_samples(self.read), _SAMPLES)
        some = take(self.read, rows)
        return some[:, rows] if self.model.layout.kind == "stack" else some


@dataclass(frozen=True)
class Rule:
    """A code, and the function that writes the sentence of this model, or None where all is well."""

    code: str
    title: str
    advice: str
    find: Callable[[Facts], str | None]

    @property
    def page(self) -> str:
        """Return where the documentation speaks of it."""
        return f"{PAGE}#{self.code.lower()}"

    def judge(self, facts: Facts) -> Check | None:
        """The check that this model triggers, if it does."""
        message = self.find(facts)
        return None if message is None else Check(self.code, self.title, message, self.advice, self.page)
