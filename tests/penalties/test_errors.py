"""Names and numbers become penalties, or an error that says what to give."""

import numpy as np
import pytest

from manykernels.penalties import ElasticNet, L2Ball, LpBall, Simplex, resolve_penalty


def test_numbers_are_norms():
    assert isinstance(resolve_penalty(1), Simplex) and isinstance(resolve_penalty(1.0), Simplex)
    for p in (1.5, 2, np.float32(3.0), np.int64(4), np.inf):
        penalty = resolve_penalty(p)
        assert type(penalty) is LpBall and penalty.p == p


def test_objects_pass_through():
    penalty = L2Ball(mu0=1.0, radius=2.0)
    assert resolve_penalty(penalty) is penalty


@pytest.mark.parametrize(
    ("norm", "error", "message"),
    [
        (0.5, ValueError, r"norm=0.5 was given; expected a number p from 1"),
        (-np.inf, ValueError, "norm=-inf"),
        (np.nan, ValueError, "norm=nan"),
        ("l1", TypeError, "norm='l1' of type str"),
        (None, TypeError, "NoneType"),
        (True, TypeError, "bool"),
        (np.ones(2), TypeError, "ndarray"),
        (L2Ball, TypeError, r"Give an object: norm=L2Ball\(\)"),
    ],
)
def test_resolve_says_what_to_give(norm, error, message):
    with pytest.raises(error, match=message):
        resolve_penalty(norm)


@pytest.mark.parametrize(
    ("penalty", "message"),
    [
        (LpBall(0.9), "p=0.9 was given to LpBall"),
        (LpBall(np.nan), "p=nan"),
        (LpBall("2"), "p='2'"),
        (L2Ball(radius=-1.0), "radius=-1.0 was given to L2Ball: expected a finite number ≥ 0"),
        (L2Ball(radius=np.nan), "radius=nan"),
        (L2Ball(mu0=-0.1), "mu0=-0.1 was given to L2Ball: expected finite weights ≥ 0"),
        (L2Ball(mu0=[1.0, np.nan, 0.0]), "expected finite weights"),
        (L2Ball(mu0=1.0 + 2.0j), "mu0 of L2Ball holds complex numbers"),
        (L2Ball(mu0=[1.0, 2.0]), r"mu0 of shape \(2,\) was given to L2Ball: expected one number, or 3"),
        (ElasticNet(0.0), r"lam=0.0 was given to ElasticNet: expected a number in \(0, 1\]"),
        (ElasticNet(1.5), "lam=1.5"),
    ],
)
@pytest.mark.parametrize("oracle", ["value", "conjugate", "project", "closed_form", "group_norm"])
def test_parameters_are_checked_at_use(penalty, message, oracle):
    with pytest.raises(ValueError, match=message):
        getattr(penalty, oracle)(np.ones(3))
