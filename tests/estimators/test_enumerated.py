"""Families that are short enough are listed for solvers and norms that need a list; parts of a user's own."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import (
    AlignMKLRegressor,
    HierarchicalMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    MKLRegressorCV,
)
from manykernels.families import DAG, AnovaDAG, Family, PolynomialDAG, Products, Subset, Views, views
from manykernels.fitting import enumerated
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.losses import Squared
from manykernels.oracles import FiniteOracle, build_oracle
from manykernels.penalties import ElasticNet, L2Ball, Simplex
from manykernels.solvers import ActiveSet, Alternating, Held, Serves, Solver, Stochastic, serving, why_not

RNG = np.random.RandomState(0)
X = RNG.randn(50, 3)
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.1 * RNG.randn(50)
RHO = [1.0, 1.5, 2.0]
UNIT = X / np.sqrt((X**2).mean(axis=0))


def by_hand(multiplicity, penalty):
    """The objective over a list of explicit matrices; "paper" lists the factors in every order."""
    choose = {
        "distinct": lambda d: itertools.combinations_with_replacement(range(3), d),
        "paper": lambda d: itertools.product(range(3), repeat=d),
    }[multiplicity]
    phi = [(np.prod(UNIT[:, z], axis=1), d) for d in range(3) for z in map(list, choose(d))]
    stack = np.stack([np.outer(f, f) / RHO[d] ** 2 for f, d in phi[1:]], axis=-1)
    model = MKLRegressor("precomputed", norm=penalty, normalize=None, tol=1e-7, C=3.0, fit_intercept=True)
    return model.fit(stack, Y).objective_


@pytest.mark.parametrize("multiplicity", ["distinct", "paper"])
@pytest.mark.parametrize("p", [4 / 3, 2.0, np.inf])
def test_norms_agree_with_explicit_kernels_and_with_draws(multiplicity, p):
    family = Products(degree=2, rho=RHO, multiplicity=multiplicity)
    optimum = by_hand(multiplicity, p)
    for solver in ("auto", "active-set", "alternating"):
        model = MKLRegressor(family, norm=p, solver=solver, C=3.0, tol=1e-6).fit(X, Y)
        assert model.certified_ and model.dual_gap_ <= 1e-6
        assert model.objective_ == pytest.approx(optimum, rel=2e-6)
        again = certificate(model, X, Y)
        assert again.certified and again.gap <= 2e-6
    if np.isfinite(p):
        drawn = MKLRegressor(family, norm=p, solver="stochastic", C=3.0, tol=1e-3, max_iter=20000)
        drawn.set_params(random_state=0).fit(X, Y)
        assert optimum * (1 - 1e-6) <= drawn.objective_ <= optimum * (1 + 2e-3)


@pytest.mark.parametrize("penalty", [ElasticNet(0.5), L2Ball(0.0, 1.0), L2Ball(0.2, 1.0)], ids=repr)
def test_other_penalties_over_products(penalty):
    optimum = MKLRegressor(Products(degree=2, rho=RHO), norm=penalty, C=3.0, tol=1e-6).fit(X, Y)
    assert optimum.certified_ and optimum.dual_gap_ <= 1e-6
    expected = by_hand("distinct", penalty)
    if not np.any(getattr(penalty, "mu0", 0.0)):  # else weight of the constant kernel costs nothing
        assert optimum.objective_ == pytest.approx(expected, rel=2e-6)


def test_a_prior_weight_for_each_product():
    mu0 = np.linspace(0.0, 1.0, 10)
    model = MKLRegressor(Products(degree=2), norm=L2Ball(mu0, 0.5), C=3.0, tol=1e-6).fit(X, Y)
    assert model.certified_ and model.dual_gap_ <= 1e-6
    assert certificate(model, X, Y).gap <= 2e-6


def test_the_model_is_that_of_a_family():
    model = MKLRegressor(Products(degree=2), norm=2.0).fit(X, Y)
    names = build_oracle(Products(degree=2), X, normalize="trace")
    assert set(model.kernel_names_) <= {names.name(z) for z in names.atoms()} - {"1"}  # no weight: a constant
    assert np.all(model.weights_ > 0) and len(model.kernels_) == model.weights_.size == 9
    f = sum(t * k(X, model.X_fit_) for t, k in zip(model.weights_, model.kernels_, strict=True))
    np.testing.assert_allclose(
        f @ model.dual_coef_ + model.intercept_, model.predict(X), rtol=1e-8, atol=1e-8
    )
    assert model.selected_products_["product"][0] in ("x0 · x1", "x2")
    sparse = MKLRegressor(Products(degree=2), norm=ElasticNet(0.05), solver="active-set", C=0.01).fit(X, Y)
    assert 0 < sparse.weights_.size < 9


def test_auto_lists_what_is_short_and_draws_from_what_is_not(monkeypatch):
    assert MKLRegressor(Products(degree=2), norm=2.0).fit(X, Y).dual_gap_ <= 1e-3
    monkeypatch.setattr(enumerated, "_FEW", 5)
    drawn = MKLRegressor(Products(degree=2), norm=2.0, random_state=0, tol=0.05)
    same = clone(drawn).set_params(solver="stochastic")
    assert drawn.fit(X, Y).objective_ == same.fit(X, Y).objective_
    monkeypatch.setattr(enumerated, "_MOST", 5)
    with pytest.raises(
        ValueError, match=r"active-set' needs a list .* 10, more .*'stochastic'.* lower degree"
    ):
        MKLRegressor(Products(degree=2), norm=2.0, solver="active-set").fit(X, Y)
    with pytest.raises(ValueError, match="HierarchicalMKLClassifier and HierarchicalMKLRegressor"):
        MKLRegressor(PolynomialDAG(2)).fit(X, Y)


def test_searches_list_them_too():
    search = MKLRegressorCV(Products(degree=2), norms=[2.0], Cs=[0.1, 1.0, 10.0], cv=3).fit(X, Y)
    assert search.score(X, Y) > 0.8


# -- graphs as lists ---------------------------------------------------------------------------------
@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize("graph", [PolynomialDAG(2), AnovaDAG(1.5)], ids=repr)
def test_graphs_are_lists_of_their_kernels(graph, norm):
    model = MKLRegressor(graph, norm=norm, tol=1e-5).fit(X, Y)
    nodes = build_oracle(graph, X, normalize="trace")
    assert len(list(nodes.atoms())) == nodes.size == (27 if isinstance(graph, PolynomialDAG) else 8)
    known = {nodes.name(v): nodes.kernel(v).kernel for v in nodes.atoms() if v}
    scales = [nodes.kernel(v).scale_ for v in nodes.atoms() if v]
    stack = np.stack([s * k(X) for s, k in zip(scales, known.values(), strict=True)], axis=-1)
    plain = MKLRegressor("precomputed", norm=norm, normalize=None, tol=1e-6).fit(stack, Y)
    assert model.certified_ and model.objective_ == pytest.approx(plain.objective_, rel=2e-5)
    assert np.isfinite(model.predict(X[:5])).all() and set(model.kernel_names_) <= {"1", *known}


def test_a_constant_column_of_a_graph_is_left_out():
    with pytest.warns(UserWarning, match="same for all samples"):
        model = MKLRegressor(PolynomialDAG(1), norm=2.0).fit(np.column_stack([X[:, :2], np.ones(50)]), Y)
    assert sorted(model.kernel_names_) == ["x0", "x0 · x1", "x1"]


def test_a_graph_of_ones_own_is_a_list():
    parents = {"a": (Linear(), []), "b": (Gaussian(1.0), ["a"])}
    model, plain = (
        MKLRegressor(kernels, norm=2.0).fit(X, Y) for kernels in (DAG(parents), [Linear(), Gaussian(1.0)])
    )
    assert model.kernel_names_ == ["a", "b"] and model.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    assert HierarchicalMKLRegressor(DAG(parents)).fit(X, Y).certified_


@pytest.mark.parametrize("family", [Products(degree=3), PolynomialDAG(2), AnovaDAG()], ids=repr)
def test_wrappers_of_long_families_say_what_to_do(family):
    wide = np.random.RandomState(0).randn(30, 30)
    columns = list(range(30))
    for given in ([family, Linear()], Subset(family, ["x0"]), views({"a": (columns, family)})):
        with pytest.raises(ValueError, match=r"Give it alone, as kernels=.* to "):
            MKLRegressor(given).fit(wide, wide[:, 0])


# -- parts of a user's own ---------------------------------------------------------------------------
class Own(Solver):
    """Half of Kloft's update."""

    serves = Serves(penalties=frozenset({"norm p"}), needs="a norm above 1")

    def run(self, kernels, risk, penalty, run):
        return Alternating().run(kernels, risk, penalty, run)


def test_a_solver_of_ones_own():
    labels = np.where(Y > 0, "up", "down")
    for kernels in ([Linear(), Gaussian(1.0)], Products(degree=2), PolynomialDAG(2)):
        model = MKLClassifier(kernels, norm=2.0, solver=Own()).fit(X, labels)
        assert model.certified_ and model.dual_gap_ <= 1e-3
    with pytest.raises(
        ValueError, match=r"solver=Own\(\) needs a norm above 1, and norm=.* Take solver='active-set'"
    ):
        MKLClassifier([Linear(), Gaussian(1.0)], norm=1.0, solver=Own()).fit(X, labels)


class Pairs(Family):
    """Linear kernels of pairs of columns, not listed: it offers its oracle."""

    listed = False

    def bind(self, X, **how):
        self.told_ = sorted(how)
        pairs = {
            f"{i}+{j}": OnColumns(Linear(), [i, j]) for i, j in itertools.combinations(range(X.shape[1]), 2)
        }
        known = ("normalize", "sample_weight", "memory_limit", "work")
        return build_oracle(pairs, X, **{name: how[name] for name in known})


@pytest.mark.parametrize("solver", ["auto", "active-set", "corrective", "greedy"])
def test_a_family_of_ones_own_that_is_not_listed(solver):
    family = Pairs()
    model = MKLRegressor(family, solver=solver, norm=1.0, tol=1e-3).fit(X, Y)
    assert model.certified_ and model.dual_gap_ <= 1e-3
    assert set(model.kernel_names_) <= {"0+1", "0+2", "1+2"}
    assert family.told_ == ["feature_names", "memory_limit", "norm", "normalize", "sample_weight", "work"]
    assert isinstance(build_oracle(family, X, normalize=None), FiniteOracle)


def test_a_family_of_ones_own_must_bind_to_an_oracle():
    class Nothing(Family):
        listed = False

    class Wrong(Nothing):
        def bind(self, X, **how):
            return [Linear()]

    with pytest.raises(NotImplementedError, match=r"Nothing must define bind\(X, \*\*how\), or be listed"):
        MKLRegressor(Nothing()).fit(X, Y)
    with pytest.raises(TypeError, match=r"Wrong.bind returned .* expected an Oracle"):
        MKLRegressor(Wrong()).fit(X, Y)


# -- declarations ------------------------------------------------------------------------------------
def test_why_not():
    squared, one = Squared(), Simplex()
    listed, family = Held("list"), Held("family", frozenset({"sample_uniform"}), np.inf)
    assert why_not(ActiveSet(), listed, squared, one) is None
    assert "needs a list of kernels" in why_not(ActiveSet(), family, squared, one)
    assert "answers 'sample'" in why_not(Stochastic(), family, squared, one)
    assert why_not(Stochastic("uniform"), family, squared, one) is None
    assert "unique" in why_not(Alternating(0.5), listed, squared, one)
    assert "corrective" in serving([listed], squared, one)
    assert serving([listed], squared, ElasticNet(0.5)) == ["active-set", "alternating", "blockwise"]


@pytest.mark.parametrize(
    "kernels",
    [
        [Products(degree=2), Gaussian(2.0)],
        Views({"a": ([0, 1], Products(degree=2)), "b": ([2], Gaussian(1.0))}),
        {"graph": PolynomialDAG(1), "wide": Gaussian(3.0)},
        Subset(Products(degree=2), ("x0 · x1", "x2")),
    ],
    ids=["list", "views", "dict", "subset"],
)
@pytest.mark.filterwarnings("error::UserWarning")
def test_a_short_family_stands_beside_other_kernels(kernels):
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3)
    y = X[:, 0] * X[:, 1] + 0.1 * rng.randn(50)
    for norm in (1.0, 2.0):
        model = MKLRegressor(kernels, norm=norm, C=10.0).fit(X, y)
        assert model.certified_ and model.dual_gap_ <= 1e-3 and model.score(X, y) > 0.9
        assert not any(name.endswith("1") and name[-2:-1] in ("", " ") for name in model.kernel_names_)
    aligned = AlignMKLRegressor(kernels).fit(X, y)
    assert aligned.alignment_ > 0.5


def test_a_short_family_can_be_aligned():
    rng = np.random.RandomState(0)
    X = rng.randn(50, 3)
    y = X[:, 0] * X[:, 1] + 0.1 * rng.randn(50)
    model = AlignMKLRegressor(Products(degree=2)).fit(X, y)
    assert model.kernel_names_[int(np.argmax(model.weights_))] == "x0 · x1"
    with pytest.raises(ValueError, match="more kernels than can be listed"):
        AlignMKLRegressor(Products(degree=9)).fit(rng.randn(30, 12), rng.randn(30))
