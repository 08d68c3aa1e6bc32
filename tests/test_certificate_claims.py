"""What docs/certificate.md says of certificates, and of what they are not."""

import math
from fractions import Fraction

import numpy as np
import pytest

from manykernels import (
    LocalizedMKLClassifier,
    LocalizedMKLRegressor,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    NonlinearMKLClassifier,
    NonlinearMKLRegressor,
    load,
    save,
)
from manykernels.approx import Nystroem
from manykernels.families import ARDGaussians
from manykernels.inspection import certificate
from manykernels.kernels import Gaussian, Linear
from manykernels.objectives.rounding import unit
from manykernels.selection import plan

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=80)
KERNELS = [Linear(), Gaussian(1.0), Gaussian(3.0)]


def exact(a, b):
    """a · b without any rounding."""
    return sum((Fraction(float(u)) * Fraction(float(v)) for u, v in zip(a, b, strict=True)), Fraction(0))


@pytest.mark.parametrize("n", [3, 100, 3000])
def test_sums_of_products_keep_within_what_is_allowed_for(n):
    """u_n Σ|a||b|, of which random data take a small part, also where terms cancel."""
    worst = 0.0
    for _ in range(max(4, 200 // n)):
        a, b = rng.normal(size=n), np.exp(-rng.exponential(size=n))
        a[n // 2 :] -= a.sum() / (n - n // 2)
        off = abs(Fraction(float(a @ b)) - exact(a, b)) / Fraction(math.fsum(np.abs(a * b)))
        worst = max(worst, float(off) / unit(n))
    assert worst < 0.5


def test_what_is_allowed_for_is_no_worst_case():
    """Equal terms, one after the other, are rounded in the same direction for a long time."""
    n = 10**6
    total = float(np.cumsum(np.full(n, 0.1))[-1])
    off = abs(Fraction(total) - n * Fraction(0.1)) / (n * Fraction(0.1))
    assert float(off) > 10 * unit(n)


def test_noise_is_certified_and_as_good_as_guessing():
    X = rng.normal(size=(400, 3))
    labels = rng.integers(0, 2, 400)
    model = MKLClassifier(KERNELS).fit(X[:150], labels[:150])
    assert model.certified_ and model.dual_gap_ <= model.tol
    assert model.score(X[:150], labels[:150]) > 0.5
    assert 0.35 < model.score(X[150:], labels[150:]) < 0.65


def test_a_search_certifies_its_winner_alone():
    search = MKLClassifierCV(KERNELS, Cs=[0.1, 1.0], norms=[1.0, 2.0], cv=2).fit(X, y > 0)
    found = certificate(search, X, y > 0)
    assert found.primal == certificate(search.best_estimator_, X, y > 0).primal
    assert found.gap <= search.dual_gap_ + 1e-9


def test_families_without_a_bound_do_not_claim_one():
    model = MKLRegressor(ARDGaussians(), C=1.0, tol=0.3, random_state=0).fit(X, y)
    assert not model.certified_ and not certificate(model, X, y).certified
    assert np.isnan(NonlinearMKLRegressor(KERNELS, n_starts=1, random_state=0).fit(X, y).dual_gap_)


@pytest.mark.filterwarnings("ignore::UserWarning")  # of gates that are not at their optimum
def test_gates_have_a_gap_where_they_are_fixed():
    for kind, target in ((LocalizedMKLClassifier, y > 0), (LocalizedMKLRegressor, y)):
        fixed = kind(KERNELS, random_state=0).fit(X, target)
        assert fixed.certified_ and fixed.dual_gap_ <= fixed.tol
        for gating in ("softmax", "sigmoid"):
            learned = kind(KERNELS, gating=gating, max_iter=5, random_state=0).fit(X, target)
            assert not learned.certified_ and np.isnan(learned.dual_gap_)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_has_no_certificate_is_refused():
    own = MKLRegressorCV(KERNELS, multi_output="own", random_state=0).fit(X, y)
    with pytest.raises(TypeError, match="chosen by errors on samples left out"):
        certificate(own, X, y)
    nonlinear = NonlinearMKLClassifier(KERNELS, n_starts=1, random_state=0).fit(X, y > 0)
    assert np.isnan(nonlinear.dual_gap_)
    for other in (nonlinear, LocalizedMKLRegressor(KERNELS, random_state=0).fit(X, y)):
        with pytest.raises(TypeError, match="Other methods solve other problems"):
            certificate(other, X, y)


def test_a_search_over_many_rows_has_no_certificate(monkeypatch):
    sizes = {"WHOLE": 60, "EXACT": 70, "FEW": 50, "_RACE": (40, 40), "_SECOND": 50, "_MOST": 50}
    for name, value in sizes.items():
        monkeypatch.setattr(plan, name, value)
    rows = rng.normal(size=(300, 3))
    search = MKLRegressorCV(KERNELS, strategy="finite", norms=[2.0], Cs=[1.0], cv=2, random_state=0)
    search.fit(rows, np.sin(rows[:, 0]))
    with pytest.raises(TypeError, match="landmarks for many rows"):
        certificate(search, rows, np.sin(rows[:, 0]))


def test_an_approximation_has_a_problem_of_its_own():
    whole, near = MKLRegressor(KERNELS, C=10.0), MKLRegressor(KERNELS, C=10.0, approx=Nystroem(4))
    whole, near = whole.fit(X, y), near.fit(X, y)
    away = abs(near.objective_ - whole.objective_) / whole.objective_
    assert away > 10 * max(whole.dual_gap_, near.dual_gap_)


def test_a_model_from_a_file_has_the_same_certificate(tmp_path):
    model = MKLRegressor(KERNELS).fit(X, y)
    save(model, tmp_path / "model")
    assert certificate(load(tmp_path / "model"), X, y) == certificate(model, X, y)
