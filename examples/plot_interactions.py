"""
Many interactions: 176,851 kernels
==================================

One hundred features have 176,851 products of up to three factors. Each product is a kernel, and the
certificate covers all of them, but the fit computes only the kernels that matter. The data are made, so that
we know the answer.

**What to look at:** the first products of the list are those of the formula. In the picture, predictions lie
close to the truth, although the model had only 500 noisy samples for 176,851 kernels.
"""

# %%
# The target depends on two products and one feature alone.
import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLRegressor
from manykernels.families import Products

rng = np.random.default_rng(0)
X = rng.standard_normal((500, 100))
y = X[:, 3] * X[:, 17] + X[:, 40] * X[:, 41] * X[:, 42] + X[:, 7] + 0.3 * rng.standard_normal(500)

model = MKLRegressor(Products(degree=3), norm=1.0, C=0.3, solver="corrective").fit(X, y)
print(f"gap {model.dual_gap_:.1e} over all products: {model.certified_}")

# %%
# These products have the largest weights.
table = model.selected_products_
for name, weight in list(zip(table["product"], table["weight"], strict=True))[:8]:
    print(f"{weight:.3f}  {name}")

# %%
# A linear model could only find feature 7.
new = rng.standard_normal((1000, 100))
truth = new[:, 3] * new[:, 17] + new[:, 40] * new[:, 41] * new[:, 42] + new[:, 7]
fig, ax = plt.subplots()
ax.scatter(truth, model.predict(new), s=6)
ax.set(xlabel="truth, without noise", ylabel="prediction", title=f"R² = {model.score(new, truth):.2f}")
