"""The classes that a file may name beside those that skops trusts: they are looked up, not believed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import sklearn.model_selection

# The parts whose classes models are made of; the others (a command line, say) have no business in a file.
_PARTS = (
    "kernels approx losses penalties families grams oracles machines objectives weightings solvers fitting "
    "selection estimators recordings survival"
).split()


@cache
def our_class(name: str) -> type | None:
    """The class of this full name which a model of this package may hold, or None.

    The beginning of the name alone proves nothing: the class is looked up, and must have been defined there.
    Importing a module of this package runs no other code than the package's own.
    """
    parts = name.split(".")
    if len(parts) < 3 or parts[0] != "manykernels" or parts[1] not in _PARTS:
        return None
    found = find(name)
    return found if isinstance(found, type) and found.__module__ == name.rpartition(".")[0] else None


def splitter(name: str) -> type | None:
    """The class of scikit-learn of this full name that cuts folds, or None: skops knows estimators alone."""
    found = vars(sklearn.model_selection).get(name.rpartition(".")[2])
    known = isinstance(found, type) and full_name(found) == name
    return found if known and hasattr(found, "split") and hasattr(found, "get_n_splits") else None


def find(name: str) -> Any:
    """Return what a full name stands for, or None."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None) if module else None
    except (ImportError, ValueError):
        return None


def full_name(kind: type) -> str:
    """The name that a class is found by."""
    return f"{kind.__module__}.{kind.__name__}"
