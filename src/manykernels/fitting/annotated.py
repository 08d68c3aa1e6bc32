"""AnnData and MuData as frames; neither package is imported.

The rows of AnnData are samples (``obs_names``), its columns variables (``var_names``). MuData holds several
AnnData about the same samples: each is a view, and samples that it lacks are rows of NaN, so that the view is
absent there.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from .._arguments import shown
from ..grams.memory import parse_memory, require_memory


def is_annotated(X: Any) -> bool:
    """Tell whether X is AnnData or MuData: its names of samples know whether they are unique."""
    unique = getattr(getattr(X, "obs_names", None), "is_unique", None)
    return isinstance(unique, bool) and (hasattr(X, "var_names") or hasattr(X, "mod"))


def unpacked(X: Any) -> Any:
    """Return AnnData as a frame, MuData as a dict of frames with rows for all its samples."""
    if not hasattr(X, "mod"):
        return _frame(X, "AnnData")
    if getattr(X, "axis", 0) != 0:
        raise ValueError(
            f"X is MuData with axis={X.axis}: its parts share variables, not samples. Give MuData whose "
            "parts are several views of the same samples, or one of its parts."
        )
    if not X.obs_names.is_unique:
        twice = X.obs_names[X.obs_names.duplicated()][0]
        raise ValueError(
            f"X is MuData with several samples called {twice!r}: rows of its parts cannot be matched. Call "
            "obs_names_make_unique() on each part, then update()."
        )
    frames = {str(name): _frame(part, f"the part {name!r} of MuData") for name, part in X.mod.items()}
    whole = {
        name: len(part) == len(X.obs_names) and bool((part.index == X.obs_names).all())
        for name, part in frames.items()
    }
    return {name: part if whole[name] else part.reindex(X.obs_names) for name, part in frames.items()}


def _frame(X: Any, what: str) -> Any:
    """The values of AnnData, dense, with the names of samples and variables."""
    if hasattr(X, "mod"):
        raise ValueError(f"{what} is MuData itself; expected AnnData. Give its parts as views of their own.")
    names = X.var_names
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise ValueError(
            f"X is {what} with several variables called {twice!r}; expected a different name for each. Call "
            "var_names_make_unique()."
        )
    values = X.X
    if values is None:
        raise ValueError(
            f"X is {what} without values (its X is None); put those to learn from into X, such as "
            f"adata.X = adata.layers[...], of {shown(list(getattr(X, 'layers', {})))}."
        )
    if hasattr(values, "to_memory"):
        values = values.to_memory()
    n, d = values.shape
    require_memory(
        8.0 * n * d,
        parse_memory(None),
        f"{what} of {n} samples and {d} variables needs",
        "its values in full",
        "Select variables, adata[:, adata.var['highly_variable']], or give adata.X, which stays sparse.",
    )
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    return import_module("pandas").DataFrame(values, index=X.obs_names, columns=names)
