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
    """Learns a combination of kernels by its alignment with the target, and transforms samples to it.

    With K_θ = Σ_m θ_m K_m and the target kernel K_Y, the centred alignment is
    ρ̂ = ⟨K_θc, K_Yc⟩_F / (‖K_θc‖_F ‖K_Yc‖_F); ``weighting`` says how the weights θ follow from it.

    Parameters
    ----------
    kernels : "auto", list, dict name -> kernel, family, kernel or "precomputed"
        What there is to choose from, as in :class:`MKLClassifier`.
    weighting : "alignf", "align", "uniform", "alignf-linear", "greedy", "stochastic", "easymkl", "fsm", "kl"
        or Weighting
        "alignf": the non-negative weights of the largest alignment. "align": in proportion to the alignment
        of each kernel. "uniform": equal weights. "alignf-linear": weights of any sign, refused where the
        combination is indefinite. "greedy": one kernel after the other. "stochastic": mirror descent on
        kernels drawn by the gradient, for products. "easymkl": by how far each keeps the classes apart
        (Aiolli and Donini 2015). "fsm": the smallest spread of classes between their centres (Tanabe et al.
        2008). "kl": the smallest divergence from the target's kernel (Ying et al. 2009).
        ``Alignf(center=False, ridge=0.1)`` of ``manykernels.weightings`` changes the alignment.
    center : bool
        Centre the kernels in feature space, by the mean of the training samples. Alignment always does; this
        says whether the kernel that is handed on is centred too.
    normalize : "trace", "max", "cosine", "frobenius" or None
        "trace": the training diagonal of every kernel averages 1.
    target : "auto", "classification" or "regression"
        Which target kernel: yyᵀ for two classes (±1) and for numbers, 1 for samples of the same class and 0
        for others with more classes. "auto" follows scikit-learn's ``type_of_target``.
    memory_limit : int, str such as "2GB" or None
        Bounds what the package itself allocates; None is half of what is free. No n × n matrix is needed.
    n_jobs : int or None
        Threads of compiled passes; None is all.
    approx : None, Nystroem(...), RandomFeatures(...) or "features"
        Explicit features in place of matrices of n × n, from ``manykernels.approx``: one pass over the
        samples, and ``transform`` gives features whose inner products are the learned kernel. X may then be
        a Dask array or frame, which stays where it is; y is held in memory.
    random_state : int, RandomState or None
        Of the features.
    verbose : int
        1 shows a bar over the pass through all kernels.

    Attributes
    ----------
    present_ : dict view -> how many training samples have it, where kernels are of views.
    kernels_, kernel_names_ : the kernels with the constants of the training data, and what they are called.
    weights_, active_ : the weights, Σ|θ_m| = 1, and the indices of those that are not zero.
    kernel_ : the learned mixture, callable on new data.
    X_fit_ : the training samples.
    features_ : with ``approx``, in place of X_fit_: the features of all kernels, before they are weighted.
    alignment_ : the alignment on the training data; ``score_alignment`` gives it for others.
    certified_ : with ``weighting="greedy"`` over a family, whether every kernel was proven to be the best of
        the whole family at its step.
    alignment_bound_ : the alignment that no weights which the method allows exceed; over a family, that no
        combination of its kernels exceeds, where all of it can be looked at. None for weightings that
        maximise nothing, as is
    kkt_residual_ : how far the weights are from the optimality conditions of their problem, for kernels and
        target scaled to norm one.
    unique_ : whether no other weights give the same learned kernel.
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
        """Learn the weights of the kernels from samples X and their targets y."""
        with threads(self.n_jobs):
            self._learn(X, y, work=0, merged=self.approx is not None)  # else it has a column for every sample
        mapped = self._map
        self._n_features_out = _num_samples(self.X_fit_) if mapped is None else int(mapped.used.sum())
        return self

    @over_blocks
    def transform(self, X: Any) -> Array:
        """(n_samples, n_train): the learned kernel between X and the training samples.

        With ``approx`` (n_samples, n_features) instead: features z with ⟨z(x), z(x')⟩ the learned kernel, for
        learners that take features.
        """
        check_is_fitted(self)
        return self._new(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.one_d_labels = False
        tags.target_tags.multi_output = True
        return tags
