"""What covariates cost: a fit with 20 of them beside one without, for every loss; and what y + Zβ changes.

Covariates matter to the target, and half of them are indicators of sites. The fit without them has the same
target less their part, so that there is the same to learn: with their part left in as noise, fits are others,
and take fewer or more steps. Times are those of one processor: ratios within one run, at the same tolerance,
over several targets.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.families import gaussian_grid
from manykernels.inspection import certificate

from .harness import Facts, Report, compare, pinned
from .problems import Array

COUNT = 20  # covariates
TOL = 1e-4
GOALS = {"squared": 1.2, "logistic": 1.2, "hinge": 3.0}  # times a fit without covariates, at most
LOSSES = {
    "squared": MKLRegressor,
    "huber": MKLRegressor,
    "logistic": MKLClassifier,
    "squared_hinge": MKLClassifier,
    "hinge": MKLClassifier,
    "epsilon_insensitive": MKLRegressor,
}


def run(report: Report) -> None:
    """Every loss at two sizes, on one thread; then the weights of a shifted target."""
    with pinned(1):
        for n, kernels in report.pick([(500, 20), (1000, 20)], [(80, 4)]):
            rows = [cost(loss, n, kernels, report.pick(7, 1)) for loss in LOSSES]
            goal = ", ".join(f"{loss} {most:g} ×" for loss, most in GOALS.items())
            report.table(
                f"{COUNT} covariates, {n} samples, {kernels} Gaussian kernels, norm 1",
                rows,
                f"at most {goal}",
            )
        rows = [shifted(size) for size in (1.0, 1e3, 1e6)]
        report.table("Squared loss: y + Zβ in place of y", rows, "weights change by less than 1e-6")


def samples(n: int, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """X, covariates (numbers, and indicators of sites), a target of both, and what covariates add to it."""
    draw = np.random.RandomState(seed)
    X, numbers = draw.standard_normal((n, 5)), draw.standard_normal((n, COUNT // 2))
    site = draw.randint(0, COUNT - COUNT // 2 + 1, n)
    Z = np.hstack([numbers, np.eye(site.max() + 1)[site][:, 1:]])
    beside = 0.5 * numbers[:, 0] + 0.3 * (site % 3)
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + beside
    return X, Z, f + 0.5 * draw.standard_normal(n), beside


def _target(loss: str, y: Array) -> Any:
    return y if LOSSES[loss] is MKLRegressor else np.where(y > np.median(y), "high", "low")


def cost(loss: str, n: int, kernels: int, draws: int) -> Facts:
    """Processor time with and without covariates, and the certificate computed anew, over several targets.

    How many machines a fit takes depends on the target, so that single targets say little.
    """
    times: dict[str, list[float]] = {"without": [], "with": []}
    machines: dict[str, list[int]] = {"without": [], "with": []}
    worst = 0.0
    for seed in range(draws):
        X, Z, y, beside = samples(n, seed)
        target, alone = (_target(loss, part) for part in (y, y - beside))
        given = {"kernels": gaussian_grid(0.5, 50.0, kernels), "loss": loss, "tol": TOL}
        plain, adjusted = LOSSES[loss](**given), LOSSES[loss](**given)
        ways = {
            "without": partial(plain.fit, X, alone),
            "with": partial(adjusted.fit, X, target, covariates=Z),
        }
        for name, timing in compare(ways, 3).items():
            times[name].append(float(np.median(timing.cpu)))
            machines[name].append(int(timing.result.n_iter_))
        worst = max(worst, float(certificate(adjusted, X, target, covariates=Z).gap))
    without, with_ = (1e3 * float(np.mean(times[name])) for name in ("without", "with"))
    return {
        "loss": loss,
        "CPU ms without": without,
        "CPU ms with": with_,
        "× without": with_ / without,
        "machines without": float(np.mean(machines["without"])),
        "machines with": float(np.mean(machines["with"])),
        "largest gap": worst,
    }


def shifted(size: float) -> Facts:
    """How much weights and coefficients change where the target has a part Zβ more."""
    X, Z, y, _ = samples(300)
    beta = size * np.random.RandomState(1).standard_normal(Z.shape[1])
    model = MKLRegressor(gaussian_grid(0.5, 50.0, 10), tol=TOL)
    before = model.fit(X, y, covariates=Z)
    weights, coef = before.weights_.copy(), before.covariate_coef_.copy()
    model.fit(X, y + Z @ beta, covariates=Z)
    return {
        "size of β": size,
        "largest change of a weight": float(np.abs(model.weights_ - weights).max()),
        "largest error of β, relative": float(np.abs(model.covariate_coef_ - coef - beta).max() / size),
    }
