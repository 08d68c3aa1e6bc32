"""002 Figs 2 (top) and 3: the objective against time; time and accuracy against kernels and against α."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from manykernels import UFOMKLClassifier
from manykernels.families import from_distances, gaussian_grid
from manykernels.grams import StackGram
from manykernels.grams.expansions import KernelExpansion
from manykernels.kernels import Gaussian, Kernel, evaluate
from manykernels.losses import Hinge
from manykernels.losses.structured import Separable
from manykernels.objectives import Risk
from manykernels.penalties import resolve_penalty
from manykernels.solvers import ActiveSet
from manykernels.solvers.ufo import UFO, GroupRegularizer, dual_exponent

from .data import Array, Source, stand_in, stored
from .plots import Lines
from .products_convergence import Clock
from .tables import Facts, Report

FIGURE = Path(__file__).parent / "results" / "ufo_scaling.png"
COUNTS = (8, 17, 33, 67, 133, 233)  # kernels a view, of six: from 48 to 1,398
ALPHAS = (1e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2e-2)  # 002's
TRAIN, TEST, EPOCHS = 300, 500, 10
COST = 1000.0  # λ = 1/(1000 N), 002's choice
PASSES = 64
PLOTS = [  # the curves of Fig. 2 are drawn when they are measured: see `draw`
    Lines(
        "ufo_scaling_kernels.png",
        "mfeat: 300 samples, 10 passes, against the number of kernels",
        "kernels",
        "seconds of one processor, of a fit",
        x="kernels",
        y=["seconds"],
        last=True,
        title="002 Fig. 3: time",
    ),
    Lines(
        "ufo_scaling_kernels.png",
        "mfeat: 300 samples, 10 passes, against α",
        "α",
        "kernels used, of 402",
        x="α",
        y=["kernels"],
        log="x",
        title="002 Fig. 3: sparsity",
    ),
    Lines(
        "ufo_scaling_kernels.png",
        "mfeat: 300 samples, 10 passes, against α",
        "α",
        "accuracy, per cent",
        x="α",
        y=["accuracy"],
        log="x",
        title="002 Fig. 3: accuracy",
    ),
]


# -- the objective against time ---------------------------------------------------------------------
@dataclass
class Curve:
    """Seconds of one processor, and the objective reached by then."""

    seconds: list[float] = field(default_factory=list)
    objective: list[float] = field(default_factory=list)


def online(stack: Array, Y: Array, lam: float, passes: int, seed: int = 0) -> Curve:
    """UFO-MKL at α = 0, looked at after every pass; looking is not timed."""
    F, n = len(stack), len(Y)
    regularizer, loss = GroupRegularizer(lam, 0.0, dual_exponent(F)), Separable(Hinge(), Y.shape[1])
    kernels: list[Kernel] = [Gaussian(1.0)] * F  # their values are in the stack
    gram, rng, curve, spent = StackGram(stack), np.random.RandomState(seed), Curve(), 0.0
    for timed in (False, True):  # once for the compiler
        expansion = KernelExpansion(kernels, Y.shape[1], constant=False, gram=gram)
        rows, state = expansion.enter(np.arange(n)), UFO(regularizer, F)
        for _ in range(passes if timed else 1):
            order = rng.permutation(n)
            started = time.process_time()
            state.advance(expansion, loss, rows[order], Y[order])
            spent += time.process_time() - started if timed else 0.0
            if timed:
                curve.seconds.append(spent)
                curve.objective.append(state.primal(expansion, loss, rows, Y))
    return curve


def batch(stack: Array, Y: Array, lam: float) -> tuple[Curve, float]:
    """The same problem by the batch solver, and the lower bound that it ends with.

    ½ λ ‖w‖²_{2,p̃} + (1/N) Σ ℓ is λ times P = ½ ‖w‖²_{2,p̃} + C Σ ℓ with C = 1/(Nλ); weights in the ball of
    norm p = p̃/(2 − p̃) make the group norm of exponent 2p/(p + 1) = p̃, and p̃ = q/(q − 1).
    """
    q = dual_exponent(len(stack))
    exponent = q / (q - 1.0)
    penalty = resolve_penalty(exponent / (2.0 - exponent))
    risk = Risk(Hinge(), Y, np.full(Y.shape, 1.0 / (len(Y) * lam)), False)
    gram, options = StackGram(stack), {"max_iter": 1000, "rng": np.random.RandomState(0)}
    ActiveSet().run(gram, risk, penalty, tol=0.1, **options)
    clock = Clock()
    ActiveSet().run(gram, risk, penalty, tol=1e-4, history=clock, **options)
    bound = max(P * (1.0 - gap) for P, gap in zip(clock.objective, clock.gap, strict=True))
    return Curve(clock.seconds, [lam * P for P in np.minimum.accumulate(clock.objective)]), lam * bound


def problems(report: Report) -> dict[str, tuple[Array, Array]]:
    """(stack, ±1 targets): two sets of two classes with 50 widths, and ten digits with 48 kernels."""
    found, quick = {}, report.quick
    for name, d in (("sonar", 60), ("ida_german", 20)):
        with report.leaving_out(name):
            data = Source(name, "classification", "raw", n_features=d).load(m=700, quick=quick)
            X = (data.X - data.X.mean(axis=0)) / np.maximum(data.X.std(axis=0), 1e-300)
            typical = np.sqrt(2.0 * d)
            kernels = gaussian_grid(typical / 8.0, 8.0 * typical, 5 if quick else 50)
            found[name] = stack_of(kernels, X), data.y[:, None]
    with report.leaving_out("mfeat"):
        (D, y), _ = digits(quick)
        by_view = list(from_distances(rates(2 if quick else COUNTS[0])).resolve(D).values())
        found["mfeat"] = stack_of(by_view, D), np.where(y[:, None] == np.unique(y), 1.0, -1.0)
    return found


def stack_of(kernels: Any, X: Array) -> Array:
    stack = np.empty((len(kernels), len(X), len(X)))
    for m, K in evaluate(kernels, X):
        stack[m] = K
    return stack


def convergence(report: Report) -> dict[str, Any]:
    """A table for each set and cost: the relative excess over the bound as passes go by."""
    figure = {}
    for name, (stack, Y) in problems(report).items():
        rows = []
        for cost in (1.0, 100.0):
            lam = 1.0 / (cost * len(Y))
            ours, (theirs, bound) = (
                online(stack, Y, lam, 4 if report.quick else PASSES),
                batch(stack, Y, lam),
            )
            rows += rows_of(cost, ours, theirs, bound)
            figure[f"{name}, λ = 1/({cost:g} N)"] = ours, theirs, bound
        title = f"{name}: objective / bound − 1 at α = 0; {len(stack)} kernels, {len(Y)} samples"
        report.table(title, rows, "Seconds of one processor, with all Gram matrices ready.")
    return figure


def rows_of(cost: float, ours: Curve, theirs: Curve, bound: float) -> list[Facts]:
    """After 1, 4, 16 … passes, and the batch solver at its end and when it was as good as the last pass."""
    rows: list[Facts] = []
    for k in (0, 3, 15, 63):
        if k < len(ours.seconds):
            rows.append(
                _row(cost, f"UFO-MKL, {k + 1} passes", ours.seconds[k], ours.objective[k] / bound - 1.0)
            )
    good = next(
        k for k, P in enumerate(theirs.objective) if P <= ours.objective[-1] or P == theirs.objective[-1]
    )
    rows.append(_row(cost, "batch, as good", theirs.seconds[good], theirs.objective[good] / bound - 1.0))
    return [*rows, _row(cost, "batch, end", theirs.seconds[-1], theirs.objective[-1] / bound - 1.0)]


def _row(cost: float, method: str, seconds: float, excess: float) -> Facts:
    return {"λ N": f"1/{cost:g}", "method": method, "seconds": f"{seconds:.3f}", "excess": f"{excess:.1e}"}


# -- many kernels -----------------------------------------------------------------------------------
def digits(quick: bool) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """Stacks of distances (n, training samples, views) and labels, to train and to test on.

    Euclidean on standardised columns, in units of their mean between training samples.
    """
    n, m = (40, 30) if stand_in(quick) else (100, 100) if quick else (TRAIN, TEST)
    rng = np.random.RandomState(0)
    if stand_in(quick):
        y = np.arange(n + m) % 3
        views = [rng.standard_normal((n + m, 4)) + np.eye(3, 4)[y] * (v + 1) for v in range(3)]
    else:
        given = stored("mfeat", float)
        y, views = given.y, [given.view(name) for name in given.views]
    rows = rng.permutation(len(y))[: n + m]
    stack = np.empty((n + m, n, len(views)))
    for v, X in enumerate(views):
        Z = (X[rows] - X[rows[:n]].mean(axis=0)) / np.maximum(X[rows[:n]].std(axis=0), 1e-12)
        stack[:, :, v] = cdist(Z, Z[:n])
        stack[:, :, v] /= stack[:n, :, v].mean()
    y = y[rows].astype(float)
    return (stack[:n], y[:n]), (stack[n:], y[n:])


def rates(count: int) -> list[float]:
    """1/γ for γ from 0.01 to 100 (002 §5.4)."""
    return [float(1.0 / gamma) for gamma in np.geomspace(0.01, 100.0, count)]


def passes_of(quick: bool) -> int:
    return 2 if quick else EPOCHS


def many(quick: bool, count: int, alpha: float) -> Facts:
    """One fit with so many kernels a view."""
    (D, y), (D_test, y_test) = digits(quick)
    options: dict[str, Any] = {"epochs": passes_of(quick), "fit_intercept": False, "random_state": 0}
    model = UFOMKLClassifier(
        from_distances(rates(count)),
        loss="multiclass_hinge",
        lam=1.0 / (COST * len(y)),
        alpha=alpha,
        **options,
    )
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that no kernel is left: the table says so
        model.fit(D, y)
    spent = time.process_time() - started
    right = 100.0 * float(np.mean(model.predict(D_test) == y_test))
    kernels = f"{model.active_.size} of {len(model.kernels_)}"
    row: Facts = {
        "α": f"{alpha:g}",
        "kernels": kernels,
        "seconds": f"{spent:.2f}",
        "accuracy": f"{right:.1f}",
    }
    return row | {"samples used": f"{np.count_nonzero(np.any(model.dual_coef_, axis=1))} of {len(y)}"}


def uniform(quick: bool) -> float:
    """Per cent right of an SVM on the mean of the kernels of all views, as a yardstick."""
    (D, y), (D_test, y_test) = digits(quick)
    K, K_test = (
        np.mean([np.exp(-r * S) for r in rates(COUNTS[0])], axis=0).mean(axis=2) for S in (D, D_test)
    )
    machine = SVC(C=COST, kernel="precomputed").fit(K, y)
    return 100.0 * float(np.mean(machine.predict(K_test) == y_test))


def run(report: Report) -> None:
    """Three tables of convergence, one for the number of kernels, one for α; a figure."""
    figure = convergence(report)
    if "mfeat" in report.left_out:
        return
    counts, alphas, middle = ((1, 2), ALPHAS[:2], 2) if report.quick else (COUNTS, ALPHAS, COUNTS[3])
    many(report.quick, 1, 1e-3)  # for the compiler
    note = (
        f"The mean of 48 of the kernels, with an SVM for each pair of classes: {uniform(report.quick):.1f}."
    )
    n, passes = len(digits(report.quick)[0][1]), passes_of(report.quick)
    by_count = [many(report.quick, count, 1e-3) for count in counts]
    report.table(f"mfeat: {n} samples, {passes} passes, against the number of kernels", by_count, note)
    by_alpha = [many(report.quick, middle, alpha) for alpha in alphas]
    report.table(f"mfeat: {n} samples, {passes} passes, against α", by_alpha)
    if not report.quick:
        draw(figure, by_count, by_alpha, FIGURE)


def draw(figure: dict[str, Any], by_count: list[Facts], by_alpha: list[Facts], file: Path) -> None:
    """Excess over the bound against seconds; seconds against kernels; kernels and accuracy against α."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(2, 4, figsize=(13, 6))
    for ax, (title, (ours, theirs, bound)) in zip(axes.ravel(), figure.items(), strict=False):
        for name, curve in (("UFO-MKL", ours), ("batch", theirs)):
            ax.loglog(curve.seconds, np.maximum(np.array(curve.objective) / bound - 1.0, 1e-6), label=name)
        ax.set_title(title, fontsize=9)
        ax.set_xlabel("seconds of one processor", fontsize=8)
    axes[0, 0].set_ylabel("objective / bound − 1")
    axes[0, 0].legend(fontsize=8)
    F = [int(row["kernels"].split()[-1]) for row in by_count]
    axes[1, 2].plot(F, [float(row["seconds"]) for row in by_count], marker="o")
    axes[1, 2].set(xlabel="kernels", title="mfeat: seconds of a fit")
    alphas = [float(row["α"]) for row in by_alpha]
    axes[1, 3].semilogx(alphas, [float(row["accuracy"]) for row in by_alpha], marker="o", label="accuracy")
    share = [100.0 * int(row["kernels"].split()[0]) / int(row["kernels"].split()[-1]) for row in by_alpha]
    axes[1, 3].semilogx(alphas, share, marker="s", label="kernels used, %")
    axes[1, 3].set(xlabel="α", title="mfeat")
    axes[1, 3].legend(fontsize=8)
    fig.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    fig.savefig(file, dpi=60)
    plt.close(fig)
