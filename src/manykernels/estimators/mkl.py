"""One-stage multiple kernel learning: the weights of the kernels and the machine, in one convex problem."""

from __future__ import annotations

from typing import Any

from .._arguments import shown
from ..losses import Hinge
from ._base import MKLClassification, MKLRegression, mkl_parts


class MKLClassifier(MKLClassification):
    """Classification with a learned combination of kernels.

    Minimises P = ½ Σ_m ‖w_m‖²/θ_m + Σ_i C_i ℓ(y_i, f(x_i)) over θ ≥ 0, ‖θ‖_p ≤ 1, w and b, with
    f(x) = Σ_m ⟨w_m, φ_m(x)⟩ + b, until the duality gap proves that P is within ``tol`` of its minimum.

    Parameters
    ----------
    kernels : "auto", list, dict name -> kernel, family, kernel or "precomputed"
        What there is to choose from. "auto" suits a table: linear, polynomial and Gaussian kernels (see
        ``families.Auto``); "precomputed" takes X of shape (n_samples, n_train, n_kernels).
    norm : float in [1, inf] or Penalty
        1 selects few kernels, inf is their plain sum, values between compromise.
    loss : "hinge", "squared_hinge", "logistic", "squared" or Loss
        "squared" is least squares on the labels ±1: the fastest, one factorisation for all classes.
    C : float
        What errors cost: C_i = C · sample_weight_i · class weight.
    solver : "auto", "active-set", "alternating", "blockwise", "corrective", "greedy", "stochastic" or Solver
        "auto" goes by kernels and norm; one that does not serve them is refused with the names of those that
        do. "blockwise" is for the squared loss without matrices of n × n; the last three are for families.
        "silp", "simplemkl" and "hessian" are the solvers of other papers, at norm 1, for comparison.
    multi_class : "shared", "ovr" or "crammer-singer"
        More than two classes: one-vs-rest machines that share the weights of the kernels, or have their own;
        or all classes in one problem, Σ_i C_i max_c (1 − [c = y_i] + f_c(x_i) − f_y_i(x_i)) (Crammer and
        Singer 2001), which asks for the hinge and for matrices. Two classes are one hinge, whatever is said.
    approx : None, Nystroem(...), RandomFeatures(...) or "features"
        Explicit features in place of matrices of n × n, from ``manykernels.approx``: time grows as n, and
        for ``loss="squared"`` one pass over the samples is all that is needed of them. Products of columns
        are exact with "features", which learns them from blocks of rows; continua such as ``Gaussians()`` are
        learned so with RandomFeatures(...).
    center : bool
        Centre the kernels in feature space, by the mean of the training samples.
    normalize : "trace", "max", "cosine", "frobenius" or None
        "trace": the training diagonal of every kernel averages 1.
    fit_intercept : bool
    tol : float
        The relative duality gap (P − D)/|P| to reach.
    max_iter : int
        Machines to solve at most.
    class_weight : None, "balanced" or dict
    memory_limit : int, str such as "2GB" or None
        Bounds what the package itself allocates; None is half of what is free.
    warm_start : bool
        Start from the last fit, if the numbers of samples and kernels are the same.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads of compiled passes; None is all.
    verbose : int
        1 shows a bar with the gap and the number of kernels, 2 also a line per look at the whole family.
    covariates : None, or columns of X (names, positions, a slice or a mask)
        Columns to adjust for, such as age, sex and site: they enter the decision unpenalised, as a linear
        part beside the kernels, numbers as they are and categories as indicators. Kernels without columns of
        their own see the other columns. For X without columns see ``fit``.
    checkpoint : None, path of a folder or Checkpoint
        Where passes over rows are kept as they are done, for samples that are read in blocks (``approx``,
        products of columns, Dask): after a crash the same fit with the same folder goes on from there, to
        the same model. Other samples, parameters or versions are refused by name. Fits that are no such
        passes keep nothing. See :class:`MKLClassifierCV` for the folder.

    Attributes
    ----------
    kernels_, kernel_names_ : the kernels with the constants of the training data, and what they are called.
    weights_ : (n_kernels,), or (n_classes, n_kernels) for "ovr" with more than two classes.
    active_ : indices of the kernels with weight.
    kernel_ : the learned mixture, callable on new data; a list of them for "ovr" with more than two classes.
    X_fit_, dual_coef_, intercept_ : decision_function(X) == kernel_(X, X_fit_) @ dual_coef_ + intercept_,
        with covariates also + Z @ covariate_coef_.
    covariate_coef_, covariate_names_ : with covariates, their coefficients in the units that they came in
        and the names of the columns of Z: ``site=B`` is the indicator of a category.
    features_, feature_coef_ : with ``approx``, and of products of columns where matrices of n × n do not fit
        into memory, in place of X_fit_ and dual_coef_: decision_function(X) == features_.transform(X) @
        feature_coef_ + intercept_. kernel_ is then what features approximate, before centring.
    objective_, dual_gap_, certified_ : P of the decision function, at the weights that suit it best and with
        what rounding errors may add to it;
        (P − D)/|P| with D the best lower bound that the fit met, which no weights and no machine can beat;
        and whether D is a bound for the whole family of kernels.
    dual_point_ : the α whose dual value D is, shaped as dual_coef_; not with ``approx``.
        ``manykernels.inspection.certificate`` computes P and D anew from it.
    n_iter_, history_ : machines solved; objective, gap, seconds and active kernels at each look, and for
        solvers that draw kernels how many draws of a batch count.
    present_ : dict view -> how many training samples have it, where kernels are of views.
    classes_ : labels.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: Any = 1.0,
        loss: Any = "hinge",
        C: float = 1.0,
        solver: Any = "auto",
        multi_class: str = "shared",
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        class_weight: Any = None,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        covariates: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.multi_class = multi_class
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.covariates = covariates
        self.checkpoint = checkpoint

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given()) | several_classes(self._given())


class MKLRegressor(MKLRegression):
    """Regression with a learned combination of kernels, for one output or several.

    Parameters and attributes are those of :class:`MKLClassifier`, except that ``loss`` is "squared",
    "epsilon_insensitive", "pinball", "huber" or a regression loss, y is (n_samples,) or
    (n_samples, n_outputs), and there are no classes. ``multi_output`` takes the place of ``multi_class``:

    multi_output : "shared" or "own"
        Several outputs share the weights of the kernels, or every output has weights of its own: one problem
        for each, on the same kernel matrices. With "own" and y of two dimensions ``weights_`` is
        (n_outputs, n_kernels), ``objective_`` and ``dual_gap_`` are (n_outputs,), and ``kernel_`` is a list.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import Linear, OnColumns
    >>> X = np.random.RandomState(0).randn(50, 4)
    >>> Y = np.c_[X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]]
    >>> bands = {"left": OnColumns(Linear(), [0, 1]), "right": OnColumns(Linear(), [2, 3])}
    >>> model = MKLRegressor(bands, C=100.0, multi_output="own").fit(X, Y)
    >>> model.weights_.argmax(axis=1).tolist()
    [0, 1]
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        norm: Any = 1.0,
        loss: Any = "squared",
        C: float = 1.0,
        solver: Any = "auto",
        approx: Any = None,
        center: bool = False,
        normalize: str | None = "trace",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        multi_output: str = "shared",
        covariates: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.kernels = kernels
        self.norm = norm
        self.loss = loss
        self.C = C
        self.solver = solver
        self.approx = approx
        self.center = center
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.multi_output = multi_output
        self.covariates = covariates
        self.checkpoint = checkpoint

    def _parts(self) -> dict[str, Any]:
        return mkl_parts(self._given()) | {"own_weights": has_own_weights(self.multi_output)}


def several_classes(given: dict[str, Any]) -> dict[str, Any]:
    """What `multi_class` asks for, or an error where it cannot be had with the other parameters."""
    multi_class, loss = given["multi_class"], given["loss"]
    if multi_class not in ("shared", "ovr", "crammer-singer"):
        raise ValueError(
            f"multi_class={shown(multi_class)} was given; expected 'shared', 'ovr' or 'crammer-singer'."
        )
    if multi_class != "crammer-singer":
        return {"own_weights": multi_class == "ovr"}
    hinge = isinstance(loss, Hinge) or (isinstance(loss, str) and loss == "hinge")
    for name, expected, fine in (
        ("loss", "'hinge'", hinge),
        ("approx", "None", given.get("approx") is None),
        ("covariates", "None", given.get("covariates") is None),
    ):
        if not fine:
            raise ValueError(
                f"{name}={shown(given[name])} was given with multi_class='crammer-singer', the hinge of "
                f"all classes in one problem; expected {name}={expected}. Take multi_class='shared' or "
                f"'ovr' with this {name}."
            )
    return {"joint": True}


def has_own_weights(multi_output: Any) -> bool:
    """Whether every output has weights of its own, or an error where that was not said."""
    if not isinstance(multi_output, str) or multi_output not in ("shared", "own"):
        raise ValueError(f"multi_output={shown(multi_output)} was given; expected 'shared' or 'own'.")
    return multi_output == "own"
