"""
Continuous widths: no grid
==========================

How wide should a Gaussian kernel be? A grid is only as good as its points. Here the fit searches a continuum
of widths, and the certificate covers all of them. The data are made: a slow wave, and on it a fast one in one
part of the line.

**What to look at:** in the second picture the learned widths follow both waves. A single wide kernel misses
the fast wave on the right, and a single narrow one follows the noise on the left.
"""
# sphinx_gallery_thumbnail_number = 2

# %%
# No single width is right for this function.
import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLRegressor
from manykernels.families import Gaussians
from manykernels.kernels import Gaussian
from manykernels.plots import WidthsDisplay

rng = np.random.default_rng(0)
x, line = np.sort(rng.uniform(0.0, 10.0, 300)), np.linspace(0.0, 10.0, 1000)


def wave(t):
    return np.sin(t) + 0.4 * np.sin(12.0 * t) * (t > 6.0)


X, y = x[:, None], wave(x) + 0.15 * rng.standard_normal(300)
model = MKLRegressor(Gaussians(0.05, 50.0), C=1.0).fit(X, y)
print(f"gap {model.dual_gap_:.1e}, proven for every width from 0.05 to 50: {model.certified_}")
WidthsDisplay.from_estimator(model)

# %%
# We compare single widths at the same C. The error is the distance from the wave without noise.


def error(one):
    return np.sqrt(np.mean((one.predict(line[:, None]) - wave(line)) ** 2))


models = {"learned widths": model}
for width in (0.1, 0.3, 3.0):
    models[f"width {width:g}"] = MKLRegressor([Gaussian(width=width)], C=1.0).fit(X, y)
fig, axes = plt.subplots(2, 2, sharex=True, sharey=True, figsize=(7.2, 5.0), layout="constrained")
for ax, (name, one) in zip(axes.flat, models.items(), strict=True):
    ax.plot(x, y, ".", color="0.7")
    ax.plot(line, one.predict(line[:, None]))
    ax.set_title(f"{name}: error {error(one):.2f}", fontsize="medium")

# %%
# You still have to choose C. With a large C the fit takes the narrowest width and follows the noise. A
# single good width is then better:
for C in (0.1, 1.0, 10.0):
    learned = error(MKLRegressor(Gaussians(0.05, 50.0), C=C).fit(X, y))
    single = error(MKLRegressor([Gaussian(width=0.3)], C=C).fit(X, y))
    print(f"C {C:>4g}: learned widths {learned:.2f}, width 0.3 {single:.2f}")
