"""What a race drops: nothing that may still be the best by its standard error."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels import MKLClassifierCV, MKLRegressorCV
from manykernels.estimators import _large
from manykernels.kernels import Gaussian
from manykernels.selection import folds, plan, race, search
from manykernels.selection.calibration import calibrated_loss
from manykernels.selection.chance import may_be_best
from manykernels.selection.folds import Row, Table
from manykernels.selection.strategies import Strategy

rng = np.random.RandomState(0)
BEST = rng.rand(100)


@pytest.fixture
def few(monkeypatch):
    """Stages that begin at 60 rows."""
    for name, value in {"WHOLE": 60, "EXACT": 500, "_RACE": (40, 60), "_SECOND": 120}.items():
        monkeypatch.setattr(plan, name, value)


def row(errors):
    return Row(0.0, float(np.mean(errors)), 0.0, 1, errors=np.asarray(errors))


def table(name, race=False, **errors):
    trial = {(1.0, (key,), 1.0): row(own) for key, own in errors.items()}
    return Table(Strategy(name, None, None, [1.0], [1.0], race=race), [trial])


# -- the rule ---------------------------------------------------------------------------------------
def test_a_model_may_be_best_unless_two_standard_errors_tell_it_from_the_best():
    noise = rng.randn(100)
    noise -= noise.mean()
    error = noise.std(ddof=1) / 10
    assert may_be_best(BEST + noise + 1.9 * error, BEST)
    assert not may_be_best(BEST + noise + 2.1 * error, BEST)
    assert may_be_best(BEST, BEST) and may_be_best(BEST - 1.0, BEST)
    assert not may_be_best(BEST + 0.01, BEST)  # little, but on every sample


def test_where_nothing_is_known_a_model_may_be_best():
    assert may_be_best(None, BEST) and may_be_best(BEST, None) and may_be_best([9.0], [0.0])


def test_the_first_fold_drops_what_is_far_behind_and_surely_so():
    noisy = BEST.copy()
    noisy[0] += 3.0 * BEST.sum()  # four times the error, by one sample
    first = table("first", best=BEST, slightly=1.4 * BEST, noisy=noisy)
    second = table("second", race=True, far=2.0 * BEST)
    near = folds._near([first, second])
    assert {only for _, (only,), _ in near[0]} == {"best", "slightly", "noisy"}
    assert near[1] == set()
    assert all(one.errors is None for one in first.trials[0].values())


@pytest.mark.parametrize("narrow", [False, True])
def test_strategies_that_may_be_best_go_on(monkeypatch, narrow):
    noisy = BEST.copy()
    noisy[0] += 3.0 * BEST.sum()
    tables = {
        "plain": table("plain", far=2.0 * BEST),
        "best": table("best", best=BEST),
        "raced": table("raced", race=True, far=2.0 * BEST),
        "unclear": table("unclear", race=True, noisy=noisy),
    }
    seen = []

    def run(own, data, parts, n_jobs, done, errors="none"):
        for one in own:
            seen.append((one.strategy.name, len(parts)))
            one.trials += tables[one.strategy.name].trials if errors != "none" else []
        return True

    monkeypatch.setattr(folds, "_run", run)
    data = type("Data", (), {"survival": False})()
    found = [one.strategy for one in tables.values()]
    folds.run_folds(found, data, [(None, None)] * 3, None, race=True, narrow=narrow)
    on = {name for name, count in seen if count == 2}
    assert on == {"best", "unclear"} | (set() if narrow else {"plain"})


# -- strategies are compared by what their decisions say of the classes --------------------------------
def test_a_calibrated_loss_knows_no_scale_and_counts_a_weight_as_a_repetition():
    y = rng.randint(0, 3, 300)
    good, bad = np.eye(3)[y] + rng.randn(300, 3), 0.2 * np.eye(3)[y] + rng.randn(300, 3)
    classes, weight = np.arange(3), rng.randint(1, 4, 300)
    loss = calibrated_loss(good, y, classes)
    assert loss == pytest.approx(calibrated_loss(1e-3 * good, y, classes), rel=1e-6)
    assert loss < calibrated_loss(bad, y, classes) - 0.1 < np.log(3.0)
    again = np.repeat(np.arange(300), weight)
    repeated = calibrated_loss(good[again], y[again], classes)
    assert calibrated_loss(good, y, classes, weight.astype(float)) == pytest.approx(repeated, rel=1e-6)
    assert calibrated_loss(np.full((300, 3), np.nan), y, classes) == np.inf


@pytest.mark.parametrize("module", [search, race])
@pytest.mark.parametrize("taken", [0, 1])
def test_the_strategy_with_the_least_calibrated_loss_is_chosen(monkeypatch, few, module, taken):
    """Both where all rows are searched, and where few models go on to more rows."""
    n = 50 if module is search else 300
    X = rng.randn(n, 3)
    y = X[:, 0] + 0.3 * rng.randn(n) > 0
    losses = [1.0, 1.0]
    losses[taken] = 0.5
    asked = iter(losses * 2)
    monkeypatch.setattr(module, "calibrated_loss", lambda *given: next(asked))
    options = {"norms": [2.0], "Cs": [1.0], "cv": 2, "random_state": 0}
    found = MKLClassifierCV(strategy=["finite", "continuous"], **options).fit(X, y)
    if module is search:
        assert found.best_params_["strategy"] == ["finite", "continuous"][taken]
    else:  # in the order of their errors
        monkeypatch.setattr(module, "calibrated_loss", lambda *given: 1.0)
        first = MKLClassifierCV(strategy=["finite", "continuous"], **options).fit(X, y)
        same = found.best_params_["strategy"] == first.best_params_["strategy"]
        assert same is (taken == 0)


# -- whole searches -----------------------------------------------------------------------------------
def alike(n=8):
    """Kernels that no fold tells from each other."""
    return {f"width {1 + 0.01 * k:.2f}": Gaussian(1 + 0.01 * k) for k in range(n)}


def watched(monkeypatch):
    """What `still_near` is given and returns, and what `second_round` is given."""
    calls = {}

    def still_near(*given):
        calls["still_near"] = given, race.still_near(*given)
        return calls["still_near"][1]

    def second_round(*given):
        calls["second_round"] = given, race.second_round(*given)
        return calls["second_round"][1]

    monkeypatch.setattr(_large, "still_near", still_near)
    monkeypatch.setattr(_large, "second_round", second_round)
    return calls


@pytest.mark.parametrize("classes", [False, True])
def test_all_models_that_folds_cannot_tell_apart_go_on(few, monkeypatch, classes):
    calls = watched(monkeypatch)
    X = rng.randn(150, 3)
    y = np.sin(2 * X[:, 0]) + 0.5 * rng.randn(150)
    search = (MKLClassifierCV if classes else MKLRegressorCV)(alike(), norms=[2.0], Cs=[1.0], random_state=0)
    model = search.fit(X, y > 0 if classes else y)
    (_, finalists, *_), going = calls["still_near"]
    assert len(finalists["C"]) > 6  # more than are shown
    assert len(model.finalists_["C"]) == 6
    assert set(going["kernels"]) <= set(finalists["kernels"])
    tried = {one.step.only for one in calls["second_round"][1]}
    assert tried == set(going["kernels"])


def test_half_of_the_rows_drop_what_they_tell_from_the_best_one(few, monkeypatch):
    calls = watched(monkeypatch)
    X = rng.randn(200, 3)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.randn(200)
    kernels = alike(3) | {"narrow": Gaussian(0.01)}
    MKLRegressorCV(kernels, norms=[2.0], Cs=[1.0, 10.0], random_state=0).fit(X, y)
    (found, _, *rest), _ = calls["still_near"]
    names = [None, *((name,) for name in kernels), ("not there",)]
    given = {"strategy": ["finite"] * 6, "norm": [2.0] + [1.0] * 5, "kernels": names, "C": [10.0] * 6}
    going = race.still_near(found, given, *rest)
    assert ("narrow",) not in going["kernels"] and ("not there",) in going["kernels"]
    assert len(going["kernels"]) >= 2 and len({len(column) for column in going.values()}) == 1
    few_of_them = {name: column[3:5] for name, column in given.items()}
    assert race.still_near(found, few_of_them, *rest) == few_of_them


def test_each_set_of_kernels_has_values_of_C_of_its_own(few, monkeypatch):
    calls = watched(monkeypatch)
    X = rng.randn(200, 3)
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.randn(200)
    kernels, Cs = alike(2), [0.1, 1.0, 10.0, 100.0]
    MKLRegressorCV(kernels, norms=[2.0], Cs=Cs, random_state=0).fit(X, y)
    found, _, *rest = calls["second_round"][0]
    one, two = ((name,) for name in kernels)
    given = {"strategy": ["finite"] * 2, "norm": [1.0] * 2, "kernels": [one, two], "C": [0.1, 100.0]}
    tried = {one: set(), two: set()}
    for contender in race.second_round(found, given, *rest):
        tried[contender.step.only].add(contender.step.C)
    assert tried[one] <= {0.1, 1.0} and tried[two] <= {10.0, 100.0} and tried[one] and tried[two]
