"""Coordinate descent (Afkanpour 2013, Fig. 6.1) and figures of Rostamizadeh 2010: formulas, quick runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from experiments import alignment_bounds, coordinate_descent
from experiments.coordinate_descent import METHODS, Sums, by_gradient, moments, racdm, rcdm

from manykernels.bounds import rademacher_bound


# -- coordinate descent -----------------------------------------------------------------------------
def test_a_tree_draws_by_weight():
    weights = np.array([0.0, 3.0, 1.0, 0.0, 2.0])
    tree = Sums(weights)
    assert tree.total == 6.0
    drawn = [tree.find(u) for u in (np.arange(6000) + 0.5) / 6000.0]
    assert np.bincount(drawn, minlength=5).tolist() == [0, 3000, 1000, 0, 2000]
    tree.set(1, 0.0)
    tree.set(3, 1.0)
    drawn = [tree.find(u) for u in (np.arange(4000) + 0.5) / 4000.0]
    assert np.bincount(drawn, minlength=5).tolist() == [0, 0, 1000, 1000, 2000]


def test_rcdm_is_what_its_formula_says():
    """E f(k) = (1 − 1/d)^k f(0): a coordinate is done as soon as it is drawn."""
    a = np.random.RandomState(0).randn(30)
    values = np.array([rcdm(a, 60, np.random.RandomState(seed)) for seed in range(2000)])
    expected = 0.5 * np.sum(a**2) * (1.0 - 1.0 / 30.0) ** np.arange(61)
    error = values.std(axis=0) / math.sqrt(2000)
    assert np.all(np.abs(values.mean(axis=0) - expected) <= 4.5 * error + 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_values_are_those_of_f(name):
    """f is summed up from its changes; RCDM with one coordinate, and all others by their first steps."""
    a, T = np.array([2.0]), 4
    values = METHODS[name](a, T, np.random.RandomState(0))
    eta = 0.5  # 1/√T
    factor = 1.0 - eta if "η" in name else 0.0  # with one coordinate p = 1
    np.testing.assert_allclose(values, 2.0 * factor ** (2 * np.arange(T + 1)), atol=1e-15)


def test_estimates_of_lipschitz_constants_make_draws_rarer():
    """With α = 1 a coordinate that was drawn is drawn half as often, so that more of them are found."""
    a = np.ones(200)
    ends = {
        alpha: [racdm(a, 400, np.random.RandomState(s), alpha)[-1] for s in range(10)] for alpha in (0.0, 1.0)
    }
    assert max(ends[1.0]) < min(ends[0.0])


def test_the_expected_change_of_the_unbiased_step():
    """E f⁺ = f − η‖g‖² + η²‖g‖₁²/2, which is a descent only if η < 2‖g‖²/‖g‖₁²."""
    a, T = 0.8 ** np.arange(1.0, 21.0), 100
    first = [by_gradient("unbiased")(a, T, np.random.RandomState(s))[1] for s in range(1000)]
    expected = 0.5 * a @ a - 0.1 * a @ a + 0.005 * a.sum() ** 2
    assert np.mean(first) == pytest.approx(expected, abs=4.5 * np.std(first) / math.sqrt(1000))


def test_moments_are_powers_of_two_and_the_end():
    assert moments(20).tolist() == [1, 2, 4, 8, 16, 20]
    assert moments(16).tolist() == [1, 2, 4, 8, 16]


@pytest.mark.slow
def test_drawing_by_the_gradient_is_ahead_where_it_is_concentrated(quick):
    tables = quick("coordinate_descent")
    assert len(tables) == len(coordinate_descent.TARGETS)
    rows = {row["method"]: float(row["128"]) for row in next(iter(tables.values()))}
    assert (
        rows["by gradient, step η/p (Afkanpour 2013, §4.1)"] < 0.1 < min(rows["RCDM"], rows["RACDM, α = 1"])
    )


# -- Rostamizadeh 2010 -----------------------------------------------------------------------------
def test_the_bound_is_that_of_equal_traces_at_the_r_of_the_proof():
    """At r = ⌈log p⌉, p^(1/r) ≤ e: the formula is never below the bound it was simplified from."""
    for p, m in ((10, 1000), (500, 20_000)):
        confidence = 3.0 * math.sqrt(math.log(200.0) / (2.0 * m))
        exact = 10.0 * rademacher_bound(np.full(p, float(m)), m, r=math.ceil(math.log(p))) + confidence
        assert exact <= alignment_bounds.ours(m, p) <= 1.2 * exact
        two = 10.0 * rademacher_bound(np.full(p, float(m)), m, norm=2.0) + confidence
        assert alignment_bounds.ours(m, p, 2.0) == pytest.approx(two)


def test_what_004_says_of_its_figures():
    bound, other = alignment_bounds.ours, alignment_bounds.pseudodimension
    sizes = np.geomspace(1e3, 15e6, 30)
    assert min(other(m, 10) for m in sizes) > 1.0
    assert max(other(m, 10) / other(m, m ** (1 / 3)) for m in sizes) < 1.001  # not to be told apart
    assert max(bound(m, m) / bound(m, 10) for m in sizes) < 3.0
    assert abs(bound(1e5, 20, 2.0) / bound(1e5, 20) - 1.0) < 0.1


def test_a_crossing_is_where_it_is():
    assert alignment_bounds.crossing(lambda m: 1e7 / m) == pytest.approx(1e7, rel=0.02)
    assert alignment_bounds.crossing(lambda m: 2.0) == math.inf


@pytest.mark.slow
def test_the_figures_of_004_run_without_data(quick):
    tables = quick("alignment_bounds")
    alignment = next(rows for title, rows in tables.items() if title.startswith("Fig. 2.4"))
    inside = [row for row in alignment if row["α"] not in ("0", "1")]
    for row in inside:
        assert row["A measured"] == pytest.approx(row["A by formula"], abs=1e-4)
        assert row["ρ measured"] == pytest.approx(1.0, abs=1e-4)
    pixels = next(rows for title, rows in tables.items() if title.startswith("Fig. 2.2"))
    for row in pixels:
        rest = float(row["norm 1: rest of the bound"])
        assert row["norm 1: bound"].mean == pytest.approx(rest + row["norm 1: margin loss"].mean, abs=2e-3)


def test_halves_do_not_overlap():
    split = alignment_bounds.halves(2000, 0)
    assert [part.size for part in (split.train, split.validation, split.test)] == [750, 250, 1000]
    assert np.unique(np.concatenate([split.train, split.validation, split.test])).size == 2000
