"""Work that Dask does: on the threads of this process without a cluster, else on that of the active client.

Sums are added as a tree that depends on their number alone, so that answers do not depend on who computed
what, or when. Workers that are lost are Dask's business, which has their work done by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import dask as _dask

from .._fast.threads import blas_threads
from .._pieces import Thrift, current

dask: Any = _dask  # which types its functions in parts
_TREE = 8  # sums that are added at a time
_KEPT = 32  # sums that are kept of a pass, at most
_AT_ONCE = 8  # of them that are computed at a time, where there is no cluster


def compute(parts: Sequence[Any]) -> list[Any]:
    """The values of delayed objects, all at once."""
    with _no_fights(), _lost():
        return list(dask.compute(*parts))


def _no_fights() -> Any:
    """Without a cluster tasks run in threads of this process, and BLAS has one thread in each."""
    return blas_threads(1 if dask.base.get_scheduler() is None else None)


def _client() -> Any:
    """The client of the cluster that tasks run on; None where there is none."""
    found = getattr(dask.base.get_scheduler(), "__self__", None)
    return found if hasattr(found, "scheduler_info") else None


@contextmanager
def _lost() -> Iterator[None]:
    """Write the message for a cluster whose scheduler is gone."""
    client = _client()
    try:
        yield
    except Exception as error:
        # a connection may break before the client has noticed that its scheduler is gone
        broken = isinstance(error, import_module("distributed").comm.CommClosedError) if client else False
        if client is None or (client.status == "running" and not broken):
            raise
        raise ConnectionError(
            f"the Dask scheduler at {client.scheduler.address} was lost ({type(error).__name__}), and what "
            "its cluster had computed is lost with it; nothing was learned. Start a cluster and fit again; "
            "with checkpoint= it goes on from the sums that are kept."
        ) from error


def finished(parts: Sequence[Any], key: tuple[Any, ...]) -> list[Any]:
    """The values of delayed objects; those that were kept are read, and the others are kept as they come."""
    store = current()
    assert store is not None
    values, waiting, thrift = dict[int, Any](), list[int](), Thrift()
    for i in range(len(parts)):
        with suppress(KeyError):
            values[i] = store.read((*key, i))
    missing = [i for i in range(len(parts)) if i not in values]
    for place, value in _as_they_come([parts[i] for i in missing]):
        values[missing[place]] = value
        waiting.append(missing[place])
        while waiting and thrift.affords(values[waiting[0]]):
            thrift.write(store, (*key, waiting[0]), values[waiting.pop(0)])
    return [values[i] for i in range(len(parts))]


def _as_they_come(parts: list[Any]) -> Iterator[tuple[int, Any]]:
    """(place, value) of delayed objects: from a cluster as they are finished, else some at a time."""
    client = _client()
    if client is None:
        for first in range(0, len(parts), _AT_ONCE):
            yield from enumerate(compute(parts[first : first + _AT_ONCE]), first)
        return
    with _lost():
        futures = client.compute(parts)
        places = {future.key: place for place, future in enumerate(futures)}
        for future in import_module("distributed").as_completed(futures):
            yield places[future.key], future.result()


def tree(level: list[Any], add: Callable[[list[Any]], Any], key: tuple[Any, ...] | None = None) -> Any:
    """Delayed sums added up, some at a time; which are added to which depends on their number alone.

    By its `key` the work is kept: the sums from which on there are few.
    """
    while len(level) > 1 and (key is None or len(level) > _KEPT):
        level = [dask.delayed(add)(level[i : i + _TREE]) for i in range(0, len(level), _TREE)]
    level = compute(level) if key is None else finished(level, key)
    while len(level) > 1:
        level = [add(level[i : i + _TREE]) for i in range(0, len(level), _TREE)]
    return level[0]
