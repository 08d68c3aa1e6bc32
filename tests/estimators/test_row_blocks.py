"""Products of columns learned from blocks of rows: the same answer as in memory, with the same proof."""

import itertools
import pickle

import numpy as np
import pytest
from scipy import sparse

from manykernels import AlignMKLRegressor, MKLClassifier, MKLRegressor, MKLRegressorCV
from manykernels.families import Gaussians, Products
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import EpsilonInsensitive, Hinge, Pinball
from manykernels.losses.smoothed import Softened
from manykernels.oracles import row_products
from manykernels.persistence import load, save
from manykernels.solvers import corrective

N, R = 160, 5
RMS = Products(degree=3, atom_scale="rms")


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.randn(N, R) + 0.3
    f = X[:, 0] * X[:, 1] + X[:, 2] ** 2 * X[:, 3] + 0.5 * X[:, 4]
    return X, f + 0.3 * rng.randn(N) + 5.0


def both(kind, kernels, X, y, fit=None, **options):
    """The same model from matrices and from blocks of rows."""
    fit = {} if fit is None else fit
    exact = kind(kernels, **options).fit(X, y, **fit)
    rows = kind(kernels, approx="features", **options).fit(X, y, **fit)
    assert hasattr(rows, "feature_coef_") and not hasattr(rows, "dual_coef_")
    assert rows.certified_ and np.all(rows.dual_gap_ <= options["tol"])
    return exact, rows


def assert_same(found, expected):
    """Numbers by name; what is in one only may be next to nothing."""
    for name in {**found, **expected}:
        assert found.get(name, 0.0) == pytest.approx(expected.get(name, 0.0), abs=1e-5), name


@pytest.mark.parametrize(
    ("family", "options"),
    [
        ({"atom_scale": "rms"}, {}),
        ({}, {"normalize": "max", "C": 10.0}),
        ({}, {"normalize": None}),
        ({}, {"normalize": "frobenius", "C": 1e5}),
        ({"interactions_only": True}, {"fit_intercept": False}),
        ({"rho": [1.0, 1.0, 2.0, 3.0]}, {"solver": "corrective"}),
        ({"rho": lambda names: 3.0 if "x0" in names else 1.0}, {}),
        ({"base_rho": {"x0": 2.0}, "multiplicity": "paper"}, {}),
        ({"base": [OnColumns(Linear(), j) for j in (4, 2, 0)]}, {}),
    ],
)
def test_every_option_has_the_answer_of_an_exact_fit(data, family, options):
    exact, rows = both(MKLRegressor, Products(degree=3, **family), *data, tol=1e-8, **options)
    new = np.random.RandomState(1).randn(40, R)
    np.testing.assert_allclose(rows.predict(new), exact.predict(new), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=1e-7)
    assert_same(*(dict(zip(m.kernel_names_, m.weights_, strict=True)) for m in (rows, exact)))


def test_no_product_of_the_family_is_missing(data):
    """The optimality conditions, for all products one by one: |φᵀα| ≤ Σ|w|, with equality where w ≠ 0."""
    X, y = data
    model = MKLRegressor(RMS, C=0.3, tol=1e-9, approx="features").fit(X, y)
    alpha = 0.3 * (y - model.predict(X))
    Xs = X / np.sqrt(np.mean(X**2, axis=0))
    products = [z for d in range(4) for z in itertools.combinations_with_replacement(range(R), d)]
    Phi = np.array([np.prod(Xs[:, list(z)], axis=1) for z in products])
    Phi /= np.sqrt(np.mean(Phi**2, axis=1))[:, None]
    scores = dict(zip(products, np.abs(Phi @ alpha), strict=True))
    level = max(scores.values())
    norm = sum(np.abs(np.linalg.norm(model.contributions(X), axis=0)) / np.sqrt(N))
    assert level == pytest.approx(norm, rel=1e-6)
    assert [scores[z] for z in model._model.atoms] == pytest.approx([level] * len(model.weights_), rel=1e-6)
    assert abs(alpha.sum()) < 1e-8 * np.abs(alpha).sum()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "hinge", "squared"])
def test_classes_have_the_certificate_of_every_loss(data, loss):
    X, y = data
    labels = np.where(y > 5.3, "b", "a")
    weight = np.random.RandomState(2).randint(0, 3, N).astype(float)
    options = {"loss": loss, "tol": 1e-5, "class_weight": "balanced", "C": 0.5}
    exact, rows = both(MKLClassifier, RMS, X, labels, {"sample_weight": weight}, **options)
    np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=2e-5)
    np.testing.assert_allclose(rows.decision_function(X), exact.decision_function(X), atol=0.05)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_convex_solver_finds_the_same_optimum(loss):
    cp = pytest.importorskip("cvxpy")
    rng = np.random.RandomState(10)
    X = rng.randn(60, 3)
    y = np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.7 * rng.randn(60) > 0, 1.0, -1.0)
    products = [z for d in range(3) for z in itertools.combinations_with_replacement(range(3), d)]
    Phi = np.array([np.prod(X[:, list(z)], axis=1) for z in products]).T
    Phi /= np.sqrt(np.mean(Phi**2, axis=0))
    w, b = cp.Variable(len(products)), cp.Variable()
    margins = cp.multiply(y, Phi @ w + b)
    errors = cp.sum(cp.pos(1 - margins)) if loss == "hinge" else cp.sum(cp.logistic(-margins))
    problem = cp.Problem(cp.Minimize(0.5 * cp.square(cp.norm1(w)) + 0.4 * errors))
    problem.solve(solver="CLARABEL")
    model = MKLClassifier(
        Products(degree=2, atom_scale="rms"), loss=loss, C=0.4, tol=1e-6, approx="features"
    ).fit(X, y)
    np.testing.assert_allclose(model.objective_, problem.value, rtol=2e-6)


@pytest.mark.parametrize("loss", ["huber", EpsilonInsensitive(0.2), Pinball(0.3)])
def test_numbers_have_the_certificate_of_every_loss(data, loss):
    exact, rows = both(MKLRegressor, RMS, *data, loss=loss, tol=1e-5, C=0.5)
    np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=3e-5)


def test_outputs_classes_and_covariates(data):
    X, y = data
    Y = np.column_stack([y, X[:, 1] * X[:, 2] + 0.1 * y])
    for options in ({"multi_output": "shared"}, {"multi_output": "own"}):
        exact, rows = both(MKLRegressor, RMS, X, Y, tol=1e-7, C=0.3, **options)
        np.testing.assert_allclose(rows.predict(X), exact.predict(X), atol=1e-3)
        np.testing.assert_allclose(rows.objective_, exact.objective_, rtol=1e-6)
    three = np.digitize(y, [4.7, 5.6])
    exact, rows = both(MKLClassifier, RMS, X, three, loss="squared", tol=1e-6)
    np.testing.assert_allclose(rows.decision_function(X), exact.decision_function(X), atol=1e-3)
    rows = MKLClassifier(RMS, loss="logistic", multi_class="ovr", approx="features").fit(X, three)
    assert rows.certified_ and rows.weights_.shape[0] == 3
    for loss, tol, near in (("squared", 1e-8, 1e-6), ("huber", 1e-7, 1e-2)):
        exact, rows = both(MKLRegressor, RMS, X, y, loss=loss, tol=tol, C=0.3, covariates=[4])
        np.testing.assert_allclose(rows.predict(X), exact.predict(X), atol=near)
        np.testing.assert_allclose(rows.covariate_coef_, exact.covariate_coef_, atol=near)


def test_a_weight_is_a_repetition(data):
    X, y = data
    weight = np.random.RandomState(3).randint(0, 3, N)
    again = np.repeat(np.arange(N), weight)
    model = MKLRegressor(RMS, C=0.3, tol=1e-8, approx="features")
    weighted = model.fit(X, y, sample_weight=weight).predict(X)
    np.testing.assert_allclose(model.fit(X[again], y[again]).predict(X), weighted, rtol=1e-9)


def test_matrices_that_do_not_fit_are_not_needed(data, tmp_path):
    """The same call, with too little memory for n × n; all that a model is asked for works as ever."""
    rng = np.random.RandomState(4)
    X = rng.randn(1500, R)
    y = X[:, 0] * X[:, 1] - X[:, 2] + 0.2 * rng.randn(1500)
    exact = MKLRegressor(RMS, C=0.1, tol=1e-8).fit(X, y)
    rows = MKLRegressor(RMS, C=0.1, tol=1e-8, memory_limit="84MB").fit(X, y)
    assert not hasattr(rows, "X_fit_") and rows.certified_
    np.testing.assert_allclose(rows.predict(X), exact.predict(X), atol=1e-6)
    decided = rows.features_.transform(X) @ rows.feature_coef_ + rows.intercept_
    np.testing.assert_allclose(decided, rows.predict(X))
    np.testing.assert_allclose(rows.contributions(X).sum(axis=1) + rows.intercept_, decided)
    tables = [model.selected_products_ for model in (rows, exact)]
    for column in ("weight", "contribution"):
        assert_same(*(dict(zip(table["product"], table[column], strict=True)) for table in tables))
    save(rows, tmp_path / "model.mk")
    for other in (load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(rows))):
        np.testing.assert_array_equal(other.predict(X), rows.predict(X))
    found = certificate(rows, X, y)
    assert found.certified and found.gap <= 1e-8
    np.testing.assert_allclose(found.primal, rows.objective_, rtol=1e-9)
    search = MKLRegressorCV(RMS, Cs=[0.001, 0.1], cv=2, memory_limit="84MB", random_state=0).fit(X, y)
    assert search.best_params_["C"] == 0.1


def test_sparse_and_raw_tables(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    S = sparse.csr_matrix(np.where(X > -0.5, X, 0.0))
    exact, rows = both(MKLRegressor, RMS, S, y, tol=1e-8, C=0.1)
    np.testing.assert_allclose(rows.predict(S), exact.predict(S), atol=1e-6)
    table = pd.DataFrame(X, columns=list("abcde"))
    table["kind"] = np.random.RandomState(5).choice(["u", "v", "w"], N)
    exact, rows = both(MKLRegressor, Products(degree=2, scale=True), table, y, tol=1e-8)
    np.testing.assert_allclose(rows.predict(table), exact.predict(table), atol=1e-6)


def test_a_fit_begins_on_some_rows(data, monkeypatch):
    """What is found on few rows changes where a fit begins, not where it ends."""
    rng = np.random.RandomState(6)
    X = rng.randn(3000, R)
    y = X[:, 0] * X[:, 1] - X[:, 2] + rng.randn(3000)
    model = MKLRegressor(RMS, C=0.01, tol=1e-8, approx="features", random_state=0)
    whole = model.fit(X, y).predict(X)
    monkeypatch.setattr(corrective, "_ROWS", 1000)
    np.testing.assert_allclose(model.fit(X, y).predict(X), whole, atol=1e-6)
    assert model.certified_


def test_mapped_files_and_dask(tmp_path):
    da = pytest.importorskip("dask.array")
    rng = np.random.RandomState(7)
    n = 20_500  # more than are merged
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(n, 4))
    X[:] = rng.randn(n, 4)
    y = X[:, 0] * X[:, 1] - X[:, 2] + rng.randn(n)
    weight = rng.randint(0, 3, n).astype(float)
    model = MKLRegressor(Products(degree=2, atom_scale="rms"), C=0.01, tol=1e-7, memory_limit="1GB")
    model.fit(X, y, sample_weight=weight)
    expected = model.predict(X)
    held = MKLRegressor(Products(degree=2, atom_scale="rms"), C=0.01, tol=1e-7, approx="features")
    np.testing.assert_allclose(held.fit(np.array(X), y, sample_weight=weight).predict(X), expected, rtol=1e-9)
    lazy = da.from_array(np.asarray(X), chunks=(6000, 4))
    model.fit(lazy, da.from_array(y, chunks=5000), sample_weight=weight)
    np.testing.assert_allclose(model.predict(np.array(X)), expected, rtol=1e-6)
    np.testing.assert_allclose(model.predict(lazy).compute(), expected, rtol=1e-6)
    labels = da.from_array(np.where(y > 0, "b", "a"), chunks=5000)
    classifier = MKLClassifier(Products(degree=2), C=0.01, class_weight="balanced").fit(lazy, labels)
    assert classifier.certified_ and list(classifier.classes_) == ["a", "b"]
    X[15_000, 2] = np.nan
    with pytest.raises(ValueError, match="NaN or infinity in row 15000"):
        held.fit(X, y)
    with pytest.raises(ValueError, match="prepares the columns of a raw table"):
        MKLRegressor(Products(scale=True)).fit(lazy, y)


def test_a_family_too_large_to_score_is_not_certified(monkeypatch):
    monkeypatch.setattr(row_products, "_COPIES", 1e12)  # as if there were room for the scores of none
    rng = np.random.RandomState(8)
    X = rng.randn(200, 10)
    y = X[:, 0] * X[:, 1] * X[:, 2] + 0.1 * rng.randn(200)
    products = Products(degree=4, atom_scale="rms")
    model = MKLRegressor(products, C=0.01, tol=0.1, approx="features").fit(X, y)
    assert not model.certified_ and "x0 · x1 · x2" in model.kernel_names_
    with pytest.raises(ValueError, match="cannot be bounded"):
        MKLRegressor(products, solver=corrective.Corrective(certify=True), approx="features").fit(X, y)


def test_refusals_say_what_to_do(data):
    X, y = data
    wrong = [
        ({"norm": np.inf}, ValueError, "needs norm=1"),
        ({"norm": 2.0, "solver": "corrective"}, ValueError, "needs norm=1"),
        ({"solver": "greedy"}, ValueError, "blocks of rows. Take solver='corrective'"),
        ({"solver": "stochastic"}, ValueError, "blocks of rows. Take solver='corrective'"),
        ({"normalize": "cosine"}, ValueError, "would keep only the signs of columns"),
        ({"center": True}, ValueError, "the intercept does the same"),
        ({"memory_limit": "1MB"}, MemoryError, "blocks of rows, need at least .* Raise memory_limit"),
        ({"kernels": Products([Gaussian(1.0), Gaussian(2.0)])}, ValueError, "from blocks of rows"),
        ({"kernels": Gaussians(0.5, 5.0)}, ValueError, "gaussian_grid"),
    ]
    for options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            MKLRegressor(**{"kernels": RMS, "approx": "features", **options}).fit(X, y)
    with pytest.raises(ValueError, match="multi_class='ovr'"):
        MKLClassifier(RMS, loss="logistic", approx="features").fit(X, np.digitize(y, [4.7, 5.6]))
    with pytest.raises(ValueError, match="by MKLClassifier and MKLRegressor"):
        AlignMKLRegressor(RMS, weighting="greedy", approx="features").fit(X, y)
    with pytest.raises(ValueError, match="'x0', 'x1' are the same for all samples"):
        MKLRegressor(RMS, approx="features").fit(np.ones((20, 2)) + np.arange(20)[:, None] * 0.0, y[:20])


@pytest.mark.parametrize("loss", [Hinge(), EpsilonInsensitive(0.3), Pinball(0.2)])
def test_softened_losses_are_near_and_their_slopes_true(loss):
    rng = np.random.RandomState(9)
    f = rng.randn(200) * 2.0
    y = np.sign(rng.randn(200)) if loss.task == "classification" else rng.randn(200)
    soft, h = Softened(loss, 0.05), 1e-6
    excess = soft.value(y, f) - loss.value(y, f)
    assert np.all(excess >= -1e-12) and np.all(excess <= 2.0 * 0.05 * np.log(2.0) + 1e-12)
    slope = (soft.value(y, f + h) - soft.value(y, f - h)) / (2.0 * h)
    np.testing.assert_allclose(soft.gradient(y, f), slope, atol=1e-6)
    bend = (soft.gradient(y, f + h) - soft.gradient(y, f - h)) / (2.0 * h)
    np.testing.assert_allclose(soft.hessian(y, f), bend, atol=1e-5)
    lo, hi = loss.bounds(y)
    assert np.all((-soft.gradient(y, f) >= lo) & (-soft.gradient(y, f) <= hi))
