"""Several views of the same samples: groups of columns with kernels of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._arguments import shown
from ..kernels import Kernel, OnColumns
from ..kernels.data import Columns, Data, n_samples, take_columns
from ..kernels.given import is_function
from .base import NONE, Family, having_only, under
from .dags import Hierarchical
from .subset import Subset

_SHOWN_VIEWS, _SHOWN_COLUMNS = 20, 6  # in a repr


def views(views: Mapping[str, Any], kernels: Any = "auto") -> Views:
    """Make kernels for each of several groups of columns, the views of the samples.

    Every kernel knows its ``view``, so that weights can be added up by view. Views may share columns. A
    sample whose cells are all missing in the columns of a view lacks it, and is decided by the others: the
    kernels of a view are made from the samples that have it.

    Parameters
    ----------
    views : dict of str to columns, or to tuple of (columns, kernels)
        For each view its columns, as `OnColumns` takes them, alone or in a tuple with its kernels: a kernel,
        a list, a dict or a family.
    kernels : str, Kernel, callable, Family, list or dict, default="auto"
        Kernels of views that have none of their own.

    Returns
    -------
    Views
        The family.

    See Also
    --------
    gene_sets : Groups of columns from a file.
    manykernels.kernels.OnColumns : One kernel on some columns.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import views
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X = np.random.RandomState(0).randn(60, 5)
    >>> parts = views({"genes": ([0, 1, 2], Linear()), "image": ([3, 4], Gaussian(2.0))})
    >>> model = MKLRegressor(parts).fit(X, X[:, 0] + X[:, 1])
    >>> bool(model.weights_[0] > model.weights_[1])
    True
    """
    if not _holds_kernels(kernels):
        raise ValueError(
            f"kernels={shown(kernels)} was given; expected a kernel, a function, a family, a list or dict of "
            "them, or 'auto'."
        )
    if isinstance(views, Mapping) and not (isinstance(kernels, str) and kernels == "auto"):
        return Views({name: _with_kernels(given, kernels) for name, given in views.items()})
    return Views(views)


class Views(Family):
    """Kernels for each of several groups of columns; see `views`.

    Parameters
    ----------
    views : dict of str to columns, or to tuple of (columns, kernels)
        For each view its columns, alone or in a tuple with its kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import Views
    >>> from manykernels.kernels import Linear
    >>> list(Views({"a": ([0], Linear()), "b": ([1, 2], Linear())}).resolve(np.eye(3)))
    ['a: Linear', 'b: Linear']
    """

    supervised: ClassVar[bool] = True  # where the kernels of some view are
    holds_others: ClassVar[bool] = True

    def __init__(self, views: Mapping[str, Any]) -> None:
        self.views = views

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Show the views in their order; long selections say how many columns follow."""
        if not isinstance(self.views, Mapping):
            return f"views({shown(self.views)})"
        told = [f"{view!r}: {_told(given)}" for view, given in list(self.views.items())[:_SHOWN_VIEWS]]
        more = [f"and {len(self.views) - len(told)} more"] * (len(told) < len(self.views))
        return f"views({{{', '.join([*told, *more])}}})"

    def resolve(
        self,
        X: Data,
        sample_weight: Any = None,
        feature_names: Any = None,
        target: Any = None,
        approx: Any = None,
    ) -> dict[str, Kernel]:
        """List the kernels of all views, each named after its view.

        Parameters
        ----------
        target : array-like of shape (n_samples, n_outputs), default=None
            Training targets, for families among the kernels that learn from them.
        approx : Approximation, default=None
            With an approximation, "auto" offers only kernels that it serves.
        """
        from ._resolve import resolve_kernels

        if not isinstance(self.views, Mapping) or not self.views:
            raise ValueError(
                f"views={self.views!r} was given; expected a dict such as "
                '{"gene": columns, "image": (columns, kernels)}, or gene_sets(path, X) for a file of groups.'
            )
        kernels: dict[str, Kernel] = {}
        for view, given in self.views.items():
            columns, spec = columns_and_kernels(given)
            if isinstance(spec, str) and isinstance(columns, str | int | np.integer):
                columns = [columns]  # prepared as a table of one column
            try:
                part = take_columns(X, columns)
                names = _names(X, part, columns, feature_names)
                part, *facts = having_only(part, sample_weight, target)
                chosen = NONE
                if n_samples(part):
                    chosen = resolve_kernels(spec, part, facts[0], names, facts[1], approx)
            except ValueError as error:
                raise ValueError(f"View {view!r}: {error}") from error
            bare = _bare(str(view), chosen)
            for name, kernel in chosen.items():
                also = tuple(bare.get(other, other) for other in kernel.member.also)
                kernel = kernel.as_member(also=also) if also else kernel
                name, seen = under(str(view), bare[name], OnColumns(kernel, columns, view=str(view)))
                kernels[name] = seen
        return kernels


def _told(given: Any) -> str:
    """The selection of a view, and its kernels where it has some of its own."""
    columns, kernels = columns_and_kernels(given)
    text = shown(columns)
    if isinstance(columns, list | tuple | np.ndarray) and len(columns) > _SHOWN_COLUMNS:
        first = np.asarray(columns[:2], dtype=object).tolist()
        text = f"[{', '.join(map(repr, first))}, and {len(columns) - 2} more]"
    return f"({text}, {shown(kernels)})" if isinstance(given, tuple) else text


def _bare(view: str, kernels: Mapping[str, Kernel]) -> dict[str, str]:
    """Names of a view's kernels (and the others that these go by) without the view, which stands before them.

    Columns are called as their view is where it has only one, or "view__column" where tables were joined.
    """
    names = [*kernels, *(other for kernel in kernels.values() for other in kernel.member.also)]
    plain = {name: name.removeprefix(f"{view}: ") for name in names}
    short = {name: text.removeprefix(f"{view}__") for name, text in plain.items()}
    return short if len(set(short.values())) == len(short) else plain


class JoinedViews(Views):
    """Views of samples that were given as a dict, by their columns in the joined table."""


def per_view(spec: Any, columns: Mapping[str, Columns]) -> Any:
    """Kernels of views with these columns: `spec` for each, or what a dict `spec` has under its name.

    Families that are more than a list (products, continua, graphs) are left as they are: they take the
    columns of all views together.
    """
    if isinstance(spec, JoinedViews | Hierarchical) or (isinstance(spec, Family) and not spec.listed):
        return spec
    if isinstance(spec, Subset):
        return Subset(per_view(spec.kernels, columns), spec.names)
    if isinstance(spec, Views):
        raise ValueError(
            "X is a dict of views, and kernels=views(...) was given, which selects views from the columns of "
            "one table. Give kernels={name of the view: its kernels}, or 'auto'."
        )
    named = isinstance(spec, Mapping) and any(name in columns for name in spec)
    if named and set(spec) != set(columns):
        raise ValueError(
            f"kernels has the keys {', '.join(map(repr, spec))}, and the views of X are "
            f"{', '.join(map(repr, columns))}. Give kernels for every view ('auto' chooses them), and for "
            "nothing else; or leave views out of X."
        )
    found = {name: (at, spec[name] if named else spec) for name, at in columns.items()}
    for name, (_, kernels) in found.items():
        if not _holds_kernels(kernels):
            raise ValueError(
                f"kernels={shown(kernels)} was given for view {name!r}; expected a kernel, a function, a "
                "family, a list or dict of them, or 'auto'."
            )
    return JoinedViews(found)


@dataclass(frozen=True)
class ViewColumns:
    """The columns of a view in a prepared table, by the beginning of their names.

    What belongs to no other view is of the table that came without a name, which is the view "data".
    """

    view: str
    beginnings: tuple[str, ...]  # of all views

    def __call__(self, X: Any) -> list[str]:
        own = [name for name in X.columns if name.startswith(f"{self.view}__")]
        return own or [name for name in X.columns if not name.startswith(self.beginnings)]


def columns_and_kernels(given: Any) -> tuple[Columns, Any]:
    """A view's columns and its kernels; a tuple is a pair only if its second part is made of kernels."""
    if isinstance(given, tuple) and len(given) == 2 and _holds_kernels(given[1]):
        return given
    return given, "auto"


def _with_kernels(given: Any, kernels: Any) -> tuple[Columns, Any]:
    """A view as a pair, with these kernels where it has none of its own."""
    own = isinstance(given, tuple) and len(given) == 2 and _holds_kernels(given[1])
    return given if own else (given, kernels)


def _holds_kernels(spec: Any, depth: int = 3) -> bool:
    """Tell whether this is a kernel, family, function, 'auto', or a list or dict that begins with one."""
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple) and spec:
        return depth > 0 and _holds_kernels(spec[0], depth - 1)
    return (
        isinstance(spec, Kernel | Family) or (isinstance(spec, str) and spec == "auto") or is_function(spec)
    )


def _names(X: Data, part: Data, columns: Columns, feature_names: Any) -> list[str] | None:
    """The names of a view's columns, where X is an array whose names are known from elsewhere."""
    if feature_names is None or len(getattr(part, "shape", ())) != 2 or hasattr(part, "columns"):
        return None
    row = np.array([[str(name) for name in feature_names]], dtype=object)
    return list(take_columns(row, columns(X) if callable(columns) else columns)[0])
