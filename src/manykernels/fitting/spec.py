"""Facts about `kernels` before there are data: kernels, families and the columns they select."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from .._arguments import shortened
from ..families import DAG, Auto, Columns, Family, FromDistances, Products, Relevance, Subset, Views
from ..families.base import names_of
from ..families.tables import views_of
from ..families.views import columns_and_kernels
from ..kernels import Callable as CallableKernel
from ..kernels import FromDistance, Kernel, OnColumns, Precomputed
from ..kernels.algebra import Composite
from ..kernels.columns import describe_columns
from ..kernels.data import positions
from ..kernels.given import from_function, is_function


def leaves(spec: Any) -> Iterator[Kernel | Family]:
    """Every kernel and family in `kernels`, also those inside of others; functions as kernels."""
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        for part in spec:
            yield from leaves(part)
    elif isinstance(spec, Kernel):
        yield spec
        for value in spec._arguments().values():
            inside = value[:1] if isinstance(value, list | tuple) else [value]  # not lists of columns
            if any(isinstance(first, Kernel | list | tuple) for first in inside):
                yield from leaves(value)
    elif isinstance(spec, Family):
        yield spec
        if isinstance(spec, Subset):
            yield from leaves(spec.kernels)
        if isinstance(spec, Products) and not isinstance(spec.base, str):
            yield from leaves(spec.base)
        if isinstance(spec, Views) and isinstance(spec.views, Mapping):
            for given in spec.views.values():
                yield from leaves(columns_and_kernels(given)[1])
        if isinstance(spec, DAG) and isinstance(spec.parents, Mapping):
            pairs = [given for given in spec.parents.values() if isinstance(given, tuple | list)]
            yield from leaves([given[0] for given in pairs if given])
    elif is_function(spec):
        yield from_function(spec)


def needs_stack(spec: Any) -> bool:
    """Tell whether X must be a stack of given kernels or distances: what scikit-learn calls pairwise."""
    if isinstance(spec, Subset):
        return needs_stack(spec.kernels)
    if isinstance(spec, str):
        return spec == "precomputed"
    return any(
        isinstance(part, Precomputed | FromDistances)
        or (isinstance(part, FromDistance) and isinstance(part.distance, int | np.integer))
        for part in leaves(spec)
    )


def may_be_indefinite(spec: Any) -> bool:
    """Tell whether kernels come from outside, so that they may not be positive semidefinite."""
    return needs_stack(spec) or any(isinstance(part, CallableKernel | FromDistance) for part in leaves(spec))


def selections(spec: Any) -> Iterator[Any]:
    """The columns that kernels select."""
    for part in leaves(spec):
        if isinstance(part, OnColumns):
            yield part.columns
        elif isinstance(part, Views) and isinstance(part.views, Mapping):
            for given in part.views.values():
                yield columns_and_kernels(given)[0]


def selected_views(spec: Any) -> Iterator[tuple[str, Any]]:
    """Views by name, and the columns that kernels select for them; a view may occur several times."""
    for part in leaves(spec):
        if isinstance(part, OnColumns) and part.view is not None:
            yield str(part.view), part.columns
        elif isinstance(part, Views) and isinstance(part.views, Mapping):
            for view, given in part.views.items():
                yield str(view), columns_and_kernels(given)[0]


def reads_tables(spec: Any) -> bool:
    """Tell whether kernels are made for the columns of a table, whatever they hold."""
    if isinstance(spec, Subset):
        return reads_tables(spec.kernels)
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return any(map(reads_tables, spec))
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        return any(reads_tables(columns_and_kernels(given)[1]) for given in spec.views.values())
    return only_prepares(spec)


def views_in(spec: Any, X: Any, names: Any = None) -> tuple[dict[str, Any], bool]:
    """Views by name and the columns that kernels select for them; and whether all kernels are of views.

    A view is what a user named columns for: `views`, a dict of views, `OnColumns`, and ``view__column`` in
    the names of all columns, which are `names` where X is an array.
    """
    found: dict[str, Any] = {}
    called = names_of(X) if hasattr(X, "columns") else [] if names is None else [str(name) for name in names]
    return found, _only_views(spec, called, found)


def _only_views(spec: Any, names: list[str], found: dict[str, Any]) -> bool:
    if isinstance(spec, Subset):
        return _only_views(spec.kernels, names, found)
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        each = [_only_views(part, names, found) for part in spec]
        return all(each)
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        found |= {str(view): columns_and_kernels(given)[0] for view, given in spec.views.items()}
        return bool(spec.views)
    if isinstance(spec, OnColumns):
        found[spec.view if spec.view is not None else describe_columns(spec.columns)] = spec.columns
        return True
    if isinstance(spec, Auto) or (isinstance(spec, str) and spec == "auto"):
        found |= {view: list(columns) for view, columns in views_of(names).items()}
        return False
    inner = (
        [v for v in spec._arguments().values() if isinstance(v, Kernel)] if isinstance(spec, Kernel) else []
    )
    inner += list(spec.kernels) if isinstance(spec, Composite) else []
    return bool(inner) and _only_views(inner, names, found)


def raw_columns(spec: Any, X: Any) -> list[int]:
    """The positions of the columns of X that some kernel reads as they are: all, if one selects none."""
    return sorted(set().union(*(columns for columns, _ in raw_groups(spec, X))))


def prepared_columns(spec: Any, X: Any) -> list[list[int]]:
    """The positions of the columns that kernels prepare first, as tables: together, or view by view."""
    if isinstance(spec, Subset):
        return prepared_columns(spec.kernels, X)
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return [group for part in spec for group in prepared_columns(part, X)]
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        pairs = [columns_and_kernels(given) for given in spec.views.values()]
        return [sorted(_positions(X, columns)) for columns, kernels in pairs if _reads(kernels, True)]
    return [list(range(X.shape[1]))] if only_prepares(spec) else []


def only_prepares(spec: Any) -> bool:
    """Tell whether all kernels prepare the columns that they read, so that cells may be missing."""
    if isinstance(spec, Subset):
        return only_prepares(spec.kernels)
    if isinstance(spec, str):
        return spec == "auto"
    if isinstance(spec, Mapping):
        return bool(spec) and all(map(only_prepares, spec.values()))
    if isinstance(spec, list | tuple):
        return bool(spec) and all(map(only_prepares, spec))
    if isinstance(spec, Views):
        given = spec.views.values() if isinstance(spec.views, Mapping) else ()
        return bool(given) and all(only_prepares(columns_and_kernels(view)[1]) for view in given)
    return isinstance(spec, Auto | Columns | Relevance) or (isinstance(spec, Products) and bool(spec.scale))


def raw_groups(spec: Any, X: Any) -> Iterator[tuple[set[int], bool]]:
    """Columns that kernels read together as they are, by position, and whether they are those of a view."""
    if isinstance(spec, Subset):
        yield from raw_groups(spec.kernels, X)
        return
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        for part in spec:
            yield from raw_groups(part, X)
        return
    if isinstance(spec, Views) and isinstance(spec.views, Mapping):
        pairs = [columns_and_kernels(given) for given in spec.views.values()]
        yield from ((_positions(X, columns), True) for columns, kernels in pairs if _reads(kernels, False))
        return
    inner = (
        [v for v in spec._arguments().values() if isinstance(v, Kernel)] if isinstance(spec, Kernel) else []
    )
    inner += list(spec.kernels) if isinstance(spec, Composite) else []
    if inner and not isinstance(spec, OnColumns):
        yield from raw_groups(inner, X)
    elif not only_prepares(spec):
        view = isinstance(spec, OnColumns)
        yield _positions(X, spec.columns if isinstance(spec, OnColumns) else slice(None)), view


def _reads(spec: Any, prepared: bool) -> bool:
    """Tell whether some of these kernels prepare what they read, or some do not."""
    if isinstance(spec, Mapping):
        spec = list(spec.values())
    if isinstance(spec, list | tuple):
        return any(_reads(part, prepared) for part in spec)
    return only_prepares(spec) is prepared


def _positions(X: Any, columns: Any) -> set[int]:
    return {int(j) for j in np.ravel(np.arange(X.shape[1])[positions(X, _called(columns, X))])}


def _called(columns: Any, X: Any) -> Any:
    return columns(X) if callable(columns) else columns


def by_name(columns: Any) -> bool:
    """Tell whether a selection of columns needs a frame with names."""
    if isinstance(columns, slice):
        return isinstance(columns.start, str) or isinstance(columns.stop, str)
    if isinstance(columns, list | tuple | np.ndarray):
        return any(isinstance(c, str) for c in columns)
    return callable(columns) or isinstance(columns, str)


def signature(value: Any) -> Hashable:
    """A key that is equal for kernels that are the same function, whatever they are called."""
    if isinstance(value, Kernel):
        own = value._arguments().items()
        return (type(value), *(signature(v) for key, v in own if key not in ("name", "view")))
    if isinstance(value, list | tuple):
        return tuple(map(signature, value))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, slice):
        return "slice", value.start, value.stop, value.step
    return value if isinstance(value, Hashable) else id(value)


def signatures(kernels: Iterable[Kernel]) -> list[Hashable]:
    """The key of each kernel."""
    return [signature(kernel) for kernel in kernels]


def short(spec: Any) -> str:
    """`kernels` for a message."""
    return shortened(repr(spec), 60)


def bare(kernel: Any) -> Any:
    """A kernel without what prepares its data; one of single columns has a width on an axis of its own."""
    inner = kernel._arguments().get("kernel")
    alone = inner is None or hasattr(kernel, "columns") or not hasattr(inner, "_arguments")
    return kernel if alone else bare(inner)
