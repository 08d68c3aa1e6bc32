"""
Encoding models: what does each voxel respond to?
=================================================

Somebody watches films while a scanner records thousands of places in the brain (voxels). The films are
described by motion, by the objects in sight, and by speech. An encoding model predicts each voxel from all
descriptions at once. Which of them does a voxel need? Every voxel gets weights of its own. The voxels are
made, so that the answer is known.

**What to look at:** in the first picture the filled bars count voxels by the R² of the model, and the outline
counts them by the R² of a perfect model. The bars lie further left: 300 time points are not enough for all of
it. In the last picture, voxels near an axis need one space, and voxels near the diagonal need both.
"""

# %%
# Three feature spaces of 5, 15 and 30 features, 450 time points in nine runs. Voxels respond one to three
# time points later, each to its own mixture of the spaces, with noise that leaves 10 to 80 % to be explained.
import numpy as np
from sklearn.model_selection import LeaveOneGroupOut

from manykernels import MKLRegressorCV
from manykernels.datasets import make_voxels
from manykernels.families import views
from manykernels.inspection import explained_parts, r2_scores
from manykernels.kernels import Linear
from manykernels.plots import PartsDisplay, TargetScoresDisplay
from manykernels.recordings import Delayer, run_labels

widths = {"motion": 5, "objects": 15, "speech": 30}
X, Y, truth = make_voxels(
    450, 400, widths=list(widths.values()), response=(0.0, 0.5, 1.0, 0.5), n_runs=9, random_state=0
)
runs = run_labels(450, 50)
print(X.shape, Y.shape)

# %%
# Responses come late, so features are given at delays of one to three time points, within runs. The copies of
# a feature stand together: d features become 3 d columns.
delays = (1, 2, 3)
X = Delayer(delays).fit_transform(X, groups=runs)
ends = np.cumsum(list(widths.values())) * len(delays)
bands = views(
    {
        name: (slice(end - len(delays) * width, end), Linear())
        for (name, width), end in zip(widths.items(), ends, strict=True)
    }
)

# %%
# Six runs are for training, three for testing. Time points of one run are similar in real recordings, so the
# weights and C of each voxel are chosen by leaving whole runs out.
train, test = runs < 6, runs >= 6
model = MKLRegressorCV(bands, multi_output="own", cv=LeaveOneGroupOut(), random_state=0)
model.fit(X[train], Y[train], groups=runs[train])
print(model.weights_.shape, model.best_C_.shape)

# %%
# How well is each voxel predicted? The ceiling is the R² of a perfect model, known here. With repeated
# recordings ``inspection.noise_ceiling`` estimates it.
ceiling = truth.sum(axis=0)
TargetScoresDisplay.from_estimator(model, X[test], Y[test], ceiling=ceiling)

# %%
# Which space does that come from? The parts of R² add up to it.
parts = explained_parts(model, X[test], Y[test])
r2 = r2_scores(Y[test], model.predict(X[test]))
print(f"largest difference between R² and the sum of its parts: {np.abs(parts.sum(axis=0) - r2).max():.0e}")

# %%
# The parts are close to the truth.
for name, found, known in zip(widths, parts, truth, strict=False):
    print(f"{name:<8} correlation with the truth {np.corrcoef(found, known)[0, 1]:.2f}")

# %%
# The map shows each voxel by the parts of two spaces. Dark voxels in the corner need neither of them.
PartsDisplay.from_estimator(model, X[test], Y[test], by="view", kernels=["motion", "objects"])
