"""Factors drawn by rejection: the bound is above all masses, and draws are those without it."""

import math

import numpy as np
import pytest
from tests.oracles.naive import data, frequencies, oracle_of, orders
from tests.oracles.test_sampling import chi_square_accepts, weights

from manykernels.oracles import _majorants, _sampling
from manykernels.oracles._majorants import Majorant


@pytest.mark.parametrize("power", [1, 2, 3])
@pytest.mark.parametrize(("r", "small"), [(3, 1000), (40, 1000), (4, 10)])
def test_the_bound_is_above_the_kernel_and_above_every_mass(power, r, small, monkeypatch):
    """Also where eigenvectors are found about, and the bound is proven by a Cholesky factor."""
    monkeypatch.setattr(_majorants, "_SMALL", small)
    monkeypatch.setattr(_majorants, "_DIRECTIONS", 8)
    rng = np.random.RandomState(power)
    X = rng.randn(25, r) + 0.5
    X[3] = 0.0  # a sample without any feature
    H = (X @ X.T) ** power
    majorant = Majorant(H, r)
    above = majorant.rest * np.diag(majorant.h) + majorant.W @ majorant.W.T
    size = np.linalg.norm(H, 2)
    assert np.linalg.eigvalsh(above - H)[0] >= -1e-9 * size
    U = rng.randn(25, 6)
    masses = np.array([[(u * x) @ H @ (u * x) for x in X.T] for u in U.T])
    assert np.all(majorant.bounds(X, U) >= masses * (1 - 1e-9))


@pytest.mark.parametrize("rounds", ["many", "one"])
@pytest.mark.parametrize("outputs", [1, 3])
def test_draws_by_rejection_follow_the_probabilities(outputs, rounds, monkeypatch):
    """Wherever a bound can be used it is; with one round most draws are made in the other way."""
    monkeypatch.setattr(Majorant, "cost", lambda *_: 0.0)
    if rounds == "one":
        monkeypatch.setattr(_majorants, "_WORTH", 1e9)
    X, A = data(n=14, r=6, outputs=outputs, seed=3)
    oracle = oracle_of("features", X, degree=4)
    q = weights("features", X, A, 4, None)
    total = math.fsum(orders(z) * value for z, value in q.items())
    expected = {z: orders(z) * value / total for z, value in q.items()}
    counts, given = frequencies(oracle.sample(A, 20_000, np.random.RandomState(1)))
    assert oracle.parts._majorants
    for z, p in given.items():
        assert p == pytest.approx(expected[z], abs=1e-12, rel=1e-9)
    assert chi_square_accepts(counts, expected)


@pytest.mark.parametrize("share", [0.0, 2.0])
def test_sets_are_drawn_alike_with_and_without_repetitions_thrown_away(share, monkeypatch):
    monkeypatch.setattr(_sampling, "_REPEATED", share)
    X, A = data(n=14, r=7, outputs=2, seed=4)
    oracle = oracle_of("features", X, degree=3, interactions_only=True, multiplicity="distinct")
    q = weights("features", X, A, 3, None, interactions_only=True)
    total = math.fsum(q.values())
    counts, _ = frequencies(oracle.sample(A, 20_000, np.random.RandomState(2)))
    assert chi_square_accepts(counts, {z: value / total for z, value in q.items()})
