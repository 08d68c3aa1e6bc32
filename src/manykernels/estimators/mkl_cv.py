"""Searches that choose kernels, strategy, norm and C on held-out samples, for classes and for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..fitting.targets import Labels, Numbers
from ..selection.scoring import Adjusted, decisions_of
from ..selection.search import Outcome
from ._dask import LazyScore
from ._intervals import Intervals
from ._search import Search, refitted
from .align_mkl import AlignMKLClassifier, AlignMKLRegressor
from .mkl import MKLClassifier, MKLRegressor

Array = NDArray[np.float64]


class MKLClassifierCV(LazyScore, ClassifierMixin, Search):
    """Classification with a learned kernel, chosen by cross-validation.

    The search chooses kernels, strategy, norm and C. With the defaults it does what a practitioner would do.
    It makes kernels for the table at hand, kernels with a width for each feature, and sparse products of
    features. It fits each along a path in C, all in the same folds. Then it fits the best of them on all
    samples.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    strategy : str, or list of str and estimators, default="auto"
        The kinds of models to try. "finite" learns weights of the kernels. "continuous" first learns a width
        for each feature (:class:`~manykernels.families.Relevance`), or searches the continuous family that
        ``kernels`` is. "columns" learns few kernels of single columns beside kernels of all columns
        (:class:`~manykernels.families.Columns`). "products" learns few products of features. "aligned" weighs
        the kernels by alignment, then fits an SVM or kernel ridge regression. "joined" learns from the
        columns of all views as one table. "auto" tries "finite", "continuous" and "products" where they apply
        if ``kernels="auto"`` and the table is dense, and "columns" if most of more than 12 columns are
        categories or have few different numbers; "finite" and "joined" if there are several views, where
        "joined" is taken only if it is clearly better; and only "finite" otherwise. An estimator in a list is
        tried as it is, with its C chosen if it has one.
    norms : sequence of float or Penalty, default=(1.0, 2.0)
        The norms to try; see ``norm`` of :class:`MKLClassifier`.
    Cs : int, list of float or None, default=None
        The values of C to try, or how many of them. None tries 6 values from 0.1 to 10,000 (for columns 4
        values from 0.1 to 100, for products 6 values from 0.003 to 1).
    loss : {"squared", "hinge", "squared_hinge", "logistic"} or Loss, default="squared"
        The loss of one sample. Least squares on the labels ±1 is as accurate as the hinge on most data, and
        faster: all classes share their equations.
    multi_class : {"shared", "ovr", "crammer-singer"}, default="shared"
        How more than two classes are learned. With "shared" one-vs-rest machines share the weights of the
        kernels; with "ovr" each has its own. "crammer-singer" learns all classes in one problem, Σ_i C_i
        max_c (1 − [c = y_i] + f_c(x_i) − f_y_i(x_i)) (Crammer and Singer 2001); it needs the hinge loss and
        no ``approx``. Two classes are one machine with any of the three.
    cv : {"loo"}, int, splitter, iterable of splits or None, default=None
        The folds, as in scikit-learn. None makes five, stratified and shuffled by ``random_state``. "loo"
        chooses only C, by leave-one-out at the weights of all samples; it needs the squared loss and one
        strategy and norm, and takes one factorisation for each.
    scoring : str, callable or None, default=None
        The score to choose by, as in scikit-learn. None reports the accuracy. Models of one strategy are then
        compared by the squared error of decisions clipped to ±1, which tells them apart far better if samples
        are few, and the best ones of different strategies by the log loss of their calibrated decisions;
        there samples count by ``class_weight`` too. Scores of probabilities, such as "neg_log_loss" and
        "roc_auc", use calibrated ones if the loss has none: each is learned from other held-out samples.
    refit : bool, default=True
        Whether the best model is fitted on all samples. Without it there is only the comparison.
    approx : {"auto", "features"}, Nystroem, RandomFeatures or None, default="auto"
        How large samples are learned from. "auto" tries everything on all samples up to 1,500 of them. Beyond
        that it races the models on some of the samples, learns those that may still be the best from more of
        them, and learns the best from all: with exact kernels up to 2,500 samples, and otherwise at
        landmarks, more of them until the error on held-out samples no longer falls. X may then be an array
        mapped from a file, or a Dask collection, which stay where they are. None tries everything on all
        samples with exact kernels. Other values are those of :class:`MKLClassifier`.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. A smaller value takes longer.
    max_iter : int, default=1000
        The largest number of machines to solve. A fit that reaches it warns that the gap is not reached.
    class_weight : {"balanced"}, dict or None, default=None
        The weight of each class in C_i. "balanced" weighs classes by the inverse of their frequency.
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
    time_budget : float or None, default=None
        The number of seconds after which the search ends with the best model found so far. There is always
        one, so that a fit may take somewhat longer.
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
        The mean score of the chosen model over the folds.
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
    stages_ : list of str
        What was done and why, if models were raced because samples are many: ``comparison_``, ``path_`` and
        ``finalists_`` are then those of the race. Or why C was chosen anew, if kernels came out otherwise on
        all samples than in the folds.
    calibration_ : Calibration
        The function from decisions to probabilities, learned from held-out decisions.
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        The weights θ of the kernels. With ``multi_class="ovr"`` and more than two classes there is a row for
        each class.
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
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
    classes_ : ndarray of shape (n_classes,)
        The labels of the classes.
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
    MKLClassifier : Fits one model with given kernels, norm and C.
    MKLRegressorCV : Learns numbers in place of classes.
    MKLSurvivalCV : Learns times to an event.
    compare : Compares several methods on the same folds.

    Notes
    -----
    The attributes from ``kernels_`` to ``history_`` are those of ``best_estimator_``, which has them if the
    chosen model is one of this package. ``describe()`` says in words what was tried and why the model was
    chosen.

    References
    ----------
    - Lanckriet, Cristianini, Bartlett, El Ghaoui and Jordan (2004), Learning the kernel matrix with
      semidefinite programming, Journal of Machine Learning Research 5.
    - Kloft, Brefeld, Sonnenburg and Zien (2011), lp-norm multiple kernel learning, Journal of Machine
      Learning Research 12.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = MKLClassifierCV(strategy="finite", cv=3, random_state=0).fit(X[::2], y[::2])
    >>> search.score(X[1::2], y[1::2]) > 0.9
    True
    >>> sorted(search.best_params_)
    ['C', 'kernels', 'norm', 'strategy']
    >>> search.predict_proba(X[:4]).shape
    (4, 3)
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        loss: Any = "squared",
        multi_class: str = "shared",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
        time_budget: float | None = None,
        checkpoint: Any = None,
        storage: str = "float64",
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.loss = loss
        self.multi_class = multi_class
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates
        self.time_budget = time_budget
        self.checkpoint = checkpoint
        self.storage = storage

    def _own(self, kernels: Any) -> BaseEstimator:
        options = {"multi_class": self.multi_class, "class_weight": self.class_weight}
        return MKLClassifier(kernels, **self._passed(), **options)

    def _aligned(self) -> BaseEstimator:
        machine = SVC(kernel="precomputed", class_weight=self.class_weight)
        options = {"normalize": self.normalize, "memory_limit": self.memory_limit}
        return AlignMKLClassifier(self.kernels, estimator=machine, **options)

    def _target(self) -> Labels:
        return Labels(self.class_weight)

    def _announce(self, outcome: Outcome) -> None:
        super()._announce(outcome)
        if outcome.calibration is not None:
            self.calibration_ = outcome.calibration

    @available_if(refitted("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any, covariates: Any = None) -> Any:
        """Compute the decisions of the chosen model.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The decisions: for two classes one number, positive for ``classes_[1]``; else one for each class.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLClassifierCV
        >>> X = np.linspace(0.0, 3.0, 30)[:, None]
        >>> y = np.where(X[:, 0] < 1.5, "cold", "warm")
        >>> model = MKLClassifierCV(strategy="finite", cv=3).fit(X, y)
        >>> model.decision_function([[0.5], [2.5]]) > 0
        array([False,  True])
        """
        return self._ask("decision_function", X, covariates)

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the probabilities of the classes.

        A model with the logistic loss has its own. For other losses the decisions are calibrated: an
        increasing function of them, the same for all classes, goes into a softmax (a sigmoid for two
        classes). The search learns it from the decisions of the best model on held-out samples, without a
        further fit. The predicted class is always the most probable one. With ``class_weight`` the
        probabilities are those of classes that are as frequent as their weights say.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self, "best_estimator_")
        own = getattr(self.best_estimator_, "predict_proba", None)
        if own is None:
            return np.asarray(np.exp(self.predict_log_proba(X, covariates)))
        return np.asarray(self._ask("predict_proba", X, covariates))

    @available_if(refitted("predict"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, covariates: Any = None) -> Array:
        """Predict the logarithms of the probabilities.

        They are exact also if probabilities are tiny.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.
        covariates : array-like or frame of shape (n_samples, n_covariates), default=None
            The covariates of the samples, if ``fit`` got them beside X.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            The logarithms of the probabilities, in the order of ``classes_``.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLClassifierCV
        >>> X = np.linspace(0.0, 3.0, 30)[:, None]
        >>> y = np.where(X[:, 0] < 1.5, "cold", "warm")
        >>> model = MKLClassifierCV(strategy="finite", cv=3).fit(X, y)
        >>> model.predict_log_proba([[0.5], [2.5]]).argmax(axis=1).tolist()
        [0, 1]
        """
        check_is_fitted(self, "best_estimator_")
        for method, log in (("predict_log_proba", np.asarray), ("predict_proba", np.log)):
            if hasattr(self.best_estimator_, method):
                return np.asarray(log(self._ask(method, X, covariates)))
        model = self.best_estimator_
        asked = model if covariates is None else Adjusted(model, {"covariates": covariates})
        return self.calibration_.log_probabilities(decisions_of(asked, X, self.classes_))


class MKLRegressorCV(LazyScore, RegressorMixin, Intervals):
    """Regression with a learned kernel, chosen by cross-validation.

    The search chooses kernels, strategy, norm and C. With the defaults it does what a practitioner would do.
    It makes kernels for the table at hand, kernels with a width for each feature, and sparse products of
    features. It fits each along a path in C, all in the same folds. Then it fits the best of them on all
    samples. y has shape (n_samples,) or (n_samples, n_outputs).

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    strategy : str, or list of str and estimators, default="auto"
        The kinds of models to try. "finite" learns weights of the kernels. "continuous" first learns a width
        for each feature (:class:`~manykernels.families.Relevance`), or searches the continuous family that
        ``kernels`` is. "columns" learns few kernels of single columns beside kernels of all columns
        (:class:`~manykernels.families.Columns`). "products" learns few products of features. "aligned" weighs
        the kernels by alignment, then fits an SVM or kernel ridge regression. "joined" learns from the
        columns of all views as one table. "auto" tries "finite", "continuous" and "products" where they apply
        if ``kernels="auto"`` and the table is dense, and "columns" if most of more than 12 columns are
        categories or have few different numbers; "finite" and "joined" if there are several views, where
        "joined" is taken only if it is clearly better; and only "finite" otherwise. An estimator in a list is
        tried as it is, with its C chosen if it has one.
    norms : sequence of float or Penalty, default=(1.0, 2.0)
        The norms to try; see ``norm`` of :class:`MKLClassifier`.
    Cs : int, list of float or None, default=None
        The values of C to try, or how many of them. None tries 6 values from 0.1 to 10,000 (for columns 4
        values from 0.1 to 100, for products 6 values from 0.003 to 1).
    loss : {"squared", "epsilon_insensitive", "pinball", "huber"} or Loss, default="squared"
        The loss of one sample. "squared" is kernel ridge regression, "epsilon_insensitive" a support vector
        machine. "huber" is robust against outliers, and "pinball" learns a quantile, by default the median.
        Objects such as ``Pinball(0.9)`` of ``manykernels.losses`` have parameters.
    cv : {"loo"}, int, splitter, iterable of splits or None, default=None
        The folds, as in scikit-learn. None makes five, shuffled by ``random_state``. "loo" chooses only C, by
        leave-one-out at the weights of all samples; it needs the squared loss and one strategy and norm, and
        takes one factorisation for each. With ``multi_output="own"`` None and "loo" both leave out one sample
        at a time.
    scoring : str, callable or None, default=None
        The score to choose by, as in scikit-learn. None reports R² and chooses by the squared error.
    refit : bool, default=True
        Whether the best model is fitted on all samples. Without it there is only the comparison.
    approx : {"auto", "features"}, Nystroem, RandomFeatures or None, default="auto"
        How large samples are learned from. "auto" tries everything on all samples up to 1,500 of them. Beyond
        that it races the models on some of the samples, learns those that may still be the best from more of
        them, and learns the best from all: with exact kernels up to 2,500 samples, and otherwise at
        landmarks, more of them until the error on held-out samples no longer falls. X may then be an array
        mapped from a file, or a Dask collection, which stay where they are. None tries everything on all
        samples with exact kernels. Other values are those of :class:`MKLClassifier`.
    center : bool, default=False
        Whether the kernels are centred in feature space, by the mean of the training samples.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    fit_intercept : bool, default=True
        Whether the decision has a constant b, which is not penalised.
    tol : float, default=0.001
        The relative duality gap (P − D)/|P| at which learning stops. With ``multi_output="own"`` it ends the
        search for weights (see Notes).
    max_iter : int, default=1000
        The largest number of machines to solve in a fit; with ``multi_output="own"`` the largest number of
        candidate weights.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory.
    random_state : int, RandomState or None, default=None
        The seed of the folds and of everything else that is random. None counts as 0 for the folds.
    n_jobs : int or None, default=None
        The number of folds and strategies that are fitted at the same time, as in scikit-learn. None means 1.
    verbose : int, default=0
        With 1 a progress bar is shown.
    multi_output : {"shared", "own"}, default="shared"
        Whether several outputs share kernels, weights and C, or each output has weights and a C of its own.
        These are then chosen by the error on samples that are left out, as in banded ridge regression (see
        Notes). Outputs may be 10⁵: they share kernels and factorisations.
    covariates : list, str, int, slice, mask or None, default=None
        The columns of X to adjust for, such as age, sex and site, as in :class:`MKLClassifier`. They are in
        every strategy, and are learned anew in every fold.
    time_budget : float or None, default=None
        The number of seconds after which the search ends with the best model found so far. There is always
        one, so that a fit may take somewhat longer.
    intervals : bool, default=False
        Whether ``predict_interval`` will be asked for. The search of the chosen strategy is then repeated
        without each fold, so that the fit takes about as many times longer as there are folds. With
        ``cv="loo"`` no model is fitted again (see ``predict_interval``).
    checkpoint : str, path, Checkpoint or None, default=None
        A folder that keeps finished work. After a crash or a kill the same fit with the same folder goes on,
        and ends with the same model, to the bit on one thread if ``random_state`` is given. Other samples,
        options or versions are refused by name, and so is a second process at the same time. The folder is
        yours to delete; ``manykernels.selection.checkpoint.Checkpoint(folder, remove=True)`` deletes it at
        the end. With ``multi_output="own"`` it needs ``random_state``, by which weights to try are drawn.
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
        The mean score of the chosen model over the folds.
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
    stages_ : list of str
        What was done and why, if models were raced because samples are many: ``comparison_``, ``path_`` and
        ``finalists_`` are then those of the race. Or why C was chosen anew, if kernels came out otherwise on
        all samples than in the folds.
    intervals_ : list of HeldOut, or Jackknife
        The model of each fold, and its errors on the samples of that fold. With ``cv="loo"``, what leaving
        out each sample changes; ``intervals_.fixed`` says whether weights and C had not seen it. Only with
        ``intervals=True``.
    best_C_ : ndarray of shape (n_outputs,)
        The C of each output. Only with ``multi_output="own"``.
    cv_scores_ : ndarray of shape (n_outputs,)
        The R² of each output on samples that were left out. Only with ``multi_output="own"``.
    n_candidates_ : int
        The number of weights that were tried. Only with ``multi_output="own"``.
    deltas_ : ndarray of shape (n_kernels, n_outputs)
        The logarithm of weight · C, as himalaya has it. Only with ``multi_output="own"``.
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,) or (n_outputs, n_kernels)
        The weights θ of the kernels. With ``multi_output="own"`` and y of two dimensions there is a row for
        each output.
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
    intercept_ : float or ndarray of shape (n_outputs,)
        The constant b of the decision.
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
    objective_ : float or ndarray of shape (n_outputs,)
        The objective P of the decision function, at the weights that suit it best and with what rounding
        errors may add to it; one for each output with ``multi_output="own"``.
    dual_gap_ : float or ndarray of shape (n_outputs,)
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
    MKLRegressor : Fits one model with given kernels, norm and C.
    MKLClassifierCV : Learns classes in place of numbers.
    compare : Compares several methods on the same folds.

    Notes
    -----
    The attributes from ``kernels_`` to ``history_`` are those of ``best_estimator_``, which has them if the
    chosen model is one of this package.

    With ``multi_output="own"`` the loss is the squared one, and the weights are points of the simplex that
    are chosen by validation: ``strategy``, ``norms`` and ``scoring`` keep their defaults, and there is no
    ``comparison_``, ``path_`` or ``best_params_``. ``cv=None`` and ``cv="loo"`` leave out one sample at a
    time, exactly, from one factorisation of all of them. If neighbouring samples are alike, as in time
    series, give folds that keep them together, such as ``GroupKFold()`` with ``groups``. The search ends
    after two rounds of eight candidates that lower the errors by less than half of ``tol``, relatively and on
    average. ``max_iter`` limits the number of candidates, and ``n_jobs`` is the number of threads. Up to
    eight outputs then go on by themselves, downhill on their leave-one-out error.

    References
    ----------
    - Kloft, Brefeld, Sonnenburg and Zien (2011), lp-norm multiple kernel learning, Journal of Machine
      Learning Research 12.
    - Barber, Candès, Ramdas and Tibshirani (2021), Predictive inference with the jackknife+, Annals of
      Statistics 49.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressorCV
    >>> from manykernels.kernels import Linear, OnColumns
    >>> rng = np.random.RandomState(0)
    >>> X = rng.randn(80, 6)
    >>> Y = np.c_[X[:, 0] + X[:, 1], X[:, 3] - X[:, 4]] + 0.1 * rng.randn(80, 2)
    >>> bands = {"left": OnColumns(Linear(), slice(0, 3)), "right": OnColumns(Linear(), slice(3, 6))}
    >>> model = MKLRegressorCV(bands, multi_output="own", random_state=0).fit(X, Y)
    >>> model.weights_.argmax(axis=1).tolist()
    [0, 1]
    >>> bool(model.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        strategy: Any = "auto",
        norms: Any = (1.0, 2.0),
        Cs: Any = None,
        loss: Any = "squared",
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        approx: Any = "auto",
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        multi_output: str = "shared",
        covariates: Any = None,
        time_budget: float | None = None,
        intervals: bool = False,
        checkpoint: Any = None,
        storage: str = "float64",
    ) -> None:
        self.kernels = kernels
        self.strategy = strategy
        self.norms = norms
        self.Cs = Cs
        self.loss = loss
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.multi_output = multi_output
        self.covariates = covariates
        self.time_budget = time_budget
        self.intervals = intervals
        self.checkpoint = checkpoint
        self.storage = storage

    def _own(self, kernels: Any) -> BaseEstimator:
        return MKLRegressor(kernels, **self._passed(), multi_output=self.multi_output)

    def _aligned(self) -> BaseEstimator:
        options = {"normalize": self.normalize, "memory_limit": self.memory_limit}
        return AlignMKLRegressor(self.kernels, estimator=KernelRidge(kernel="precomputed"), **options)

    def _target(self) -> Numbers:
        return Numbers()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
