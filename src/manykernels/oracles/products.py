"""All products of base kernels up to a degree, asked on the training samples without listing them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..grams import Gram
from ..grams.base import LazyNames
from ..kernels import Constant, Fitted, Kernel, Power
from ..kernels import Product as ProductKernel
from ..kernels.data import Columns
from ..kernels.monomial import Monomial
from ._against import Against
from ._beam import Beam
from ._groups import Groups, is_excluded
from ._hadamard import Hadamard
from ._monomials import Monomials
from ._parts import FactorParts, Parts, Product, StackParts
from ._sampling import Sampler, draw_uniformly
from .base import Array, Atom, Best, Draws, LowRank, Oracle

_ENUMERABLE = 1e9  # products of columns that are worth scoring one by one
_ENUMERABLE_MATRICES = 1e7  # the same for matrices of 500 × 500
_OWN = 2e6  # products that a function is asked of, one by one
_LOOKED_AT = 64  # products of a family too large to be looked at whole, where sums are signed
_EXCLUDED = 64  # products more that are looked at, where some are not of the family
_POWERS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class ProductsOracle(Oracle):
    """The products K_z = s_z Π_{j∈z} K_j for all sorted tuples z of at most D base kernels.

    The empty tuple is the constant kernel. With c_z = d!/Π_j m_j!, the number of orders of z, the scale is

        s_z = ρ_d⁻² own_z⁻² c_z^exponent / Σ_i weight_i (Π_{j∈z} K_j)_ii

    Parameters
    ----------
    parts : Parts
        The base kernels on the training samples.
    base : list of Fitted
        The base kernels as functions.
    names : list of str
        Their names.
    degree : int
        The largest number D of factors.
    rho : ndarray of shape (D + 1,)
        Priors ρ_d of the degrees.
    columns : list or None, default=None
        The columns of X that the base kernels are, where that is all they are, up to scale: products are then
        monomials.
    exponent : float, default=0.0
        (p − 1)/p for ``multiplicity="paper"``, else 0.
    weight : ndarray of shape (n,) or None, default=None
        Weights that add up to 1, for ``atom_scale="rms"`` only.
    interactions_only : bool, default=False
        Whether each factor occurs once.
    room : float, default=inf
        Bytes for what is kept of the products.
    groups : ndarray of int or None, default=None
        Numbers of columns of which at most one is not zero: products of two of them, and powers of one, are
        scaled to 0, as if they were not there.
    base_prior : ndarray of shape (n_base,) or None, default=None
        The ρ_j⁻² that are in the parts and not in `base`.
    own : callable or None, default=None
        The priors ρ_z of single products.

    Attributes
    ----------
    degree_limit : int
        The largest number of factors that a product can have.
    prior : ndarray of shape (degree_limit + 1,)
        The factors ρ_d⁻² of the degrees.
    counts : list of int
        The number of products of each degree.

    Examples
    --------
    Six products, with a prior that divides those of degree 2 by 2² = 4:

    >>> import numpy as np
    >>> from manykernels.families import Products
    >>> from manykernels.oracles import build_oracle
    >>> X, A = np.array([[1.0, 2.0], [2.0, 0.0]]), np.ones((2, 1))
    >>> oracle = build_oracle(Products(degree=2, rho=[1.0, 1.0, 2.0]), X, normalize=None)
    >>> type(oracle).__name__, oracle.size, oracle.degree((0, 1)), oracle.describe((0, 0))
    ('ProductsOracle', 6.0, 2, {'product': 'x0²', 'degree': 2})
    >>> oracle.scales([(0,), (0, 1)]).tolist()
    [1.0, 0.25]

    `sample` counts x0 · x1 twice, once for every order, and `sample_distinct` counts it once:

    >>> q = dict(zip(oracle.atoms(), oracle.quad(A, list(oracle.atoms())).tolist()))
    >>> q
    {(): 4.0, (0,): 9.0, (1,): 4.0, (0, 0): 6.25, (0, 1): 1.0, (1, 1): 4.0}
    >>> round(oracle.normaliser(A), 6), round(sum(q.values()) + q[0, 1], 6)
    (29.25, 29.25)
    >>> draws = oracle.sample_distinct(A, 5, np.random.RandomState(0))
    >>> bool(np.allclose(draws.probabilities, [q[atom] / 28.25 for atom in draws.atoms]))
    True
    """

    def __init__(
        self,
        parts: Parts,
        base: list[Fitted],
        names: list[str],
        degree: int,
        rho: Array,
        *,
        columns: list[Columns] | None = None,
        exponent: float = 0.0,
        weight: Array | None = None,
        interactions_only: bool = False,
        room: float = np.inf,
        groups: Groups | None = None,
        base_prior: Array | None = None,
        own: Callable[[Product], float] | None = None,
    ) -> None:
        self.room, self.groups, self.own = room, groups, own
        self.base_prior = np.ones(parts.r) if base_prior is None else base_prior
        self.parts, self.base, self.names, self.columns = parts, base, names, columns
        self.degree_limit = min(degree, parts.r) if interactions_only else degree
        self.prior = np.asarray(rho, dtype=float)[: self.degree_limit + 1] ** -2.0
        self.exponent, self.weight, self.interactions_only = exponent, weight, interactions_only
        self.counts = [self._count(d) for d in range(self.degree_limit + 1)]
        self.n, self.size = parts.n, float(sum(self.counts))
        self.rank_one = isinstance(parts, FactorParts)
        self._enumerator: Monomials | Hadamard | None = None
        self._sampler: Sampler | None = None
        self._beam: Beam | None = None
        self._against: Against | None = None

    def _count(self, d: int) -> int:
        """Return how many products of degree d there are."""
        return math.comb(self.parts.r, d) if self.interactions_only else math.comb(self.parts.r + d - 1, d)

    # -- single products ------------------------------------------------------------------------
    def name(self, atom: Atom) -> str:
        z = _product(atom)
        powers = [(self.names[j], len(list(run))) for j, run in itertools.groupby(z)]
        if len(powers) == 1 and powers[0][1] == 1:
            return powers[0][0]
        factors = [(f"({name})" if ": " in name or "·" in name else name, m) for name, m in powers]
        return " · ".join(name + (str(m).translate(_POWERS) if m > 1 else "") for name, m in factors) or "1"

    def degree(self, atom: Atom) -> int:
        """Return the number of factors of a product.

        Parameters
        ----------
        atom : Atom
            The product.

        Returns
        -------
        int
            The number of factors.
        """
        return len(_product(atom))

    def describe(self, atom: Atom) -> dict[str, Any]:
        """Describe a product for a table.

        Parameters
        ----------
        atom : Atom
            The product.

        Returns
        -------
        dict of str to object
            Its name and degree.
        """
        return {"product": self.name(atom), "degree": self.degree(atom)}

    def kernel(self, atom: Atom) -> Fitted:
        z = _product(atom)
        runs = [(j, len(list(run))) for j, run in itertools.groupby(z)]
        scale = float(self.scales([z])[0]) * math.prod(float(self.base_prior[j]) for j in z)
        product: Kernel
        if self.columns is not None:
            product = Monomial([self.columns[j] for j, _ in runs], [m for _, m in runs])
            scale *= math.prod(self.base[j].scale_ for j in z)
        elif not runs:
            product = Constant()
        else:
            factors: list[Kernel] = [self.base[j] if m == 1 else Power(self.base[j], m) for j, m in runs]
            product = factors[0] if len(factors) == 1 else ProductKernel(factors)
        fitted = Fitted.from_constants(product, scale)
        fitted.name = self.name(z)
        return fitted if runs else fitted.as_member(role="empty product")

    def scales(self, products: Sequence[Product]) -> Array:
        """Compute the scales s_z of products.

        Parameters
        ----------
        products : sequence of tuple of int
            The products, as positions of their factors.

        Returns
        -------
        ndarray of shape (n_products,)
            The scales; 0 for products that are zero on all samples and cannot be scaled to unit size.
        """
        s = self.prior[[len(z) for z in products]]
        if self.exponent != 0.0:
            s = s * np.array([orders(z) for z in products]) ** self.exponent
        if self.own is not None:
            s = s / np.array([self.own(z) for z in products]) ** 2
        if self.weight is not None:
            size = self.parts.mean_diagonals(products, self.weight)
            s = np.divide(s, size, out=np.zeros_like(s), where=size > 0.0)
        if self.groups is not None:
            s = np.where([is_excluded(self.groups, z) for z in products], 0.0, s)
        return s

    def atoms(self) -> Iterator[Product]:
        """All products, by degree and then in order; for families small enough to list."""
        choose: Any = (
            itertools.combinations if self.interactions_only else itertools.combinations_with_replacement
        )
        for d in range(self.degree_limit + 1):
            for z in choose(range(self.parts.r), d):
                if not is_excluded(self.groups, z):
                    yield z

    # -- what solvers ask -----------------------------------------------------------------------
    def gram(self, atoms: Sequence[Atom]) -> Gram:
        products = [_product(atom) for atom in atoms]
        gram = self.parts.gram(products, self.scales(products))
        gram.names = LazyNames(products, self.name)
        return gram

    def quad(self, A: Array, atoms: Sequence[Atom]) -> Array:
        products = [_product(atom) for atom in atoms]
        if not products:
            return np.zeros(0)
        q = self.parts.quad(self.parts.point(A), products)
        return np.maximum(q, 0.0) * self.scales(products)

    def best(self, A: Array, k: int) -> Best:
        if self.enumerable:
            atoms, values = self._of_family(*self.enumerator.best(A, k))
            return Best(list(atoms), values, float(values[0]))
        self._require_answer("best")
        assert isinstance(self.parts, FactorParts)
        if self._beam is None:
            options = {**self._options(), "budget": self._budget, "room": self.room}
            self._beam = Beam(self.parts.X, self.degree_limit, **options)
        atoms, values, upper = self._beam.best(A, k)
        atoms, values = self._of_family(atoms, values)
        return Best(list(atoms), values, upper)

    def _require_answer(self, question: str) -> None:
        if self.offers(question):
            return
        what = "products of matrices" if self.own is None else "products, each with a rho of its own"
        raise ValueError(
            f"This family holds {self.size:.3g} {what}, more than can be looked at one by one. Lower the "
            "degree, use fewer base kernels, or solver='stochastic', which draws products."
        )

    def best_against(self, S: Array | LowRank, k: int, shrinkage: float = 0.0) -> Best:
        """Every product, where they are few enough to be looked at one by one; there is nothing to shrink.

        Of more products of columns those with the largest ⟨K_z, S₊⟩ are looked at, S₊ what is positive of S,
        whose bound is one on ⟨K_z, S⟩, if the search has one.
        """
        self._require_answer("best_against")
        if not self.rank_one:
            assert isinstance(self.enumerator, Hadamard)
            dense = S.dense() if isinstance(S, LowRank) else S
            atoms, values = self._of_family(*self.enumerator.best_against(dense, k))
            return Best(list(atoms), values, float(values[0]))
        low = S if isinstance(S, LowRank) else LowRank.of(S)
        if not self.enumerable:
            return self._some_against(low, k)
        if self._against is None:
            assert isinstance(self.enumerator, Monomials)
            self._against = Against(self.enumerator, self.size, self.room)
        more = k if self.groups is None else k + _EXCLUDED
        atoms, values = self._of_family(*self._against.best(low, more))
        return Best(list(atoms[:k]), values[:k], max(float(values[0]), 0.0))

    def _some_against(self, S: LowRank, k: int) -> Best:
        low = LowRank.of(S.dense()) if S.identity != 0.0 else S
        up, down = (low.U[:, sign * low.w > 0] * np.sqrt(np.abs(low.w[sign * low.w > 0])) for sign in (1, -1))
        found = self.best(up, max(k, _LOOKED_AT))
        values = found.values - (self.quad(down, found.atoms) if down.size else 0.0)
        order = np.argsort(-values, kind="stable")[:k]
        return Best([found.atoms[i] for i in order], values[order], found.upper)

    def _of_family(self, atoms: list[Product], values: Array) -> tuple[list[Product], Array]:
        """Keep the products that are in the family, of which there always is one: the constant."""
        kept = [i for i, z in enumerate(atoms) if not is_excluded(self.groups, z)]
        if len(kept) == len(atoms):
            return atoms, values
        return ([atoms[i] for i in kept], values[kept]) if kept else ([()], np.zeros(1))

    def total(self, A: Array, r: float) -> float | None:
        """‖q‖_r: in closed form for r = 1 where scales allow it, else by looking at all products."""
        plain = self.weight is None and self.groups is None and self.own is None
        if r == 1.0 and plain and (self.interactions_only or self.exponent in (0.0, 1.0)):
            return float(self._by_degree(A, self._kind(self.exponent == 0.0)).sum())
        if not self.enumerable:
            return super().total(A, r) if r == np.inf and self.offers("best") else None
        return super().total(A, r) if r == np.inf else self.enumerator.power_sum(A, r) ** (1.0 / r)

    def diagonal(self, r: float = np.inf) -> Array | None:
        """At r = ∞ max_d ρ_d⁻² g_i^d with g_i = max_j K_j(x_i, x_i), or with products of the d largest."""
        if r != np.inf or self.exponent != 0.0 or self.weight is not None or self.own is not None:
            return super().diagonal(r)
        D, degrees = self.parts.diagonals(), range(self.prior.size)
        if self.interactions_only:
            largest = np.cumprod(-np.sort(-D, axis=1)[:, : self.degree_limit], axis=1)
            powers = np.column_stack([np.ones(self.n), largest])
        else:
            powers = D.max(axis=1)[:, None] ** np.array(degrees)
        return np.asarray((powers * self.prior).max(axis=1))

    def offers(self, question: str) -> bool:
        """Tell whether a question is answered.

        Draws by the gradient need sums over all products, which scales of each product forbid. Products of
        matrices are looked at one by one, or not at all.
        """
        if question in ("sample", "sample_against"):
            return self.weight is None
        searched = self.rank_one and self.own is None  # beyond what can be listed, by a beam
        asked = question in ("best", "best_against")
        return searched or self.enumerable if asked else super().offers(question)

    # -- draws ----------------------------------------------------------------------------------
    def sample(self, A: Array, size: int, rng: np.random.RandomState, spread: float = 1.0) -> Draws:
        """Draw products z with the probability c_z q°_z / normaliser(A), q° without c_z and own_z.

        See Afkanpour (2013), Alg. 3. With `interactions_only` all products of a degree have the same c_z, and
        draws are exactly in proportion to q_z.
        """
        return self._draws(self.parts.point(A), size, self._kind(distinct=False), rng)

    def sample_against(self, Q: Array, size: int, rng: np.random.RandomState) -> Draws:
        return self._draws(self.parts.point_against(Q), size, self._kind(distinct=False), rng)

    def sample_distinct(self, A: Array, size: int, rng: np.random.RandomState) -> Draws:
        """Draw products z with the probability q°_z / Σ_z q°_z: by q_z for ``multiplicity="distinct"``.

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.
        size : int
            Number of draws.
        rng : RandomState
            Source of random numbers.

        Returns
        -------
        Draws
            The products and their probabilities.
        """
        return self._draws(self.parts.point(A), size, self._kind(distinct=True), rng)

    def sample_uniform(self, size: int, rng: np.random.RandomState) -> Draws:
        drawn = draw_uniformly(self.parts.r, self.counts, self.interactions_only, size, rng)
        return Draws(list(drawn), np.full(size, 1.0 / self.size))

    def normaliser(self, A: Array) -> float:
        """Compute Σ_z c_z q°_z over the family, which `sample` divides by.

        Afkanpour (2013) calls it C_{k−1} = Σ_d δ(d).

        Parameters
        ----------
        A : ndarray of shape (n, k)
            Dual points, one in each column.

        Returns
        -------
        float
            The sum.
        """
        self._require_no_atom_scale()
        return float(self._by_degree(A, self._kind(distinct=False)).sum())

    def _by_degree(self, A: Array, kind: str) -> Array:
        return self.sampler.by_degree(self.parts.point(A), kind)

    def _kind(self, distinct: bool) -> str:
        return "sets" if self.interactions_only else "multisets" if distinct else "orders"

    def _draws(self, point: Array, size: int, kind: str, rng: np.random.RandomState) -> Draws:
        self._require_no_atom_scale()
        totals = self.sampler.totals(point, kind)
        normaliser = float(totals.sum())
        if not normaliser > 0.0:
            return self.sample_uniform(size, rng)
        drawn = self.sampler.draw(point, totals, size, kind, rng)
        products, counts = list(drawn), list(drawn.values())
        q = self.parts.quad(point, products) * self.sampler.prior[[len(z) for z in products]]
        if kind == "orders":
            q *= np.array([orders(z) for z in products])
        which = rng.permutation(np.repeat(np.arange(len(products)), counts))
        return Draws([products[i] for i in which], (q / normaliser)[which])

    def _require_no_atom_scale(self) -> None:
        if self.weight is not None:
            raise ValueError(
                "Products(atom_scale='rms') scales every product by itself, so that sums over all of them, "
                "which drawing by the gradient needs, are not known. Give atom_scale=None, draw uniformly "
                "(Stochastic(sampling='uniform')), or use solver='corrective' or 'greedy'."
            )

    @property
    def sampler(self) -> Sampler:
        """Draws by the gradient. Sets of d factors all have d! orders: a matter of the degree alone."""
        if self._sampler is None:
            prior = self.prior
            if self.interactions_only:
                prior = prior * np.array([math.factorial(d) for d in range(prior.size)]) ** self.exponent
            self._sampler = Sampler(self.parts, prior)
        return self._sampler

    # -- looking at all products ----------------------------------------------------------------
    @property
    def enumerable(self) -> bool:
        """True if looking at every product is affordable."""
        if isinstance(self.parts, FactorParts):
            return self.size <= self._budget
        return self.size <= min(_ENUMERABLE_MATRICES * (500.0 / self.n) ** 2, self._budget)

    @property
    def _budget(self) -> float:
        """Return how many products of columns are looked at one by one; scales are kept, 4 bytes each."""
        if self.own is not None:
            return min(_OWN, self.room / 8.0)
        scaled = self.weight is not None or self.exponent != 0.0 or self.groups is not None
        return min(_ENUMERABLE, self.room / 4.0) if scaled else _ENUMERABLE

    @property
    def enumerator(self) -> Monomials | Hadamard:
        """Looks at every product, up to the degree of the family."""
        if self._enumerator is None:
            if isinstance(self.parts, FactorParts):
                self._enumerator = self.parts.monomials(self.degree_limit, room=self.room, **self._options())
            else:
                assert isinstance(self.parts, StackParts)
                self._enumerator = Hadamard(self.parts, self.degree_limit, **self._options())
        return self._enumerator

    def _options(self) -> dict[str, Any]:
        """The scales s_z, for those who look at many products."""
        return {
            "scale": self.prior,
            "exponent": self.exponent,
            "weight": self.weight,
            "interactions_only": self.interactions_only,
            **({} if self.groups is None else {"groups": self.groups}),
            **({} if self.own is None else {"own": self.own}),
        }

    @property
    def work(self) -> float:
        entries = self.n if self.rank_one else self.n**2 / 2
        return min(self.size, _ENUMERABLE) * entries


def orders(product: Product) -> float:
    """c_z = d!/Π_j m_j!: in how many orders the factors of a product can be written."""
    repeats = [math.factorial(len(list(run))) for _, run in itertools.groupby(product)]
    return float(math.factorial(len(product)) // math.prod(repeats))


def _product(atom: Atom) -> Product:
    assert isinstance(atom, tuple)
    return atom
