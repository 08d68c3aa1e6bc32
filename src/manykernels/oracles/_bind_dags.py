"""From the description of a graph of kernels and data to what hierarchical learning asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .._warn import warn
from ..families import DAG, AnovaDAG, PolynomialDAG
from ..families.base import names_of, numbers, unique
from ..grams import build_gram, parse_memory
from ..grams.memory import GRAPH, counted, require_memory
from ..kernels.data import Data, n_samples
from ._dag_products import GaussianHierarchy, MonomialHierarchy
from .dags import Array, Hierarchy, ListedHierarchy

_COPIES = 6  # of the columns: as they are, by rows, and their powers
_PAIRS = 8  # tables of columns × columns, for products of two and three
_CONSTANT = 1e-12  # relative to the largest value: what varies less does so by rounding only


def bind_dag(
    family: PolynomialDAG | AnovaDAG | DAG,
    X: Data,
    *,
    normalize: str | None,
    sample_weight: Array | None = None,
    feature_names: Any = None,
    memory_limit: int | float | str | None = None,
    work: int = GRAPH,
) -> Hierarchy:
    """Bind a graph of kernels to training data, with kernels normalised there.

    Parameters
    ----------
    family : PolynomialDAG, AnovaDAG or DAG
        The graph.
    X : array-like of shape (n_samples, n_features)
        Training samples.
    normalize : {"trace", "max"} or None
        How kernels are scaled.
    sample_weight : ndarray of shape (n_samples,) or None, default=None
        Weights of the samples, which count as repetitions.
    feature_names : sequence of str or None, default=None
        Names of the columns.
    memory_limit : int, float, str or None, default=None
        Memory that may be used, as for ``grams.parse_memory``.
    work : int, default=9
        Number of matrices of n × n that the solver needs beside the kernels.

    Returns
    -------
    Hierarchy
        The graph on these samples.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.families import PolynomialDAG
    >>> from manykernels.oracles import bind_dag
    >>> X = np.random.RandomState(0).randn(20, 3)
    >>> bind_dag(PolynomialDAG(degree=2), X, normalize="trace").n
    20
    """
    if isinstance(family, DAG):
        return _bind_list(family, X, normalize, sample_weight, memory_limit, work)
    if normalize not in (None, "trace", "max"):
        raise ValueError(
            f"normalize={normalize!r} was given with {type(family).__name__}; expected 'trace', 'max' or "
            "None. Others would scale every product by itself, and sums over all of them would not factor."
        )
    n, limit = n_samples(X), parse_memory(memory_limit)
    if len(getattr(X, "shape", ())) != 2:
        raise ValueError(
            f"{type(family).__name__} needs X of shape (n_samples, n_features) with numbers, and X is a list "
            "of single objects. Give columns of numbers."
        )
    _require_memory(family, n, X.shape[1], work, limit)
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    w = w / w.sum()
    A, names = _columns(X, feature_names)
    gone = _constant(family, A[w > 0.0], names)
    beta = family.prices(A.shape[1] - int(gone.sum()), A.shape[1])
    if isinstance(family, AnovaDAG):
        spread = np.where(gone, 1.0, np.sqrt(w @ (A - w @ A) ** 2))
        scales = np.ones((A.shape[1], 2))
        scales[gone, 1] = 0.0
        return GaussianHierarchy(A, family.relative_width() * spread, scales, beta, names, limit, work)
    scales = _scales(A, family.levels(), normalize, w, names, gone)
    return MonomialHierarchy(A, scales, beta, names)


def _require_memory(family: PolynomialDAG | AnovaDAG, n: int, r: int, work: int, limit: int) -> None:
    """Matrices of n × n, copies of the columns, and tables of all pairs of columns."""
    pairs = _PAIRS if isinstance(family, PolynomialDAG) else 0
    need = 8 * work * n * n + counted(8 * (_COPIES * n * r + pairs * r * r))
    what = f"matrices of {n} × {n}" + (f" and of {r} × {r}" if pairs and r > n else "")
    advice = "Raise memory_limit, fit on fewer samples, or select fewer columns (SelectKBest)."
    require_memory(need, limit, f"{type(family).__name__} of {r} columns on {n} samples needs", what, advice)


def _columns(X: Data, feature_names: Any) -> tuple[Array, list[str]]:
    """The columns, dense, and their names."""
    A = numbers(X, feature_names)
    names = unique(names_of(X, feature_names))
    return np.asarray(A.toarray() if sp.issparse(A) else A, dtype=float), names


def _constant(family: PolynomialDAG | AnovaDAG, A: Array, names: list[str]) -> NDArray[np.bool_]:
    """Columns that are the same for all samples; their kernels are taken as zero."""
    gone = np.ptp(A, axis=0) <= _CONSTANT * np.abs(A).max(axis=0)
    if gone.any():
        listed = [repr(names[j]) for j in np.flatnonzero(gone)]
        shown = ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
        if gone.all():
            raise ValueError(
                f"Columns {shown} are the same for all samples, and {type(family).__name__} has no others to "
                "multiply. Give columns that vary with the samples."
            )
        warn(
            f"columns {shown} are the same for all samples: products with them only repeat those without, so "
            f"{type(family).__name__} leaves them out.",
            UserWarning,
        )
    return np.asarray(gone)


def _scales(
    A: Array, D: int, normalize: str | None, w: Array, names: list[str], gone: NDArray[np.bool_]
) -> Array:
    """a_{i,j}: one over the mean (or the largest) of x_i^{2j}; 0 for powers of columns that are left out."""
    scales = np.ones((A.shape[1], D + 1))
    with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
        for j in range(1, D + 1):
            squares = A ** (2 * j)
            size = squares.max(axis=0) if normalize == "max" else w @ squares
            scales[:, j] = 1.0 / size
            bad = ~(np.isfinite(size) & np.isfinite(scales[:, j]) & (scales[:, j] > 0.0)) & ~gone
            if bad.any():
                i = int(np.argmax(bad))
                raise ValueError(
                    f"Column {names[i]!r} reaches {np.abs(A[:, i]).max():.3g}, whose power {j} is out of "
                    "range. Scale the data (StandardScaler), or lower the degree."
                )
    if normalize is None:
        scales[:] = 1.0
    scales[gone, 1:] = 0.0
    return scales


def _bind_list(
    family: DAG, X: Data, normalize: str | None, sample_weight: Array | None, memory_limit: Any, work: int
) -> ListedHierarchy:
    nodes, prices = family.nodes(), family.priced()
    gram, kernels = build_gram(
        {name: kernel for name, (kernel, _) in nodes.items()},
        X,
        center=False,
        normalize=normalize,
        sample_weight=sample_weight,
        memory_limit=memory_limit,
        work=work,
    )
    for name, kernel in zip(nodes, kernels, strict=True):
        kernel.name = name
    if not np.isfinite(gram.traces()).all():
        bad = list(nodes)[int(np.argmin(np.isfinite(gram.traces())))]
        raise ValueError(
            f"kernel {bad!r} is not finite on the training data: it overflows, or returns NaN. Scale the "
            "features (StandardScaler), or change its parameters."
        )
    above = {name: parents for name, (_, parents) in nodes.items()}
    return ListedHierarchy(gram, kernels, above, prices)
