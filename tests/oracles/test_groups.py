"""Products leave out those of two indicators of one category, and powers of one."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLRegressor, MKLRegressorCV
from manykernels.families import Products
from manykernels.oracles import build_oracle
from manykernels.oracles._beam import Beam
from manykernels.oracles._groups import excluded, is_excluded

RNG = np.random.RandomState(0)
N = 40
X = np.column_stack([RNG.randn(N, 3), np.eye(3)[RNG.randint(0, 3, N)], RNG.rand(N, 1) < 0.3]).astype(float)
GROUPS = np.array([-1, -1, -1, 0, 0, 0, 1])
A = RNG.randn(N, 2)


def allowed(z):
    indicators = [GROUPS[j] for j in z if GROUPS[j] >= 0]
    return len(indicators) == len(set(indicators))


def listed(degree):
    choose = itertools.combinations_with_replacement
    return [z for d in range(degree + 1) for z in choose(range(7), d) if allowed(z)]


def oracle(**options):
    return build_oracle(Products(degree=3, **options), X, normalize=None, groups=GROUPS)


def test_which_are_left_out():
    prefixes = np.array([[0, 1], [0, 3], [3, 4], [6, 6], [2, 6]])
    found = excluded(GROUPS, prefixes, np.arange(7))
    for z, row in zip(prefixes, found, strict=True):
        assert row.tolist() == [not allowed((*z, j)) for j in range(7)]
    assert (
        is_excluded(GROUPS, (0, 3, 5))
        and not is_excluded(GROUPS, (0, 0, 3))
        and not is_excluded(None, (3, 3))
    )


@pytest.mark.parametrize(
    "options", [{}, {"atom_scale": "rms"}, {"multiplicity": "paper"}, {"interactions_only": True}]
)
def test_the_best_of_those_that_are_left(options):
    asked = oracle(**options)
    family = [z for z in listed(3) if not options.get("interactions_only") or len(set(z)) == len(z)]
    assert list(asked.atoms()) == family
    q = asked.quad(A, family)
    best = asked.best(A, 10)
    assert all(map(allowed, best.atoms))
    np.testing.assert_allclose(best.values, np.sort(q)[::-1][:10], rtol=1e-9)
    np.testing.assert_allclose(asked.total(A, 1.0), q.sum(), rtol=1e-9)
    np.testing.assert_array_equal(asked.quad(A, [(3, 4), (3, 3), (0, 6, 6)]), 0.0)


def test_a_beam_finds_none_of_the_others():
    options = {"scale": np.ones(4), "weight": np.full(N, 1.0 / N), "groups": GROUPS}
    atoms, values, upper = Beam(X, 3, budget=40, **options).best(A, 5)
    asked = oracle(atom_scale="rms")
    assert all(map(allowed, atoms)) and upper >= values[0] * (1 - 1e-12)
    np.testing.assert_allclose(values, asked.quad(A, atoms), rtol=1e-9)
    assert values[0] == pytest.approx(asked.best(A, 1).values[0])


def test_in_estimators():
    place = RNG.choice(["a", "b", "c", "d"], 90)
    table = pd.DataFrame({"age": RNG.randn(90), "place": place, "dose": RNG.randn(90)})
    table.loc[::5, "dose"] = np.nan
    y = table["age"] * (place == "a") + 0.05 * RNG.randn(90)
    for model in (
        MKLRegressor(Products(degree=3, scale=True), C=100.0),
        MKLRegressor(Products(degree=2, scale=True), norm=2.0),
        MKLRegressorCV(strategy="products", Cs=[1.0], cv=3),
    ):
        names = model.fit(table, y).kernel_names_
        assert "age · place=a" in names
        assert not any(name.count("place=") > 1 or "place=a²" in name or "missing²" in name for name in names)
