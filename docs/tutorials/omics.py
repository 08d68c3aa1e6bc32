"""Clinic and genes of 198 breast cancer patients: which of them predicts distant metastases?

Desmedt et al. 2007, as scikit-survival carries them: `pip install --no-deps scikit-survival`.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLSurvivalCV
from manykernels.datasets import load_survival
from manykernels.inspection import importance, significance
from manykernels.plots import ImportanceDisplay, RiskGroupsDisplay

given = load_survival("sksurv_breast_cancer")
clinical = ["age", "er", "grade", "size"]
views = {"clinic": given.data[clinical], "genes": given.data.drop(columns=clinical)}
y = given.target

rng = np.random.default_rng(0)
order = rng.permutation(len(y))
train, test = order[:130], order[130:]
kept = {name: table.iloc[train] for name, table in views.items()}
kept["genes"] = kept["genes"].iloc[:100]  # we take the genes of 30 patients away, to show absent views

model = MKLSurvivalCV(strategy="finite", random_state=0).fit(kept, y[train])
print(model.present_, {name: round(float(w), 2) for name, w in model.view_weights_.items()})
new = {name: table.iloc[test] for name, table in views.items()}
print(f"C index of {len(test)} new patients: {model.score(new, y[test]):.2f}")

everyone = {name: table.iloc[order] for name, table in views.items()}
print(significance(model, everyone, y[order], by="view"))
found = importance(model, everyone, y[order], max_columns=0, random_state=0)

plt.rcParams["font.size"] = 12
figure, (top, low) = plt.subplots(2, 1, figsize=(6.6, 6.8), height_ratios=[5, 2], layout="constrained")
RiskGroupsDisplay.from_estimator(model, new, y[test], groups=2, time="days", ax=top)
top.legend(loc="lower left")
ImportanceDisplay(found, by="view").plot(ax=low)
low.set_title("", loc="left")
low.locator_params(axis="x", nbins=5)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "omics.png", dpi=100)
