"""
Encoding models on real images: what does each pixel depend on?
===============================================================

An encoding model predicts many targets from several feature spaces, and says which space each target needs.
The data are real: 1,797 handwritten digits that come with scikit-learn. Pixels stand in for voxels: from the
upper half of an image we predict every pixel of the lower half. The feature spaces are rows of the upper
half. For recordings with delays in time, see :doc:`the example on simulated recordings <plot_encoding>`.

**What to look at:** in each picture the grey rows are the feature space. The colour of a pixel below the
line is the part of its R² that this space explains. White pixels were left out. The row above the line
explains the pixels right below it. The bottom of a digit depends most on its top: the first row explains the
left half of the last one.
"""

# %%
# Pixels that hardly ever have ink are left out: there is nothing to predict.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold

from manykernels import MKLRegressorCV
from manykernels.families import views
from manykernels.inspection import explained_parts
from manykernels.kernels import Gaussian

images = load_digits().images  # 1,797 images of 8 × 8 pixels
X, Y = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
train, test = slice(0, 400), slice(1000, 1797)
inked = Y[train].std(axis=0) > 1.0
spaces = {"first row": slice(0, 1), "rows 2 and 3": slice(1, 3), "row above the line": slice(3, 4)}
columns = {name: slice(8 * rows.start, 8 * rows.stop) for name, rows in spaces.items()}
bands = views({name: (part, Gaussian(width=15.0)) for name, part in columns.items()})

# %%
# Images of one writer follow each other, as time points of one run do. So the folds are blocks of neighbours,
# and the test images come much later. Every pixel gets weights and a C of its own.
model = MKLRegressorCV(bands, multi_output="own", cv=KFold(5), random_state=0)
model.fit(X[train], Y[train][:, inked])
parts = explained_parts(model, X[test], Y[test][:, inked])
scores = parts.sum(axis=0)  # the parts add up to the R² of each pixel on new images
print(f"R² of {inked.sum()} pixels: median {np.median(scores):.2f}, best {scores.max():.2f}")

# %%
# One picture for each space, in the same colours.
figure, axes = plt.subplots(1, 3, figsize=(9.0, 3.4), layout="constrained")
for ax, (name, rows), part in zip(axes, spaces.items(), parts, strict=False):
    seen, carried = np.full((8, 8), np.nan), np.full((4, 8), np.nan)
    seen[rows] = images.mean(axis=0)[rows]
    carried[inked.reshape(4, 8)] = part
    ax.imshow(seen, cmap="Greys", vmin=0, vmax=16)
    shown = ax.imshow(carried, vmin=0, vmax=0.6, extent=(-0.5, 7.5, 7.5, 3.5))
    ax.axhline(3.5, color="black")
    ax.set(title=name, xticks=[], yticks=[], ylim=(7.5, -0.5))
figure.colorbar(shown, ax=axes, label="part of R²", extend="both")
