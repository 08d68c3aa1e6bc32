"""
Several views: which one matters?
=================================

Every tumour in the breast cancer data is described three times: by the means of ten measurements of its
cells, by their standard errors, and by the worst values. We give each view a linear kernel and Gaussians of
three widths, and let one fit weigh all twelve kernels. The data are real and come with scikit-learn.

**What to look at:** the longest bars belong to the worst values. The lines show how much the weights change
on random halves of the data: if a line reaches zero, a model of another sample might not need this kernel.
"""

# %%
# A view has a name, columns, and here also the kernels to try on them.
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier
from manykernels.families import views
from manykernels.inspection import weight_stability
from manykernels.kernels import Gaussian, Linear
from manykernels.plots import WeightsDisplay

X, y = load_breast_cancer(return_X_y=True)
tried = [Linear(), Gaussian(width=1.0), Gaussian(width=3.0), Gaussian(width=9.0)]
kernels = views(
    {"mean": (slice(0, 10), tried), "error": (slice(10, 20), tried), "worst": (slice(20, 30), tried)}
)
model = make_pipeline(StandardScaler(), MKLClassifier(kernels, norm=1.0, C=1.0)).fit(X, y)
mkl = model[-1]
for view, weight in mkl.view_weights_.items():
    print(f"{view:<6} {weight:.3f}")

# %%
# This share is the certificate: no other weights and no other machine lower the objective by more.
print(f"{mkl.dual_gap_:.1e}")

# %%
# One dataset gives one set of weights. Would other tumours give the same? The line over each bar spans 95 %
# of the weights learned on twenty random halves of the data. The numbers say how often a kernel had weight.
halves = {"method": "subsample", "n_resamples": 20, "random_state": 0}
stability = weight_stability(mkl, model[:-1].transform(X), y, **halves)
WeightsDisplay.from_estimator(mkl, stability=stability)

# %%
# Learned weights are not more accurate here: the plain sum of all kernels is at least as good. But the
# weights say which views the model uses, and the plain sum uses all of them.
for name, norm in (("learned", 1.0), ("plain sum", float("inf"))):
    one = make_pipeline(StandardScaler(), MKLClassifier(kernels, norm=norm))
    print(f"{name:<10} {cross_val_score(one, X, y, cv=5).mean():.3f}")
