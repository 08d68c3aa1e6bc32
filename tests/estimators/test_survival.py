"""MKLSurvival and MKLSurvivalCV: one road with the other estimators, and what times to an event add to it."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLSurvival, MKLSurvivalCV
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, Products, gaussian_grid
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns

RNG = np.random.RandomState(0)
N = 70
X = RNG.randn(N, 4)
DEATH, LAST = RNG.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1] ** 2)), RNG.exponential(2.0, N)
EVENT, TIME = DEATH <= LAST, np.minimum(DEATH, LAST)
Y = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("event", bool), ("time", float)])
VIEWS = {"a": OnColumns(Gaussian(2.0), [0, 1]), "b": OnColumns(Linear(), [2, 3])}


def full(**more):
    """y with further fields."""
    return pd.DataFrame({"event": EVENT, "time": TIME, **more})


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"norm": 2.0},
        {"ties": "efron"},
        {"kernels": Products(degree=2)},
        {"kernels": Gaussians(0.5, 20)},
        {"kernels": gaussian_grid(0.5, 8, 4), "approx": Nystroem(20)},
        {"kernels": gaussian_grid(0.5, 8, 4), "approx": Nystroem(20), "covariates": [0]},
        {"covariates": [0, 3]},
        {"kernels": Gaussians(0.5, 20), "solver": "greedy", "covariates": [0]},
        {"kernels": Products(degree=2), "solver": "stochastic", "norm": 2.0, "tol": 1e-2},
    ],
    ids=str,
)
def test_every_road_ends_certified(given):
    tied = np.column_stack([EVENT, np.ceil(4 * TIME)])
    for y in (Y, tied):
        model = MKLSurvival(**given).fit(X, y)
        assert 0.0 <= model.dual_gap_ <= model.tol
        assert model.certified_
        assert model.score(X, y) > 0.6
        assert abs(model.predict(X).mean()) < 1e-9


def test_the_certificate_can_be_computed_anew():
    for given in ({}, {"covariates": [0]}, {"kernels": gaussian_grid(0.5, 8, 3), "approx": Nystroem(20)}):
        model = MKLSurvival(**given).fit(X, Y)
        found = certificate(model, X, Y)
        assert found.primal == pytest.approx(model.objective_, rel=1e-6)
        assert 0.0 <= found.gap <= 2e-3


def test_absent_views_are_served():
    gaps = X.copy()
    gaps[:15, :2] = np.nan
    model = MKLSurvival(VIEWS).fit(gaps, Y)
    assert model.present_ == {"0, 1": 55, "2, 3": 70} or sorted(model.present_.values()) == [55, 70]
    assert model.dual_gap_ <= 1e-3
    assert np.isfinite(model.predict(gaps)).all()


# -- what y may be --------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "y",
    [
        np.column_stack([EVENT, TIME]),
        pd.DataFrame({"time": TIME, "event": EVENT}),
        pd.DataFrame({"status": EVENT.astype(int), "days": TIME}),
        pd.DataFrame({"event": np.where(EVENT, "dead", "alive"), "time": TIME}),
        pd.DataFrame({"time": TIME, "event": np.where(EVENT, "yes", "no")}),
        pd.DataFrame({"weeks": TIME, "relapse": np.where(EVENT, "yes", "no")}),
        list(zip(EVENT.tolist(), TIME.tolist(), strict=True)),
        Y[["time", "event"]],
    ],
    ids=["array", "frame", "numbers", "words", "words last", "words, other names", "list", "swapped fields"],
)
def test_all_forms_of_y_are_the_same(y):
    expected = MKLSurvival(Linear()).fit(X, Y).predict(X)
    np.testing.assert_array_equal(MKLSurvival(Linear()).fit(X, y).predict(X), expected)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (np.column_stack([np.zeros(N), TIME]), "no event among 70 samples"),
        (np.column_stack([np.ones(N), np.ones(N)]), "there is no order of events to learn from"),
        (np.column_stack([EVENT, -TIME]), "negative, missing or infinite"),
        (np.column_stack([EVENT, np.where(EVENT, np.nan, TIME)]), "negative, missing or infinite"),
        (np.column_stack([TIME, EVENT]), "are the two swapped"),
        (
            pd.DataFrame({"event": np.where(EVENT, "exitus", "lost"), "time": TIME}),
            "hold 'exitus', 'lost'; which of them",
        ),
        (
            pd.DataFrame({"time": TIME, "event": np.where(EVENT, "exitus", "lost")}),
            "the events of y .* hold 'exitus', 'lost'; which of them",
        ),
        (np.column_stack([EVENT, np.where(np.arange(N) == 4, np.inf, TIME)]), r"infinite in 1 row \(4\)"),
        (full(stratum=np.arange(N)), "in 70 strata"),
        (full(entry=TIME + 1.0), "not before the time"),
        (full(age=TIME), "'event' and 'time'"),
        (TIME, "whether the event was observed and the time"),
        (None, "requires y"),
    ],
)
@pytest.mark.parametrize("face", [MKLSurvival, MKLSurvivalCV])
def test_bad_targets_are_refused_in_words(face, y, said):
    with pytest.raises(ValueError, match=said):
        face(Linear()).fit(X, y)


def test_a_single_event_is_named_before_folds_are():
    lone = np.column_stack([np.arange(N) == 3, TIME])
    assert np.isfinite(MKLSurvival(Linear()).fit(X, lone).predict(X)).all()
    with pytest.raises(ValueError, match=r"one event among 70 samples, .* or take MKLSurvival"):
        MKLSurvivalCV(Linear()).fit(X, lone)


def test_unknown_ties_are_refused():
    for face in (MKLSurvival, MKLSurvivalCV):
        with pytest.raises(ValueError, match="ties='exact' was given; expected 'breslow' or 'efron'"):
            face(Linear(), ties="exact").fit(X, Y)


# -- what must not change the answer ----------------------------------------------------------------
def test_only_the_order_of_times_counts():
    model = MKLSurvival(VIEWS, tol=1e-9).fit(X, Y)
    other = MKLSurvival(VIEWS, tol=1e-9).fit(X, np.column_stack([EVENT, np.exp(3.0 * TIME) + 5.0]))
    np.testing.assert_allclose(other.predict(X), model.predict(X), atol=1e-6)
    assert other.objective_ == pytest.approx(model.objective_)


def test_a_weight_of_two_is_a_repetition():
    weight = 1.0 + (np.arange(N) % 3 == 0)
    again = np.concatenate([np.arange(N), np.flatnonzero(weight == 2.0)])
    tied = np.column_stack([EVENT, np.ceil(4 * TIME)])
    for y in (np.column_stack([EVENT, TIME]), tied):
        weighted = MKLSurvival(VIEWS, C=0.5).fit(X, y, sample_weight=weight)
        repeated = MKLSurvival(VIEWS, C=0.5).fit(X[again], y[again])
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-9)
        assert weighted.objective_ == pytest.approx(repeated.objective_)
        assert weighted.score(X, y, weight) == pytest.approx(repeated.score(X[again], y[again]))
        S = [m.predict_survival_function(X[:3], [0.3]) for m in (weighted, repeated)]
        np.testing.assert_allclose(*S, atol=1e-9)


def test_strata_are_separate_risk_sets():
    """Times of a stratum may be moved as a whole: nobody is compared across."""
    site = np.array(["north", "south"])[np.arange(N) % 2]
    far = full(stratum=site)
    far["time"] = TIME + 100.0 * (site == "south")
    first, second = (MKLSurvival(VIEWS, tol=1e-9).fit(X, y) for y in (full(stratum=site), far))
    np.testing.assert_allclose(first.predict(X), second.predict(X), atol=1e-6)
    assert first.objective_ != pytest.approx(MKLSurvival(VIEWS, tol=1e-9).fit(X, Y).objective_)
    S = first.predict_survival_function(X[:2], [0.2], stratum=["north", "south"])
    assert S.shape == (2, 1)
    with pytest.raises(ValueError, match="no strata were given"):
        first.predict_survival_function(X[:2], [0.2])


def test_who_enters_late_is_not_compared_before():
    """Before they enter, samples might as well not be there; entries before the first event are none."""
    early = full(entry=np.full(N, -1.0))
    plain = MKLSurvival(VIEWS, tol=1e-8).fit(X, Y)
    np.testing.assert_allclose(
        MKLSurvival(VIEWS, tol=1e-8).fit(X, early).predict(X), plain.predict(X), atol=1e-6
    )
    late = MKLSurvival(VIEWS, tol=1e-6).fit(X, full(entry=0.6 * TIME))
    assert 0.0 <= late.dual_gap_ <= 1e-6
    assert np.abs(late.predict(X) - plain.predict(X)).max() > 1e-3


# -- curves ---------------------------------------------------------------------------------------
def test_curves_are_those_of_breslow():
    model = MKLSurvival(VIEWS).fit(X, Y)
    f, times = model.predict(X), [0.1, 0.5, 1.0]
    u = np.exp(f)
    H0 = [sum(1.0 / u[t <= TIME].sum() for t in TIME[EVENT] if t <= when) for when in times]
    H = model.predict_cumulative_hazard(X[:4], times)
    np.testing.assert_allclose(H, u[:4, None] * H0, rtol=1e-9)
    np.testing.assert_allclose(model.predict_survival_function(X[:4], times), np.exp(-H))
    curves = model.predict_survival_function(X[:4])
    np.testing.assert_allclose(curves(times), np.exp(-H))
    median = model.predict_median(X)
    some = np.isfinite(median)
    assert some.any()
    at = [float(model.predict_survival_function(X[[i]], [median[i]])[0, 0]) for i in np.flatnonzero(some)[:5]]
    assert max(at) <= 0.5 + 1e-9
    np.testing.assert_array_equal(model.event_times_, np.unique(TIME[EVENT]))


def test_beyond_what_was_seen_nothing_is_known():
    model = MKLSurvival(Linear()).fit(X, Y)
    with pytest.warns(UserWarning, match="nobody was observed after"):
        late = model.predict_survival_function(X[:1], [TIME.max() + 1.0])
    assert np.isnan(late).all()


# -- the search -------------------------------------------------------------------------------------
def test_a_search_chooses_what_matters():
    model = MKLSurvivalCV(VIEWS, Cs=[0.01, 0.1, 1.0], random_state=0).fit(X, Y)
    assert model.best_score_ == pytest.approx(max(model.comparison_["score"]))
    assert model.dual_gap_ <= 1e-3
    assert model.kernel_names_[0] == "a"
    assert model.predict_survival_function(X[:2], [0.2]).shape == (2, 1)
    assert model.score(X, Y) == pytest.approx(model.best_estimator_.score(X, Y))
    assert "continuous" not in model.describe()


def test_a_linear_model_gives_way_to_what_is_clearly_better():
    rng = np.random.RandomState(3)
    A = rng.randn(150, 2)
    chosen = {}
    for name, f in {"line": A[:, 0], "parabola": 2.0 * A[:, 0] ** 2}.items():
        y = np.column_stack([np.ones(150), rng.exponential(np.exp(-f))])
        model = MKLSurvivalCV(strategy="finite", Cs=[0.1, 1.0], random_state=0).fit(A, y)
        chosen[name] = model.best_params_["kernels"]
    assert chosen["line"] == ("Linear",)
    assert chosen["parabola"] != ("Linear",)


def test_folds_have_their_share_of_events_and_a_search_takes_covariates_and_scorers():
    from manykernels.survival import UnoScorer

    rare = np.column_stack([np.arange(N) % 10 == 0, TIME])
    model = MKLSurvivalCV({"a": VIEWS["a"]}, Cs=[0.1], covariates=[2], cv=3).fit(X, rare)
    assert model.covariate_coef_.shape == (1,)
    chosen = MKLSurvivalCV(VIEWS, Cs=[0.1, 1.0], cv=3, scoring=UnoScorer(train=Y)).fit(X, Y)
    assert 0.4 < chosen.best_score_ <= 1.0
    with pytest.raises(ValueError, match="events are held out"):
        MKLSurvivalCV(VIEWS, cv=[(np.flatnonzero(~EVENT), np.flatnonzero(EVENT))]).fit(X, Y)
    with pytest.raises(ValueError, match="alignment needs a target"):
        MKLSurvivalCV(VIEWS, strategy="aligned").fit(X, Y)


def test_risks_of_all_folds_are_judged_together():
    """Σ over the events of a fold of log Σ_{at risk} e^f − f, f by the model of each sample's own fold."""
    from manykernels.fitting.survival import as_records, read_survival
    from manykernels.selection.survival_judge import SurvivalJudge, Together, positive

    y, f = as_records(read_survival(Y)), RNG.randn(N)
    held = np.array_split(RNG.permutation(N), 3)
    judge = Together(y, None, "breslow", held)
    assert judge.whole
    assert not Together(y, None, "breslow", [held[0], held[0]]).whole

    def lost(i, f):
        return np.log(np.exp(f[TIME[i] <= TIME]).sum()) - f[i]

    for fold, error in zip(held, judge.errors([f[part] for part in held]), strict=True):
        events = fold[EVENT[fold]]
        x = np.mean([lost(i, f) - lost(i, 0.0 * f) for i in events])
        assert error == pytest.approx(positive(x))
    alone = SurvivalJudge(y, None, N, "breslow", None)
    x = np.mean([lost(i, f) - lost(i, 0.0 * f) for i in np.flatnonzero(EVENT)])
    assert alone.error(f[:, None]) == pytest.approx(positive(x))
    assert alone.error(np.zeros((N, 1))) == 1.0


def test_weights_are_read_once_and_for_all():
    """A number is the weight of every sample, in the fit and in the hazard behind it."""
    plain, same = MKLSurvival(Linear(), C=0.5).fit(X, Y), MKLSurvival(Linear(), C=0.25).fit(X, Y, 2.0)
    S = [model.predict_survival_function(X[:2], [0.3]) for model in (plain, same)]
    np.testing.assert_allclose(*S, atol=1e-3)
