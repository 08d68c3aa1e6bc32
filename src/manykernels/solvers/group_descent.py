"""Descent on groups of explicit features: the group lasso's way to norm 1.

With K_g = Φ_gΦ_gᵀ, w_g the coefficients of kernel g and norm 1,

    P = ½ (Σ_g ‖w_g‖)² + R(Σ_g Φ_g w_g + b),      θ_g = ‖w_g‖/Σ‖w‖,      α = −∇R
    optimal ⟺ ‖Φ_gᵀα‖ ≤ Σ‖w‖ =: N, and Φ_gᵀα = N w_g/‖w_g‖ where w_g ≠ 0:

the condition of the group lasso at λ = N (in units where an error costs C, λ = N/C). The minimum over a
working set of groups is found from a matrix of their features (`_narrow_groups.py`), or, where groups have
many features each, on the features themselves (`_wide_groups.py`). A look at all groups, one product Φᵀα,
adds those with ‖Φ_gᵀα‖ > N and gives the bound: nothing of n × n is ever made. Kernels may share columns,
each having its own copy of them: the latent group lasso.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .._fast.threads import blas_for
from ..grams import FactorGram
from ..grams.memory import SMALL
from ..objectives import Risk, Separable
from ..penalties import Penalty
from ._group_work import GroupWork
from ._narrow_groups import Narrow
from ._wide_groups import Wide
from .active_set import ActiveSet
from .base import History, Kernels, Result, Run, Solver, listed
from .declarations import Serves

_WIDE = 16  # features of a group, on average, from which they are swept as they are


class GroupDescent(Solver):
    """Sparse weights (norm 1) of kernels with explicit features, for smooth losses.

    ``solver="auto"`` takes it where kernels have few explicit features. The problem is a group lasso
    with the norm squared, solved by block coordinate descent on a working set of groups.

    Parameters
    ----------
    add : int or None, default=None
        Largest number of groups that join the working set at a time. None takes as many as have weight and at
        least ten; where groups have many features, half as many as have weight, and at least as many as cost
        what a look at all groups costs.

    References
    ----------
    Yuan & Lin (2006), "Model selection and estimation in regression with grouped variables", Journal of the
    Royal Statistical Society B 68.

    Jacob, Obozinski & Vert (2009), "Group lasso with overlap and graph lasso", ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from manykernels import MKLRegressor
    >>> from manykernels.families import rank_one
    >>> X, y = make_regression(50, 30, n_informative=3, random_state=0)
    >>> model = MKLRegressor(rank_one(), solver="group-descent").fit(X, y)
    >>> bool(model.dual_gap_ <= model.tol)
    True
    """

    serves = Serves(
        kernels=frozenset({"list", "features"}),
        penalties=frozenset({"norm 1"}),
        smooth=True,
        separable=True,
        factored=True,
        needs="norm=1",
        because="under which few groups have weight",
    )

    def __init__(self, add: int | None = None) -> None:
        self.add = add

    def run(self, kernels: Kernels, risk: Risk, penalty: Penalty, run: Run) -> Result:
        *_, only = self.run_path(kernels, risk, penalty, [1.0], run)
        return only

    def run_path(
        self, kernels: Kernels, risk: Risk, penalty: Penalty, scales: Sequence[float], run: Run
    ) -> Iterator[Result]:
        """Solve the problem at several costs, each from the solution of the one before.

        Parameters
        ----------
        kernels : Gram
            The kernels on the training samples.
        risk : Risk
            The data fit at the last cost.
        penalty : Penalty
            The penalty on the weights.
        scales : sequence of float
            Factors of C, which must rise.
        run : Run
            Tolerance, iterations, random numbers and start.

        Yields
        ------
        Result
            The solution at each factor.

        Examples
        --------
        The first feature is the target itself. At cost C the optimum of four squared errors is 2C/(1 + 4C):

        >>> import numpy as np
        >>> from manykernels.grams import FactorGram
        >>> from manykernels.losses import Squared
        >>> from manykernels.objectives import Separable
        >>> from manykernels.penalties import Simplex
        >>> from manykernels.solvers import GroupDescent, Run
        >>> X = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
        >>> gram = FactorGram(X, np.array([0, 1, 2]))
        >>> risk = Separable(Squared(), X[:, :1], np.ones((4, 1)), fit_intercept=True)
        >>> run = Run(1e-6, 100, np.random.RandomState(0))
        >>> path = list(GroupDescent().run_path(gram, risk, Simplex(), [0.25, 1.0], run))
        >>> [(result.weights.round(3).tolist(), round(result.primal, 3)) for result in path]
        [([1.0, 0.0], 0.25), ([1.0, 0.0], 0.4)]
        """
        gram = listed(self, kernels, risk, penalty)
        if not serves_outputs(risk.shape[1], risk.least_squares() is not None):
            raise ValueError(
                f"GroupDescent was given {risk.label} of {risk.shape[1]} outputs; expected one output, or "
                "squared errors. Take solver='active-set'."
            )
        assert isinstance(gram, FactorGram)
        assert isinstance(risk, Separable)
        kind = Wide if gram.ptr[-1] >= _WIDE * gram.n_kernels else Narrow
        work: GroupWork | None = None
        for scale in scales:
            with blas_for(gram.n):
                one = risk if scale == 1.0 else risk.scaled(scale)
                work = kind(gram, one, penalty, run) if work is None else work.after(one, run)
                work.begin(self.add)
                result = work.solve(self.add)
                if isinstance(work, Wide) and work.slow and not result.converged:
                    result = self._finished(work, result)
            yield result
            run = replace(run, start=(result.weights, result.alpha), history=History())

    def _finished(self, work: Wide, result: Result) -> Result:
        """Finish by Newton's method, on features or on samples, where sweeps are too slow."""
        n, width, room = work.gram.n, work.width, max(work.gram.room, SMALL)
        if width <= n and 8 * width * (3 * n + 4 * width) <= room:
            return work.handed_over().solve(self.add)
        if n < width and 8 * n * n * ActiveSet.matrices <= room:
            start = replace(work.run, start=(result.weights, result.alpha))
            return ActiveSet().run(work.gram, work.risk, work.penalty, start)
        return result


def serves_outputs(outputs: int, squared: bool) -> bool:
    """Tell whether all outputs that share weights have one second-order model."""
    return squared or outputs == 1
