"""Events and times drawn from a seed, with ties, weights and late entries."""

from __future__ import annotations

import numpy as np


def draw(seed, n=40, ties=1.0):
    """event, time (rounded up to multiples of `ties`, so that samples share times), risk."""
    rng = np.random.RandomState(seed)
    time = np.ceil(rng.exponential(8.0, n) / ties) * ties if ties else rng.exponential(8.0, n)
    event = rng.uniform(size=n) < 0.6
    event[0] = True
    return event, time, np.round(rng.randn(n), 1)


def entries(seed, time):
    """A late entry for half of the samples, always before their time."""
    rng = np.random.RandomState(seed + 1000)
    return np.where(rng.uniform(size=time.size) < 0.5, 0.9 * rng.uniform(size=time.size) * time, 0.0)


def repeated(weight, *arrays):
    return [np.repeat(a, weight) for a in arrays]
