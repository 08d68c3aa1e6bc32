"""The experiments of products: problems as they say, and quick runs without a data folder."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import bench_products
from benchmarks.rivals_products import alternating_features, product_features
from experiments import products_huge, products_methods, products_synthetic
from experiments.products_convergence import FEATURES, MATRICES, SGD, UCD, Clock, TimeUp, rows_of
from experiments.products_huge import t_values
from experiments.products_real import polynomial, trial, tuned
from experiments.products_synthetic import fit, problem, term_name
from sklearn.kernel_ridge import KernelRidge


@pytest.fixture
def in_this_process(monkeypatch):
    """Without a process of its own for the memory of a fit."""
    for module in (products_synthetic, products_huge):
        child = module.child
        stand_in = lambda _, task, child=child: {**child(task), "peak": 1.0, "above": 0.0}  # noqa: E731
        monkeypatch.setattr(module, "in_a_process", stand_in)


def test_the_output_is_ten_products_of_the_first_variables():
    given = problem(3, 9, 200, 50, 30)
    (X, y), (X_validation, _), (X_test, _) = given.parts
    assert (len(X), len(X_validation), len(X_test)) == (200, 50, 30)
    assert len(set(given.terms)) == 10
    assert all(len(z) <= 3 and max(z, default=0) < 5 and list(z) == sorted(z) for z in given.terms)
    np.testing.assert_allclose([X.mean(axis=0), X.std(axis=0) - 1.0], 0.0, atol=1e-12)
    np.testing.assert_allclose([y.mean(), y.std()], [0.0, 1.0], atol=1e-12)
    raw = np.random.RandomState(3).uniform(-1.0, 1.0, (280, 9))
    f = sum(raw[:, list(z)].prod(axis=1) for z in given.terms)
    assert abs(np.corrcoef(f, given.y)[0, 1] - 1.0) < 1e-12


def test_noise_has_the_size_that_was_asked_for():
    clean, noisy = (problem(0, 6, 5000, 0, 0, noise=noise).y for noise in (0.0, 0.5))
    assert np.corrcoef(clean, noisy)[0, 1] == pytest.approx(1.25**-0.5, abs=0.02)


def test_products_have_the_names_of_the_package():
    assert [term_name(z) for z in ((), (12,), (0, 0, 2), (1, 1, 1))] == ["1", "x12", "x0² · x2", "x1³"]
    given = problem(0, 5, 60, 0, 0)
    names = fit(*given.parts[0], 1e3).selected_products_["product"]
    assert {term_name(z) for z in given.terms if z} <= set(names)


def test_t_values_are_those_of_a_regression():
    """Against the drop of the squared error when a term is left out: t² = (n − p)(RSS₀ − RSS)/RSS."""
    given = problem(1, 6, 300, 0, 0, constant=False, noise=0.3)
    X, y = given.parts[0]
    F = np.column_stack([np.ones(300), *(X[:, list(z)].prod(axis=1) for z in given.terms)])

    def rss(columns: list[int]) -> float:
        return float(np.sum((y - F[:, columns] @ np.linalg.lstsq(F[:, columns], y)[0]) ** 2))

    full = rss([*range(11)])
    expected = [289.0 * (rss([j for j in range(11) if j != k]) - full) / full for k in range(1, 11)]
    np.testing.assert_allclose(np.square(t_values(given)), expected, rtol=1e-6)


def test_a_curve_gives_the_least_objective_known_by_then():
    clock = Clock(limit=1e9)
    for P, gap in ((5.0, 0.6), (7.0, 0.8), (3.0, 0.2)):  # the last proves most: 2.4
        clock.add(P, gap, 1)
    clock.seconds = [1.0, 2.0, 3.0]
    assert [clock.at(t) for t in (0.5, 1.0, 2.5, 3.0)] == [None, 5.0, 5.0, 3.0]
    (row,) = rows_of([{"a": clock}, {"a": clock}], (0.5, 3.0))
    assert row["0.5"] is None and row["looks"].mean == 3
    assert row["3"].values == pytest.approx([0.25, 0.25])
    with pytest.raises(TimeUp):
        Clock(limit=-1.0).add(1.0, 0.1, 1)


def test_the_uniform_polynomial_is_ridge_regression():
    rng = np.random.RandomState(0)
    X, y, Z = rng.randn(30, 3), rng.randn(30), rng.randn(5, 3)
    scale = float(np.mean((1.0 + np.sum(X * X, axis=1)) ** 2))
    for strength, predict in zip((10.0, 0.1), polynomial(X, y, 2, [10.0, 0.1]), strict=True):
        reference = KernelRidge(alpha=strength * scale, kernel="poly", degree=2, gamma=1.0, coef0=1.0).fit(
            X, y
        )
        np.testing.assert_allclose(predict(Z), reference.predict(Z), rtol=1e-8)


def test_tuning_looks_at_the_validation_part_only():
    y = np.array([1.0, 1.0, -1.0, -1.0])
    parts = [(np.zeros(4), y), (np.arange(4.0), y), (np.arange(4.0) + 10.0, y)]
    good_in_test = lambda x: np.where(x >= 10.0, np.where(x < 12.0, 1.0, -1.0), -1.0)  # noqa: E731
    good_in_validation = lambda x: np.where(x < 2.0, 1.0, -1.0)  # noqa: E731
    assert tuned(iter([good_in_test, good_in_validation]), parts) == 50.0


def test_synthetic_and_huge_report_what_they_found(quick_tables, in_this_process):
    (table,) = quick_tables("products_synthetic")
    assert [row["seed"] for row in table["rows"]] == [0, 1]
    assert all(row["certified"] and float(row["gap"]) <= 1e-3 for row in table["rows"])
    (table,) = quick_tables("products_huge")
    first, second = table["rows"]
    assert first["true found"] == "10 of 10" and first["certified"]
    assert float(first["test error / variance"]) < float(second["test error / variance"])


@pytest.mark.slow
def test_convergence_tells_the_objective_of_every_method(quick_tables):
    objective, growth = quick_tables("products_convergence")
    assert [row["method"] for row in objective["rows"]] == [SGD, UCD, FEATURES, MATRICES]
    for row in objective["rows"]:
        falling = [row[key].mean for key in ("0.05", "0.2") if row[key] is not None]
        assert falling == sorted(falling, reverse=True)
        assert all(excess >= -1e-4 for excess in falling)
    assert [row["D"] for row in growth["rows"]] == [2, 3]


def test_draws_are_held_against_searches_where_there_is_no_list(quick_tables):
    sparse, dense, _ = quick_tables("products_drawn")
    methods = ["SGD-1s", "UCD", "greedy", "corrective at C", "corrective"]
    assert [row["method"] for row in sparse["rows"]] == methods
    assert [row["method"] for row in dense["rows"]] == ["SGD-1s", "UCD"]
    for row in [*sparse["rows"], *dense["rows"]]:
        reached = [row[key].mean for key in ("0.1", "0.3") if row.get(key) is not None]
        assert reached == sorted(reached, reverse=True) and all(0.0 < P <= 1.0 + 1e-9 for P in reached)
    assert all(row["looks"].mean >= 1 for row in sparse["rows"])


def test_every_method_is_tried_on_real_sets():
    rng = np.random.RandomState(0)
    X = rng.randn(90, 4)
    errors = trial(X, np.sign(X[:, 0] * X[:, 1]), (50, 20, 20), 0, quick=True)
    assert len(errors) == 11
    learned = max(errors["norm 1, D = 2"], errors["HMKL, D = 2"])
    assert learned < 20.0 < errors["linear"]  # a product of two variables


def test_the_list_of_products_leads_to_the_same_optimum():
    """The rival of the benchmark, which looks at every product, against the solver that asks for the best."""
    X, y = bench_products.synthetic(60, 6)
    listed = alternating_features(product_features(X, 3), y, 10.0, rounds=400)
    ours = bench_products.fit(X, y, 10.0)
    assert listed.theta.size == 84 and len(listed.objective) == 400
    assert listed.gap <= 1e-2 and ours.certified_
    assert abs(listed.primal / ours.objective_ - 1.0) <= 1e-3


@pytest.mark.slow
def test_methods_side_by_side(monkeypatch, quick):
    monkeypatch.setattr(products_methods, "STEPS", 20)
    tables = quick("products_methods")
    for figure, _ in products_methods.TERMS.values():
        errors, seconds = (
            tables[f"{figure}: {title}"] for title in (products_methods.ERRORS, products_methods.SECONDS)
        )
        assert [row["products"] for row in errors] == [56, 84]
        assert all(set(products_methods.NAMES) < set(row) for row in [*errors, *seconds])
        # 84 products and 60 samples: those that select find the ten of five variables in both draws, of all
        # variables in one of them, and the plain sum in none
        worst = max if "five" in figure else min
        for name in ("norm 1", "HMKL"):
            assert worst(errors[1][name].values) < -8.0 < min(errors[1]["uniform"].values)
    listed = {key[0] for key in products_methods.keys() if key[2] == "LPMKL"}
    assert listed == {f"{which}, {r}" for which in products_methods.TERMS for r in (5, 10, 20)}
