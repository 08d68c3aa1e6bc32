"""Tests of each kernel or view: whether it is related to the target, given covariates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._arguments import and_more, is_whole, shown
from .._fast.threads import threads
from .._pieces import kept
from .._warn import warn
from ..comparison.statistics import holm
from ..fitting.listed import Kernels
from ..selection.checkpoint import keeping, require_number
from ._kept import kernel_prints
from ._shown import Shown
from ._tested import TARGETS, absences, hypotheses, kernels_on
from .likelihoods import Cox, Likelihood
from .null_models import Null, likelihood_null, linear_null, orthonormal
from .risk_sets import times_likelihood

Array = NDArray[np.float64]
_METHODS = ("score", "permutation")
_DRAWS_AT_ONCE = 256  # permutations whose products with a kernel are held at a time
_CENSORING = 0.01  # p-value below which censoring is said to depend on a kernel
_TIE = 1e-9  # relative: a drawn statistic this near to the observed one counts as large


@dataclass(frozen=True, repr=False)
class Significance(Shown):
    """Tests of several kernels or views against one null model.

    It prints as a table, the smallest p-values first, and ``to_frame()`` has all of it.

    Attributes
    ----------
    names : list of str
        The kernels, or the views.
    statistic : array of shape (n_tests,)
        Q = rᵀKr of the residuals r of the null model, in units of their mean square.
        Kernels have a mean diagonal of 1, so that statistics of different kernels are comparable.
    p_value : array of shape (n_tests,)
        The probability of a statistic at least as large, if the kernel says nothing about the target.
    p_adjusted : array of shape (n_tests,)
        The same for all tests together: the chance that any of them is as small under the null hypothesis.
    method : str
        The method: "score" or "permutation".
    chance : str
        A description of what "permutation" drew.
    covariates : tuple of str
        The names of the covariates that the tests are adjusted for, beside a constant.

    See Also
    --------
    significance : Computes the tests.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspection import Significance
    >>> one = np.array([3.0]), np.array([0.01]), np.array([0.01])
    >>> Significance(["blood"], *one, "score").columns()["p_value"].tolist()
    [0.01]
    """

    names: list[str]
    statistic: Array
    p_value: Array
    p_adjusted: Array
    method: str
    chance: str = ""
    covariates: tuple[str, ...] = ()

    def columns(self) -> dict[str, Any]:
        """Return the columns name, statistic, p_value and p_adjusted."""
        return {"name": self.names} | {
            name: getattr(self, name) for name in ("statistic", "p_value", "p_adjusted")
        }

    def _first(self) -> NDArray[np.intp]:
        return np.argsort(self.p_value, kind="stable")

    def _said(self) -> list[str]:
        by = "Holm's method" if self.method == "score" else "the step-down min-p method"
        said = [f"p_adjusted is for all {len(self.names)} tests together, by {by}."]
        if self.covariates:
            said.append(f"Adjusted for {and_more(list(self.covariates), 10)}.")
        return [*said, self.chance] if self.chance else said


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
    checkpoint: Any = None,
) -> Significance:
    """Test whether each kernel, or each view, is related to the target at all.

    Parameters
    ----------
    kernels : str, list, dict, Kernel, Family or fitted estimator
        The kernels, as an estimator takes them. The kernels of a fitted estimator are tested as it learned
        with them, whatever their weights. Where a search chose some of its kernels, all that it chose from
        are tested. Kernels that were made with the help of y (``Relevance``) are refused: the test would see
        the same samples twice.
    X : array-like, frame, sparse matrix, list or dict
        The samples. The views of a dict are tested together with ``by="view"``.
    y : array-like of shape (n_samples,)
        The target: numbers, two classes, or events and their times as a structured array or a frame with
        the fields ``event`` (false for a censored sample) and ``time``.
    covariates : columns of X, array-like, frame or None, default=None
        The columns of X, or an array of shape (n_samples, n_covariates), that y may depend on under the null
        hypothesis, beside a constant: age, sex, batch. None takes those of a fitted model. Kernels without
        columns of their own see the other columns. Categories become indicators. If samples lack a view, an
        indicator of these samples is one of them: the test is about the content of the view, not about its
        presence.
    method : {"score", "permutation"}, default="score"
        The test. "score" needs no resampling: exact for a continuous target with Gaussian noise, asymptotic
        for the others. "permutation" draws from the null model. For a continuous target it permutes
        residuals (Freedman & Lane 1983). For two classes it draws labels with the fitted chances. For times
        to an event without covariates it permutes samples, which is valid only if censoring does not depend
        on the kernel; a warning says where it does. With covariates, or given other kernels, it draws which
        of the samples at risk has each event, which does not need that.
    n_permutations : int, default=999
        The number of draws of "permutation".
    random_state : int, RandomState or None, default=None
        The seed of the draws.
    by : {"kernel", "view"}, default="kernel"
        With "view" the kernels of a view are added up, each scaled to a mean diagonal of 1, and tested
        together.
    given : {"covariates", "others"}, default="covariates"
        The null model. With "covariates" it has the covariates alone.
        With "others" a kernel is tested given all other kernels (or views). The null model is then a
        Gaussian process, whose variances are fitted by REML, so the p-values are approximate.
    target : {"auto", "continuous", "binary", "survival"}, default="auto"
        The kind of target.
        "auto" takes y with two values for binary, and pairs of an event and a time for survival; numbers
        with more values are continuous, unless the model is a classifier. With "survival" an array of shape
        (n_samples, 2) of events and times is taken too.
    memory_limit : int, str or None, default=None
        The number of bytes that may be allocated, also as text such as "2GB". None allows half of the free
        memory.
    n_jobs : int or None, default=None
        The number of threads. None uses all processors.
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished tests, so that the same call goes on after a crash. For "permutation"
        ``random_state`` must then be a whole number.

    Returns
    -------
    Significance
        The tests, with ``names``, ``statistic``, ``p_value`` and ``p_adjusted``.

    Notes
    -----
    With P the projection off the covariates and r = Py, the statistic is Q = rᵀKr / (rᵀr / (n − rank Z)), and

        p = Pr(Σ_j (λ_j − Q/(n − rank Z)) χ²_j > 0),      λ the eigenvalues of PKP,

    a ratio of quadratic forms in Gaussian noise whose variance cancels. For a binary target r = y − μ, for
    times to an event r are the martingale residuals of Cox's model with the covariates (ties as Breslow has
    them), and P carries the curvature of the likelihood: the score test of SKAT. Their Q is divided by rᵀr as
    well, so that p is a tail of the same kind: without it the test hardly ever rejects kernels with many
    eigenvalues of one size in small samples. Tails are computed to many digits by a contour integral.
    ``p_adjusted`` is Holm's for "score"; for "permutation" it is the step-down min-p of Westfall and Young,
    which knows that kernels are alike.

    References
    ----------
    - Liu, Lin and Ghosh (2007), Semiparametric regression of multidimensional genetic pathway data,
      Biometrics 63.
    - Wu et al. (2011), Rare-variant association testing for sequencing data with the sequence kernel
      association test, American Journal of Human Genetics 89.
    - Lin et al. (2011), Kernel machine SNP-set analysis for censored survival outcomes in genome-wide
      association studies, Genetic Epidemiology 35.
    - Chen et al. (2016), Small sample kernel association tests for human genetic and microbiome association
      studies, Genetic Epidemiology 40.

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
        known, values, Z, adjusted = kernels_on(kernels, X, y, target, covariates, memory_limit)
        lacking = absences(known)
        Z = np.hstack([Z, lacking]) if lacking.size else Z
        names, W = hypotheses(known, by)
        tests = _Tests(known, names, W, values, Z, given == "others")
        tests.require_sense()
        told = {"X": X, "y": y, "covariates": covariates, "by": by, "given": given, "target": target}
        told["method"] = method
        if method == "permutation":
            tests.check_censoring()
            told |= {"n_permutations": int(n_permutations), "random_state": random_state}
            require_number(checkpoint, random_state)
        with keeping(checkpoint, "significance", lambda: kernel_prints(kernels, told)) as store:
            if method == "score":
                pairs: list[Any] = [kept(store, ("test", g), tests.score, g) for g in range(len(names))]
                statistic, p = (np.array(column) for column in zip(*pairs, strict=True))
                return Significance(names, statistic, p, holm(p), method, covariates=tuple(adjusted))
            draw = int(n_permutations), int(check_random_state(random_state).randint(2**31 - 1))
            pairs = [kept(store, ("draws", g), tests.drawn, g, *draw) for g in range(len(names))]
    statistic, draws = np.array([d[0] for d in pairs]), np.array([d[1] for d in pairs])
    p, together, chance = _resampled(statistic, draws), min_p(statistic, draws), tests.null(0).chance
    return Significance(names, statistic, p, together, method, chance, tuple(adjusted))


@dataclass(frozen=True)
class _Tests:
    """Kernels K_g = Σ_m W_gm K_m on the samples, and the target."""

    known: Kernels
    names: list[str]
    W: Array  # (tests, kernels)
    target: Array | Likelihood  # numbers, or how likely y is at given decisions
    Z: Array
    others: bool

    def kernel(self, g: int) -> Array:
        return self.known.gram.combine(self.W[g])

    def null(self, g: int) -> Null:
        """Return the null model without kernel g."""
        if not self.others:
            return self._alone
        return self._null([self.kernel(h) for h in range(len(self.W)) if h != g])

    @cached_property
    def _alone(self) -> Null:
        return self._null([])

    def _null(self, rest: list[Array]) -> Null:
        if isinstance(self.target, np.ndarray):
            return linear_null(self.target, self.Z, rest)
        return likelihood_null(self.target, self.Z, rest)

    def require_sense(self) -> None:
        """Raise an error if nothing can be tested, and warn about kernels that the covariates explain."""
        n, width = self.Z.shape
        rank = orthonormal(self.Z).shape[1]
        if n - rank < 2:
            raise ValueError(
                f"{width - 1} covariates and a constant leave {n - rank} of {n} samples to test with; give "
                "fewer covariates, or more samples."
            )
        if self.others and len(self.W) < 2:
            raise ValueError(
                "given='others' was given, and there is one kernel (or view) only; leave it out, or give "
                "more kernels."
            )
        if self._alone.exhausted:
            raise ValueError(
                "the model without kernels leaves no residuals: covariates explain y exactly, or no event "
                "tells samples apart (all have the same time, or the last sample has the only one). There is "
                "nothing to test; leave out the covariate that gives y away."
            )
        plain = linear_null(np.zeros(n), self.Z)
        gone = [name for g, name in enumerate(self.names) if not plain.sees(self.kernel(g))]
        if gone:
            warn(
                f"{and_more([repr(name) for name in gone], 5)}: constant on these samples, or explained by "
                "the covariates. Nothing is left to test, and p is 1."
            )

    def score(self, g: int) -> tuple[float, float]:
        """Compute the statistic of kernel g, and the probability of a larger one."""
        null, K = self.null(g), self.kernel(g)
        return null.test(K) if null.sees(K) else (0.0, 1.0)

    def drawn(self, g: int, count: int, seed: int) -> tuple[float, Array]:
        """Compute the statistic of kernel g, and those of draws from the null model."""
        null, K = self.null(g), self.kernel(g)
        if not null.sees(K):
            return 0.0, np.zeros(count)
        rng = np.random.RandomState(seed)
        sizes = [min(_DRAWS_AT_ONCE, count - lo) for lo in range(0, count, _DRAWS_AT_ONCE)]
        found = [null.statistic(K, *null.draws(size, rng)) for size in sizes]
        return float(null.statistic(K, *null.observed())[0]), np.concatenate(found)

    def check_censoring(self) -> None:
        """Warn if samples are permuted although kernels are related to the censoring."""
        if not isinstance(self.target, Cox) or self.Z.shape[1] > 1 or self.others:
            return
        seen = self.target.seen
        if seen.event.all():
            return
        null = likelihood_null(times_likelihood(replace(seen, event=~seen.event)), self.Z)
        p = holm([null.test(self.kernel(g))[1] for g in range(len(self.names))])
        known = [repr(name) for name, value in zip(self.names, p, strict=True) if value < _CENSORING]
        if known:
            warn(
                f"censoring depends on {and_more(known, 5)} (p < {_CENSORING:g} by the score test of the "
                "times of censoring): permuted samples are no fair comparison there. Take method='score', "
                "which does not need it."
            )


# -- several tests together -------------------------------------------------------------------------
def _resampled(statistic: Array, draws: Array) -> Array:
    """(1 + #{draws ≥ statistic}) / (1 + draws): never zero (Phipson & Smyth 2010)."""
    large = draws >= statistic[:, None] * (1.0 - _TIE)
    return np.asarray((1.0 + large.sum(axis=1)) / (1.0 + draws.shape[1]))


def min_p(statistic: Array, draws: Array) -> Array:
    """Adjust p-values by the step-down min-p method of Westfall and Young (1993), for related kernels.

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


def _check(method: str, n_permutations: Any, by: str, given: str, target: str) -> None:
    allowed = {
        "method": (method, _METHODS),
        "by": (by, ("kernel", "view")),
        "given": (given, ("covariates", "others")),
        "target": (target, TARGETS),
    }
    for name, (value, options) in allowed.items():
        if not isinstance(value, str) or value not in options:
            raise ValueError(f"{name}={shown(value)} was given; expected {' or '.join(map(repr, options))}.")
    if not is_whole(n_permutations) or n_permutations < 19:
        raise ValueError(
            f"n_permutations={shown(n_permutations)} was given; expected a whole number of at least 19, the "
            "fewest that can reach a p-value of 0.05."
        )
