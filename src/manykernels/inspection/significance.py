"""Whether a kernel says more about the target than chance: a test of each kernel or view, with covariates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import is_whole, shown
from .._fast.threads import threads
from ..comparison.statistics import holm
from ..estimators import model_of, opened
from ..families import Family, Subset
from ..fitting.covariates import design
from ..fitting.listed import Kernels, list_kernels
from ..fitting.matching import require_order
from ..fitting.options import Options
from ..fitting.samples import Given, read
from ..fitting.spec import leaves
from ..fitting.targets import Labels, Numbers, as_target, check_length
from ._shown import Shown
from .null_models import Null, binary_null, linear_null
from .quadratic_forms import upper_tail

Array = NDArray[np.float64]
_METHODS = ("score", "permutation")
_WORK = 6  # matrices of n × n beside the kernels
_DRAWS_AT_ONCE = 256  # permutations whose products with a kernel are held at a time
_TIE = 1e-9  # relative: a drawn statistic this near to the observed one counts as large


@dataclass(frozen=True, repr=False)
class Significance(Shown):
    """The tests of several kernels or views against one null model.

    It prints as a table, the smallest p-values first, and ``to_frame()`` has all of it.

    Attributes
    ----------
    names : list of str
        The kernels, or the views.
    statistic : array of shape (n_tests,)
        Q = rᵀKr of the residuals r of the null model, for a continuous target in units of their variance.
        Kernels have a mean diagonal of 1, so that statistics of different kernels are comparable.
    p_value : array of shape (n_tests,)
        The probability of a statistic at least as large, if the kernel says nothing about the target.
    p_adjusted : array of shape (n_tests,)
        The same for all tests together: the chance that any of them is as small under the null hypothesis.
    method : "score" or "permutation"
    """

    names: list[str]
    statistic: Array
    p_value: Array
    p_adjusted: Array
    method: str

    def columns(self) -> dict[str, Any]:
        """name, statistic, p_value, p_adjusted."""
        return {"name": self.names} | {
            name: getattr(self, name) for name in ("statistic", "p_value", "p_adjusted")
        }

    def _first(self) -> NDArray[np.intp]:
        return np.argsort(self.p_value, kind="stable")

    def _said(self) -> list[str]:
        by = "Holm's method" if self.method == "score" else "the step-down min-p method"
        return [f"p_adjusted is for all {len(self.names)} tests together, by {by}."]


def significance(
    kernels: Any,
    X: Any,
    y: Any,
    *,
    covariates: Any = None,
    method: str = "score",
    n_permutations: int = 999,
    random_state: Any = None,
    by: str = "kernel",
    given: str = "covariates",
    target: str = "auto",
    memory_limit: Any = None,
    n_jobs: int | None = None,
) -> Significance:
    """Test whether each kernel, or each view, is related to the target at all.

    Parameters
    ----------
    kernels : as an estimator takes them, or a fitted estimator
        The kernels of a fitted estimator are tested as it learned with them, whatever their weights. Where a
        search chose some of its kernels, all that it chose from are tested. Kernels that were made with the
        help of y (``Relevance``) are refused: the test would see the same samples twice.
    X, y : the samples and their target
        X as estimators take it; the views of a dict are tested together with ``by="view"``.
    covariates : columns of X, as OnColumns takes them, or an array or frame (n_samples, n_covariates)
        What y may depend on under the null hypothesis, beside a constant: age, sex, batch. Categories become
        indicators.
    method : "score" or "permutation"
        "score" needs no resampling: exact for a continuous target with Gaussian noise, asymptotic for a
        binary one. "permutation" draws what the null model allows: permuted residuals for a continuous
        target (Freedman & Lane 1983), labels from the fitted probabilities for a binary one.
    n_permutations : int
    random_state : int, RandomState or None
    by : "kernel" or "view"
        With "view" the kernels of a view are added up, each scaled to a mean diagonal of 1, and tested
        together.
    given : "covariates" or "others"
        With "others" a kernel is tested given all other kernels (or views): the null model is then a
        Gaussian process whose variances are estimated by restricted maximum likelihood, and p-values are
        approximate.
    target : "auto", "continuous" or "binary"
        "auto" takes y with two values for binary.
    memory_limit, n_jobs : as for estimators

    Returns
    -------
    Significance
        With ``names``, ``statistic``, ``p_value`` and ``p_adjusted``.

    Notes
    -----
    With P the projection off the covariates and r = Py, the statistic is Q = rᵀKr / (rᵀr / (n − rank Z)), and

        p = Pr(Σ_j (λ_j − Q/(n − rank Z)) χ²_j > 0),      λ the eigenvalues of PKP,

    a ratio of quadratic forms in Gaussian noise whose variance cancels. For a binary target r = y − μ and P
    carries the weights μ(1 − μ): the score test of SKAT. Tails are computed to many digits by a contour
    integral. ``p_adjusted`` is Holm's for "score"; for "permutation" it is the step-down min-p of Westfall
    and Young, which knows that kernels are alike.

    References
    ----------
    Liu, Lin and Ghosh (2007). Semiparametric regression of multidimensional genetic pathway data.
    Wu et al. (2011). Rare-variant association testing for sequencing data with the sequence kernel
    association test.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from manykernels.families import views
    >>> from manykernels.inspection import significance
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> blood = ["s1", "s2", "s3", "s4", "s5", "s6"]
    >>> two = views({"bp": ["bp"], "blood": blood})
    >>> found = significance(two, X, y, covariates=["age", "sex"], by="view")
    >>> found.names, bool(found.p_value.max() < 1e-6)
    (['bp', 'blood'], True)
    """
    _check(method, n_permutations, by, given, target)
    with threads(n_jobs):
        known, values, n = _kernels_on(kernels, X, y, target, memory_limit)
        Z, _ = design(covariates, X, n)
        names, W = _tested(known, by)
        tests = _Tests(known, W, values, Z, given == "others")
        if method == "score":
            pairs = [tests.score(g) for g in range(len(names))]
            statistic, p = (np.array(column) for column in zip(*pairs, strict=True))
            return Significance(names, statistic, p, holm(p), method)
        rng = np.random.RandomState(random_state) if not hasattr(random_state, "uniform") else random_state
        seed = int(rng.randint(2**31 - 1))
        drawn = [tests.drawn(g, int(n_permutations), seed) for g in range(len(names))]
    statistic, draws = np.array([d[0] for d in drawn]), np.array([d[1] for d in drawn])
    return Significance(names, statistic, _resampled(statistic, draws), min_p(statistic, draws), method)


@dataclass(frozen=True)
class _Tests:
    """Kernels K_g = Σ_m W_gm K_m on the samples, and the target."""

    known: Kernels
    W: Array  # (tests, kernels)
    y: tuple[Array, bool]  # values, and whether they are 0 and 1
    Z: Array
    others: bool

    def kernel(self, g: int) -> Array:
        return self.known.gram.combine(self.W[g])

    def null(self, g: int) -> Null:
        """The model without kernel g."""
        rest = [self.kernel(h) for h in range(len(self.W)) if h != g] if self.others else []
        values, binary = self.y
        return (binary_null if binary else linear_null)(values, self.Z, rest)

    def score(self, g: int) -> tuple[float, float]:
        """The statistic of kernel g, and the probability of a larger one."""
        null = self.null(g)
        if null.n_free < 2:
            raise ValueError(
                f"{self.Z.shape[1]} covariates (with the constant) leave nothing of {self.Z.shape[0]} "
                "samples to test with; give fewer covariates."
            )
        A = null.form(self.kernel(g))
        Q, size = float(null.e @ A @ null.e), float(null.e @ null.e)
        values = np.sort(np.linalg.eigvalsh(A))[::-1]
        if null.mu is not None:
            return Q, upper_tail(values, Q)
        values = np.concatenate([values[values > 0.0], np.zeros(values.size)])[: null.n_free]
        return Q / size * null.n_free, upper_tail(values - Q / size)

    def drawn(self, g: int, count: int, seed: int) -> tuple[float, Array]:
        """The statistic of kernel g, and those of draws from the null model, the same draws for all."""
        null = self.null(g)
        A, rng = null.form(self.kernel(g)), np.random.RandomState(seed)
        parts = [null.e[:, None]]
        found = []
        for lo in range(0, count, _DRAWS_AT_ONCE):
            parts.append(null.draws(min(_DRAWS_AT_ONCE, count - lo), rng))
        for E in parts:
            size = 1.0 if null.mu is not None else np.sum(E * E, axis=0) / null.n_free
            found.append(np.sum(E * (A @ E), axis=0) / size)
        return float(found[0][0]), np.concatenate(found[1:])


# -- several tests together -------------------------------------------------------------------------
def _resampled(statistic: Array, draws: Array) -> Array:
    """(1 + #{draws ≥ statistic}) / (1 + draws): never zero (Phipson & Smyth 2010)."""
    large = draws >= statistic[:, None] * (1.0 - _TIE)
    return np.asarray((1.0 + large.sum(axis=1)) / (1.0 + draws.shape[1]))


def min_p(statistic: Array, draws: Array) -> Array:
    """Adjusted by the step-down min-p method of Westfall and Young (1993), which knows that kernels agree.

    Statistics of different kernels are compared by their ranks among their own draws.
    """
    p, count = _resampled(statistic, draws), draws.shape[1]
    ranks = np.argsort(np.argsort(-draws, axis=1, kind="stable"), axis=1, kind="stable")
    own = (1.0 + ranks) / count  # the p-value of each draw among the draws of its kernel
    order = np.argsort(p, kind="stable")[::-1]
    least, adjusted = np.ones(count), np.empty_like(p)
    for g in order:  # from the largest p to the smallest: at each, the least of those that are left
        least = np.minimum(least, own[g])
        adjusted[g] = (1.0 + np.sum(least <= p[g] * (1.0 + _TIE))) / (1.0 + count)
    back = order[::-1]
    adjusted[back] = np.maximum.accumulate(adjusted[back])
    return np.asarray(np.minimum(adjusted, 1.0))


# -- reading ----------------------------------------------------------------------------------------
def _check(method: str, n_permutations: Any, by: str, given: str, target: str) -> None:
    allowed = {
        "method": (method, _METHODS),
        "by": (by, ("kernel", "view")),
        "given": (given, ("covariates", "others")),
        "target": (target, ("auto", "continuous", "binary")),
    }
    for name, (value, options) in allowed.items():
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"{name}={shown(value)} was given; expected {' or '.join(map(repr, options))}.")
    if not is_whole(n_permutations) or n_permutations < 19:
        raise ValueError(
            f"n_permutations={shown(n_permutations)} was given; expected a whole number of at least 19, the "
            "fewest that can reach a p-value of 0.05."
        )


def _kernels_on(
    kernels: Any, X: Any, y: Any, target: str, memory_limit: Any
) -> tuple[Kernels, tuple[Array, bool], int]:
    """The kernels on all samples, each with a mean diagonal of 1, and y as numbers."""
    labels = as_target(y)
    binary = target == "binary" or (target == "auto" and (labels.dtype.kind not in "iuf" or _two(labels)))
    kind: Any = Labels() if binary else Numbers()
    options, found = _read(Options("significance", memory_limit=memory_limit), kernels, X, y, kind)
    samples = found.in_place()
    if samples.Y.shape[1] > 1:
        what = f"{samples.Y.shape[1]} classes" if binary else f"{samples.Y.shape[1]} outputs"
        raise ValueError(
            f"y has {what}; expected one number a sample, or two classes. Test outputs, or one class against "
            "the rest, one at a time."
        )
    values = samples.Y[:, 0]
    if not binary and np.ptp(values) == 0.0:
        raise ValueError("y has one value only; there is nothing to test.")
    return (
        list_kernels(options, samples, _WORK, supervised=False),
        (0.5 * (values + 1.0) if binary else values, binary),
        found.n,
    )


def _read(options: Options, kernels: Any, X: Any, y: Any, kind: Any) -> tuple[Options, Given]:
    """The samples, and the kernels as they read them: those of a fitted model, or as an estimator would."""
    if not (hasattr(kernels, "fit") and hasattr(kernels, "get_params")):
        found = read(_listed(options, kernels), X, y, None, kind)
        return options.replace(kernels=found.layout.seen(kernels)), found
    model, seen = model_of(kernels, X)
    layout, searched = model.layout, opened(kernels).searched
    require_order(layout.in_fit_order(X), y, "y")
    _require_without_target(layout.kernels)
    chosen = isinstance(layout.kernels, Subset) and searched is not None  # with the help of y
    spec = layout.explicit(searched.kernels if chosen and searched is not None else layout.kernels)
    options = _listed(options, spec)
    if chosen or layout.kind == "stack":
        return options, read(options, seen, y, None, kind)
    found = Given(layout.read(seen), layout, kind.read(y), None, kind)
    check_length(found.n, found.y)
    own = {name: kernel.kernel for name, kernel in zip(model.names, model.kernels, strict=True)}
    return options.replace(kernels=own), found


def _listed(options: Options, spec: Any) -> Options:
    """The options with these kernels, which must be a list."""
    options = options.replace(kernels=spec)
    if not options.listed:
        raise ValueError(
            f"kernels={shown(spec)} stands for more kernels than can be tested one by one; give a list."
        )
    return options


def _require_without_target(spec: Any) -> None:
    """An error where a model has kernels that were made with the help of y."""
    for part in leaves(spec):
        if isinstance(part, Family) and part.supervised and not part.holds_others:
            raise ValueError(
                f"the model has kernels of {type(part).__name__}, which learns from y: a test would see the "
                "same samples twice. Give kernels that are made without y, such as 'auto'."
            )


def _two(values: NDArray[Any]) -> bool:
    return values.ndim == 1 and np.unique(values).size == 2


def _tested(known: Kernels, by: str) -> tuple[list[str], Array]:
    """The names of what is tested, and the kernels (columns) that each test (row) adds up."""
    M = len(known.names)
    if by == "kernel":
        return known.names, np.eye(M)
    views = [getattr(kernel.kernel, "view", None) for kernel in known.kernels]
    if all(view is None for view in views):
        raise ValueError(
            "by='view' was given, and no kernel belongs to a view. Give kernels=views({name: columns, ...}), "
            "or by='kernel'."
        )
    owners = [name if view is None else view for name, view in zip(known.names, views, strict=True)]
    names = list(dict.fromkeys(owners))
    return names, np.array([[float(owner == name) for owner in owners] for name in names])
