"""Families too large to list: bound to the samples, and asked for one kernel after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._arguments import number_of
from .._warn import warn
from ..families import Products
from ..families.tables import read_columns
from ..grams.memory import machine_matrices
from ..kernels import Fitted, Preparation, Prepared
from ..kernels.monomial import Monomial
from ..oracles import Oracle, build_oracle
from ..penalties import Penalty
from ..solvers import Result
from .bound import Bound, more_work, proof_of, weighed
from .listed import finish
from .model import Model
from .options import Options
from .samples import AnySamples, Samples

Array = NDArray[np.float64]
_TINY = float(np.finfo(float).tiny)
_COUNTED, _SHARE = 4.0, 0.05  # draws that count, and their share of all: below both they say little


class NothingVariesError(ValueError):
    """No column varies, of which a family makes its kernels."""


@dataclass(frozen=True)
class Asked(Bound):
    """A family bound to the merged rows, with its oracle."""

    space: Oracle
    X: Any
    prepared: Preparation | None

    @property
    def oracle(self) -> Oracle:
        """The oracle of the family."""
        return self.space

    def kernel(self, z: Any) -> Fitted:
        """Return one kernel of the family, as a function of samples in the user's form."""
        name, kernel = self.oracle.name(z), self.oracle.kernel(z)
        self._require_range(name, kernel)
        if self.prepared is not None:
            seen = Prepared(kernel.kernel, self.prepared, "scores")
            kernel = Fitted.from_constants(seen, kernel.scale_, normalize=kernel.normalize)
        kernel.name = name
        return kernel

    def _require_range(self, name: str, kernel: Fitted) -> None:
        _require_range(name, kernel, self.X)

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        self._judge_draws(result)
        # without any bound on the family, as where kernels are drawn and never looked at, there is no gap
        if result.gap <= options.tol or not np.isfinite(result.gap):
            return result
        size = self.oracle.size
        count = f"all {size:.3g}" if np.isfinite(size) else "all"
        whole = f"over {count} kernels" if result.certified else "over the kernels that it found"
        advice = f"{result.reason.value}. Raise tol." if result.reason else ""
        advice = advice or f"{more_work(options)}."
        warn(
            f"{options.title} stopped after {number_of(result.n_iter, 'iteration')} at a relative duality "
            f"gap of {result.gap:.1e} {whole}, above tol={options.tol:g}. {advice}",
            ConvergenceWarning,
        )
        return result

    def _judge_draws(self, result: Result) -> None:
        """Warn if kernels were drawn so unlike the gradient that a single one decided each step."""
        history, batch = result.history.effective, getattr(self.solver, "batch", 0)
        if getattr(self.solver, "sampling", "") != "gradient" or not history or batch < 2 * _COUNTED:
            return
        counted = float(np.median(history))
        if counted >= max(_COUNTED, _SHARE * batch):
            return
        warn(
            f"of {batch} kernels drawn in a step, only {counted:.2g} count (history_['effective_draws']): "
            "the draws follow the gradient so badly that a few of them decide each step. "
            "Draw more widely (Stochastic(spread=3)), give fewer features or a narrower range, or take "
            "solver='corrective'.",
            ConvergenceWarning,
        )

    def model(self, options: Options, results: list[Result]) -> Model:
        samples: Samples = self.samples
        atoms = list(dict.fromkeys(z for result in results for z in result.atoms))
        atoms = atoms or self._any_atom()  # of weight zero: nothing to learn
        place = {z: m for m, z in enumerate(atoms)}
        theta = np.zeros((len(results), len(atoms)))
        for row, result in zip(theta, results, strict=True):
            row[[place[z] for z in result.atoms]] = result.weights
        kernels = [self.kernel(z) for z in atoms]
        model = Model(
            options.title,
            samples.layout,
            [str(kernel.name) for kernel in kernels],
            kernels,
            **weighed(options, samples.target, kernels, theta),
            target=samples.target,
            listed=False,
            proof=proof_of(results, float(options.tol)),
            atoms=atoms,
            n_jobs=options.n_jobs,
        )
        return finish(samples, model, results, theta)

    def _any_atom(self) -> list[Any]:
        return [self.space.best(np.ones((self.space.n, 1)), 1).atoms[0]]


def bind_asked(options: Options, samples: Samples, matrices: int) -> Asked:
    """Bind the family to the samples, with everything checked, before a solver is chosen.

    `matrices` of n × n are what a solver may need.
    """
    family = options.kernels
    if options.center:
        raise ValueError(
            f"center=True was given with kernels={family!r}; centring every kernel of a family by "
            "itself would change what the family is. Leave center=False: the intercept does the same."
        )
    require_variation(samples, family, family.needs_variation)
    data, names_in, prepared = samples.data, samples.layout.names, None
    if isinstance(family, Products) and family.scale:
        table = read_columns(data, names_in)
        prepared = table.preparation(data, samples.weight)
        if prepared is None:
            raise NothingVariesError(f"No column of X varies, and kernels={family!r} needs some that do.")
        data, names_in = prepared.transform(data, "scores"), prepared.names(table.names)
    largest = max(map(len, options.groups(samples.Y.shape[1])))
    oracle = build_oracle(
        family,
        data,
        normalize=options.normalize,
        sample_weight=samples.weight,
        feature_names=names_in,
        memory_limit=options.memory_limit,
        norm=options.penalty,
        work=matrices + machine_matrices(largest, options.loss.quadratic),
        groups=None if prepared is None else prepared.groups,
    )
    intercept = bool(options.fit_intercept)
    return Asked(samples, None, oracle, samples.Y, samples.costs, intercept, data, prepared)


def require_variation(samples: AnySamples, family: Any, needed: bool) -> None:
    """Raise an error if all samples are the same, and the family is made of columns that vary."""
    if needed and samples.n == 1:
        raise NothingVariesError(
            f"X holds 1 sample, or several that are all the same, and kernels={family!r} needs "
            "columns that vary. Give at least two samples that differ."
        )


def _require_range(name: str, kernel: Fitted, X: Any) -> None:
    """Raise an error if a product of columns as given is out of range, though that of scaled ones is not."""
    if not isinstance(kernel.kernel, Monomial):
        return
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        raw = kernel.kernel.diag(X)
        fits = np.isfinite(kernel.scale_ * raw).all() and (kernel.scale_ >= _TINY or not raw.any())
    if not fits:
        raise ValueError(
            f"The product {name!r} overflows: its factors are too large, or too small, to be multiplied as "
            "they are. Scale the data (StandardScaler), or lower the degree."
        )
