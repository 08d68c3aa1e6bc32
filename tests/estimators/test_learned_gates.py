"""Gates that are learned with the machine (Gönen and Alpaydın 2008): gradient, function, refusals."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from tests.helpers import risk_of

from manykernels import LocalizedMKLClassifier, LocalizedMKLRegressor, MKLClassifier, load, save
from manykernels.fitting.gates import gate_inputs
from manykernels.grams import StackGram
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, Spectrum
from manykernels.losses import EpsilonInsensitive, Hinge, Logistic, Squared
from manykernels.solvers import resolve_solver
from manykernels.solvers.gate_descent import GateDescent, GatedRisk, GateInputs, gates_of

rng = np.random.RandomState(0)
X = rng.randn(60, 3) * [1.0, 20.0, 0.1] + [0.0, 50.0, 0.0]
LEFT = X[:, 0] < 0
NUMBERS = np.where(LEFT, 10.0 * X[:, 2], np.sin(3.0 * X[:, 1] / 20.0)) + 0.1 * rng.randn(60)
LABELS = np.where(NUMBERS > 0, "up", "down")
THREE = np.digitize(NUMBERS, [-0.5, 0.5])
KERNELS = [Linear(), Gaussian(5.0), Gaussian(30.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS])
STACK /= np.einsum("mii->m", STACK)[:, None, None] / 60
each_kind = pytest.mark.parametrize("kind", ["softmax", "sigmoid"])


# -- the objective ---------------------------------------------------------------------------------
@each_kind
@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Squared(), EpsilonInsensitive(0.1)], ids=repr)
@pytest.mark.parametrize("outputs", [1, 2])
def test_the_gradient_is_that_of_the_objective(kind, loss, outputs):
    labels, targets = np.sign(rng.randn(60, outputs)), rng.randn(60, outputs)
    inputs = gate_inputs(kind, X, np.ones(60))
    J = GatedRisk(StackGram(STACK), risk_of(loss, labels, targets, 0.7), inputs, kind, 1e-13)
    V = 0.3 * np.random.RandomState(1).randn(3, 4)
    point = J.at(V, J.risk.zeros())
    g, h = J.gradient(point), 1e-5
    for m, f in [(0, 0), (1, 2), (2, 3)]:
        D = np.zeros_like(V)
        D[m, f] = h
        values = [J.at(V + t * D, point.fit.alpha).J for t in (1.0, -1.0)]
        assert (values[0] - values[1]) / (2.0 * h) == pytest.approx(
            g[m, f], rel=2e-3, abs=2e-5 * np.abs(g).max()
        )


@each_kind
def test_the_machine_is_an_ordinary_one_at_the_gated_kernel(kind):
    model = LocalizedMKLClassifier(KERNELS, gating=kind, C=3.0, tol=1e-4).fit(X, LABELS)
    eta = model.gates_
    a = (X - X.mean(axis=0)) / X.std(axis=0)
    V = model._model.function.gate.V
    scores = a @ V[:, 1:].T + V[:, 0]
    np.testing.assert_allclose(
        eta, softmax(scores, axis=1) if kind == "softmax" else expit(scores), atol=1e-10
    )
    K = np.einsum("im,mij,jm->ij", eta, STACK, eta)
    machine = SVC(C=3.0, kernel="precomputed", tol=1e-8).fit(K, LABELS)
    np.testing.assert_allclose(machine.decision_function(K), model.decision_function(X), atol=2e-3)
    alpha = np.zeros(60)
    alpha[machine.support_] = machine.dual_coef_[0]
    assert model.objective_ == pytest.approx(np.abs(alpha).sum() - 0.5 * alpha @ K @ alpha, rel=1e-5)


@each_kind
def test_gates_lower_the_objective_and_learn_where_which_kernel_is_right(kind):
    model = LocalizedMKLRegressor(KERNELS, gating=kind, C=30.0).fit(X, NUMBERS)
    objective = model.history_["objective"]
    assert np.all(np.diff(objective) <= 0.0) and model.objective_ == objective[-1] < 0.9 * objective[0]
    assert model.history_["residual"][-1] <= model.tol
    assert (
        np.isnan(model.dual_gap_)
        and not model.certified_
        and "no certificate" in repr(model._model.sentence())
    )
    np.testing.assert_array_equal(model.weights_, np.eye(3))


def test_all_kernels_count_alike_at_the_start():
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 iteration.*Raise max_iter \(now 1\)"):
        model = LocalizedMKLClassifier(KERNELS, gating="softmax", max_iter=1).fit(X, LABELS)
    even = MKLClassifier("precomputed", norm=np.inf, normalize=None).fit(
        STACK.mean(axis=0)[:, :, None] / 3, LABELS
    )
    assert model.history_["objective"][0] == pytest.approx(even.objective_, rel=1e-3)


# -- the estimators --------------------------------------------------------------------------------
@each_kind
def test_new_samples_files_and_sparse_data(kind, tmp_path):
    model = LocalizedMKLClassifier(KERNELS, gating=kind, loss="logistic").fit(X, THREE)
    order = rng.permutation(60)
    np.testing.assert_allclose(model.gate(X[order]), model.gates_[order], atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X, gates=model.gates_), model.predict_proba(X), atol=1e-12)
    save(model, tmp_path / "model.mkl")
    np.testing.assert_array_equal(load(tmp_path / "model.mkl").predict_proba(X), model.predict_proba(X))
    S = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    thin, dense = (
        LocalizedMKLRegressor([Linear()] * 2 + [Gaussian(9.0)], gating=kind).fit(Z, NUMBERS)
        for Z in (S, S.toarray())
    )
    np.testing.assert_allclose(thin.gate(S), dense.gates_, atol=1e-6)


@each_kind
def test_a_weight_is_a_repetition(kind):
    weight = np.random.RandomState(0).randint(0, 3, len(X))
    weighted = LocalizedMKLClassifier(KERNELS, gating=kind).fit(X, LABELS, weight)
    repeated = np.repeat(np.arange(len(X)), weight)
    again = LocalizedMKLClassifier(KERNELS, gating=kind).fit(X[repeated], LABELS[repeated])
    np.testing.assert_allclose(weighted.decision_function(X), again.decision_function(X), atol=1e-8)


def test_starting_from_the_last_fit():
    model = LocalizedMKLRegressor(KERNELS, gating="softmax", warm_start=True, tol=1e-4).fit(X, NUMBERS)
    first, steps = model.objective_, model.n_iter_
    assert model.fit(X, NUMBERS).n_iter_ < steps and model.objective_ <= first * (1 + 1e-9)
    for change in ({"gating": "sigmoid"}, {"gating": "kernel-kmeans"}, {"gating": "softmax"}):
        assert np.isfinite(model.set_params(**change).fit(X, NUMBERS).objective_)
    assert np.isfinite(model.fit(X[:40], NUMBERS[:40]).objective_)


@each_kind
@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        (STACK.transpose(1, 2, 0), {"kernels": "precomputed"}, "linear in the features.*X is a stack"),
        (
            ["AC" * 3] * 30 + ["GT" * 3] * 30,
            {"kernels": [Spectrum(2)]},
            "needs samples whose columns are numbers",
        ),
        (np.where(X > 60.0, np.nan, X), {}, "NaN"),
        (X, {"solver": "alternating"}, "which is learned by gradient steps of its own"),
    ],
    ids=["stack", "strings", "missing", "solver"],
)
def test_refusals(kind, data, options, message):
    with pytest.raises(ValueError, match=message):
        LocalizedMKLClassifier(**{"kernels": KERNELS, "gating": kind, **options}).fit(data, LABELS)


def test_it_is_no_solver_of_sums_and_has_no_certificate():
    with pytest.raises(ValueError, match="expected one of 'auto'"):
        resolve_solver(GateDescent())
    model = LocalizedMKLClassifier(KERNELS, gating="softmax").fit(X, LABELS)
    with pytest.raises((ValueError, TypeError)):
        certificate(model, X, LABELS)
    with pytest.raises(ValueError, match="gates of sample 0 sum to"):
        model.predict(X, gates=np.full((60, 3), 0.9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        free = LocalizedMKLClassifier(KERNELS, gating="sigmoid", max_iter=3).fit(X, LABELS)
    assert free.predict(X, gates=np.full((60, 3), 0.9)).shape == (60,)


def test_a_constant_column_moves_no_gate():
    inputs = gate_inputs("softmax", np.column_stack([X, np.full(60, 1e6 + 0.1)]), np.ones(60))
    assert isinstance(inputs, GateInputs) and inputs.spread[3] == 1.0
    V = np.zeros((2, 5))
    V[1, 4] = 1.0
    np.testing.assert_allclose(gates_of("softmax", inputs.scores(V)), 0.5, atol=1e-6)
