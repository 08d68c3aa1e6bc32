"""Changes of a problem that leave its optimum as it is, or move it by a known factor or to a known side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from tests.properties.problems import Case

from manykernels import MKLClassifier
from manykernels.families import Family
from manykernels.kernels import Constant, Dirichlet, Gaussian, Laplacian, Linear, OnColumns, Sum
from manykernels.losses import EpsilonInsensitive, Huber, Pinball
from manykernels.penalties import ElasticNet, L2Ball

Map = Callable[[np.ndarray], np.ndarray]
_SHIFTED = (Gaussian, Laplacian, Dirichlet)


@dataclass(frozen=True)
class Pair:
    """A problem and what became of it: its optimum is `factor` times the first one's, or at most that.

    `back` turns decisions (n, outputs) of the second into those of the first, where they must be equal.
    """

    first: Case
    second: Case
    factor: float = 1.0
    equal: bool = True
    back: Map | None = lambda f: f


Rng = np.random.RandomState
Relation = Callable[[Case, Rng], Pair | None]
RELATIONS: dict[str, Relation] = {}


def relation(function: Relation) -> Relation:
    """A relation; it returns None for cases that it says nothing of."""
    RELATIONS[function.__name__] = function
    return function


def stacked(case: Case) -> bool:
    return case.X.ndim == 3


def listed(case: Case) -> list[Any] | None:
    return case.model.kernels if isinstance(case.model.kernels, list) else None


def _take(case: Case, rows: np.ndarray, weight: Any) -> Case:
    X = case.X[rows][:, rows] if stacked(case) else case.X[rows]
    return replace(case, X=X, y=case.y[rows], weight=weight)


def weight_of(case: Case) -> np.ndarray:
    return np.ones(len(case.y)) if case.weight is None else case.weight


def is_classifier(case: Case) -> bool:
    return isinstance(case.model, MKLClassifier)


# -- samples ------------------------------------------------------------------------------------
@relation
def samples_in_another_order(case: Case, rng: Rng) -> Pair:
    order = rng.permutation(len(case.y))
    weight = None if case.weight is None else case.weight[order]
    back = np.argsort(order)
    return Pair(case, _take(case, order, weight), back=lambda f: f[back])


@relation
def a_sample_twice_is_a_weight_of_two(case: Case, rng: Rng) -> Pair:
    n, i = len(case.y), rng.randint(len(case.y))
    weight = weight_of(case).copy()
    rows = np.append(np.arange(n), i)
    twice = _take(case, rows, weight[rows])
    weight[i] *= 2.0
    return Pair(replace(case, weight=weight), twice, back=lambda f: f[:n])


@relation
def a_sample_of_weight_zero_is_none(case: Case, rng: Rng) -> Pair | None:
    keep = rng.rand(len(case.y)) < 0.8
    if np.unique(case.y[keep], axis=0).shape[0] < np.unique(case.y, axis=0).shape[0] and is_classifier(case):
        return None
    if keep.sum() < 3:
        return None
    weight, rows = weight_of(case), np.flatnonzero(keep)
    less = _take(case, rows, weight[rows])
    return Pair(less, replace(case, weight=np.where(keep, weight, 0.0)), back=lambda f: f[rows])


@relation
def weights_or_costs(case: Case, rng: Rng) -> Pair:
    s = float(2.0 ** rng.randint(-3, 4))
    return Pair(case, replace(case, weight=weight_of(case) * s).change(C=case.model.C / s))


# -- kernels ------------------------------------------------------------------------------------
@relation
def kernels_in_another_order(case: Case, rng: Rng) -> Pair | None:
    if stacked(case):
        return Pair(case, replace(case, X=case.X[:, :, rng.permutation(case.X.shape[2])]))
    kernels = listed(case)
    if kernels is None:
        return None
    return Pair(case, case.change(kernels=[kernels[m] for m in rng.permutation(len(kernels))]))


@relation
def normalised_kernels_have_no_scale(case: Case, rng: Rng) -> Pair | None:
    if stacked(case):
        scale = 10.0 ** rng.uniform(-6, 6, case.X.shape[2])
        return Pair(case.change(normalize="trace"), replace(case, X=case.X * scale).change(normalize="trace"))
    kernels = listed(case)
    if kernels is None:
        return None
    grown = [float(10.0 ** rng.uniform(-6, 6)) * kernel for kernel in kernels]
    return Pair(case.change(normalize="trace"), case.change(normalize="trace", kernels=grown))


@relation
def larger_kernels_are_larger_costs(case: Case, rng: Rng) -> Pair | None:
    """½‖w‖²/c + C·loss = (½‖w‖² + cC·loss)/c."""
    kernels, c = listed(case), float(10.0 ** rng.uniform(-2, 2))
    if isinstance(case.model.norm, ElasticNet) or (kernels is None and not stacked(case)):
        return None
    first = case.change(normalize=None, C=case.model.C * c)
    if stacked(case):
        return Pair(first, replace(case, X=case.X * c).change(normalize=None), factor=1.0 / c)
    return Pair(first, case.change(normalize=None, kernels=[c * k for k in kernels]), factor=1.0 / c)


@relation
def a_kernel_of_nothing(case: Case, rng: Rng) -> Pair | None:
    """A constant adds nothing to an intercept, and zero adds nothing at all."""
    kernels = listed(case)
    if kernels is None:
        return None
    value = 0.0 if rng.rand() < 0.5 or not case.model.fit_intercept else float(10.0 ** rng.randint(-3, 4))
    place = rng.randint(len(kernels) + 1)
    return Pair(case, case.change(kernels=[*kernels[:place], Constant(value), *kernels[place:]]))


@relation
def a_kernel_twice_at_norm_one(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None:
        return None
    again = kernels[rng.randint(len(kernels))]
    return Pair(case.change(norm=1.0), case.change(norm=1.0, kernels=[*kernels, again]))


@relation
def two_halves_of_a_sum(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None:
        return None
    options = {"norm": np.inf, "normalize": None}
    place = rng.randint(len(kernels))
    halves = [*kernels[:place], *kernels[place + 1 :], 0.5 * kernels[place], 0.5 * kernels[place]]
    return Pair(case.change(**options), case.change(kernels=halves, **options))


@relation
def the_sum_as_one_kernel(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None or len(kernels) < 2:
        return None
    options = {"norm": np.inf, "normalize": None}
    return Pair(case.change(**options), case.change(kernels=[Sum(list(kernels))], **options))


@relation
def more_kernels_are_never_worse(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None:
        return None
    more = [*kernels, Gaussian(float(10.0 ** rng.uniform(-1, 1)))]
    return Pair(case, case.change(kernels=more), equal=False, back=None)


@relation
def larger_norms_are_never_worse(case: Case, rng: Rng) -> Pair | None:
    if isinstance(case.model.norm, ElasticNet | L2Ball) or isinstance(case.model.kernels, Family):
        return None
    p = case.model.norm * (1.0 + rng.rand())
    return Pair(case, case.change(norm=p), equal=False, back=None)


@relation
def a_stack_of_the_same_kernels(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None:
        return None
    stack = np.stack([kernel(case.X) for kernel in kernels], axis=2)
    return Pair(case, replace(case.change(kernels="precomputed"), X=stack))


@relation
def centred_kernels_with_an_intercept(case: Case, rng: Rng) -> Pair | None:
    """Without normalisation, centring only moves the intercept."""
    if not case.model.fit_intercept or isinstance(case.model.kernels, Family):
        return None
    first = case.change(normalize=None, center=False)
    return Pair(first, case.change(normalize=None, center=True))


# -- features -----------------------------------------------------------------------------------
def _invariant(case: Case) -> bool:
    parts = [k.kernel if isinstance(k, OnColumns) else k for k in listed(case) or [None]]
    return all(isinstance(part, _SHIFTED) for part in parts)


@relation
def moved_features(case: Case, rng: Rng) -> Pair | None:
    if not _invariant(case):
        return None
    return Pair(case, replace(case, X=case.X + 2.0 ** rng.randint(0, 8, case.X.shape[1])))


@relation
def stretched_features_and_widths(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None or not all(isinstance(k, Gaussian | Laplacian) for k in kernels):
        return None
    s = float(2.0 ** rng.randint(-8, 9))
    stretched = [type(k)(k.width * s) for k in kernels]
    return Pair(case, replace(case, X=case.X * s).change(kernels=stretched))


@relation
def turned_features(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None or not all(isinstance(k, Gaussian | Linear) for k in kernels):
        return None
    Q = np.linalg.qr(rng.randn(case.X.shape[1], case.X.shape[1]))[0]
    return Pair(case, replace(case, X=case.X @ Q))


# -- targets ------------------------------------------------------------------------------------
@relation
def moved_targets(case: Case, rng: Rng) -> Pair | None:
    if is_classifier(case) or not case.model.fit_intercept:
        return None
    shift = float(rng.choice([-1.0, 10.0, 1e3]))
    return Pair(case, replace(case, y=case.y + shift), back=lambda f: f - shift)


@relation
def larger_targets(case: Case, rng: Rng) -> Pair | None:
    """Squared loss: P grows as s²; with the tube and C grown by s, so does that of the other one."""
    if is_classifier(case) or isinstance(case.model.norm, ElasticNet):
        return None
    s, loss = float(10.0 ** rng.uniform(-3, 3)), case.model.loss
    second = replace(case, y=s * case.y)
    if isinstance(loss, Pinball):
        second = second.change(C=s * case.model.C)
    elif isinstance(loss, Huber):
        second = second.change(loss=Huber(s * loss.delta))
    elif loss != "squared":
        epsilon = getattr(loss, "epsilon", 0.1)
        second = second.change(loss=EpsilonInsensitive(s * epsilon), C=s * case.model.C)
    return Pair(case, second, factor=s * s, back=lambda f: f / s)


@relation
def other_names_of_classes(case: Case, rng: Rng) -> Pair | None:
    """Two classes that change places flip the sign; several change their columns."""
    if not is_classifier(case):
        return None
    classes, codes = np.unique(case.y, return_inverse=True)
    order = rng.permutation(len(classes)) if len(classes) > 2 else np.array([1, 0])
    second = replace(case, y=order[codes])
    return Pair(case, second, back=lambda f: f[:, order] if f.shape[1] > 1 else -f)


@relation
def larger_costs_are_larger_objectives(case: Case, rng: Rng) -> Pair:
    """The optimum grows with C."""
    return Pair(case, case.change(C=case.model.C / (1.0 + rng.rand())), equal=False, back=None)


@relation
def another_solver(case: Case, rng: Rng) -> Pair | None:
    if case.share == "family":
        return None
    solver = "alternating" if case.model.solver != "alternating" else "active-set"
    return Pair(case, case.change(solver=solver))
