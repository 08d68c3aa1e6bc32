"""Which samples belong to which cluster: clusters that are there, the same gates for old and new samples."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import softmax

from manykernels import LocalizedMKLClassifier, LocalizedMKLRegressor
from manykernels.clusters import kernel_kmeans
from manykernels.fitting.gates import check_gates
from manykernels.kernels import Callable, Gaussian, Linear, Spectrum

rng = np.random.RandomState(0)
BLOB = np.arange(60) % 3
X = 0.7 * rng.randn(60, 2) + np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])[BLOB]
y = np.where(rng.randn(60) + X[:, 0] - X[:, 1] > 0, 1, -1)
NUMBERS = X[:, 0] * X[:, 1] + 0.1 * rng.randn(60)
KERNELS = [Linear(), Gaussian(1.0), Gaussian(4.0)]
STACK = np.stack([kernel(X) for kernel in KERNELS], axis=2)
each_gating = pytest.mark.parametrize("gating", ["kernel-kmeans", "kmeans", "hard"])


def fit(gating, n_clusters=3, kernels=KERNELS, data=X, target=y, **options):
    options = {"random_state": 0, **options}
    return LocalizedMKLClassifier(kernels, gating=gating, n_clusters=n_clusters, **options).fit(data, target)


def same_clusters(labels, expected):
    pairs = set(zip(labels.tolist(), expected.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(expected.tolist()))


def in_the_order_of(gates, others):
    """The columns of `others` as those of `gates` they are most like: clusters come in any order."""
    return others[:, (gates.T @ others).argmax(axis=1)]


@each_gating
def test_clusters_that_are_there_are_found(gating):
    model = fit(gating)
    assert model.gates_.shape == (60, 3) and model.weights_.shape == (3, 3)
    assert same_clusters(model.gates_.argmax(axis=1), BLOB)
    np.testing.assert_allclose(model.gates_.sum(axis=1), 1.0)
    if gating == "hard":
        assert set(np.unique(model.gates_)) == {0.0, 1.0}
    else:
        soft = fit(gating, temperature=10.0).gates_
        assert 0.0 < soft.min() and soft.max() < 1.0


@each_gating
@pytest.mark.parametrize("options", [{}, {"center": True}, {"normalize": "cosine"}], ids=str)
def test_new_samples_get_the_gates_they_had_in_training(gating, options):
    model = fit(gating, **options)
    order = rng.permutation(60)
    np.testing.assert_allclose(model.gate(X[order]), model.gates_[order], atol=1e-9)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.gate(X[:7]), model.gate(X[:7]))


@pytest.mark.parametrize("gating", ["kernel-kmeans", "hard"])
@pytest.mark.parametrize("center", [False, True])
def test_stacks_have_the_gates_of_the_kernels_they_hold(gating, center):
    stack = fit(gating, kernels="precomputed", data=STACK, center=center)
    np.testing.assert_allclose(stack.gate(STACK[[5, 3]]), stack.gates_[[5, 3]], atol=1e-9)
    objects = fit(gating, center=center)
    np.testing.assert_allclose(stack.gates_, in_the_order_of(stack.gates_, objects.gates_), atol=1e-6)
    held = pickle.dumps(stack)
    assert len(held) < STACK.nbytes  # the model does not keep the stack


@pytest.mark.parametrize("gating", ["kernel-kmeans", "kmeans"])
def test_gates_are_the_softmax_of_distances_from_centres_of_shares(gating):
    """c_j(x) ∝ exp(−‖φ(x) − μ_j‖²/t), t = temperature · the mean squared distance of the hard clusters."""
    model = fit(gating, kernels=[Linear()], normalize=None, temperature=0.5)
    means = np.array([X[BLOB == j].mean(axis=0) for j in range(3)])
    t = 0.5 * np.mean(np.sum((X - means[BLOB]) ** 2, axis=1))
    c = model.gates_[:, [int(model.gates_[BLOB == j].sum(axis=0).argmax()) for j in range(3)]]
    if gating == "kernel-kmeans":  # their own centres, at the fixed point of soft k-means
        means = (c / c.sum(axis=0)).T @ X
    D = ((X[:, None] - means[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(c, softmax(-D / t, axis=1), atol=1e-6)


def test_temperature_softens_the_borders():
    spread = [fit("kernel-kmeans", temperature=t).gates_.max(axis=1).mean() for t in (0.01, 0.3, 3.0)]
    assert spread[0] > spread[1] > spread[2]
    hard = fit("kernel-kmeans", temperature=1e-6)
    np.testing.assert_allclose(hard.gates_, in_the_order_of(hard.gates_, fit("hard").gates_), atol=1e-9)


def test_kernel_k_means_is_k_means_of_the_features():
    K = X @ X.T
    labels, inertia = kernel_kmeans(K, 3, np.random.RandomState(1))
    assert same_clusters(labels, BLOB)
    means = np.array([X[labels == j].mean(axis=0) for j in range(3)])
    assert inertia == pytest.approx(np.sum((X - means[labels]) ** 2))
    # a weight is a repetition
    weight = 1.0 + np.arange(60) % 2
    twice = np.repeat(np.arange(60), weight.astype(int))
    _, weighted = kernel_kmeans(K, 3, np.random.RandomState(1), weight)
    _, repeated = kernel_kmeans(K[np.ix_(twice, twice)], 3, np.random.RandomState(1))
    assert weighted == pytest.approx(repeated, rel=1e-9)


@each_gating
def test_repeated_samples_pull_centres_as_often_as_they_are_given(gating):
    """They are merged to solve the problem; three copies of a sample are still three samples."""
    two = np.flatnonzero(BLOB < 2)  # clusters that every start finds, so that draws do not decide
    rows = np.concatenate([two, np.repeat(two[::7], 2)])
    jitter = X[rows] + 1e-9 * rng.randn(rows.size, 2)  # different enough not to be merged
    options = {"n_clusters": 2, "random_state": 1, "temperature": 2.0}
    once, merged, apart = (
        fit(gating, data=Z, target=t, **options).gates_
        for Z, t in ((X[two], y[two]), (X[rows], y[rows]), (jitter, y[rows]))
    )
    np.testing.assert_allclose(merged, in_the_order_of(merged, apart), atol=1e-7)
    if gating != "hard":  # whose shares are 0 and 1
        merged = merged[: two.size]
        assert np.abs(merged - in_the_order_of(merged, once)).max() > 1e-3


@each_gating
def test_as_many_clusters_as_samples_and_no_more(gating):
    few, target = X[:6], np.array([1, -1] * 3)
    np.testing.assert_allclose(
        fit(gating, 6, data=few, target=target, temperature=1e-3).gates_.sum(axis=0), 1.0
    )
    with pytest.raises(ValueError, match="n_clusters=7 was given for 6 different samples"):
        fit(gating, 7, data=few, target=target)


def test_empty_clusters_are_refused():
    """Three points with both labels are six samples, but no more than three places."""
    data, target = np.repeat(X[:3], 2, axis=0), np.array([1, -1] * 3)
    assert fit("hard", 3, data=data, target=target).gates_.any(axis=0).all()
    with pytest.raises(ValueError, match=r"\d of n_clusters=4 clusters are empty.*Take fewer"):
        fit("hard", 4, data=data, target=target)


def test_other_kinds_of_data():
    S = sparse.csr_array(np.where(np.abs(X) > 0.5, X, 0.0))
    for gating in ("kernel-kmeans", "kmeans", "hard"):
        thin, dense = (fit(gating, data=Z) for Z in (S, S.toarray()))
        np.testing.assert_allclose(thin.gate(S), thin.gates_, atol=1e-9)
        np.testing.assert_allclose(thin.gates_, in_the_order_of(thin.gates_, dense.gates_), atol=1e-6)
    text = ["".join(np.random.RandomState(i).choice(list("AC" if i % 2 else "GT"), 12)) for i in range(60)]
    strings = fit("kernel-kmeans", 2, kernels=[Spectrum(1), Spectrum(2)], data=text)
    assert same_clusters(strings.gates_.argmax(axis=1), np.arange(60) % 2)
    np.testing.assert_allclose(strings.gate(text), strings.gates_, atol=1e-9)


# -- gates that are given ---------------------------------------------------------------------------
def halves(Z):
    c = 1.0 / (1.0 + np.exp(-np.asarray(Z)[:, 0] + 3.0))
    return np.column_stack([c, 1.0 - c])


def test_functions_and_arrays_are_the_same_in_training():
    function, array = fit(halves), fit(halves(X))
    np.testing.assert_allclose(function.gates_, halves(X), atol=1e-12)
    np.testing.assert_array_equal(array.gates_, halves(X))
    assert function.objective_ == pytest.approx(array.objective_, rel=1e-6)
    new = rng.randn(9, 2)
    np.testing.assert_allclose(function.gate(new), halves(new))
    for name in ("decision_function", "predict", "contributions"):
        given = getattr(array, name)(new, gates=halves(new))
        np.testing.assert_allclose(given, getattr(function, name)(new), atol=1e-3)
        with pytest.raises(ValueError, match="says nothing about new samples"):
            getattr(array, name)(new)
    with pytest.raises(ValueError, match=r"gates of shape \(8, 2\) were given; expected \(9, 2\)"):
        array.predict(new, gates=halves(new)[:8])
    numbers = LocalizedMKLRegressor(KERNELS, gating=halves(X)).fit(X, NUMBERS)
    assert numbers.predict(new, gates=halves(new)).shape == (9,)


def test_gates_in_place_of_the_models_own():
    model = fit("kmeans", 2, loss="logistic")
    own, other = model.decision_function(X), model.decision_function(X, gates=np.full((60, 2), 0.5))
    assert np.abs(own - other).max() > 0.01
    np.testing.assert_allclose(model.decision_function(X, gates=model.gates_), own, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X, gates=model.gates_), model.predict_proba(X), atol=1e-12)
    p = model.predict_proba(X, gates=np.full((60, 2), 0.5))
    np.testing.assert_allclose(p[:, 1], 1.0 / (1.0 + np.exp(-other)), atol=1e-12)
    assert not hasattr(fit("kmeans"), "predict_proba")


def test_samples_of_classes_that_cost_nothing_keep_their_gates():
    three = np.arange(60) % 5 % 3
    options = {"class_weight": {0: 1.0, 1: 1.0, 2: 0.0}, "target": three}
    for gating in ("kernel-kmeans", "kmeans", halves):
        model = fit(gating, 2, **options)
        np.testing.assert_allclose(model.gates_, model.gate(X), atol=1e-9)
    np.testing.assert_array_equal(fit(halves(X), 2, **options).gates_, halves(X))
    stack = fit("hard", 2, kernels="precomputed", data=STACK, **options)
    np.testing.assert_array_equal(stack.gates_, stack.gate(STACK))
    outside = np.column_stack([three == 2, three != 2]).astype(float)
    with pytest.raises(ValueError, match="cluster 0 is empty"):
        fit(outside, **options)


def bad(**changes):
    c = halves(X)
    for (i, j), value in changes.get("entries", {}).items():
        c[i, j] = value
    return c


@pytest.mark.parametrize(
    ("gating", "message"),
    [
        (bad(entries={(4, 0): -0.1, (4, 1): 1.1}), r"gates hold -0.1 for sample 4 and cluster 0"),
        (bad(entries={(5, 1): np.nan}), r"gates hold nan for sample 5 and cluster 1"),
        (bad(entries={(6, 1): 0.7, (6, 0): 0.7}), r"gates of sample 6 sum to 1.4; expected 1: divide rows"),
        (np.column_stack([halves(X), np.zeros(60)]), r"cluster 2 is empty.*Leave its column out"),
        (halves(X)[:59], r"gates of shape \(59, 2\) were given; expected \(60, n_clusters\)"),
        (halves(X)[:, 0], r"gates of shape \(60,\) were given"),
        (lambda Z: -halves(Z), "gates hold -"),
        (lambda Z: halves(Z)[1:], r"gates of shape \(59, 2\)"),
        (
            "soft",
            r"gating='soft' was given; expected one of 'kernel-kmeans', 'kmeans', 'hard', 'softmax', 'sig",
        ),
    ],
)
def test_gates_that_are_none(gating, message):
    with pytest.raises(ValueError, match=message):
        fit(gating)


def test_equal_samples_with_different_gates_are_refused():
    """They are one sample to the solver, which can only be in one place."""
    data, target, c = X.copy(), y.copy(), halves(X)
    data[10], target[10] = data[3], target[3]
    with pytest.raises(
        ValueError, match=r"samples \d+ and \d+ are equal, targets too, and their gates differ"
    ):
        fit(c, data=data, target=target)
    c[10] = c[3]
    np.testing.assert_array_equal(fit(c, data=data, target=target).gates_, c)


def test_new_gates_are_checked_as_well():
    shifted = fit(lambda Z: halves(Z) * (1.0 if len(Z) == 60 else 2.0))
    with pytest.raises(ValueError, match="sum to 2"):
        shifted.predict(X[:5])
    assert check_gates([[0.0, 1.0]], 1, 2).shape == (1, 2)  # one sample may leave a cluster empty


def test_stacks_have_no_features():
    with pytest.raises(ValueError, match="gating='kmeans' needs features, and X is a stack"):
        fit("kmeans", kernels="precomputed", data=STACK)
    given = fit(lambda Z: halves(Z[:, :, 0]), kernels="precomputed", data=STACK)
    np.testing.assert_allclose(given.gate(STACK[:4]), given.gates_[:4])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 was given; expected a whole number"),
        ({"n_clusters": 1.5}, "n_clusters=1.5 was given"),
        ({"n_clusters": True}, "n_clusters=True was given"),
        ({"temperature": 0.0}, "temperature=0.0 was given; expected a positive number"),
        ({"temperature": np.inf}, "temperature=inf was given"),
        ({"temperature": "warm"}, "temperature='warm' was given"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        LocalizedMKLClassifier(**options).fit(X, y)


def test_a_constant_kernel_is_an_offset_of_every_cluster():
    """Behind a gate it is not what the intercept offers."""
    one = Callable(lambda A, B: np.ones((len(A), len(B))))
    target = np.where(X[:, 0] > 3.0, 2.0, -1.0)
    gates = np.column_stack([X[:, 0] > 3.0, X[:, 0] <= 3.0]).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = LocalizedMKLRegressor({"one": one, "line": Linear()}, gating=gates, C=1e3).fit(X, target)
    assert model.weights_[:, 0].max() > 0.5
    np.testing.assert_allclose(model.predict(X, gates=gates), target, atol=0.05)
    with pytest.warns(UserWarning, match="'one' is constant"):
        alone = LocalizedMKLRegressor({"one": one, "line": Linear()}, n_clusters=1).fit(X, target)
    assert alone.weights_[0, 0] == 0.0
