"""The classes that a file may name beside those that skops trusts. Each name is looked up, not believed."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import sklearn.model_selection

# The parts whose classes occur in models. Others, such as the command line, must not occur in a file.
_PARTS = (
    "kernels approx losses penalties families grams oracles machines objectives weightings solvers fitting "
    "selection estimators recordings survival"
).split()


@cache
def our_class(name: str) -> type | None:
    """Return the class of this package with this full name if a model may hold it, or None.

    The beginning of the name alone proves nothing, so the class is looked up and must be defined there.
    Importing a module of this package runs only the package's own code.
    """
    parts = name.split(".")
    if len(parts) < 3 or parts[0] != "manykernels" or parts[1] not in _PARTS:
        return None
    found = find(name)
    return found if isinstance(found, type) and found.__module__ == name.rpartition(".")[0] else None


def splitter(name: str) -> type | None:
    """Return scikit-learn's splitter with this full name, or None. skops trusts estimators only."""
    found = vars(sklearn.model_selection).get(name.rpartition(".")[2])
    known = isinstance(found, type) and full_name(found) == name
    return found if known and hasattr(found, "split") and hasattr(found, "get_n_splits") else None


def find(name: str) -> Any:
    """Return the object with this full name, or None."""
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute, None) if module else None
    except (ImportError, ValueError):
        return None


def full_name(kind: type) -> str:
    """Return the name by which a class is found."""
    return f"{kind.__module__}.{kind.__name__}"
