"""What a kernel says of its part in a family goes along with it, and is not what it is."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import MKLClassifier, load, save
from manykernels.fitting.spec import signature
from manykernels.kernels import (
    Fitted,
    Gaussian,
    Kernel,
    Linear,
    OnColumns,
    Preparation,
    Prepared,
    Scaled,
    Sum,
)
from manykernels.kernels.base import Member

X = np.random.default_rng(0).normal(size=(20, 3))
NARROW = Gaussian(0.5).as_member(scale=0.25)


def test_a_kernel_says_nothing_unless_it_was_told():
    plain = Gaussian(0.5)
    assert plain.member == Member() and plain.as_member(scale=0.25).member == Member(scale=0.25)
    assert plain.member == Member()
    assert NARROW.as_member(role="column").member == Member("column", 0.25)
    with pytest.raises(TypeError, match="colour"):
        plain.as_member(colour="red")


@pytest.mark.parametrize(
    "around",
    [
        lambda k: OnColumns(k, [0, 1], view="left"),
        lambda k: Prepared(k, Preparation().fit(X)),
        lambda k: Fitted(k, center=True, normalize="trace"),
        lambda k: Scaled(k, 2.0),
        lambda k: Fitted(OnColumns(Prepared(k, Preparation().fit(X)), [0, 1, 2]), normalize="trace"),
        clone,
        lambda k: clone(Prepared(k, Preparation().fit(X))),
        lambda k: clone(OnColumns(k, 0).as_member(scale=0.25)),
        lambda k: pickle.loads(pickle.dumps(k)),
    ],
)
def test_what_it_says_goes_along(around):
    assert around(NARROW).member == NARROW.member
    assert around(Gaussian(0.5)).member.role is None


def test_a_kernel_around_another_may_say_more():
    assert OnColumns(NARROW, 0).as_member(role="column").member == Member("column", 0.25)


def test_a_sum_is_no_member():
    assert Sum([NARROW, Linear()]).member == Member() and (NARROW**2).member == Member()


def test_it_is_not_what_a_kernel_is():
    assert signature(NARROW) == signature(Gaussian(0.5)) and repr(NARROW) == repr(Gaussian(0.5))
    np.testing.assert_array_equal(NARROW(X), Gaussian(0.5)(X))
    assert NARROW.get_params() == Gaussian(0.5).get_params()


def test_a_parameter_of_ones_own_kernel_says_nothing():
    class Own(Kernel):
        def __init__(self, scale=0.1, role="column", *, name=None):
            self.scale, self.role, self.name = scale, role, name

    assert Own().member == Member()


def test_it_is_saved_with_a_model(tmp_path):
    model = MKLClassifier().fit(X, X[:, 0] > 0)
    said = [kernel.member for kernel in model.kernels_]
    assert {member.scale for member in said} == {None, 0.25, 0.5, 1.0, 2.0, 4.0}
    assert [member.role for member in said].count("column") == 3
    save(model, tmp_path / "model")
    assert [kernel.member for kernel in load(tmp_path / "model").kernels_] == said
