"""The second-order method: a bundle of cuts with Newton's metric, on a growing working set of kernels.

J(θ) = max_α [−Σ C ℓ* − ½θᵀq(α)] is convex. At a solution of the machine its gradient is −½q and its second
derivative BᵀB (see `machines`); every dual point ever met gives a cut below J. Each iteration minimises the
model made of both (`_local_model.py`), predicts α there, and solves the machine once, only as exactly as the
predicted decrease deserves. For sparse penalties only a working set of kernels takes part; the whole
family is looked at when the working set is solved, and the gap is always that of the whole family.
"""

from __future__ import annotations

import numpy as np

from .._fast.threads import blas_for
from ..grams import Gram
from ..objectives import Risk, Separable
from ..objectives.features import FeatureRisk
from ..penalties import Penalty
from ._second_order import SecondOrder
from ._stopping import goes_on
from .base import Array, Kernels, Result, Run, Solver, listed, whole_number
from .declarations import Serves

_RUN = 8  # samples read together when a part of them is drawn: a cache line of every row


class ActiveSet(Solver):
    """Second-order learning of the weights on a working set of kernels, for every penalty.

    ``solver="auto"`` takes it for most lists of kernels. Machines are solved as exactly as the gap needs.
    A local model of the objective, its second derivative and cuts, proposes the next weights.

    Parameters
    ----------
    add : int or None, default=None
        Largest number of kernels that join the working set at a time (sparse penalties). None takes a tenth
        of them, but from 5 to 20. A large working set, or one that needs the interior-point method, may grow
        faster.
    cuts : int, default=12
        Number of cuts that are kept, at least 2. More cuts make a better model, and cost more an iteration.
    warm_size : int, default=200
        Problems of five times as many samples start from the weights of a random part of this size; 0 never
        does.

    References
    ----------
    Chapelle & Rakotomamonjy (2008), "Second order optimization of kernel parameters", NIPS workshop on kernel
    learning: automatic selection of optimal kernels.

    Lemaréchal, Nemirovskii & Nesterov (1995), "New variants of bundle methods", Mathematical Programming 69.

    Fercoq, Gramfort & Salmon (2015), "Mind the duality gap: safer rules for the lasso", ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from manykernels import MKLClassifier
    >>> from manykernels.families import gaussian_grid
    >>> from manykernels.solvers import ActiveSet
    >>> X, y = make_classification(60, random_state=0)
    >>> model = MKLClassifier(gaussian_grid(1.0, 20.0, 5), solver=ActiveSet(cuts=6)).fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(kernels=frozenset({"list", "features"}))

    def __init__(self, add: int | None = None, cuts: int = 12, warm_size: int = 200) -> None:
        self.add = add
        self.cuts = cuts
        self.warm_size = warm_size

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        gram = listed(self, kernels, risk, penalty)
        default = max(5, min(20, gram.n_kernels // 10))
        add = default if self.add is None else whole_number(self, "add", 1)
        cuts = whole_number(self, "cuts", 2)
        whole_number(self, "warm_size", 0)
        if gram.explicit:
            risk = FeatureRisk(risk) if isinstance(risk, Separable) else risk.in_features()
        with blas_for(gram.n):
            start = self._start(gram, risk, penalty, run)
            method = SecondOrder(gram, risk, penalty, run, start, add, cuts)
            if penalty.sparse and not method.fixed and method.on.center.tight > 0.0:
                method.improve()  # a look at the whole family costs more than a better start
            while not method.look() and goes_on(method.on.machines, run.max_iter):
                method.improve()
        return method.result()

    def _start(self, gram: Gram, risk: Risk, penalty: Penalty, run: Run) -> tuple[Array, Array]:
        """(θ, α) to start from: given, learned on a part of the samples, or uniform weights."""
        if run.start is not None:
            theta, alpha = run.start
            return theta, alpha
        alpha = risk.zeros()
        runs = -(-int(self.warm_size) // _RUN)
        few = runs < 1 or gram.n < 5 * runs * _RUN
        if few or gram.explicit or gram.n_kernels == 1 or penalty.fixed:
            return penalty.start(gram.n_kernels), alpha
        chosen = run.rng.choice(gram.n // _RUN, runs, replace=False)
        rows = np.sort((chosen[:, None] * _RUN + np.arange(_RUN)).ravel())
        some = risk.subset(rows)
        if some is None:
            return penalty.start(gram.n_kernels), alpha
        part = self.run(gram.subset(rows), some, penalty, Run(tol=0.02, max_iter=30, rng=run.rng))
        return part.weights, alpha
