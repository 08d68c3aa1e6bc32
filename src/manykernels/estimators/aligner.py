"""Two-stage learning as a transformer: the learned kernel for any learner that takes one."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._fast.threads import threads
from ._dask import over_blocks
from ._explain import Array
from ._two_stage import TwoStage


class KernelAligner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TwoStage):
    """Learn a kernel by its alignment with the target, and transform samples to it.

    With K_θ = Σ_m θ_m K_m and the target kernel K_Y, the centred alignment is

        ρ̂ = ⟨K_θc, K_Yc⟩_F / (‖K_θc‖_F ‖K_Yc‖_F).

    ``weighting`` says how the weights θ follow from it. ``transform`` gives the learned kernel between new
    samples and the training samples, for any learner that takes a precomputed kernel; with ``approx`` it
    gives features whose inner products are the learned kernel.

    Parameters
    ----------
    kernels : {"auto", "precomputed"}, list, dict, Kernel or Family, default="auto"
        The kernels to choose from. "auto" suits a table with any kind of columns: a linear, a polynomial and
        several Gaussian kernels (see :class:`~manykernels.families.Auto`). A dict gives the kernels names. A
        family stands for kernels that depend on the data, or that are too many to list, such as
        ``Products(degree=2)``. With "precomputed" X holds kernel matrices, of shape (n_samples, n_train,
        n_kernels).
    weighting : str or Weighting, default="alignf"
        How the weights are chosen. "alignf": the non-negative weights with the largest alignment. "align": in
        proportion to the alignment of each kernel. "uniform": equal weights. "alignf-linear": weights of any
        sign, refused if the combination is indefinite. "greedy": one kernel after the other. "stochastic":
        mirror descent on kernels drawn by the gradient, for products. "easymkl": by how far each kernel keeps
        the classes apart (Aiolli and Donini 2015). "fsm": the smallest spread of classes between their
        centres (Tanabe et al. 2008). "kl": the smallest divergence from the target's kernel (Ying et al.
        2009). Objects of ``manykernels.weightings``, such as ``Alignf(center=False, ridge=0.1)``, have
        parameters.
    center : bool, default=True
        Whether the learned kernel is centred in feature space, by the mean of the training samples. The
        alignment itself always uses centred kernels.
    normalize : {"trace", "max", "cosine", "frobenius"} or None, default="trace"
        How the kernels are scaled before learning, since weights depend on their scale. With "trace" the
        training diagonal of every kernel averages 1, with "max" its largest entry is 1; "cosine" sets every
        k(x, x) to 1, and "frobenius" sets the norm of every kernel matrix to 1.
    target : {"auto", "classification", "regression"}, default="auto"
        The target kernel. It is yyᵀ for two classes (±1) and for numbers. With more classes it is 1 for
        samples of the same class and 0 for others. "auto" follows scikit-learn's ``type_of_target``.
    memory_limit : int, str or None, default=None
        The number of bytes that the package itself may allocate, also as text such as "2GB". None allows half
        of the free memory. No n × n matrix is needed.
    n_jobs : int or None, default=None
        The number of threads of compiled code. None uses all processors.
    approx : {"features"}, Nystroem, RandomFeatures or None, default=None
        Explicit features (:mod:`manykernels.approx`) in place of n × n matrices, in one pass over the
        samples. X may then be a Dask array or frame, which stays where it is; y is held in memory.
    random_state : int, RandomState or None, default=None
        The seed of random features.
    verbose : int, default=0
        With 1 a progress bar is shown.

    Attributes
    ----------
    kernels_ : list of Fitted
        The kernels, with the constants (mean and scale) of the training samples.
    kernel_names_ : list of str
        The names of the kernels.
    weights_ : ndarray of shape (n_kernels,)
        The weights of the kernels, with Σ_m |θ_m| = 1.
    active_ : ndarray of shape (n_active,)
        The indices of the kernels with a weight that is not zero.
    kernel_ : Mixture or list of Mixture
        The learned kernel, callable on new data. It is a list with one for each row of ``weights_`` if these
        are several.
    view_weights_ : dict
        The total weight of each view. A kernel that belongs to no view counts under its own name.
    X_fit_ : array-like of shape (n_train, n_features)
        The training samples, in the form in which they were given. Not with ``approx``.
    features_ : Features
        The explicit features, in place of ``X_fit_``. Only with ``approx``, and for products of columns if n
        × n matrices do not fit into memory.
    alignment_ : float
        The alignment on the training data; ``score_alignment`` computes it on other data.
    alignment_bound_ : float or None
        The alignment that no weights exceed which the method allows. Over a family, no combination of its
        kernels exceeds it, if all of the family can be looked at. None for weightings that maximise nothing.
    kkt_residual_ : float or None
        The distance of the weights from the optimality conditions of their problem, with kernels and target
        scaled to norm one.
    unique_ : bool
        Whether no other weights give the same learned kernel.
    certified_ : bool
        Whether every kernel was proven to be the best of the whole family at its step. Only for
        ``weighting="greedy"`` over a family.
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
    AlignMKLClassifier : Learns the kernel and then a classifier.
    AlignMKLRegressor : Learns the kernel and then a regressor.
    manykernels.weightings : The weightings as objects with parameters.

    References
    ----------
    - Cortes, Mohri and Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment,
      Journal of Machine Learning Research 13.
    - Rostamizadeh (2010), Theoretical foundations and algorithms for learning with multiple kernels, PhD
      thesis, New York University.
    - Aiolli and Donini (2015), EasyMKL: a scalable multiple kernel learning algorithm, Neurocomputing
      169.
    - Tanabe, Ho, Nguyen and Kawasaki (2008), Simple but effective methods for combining kernels in
      computational biology, RIVF.
    - Ying, Huang and Campbell (2009), Enhanced protein fold recognition through a novel data integration
      approach, BMC Bioinformatics 10.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from manykernels import KernelAligner
    >>> from manykernels.families import gaussian_grid
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(KernelAligner(gaussian_grid(0.5, 8.0, 5)), SVC(kernel="precomputed"))
    >>> model.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    >>> bool(0.5 < model[0].alignment_ <= model[0].alignment_bound_ + 1e-9)
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        weighting: Any = "alignf",
        center: bool = True,
        normalize: str | None = "trace",
        target: str = "auto",
        memory_limit: Any = None,
        n_jobs: int | None = None,
        approx: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.weighting = weighting
        self.center = center
        self.normalize = normalize
        self.target = target
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.approx = approx
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the weights of the kernels.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, of shape (n_samples, n_features). A dict {name: samples × features} holds views,
            which get kernels of their own. With ``kernels="precomputed"`` it is a stack of kernel matrices,
            of shape (n_samples, n_train, n_kernels), or a dict of them by name.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            The targets: labels or numbers. They are needed.

        Returns
        -------
        self : estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has a value that it cannot have, if samples and targets do not fit together, if
            all targets are the same, or if a kernel is not finite or not
            positive semidefinite.
        TypeError
            If an argument is of a type that it cannot be of.
        MemoryError
            If the kernels do not fit into ``memory_limit``; the message says what does.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import KernelAligner
        >>> from manykernels.kernels import Linear, OnColumns
        >>> X = np.random.RandomState(0).randn(30, 2)
        >>> model = KernelAligner({"age": OnColumns(Linear(), [0]), "noise": OnColumns(Linear(), [1])})
        >>> model.fit(X, X[:, 0]).weights_.round(1).tolist()
        [1.0, 0.0]
        """
        with threads(self.n_jobs):
            self._learn(X, y, work=0, merged=self.approx is not None)  # else it has a column for every sample
        mapped = self._map
        self._n_features_out = _num_samples(self.X_fit_) if mapped is None else int(mapped.used.sum())
        return self

    @over_blocks
    def transform(self, X: Any) -> Array:
        """Compute the learned kernel between samples and the training samples.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, list or dict
            The samples, in the form in which ``fit`` got them.

        Returns
        -------
        ndarray of shape (n_samples, n_train) or (n_samples, n_components)
            The kernel matrix. With ``approx`` features z with ⟨z(x), z(x')⟩ the learned kernel.

        Examples
        --------
        The training samples 1 and 3 have the mean 2, and the kernel is (x − 2)(x' − 2):

        >>> import numpy as np
        >>> from manykernels import KernelAligner
        >>> from manykernels.kernels import Linear
        >>> model = KernelAligner(Linear()).fit(np.array([[1.0], [3.0]]), [0.0, 1.0])
        >>> model.transform(np.array([[3.0], [5.0]])).round(3)
        array([[-1.,  1.],
               [-3.,  3.]])
        """
        check_is_fitted(self)
        return self._new(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        tags.target_tags.multi_output = True
        return tags
