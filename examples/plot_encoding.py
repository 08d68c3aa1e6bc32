"""
Encoding models: what does each voxel respond to?
=================================================

Somebody watches films while a scanner records thousands of places in the brain (voxels). The films are
described by motion, by the objects in sight, and by speech. Which descriptions does each voxel need?

The data are made: recordings of real brains are too large to ship with a package, and only for made data do
we know the true answer. For your own recordings replace ``make_voxels`` by ``X, Y = np.load("features.npy"),
np.load("voxels.npy")``. X has a row for each time point and a column for each feature; Y has a column for
each voxel. The rest stays as it is. :doc:`The same analysis on real images <plot_pixels>` has no delays.

**What to look at:** in the first picture the filled bars count voxels by the R² of the model, and the outline
counts them by the R² of a perfect model. The bars lie further left: 300 time points are not enough to reach
it. In the last picture, voxels near an axis need one space, and voxels near the diagonal need both.
"""

# %%
# Voxels respond one to three time points later, so the model gets features at these delays, within runs.
import numpy as np
from sklearn.model_selection import LeaveOneGroupOut

from manykernels import MKLRegressorCV
from manykernels.datasets import make_voxels
from manykernels.families import views
from manykernels.inspection import explained_parts
from manykernels.kernels import Linear
from manykernels.plots import PartsDisplay, TargetScoresDisplay
from manykernels.recordings import Delayer, run_labels

spaces = {"motion": slice(0, 5), "objects": slice(5, 20), "speech": slice(20, 50)}  # columns of X
late = (0.0, 0.5, 1.0, 0.5)
X, Y, truth = make_voxels(450, 400, widths=[5, 15, 30], response=late, n_runs=9, random_state=0)
runs = run_labels(450, 50)
X = Delayer((1, 2, 3)).fit_transform(X, groups=runs)  # the three copies of a feature stand together
bands = views({name: (slice(3 * c.start, 3 * c.stop), Linear()) for name, c in spaces.items()})

# %%
# Six runs are for training, three for testing. In real recordings, time points of one run are similar. So the
# search leaves out whole runs to choose the weights and C of each voxel.
train, test = runs < 6, runs >= 6
model = MKLRegressorCV(bands, multi_output="own", cv=LeaveOneGroupOut(), random_state=0)
model.fit(X[train], Y[train], groups=runs[train])
print(model.weights_.shape, model.best_C_.shape)

# %%
# How well does the model predict each voxel? The ceiling is the R² of a perfect model, which we know here. If
# recordings are repeated, ``inspection.noise_ceiling`` estimates it.
TargetScoresDisplay.from_estimator(model, X[test], Y[test], ceiling=truth.sum(axis=0))

# %%
# Which space does the R² come from? Its parts add up to it, and they are close to the truth.
parts = explained_parts(model, X[test], Y[test])
for name, found, known in zip(spaces, parts, truth, strict=False):
    print(f"{name:<8} correlation with the truth {np.corrcoef(found, known)[0, 1]:.2f}")

# %%
# The map shows each voxel by the parts of two spaces. Dark voxels in the corner need neither of them.
PartsDisplay.from_estimator(model, X[test], Y[test], by="view", kernels=["motion", "objects"])
