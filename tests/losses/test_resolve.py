"""Names and objects become losses, or an error that says what to give."""

import pytest

from manykernels.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    Pinball,
    Squared,
    SquaredHinge,
    resolve_loss,
)


@pytest.mark.parametrize(
    ("name", "task", "kind"),
    [
        ("hinge", "classification", Hinge),
        ("squared_hinge", "classification", SquaredHinge),
        ("logistic", "classification", Logistic),
        ("squared", "regression", Squared),
        ("epsilon_insensitive", "regression", EpsilonInsensitive),
        ("pinball", "regression", Pinball),
        ("huber", "regression", Huber),
    ],
)
def test_names(name, task, kind):
    assert type(resolve_loss(name, task)) is kind


def test_objects_pass_through():
    loss = EpsilonInsensitive(0.3)
    assert resolve_loss(loss, "regression") is loss


def test_a_task_may_take_losses_of_the_other_by_name():
    assert type(resolve_loss("squared", "classification", also=("squared",))) is Squared
    assert type(resolve_loss(Squared(), "classification", also=("squared",))) is Squared
    with pytest.raises(
        ValueError, match=r"is a regression loss; expected a classification loss: .*'squared'"
    ):
        resolve_loss("epsilon_insensitive", "classification", also=("squared",))


@pytest.mark.parametrize(
    ("spec", "task", "error", "message"),
    [
        (
            "hinged",
            "classification",
            ValueError,
            "'hinged' is unknown; expected a classification loss: one of .*'hinge'",
        ),
        (
            "hinge",
            "regression",
            ValueError,
            "'hinge' is a classification loss; expected a regression loss: .*'squared'",
        ),
        (Squared(), "classification", ValueError, "is a regression loss"),
        (Hinge, "classification", TypeError, r"Give an object: loss=Hinge\(\)"),
        (None, "classification", TypeError, "None of type NoneType"),
        (3, "regression", TypeError, "3 of type int"),
    ],
)
def test_errors_say_what_to_do(spec, task, error, message):
    with pytest.raises(error, match=message):
        resolve_loss(spec, task)
