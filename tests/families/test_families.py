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
    Columns,
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
    Relevance,
    Subset,
    TableWarning,
    Views,
    from_distances,
    gaussian_grid,
    per_feature,
    rank_one,
    resolve_kernels,
    views,
)
from manykernels.families._evidence import _Evidence, learn_widths
from manykernels.families._remembered import Remembered
from manykernels.families.auto import _plain_quantiles, _quantiles, distance_quantiles
from manykernels.families.columns import suits
from manykernels.families.tables import read_columns
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
    (Auto(), X, 10),
    (Columns(), X, 3 + 4),
    (Subset("auto", ["Linear", "x1: Gaussian(width=1)"]), X, 2),
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
    assert exported - {Family, Parametric, Relevance, TableWarning} == {  # Relevance needs y: below
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


WIDE = np.random.RandomState(1).randn(12, 80)


@pytest.mark.parametrize("family", UNLISTED)
def test_families_too_large_to_list_say_who_can_serve_them(family):
    for given in (family, clone(family), [Gaussian(1.0), family], {"all": family}):
        with pytest.raises(ValueError, match=r"more kernels than can be listed.*solver="):
            resolve_kernels(given, WIDE)
    with pytest.raises(ValueError, match=r"View 'body': .*more kernels than can be listed"):
        resolve_kernels(views({"body": (list(range(80)), family)}), WIDE)


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
    def test_scaled_features_and_widths_around_the_median_distance(self):
        raw = X * [1.0, 100.0, 0.01] + [5.0, -300.0, 0.0]
        kernels = Auto().resolve(raw)
        assert list(kernels)[:2] == ["Linear", "Polynomial(degree=2)"]
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        d = np.linalg.norm(Z[:, None] - Z, axis=2)[np.triu_indices(30, 1)]
        median = np.quantile(d, 0.5, method="inverted_cdf")
        widths = [k.kernel.width for k in list(kernels.values())[2:7]]
        np.testing.assert_allclose(widths, median * np.array([0.25, 0.5, 1.0, 2.0, 4.0]), rtol=1e-9)
        np.testing.assert_allclose(kernels["Linear"](raw), Z @ Z.T, atol=1e-9)
        np.testing.assert_allclose(
            list(kernels.values())[4](raw, raw[:3]), Gaussian(median)(Z, Z[:3]), rtol=1e-9
        )
        each = kernels["x1: Gaussian(width=1)"]
        np.testing.assert_allclose(each(raw), Gaussian(1.0)(Z[:, 1]), rtol=1e-9)

    @pytest.mark.parametrize("d", [3, 20])
    def test_weights_are_repetition_in_any_order(self, d):
        A = rng.standard_t(3, size=(40, d))
        weight = rng.integers(0, 4, size=40)
        repeated = rng.permutation(np.repeat(A, weight, axis=0))
        weighted, expected = Auto().resolve(A, weight), Auto().resolve(repeated)
        assert list(weighted) == list(expected)
        for name, kernel in expected.items():
            np.testing.assert_allclose(weighted[name](A), kernel(A), rtol=1e-8, atol=1e-10)

    def test_distances_of_many_rows_are_thinned_evenly(self):
        A = rng.normal(size=(3000, 4))
        thinned = distance_quantiles(A, None)
        whole = np.linalg.norm(A[:600, None] - A[600:1200], axis=2)
        np.testing.assert_allclose(thinned, np.quantile(whole, np.linspace(0.05, 0.95, 8)), rtol=0.05)
        np.testing.assert_allclose(distance_quantiles(A, np.full(3000, 2.0)), thinned, rtol=1e-12)
        weight = np.ones(3000)
        weight[:1500] = 0.0
        np.testing.assert_allclose(
            distance_quantiles(A, weight), distance_quantiles(A[1500:], None), rtol=1e-12
        )
        assert distance_quantiles(np.eye(4), None) == pytest.approx([np.sqrt(2.0)])

    def test_distances_are_remembered_by_what_is_in_the_samples(self):
        A = rng.normal(size=(30, 3))
        found, scaled = distance_quantiles(A, None), distance_quantiles(2.0 * A, None)
        assert distance_quantiles(A.copy(), np.ones(30)) == found
        np.testing.assert_allclose(scaled, 2.0 * np.array(found), rtol=1e-12)
        A *= 2.0  # in place: nothing of what the array was is kept
        assert distance_quantiles(A, None) == scaled
        assert distance_quantiles(A, np.arange(30.0)) != scaled

    def test_heavy_tails_also_come_as_normal_scores(self):
        A = X.copy()
        A[:, 1] = np.exp(4.0 * A[:, 1])
        kernels = Auto().resolve(A)
        scores = [kernel for name, kernel in kernels.items() if "normal scores" in name]
        assert len(scores) == 5
        again = A.copy()
        again[:, 1] = np.log(A[:, 1])  # ranks do not see a monotone map
        other = [kernel for name, kernel in Auto().resolve(again).items() if name.startswith("Gaussian")]
        assert len(other) == 5
        order = np.argsort(A[:, 1])
        z = scores[0].preparation.transform(A, "scores")[:, 1]
        assert np.all(np.diff(z[order]) > 0) and abs(z.mean()) < 1e-12 and z.std() == pytest.approx(1.0)

    def test_constant_data(self):
        assert list(Auto().resolve(np.full((5, 20), 0.1))) == ["Linear"]
        assert list(Auto().resolve(X[:1])) == ["Linear"]
        for zero in (np.zeros((5, 2)), sparse.csr_array((5, 2))):
            assert [type(kernel) for kernel in Auto().resolve(zero).values()] == [Constant]
        assert Auto().resolve(np.c_[X, np.ones(30)])["Linear"](np.c_[X, np.ones(30)]) == pytest.approx(
            Auto().resolve(X)["Linear"](X)
        )

    def test_sparse_and_frames(self):
        expected = [k.partition(": ")[2] or k for k in Auto().resolve(X)]
        for data in (FRAME, pl.DataFrame(X)):
            assert [k.partition(": ")[2] or k for k in Auto().resolve(data)] == expected
        A = sparse.csr_matrix(X)
        kernels = Auto().resolve(A)
        assert [k.width for k in list(kernels.values())[1:]] == pytest.approx(distance_quantiles(A, None))

    @pytest.mark.parametrize("convert", [lambda f: f, to_polars, lambda f: f.to_numpy()])
    def test_text_and_categories(self, convert):
        data = convert(MIXED.assign(colour=["red", "blue", "red"] * 10))
        kernels = Auto().resolve(data)
        text = [name for name in kernels if "Spectrum" in name]
        assert [name.split(": ")[1] for name in text] == ["Spectrum(k=3)", "Spectrum(k=5)"]
        np.testing.assert_allclose(kernels[text[0]](data), Spectrum(3)(WORDS))
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        red = np.array([1.0, 0.0, 1.0] * 10)
        colours = np.c_[1.0 - red, red] - [1 / 3, 2 / 3]
        features = np.c_[Z, colours / np.sqrt(4 / 9)]
        np.testing.assert_allclose(kernels["Linear"](data), features @ features.T, atol=1e-9)

    def test_levels_that_were_never_seen_are_far_from_all(self):
        frame = pd.DataFrame({"a": ["u", "v"] * 10, "b": np.arange(20.0)})
        kernel = Auto().resolve(frame)["Linear"]
        new = pd.DataFrame({"a": ["w", "u"], "b": [3.0, 3.0]})
        K = kernel(new, frame)
        assert np.isfinite(K).all() and not np.allclose(K[0], K[1])

    def test_identifiers_are_left_out(self):
        frame = pd.DataFrame({"id": [f"n{i}" for i in range(30)], "x": X[:, 0]})
        kernels = Auto().resolve(frame)
        np.testing.assert_allclose(
            kernels["Linear"](frame), Auto().resolve(FRAME[["age"]])["Linear"](FRAME[["age"]]), atol=1e-9
        )

    def test_views_by_the_names_of_columns(self):
        frame = FRAME.assign(extra=X[:, 0] ** 2)
        frame.columns = ["gene__a", "gene__b", "image__a", "image__b"]
        kernels = Auto().resolve(frame)
        assert {getattr(kernel, "view", None) for kernel in kernels.values()} == {"gene", "image", None}
        np.testing.assert_allclose(
            kernels["gene: Linear"](frame), Auto().resolve(X[:, :2])["Linear"](X[:, :2]), atol=1e-9
        )

    def test_strings(self):
        assert [kernel.k for kernel in Auto().resolve(WORDS).values()] == [3, 5]


def test_a_subset_names_what_there_is():
    with pytest.raises(ValueError, match=r"names=\['Linea'\].*'Linear', 'Polynomial"):
        Subset("auto", ["Linea"]).resolve(X)
    with pytest.raises(ValueError, match="was given to Subset"):
        Subset("auto", []).resolve(X)
    chosen = Subset(Relevance(), ["Linear"]).resolve(X, target=X[:, :1])
    assert list(chosen) == ["Linear"]


def test_a_subset_means_the_same_in_data_without_heavy_tails():
    """Normal scores of columns that have none are the columns themselves."""
    heavy = X.copy()
    heavy[0, 1] = 40.0
    scores = "Gaussian(1 × median, normal scores)"
    assert scores in Auto().resolve(heavy) and scores not in Auto().resolve(X)
    inside = Subset(views({"all": [0, 1, 2]}), [f"all: {scores}"])
    assert list(inside.resolve(heavy)) == list(inside.resolve(X)) == [f"all: {scores}"]
    (alone,) = Subset("auto", [scores]).resolve(X).values()
    np.testing.assert_array_equal(alone(X), Auto().resolve(X)["Gaussian(1 × median)"](X))
    both = Subset("auto", [scores, "Linear", "Gaussian(1 × median)"])
    assert list(both.resolve(X)) == ["Linear", "Gaussian(1 × median)"] and len(both.resolve(heavy)) == 3


class TestColumns:
    def test_kernels_of_each_kind_of_column(self):
        draws = np.random.RandomState(3)
        frame = pd.DataFrame({"letter": draws.choice(list("ACGT"), 40), "code": draws.randint(0, 4, 40)})
        frame = frame.assign(yes=draws.randint(0, 2, 40), size=draws.randn(40), same=1.0)
        kernels = Columns().resolve(frame)
        assert list(kernels)[:4] == [
            "code: Linear",
            "yes: Linear",
            "size: Gaussian(width=1)",
            "letter: Linear",
        ]
        assert list(kernels)[4:] == ["Linear", *(f"Gaussian({s} × median)" for s in ("0.5", "1", "2"))]
        for name in ("letter", "code", "yes"):  # equal levels have equal rows, and others do not
            K = kernels[f"{name}: Linear"](frame)
            value = frame[name].to_numpy()
            apart = np.diag(K)[:, None] + np.diag(K) - 2.0 * K
            np.testing.assert_array_equal(apart > 1e-9, value[:, None] != value)
            np.testing.assert_allclose(K.sum(axis=0), 0.0, atol=1e-9)

    def test_the_columns_that_say_most_of_the_target_are_kept(self):
        draws = np.random.RandomState(0)
        A = draws.randint(0, 4, size=(200, 30)).astype(float)
        A[:, 7] = A[:, 3]  # equal columns: the first one stands first
        y = (A[:, 3] == 2) + 0.5 * A[:, 20] + 0.1 * draws.randn(200)
        weight = draws.randint(1, 3, 200).astype(float)
        kernels = Columns(max_columns=3).resolve(A, weight, target=y[:, None])
        assert list(kernels)[:3] == ["x3: Linear", "x7: Linear", "x20: Linear"] and len(kernels) == 7
        again = np.repeat(np.arange(200), weight.astype(int))
        repeated = Columns(max_columns=3).resolve(A[again], target=y[again][:, None])
        assert list(repeated) == list(kernels)
        with pytest.raises(ValueError, match=r"has 30 columns.*there is no y here"):
            Columns(max_columns=3).resolve(A)

    def test_sensible_options(self):
        with pytest.raises(ValueError, match=r"max_columns=0 was given to Columns; expected a whole number"):
            Columns(max_columns=0).resolve(X)
        with pytest.raises(ValueError, match="sparse"):
            Columns().resolve(sparse.csr_array(X))
        assert list(Columns().resolve(np.zeros((5, 2)))) == ["Constant"]

    def test_when_a_search_tries_it(self):
        draws = np.random.RandomState(1)
        codes = draws.randint(0, 5, size=(60, 14)).astype(float)
        half = np.hstack([codes[:, :7], draws.randn(60, 8)])
        for A, expected in ((codes, True), (codes[:, :12], False), (half, False), (codes > 2, True)):
            assert suits(A, read_columns(A)) is expected
        assert not suits(codes, None) and not suits(codes * 0.0, read_columns(codes * 0.0))


class TestRelevance:
    def test_finds_the_features_that_matter(self):
        A = rng.normal(size=(150, 8)) * np.logspace(-3, 3, 8)
        Z = A / np.logspace(-3, 3, 8)
        y = np.sin(2.0 * Z[:, 2]) + Z[:, 5] ** 2
        kernels = Relevance().resolve(A, target=y[:, None])
        widths = np.array(list(kernels.values())[1].kernel.widths)
        assert set(np.argsort(widths)[:2]) == {2, 5}
        assert np.delete(widths, [2, 5]).min() > 3 * widths[[2, 5]].max()
        names = [f"ARDGaussian(× {2.0**s:.3g})" for s in (0, 0.5, 1)]
        assert list(kernels) == ["Linear", *names]

    def test_tries_again_where_nearly_all_seems_to_be_noise(self):
        draws = np.random.default_rng(9)
        A = draws.standard_normal((250, 30))
        y = A[:, 0] * np.sin(A[:, 1]) + 0.5 * draws.standard_normal(250)
        A = (A - A.mean(axis=0)) / A.std(axis=0)
        evidence = _Evidence(A, y[:, None], np.ones(250), 1.0)
        alone = np.concatenate([np.zeros(30), [20.0, -40.0, 0.5]])  # widths so small that K = I
        assert evidence(alone)[0] == pytest.approx(evidence.of_noise, rel=1e-10)
        first = evidence.descend(np.log(0.1), 40)
        assert first.fun > evidence.of_noise - 2.0  # the case that this is about
        found = learn_widths(A, y[:, None], np.ones(250), 1.0, 40)
        assert found.value < first.fun - 50.0 and set(np.argsort(-found.gamma)[:2]) == {0, 1}

    def test_needs_a_target_and_sensible_options(self):
        with pytest.raises(ValueError, match="learns widths from y"):
            Relevance().resolve(X)
        with pytest.raises(ValueError, match="max_iter=0"):
            Relevance(max_iter=0).resolve(X, target=X[:, :1])
        with pytest.raises(ValueError, match="shrinkage=-1"):
            Relevance(shrinkage=-1).resolve(X, target=X[:, :1])
        with pytest.raises(ValueError, match="sparse"):
            Relevance().resolve(sparse.csr_array(X), target=X[:, :1])
        assert list(Relevance().resolve(X, target=np.ones((30, 1)))) == ["Linear"]

    def test_gradient_and_weights(self):
        Y = np.c_[X[:, 0] ** 2, X[:, 1]]
        weight = rng.integers(1, 4, size=30).astype(float)
        evidence = _Evidence(X, Y, weight, 0.7)
        p = 0.3 * rng.normal(size=6)
        numeric = [(evidence(p + e)[0] - evidence(p - e)[0]) / 2e-5 for e in 1e-5 * np.eye(6)]
        np.testing.assert_allclose(evidence(p)[1], numeric, rtol=1e-6, atol=1e-6)
        rows = np.repeat(np.arange(30), weight.astype(int))
        repeated = _Evidence(X[rows], Y[rows], np.ones(rows.size), 0.7)
        apart = [evidence(q)[0] - repeated(q)[0] for q in (p, p + 0.2, -p)]
        assert np.ptp(apart) < 1e-9 * abs(apart[0])  # equal but for a constant
        np.testing.assert_allclose(evidence(p)[1], repeated(p)[1], rtol=1e-9)


class TestViews:
    def test_a_column_of_text_alone(self):
        kernels = views({"dna": "dna", "age": "age"}).resolve(MIXED)
        assert "dna: Spectrum(k=3)" in kernels and "age: Linear" in kernels

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
            assert names[0] == "body: Linear" and names[2].startswith("body: Gaussian(0.25 × median)")
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
            ({"dna": (["dna", "age"], rank_one())}, r"View 'dna': Column 'dna' does not hold numbers"),
            ({}, "expected a dict"),
            (["age"], "expected a dict"),
        ],
    )
    def test_errors(self, spec, message):
        with pytest.raises(ValueError, match=message):
            views(spec).resolve(MIXED)


def test_quantiles_that_are_equal_are_one_kernel_with_all_their_names():
    A = sparse.csr_array(np.eye(4))
    kernels = Auto().resolve(A)
    assert list(kernels) == ["Linear", "Gaussian(0.05 quantile)"]
    assert len(kernels["Gaussian(0.05 quantile)"].member.also) == 7
    (alone,) = Subset("auto", ["Gaussian(0.95 quantile)"]).resolve(A).values()
    assert alone.width == pytest.approx(np.sqrt(2.0))
    both = Subset({"words": "auto"}, ["words: Gaussian(0.95 quantile)", "words: Gaussian(0.18 quantile)"])
    assert list(both.resolve(A)) == ["words: Gaussian(0.95 quantile)"]


def test_other_names_are_unique_too():
    twice = Subset([Auto(), Auto()], ["Gaussian(1 × median, normal scores) (2)"]).resolve(X)
    assert list(twice) == ["Gaussian(1 × median, normal scores) (2)"]
    own = resolve_kernels({"Gaussian(1 × median, normal scores)": Linear(), "a": "auto"}, X)
    assert type(own["Gaussian(1 × median, normal scores)"]) is Linear


def test_families_say_which_kernels_are_of_one_column():
    found = resolve_kernels({"each": per_feature([1.0], [1]), "columns": rank_one()}, X)
    columns = [name for name, kernel in found.items() if kernel.member.role == "column"]
    assert columns == [name for name in found if not name.startswith("each: all")]


def test_views_do_not_say_their_name_twice():
    """Columns of joined tables are called view__column; where names would be the same, they stay whole."""
    X = pd.DataFrame(np.random.RandomState(0).randn(30, 3), columns=["m__a", "m__b", "b"])
    given = {"m": (["m__a", "m__b"], rank_one()), "n": (["b"], rank_one())}
    names = list(views(given).resolve(X))
    assert all(name.startswith(("m: a", "m: b", "n: b")) for name in names)
    both = list(views({"m": (["m__b", "b"], rank_one())}).resolve(X))
    assert len(set(both)) == len(both) and any(name.startswith("m: m__b") for name in both)


def test_the_repr_of_views_keeps_their_order_and_cuts_no_name():
    genes = [f"gene {j}" for j in range(300)]
    chosen = views({"zebra": genes, "ape": (np.arange(9), Gaussian(2.0)), "sex": "sex"})
    assert repr(chosen) == (
        "views({'zebra': ['gene 0', 'gene 1', and 298 more], 'ape': "
        "([0, 1, and 7 more], Gaussian(width=2.0)), 'sex': 'sex'})"
    )
    assert repr(views({str(k): [k] for k in range(25)})).endswith("'19': [19], and 5 more})")


def test_quantiles_of_distances_without_sorting_are_the_same():
    rng = np.random.RandomState(0)
    for size in (0, 1, 2, 3, 8, 100, 1001):
        d = rng.rand(size).round(2)
        for quantiles in (np.array([0.5]), np.linspace(0.05, 0.95, 8)):
            np.testing.assert_array_equal(
                _plain_quantiles(d, quantiles), _quantiles(d, np.ones(size), quantiles)
            )


def test_remembered_by_contents():
    seen = []

    def compute(A, w):
        seen.append(A.sum())
        return A.sum(axis=0) * w

    ask, A = Remembered(2), np.arange(6.0).reshape(3, 2)
    first = ask(compute, A, 2.0)
    first[:] = np.nan  # results are copies
    np.testing.assert_array_equal(ask(compute, A.copy(), 2.0), [12.0, 18.0])
    assert len(seen) == 1
    for changed in (A.reshape(2, 3), A + 1.0, A + 2.0):
        ask(compute, changed, 2.0)
    assert len(seen) == 4
    ask(compute, A, 2.0)  # forgotten by now
    ask(compute, A, 3.0, worth=lambda: False)
    ask(compute, A, 3.0)
    assert len(seen) == 7
