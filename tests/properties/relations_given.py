"""Relations about how a problem is given: containers, precision, weights, features in place of kernels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import sparse
from tests.properties.problems import Case
from tests.properties.relations import Pair, Rng, is_classifier, listed, relation, stacked, weight_of

from manykernels import LocalizedMKLClassifier, LocalizedMKLRegressor
from manykernels.kernels import Linear, OnColumns
from manykernels.penalties import ElasticNet, L2Ball


@relation
def single_precision(case: Case, rng: Rng) -> Pair | None:
    if stacked(case):
        return None
    X = case.X.astype(np.float32)
    return Pair(replace(case, X=X.astype(float)), replace(case, X=X))


@relation
def sparse_features(case: Case, rng: Rng) -> Pair | None:
    kernels = listed(case)
    if kernels is None or "Dirichlet" in repr(kernels):  # it takes dense matrices only
        return None
    X = np.where(rng.rand(*case.X.shape) < 0.5, 0.0, case.X)
    return Pair(replace(case, X=X), replace(case, X=sparse.csr_matrix(X)))


@relation
def one_cluster(case: Case, rng: Rng) -> Pair | None:
    if case.weight is not None or stacked(case):
        return None
    kind = LocalizedMKLClassifier if is_classifier(case) else LocalizedMKLRegressor
    options = case.model.get_params(deep=False)
    given = {k: v for k, v in options.items() if k in kind().get_params(deep=False)}
    if getattr(case.model, "multi_class", "shared") == "ovr" or isinstance(
        options["norm"], ElasticNet | L2Ball
    ):
        return None
    return Pair(case, replace(case, model=kind(**{**given, "n_clusters": 1})))


@relation
def another_container(case: Case, rng: Rng) -> Pair | None:
    if stacked(case):
        return Pair(case, replace(case, X=np.asfortranarray(case.X)))
    if listed(case) is not None and any(isinstance(k, OnColumns) for k in listed(case) or []):
        return Pair(case, replace(case, X=np.asfortranarray(case.X)))
    names = [f"x{j}" for j in range(case.X.shape[1])]
    y = pd.Series(case.y) if case.y.ndim == 1 else pd.DataFrame(case.y)
    return Pair(case, replace(case, X=pd.DataFrame(case.X, columns=names), y=y))


@relation
def explicit_features(case: Case, rng: Rng) -> Pair | None:
    """The features of linear kernels are the columns, and with them the problem is the same."""
    if stacked(case) or case.model.solver == "alternating":
        return None
    kernels = [Linear(), *(OnColumns(Linear(), j) for j in range(case.X.shape[1]))]
    first = case.change(kernels=kernels, center=False)
    return Pair(first, first.change(approx="features"))


@relation
def class_weights_are_sample_weights(case: Case, rng: Rng) -> Pair | None:
    """Where kernels are taken as they are; a sample's weight also counts in means and traces."""
    if not is_classifier(case):
        return None
    classes, codes = np.unique(case.y, return_inverse=True)
    costs = 2.0 ** rng.randint(-2, 3, len(classes))
    options = {"normalize": None, "center": False}
    first = case.change(class_weight=dict(zip(classes.tolist(), costs.tolist(), strict=True)), **options)
    second = replace(case, weight=weight_of(case) * costs[codes])
    return Pair(first, second.change(class_weight=None, **options))


@relation
def an_output_twice(case: Case, rng: Rng) -> Pair | None:
    """Outputs share the weights of the kernels, so that every part of P counts twice."""
    if is_classifier(case) or isinstance(case.model.norm, ElasticNet):
        return None
    Y = case.y.reshape(len(case.y), -1)
    back = lambda f: f[:, : Y.shape[1]]  # noqa: E731
    return Pair(replace(case, y=Y), replace(case, y=np.hstack([Y, Y])), factor=2.0, back=back)
