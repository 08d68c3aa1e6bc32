"""
A table against boosting
========================

For tables most people use gradient boosting. Is a learned kernel as good? The data are real: 442 diabetes
patients of scikit-learn, ten columns, and the progress of the disease a year later.

**What to look at:** each small dot is a fold, each large one is a mean. The kernels are ahead on average, but
the folds of both overlap, and the interval of the difference contains zero. Five folds of this table do not
decide which is better. The dashed line is a constant prediction.
"""

# %%
# Both methods see the raw table. ``MKLRegressorCV`` prepares the columns and chooses kernels, norm and C
# inside each fold; ``strategy="finite"`` keeps the search quick.
from sklearn.datasets import load_diabetes
from sklearn.ensemble import HistGradientBoostingRegressor

import manykernels as mk
from manykernels.plots import ComparisonDisplay, ImportanceDisplay

X, y = load_diabetes(return_X_y=True, as_frame=True)
methods = {
    "learned kernels": mk.MKLRegressorCV(strategy="finite"),
    "boosting": HistGradientBoostingRegressor(random_state=0),
}
found = mk.compare(methods, X, y, cv=5)
ComparisonDisplay.from_comparison(found, s=40)

# %%
# The table says the same in numbers.
print(found)

# %%
# Which columns matter for the score? We permute each column on held-out patients. Columns whose line crosses
# zero may say nothing, or only what another column says too.
model = mk.MKLRegressorCV(strategy="finite", Cs=5)
ImportanceDisplay.from_estimator(model.fit(X, y), X, y, cv=3, n_repeats=2, random_state=0)
