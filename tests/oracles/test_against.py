"""Products against a signed matrix, by listing all of them; and greedy alignment over products."""

import numpy as np
import pytest

from manykernels import AlignMKLClassifier, AlignMKLRegressor
from manykernels.families import Products
from manykernels.kernels import Gaussian, Linear
from manykernels.measures import centered_alignment
from manykernels.oracles import LowRank, build_oracle
from manykernels.oracles import products as module
from manykernels.weightings import GreedyAlignment

rng = np.random.RandomState(0)
X = rng.randn(25, 5)
FAMILIES = {
    "columns": Products(degree=3),
    "interactions": Products(degree=3, interactions_only=True),
    "rms": Products(degree=2, atom_scale="rms"),
    "prior": Products(degree=2, rho=[1.0, 2.0, 0.5]),
    "matrices": Products([Linear(), Gaussian(2.0), Gaussian(0.7)], degree=3),
    "matrices, interactions": Products([Linear(), Gaussian(2.0), Gaussian(0.7)], 2, interactions_only=True),
}


def bound(family, data=X):
    return build_oracle(family, data, normalize="trace", feature_names=None, memory_limit=None)


def low_rank(identity=0.0):
    return LowRank(rng.randn(25, 4), np.array([1.0, -0.7, 0.4, -2.0]), identity)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("identity", [0.0, -0.3, 0.8])
def test_the_best_of_a_list(name, identity):
    oracle = bound(FAMILIES[name])
    atoms = list(oracle.atoms())
    for _ in range(3):
        S = low_rank(identity)
        dense = S.dense()
        values = np.array([np.vdot(K, dense) for K in (oracle.gram([z]).combine(np.ones(1)) for z in atoms)])
        for asked in (S, dense):
            found = oracle.best_against(asked, 4)
            np.testing.assert_allclose(found.values, -np.sort(-values)[:4], rtol=1e-8, atol=1e-9)
            assert found.upper >= values.max() - 1e-9
            mine = [values[atoms.index(z)] for z in found.atoms]
            np.testing.assert_allclose(mine, found.values, rtol=1e-8, atol=1e-9)


def test_columns_are_remembered_and_forgotten(monkeypatch):
    oracle = bound(Products(degree=3))
    S = low_rank()
    first = oracle.best_against(S, 2)
    looks = []
    squares = type(oracle.enumerator).squares
    monkeypatch.setattr(
        type(oracle.enumerator), "squares", lambda self, A: looks.append(1) or squares(self, A)
    )
    new = rng.randn(25)
    again = oracle.best_against(LowRank(np.column_stack([S.U, new]), np.append(S.w, 0.0)), 2)
    assert len(looks) == 1 and again.atoms == first.atoms
    np.testing.assert_allclose(again.values, first.values)
    oracle._against.room = 0.0  # no room: one pass for each sign
    np.testing.assert_allclose(oracle.best_against(S, 2).values, first.values, rtol=1e-9)


def test_families_too_large_to_be_looked_at_whole_are_bounded_or_say_so(monkeypatch):
    oracle, whole = bound(Products(degree=3)), bound(Products(degree=3))
    S = low_rank()
    best = whole.best_against(S, 1)
    monkeypatch.setattr(module, "_ENUMERABLE", 10.0)
    assert not oracle.enumerable
    found = oracle.best_against(S, 1)
    assert found.values[0] <= best.values[0] + 1e-9 and found.upper >= best.values[0] - 1e-9
    matrices = bound(FAMILIES["matrices"])
    monkeypatch.setattr(module, "_ENUMERABLE_MATRICES", 1e-9)
    with pytest.raises(
        ValueError, match=r"products of matrices, more than can be looked at.*Lower the degree"
    ):
        matrices.best_against(S, 1)


# -- greedy alignment -----------------------------------------------------------------------------------
DATA = np.random.RandomState(1).randn(60, 6)
TARGET = DATA[:, 0] * DATA[:, 1] + 0.5 * DATA[:, 2] + 0.1 * np.random.RandomState(2).randn(60)


def listed(family, data):
    oracle = bound(family, data)
    return [oracle.kernel(z) for z in oracle.atoms() if len(z)]


@pytest.mark.parametrize("method", ["stagewise", "distance"])
def test_greedy_is_what_it_is_over_the_list(method):
    """The same kernels and alignment as over all products in a list, which is scored matrix by matrix."""
    weighting = GreedyAlignment(method, max_kernels=6, tol=1e-6)
    asked = AlignMKLRegressor(Products(degree=2), weighting=weighting).fit(DATA, TARGET)
    there = AlignMKLRegressor(listed(Products(degree=2), DATA), weighting=weighting, normalize=None).fit(
        DATA, TARGET
    )
    assert asked.certified_ and asked.alignment_ == pytest.approx(there.alignment_, abs=1e-8)
    assert len(asked.weights_) == there.active_.size
    K = asked.kernel_(DATA)
    assert centered_alignment(K, TARGET) == pytest.approx(asked.alignment_, abs=1e-8)


def test_the_corrective_form_is_alignf_over_the_list():
    weighting = GreedyAlignment("distance", max_kernels=400, tol=1e-9)
    asked = AlignMKLRegressor(Products(degree=2), weighting=weighting).fit(DATA, TARGET)
    kernels = listed(Products(degree=2), DATA)
    full = AlignMKLRegressor(kernels, weighting="alignf", normalize=None).fit(DATA, TARGET)
    assert asked.alignment_ == pytest.approx(full.alignment_, abs=1e-6)


@pytest.mark.slow
def test_the_corrective_form_is_alignf_over_286_products():
    data = np.random.RandomState(3).randn(120, 10)
    target = data[:, 0] * data[:, 1] * data[:, 2] + data[:, 3] + 0.2 * np.random.RandomState(4).randn(120)
    weighting = GreedyAlignment("distance", max_kernels=2000, tol=1e-9)
    asked = AlignMKLRegressor(Products(degree=3), weighting=weighting).fit(data, target)
    full = AlignMKLRegressor(listed(Products(degree=3), data), weighting="alignf", normalize=None)
    assert asked.alignment_ == pytest.approx(full.fit(data, target).alignment_, abs=1e-6)


def test_products_of_kernels_and_classes():
    labels = np.where(TARGET > 0, "up", "down")
    family = Products([Linear(), Gaussian(3.0)], degree=2)
    model = AlignMKLClassifier(family, weighting="greedy").fit(DATA, labels)
    assert model.score(DATA, labels) > 0.7 and 0 < model.alignment_ <= 1
    three = np.digitize(TARGET, [-0.5, 0.5])
    assert (
        AlignMKLClassifier(Products(degree=2), weighting="greedy").fit(DATA, three).score(DATA, three) > 0.7
    )
