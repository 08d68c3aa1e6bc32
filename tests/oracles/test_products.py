"""Products bound to data: their kernels, names, scales and quadratic forms, and what is refused."""

import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from tests.oracles.naive import all_products, base_matrices, data, matrix, oracle_of, orders, scale

from manykernels.families import Products, rank_one
from manykernels.grams import FactorGram, StackGram
from manykernels.kernels import Callable, Gaussian, Linear, OnColumns, Precomputed
from manykernels.oracles import _hadamard, build_oracle, products
from manykernels.oracles.products import orders as counted_orders
from manykernels.penalties import L2Ball, LpBall, Simplex

RHO = [0.7, 1.0, 1.5, 0.8]
KINDS = ["features", "gaussians"]
OPTIONS = [
    {},
    {"rho": RHO},
    {"multiplicity": "paper"},
    {"multiplicity": "paper", "rho": RHO, "atom_scale": "rms"},
    {"atom_scale": "rms"},
]
NAMED = pd.DataFrame(data(n=10, r=3)[0], columns=["age", "height", "blood pressure"])


def bind(family, X, **options):
    return build_oracle(family, X, **{"normalize": "trace", **options})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("interactions_only", [False, True])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_product_is_what_it_says(kind, options, interactions_only, weighted):
    """quad, gram, kernel, best and total of a family against its matrices."""
    X, A = data(outputs=2)
    w = np.random.RandomState(1).randint(1, 4, len(X)).astype(float) if weighted else None
    oracle = oracle_of(kind, X, degree=3, sample_weight=w, interactions_only=interactions_only, **options)
    bases = base_matrices(kind, X, w)
    atoms = all_products(4, 3, interactions_only)
    settings = {"rho": None, **options}
    K = [scale(z, bases, sample_weight=w, **settings) * matrix(bases, z) for z in atoms]
    q = np.array([np.sum((A @ A.T) * Kz) for Kz in K])
    assert list(oracle.atoms()) == atoms and oracle.size == len(atoms)
    assert oracle.rank_one is (kind == "features")
    np.testing.assert_allclose(oracle.quad(A, atoms), q, rtol=1e-11)
    gram = oracle.gram(atoms)
    np.testing.assert_allclose(gram.quad(A).sum(axis=1), q, rtol=1e-11)
    np.testing.assert_allclose(gram.combine(q), np.einsum("m,mij->ij", q, K), rtol=1e-11, atol=1e-9)
    for z, Kz in zip(atoms, K, strict=True):
        np.testing.assert_allclose(oracle.kernel(z)(X), Kz, rtol=1e-11, atol=1e-13)
    best = oracle.best(A, 6)
    order = np.argsort(-q)[:6]
    assert best.atoms == [atoms[i] for i in order]
    np.testing.assert_allclose(best.values, q[order], rtol=1e-11)
    assert best.upper == pytest.approx(q.max(), rel=1e-11)
    for r in (1.0, 1.5, 2.0, np.inf):
        assert oracle.total(A, r) == pytest.approx(np.linalg.norm(q, r), rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_enumeration_at_other_degrees_and_in_small_parts(kind, degree, monkeypatch):
    """Prefixes of several factors, and tables that are put together from parts."""
    monkeypatch.setattr(_hadamard, "_WORK", 1)
    monkeypatch.setattr(_hadamard, "_PAIR_ROWS", 2)
    X, A = data(n=15, r=3)
    oracle = oracle_of(kind, X, degree=degree, multiplicity="paper", atom_scale="rms")
    atoms, bases = all_products(3, degree), base_matrices(kind, X)
    s = [scale(z, bases, None, multiplicity="paper", atom_scale="rms") for z in atoms]
    q = np.array([c * np.sum((A @ A.T) * matrix(bases, z)) for c, z in zip(s, atoms, strict=True)])
    best = oracle.best(A, len(atoms))
    assert dict(zip(best.atoms, best.values, strict=True)) == pytest.approx(
        dict(zip(atoms, q, strict=True)), rel=1e-10
    )
    assert oracle.total(A, 2.0) == pytest.approx(np.linalg.norm(q), rel=1e-10)


@pytest.mark.parametrize("norm", [1.0, 4 / 3, 2.0, math.inf, LpBall(2.0), Simplex()])
def test_multiplicities_scale_by_the_norm(norm):
    """At p = 1 the paper's problem is the one that counts each product once; at p = ∞ it sums all orders."""
    X, A = data()
    paper, distinct = (
        oracle_of("features", X, norm=norm, degree=3, multiplicity=m) for m in ("paper", "distinct")
    )
    atoms = list(paper.atoms())
    p = getattr(norm, "p", norm)
    c = np.array([orders(z) for z in atoms]) ** (1.0 - 1.0 / p)
    np.testing.assert_allclose(paper.quad(A, atoms), c * distinct.quad(A, atoms), rtol=1e-12)
    assert [counted_orders(z) for z in atoms] == [orders(z) for z in atoms]
    if p == math.inf:
        assert paper.total(A, 1.0) == pytest.approx(paper.normaliser(A), rel=1e-12)


def test_scaled_products_have_a_mean_diagonal_of_one():
    X, _ = data()
    for kind in KINDS:
        oracle = oracle_of(kind, X, degree=3, atom_scale="rms")
        means = [oracle.kernel(z).diag(X).mean() for z in oracle.atoms()]
        np.testing.assert_allclose(means, 1.0, rtol=1e-12)


def test_products_that_are_zero_stay_zero():
    X = np.repeat(np.eye(3), 3, axis=0)
    for base in ("features", [OnColumns(Linear(), [0, 1]), OnColumns(Linear(), 2)]):
        oracle = bind(Products(base, degree=2, atom_scale="rms"), X)
        A = np.random.RandomState(0).randn(9, 1)
        atoms = list(oracle.atoms())
        q = oracle.quad(A, atoms)
        assert oracle.quad(A, [(0, 1)])[0] == 0.0 and np.all(np.isfinite(q))
        assert np.all(oracle.kernel((0, 1))(X) == 0.0)
        assert oracle.best(A, len(atoms)).values == pytest.approx(np.sort(q)[::-1], rel=1e-12)


@pytest.mark.parametrize("normalize", ["trace", "max", "frobenius", "cosine", None])
@pytest.mark.parametrize("kind", KINDS)
def test_base_kernels_are_normalised_and_kept_for_new_data(kind, normalize):
    X, _ = data(n=14)
    train, new = X[:10], X[10:]
    oracle = oracle_of(kind, train, degree=3, normalize=normalize)
    single = [oracle.kernel((j,)) for j in range(4)]
    diagonals = np.array([np.diag(kernel(train)) for kernel in single])
    if normalize in ("trace", "cosine"):
        np.testing.assert_allclose(diagonals.mean(axis=1), 1.0)
    elif normalize == "max":
        np.testing.assert_allclose(diagonals.max(axis=1), 1.0)
    elif normalize == "frobenius":
        np.testing.assert_allclose([np.linalg.norm(kernel(train)) for kernel in single], 1.0)
    product = oracle.kernel((1, 1, 3))
    wanted = single[1](new, train) ** 2 * single[3](new, train)
    np.testing.assert_allclose(product(new, train), wanted, rtol=1e-12)
    K = oracle.gram([(1, 1, 3)]).combine(np.ones(1))
    np.testing.assert_allclose(K, product(train), rtol=1e-12, atol=1e-15)


class TestNames:
    def test_columns(self):
        oracle = bind(Products(degree=11), NAMED)
        names = [oracle.name(z) for z in [(), (0,), (1, 1), (0, 1), (0, 2, 2), (1,) * 11]]
        assert names == ["1", "age", "height²", "age · height", "age · blood pressure²", "height¹¹"]
        assert oracle.kernel((0, 2, 2)).label == "age · blood pressure²"
        assert list(oracle.gram([(0, 1)]).names) == ["age · height"]
        assert oracle.describe((0, 2, 2)) == {"product": "age · blood pressure²", "degree": 3}
        assert bind(Products(), NAMED.to_numpy()).name((0, 2)) == "x0 · x2"
        assert bind(Products(), NAMED.to_numpy(), feature_names=["a", "b", "c"]).name((1, 2)) == "b · c"

    def test_kernels(self):
        base = [OnColumns(Gaussian(1.0), "age"), OnColumns(Gaussian(2.0), "height", name="tall")]
        oracle = bind(Products(base), NAMED)
        assert oracle.name((0,)) == "age: Gaussian(width=1)"
        assert oracle.name((0, 1)) == "(age: Gaussian(width=1)) · tall"
        assert bind(Products({"a": base[0], "b": base[1]}), NAMED).name((0, 0)) == "a²"


class TestData:
    def test_frames_and_sparse_matrices(self):
        X, A = data(n=10, r=3)
        wanted = bind(Products(degree=3), X)
        atoms = list(wanted.atoms())
        frames = [
            pd.DataFrame(X, columns=list("abc")),
            pl.DataFrame({name: x.tolist() for name, x in zip("abc", X.T, strict=True)}),
            sparse.csr_array(X),
            X.tolist(),
        ]
        for given in frames:
            given = np.array(given) if isinstance(given, list) else given
            oracle = bind(Products(degree=3), given)
            np.testing.assert_allclose(oracle.quad(A, atoms), wanted.quad(A, atoms), rtol=1e-12)
            K = oracle.kernel((0, 1, 1))(given)
            np.testing.assert_allclose(K, wanted.kernel((0, 1, 1))(X), rtol=1e-12)

    def test_linear_kernels_on_single_columns_are_of_rank_one(self):
        A = data(n=10)[1]
        whole = bind(Products(degree=2), NAMED)
        by_name = [OnColumns(Linear(), "height"), OnColumns(Linear(), 0), OnColumns(Linear(), ["age"])]
        for base, wanted in ((by_name, [(1,), (0,), (0,), (0, 1)]), (rank_one(), [(0,), (1,), (2,), (0, 1)])):
            oracle = bind(Products(base, degree=2), NAMED)
            assert oracle.rank_one and isinstance(oracle.gram([(0,)]), FactorGram)
            found = oracle.quad(A, [(0,), (1,), (2,), (0, 1)])
            np.testing.assert_allclose(found, whole.quad(A, wanted), rtol=1e-12)
            np.testing.assert_allclose(oracle.kernel((0, 1))(NAMED), whole.kernel((0, 1))(NAMED), rtol=1e-12)
        mixed = bind(Products([OnColumns(Linear(), 0), Gaussian(1.0)], degree=2), NAMED)
        assert not mixed.rank_one and isinstance(mixed.gram([(0,)]), StackGram)

    def test_stacks_of_given_kernels(self):
        X, A = data(n=10, r=3)
        stack = np.stack(base_matrices("gaussians", X), axis=2)
        wanted = oracle_of("gaussians", X, degree=2)
        for base in ("precomputed", [Precomputed(0), Precomputed(1), Precomputed(2)]):
            oracle = bind(Products(base, degree=2), stack)
            atoms = list(oracle.atoms())
            np.testing.assert_allclose(oracle.quad(A, atoms), wanted.quad(A, atoms), rtol=1e-12)
            K = oracle.kernel((0, 1))(stack[:4])
            np.testing.assert_allclose(K, wanted.kernel((0, 1))(X[:4], X), rtol=1e-12)

    def test_what_is_given_is_left_as_it_is(self):
        X, A = data()
        stack = np.stack(base_matrices("gaussians", X), axis=2)
        for family, given in ((Products(), X), (Products("precomputed"), stack)):
            before = given.copy()
            bind(family, given).best(A, 2)
            np.testing.assert_array_equal(given, before)


class TestBadInput:
    X, A = data()

    @pytest.mark.parametrize("degree", [0, -1, 1.5, "2", None, True])
    def test_degree(self, degree):
        with pytest.raises(
            ValueError, match=r"degree=.* was given to Products; expected a whole number, at least 1"
        ):
            bind(Products(degree=degree), self.X)

    @pytest.mark.parametrize("rho", [[1.0, 2.0], [1.0, 1.0, 0.0], [1.0, -1.0, 1.0], [1.0, np.inf, 1.0], 2.0])
    def test_rho(self, rho):
        with pytest.raises(ValueError, match=r"rho=.*degree=2\); expected 3 positive numbers"):
            bind(Products(degree=2, rho=rho), self.X)

    def test_options(self):
        with pytest.raises(
            ValueError, match="multiplicity='all' was given to Products; expected 'distinct' or 'paper'"
        ):
            bind(Products(multiplicity="all"), self.X)
        with pytest.raises(
            ValueError, match="atom_scale='max' was given to Products; expected None or 'rms'"
        ):
            bind(Products(atom_scale="max"), self.X)
        with pytest.raises(
            ValueError, match=r"base=\[\] was given to Products; expected at least one kernel"
        ):
            bind(Products([]), self.X)
        with pytest.raises(ValueError, match="base='columns' was given to Products; expected 'features'"):
            bind(Products("columns"), self.X)
        with pytest.raises(ValueError, match=r"norm=L2Ball.*multiplicity='paper'.*number p"):
            bind(Products(multiplicity="paper"), self.X, norm=L2Ball())

    def test_options_are_stored_as_given_and_may_be_set(self):
        family = Products("features", degree="3", rho=(1, 2))
        assert clone(family).get_params() == family.get_params()
        assert family.set_params(degree=3, rho=None).options()[0] == 3

    def test_indefinite_kernels(self):
        distance = Callable(lambda X, Y: -np.abs(X[:, :1] - Y[:, 0]) - 1.0)
        sigmoid = Callable(lambda X, Y: np.tanh(X @ Y.T + 2.0))
        for kernel in (distance, sigmoid, OnColumns(sigmoid, [0, 1])):
            with pytest.raises(ValueError, match="not positive semi-definite"):
                bind(Products([kernel, Gaussian(1.0)]), self.X)
        definite = Callable(lambda X, Y: np.exp(X @ Y.T))
        assert bind(Products([definite, Gaussian(1.0)]), self.X).size == 6

    def test_constant_columns_are_left_out(self):
        frame = NAMED.assign(one=1.0, zero=0.0)[["one", "age", "zero", "height"]]
        with pytest.warns(UserWarning, match=r"Column 'one', 'zero' is the same for all samples.*left out"):
            oracle = bind(Products(), frame)
        assert oracle.name((0, 1)) == "age · height" and oracle.size == 6
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of prepared columns, which are not the user's, nothing is said
            assert bind(Products(scale=True), frame).size == 6
        np.testing.assert_allclose(
            oracle.kernel((0, 1))(frame), bind(Products(), NAMED).kernel((0, 1))(NAMED), rtol=1e-12
        )
        with pytest.raises(ValueError, match=r"Columns 'one', 'zero' are the same for all samples"):
            bind(Products(), frame[["one", "zero"]])
        with pytest.warns(UserWarning, match="Kernel 'one: Gaussian"):
            base = [OnColumns(Gaussian(1.0), name) for name in ("one", "age")]
            assert bind(Products(base), frame).names == ["age: Gaussian(width=1)"]

    def test_columns_that_vary_in_samples_without_weight_only(self):
        X = self.X.copy()
        X[:, 1] = 3.0
        X[0, 1] = 5.0
        w = np.ones(len(X))
        w[0] = 0.0
        with pytest.warns(UserWarning, match="Column 'x1'"):
            bind(Products(), X, sample_weight=w)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            bind(Products(), X)

    def test_powers_that_hide_everything_else(self):
        X = np.random.RandomState(0).randn(60, 2)
        with pytest.raises(ValueError, match=r"degree 50 are up to .* times as large .*atom_scale='rms'"):
            bind(Products(degree=50), X)
        assert bind(Products(degree=50, atom_scale="rms"), X).degree_limit == 50

    def test_products_that_overflow(self):
        X = self.X * np.array([1.0, 1e40, 1.0, 1.0])
        with pytest.raises(ValueError, match=r"Column 'x1' reaches .*degree 3 overflow\. Scale the data"):
            bind(Products(degree=3), X, normalize=None)
        assert np.isfinite(bind(Products(degree=3), X).quad(self.A, [(1, 1, 1)])).all()
        base = [OnColumns(Linear(), [0, 1]), Gaussian(1.0)]
        with pytest.raises(ValueError, match=r"Kernel 'x0, x1: Linear' reaches .* overflow"):
            bind(Products(base, degree=3), X, normalize=None)

    def test_what_is_not_a_number(self):
        with pytest.raises(ValueError, match="Column 'x2' holds NaN or infinity"):
            bind(Products(), np.where(np.arange(4) == 2, np.nan, self.X))
        with pytest.raises(ValueError, match="Column 'city' does not hold numbers"):
            bind(Products(), NAMED.assign(city="x"))

    def test_memory(self):
        with pytest.raises(MemoryError, match="hold the columns densely"):
            bind(Products(), sparse.csr_array((300, 10_000)), memory_limit="10MB")
        X = np.random.RandomState(0).randn(300, 20)
        base = [OnColumns(Gaussian(1.0), j) for j in range(20)]
        with pytest.raises(MemoryError, match="need all of them in memory"):
            bind(Products(base), X, memory_limit="10MB")


def test_families_without_end_are_counted_and_drawn_from():
    X = np.random.RandomState(0).randn(20, 1000)
    oracle = bind(Products(degree=5), X)
    assert oracle.size == math.comb(1005, 5) and not oracle.enumerable
    A = np.random.RandomState(1).randn(20, 1)
    draws = oracle.sample(A, 4, np.random.RandomState(2))
    q = oracle.quad(A, draws.atoms)
    c = np.array([orders(z) for z in draws.atoms])
    np.testing.assert_allclose(draws.probabilities, c * q / oracle.normaliser(A), rtol=1e-10)
    assert oracle.total(A, 2.0) is None


def test_families_beyond_enumeration_are_searched(monkeypatch):
    monkeypatch.setattr(products, "_ENUMERABLE", 10.0)
    monkeypatch.setattr(products, "_ENUMERABLE_MATRICES", 1e-9)
    X, A = data()
    oracle = oracle_of("features", X, degree=3, atom_scale="rms")
    best = oracle.best(A, 4)
    q = oracle.quad(A, list(oracle.atoms()))
    np.testing.assert_allclose(best.values, oracle.quad(A, best.atoms), rtol=1e-10)
    assert best.upper >= q.max() * (1 - 1e-12)
    matrices = oracle_of("gaussians", X, degree=3)
    with pytest.raises(ValueError, match=r"holds 35 products of matrices.*solver='stochastic'"):
        matrices.best(A, 1)
    assert matrices.total(A, 2.0) is None and matrices.total(A, np.inf) is None


def test_interactions_end_with_the_base():
    X, A = data(r=2)
    oracle = oracle_of("features", X, degree=5, interactions_only=True, rho=[1, 1, 0.3, 4, 5, 6])
    assert list(oracle.atoms()) == [(), (0,), (1,), (0, 1)] and oracle.size == 4
    assert len(oracle.best(A, 10).atoms) == 4
    assert set(oracle.sample(A, 500, np.random.RandomState(0)).atoms) == set(oracle.atoms())


def test_looking_at_all_products_of_matrices_needs_little_beside_them():
    """A product of degree 3 of 24 kernels on 120 samples: 2,600 matrices, of which none is kept."""
    X = np.random.RandomState(0).randn(120, 24)
    oracle = oracle_of("gaussians", X, degree=3)
    A = np.random.RandomState(1).randn(120, 1)
    oracle.enumerator  # noqa: B018
    tracemalloc.start()
    oracle.best(A, 10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 24 * 120 * 120 * 8 * 4
