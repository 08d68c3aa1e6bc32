"""Scores against double loops that are written as the definitions are."""

from __future__ import annotations

import numpy as np
import pytest

from manykernels.survival import brier_score, concordance_index, integrated_brier_score, uno_c

from .drawn import draw, entries, repeated


def naive_concordance(event, time, risk, w_first, w_other, tol=1e-8):
    right = pairs = 0.0
    for i in range(time.size):
        for j in range(time.size):
            first = event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j]))
            if first:
                weight = w_first[i] * w_other[j]
                pairs += weight
                if abs(risk[i] - risk[j]) <= tol:
                    right += 0.5 * weight
                elif risk[i] > risk[j]:
                    right += weight
    return right / pairs


def naive_censoring(event, time, at):
    """G(at): events at a time come before those censored there."""
    G = 1.0
    for t in sorted(set(time[~event])):
        if t <= at:
            n = np.sum(time >= t) - np.sum(event & (time == t))
            G *= 1.0 - np.sum(~event & (time == t)) / n
    return G


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [0.0, 1.0, 4.0])
def test_harrells_c_counts_every_pair(seed, ties):
    event, time, risk = draw(seed, ties=ties)
    weight = np.random.RandomState(seed).uniform(0.0, 2.0, time.size)
    ones = np.ones(time.size)
    assert concordance_index(event, time, risk) == naive_concordance(event, time, risk, ones, ones)
    np.testing.assert_allclose(
        concordance_index(event, time, risk, weight),
        naive_concordance(event, time, risk, weight, weight),
        rtol=1e-12,
    )


def test_only_those_who_are_seen_together_are_compared():
    """Late entries and strata: pairs by enumeration."""
    event, time, risk = draw(3)
    entry, stratum = entries(3, time), np.arange(time.size) % 3
    right = pairs = 0.0
    for i in np.flatnonzero(event):
        for j in range(time.size):
            later = time[i] < time[j] or (time[i] == time[j] and not event[j])
            if later and (entry[j] < time[i] or entry[j] <= 0.0) and stratum[i] == stratum[j]:
                pairs += 1.0
                right += 0.5 * (risk[i] >= risk[j]) + 0.5 * (risk[i] > risk[j])
    assert concordance_index(event, time, risk, entry=entry, stratum=stratum) == right / pairs


def test_harrells_c_by_hand():
    assert concordance_index([1, 1, 1], [1, 2, 3], [3, 2, 1]) == 1.0
    assert concordance_index([1, 1, 1], [1, 2, 3], [0, 0, 0]) == 0.5
    assert concordance_index([1, 1], [1, 2], [0.0, 1e-9]) == 0.5  # tied, as in scikit-survival
    assert concordance_index([1, 1], [1, 2], [0.0, 1e-9], tied_tol=0.0) == 0.0
    assert concordance_index([1, 0], [2, 2], [1, 0]) == 1.0  # censored at the time of an event: seen after it
    assert concordance_index([1, 1, 0], [2, 2, 3], [1, 9, 0]) == 1.0  # two events at once are no pair


def test_a_weight_is_a_repetition():
    event, time, risk = draw(11)
    weight = np.random.RandomState(0).randint(0, 4, time.size)
    more = repeated(weight, event, time, risk)
    assert concordance_index(event, time, risk, weight) == pytest.approx(concordance_index(*more), abs=1e-12)
    train = draw(12, n=60)[:2]
    tau = 0.9 * train[1].max()
    once = uno_c(train, (event, time), risk, tau, weight)
    assert once == pytest.approx(uno_c(train, (more[0], more[1]), more[2], tau), abs=1e-12)
    S, times = 0.5 + 0.4 * np.tanh(risk)[:, None] * [1.0, 0.5], [2.0, 5.0]
    once = brier_score(train, (event, time), S, times, weight)
    more_S = np.repeat(S, weight, axis=0)
    np.testing.assert_allclose(once, brier_score(train, (more[0], more[1]), more_S, times), atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("truncated", [False, True])
def test_unos_c_weighs_pairs_by_the_chance_to_be_seen(seed, truncated):
    event, time, risk = draw(seed)
    train_event, train_time, _ = draw(seed + 100, n=80)
    train_time[0], train_event[0] = 200.0, True  # so that G is above 0 at all times to score
    tau = 9.0 if truncated else None
    G = np.array([naive_censoring(train_event, train_time, t) for t in time])
    weight = np.where(event & (time < (np.inf if tau is None else tau)), 1.0 / G**2, 0.0)
    expected = naive_concordance(event, time, risk, weight, np.ones(time.size))
    found = uno_c((train_event, train_time), (event, time), risk, tau)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_brier_scores_are_their_definition(seed):
    event, time, risk = draw(seed)
    train_event, train_time, _ = draw(seed + 100, n=80)
    times = np.linspace(2.0, 0.6 * min(time.max(), train_time.max()), 5)
    S = np.exp(-np.outer(np.exp(0.3 * risk), times / 10.0))
    expected = []
    for k, t in enumerate(times):
        errors = []
        for i in range(time.size):
            if event[i] and time[i] <= t:
                errors.append(S[i, k] ** 2 / naive_censoring(train_event, train_time, time[i]))
            else:
                G = naive_censoring(train_event, train_time, t)
                errors.append((1.0 - S[i, k]) ** 2 / G if time[i] > t else 0.0)
        expected.append(np.mean(errors))
    found = brier_score((train_event, train_time), (event, time), S, times)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    area = sum((expected[k] + expected[k + 1]) / 2 * (times[k + 1] - times[k]) for k in range(4))
    whole = integrated_brier_score((train_event, train_time), (event, time), S, times)
    np.testing.assert_allclose(whole, area / (times[-1] - times[0]), rtol=1e-12)


def test_structured_arrays_are_pairs():
    event, time, risk = draw(1)
    y = np.array(list(zip(time, event, strict=True)), dtype=[("months", float), ("died", bool)])
    tau = np.median(time)
    assert uno_c(y, y, risk, tau) == uno_c((event, time), (event, time), risk, tau)


def test_what_cannot_be_scored_is_told():
    with pytest.raises(ValueError, match="no pair of samples"):
        concordance_index([0, 1], [1.0, 2.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="Give tau=9 or less"):
        uno_c(([1, 0], [1.0, 5.0]), ([1, 1, 0], [2.0, 9.0, 12.0]), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="expected a pair"):
        uno_c([1.0, 2.0, 3.0], ([1], [1.0]), [0.0])
    with pytest.raises(ValueError, match="risk is missing or infinite in rows 1"):
        concordance_index([1, 0], [1.0, 2.0], [0.0, np.nan])
    y = ([1, 0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="tau='a' was given"):
        uno_c(y, y, [0.0, 1.0, 2.0], tau="a")
    with pytest.raises(ValueError, match=r"survival goes from -1\.5 to 0; expected probabilities"):
        brier_score(y, y, [-1.5, 0.0, 0.0], 2.0)
    with pytest.raises(ValueError, match="to before 3, the last"):
        brier_score(y, y, np.ones((3, 1)), [3.0])
    with pytest.raises(ValueError, match="times do not grow"):
        brier_score(y, y, np.ones((3, 2)), [2.0, 1.0])
    with pytest.raises(ValueError, match="at least two"):
        integrated_brier_score(y, y, np.ones((3, 1)), [2.0])
    with pytest.raises(ValueError, match="curves are not known after"):
        brier_score(y, y, np.full((3, 1), np.nan), [2.0])
    with pytest.raises(ValueError, match="no training sample was observed after 2"):
        brier_score(([1, 0, 1], [1.0, 1.5, 2.0]), ([1, 1, 0], [1.0, 4.0, 9.0]), np.ones((3, 1)), [5.0])
