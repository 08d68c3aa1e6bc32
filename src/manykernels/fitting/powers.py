"""Powers of a learned combination of kernels: not convex, so without a certificate (Cortes et al. 2009)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._arguments import number_of
from .._warn import warn
from ..kernels import Power
from ..penalties import Penalty
from ..solvers import Result
from .bound import more_work, proof_of
from .checks import require_kernel
from .functions import KernelFunction, PowerFunction
from .listed import Kernels, Listed, finish
from .model import Model, mixture
from .options import Options
from .progress import logger
from .spec import may_be_indefinite

Array = NDArray[np.float64]


def require_each(known: Kernels, why: str) -> None:
    """Raise an error if one of the kernels has negative eigenvalues, whatever their sum has."""
    for m, (name, kernel) in enumerate(zip(known.names, known.kernels, strict=True)):
        if may_be_indefinite(kernel.kernel):
            K = known.gram.combine(np.ones(1), np.array([m]))
            require_kernel(K, name, kernel.rounding(known.X), why)


@dataclass(frozen=True)
class Powers(Listed):
    """A list of kernels, whose combination is raised to a power."""

    steps: ClassVar[bool] = True

    @classmethod
    def of(cls, listed: Listed) -> Self:
        """An even power of a kernel with negative eigenvalues may have none, so each one is looked at."""
        require_each(listed.known, ", which a power may hide")
        return cls(**{field.name: getattr(listed, field.name) for field in fields(Listed)})

    def start(self, start: Any, penalty: Penalty, Y: Array) -> tuple[Array, Array] | None:
        penalty.start(self.space.n_kernels)  # says so if mu0 has another length
        if start is None:
            return None
        mu = penalty.project(start[0])
        return (mu, start[1]) if mu.any() else None

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        result.weights[self.useless] = 0.0
        reached = np.array(result.details["starts"]["objective"])
        worst, best = float(reached.max()), float(reached.min())
        logger.info("%s: %d starts, objectives from %.6g to %.6g", options.title, reached.size, best, worst)
        if not result.converged:
            residual = result.details["starts"]["residual"][int(reached.argmin())]
            warn(
                f"{options.title} stopped after {number_of(result.n_iter, 'iteration')} at a relative "
                f"projected gradient of {residual:.1e}, above tol={options.tol:g}. "
                f"{more_work(options)}; scaling the features, normalize='trace' or a smaller C make "
                "the problem easier.",
                ConvergenceWarning,
            )
        return replace(result, K=None)

    def model(self, options: Options, results: list[Result]) -> Model:
        (result,) = results
        theta = result.weights[None]
        learned = Power(mixture(self.known.kernels, theta[0]), int(self.solver.degree))
        said = {"weights": theta[0], "kernel": learned}
        plain = finish(self.samples, self.describe(options, said, results), results, theta)
        assert isinstance(plain.function, KernelFunction)
        function = PowerFunction(**{f.name: getattr(plain.function, f.name) for f in fields(KernelFunction)})
        proof = replace(proof_of(results, float(options.tol)), dual=float("nan"), certified=False)
        reached = np.array(result.details["starts"]["objective"])
        best = float(reached.min())
        spread = float(reached.max() - best) / abs(best) if best != 0.0 else 0.0
        extra = {"starts_": result.details["starts"], "spread_": spread}
        return replace(plain, function=function, proof=proof, extra=extra)
