"""Steps on drawn rows and products: estimates whose mean is the gradient, and the step in closed form."""

from types import SimpleNamespace

import numpy as np
from benchmarks.bench_rows_drawn import FAMILY as CUBIC
from benchmarks.bench_rows_drawn import _oracle
from benchmarks.rivals_drawn import DualAveraging, drawn_scores, features, least

from manykernels.families import Products
from manykernels.losses import Logistic
from manykernels.oracles import build_oracle

FAMILY = Products(degree=2, interactions_only=True)


def test_the_mean_over_all_rows_and_all_products_is_the_gradient():
    """Every batch of one row, every product with the probability that the oracle says: by enumeration."""
    rng = np.random.RandomState(0)
    X, a = rng.randn(5, 3), rng.randn(5)
    products = list(build_oracle(FAMILY, X, normalize=None).atoms())
    known = products[2:4]
    mean = dict.fromkeys(products, 0.0)
    for i in range(5):
        row, own = X[i : i + 1], len(X) * a[i : i + 1]
        oracle = build_oracle(FAMILY, np.vstack([row, row + 1.0]), normalize=None)  # columns must vary
        A = np.array([own, [0.0]])
        q = oracle.quad(A, products)
        for z, p in zip(products, q / q.sum(), strict=True):
            drawn = SimpleNamespace(atoms=[z], probabilities=[p])
            one = SimpleNamespace(sample=lambda a, size, rng, drawn=drawn: drawn)
            for product, score in drawn_scores(one, row, own, 1, rng, known).items():
                mean[product] += p * score / len(X)
        draws = oracle.sample(A, 20, rng)
        np.testing.assert_allclose(draws.probabilities, oracle.quad(A, draws.atoms) / q.sum(), rtol=1e-9)
    np.testing.assert_allclose([mean[z] for z in products], features(X, products) @ a, rtol=1e-10, atol=1e-12)


def test_the_step_meets_its_conditions():
    u, beta = np.random.RandomState(1).randn(30), 0.3
    w = least(u, beta)
    norm, rest = np.abs(w).sum(), u - beta * w
    np.testing.assert_allclose(rest[w != 0], norm * np.sign(w[w != 0]), rtol=1e-12)
    assert w.any() and np.all(np.abs(rest[w == 0]) <= norm * (1.0 + 1e-12))
    assert not least(np.zeros(4), beta).any()


def test_both_forms_find_the_product_that_matters():
    rng = np.random.RandomState(2)
    X = rng.randn(2000, 4)
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.randn(2000) > 0, 1.0, -1.0)
    for form in ("all", "some"):
        run = DualAveraging(X, y, 0.02, Logistic(), 10.0, 100, 0)
        steps = (
            run.all_scored(_oracle(X).whole())
            if form == "all"
            else run.some_drawn(lambda B: build_oracle(CUBIC, B, normalize=None), 30)
        )
        while run.t < 60:
            next(steps)
        assert max(run.w, key=lambda z: abs(run.w[z])) == (0, 1)
