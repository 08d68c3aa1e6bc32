"""Views that some samples lack: which samples have a view, and the kernel of those that do not.

A view is absent in a sample whose cells in its columns are all missing; in a layer of a stack it is a row of
NaN. With s(x) = 1 where the view is there and 0 where it is not, and the samples x_j of weight w_j that have
it (Σ w_j s_j = 1), the kernel of all samples is that of the features

    φ̂(x) = s(x) φ(x) + (1 − s(x)) (μ + √c e),      μ = Σ_j w_j s_j φ(x_j),      e ⊥ φ of every sample.

A sample without the view lies where those that have it lie on average, so that the view says nothing of it.
The mean of φ̂ over all samples is μ but for e, so that centring leaves s(x) s(x') k̃(x, x') of the kernel k̃
that is centred over the samples that have the view: absence is zero there, which is neutral. With an
intercept Σα = 0, and the problem is the same whether kernels are centred or not. In numbers, with
r(x) = ⟨μ, φ(x)⟩ = Σ_j w_j s_j k(x, x_j) and g = ⟨μ, μ⟩,

    k̂(x, x') = k(x, x') where both have the view, r(x') where only x' has, g + c where neither has.

The direction e lets a model learn from absence itself, which often says something (patients too ill for a
scan). Its size is a tenth of the mean square that samples have about their mean: c = 0.1 Σ_j w_j s_j k̃(x_j,
x_j). Larger ones cost accuracy where absence is chance, none costs more where it is not
(`experiments/absent_views.py`).

Where classes are learned, a sample that has V(x) of V views is farther from the mean in those it has, by
a(x) = √(V / V(x)): as far in all kernels together as one that has all views (`Roster`). Views often say the
same of a class, and a sample with few of them would be decided timidly. Of numbers views add parts, so that
larger ones would be wrong, and a(x) = 1. With u(x) = r̂(x) − g, r̂ being r, or g where the view is absent,

    ⟨μ + a(φ̂ − μ), μ + a'(φ̂' − μ)⟩ = a a' k̂(x, x') + a (1 − a') u(x) + a' (1 − a) u(x') + (1 − a a') g.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .cells import column_of, is_missing, numeric_type
from .data import Array, Data, is_stack, n_samples, same, take_rows

if TYPE_CHECKING:
    from .base import Kernel

Mask = NDArray[np.bool_]
Spreads: TypeAlias = tuple[Array | None, Array | None]
_ROWS = 512  # of products with the training samples at a time
TOLD = 0.1  # c, as a part of the mean square of samples about their mean


class Rest:
    """The samples that have a view, from which it is known what k̂ is for those that lack it.

    One belongs to one kernel, which its methods are given. Where there is a stack in place of samples, ``X``
    is None and ``means`` are known.

    Attributes
    ----------
    X : the training samples.
    weight : (n,), zero for samples that lack the view.
    having : (n,), which training samples have it; None if all do.
    means : (n,), r of the training samples, g of those that lack the view; None where nobody asked yet.
    grand : g, or None.
    own : c.
    roster : all views; None where samples that lack some count as others do.
    spread : (n,), a of the training samples; None where all have all views.
    """

    def __init__(
        self,
        X: Data | None,
        weight: Array,
        having: Mask | None = None,
        means: Array | None = None,
        grand: float | None = None,
        own: float = 0.0,
        roster: Roster | None = None,
        spread: Array | None = None,
    ) -> None:
        self.X, self.weight, self.having = X, weight, having
        self.means, self.grand, self.own = means, grand, own
        self.roster, self.spread = roster, spread

    @classmethod
    def measured(cls, kernel: Kernel, X: Data, weight: Array) -> Rest | None:
        """From training samples X of these weights; None for a kernel that is of no view."""
        if kernel.absence is None:
            return None
        having = kernel.present(X)
        if having is None:
            return cls(X, weight)
        v = weight * having
        r = kernel(X) @ _share(v)
        return cls.known(X, v, having, r, kernel.diag(X))

    @classmethod
    def known(cls, X: Data | None, weight: Array, having: Mask, r: Array, d: Array) -> Rest:
        """From the means r and the diagonal d of the kernel, where training samples lack the view."""
        share = _share(weight)
        g = float(share @ r)
        return cls(X, weight, having, np.where(having, r, g), g, TOLD * max(float(share @ d) - g, 0.0))

    def write(
        self, kernel: Kernel, K: Array, X: Data, Y: Data | None, factor: float, known: Spreads | None = None
    ) -> None:
        """Write k̂, times a factor, to the rows and columns of K that samples without the view have.

        ``known`` is what `spreads` says of X and Y, which is the same for all kernels of a roster.
        """
        left, stack = kernel.present(X), is_stack(X)
        right = self.having if stack else left if Y is None else kernel.present(Y)
        a, b = self.spreads(X, Y) if known is None else known
        farther = a is not None or b is not None
        if left is None and right is None and not farther:
            return
        columns: Any = 0.0
        if (right is not None or farther) and stack:  # rows of a stack hold products with training samples
            columns = K @ _share(self.weight)
            columns = columns if left is None else np.where(left, columns, factor * (self.grand or 0.0))
        elif right is not None or farther:
            columns = factor * self.means_of(kernel, X)
        rows: Any = 0.0
        if left is not None or farther:
            rows = factor * (self.training if stack else self.means_of(kernel, X if Y is None else Y))
        write(K, left, right, rows, columns, factor * self.own)
        if farther:
            rescale(K, a, b, columns, rows, factor * self._grand(kernel))

    def spreads(self, X: Data, Y: Data | None = None) -> Spreads:
        """a of the samples of X and of Y; None where all of them have all views."""
        if self.roster is None:
            return None, None
        if is_stack(X):
            return self.roster.spread(X), self.spread
        found = [
            self.spread if same(Z, self.X) else self.roster.spread(Z) for Z in (X, X if Y is None else Y)
        ]
        return found[0], found[1]

    def diagonal(self, kernel: Kernel, X: Data) -> Array:
        """k̂(x, x) for every row x of X."""
        d, having = kernel.diag(X), kernel.present(X)
        d = d if having is None else np.where(having, d, self._grand(kernel) + self.own)
        a = self.spreads(X)[0]
        if a is None:
            return d
        r = self.training if is_stack(X) else self.means_of(kernel, X)
        return farther(d, a, r, self._grand(kernel))

    def means_of(self, kernel: Kernel, Z: Data) -> Array:
        """(n_Z,): r of each sample, and g of those that lack the view."""
        if self.means is not None and same(Z, self.X):
            return self.means
        r, having = self._products(kernel, Z), kernel.present(Z)
        return r if having is None else np.where(having, r, self._grand(kernel))

    @property
    def training(self) -> Array:
        """(n,): the means of the training samples."""
        assert self.means is not None
        return self.means

    def _grand(self, kernel: Kernel) -> float:
        if self.grand is None:
            self.grand = float(_share(self.weight) @ self._products(kernel, self.X))
        return self.grand

    def _products(self, kernel: Kernel, Z: Data) -> Array:
        """Σ_j w_j s_j k(z, x_j) of every row z of Z, some at a time."""
        share, n = _share(self.weight), n_samples(Z)
        blocks = [kernel(take_rows(Z, i, i + _ROWS), self.X) @ share for i in range(0, n, _ROWS)]
        return np.concatenate(blocks) if blocks else np.empty(0)


class Roster:
    """All views that kernels are of, each by one of its kernels: how many of them samples have."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self.kernels = list({k.absence: k for k in kernels if k.absence is not None}.values())

    def spread(self, X: Data) -> Array | None:
        """(n,): a = √(V / V(x)), and 1 for samples without any view; None where all have all views."""
        masks = [kernel.present(X) for kernel in self.kernels]
        some = [mask for mask in masks if mask is not None]
        if not some or len(masks) < 2:
            return None
        count = len(masks) - len(some) + np.sum(some, axis=0)
        return np.asarray(np.sqrt(len(masks) / np.where(count > 0, count, len(masks))))


def _share(weight: Array) -> Array:
    total = float(weight.sum())
    return weight / total if total > 0.0 else weight


def rows_having(part: Data) -> Mask | None:
    """(n,): whether the rows of a table hold any value; None where all of them do."""
    if sparse.issparse(part):
        return None
    flat = len(getattr(part, "shape", ())) != 2
    gone = is_missing(part if flat else column_of(part, 0)) if flat or part.shape[1] else np.zeros(0, bool)
    if not gone.any():
        return None
    if flat:
        return ~gone
    gone, rows = gone.copy(), np.flatnonzero(gone)
    some = part.iloc[rows] if hasattr(part, "iloc") else part[rows]
    gone[rows] = _all_missing(some)
    return ~gone if gone.any() else None


def _all_missing(part: Data) -> Mask:
    """(n,): whether rows hold nothing."""
    if isinstance(part, np.ndarray) and part.dtype.kind == "f":
        return np.asarray(np.isnan(part).all(axis=1))
    if hasattr(part, "iloc"):
        return np.asarray(part.isna().to_numpy().all(axis=1))
    gone = np.ones(part.shape[0], dtype=bool)
    for j in range(part.shape[1]):
        gone &= is_missing(column_of(part, j))
        if not gone.any():
            break
    return gone


def with_stand_ins(part: Data, having: Mask) -> Data:
    """A table whose empty rows hold what a kernel can read: a row that has values, else zeros.

    What the kernel makes of them is not used.
    """
    if not having.any():
        return _blank(part)
    rows = np.where(having, np.arange(having.size), int(np.argmax(having)))
    return part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _blank(part: Data) -> Data:
    """An empty table with zeros for numbers and empty strings for text."""
    if isinstance(part, np.ndarray):
        return np.zeros_like(part) if part.dtype.kind == "f" else np.full_like(part, "")
    if hasattr(part, "fill_null"):  # polars
        return part.fill_null(0).fill_null("")
    if len(part.shape) == 1:
        return part.fillna(0.0) if numeric_type(part.dtype) else part.astype(object).fillna("")
    numbers = [name for name, dtype in part.dtypes.items() if numeric_type(dtype)]
    return part.fillna(dict.fromkeys(numbers, 0.0))


def layer_having(K: Any) -> Mask | None:
    """(n,): whether the rows of a layer of a stack hold numbers; None where all of them do."""
    first = np.isnan(K[:, 0]) if K.shape[1] else np.zeros(K.shape[0], dtype=bool)
    if not first.any():
        return None
    gone = first.copy()
    gone[first] = np.isnan(K[first]).all(axis=1)
    return ~gone if gone.any() else None


def presences(kernels: Sequence[Kernel], X: Data) -> list[Mask | None]:
    """Return which samples each kernel has; kernels of one view are asked once."""
    known: dict[Any, Mask | None] = {}
    found: list[Mask | None] = []
    for kernel in kernels:
        key = kernel.absence
        if key is None:
            found.append(None)
            continue
        if key not in known:
            known[key] = kernel.present(X)
        found.append(known[key])
    return found


def both(a: Mask | None, b: Mask | None) -> Mask | None:
    """Samples that have both of two views."""
    return b if a is None else a if b is None else a & b


def either(masks: Sequence[Mask | None]) -> Mask | None:
    """Samples that have any of several views."""
    if not masks or any(mask is None for mask in masks):
        return None
    found = np.any(np.array(masks), axis=0)
    return None if found.all() else found


def write(K: Array, left: Mask | None, right: Mask | None, rows: Any, columns: Any, corner: float) -> None:
    """Write what k̂ is where a view is absent, in place: `rows` (n_Y,) in rows, `columns` (n_X,) in columns.

    `corner` is added where neither sample has the view.
    """
    if left is not None:
        K[~left] = rows
    if right is not None:
        K[:, ~right] = columns if np.ndim(columns) == 0 else np.asarray(columns)[:, None]
        if left is not None and corner:
            K[np.ix_(~left, ~right)] += corner


def rescale(K: Array, left: Array | None, right: Array | None, r: Array, q: Array, grand: float) -> None:
    """Put samples farther from the mean, by a in rows (`left`) and in columns (`right`), in place.

    r (n_X,) and q (n_Y,) are the products of samples with the mean, `grand` is that of the mean with itself.
    """
    a, b = (np.ones(n) if part is None else part for n, part in zip(K.shape, (left, right), strict=True))
    u, v = a * (r - grand), b * (q - grand)
    for lo in range(0, K.shape[0], _ROWS):
        rows = slice(lo, lo + _ROWS)
        both = a[rows, None] * b
        K[rows] *= both
        K[rows] += u[rows, None] * (1.0 - b) + (1.0 - a[rows, None]) * v + grand * (1.0 - both)


def farther(d: Array, a: Array, r: Array, grand: float) -> Array:
    """The diagonal d of k̂ for samples that are farther from the mean by a."""
    return grand + 2.0 * a * (r - grand) + a**2 * (d - 2.0 * r + grand)
