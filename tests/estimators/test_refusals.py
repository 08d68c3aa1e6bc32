"""Every solver × family × penalty × loss either fits, or is refused with the name of something that works."""

import re
import warnings
from functools import cache

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.approx import Nystroem
from manykernels.families import ARDGaussians, Dirichlets, Gaussians, PolynomialDAG, Products
from manykernels.kernels import Gaussian, Linear
from manykernels.penalties import ElasticNet, L2Ball
from manykernels.solvers.serving import NAMES

RNG = np.random.RandomState(0)
X = RNG.uniform(-1.0, 1.0, (14, 2))
Y = X[:, 0] * X[:, 1] + 0.1 * RNG.randn(14)
LABELS = np.where(Y > np.median(Y), "up", "down")
SOLVERS = list(NAMES)
LIST = [Gaussian(0.5), Gaussian(2.0), Linear()]
FAMILIES = {
    "list": {"kernels": LIST},
    "products": {"kernels": Products(degree=2)},
    "scaled products": {"kernels": Products(degree=2, atom_scale="rms")},
    "products of matrices": {"kernels": Products(LIST[:2], degree=2)},
    "widths": {"kernels": Gaussians(0.3, 3.0)},
    "many widths": {"kernels": ARDGaussians(0.3, 3.0)},
    "frequencies": {"kernels": Dirichlets(0.5, 3.0)},
    "graph": {"kernels": PolynomialDAG(2)},
    "features": {"kernels": LIST, "approx": Nystroem(5)},
}
PENALTIES = [1.0, 4 / 3, 2.0, np.inf, ElasticNet(0.5), L2Ball(0.0, 1.0), L2Ball(0.5, 1.0)]
LOSSES = {
    "hinge": MKLClassifier,
    "squared_hinge": MKLClassifier,
    "logistic": MKLClassifier,
    "squared": MKLRegressor,
    "epsilon_insensitive": MKLRegressor,
}


@cache
def fit(kind, family, loss, norm, solver):
    """(P, D, certified) or why it is refused; what is recommended again is not fitted again."""
    few = 2 if family == "many widths" else 12  # a search over several widths takes long
    model = kind(**FAMILIES[family], loss=loss, norm=norm, solver=solver, tol=0.05, max_iter=few)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.set_params(random_state=0).fit(X, LABELS if kind is MKLClassifier else Y)
        except ValueError as error:
            return str(error)
    assert np.isfinite(model.objective_)
    return model.objective_, model.objective_ * (1.0 - model.dual_gap_), model.certified_


def recommended(message, loss, norm):
    """(loss, norm, solver) of everything that a refusal says to take."""
    found = re.search(r"Take (.*?)\.(?: |$)", message)
    assert found, f"no advice: {message}"
    for part in found[1].split("; or "):
        changed = (
            "squared" if "loss='squared'" in part else loss,
            1.0 if "norm=1 with" in part else norm,
        )
        names = re.findall(r"'([a-z-]+)'", part.split("solver=")[1])
        assert names, message
        yield from ((*changed, name) for name in names)


def check(family, loss, norm):
    """All solvers on one problem: what fits is consistent, what is refused names what fits."""
    kind = LOSSES[loss]
    found = {solver: fit(kind, family, loss, norm, solver) for solver in SOLVERS}
    fits = [values for values in found.values() if not isinstance(values, str)]
    refused = {solver: message for solver, message in found.items() if isinstance(message, str)}
    bounds = [dual for _, dual, certified in fits if certified]
    best = min((primal for primal, _, _ in fits), default=np.inf)
    assert all(bound <= best * (1 + 1e-9) for bound in bounds), "a certificate that another solver refutes"
    for solver, message in refused.items():
        assert f"solver='{solver}'" in message or solver == "auto"
        for what in recommended(message, loss, norm):
            assert not isinstance(fit(kind, family, *what), str), f"{message} → {what}"
    return refused


@pytest.mark.parametrize("norm", PENALTIES, ids=repr)
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_served_is_refused_with_advice_that_works(family, norm):
    refused = check(family, "squared", norm)
    if FAMILIES[family]["kernels"] is LIST or family in ("products", "graph", "scaled products"):
        assert not {"auto", "active-set", "alternating", "blockwise"} & set(refused)


@pytest.mark.slow
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "squared"])
@pytest.mark.parametrize("norm", PENALTIES, ids=repr)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_loss(family, norm, loss):
    check(family, loss, norm)
