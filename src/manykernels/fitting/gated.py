"""Kernels behind gates, with weights that differ by cluster: convex localized learning (Lei et al. 2016)."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..grams.gated import GatedGram
from ..kernels import Mixture
from ..kernels.gated import GatedMixture
from ..penalties import BallProduct, LpBall, Penalty
from ..solvers import Result
from .functions import GatedFunction, KernelFunction
from .gates import Gate, Gating, GivenGate, TrainedGate, fit_gate
from .layout import take
from .listed import Listed, finish, used_rows
from .model import Model
from .options import Options
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
        return self.space.names

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
