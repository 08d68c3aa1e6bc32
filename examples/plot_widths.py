"""
Continuous widths: no grid
==========================

How wide should a Gaussian kernel be? A grid answers as well as its points happen to lie. Here the width is
searched in a continuum, and the bound is about all widths in it.
"""

# %%
# A slow wave, and on it a fast one in one part of the line: no single width is right.
import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLRegressor
from manykernels.families import Gaussians
from manykernels.kernels import Gaussian
from manykernels.plots import WidthsDisplay

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 10.0, 300))
line = np.linspace(0.0, 10.0, 1000)


def wave(t):
    return np.sin(t) + 0.4 * np.sin(12.0 * t) * (t > 6.0)


X, y = x[:, None], wave(x) + 0.15 * rng.standard_normal(300)
model = MKLRegressor(Gaussians(0.05, 50.0), C=10.0).fit(X, y)
print(f"gap {model.dual_gap_:.1e}, proven for every width from 0.05 to 50: {model.certified_}")
WidthsDisplay.from_estimator(model)

# %%
# Single widths are too smooth or too rough somewhere.
fig, ax = plt.subplots()
ax.plot(x, y, ".", color="0.7")
for name, one in {
    "learned widths": model,
    "width 0.1": MKLRegressor([Gaussian(width=0.1)], C=10.0).fit(X, y),
    "width 3": MKLRegressor([Gaussian(width=3.0)], C=10.0).fit(X, y),
}.items():
    error = np.sqrt(np.mean((one.predict(line[:, None]) - wave(line)) ** 2))
    ax.plot(line, one.predict(line[:, None]), label=f"{name}: error {error:.2f}")
ax.legend()
