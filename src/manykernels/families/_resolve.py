"""From what a user gives as ``kernels`` to kernels with names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._arguments import shown
from ..kernels import Kernel, Precomputed
from ..kernels.data import Data, is_stack
from ..kernels.functions import function_name
from ..kernels.given import from_function, is_function
from .auto import Auto
from .base import Family, under, unique

_MEANT = {  # what kernels are called elsewhere
    "linear": "Linear()",
    "gauss": "Gaussian(width), exp(−‖x − x'‖²/width²)",
    "rbf": "Gaussian(width), exp(−‖x − x'‖²/width²)",
    "gaussian": "Gaussian(width), exp(−‖x − x'‖²/width²)",
    "poly": "Polynomial(degree)",
    "polynomial": "Polynomial(degree)",
    "laplacian": "Laplacian(width)",
    "cosine": "Cosine()",
    "tanimoto": "Tanimoto()",
}


def resolve_kernels(
    spec: Any,
    X: Data,
    sample_weight: Any = None,
    feature_names: Any = None,
    target: Any = None,
    approx: Any = None,
) -> dict[str, Kernel]:
    """List the kernels that the argument ``kernels`` of an estimator means for training data X.

    Parameters
    ----------
    spec : str, Kernel, callable, Family, list or dict
        ``"auto"``, a kernel, a plain function, a family, a list of these (or of lists), or a dict from names
        to any of these.
    X : array-like of shape (n_samples, n_features)
        Training samples.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights of the samples, which count as repetitions.
    feature_names : sequence of str or None, default=None
        Names of the columns.
    target : array-like of shape (n_samples, n_outputs) or None, default=None
        Training targets, for families that learn from them.
    approx : Approximation or None, default=None
        With an approximation, "auto" offers only kernels that it serves. Kernels that somebody asked for
        stay.

    Returns
    -------
    dict of str to Kernel
        The kernels by unique name, in order. A kernel has the name of its dict key or its label, "key: label"
        where a key holds more than a kernel. Names that occur twice get a suffix.

    Raises
    ------
    ValueError
        If the argument holds no kernel, or something that is none, such as an unknown name.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import resolve_kernels
    >>> from manykernels.kernels import Gaussian, Linear
    >>> X = np.random.RandomState(0).randn(10, 2)
    >>> list(resolve_kernels({"line": Linear(), "bumps": [Gaussian(1.0), Gaussian(2.0)]}, X))
    ['line', 'bumps: Gaussian(width=1)', 'bumps: Gaussian(width=2)']
    """
    pairs = list(_named(spec, X, sample_weight, feature_names, target, approx))
    if not pairs:
        raise ValueError(f"kernels={shown(spec)} holds no kernel; expected at least one, or kernels='auto'.")
    kernels = [kernel for _, kernel in pairs]
    also = [other for kernel in kernels for other in kernel.member.also]
    names = unique([name for name, _ in pairs] + also)
    also = names[len(kernels) :]
    found = {}
    for name, kernel in zip(names, kernels, strict=False):
        count = len(kernel.member.also)
        found[name] = kernel.as_member(also=tuple(also[:count])) if count else kernel
        also = also[count:]
    return found


def _named(
    spec: Any, X: Data, sample_weight: Any, feature_names: Any, target: Any, approx: Any
) -> Iterator[tuple[str, Kernel]]:
    if isinstance(spec, str):
        spec = _from_string(spec, X, feature_names)
    if isinstance(spec, Kernel):
        yield spec.label, spec
    elif is_function(spec):
        yield function_name(spec), from_function(spec, X)
    elif isinstance(spec, Family):
        more = {"target": target} if spec.supervised else {}
        more |= {"approx": approx} if spec.holds_others else {}
        found = spec.resolve(X, sample_weight, feature_names, **more)
        chooses = isinstance(spec, Auto) and approx is not None
        yield from (_served(found, X, approx) if chooses else found).items()
    elif isinstance(spec, Mapping):
        for key, part in spec.items():
            if not isinstance(key, str):
                raise ValueError(f"kernels was given a dict with key {key!r}; expected names (str) as keys.")
            if isinstance(part, Kernel):
                yield key, part
            elif is_function(part):
                yield key, from_function(part, X)
            else:
                for name, kernel in _named(part, X, sample_weight, feature_names, target, approx):
                    yield under(key, name, kernel)
    elif isinstance(spec, list | tuple):
        for part in spec:
            yield from _named(part, X, sample_weight, feature_names, target, approx)
    else:
        hint = f" Call it: {spec.__name__}(...)." if isinstance(spec, type) else ""
        raise ValueError(
            f"kernels was given {shown(spec)} ({type(spec).__name__}); expected a kernel, a function "
            f"(X, Y) -> matrix, a family, a list or dict of them, or 'auto'.{hint}"
        )


def _served(kernels: dict[str, Kernel], X: Data, approx: Any) -> dict[str, Kernel]:
    """Keep the kernels of "auto" that have features with this approximation."""
    served = {name: kernel for name, kernel in kernels.items() if approx.serves(kernel, X)}
    if not served:
        raise ValueError(
            f"approx={approx!r} was given with kernels='auto', and it has no features for any of the kernels "
            f"that these data call for: {', '.join(map(repr, kernels))}. Take approx=Nystroem(...), which "
            "serves every kernel, or list kernels."
        )
    return served


def require_known(spec: Any) -> None:
    """Raise an error for a string that means no kernels, before the samples are read.

    Parameters
    ----------
    spec : object
        The kernels, as estimators take them.

    Raises
    ------
    ValueError
        If `spec`, or a part of it, is a string other than "auto" and "precomputed".

    Examples
    --------
    >>> from manykernels.families import require_known
    >>> require_known("auto")
    >>> require_known("rbf")
    Traceback (most recent call last):
    ...
    ValueError: ...
    """
    for part in spec if isinstance(spec, list | tuple) else [spec]:
        if isinstance(part, str) and part not in ("auto", "precomputed"):
            raise _unknown(part)


def _from_string(spec: str, X: Data, names: Any) -> Any:
    if spec == "auto":
        return Auto()
    if spec == "precomputed" and is_stack(X):
        layers = range(X.shape[2])
        return {f"kernel {m}" if names is None else names[m]: Precomputed(m) for m in layers}
    if spec == "precomputed":
        raise ValueError(
            "kernels='precomputed' expects X of shape (n_samples, n_train, n_kernels), "
            f"got shape {tuple(getattr(X, 'shape', ()))}."
        )
    raise _unknown(spec)


def _unknown(spec: str) -> ValueError:
    meant = _MEANT.get(spec.lower())
    hint = f" Write {meant or 'a kernel such as Gaussian(), or a list of kernels'}, of manykernels.kernels."
    return ValueError(
        f"kernels={shown(spec)} was given; the strings that mean something are 'auto' and 'precomputed'."
        f"{hint}"
    )
