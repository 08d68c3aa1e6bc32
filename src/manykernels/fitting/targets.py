"""From y to what the machines fit, and back: labels as signs of one-vs-rest problems, or numbers.

A kind of target reads y, learns what there is to know of it (`learn`), encodes it and says what each sample
costs; and it makes predictions of decisions. Nothing else asks whether y holds labels or numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import log_expit
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight

from .._arguments import and_more, as_numbers, is_masked, number_of, shown
from .._warn import warn
from ..kernels.cells import is_missing
from ..losses import Criterion, Loss
from ..measures import target_factor
from ..objectives import Risk, Separable
from .layout import collected
from .survival import refuse_survival

Array = NDArray[np.float64]
_LONGEST = 10**300  # whole numbers beyond it are no floats
_EXPECTED = "one value per sample: an array, a series or a list"
_SAMPLES_A_CLASS = 4  # with fewer, whole numbers may well be quantities; two values are the same as either
_NAMED = 5  # outputs in a message
_SMALLEST, _LARGEST = 1e-75, 1e75  # C y² and its sums are then far from where floats end


class Kind:
    """Defaults of a kind of target: its risk is a sum of losses."""

    merges: ClassVar[bool] = True  # whether equal samples with equal targets may be one of twice the weight

    def numbers(self, Y: Array, weight: Array) -> Array:
        """(n, …): the encoded targets as numbers, from which kernels may learn."""
        return Y

    def risk(
        self, loss: Criterion, Y: Array, costs: Array, C: Array, intercept: bool, Z: Array | None
    ) -> Risk:
        """The risk of these targets (n, k), at C = C · costs (n,); Z is a basis of constant and covariates.

        Where the loss allows it, the targets are taken from their median, and the risk's `shift` says so: the
        dual bound holds up to rounding errors of Σα times the intercept, which must not be large for nothing.
        With covariates, what least squares on them explain is taken.
        """
        assert isinstance(loss, Loss)
        shift: Any = np.median(Y, axis=0) if loss.translates and intercept else 0.0
        if Z is not None:
            shift = Z @ (Z.T @ Y) if loss.translates else 0.0
        return Separable(loss, Y - shift, np.repeat(C[:, None], Y.shape[1], axis=1), intercept, shift, Z)


@dataclass(frozen=True)
class Labels(Kind):
    """Classes: ±1 for two of them, one against the rest for more."""

    class_weight: Any = None
    classes: Any = None  # (k,), once learned
    task: ClassVar[str] = "classification"
    flat: ClassVar[bool] = True  # one output has no axis of its own

    def read(self, y: Any) -> NDArray[Any]:
        return read_labels(y)

    def learn(self, y: NDArray[Any]) -> Self:
        """The classes that occur in y."""
        return replace(self, classes=encode(y)[0])

    def encode(self, y: NDArray[Any], weight: Array) -> tuple[Array, Array]:
        """Targets (n, outputs), and what an error on each sample costs relative to C."""
        codes = np.searchsorted(self.classes, y)
        costs = class_costs(self.class_weight, self.classes, codes, weight)
        return signs(codes, self.classes.size), costs[codes]

    @property
    def outputs(self) -> int:
        """Decisions of a sample."""
        return 1 if self.classes.size == 2 else int(self.classes.size)

    def predict(self, f: Array) -> NDArray[Any]:
        """The class of each sample with decisions f (n, outputs)."""
        return np.asarray(self.classes[f.argmax(axis=1) if f.shape[1] > 1 else (f[:, 0] > 0).astype(int)])

    @property
    def attributes(self) -> dict[str, Any]:
        return {"classes_": self.classes}


@dataclass(frozen=True)
class Numbers(Kind):
    """One number a sample, or several."""

    flat: bool = True  # y had no axis of outputs
    outputs: int = 1
    task: ClassVar[str] = "regression"

    def read(self, y: Any) -> NDArray[Any]:
        return read_numbers(y)

    def learn(self, y: NDArray[Any]) -> Self:
        """Count how many numbers a sample has."""
        return replace(self, flat=y.ndim == 1, outputs=1 if y.ndim == 1 else y.shape[1])

    def encode(self, y: NDArray[Any], weight: Array) -> tuple[Array, Array]:
        return np.asarray(y).reshape(len(y), -1), np.ones(len(y))

    def predict(self, f: Array) -> NDArray[Any]:
        return f[:, 0] if self.flat else f

    @property
    def attributes(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Similarity(Kind):
    """The target as a kernel that it stands for: Y with K_Y = YYᵀ, for alignment."""

    task: str = "auto"  # whether y is read as classes or as numbers
    given: Labels | Numbers | None = None  # what y must be; None where it may be either

    def read(self, y: Any) -> NDArray[Any]:
        return as_target(y) if self.given is None else self.given.read(y)

    def learn(self, y: NDArray[Any]) -> Self:
        """Return what y holds, settled once so that new data are read in the same way."""
        task = _task_of(y) if self.task == "auto" else self.task
        return replace(self, task=task, given=None if self.given is None else self.given.learn(y))

    def encode(self, y: NDArray[Any], weight: Array) -> tuple[Array, Array]:
        return target_factor(y, self.task), np.ones(len(y))

    @property
    def flat(self) -> bool:
        return self.given is None or self.given.flat

    @property
    def classes(self) -> Any:
        return getattr(self.given, "classes", None)

    def predict(self, f: Array) -> NDArray[Any]:
        assert self.given is not None
        return self.given.predict(f)

    @property
    def attributes(self) -> dict[str, Any]:
        return {} if self.given is None else self.given.attributes


def _task_of(y: NDArray[Any]) -> str:
    """Classes or numbers, as scikit-learn's `type_of_target` has it."""
    with np.errstate(invalid="ignore"):  # it casts to int, which large numbers do not survive
        found = type_of_target(y, input_name="y")
    if found not in ("binary", "multiclass"):
        return "regression"
    classes = len(np.unique(y))
    if len(y) < classes * _SAMPLES_A_CLASS and classes > 2 and y.dtype.kind in "iuf":
        warn(
            f"y holds {classes} different whole numbers in {len(y)} samples, and target='auto' reads "
            "them as classes. If y is a quantity, give target='regression'; else 'classification'."
        )
    return "classification"


Target = Any  # one of these, or TimeToEvent (`times.py`)


def require_target(title: str, y: Any) -> None:
    if y is None:
        raise ValueError(
            f"{title} requires y to be passed, but the target y is None: give one value per sample."
        )


def as_target(y: Any) -> NDArray[Any]:
    """y as an array of labels or numbers, one or several for each sample."""
    y = collected(y)
    refuse_survival(y)
    if is_masked(y) or sparse.issparse(y):
        as_numbers(y, "y", _EXPECTED)  # says so
    if isinstance(y, str | bytes | set | frozenset | Mapping | type) or not (
        hasattr(y, "__len__") or hasattr(y, "__array__")
    ):
        raise ValueError(f"y={shown(y)} was given; expected {_EXPECTED}.")
    try:
        A = np.asarray(y)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"y could not be read ({error}); expected {_EXPECTED}.") from error
    if A.ndim == 0 or A.dtype.kind == "V":
        raise ValueError(f"y={shown(y)} was given; expected {_EXPECTED}.")
    if len(A) == 0:
        raise ValueError(f"y of shape {A.shape} was given: 0 sample(s); expected {_EXPECTED}.")
    if A.dtype.kind == "c" or (A.dtype == object and any(isinstance(v, complex) for v in A.flat)):
        raise ValueError(f"Complex data not supported: y holds complex numbers; expected {_EXPECTED}.")
    if A.dtype == object and any(isinstance(v, int) and abs(v) > _LONGEST for v in A.flat):
        raise ValueError(f"y holds whole numbers of hundreds of digits; expected {_EXPECTED}.")
    if A.dtype.kind in "Mm":
        raise ValueError(
            f"y holds values of type {A.dtype}; expected numbers or classes. Of dates, give the days since "
            "the first one: (y - y.min()) / numpy.timedelta64(1, 'D')."
        )
    return A


def check_length(n: int, y: Any) -> None:
    if len(y) != n:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n} samples and y has "
            f"{len(y)}. Give one target for each sample, in the same order."
        )


def check_weights(sample_weight: Any, n: int) -> Array:
    """Weights (n,) ≥ 0, not all of them zero."""
    sample_weight = collected(sample_weight)
    if sample_weight is not None and not isinstance(sample_weight, Number):
        sample_weight = as_numbers(sample_weight, "sample_weight", "one number ≥ 0 for each sample")
        _require_weights(sample_weight, n)
    weight = np.asarray(
        _check_sample_weight(sample_weight, np.empty((n, 0)), dtype=np.float64, ensure_non_negative=True)
    )
    require_size("sample_weight", weight, "Divide all weights by their mean, and multiply C by it.")
    return weight


def _require_weights(weight: NDArray[Any], n: int) -> None:
    """Raise an error that names the rows whose weight is none, before scikit-learn's, which does not."""
    if weight.shape != (n,):
        raise ValueError(
            f"sample_weight of shape {weight.shape} was given; expected ({n},): one number ≥ 0 for each "
            "sample."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise ValueError(
            f"sample_weight is negative, NaN or infinite in {number_of(bad.size, 'row')} "
            f"({and_more([str(i) for i in bad], _NAMED)}); expected numbers ≥ 0. Correct these weights, or "
            "leave the samples out by a weight of 0."
        )
    if not np.any(weight > 0):
        raise ValueError("sample_weight is zero for all samples; expected at least one positive weight.")


def sample_costs(C: Any, weight: Array) -> Array:
    """C · weight, what an error on each sample costs; an error where the objective would overflow."""
    costs = float(C) * weight
    require_size("C (times sample_weight and class_weight)", costs, f"Change C={float(C):g} accordingly.")
    return costs


def require_size(name: str, values: Array, advice: str) -> None:
    """Raise an error unless the largest of the numbers is zero, or has a square that is neither ∞ nor 0."""
    largest = max(float(np.max(values, initial=0.0)), -float(np.min(values, initial=0.0)))
    if largest and not _SMALLEST <= largest <= _LARGEST:
        fault = "overflow" if largest > _LARGEST else "vanish"
        raise ValueError(
            f"the largest of {name} is {largest:.3g}: in the objective such numbers {fault}. Expected 0, or "
            f"a number from {_SMALLEST:g} to {_LARGEST:g}. {advice}"
        )


def read_labels(y: Any) -> NDArray[Any]:
    """Class labels (n,)."""
    A = as_target(y)
    y = column_or_1d(A if A.dtype == object or not hasattr(y, "dtype") else y, warn=True)
    _require_labels(y)
    with _about_gaps():
        assert_all_finite(y, input_name="y")
    _check_order(y)
    if y.dtype.kind == "f" and type_of_target(y, input_name="y") == "continuous":
        raise ValueError(
            f"Unknown label type: continuous. y holds {np.unique(y).size} different numbers, not all of them "
            "whole; expected classes. Use the regressor, or cut y into classes."
        )
    check_classification_targets(y)
    return np.asarray(y)


def _require_labels(y: NDArray[Any]) -> None:
    """Raise an error that names the rows without a label: as a string, None would be a class of its own."""
    rows = np.flatnonzero(is_missing(y)) if y.dtype == object else np.empty(0, np.intp)
    if rows.size:
        raise ValueError(
            f"y has no label in {number_of(rows.size, 'row')} ({and_more([str(i) for i in rows], _NAMED)}). "
            "Leave these samples out: each one needs a target."
        )


@contextmanager
def _about_gaps() -> Iterator[None]:
    """Return what to do about NaN and infinity, which scikit-learn finds."""
    try:
        yield
    except ValueError as error:
        if not str(error).startswith("Input y contains"):
            raise
        raise ValueError(f"{error} Leave these samples out: each one needs a target.") from error


def read_numbers(y: Any) -> Array:
    """Targets (n,) or (n, outputs)."""
    y = as_target(y)
    words = y.dtype.kind in "OUST" and any(isinstance(value, str) for value in y.flat)
    advice = " Use the classifier if y holds classes." if words else ""
    y = as_numbers(y, "y", _EXPECTED, advice)
    _require_whole(y)
    with _about_gaps():
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", ensure_min_samples=0)
    if y.ndim > 2 or (y.ndim == 2 and y.shape[1] == 0):
        raise ValueError(f"y of shape {y.shape} was given; expected (n_samples,) or (n_samples, n_outputs).")
    require_size("y", y, "Divide y by a constant such as its largest size, and multiply predictions by it.")
    return np.asarray(y)


def _require_whole(y: NDArray[Any]) -> None:
    """Raise an error that names the outputs, where some of several have gaps."""
    if y.ndim != 2 or y.shape[1] < 2 or y.dtype.kind != "f":
        return
    bad = np.flatnonzero(~np.isfinite(y).all(axis=0))
    if bad.size:
        which = ", ".join(map(str, bad[:_NAMED])) + (", …" if bad.size > _NAMED else "")
        raise ValueError(
            f"Input y contains NaN or infinity in {bad.size} of {y.shape[1]} outputs ({which}); expected "
            "numbers. Leave these outputs out, y[:, np.isfinite(y).all(axis=0)], or fill the gaps."
        )


def _check_order(labels: NDArray[Any]) -> None:
    """Labels can be put in order, and so counted."""
    if labels.dtype != object:
        return
    kinds = {
        str if isinstance(label, str) else Number if isinstance(label, Number) else type(label)
        for label in labels
    }
    if len(kinds) > 1 or not kinds <= {str, Number, bytes}:
        names = ", ".join(sorted({type(label).__name__ for label in labels}))
        raise ValueError(
            f"y holds labels of the types {names}; expected labels of one type, numbers or strings. Give y "
            "as strings: [str(label) for label in y]."
        )


def encode(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes, and the number of each sample's class."""
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise ValueError(
            f"y holds only one class ({classes.tolist()[0]!r}) among the {number_of(y.size, 'sample')} of "
            "positive weight; a classifier needs samples of at least two classes. Name another target, or "
            "add samples of other classes."
        )
    if classes.size == y.size and y.size > 2:
        raise ValueError(
            f"y holds as many classes as samples (n_samples={y.size}), so there is nothing to learn from; is "
            "y a quantity? Then use the regressor."
        )
    return classes, codes.ravel()


def signs(codes: NDArray[np.intp], n_classes: int) -> Array:
    """±1 targets: (n, 1), +1 for the second of two classes; (n, k), each against the rest, for more."""
    if n_classes == 2:
        return np.where(codes == 1, 1.0, -1.0)[:, None]
    return np.where(codes[:, None] == np.arange(n_classes), 1.0, -1.0)


def class_costs(
    class_weight: Any, classes: NDArray[Any], codes: NDArray[np.intp], sample_weight: Array
) -> NDArray[np.float64]:
    """Return the cost of an error on each class; "balanced" counts a sample of weight w as w samples."""
    if class_weight is None:
        return np.ones(classes.size)
    if isinstance(class_weight, Mapping):
        costs = compute_class_weight(dict(class_weight), classes=classes, y=classes[codes])
        if not np.all(np.isfinite(costs)) or np.any(costs < 0) or np.count_nonzero(costs) < 2:
            raise ValueError(
                f"class_weight={class_weight!r} was given; expected non-negative numbers, positive for two "
                "classes or more."
            )
        return np.asarray(costs, dtype=float)
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(sample_weight.sum() / (classes.size * np.bincount(codes, sample_weight)))
    raise ValueError(
        f"class_weight={class_weight!r} was given; expected None, 'balanced' or a dict label -> weight."
    )


def log_probabilities(f: Array) -> Array:
    """(n, classes), of one-vs-rest decisions f (n, outputs) of the logistic loss."""
    if f.shape[1] == 1:
        return np.column_stack([log_expit(-f[:, 0]), log_expit(f[:, 0])])
    log_p = log_expit(f)
    return np.asarray(log_p - np.logaddexp.reduce(log_p, axis=1)[:, None])
