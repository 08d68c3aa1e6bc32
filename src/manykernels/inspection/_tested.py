"""Kernels or views to test on the samples, and the likelihood of the target without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from .._arguments import shown
from ..comparison.folds import learns_times
from ..estimators import model_of, opened
from ..families import Family, Subset
from ..fitting.checks import require_definite
from ..fitting.covariates import as_covariates, design
from ..fitting.listed import Kernels, list_kernels
from ..fitting.matching import matched, require_order
from ..fitting.options import Options
from ..fitting.samples import Given, read
from ..fitting.spec import leaves
from ..fitting.survival import read_survival, survival_pair
from ..fitting.targets import Labels, Numbers, as_target, check_length
from ..kernels import Fitted, Mixture
from .likelihoods import Binary, Likelihood
from .risk_sets import times_likelihood

Array = NDArray[np.float64]
TARGETS = ("auto", "continuous", "binary", "survival")
_WORK = 6  # matrices of n × n beside the kernels


def kernels_on(
    kernels: Any, X: Any, y: Any, target: str, covariates: Any, memory_limit: Any
) -> tuple[Kernels, Array | Likelihood, Array, list[str]]:
    """Return the kernels on all samples (with mean diagonal 1), y, a constant with covariates, and names.

    As in estimators, kernels without columns of their own do not see columns that are covariates. Those of a
    fitted model are its own, unless others are given.
    """
    kind: Any = Numbers()
    survival = None
    times = survival_pair(y) is not None or (_is_model(kernels) and learns_times(kernels))
    if target == "survival" or (target == "auto" and times):
        require_order(X, y, "y")
        survival = read_survival(y)
        y = survival.time
    elif target != "continuous":
        labels = as_target(y)
        classes = _is_model(kernels) and is_classifier(opened(kernels).last)
        if target == "binary" or classes or labels.dtype.kind not in "iuf" or _two(labels):
            kind = Labels()
    options = Options("significance", memory_limit=memory_limit)
    options, found = _read(options, kernels, X, y, kind, covariates)
    Z, (_, *names) = design(found.beside, found.X, found.n)
    samples = replace(found, beside=None).in_place()
    if samples.Y.shape[1] > 1:
        what = f"{samples.Y.shape[1]} {'classes' if isinstance(kind, Labels) else 'outputs'}"
        raise ValueError(
            f"y has {what}; expected one number a sample, two classes, or an event and its time. Test "
            "outputs, or one class against the rest, one at a time."
        )
    known = list_kernels(options, samples, _WORK, supervised=False)
    if options.foreign:
        require_definite(known.gram, known.names, known.slacks, np.ones(len(known.names)))
    values = samples.Y[:, 0]
    if survival is not None:
        return known, times_likelihood(survival), Z, names
    if isinstance(kind, Labels):
        return known, Binary(0.5 * (values + 1.0)), Z, names
    if np.ptp(values) == 0.0:
        raise ValueError("y has only one value; expected two or more, since there is nothing to test.")
    return known, values, Z, names


def _read(
    options: Options, kernels: Any, X: Any, y: Any, kind: Any, covariates: Any
) -> tuple[Options, Given]:
    """Read the samples for the kernels: those of a fitted model, or as an estimator would."""
    table = _is_table(covariates)
    if not _is_model(kernels):
        _require_without_weights(kernels)
        asked = options if table else options.replace(covariates=covariates)
        found = read(_listed(asked, kernels), X, y, None, kind, covariates=covariates if table else None)
        return options.replace(kernels=found.layout.seen(kernels)), found
    X = matched(X, y, quiet=True)
    model, seen = model_of(kernels, X)
    layout, searched = model.layout, opened(kernels).searched
    require_order(layout.in_fit_order(X), y, "y")
    spec, chosen = layout.kernels, False
    if searched is not None and (isinstance(spec, Subset) or _supervised(spec)):  # chosen with the help of y
        spec, chosen = searched.kernels, True
    if name := _supervised(spec):
        raise ValueError(
            f"the model has kernels of {name}, which learns from y: a test would see the same samples twice. "
            "Give kernels that are made without y, such as 'auto'."
        )
    spec = layout.explicit(spec)
    options = _listed(options, spec)
    beside = layout.beside(seen) if covariates is None else as_covariates(covariates, X, len(y))
    if chosen or layout.kind == "stack":
        seen = seen if layout.separated is None else layout.separated.without(seen)
        return options, replace(read(options, seen, y, None, kind), beside=beside)
    found = Given(layout.read(seen), layout, kind.read(y), None, kind, beside)
    check_length(found.n, found.y)
    own = {name: kernel.kernel for name, kernel in zip(model.names, model.kernels, strict=True)}
    return options.replace(kernels=own), found


def _listed(options: Options, spec: Any) -> Options:
    """Return the options with these kernels, which must be a list."""
    options = options.replace(kernels=spec)
    if not options.listed:
        raise ValueError(
            f"kernels={shown(spec)} stands for more kernels than can be tested one by one; give a list."
        )
    return options


def _supervised(spec: Any) -> str:
    """Return the families that make kernels with the help of y."""
    parts = (part for part in leaves(spec) if isinstance(part, Family))
    return next((type(part).__name__ for part in parts if part.supervised and not part.holds_others), "")


def _require_without_weights(spec: Any) -> None:
    """Raise an error for the kernel of a fitted model, whose weights are learned from y."""
    for part in leaves(spec):
        if isinstance(part, Mixture) and any(isinstance(kernel, Fitted) for kernel in part.kernels):
            raise ValueError(
                f"kernels={shown(spec)} holds a combination with weights that a model learned from y: a test "
                "would see the same samples twice. Give the model itself, whose kernels are tested one by "
                "one, or see inspection.permutation_test, which learns the weights anew in each permutation."
            )


def _is_table(covariates: Any) -> bool:
    """Tell whether covariates are given by their values, and not as columns of X."""
    dtype = getattr(covariates, "dtype", None)
    shape = getattr(covariates, "shape", ())
    return len(shape) == 2 or (len(shape) == 1 and getattr(dtype, "kind", "O") == "f")


def _is_model(kernels: Any) -> bool:
    return hasattr(kernels, "fit") and hasattr(kernels, "get_params")


def _two(values: NDArray[Any]) -> bool:
    return values.ndim == 1 and values.size > 2 and np.unique(values).size == 2


def absences(known: Kernels) -> Array:
    """(n, patterns): indicators of the samples that lack some view, one for each set of samples that do."""
    masks = [kernel.present(known.X) for kernel in known.kernels]
    found = {mask.tobytes(): mask for mask in masks if mask is not None and not mask.all()}
    return np.array([~mask for mask in found.values()], dtype=np.float64).reshape(len(found), known.gram.n).T


def hypotheses(known: Kernels, by: str) -> tuple[list[str], Array]:
    """Return the names of the tests, and the kernels (columns) that each test (row) adds up."""
    M = len(known.names)
    if by == "kernel":
        return known.names, np.eye(M)
    views = [getattr(kernel.kernel, "view", None) for kernel in known.kernels]
    if all(view is None for view in views):
        raise ValueError(
            "by='view' was given, and no kernel belongs to a view. Give kernels=views({name: columns, ...}), "
            "or by='kernel'."
        )
    owners = [name if view is None else view for name, view in zip(known.names, views, strict=True)]
    names = list(dict.fromkeys(owners))
    return names, np.array([[float(owner == name) for owner in owners] for name in names])
