"""Kernels behind gates: weights that differ by cluster, a convex problem (Lei et al. 2016), or gates of every
kernel that are learned with the machine, which is none (Gönen and Alpaydın 2008)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._arguments import number_of
from .._warn import warn
from ..grams.gated import GatedGram
from ..kernels import Mixture
from ..kernels.gated import GatedMixture
from ..penalties import BallProduct, LpBall, Penalty
from ..solvers import Result
from ..solvers.gate_descent import GateDescent
from .bound import more_work, proof_of
from .functions import GatedFunction, KernelFunction
from .gates import Gate, Gating, GivenGate, LinearGate, TrainedGate, fit_gate, gate_inputs
from .layout import take
from .listed import Listed, finish, used_rows
from .model import Model
from .options import Options
from .powers import require_each
from .samples import Samples

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Gated(Listed):
    """A list of kernels, once for each cluster."""

    gate: Gate

    @classmethod
    def of(cls, listed: Listed, asked: Gating, rng: np.random.RandomState) -> Self:
        """The list behind the gates that were asked for, which are found first."""
        known, samples = listed.known, listed.samples
        M = known.gram.n_kernels
        uniform = Mixture(known.kernels, np.full(M, 1.0 / M))
        gate = fit_gate(asked, known.X, samples.rows, known.gram, uniform, rng)
        given = {field.name: getattr(listed, field.name) for field in fields(Listed)}
        l = gate.training.shape[1]
        if l > 1:
            given["space"] = GatedGram(known.gram, gate.training)
        given["useless"] = np.tile(listed.useless, l)
        return cls(**given, gate=gate)

    @property
    def clusters(self) -> int:
        return int(self.gate.training.shape[1])

    @property
    def names(self) -> list[str]:
        assert self.space.names is not None
        return list(self.space.names)

    def penalty(self, given: Penalty) -> Penalty:
        assert isinstance(given, LpBall)
        return given if self.clusters == 1 else BallProduct(float(given.p), self.clusters)

    def model(self, options: Options, results: list[Result]) -> Model:
        samples: Samples = self.samples
        (result,) = results
        weights = result.weights.reshape(self.clusters, -1)
        shares = self._shares(samples)
        learned = GatedMixture(self.known.kernels, weights, self.gate)
        model = self.describe(options, {"weights": weights, "kernel": learned, "rows": "cluster"}, results)
        plain = finish(samples, model, results, weights)
        learned.gate = TrainedGate(self.gate, plain.X_fit, shares)
        return replace(
            plain,
            function=self._function(samples, plain.function, weights, result.alpha),
            extra={"gates_": shares},
        )

    def _function(self, samples: Samples, plain: Any, weights: Array, alpha: Array) -> GatedFunction:
        assert isinstance(plain, KernelFunction)
        gates = self.gate.training
        if samples.stack:
            gates = self._shares(samples)
        elif self.known.kernels[0].X_fit_ is None:
            gates = gates[used_rows(alpha)]
        active = np.flatnonzero(weights.any(axis=0))
        return GatedFunction(
            self.known.kernels,
            weights,
            active,
            self.gate,
            plain.support,
            gates,
            plain.coefficients,
            plain.intercept,
        )

    def _shares(self, samples: Samples) -> Array:
        """(given samples, clusters)."""
        owner, gate = samples.rows.owner, self.gate
        shares = gate.training[owner]
        left_out = np.flatnonzero(owner < 0)  # samples of classes that cost nothing
        if left_out.size:
            if isinstance(gate, GivenGate):
                shares[left_out] = gate.given[left_out]
            else:
                shares[left_out] = gate(take(samples.X, left_out))
        return np.asarray(shares)


@dataclass(frozen=True)
class LearnedGates(Gated):
    """A list of kernels, each behind a gate of its own: as many clusters as kernels, with weights 1."""

    steps: ClassVar[bool] = True

    @classmethod
    def of(cls, listed: Listed, asked: Gating, rng: np.random.RandomState) -> Self:
        known, kind = listed.known, str(asked.gating)
        require_each(known, ", which gates may hide")
        inputs = gate_inputs(kind, known.X, listed.samples.rows.weight)
        given = {field.name: getattr(listed, field.name) for field in fields(Listed)}
        given["solver"] = GateDescent(listed.solver.gating, inputs)
        M = known.gram.n_kernels
        gate = LinearGate(
            kind, np.zeros((M, 1 + inputs.shift.size)), inputs.shift, inputs.spread, np.empty((0, M))
        )
        return cls(**given, gate=gate)

    def penalty(self, given: Penalty) -> Penalty:
        return given

    def resume(self, previous: Model, g: int, group: list[int], problems: int) -> tuple[Array, Array] | None:
        gate, rows, dual = getattr(previous.function, "gate", None), self.samples.rows, previous.dual
        assert isinstance(self.gate, LinearGate)
        if not isinstance(gate, LinearGate) or (gate.kind, gate.V.shape) != (
            self.gate.kind,
            self.gate.V.shape,
        ):
            return None
        if dual is None or dual.shape != (rows.owner.size, self.Y.shape[1]):
            return None
        return gate.V, rows.gather(dual[:, group])

    def start(self, start: Any, penalty: Penalty, Y: Array) -> tuple[Array, Array] | None:
        return None if start is None else (start[0], start[1])

    def settle(self, options: Options, penalty: Penalty, result: Result) -> Result:
        result.weights.reshape(self.clusters, -1)[:, self.useless] = 0.0
        if not result.converged:
            warn(
                f"{options.title} stopped after {number_of(result.n_iter, 'iteration')}, where each still "
                f"lowers the objective by {result.details['residual']:.1e} of it, above tol={options.tol:g}. "
                f"{more_work(options)}; a smaller C makes the problem easier.",
                ConvergenceWarning,
            )
        return result

    def model(self, options: Options, results: list[Result]) -> Model:
        assert isinstance(self.gate, LinearGate)
        (result,) = results
        found, known = result.details, self.gate
        gate = LinearGate(known.kind, found["V"], known.shift, known.spread, found["gates"])
        model = Gated.model(replace(self, gate=gate), options, results)
        proof = replace(proof_of(results, float(options.tol)), dual=float("nan"), certified=False)
        return replace(model, proof=proof)
