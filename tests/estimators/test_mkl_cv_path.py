"""Paths in C on the training part of a fold: each step is the fit that one would make by itself, and nothing
of what was held out is in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.svm import SVR
from threadpoolctl import threadpool_info, threadpool_limits

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import MKLClassifierCV, MKLRegressorCV
from manykernels.families import Auto, Gaussians, Products, Relevance, Subset
from manykernels.fitting.samples import read
from manykernels.kernels import Gaussian, Linear, OnColumns, Spectrum
from manykernels.selection import paths
from manykernels.selection.folds import run_trial
from manykernels.selection.strategies import strategies

RNG = np.random.RandomState(0)
N, NEW = 50, 15
X = RNG.randn(N + NEW, 3)
SIGNAL = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.3 * RNG.randn(N + NEW)
TWO = np.where(SIGNAL > 0.0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.7, 0.7])
PAIR = np.column_stack([SIGNAL, X[:, 2] ** 2])
KERNELS = {"line": Linear(), "narrow": Gaussian(0.7), "wide": Gaussian(3.0)}
NORMS, CS = (1.0, 2.0), (10.0, 0.1, 1.0)
TIGHT = {"tol": 1e-9, "max_iter": 5000}
WEIGHT = RNG.randint(0, 4, N) * 0.5


def decisions(model, new):
    f = model.decision_function(new) if hasattr(model, "decision_function") else model.predict(new)
    return f.reshape(len(f), -1)


def path_steps(template, data, y, weight, new, norms, Cs, parts=None, error=None):
    """The path of an estimator's options, on data as users give them."""
    given = read(template._options(), data, y, weight, template._target())
    new = given.layout.read(new)
    return paths.path_steps(template._options(), given.samples(), new, norms, Cs, parts, error)


def assert_path_is_fits(template, data, y, weight=None, new=None, parts=None, atol=2e-3):
    """Every step against a fit of its own, on all new samples."""
    steps = path_steps(template, data, y, weight, new, NORMS, CS, parts)
    assert [step.C for step in steps[:3]] == sorted(CS)
    found = set()
    for step in steps:
        alone = clone(template).set_params(norm=step.norm, C=step.C)
        if step.only is not None:
            alone.set_params(kernels=Subset(template.kernels, step.only))
        alone.fit(data, y, sample_weight=weight)
        np.testing.assert_allclose(step.decision, decisions(alone, new), atol=atol)
        assert step.gap <= 10.0 * template.tol
        if step.only is None:
            np.testing.assert_allclose(step.weights, alone.weights_, atol=20.0 * atol)
        found.add((step.norm, step.only, step.C))
    assert len(found) == len(steps)
    # C matters here, or the comparison would say nothing
    assert np.abs(steps[2].decision - steps[0].decision).max() > 20.0 * atol
    return steps


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_classifiers(loss, y):
    template = MKLClassifier(KERNELS, loss=loss, **TIGHT)
    steps = assert_path_is_fits(template, X[:N], y[:N], new=X[N:])
    assert len(steps) == 6 and steps[0].decision.shape == (NEW, 1 if y is TWO else 3)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_classes_with_weights_of_their_own(loss):
    template = MKLClassifier(KERNELS, loss=loss, multi_class="ovr", **TIGHT)
    steps = assert_path_is_fits(template, X[:N], THREE[:N], new=X[N:])
    assert steps[0].weights.shape == (3, 3)


@pytest.mark.parametrize("y", [SIGNAL, PAIR], ids=["one", "two"])
@pytest.mark.parametrize("loss", ["squared", "epsilon_insensitive"])
def test_regressors(loss, y):
    shifted = 100.0 + y  # the intercept must follow
    assert_path_is_fits(MKLRegressor(KERNELS, loss=loss, **TIGHT), X[:N], shifted[:N], new=X[N:], atol=5e-3)


@pytest.mark.parametrize("options", [{"center": True}, {"normalize": "cosine"}, {"fit_intercept": False}])
def test_options(options):
    assert_path_is_fits(MKLRegressor(KERNELS, **options, **TIGHT), X[:N], SIGNAL[:N], new=X[N:])


@pytest.mark.parametrize("kernels", [KERNELS, "auto", Relevance()], ids=["list", "auto", "relevance"])
def test_weights_of_samples(kernels):
    model = MKLRegressor(kernels, **TIGHT)
    steps = assert_path_is_fits(model, X[:N], SIGNAL[:N], WEIGHT, X[N:])
    plain = path_steps(model, X[:N], SIGNAL[:N], None, X[N:], NORMS, CS)
    assert np.abs(steps[0].decision - plain[0].decision).max() > 1e-2


def test_repeated_samples_and_class_weights():
    rows = np.r_[np.arange(N), np.arange(20)]
    template = MKLClassifier(KERNELS, loss="squared", class_weight="balanced", **TIGHT)
    assert_path_is_fits(template, X[rows], THREE[rows], new=X[N:])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["plain", "weighted"])
def test_stacks(weight):
    stack = np.stack([kernel(X, X[:N]) for kernel in KERNELS.values()], axis=2)
    template = MKLClassifier("precomputed", loss="squared", **TIGHT)
    steps = assert_path_is_fits(template, stack[:N], THREE[:N], weight, stack[N:])
    objects = path_steps(
        clone(template).set_params(kernels=KERNELS), X[:N], THREE[:N], weight, X[N:], NORMS, CS
    )
    for given, computed in zip(steps, objects, strict=True):
        np.testing.assert_allclose(given.decision, computed.decision, atol=2e-3)


def test_sparse_matrices():
    S = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    assert_path_is_fits(MKLRegressor("auto", **TIGHT), S[:N], SIGNAL[:N], new=S[N:])


def frame():
    text = [
        "".join(np.random.RandomState(i).choice(list("ab" if s > 0 else "bc"), 9))
        for i, s in enumerate(SIGNAL)
    ]
    colour = np.where(X[:, 2] > 0.0, "red", "blue")
    return pd.DataFrame({"size": X[:, 0], "dose": X[:, 1], "colour": colour, "text": text})


@pytest.mark.parametrize(
    "kernels",
    ["auto", {"body": OnColumns(Gaussian(2.0), ["size", "dose"]), "text": OnColumns(Spectrum(2), "text")}],
    ids=["auto", "named"],
)
def test_frames(kernels):
    table = frame()
    assert_path_is_fits(MKLRegressor(kernels, **TIGHT), table[:N], SIGNAL[:N], new=table[N:])


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic"])
def test_one_kernel_alone_and_some_of_them(loss):
    def parts(names):
        return [*((1.0, (name,)) for name in names), (2.0, ("wide", "line"))]

    steps = assert_path_is_fits(
        MKLClassifier(KERNELS, loss=loss, **TIGHT), X[:N], THREE[:N], new=X[N:], parts=parts
    )
    assert len(steps) == 6 + 9 + 3
    for step in steps[6:15]:
        np.testing.assert_array_equal(step.weights, [name in step.only for name in KERNELS])
    assert not any(step.weights[1] for step in steps[15:])


@pytest.mark.parametrize("y", [TWO, SIGNAL], ids=["classes", "numbers"])
def test_products(y):
    kind = MKLRegressor if y is SIGNAL else MKLClassifier
    family = Products(degree=2, atom_scale="rms", scale=True)
    template = kind(family, solver="corrective", loss="squared", tol=1e-7)
    costs = (0.003, 0.03, 0.3)
    steps = path_steps(template, X[:N], y[:N], None, X[N:], [1.0], costs)
    for step, C in zip(steps, costs, strict=True):
        alone = clone(template).set_params(C=C).fit(X[:N], y[:N])
        np.testing.assert_allclose(step.decision, decisions(alone, X[N:]), atol=2e-3)
        assert step.C == C and step.gap <= 1e-6
    assert steps[-1].n_active > 1


def test_continuous_families():
    template = MKLRegressor(Gaussians(0.1, 10.0), tol=1e-6)
    for step in path_steps(template, X[:N], SIGNAL[:N], None, X[N:], [1.0], (0.1, 10.0)):
        alone = clone(template).set_params(C=step.C).fit(X[:N], SIGNAL[:N])
        np.testing.assert_allclose(step.decision, decisions(alone, X[N:]), atol=2e-2)


def test_a_path_ends_where_its_error_grows_and_its_last_step_stands_for_the_rest():
    errors = iter([3.0, 2.0, 2.03, 2.2, *[1.0] * 9])
    steps = path_steps(
        MKLRegressor(KERNELS), X[:N], SIGNAL[:N], None, X[N:], [1.0], [0.1, 1.0, 2.0, 5.0, 10.0, 100.0],
        error=lambda f: next(errors),
    )  # fmt: skip
    assert [step.C for step in steps] == [0.1, 1.0, 2.0, 5.0, 10.0, 100.0]
    for step in steps[4:]:
        np.testing.assert_array_equal(step.decision, steps[3].decision)
        assert np.isnan(step.gap)
    assert np.abs(steps[3].decision - steps[2].decision).max() > 0.0


# -- nothing of what is held out is in what is scored ---------------------------------------------
TRAIN, KEPT, WILD = np.arange(40), np.arange(40, 53), np.arange(53, N + NEW)
FOLD = [(TRAIN, np.r_[KEPT, WILD])]
RAW = np.column_stack([X[:, 0], 1e3 * X[:, 1], np.sign(X[:, 2]) * np.abs(X[:, 2]) ** 5 + X[:, 0]])


def scored(search, data, y):
    """What every model of a search says of the samples in KEPT, in the order in which they are scored."""
    said = []

    def scorer(model, new, answer):
        said.append(decisions(model, new)[: KEPT.size])
        return 0.0

    search = clone(search).set_params(scoring=scorer, cv=FOLD, refit=False, Cs=[0.1, 10.0])
    search.fit(data, y)
    return np.array(said)


def wildly(data, y):
    """The same with other samples in WILD: huge, repeated, and of other targets."""
    data, y = data.copy(), y.copy()
    if data.ndim == 3:
        data[WILD] *= 1e3
        data[:, WILD] *= 1e3
    else:
        data[WILD] = 1e6 * data[WILD[::-1]] + 1e5
        data[WILD[:3]] = data[WILD[0]]
    y[WILD] = 1e4 * y[WILD] + 7.0 if y.dtype == float else y[WILD].max() - y[WILD]
    return data, y


SEARCHES = {
    "auto": {"strategy": "finite"},
    "centred": {"strategy": "finite", "center": True},
    "cosine": {"strategy": "finite", "normalize": "cosine"},
    "frobenius": {"strategy": "finite", "normalize": "frobenius", "center": True},
    "relevance": {"strategy": "continuous"},
    "products": {"strategy": "products"},
    "aligned": {"strategy": "aligned", "kernels": [Linear(), Gaussian(2.0)]},
    "given": {"kernels": [Linear(), Gaussian(1.0)], "center": True},
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("y", [SIGNAL, THREE], ids=["numbers", "classes"])
def test_nothing_leaks_from_what_is_held_out(name, y):
    search = (MKLRegressorCV if y is SIGNAL else MKLClassifierCV)(**SEARCHES[name])
    before, after = scored(search, RAW, y), scored(search, *wildly(RAW, y))
    assert len(before) >= 2 and np.abs(before).max() > 1e-3
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-7)


def test_nothing_leaks_into_an_estimator_of_ones_own():
    search = MKLRegressorCV(strategy=[MKLRegressor("auto", norm=2.0), SVR(C=3.0)])
    before, after = scored(search, RAW, SIGNAL), scored(search, *wildly(RAW, SIGNAL))
    assert len(before) == 4
    np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-7)


def test_normal_scores_are_among_what_may_leak():
    assert "Gaussian(1 × median, normal scores)" in Auto().resolve(RAW[TRAIN])


def test_nothing_leaks_from_a_stack():
    search = MKLRegressorCV("precomputed", center=True)
    stack = np.stack([kernel(X) for kernel in KERNELS.values()], axis=2)
    before, after = scored(search, stack, SIGNAL), scored(search, *wildly(stack, SIGNAL))
    np.testing.assert_allclose(after, before, atol=1e-9)


def _scaled_before(data, y):
    return MKLRegressorCV([Gaussian(1.0)]), (data - data.mean(axis=0)) / data.std(axis=0)


def _widths_of_all(data, y):
    return MKLRegressorCV({**Auto().resolve(data)}), data


def _relevance_of_all(data, y):
    return MKLRegressorCV({**Relevance().resolve(data, target=y[:, None])}), data


def _centred_by_all(data, y):
    K = Gaussian(2.0)(data / [1.0, 1e3, 1.0])
    centre = np.eye(len(K)) - 1.0 / len(K)
    return MKLRegressorCV("precomputed", fit_intercept=False), (centre @ K @ centre)[:, :, None]


@pytest.mark.filterwarnings("ignore:.*are constant:UserWarning")  # as widths from huge samples make them
@pytest.mark.parametrize("leaky", [_scaled_before, _widths_of_all, _relevance_of_all, _centred_by_all])
def test_the_test_would_see_a_leak(leaky):
    """What is learned from all samples, before they are split, does change what is said of KEPT."""
    said = []
    for data, y in ((RAW, SIGNAL), wildly(RAW, SIGNAL)):
        search, given = leaky(data, y)
        said.append(scored(search, given, SIGNAL))
    alike = said[0].shape == said[1].shape  # kernels that are constant in one of them have no model there
    assert not alike or np.abs(said[1] - said[0]).max() > 1e-2


def test_a_trial_knows_of_the_training_part_only():
    """The same through the scores of a trial: those of KEPT alone, with other samples left out or not."""
    search = MKLRegressorCV(strategy=["finite", "continuous", "products"])
    data, y = wildly(RAW, SIGNAL)
    rows = np.r_[TRAIN, KEPT]
    everything, target, layout = search._read(data, y, None)
    some, _, _ = search._read(RAW[rows], SIGNAL[rows], None)
    for strategy in strategies(search._wish(target, layout), RAW, 1):
        on_all = search._with_samples(strategy, data, y, None, everything, None)
        on_some = search._with_samples(strategy, RAW[rows], SIGNAL[rows], None, some, None)
        whole, _ = run_trial(on_all, everything, TRAIN, KEPT)
        parted, _ = run_trial(on_some, some, TRAIN, KEPT)
        assert list(whole) == list(parted)
        for key, row in whole.items():
            assert row.score == pytest.approx(parted[key].score, abs=1e-9)
            assert row.n_active == parted[key].n_active


def test_small_steps_have_one_blas_thread():
    """Several would wait for each other: a search on 400 samples took twice as long with two of them."""
    seen: list[set[int]] = []

    def now() -> set[int]:
        return {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}

    def error(f):
        seen.append(now())
        return 1.0

    with threadpool_limits(2, "blas"):
        before = now()
        path_steps(MKLRegressor(KERNELS), X[:N], SIGNAL[:N], None, X[N:], [1.0], CS, error=error)
        assert seen == [{1}] * 3 and now() == before
