"""Raw tables made comparable: against scipy, weights as repetition, names, and columns that say nothing."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse, stats
from sklearn.base import clone

from manykernels import MKLClassifierCV, MKLRegressorCV
from manykernels.families.tables import read_columns
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.kernels.prepared import Preparation, Prepared

RNG = np.random.RandomState(0)
N = 80
HEAVY = RNG.standard_t(1.5, N)
X = np.column_stack([RNG.randn(N), 1e3 + 1e-2 * RNG.rand(N), HEAVY, np.full(N, 0.1)])
COLOUR = RNG.choice(["blue", "green", "red"], N, p=[0.5, 0.3, 0.2])
FRAME = {"size": X[:, 0], "colour": COLOUR, "dose": HEAVY}
LEVELS = ["blue", "green", "red"]


def mixed():
    return Preparation([0, 2], {1: LEVELS})


# -- numbers --------------------------------------------------------------------------------------
def test_numbers_are_standardised_and_constant_columns_left_out():
    made = Preparation().fit(X)
    np.testing.assert_array_equal(made.kept_, [0, 1, 2])
    np.testing.assert_allclose(made.transform(X), stats.zscore(X[:, :3], axis=0), atol=1e-7)
    assert made.n_numbers == 3
    new = X[::20] + 0.1 * X.std(axis=0)
    expected = (new[:, :3] - X[:, :3].mean(axis=0)) / X[:, :3].std(axis=0)
    np.testing.assert_allclose(made.transform(new), expected, rtol=1e-9)


def test_columns_that_are_constant_up_to_rounding_are_left_out():
    noise = 0.3 * (1.0 + 1e-15 * RNG.randn(N))
    assert np.ptp(noise) > 0.0
    made = Preparation().fit(np.column_stack([noise, np.zeros(N), 1e-200 * X[:, 0], X[:, 0]]))
    np.testing.assert_array_equal(made.kept_[-1:], [3])
    assert 0 not in made.kept_ and 1 not in made.kept_
    assert np.isfinite(made.transform(np.ones((3, 4)))).all()


def test_without_a_column_that_varies_there_are_no_features():
    made = Preparation().fit(np.full((5, 2), 7.0))
    assert made.n_numbers == 0 and made.transform(np.ones((3, 2))).shape == (3, 0)


def test_scores_are_scipys_normal_scores():
    made = Preparation().fit(X)
    kurtosis = stats.kurtosis(X[:, :3], axis=0)
    np.testing.assert_array_equal(made.heavy_, np.flatnonzero(kurtosis > 3.0))
    assert 2 in made.heavy_ and 0 not in made.heavy_
    raw = stats.norm.ppf((stats.rankdata(HEAVY) - 0.5) / N)
    scores = made.transform(X, "scores")
    np.testing.assert_allclose(scores[:, 2], stats.zscore(raw), atol=1e-9)
    np.testing.assert_array_equal(scores[:, 0], made.transform(X)[:, 0])
    both = made.transform(X, "both")
    np.testing.assert_array_equal(both, np.column_stack([made.transform(X), scores[:, 2]]))


def test_ties_share_the_middle_of_their_ranks():
    tied = np.round(HEAVY)
    made = Preparation().fit(tied[:, None])
    raw = stats.norm.ppf((stats.rankdata(tied, method="average") - 0.5) / N)
    np.testing.assert_allclose(made.transform(tied[:, None], "scores")[:, 0], stats.zscore(raw), atol=1e-9)


def test_scores_rise_between_samples_and_are_constant_beyond():
    made = Preparation().fit(HEAVY[:, None])
    grid = np.linspace(HEAVY.min(), HEAVY.max(), 2001)
    scores = made.transform(grid[:, None], "scores")[:, 0]
    assert np.all(np.diff(scores) > 0.0)
    ends = made.transform(np.array([[-1e9], [HEAVY.min()], [HEAVY.max()], [1e9]]), "scores")[:, 0]
    assert ends[0] == ends[1] and ends[2] == ends[3]


def test_scores_do_not_change_with_a_rising_transformation():
    cubes = Preparation().fit(HEAVY[:, None] ** 3)
    np.testing.assert_allclose(
        cubes.transform(HEAVY[:, None] ** 3, "scores"),
        Preparation().fit(HEAVY[:, None]).transform(HEAVY[:, None], "scores"),
        atol=1e-9,
    )


def test_scale_and_shift_of_columns_do_not_matter():
    moved = X * [1e6, 1e-3, 1e-8, 1.0] + [3e6, 1.0, 0.0, 5.0]
    for part in ("scaled", "scores", "both"):
        was, now = Preparation().fit(X).transform(X, part), Preparation().fit(moved).transform(moved, part)
        np.testing.assert_allclose(now, was, atol=1e-6)


# -- weights --------------------------------------------------------------------------------------
@pytest.mark.parametrize("part", ["scaled", "scores", "both"])
def test_weights_are_repetition(part):
    weight = RNG.randint(0, 4, N)
    table = pd.DataFrame(FRAME)
    weighted = mixed().fit(table, sample_weight=weight)
    repeated = mixed().fit(table.loc[np.repeat(np.arange(N), weight)])
    np.testing.assert_array_equal(weighted.heavy_, repeated.heavy_)
    np.testing.assert_allclose(weighted.transform(table, part), repeated.transform(table, part), atol=1e-9)
    plain = mixed().fit(table)
    assert np.abs(weighted.transform(table, part) - plain.transform(table, part)).max() > 1e-2


def test_samples_of_weight_zero_play_no_part():
    wild = X.copy()
    wild[:10] = 1e12
    weight = np.r_[np.zeros(10), np.ones(N - 10)]
    made = Preparation().fit(wild, sample_weight=weight)
    np.testing.assert_allclose(made.transform(X, "both"), Preparation().fit(X[10:]).transform(X, "both"))
    assert made.key_ == Preparation().fit(X[10:]).key_


# -- categories -----------------------------------------------------------------------------------
@pytest.mark.parametrize("form", [pd.DataFrame, pl.DataFrame, lambda t: pd.DataFrame(t).to_numpy(object)])
def test_categories_are_centred_indicators_with_a_total_variance_of_one(form):
    table = form(FRAME)
    made = mixed().fit(table)
    Z = made.transform(table)
    assert Z.shape == (N, 5)
    share = np.array([np.mean(COLOUR == level) for level in LEVELS])
    expected = ((COLOUR[:, None] == np.array(LEVELS)) - share) / np.sqrt(share @ (1.0 - share))
    np.testing.assert_allclose(Z[:, 2:], expected, atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert Z[:, 2:].var(axis=0).sum() == pytest.approx(1.0)


def test_levels_that_were_never_seen_have_no_indicator():
    table = pd.DataFrame(FRAME)
    made = mixed().fit(table)
    new = table.iloc[:2].assign(colour=["mauve", "blue"])
    codes = made.transform(new)[:, 2:]
    share, spread = made.indicators_[0]
    np.testing.assert_allclose(codes[0], -share / spread)
    assert codes[1, 0] > 0.0


def test_names_follow_the_features():
    made = mixed().fit(pd.DataFrame(FRAME))
    names = made.names(list(FRAME))
    assert names == ["size", "dose", "colour=blue", "colour=green", "colour=red"]
    assert len(names) == made.transform(pd.DataFrame(FRAME), "scores").shape[1]
    assert Preparation().fit(X).names(["a", "b", "c", "d"]) == ["a", "b", "c"]
    flat = pd.DataFrame(FRAME).assign(size=1.0)
    assert mixed().fit(flat).names(list(FRAME)) == names[1:]


def test_sparse_matrices_are_refused():
    with pytest.raises(ValueError, match="toarray"):
        Preparation().fit(sparse.csr_array(X))


# -- kernels on prepared features -----------------------------------------------------------------
def test_a_prepared_kernel_is_the_kernel_of_the_features():
    made = Preparation().fit(X)
    new = RNG.randn(7, 4)
    for part in ("scaled", "scores", "both"):
        for kernel in (Linear(), Gaussian(2.0), OnColumns(Gaussian(1.0), [1])):
            seen = Prepared(kernel, made, part)
            expected = kernel(made.transform(new, part), made.transform(X, part))
            np.testing.assert_allclose(seen(new, X), expected, atol=1e-12)
            np.testing.assert_allclose(seen.diag(new), kernel.diag(made.transform(new, part)), atol=1e-12)


def test_clones_and_pickles_keep_the_constants():
    seen = Prepared(Gaussian(2.0), Preparation().fit(X), "scores")
    for twin in (clone(seen), pickle.loads(pickle.dumps(seen))):
        np.testing.assert_array_equal(twin(X), seen(X))
    assert "normal" in seen.label and "Gaussian" in seen.label


def test_keys_tell_preparations_apart():
    def key(table, part="scaled"):
        return Prepared(Linear(), Preparation().fit(table), part)._key()

    assert key(X) == key(X.copy())
    assert len({key(X), key(X[:40]), key(X + 1.0), key(X, "scores"), key(X, "both")}) == 5


def test_keys_tell_columns_apart_that_hold_the_same_values_in_another_order():
    whole = np.arange(8.0)
    table = np.column_stack([whole, whole[::-1], whole])
    one, other = (Prepared(Linear(), Preparation([j]).fit(table)) for j in (0, 1))
    assert not np.allclose(one(table, whole[:3, None] * [1, 0, 1]), other(table, whole[:3, None] * [1, 0, 1]))
    assert one._key() != other._key()


def test_new_samples_are_held_one_deviation_beyond_the_training_ones():
    """An outlier would go through a polynomial with its power; a trend may go on a little."""
    A = X[:, :3]
    made = Preparation().fit(A)
    Z = made.transform(A)
    low, high = Z.min(axis=0), Z.max(axis=0)
    far = A.max(axis=0) + np.array([[50.0], [-5000.0], [0.5]]) * A.std(axis=0)
    np.testing.assert_allclose(made.transform(far)[:2], [high + 1.0, low - 1.0])
    np.testing.assert_allclose(made.transform(far)[2], high + 0.5, rtol=1e-6)
    other = A.copy()
    other[np.argmax(A[:, 0]), 0] += 1.0
    assert Preparation().fit(other).key_ != made.key_


def test_one_outlier_among_new_samples_does_not_ruin_a_default_search():
    rng = np.random.RandomState(0)
    A = rng.randn(120, 3)
    b = A[:, 0] ** 2 + A[:, 1]
    model = MKLRegressorCV(strategy="finite", cv=3).fit(A, b)
    outlier = np.array([[300.0, 0.0, 0.0]])
    assert abs(model.predict(outlier)[0]) < 10.0 * np.abs(b).max()


# -- dates ----------------------------------------------------------------------------------------
def days_of(n, span, hours=False):
    rng = np.random.default_rng(3)
    shift = rng.uniform(0, span, n) if hours else rng.integers(0, span, n)
    return pd.Timestamp("2021-03-01") + pd.to_timedelta(shift, unit="D")


@pytest.mark.parametrize(
    ("span", "hours", "cycles"),
    [
        (1200, False, ["time of year", "day of week"]),
        (100, False, ["day of week"]),
        (10, False, []),
        (10, True, ["time of day"]),
        (1200, True, ["time of year", "day of week", "time of day"]),
    ],
)
def test_dates_come_back_where_they_span_a_cycle_twice(span, hours, cycles):
    table = pd.DataFrame({"when": days_of(60, span, hours)})
    made = Preparation([0], formats={0: "date"}).fit(table)
    assert [name for _, name in made.cycles_] == cycles
    Z = made.transform(table)
    assert Z.shape == (60, 1 + 2 * len(cycles)) == (60, made.n_features)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-9)
    assert len(made.names(["when"])) == made.n_features == made.groups.size
    later = pd.DataFrame({"when": table["when"] + pd.to_timedelta(7, unit="D")})
    if "day of week" in cycles:
        at = made.names(["when"]).index("when day of week, cos")
        np.testing.assert_allclose(made.transform(later)[:, at : at + 2], Z[:, at : at + 2], atol=1e-9)


def test_missing_dates_have_no_wave_and_spans_no_cycle():
    table = pd.DataFrame({"when": days_of(60, 1200), "took": pd.to_timedelta(np.arange(60.0), unit="D")})
    table.loc[5, "when"] = pd.NaT
    made = Preparation([0, 1], formats={0: "date", 1: "span"}).fit(table)
    assert {k for k, _ in made.cycles_} == {0}
    assert not made.transform(table)[5, -4:].any()
    weight = np.r_[np.full(30, 2.0), np.ones(30)]
    twice = Preparation([0, 1], formats={0: "date", 1: "span"}).fit(pd.concat([table, table[:30]]))
    once = Preparation([0, 1], formats={0: "date", 1: "span"}).fit(table, sample_weight=weight)
    np.testing.assert_allclose(once.transform(table), twice.transform(table), atol=1e-9)


def test_seasons_and_weekends_are_learned():
    when = days_of(200, 1400)
    y = np.cos(2.0 * np.pi * when.day_of_year / 365.25) + 0.6 * (when.day_of_week >= 5)
    text = pd.DataFrame({"when": when.strftime("%Y-%m-%d"), "x": np.random.default_rng(0).normal(size=200)})
    model = MKLRegressorCV(strategy="finite", Cs=[10.0, 1e4], cv=3).fit(text[:140], y[:140])
    assert model.score(text[140:], y[140:]) > 0.8


# -- ordered categories ---------------------------------------------------------------------------
def grades(order, values):
    return pd.Categorical(values, categories=order, ordered=True)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_neighbours_of_ordered_levels_are_nearer(library):
    order, values = (
        ["none", "mild", "severe", "fatal"],
        ["mild", "none", "severe", "fatal", "none", "mild"] * 5,
    )
    if library == "pandas":
        table = pd.DataFrame({"grade": grades(order, values), "x": np.arange(30.0) % 7})
    else:
        table = pl.DataFrame(
            {"grade": values, "x": np.arange(30.0) % 7}, schema_overrides={"grade": pl.Enum(order)}
        )
    found = read_columns(table)
    assert found.levels[0] == order and found.ordered == [0]
    made = found.preparation(table, None)
    Z = made.transform(table)[:, 1:]
    place = {level: Z[values.index(level)] for level in order}
    steps = [np.linalg.norm(place["none"] - place[level]) for level in order]
    assert steps == sorted(steps) and steps[0] < steps[1] < steps[2] < steps[3]
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    assert made.names(["grade", "x"])[1:] == ["grade=none", "grade≥mild", "grade≥severe", "grade≥fatal"]


def test_missing_and_new_levels_are_on_no_step():
    table = pd.DataFrame({"grade": grades(["a", "b", "c"], ["a", "b", "c", None, "c", "b"] * 4)})
    made = read_columns(table).preparation(table, None)
    (share, spread) = made.indicators_[0]
    raw = made.transform(table) * spread + share
    np.testing.assert_allclose(raw[3], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(raw[2], [0, 1, 1, 0], atol=1e-12)
    new = pd.DataFrame({"grade": ["z"]})
    np.testing.assert_allclose(made.transform(new) * spread + share, np.zeros((1, 4)), atol=1e-12)


# -- columns of few numbers -----------------------------------------------------------------------
def test_columns_of_few_numbers_are_levels():
    """Any function of such a column is linear in its levels; the other columns stay as they are."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=200)
    codes[:4] = np.arange(4)
    table = np.column_stack([rng.normal(size=200), codes, rng.integers(0, 2, size=200)])
    w = rng.integers(1, 4, size=200)
    made = Preparation().fit(table, sample_weight=w)
    Z = made.transform(table, "levels")
    steps = ["code > 0.5", "code > 1.5", "code > 2.5"]
    assert made.names(["x", "code", "sex"], "levels") == ["x", "sex", *steps]
    np.testing.assert_array_equal(Z[:, :2], made.transform(table)[:, [0, 2]])
    np.testing.assert_allclose(w @ Z[:, 2:] / w.sum(), 0.0, atol=1e-12)
    np.testing.assert_allclose((w @ Z[:, 2:] ** 2).sum() / w.sum(), 1.0, rtol=1e-12)
    values = np.array([3.0, -1.0, 7.0, 2.0])[codes]
    A = np.column_stack([np.ones(200), Z[:, 2:]])
    np.testing.assert_allclose(A @ np.linalg.lstsq(A, values, rcond=None)[0], values, atol=1e-10)
    new = made.transform(np.array([[0.0, 99.0, 1.0]]), "levels")
    np.testing.assert_allclose(new[:, 2:], Z[codes == 3][:1, 2:])
    repeated = Preparation().fit(np.repeat(table, w, axis=0))
    np.testing.assert_allclose(repeated.transform(table, "levels"), Z, atol=1e-10)


def test_levels_are_for_tables_with_many_of_them():
    rng = np.random.default_rng(0)
    codes, numbers = rng.integers(0, 4, size=(80, 3)), rng.normal(size=(80, 3))
    assert Preparation().fit(np.column_stack([codes, numbers[:, :2]])).has_levels
    assert not Preparation().fit(np.column_stack([codes[:, :2], numbers[:, :2]])).has_levels
    assert not Preparation().fit(np.column_stack([codes > 1, numbers[:, :1]])).has_levels  # two values


def test_codes_of_categories_given_as_numbers_are_learned_from():
    """Three codes of eight say yes: no line has that, and levels do."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 8, size=(300, 5))
    y = (np.isin(codes, [1, 4, 6]).sum(axis=1) > 1.5).astype(int)
    model = MKLClassifierCV(strategy="finite", Cs=[1.0, 100.0], cv=3).fit(codes[:200], y[:200])
    assert any("levels" in name for name in model.best_estimator_.kernel_names_)
    assert model.score(codes[200:], y[200:]) > 0.85
