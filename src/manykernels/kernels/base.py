"""What every kernel offers."""

from __future__ import annotations

import inspect
from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator

from .._arguments import is_number, is_whole, shown
from .data import Array, Data, is_stack, matrix_shape, n_samples, rounding, same, take_rows
from .presence import Mask, write

if TYPE_CHECKING:
    from .algebra import Power, Product, Scaled, Sum
    from .spectral import Spectral

_DIAGONAL_BLOCK = 64
Role = Literal["linear", "column", "empty product", "absent"]


@dataclass(frozen=True)
class Member:
    """Which of a family's kernels one is. Whoever chooses among kernels asks this: names are for people.

    Attributes
    ----------
    role : "linear" for the linear kernel of all features among kernels of a table, the plainest model that
        there is, "column" for a kernel of one column among them, "empty product" for the constant
        among products, "absent" for the zero that stands for all kernels of a view that no sample has;
        None for what has no special part.
    scale : the width in median distances between samples, where the family measures it so.
    also : what the family calls other kernels that are this one in the data at hand, and need not be in
        others. What was chosen by name on all samples is found by them in a part of the samples.
    """

    role: Role | None = None
    scale: float | None = None
    also: tuple[str, ...] = ()


_NOBODY = Member()


class Kernel(BaseEstimator):
    """A similarity k(x, x'), positive semidefinite, with its parameters.

    A new kernel writes one of two things:

    - ``compute(X, Y, out)``, which returns the matrix (in ``out`` or not, as it likes); or
    - ``statistic``, ``compute_statistic(X, Y, out)`` and ``fill(S, out)``, if k is an elementwise function of
      a matrix S that other kernels need too (inner products, distances). Whoever evaluates many kernels then
      computes S once per key. ``fill`` must allow ``out`` to be ``S`` itself.

    ``diag`` has a general but slower form here. A kernel with a finite feature map, k = ΦΦᵀ, says so by
    ``has_features`` and writes ``features``; one of differences x − x' whose spectral density is known says
    it by ``spectral``. Parameters are stored as given and checked when used.
    """

    name: str | None = None
    _member: Member | None = None
    __array_ufunc__ = None  # so that np.float64(2) * kernel asks the kernel

    def __call__(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """The (n_X, n_Y) matrix k(x, y), in ``out`` if given; Y=None means Y=X and is exactly symmetric."""
        if Y is not None and same(X, Y):
            Y = None
        if out is not None:
            self._check_out(out, matrix_shape(X, Y))
        if self.statistic is None:
            K = self.compute(X, Y, out)
        else:
            K = self.compute_statistic(X, Y, out)
            self.fill(K, K)
            self.mask(K, X, Y)
        return K if out is None or K is out else into(out, K)

    def compute(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """The matrix, in new memory or in ``out``; what ``__call__`` uses if there is no statistic."""
        raise NotImplementedError(f"{type(self).__name__} must define compute(), or statistic and fill().")

    @property
    def absence(self) -> Hashable | None:
        """What decides which samples lack the view that k is of, equal for one view; None if none can."""
        return None

    def present(self, X: Data) -> Mask | None:
        """(n,): which samples have the view that k is of; None where all have it."""
        return None

    def mask(self, K: Array, X: Data, Y: Data | None = None) -> None:
        """Write, in place, what k is for samples that lack its view: zero (see ``kernels.presence``)."""
        left = self.present(X)
        right = None if is_stack(X) else left if Y is None else self.present(Y)
        write(K, left, right, 0.0, 0.0, 0.0)

    def diag(self, X: Data) -> Array:
        """k(x, x) for every row x of X."""
        n = n_samples(X)
        blocks = [
            np.diagonal(self(take_rows(X, lo, min(lo + _DIAGONAL_BLOCK, n))))
            for lo in range(0, n, _DIAGONAL_BLOCK)
        ]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def rounding(self, X: Data) -> float:
        """What is rounding in k(X, X), relative to its size: more where a part is given in few digits."""
        given = [v if isinstance(v, list | tuple) else [v] for v in self._arguments().values()]
        members = [kernel for values in given for kernel in values if isinstance(kernel, Kernel)]
        return max([kernel.rounding(X) for kernel in members], default=rounding(np.float64))

    @property
    def statistic(self) -> Hashable | None:
        """Key of the matrix S that k is an elementwise function of: kernels with equal keys can share S."""
        return None

    def compute_statistic(self, X: Data, Y: Data | None = None, out: Array | None = None) -> Array:
        """S for the rows of X and Y, in ``out`` if given, else in new memory."""
        raise TypeError(f"{self.label} has no shared statistic; call it instead.")

    @property
    def rate(self) -> float | None:
        """c, if k = exp(c·S): sweeps over many such kernels need not write them to memory."""
        return None

    def fill(self, S: Array, out: Array) -> None:
        """Write k, computed from S elementwise, into ``out``, which may be ``S``."""
        raise TypeError(f"{self.label} has no shared statistic; call it instead.")

    @property
    def has_features(self) -> bool:
        """Whether ``features`` gives an explicit finite map with k = ΦΦᵀ."""
        return False

    def features(self, X: Data) -> Any:
        """Φ, dense or CSR, with k(X, X) = ΦΦᵀ. Use ``feature_maps`` for two sets of points."""
        return self.feature_maps(X)[0]

    def feature_maps(self, *sets: Data) -> list[Any]:
        """Φ of each set of points in common coordinates, so that k(X, Y) = Φ_X Φ_Yᵀ."""
        raise TypeError(f"{self.label} has no finite feature map.")

    def spectral(self) -> Spectral | None:
        """The spectral density, if k(x, x') is a function of x − x' with k(x, x) = 1 and it is known.

        A kernel that says it has random features; one that inherits from such a kernel and is another
        function must say its own.
        """
        return None

    def terms(self) -> list[tuple[float, Kernel]]:
        """(c_j, k_j) with k = Σ c_j k_j and no k_j a sum itself: lets mixtures share work inside sums."""
        return [(1.0, self)]

    @property
    def member(self) -> Member:
        """Which of a family's kernels this is; kernels around another one are what that one is."""
        return _NOBODY if self._member is None else self._member

    def as_member(self, **facts: Any) -> Self:
        """The same kernel, which says these facts of itself (see ``Member``) beside those that it said."""
        made = copy(self)
        made._member = replace(self.member, **facts)
        return made

    def __sklearn_clone__(self) -> Self:
        return self._told(super().__sklearn_clone__())

    def _told(self, made: Self) -> Self:
        """A clone that says of itself what this kernel does."""
        if self._member is not None:
            made._member = self._member
        return made

    @property
    def label(self) -> str:
        """The name if there is one, else a short description such as ``Gaussian(width=2)``."""
        return self.name if self.name is not None else self._describe()

    def _describe(self) -> str:
        shown = [f"{key}={brief(value)}" for key, value in self._arguments().items() if key != "name"]
        return f"{type(self).__name__}({', '.join(shown)})" if shown else type(self).__name__

    def _arguments(self) -> dict[str, Any]:
        kind: Any = type(self)
        return {key: getattr(self, key) for key in _params(kind)}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        arguments = self._arguments().items()
        shown = ", ".join(f"{key}={value!r}" for key, value in arguments if value is not None)
        return f"{type(self).__name__}({shown})"

    def __add__(self, other: Kernel) -> Sum:
        from .algebra import Sum

        return Sum.of(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: Any) -> Kernel:
        return self if is_number(other) and other == 0 else NotImplemented  # the start of sum([...])

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product.of(self, other)
        return Scaled(self, other) if is_number(other) else NotImplemented

    def __rmul__(self, other: float) -> Product | Scaled:
        return self * other

    def __pow__(self, degree: int) -> Power:
        from .algebra import Power

        return Power(self, degree) if is_number(degree) else NotImplemented

    def _check_out(self, out: Array, shape: tuple[int, int]) -> None:
        if out.shape != shape or out.dtype != np.float64:
            raise ValueError(
                f"{self.label} was given out of shape {out.shape} and type {out.dtype}; "
                f"expected {shape} and float64."
            )

    def _number(self, param: str, *, zero: bool = False) -> float:
        """The parameter as a positive (or, with ``zero``, non-negative) finite float, or an error."""
        value = getattr(self, param)
        if not is_number(value) or not np.isfinite(float(value)) or value < 0 or (value == 0 and not zero):
            expected = "a non-negative number" if zero else "a positive number"
            raise ValueError(
                f"{param}={shown(value)} was given to {type(self).__name__}; expected {expected}."
            )
        return float(value)

    def _integer(self, param: str) -> int:
        """The parameter as a whole number of at least 1, or an error."""
        value = getattr(self, param)
        if not is_whole(value) or value < 1:
            raise ValueError(
                f"{param}={shown(value)} was given to {type(self).__name__}; expected a whole number, at "
                "least 1."
            )
        return int(value)


@cache
def _params(kind: Any) -> tuple[str, ...]:
    """The parameters of a class's constructor, in its order."""
    return tuple(inspect.signature(kind).parameters)


def brief(value: Any) -> str:
    """A parameter's value in few characters."""
    if isinstance(value, Kernel):
        return value.label
    if is_number(value):
        return f"{float(value):.4g}"
    return str(getattr(value, "__name__", value))


def empty_matrix(X: Data, Y: Data | None, out: Array | None) -> Array:
    """``out``, or new memory of the right shape."""
    return np.empty(matrix_shape(X, Y)) if out is None else out


def into(out: Array | None, K: Any) -> Array:
    """K copied into ``out``, or K itself as a contiguous array if there is no ``out``."""
    if out is None:
        return np.ascontiguousarray(K, dtype=np.float64)
    out[...] = K
    return out
