"""Covariates beside the kernels: what they are, what they change, and what is said of useless ones."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.svm import SVC

from manykernels import (
    AlignMKLClassifier,
    AlignMKLRegressor,
    HierarchicalMKLRegressor,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLRegressor,
    NonlinearMKLRegressor,
)
from manykernels.approx import Nystroem
from manykernels.families import Gaussians, Products
from manykernels.inspection import (
    certificate,
    explained_parts,
    importance,
    permutation_test,
    significance,
    weight_stability,
)
from manykernels.kernels import Gaussian, Linear, OnColumns
from manykernels.plots import ContributionDisplay

N = 60
RNG = np.random.RandomState(0)
TABLE = pd.DataFrame(RNG.randn(N, 3), columns=list("abc")).assign(
    age=RNG.randint(20, 80, N), site=RNG.choice(["A", "B", "C"], N)
)
EFFECT = 0.1 * TABLE.age + TABLE.site.map({"A": 0.0, "B": 2.0, "C": -1.0})
Y = (np.sin(2 * TABLE.a) + TABLE.b + EFFECT + 0.1 * RNG.randn(N)).to_numpy()
LABELS = np.where(Y > np.median(Y), "high", "low")
BESIDE = TABLE[["age", "site"]]
KERNELS = [Gaussian(1.0), Gaussian(3.0), Linear()]
X = TABLE[list("abc")]


def design(table: pd.DataFrame) -> Any:
    return np.column_stack([table.age, table.site == "B", table.site == "C"]).astype(float)


def test_coefficients_are_in_the_units_of_the_columns_and_decide() -> None:
    model = MKLRegressor(KERNELS, C=10.0, covariates=["age", "site"]).fit(TABLE, Y)
    assert model.covariate_names_ == ["age", "site=B", "site=C"]
    np.testing.assert_allclose(model.covariate_coef_, [0.1, 2.0, -1.0], atol=0.25)
    assert model.n_features_in_ == 5 and model.dual_gap_ <= 1e-3
    parts = model.kernel_(X, model.X_fit_) @ model.dual_coef_
    np.testing.assert_allclose(
        parts + model.intercept_ + design(TABLE) @ model.covariate_coef_, model.predict(TABLE), atol=1e-9
    )
    np.testing.assert_allclose(model.contributions(TABLE).sum(axis=1), parts, atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(TABLE[::-1]), model.predict(TABLE[::-1]))


def test_what_covariates_explain_changes_no_weight() -> None:
    shifted = Y + 1000.0 * TABLE.age.to_numpy() - 50.0 * (TABLE.site == "B").to_numpy()
    one, other = (
        MKLRegressor(KERNELS, C=10.0, covariates=["age", "site"]).fit(TABLE, y) for y in (Y, shifted)
    )
    np.testing.assert_allclose(one.weights_, other.weights_, atol=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic", "squared"])
def test_every_loss_of_classes(loss: str) -> None:
    model = MKLClassifier(KERNELS, loss=loss, covariates=["age", "site"], tol=1e-6).fit(TABLE, LABELS)
    assert model.dual_gap_ <= 1e-6
    assert model.score(TABLE, LABELS) > 0.85


@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive", "pinball"])
@pytest.mark.parametrize("approx", [None, Nystroem(15)], ids=["exact", "features"])
def test_every_loss_of_numbers(loss: str, approx: Any) -> None:
    given = {"C": 5.0, "loss": loss, "approx": approx, "random_state": 0, "tol": 1e-4}
    model = MKLRegressor(KERNELS, covariates=["age", "site"], **given).fit(TABLE, Y)
    assert model.dual_gap_ <= 1e-4
    np.testing.assert_allclose(model.covariate_coef_, [0.1, 2.0, -1.0], atol=1.0)
    beside = MKLRegressor(KERNELS, **given).fit(X, Y, covariates=BESIDE)
    np.testing.assert_allclose(beside.predict(X, covariates=BESIDE), model.predict(TABLE), atol=1e-8)


@pytest.mark.parametrize("family", [Products(degree=2), Gaussians(0.5, 5.0)], ids=["products", "continuum"])
def test_families_that_are_asked(family: Any) -> None:
    model = MKLRegressor(family, C=5.0, covariates=["age", "site"]).fit(TABLE, Y)
    assert model.dual_gap_ <= 1e-3 and model.certified_
    np.testing.assert_allclose(model.covariate_coef_, [0.1, 2.0, -1.0], atol=0.5)


@pytest.mark.parametrize("own", ["shared", "own"])
def test_several_outputs(own: str) -> None:
    targets = np.column_stack([Y, -Y, TABLE.c])
    model = MKLRegressor(KERNELS, C=5.0, covariates=["age", "site"], multi_output=own).fit(TABLE, targets)
    assert model.covariate_coef_.shape == (3, 3)
    np.testing.assert_allclose(model.covariate_coef_[:, 0], -model.covariate_coef_[:, 1], atol=0.05)


def test_stacks_take_covariates_beside_them() -> None:
    stack = np.stack([kernel(X.to_numpy()) for kernel in KERNELS], axis=2)
    model = MKLRegressor("precomputed", C=10.0).fit(stack, Y, covariates=BESIDE)
    same = MKLRegressor(KERNELS, C=10.0, covariates=["age", "site"]).fit(TABLE, Y)
    np.testing.assert_allclose(model.predict(stack, covariates=BESIDE), same.predict(TABLE), atol=1e-2)
    assert model.score(stack, Y, covariates=BESIDE) > 0.9
    with pytest.raises(ValueError, match="covariates are missing"):
        model.predict(stack)


@pytest.mark.parametrize(
    ("columns", "table"),
    [
        ("age", TABLE[["a", "age"]]),
        (slice(1, 2), TABLE[["a", "age"]]),
        (lambda X: ["age"], TABLE[["a", "age"]]),
        ([False, True], TABLE[["a", "age"]].to_numpy()),
        ([-1], sparse.csr_matrix(TABLE[["a", "age"]].to_numpy(dtype=float))),
        ([1], TABLE[["a", "age"]].to_numpy().tolist()),
        ([1], TABLE[["a", "age"]].set_axis([0, 1], axis=1)),
    ],
    ids=["name", "slice", "callable", "mask", "sparse", "rows", "numbers"],
)
def test_columns_are_named_as_those_of_kernels(columns: Any, table: Any) -> None:
    model = MKLRegressor([Linear()], covariates=columns).fit(table, Y)
    expected = MKLRegressor([Linear()]).fit(TABLE[["a"]].to_numpy(), Y, covariates=TABLE.age)
    np.testing.assert_allclose(model.covariate_coef_, expected.covariate_coef_, rtol=1e-6)
    np.testing.assert_allclose(
        model.predict(table), expected.predict(TABLE[["a"]].to_numpy(), covariates=TABLE.age), rtol=1e-6
    )


def test_a_weight_is_a_repetition() -> None:
    weight = np.where(np.arange(N) < 20, 2.0, 1.0)
    rows = np.r_[np.arange(N), np.arange(20)]
    one = MKLRegressor(KERNELS, covariates=["age", "site"]).fit(TABLE, Y, sample_weight=weight)
    other = MKLRegressor(KERNELS, covariates=["age", "site"]).fit(TABLE.iloc[rows], Y[rows])
    np.testing.assert_allclose(one.predict(TABLE), other.predict(TABLE), atol=1e-9)


def test_views_give_up_the_columns_that_are_covariates() -> None:
    views = {"genes": TABLE[["a", "b"]], "clinic": TABLE[["c", "age", "site"]]}
    model = MKLRegressor(covariates=["age", "clinic__site"]).fit(views, Y)
    assert model.covariate_names_ == ["age", "site=B", "site=C"]
    assert not any("age" in name for name in model.kernel_names_)
    turned = {"clinic": views["clinic"][["site", "c", "age"]], "genes": views["genes"]}
    np.testing.assert_allclose(model.predict(turned), model.predict(views))
    with pytest.raises(ValueError, match="no view has a column of that name"):
        MKLRegressor(covariates=["height"]).fit(views, Y)


@pytest.mark.parametrize("face", [LocalizedMKLRegressor, NonlinearMKLRegressor, HierarchicalMKLRegressor])
def test_other_estimators_take_covariates_beside_samples(face: Any) -> None:
    model = face(C=1.0).fit(X, Y, covariates=BESIDE)
    plain = face(C=1.0).fit(X, Y)
    assert model.score(X, Y, covariates=BESIDE) > plain.score(X, Y)
    assert model.covariate_coef_.shape == (3,)


def test_a_level_that_training_did_not_have_is_an_average_one() -> None:
    model = MKLRegressor(KERNELS, covariates=["age", "site"]).fit(TABLE, Y)
    new = TABLE.iloc[:3].assign(site="Z")
    with pytest.warns(UserWarning, match="'site' is Z in 3 samples"):
        said = model.predict(new)
    shares = TABLE.site.value_counts(normalize=True)
    each = sum(shares[s] * model.predict(TABLE.iloc[:3].assign(site=s)) for s in "ABC")
    np.testing.assert_allclose(said, each, atol=1e-9)


@pytest.mark.parametrize(
    ("columns", "change", "said"),
    [
        (["age", "k"], {"k": 3.0}, "covariate k is constant"),
        (["age", "k"], {"k": 2 * TABLE.age + 1}, "covariate k is constant, or linear in"),
        (["age", "s=B", "site"], {"s=B": (TABLE.site == "B").astype(float)}, "site=B"),
    ],
)
def test_covariates_that_say_nothing_are_named_and_left_out(columns: Any, change: Any, said: str) -> None:
    table = TABLE.assign(**change)
    with pytest.warns(UserWarning, match=said):
        model = MKLRegressor(KERNELS, covariates=columns).fit(table[["a", "b", *columns]], Y)
    assert np.count_nonzero(model.covariate_coef_ == 0.0) == 1


def test_a_covariate_in_a_kernel_is_said() -> None:
    with pytest.warns(UserWarning, match="covariate age is in a kernel as well"):
        MKLRegressor([OnColumns(Gaussian(1.0), ["a", "age"])], covariates=["age"]).fit(TABLE, Y)
    with pytest.warns(UserWarning, match="in a kernel"), pytest.raises(ValueError, match="not clear"):
        MKLRegressor([OnColumns(Linear(), ["age"]), Linear()], covariates=["age"]).fit(TABLE[["a", "age"]], Y)


def test_covariates_that_separate_the_classes() -> None:
    code = (LABELS == "high").astype(float)
    with pytest.raises(ValueError, match="separate the classes"):
        MKLClassifier(KERNELS, loss="logistic", covariates=["age"]).fit(X.assign(age=code), LABELS)
    model = MKLClassifier(KERNELS, covariates=["age"]).fit(X.assign(age=code), LABELS)
    assert model.objective_ == pytest.approx(0.0, abs=1e-6)
    rare = np.where((code > 0) & (np.arange(N) % 5 == 0), 1.0, 0.0)
    with pytest.warns(UserWarning, match="without error"):
        model = MKLClassifier(KERNELS, loss="logistic", covariates=["age"]).fit(X.assign(age=rare), LABELS)
    assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: MKLRegressor(covariates=["agee"]).fit(TABLE, Y), "'agee' is not in X"),
        (lambda: MKLRegressor(covariates=[]).fit(TABLE, Y), "at least one column"),
        (
            lambda: MKLRegressor(covariates=["age"]).fit(TABLE[["age"]], Y),
            "at least one more for the kernels",
        ),
        (lambda: MKLRegressor(covariates=["age"]).fit(TABLE, Y, covariates=BESIDE), "both given"),
        (lambda: MKLRegressor("precomputed", covariates=[0]).fit(np.eye(N)[:, :, None], Y), "beside X"),
        (lambda: MKLRegressor(KERNELS).fit(X, Y, covariates=np.eye(N)), "fewer than samples"),
        (lambda: MKLRegressor(KERNELS).fit(X, Y, covariates=BESIDE[:9]), "a row for each"),
        (
            lambda: MKLRegressor(KERNELS).fit(X, Y, covariates=BESIDE.age.where(TABLE.age > 30)),
            "missing or infinite values",
        ),
        (lambda: MKLRegressor(KERNELS).fit(X, Y).predict(X, covariates=BESIDE), "fitted without any"),
    ],
)
def test_what_is_wrong_is_said(call: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_what_is_read_of_a_model_knows_its_covariates() -> None:
    """Certificates, parts of R², parts of decisions and tests of kernels count the unpenalised part."""
    model = MKLRegressor(KERNELS, C=5.0, covariates=["age", "site"]).fit(TABLE, Y)
    found = certificate(model, TABLE, Y)
    assert found.primal == pytest.approx(model.objective_, rel=1e-8)
    assert 0.0 <= found.gap <= model.dual_gap_ + 1e-9
    parts = explained_parts(model, TABLE, Y)
    assert parts.sum() == pytest.approx(model.score(TABLE, Y), abs=1e-9)
    assert ContributionDisplay.from_estimator(model, TABLE).names[-1] == "covariates"
    alone = significance(KERNELS, X, Y, covariates=BESIDE)
    np.testing.assert_allclose(significance(model, TABLE, Y).p_value, alone.p_value, rtol=1e-6)
    assert "coefficients age 0." in model._model.adjusted()


def test_copies_are_not_learned_without_covariates() -> None:
    model = MKLRegressor(KERNELS).fit(X, Y, covariates=BESIDE)
    for call in (importance, weight_stability, permutation_test):
        with pytest.raises(ValueError, match="given beside X"):
            call(model, X, Y)


@pytest.mark.parametrize("approx", [None, Nystroem(15)], ids=["exact", "features"])
def test_two_stages(approx: Any) -> None:
    """Kernels are aligned with what covariates leave of the target, which Zβ more of it does not change."""
    given = {"kernels": KERNELS, "approx": approx, "random_state": 0, "covariates": ["age", "site"]}
    model, other = (AlignMKLRegressor(**given).fit(TABLE, y) for y in (Y, Y + 50.0 * TABLE.age.to_numpy()))
    np.testing.assert_allclose(model.weights_, other.weights_, atol=1e-8)
    np.testing.assert_allclose(model.covariate_coef_, [0.1, 2.0, -1.0], atol=0.5)
    parts = model.contributions(TABLE).sum(axis=1) + model.intercept_
    np.testing.assert_allclose(parts + design(TABLE) @ model.covariate_coef_, model.predict(TABLE), atol=1e-9)
    if approx is None:  # by the definition
        Z = np.column_stack([np.ones(N), design(TABLE)])
        P = np.eye(N) - Z @ np.linalg.pinv(Z)
        K = P @ sum(w * k(X) for w, k in zip(model.weights_, model.kernels_, strict=True)) @ P
        target = np.outer(P @ Y, P @ Y)
        aligned = np.sum(K * target) / np.linalg.norm(K) / np.linalg.norm(target)
        assert model.alignment_ == pytest.approx(aligned, abs=1e-9)
    labels = AlignMKLClassifier(**given).fit(TABLE, LABELS)
    assert labels.score(TABLE, LABELS) > 0.8


def test_two_stages_refuse_what_knows_no_covariates() -> None:
    for given, said in (
        ({"estimator": SVC(kernel="precomputed")}, "estimator"),
        ({"weighting": "easymkl"}, "alignf"),
    ):
        with pytest.raises(ValueError, match=said):
            AlignMKLClassifier(KERNELS, **given).fit(X, LABELS, covariates=BESIDE)
    with pytest.raises(ValueError, match="sample_weight"):
        AlignMKLRegressor(KERNELS).fit(X, Y, sample_weight=np.ones(N), covariates=BESIDE)
