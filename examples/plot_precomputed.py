"""
Kernels of your own, computed elsewhere
=======================================

Sometimes kernels are matrices: they come from another program or a simulation, or samples are not rows of a
table. A stack of matrices, of shape (n_samples, n_train, n_kernels), replaces X. The digits are real.

**What to look at:** the three narrow kernels share most of the weight, and the three wide ones get little. In
the second picture, bright pairs are kernels that are nearly the same: read their weights together.
"""

# %%
# We compare digits in three ways: as images, by the sums of their rows and columns, and by their edges.
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split

from manykernels import MKLClassifier
from manykernels.kernels import Precomputed
from manykernels.plots import KernelSimilarityDisplay, WeightsDisplay

images, y = load_digits(return_X_y=True)
images = images.reshape(-1, 8, 8)[:600] / 16.0
y = y[:600]
looks = {
    "image": images.reshape(600, -1),
    "sums": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
    "edges": np.abs(np.diff(images, axis=2)).reshape(600, -1),
}
names = [f"{look}, {width}" for look in looks for width in ("narrow", "wide")]


def stack(rows, columns):
    """All kernels between two sets of samples."""
    matrices = []
    for values in looks.values():
        scale = 1.0 / values.var(axis=0).sum()
        matrices += [rbf_kernel(values[rows], values[columns], gamma=g * scale) for g in (2.0, 0.2)]
    return np.stack(matrices, axis=-1)


train, test = train_test_split(np.arange(600), test_size=200, stratify=y, random_state=0)
kernels = {name: Precomputed(m) for m, name in enumerate(names)}
model = MKLClassifier(kernels, norm=1.5, C=10.0, loss="squared").fit(stack(train, train), y[train])
print(f"accuracy {model.score(stack(test, train), y[test]):.3f}, gap {model.dual_gap_:.0e}")

# %%
# ``Precomputed(m)`` is layer m of the stack, and the dict gives it a name; ``kernels="precomputed"`` takes
# all layers in their order, without names.
WeightsDisplay.from_estimator(model)

# %%
# If two kernels are nearly the same, the split of their weight means little. The similarity shows such pairs.
KernelSimilarityDisplay.from_estimator(model, stack(train, train))
