"""
A million rows: one pass
========================

A kernel matrix has n² entries. With more than some ten thousand rows these are too many. With explicit
features and the squared loss, one pass over the rows computes all sums that a fit needs, and the time grows
as n. The data are made.

**What to look at:** on the left, seconds grow in proportion to the rows from 10,000 rows on. On the right,
the accuracy on new rows rises steeply up to 10,000 rows, and then stays between 0.80 and 0.83. From there on,
the random choice of landmarks matters more than further rows.
"""

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLClassifier
from manykernels.approx import Nystroem
from manykernels.kernels import Gaussian, Linear

n = 1_000_000
rng = np.random.default_rng(0)
X = rng.standard_normal((n + 10_000, 10))
y = (np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(len(X))) > 0.0
new, answer, X, y = X[n:], y[n:], X[:n], y[:n]

# %%
# Three Gaussians have 100 landmarks each, and a linear kernel needs only ten: 310 features in all.
kernels = {
    "linear": Linear(),
    "wide": Gaussian(width=6.0),
    "middle": Gaussian(width=3.0),
    "narrow": Gaussian(width=1.5),
}
model = MKLClassifier(kernels, norm=1.0, loss="squared", approx=Nystroem(100), C=1.0, random_state=0)
model.fit(X[:1_000], y[:1_000])  # compiles the inner loops, which is not to be timed
rows, seconds, accuracy = [1_000, 10_000, 100_000, n], [], []
for r in rows:
    started = time.perf_counter()
    model.fit(X[:r], y[:r])
    seconds.append(time.perf_counter() - started)
    accuracy.append(model.score(new, answer))
    print(f"{r:>7} rows: {seconds[-1]:5.1f} s, accuracy {accuracy[-1]:.3f}, gap {model.dual_gap_:.0e}")

# %%
# Ten times the rows take about ten times as long, not a hundred times.
fig, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.6), layout="constrained")
left.loglog(rows, seconds, "o-")
left.set(xlabel="rows", ylabel="seconds")
right.semilogx(rows, accuracy, "o-")
right.set(xlabel="rows", ylabel="accuracy on 10,000 new rows")
