"""What fits hold beyond their inputs stays within `memory_limit`; what cannot is refused at once, in words.

Python's tracemalloc sees the arrays of NumPy. `SMALL` is the stated allowance for vectors, blocks and lists.
"""

import gc
import tracemalloc
import warnings

import numpy as np
import pytest
from sklearn.base import is_classifier
from tests.times import times

import manykernels
from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    HierarchicalMKLClassifier,
    HierarchicalMKLRegressor,
    KernelAligner,
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLSurvival,
    MKLSurvivalCV,
    NonlinearMKLClassifier,
    NonlinearMKLRegressor,
    UFOMKLClassifier,
    UFOMKLRegressor,
)
from manykernels.approx import Nystroem, RandomFeatures
from manykernels.families import (
    AnovaDAG,
    ARDGaussians,
    Dirichlets,
    Gaussians,
    PolynomialDAG,
    Products,
    gaussian_grid,
    per_feature,
    rank_one,
)
from manykernels.grams.memory import SMALL, require_time
from manykernels.kernels import Callable, Gaussian

FIVE, MANY = gaussian_grid(0.5, 5.0, 5), gaussian_grid(0.3, 10.0, 30)
ONE_FOLD = {"cv": 2, "norms": [1.0], "Cs": [1.0]}
FAST = {
    "centred": MKLRegressor(MANY, center=True),
    "continuum": MKLRegressor(Gaussians(0.3, 10.0)),
    "landmarks": MKLRegressor(FIVE, approx=Nystroem(60)),
}
SLOW = {
    "aligner": KernelAligner(MANY),
    "alignment and ridge": AlignMKLRegressor(MANY),
    "online regression": UFOMKLRegressor(FIVE, approx=RandomFeatures(60)),
    "power, regression": NonlinearMKLRegressor(MANY, n_starts=1),
    "clusters, regression": LocalizedMKLRegressor(MANY),
    "survival": MKLSurvival(MANY),
    "survival, landmarks": MKLSurvival(FIVE, approx=Nystroem(60)),
    "search of survival": MKLSurvivalCV(FIVE, strategy="finite", **ONE_FOLD),
    "hinge": MKLClassifier(MANY),
    "several classes": MKLClassifier(FIVE, loss="logistic"),
    "products of kernels": MKLRegressor(Products(FIVE, degree=2), max_iter=20),
    "products of columns": MKLClassifier(Products(degree=2), loss="squared"),
    "search": MKLRegressorCV(MANY, strategy="finite", **ONE_FOLD),
    "search of classifiers": MKLClassifierCV(FIVE, strategy="finite", **ONE_FOLD),
    "alignment": AlignMKLClassifier(MANY),
    "online": UFOMKLClassifier(MANY),
    "graph": HierarchicalMKLClassifier(),
    "graph of Gaussians": HierarchicalMKLRegressor(AnovaDAG(), max_iter=20),
    "power": NonlinearMKLClassifier(FIVE, n_starts=2),
    "clusters": LocalizedMKLClassifier(FIVE),
    "squared hinge": MKLClassifier(MANY, loss="squared_hinge"),
    "several hinges": MKLClassifier(FIVE),
    "one against the rest": MKLClassifier(FIVE, multi_class="ovr"),
    "cosine": MKLClassifier(MANY, normalize="cosine", center=True),
    "frobenius": MKLRegressor(MANY, normalize="frobenius"),
    "norm 2": MKLClassifier(MANY, norm=2.0),
    "tube": MKLRegressor(MANY, loss="epsilon_insensitive"),
    "auto": MKLRegressor(),
    "a function": MKLRegressor([Callable(lambda a, b: (a @ b.T) ** 2), Gaussian(1.0)]),
    "each feature": MKLRegressor(per_feature()),
    "rank one": MKLRegressor(rank_one()),
    **{
        solver: MKLRegressor(MANY, solver=solver, max_iter=20)
        for solver in ("alternating", "greedy", "corrective", "stochastic", "blockwise", "silp", "hessian")
    },
    "greedy continuum": MKLRegressor(Gaussians(0.3, 10.0), solver="greedy", max_iter=20),
    "drawn products": MKLRegressor(Products(FIVE, degree=2), solver="stochastic", norm=2.0, max_iter=20),
    "cubes": MKLClassifier(Products(degree=3, atom_scale="rms")),
    "many widths": MKLRegressor(ARDGaussians(0.3, 10.0), max_iter=3),
    "frequencies": MKLRegressor(Dirichlets(0.3, 2.0), max_iter=5),
    "continuum of classifiers": MKLClassifier(Gaussians(0.3, 10.0)),
    "landmarks, hinge": MKLClassifier(FIVE, approx=Nystroem(60)),
    "random features": MKLClassifier(FIVE, approx=RandomFeatures(60), loss="logistic"),
    "search of everything": MKLRegressorCV(cv=2),
    "leave one out": MKLRegressorCV(FIVE, cv="loo", norms=[1.0]),
    "search with features": MKLRegressorCV(FIVE, approx=Nystroem(60), cv=2),
    "search by alignment": MKLClassifierCV(MANY, strategy="aligned", cv=2),
    "alignment, one by one": AlignMKLClassifier(MANY, weighting="align"),
    "aligned continuum": AlignMKLRegressor(Gaussians(0.3, 10.0), weighting="greedy"),
    "aligned features": AlignMKLClassifier(FIVE, approx=Nystroem(60)),
    "epochs": UFOMKLRegressor(MANY, epochs=3),
    "graph, logistic": HierarchicalMKLClassifier(PolynomialDAG(2), loss="logistic"),
    "graph of many Gaussians": HierarchicalMKLClassifier(AnovaDAG(), C=10.0, max_iter=60),
}
CASES = [*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


def problem(n, model):
    rng = np.random.RandomState(0)
    X = rng.randn(n, 5)
    f = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.randn(n)
    if is_classifier(model):
        return X, np.digitize(f, [-0.5, 0.5])
    return X, times(f) if "Survival" in type(model).__name__ else f


def peak_of(model, X, y):
    """Bytes held at most, and the refusal if there was one."""
    gc.collect()
    tracemalloc.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        refusal = ""
    except MemoryError as error:
        refusal = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, refusal


def test_every_estimator_is_measured():
    measured = {type(model).__name__ for model in (*FAST.values(), *SLOW.values())}
    assert measured == {name for name in manykernels.__all__ if "MKL" in name or name == "KernelAligner"}


@pytest.mark.parametrize("name", CASES)
def test_peaks_stay_within_the_limit(name):
    model = {**FAST, **SLOW}[name]
    X, y = problem(120, model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)  # what is compiled and imported is not counted
    n = 640 if name in FAST else 800
    X, y = problem(n, model)
    refused = []
    for matrices in (3, 12, 24):
        limit = matrices * 8 * n * n
        peak, refusal = peak_of(model.set_params(memory_limit=limit), X, y)
        assert peak <= limit + SMALL
        if refusal:
            assert "memory_limit" in refusal and any(unit in refusal for unit in ("MB", "GB"))
        refused.append(bool(refusal))
    assert not refused[-1]


MILLION = {
    "classifier": MKLClassifier(),
    "regressor": MKLRegressor(FIVE),
    "products": MKLRegressor(Products(FIVE)),
    "continuum": MKLRegressor(Gaussians(0.3, 10.0)),
    "widths": MKLRegressor(ARDGaussians(0.3, 10.0)),
    "blockwise": MKLRegressor(FIVE, solver="blockwise"),
    "aligner": KernelAligner(),
    "alignment": AlignMKLClassifier(),
    "greedy": AlignMKLRegressor(Gaussians(0.3, 10.0), weighting="greedy"),
    "online": UFOMKLClassifier(FIVE),
    "graph": HierarchicalMKLClassifier(),
    "Gaussian graph": HierarchicalMKLRegressor(AnovaDAG()),
    "power": NonlinearMKLRegressor(FIVE),
    "clusters": LocalizedMKLClassifier(FIVE),
}

# Sums over blocks of rows, or landmarks chosen on some of them, need no matrix of a million rows.
BY_ROWS = {"columns": MKLClassifier(Products(degree=2)), "search": MKLRegressorCV(FIVE)}


@pytest.mark.slow
@pytest.mark.parametrize("name", MILLION)
def test_a_million_rows_are_refused(name):
    rng = np.random.RandomState(0)
    X, y = rng.randn(10**6, 2), rng.randint(0, 2, 10**6)
    with pytest.raises(MemoryError, match=r"memory_limit") as refusal:
        MILLION[name].fit(X, y)
    assert "Unable to allocate" not in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_ROWS)
def test_a_million_rows_are_learned_from_blocks_of_rows(name):
    X = np.random.RandomState(0).randn(10**6, 2)
    y = X[:, 0] * X[:, 1] > 0  # a product of columns: products can be right everywhere
    model = BY_ROWS[name].fit(X, y.astype(float))
    assert model.score(X[:1000], y[:1000]) > (0.95 if name == "columns" else 0.5)


def test_a_refusal_says_what_is_needed_and_what_to_do():
    X, y = problem(300, MKLRegressor())
    with pytest.raises(MemoryError, match=r"PolynomialDAG .* needs at least .* memory_limit allows 1 KB"):
        HierarchicalMKLRegressor(memory_limit=1024).fit(X, y)
    with pytest.raises(MemoryError, match=r"30 kernels on 300 samples need at least 4\.\d+ MB .*Nystroem"):
        MKLRegressor(MANY, memory_limit=1024).fit(X, y)


def test_kernels_that_would_be_recomputed_for_hours_are_refused():
    require_time(1000, 10_000)
    require_time(50, 100_000)
    with pytest.raises(MemoryError, match=r"650013 kernels on 200 samples need .* hours .* fewer kernels"):
        require_time(650_013, 200)
    with pytest.raises(MemoryError, match=r"1 kernel on 1000000 samples need .* hours .*fewer samples"):
        require_time(1, 10**6)


def test_graphs_of_very_many_columns_are_refused():
    X, y = np.random.RandomState(0).randn(10, 50_000), np.arange(10.0)
    with pytest.raises(MemoryError, match=r"50000 columns .* of 50000 × 50000\).*fewer columns"):
        HierarchicalMKLRegressor(PolynomialDAG(3), memory_limit="10GB").fit(X, y)


def test_searches_in_several_processes_share_the_limit(monkeypatch):
    from manykernels.selection import folds

    template = MKLRegressorCV(FIVE, memory_limit=10**9)._own(FIVE)
    strategy = folds.Strategy("finite", template, template._options(), [1.0], [1.0])
    shared = folds._sharing(strategy, 4)
    assert shared.template.memory_limit == shared.options.memory_limit == 10**9 // 4
    assert folds._sharing(strategy, 1) is strategy
