"""The base class of approximations: features that are drawn or chosen once, then applied to any rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from .._arguments import is_number
from .._fast.threads import blas_threads, split
from ..kernels import Kernel
from ..kernels.data import Array, Data, n_samples, take_rows

if TYPE_CHECKING:
    from .lacking import Lacking

_CACHED_ROWS = 1024  # at a time, so that what is computed on the way stays small and in cache
_COST = 4  # operations of `split` that one feature is worth
_LARGE = 1 << 16  # features below which one thread computes them, and BLAS may be as it is
_TYPES = (np.dtype(np.float64), np.dtype(np.float32))


class Part:
    """The features of some of the kernels, computed together because they share work.

    ``members`` are the positions of the kernels in the dictionary, ``sizes`` their numbers of features;
    ``threads`` says whether ``fill`` may run in several threads, which functions of a user may not allow.
    """

    members: list[int]
    sizes: list[int]
    threads: bool

    def fill(self, X: Data, out: Any, start: NDArray[np.intp]) -> None:
        """Write the features of the rows of X: those of members[i] to out[:, start[i] : start[i] + sizes[i]].

        ``out`` is C-contiguous, of float64 or float32. A row's features depend on this row only.
        """
        raise NotImplementedError


class Features:
    """Explicit maps φ_m of all kernels, with ⟨φ_m(x), φ_m(x')⟩ ≈ k_m(x, x').

    Parameters
    ----------
    parts : sequence of Part
        Maps, each of which computes the features of some kernels.
    n_kernels : int
        Number M of kernels.

    Attributes
    ----------
    ptr : ndarray of int of shape (M + 1,)
        The features of kernel m are the columns ptr[m] : ptr[m + 1].
    mean : ndarray of shape (ptr[M],) or None
        The row that is subtracted from every row, where kernels are centred; None where not.
    lacking : Lacking or None
        The features of samples that lack the view of a kernel; None where kernels are of no view.

    Examples
    --------
    With a landmark at every sample the features of a kernel are exact:

    >>> import numpy as np
    >>> from manykernels.approx import Nystroem
    >>> from manykernels.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> features = Nystroem(3).fit([Gaussian(1.0), Gaussian(2.0)], X, rng=np.random.RandomState(0))
    >>> features.ptr.tolist()
    [0, 3, 6]
    >>> phi = features.transform(X)
    >>> bool(np.allclose(phi[:, :3] @ phi[:, :3].T, Gaussian(1.0)(X)))
    True

    Centred features add up to zero over the training samples:

    >>> bool(np.allclose(features.centred(phi.mean(axis=0)).transform(X).sum(axis=0), 0.0))
    True
    """

    mean: Array | None = None
    lacking: Lacking | None = None

    def __init__(self, parts: Sequence[Part], n_kernels: int) -> None:
        sizes = np.zeros(n_kernels, dtype=np.intp)
        for part in parts:
            sizes[part.members] = part.sizes
        self.parts = list(parts)
        self.ptr: NDArray[np.intp] = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)

    @property
    def n_kernels(self) -> int:
        """M."""
        return int(self.ptr.size - 1)

    @property
    def n_features(self) -> int:
        """The number of features of all kernels together, ptr[M]."""
        return int(self.ptr[-1])

    def transform(self, X: Data, out: Any = None) -> Any:
        """Compute the features of the rows of X.

        Each row is computed by itself: how rows are cut into blocks changes nothing but the last digits.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns)
            Samples.
        out : ndarray of shape (n_samples, ptr[M]) or None, default=None
            Memory for the result, of float64 or float32.

        Returns
        -------
        ndarray of shape (n_samples, ptr[M])
            The features, which are `out` if that is given.
        """
        shape = n_samples(X), self.n_features
        if out is None:
            out = np.empty(shape)
        elif not isinstance(out, np.ndarray) or out.shape != shape or out.dtype not in _TYPES:
            given = (getattr(out, "shape", None), str(getattr(out, "dtype", type(out).__name__)))
            raise ValueError(
                f"transform was given out of shape {given[0]} and type {given[1]}; expected {shape} and "
                "float64 or float32."
            )
        X = X.tocsr() if sparse.issparse(X) else X
        work = out.size if all(part.threads for part in self.parts) else 0
        # Blocks are too small for BLAS's own threads, which would wait for each other.
        with blas_threads(1 if work > _LARGE else None):
            split(shape[0], _COST * work, lambda lo, hi: self._fill(X, out, lo, hi))
        if self.lacking is not None:
            self.lacking.write(X, out, self.ptr)
        if self.mean is not None:
            out -= self.mean
        return out

    def centred(self, mean: Array | None) -> Features:
        """Return the same features less their mean on the training data.

        Parameters
        ----------
        mean : ndarray of shape (n_features,) or None
            The mean row; None does not centre.

        Returns
        -------
        Features
            A copy with this mean.
        """
        features = copy(self)
        features.mean = mean
        return features

    def _fill(self, X: Data, out: Any, first: int, last: int) -> None:
        """The rows first to last, some at a time."""
        for lo in range(first, last, _CACHED_ROWS):
            hi = min(lo + _CACHED_ROWS, last)
            block = out[lo:hi] if out.flags.c_contiguous else np.empty((hi - lo, out.shape[1]), out.dtype)
            rows = X if hi - lo == out.shape[0] else take_rows(X, lo, hi)
            for part in self.parts:
                part.fill(rows, block, self.ptr[part.members])
            if not out.flags.c_contiguous:
                out[lo:hi] = block

    def __repr__(self) -> str:
        return f"Features({self.n_features} of {self.n_kernels} kernels)"


class Approximation(BaseEstimator):
    """Base class of approximations: how explicit features of kernels are drawn or chosen.

    A subclass defines ``fit_sample``, and ``sample`` where features depend on data. The constructor stores
    parameters as they are given; ``fit`` checks them.

    See Also
    --------
    Nystroem : Features from landmarks, for every kernel.
    RandomFeatures : Features from random frequencies.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.approx import Approximation, Nystroem, RandomFeatures
    >>> from manykernels.kernels import Gaussian, Polynomial
    >>> isinstance(Nystroem(5), Approximation)
    True
    >>> X = np.random.RandomState(0).randn(20, 2)
    >>> features = Nystroem(5).fit([Gaussian(1.0)], X, rng=np.random.RandomState(0))
    >>> features.transform(X).shape
    (20, 5)

    `sample` says which rows are needed. Random frequencies need one row, to see its columns. They serve
    kernels of the difference of two samples, and those with a map of their own that has few features:

    >>> approx, rng = RandomFeatures(6), np.random.RandomState(0)
    >>> rows, weight = approx.sample(20, None, rng)
    >>> rows.tolist(), approx.fit_sample([Gaussian(1.0)], X[rows], weight, rng).transform(X).shape
    ([0], (20, 6))
    >>> approx.serves(Gaussian(1.0), X), approx.serves(Polynomial(5), X), Nystroem(6).serves(Polynomial(5), X)
    (True, False, True)
    """

    def fit(
        self, kernels: Sequence[Kernel], X: Data, *, rng: np.random.RandomState, sample_weight: Any = None
    ) -> Features:
        """Make the features of kernels, from the rows X where they must depend on data, and never on y.

        Parameters
        ----------
        kernels : sequence of Kernel
            The kernels.
        X : array-like of shape (n_samples, n_features)
            Training samples.
        rng : RandomState
            Source of random numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows: a row of weight w counts as w rows.

        Returns
        -------
        Features
            The features of all kernels.
        """
        rows, weight = self.sample(n_samples(X), checked_weights(X, sample_weight), rng)
        return self.fit_sample(kernels, _safe_indexing(X, rows), weight, rng)

    def sample(
        self, n: int, weight: Array | None, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], Array]:
        """Choose the rows that ``fit_sample`` reads.

        They depend on the number and the weights of the rows alone: how data are cut into chunks, or where
        they are, changes nothing. The general form chooses one row, for features that do not depend on data.

        Parameters
        ----------
        n : int
            Number of rows.
        weight : ndarray of shape (n,) or None
            Weights of the rows.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        rows : ndarray of int
            Positions of the rows.
        weight : ndarray
            Weights of these rows.
        """
        return np.array([0 if weight is None else np.argmax(weight > 0)], dtype=np.intp), np.ones(1)

    def fit_sample(
        self, kernels: Sequence[Kernel], X: Data, weight: Array, rng: np.random.RandomState
    ) -> Features:
        """Make the features from the rows that ``sample`` asked for.

        Parameters
        ----------
        kernels : sequence of Kernel
            The kernels.
        X : array-like of shape (n_rows, n_features)
            The rows.
        weight : ndarray of shape (n_rows,)
            Weights of the rows.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        Features
            The features of all kernels.
        """
        raise NotImplementedError(f"{type(self).__name__} must define fit_sample(kernels, X, weight, rng).")

    def serves(self, kernel: Kernel, X: Data) -> bool:
        """Tell whether a kernel has features here.

        Parameters
        ----------
        kernel : Kernel
            The kernel.
        X : array-like of shape (n_samples, n_features)
            Rows like those that features are made for.

        Returns
        -------
        bool
            Whether it has.
        """
        return True

    def _components(self) -> int:
        """``n_components``, checked."""
        value: Any = getattr(self, "n_components", None)
        if not is_number(value) or value != value // 1 or value < 1:
            raise ValueError(
                f"n_components={value!r} was given to {type(self).__name__}; expected a whole number of "
                "features a kernel, at least 1."
            )
        return int(value)


def ours(kernel: Kernel) -> bool:
    """Tell whether the kernel is made of kernels of this package alone, and calls no function of a user."""
    inside = [kernel, *kernel.get_params(deep=True).values()]
    return all(
        type(value).__module__.startswith("manykernels.kernels.")
        if isinstance(value, Kernel)
        else not callable(value)
        for value in inside
    )


def checked_weights(X: Data, sample_weight: Any) -> Array | None:
    """The weights of the rows, None if all are equal; X has at least one row of positive weight."""
    n = n_samples(X)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not np.all(weight >= 0.0) or not np.all(np.isfinite(weight)):
        raise ValueError(f"sample_weight has shape {weight.shape}; expected {n} non-negative numbers.")
    if not np.any(weight > 0):
        raise ValueError(f"X has {n} rows, none of positive weight; features are chosen from at least one.")
    return None if np.all(weight == weight[0]) else weight
