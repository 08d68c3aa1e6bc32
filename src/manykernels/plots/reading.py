"""Plain arrays of a fitted model for plots and reports; nothing here draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform
from sklearn.utils.validation import _num_samples

from ..fitting.layout import evenly, take
from ..fitting.model import Model
from ..fitting.spec import bare
from ..grams.checks import FLAT
from ..kernels import evaluate
from ..kernels.prepared import Prepared

Array = NDArray[np.float64]


# -- weights --------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WeightTable:
    """W (rows, kernels): one row, or one for each class or cluster, which `rows` then names."""

    names: list[str]
    W: Array
    rows: list[str] | None

    @property
    def order(self) -> NDArray[np.intp]:
        """Kernels by their largest weight, in absolute value."""
        return np.argsort(-np.abs(self.W).max(axis=0), kind="stable")


def weight_table(model: Model) -> WeightTable:
    W = np.asarray(model.weights, dtype=np.float64)
    names = [str(name) for name in model.names]
    if W.ndim == 1:
        return WeightTable(names, W[None], None)
    if model.rows == "cluster":
        return WeightTable(names, W, [f"cluster {j}" for j in range(len(W))])
    return WeightTable(names, W, outputs_of(model, len(W)))


def outputs_of(model: Model, count: int) -> list[str]:
    """Return the names of the outputs of a model: its classes, or numbers."""
    return [str(label) for label in (range(count) if model.classes is None else model.classes)]


# -- convergence ----------------------------------------------------------------------------------
def histories(model: Model) -> dict[str, dict[str, Array]]:
    """Return one history, or one for each class with its own weights: seconds, active, objective, gap.

    Where the gap of a step is not known (online learning reports a lower bound instead), "bound" takes the
    place of "objective" and "gap".
    """
    given = None if model.proof is None else model.proof.history
    if given is None and model.validated:
        raise ValueError(
            f"{model.title} keeps no history: weights and C were chosen by errors on samples left out (of "
            "every output, or of landmarks for many rows), and no problem was solved step by step."
        )
    if given is None:
        raise ValueError(
            f"{model.title} keeps no history: its weights come from one step, or samples came in by "
            "partial_fit. MKL*, Hierarchical*, Localized*, Nonlinear* and UFO* have one after fit."
        )
    several = given if isinstance(given, list) else [given]
    labels = outputs_of(model, len(several)) if len(several) > 1 else [""]
    tables = {}
    for label, one in zip(labels, several, strict=True):
        table = {key: np.asarray(values, dtype=np.float64) for key, values in one.items()}
        if "dual" in table:
            table["bound"] = table.pop("dual")
        tables[label] = table
    return tables


# -- similarity -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class SimilarityTable:
    """S (kernels, kernels): centred alignments, with the kernels in an order that puts like beside like."""

    names: list[str]
    S: Array
    weights: Array


def similarity_table(
    model: Model, X: Any = None, max_kernels: int = 40, n_samples: int = 400
) -> SimilarityTable:
    """⟨K_kc, K_lc⟩/(‖K_kc‖‖K_lc‖) of the kernels with the largest weights, on some samples of X.

    Kernels that are constant on them have no direction, and are left out.
    """
    table = weight_table(model)
    size = np.abs(table.W).max(axis=0)
    chosen = table.order[:max_kernels]
    X = _compared_samples(model, X, n_samples)
    n = _num_samples(X)
    rows, kept = np.empty((chosen.size, n * n)), np.zeros(chosen.size, dtype=bool)
    for i, K in evaluate([model.kernels[m] for m in chosen], X, None):
        scale = np.abs(K).max()
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        norm = np.linalg.norm(K)
        kept[i] = norm > FLAT * scale * n
        rows[i] = K.ravel() / (norm or 1.0)
    chosen, rows = chosen[kept], rows[kept]
    if not chosen.size:
        raise ValueError("All kernels are constant on these samples, so that there is nothing to compare.")
    S = np.clip(rows @ rows.T, -1.0, 1.0)
    order = _clustered(S)
    chosen = chosen[order]
    return SimilarityTable([table.names[m] for m in chosen], S[np.ix_(order, order)], size[chosen])


def _compared_samples(model: Model, X: Any, at_most: int) -> Any:
    """Return some rows of X, or of the training samples, evenly spread, as kernels read them."""
    if model.layout.kind == "stack":
        if X is None or np.shape(X)[0] != np.shape(X)[1]:
            raise ValueError(
                "The model was fitted on a stack of kernels, which it does not keep: give X, the stack "
                "(n, n, n_kernels) of kernels of samples among themselves."
            )
        rows = evenly(len(X), at_most)
        return np.asarray(X)[rows][:, rows]
    if X is None and model.X_fit is None:
        raise ValueError(f"{model.title} with approx keeps no training samples: give X.")
    X = model.X_fit if X is None else model.layout.read(X)
    return take(X, evenly(_num_samples(X), at_most))


def _clustered(S: Array) -> NDArray[np.intp]:
    if len(S) < 3:
        return np.arange(len(S))
    D = np.maximum(1.0 - 0.5 * (S + S.T), 0.0)
    np.fill_diagonal(D, 0.0)
    return np.asarray(leaves_list(linkage(squareform(D, checks=False), "average", optimal_ordering=True)))


# -- contributions --------------------------------------------------------------------------------
@dataclass(frozen=True)
class ContributionTable:
    """parts (samples, kernels or views) and the intercept sum to the decision (samples,) of one output."""

    names: list[str]
    samples: list[str]
    parts: Array
    intercept: float
    decision: Array
    output: str


def contribution_table(
    model: Model, X: Any, samples: Sequence[int] | None = None, *, by: str = "kernel", output: Any = None
) -> ContributionTable:
    """Compute what each kernel (or view) adds to the decision on samples of X, by default the first ten."""
    n = _num_samples(X)
    chosen = list(range(min(n, 10))) if samples is None else [int(i) for i in samples]
    for i in chosen:
        if not -n <= i < n:
            raise ValueError(f"sample {i} was given, and X holds {n} samples.")
    parts, intercept = parts_of(model, take(X, chosen), by)
    names = part_names(model, by)
    label = ""
    if parts.ndim == 3:
        k, label = _output(model, parts.shape[2], output)
        parts, intercept = parts[:, :, k], intercept[k]
    total = parts.sum(axis=1) + float(intercept)
    return ContributionTable(
        list(map(str, names)), [str(i % n) for i in chosen], parts, float(intercept), total, label
    )


def part_names(model: Model, by: str = "kernel") -> list[str]:
    """Return the names of the parts of a decision."""
    names = [model.names[m] for m in model.active] if by == "kernel" else list(model.view_weights)
    return [*map(str, names), *(["covariates"] if model.covariates is not None else [])]


def parts_of(model: Model, X: Any, by: str = "kernel") -> tuple[Array, Array]:
    """Compute what each kernel adds to decisions, and the intercept; several outputs are a last axis.

    Covariates are the last part, where there are any.
    """
    if model.function is None:
        raise ValueError(
            f"{model.title} has no contributions: it does not decide, or by a learner that is not linear in "
            "the kernels."
        )
    try:
        parts, beside = model.contributions(X, by), model.beside(X)
        parts = parts if beside is None else np.concatenate([parts, beside[:, None]], axis=1)
    except AttributeError as error:  # a power of a sum has no parts
        raise ValueError(str(error)) from error
    intercept = np.broadcast_to(np.asarray(model.function.intercept, dtype=np.float64), parts.shape[2:])
    return model.single(parts), np.asarray(model.single(intercept))


def _output(model: Model, outputs: int, given: Any) -> tuple[int, str]:
    labels = outputs_of(model, outputs)
    if given is None:
        return 0, labels[0]
    if str(given) in labels:
        return labels.index(str(given)), str(given)
    raise ValueError(f"output={given!r} was given; expected one of {', '.join(labels)}.")


# -- widths ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class WidthTable:
    """values (kernels, parameters) on a positive axis, and the weight of each kernel."""

    parameter: str
    names: list[str]
    features: list[str] | None  # one for each parameter, where kernels have one a feature
    values: Array
    weights: Array


def width_table(model: Model) -> WidthTable:
    """Return the kernels that have a width or a frequency; of several sorts, the most frequent one."""
    table = weight_table(model)
    weights = np.abs(table.W).max(axis=0)
    found: dict[str, list[tuple[int, Any]]] = {}
    for m, kernel in enumerate(model.kernels):
        arguments = bare(kernel.kernel)._arguments()
        for parameter in ("widths", "width", "frequency"):
            if parameter in arguments:
                found.setdefault(parameter, []).append((m, arguments[parameter]))
                break
    if not found:
        raise ValueError(
            "None of the kernels has a width or a frequency. Gaussians(), Laplacians(), Dirichlets(), "
            "ARDGaussians() and gaussian_grid(...) are made of such kernels."
        )
    parameter = max(found, key=lambda p: len(found[p]))
    index = [m for m, _ in found[parameter]]
    values = np.array([np.atleast_1d(v) for _, v in found[parameter]], dtype=np.float64)
    features = None
    if parameter == "widths":
        features = _features(model, model.kernels[index[0]].kernel, values.shape[1])
    return WidthTable(parameter, [table.names[m] for m in index], features, values, weights[index])


def _features(model: Model, kernel: Any, n: int) -> list[str]:
    """Return the features that the widths of a kernel belong to."""
    given, count = model.layout.feature_names_in, model.layout.n_features_in
    names = [str(f) for f in (given if given is not None else [f"x{i}" for i in range(count or 0)])]
    if not isinstance(kernel, Prepared):
        return names
    made = kernel.preparation.names(names, kernel.part)
    return made if len(made) == n else [f"feature {j}" for j in range(n)]


# -- stability ------------------------------------------------------------------------------------
def stability_columns(stability: Any, names: list[str]) -> dict[str, Array] | None:
    """mean, low, high and frequency in the order of `names`; kernels that it does not know are NaN."""
    if stability is None:
        return None
    keys = ("names", "mean", "low", "high", "frequency")
    if isinstance(stability, Mapping):
        columns = {key: stability.get(key) for key in keys}
    else:
        columns = {key: getattr(stability, key, None) for key in keys}
    if any(columns[key] is None for key in ("names", "low", "high")):
        raise ValueError("stability needs names, low and high (and mean and frequency, where known).")
    place = {str(name): i for i, name in enumerate(columns.pop("names") or [])}
    index = np.array([place.get(name, -1) for name in names])
    answer = {}
    for key, values in columns.items():
        if values is not None:
            values = np.asarray(values, dtype=np.float64)
            answer[key] = np.where(index >= 0, values[..., index], np.nan)
    return answer
