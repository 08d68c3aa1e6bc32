"""Survival analysis with model selection."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ..fitting.times import TimeToEvent
from ..losses import PartialLikelihood
from ..selection.data import Data
from ..selection.search import Outcome
from ._search import Search
from ._survival import SurvivalFace
from .survival import MKLSurvival

_PASSED = "ties center normalize tol max_iter memory_limit random_state approx covariates storage".split()


class MKLSurvivalCV(SurvivalFace, Search):
    """Survival analysis with a learned kernel, chosen by cross-validation.

    The search chooses kernels, strategy, norm and C. With the defaults it makes kernels for the table at hand
    and kernels with a width for each feature, fits each along a path in C, all in the same folds, and fits
    the best on all samples.

    Models are compared by the partial likelihood of the risks of all samples, each from the model of the fold
    that held it out (Dai and Breheny 2019). Times to an event say little, so that candidates are few. If
    "auto" has a linear kernel, the best linear model is taken unless another one is better by more than the
    standard error of the difference over folds.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    strategy : {"auto", "finite", "continuous", "products"} or list of these and of estimators, default="auto"
        The kinds of models to try, as in :class:`MKLClassifierCV`. "auto" tries no products.
    norms : sequence of float or Penalty, default=(1.0, 2.0)
        The norms to try; see ``norm`` of :class:`MKLClassifier`.
    Cs : int, list of float or None, default=None
        The values of C to try, or how many of them. None tries 10 values from 0.001 to 100.
    ties : {"breslow", "efron"}, default="breslow"
        How events at the same time are counted. "efron" is nearer to the truth if they are many. A weight of
        2 is then not the same as a sample given twice, since tied events are weighed by their mean.
    cv : int, splitter, iterable of splits or None, default=None
        The folds, as in scikit-learn. None makes five with equal shares of events, shuffled by
        ``random_state``, in which models are learned from at most 1,000 samples; only the chosen model is
        learned from all.
    scoring : callable or None, default=None
        The score to choose by, such as ``manykernels.survival.UnoScorer()``. None reports Harrell's C and
        chooses by the partial likelihood, which tells models apart far better.
    refit : bool, default=True
        Whether the best model is fitted on all samples. Without it there is only the comparison.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices, so that time grows in
        proportion to n. "features" uses the finite maps that kernels have themselves.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. A smaller value takes longer.
    max_iter : int, default=1000
        The largest number of machines to solve. A fit that reaches it warns that the gap is not reached.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of everything else that is random. None counts as 0 for the folds.
    n_jobs : int or None, default=None
        The number of folds and strategies that are fitted at the same time, as in scikit-learn. None means 1.
    verbose : int, default=0
        With 1 a progress bar is shown.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, such as age, sex and site, as in :class:`MKLClassifier`. They are in
        every strategy, and are learned anew in every fold.
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished work. After a crash or a kill the same fit with the same folder goes on,
        and ends with the same model, to the bit on one thread if ``random_state`` is given. Other samples,
        options or versions are refused by name, and so is a second process at the same time. The folder is
        yours to delete; ``manykernels.selection.checkpoint.Checkpoint(folder, remove=True)`` deletes it at
        the end.
    storage : {"float64", "float32"}, default="float64"
        The type of the kernel matrices that are kept. With "float32" they take half of the memory; a
        fit takes about as long. The duality gap is that of the kernels themselves, with everything that
        rounding may do. Matrices that are given as X keep their own type.

    Attributes
    ----------
    best_estimator_ : estimator
        The chosen model, fitted on all samples. Only with ``refit=True``.
    best_params_ : dict
        The strategy, norm, kernels (names, if the model learns from some of them only) and C of the chosen
        model.
    best_score_ : float
        The mean score of the chosen model over the folds: Harrell's C, or that of ``scoring``.
    comparison_ : dict
        A table as columns, with a row for each strategy at its best: strategy, norm, kernels, C, score, std,
        folds, seconds. A strategy with fewer folds than others was too far behind in the first.
    finalists_ : dict
        A table as columns: strategy, norm, kernels and C of the chosen model and of those that the folds
        cannot tell from it, how far they are behind, and the standard error of that.
    path_ : dict
        For each strategy a table as columns, with a row for each model: norm, kernels, C, score, std, loss,
        gap and n_active over the folds. The chosen strategy also has "all samples": C, weights and gap along
        its path on all samples.
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights θ of the kernels.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    selected_products_ : dict
        The products with weight, as columns of a table: product, degree, weight and contribution, the largest
        contribution first. Only for ``kernels=Products(...)``.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    dual_coef_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The coefficients of the training samples: ``kernel_(X, X_fit_) @ dual_coef_ + intercept_`` decides,
        with covariates also ``+ Z @ covariate_coef_``. Not with ``approx``.
    intercept_ : float
        The constant of the decision, which makes the mean risk of the training samples 0.
    features_ : Features
        The explicit features, in place of ``X_fit_``. Only with ``approx``, and for products of columns if n
        × n matrices do not fit into memory.
    feature_coef_ : ndarray of shape (n_components,) or (n_components, n_outputs)
        The coefficients of the features: ``features_.transform(X) @ feature_coef_ + intercept_`` decides.
        Only with ``features_``.
    coef_ : ndarray of shape (n_features,) or (n_outputs, n_features)
        The weights of the features, if all active kernels are linear: ``X @ coef_.T + intercept_`` decides.
    covariate_coef_ : ndarray of shape (n_covariates,) or (n_covariates, n_outputs)
        The coefficients of the covariates, in the units in which they were given. Only with covariates.
    covariate_names_ : list of str
        The names of the columns of Z: ``site=B`` is the indicator of a category. Only with covariates.
    objective_ : float
        The objective P of the decision function, at the weights that suit it best and with what rounding
        errors may add to it.
    dual_gap_ : float
        The relative gap (P − D)/|P|. D is the best lower bound that the fit met: no weights and no machine
        have a smaller objective.
    certified_ : bool
        Whether D is a lower bound for the whole family of kernels.
    dual_point_ : ndarray of shape (n_train,) or (n_train, n_outputs)
        The α whose dual value is D; :func:`manykernels.inspection.certificate` computes P and D anew from it.
        Not with ``approx``.
    n_iter_ : int
        The number of machines that were solved.
    history_ : dict
        The objective, gap, seconds and number of active kernels at each look, as columns. Solvers that draw
        kernels also have how many draws of a batch count.
    event_times_ : ndarray of shape (n_times,)
        The times at which events were observed, in increasing order.
    unique_times_ : ndarray of shape (n_times,)
        The same as ``event_times_``, by the name that scikit-survival uses.
    baseline_ : Baseline
        Breslow's estimate of the hazard of a sample with risk 0, for each stratum.
    censoring_ : StepFunctions
        The probability to be still observed at each time, by which Uno's C and the Brier score weigh.
    present_ : dict
        The number of training samples that have each view. Only if kernels belong to views.
    checks_ : list of Check
        Reasons to be careful with this model, each with a code, a sentence and advice; empty if there are
        none.
    n_features_in_ : int
        The number of columns of X in ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns of X in ``fit``, if all of them are strings.

    See Also
    --------
    MKLSurvival : Fits one model with given kernels, norm and C.
    manykernels.survival : Curves and scores of times to an event.

    Notes
    -----
    The attributes from ``kernels_`` to ``history_``, ``baseline_`` and ``censoring_`` are those of
    ``best_estimator_``.

    References
    ----------
    - Cox (1972), Regression models and life-tables, Journal of the Royal Statistical Society B 34.
    - Dai and Breheny (2019), Cross validation approaches for penalized Cox regression, arXiv:1905.10432.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLSurvivalCV
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(80, 3)
    >>> time, seen = rng.exponential(np.exp(-2 * X[:, 0])), rng.exponential(2.0, 80)
    >>> y = np.column_stack([time <= seen, np.minimum(time, seen)])
    >>> model = MKLSurvivalCV(strategy="finite", random_state=0).fit(X, y)
    >>> bool(model.best_score_ > 0.7)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        ties: str = "breslow",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
        checkpoint: Any = None,
        storage: str = "float64",
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.ties = ties
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates
        self.checkpoint = checkpoint
        self.storage = storage

    def _own(self, kernels: Any) -> BaseEstimator:
        return MKLSurvival(kernels, **{name: getattr(self, name) for name in _PASSED})

    def _aligned(self) -> BaseEstimator:
        raise NotImplementedError("alignment with times to an event is not defined; take another strategy.")

    def _target(self) -> TimeToEvent:
        PartialLikelihood(self.ties).checked()
        return TimeToEvent(self.ties)

    def _scorer(self, weighted: bool, classes: NDArray[Any] | None) -> Any:
        if isinstance(self.scoring, str):
            raise ValueError(
                f"scoring={self.scoring!r} was given; expected None, which chooses by the partial "
                "likelihood, or a scorer of times to an event, such as manykernels.survival.UnoScorer()."
            )
        return super()._scorer(weighted, classes)

    def _refit(self, outcome: Outcome, data: Data) -> BaseEstimator:
        model: Any = super()._refit(outcome, data)
        if "baseline_" not in vars(model) and isinstance(model, MKLSurvival):
            model._learn_baseline(data.X, data.y, data.weight, data.covariates, self.ties)
        return model

    predict = Search.predict
