"""Curves against sums written out by their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels.survival import (
    StepFunctions,
    breslow,
    censoring_curve,
    curves_by_risk,
    kaplan_meier,
    log_rank,
    martingale_residuals,
    median_time,
    nelson_aalen,
    restricted_mean,
    risk_groups,
)

from .drawn import draw, entries, repeated


def naive_survival(event, time, weight, entry, at):
    """Π (1 − d/n) and Σ d/(n(n − d)) over the event times until `at`."""
    S, V = 1.0, 0.0
    for t in sorted(set(time[event])):
        if t <= at:
            n = sum(w for w, a, b in zip(weight, entry, time, strict=True) if (a < t or a <= 0.0) and t <= b)
            d = sum(w for w, e, b in zip(weight, event, time, strict=True) if e and t == b)
            S *= 1.0 - d / n
            V += d / (n * (n - d)) if d < n else 0.0
    return S, V


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("late", [False, True])
def test_kaplan_meier_is_the_product_of_its_definition(seed, late):
    event, time, _ = draw(seed)
    weight = np.random.RandomState(seed).randint(1, 4, time.size).astype(float)
    entry = entries(seed, time) if late else np.zeros(time.size)
    found = kaplan_meier(event, time, weight, entry if late else None)
    for t in [0.0, 0.5, *np.unique(time), *(np.unique(time)[:-1] + 0.3)]:
        S, V = naive_survival(event, time, weight, entry, t)
        np.testing.assert_allclose(found(t), S, atol=1e-12)
        if 1e-9 < S < 1.0:
            half = 1.959963984540054 * np.sqrt(V) / np.log(S)
            np.testing.assert_allclose(found.band(t), [S ** np.exp(-half), S ** np.exp(half)], atol=1e-12)


def test_kaplan_meier_of_a_textbook():
    """Freireich's leukaemia trial, treated patients (Freireich et al. 1963; Cox 1972, Table 1)."""
    time = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
    event = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    found = kaplan_meier(event, time)
    np.testing.assert_array_equal(found.times, [6, 7, 10, 13, 16, 22, 23])
    np.testing.assert_allclose(found.survival, [0.857, 0.807, 0.753, 0.690, 0.627, 0.538, 0.448], atol=5e-4)
    np.testing.assert_array_equal(found.at_risk, [21, 17, 15, 12, 11, 7, 6])
    assert median_time(found.curve) == 23.0


@pytest.mark.parametrize("seed", range(3))
def test_a_weight_is_a_repetition(seed):
    event, time, risk = draw(seed)
    weight = np.random.RandomState(seed).randint(0, 3, time.size)
    group = np.arange(time.size) % 3
    entry = entries(seed, time)
    more = repeated(weight, event, time, risk, entry, group)
    once, twice = kaplan_meier(event, time, weight, entry), kaplan_meier(more[0], more[1], entry=more[3])
    np.testing.assert_allclose(once.survival, twice.survival, atol=1e-12)
    np.testing.assert_allclose(once.upper, twice.upper, atol=1e-12)
    once, twice = breslow(event, time, risk, weight, entry), breslow(*more[:3], entry=more[3])
    np.testing.assert_allclose(once.logs[0].values, twice.logs[0].values, atol=1e-12)
    once, twice = log_rank(event, time, group, weight), log_rank(more[0], more[1], more[4])
    np.testing.assert_allclose([once.statistic, once.p_value], [twice.statistic, twice.p_value], atol=1e-10)
    G, G2 = censoring_curve(event, time, weight), censoring_curve(more[0], more[1])
    np.testing.assert_allclose(G.values, G2.values, atol=1e-12)


def naive_hazard(event, time, risk, weight, entry, ties, at):
    total = 0.0
    for t in sorted(set(time[event])):
        if t > at:
            continue
        R = sum(
            w * np.exp(f)
            for w, f, a, b in zip(weight, risk, entry, time, strict=True)
            if (a < t or a <= 0.0) and t <= b
        )
        dead = [i for i in range(time.size) if event[i] and time[i] == t]
        D = sum(weight[i] * np.exp(risk[i]) for i in dead)
        mean = sum(weight[i] for i in dead) / len(dead)
        for place in range(len(dead)):
            total += mean / (R - (place / len(dead) * D if ties == "efron" else 0.0))
    return total


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_the_baseline_hazard_is_the_sum_of_its_definition(seed, ties):
    event, time, risk = draw(seed)
    weight, entry = np.random.RandomState(seed).uniform(0.5, 2.0, time.size), entries(seed, time)
    stratum = np.array(["a", "b"])[np.arange(time.size) % 2]
    found = breslow(event, time, risk, weight, entry, stratum, ties=ties)
    at = np.array([0.5, 2.0, 4.5, 7.0])
    for label in "ab":
        rows = stratum == label
        parts = [a[rows] for a in (event, time, risk, weight, entry)]
        H = np.array([naive_hazard(*parts, ties, t) for t in at])
        np.testing.assert_allclose(
            found.hazard_at([0.0, 1.2], at, [label] * 2)[1], np.exp(1.2) * H, rtol=1e-10
        )
        np.testing.assert_allclose(found.survival([-0.3], [label]).at(at)[0], np.exp(-np.exp(-0.3) * H))


@pytest.mark.parametrize("seed", range(2))
def test_martingale_residuals_are_events_beyond_those_expected(seed):
    event, time, risk = draw(seed)
    weight, entry = np.random.RandomState(seed).uniform(0.5, 2.0, time.size), entries(seed, time)
    found = martingale_residuals(event, time, risk, weight, entry)
    assert abs(found @ weight) < 1e-9 * weight.sum()
    for i in range(0, time.size, 7):
        H = [naive_hazard(event, time, risk, weight, entry, "breslow", t) for t in (time[i], entry[i])]
        np.testing.assert_allclose(
            found[i], event[i] - np.exp(risk[i]) * (H[0] - H[1]), rtol=1e-9, atol=1e-12
        )
    alike = martingale_residuals(event, time, stratum=time > 5.0)
    assert abs(alike[time > 5.0].sum()) < 1e-9


def test_the_baseline_hazard_of_equal_risks_is_nelson_and_aalens():
    event, time, _ = draw(5)
    H = nelson_aalen(event, time)
    np.testing.assert_allclose(np.exp(breslow(event, time, np.zeros(time.size)).logs[0].values), H.values)
    assert H(0.0) == 0.0


def test_risks_of_any_size_give_the_same_survival():
    """A constant that is added to all decisions, and what e^f cannot hold, change nothing."""
    event, time, risk = draw(6)
    plain = breslow(event, time, risk).survival(risk).values
    for shift in (-2000.0, 2000.0):
        moved = breslow(event, time, risk + shift).survival(risk + shift).values
        np.testing.assert_allclose(moved, plain, atol=1e-9)
    far = breslow([1, 1, 1], [1.0, 2.0, 3.0], [1500.0, 0.0, -1500.0])
    np.testing.assert_allclose(
        far.survival([1500.0, 0.0, -1500.0]).values[[0, 1, 2], [0, 1, 2]], np.exp(-1.0)
    )


def test_functions_jump_from_the_right_and_end():
    curve = StepFunctions(np.array([2.0, 5.0]), np.array([[0.8, 0.4], [0.9, 0.7]]), 1.0, np.array([6.0, 9.0]))
    np.testing.assert_array_equal(curve.at([0.0, 1.9, 2.0, 4.9, 5.0, 6.0])[0], [1, 1, 0.8, 0.8, 0.4, 0.4])
    with pytest.warns(UserWarning, match="nobody was observed after 6 to 9"):
        np.testing.assert_array_equal(curve(7.0), [np.nan, 0.7])
    np.testing.assert_array_equal(median_time(curve), [5.0, np.inf])
    assert [median_time(one) for one in curve] == [5.0, np.inf]
    np.testing.assert_allclose(restricted_mean(curve, 6.0), [2 + 3 * 0.8 + 0.4, 2 + 3 * 0.9 + 0.7])
    assert np.isnan(restricted_mean(curve, 8.0)[0])
    assert curve[0](5.5) == 0.4


def test_groups_at_quantiles_of_the_risk_keep_ties_together():
    np.testing.assert_array_equal(risk_groups([5, 1, 4, 2, 3, 6], 3), [2, 0, 1, 0, 1, 2])
    np.testing.assert_array_equal(risk_groups([0, 0, 0, 1], 2), [0, 0, 0, 1])
    np.testing.assert_array_equal(risk_groups([7.0, 7.0, 7.0], 3), 0)
    risk, weight = np.random.RandomState(0).randn(20), np.random.RandomState(1).randint(1, 4, 20)
    more = risk_groups(np.repeat(risk, weight), 4)
    np.testing.assert_array_equal(np.repeat(risk_groups(risk, 4, weight), weight), more)
    with pytest.raises(ValueError, match=r"count=2\.5 was given"):
        risk_groups(risk, 2.5)


def test_curves_of_groups_are_those_of_their_samples():
    event, time, risk = draw(8)
    weight, entry = np.random.RandomState(8).randint(0, 3, time.size), entries(8, time)
    found = curves_by_risk(event, time, risk, 2, weight, entry)
    group = risk_groups(risk, 2, weight)
    assert found.names == ["low risk", "high risk"]
    for g, curve in enumerate(found.curves):
        rows = group == g
        alone = kaplan_meier(event[rows], time[rows], weight[rows], entry[rows])
        np.testing.assert_array_equal(curve.survival, alone.survival)
        at = [7.0, 0.0, 3.0]
        seen = [np.sum(weight[rows & (time >= t) & ((entry < t) | (entry <= 0.0))]) for t in at]
        np.testing.assert_array_equal(found.at_risk(at)[g], seen)
    assert found.test.p_value == log_rank(event, time, group, weight, entry).p_value
    one = curves_by_risk(event, time, np.zeros(time.size))
    assert one.names == ["all samples"] and one.test is None


def test_a_median_at_one_half_but_for_rounding():
    time = np.arange(1.0, 11.0)  # ten events: S(5) = ½ as a product of ten factors
    assert median_time(kaplan_meier(np.ones(10), time).curve) == 5.0


def test_a_curve_that_fell_to_zero_stays_there_and_others_are_not_known():
    assert kaplan_meier([1, 1], [1.0, 2.0])(100.0) == 0.0
    with pytest.warns(UserWarning, match="nobody was observed after 2"):
        assert np.isnan(kaplan_meier([1, 0], [1.0, 2.0])(100.0))
    assert kaplan_meier([0, 0], [1.0, 2.0])(2.0) == 1.0


def test_late_entries_that_leave_nobody_at_risk_are_told():
    with pytest.warns(UserWarning, match="the curve is 0 from this time on"):
        kaplan_meier([1, 1, 1], [1.0, 5.0, 6.0], entry=[0.0, 2.0, 2.0])


def test_the_log_rank_test_of_two_groups_by_its_definition():
    event, time, _ = draw(7)
    group = np.arange(time.size) % 2 == 0
    O = E = V = 0.0
    for t in sorted(set(time[event])):
        n, d = np.sum(time >= t), np.sum(event & (time == t))
        n1 = np.sum(group & (time >= t))
        O += np.sum(group & event & (time == t))
        E += d * n1 / n
        V += d * n1 / n * (1.0 - n1 / n) * (n - d) / (n - 1.0) if n > 1 else 0.0
    found = log_rank(event, time, group)
    np.testing.assert_allclose(found.statistic, (O - E) ** 2 / V)
    np.testing.assert_allclose([found.events[1], found.expected[1]], [O, E])
    swapped = log_rank(event, time, np.where(group, "x", "y"))
    np.testing.assert_allclose(swapped.p_value, found.p_value)
    apart = log_rank(event, time, group, stratum=time > 3.0)
    assert apart.events.sum() == event.sum() and apart.expected.sum() == pytest.approx(event.sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2, 1], [1.0, 2.0, 3.0]), "event holds 2; expected 1"),
        (([3.0, 4.0, 5.0], [0, 1, 1]), "in each other's place"),
        (([0, 1], [1.0, -2.0]), "time is negative in rows 1"),
        (([0, 1], [1.0, np.nan]), "missing or infinite in rows 1"),
        (([0, 1, 1], [1.0, 2.0]), r"event has the shape \(3,\)"),
        ((["dead", "alive"], [1.0, 2.0]), "event could not be read as numbers"),
        (([], []), "one number for each sample"),
        (([1, 1], [1.0, 2.0], [0.0, 0.0]), "no sample has a weight above 0"),
        (([1, 1], [1.0, 2.0], [1.0, -1.0]), "sample_weight is negative"),
        (([1, 1], [1.0, 2.0], None, [1.0, 0.0]), "entry is not before time in rows 0"),
    ],
)
def test_bad_samples_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        kaplan_meier(*arguments)


def test_labels_are_compared_whatever_they_are():
    mixed = log_rank([1, 1, 1, 0], [1.0, 2.0, 3.0, 4.0], np.array(["a", 1, "a", 1], dtype=object))
    assert list(mixed.groups) == ["1", "a"]
    for missing in (["a", None, "b"], [0.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match="group is missing in rows 1"):
            log_rank([1, 1, 1], [1.0, 2.0, 3.0], missing)


def test_without_events_nothing_falls():
    found = breslow([0, 0], [1.0, 2.0], [0.0, 1.0]).survival([0.0, 1.0])
    np.testing.assert_array_equal(found([1.5, 2.0]), 1.0)
    np.testing.assert_array_equal(median_time(found), np.inf)


def test_other_bad_arguments_are_named():
    curve = kaplan_meier([1, 0], [1.0, 2.0]).curve
    with pytest.raises(ValueError, match="until=-1"):
        restricted_mean(curve, -1)
    with pytest.raises(ValueError, match="level='a' was given"):
        median_time(curve, "a")
    with pytest.raises(ValueError, match="ties='exact' was given"):
        breslow([1], [1.0], [0.0], ties="exact")
    found = breslow([1, 1], [1.0, 2.0], [0.0, 0.0], stratum=["a", "b"])
    with pytest.raises(ValueError, match="no strata were given"):
        found.survival([0.0])
    with pytest.raises(ValueError, match="one of the strata that were learned from"):
        found.survival([0.0], ["c"])
    with pytest.raises(ValueError, match=r"there is one group \(a\)"):
        log_rank([1, 1], [1.0, 2.0], ["a", "a"])
    with pytest.raises(ValueError, match="level=95"):
        kaplan_meier([1], [1.0], level=95)
