"""The picture of README and of the start page, from real data: `python docs/pictures.py`.

The breast cancer data of scikit-learn have three views of 569 tumours: the mean, the error and the worst
value of ten measurements of the cell nuclei.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from manykernels import MKLClassifier
from manykernels.inspection import importance, weight_stability

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE = "#1f5fa8", "#b8530a"  # told apart by colour-blind readers too


def main() -> None:
    """Learn weights of the views, learn them again on halves, and permute the views on held-out samples."""
    X, y = load_breast_cancer(return_X_y=True)
    views = {"mean": X[:, :10], "error": X[:, 10:20], "worst": X[:, 20:]}
    model = MKLClassifier().fit(views, y)
    halves = weight_stability(model, views, y, method="subsample", n_resamples=50, random_state=0).views
    permuted = importance(model, views, y, max_columns=0, random_state=0).views
    weights = {
        name: (model.view_weights_[name], low, high)
        for name, low, high in zip(halves.names, halves.low, halves.high, strict=True)
    }
    losses = {
        row[0]: (100 * row[1], 100 * row[2], 100 * row[3])
        for row in zip(*(permuted.columns()[key] for key in ("name", "mean", "low", "high")), strict=True)
    }
    print(f"gap {model.dual_gap_:.1e}", weights, losses, sep="\n")
    draw(weights, losses, "views.png", (1, 2), (7.4, 3.3))
    draw(weights, losses, "views-narrow.png", (2, 1), (4.1, 5.6))  # for a telephone


def draw(
    weights: dict[str, Any],
    losses: dict[str, Any],
    name: str,
    grid: tuple[int, int],
    size: tuple[float, float],
) -> None:
    """Bars with intervals, a row for each view, in two panels."""
    names = sorted(weights, key=lambda name: weights[name][0])
    plt.rcParams.update({"font.size": 14, "axes.spines.top": False, "axes.spines.right": False})
    figure, axes = plt.subplots(*grid, figsize=size, sharey=True, layout="constrained")
    panels = [
        (weights, BLUE, "Weight of the view", "line: 95 % of the weights\non random halves"),
        (
            losses,
            ORANGE,
            "Accuracy lost if shuffled",
            "percentage points,\non held-out samples\nline: 95 % interval",
        ),
    ]
    for ax, (values, colour, title, label) in zip(axes, panels, strict=True):
        middle, low, high = ([values[name][k] for name in names] for k in range(3))
        ax.barh(names, middle, color=colour, height=0.55)
        ax.hlines(names, low, high, color="black", lw=2)
        ax.axvline(0.0, color="black", lw=0.8)
        ax.set_title(title, loc="left", fontsize=15, fontweight="bold")
        ax.set_xlabel(label)
    figure.savefig(IMAGES / name, dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main()
