"""Fits that are interrupted leave the model as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from sklearn.base import BaseEstimator

from .._fast.stopping import is_interrupt
from ._parts import check_parts

_LEARNING = ("fit", "partial_fit")


class WholeFits(BaseEstimator):
    """``fit`` and ``partial_fit`` of every subclass set all that they learn at once, at the end.

    They run on a twin, which has the attributes of the model. What they store is the twin's until they
    return; then one assignment hands it over. An error or Ctrl-C before that leaves the model as it was:
    fitted on the data of before, or not fitted. Objects that both hold must not be changed in place: who goes
    on from an earlier state copies it first (``Stream.go_on``). The parts that were given are looked at
    before (``_parts.py``).
    """

    def __init_subclass__(cls, **options: Any) -> None:
        for name in _LEARNING:
            if name in vars(cls):
                setattr(cls, name, _whole(vars(cls)[name]))
        super().__init_subclass__(**options)


def _whole(learn: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(learn)
    def call(self: Any, *args: Any, **options: Any) -> Any:
        check_parts({name: getattr(self, name) for name in self._get_param_names()})
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        try:
            learn(twin, *args, **options)
        except SystemError as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            raise
        self.__dict__ = twin.__dict__
        return self

    return call
