"""Every exported family, and what a user may give as ``kernels``."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import manykernels.families as package
from manykernels.families import (
    DAG,
    AnovaDAG,
    ARDGaussians,
    Auto,
    Dirichlets,
    Family,
    FromDistances,
    Gaussians,
    Laplacians,
    Parametric,
    PerFeature,
    PolynomialDAG,
    Products,
    RankOne,
    Views,
    from_distances,
    gaussian_grid,
    per_feature,
    rank_one,
    resolve_kernels,
    views,
)
from manykernels.kernels import (
    Constant,
    Gaussian,
    Kernel,
    Linear,
    Spectrum,
)

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
FRAME = pd.DataFrame(X, columns=["age", "height", "weight"])
WORDS = ["".join(rng.choice(list("acgt"), size=8)) for _ in range(30)]
MIXED = FRAME.assign(dna=WORDS)
STACK = np.abs(rng.normal(size=(5, 5, 2)))


def to_polars(frame):
    return pl.DataFrame({name: frame[name].tolist() for name in frame.columns})


FAMILIES = [
    (Auto(), X, 9),
    (from_distances([0.5, 1.0, 2.0]), STACK, 6),
    (per_feature(), X, 13 * 4),
    (rank_one(), X, 3),
    (views({"body": [1, 2], "age": (0, Gaussian(2.0))}), X, 10),
    (DAG({"smooth": (Gaussian(3.0), []), "rough": (Gaussian(1.0), ["smooth"])}), X, 2),
]
UNLISTED = [
    Products(),
    Gaussians(0.1, 10.0),
    ARDGaussians(),
    Dirichlets(0.1, 9.0, degree=2),
    Laplacians(),
    PolynomialDAG(),
    AnovaDAG(),
]


def test_every_exported_family_is_covered():
    exported = {value for name in package.__all__ if isinstance(value := getattr(package, name), type)}
    assert exported - {Family, Parametric} == {
        type(family) for family in [f for f, _, _ in FAMILIES] + UNLISTED
    }


@pytest.mark.parametrize(("family", "data", "size"), FAMILIES)
def test_contract(family, data, size):
    for copy in (family, clone(family)):
        kernels = copy.resolve(data)
        assert len(kernels) == size
        assert all(isinstance(name, str) for name in kernels)
        for kernel in kernels.values():
            assert isinstance(kernel, Kernel)
            assert np.all(np.isfinite(kernel(data)))
    assert list(resolve_kernels(family, data)) == list(kernels)
    assert family.factors is isinstance(family, RankOne)
    assert repr(family)


@pytest.mark.parametrize("family", UNLISTED)
def test_families_too_large_to_list_say_who_can_serve_them(family):
    for given in (family, clone(family), [Gaussian(1.0), family], {"all": family}):
        with pytest.raises(ValueError, match=r"more kernels than can be listed.*solver="):
            resolve_kernels(given, X)
    with pytest.raises(ValueError, match=r"View 'body': .*more kernels than can be listed"):
        resolve_kernels(views({"body": ([0, 1], family)}), X)


def test_a_family_of_ones_own_must_resolve():
    with pytest.raises(NotImplementedError, match="must define resolve"):
        Family().resolve(X)


class TestGrids:
    def test_gaussian_grid(self):
        widths = [kernel.width for kernel in gaussian_grid(0.1, 10.0, 5)]
        np.testing.assert_allclose(widths, np.geomspace(0.1, 10.0, 5))
        assert [kernel.width for kernel in gaussian_grid(2.0, 2.0, 1)] == [2.0]
        assert type(widths[0]) is float

    @pytest.mark.parametrize(
        "arguments", [(0.0, 1.0, 3), (2.0, 1.0, 3), (1.0, np.inf, 3), (1.0, 2.0, 0), (1.0, 2.0, 1.5)]
    )
    def test_bad_grids(self, arguments):
        with pytest.raises(ValueError, match=r"was given|were given"):
            gaussian_grid(*arguments)

    def test_from_distances(self):
        kernels = from_distances([0.5, 2.0], n_layers=2).resolve(STACK)
        assert list(kernels)[:3] == ["distance 0: γ=0.5", "distance 0: γ=2", "distance 1: γ=0.5"]
        np.testing.assert_allclose(kernels["distance 1: γ=0.5"](STACK), np.exp(-0.5 * STACK[:, :, 1]))
        assert isinstance(from_distances([1.0]), FromDistances)
        assert len(from_distances([1.0, 1.0 + 1e-12]).resolve(STACK)) == 4

    def test_bad_stacks(self):
        with pytest.raises(ValueError, match=r"shape \(n_samples, n_train, 3\), got X of shape \(5, 5, 2\)"):
            from_distances([1.0], n_layers=3).resolve(STACK)
        with pytest.raises(ValueError, match="stack of distances"):
            from_distances([1.0]).resolve(X)
        with pytest.raises(ValueError, match="no gammas"):
            from_distances([]).resolve(STACK)


class TestPerFeature:
    def test_is_simplemkls_protocol(self):
        kernels = per_feature().resolve(FRAME)
        names = list(kernels)
        assert names[0] == "all: Gaussian(σ=0.5)" and names[12] == "all: Polynomial(degree=3)"
        assert names[13] == "age: Gaussian(σ=0.5)" and names[-1] == "weight: Polynomial(degree=3)"
        d2 = (X[:, 1][:, None] - X[:, 1]) ** 2
        np.testing.assert_allclose(kernels["height: Gaussian(σ=2)"](FRAME), np.exp(-d2 / 8), rtol=1e-12)
        np.testing.assert_allclose(kernels["all: Polynomial(degree=2)"](FRAME), (1 + X @ X.T) ** 2)

    def test_names(self):
        assert "x2: Gaussian(σ=5)" in per_feature().resolve(X)
        assert "c: Gaussian(σ=5)" in per_feature().resolve(X, feature_names=["a", "b", "c"])
        assert len(per_feature().resolve(X, feature_names=["all", "a", "a"])) == 52
        with pytest.raises(ValueError, match="2 feature names were given for X with 3 columns"):
            per_feature().resolve(X, feature_names=["a", "b"])

    def test_kernels_of_one_feature_share_two_statistics(self):
        keys = {kernel.statistic for kernel in per_feature().resolve(X).values()}
        assert len(keys) == 2 * 4

    def test_options(self):
        kernels = PerFeature(widths=[1.0], degrees=[2]).resolve(sparse.csr_array(X))
        assert len(kernels) == 8
        dense = PerFeature(widths=[1.0], degrees=[2]).resolve(X)
        for name, kernel in kernels.items():
            np.testing.assert_allclose(kernel(sparse.csr_array(X)), dense[name](X), rtol=1e-12)

    def test_text_column(self):
        with pytest.raises(
            ValueError, match=r"Column 'dna' does not hold numbers.*OnColumns\(Spectrum\(3\), 'dna'\)"
        ):
            per_feature().resolve(MIXED)


def test_rank_one():
    for data in (X, FRAME, pl.DataFrame(X, schema=["age", "height", "weight"]), sparse.csr_array(X)):
        kernels = rank_one().resolve(data)
        assert list(kernels) == (
            ["age", "height", "weight"] if hasattr(data, "columns") else ["x0", "x1", "x2"]
        )
        for j, kernel in enumerate(kernels.values()):
            np.testing.assert_allclose(kernel(data), np.outer(X[:, j], X[:, j]), rtol=1e-14)
            assert kernel.has_features and kernel.features(data).shape == (30, 1)
    assert rank_one().factors and not Family.factors


class TestAuto:
    def test_widths_are_quantiles_of_the_distances(self):
        kernels = Auto().resolve(X)
        assert next(iter(kernels)) == "Linear"
        d = np.sort(np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(30, 1)])
        expected = np.quantile(d, np.linspace(0.05, 0.95, 8), method="inverted_cdf")
        np.testing.assert_allclose([k.width for k in list(kernels.values())[1:]], expected, rtol=1e-12)

    @pytest.mark.parametrize("d", [3, 20])
    def test_weights_are_repetition_in_any_order(self, d):
        A = rng.normal(size=(40, d))
        weight = rng.integers(0, 4, size=40)
        repeated = rng.permutation(np.repeat(A, weight, axis=0))
        weighted, expected = Auto().resolve(A, weight), Auto().resolve(repeated)
        assert list(weighted) == list(expected)
        for name in list(expected)[1:]:
            assert weighted[name].width == pytest.approx(expected[name].width, rel=1e-10)

    def test_many_rows_are_thinned_evenly(self):
        A = rng.normal(size=(3000, 4))
        thinned = [k.width for k in list(Auto().resolve(A).values())[1:]]
        whole = np.linalg.norm(A[:600, None] - A[600:1200], axis=2)
        np.testing.assert_allclose(thinned, np.quantile(whole, np.linspace(0.05, 0.95, 8)), rtol=0.05)
        again = [k.width for k in list(Auto().resolve(A, np.full(3000, 2.0)).values())[1:]]
        np.testing.assert_allclose(again, thinned, rtol=1e-12)
        weight = np.ones(3000)
        weight[:1500] = 0.0
        half = [k.width for k in list(Auto().resolve(A, weight).values())[1:]]
        np.testing.assert_allclose(
            half, [k.width for k in list(Auto().resolve(A[1500:]).values())[1:]], rtol=1e-12
        )

    def test_few_distinct_distances_give_few_kernels(self):
        assert list(Auto().resolve(np.eye(4))) == ["Linear", "Gaussian(width=1.414)"]
        assert list(Auto().resolve(np.repeat(np.eye(20), 3, axis=0))) == ["Linear", "Gaussian(width=1.414)"]

    def test_constant_data(self):
        assert list(Auto().resolve(np.full((5, 20), 0.1))) == ["Linear"]
        assert list(Auto().resolve(X[:1])) == ["Linear"]
        for zero in (np.zeros((5, 2)), sparse.csr_array((5, 2))):
            assert [type(kernel) for kernel in Auto().resolve(zero).values()] == [Constant]

    def test_sparse_and_frames(self):
        expected = list(Auto().resolve(X))
        for data in (sparse.csr_matrix(X), FRAME, pl.DataFrame(X)):
            assert list(Auto().resolve(data)) == expected

    @pytest.mark.parametrize("convert", [lambda f: f, to_polars, lambda f: f.to_numpy()])
    def test_text_column(self, convert):
        with pytest.raises(ValueError, match=r"Column '(dna|x3)' does not hold numbers.*Spectrum"):
            Auto().resolve(convert(MIXED))

    def test_strings(self):
        with pytest.raises(ValueError, match="expects numbers"):
            Auto().resolve(WORDS)


class TestViews:
    def test_names_kernels_and_views(self):
        spec = {
            "body": ["height", "weight"],
            "age": ("age", Gaussian(2.0)),
            "dna": ("dna", [Spectrum(2), Spectrum(3)]),
            "named": ([0, 1], {"lin": Linear(), "grid": gaussian_grid(1.0, 2.0, 2)}),
            "each": (slice(0, 2), rank_one()),
        }
        for data in (MIXED, to_polars(MIXED)):
            kernels = views(spec).resolve(data)
            names = list(kernels)
            assert names[0] == "body: Linear" and names[1].startswith("body: Gaussian(width=")
            assert names[9:] == [
                "age: Gaussian(width=2)",
                "dna: Spectrum(k=2)",
                "dna: Spectrum(k=3)",
                "named: lin",
                "named: grid: Gaussian(width=1)",
                "named: grid: Gaussian(width=2)",
                "each: age",
                "each: height",
            ]
            assert [kernel.view for kernel in kernels.values()][8:12] == ["body", "age", "dna", "dna"]
            np.testing.assert_allclose(kernels["age: Gaussian(width=2)"](data), Gaussian(2.0)(X[:, 0]))
            np.testing.assert_allclose(kernels["each: height"](data), np.outer(X[:, 1], X[:, 1]))
            np.testing.assert_allclose(kernels["dna: Spectrum(k=2)"](data), Spectrum(2)(WORDS))
        assert isinstance(views(spec), Views)

    def test_auto_uses_the_views_columns_and_weights(self):
        weight = rng.integers(1, 3, size=30)
        kernels = views({"a": [0, 2]}).resolve(X, weight)
        expected = Auto().resolve(X[:, [0, 2]], weight)
        assert list(kernels) == [f"a: {name}" for name in expected]

    def test_pairs_and_tuples_of_columns_are_told_apart(self):
        assert len(views({"a": (0, 1)}).resolve(X)) == len(Auto().resolve(X[:, :2]))
        assert len(views({"a": ("age", "height")}).resolve(FRAME)) == len(Auto().resolve(X[:, :2]))
        assert len(views({"a": ([0, 1], "auto")}).resolve(X)) == len(Auto().resolve(X[:, :2]))

    def test_names_of_the_features(self):
        names = views({"a": ([0, 2], rank_one()), "b": (lambda X: [1], per_feature())}).resolve(
            X, feature_names=["p", "q", "r"]
        )
        assert list(names)[:2] == ["a: p", "a: r"] and "b: q: Gaussian(σ=1)" in names

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"body": ["size"]}, "View 'body': Column 'size' is not in X"),
            ({"dna": "dna"}, r"View 'dna': .*Spectrum"),
            ({"dna": ["dna", "age"]}, r"View 'dna': Column 'dna' does not hold numbers"),
            ({}, "expected a dict"),
            (["age"], "expected a dict"),
        ],
    )
    def test_errors(self, spec, message):
        with pytest.raises(ValueError, match=message):
            views(spec).resolve(MIXED)
