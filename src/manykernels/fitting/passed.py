"""Families learned from blocks of rows: passes over the samples, and coefficients of explicit features.

Neither matrices of n × n nor the features of all samples are held, only vectors. The samples may be in
memory, in a mapped file or in a Dask collection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from ..approx import RandomFeatures
from ..families.tables import read_columns
from ..grams.row_blocks import ReadNumbers
from ..kernels import Fitted, Preparation
from ..kernels.data import take_rows
from ..oracles.bind_rows import bind_rows
from ..oracles.bind_waves import bind_waves
from ..oracles.rows import RowOracle
from ..solvers import Result
from .asked import Asked, require_variation
from .bound import proof_of, weighed
from .functions import FeatureFunction
from .listed import covariate_part
from .model import Model
from .options import Options
from .samples import AnySamples, Samples, probe

Array = NDArray[np.float64]
_HEAD = 16  # samples that tell which columns there are


@dataclass(frozen=True)
class Passed(Asked):
    """A family on samples that are read in blocks of rows: products, or a continuum in random features."""

    space: RowOracle

    def _require_range(self, name: str, kernel: Fitted) -> None:
        """Products of columns as they are read are in range (`oracles/bind_rows.py`)."""

    def model(self, options: Options, results: list[Result]) -> Model:
        samples, oracle = self.samples, self.space
        atoms = list(dict.fromkeys(z for result in results for z in result.atoms))
        atoms = atoms or [oracle.neutral]  # of weight zero: nothing to learn
        place = {z: m for m, z in enumerate(atoms)}
        outputs = self.Y.shape[1]
        theta, coef = np.zeros((len(results), len(atoms))), np.zeros((len(atoms), oracle.width, outputs))
        intercept = np.zeros(outputs)
        for g, (group, result) in enumerate(zip(options.groups(outputs), results, strict=True)):
            rows = [place[z] for z in result.atoms]
            theta[g, rows] = result.weights
            found = result.details["coefficients"].reshape(len(rows), oracle.width, len(group))
            coef[np.ix_(rows, range(oracle.width), group)] = found
            intercept[group] = result.intercept
        kernels = [self.kernel(z) for z in atoms]
        features = oracle.explicit(atoms, [kernel.kernel for kernel in kernels], samples.take(np.arange(1)))
        sizes = self._sizes(atoms, coef)
        coef *= np.sqrt([kernel.scale_ for kernel in kernels])[:, None, None]  # features: before scaling
        return Model(
            options.title,
            samples.layout,
            [str(kernel.name) for kernel in kernels],
            kernels,
            **weighed(options, samples.target, kernels, theta),
            target=samples.target,
            function=FeatureFunction(
                features, coef.reshape(-1, outputs), np.flatnonzero(theta.any(axis=0)), intercept
            ),
            covariates=covariate_part(samples, results),
            listed=False,
            proof=proof_of(results, float(options.tol)),
            atoms=atoms,
            sizes=sizes,
            n_jobs=options.n_jobs,
        )

    def decided(self, result: Result, new: Any) -> Array:
        """(new, outputs): decisions on new samples, as kernels read them, less the intercept."""
        kernels = [self.oracle.kernel(z) for z in result.atoms]
        if not kernels:
            return np.zeros((_num_samples(new), result.alpha.shape[1]))
        plain = [kernel.kernel for kernel in kernels]
        features = self.space.explicit(result.atoms, plain, take_rows(new, 0, 1))
        root = np.repeat(np.sqrt([kernel.scale_ for kernel in kernels]), self.space.width)
        w = root[:, None] * result.details["coefficients"]
        return FeatureFunction(features, w, np.arange(len(kernels)), np.zeros(w.shape[1])).decide(new)

    def _sizes(self, atoms: list[Any], coef: Array) -> Array:
        """(atoms,): the root mean square of what each adds to the decisions, over the training samples."""
        oracle, weight = self.space, self.samples.weight
        w = np.ones(oracle.n) if weight is None else weight[weight > 0.0]
        squares = oracle.mean_squares(atoms, coef.reshape(-1, coef.shape[2]), w / w.sum())
        return np.asarray(np.sqrt(squares))


def bind_passed(options: Options, samples: AnySamples) -> Passed:
    """The family on the samples, with everything checked, before anyone is chosen to solve it."""
    family = options.kernels
    if options.center:
        raise ValueError(
            f"center=True was given with kernels={family!r}; centring every kernel of a family by "
            "itself would change what the family is. Leave center=False: the intercept does the same."
        )
    require_variation(samples, family, family.needs_variation)
    known: dict[str, Any] = {"normalize": options.normalize, "memory_limit": options.memory_limit}
    if family.in_waves:
        assert isinstance(options.approx, RandomFeatures)
        source, Y, costs, _ = samples.in_rows(ReadNumbers())
        some, weight, _ = probe(samples, False)
        oracle: RowOracle = bind_waves(
            family,
            source,
            some,
            approx=options.approx,
            rng=options.rng,
            some_weight=weight,
            feature_names=samples.layout.names,
            outputs=max(map(len, options.groups(Y.shape[1]))),
            **known,
        )
        return Passed(samples, None, oracle, Y, costs, bool(options.fit_intercept), None, None)
    head, names, prepared = samples.take(np.arange(min(samples.n, _HEAD))), samples.layout.names, None
    if family.scale:
        prepared, names = _prepared(samples, family)
        head = prepared.transform(head, "scores")
    make = None if prepared is None else partial(prepared.transform, part="scores")
    source, Y, costs, weight = samples.in_rows(ReadNumbers(make))
    oracle = bind_rows(
        family,
        source,
        head,
        sample_weight=weight,
        feature_names=names,
        outputs=max(map(len, options.groups(Y.shape[1]))),
        groups=None if prepared is None else prepared.groups,
        norm=options.penalty,
        **known,
    )
    return Passed(samples, None, oracle, Y, costs, bool(options.fit_intercept), None, prepared)


def _prepared(samples: AnySamples, family: Any) -> tuple[Preparation, list[str]]:
    """Return how the columns of a raw table are prepared: from all samples, or 10,000 of more than that."""
    if not isinstance(samples, Samples):
        raise ValueError(
            f"kernels={family!r} prepares the columns of a raw table, and X is a Dask collection; expected "
            "scale=False. Standardise the columns first, or call X.compute()."
        )
    some, weight, _ = probe(samples, False)
    table = read_columns(some, samples.layout.names)
    prepared = table.preparation(some, weight)
    if prepared is None:
        raise ValueError(f"No column of X varies, and kernels={family!r} needs some that do.")
    return prepared, prepared.names(table.names)
