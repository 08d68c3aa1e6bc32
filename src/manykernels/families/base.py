"""The base class of families."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from ..kernels import Constant, Kernel
from ..kernels.data import Data, numeric, take_columns
from ..kernels.presence import rows_having


class Family(BaseEstimator):
    """Base class of families: the kernels to choose from, where they depend on the data.

    A family of your own defines ``resolve`` if its kernels can be listed; or it sets ``listed = False`` and
    defines ``bind``. How families of this package that are not listed bind is in ``oracles/build.py``.

    Attributes
    ----------
    factors : bool
        Whether every kernel is one column of X times itself. A Gram engine then works on the columns and
        never forms a matrix of n × n.
    listed : bool
        Whether ``resolve`` lists the kernels. Solvers ask larger families through an oracle.
    supervised : bool
        Whether ``resolve`` also takes the training targets, as ``target`` of shape (n_samples, n_outputs).
    holds_others : bool
        Whether ``resolve`` also takes ``approx``, for ``"auto"`` among the kernels that the family was given.
    needs_variation : bool
        Whether the family is made of columns that differ from sample to sample.
    from_rows : bool
        Whether the family can be learned from blocks of rows (``oracles/bind_rows.py``), so that no matrix of
        n × n is needed.
    in_waves : bool
        Whether the family can be learned from blocks of rows with random features
        (``oracles/bind_waves.py``).
    instead : str
        Advice for the message that appears if the family has too many kernels for a list.

    See Also
    --------
    Parametric : Base of families with a continuous parameter.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import Family
    >>> from manykernels.kernels import Linear, OnColumns
    >>> class EvenColumns(Family):
    ...     def resolve(self, X, sample_weight=None, feature_names=None):
    ...         return {f"x{j}": OnColumns(Linear(), j) for j in range(0, X.shape[1], 2)}
    >>> X = np.random.RandomState(0).randn(40, 4)
    >>> MKLRegressor(EvenColumns()).fit(X, X[:, 2]).kernel_names_
    ['x0', 'x2']
    """

    factors: ClassVar[bool] = False
    listed: ClassVar[bool] = True
    supervised: ClassVar[bool] = False
    holds_others: ClassVar[bool] = False
    needs_variation: ClassVar[bool] = False
    from_rows: bool = False
    in_waves: ClassVar[bool] = False
    instead: ClassVar[str] = ""

    def resolve(self, X: Data, sample_weight: Any = None, feature_names: Any = None) -> dict[str, Kernel]:
        """List the kernels for training data X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the samples: a sample of weight 2 counts as two samples.
        feature_names : sequence of str or None, default=None
            Names of the columns; None takes those of a frame, else x0, x1, ….

        Returns
        -------
        dict of str to Kernel
            The kernels by name, in order.

        Examples
        --------
        The names of the kernels say which columns of X they use:

        >>> import numpy as np
        >>> from manykernels.families import rank_one
        >>> X = np.eye(2)
        >>> list(rank_one().resolve(X)), list(rank_one().resolve(X, feature_names=["age", "size"]))
        (['x0', 'x1'], ['age', 'size'])
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define resolve(X, sample_weight, feature_names)."
        )

    def bind(self, X: Data, **how: Any) -> Any:
        """Bind the family to training data, as an oracle that solvers ask.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        **how : object
            Options normalize, sample_weight, feature_names, memory_limit, norm (the penalty) and work, as
            ``oracles.build_oracle`` explains them.

        Returns
        -------
        Oracle
            An oracle. One that answers ``atoms`` is listed where a solver or a penalty needs a list; solvers
            of families ask it for ``best`` and ``sample``.

        Examples
        --------
        Linear kernels of all pairs of columns:

        >>> import numpy as np
        >>> from itertools import combinations
        >>> from manykernels.families import Family
        >>> from manykernels.kernels import Linear, OnColumns
        >>> from manykernels.oracles import build_oracle
        >>> class Pairs(Family):
        ...     listed = False
        ...
        ...     def bind(self, X, normalize=None, **how):
        ...         pairs = combinations(range(X.shape[1]), 2)
        ...         kernels = {f"{i}+{j}": OnColumns(Linear(), [i, j]) for i, j in pairs}
        ...         return build_oracle(kernels, X, normalize=normalize)
        >>> oracle = Pairs().bind(np.eye(3))
        >>> [oracle.name(atom) for atom in oracle.atoms()]
        ['0+1', '0+2', '1+2']
        """
        raise NotImplementedError(f"{type(self).__name__} must define bind(X, **how), or be listed.")


NONE: dict[str, Kernel] = {"absent": Constant(0.0).as_member(role="absent")}
"""The kernels of a view that no sample of a fold has: zero, so that they get no weight."""

Lister = Callable[[Family, Data, Any, Any], dict[str, Kernel] | None]
_LISTERS: list[Lister] = []


def list_by(lister: Lister) -> Lister:
    """Register who lists families that are asked through oracles, which stand above families."""
    _LISTERS.append(lister)
    return lister


def short_list(family: Family, X: Data, sample_weight: Any, feature_names: Any) -> dict[str, Kernel] | None:
    """All kernels of a family that is usually asked, to stand beside others; None where they are too many."""
    found = (lister(family, X, sample_weight, feature_names) for lister in _LISTERS)
    return next((kernels for kernels in found if kernels is not None), None)


def having_only(part: Data, *facts: Any) -> tuple[Any, ...]:
    """The samples that have any value in the columns of a view, and facts (n, …) about them.

    Widths, means and whatever else kernels are made from come from them alone.
    """
    having = rows_having(part)
    if having is None:
        return part, *facts
    rows = np.flatnonzero(having)
    return _safe_indexing(part, rows), *(None if fact is None else np.asarray(fact)[rows] for fact in facts)


def names_of(X: Data, feature_names: Any = None) -> list[str]:
    """The names of X's columns: as given, else of the frame, else x0, x1, …"""
    shape = tuple(getattr(X, "shape", ()))
    if len(shape) != 2:
        raise ValueError(f"Kernels on features expect X of shape (n_samples, n_features), got shape {shape}.")
    given = feature_names if feature_names is not None else getattr(X, "columns", None)
    if given is None:
        return [f"x{j}" for j in range(shape[1])]
    names = [str(name) for name in given]
    if len(names) != shape[1]:
        raise ValueError(f"{len(names)} feature names were given for X with {shape[1]} columns.")
    return names


def numbers(X: Data, feature_names: Any = None) -> Any:
    """X as numbers (dense or CSR), or an error that names the first column that holds none."""
    try:
        return numeric(X)
    except ValueError:
        if len(getattr(X, "shape", ())) != 2:
            raise
        for j, name in enumerate(names_of(X, feature_names)):
            try:
                numeric(take_columns(X, j))
            except ValueError as error:
                raise ValueError(
                    f"Column {name!r} does not hold numbers, and no kernel was given for it. Give it one, "
                    f"such as OnColumns(Spectrum(3), {name!r}), and select the others by OnColumns or views."
                ) from error
        raise


def under(prefix: str, name: str, kernel: Kernel) -> tuple[str, Kernel]:
    """A kernel's name as one of several called ``prefix``, and the kernel, whose other names are so too."""
    also = tuple(f"{prefix}: {other}" for other in kernel.member.also)
    return f"{prefix}: {name}", kernel.as_member(also=also, within=name)


def unique(names: Iterable[str]) -> list[str]:
    """The names, with " (2)", " (3)", … after those that occurred before."""
    taken: set[str] = set()
    count: dict[str, int] = {}
    result = []
    for name in names:
        fresh = name
        while fresh in taken:
            count[name] = count.get(name, 1) + 1
            fresh = f"{name} ({count[name]})"
        taken.add(fresh)
        result.append(fresh)
    return result
