"""
Encoding models: what does each voxel respond to?
=================================================

Somebody watches films while a scanner records the activity of thousands of places in the brain (voxels). The
films are described in several ways: by motion, by the objects in sight, by what is said. An encoding model
predicts each voxel from all descriptions at once, and the question is which of them it needs. So every voxel
wants weights of its own.

We make voxels whose answer is known, and see whether it is recovered.
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
# The response comes late, so that features are given at delays of one to three time points. Copies do not
# cross the borders of runs. All copies of a feature stand together, so that d features become 3 d columns.
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
# Six runs are for training, three for testing. Time points of one run resemble each other in real recordings,
# so that weights and C of each voxel are chosen by leaving whole runs out.
train, test = runs < 6, runs >= 6
model = MKLRegressorCV(bands, multi_output="own", cv=LeaveOneGroupOut(), random_state=0)
model.fit(X[train], Y[train], groups=runs[train])
print(model.weights_.shape, model.best_C_.shape)

# %%
# How well is each voxel predicted? The ceiling is what a perfect model would reach, which is known here. From
# recordings of the same film several times, ``inspection.noise_ceiling`` estimates it.
ceiling = truth.sum(axis=0)
TargetScoresDisplay.from_estimator(model, X[test], Y[test], ceiling=ceiling)

# %%
# Which space does that come from? The parts of R² add up to it.
parts = explained_parts(model, X[test], Y[test])
r2 = r2_scores(Y[test], model.predict(X[test]))
print(f"largest difference between R² and the sum of its parts: {np.abs(parts.sum(axis=0) - r2).max():.0e}")

# %%
# And they are near to the truth. What is missing is what 300 noisy time points do not tell of 150 weights.
for name, found, known in zip(widths, parts, truth, strict=False):
    print(f"{name:<8} correlation with the truth {np.corrcoef(found, known)[0, 1]:.2f}")

# %%
# Voxels that only one space drives, and that are predicted at all: is the largest part that of this space?
alone = (np.count_nonzero(truth, axis=0) == 1) & (r2 >= 0.1)
right = parts[:-1, alone].argmax(axis=0) == truth[:, alone].argmax(axis=0)
print(f"{right.mean():.0%} of {alone.sum()} voxels")

# %%
# The map shows each voxel by the parts of two spaces: those near an axis need one of the two, those near the
# diagonal both, and dark ones in the corner neither.
PartsDisplay.from_estimator(model, X[test], Y[test], by="view", kernels=["motion", "objects"])
